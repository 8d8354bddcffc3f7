"""Numbering components by their smallest members, given a representative of each vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import load, mirror
from clgraph.engine.sweeps import COMPONENT_KNOWN, Sweeper

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Numbering"]

ONE_ITEM_VERTICES = 1 << 14  # up to which one work-item of a CPU takes less than six launches

RANKED_ITEMS = 4  # that a work-item looks at between two barriers
LAST = "labels"  # kernel that nothing follows


class Numbering:
    """Launches that turn representatives into labels 0 .. k - 1.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    n : int
        Vertices, at least one.
    smallest : bool
        Whether the representative of a component is its smallest member, or leads there by
        representatives that are smaller and smaller.
    """

    def __init__(self, device: Device, memory: Memory, n: int, *, smallest: bool) -> None:
        self._n = np.uint32(n)
        self._sweeper = Sweeper(device, n)
        self._chunk = np.uint32(self._sweeper.chunk)
        program = load(
            device,
            "components/number.cl",
            group_size=self._sweeper.group_size,
            items=1 if device.traits.lanes == 1 else RANKED_ITEMS,
            smallest=smallest,
            COMPONENT_KNOWN=COMPONENT_KNOWN,
        )
        self._by_one_item = device.traits.is_cpu and n <= ONE_ITEM_VERTICES
        names = ("clear", "first", "fold", "rank", LAST, "by_one_item")
        self._kernels = {name: program.kernel(f"number_{name}") for name in names}
        self._first = None if smallest else memory.allocate("first_members", n, np.uint32)
        self._rank = memory.allocate("component_ranks", n, np.uint32)
        self._totals = memory.allocate("totals", self._sweeper.groups, np.uint32)
        self._count = memory.allocate("component_count", 1, np.uint32)
        self._mirror = mirror(device, self._count, 0, 1)
        self._stamp = object()  # of all of these, which stay

    def count(self) -> int:
        """Wait for what was enqueued last, and give the number of components.

        Raises
        ------
        ClgraphError
            If the driver reports a failure.
        """
        self._mirror.refresh()
        return int(self._mirror.words[0])

    def run(self, log: SweepLog, component: Allocation, labels: Allocation) -> None:
        """Enqueue everything; `labels` are valid after `count`."""
        if self._by_one_item:
            event = self._kernels["by_one_item"].launch(
                1, 1, component, self._n, self._rank, self._count, labels
            )
            log.add(event, event)
            return
        first, n, chunk, totals = self._first or self._rank, self._n, self._chunk, self._totals
        if self._first is not None:
            self._launch(log, "clear", n, first)
            self._launch(log, "first", component, n, first, given=(0,))
        self._launch(log, "fold", component, first, n, chunk, totals, given=(0,))
        numbered = (self._rank, self._count)
        self._launch(log, "rank", component, first, n, chunk, totals, *numbered, given=(0,))
        self._launch(log, LAST, component, first, self._rank, n, labels, given=(0, 4))

    def _launch(
        self,
        log: SweepLog,
        name: str,
        *args: Allocation | np.generic,
        given: tuple[int, ...] = (),
    ) -> None:
        """Launch a kernel; the arguments in the places `given` are the caller's, others ours."""
        kernel, bound = self._kernels[name], (given, self._stamp)
        self._sweeper.launch(log, kernel, *args, bound=bound, followed=name != LAST)
