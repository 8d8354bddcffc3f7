"""Figures that describe a graph and its degree distribution."""

from dataclasses import asdict, dataclass

import numpy as np

from clgraph.graph.csr import Array

__all__ = ["GraphStatistics", "graph_statistics"]

_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Size, degrees and irregularities of a graph.

    Attributes
    ----------
    vertices : int
        V.
    edges : int
        E: arcs of a directed graph; of an undirected one each edge counts once.
    directed, weighted : bool
        What kind of graph it is.
    mean_degree, std_degree : float
        Mean and population standard deviation of the out-degrees, with both directions of an
        undirected edge counted.
    min_degree, max_degree : int
        Least and greatest out-degree.
    max_in_degree : int
        Greatest in-degree.
    gini : float
        Gini coefficient of the out-degrees: 0 all equal, towards 1 all edges at one vertex.
    self_loops : int
        Edges from a vertex to itself.
    parallel_edges : int
        Entries that repeat the one before: m minus the number of distinct arcs.
    isolated : int
        Vertices without any edge, in or out.
    """

    vertices: int
    edges: int
    directed: bool
    weighted: bool
    mean_degree: float
    std_degree: float
    min_degree: int
    max_degree: int
    max_in_degree: int
    gini: float
    self_loops: int
    parallel_edges: int
    isolated: int

    def as_dict(self) -> dict[str, int | float | bool]:
        """Return the figures by name, ready for JSON."""
        return asdict(self)


def graph_statistics(
    indptr: Array, indices: Array, *, directed: bool, weighted: bool
) -> GraphStatistics:
    """Describe a graph given as CSR with sorted rows. O(m + n log n)."""
    n, m = len(indptr) - 1, len(indices)
    degrees = np.diff(indptr)
    loops, parallel = _loops_and_parallels(indptr, indices)
    in_degrees = np.bincount(indices, minlength=n) if directed and m else degrees
    return GraphStatistics(
        vertices=n,
        edges=m if directed else (m + loops) // 2,
        directed=directed,
        weighted=weighted,
        mean_degree=m / n if n else 0.0,
        std_degree=float(degrees.std()) if n else 0.0,
        min_degree=int(degrees.min(initial=m)) if n else 0,
        max_degree=int(degrees.max(initial=0)),
        max_in_degree=int(in_degrees.max(initial=0)),
        gini=_gini(degrees),
        self_loops=loops,
        parallel_edges=parallel,
        isolated=int(np.count_nonzero((degrees == 0) & (in_degrees == 0))),
    )


def _gini(degrees: Array) -> float:
    total, n = int(degrees.sum()), len(degrees)
    if not total:
        return 0.0
    ranks = np.arange(1, n + 1, dtype=np.float64)
    weighted_sum = float(np.dot(ranks, np.sort(degrees)))
    return 2.0 * weighted_sum / (n * total) - (n + 1) / n


def _loops_and_parallels(indptr: Array, indices: Array) -> tuple[int, int]:
    """Count self-loops and repeated entries, a block of rows at a time."""
    loops = parallel = row = 0
    n = len(indptr) - 1
    while row < n:
        begin = int(indptr[row])
        last = int(np.searchsorted(indptr, begin + _BLOCK, side="right")) - 1
        last = min(max(last, row + 1), n)
        rows = np.arange(row, last, dtype=indices.dtype)
        sources = np.repeat(rows, np.diff(indptr[row : last + 1]))
        targets = indices[begin : int(indptr[last])]
        loops += int(np.count_nonzero(sources == targets))
        same = (targets[1:] == targets[:-1]) & (sources[1:] == sources[:-1])
        parallel += int(np.count_nonzero(same))
        row = last
    return loops, parallel
