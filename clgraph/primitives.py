"""Scans, reductions and compaction on a device, and a check of the words they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, wait
from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Allocation, Device, DeviceTraits, Program

__all__ = ["OPERATORS", "check_lanes", "compact", "exclusive_scan", "reduce"]

OPERATORS = ("add", "min", "max", "or", "affine")
TYPES = {
    np.dtype(np.uint32): "uint",
    np.dtype(np.int32): "int",
    np.dtype(np.uint64): "ulong",
    np.dtype(np.int64): "long",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
# What compaction moves elements as, by their size in bytes: the kernel's type, a dtype, how many.
CARRIERS: dict[int, tuple[str, Any, int]] = {
    1: ("uchar", np.uint8, 1),
    2: ("ushort", np.uint16, 1),
    4: ("uint", np.uint32, 1),
    8: ("ulong", np.uint64, 1),
    16: ("uint4", np.uint32, 4),
}
GPU_GROUP_SIZE = 256
CPU_GROUP_LANES = 4  # SIMD groups in a work-group, where the lanes are a CPU's
GROUPS_PER_UNIT = 4  # where the number of resident work-items is unknown
NEIGHBOURS = 4  # elements that a lane takes at a time
UINT_POSITIONS = 2**31  # fewer elements are counted in 32 bits, with room for a last, partial tile


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
    O(n) work in three launches. Deterministic on a device, also for floating point, where another
    device may round differently because it groups the elements in another way.
    """
    found = find_device(device)
    array = _checked(values, operator, found)
    if len(array) == 0:
        return array.copy()
    run = _Run(found, len(array))
    program = run.load("primitives/scan.cl", _type_of(array), operator)
    source = run.memory.upload("values", array)
    totals, _ = _scanned_totals(run, program, "scan", array, source)
    scanned = run.memory.allocate("scanned", array.size, array.dtype)
    run.launch(
        program, "scan_apply", source, run.index(run.n), run.index(run.chunk), totals, scanned
    )
    return scanned.read().reshape(array.shape)


def reduce(values: ArrayLike, *, operator: str = "add", device: Device | str | None = None) -> Any:
    """Combine all elements, in their order.

    Parameters
    ----------
    values, operator, device
        As for `exclusive_scan`.

    Returns
    -------
    numpy scalar or numpy.ndarray
        Of the dtype of `values`; for ``"affine"`` an array of two. The operator's identity if
        `values` is empty.

    Raises
    ------
    InvalidArgumentError
        If `operator` is unknown, or not defined on the shape and dtype of `values`.
    DeviceMemoryError
        If the array does not fit the device.

    Notes
    -----
    O(n) work in two launches; determinism as for `exclusive_scan`.
    """
    found = find_device(device)
    array = _checked(values, operator, found)
    run = _Run(found, len(array))
    program = run.load("primitives/scan.cl", _type_of(array), operator)
    _, total = _scanned_totals(run, program, "scan", array, run.memory.upload("values", array))
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
    O(n) work in three launches, deterministic.
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
    kind, carrier, count = CARRIERS[array.dtype.itemsize]
    run = _Run(find_device(device), array.size)
    program = run.load("primitives/compact.cl", kind)
    keep = run.memory.upload("mask", (flags != 0).view(np.uint8))
    places = np.empty(0, run.index)
    totals, total = _scanned_totals(run, program, "compact", places, keep)
    source = run.memory.upload("values", array.view(carrier))
    kept = run.memory.allocate("kept", int(total.read()[0]) * count, carrier)
    bounds = (run.index(run.n), run.index(run.chunk))
    run.launch(program, "compact_apply", keep, *bounds, totals, source, kept)
    result: NDArray[Any] = kept.read().view(array.dtype)
    return result


