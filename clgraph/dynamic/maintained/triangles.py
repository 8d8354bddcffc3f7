"""The triangles of a dynamic graph, counted where it changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.triangles.plan import Triangles
from clgraph.device import Memory
from clgraph.dynamic.maintained.following import Follower, check_rows
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph.arguments import flags, one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.dynamic.maintained.following import Change
    from clgraph.dynamic.parts import Steps
    from clgraph.dynamic.result import UpdateResult

__all__ = ["TriangleCounter"]

METHODS = ("cases", "inclusion-exclusion", "recount")


@dataclass(frozen=True, slots=True)
class _Counts:
    total: int
    vertices: Allocation | None
    n: int


class TriangleCounter(Follower):
    """Triangles of an undirected dynamic graph, in all and of each vertex, kept up to date.

    Parameters
    ----------
    graph : DynamicGraph
        Undirected, with sorted rows, and without parallel edges. Self-loops are in no triangle.
        However it changes, the counts follow.
    per_vertex : bool
        Whether to count those of each vertex too.
    method : {"cases", "inclusion-exclusion", "recount"}
        How triangles with edges of a batch are counted: each once, by how many of its edges are of
        the batch; by sums over the graph with the batch, which tell no vertices; or all anew.
    verify : bool
        Whether every count is compared with one that is made anew.

    Attributes
    ----------
    look_ups : int
        Elements that were looked up in rows for the last batch that was not recounted.

    Raises
    ------
    InvalidArgumentError
        If the graph is directed or its rows do not ascend, or the method is unknown.

    Notes
    -----
    A batch costs one look-up for each neighbour of the end of smaller degree of each of its edges,
    and a few for each pair of its own edges that meet, however large the graph is. Where that comes
    near the edges of the graph, they are counted anew when somebody asks. Exact.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(n=4, directed=False)
    >>> counter = cg.dynamic.TriangleCounter(graph)
    >>> done = graph.insert_edges([0, 0, 1, 0, 1], [1, 2, 2, 3, 3])
    >>> counter.count, counter.per_vertex.tolist()
    (2, [2, 2, 1, 1])
    """

    @flags
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        per_vertex: bool = True,
        method: Literal["cases", "inclusion-exclusion", "recount"] = "cases",
        verify: bool = False,
    ) -> None:
        check_rows(graph, undirected=True)
        one_of("method", method, METHODS)
        if per_vertex and method == "inclusion-exclusion":
            raise InvalidArgumentError(
                "inclusion-exclusion counts the total only; pass per_vertex=False."
            )
        self._per_vertex = per_vertex
        self.method = method
        self.look_ups = 0
        self._memory = Memory(graph.device)
        super().__init__(graph, verify=verify)

    @property
    def count(self) -> int:
        """Triangles of the graph as it is now."""
        return int(self.state.total)

    @property
    def per_vertex(self) -> NDArray[np.int64]:
        """Triangles of each vertex as it is now: int64 [n]."""
        if not self._per_vertex:
            raise InvalidArgumentError("vertices are not counted; pass per_vertex=True.")
        with self.graph.lock:
            state = self.state
            counts = np.zeros(self.graph.n, np.int64)
            counts[: state.n] = state.vertices.read(state.n)
            return counts

    def per_edge(self) -> NDArray[np.uint32]:
        """Triangles of each stored edge, in the order of ``graph.to_graph()``, counted anew."""
        held = Triangles(self.graph.to_graph(), device=self.graph.device, clean=True).run("edge")
        return np.zeros(0, np.uint32) if held.values is None else held.values

    def update(
        self,
        insertions: tuple[Any, Any] = ((), ()),
        deletions: tuple[Any, Any] = ((), ()),
    ) -> tuple[UpdateResult, UpdateResult]:
        """Delete edges, then insert edges; one that is in both is there afterwards.

        Parameters
        ----------
        insertions, deletions : pair of integer array-like
            Sources and targets.

        Returns
        -------
        UpdateResult, UpdateResult
            Of the insertions and of the deletions.
        """
        with self.graph.lock:
            gone = self.graph.delete_edges(*deletions)
            return self.graph.insert_edges(*insertions), gone

    def found(self) -> _Counts:
        """Count anew."""
        graph = self.graph
        per: Literal["vertex", "total"] = "vertex" if self._per_vertex else "total"
        try:
            result = Triangles(graph).run(per)
        except InvalidGraphError:  # self-loops, of which there are none in packed rows
            result = Triangles(graph.to_graph(), device=graph.device, clean=True).run(per)
        vertices = None
        if result.values is not None and self._per_vertex:
            vertices = self._memory.upload("triangles", result.values.astype(np.uint64))
        return _Counts(result.count, vertices, graph.n)

    def check(self, state: _Counts) -> None:
        """Compare with counts that are made anew."""
        fresh = self.found()
        same = fresh.total == state.total
        if same and state.vertices is not None and fresh.vertices is not None:
            counts = np.zeros(fresh.n, np.uint64)
            counts[: state.n] = state.vertices.read(state.n)
            same = bool((counts == fresh.vertices.read(fresh.n)).all())
        if not same:
            raise VerificationError(
                f"{state.total} triangles were kept count of, but there are {fresh.total}, or "
                "those of some vertex differ."
            )

    def advanced(self, steps: Steps, state: _Counts, change: Change) -> _Counts | None:
        """Add the triangles with edges of the batch, or take them away."""
        if self.method == "recount" or change.after.parallel:
            return None
        log = steps["triangles"]
        n = change.after.n
        apart = self.method == "cases"
        store = change.without
        if not apart:
            store = change.after if change.joins else change.before
        tally = self._memory.upload("tally", np.zeros(4, np.uint64))
        fields: tuple[Any, ...] = ()
        if self._per_vertex:
            fields = (self._memory.allocate("changes", n, np.uint64),)
            event = fields[0].clear()
            log.add(event, event)
        items = change.batch.count * self.graph.device.traits.lanes
        args = (store.pointer, store.used, store.pools[0], np.uint32(apart), tally, *fields)
        params = {"per_vertex": self._per_vertex}
        self.kernels.launch(log, "follow_triangles", items, *change.keys, *args, **params)
        vertices = None
        sign = 1 if change.joins else -1
        if state.vertices is not None:
            vertices = self._memory.allocate("triangles", n, np.uint64)
            known = (state.vertices, np.uint32(state.n))
            sums = (*known, *fields, np.uint32(n), np.int32(sign), vertices)
            self.kernels.launch(log, "follow_sum", n, *sums, **params)
        one, two, three, tried = tally.read().tolist()
        self.look_ups = int(tried)
        found = one + two + three
        if not apart:
            sixfold = 6 * one - 3 * two + 2 * three
            if sixfold % 6:
                raise VerificationError(f"sums of common neighbours give {sixfold} / 6 triangles.")
            found = sixfold // 6
        return _Counts(state.total + sign * found, vertices, n)
