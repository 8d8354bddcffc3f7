"""Scans, reductions and compaction on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError
from clgraph.primitives.launches import TYPES, Run
from clgraph.primitives.scanning import Compaction, Scan, element_type
from clgraph.primitives.stages import Last

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device

__all__ = ["OPERATORS", "compact", "exclusive_scan", "reduce"]

OPERATORS = ("add", "min", "max", "or", "affine")
# What compaction moves elements as, by their size in bytes.
CARRIERS: dict[int, Any] = {
    1: np.uint8,
    2: np.uint16,
    4: np.uint32,
    8: np.uint64,
    16: np.complex128,
}


def exclusive_scan(
    values: ArrayLike, *, operator: str = "add", device: Device | str | None = None
) -> NDArray[Any]:
    """Combine all elements before each element.

    Parameters
    ----------
    values : array_like
        [n] of uint32, int32, uint64, int64, float32 or float64; for ``"affine"`` [n, 2] of uint32.
    operator : {"add", "min", "max", "or", "affine"}
        What combines two elements. ``"or"`` is for integers. ``"affine"`` takes a row (p, q) as the
        map x -> p x + q modulo 2^32 and combines maps in their order, which does not commute.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    numpy.ndarray
        Shape and dtype of `values`, in native byte order; the first element is the operator's
        identity (for ``"min"`` the largest value of the type, infinity where there is one). Integer
        sums wrap around.

    Raises
    ------
    InvalidArgumentError
        If `operator` is unknown, or not defined on the shape and dtype of `values`.
    DeviceMemoryError
        If two arrays of this size do not fit the device.

    Notes
    -----
    O(n) work in one launch, or three for many elements where they are sums of floating point or a
    work-item is a SIMD group of its own. Deterministic on a device, also for floating point, where
    another device may round differently because it groups the elements in another way.
    """
    found = find_device(device)
    array = _checked(values, operator, found)
    if len(array) == 0:
        return array.copy()
    memory, log = Memory(found), Last()
    source = memory.upload("values", array)
    scanned = memory.allocate("scanned", array.size, array.dtype)
    Scan(found, array.dtype, operator).enqueue(log, source, len(array), scanned)
    log.wait()
    return scanned.read().reshape(array.shape)


@documented(exclusive_scan)
def reduce(values: ArrayLike, *, operator: str = "add", device: Device | str | None = None) -> Any:
    """Combine all elements, in their order.

    Returns
    -------
    numpy scalar or numpy.ndarray
        Of the dtype of `values`; for ``"affine"`` an array of two. The operator's identity if
        `values` is empty.

    Raises
    ------
    DeviceMemoryError
        If the array does not fit the device.

    Notes
    -----
    O(n) work in two launches; determinism as for `exclusive_scan`.
    """
    found = find_device(device)
    array = _checked(values, operator, found)
    run = Run(found, len(array))
    kind = element_type(array.dtype, operator)
    program = run.load("primitives/scan.cl", kind, operator)
    width = array.ndim
    source = run.memory.upload("values", array)
    totals = run.memory.allocate("totals", run.groups * width, array.dtype)
    total = run.memory.allocate("total", width, array.dtype)
    run.launch(program, "scan_fold", source, run.index(run.n), run.index(run.chunk), totals)
    run.launch(program, "scan_totals", totals, np.uint32(run.groups), total, groups=1)
    result = total.read()
    return result if array.ndim == 2 else result[0]


def compact(
    values: ArrayLike, mask: ArrayLike, *, device: Device | str | None = None
) -> NDArray[Any]:
    """Keep the elements whose mask is not zero, in their order.

    Parameters
    ----------
    values : array_like
        [n] of any dtype whose elements take 1, 2, 4, 8 or 16 bytes and hold no Python objects.
    mask : array_like
        [n] of booleans or numbers.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    numpy.ndarray
        [number of elements kept], dtype of `values`; equal to ``values[mask != 0]``.

    Raises
    ------
    InvalidArgumentError
        If the shapes differ or are not one-dimensional, or the dtype cannot be moved.
    DeviceMemoryError
        If values, mask and result do not fit the device.

    Notes
    -----
    O(n) work in one launch or three, deterministic.
    """
    array = np.ascontiguousarray(values)
    flags = np.asarray(mask)
    if np.ndim(values) != 1 or flags.shape != array.shape:
        raise InvalidArgumentError(
            f"compact needs values and mask of one and the same length; their shapes are "
            f"{np.shape(values)} and {flags.shape}."
        )
    if flags.dtype.kind not in "biufc":
        raise InvalidArgumentError(f"a mask holds booleans or numbers; got {flags.dtype}.")
    if array.dtype.hasobject or array.dtype.itemsize not in CARRIERS:
        raise InvalidArgumentError(
            f"compact moves elements of 1, 2, 4, 8 or 16 bytes; {array.dtype} is none of these. "
            "Compact numpy.arange(n) and index with the result."
        )
    if array.size == 0:
        return array.copy()
    carrier = CARRIERS[array.dtype.itemsize]
    found = find_device(device)
    memory, log = Memory(found), Last()
    keep = memory.upload("mask", (flags != 0).view(np.uint8))
    source = memory.upload("values", array.view(carrier))
    kept = memory.allocate("kept", array.size, carrier)
    total = Compaction(found).enqueue(log, keep, array.size, (source, kept))
    result: NDArray[Any] = kept.read(int(total.read()[0])).view(array.dtype)
    return result


def _checked(values: ArrayLike, operator: str, device: Device) -> NDArray[Any]:
    array = np.asarray(values)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if operator not in OPERATORS:
        raise InvalidArgumentError(
            f"there is no operator {operator!r}; use one of {', '.join(OPERATORS)}."
        )
    if operator == "affine":
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype != np.uint32:
            raise InvalidArgumentError(
                f"'affine' needs uint32 of shape (n, 2); got {array.dtype} of shape {array.shape}."
            )
        return np.ascontiguousarray(array)
    if array.ndim != 1 or array.dtype not in TYPES:
        raise InvalidArgumentError(
            f"{operator!r} needs a one-dimensional array of 32- or 64-bit numbers; got "
            f"{array.dtype} of shape {array.shape}. Convert with astype()."
        )
    if operator == "or" and array.dtype.kind == "f":
        raise InvalidArgumentError(f"'or' needs integers; got {array.dtype}.")
    if array.dtype == np.float64 and not device.traits.fp64:
        raise InvalidArgumentError(
            f"{device.name} has no double precision; convert with astype(numpy.float32)."
        )
    return np.ascontiguousarray(array)
