"""Primitives on arrays that are on a device already: enqueued, and waited for by the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from clgraph.device import Memory, load, wait
from clgraph.primitives.launches import MOVED, TYPES, Run, group_size

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device import Allocation, Device, DeviceTraits, Program
    from clgraph.device.lazy import cl

__all__ = ["Compaction", "Last", "Log", "Scan", "Stage"]

# Elements that one group scans in less time than two more launches take, and how: in large tiles.
FEW, CPU_FEW = 3 << 16, 1 << 14
FEW_GROUP, FEW_ITEMS = 1024, 16


class Log(Protocol):
    """What notes launches, `clgraph.engine.sweeps.SweepLog` for one."""

    def add(self, first: cl.Event, last: cl.Event, launches: int = 1, name: str = "") -> None:
        """Note launches, the first and the last of which have these events; one may have a name."""


class Last:
    """The last of what was enqueued."""

    def __init__(self) -> None:
        self._event: cl.Event | None = None

    def add(
        self,
        first: cl.Event,  # noqa: ARG002
        last: cl.Event,
        launches: int = 1,  # noqa: ARG002
        name: str = "",  # noqa: ARG002
    ) -> None:
        """Note launches."""
        self._event = last

    def wait(self) -> None:
        """Wait for it."""
        if self._event is not None:
            wait(self._event)


class Stage:
    """Programs and scratch arrays that fit any number of elements up to the largest seen."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.memory = Memory(device)
        self._programs: dict[Any, Program] = {}
        self._kernels: dict[Any, Any] = {}
        self._arrays: dict[str, Allocation] = {}

    def array(self, name: str, count: int, dtype: DTypeLike) -> Allocation:
        """Give a scratch array of at least so many elements; its contents are undefined."""
        held = self._arrays.get(name)
        if held is None or held.count < count or held.dtype != dtype:
            self._arrays.pop(name, None)
            held = self.memory.allocate(name, count, dtype)
            self._arrays[name] = held
        return held

    def release(self) -> None:
        """Let go of the scratch arrays."""
        self._arrays = {}

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the scratch arrays."""
        return sum(array.size_bytes for array in self._arrays.values())

    def launch(
        self,
        log: Log,
        run: Run,
        source: str,
        name: str,
        *args: Any,
        groups: int | None = None,
        **params: Any,
    ) -> None:
        """Enqueue a kernel of a file of ``kernels_cl/primitives``, built at its first use."""
        key = (source, name, run.items, run.index, tuple(params.items()))
        kernel = self._kernels.get(key)
        if kernel is None:
            program = load(
                self.device,
                f"primitives/{source}.cl",
                index=TYPES[np.dtype(run.index)],
                group_size=run.group_size,
                items=run.items,
                **params,
            )
            kernel = self._kernels[key] = program.kernel(name)
        count = run.groups if groups is None else groups
        event = kernel.launch(count * run.group_size, run.group_size, *args)
        log.add(event, event, name=name)


def _few_group(traits: DeviceTraits) -> int:
    """Work-items of the group that scans few elements alone."""
    return group_size(traits) if traits.is_cpu else traits.group_of(FEW_GROUP)


class Scan(Stage):
    """Exclusive scan of an array on a device.

    Parameters
    ----------
    device : Device
        Where.
    dtype : data type
        Of the elements, one of `clgraph.primitives.launches.TYPES`.
    operator : str
        See `clgraph.primitives.OPERATORS`; not "affine".
    """

    def __init__(self, device: Device, dtype: DTypeLike, operator: str = "add") -> None:
        super().__init__(device)
        self.dtype = np.dtype(dtype)
        self._params: dict[str, Any] = {"type": TYPES[self.dtype], "operator": operator}

    def enqueue(self, log: Log, values: Allocation, n: int, scanned: Allocation) -> Allocation:
        """Scan the first n elements; `scanned` may be `values`.

        Parameters
        ----------
        log : Log
            Notes the launches.
        values, scanned : Allocation
            At least n elements of the dtype.
        n : int
            How many.

        Returns
        -------
        Allocation
            [1], what all combine to; overwritten by the next call.
        """
        total = self.array("scan_total", 1, self.dtype)
        if n <= (CPU_FEW if self.device.traits.is_cpu else FEW):
            run = Run(self.device, n, items=FEW_ITEMS, size=_few_group(self.device.traits))
            elements = (values, run.index(n), scanned, total)
            self.launch(log, run, "scan_few", "scan_few", *elements, groups=1, **self._params)
            return total
        run = Run(self.device, n)
        bounds = (run.index(n), run.index(run.chunk))
        totals = self.array("scan_totals", run.groups, self.dtype)
        self.launch(log, run, "scan", "scan_fold", values, *bounds, totals, **self._params)
        counted = (totals, np.uint32(run.groups), total)
        self.launch(log, run, "scan", "scan_totals", *counted, groups=1, **self._params)
        self.launch(
            log, run, "scan", "scan_apply", values, *bounds, totals, scanned, **self._params
        )
        return total


class Compaction(Stage):
    """Keeping the elements whose mask is not zero, in their order, on a device."""

    def enqueue(
        self, log: Log, mask: Allocation, n: int, *arrays: tuple[Allocation, Allocation]
    ) -> Allocation:
        """Compact arrays by the same mask.

        Parameters
        ----------
        log : Log
            Notes the launches.
        mask : Allocation
            uint8, at least n.
        n : int
            How many.
        *arrays : pairs of Allocation
            Elements of 1, 2, 4, 8 or 16 bytes, and where those kept go.

        Returns
        -------
        Allocation
            [1], how many are kept: of uint32, or of uint64 from 2**31 elements on; overwritten by
            the next call.
        """
        run = Run(self.device, n)
        bounds = (run.index(n), run.index(run.chunk))
        totals = self.array("compact_totals", run.groups, run.index)
        total = self.array("compact_total", 1, run.index)
        kinds = [MOVED[array.dtype.itemsize] for array, _ in arrays]
        first = kinds[0] if kinds else "uint"
        params: dict[str, Any] = {"type": first, "operator": "add"}
        self.launch(log, run, "compact", "compact_fold", mask, *bounds, totals, **params)
        counted = (totals, np.uint32(run.groups), total)
        self.launch(log, run, "compact", "compact_totals", *counted, groups=1, **params)
        for kind, (source, kept) in zip(kinds, arrays, strict=True):
            params = {"type": kind, "operator": "add"}
            args = (mask, *bounds, totals, source, kept)
            self.launch(log, run, "compact", "compact_apply", *args, **params)
        return total
