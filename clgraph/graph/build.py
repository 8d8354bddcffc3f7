"""Graphs from edge lists, scipy matrices, networkx graphs and pandas tables."""

import importlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.arguments import flags, shown, whole
from clgraph.graph.arrays import as_index_array, as_label_array, as_weight_array
from clgraph.graph.csr import Array
from clgraph.graph.graph import Graph
from clgraph.graph.modules import module

__all__ = [
    "as_graph",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_scipy",
    "is_symmetric_list",
    "with_reverses",
]

_FREE_VERTICES = 1 << 24  # as many vertices as ids may imply without having edges to show for it
_VERTICES_PER_EDGE = 64


@flags
def from_edges(  # noqa: PLR0913 (all of them are about the list)
    src: Any,
    dst: Any,
    weights: Any = None,
    *,
    n: int | None = None,
    directed: bool = True,
    symmetrize: bool = False,
    dedup: bool = False,
    self_loops: bool = True,
    device: Any = None,
) -> Graph:
    """Graph of an edge list in any order.

    Parameters
    ----------
    src, dst : integer array-like [m]
        Source and target of every edge, from 0.
    weights : array-like [m], optional
        One finite number per edge.
    n : int, optional
        Number of vertices; default is one more than the largest id.
    directed : bool
        False: the edges are undirected, each listed once or all of them in both directions.
    symmetrize : bool
        Add the reverse of every edge (self-loops excepted) in any case; the result is undirected.
    dedup : bool
        Keep one of several parallel edges, with the least of their weights.
    self_loops : bool
        Whether to keep edges from a vertex to itself.
    device : Device or str, optional
        Where to sort the edges; the graph's arrays stay there too. Default is in host memory, with
        the same result.

    Returns
    -------
    Graph
        Rows sorted; parallel edges, where kept, in the order given.

    Raises
    ------
    InvalidGraphError
        If lengths differ, an id is negative, not below ``n`` or absurdly large for the number of
        edges, a weight is not finite, or the directions of an undirected edge weigh differently.
    DeviceMemoryError
        If edges, keys and rows do not fit the device, where there is one.

    Notes
    -----
    O(n + m).

    Examples
    --------
    >>> from_edges([0, 0, 3], [1, 2, 1], symmetrize=True)
    Graph(n=4, m=6, undirected)
    """
    sources, targets = as_index_array(src, "src"), as_index_array(dst, "dst")
    if len(sources) != len(targets):
        raise InvalidGraphError(
            f"src has {len(sources)} entries and dst has {len(targets)}; each edge needs one of "
            "both"
        )
    costs = None if weights is None else as_weight_array(weights, len(sources))
    n = _vertex_count(sources, targets, n)
    if device is not None and len(sources):
        sorting = importlib.import_module("clgraph.graph.sorting")  # which imports this package
        wishes = sorting.Wishes(directed, symmetrize, dedup, self_loops)
        found = find_device(device)
        graph: Graph = sorting.graph_of_edges(n, sources, targets, costs, wishes, found)
        return graph
    if not self_loops:
        straight = sources != targets
        sources, targets = sources[straight], targets[straight]
        costs = None if costs is None else costs[straight]
    if not directed and not symmetrize:
        symmetrize = not is_symmetric_list(n, sources, targets)
    if symmetrize:
        sources, targets, costs = with_reverses(sources, targets, costs)
    arrays = csr.edges_to_csr(n, sources, targets, costs)
    if dedup:
        arrays = csr.drop_duplicates(*arrays)
    if symmetrize or directed:
        return Graph.trusted(arrays, directed=not symmetrize)
    return Graph(*arrays, directed=False)


def with_reverses(
    sources: Array, targets: Array, weights: Array | None
) -> tuple[Array, Array, Array | None]:
    """Edge list with the reverse of every edge added; self-loops stay single."""
    straight = sources != targets
    both = (
        np.concatenate([sources, targets[straight]]),
        np.concatenate([targets, sources[straight]]),
    )
    return *both, None if weights is None else np.concatenate([weights, weights[straight]])


def is_symmetric_list(n: int, sources: Array, targets: Array) -> bool:
    """Whether a list already holds every edge in both directions. O(n + m), usually O(m)."""
    if np.count_nonzero(sources < targets) != np.count_nonzero(sources > targets):
        return False
    arrays = csr.edges_to_csr(n, sources, targets, None)
    return csr.asymmetric_edge(arrays, csr.transpose_csr(*arrays)) is None


