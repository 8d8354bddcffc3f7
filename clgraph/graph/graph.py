"""The graph a user holds: checked, immutable CSR arrays in host memory."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from clgraph.errors import InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.arguments import flags
from clgraph.graph.arrays import as_index_array, as_label_array, as_weight_array, frozen
from clgraph.graph.csr import CSR, Array, check_pointers
from clgraph.graph.methods import NamedSearches
from clgraph.graph.modules import module
from clgraph.graph.reorder import vertex_order
from clgraph.graph.statistics import GraphStatistics, graph_statistics
from clgraph.graph.survey import survey

__all__ = ["Graph"]


class Graph(NamedSearches):
    """A graph in compressed sparse rows, checked once and never changed afterwards.

    Parameters
    ----------
    indptr : integer array-like [n + 1]
        Row u of ``indices`` is ``indices[indptr[u]:indptr[u + 1]]``.
    indices : integer array-like [m]
        Targets of the out-edges; repeats are parallel edges. Rows that do not ascend are sorted in
        a copy.
    weights : array-like [m], optional
        One finite number per edge; int32, int64, uint32, float32 and float64 are kept as they are.
    directed : bool
        False promises that every edge is stored in both directions (self-loops once) with one
        weight; the promise is checked.
    labels : sequence [n], optional
        What each vertex is called outside, for instance its id in the file it came from.

    Attributes
    ----------
    n, m : int
        Number of vertices, and of stored directed edges.
    permutation : int array [n] or None
        Of a reordered graph: the vertex that each vertex was before.

    Raises
    ------
    InvalidGraphError
        If the arrays do not describe such a graph; the message names the place and the way out.

    Notes
    -----
    O(n + m) checks on the host in one pass, in threads where there are many edges; that each edge
    has its reverse follows from sums of random words, see `clgraph.graph.survey.survey`, and only
    an error costs a transpose, to name the edge. C-contiguous int32 and int64 arrays are kept as
    views, never written to: change them afterwards and results are undefined, or the process ends
    where an id is out of range, so pass copies of what is to change. Arrays handed out are
    read-only.

    Examples
    --------
    >>> g = Graph([0, 2, 3, 3], [1, 2, 2])
    >>> g.n, g.m, g.degrees.tolist()
    (3, 3, [2, 1, 0])
    """

    # Networkx hands what carries this to the backend of that name: see clgraph.interop.networkx.
    __networkx_backend__ = "clgraph"

    @flags
    def __init__(
        self,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        *,
        directed: bool = True,
        labels: Sequence[Any] | Array | None = None,
    ) -> None:
        pointers = as_index_array(indptr, "indptr")
        targets = as_index_array(indices, "indices")
        check_pointers(pointers, len(targets))
        costs = None if weights is None else as_weight_array(weights, len(targets))
        found = survey(pointers, targets, costs, symmetry=not directed)
        if found.least < 0 or found.greatest >= len(pointers) - 1:
            raise _target_out_of_range(pointers, targets)
        if not found.ascending:
            pointers, targets, costs = csr.sorted_rows(pointers, targets, costs)
        self._store(
            (pointers, targets, costs), bool(directed), as_label_array(labels, len(pointers) - 1)
        )
        if found.symmetric is False:
            reverse = csr.transpose_csr(pointers, targets, costs)
            problem = csr.asymmetric_edge((pointers, targets, costs), reverse)
            if problem:
                raise InvalidGraphError(
                    f"directed=False needs every edge in both directions, but edge {problem[0]} -> "
                    f"{problem[1]} {problem[2]}; pass directed=True, or build the graph with "
                    "from_edges(..., symmetrize=True)"
                )

    @classmethod
    def trusted(
        cls,
        arrays: CSR,
        *,
        directed: bool,
        labels: Array | None = None,
        permutation: Array | None = None,
    ) -> "Graph":
        """Graph of arrays that the caller has just built right: nothing is checked.

        Parameters
        ----------
        arrays : (indptr, indices, weights)
            As the constructor wants them.
        directed : bool
            Whether edges are stored in one direction only.
        labels, permutation : array [n], optional
            As the attributes of the same names.

        Returns
        -------
        Graph
            The graph; wrong arrays give wrong results or crashes later.
        """
        graph = cls.__new__(cls)
        cls._store(graph, arrays, directed, labels, permutation)
        return graph

    def _store(
        self, arrays: CSR, directed: bool, labels: Array | None, permutation: Array | None = None
    ) -> None:
        indptr, indices, weights = arrays
        self._indptr = frozen(indptr)
        self._indices = frozen(indices)
        self._weights = None if weights is None else frozen(weights)
        self._directed = directed
        self._labels = None if labels is None else frozen(labels)
        self._permutation = None if permutation is None else frozen(permutation)
        # What others worked out about this graph, each under a key of its own: device copies, say.
        # Here and not in weak dictionaries, in whose finalizers Ctrl-C would get lost.
        self.kept: dict[Any, Any] = {}

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self._indptr) - 1

    @property
    def m(self) -> int:
        """Number of stored directed edges; an undirected edge counts twice, a self-loop once."""
        return len(self._indices)

    @property
    def indptr(self) -> Array:
        """Where each row begins in ``indices``: int32 or int64 [n + 1], read-only."""
        return self._indptr

    @property
    def indices(self) -> Array:
        """Targets of the edges, row after row: int32 or int64 [m], read-only."""
        return self._indices

    @property
    def weights(self) -> Array | None:
        """One number per entry of ``indices`` [m], read-only; None if the graph has none."""
        return self._weights

    @property
    def directed(self) -> bool:
        """Whether edges go one way only."""
        return self._directed

    def is_directed(self) -> bool:
        """Whether edges go one way only, as networkx asks for it."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there are parallel edges, as networkx asks for it; O(m) the first time."""
        return self.statistics().parallel_edges > 0

    @property
    def labels(self) -> Array | None:
        """What each vertex is called outside [n], read-only; None if its number is its name."""
        return self._labels

    @property
    def permutation(self) -> Array | None:
        """Of a reordered graph: the vertex that each vertex was before [n]; None otherwise."""
        return self._permutation

    @cached_property
    def degrees(self) -> Array:
        """Out-degree of each vertex: integers [n], read-only."""
        return frozen(np.diff(self._indptr))

    @cached_property
    def max_degree(self) -> int:
        """Greatest out-degree; 0 without vertices."""
        return int(self.degrees.max(initial=0))

    @property
    def mean_degree(self) -> float:
        """Stored edges per vertex; 0 without vertices."""
        return self.m / self.n if self.n else 0.0

    @cached_property
    def _transposed(self) -> "Graph":
        arrays = csr.transpose_csr(self._indptr, self._indices, self._weights)
        return Graph.trusted(arrays, directed=True, labels=self._labels)

    @cached_property
    def _statistics(self) -> GraphStatistics:
        return graph_statistics(
            self._indptr,
            self._indices,
            directed=self._directed,
            weighted=self._weights is not None,
        )

    def transpose(self) -> "Graph":
        """Graph with every edge reversed; an undirected graph is its own.

        Returns
        -------
        Graph
            Built on the first call, O(n + m), and kept with this graph.
        """
        return self._transposed if self._directed else self

    def symmetrized(self) -> "Graph":
        """Undirected graph with an edge wherever this one has an edge in either direction.

        Returns
        -------
        Graph
            Parallel and opposite edges become one edge with the least of their weights; self-loops
            stay. An undirected graph comes back as it is.
        """
        if not self._directed:
            return self
        sources = csr.row_ids(self._indptr, self._indices.dtype)
        straight = sources != self._indices
        src = np.concatenate([sources, self._indices[straight]])
        dst = np.concatenate([self._indices, sources[straight]])
        costs = self._weights
        if costs is not None:
            costs = np.concatenate([costs, costs[straight]])
        arrays = csr.drop_duplicates(*csr.edges_to_csr(self.n, src, dst, costs))
        return Graph.trusted(
            arrays, directed=False, labels=self._labels, permutation=self._permutation
        )

    def reordered(self, order: str) -> "Graph":
        """Renumber the vertices.

        Parameters
        ----------
        order : {"degree", "rcm", "hub"}
            Descending out-degree; reverse Cuthill-McKee; hubs first and the rest as it is.

        Returns
        -------
        Graph
            Vertex i of it was vertex ``permutation[i]`` of this one; labels move along.

        Raises
        ------
        InvalidArgumentError
            If there is no such order.
        """
        permutation = vertex_order(order, self._indptr, self._indices, directed=self._directed)
        number = np.empty(self.n, self._indices.dtype)
        number[permutation] = np.arange(self.n, dtype=number.dtype)
        arrays = csr.edges_to_csr(
            self.n, np.repeat(number, self.degrees), number[self._indices], self._weights
        )
        labels = None if self._labels is None else self._labels[permutation]
        return Graph.trusted(
            arrays, directed=self._directed, labels=labels, permutation=permutation
        )

    def statistics(self) -> GraphStatistics:
        """Size, degree distribution and irregularities.

        Returns
        -------
        GraphStatistics
            Computed on the first call, O(m + n log n), and kept.
        """
        return self._statistics

    def to_scipy(self) -> Any:
        """Adjacency matrix as ``scipy.sparse.csr_array``.

        Returns
        -------
        scipy.sparse.csr_array [n, n]
            A copy; entries are the weights, or int32 ones. Parallel edges stay separate entries,
            which most scipy operations add up, and ``scipy.sparse.csgraph`` mistreats: its strong
            components may never end. Call ``sum_duplicates()`` on the matrix before.
        """
        data = np.ones(self.m, np.int32) if self._weights is None else self._weights.copy()
        arrays = (data, self._indices.copy(), self._indptr.copy())
        return module("scipy.sparse").csr_array(arrays, shape=(self.n, self.n))

    def to_networkx(self) -> Any:
        """Build the same graph for networkx.

        Returns
        -------
        networkx.Graph or DiGraph, MultiGraph or MultiDiGraph
            The kind that fits; nodes are the labels if there are any, weights the edge attribute
            "weight".

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        networkx = module("networkx", needed_for="to_networkx")
        parallel = self.statistics().parallel_edges > 0
        kinds = {
            (False, False): networkx.Graph,
            (False, True): networkx.MultiGraph,
            (True, False): networkx.DiGraph,
            (True, True): networkx.MultiDiGraph,
        }
        result = kinds[self._directed, parallel]()
        names = list(range(self.n)) if self._labels is None else self._labels.tolist()
        result.add_nodes_from(names)
        sources, targets, costs = self.listed_edges()
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        if costs is None:
            result.add_edges_from((names[u], names[v]) for u, v in ends)
        else:
            result.add_edges_from(
                (names[u], names[v], {"weight": cost})
                for (u, v), cost in zip(ends, costs.tolist(), strict=True)
            )
        return result

    def listed_edges(self) -> tuple[Array, Array, Array | None]:
        """Edges as a list: each arc of a directed graph, each edge u <= v of an undirected one.

        Returns
        -------
        src, dst, weights
            Arrays of one length, in row order; weights may be None.
        """
        sources = csr.row_ids(self._indptr, self._indices.dtype)
        if self._directed:
            return sources, self._indices, self._weights
        once = sources <= self._indices
        costs = None if self._weights is None else self._weights[once]
        return sources[once], self._indices[once], costs

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the host arrays; device copies stay behind."""
        rebuild = partial(
            Graph.trusted,
            directed=self._directed,
            labels=self._labels,
            permutation=self._permutation,
        )
        return rebuild, ((self._indptr, self._indices, self._weights),)

    def __repr__(self) -> str:
        """Sizes and kind in one line."""
        kind = "directed" if self._directed else "undirected"
        weighted = "" if self._weights is None else f", weights {self._weights.dtype.name}"
        return f"Graph(n={self.n}, m={self.m}, {kind}{weighted})"


def _target_out_of_range(indptr: Array, indices: Array) -> InvalidGraphError:
    n = len(indptr) - 1
    edge = int(np.flatnonzero((indices < 0) | (indices >= n))[0])
    row = int(np.searchsorted(indptr, edge, side="right")) - 1
    return InvalidGraphError(
        f"indices[{edge}] in row {row} is {indices[edge]}; a graph of {n} vertices has targets "
        f"0 to {n - 1}"
    )
