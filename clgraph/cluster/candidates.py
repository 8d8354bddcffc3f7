"""The levels of a search on one rank that sends the vertices it finds to their owners."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.bins import bins_exchanged
from clgraph.cluster.parts.candidates import CandidatePart
from clgraph.cluster.parts.spreading import SpreadingPart
from clgraph.cluster.ranks.butterfly import Butterfly
from clgraph.cluster.ranks.comm import AllGather, Swap
from clgraph.cluster.result import Level

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.ranks.comm import Communicator
    from clgraph.cluster.result import Levels
    from clgraph.device import Device
    from clgraph.engine.resolved import Resolved

__all__ = ["CandidateExchange"]


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
    comm : Communicator
        Of the ranks.
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
        comm: Communicator,
        predecessors: bool,
    ) -> None:
        self._ranks = share.partition.ranks
        self._butterfly = Butterfly(comm, share.rank, device)
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
            level.sent_bytes, level.rounds, received = yield from bins_exchanged(
                self._butterfly, part, sent
            )
            kept = int(sent[part.rank, part.rank])
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
