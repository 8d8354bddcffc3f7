"""Bounds of truss numbers from the bounds of the other edges of triangles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.orient import BUCKETS
from clgraph.algorithms.truss.narrowing import Supports
from clgraph.device import Mirror, load
from clgraph.engine.sweeps import Sweeper

if TYPE_CHECKING:
    from clgraph.algorithms.truss.incidence import Incidence
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Tightening"]

ROUNDS = 6  # each edge's bound is looked at so often
# Of the bound by supports: edges of a lesser bound are not looked at; few greatest k are so small.
LEAST = 1 / 4


class Tightening:
    """What bounds the truss numbers of edges whose triangles are listed.

    It is the first rounds of finding truss numbers by repeated h-indices, in no order: each edge's
    number follows from those of the others [1]_.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    edges : int
        How many.

    References
    ----------
    .. [1] A. E. Sariyuce, C. Seshadhri, A. Pinar, "Local algorithms for hierarchical dense subgraph
           discovery", PVLDB 12 (2018).
    """

    def __init__(self, device: Device, memory: Memory, edges: int) -> None:
        self._edges = edges
        self._sweeper = Sweeper(device, edges)
        # A group's next round is worth little before others have done theirs: all run at once.
        units = device.traits.compute_units if device.traits.is_cpu else self._sweeper.groups
        self._groups = min(self._sweeper.groups, units)
        shape = SimpleNamespace(
            group_size=self._sweeper.group_size, lanes=device.traits.lanes, wide_offsets=False
        )
        program = load(device, "truss/tighten.cl", config=shape, BUCKETS=BUCKETS, rounds=ROUNDS)
        self._begin, self._tighten = (
            program.kernel(f"tighten_{name}") for name in ("begin", "bounds")
        )
        self._bounds = memory.allocate("truss_bounds", edges, np.uint32)
        self._buckets = memory.allocate("bound_buckets", BUCKETS, np.uint32)
        self._counts = Mirror(device, self._buckets, 0, BUCKETS)

    def run(self, log: SweepLog, supports: Allocation, incidence: Incidence, most: int) -> int:
        """Bound the greatest k, of which the supports say that it is at most `most`; waits."""
        edges, (lists, sides) = np.uint32(self._edges), incidence.arguments[:2]
        self._sweeper.launch(log, self._begin, supports, edges, self._bounds, self._buckets)
        least = np.uint32(max(int(LEAST * most), 1))
        given = (lists, sides, edges, least, self._bounds, self._buckets)
        self._sweeper.launch(log, self._tighten, *given, groups=self._groups)
        self._counts.refresh()
        return max(Supports(self._counts.words).bound(most), int(least) + 1)
