"""Levels of a frontier that one rank has alone: it runs on, and the others hear what came of it."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.bits import MOST_ALONE, NARROW_EDGES, Ran
from clgraph.cluster.ranks.comm import AllGather

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.cluster.parts.bits import BitPart
    from clgraph.cluster.result import Level

__all__ = ["Front", "RunningOn"]

MOST_WAITS = 64


class Front:
    """What all ranks know alike of a frontier.

    Parameters
    ----------
    edges : int64 array [ranks]
        Of each rank's part of the first frontier.
    launches : int
        Of all ranks until now.

    Attributes
    ----------
    edges : int64 array [ranks]
        Of each rank's part.
    listed : int64 array [ranks]
        How many vertices a rank has room for in its list, which others have not heard of: as many
        as its part has edges, and those that it found when it ran on.
    left_out : bool
        Whether it found more than it has listed.
    expanded : bool
        Whether the frontier is expanded already.
    pulls : bool
        Whether the next frontier is looked for by all.
    explored : int
        Edges of all frontiers until now.
    hubs : int64 array [ranks]
        How many each rank has found until now.
    launches : int
        Of all ranks until now.
    """

    def __init__(self, edges: NDArray[np.int64], launches: int) -> None:
        self.hubs = np.zeros_like(edges)
        self.explored, self.launches, self.pulls = 0, launches, False
        self.become(edges, self.hubs)

    def become(self, edges: NDArray[np.int64], hubs: NDArray[np.int64]) -> None:
        """Be the next frontier, of which all have heard."""
        self.edges, self.listed, self.hubs = edges, edges, hubs
        self.explored += int(edges.sum())
        self.left_out = self.expanded = False

    def run_on(self, owner: int, ran: Ran) -> None:
        """Be the frontier that one rank came to, of which the others have not heard."""
        none = np.zeros_like(self.edges)
        self.edges, self.listed, self.hubs = none.copy(), none, self.hubs.copy()
        self.edges[owner] = ran.edges
        self.listed[owner] = ran.listed + (0 if ran.leaves else ran.edges)
        self.hubs[owner] = ran.hubs
        self.explored += ran.explored
        self.left_out, self.expanded = bool(ran.left_out), bool(ran.leaves)
        self.launches += 1


class RunningOn:
    """When a rank runs on alone, and what it reports; all ranks decide alike.

    Where frontiers leave their rank at once running on costs a report and saves nothing: then it
    is left for one level, two, four and so on, until it pays again.

    Parameters
    ----------
    part : BitPart
        Of this rank.
    wanted : bool
        Whether ranks run on at all.
    """

    def __init__(self, part: BitPart, *, wanted: bool) -> None:
        self._part, self._wanted = part, wanted
        self.begin()

    def begin(self) -> None:
        """Forget the search before."""
        self._waits = self._pause = 0
        self._vertices: list[tuple[int, NDArray[np.int64]]] = []
        self._any = False

    def owner(self, edges: NDArray[np.int64]) -> int | None:
        """Give the rank that runs on, by the edges of each rank's part of the frontier."""
        (owners,) = np.nonzero(edges)
        if not self._wanted or owners.size != 1 or edges[owners[0]] > NARROW_EDGES:
            return None
        if self._pause:
            self._pause -= 1
            return None
        return int(owners[0])

    def run(self, owner: int, level: int, limit: int, front: Front) -> Generator[Any, Any, Ran]:
        """Have a rank run on with a frontier, at most as far as distance `limit`."""
        part = self._part
        events: list[cl.Event] = []
        if owner == part.rank:
            past, edges = min(level + MOST_ALONE, limit), int(front.edges[owner])
            events = [part.run_on(level, past, edges, left_out=front.left_out)]

        def report() -> NDArray[np.int64]:
            if owner != part.rank:
                return np.zeros(len(fields(Ran)), np.int64)
            part.check()
            ran, vertices = part.ran(level)
            self._vertices.append((level + 1, vertices))
            return np.array(astuple(ran), np.int64)

        rows = yield AllGather(report, events)
        ran = Ran(*rows[owner].tolist())
        front.run_on(owner, ran)
        self._any = True
        self._waits = 0 if ran.level > level else min(2 * self._waits + 1, MOST_WAITS)
        self._pause = self._waits
        return ran

    def counted(self, levels: Sequence[Level]) -> Generator[Any, Any, None]:
        """Have every rank know how many vertices were found at levels that one ran alone."""
        if not self._any:
            return
        counts = np.zeros(len(levels), np.int64)
        for first, vertices in self._vertices:
            counts[first : first + vertices.size] = vertices
        rows = yield AllGather(lambda: counts)
        for level, count in zip(levels, rows.sum(axis=0), strict=True):
            level.frontier += int(count)
