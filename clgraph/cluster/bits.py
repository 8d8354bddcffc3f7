"""The levels of a search on one rank that sends a bit for each vertex to everybody."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.config import Found
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.ranks.butterfly import Butterfly
from clgraph.cluster.ranks.comm import AllGather, Mail, Piece
from clgraph.cluster.result import Level
from clgraph.cluster.running_on import Front, RunningOn
from clgraph.engine.strategies.pull import ByEdges

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.ranks.comm import Communicator
    from clgraph.cluster.result import Levels
    from clgraph.device import Device
    from clgraph.engine.resolved import Resolved

__all__ = ["BitExchange"]


class BitExchange:
    """Everybody is sent a bit for each vertex, or a list where that is less, until nothing is new.

    Parameters
    ----------
    share, partition_plan, device, config, comm, predecessors
        As for `CandidateExchange`.

    Attributes
    ----------
    part : BitPart
        What is on the device.
    """

    NAME = "bits"
    PART = BitPart

    def __init__(
        self,
        share: Share,
        partition_plan: PartitionPlan,
        device: Device,
        config: Resolved,
        *,
        comm: Communicator,
        predecessors: bool,
    ) -> None:
        self._facts, self._partition_plan = share.facts, partition_plan
        self._ranks = share.partition.ranks
        self._shares = share.partition.shares
        self._butterfly = Butterfly(comm, share.rank, device)
        self.part = self.PART(
            *(share, partition_plan, device, config),
            runs_on=comm.runs_on,
            predecessors=predecessors,
        )
        self._ahead = RunningOn(self.part, wanted=comm.runs_on)

    def prepare(self) -> Generator[Any, Any, None]:
        """Do nothing: what others send has one size."""
        yield AllGather.of(0)

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        part, ahead = self.part, self._ahead
        begun = clock = time.perf_counter()
        part.begin(source)
        ahead.begin()
        own = part.owned.number(source)
        degree = int(part.degrees[own]) if own < part.owned.count else 0
        front = Front((yield AllGather.of(degree))[:, 0], self._ranks)
        levels = [Level(1)]
        while (depth := len(levels) - 1) < limit:
            owner = None if front.pulls else ahead.owner(front.edges)
            if owner is not None:
                ran = yield from ahead.run(owner, depth, limit, front)
                for _ in range(depth, ran.level):
                    levels[-1].direction = "push"
                    levels.append(Level(0))  # see `RunningOn.counted`
                ended = not ran.vertices
            if owner is None or ran.leaves:
                level = levels[-1]
                yield from self._exchanged(level, len(levels) - 1, front)
                found = yield from self._found(len(levels), front)
                levels.append(Level(found))
                ended = not found
            now = time.perf_counter()
            for level in levels[depth:-1]:
                level.microseconds = 1e6 * (now - clock) / (len(levels) - 1 - depth)
            clock = now
            if ended:
                break
        yield from ahead.counted(levels)
        return levels, front.launches, time.perf_counter() - begun

    def _exchanged(self, level: Level, depth: int, front: Front) -> Generator[Any, Any, None]:
        """Expand the frontier, or pull the next, and have all know what was found."""
        part, edges, pulls = self.part, front.edges, front.pulls
        lists = not pulls and not front.left_out and self._lists_are_less(front.listed)
        pushing = int(np.count_nonzero(edges))
        if pulls:
            part.pull(depth)
            front.launches += self._ranks
        elif not front.expanded:
            front.launches += pushing
            if edges[part.rank]:
                part.expand(depth, lists=lists)
        level.direction = "pull" if pulls else "push"
        pieces = self._pieces(front, lists=lists)
        level.sent_bytes, level.rounds, arrived = yield from self._butterfly.to_all(
            self._mail(pieces, pulls=pulls, lists=lists),
            np.array([size for _, size in pieces], np.int64),
            unite=not pulls and not lists,
        )
        if lists and arrived:
            part.mark(arrived)
        if lists and pushing:
            front.launches += self._ranks - (pushing == 1)  # all whom somebody else sends a list
        part.merge(depth + 1, 0 if pulls or lists else arrived)
        front.launches += self._ranks

    def _found(self, depth: int, front: Front) -> Generator[Any, Any, int]:
        """Look at what was found at a distance, and decide what is done with it."""
        rule = self.part.config.pull
        rows = yield AllGather(partial(self._counted, depth), [self.part.look()])
        found = Found(
            vertices=int(rows[:, 0].sum()),
            hubs=int(rows[:, 2].sum() - front.hubs.sum()),
            edges=int(rows[:, 1].sum()),
            explored=front.explored + int(rows[:, 1].sum()),
        )
        front.become(rows[:, 1], rows[:, 2])
        front.pulls = isinstance(rule, ByEdges) and self._partition_plan.pulls(
            before=front.pulls, facts=self._facts, found=found, rule=rule
        )
        return found.vertices

    def _counted(self, depth: int) -> NDArray[np.int64]:
        part = self.part
        part.check()
        return np.array([part.frontier(depth), part.found_edges(depth), part.found_hubs()])

    def _lists_are_less(self, listed: NDArray[np.int64]) -> bool:
        """Whether lists with so much room are smaller than bitmaps."""
        lists = 4 * (listed + 1)
        return bool((lists <= self.part.map_bytes).all() and lists.mean() < self.part.map_bytes)

    def _pieces(self, front: Front, *, lists: bool) -> list[tuple[int, int]]:
        """Give for each rank the first byte and the size of what all others are to have of it.

        Who has no edge out of the frontier pushes nothing that others do not know.
        """
        if front.pulls:
            return [self.part.own_bytes(owned) for owned in self._shares]
        whole = self.part.map_bytes
        return [
            (0, (4 * (int(listed) + 1) if lists else whole) if edges else 0)
            for edges, listed in zip(front.edges, front.listed, strict=True)
        ]

    def _mail(self, pieces: list[tuple[int, int]], *, pulls: bool, lists: bool) -> Mail:
        """Give what goes to everybody else, and comes from there."""
        part, mail = self.part, Mail()
        source = part.list if lists else part.found
        for peer in range(self._ranks):
            if peer == part.rank:
                continue
            first, size = pieces[part.rank]
            if size:
                mail.sends.append(Piece(peer, source, first, size))
            first, size = pieces[peer]
            if size:
                # Pulled words are right as they come; others are merged with what is here.
                place = len(mail.receives) * part.map_bytes
                target = (part.found, first) if pulls else (part.inbox, place)
                mail.receives.append(Piece(peer, *target, size))
        return mail
