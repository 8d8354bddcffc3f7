"""Searches by name: what pandas users ask of a graph, and in which shape they get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clgraph.algorithms.multi_search.totals import Searcher, together
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.algorithms.scc.plan import scc
from clgraph.apart import apart
from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError, NegativeCycleError
from clgraph.graph.arguments import one_of, whole
from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module
from clgraph.interop.tables.results import name_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["NamedPaths", "named_vertices", "numbers_of"]

# How a batch of searches is run, by the words of these functions.
BATCHES = {"auto": "auto", "per_source": "single", "per_group": "multi-search"}
WEIGHTED_BLOCK = 256

Kind = TypeVar("Kind", Searcher, WeightedSearcher)


def named_vertices(graph: Graph) -> Any:
    """Names of the vertices as a pandas index; their numbers if they have no names."""
    kept = graph.kept.get(named_vertices)
    if kept is None:
        kept = graph.kept[named_vertices] = name_index(graph.labels, graph.n)
    return kept


def numbers_of(graph: Graph, names: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """Numbers of vertices by name: of one, or of several.

    Raises
    ------
    KeyError
        If a name is not that of a vertex.
    """
    names = [names] if isinstance(names, str) or np.ndim(names) == 0 else list(names)
    numbers: dict[Any, int] | None = graph.kept.get(numbers_of)
    if graph.labels is not None and numbers is None:
        numbers = {name: vertex for vertex, name in enumerate(graph.labels.tolist())}
        graph.kept[numbers_of] = numbers
    found = np.empty(len(names), np.int64)
    for place, name in enumerate(names):
        vertex = _number(graph, numbers, name)
        if vertex is None:
            raise KeyError(f"{name!r} is not a vertex of the graph")
        found[place] = vertex
    return names, found


def _number(graph: Graph, numbers: dict[Any, int] | None, name: Any) -> int | None:
    if numbers is not None:
        return numbers.get(name.item() if isinstance(name, np.generic) else name)
    whole = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
    return int(name) if whole and 0 <= name < graph.n else None


def _frame(rows: Any, sources: list[Any], graph: Graph) -> Any:
    pandas = module("pandas", needed_for="a table of results")
    index = pandas.Index(sources, tupleize_cols=False) if sources else []
    return pandas.DataFrame(rows, index=index, columns=named_vertices(graph))


def hops(
    graph: Graph,
    sources: Any,
    *,
    batch: str = "auto",
    as_numpy: bool = False,
    out: NDArray[np.int32] | None = None,
    device: Device | str | None = None,
) -> Any:
    """See `Graph.bfs`."""
    names, numbers = numbers_of(graph, sources)
    shape = (numbers.size, graph.n)
    if out is not None:
        given = np.shape(out), getattr(out, "dtype", type(out).__name__)
        if given != (shape, np.dtype(np.int32)) or not out.flags.writeable:
            raise InvalidArgumentError(
                f"out has shape {given[0]} and type {given[1]}; it needs {shape} and int32, and to "
                "be writeable."
            )
    searcher = _searcher(graph, batch, device)
    parts = (searcher.distances(block) for block in searcher.blocks(numbers, 4))
    rows = together(parts, shape, np.int32, out)
    return rows if as_numpy else _frame(rows, names, graph)


def hop_blocks(
    graph: Graph,
    sources: Any,
    *,
    block: int | None = None,
    batch: str = "auto",
    device: Device | str | None = None,
) -> Iterator[Any]:
    """See `Graph.bfs_blocks`."""
    names, numbers = numbers_of(graph, sources)
    searcher = _searcher(graph, batch, device)
    done = 0
    size = None if block is None else whole("block", block)
    for part in searcher.blocks(numbers, 4, size):
        yield _frame(searcher.distances(part), names[done : done + part.size], graph)
        done += part.size


def _kept(kind: type[Kind], graph: Graph, batch: str, device: Device | str | None) -> Kind:
    """Give what searches, made at its first use."""
    found, method = find_device(device), _method(batch)
    key = (kind, found, batch)
    if key not in graph.kept:
        graph.kept[key] = kind(graph, found, method)
    searcher: Kind = graph.kept[key]
    return searcher


def _searcher(graph: Graph, batch: str, device: Device | str | None) -> Searcher:
    return _kept(Searcher, graph, batch, device)


def _method(batch: str) -> str:
    one_of("batch", batch, BATCHES)
    return BATCHES[batch]


def _weighted(graph: Graph, batch: str, device: Device | str | None) -> WeightedSearcher:
    if graph.weights is None:
        raise InvalidArgumentError(
            "the graph has no weights, which shortest paths need; name their column when you build "
            "it (weight=), or count hops by bfs()."
        )
    return _kept(WeightedSearcher, graph, batch, device)


def _lengths(searcher: WeightedSearcher, numbers: NDArray[np.int64], like: Any) -> NDArray[Any]:
    """Distances, infinite where there is no path, in a type of floating point."""
    found = searcher.distances(numbers)
    if found.dtype.kind == "f":
        return found
    return np.where(found == searcher.unreached, np.inf, found).astype(like)


def lengths(
    graph: Graph,
    sources: Any,
    *,
    batch: str = "auto",
    as_numpy: bool = False,
    device: Device | str | None = None,
) -> Any:
    """See `Graph.sssp_distances`."""
    searcher = _weighted(graph, batch, device)
    names, numbers = numbers_of(graph, sources)
    rows = _lengths(searcher, numbers, np.float64)
    return rows if as_numpy else _frame(rows, names, graph)


def length_blocks(
    graph: Graph,
    sources: Any,
    *,
    block: int | None = None,
    batch: str = "auto",
    device: Device | str | None = None,
) -> Iterator[Any]:
    """See `Graph.sssp_distance_blocks`."""
    searcher = _weighted(graph, batch, device)
    names, numbers = numbers_of(graph, sources)
    size = WEIGHTED_BLOCK if block is None else block
    for begin in range(0, numbers.size, size):
        part = slice(begin, begin + size)
        yield _frame(_lengths(searcher, numbers[part], np.float64), names[part], graph)


class NamedPaths:
    """Shortest paths from several vertices, by name.

    Attributes
    ----------
    distances : pandas.DataFrame
        float [sources, vertices], infinite where there is no path.
    predecessors : pandas.DataFrame
        int32 [sources, vertices]: the *number* of the vertex before on a shortest path, the least
        of those with the fewest edges; -1 where there is none, and at the source itself.
    """

    def __init__(self, graph: Graph, names: list[Any], distances: Any, before: Any) -> None:
        self._graph = graph
        self._before = before
        self.distances = _frame(distances, names, graph)
        self.predecessors = _frame(before, names, graph)

    def __repr__(self) -> str:
        """Report from how many vertices there are paths, and of how many."""
        return "NamedPaths(sources={}, vertices={})".format(*self.distances.shape)

    def __getitem__(self, name: str) -> Any:
        """Give one of both by name, as R users know it."""
        if name not in ("distances", "predecessors"):
            raise KeyError(name)
        return getattr(self, name)

    def path(self, source: Any, target: Any) -> list[Any]:
        """Names of the vertices on a shortest path; empty if there is none.

        Raises
        ------
        KeyError
            If there was no search from `source`, or there is no vertex `target`.
        """
        place = list(self.distances.index).index(source) if source in self.distances.index else -1
        if place < 0:
            raise KeyError(f"there was no search from {source!r}")
        row = self._before[place]
        _, (vertex,) = numbers_of(self._graph, [target])
        _, (start,) = numbers_of(self._graph, [source])
        path = [int(vertex)]
        while path[-1] != start:
            path.append(int(row[path[-1]]))
            if path[-1] < 0:
                return []
        labels = named_vertices(self._graph)
        return [labels[v] for v in reversed(path)]


def paths(
    graph: Graph, sources: Any, *, batch: str = "auto", device: Device | str | None = None
) -> NamedPaths:
    """See `Graph.sssp`."""
    searcher = _weighted(graph, batch, device)
    names, numbers = numbers_of(graph, sources)
    found = searcher.distances(numbers)
    edge_sources = row_ids(graph.indptr)
    before = np.full((numbers.size, graph.n), -1, np.int32)
    for row, source, place in zip(found, numbers.tolist(), range(numbers.size), strict=True):
        known = row != searcher.unreached
        before[place] = _least_before(graph, row, known, edge_sources, source)
    if found.dtype.kind != "f":
        found = np.where(found == searcher.unreached, np.inf, found).astype(np.float64)
    return NamedPaths(graph, names, found, before)


def _least_before(
    graph: Graph,
    row: NDArray[Any],
    known: NDArray[np.bool_],
    edge_sources: NDArray[Any],
    source: int,
) -> NDArray[np.int32]:
    """Least predecessor of each vertex one edge nearer to the source, along shortest paths.

    One that is no nearer might lead round a circle of edges that weigh nothing.
    """
    weights = graph.weights
    if weights is None:
        raise NegativeCycleError("a graph without weights has no lengths")
    tight = apart(
        np.errstate(over="ignore", invalid="ignore")(
            lambda: known[edge_sources] & (row[edge_sources] + weights == row[graph.indices])
        )
    )
    tight &= graph.indices != source
    arcs = np.flatnonzero(tight)[::-1]  # so that the least of several comes last
    ends, starts = graph.indices[arcs], edge_sources[arcs]
    if np.bincount(ends).max(initial=0) > 1:  # else there is nothing to choose
        hops_to = _hops_along(graph.n, starts, ends, source)
        one_on = hops_to[ends] == hops_to[starts] + 1
        starts, ends = starts[one_on], ends[one_on]
    before = np.full(graph.n, -1, np.int32)
    before[ends] = starts
    return before


def _hops_along(n: int, starts: Any, ends: Any, source: int) -> NDArray[np.int64]:
    """Count edges from the source along arcs; n + 1 where there is no way."""
    arcs = module("scipy.sparse").csr_array((np.ones(starts.size), (starts, ends)), shape=(n, n))
    order, before = module("scipy.sparse.csgraph").breadth_first_order(arcs, source)
    place = np.empty(n, np.int64)
    place[order] = np.arange(order.size)
    parents = place[before[order[1:]]]  # they ascend, so that a level ends where its parents do
    hops_to = np.full(n, n + 1, np.int64)
    level, begin, end = 0, 0, 1
    while begin < end:
        hops_to[order[begin:end]] = level
        level, begin, end = level + 1, end, 1 + int(np.searchsorted(parents, end))
    return hops_to


def strong(graph: Graph, *, device: Device | str | None = None) -> Any:
    """See `Graph.scc`."""
    pandas = module("pandas", needed_for="scc")
    found = scc(graph, device=device)
    series = pandas.Series(found.labels, index=named_vertices(graph), name="component")
    series.attrs["n_components"] = int(found.count)
    return series


def mean_distance(
    graph: Graph, sources: Any = None, *, device: Device | str | None = None
) -> float:
    """See `Graph.mean_distance`."""
    everyone = np.arange(graph.n)
    numbers = everyone if sources is None else numbers_of(graph, sources)[1]
    asked = _searcher if graph.weights is None else _weighted
    searcher: Searcher | WeightedSearcher = asked(graph, "auto", device)
    found = searcher.totals(numbers)
    pairs = int((found.reached - 1).sum())
    return float(found.total.sum()) / pairs if pairs else float("nan")
