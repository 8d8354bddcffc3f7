"""Searches of a converted graph: plans are compiled once and stay with the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import networkx as nx
import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.components.plan import connected_components
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.algorithms.scc.plan import scc
from clgraph.algorithms.sssp.plan import SSSP
from clgraph.device import device as find_device
from clgraph.errors import ClgraphError, NegativeCycleError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Searches", "current_device"]

Plan = TypeVar("Plan")

FEW = 4  # sources, for which one search after the other has the whole device
BLOCK = 1 << 24  # distances that are looked at together
USUAL_SHARE = 0.3  # of the vertices at one distance, from which on a row begins as a copy


def current_device() -> Device:
    """Device that ``nx.config.backends.clgraph.device`` names."""
    wanted = nx.config.backends.clgraph.device
    return find_device(None if wanted == "auto" else wanted)


class Searches:
    """What the functions of the backend ask of one graph on one device.

    Parameters
    ----------
    graph : NetworkxGraph
        What is searched.
    device : Device
        Where.
    """

    def __init__(self, graph: NetworkxGraph, device: Device) -> None:
        self.graph = graph
        self.device = device
        self._plans: dict[Hashable, Any] = {}

    @classmethod
    def of(cls, graph: NetworkxGraph) -> Searches:
        """Give those of a graph on the device that is configured now."""
        device = current_device()
        found: Searches | None = graph.kept.get(device)
        if found is None:
            found = graph.kept[device] = cls(graph, device)
        return found

    def _plan(self, key: Hashable, build: Callable[[], Plan]) -> Plan:
        if key not in self._plans:
            self._plans[key] = build()
        plan: Plan = self._plans[key]
        return plan

    def _ways(self, *, back: bool) -> tuple[Graph, Graph]:
        plain = self.graph.plain
        return (plain.transpose(), plain) if back else (plain, plain.transpose())

    def searcher(self, *, back: bool = False) -> Searcher:
        """Give searches in hops from many sources."""
        back = back and self.graph.directed

        def build() -> Searcher:
            ahead, reverse = self._ways(back=back)
            # A transpose is only made where it is at hand or wanted.
            return Searcher(ahead, self.device, transpose=reverse if back else None)

        return self._plan(("searcher", back), build)

    def hops(self, source: int, *, back: bool = False) -> NDArray[np.int32]:
        """Hop distances [n] from, or to, one vertex; -1 where there is no path."""
        back = back and self.graph.directed
        ahead = self._ways(back=True)[0] if back else self.graph.plain
        plan = self._plan(("bfs", back), lambda: BFS(ahead, device=self.device))
        return plan.run(source).distances

    def hop_blocks(
        self, sources: NDArray[np.int64], *, back: bool = False
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Hop distances [k, n] from blocks of sources."""
        if sources.size < FEW:
            if sources.size:
                yield sources, np.stack([self.hops(v, back=back) for v in sources.tolist()])
            return
        searcher = self.searcher(back=back)
        size = max(BLOCK // max(self.graph.n, 1), 1)
        for block in searcher.blocks(sources, 4):
            for begin in range(0, block.size, size):
                part = block[begin : begin + size]
                yield part, searcher.distances(part)

    def nearest_hops(self, sources: NDArray[np.int64]) -> NDArray[np.int32]:
        """Hop distances [n] from the nearest of several vertices."""
        far = np.iinfo(np.int32).max
        nearest = np.full(self.graph.n, far, np.int32)
        for _, rows in self.hop_blocks(sources):
            np.minimum(nearest, np.where(rows < 0, far, rows).min(axis=0), out=nearest)
        nearest[nearest == far] = -1
        return nearest

    def totals(self, sources: NDArray[np.int64], *, back: bool = False) -> Any:
        """Figures of searches in hops, see `clgraph.algorithms.multi_search.result.Totals`."""
        return self.searcher(back=back).totals(sources)

    def weighted_searcher(self, attribute: Hashable, *, back: bool = False) -> WeightedSearcher:
        """Give searches by weight from many sources; as `paths` refuses negative weights."""
        self._refuse_negative(attribute)
        back = back and self.graph.directed

        def build() -> WeightedSearcher:
            graph = self.graph.weighted(attribute)
            return WeightedSearcher(graph.transpose() if back else graph, self.device)

        return self._plan(("weighted", attribute, back), build)

    def paths(
        self,
        attribute: Hashable,
        sources: Sequence[int] | NDArray[np.int64],
        *,
        tree: bool = False,
        negative: bool = True,
    ) -> Paths:
        """Lengths of shortest paths by weight from the nearest of several vertices.

        Parameters
        ----------
        attribute : hashable
            The weight.
        sources : integers
            Where paths may begin.
        tree : bool
            Whether to label one too.
        negative : bool
            Whether weights may be negative.

        Raises
        ------
        networkx.NetworkXUnbounded
            If a cycle is negative.
        NotImplementedError
            If these weights are for networkx itself.
        """
        if not (negative and self.graph.directed):
            self._refuse_negative(attribute)

        def build() -> SSSP:
            graph = self.graph.weighted(attribute)
            return SSSP(graph, predecessors=tree, device=self.device)

        try:
            plan = self._plan(("sssp", attribute, tree), build)
            found = plan.run(list(sources) if len(sources) > 1 else int(sources[0]))
            return Paths(found.distances, found.predecessors, plan.unreached)
        except NegativeCycleError as error:
            raise Unbounded(error.cycle) from error
        except ClgraphError as error:
            raise NotImplementedError(str(error)) from error

    def _refuse_negative(self, attribute: Hashable) -> None:
        weights = self.graph.weights(attribute)
        if weights.size and weights.min() < 0:
            raise NotImplementedError("some weights are negative")

    def components(self) -> Any:
        """Components joined by edges, whatever way these point; kept."""
        return self._plan(
            "components", lambda: connected_components(self.graph.plain, device=self.device)
        )

    def strong_components(self) -> Any:
        """Strongly connected components; kept."""
        return self._plan("scc", lambda: scc(self.graph.plain, device=self.device))


class Unbounded(nx.NetworkXUnbounded):  # type: ignore[misc]
    """A negative cycle, and which vertices it has."""

    def __init__(self, cycle: tuple[int, ...]) -> None:
        super().__init__("Negative cycle detected.")
        self.cycle = cycle


@dataclass(frozen=True, eq=False)
class Paths:
    """Distances of one search by weight, and its tree if it has one."""

    distances: NDArray[Any]
    predecessors: NDArray[np.int32] | None
    unreached: Any

    def reached(self, cutoff: float | None = None) -> NDArray[np.int64]:
        """Vertices that are not farther than that, by distance."""
        near = self.distances != self.unreached
        if cutoff is not None:
            near &= self.distances <= cutoff
        return by_distance(self.distances, np.flatnonzero(near))

    def lengths(self, names: list[Any], cutoff: float | None = None) -> dict[Any, Any]:
        """Distance of each node that is reached."""
        vertices = self.reached(cutoff)
        return named(names, vertices, self.distances[vertices])

    def tree(self, names: list[Any], cutoff: float | None = None) -> dict[Any, list[Any]]:
        """Path to each node that is reached."""
        if self.predecessors is None:
            raise AssertionError("the search labelled no tree")
        return tree_paths(names, self.predecessors.tolist(), self.reached(cutoff).tolist())


def tree_paths(names: list[Any], before: list[int], vertices: list[int]) -> dict[Any, list[Any]]:
    """Paths of nodes to vertices of a tree in which roots are before themselves."""
    known: dict[int, list[Any]] = {}
    for vertex in vertices:
        way, above = [], vertex
        while above not in known:  # predecessors at distance 0 may come later
            if before[above] == above:
                known[above] = [names[above]]
                break
            way.append(above)
            above = before[above]
        path = known[above]
        for step in reversed(way):
            path = known[step] = [*path, names[step]]
    return {names[vertex]: known[vertex] for vertex in vertices}


def by_distance(distances: NDArray[Any], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by distance, those of one distance by number."""
    return vertices[np.argsort(distances[vertices], kind="stable")]


def named(names: list[Any], vertices: NDArray[np.int64], values: NDArray[Any]) -> dict[Any, Any]:
    """Values by the names of vertices."""
    return dict(zip(map(names.__getitem__, vertices.tolist()), values.tolist(), strict=True))


def hops_by_name(
    graph: NetworkxGraph, row: NDArray[np.int32], cutoff: float | None
) -> dict[Any, int]:
    """Hop distances by the names of vertices, the nearest first."""
    # NumPy sorts small integers by counting.
    small = row.max(initial=0) < 2**15
    order = np.argsort(row.astype(np.int16) if small else row, kind="stable")
    near = row[order]
    begin = int(np.searchsorted(near, 0))
    end = near.size if cutoff is None else int(np.searchsorted(near, cutoff, side="right"))
    found = slice(begin, max(begin, end))
    return dict(zip(graph.objects[order[found]].tolist(), near[found].tolist(), strict=True))


class HopRows:
    """Makes rows of a table of all pairs: hop distances by the names of vertices, in their order.

    Where many vertices are equally far, a row begins as a copy of one in which all are: copying a
    dictionary takes a tenth of the time of filling it.

    Parameters
    ----------
    graph : NetworkxGraph
        Whose nodes are the keys.
    cutoff : number, optional
        What is farther is left out.
    """

    def __init__(self, graph: NetworkxGraph, cutoff: float | None) -> None:
        self._names = graph.objects
        self._cutoff = cutoff
        self._usual = -1
        self._all_usual: dict[Any, int] = {}

    def row(self, row: NDArray[np.int32]) -> dict[Any, int]:
        """Give the dictionary of one search; unreached vertices are left out."""
        near = row >= 0
        if self._cutoff is not None:
            near &= row <= self._cutoff
        if not near.all():
            found = np.flatnonzero(near)
            return self._listed(row, found)
        counts = np.bincount(row)
        usual = int(counts.argmax())
        if counts[usual] < USUAL_SHARE * row.size:
            return dict(zip(self._names.tolist(), row.tolist(), strict=True))
        if usual != self._usual:
            self._usual = usual
            self._all_usual = dict.fromkeys(self._names.tolist(), usual)
        made = self._all_usual.copy()
        others = np.flatnonzero(row != usual)
        made.update(zip(self._names[others].tolist(), row[others].tolist(), strict=True))
        return made

    def _listed(self, row: NDArray[np.int32], vertices: NDArray[np.int64]) -> dict[Any, int]:
        return dict(zip(self._names[vertices].tolist(), row[vertices].tolist(), strict=True))
