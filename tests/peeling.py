"""References for trusses and cores: peeling by scipy, one sparse product a round; and graphs."""

from itertools import combinations

import numpy as np
from scipy import sparse

import clgraph as cg


def undirected(src, dst, n=None):
    return cg.from_edges(
        src, dst, n=n, directed=False, symmetrize=True, dedup=True, self_loops=False
    )


def matrix_of(graph):
    entries = (np.ones(graph.m, np.int64), graph.indices, graph.indptr)
    return sparse.csr_matrix(entries, shape=(graph.n, graph.n))


def truss_numbers_of(graph):
    """Truss number of each stored edge, by the linear algebra of the Graph Challenge (KT-19)."""
    numbers = np.zeros(graph.m, np.uint32)
    for k, under in _truss_batches(graph):
        numbers[under] = k - 1
    return numbers


def truss_rounds_of(graph):
    """For each batch that is removed: k, whose truss it leads to, and its edges."""
    return [(k, len(under) // 2) for k, under in _truss_batches(graph)]


def _truss_batches(graph):
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    targets = graph.indices
    alive = np.ones(graph.m, bool)
    k = 3
    while alive.any():
        ends = (sources[alive], targets[alive])
        entries = (np.ones(len(ends[0]), np.int64), ends)
        left = sparse.csr_matrix(entries, shape=(graph.n, graph.n))
        closed = np.asarray((left @ left)[ends]).ravel()
        under = np.flatnonzero(alive)[closed < k - 2]
        if len(under):
            yield k, under
            alive[under] = False
        else:
            k += 1


def core_numbers_of(graph):
    """Core number of each vertex, round by round."""
    matrix = matrix_of(graph)
    alive = np.ones(graph.n, bool)
    numbers = np.zeros(graph.n, np.uint32)
    k = 0
    while alive.any():
        degrees = matrix @ alive.astype(np.int64)
        under = alive & (degrees <= k)
        if under.any():
            numbers[under] = k
            alive &= ~under
        else:
            k += 1
    return numbers


def random_graph(n, edges, seed):
    rng = np.random.default_rng(seed)
    return undirected(rng.integers(0, n, edges), rng.integers(0, n, edges), n=n)


def hub_and_cliques():
    """A hub of everything, cliques of many sizes, a path and vertices without edges."""
    pairs, base = [], 1
    for size in (3, 4, 7, 12, 20, 33):
        pairs += [(base + a, base + b) for a, b in combinations(range(size), 2)]
        base += size - 1  # the last vertex of one is the first of the next
    pairs += [(0, v) for v in range(1, base + 200)]
    pairs += [(v, v + 1) for v in range(base + 100, base + 150)]
    return undirected(*np.array(pairs).T, n=base + 230)


def tube(length, around=5):
    """A triangulated tube, whose 4-truss is peeled off ring by ring from both ends."""
    i, j = np.divmod(np.arange(length * around), around)

    def place(row, column):
        return row * around + column % around

    inner = i < length - 1
    pairs = [
        (place(i, j), place(i, j + 1)),
        (place(i, j)[inner], place(i + 1, j)[inner]),
        (place(i, j)[inner], place(i + 1, j + 1)[inner]),
    ]
    return undirected(*np.concatenate(pairs, axis=1))


def tube_with_cliques(length, around=5):
    """A tube, each row of which shares a triangle with a clique of six, by an edge that goes first.

    That edge is in no other triangle, and goes in the first round of all. Rounds later the row's
    edge follows, when the clique's edge has long lost the triangle, and no more than it needs left.
    """
    whole = tube(length, around)
    sources = np.repeat(np.arange(whole.n), whole.degrees)
    pairs = [*zip(sources.tolist(), whole.indices.tolist(), strict=True)]
    for row in range(length):
        first = whole.n + 5 * row
        clique = [row * around + 1, *range(first, first + 5)]
        pairs += [*combinations(clique, 2), (row * around, first)]
    return undirected(*np.array(pairs).T)
