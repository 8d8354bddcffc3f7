"""A check of the words that primitives are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load, wait
from clgraph.device import device as find_device
from clgraph.primitives.launches import group_size
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device

__all__ = ["check_lanes"]


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
    random = seeded(7)
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


def _last(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Give the place of the highest bit of each word that is set."""
    highest: NDArray[np.uint64] = 63 - _bits(words)[:, :, ::-1].argmax(axis=2).astype(np.uint64)
    return highest


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
        "lane_match_low": same.sum(axis=2, dtype=np.uint64),
        "lanemask_count": _bits(masked).sum(axis=2, dtype=np.uint64),
        "lanemask_first": _bits(first).argmax(axis=2).astype(np.uint64),
        "lanemask_last": _last(masked | np.uint64(1)),
        "sum_of_squares": spread(((x * x) & word).sum(axis=1) & word),
        "load_relaxed": x,
        "lane_converge": picked(x),
        "load_acquire": x ^ word,
        "load_relaxed_ulong": w,
        "load_acquire_ulong": ~w,
        "load_streaming": x,
    }