def _vertex_count(sources: Array, targets: Array, n: int | None) -> int:
    largest = max(int(sources.max(initial=-1)), int(targets.max(initial=-1)))
    smallest = min(int(sources.min(initial=0)), int(targets.min(initial=0)))
    if smallest < 0:
        edge = int(np.flatnonzero((sources < 0) | (targets < 0))[0])
        raise InvalidGraphError(
            f"edge {edge} is {sources[edge]} -> {targets[edge]}; vertex ids must not be negative"
        )
    if n is None:
        if largest >= max(_FREE_VERTICES, _VERTICES_PER_EDGE * len(sources)):
            raise InvalidGraphError(
                f"the largest vertex id is {largest} but there are only {len(sources)} edges; "
                "renumber the vertices (numpy.unique with return_inverse=True), or pass n="
            )
        return largest + 1
    n = whole("n", n, least=0)
    if largest >= n:
        edge = int(np.flatnonzero((sources >= n) | (targets >= n))[0])
        raise InvalidGraphError(
            f"edge {edge} is {sources[edge]} -> {targets[edge]}, but n={n} allows ids 0 to {n - 1}"
        )
    return n


@flags
def from_scipy(matrix: Any, *, directed: bool = True, weighted: bool | None = None) -> Graph:
    """Graph of a square scipy.sparse matrix or array: entry (u, v) is an edge u -> v.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array [n, n]
        Any format. Explicit zeros are edges of weight 0.
    directed : bool
        False promises a symmetric matrix.
    weighted : bool, optional
        Whether entries become weights; default is yes, unless they are boolean or all 1.

    Returns
    -------
    Graph
        Shares memory with a CSR matrix whose rows are sorted; the matrix must not be changed then.

    Raises
    ------
    InvalidGraphError
        If it is no square sparse matrix, an entry is not a finite real number (and ``weighted``
        is not False), or ``directed=False`` turns out false.

    Notes
    -----
    Repeated entries of a COO matrix are added up, as scipy does; those of a CSR matrix stay
    parallel edges.
    """
    if not callable(getattr(matrix, "tocsr", None)) or len(getattr(matrix, "shape", ())) != 2:
        raise InvalidGraphError(
            f"a {type(matrix).__name__} is not a two-dimensional scipy.sparse matrix"
        )
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidGraphError(
            f"the matrix is {matrix.shape[0]} x {matrix.shape[1]}; an adjacency matrix is square"
        )
    _check_storage(matrix)
    rows = matrix.tocsr()
    if csr.first_unsorted(rows.indptr, rows.indices) is not None:
        rows = rows.copy()
        rows.has_sorted_indices = False
        rows.sort_indices()
    if weighted is None:
        weighted = rows.dtype != bool and not bool((rows.data == 1).all())
    weights = rows.data if weighted else None
    return Graph(rows.indptr, rows.indices, weights, directed=directed)


def _check_storage(matrix: Any) -> None:
    """Refuse arrays that scipy's conversions would follow out of bounds."""
    problem = None
    try:
        if callable(getattr(matrix, "check_format", None)):
            matrix.check_format(full_check=True)
    except ValueError as error:
        problem = str(error)
    if matrix.format == "coo" and matrix.nnz:
        for ids, size in ((matrix.row, matrix.shape[0]), (matrix.col, matrix.shape[1])):
            if len(ids) != len(matrix.data) or ids.min() < 0 or ids.max() >= size:
                problem = "row or column ids do not fit the data or the shape"
    if problem:
        raise InvalidGraphError(
            f"the {matrix.format} matrix is inconsistent: {problem}; rebuild it from its entries"
        )


def as_graph(graph: Any, *, weighted: bool | None = None) -> Graph:
    """Graph of whatever an algorithm was handed: a Graph, a DynamicGraph, or a scipy.sparse matrix.

    Parameters
    ----------
    graph : Graph or DynamicGraph or scipy.sparse matrix or array
        Of a dynamic graph, what it holds now; a matrix is read as ``from_scipy`` does.
    weighted : bool, optional
        As for ``from_scipy``: whether a matrix's entries are weights.

    Returns
    -------
    Graph
        The very object if it is one.

    Raises
    ------
    InvalidGraphError
        If it is none of them.
    """
    if isinstance(graph, Graph):
        return graph
    if callable(getattr(graph, "to_graph", None)):
        held: Graph = graph.to_graph()
        return held
    if callable(getattr(graph, "tocsr", None)):
        return from_scipy(graph, weighted=weighted)
    kind = type(graph)
    package = "" if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]} "
    raise InvalidGraphError(
        f"a {package}{kind.__name__} is not a graph here; pass a clgraph.Graph or a "
        "scipy.sparse matrix (from_edges, from_networkx, from_pandas and read make graphs of "
        "other things)"
    )


