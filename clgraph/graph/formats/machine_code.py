"""The tokenizer of edge lists as machine code, made by Numba: one pass over the bytes of a block.

It knows plain lines only: ids of digits, weights that are finite decimal numbers, the same number
of tokens on every line. Of anything else it says that it is odd and nothing more; then the
tokenizer of NumPy reads the block, which knows all that is allowed and what to say of the rest.

Numba keeps the machine code where Python keeps its own, in ``__pycache__`` or a folder of the user.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

from clgraph.graph.csr import Array

__all__ = ["COMMENT", "DECIMAL", "MARKER", "NEWLINE", "ODD", "SPACE", "TOKEN", "Rules", "edges"]

F = TypeVar("F", bound=Callable[..., Any])

# What a byte is; COMMENT is added where the byte makes a comment of the line that it begins.
TOKEN, SPACE, NEWLINE, MARKER, COMMENT = 0, 1, 2, 3, 4
_KIND = 3
# What edges() gives instead of a number of rows.
ODD, DECIMAL = -1, -2
# What a line is, if not one of these; FRACTION has a weight that is not spelled as an integer.
BLANK, WHOLE, FRACTION = 0, 1, 2

_MOST_DIGITS = 18  # of which all fit int64
_MOST_EXPONENT_DIGITS = 4
_LEAST_POWER, _MOST_POWER = -290, 270  # of ten: times 19 digits, all are normal float64
_MINUS, _PLUS, _POINT, _EXPONENT, _LINE_END = ord("-"), ord("+"), ord("."), ord("e"), ord("\n")
_SIGN = np.uint64(1 << 63)
_LOW = np.uint64(0xFFFFFFFF)
_BITS_LOST = np.uint64(0x7FF)  # of 64, where the 53 of a float64 are taken
_HALF = np.uint64(0x400)
_TENTH_OF_MOST = np.uint64(10**18)
_NO_DIGITS = np.uint64(0)
_ONE, _TEN = np.uint64(1), np.uint64(10)


class Rules(NamedTuple):
    """What lines look like.

    Attributes
    ----------
    columns : int
        Tokens on a line.
    weight_column : int
        Which of them is a weight, or -1.
    decimals : bool
        Whether weights are decimal numbers, not integers.
    base : int
        Least id; it is subtracted.
    sources, targets : int
        How many ids there are at either end.
    before, between : int
        Markers before the first token of a line, and between two.
    """

    columns: int
    weight_column: int
    decimals: bool
    base: int
    sources: int
    targets: int
    before: int
    between: int


def _inlined(function: F) -> F:
    return cast("F", numba.njit(inline="always")(function))


def _compiled(function: F) -> F:
    # Nothing is allocated, so references to arrays need no counting, which took half of the time.
    options = {"nogil": True, "_nrt": False}
    try:
        return cast("F", numba.njit(**options, cache=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast("F", numba.njit(**options)(function))


def _powers_of_ten() -> tuple[Array, Array, Array]:
    """Leading 128 bits of each power of ten, rounded down, and the exponent of two they go with."""
    high, low, exponents = [], [], []
    for power in range(_LEAST_POWER, _MOST_POWER + 1):
        if power >= 0:
            exact = 10**power
            shift = exact.bit_length() - 128
            bits = exact >> shift if shift > 0 else exact << -shift
        else:
            divisor = 10**-power
            shift = -(divisor.bit_length() + 127)
            bits = (1 << -shift) // divisor
        high.append(bits >> 64)
        low.append(bits & (2**64 - 1))
        exponents.append(shift)
    return np.array(high, np.uint64), np.array(low, np.uint64), np.array(exponents, np.int64)


_HIGH, _REST, _EXPONENTS = _powers_of_ten()


@_compiled
def _product(a: Any, b: Any) -> Any:
    """Upper and lower half of the product of two words."""
    half = np.uint64(32)
    a_high, a_low, b_high, b_low = a >> half, a & _LOW, b >> half, b & _LOW
    low = a_low * b_low
    middle = a_high * b_low + (low >> half)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> half) + (other >> half), a * b


@_compiled
def _nearest(digits: Any, power: int) -> Any:
    """Bits of the float64 nearest to digits * 10**power, and whether that is sure.

    The product with the leading bits of the power is at most four units of its 128th bit too small;
    sure is what rounds the same way anyhow.
    """
    if digits == _NO_DIGITS:
        return digits, True
    if power < _LEAST_POWER or power > _MOST_POWER:
        return digits, False
    shift = 0
    for step in (32, 16, 8, 4, 2, 1):
        if digits >> np.uint64(64 - step) == _NO_DIGITS:
            digits <<= np.uint64(step)
            shift += step
    row = power - _LEAST_POWER
    high, middle = _product(digits, _HIGH[row])
    carried, _ = _product(digits, _REST[row])
    low = middle + carried
    if low < middle:
        high += np.uint64(1)
    exponent = _EXPONENTS[row] + 128 - shift
    if not high & _SIGN:
        high = (high << np.uint64(1)) | (low >> np.uint64(63))
        low <<= np.uint64(1)
        exponent -= 1
    lost = high & _BITS_LOST
    if (lost == _HALF - np.uint64(1) and low >= np.uint64(2**64 - 4)) or (
        lost == _HALF and low == _NO_DIGITS
    ):
        return digits, False
    mantissa = high >> np.uint64(11)
    if lost >= _HALF:
        mantissa += np.uint64(1)
    # A mantissa rounded up to the next power of two carries into the exponent, as it should.
    biased = np.uint64(exponent + 11 + 52 + 1023)
    return (biased << np.uint64(52)) + (mantissa - np.uint64(1 << 52)), True


@_inlined
def _digits(text: Array, at: Any) -> Any:
    """Read a number of digits only; also the place after it, and how many there are."""
    number, begin = np.int64(0), at
    while True:
        digit = np.int64(text[at]) - 48
        if digit < 0 or digit > 9:
            return number, at, np.int64(at - begin)
        number = number * 10 + digit
        at += _ONE


@_inlined
def _mantissa(text: Array, at: Any) -> Any:
    """Read digits with a point or none.

    Gives their number, the power of ten it goes with, the place after them, how many they are, -1
    if too many, and whether there was no point.
    """
    digits, count, power, point = _NO_DIGITS, 0, 0, 0
    while True:
        digit = np.int64(text[at]) - 48
        if 0 <= digit <= 9:
            if digits >= _TENTH_OF_MOST:
                return digits, power, at, -1, False
            digits = digits * _TEN + np.uint64(digit)
            count += 1
            power -= point
        elif text[at] == _POINT and not point:
            point = 1
        else:
            return digits, power, at, count, point == 0
        at += _ONE


@_inlined
def _exponent(text: Array, at: Any) -> Any:
    """Read the number behind an e; also the place after it, and how many digits it has."""
    at += _ONE
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += _ONE
    number, at, count = _digits(text, at)
    return -number if negative else number, at, count


@_inlined
def _decimal(text: Array, at: Any) -> Any:
    """Bits of a decimal number, the place after it, and FRACTION, WHOLE or ODD."""
    sign = _SIGN if text[at] == _MINUS else _NO_DIGITS
    plus = text[at] == _PLUS
    if sign or plus:
        at += _ONE
    digits, power, at, count, whole = _mantissa(text, at)
    if count <= 0:
        return np.int64(0), at, ODD
    if text[at] | 0x20 == _EXPONENT:
        whole = False
        exponent, at, count = _exponent(text, at)
        if count == 0 or count > _MOST_EXPONENT_DIGITS:
            return np.int64(0), at, ODD
        power += exponent
    bits, sure = _nearest(digits, power)
    if not sure:
        return np.int64(0), at, ODD
    return np.int64(bits | sign), at, WHOLE if whole and not plus else FRACTION


@_inlined
def _integer(text: Array, at: Any) -> Any:
    """Read an integer; also the place after it, and WHOLE, ODD, or DECIMAL if it may be one."""
    negative = text[at] == _MINUS
    if negative:
        at += _ONE
    number, at, count = _digits(text, at)
    if count > _MOST_DIGITS:
        return number, at, ODD
    if count == 0 or text[at] == _POINT or text[at] | 0x20 == _EXPONENT:
        return number, at, DECIMAL
    return -number if negative else number, at, WHOLE


@_inlined
def _id(text: Array, at: Any, base: int, most: int) -> Any:
    """Read an id and count it from 0, or give -1; also the place after it."""
    number, at, count = _digits(text, at)
    number -= base
    if count == 0 or count > _MOST_DIGITS or number < 0 or number >= most:
        return np.int64(-1), at
    return number, at


@_inlined
def _gap(kinds: Array, text: Array, at: Any) -> Any:
    """Where the next token or the line's end is, which of them, and the markers before it."""
    markers = 0
    while True:
        kind = kinds[text[at]] & _KIND
        if kind == MARKER:
            markers += 1
        elif kind != SPACE:
            return at, kind, markers
        at += _ONE


