"""Sorting, merging and segmented scans of arrays in host memory, on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError
from clgraph.primitives.merging import Merge
from clgraph.primitives.radix import RadixSort
from clgraph.primitives.scanning import SegmentedScan
from clgraph.primitives.stages import Last

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device

__all__ = ["merge", "merge_pairs", "segmented_scan", "sort", "sort_pairs"]

KEYS = (np.dtype(np.uint32), np.dtype(np.uint64))
SEGMENTED = ("add", "min", "max", "or")


def sort(
    keys: ArrayLike, *, bits: int | None = None, device: Device | str | None = None
) -> NDArray[Any]:
    """Sort whole numbers, ascending.

    Parameters
    ----------
    keys : array_like
        [n] of uint32 or uint64.
    bits : int, optional
        Only so many low bits differ from zero; default is found from the largest key.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    numpy.ndarray
        [n] of the same dtype.

    Raises
    ------
    InvalidArgumentError
        If the keys are not of such a type, or there are higher bits than said.
    DeviceMemoryError
        If twice the array does not fit the device.

    Notes
    -----
    O(n) work in a launch for every 8 bits and one more, or three for every 8 bits where a work-item
    is a SIMD group of its own. Deterministic.
    """
    return _sorted(_keys(keys, "keys"), None, bits, device)[0]


@documented(sort)
def sort_pairs(
    keys: ArrayLike,
    values: ArrayLike,
    *,
    bits: int | None = None,
    device: Device | str | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort whole numbers, and what goes with each; equal keys stay in their order.

    Parameters
    ----------
    values : array_like
        [n] of any dtype whose elements take 4 or 8 bytes.

    Returns
    -------
    keys, values : numpy.ndarray
        [n] each.

    Raises
    ------
    InvalidArgumentError
        As for `sort`, or if lengths or types do not fit.
    DeviceMemoryError
        If twice the arrays do not fit the device.

    Notes
    -----
    As for `sort`.
    """
    array = _keys(keys, "keys")
    carried = _values(values, len(array))
    sorted_keys, moved = _sorted(array, carried, bits, device)
    assert moved is not None  # noqa: S101 (for the type checker)
    return sorted_keys, moved


def merge(
    first: ArrayLike, second: ArrayLike, *, device: Device | str | None = None
) -> NDArray[Any]:
    """Merge two ascending arrays.

    Parameters
    ----------
    first, second : array_like
        [n1] and [n2] of uint32 or uint64, both of the same, ascending.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    numpy.ndarray
        [n1 + n2], ascending.

    Raises
    ------
    InvalidArgumentError
        If the types differ or are others, or an array does not ascend.
    DeviceMemoryError
        If twice the arrays do not fit the device.

    Notes
    -----
    O(n1 + n2) work in one launch, cut in tiles of equal size. Deterministic.
    """
    return _merged(first, second, None, device)[0]


