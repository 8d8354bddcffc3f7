"""Merging of arrays that are on a device already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.hardware.measured import MERGE_SHAPES
from clgraph.primitives.launches import MOVED, TYPES, Run, group_size
from clgraph.primitives.stages import Log, Stage

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device import Allocation, Device, DeviceTraits

__all__ = ["Merge"]

ITEMS = 11  # odd, so that neighbouring work-items meet in no bank of local memory
PLACE_BYTES = 2  # of local memory, beside a key
CUTS_BYTES = 32 * 8  # where tiles end
ITEMS_ONE_LANE = 512  # where a work-item is a whole SIMD group
SPREAD = 2  # work-groups for each that is resident on a GPU


def merge_shape(traits: DeviceTraits, key: int, value: int) -> tuple[int, int]:
    """Give work-items of a group, and elements of each, whose tile fits local memory."""
    if traits.lanes == 1 or traits.is_cpu or traits.emulated:
        size, items = group_size(traits), ITEMS_ONE_LANE if traits.lanes == 1 else ITEMS
    else:
        wanted, items = MERGE_SHAPES.on(traits)[key, value]
        size = traits.group_of(wanted)
    fitting = (traits.local_bytes - key - CUTS_BYTES) // (size * (key + PLACE_BYTES))
    return size, max(min(items, fitting), 1)


class Merge(Stage):
    """Merging two ascending arrays, and what goes with each key, on a device.

    Parameters
    ----------
    device : Device
        Where.
    key : data type
        uint32 or uint64.
    value : data type, optional
        Of the values, 4 or 8 bytes; default none.
    """

    def __init__(self, device: Device, key: DTypeLike, value: DTypeLike | None = None) -> None:
        super().__init__(device)
        key = np.dtype(key)
        self._shape = merge_shape(device.traits, key.itemsize, np.dtype(value or "V0").itemsize)
        self._params: dict[str, Any] = {
            "key": TYPES[key],
            "value": "" if value is None else MOVED[np.dtype(value).itemsize],
        }

    def enqueue(
        self,
        log: Log,
        first: tuple[Allocation, int],
        second: tuple[Allocation, int],
        merged: Allocation,
        values: tuple[Allocation, Allocation, Allocation] | None = None,
    ) -> None:
        """Merge two sequences; equals of the first come first.

        Parameters
        ----------
        log : Log
            Notes the launch.
        first, second : tuple
            Keys, ascending, and how many; not none of both.
        merged : Allocation
            At least as long as both.
        values : tuple of Allocation, optional
            What goes with the keys of either, and where it goes.
        """
        size, items = self._shape
        (a, na), (b, nb) = first, second
        run = Run(self.device, na + nb, items, size)
        most = run.groups * (1 if self.device.traits.is_cpu else SPREAD)
        groups = min(-(-(na + nb) // (items * size)), most)
        args = (a, run.index(na), b, run.index(nb), *(values or ()), merged)
        params = self._params | {"tile_items": items}
        self.launch(log, run, "merge", "merge_keys", *args, groups=groups, **params)
