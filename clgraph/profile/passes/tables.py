"""Tables that instrumented launches write to: one for each that has not been read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory
from clgraph.device.lazy import cl
from clgraph.errors import DeviceMemoryError

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Allocation
    from clgraph.profile.passes.layout import Layout

__all__ = ["WORD_BYTES", "Tables"]

WORD_BYTES = 8
# Of all tables of a queue, as long as that is more than one of them.
MOST_BYTES = 64 << 20
# Of one, so that there are few, and launches that differ little take the same ones in each run.
LEAST_WORDS = 1 << 15


class Tables:
    """Tables by queue, taken one after the other until all are free again."""

    def __init__(self) -> None:
        self._of: dict[int, list[Allocation]] = {}
        self._taken: dict[int, int] = {}

    def take(self, device: Device, layout: Layout) -> Allocation | None:
        """Give a table that is written to by nobody, with nothing counted; None if there is none.

        A launch that finds all others free gets one in any case.
        """
        table = self._free(device, layout.words)
        if table is None:
            return None
        self._taken[device.queue.int_ptr] += 1
        # What comes after the counters and records is only read where it was written. Nobody waits:
        # a kernel that follows at once runs like one among others.
        zero = np.zeros(1, np.uint32)
        cl.enqueue_fill_buffer(device.queue, table.buffer, zero, 0, WORD_BYTES * layout.zeroed)
        if layout.has_header:
            table.write(layout.header())
        return table

    def _free(self, device: Device, words: int) -> Allocation | None:
        key = device.queue.int_ptr
        tables, taken = self._of.setdefault(key, []), self._taken.setdefault(key, 0)
        if taken < len(tables) and tables[taken].count >= words:
            return tables[taken]
        while len(tables) > taken:
            tables.pop().release()
        words = max(words, LEAST_WORDS)
        if taken and sum(table.size_bytes for table in tables) + WORD_BYTES * words > MOST_BYTES:
            return None
        try:
            tables.append(Memory(device).allocate("counters", words, np.uint64))
        except DeviceMemoryError:
            if taken:
                return None
            raise
        return tables[taken]

    def free(self) -> None:
        """Have all be taken again: what was written to them has been read."""
        self._taken.clear()

    def lose(self) -> None:
        """Forget all, which may be written to until the process ends."""
        self._of.clear()
        self._taken.clear()

    def release(self) -> None:
        """Give their memory back."""
        for tables in self._of.values():
            for table in tables:
                table.release()
        self.lose()