class _Run:
    """How n elements are cut into chunks, one to a work-group, and the launches over them."""

    def __init__(self, device: Device, n: int) -> None:
        traits = device.traits
        self.device = device
        self.memory = Memory(device)
        self.n = n
        self.index: type[np.uint32 | np.uint64] = np.uint32 if n < UINT_POSITIONS else np.uint64
        self.group_size = group_size(traits)
        self.items = 1 if traits.lanes == 1 else NEIGHBOURS
        tile = self.group_size * self.items
        resident = traits.threads_per_unit // self.group_size or GROUPS_PER_UNIT
        tiles = max(-(-n // tile), 1)
        tiles_per_group = -(-tiles // (traits.compute_units * resident))
        self.chunk = tiles_per_group * tile
        self.groups = -(-tiles // tiles_per_group)

    def load(self, name: str, kind: str, operator: str = "add") -> Program:
        """Build a file for these sizes, with elements of type `kind`."""
        return load(
            self.device,
            name,
            type=kind,
            operator=operator,
            index=TYPES[np.dtype(self.index)],
            group_size=self.group_size,
            items=self.items,
        )

    def launch(self, program: Program, name: str, *args: Any, groups: int | None = None) -> None:
        groups = self.groups if groups is None else groups
        wait(program.kernel(name).launch(groups * self.group_size, self.group_size, *args))


def group_size(traits: DeviceTraits) -> int:
    """Work-items that a work-group of the primitives has on a device."""
    if traits.lanes == 1 or traits.lane_ops == "local":
        return traits.lanes
    wanted = CPU_GROUP_LANES * traits.lanes if traits.is_cpu else GPU_GROUP_SIZE
    return min(wanted, traits.max_group_size // traits.lanes * traits.lanes)


def _scanned_totals(
    run: _Run, program: Program, name: str, array: NDArray[Any], source: Allocation
) -> tuple[Allocation, Allocation]:
    """Give the scanned totals of the chunks and the total of all, typed like `array`'s elements."""
    width = 2 if array.ndim == 2 else 1
    totals = run.memory.allocate("totals", run.groups * width, array.dtype)
    total = run.memory.allocate("total", width, array.dtype)
    run.launch(program, f"{name}_fold", source, run.index(run.n), run.index(run.chunk), totals)
    run.launch(program, f"{name}_totals", totals, np.uint32(run.groups), total, groups=1)
    return totals, total


def _type_of(array: NDArray[Any]) -> str:
    return "uint2" if array.ndim == 2 else TYPES[array.dtype]


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


def check_lanes(device: Device | str | None = None) -> list[tuple[str, bool, str]]:
    """Try every word of the lane and memory vocabularies on a device.

    Parameters
    ----------
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    list of (str, bool, str)
        The word, whether all lanes got what it promises, and where not, the first difference.

    Raises
    ------
    KernelBuildError
        If the device's compiler does not take the vocabulary.

    Notes
    -----
    One launch of a few work-groups. The inputs are fixed, among them SIMD groups in which a
    condition holds everywhere and nowhere.
    """
    found = find_device(device)
    lanes = found.traits.lanes
    size = group_size(found.traits)
    n = 8 * size
    random = np.random.default_rng(7)
    values = random.integers(0, 2**32, n, dtype=np.uint32)
    values[:size] |= np.uint32(1)
    values[size : 2 * size] &= np.uint32(0xFFFFFFFE)
    targets = random.integers(0, lanes, n, dtype=np.uint32)
    wide = random.integers(0, 2**64, n, dtype=np.uint64)
    expected = _expected_words(values.reshape(-1, lanes), targets.reshape(-1, lanes), wide)
    memory = Memory(found)
    inputs = [
        memory.upload(name, array)
        for name, array in (
            ("values", values),
            ("targets", targets),
            ("wide_values", wide),
            ("cells", np.zeros_like(values)),
            ("wide_cells", np.zeros_like(wide)),
        )
    ]
    results = memory.allocate("results", n * len(expected), np.uint64)
    program = load(found, "primitives/lanes_check.cl", group_size=size, words=tuple(expected))
    wait(program.kernel("lanes_check").launch(n, size, *inputs, results))
    table = results.read().reshape(n, len(expected))
    return [
        (word, *_compared(table[:, column], wanted.reshape(-1)))
        for column, (word, wanted) in enumerate(expected.items())
    ]


def _compared(got: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> tuple[bool, str]:
    wrong = np.flatnonzero(got != wanted)
    if wrong.size == 0:
        return True, ""
    item = int(wrong[0])
    return False, f"work-item {item}: {int(got[item]):#x} instead of {int(wanted[item]):#x}"


def _bits(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Give the 64 bits of each word, lowest first, in one more dimension."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(octets, axis=2, bitorder="little")


def _expected_words(
    values: NDArray[np.uint32], targets: NDArray[np.uint32], wide: NDArray[np.uint64]
) -> dict[str, NDArray[np.uint64]]:
    """Give what each word promises, [SIMD groups, lanes], in the order of the columns."""
    shape = values.shape
    lanes = shape[1]
    x = values.astype(np.uint64)
    w = wide.reshape(shape)
    lane = np.broadcast_to(np.arange(lanes, dtype=np.uint64), shape)
    bit = np.uint64(1) << lane
    word = np.uint64(2**32 - 1)
    odd = x & np.uint64(1)
    masked = w if lanes > 32 else w & word
    first = masked | bit[:, -1:]
    sums = np.cumsum(x, axis=1)

    def spread(column: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.broadcast_to(column[:, None], shape)

    def shifted(delta: int) -> NDArray[np.uint64]:
        return np.concatenate([x[:, :delta], x[:, : lanes - delta]], axis=1)

    def picked(array: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.take_along_axis(array, targets.astype(np.int64), axis=1)

    same = (x[:, :, None] % 5 == x[:, None, :] % 5) * bit[:, None, :]
    return {
        "LANES": np.full(shape, lanes, np.uint64),
        "lane_id": lane,
        "lane_mask_lt": bit - np.uint64(1),
        "lane_ballot": spread((odd * bit).sum(axis=1)),
        "lane_any": spread(odd.max(axis=1)),
        "lane_all": spread(odd.min(axis=1)),
        "lane_broadcast": spread(x[:, -1]),
        "lane_shuffle": picked(x),
        "lane_shuffle_ulong": picked(w),
        "lane_shuffle_up": shifted(1 % lanes),
        "lane_shuffle_up far": shifted(lanes // 2),
        "lane_scan_exclusive_add": (sums - x) & word,
        "lane_scan_inclusive_add": sums & word,
        "lane_reduce_add": spread(sums[:, -1] & word),
        "lane_reduce_min": spread(x.min(axis=1)),
        "lane_reduce_max": spread(x.max(axis=1)),
        "lane_reduce_or": spread(np.bitwise_or.reduce(x, axis=1)),
        "lane_reduce_add_ulong": spread(w.sum(axis=1, dtype=np.uint64)),
        "lane_reduce_min_ulong": spread(w.min(axis=1)),
        "lane_match_any": same.sum(axis=2, dtype=np.uint64),
        "lanemask_count": _bits(masked).sum(axis=2, dtype=np.uint64),
        "lanemask_first": _bits(first).argmax(axis=2).astype(np.uint64),
        "sum_of_squares": spread(((x * x) & word).sum(axis=1) & word),
        "load_relaxed": x,
        "lane_converge": picked(x),
        "load_acquire": x ^ word,
        "load_relaxed_ulong": w,
        "load_acquire_ulong": ~w,
        "load_streaming": x,
    }