@documented(merge)
def merge_pairs(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    device: Device | str | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Merge two ascending arrays, and what goes with each key; equals of the first come first.

    Parameters
    ----------
    first, second : pair of array_like
        Keys as for `merge`, and values of any one dtype whose elements take 4 or 8 bytes.

    Returns
    -------
    keys, values : numpy.ndarray
        [n1 + n2] each.

    Raises
    ------
    InvalidArgumentError
        As for `merge`, or if lengths or types do not fit.
    """
    values = [_values(pair[1], len(np.atleast_1d(np.asarray(pair[0])))) for pair in (first, second)]
    if values[0].dtype != values[1].dtype:
        raise InvalidArgumentError(
            f"values of {values[0].dtype} and {values[1].dtype} cannot be merged; convert one."
        )
    keys, moved = _merged(first[0], second[0], values, device)
    assert moved is not None  # noqa: S101 (for the type checker)
    return keys, moved


def segmented_scan(
    values: ArrayLike,
    heads: ArrayLike,
    *,
    operator: str = "add",
    inclusive: bool = False,
    device: Device | str | None = None,
) -> NDArray[Any]:
    """Combine all elements before each element of its segment.

    Parameters
    ----------
    values : array_like
        [n] of uint32, int32 or float32.
    heads : array_like
        [n], not zero where a segment begins; the first element begins one in any case.
    operator : {"add", "min", "max", "or"}
        What combines two elements; ``"or"`` is for integers.
    inclusive : bool
        Whether an element itself counts too.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    numpy.ndarray
        [n] of the dtype of `values`; the operator's identity at heads unless inclusive.

    Raises
    ------
    InvalidArgumentError
        If shapes, dtype or operator do not fit.
    DeviceMemoryError
        If the arrays do not fit the device.

    Notes
    -----
    O(n) work in one launch, or three where they are sums of floating point or a work-item is a SIMD
    group of its own; determinism as for `exclusive_scan`.
    """
    array, flags = np.ascontiguousarray(values), np.asarray(heads)
    if array.ndim != 1 or flags.shape != array.shape:
        raise InvalidArgumentError(
            f"values and heads need one and the same length; their shapes are {array.shape} and "
            f"{flags.shape}."
        )
    if array.dtype not in (np.uint32, np.int32, np.float32):
        raise InvalidArgumentError(
            f"a segmented scan is of uint32, int32 or float32; got {array.dtype}."
        )
    if operator not in SEGMENTED or (operator == "or" and array.dtype.kind == "f"):
        raise InvalidArgumentError(
            f"there is no segmented operator {operator!r} on {array.dtype}; use one of "
            f"{', '.join(SEGMENTED)}."
        )
    if not array.size:
        return array.copy()
    found = find_device(device)
    memory, log = Memory(found), Last()
    source = memory.upload("values", array)
    begins = memory.upload("heads", (flags != 0).view(np.uint8))
    scanned = memory.allocate("scanned", array.size, array.dtype)
    stage = SegmentedScan(found, array.dtype, operator)
    stage.enqueue(log, source, begins, array.size, scanned, inclusive=inclusive)
    log.wait()
    return scanned.read()


def _keys(keys: ArrayLike, name: str) -> NDArray[Any]:
    array = np.ascontiguousarray(keys)
    if array.dtype.newbyteorder("=") not in KEYS or np.ndim(keys) != 1:
        raise InvalidArgumentError(
            f"{name} must be one-dimensional and of uint32 or uint64; got {array.dtype} of shape "
            f"{np.shape(keys)}."
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _values(values: ArrayLike, count: int) -> NDArray[Any]:
    array = np.ascontiguousarray(values)
    if np.shape(values) != (count,) or array.dtype.hasobject or array.dtype.itemsize not in (4, 8):
        raise InvalidArgumentError(
            f"values must be {count} elements of 4 or 8 bytes; got {array.dtype} of shape "
            f"{np.shape(values)}. Sort numpy.arange(n) along and index with it."
        )
    return array


def _carrier(values: NDArray[Any]) -> NDArray[Any]:
    return values.view(np.uint32 if values.dtype.itemsize == 4 else np.uint64)


def _sorted(
    keys: NDArray[Any],
    values: NDArray[Any] | None,
    bits: int | None,
    device: Device | str | None,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    largest = int(keys.max(initial=0))
    if bits is None:
        bits = largest.bit_length()
    elif largest >> bits:
        raise InvalidArgumentError(f"the key {largest} has more than {bits} bits; leave out bits.")
    if keys.size < 2:
        return keys.copy(), None if values is None else values.copy()
    found = find_device(device)
    memory = Memory(found)
    moved = None if values is None else memory.upload("values", _carrier(values))
    stage = RadixSort(found, keys.dtype, None if moved is None else moved.dtype)
    log = Last()
    held, carried = stage.enqueue(log, memory.upload("keys", keys), keys.size, moved, bits=bits)
    log.wait()
    result = None
    if carried is not None and values is not None:
        result = carried.read(keys.size).view(values.dtype)
    return held.read(keys.size), result


def _merged(
    first: ArrayLike,
    second: ArrayLike,
    values: list[NDArray[Any]] | None,
    device: Device | str | None,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    a, b = _keys(first, "the first keys"), _keys(second, "the second keys")
    if a.dtype != b.dtype:
        raise InvalidArgumentError(
            f"keys of {a.dtype} and {b.dtype} cannot be merged; convert one."
        )
    for array, which in ((a, "first"), (b, "second")):
        falls = np.flatnonzero(array[1:] < array[:-1])
        if falls.size:
            raise InvalidArgumentError(
                f"the {which} keys fall from {array[falls[0]]} to {array[falls[0] + 1]} at "
                f"{falls[0] + 1}; sort them before."
            )
    total = a.size + b.size
    found = find_device(device)
    memory, log = Memory(found), Last()
    merged = memory.allocate("merged", total, a.dtype)
    carried, moved = None, None
    if values is not None:
        names = ("first_values", "second_values")
        given, other = (
            memory.upload(*one) for one in zip(names, map(_carrier, values), strict=True)
        )
        moved = memory.allocate("moved", total, given.dtype)
        carried = given, other, moved
    stage = Merge(found, a.dtype, None if moved is None else moved.dtype)
    if total:
        held, second_held = (memory.upload("keys", side) for side in (a, b))
        stage.enqueue(log, (held, a.size), (second_held, b.size), merged, carried)
        log.wait()
    result = None if moved is None or values is None else moved.read().view(values[0].dtype)
    return merged.read(), result
