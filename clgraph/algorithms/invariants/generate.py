"""Traces made up: constant, random and interval variables, and the published classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from clgraph.algorithms.invariants.trace import Rows, Trace, empty_rows
from clgraph.errors import InvalidArgumentError
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEFAULT_LENGTH", "PRESETS", "generate_trace", "published_trace"]

DEFAULT_LENGTH = 5_000_000
WORD_BITS = 32
Mode = Literal["constant", "random", "interval"]
MODES = ("constant", "random", "interval")
RANDOM_RANGE = (0.0, 1000.0)
# Numeric and Boolean variables of each published trace, and how many of them lie in intervals of
# their own, or are constant: as many as give the published number of invariants of set I.
PRESETS = {1: (15, 0, 0), 2: (15, 10, 7), 3: (50, 0, 0), 4: (50, 35, 3)}
FIRST_INTERVAL, INTERVAL_STEP, INTERVAL_WIDTH = 1.0, 20.0, 10.0
BLOCK = 1 << 20


def generate_trace(
    numeric: int = 15,
    boolean: int = 15,
    length: int = DEFAULT_LENGTH,
    *,
    mode: Mode = "random",
    intervals: Sequence[tuple[float, float]] | None = None,
    seed: int = 0,
) -> Trace:
    """Make up a trace.

    Parameters
    ----------
    numeric, boolean : int
        Variables of each kind.
    length : int
        Instants.
    mode : {"constant", "random", "interval"}
        Whether every variable keeps one value, takes uniformly random whole ones in 0 to 999
        (Booleans: a fair coin), or random ones in an interval of its own; Booleans are constant
        then.
    intervals : sequence of (float, float), optional
        Lower and upper end for each numeric variable in mode "interval"; default is disjoint ones.
    seed : int
        Of the generator.

    Returns
    -------
    Trace
        Whole numbers as float32, and packed bits, ready for any device.

    Raises
    ------
    InvalidArgumentError
        If the mode is none of these, a count is negative, or nothing is left to make.
    """
    if mode not in MODES:
        raise InvalidArgumentError(f"mode={mode!r} must be one of {', '.join(MODES)}.")
    if min(numeric, boolean) < 0 or numeric + boolean < 1 or length < 1:
        raise InvalidArgumentError(
            f"cannot make a trace of {numeric} and {boolean} variables and {length} instants."
        )
    if mode == "random":
        ranges = [RANDOM_RANGE] * numeric
    else:
        given = list(intervals) if intervals is not None else disjoint_intervals(numeric)
        if len(given) != numeric:
            raise InvalidArgumentError(f"{numeric} intervals are needed; got {len(given)}.")
        ranges = [(low, low) if mode == "constant" else (low, high) for low, high in given]
    return _made(ranges, [mode != "random"] * boolean, length, seed)


def published_trace(number: int, length: int = DEFAULT_LENGTH, *, seed: int = 0) -> Trace:
    """Make up a trace of the class of a published one.

    Parameters
    ----------
    number : {1, 2, 3, 4}
        15 variables of each kind in the first two and 50 in the others; nothing holds in 1 and 3.
        Set I has 142 invariants in 2 and 1,788 in 4, as published.
    length : int
        Instants.
    seed : int
        Of the generator.

    Notes
    -----
    The published traces themselves are not available. These have as many invariants of set I; of
    set II they have other numbers.
    """
    if number not in PRESETS:
        raise InvalidArgumentError(f"there is no published trace {number!r}; use 1, 2, 3 or 4.")
    count, apart, constant = PRESETS[number]
    ranges = disjoint_intervals(apart)
    high = ranges[-1][1] if ranges else RANDOM_RANGE[1]
    # The others range over everything, so that no comparison with them holds.
    ranges += [(0.0, max(high, RANDOM_RANGE[1]))] * (count - apart)
    return _made(ranges, [i < constant for i in range(count)], length, seed)


def disjoint_intervals(count: int) -> list[tuple[float, float]]:
    """Give intervals of which each lies above the one before."""
    starts = [FIRST_INTERVAL + INTERVAL_STEP * i for i in range(count)]
    return [(start, start + INTERVAL_WIDTH) for start in starts]


def _made(
    ranges: Sequence[tuple[float, float]], constants: Sequence[bool], length: int, seed: int
) -> Trace:
    random = seeded(seed)
    rows = empty_rows(len(ranges), length, np.float32)
    for row, (low, high) in zip(rows, ranges, strict=True):
        for begin in range(0, length, BLOCK):
            part = row[begin : min(begin + BLOCK, length)]
            random.random(dtype=np.float32, out=part)
            part *= np.float32(high - low)
            part += np.float32(low)
            np.floor(part, out=part)
        row[length:] = row[length - 1]
    words = -(-length // WORD_BITS)
    bits = empty_rows(len(constants), words, np.uint32)
    for number, (row, constant) in enumerate(zip(bits, constants, strict=True)):
        if constant:
            row[:] = 0xFFFFFFFF if number % 2 else 0
            continue
        row[:words] = random.integers(0, 1 << 32, words, np.uint32)
        last = (length - 1) % WORD_BITS
        value = row[words - 1] >> np.uint32(last) & 1
        low_bits = np.uint32((1 << last + 1) - 1 & 0xFFFFFFFF)
        row[words - 1] = row[words - 1] & low_bits | (~low_bits if value else np.uint32(0))
        row[words:] = 0xFFFFFFFF if value else 0
    numeric = Rows(tuple(f"n{i}" for i in range(len(ranges))), rows, prepared=True)
    boolean = Rows(tuple(f"b{i}" for i in range(len(constants))), bits, prepared=True)
    return Trace(length, numeric, boolean)
