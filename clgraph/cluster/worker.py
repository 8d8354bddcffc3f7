"""One device's share of a divided search: its kernels, its rows and how it launches over them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs_stages import UNREACHED
from clgraph.device import Memory, load, resident_groups, wait
from clgraph.engine.resident import offsets_dtype

if TYPE_CHECKING:
    import pyopencl as cl

    from clgraph.cluster.parts import Part
    from clgraph.device import Allocation, Device
    from clgraph.device.kernel import Argument
    from clgraph.engine.choose import Resolved

__all__ = ["Worker"]


class Worker:
    """What candidates and bits have in common on one device.

    Parameters
    ----------
    device : Device
        Where; several workers may share one.
    part : Part
        The vertices it owns.
    place, parts : int
        Which of how many parts that is.
    config : Resolved
        How it expands its frontiers.
    exchange : {"candidates", "bits"}
        What devices tell each other.
    predecessors : bool
        Whether a tree is labelled.
    """

    def __init__(
        self,
        device: Device,
        part: Part,
        place: int,
        parts: int,
        config: Resolved,
        *,
        exchange: str,
        predecessors: bool,
    ) -> None:
        self.part = part
        self.place = place
        self.config = config
        self.memory = Memory(device)
        self._program = load(
            device,
            "bfs_parts.cl",
            config=config,
            problem=SimpleNamespace(predecessors=predecessors),
            exchange=exchange,
            parts=parts,
            UNREACHED=UNREACHED,
        )
        self._kernels = {"part_fill": self._program.kernel("part_fill")}
        self.offsets = offsets_dtype(part.indices.size if not config.wide_offsets else 2**32)
        self.indptr = self.upload_offsets("indptr", part)
        self.indices = self.memory.upload("indices", part.indices.astype(np.uint32))
        self.queues = [
            self.memory.allocate(name, part.size, np.uint32) for name in ("queue", "next_queue")
        ]
        self.length = 0
        self._event: cl.Event | None = None  # the last one's: queues are in order
        self._groups = max(
            resident_groups(device, self._kernels["part_fill"], config.group_size), 1
        )

    def upload_offsets(self, name: str, part: Part) -> Allocation:
        """Copy a part's row offsets to the device, in the width that its kernels take."""
        return self.memory.upload(name, part.indptr.astype(self.offsets))

    def launch(self, name: str, *arguments: Argument) -> None:
        """Enqueue a kernel; `finish` waits for it."""
        if name not in self._kernels:
            self._kernels[name] = self._program.kernel(name)
        size = self.config.group_size
        self._event = self._kernels[name].launch(self._groups * size, size, *arguments)

    def fill(self, words: Allocation, value: int = 0) -> None:
        """Enqueue setting every 32-bit word of an array."""
        count = words.size_bytes // 4
        self.launch("part_fill", np.uint32(count), np.int32(value), words)

    def finish(self) -> None:
        """Wait for what was enqueued, answering Ctrl-C."""
        event, self._event = self._event, None
        if event is not None:
            wait(event)

    def swap(self) -> None:
        """Make the next queue the one to expand."""
        self.queues.reverse()
