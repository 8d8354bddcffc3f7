"""The levels of a search on one rank: what it launches, and what it sends in between."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.config import Found
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.parts.candidates import CandidatePart
from clgraph.cluster.parts.spreading import SpreadingPart
from clgraph.cluster.ranks.comm import AllGather, Mail, Piece, Swap
from clgraph.cluster.result import Level
from clgraph.engine.strategies.pull import ByEdges

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Device
    from clgraph.engine.resolved import Resolved

__all__ = ["BitExchange", "CandidateExchange", "Levels"]

# Levels, launches of all ranks, and seconds from the first launch to the last look.
Levels = tuple[list[Level], int, float]


class CandidateExchange:
    """Vertices are sent to their owners, until all bins of all ranks are empty.

    Parameters
    ----------
    share : Share
        What this rank holds.
    partition_plan : PartitionPlan
        What ranks share.
    device : Device
        Of this rank.
    config : Resolved
        How it expands.
    predecessors : bool
        Whether a tree is labelled.

    Attributes
    ----------
    part : CandidatePart
        What is on the device.
    """

    NAME = "candidates"

    def __init__(
        self,
        share: Share,
        partition_plan: PartitionPlan,
        device: Device,
        config: Resolved,
        *,
        predecessors: bool,
    ) -> None:
        self._ranks = share.partition.ranks
        kind = SpreadingPart if share.partition.spreads else CandidatePart
        self.part = kind(share, partition_plan, device, config, predecessors=predecessors)

    def prepare(self) -> Generator[Any, Any, None]:
        """Make room for what others may send."""
        part = self.part
        rooms = yield AllGather(lambda: np.diff(part.bin_begins))
        part.receive_from(int(rooms[:, part.rank].sum() - rooms[part.rank, part.rank]))

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        part = self.part
        begun = clock = time.perf_counter()
        part.begin(source)
        levels: list[Level] = []
        launches = self._ranks
        for depth in range(limit):
            part.expand(depth)
            rows = yield AllGather(partial(self._counted, depth), [part.look()])
            launches += self._ranks
            sent = rows[:, 1:]
            level = Level(int(rows[:, 0].sum()), "push")
            levels.append(level)
            if not sent.any():
                level.microseconds = 1e6 * (time.perf_counter() - clock)
                return levels, launches, time.perf_counter() - begun
            level.sent_bytes = part.candidate_bytes * int(sent.sum() - np.trace(sent))
            yield self._mail(sent)
            kept = int(sent[part.rank, part.rank])
            received = int(sent[:, part.rank].sum()) - kept
            part.contract(depth + 1, (int(part.bin_begins[part.rank]), kept), received)
            launches += self._ranks
            if isinstance(part, SpreadingPart):
                level.sent_bytes += yield from self._spread(part, depth + 1)
                launches += self._ranks
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
        rows = yield AllGather(lambda: self._counted(limit), [part.look()])
        levels.append(Level(int(rows[:, 0].sum())))
        return levels, launches, time.perf_counter() - begun

    def _counted(self, depth: int) -> NDArray[np.int64]:
        self.part.check()
        return np.concatenate([[self.part.frontier(depth)], self.part.sent()])

    @staticmethod
    def _spread(part: SpreadingPart, depth: int) -> Generator[Any, Any, int]:
        """Pass on what is new to whoever has rows of it; give the bytes that all sent."""
        news = part.news(depth)
        received = yield Swap(news)
        part.admit(depth, np.concatenate(received))
        mine = sum(8 * array.size for peer, array in enumerate(news) if peer != part.rank)
        sums = yield AllGather.of(mine)
        return int(sums.sum())

    def _mail(self, sent: NDArray[np.int64]) -> Mail:
        """Give what bins hold to whom it is for; `sent[i, j]` go from rank i to rank j."""
        part, size, mail = self.part, self.part.candidate_bytes, Mail()
        place = 0
        for step in range(self._ranks):
            sender = step
            count = int(sent[sender, part.rank])
            if sender != part.rank and count:
                mail.receives.append(Piece(sender, part.inbox, place * size, count * size))
                place += count
        for receiver in range(self._ranks):
            count = int(sent[part.rank, receiver])
            if receiver != part.rank and count:
                first = int(part.bin_begins[receiver]) * size
                mail.sends.append(Piece(receiver, part.bins, first, count * size))
        return mail


class BitExchange:
    """Everybody is sent a bit for each vertex, or a list where that is less, until nothing is new.

    Parameters
    ----------
    share, partition_plan, device, config, predecessors
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
        predecessors: bool,
    ) -> None:
        self._facts, self._partition_plan = share.facts, partition_plan
        self._ranks = share.partition.ranks
        self._shares = share.partition.shares
        self.part = self.PART(share, partition_plan, device, config, predecessors=predecessors)

    def prepare(self) -> Generator[Any, Any, None]:
        """Do nothing: what others send has one size."""
        yield AllGather.of(0)

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        part, rule = self.part, self.part.config.pull
        begun = clock = time.perf_counter()
        part.begin(source)
        own = part.owned.number(source)
        degree = int(part.degrees[own]) if own < part.owned.count else 0
        # What a rank's part of the frontier can find at most is what it can have to list.
        edges = (yield AllGather.of(degree))[:, 0]
        levels = [Level(1)]
        launches = self._ranks
        pulls, explored, hubs = False, int(edges.sum()), 0
        for depth in range(limit):
            level = levels[depth]
            lists = not pulls and self._lists_are_less(edges)
            if pulls:
                part.pull(depth)
            elif edges[part.rank]:
                part.expand(depth, lists=lists)
            pushing = int(np.count_nonzero(edges))
            launches += self._ranks if pulls else pushing
            level.direction = "pull" if pulls else "push"
            mail, level.sent_bytes = self._mail(edges, pulls=pulls, lists=lists)
            yield mail
            arrived = 0 if pulls else len(mail.receives)
            if lists and arrived:
                part.mark(arrived)
            if lists and pushing:
                launches += self._ranks - (pushing == 1)  # all whom somebody else sends a list
            part.merge(depth + 1, 0 if lists else arrived)
            rows = yield AllGather(partial(self._counted, depth + 1), [part.look()])
            launches += self._ranks
            edges = rows[:, 1]
            explored += int(edges.sum())
            hubs, before = int(rows[:, 2].sum()), hubs
            found = Found(int(rows[:, 0].sum()), hubs - before, int(edges.sum()), explored)
            pulls = isinstance(rule, ByEdges) and self._partition_plan.pulls(
                before=pulls, facts=self._facts, found=found, rule=rule
            )
            levels.append(Level(found.vertices))
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
            if not found.vertices:
                break
        return levels, launches, time.perf_counter() - begun

    def _counted(self, depth: int) -> NDArray[np.int64]:
        part = self.part
        part.check()
        return np.array([part.frontier(depth), part.found_edges(depth), part.found_hubs()])

    def _lists_are_less(self, edges: NDArray[np.int64]) -> bool:
        """Whether lists with room for all edges of a frontier are smaller than bitmaps."""
        lists = 4 * (edges + 1)
        return bool((lists <= self.part.map_bytes).all() and lists.mean() < self.part.map_bytes)

    def _mail(self, edges: NDArray[np.int64], *, pulls: bool, lists: bool) -> tuple[Mail, int]:
        """Give what goes to everybody else, and the bytes that all send.

        Who has no edge out of the frontier pushes nothing that others do not know.
        """
        part, mail = self.part, Mail()
        others = [rank for rank in range(self._ranks) if rank != part.rank]
        whole = part.map_bytes
        sizes = [
            (
                part.own_bytes(self._shares[rank])
                if pulls
                else (0, (4 * (int(edges[rank]) + 1) if lists else whole) if edges[rank] else 0)
            )
            for rank in range(self._ranks)
        ]
        source = part.list if lists else part.found
        for peer in others:
            first, size = sizes[part.rank]
            if size:
                mail.sends.append(Piece(peer, source, first, size))
            first, size = sizes[peer]
            if size:
                # Pulled words are right as they come; others are merged with what is here.
                place = len(mail.receives) * whole
                target = (part.found, first) if pulls else (part.inbox, place)
                mail.receives.append(Piece(peer, *target, size))
        return mail, (self._ranks - 1) * sum(size for _, size in sizes)