@_inlined
def _next(kinds: Array, text: Array, at: Any, kind: int, markers: int) -> Any:
    """Where what follows a token begins, and whether it is of a kind, behind so many markers."""
    if kinds[text[at]] & _KIND == TOKEN:  # the token was not at its end
        return at, False
    at, found, between = _gap(kinds, text, at)
    return at, found == kind and between == markers


@_inlined
def _line(
    kinds: Array,
    text: Array,
    at: Any,
    rules: Rules,
    row: Any,
    src: Array,
    dst: Array,
    weights: Array,
) -> Any:
    """Read a line; give its end, and BLANK, WHOLE, FRACTION, ODD or DECIMAL."""
    at, kind, markers = _gap(kinds, text, at)
    if kind == NEWLINE:
        return at, ODD if markers else BLANK
    tail, at = _id(text, at, rules.base, rules.sources)
    at, fits = _next(kinds, text, at, TOKEN, rules.between)
    head, at = _id(text, at, rules.base, rules.targets)
    if markers != rules.before or tail < 0 or head < 0 or not fits:
        return at, ODD
    src[row], dst[row] = tail, head
    found = WHOLE
    for column in range(2, rules.columns):
        at, fits = _next(kinds, text, at, TOKEN, rules.between)
        if not fits:
            return at, ODD
        if column == rules.weight_column:
            weights[row], at, found = _decimal(text, at) if rules.decimals else _integer(text, at)
            if found < 0:
                return at, found
        else:
            while kinds[text[at]] & _KIND == TOKEN:
                at += _ONE
    at, fits = _next(kinds, text, at, NEWLINE, 0)
    return at, found if fits else ODD


@_compiled
def edges(kinds: Array, text: Array, rules: Rules, src: Array, dst: Array, weights: Array) -> Any:
    """Read a block of whole lines.

    Parameters
    ----------
    kinds : uint8 array [256]
        What each byte is.
    text : uint8 array
        Ends with a newline.
    rules : Rules
        What lines look like.
    src, dst : int32 or int64 arrays [lines]
        The ids, counted from 0.
    weights : int64 array [lines]
        The weights; as the bits of float64 where they are decimal numbers.

    Returns
    -------
    int
        Number of edges; ODD if some line is not plain, DECIMAL if a weight is no integer, or all
        are though they should not be.
    """
    at, row = np.uint64(0), np.uint64(0)  # unsigned: signed places could count from the end
    end = np.uint64(len(text))
    fractions = False
    while at < end:
        if kinds[text[at]] & COMMENT:
            while text[at] != _LINE_END:
                at += _ONE
        else:
            at, found = _line(kinds, text, at, rules, row, src, dst, weights)
            if found < 0:
                return np.int64(found)
            if found != BLANK:
                row += _ONE
            fractions |= found == FRACTION
        at += _ONE
    if rules.decimals and row and not fractions:
        return np.int64(DECIMAL)
    return np.int64(row)
