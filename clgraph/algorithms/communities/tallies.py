"""Who sums the entries of a row by key, and where: what ``templates/rows/tally.mako`` is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.primitives import group_size

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Memory

__all__ = ["Tallies", "Tally"]

ITEM_ROW = 8  # entries of the longest row that a work-item takes for itself
LOCAL_BYTES = 32 << 10  # of a work-group's tables
THREAD_CLAIM = 32  # rows that a thread takes at a time
GLOBAL_GROUPS_PER_UNIT = 4
GROUPS_PER_UNIT = 16


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows up to a length, and who takes them.

    Attributes
    ----------
    unit : {"thread", "item", "lanes", "group"}
        Work-items that take a row together.
    slots : int
        Of a table in local memory; 0 where tables are in global memory.
    longest : int or None
        Entries of the longest row; None for all others.
    """

    unit: str
    slots: int
    longest: int | None


class Tallies:
    """How rows of all lengths are summed by key on one device.

    Parameters
    ----------
    device : Device
        Where.
    tables : {"dense", "local", "global"}
        Where sums are kept.
    wide : bool
        Whether sums take 64 bits instead of 32.
    group, slots : int, optional
        Work-items of a work-group on GPUs, and of its tables in local memory the most slots.

    Attributes
    ----------
    kinds : list of Tally
        Shortest rows first.
    """

    def __init__(
        self,
        device: Device,
        tables: str,
        *,
        wide: bool,
        group: int | None = None,
        slots: int | None = None,
    ) -> None:
        self.device = device
        self.wide = wide
        self.group_size = group_size(device.traits, group)
        traits = device.traits
        self.kinds: list[Tally] = []
        if tables == "dense":
            self.kinds.append(Tally("thread", 0, None))
        elif tables == "global":
            self.kinds.append(Tally("group", 0, None))
        else:
            entry = 12 if wide else 8
            most = min(LOCAL_BYTES, traits.local_bytes // 2) // entry
            most = min(most, slots or most)
            if traits.lanes > 1 and self.group_size * ITEM_ROW <= most:
                self.kinds.append(Tally("item", ITEM_ROW, ITEM_ROW))
            of_lanes = _power(most // (self.group_size // traits.lanes))
            self.kinds.append(Tally("lanes", of_lanes, of_lanes // 2))
            if self.group_size > traits.lanes:
                self.kinds.append(Tally("group", _power(most), _power(most) // 2))
            self.kinds.append(Tally("group", 0, None))
        self._scratch: dict[tuple[str, int], tuple[Allocation, Allocation]] = {}

    @property
    def bounds(self) -> list[int]:
        """Longest row of each kind but the last."""
        return [kind.longest for kind in self.kinds if kind.longest is not None]

    def parameters(self, kind: Tally) -> dict[str, Any]:
        """Give what templates call ``tally``."""
        return {
            "unit": kind.unit,
            "slots": kind.slots,
            "wide": self.wide,
            "claim": THREAD_CLAIM,
            "group_size": self.group_size,
            "lanes": self.device.traits.lanes,
        }

    def groups(self, kind: Tally, rows: int) -> int:
        """Give the work-groups for so many rows."""
        traits = self.device.traits
        size = self.group_size
        if kind.unit == "thread":
            return min(traits.compute_units, max(-(-rows // THREAD_CLAIM), 1))
        of_group = {"item": size, "lanes": size // traits.lanes, "group": 1}[kind.unit]
        per_unit = traits.threads_per_unit // size or GROUPS_PER_UNIT
        if not kind.slots:
            per_unit = GLOBAL_GROUPS_PER_UNIT
        return min(max(-(-rows // of_group), 1), traits.compute_units * per_unit)

    def table_slots(self, kind: Tally, keys: int, longest: int) -> int:
        """Give the size of a table in global memory for rows of `longest` entries at most."""
        if kind.unit == "thread":
            return keys + 1  # the last one, for what is listed already
        return 1 if kind.slots else _above(2 * min(keys, longest) + 1)

    def arguments(
        self, memory: Memory, kind: Tally, groups: int, slots: int
    ) -> tuple[Allocation, Allocation, np.uint32]:
        """Give what leads the arguments of a launch, but for the word that rows are claimed by."""
        count = 1 if kind.slots else groups * slots
        held = self._scratch.get((kind.unit, kind.slots))
        if held is None or held[0].count < count:
            self._scratch.pop((kind.unit, kind.slots), None)
            sums = np.uint64 if self.wide else np.uint32
            held = (
                memory.allocate("tally_keys", count, np.uint32),
                memory.allocate("tally_sums", count, sums),
            )
            held[1].clear()  # threads leave them so
            self._scratch[kind.unit, kind.slots] = held
        return (*held, np.uint32(slots))


def _power(most: int) -> int:
    """Give the greatest power of two up to a number."""
    return 1 << (max(most, 1).bit_length() - 1)


def _above(least: int) -> int:
    """Give the least power of two from a number on."""
    return 1 << (least - 1).bit_length()
