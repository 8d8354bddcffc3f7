"""BFS-4K: its seven knobs, the rules that set them, and what they say of each level.

References
----------
.. [1] F. Busato, N. Bombieri, "BFS-4K: an efficient implementation of BFS for Kepler GPU
       architectures", IEEE TPDS 26(7), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.stages import SHARES
from clgraph.engine.strategies.balance import DynVwarp
from clgraph.engine.strategies.frontier import Buffer, Hubs, Registers, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.parameters import check_number
from clgraph.engine.strategies.pull import Never
from clgraph.engine.strategies.schedule import Schedule
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = [
    "LEVEL_LOG",
    "Knobs",
    "degree_threshold",
    "hash_entries",
    "knobs_of",
    "level_log",
    "usual_knobs",
]

LARGEST_GROUP = 1024  # work-items of the one group that runs small frontiers alone
LARGEST_ENTRY_BYTES = 16  # two queues of them share its local memory with the table
REGISTER_QUEUE = 16  # at least K7, or vertices would never be stored side by side
SHARE = 0.0015  # of the vertices, at most, that are left to the whole grid
TILES_PAY = 2048  # the largest degree from which they are
VARIABLES_BYTES = 64  # of a kernel's local memory, beside queues and table
SLOT_BYTES = 8
MOST_SLOTS = 4096  # as BFSConfig takes them
MOST = {"k3": 2**30, "k4": 2**31 - 1, "k5": 2**20, "k6": 2**20, "k7": 2**31 - 1}
LEVEL_LOG = np.dtype([("frontier", np.int64), ("kernel", "U8"), ("width", np.int64)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The seven knobs.

    Attributes
    ----------
    k1 : int
        The fewest lanes that share a vertex, a power of two.
    k2 : float
        Share of the vertices whose edges are left to the whole grid; 0 for none.
    k3 : int
        Edges of such a vertex that a work-item takes at a time.
    k4 : int
        Lanes look for edges while vertices are fewer than resident work-items over this; 0 for
        never.
    k5 : int
        One work-group runs alone while vertices are fewer than its work-items times this; 0 for
        never.
    k6 : int
        Work-items in a work-group.
    k7 : int
        Vertices a lane from which registers are stored side by side; 0 for never.
    """

    k1: int = 4
    k2: float = SHARE
    k3: int = 16
    k4: int = 1
    k5: int = 1
    k6: int = 128
    k7: int = 10

    def __post_init__(self) -> None:
        """Refuse what is not a knob's value."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, (np.integer, np.floating)):
                object.__setattr__(self, name, value.item())
        if not isinstance(self.k1, int) or self.k1 not in (1, 2, 4, 8, 16, 32):
            raise InvalidArgumentError(f"k1={self.k1!r} is not one of 1, 2, 4, 8, 16 and 32.")
        share: Any = self.k2
        if not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise InvalidArgumentError(f"k2={self.k2!r} is not a share; it must lie in [0, 1].")
        for name, least in {"k3": 1, "k4": 0, "k5": 0, "k6": 1, "k7": 0}.items():
            check_number(name, getattr(self, name), least, MOST[name])

    def strategies(self, graph: Graph, traits: DeviceTraits) -> dict[str, Any]:
        """Give the knobs in terms of `clgraph.engine.strategies.config.TraversalConfig`.

        A device with one lane has no groups to speak of and keeps its own: whatever `k1` is, a
        vertex is one lane's there, and no other lane has registers to store side by side with its
        own, so vertices wait in local memory and `k7` has no meaning. On a processor a compute unit
        has one work-group at a time, so the table may be as large as that of the one group that
        runs alone, beside its two queues; elsewhere both share a kernel, of which as many groups
        have to fit as run together.
        """
        one_item = traits.lanes == 1
        group_size = None if one_item else traits.group_of(self.k6)
        if traits.emulated:
            group_size = traits.lanes
        threshold = degree_threshold(graph.degrees, self.k2)
        largest = min(LARGEST_GROUP, traits.local_bytes * 2 // 3 // (2 * LARGEST_ENTRY_BYTES))
        if traits.is_cpu and not traits.emulated:
            queue_bytes = 0 if one_item or not self.k5 else largest * self.k5 * LARGEST_ENTRY_BYTES
            slots = hash_entries(traits.local_bytes, 1, 1, queue_bytes)
        else:
            resident = traits.threads_per_unit * traits.units_together or 2048
            slots = hash_entries(traits.local_bytes, self.k6, resident)
        return {
            "frontier": VertexQueue(
                visited="plain",
                duplicates="lookup_group",
                hash_rounds=1,
                hash_size=min(slots, MOST_SLOTS),
                update=Buffer()
                if one_item
                else Registers(size=REGISTER_QUEUE, scan="binary", induced=self.k7),
                hubs=Hubs(
                    degree=0 if threshold is None else threshold + 1, batch=self.k3 + self.k3 % 2
                ),
            ),
            "balance": DynVwarp(width=self.k1, discover=self.k4, extended=True),
            "pull": Never(),
            "schedule": Schedule(group_size=group_size, single_group=self.k5 > 0),
            "limits": Limits(
                single_group_capacity=None if one_item or not self.k5 else largest * self.k5,
                single_group_edges=2**31 - 1,
            ),
        }


def usual_knobs(mean_degree: float, deviation: float, max_degree: int) -> Knobs:
    """Set the knobs from mean, deviation and maximum of the out-degrees.

    Rows of the published table that these follow: roads, web-Google and kkt_power have k1 = 4,
    random.2Mv.128Me and com-youtube 32; com-youtube and ForestFire have k4 = 2, kkt_power and
    web-Google 1; where mean and deviation are high edges are not looked for.
    """
    wide = max(mean_degree, deviation)
    dense = mean_degree >= 32
    return Knobs(
        k1=min(max(1 << int(np.log2(max(wide, 1))), 4), 32),
        k2=SHARE if max_degree > TILES_PAY else 0.0,
        k4=0 if dense or (mean_degree >= 12 and deviation >= 32) else 2 if deviation >= 32 else 1,
        k5=0 if dense else 1,
    )


def knobs_of(graph: Graph, chosen: Mapping[str, Any]) -> Knobs:
    """Give the usual knobs of a graph, but for those named in `chosen`."""
    degrees = graph.degrees
    mean, deviation = (float(degrees.mean()), float(degrees.std())) if graph.n else (0.0, 0.0)
    usual = usual_knobs(mean, deviation, graph.max_degree)
    return Knobs(**{name: chosen.get(name, getattr(usual, name)) for name in Knobs.__slots__})


def degree_threshold(degrees: NDArray[Any], share: float) -> int | None:
    """Find the smallest degree that at most a share of the vertices exceeds.

    Returns
    -------
    int or None
        None where the share is 0: no vertex is set apart.
    """
    if not share or not len(degrees):
        return None
    most = int(share * len(degrees))
    return int(np.sort(degrees)[len(degrees) - most - 1]) if most < len(degrees) else 0


def hash_entries(local_bytes: int, group_size: int, unit_items: int, queue_bytes: int = 0) -> int:
    """Compute how many slots the table of a work-group has that drops duplicates.

    Parameters
    ----------
    local_bytes : int
        Local memory of a compute unit.
    group_size, unit_items : int
        Work-items of a work-group, and those resident on a compute unit; equal for the group that
        runs alone.
    queue_bytes : int
        What each of two queues takes beside it.

    Returns
    -------
    int
        A power of two of 8-byte slots.
    """
    free = (local_bytes - VARIABLES_BYTES - 2 * queue_bytes) * group_size // unit_items
    return max(1 << (max(free // SLOT_BYTES, 1).bit_length() - 1), 1)


def level_log(result: Any) -> NDArray[Any]:
    """Report how each level of a search was shared out, as its kernels recorded it.

    Parameters
    ----------
    result : BFSResult
        Of a search by the preset ``bfs-4k``.

    Returns
    -------
    numpy.ndarray
        Of `LEVEL_LOG`, [levels]: vertices; "single", "edges" or "virtual"; lanes a vertex, 0 where
        lanes looked for edges. A level that one group ran and looked for edges in is "single".
    """
    sizes = result.stats.per_level["frontier"]
    words = result.stats.shares[: sizes.size]
    log = np.zeros(words.size, LEVEL_LOG)
    log["frontier"] = sizes[: words.size]
    edges, single = ((words & SHARES[name]) != 0 for name in ("edges", "single"))
    log["kernel"] = np.where(single, "single", np.where(edges, "edges", "virtual"))
    log["width"] = np.where(edges, 0, words & (SHARES["edges"] - 1))
    return log
