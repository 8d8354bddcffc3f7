"""What a microbenchmark runs: a kernel that loads one part of a device, round after round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, resident_groups
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device import Allocation, Device, Kernel, Program

__all__ = ["NEVER", "Prepared", "Scale", "Work", "folder", "plan"]

FOLDER = "microbenchmarks/"
NEVER = np.uint32(0xFFFFFFFF)  # no local id
GPU_GROUP_SIZE = 256
GPU_UNROLL = 4096
CPU_UNROLL = 64
CACHES_COVERED = 8  # a sweep this many times the cache finds nothing of it there again
MIB = 1 << 20
CPU_FOOTPRINT = 64 * MIB


def folder(file: str) -> str:
    """Path of a kernel file of the microbenchmarks."""
    return FOLDER + file


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of a device the microbenchmarks use.

    Attributes
    ----------
    unroll : int
        Instructions in a straight line.
    group_size : int
        Work-items per work-group.
    footprint_bytes : int
        What kernels that are to miss every cache sweep over.
    """

    unroll: int
    group_size: int
    footprint_bytes: int

    @classmethod
    def of(cls, device: Device) -> Scale:
        """Give what suits a device: straight lines that fill a GPU, short ones for a processor."""
        traits = device.traits
        if traits.emulated:
            return cls(CPU_UNROLL, traits.lanes, CPU_FOOTPRINT // 16)
        if traits.is_cpu or device.is_simulator:
            return cls(CPU_UNROLL, 4 * traits.lanes, CPU_FOOTPRINT)
        size = min(GPU_GROUP_SIZE, traits.max_group_size)
        return cls(GPU_UNROLL, size, max(CACHES_COVERED * traits.cache_bytes, 64 * MIB))


@dataclass(slots=True)
class Plan:
    """Kernel, launch and memory of a microbenchmark."""

    device: Device
    program: Program
    kernel: Kernel
    group_size: int
    groups: int
    memory: Memory
    kept: list[Allocation] = field(default_factory=list)

    @property
    def items(self) -> int:
        """Work-items of a launch."""
        return self.groups * self.group_size

    def allocate(self, name: str, count: int, dtype: Any) -> Allocation:
        """Take memory that goes with the microbenchmark."""
        self.kept.append(self.memory.allocate(name, count, dtype))
        return self.kept[-1]

    def upload(self, name: str, array: Any) -> Allocation:
        """Take memory with contents."""
        self.kept.append(self.memory.upload(name, array))
        return self.kept[-1]

    def spans(self) -> Allocation:
        """Take memory for the start, the end and the unit of every SIMD group."""
        simd_groups = -(-self.items // self.device.traits.lanes)
        return self.upload("spans", np.zeros(3 * simd_groups, np.uint64))


@dataclass(slots=True)
class Prepared:
    """A built microbenchmark with its memory, ready to be launched.

    Attributes
    ----------
    plan : Plan
        What was built.
    arguments : callable
        The kernel's arguments for a number of rounds.
    operations : float
        What the device does in a round, in the unit of the microbenchmark.
    counts : dict of str to float
        The same in terms of the energy model, per round.
    body : int
        Instructions of the target kind in a round of one work-item; 0 where nobody counts them.
    spans : Allocation or None
        Where SIMD groups write when they start and end, on the counter of cycles of their compute
        unit (zero where there is none), and 1 + that unit.
    some_units : int or None
        Compute units that take part; None for all.
    bytes_moved : float
        Bytes that a round moves to or from the memory in question; 0 for arithmetic.
    check : callable or None
        Raises `VerificationError` if a launch did not do what it was to do.
    """

    plan: Plan
    arguments: Callable[[int], tuple[Any, ...]]
    operations: float
    counts: dict[str, float]
    body: int = 0
    spans: Allocation | None = None
    some_units: int | None = None
    bytes_moved: float = 0.0
    check: Callable[[int], None] | None = None

    @property
    def units(self) -> int:
        """Compute units that take part."""
        return self.some_units or self.plan.device.traits.compute_units

    def launch(self, rounds: int) -> Any:
        """Enqueue; the event is given to `clgraph.device.wait`."""
        plan = self.plan
        return plan.kernel.launch(plan.items, plan.group_size, *self.arguments(rounds))

    def release(self) -> None:
        """Free its device memory now."""
        for allocation in self.plan.kept:
            allocation.release()


class Work(ABC):
    """A kind of microbenchmark with its own parameters."""

    __slots__ = ()

    @abstractmethod
    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""

    def missing(self, device: Device) -> str | None:  # noqa: ARG002 (for subclasses)
        """Say what the device lacks for it, or give None."""
        return None


def plan(
    device: Device,
    file: str,
    name: str,
    group_size: int,
    *,
    groups: int | None = None,
    threads_per_unit: int | None = None,
    **params: Any,
) -> Plan:
    """Build a kernel of the microbenchmarks for one wave of resident work-groups.

    Parameters
    ----------
    device : Device
        What to build for.
    file, name : str
        File below ``kernels_cl/microbenchmarks`` and entry point.
    group_size : int
        Work-items per work-group.
    groups : int, optional
        Work-groups, at most and by default what is resident: others would come when these end.
    threads_per_unit : int, optional
        Work-items on each compute unit, at most what is resident.
    **params : object
        What the file is rendered with.
    """
    traits = device.traits
    program = load(device, folder(file), group_size=group_size, lanes=traits.lanes, **params)
    kernel = program.kernel(name)
    resident = resident_groups(device, kernel, group_size)
    if resident == 0:
        raise InvalidArgumentError(
            f"{name} cannot run in groups of {group_size} on {device.name}; use a smaller group."
        )
    groups = resident if groups is None else min(groups, resident)
    if threads_per_unit is not None:
        per_unit = max(threads_per_unit // group_size, 1)
        groups = min(groups, per_unit * traits.compute_units)
    return Plan(device, program, kernel, group_size, groups, Memory(device))
