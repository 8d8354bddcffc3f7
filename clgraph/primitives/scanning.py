"""Scans and compaction of arrays that are on a device already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.hardware.measured import COMPACTED_AT_ONCE
from clgraph.primitives.launches import MOVED, TYPES, Run, group_size
from clgraph.primitives.stages import Log, Sweep

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device import Allocation, Device, DeviceTraits

__all__ = ["Compaction", "Scan", "SegmentedScan", "element_type"]

# Elements that one group scans in less time than more launches take, and how: in large tiles.
FEW, CPU_FEW = 3 << 16, 1 << 14
FEW_GROUP, FEW_ITEMS = 1024, 16


def element_type(dtype: np.dtype[Any], operator: str) -> str:
    """Name what an operator combines, in kernels."""
    return "uint2" if operator == "affine" else TYPES[dtype]


def _few_group(traits: DeviceTraits) -> int:
    """Work-items of the group that scans few elements alone."""
    few = traits.is_cpu or traits.emulated
    return group_size(traits) if few else traits.group_of(FEW_GROUP)


class Scan(Sweep):
    """Exclusive scan of an array on a device.

    Parameters
    ----------
    device : Device
        Where.
    dtype : data type
        Of the elements, one of `clgraph.primitives.launches.TYPES`.
    operator : str
        See `clgraph.primitives.OPERATORS`; elements of "affine" are two numbers each.
    """

    def __init__(self, device: Device, dtype: DTypeLike, operator: str = "add") -> None:
        super().__init__(device)
        self.dtype = np.dtype(dtype)
        kind = element_type(self.dtype, operator)
        self._width = 2 if operator == "affine" else 1
        self._params: dict[str, Any] = {"type": kind, "operator": operator}
        self._sweeps = _sweeps(device.traits, self.dtype, operator)

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
        total = self.array("scan_total", self._width, self.dtype)
        if n <= (CPU_FEW if self.device.traits.is_cpu else FEW):
            run = Run(self.device, n, items=FEW_ITEMS, size=_few_group(self.device.traits))
            elements = (values, run.index(n), scanned, total)
            self.launch(log, run, "scan_few", "scan_few", *elements, groups=1, **self._params)
            return total
        if self._sweeps:
            size_bytes = self._width * self.dtype.itemsize
            ends = scanned, total
            self.sweep(log, "scan_sweep", n, (values,), ends, size_bytes, **self._params)
            return total
        run = Run(self.device, n)
        bounds = (run.index(n), run.index(run.chunk))
        totals = self.array("scan_totals", self._width * run.groups, self.dtype)
        self.launch(log, run, "scan", "scan_fold", values, *bounds, totals, **self._params)
        counted = (totals, np.uint32(run.groups), total)
        self.launch(log, run, "scan", "scan_totals", *counted, groups=1, **self._params)
        self.launch(
            log, run, "scan", "scan_apply", values, *bounds, totals, scanned, **self._params
        )
        return total


class Compaction(Sweep):
    """Keeping the elements whose mask is not zero, in their order, on a device.

    Parameters
    ----------
    device : Device
        Where.

    Attributes
    ----------
    at_once : tuple of int
        Elements below which this is one launch, of up to four bytes in all arrays and of more.
    """

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        lanes = device.traits.lanes
        self.at_once = COMPACTED_AT_ONCE.on(device.traits) if lanes > 1 else (0, 0)

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
        total = self.array("compact_total", 1, run.index)
        kinds = tuple(MOVED[array.dtype.itemsize] for array, _ in arrays)
        wide = sum(array.dtype.itemsize for array, _ in arrays) > 4
        if n < self.at_once[wide]:
            ends = (*(array for pair in arrays for array in pair), total)
            self.sweep(log, "compact_sweep", n, (mask,), ends, 8 if wide else 4, kinds=kinds)
            return total
        bounds = (run.index(n), run.index(run.chunk))
        totals = self.array("compact_totals", run.groups, run.index)
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


class SegmentedScan(Sweep):
    """Scan that begins anew at every head of a segment, on a device.

    Parameters
    ----------
    device : Device
        Where.
    dtype : data type
        Of the elements: uint32, int32 or float32.
    operator : str
        "add", "min", "max" or, of whole numbers, "or".
    """

    def __init__(self, device: Device, dtype: DTypeLike, operator: str = "add") -> None:
        super().__init__(device)
        self.dtype = np.dtype(dtype)
        self._params: dict[str, Any] = {"type": TYPES[self.dtype], "operator": operator}
        self._sweeps = _sweeps(device.traits, self.dtype, operator)

    def enqueue(
        self,
        log: Log,
        values: Allocation,
        heads: Allocation,
        n: int,
        scanned: Allocation,
        *,
        inclusive: bool = False,
    ) -> None:
        """Scan the first n elements.

        Parameters
        ----------
        log : Log
            Notes the launches.
        values, scanned : Allocation
            At least n elements of the dtype; two arrays.
        heads : Allocation
            uint8, at least n, not zero where a segment begins.
        n : int
            How many.
        inclusive : bool
            Whether an element itself counts too.
        """
        which = np.uint32(inclusive)
        if self._sweeps:
            inputs = values, heads, which
            self.sweep(log, "segmented_sweep", n, inputs, (scanned,), 4, **self._params)
            return
        run = Run(self.device, n)
        totals = self.array("segment_totals", 2 * run.groups, np.uint32)
        total = self.array("segment_total", 2, np.uint32)
        args = (values, heads, run.index(n), run.index(run.chunk), totals)
        counted = (totals, np.uint32(run.groups), total)
        self.launch(log, run, "segmented", "segmented_fold", *args, **self._params)
        self.launch(log, run, "segmented", "segmented_totals", *counted, groups=1, **self._params)
        self.launch(log, run, "segmented", "segmented_apply", *args, which, scanned, **self._params)


def _sweeps(traits: DeviceTraits, dtype: np.dtype[Any], operator: str) -> bool:
    """Whether a scan is one launch.

    That groups elements in another way each time, which changes sums that are rounded.
    """
    return traits.lanes > 1 and not (dtype.kind == "f" and operator == "add")
