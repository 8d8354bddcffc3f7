"""What the ways to count triangles have in common: launches, partial sums, kernels."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import Orientation, StoredRows
    from clgraph.device import Device, Kernel
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Counting", "TurnedCounting"]

CPU_LAUNCH_EDGES = 1 << 21  # a launch of a CPU's, after which Ctrl-C is answered
GROUPS_PER_UNIT = 8  # where the number of resident work-items is unknown
MOST_GROUPS_PER_UNIT = 32
SHAPE = ("group_size", "lanes", "wide_offsets", "renamed", "cover", "counts", "way")


class Counting:
    """What the ways to count have in common: the partial sums, and how many groups there are."""

    sum_type: type[np.unsignedinteger[Any]] = np.uint64  # of what is counted of a vertex

    def __init__(self, config: Resolved, device: Device, rows: StoredRows) -> None:
        self.config = config
        self.device = device
        self.rows = rows
        self.memory = Memory(device)
        traits = device.traits
        per_unit = 1 if traits.is_cpu else traits.threads_per_unit // config.group_size
        per_unit = min(per_unit or GROUPS_PER_UNIT, MOST_GROUPS_PER_UNIT)
        self.groups = per_unit * traits.compute_units
        self.sums = self.groups * (config.group_size // config.lanes)
        self.slices = max(1, rows.m // CPU_LAUNCH_EDGES) if traits.is_cpu else 1
        self.partial = self.memory.allocate("partial_counts", self.sums, np.uint64)
        self._kernels: dict[Any, Kernel] = {}
        self.source_hashes: set[str] = set()

    def launch(
        self,
        log: SweepLog,
        kernel: Kernel,
        *args: Argument,
        step: str = "",
        size: int | None = None,
    ) -> None:
        """Enqueue a kernel on all SIMD groups, as a step of this name, or of the kernel's."""
        size = size or self.config.group_size
        event = kernel.launch(self.groups * self.config.group_size, size, *args)
        log.add(event, event, name=step or kernel.name)
        if self.slices > 1:
            wait(event)

    def group_of(self, size: int) -> int:
        """Give work-items of a group, as many as asked for if all launches can be cut so."""
        if self.device.traits.emulated:
            return self.config.group_size
        size = min(size, self.device.traits.max_group_size)
        while self.groups * self.config.group_size % size:
            size //= 2
        return max(size, self.config.lanes)

    def kernel(self, file: str, name: str, per: str, **more: Any) -> Kernel:
        """Give a kernel of a file, rendered for what is counted."""
        key = (name, per, *sorted(more.items()))
        if key not in self._kernels:
            shape = {each: getattr(self.config, each) for each in SHAPE}
            config = SimpleNamespace(**shape | {"per": per} | more)
            program = load(self.device, file, config=config)
            self.source_hashes.add(program.source_hash)
            self._kernels[key] = program.kernel(name)
        return self._kernels[key]

    def ranges(self, first: int, end: int) -> Iterator[tuple[np.uint32, np.uint32]]:
        """Cut vertices into ranges of about the same edges."""
        cuts = np.linspace(first, end, self.slices + 1).astype(np.uint32)
        for one, other in pairwise(cuts):
            if one < other:
                yield one, other


class TurnedCounting(Counting):
    """Counting by rank, in rows that have been turned."""

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        self.turned = turned
        self.vertices = (turned.vertices,)
