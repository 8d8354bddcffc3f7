"""How primitives cut their input into work-groups, and launch over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, wait

if TYPE_CHECKING:
    from clgraph.device import Device, DeviceTraits, Program

__all__ = ["MOVED", "TYPES", "Run", "group_size"]

TYPES = {
    np.dtype(np.uint32): "uint",
    np.dtype(np.int32): "int",
    np.dtype(np.uint64): "ulong",
    np.dtype(np.int64): "long",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
# By bytes, of elements that are only moved.
MOVED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}
GPU_GROUP_SIZE = 256
CPU_GROUP_LANES = 4  # SIMD groups in a work-group, where the lanes are a CPU's
GROUPS_PER_UNIT = 4  # where the number of resident work-items is unknown
NEIGHBOURS = 4  # elements that a lane takes at a time
UINT_POSITIONS = 2**31  # fewer elements are counted in 32 bits, with room for a last, partial tile


class Run:
    """How n elements are cut into chunks, one to a work-group, and the launches over them.

    A work-item takes `items` elements at a time, or one where it is a whole SIMD group; a group
    has as many as `group_size` says, unless it is told.
    """

    def __init__(
        self, device: Device, n: int, items: int = NEIGHBOURS, size: int | None = None
    ) -> None:
        traits = device.traits
        self.device = device
        self.memory = Memory(device)
        self.n = n
        self.index: type[np.uint32 | np.uint64] = np.uint32 if n < UINT_POSITIONS else np.uint64
        self.group_size = group_size(traits) if size is None else size
        self.items = 1 if traits.lanes == 1 else items
        tile = self.group_size * self.items
        resident = traits.threads_per_unit // self.group_size or GROUPS_PER_UNIT
        tiles = max(-(-n // tile), 1)
        tiles_per_group = -(-tiles // (traits.compute_units * resident))
        self.chunk = tiles_per_group * tile
        self.groups = -(-tiles // tiles_per_group)

    def load(self, name: str, kind: str, operator: str = "add", **others: Any) -> Program:
        """Build a file for these sizes, with elements of type `kind`."""
        params: dict[str, Any] = {
            "type": kind,
            "operator": operator,
            "index": TYPES[np.dtype(self.index)],
            "group_size": self.group_size,
            "items": self.items,
        }
        return load(self.device, name, **(params | others))

    def launch(self, program: Program, name: str, *args: Any, groups: int | None = None) -> None:
        """Run a kernel to its end, on `groups` work-groups instead of one for each chunk."""
        groups = self.groups if groups is None else groups
        wait(program.kernel(name).launch(groups * self.group_size, self.group_size, *args))


def group_size(traits: DeviceTraits, gpu: int | None = None) -> int:
    """Work-items that a work-group of the primitives has on a device; on GPUs `gpu`, if given."""
    if traits.lanes == 1 or traits.emulated:
        return traits.lanes
    wanted = CPU_GROUP_LANES * traits.lanes if traits.is_cpu else gpu or GPU_GROUP_SIZE
    return traits.group_of(wanted)
