"""Parts of a search where rows of an owner's vertices are on other ranks too."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.parts.candidates import CandidatePart
from clgraph.cluster.parts.part import SLOT_STRIDE
from clgraph.device import Mirror
from clgraph.device.lazy import cl
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import STATE_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share

__all__ = ["SpreadingPart"]


class SpreadingPart(CandidatePart):
    """A part whose owner notifies those who have its vertices' rows which of these are new.

    The claims of owners go to a queue of their own, of numbers of owned vertices. These are read,
    named, and sent to whoever has rows of them, where they enter the frontier by another claim.
    """

    def __init__(
        self, share: Share, partition_plan: PartitionPlan, *where: Any, **common: Any
    ) -> None:
        super().__init__(share, partition_plan, *where, **common)
        self._partition = share.partition
        memory, rows, owned = self._memory, share.rows, share.owned.count
        self._new = 0
        self._own_n = np.uint32(owned)
        # Owners claim by numbers of owned vertices, whose rows may be elsewhere.
        no_rows = np.zeros(owned + 1, offsets_dtype(share.facts.m))
        self._no_rows = memory.upload("no_rows", no_rows)
        self._news = memory.allocate("news", owned + QUEUE_SLACK, np.uint32)
        self._claimed = memory.allocate("claimed", self._state.count, np.uint32)
        self._count = Mirror(self.device, self._claimed, STATE_WORDS["NEXT"], SLOT_STRIDE + 1)
        self.row_distances = memory.allocate("row_distances", rows.count, np.int32)
        self._arrivals = memory.allocate("arrivals", rows.count, np.uint32)
        self._none = memory.allocate("no_tree", 1, np.int32)
        file, name = "bfs/parts_contract.cl", "bfs_parts_contract"
        self._claim = self._kernel(file, name, replace(self._claims, entry="vertex", hub_degree=0))
        treeless = SimpleNamespace(predecessors=False, named=False)
        self._admit = self._kernel(file, name, self._claims, treeless)

    def begin(self, source: int) -> None:
        """Enqueue what makes no vertex reached but the source."""
        super().begin(source)
        queue, distances = self.device.queue, self.distances.buffer
        number = self.owned.number(source)
        self._new = int(number < self.owned.count)
        if self.owned.count:
            size = 4 * self.owned.count
            cl.enqueue_fill_buffer(queue, distances, np.array([UNREACHED], np.int32), 0, size)
        if self._new:
            cl.enqueue_fill_buffer(queue, distances, np.zeros(1, np.int32), 4 * number, 4)

    def contract(self, level: int, kept: tuple[int, int], received: int) -> None:
        """Enqueue the owner's claims; see `CandidatePart.contract`."""
        self._claimed.clear()
        self._launch(
            self._claim,
            *(self._no_rows, self._indices, self._own_n, np.uint32(level)),
            *(self.bins, np.uint32(kept[0]), np.uint32(kept[1]), self.inbox, np.uint32(received)),
            *(self.distances, self.predecessors, self._news, self._hubs),
            *(np.uint32(0), self._claimed, self._slots[level & 1]),
        )

    def news(self, level: int) -> list[NDArray[np.int64]]:
        """Wait for the claims; give the new vertices that each rank has rows of."""
        self._count.refresh()
        self._new = int(self._count.words[(level & 1) * SLOT_STRIDE])
        found = np.sort(self._news.read(self._new).astype(np.int64))
        names = found * self.owned.stride + self.owned.first
        return self._partition.spread(self.rank, names)

    def admit(self, level: int, names: NDArray[np.int64]) -> None:
        """Enqueue what puts new vertices into the frontier."""
        numbers = self.rows.numbers(names)
        self._arrivals.write(numbers.astype(np.uint32))
        self._launch(
            self._admit,
            *(self._indptr, self._indices, self._n, np.uint32(level)),
            *(self.bins, np.uint32(0), np.uint32(0), self._arrivals, np.uint32(numbers.size)),
            *(self.row_distances, self._none, self._frontier, self._hubs),
            *(np.uint32(self._parts), self._state, self._slots[level & 1]),
        )

    def frontier(self, level: int) -> int:  # noqa: ARG002 - it is that of the last claims
        """How many owned vertices are new, as last claimed."""
        return self._new
