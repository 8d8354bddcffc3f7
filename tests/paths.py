"""What tests of searches by weight share: independent oracles, and checks of whole results."""

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, dijkstra

import clgraph as cg

DTYPES = (np.int32, np.int64, np.uint32, np.float32, np.float64)


def unreached(dtype):
    """What stands for no path: infinity, or the largest integer."""
    dtype = np.dtype(dtype)
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def weighted(graph, dtype=np.int32, low=1, high=100, seed=0):
    """Give a graph weights: the same both ways if it is undirected, in [low, high)."""
    rng = np.random.default_rng(seed)
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    ends = edge_sources, graph.indices.astype(np.int64)
    if not graph.directed:
        ends = np.minimum(*ends), np.maximum(*ends)
    pairs, at = np.unique(ends[0] * graph.n + ends[1], return_inverse=True)
    if np.dtype(dtype).kind == "f":
        values = rng.uniform(low, high, pairs.size)
    else:
        values = rng.integers(low, high, pairs.size)
    return cg.Graph(graph.indptr, graph.indices, values.astype(dtype)[at], directed=graph.directed)


def _matrix(graph):
    """Adjacency in float64, of parallel edges the shortest, zeros kept."""
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    order = np.lexsort((graph.weights, graph.indices, edge_sources))
    edge_sources, edge_targets = edge_sources[order], graph.indices[order]
    first = np.ones(edge_sources.size, bool)
    first[1:] = (np.diff(edge_sources) != 0) | (np.diff(edge_targets) != 0)
    ends = edge_sources[first], edge_targets[first]
    costs = graph.weights[order][first].astype(np.float64)
    return scipy.sparse.csr_matrix((costs, ends), shape=(graph.n, graph.n))


def expected_lengths(graph, source):
    """Give lengths of shortest paths by scipy, float64 with infinity where there is none [n].

    None if there is a negative cycle.
    """
    if graph.weights.min(initial=0) >= 0:
        return dijkstra(_matrix(graph), indices=source, min_only=np.ndim(source) > 0)
    sources = np.atleast_1d(source)
    try:
        lengths = [_bellman_ford(graph, each) for each in sources]
    except NegativeCycleError:
        return None
    return np.min(lengths, axis=0)


def _bellman_ford(graph, source):
    """Only what the source reaches: scipy complains about cycles anywhere."""
    matrix = _matrix(graph)
    pattern = scipy.sparse.csr_matrix(
        (np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    inside = np.flatnonzero(np.isfinite(dijkstra(pattern, indices=source, unweighted=True)))
    lengths = np.full(graph.n, np.inf)
    part = matrix[inside][:, inside]
    lengths[inside] = bellman_ford(part, indices=int(np.flatnonzero(inside == source)[0]))
    return lengths


def check_paths(graph, source, result, *, max_distance=None, target=None):
    """Compare a whole result with scipy, and its tree with what makes one right."""
    dtype = graph.weights.dtype
    expected = expected_lengths(graph, source)
    beyond = np.zeros(graph.n, bool)
    if max_distance is not None:
        beyond |= expected > max_distance
    if target is not None and np.isfinite(expected[target]):
        beyond |= expected > expected[target] * (1 + 1e-6 if dtype == np.float32 else 1)
    expected = np.where(beyond, np.inf, expected)
    assert result.distances.dtype == dtype
    found = np.where(result.distances == unreached(dtype), np.inf, result.distances)
    if dtype.kind == "f":
        close = 1e-5 if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(found, expected, rtol=close, atol=close)
    else:
        np.testing.assert_array_equal(found.astype(np.float64), expected)
    assert result.reached == np.count_nonzero(np.isfinite(expected))
    if result.predecessors is not None:
        check_tree(graph, source, result)


def check_tree(graph, source, result):
    """Every predecessor gives its vertex its distance, and following them ends at a source."""
    lengths, parents = result.distances, result.predecessors
    assert parents.dtype == np.int32
    here = lengths != unreached(graph.weights.dtype)
    np.testing.assert_array_equal(parents >= 0, here)
    roots = np.flatnonzero(here & (parents == np.arange(graph.n)))
    assert set(roots) <= set(np.atleast_1d(source).tolist())
    assert (lengths[roots] == 0).all()
    given = np.zeros(graph.n, bool)
    given[roots] = True
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    of_tree = parents[graph.indices] == edge_sources
    edge_sources, edge_targets, costs = (
        edge_sources[of_tree],
        graph.indices[of_tree],
        graph.weights[of_tree],
    )
    given[edge_targets[lengths[edge_sources] + costs == lengths[edge_targets]]] = True
    np.testing.assert_array_equal(given, here)
    ancestors = np.where(here, parents, np.arange(graph.n))
    for _ in range(graph.n.bit_length()):
        ancestors = ancestors[ancestors]
    assert np.isin(ancestors[here], roots).all()