def from_networkx(nxg: Any, *, weight: str | None = "weight") -> Graph:
    """Graph of a networkx graph of any kind.

    Parameters
    ----------
    nxg : networkx graph
        Directed or not, with parallel edges or not.
    weight : str, optional
        Edge attribute to take as weight; edges without it weigh 1. If no edge has it, or it is
        None, the graph has no weights.

    Returns
    -------
    Graph
        Vertices in the order of ``nxg.nodes``, which ``labels`` keeps.

    Raises
    ------
    InvalidGraphError
        If it is no networkx graph or a weight is not a finite real number.
    """
    if not callable(getattr(nxg, "is_directed", None)) or not hasattr(nxg, "nodes"):
        raise InvalidGraphError(f"a {type(nxg).__name__} is not a networkx graph")
    if not isinstance(weight, Hashable):
        raise InvalidArgumentError(f"weight={shown(weight)} is not the name of an attribute.")
    nodes = list(nxg.nodes)
    number = {node: vertex for vertex, node in enumerate(nodes)}
    missing = object()
    if weight is None:
        triples = [(u, v, missing) for u, v in nxg.edges()]
    else:
        triples = list(nxg.edges(data=weight, default=missing))
    ids = csr.index_dtype(len(nodes))
    sources = np.fromiter((number[u] for u, _, _ in triples), ids, len(triples))
    targets = np.fromiter((number[v] for _, v, _ in triples), ids, len(triples))
    costs = None
    if any(cost is not missing for _, _, cost in triples):
        filled = [1 if cost is missing else cost for _, _, cost in triples]
        costs = as_weight_array(filled, len(filled))
    directed = bool(nxg.is_directed())
    if not directed:
        sources, targets, costs = with_reverses(sources, targets, costs)
    arrays = csr.edges_to_csr(len(nodes), sources, targets, costs)
    return Graph.trusted(arrays, directed=directed, labels=as_label_array(nodes, len(nodes)))


@flags
def from_pandas(
    df: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    directed: bool = True,
    vertices: Any = None,
) -> Graph:
    """Graph of a pandas table with one row per edge.

    Parameters
    ----------
    df : pandas.DataFrame, or a table with ``__arrow_c_stream__``
        The edges. Tables of polars and pyarrow are read by way of pyarrow.
    source, target : str
        Columns of the two ends. Non-negative integers are vertex numbers; anything else is a name,
        numbered in order of first appearance and kept in ``labels``.
    weight : str, optional
        Column of the weights.
    directed : bool
        False: the edges are undirected, each in one row or all of them in both directions.
    vertices : sequence, optional
        Names of all vertices, in order, those without edges too; ends are names then.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    InvalidArgumentError
        If a column is missing, or a name comes twice in `vertices`.
    InvalidGraphError
        If an end is missing (NaN, None) or not among `vertices`, or a weight is not a finite
        number.
    ImportError
        If pandas, or for other tables pyarrow, is not installed.
    """
    if not hasattr(df, "iloc") and hasattr(df, "__arrow_c_stream__"):
        df = module("pyarrow", needed_for="reading this table").table(df).to_pandas()
    for column in (source, target, *([] if weight is None else [weight])):
        if not (isinstance(column, Hashable) and column in getattr(df, "columns", ())):
            raise InvalidArgumentError(
                f"the table has no column {shown(column)}; pass source=, target= or weight="
            )
    costs = None if weight is None else df[weight].to_numpy()
    columns = [df[source], df[target]]
    if any(column.isna().any() for column in columns):
        raise InvalidGraphError(f"columns {source!r} and {target!r} must not have missing values")
    if vertices is not None:
        return _of_named(columns, costs, vertices, directed=directed)
    if all(column.dtype.kind in "iu" for column in columns):
        ends = [column.to_numpy() for column in columns]
        if min(end.min(initial=0) for end in ends) >= 0:
            return from_edges(ends[0], ends[1], costs, directed=directed)
    pandas = module("pandas", needed_for="from_pandas")
    codes, names = pandas.factorize(pandas.concat(columns, ignore_index=True))
    graph = from_edges(codes[: len(df)], codes[len(df) :], costs, n=len(names), directed=directed)
    arrays = graph.indptr, graph.indices, graph.weights
    labels = np.asarray(names, dtype=object)
    return Graph.trusted(arrays, directed=directed, labels=labels)


def _of_named(columns: list[Any], costs: Any, vertices: Any, *, directed: bool) -> Graph:
    pandas = module("pandas", needed_for="from_pandas")
    names = pandas.Index(list(vertices), tupleize_cols=False)
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise InvalidArgumentError(f"vertices has {twice!r} twice; name each vertex once")
    ends = [names.get_indexer(column) for column in columns]
    for column, numbers in zip(columns, ends, strict=True):
        if (numbers < 0).any():
            unknown = column.iloc[int(np.flatnonzero(numbers < 0)[0])]
            raise InvalidGraphError(f"{unknown!r} in column {column.name!r} is not in vertices")
    graph = from_edges(ends[0], ends[1], costs, n=len(names), directed=directed)
    arrays = graph.indptr, graph.indices, graph.weights
    labels = as_label_array(list(vertices), len(names))
    return Graph.trusted(arrays, directed=directed, labels=labels)
