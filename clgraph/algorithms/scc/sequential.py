"""Strong components by one depth-first search, launch by launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Mirror, load
from clgraph.engine.resident import wide_offsets
from clgraph.engine.sweeps import COMPONENT_KNOWN, Sweeper

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.resident import ResidentGraph
    from clgraph.engine.sweeps import SweepLog

__all__ = ["SequentialSearch"]

WORDS = {"FINISHED": 0, "DEPTH": 1, "WAITING": 2, "INDEX": 3, "START": 4}
CPU_LAUNCH_WORK = 50_000_000  # edges and vertices: well below a second
GPU_LAUNCH_WORK = 500_000  # each waits for memory a few times


class SequentialSearch:
    """The depth-first search, on vertices whose component is not known yet.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from; 20 bytes per vertex.
    held : ResidentGraph
        The graph on that device.
    n, m : int
        Vertices, at least one, and edges.
    """

    def __init__(self, device: Device, memory: Memory, held: ResidentGraph, n: int, m: int) -> None:
        self._n = np.uint32(n)
        self._held = held
        self._sweeper = Sweeper(device, n)
        program = load(
            device,
            "scc/sequential.cl",
            group_size=self._sweeper.group_size,
            wide_offsets=wide_offsets(m),
            words=WORDS,
            COMPONENT_KNOWN=COMPONENT_KNOWN,
        )
        self.source_hash = program.source_hash
        self._forget = program.kernel("scc_forget")
        self._search = program.kernel("scc_sequential")
        self._path = memory.allocate("path", 4 * n, np.uint32)
        self._waiting = memory.allocate("waiting", n, np.uint32)
        self._progress = memory.allocate("progress", len(WORDS), np.uint32)
        self._mirror = Mirror(device, self._progress, 0, len(WORDS))
        self._budget = np.uint64(CPU_LAUNCH_WORK if device.traits.is_cpu else GPU_LAUNCH_WORK)

    def clear(self, log: SweepLog, component: Allocation) -> None:
        """Enqueue what leaves all vertices without a component."""
        self._sweeper.launch(log, self._forget, component, self._n, np.uint32(0), self._progress)

    def run(self, log: SweepLog, component: Allocation, *, keep: bool) -> int:
        """Find the components of all vertices, or with `keep` of those without one.

        Returns
        -------
        int
            Launches that the search took.
        """
        n = self._n
        self._sweeper.launch(log, self._forget, component, n, np.uint32(keep), self._progress)
        launches = 0
        while True:
            event = self._search.launch(
                1,
                1,
                self._held.indptr,
                self._held.indices,
                n,
                component,
                self._path,
                self._waiting,
                self._progress,
                self._budget,
            )
            log.add(event, event)
            launches += 1
            self._mirror.refresh()
            if self._mirror.words[WORDS["FINISHED"]]:
                return launches
