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

_MOST_ID_DIGITS = 18  # of which all fit int64
_MOST_EXPONENT_DIGITS = 4
_LEAST_POWER, _MOST_POWER = -290, 270  # of ten: times 19 digits, all are normal float64
_MINUS, _PLUS, _POINT, _EXPONENT = ord("-"), ord("+"), ord("."), ord("e")
_SIGN = np.uint64(1 << 63)
_LOW = np.uint64(0xFFFFFFFF)
_BITS_LOST = np.uint64(0x7FF)  # of 64, where the 53 of a float64 are taken
_HALF = np.uint64(0x400)
_TENTH_OF_MOST = np.uint64(10**18)
_NO_DIGITS = np.uint64(0)
_TEN = np.uint64(10)


class Rules(NamedTuple):
    """What lines look like.

    Attributes
    ----------
    kinds : uint8 array [256]
        What each byte is.
    columns : int
        Tokens on a line.
    weight_column : int
        Which of them is a weight, or -1.
    base : int
        Least id; it is subtracted.
    sources, targets : int
        How many ids there are at either end.
    before, between : int
        Markers before the first token of a line, and between two.
    """

    kinds: Array
    columns: int
    weight_column: int
    base: int
    sources: int
    targets: int
    before: int
    between: int


def _compiled(function: F) -> F:
    try:
        return cast("F", numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast("F", numba.njit(nogil=True)(function))


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


@_compiled
def _decimal(text: Array, at: int) -> Any:
    """Bits of a decimal number, the place after it or -1, and whether it is spelled as an integer."""
    sign, digits = _NO_DIGITS, _NO_DIGITS
    whole, seen, power = True, 0, 0
    if text[at] == _MINUS:
        sign = _SIGN
        at += 1
    elif text[at] == _PLUS:
        whole = False
        at += 1
    point = False
    while True:
        digit = np.int64(text[at]) - 48
        if 0 <= digit <= 9:
            if digits >= _TENTH_OF_MOST:
                return sign, -1, whole
            digits = digits * _TEN + np.uint64(digit)
            seen += 1
            power -= point
        elif text[at] == _POINT and not point:
            point, whole = True, False
        else:
            break
        at += 1
    if seen == 0:
        return sign, -1, whole
    if text[at] | 0x20 == _EXPONENT:
        whole = False
        at += 1
        negative = text[at] == _MINUS
        if negative or text[at] == _PLUS:
            at += 1
        exponent, seen = 0, 0
        while 0 <= np.int64(text[at]) - 48 <= 9:
            exponent = exponent * 10 + np.int64(text[at]) - 48
            seen += 1
            if seen > _MOST_EXPONENT_DIGITS:
                return sign, -1, whole
            at += 1
        if seen == 0:
            return sign, -1, whole
        power += -exponent if negative else exponent
    bits, sure = _nearest(digits, power)
    return bits | sign, at if sure else -1, whole


@_compiled
def _integer(text: Array, at: int) -> Any:
    """An integer without plus, and the place after it; -1 if it may not fit, -2 if it is none."""
    negative = text[at] == _MINUS
    at += negative
    number, begin = np.int64(0), at
    while 0 <= np.int64(text[at]) - 48 <= 9:
        number = number * 10 + (np.int64(text[at]) - 48)
        at += 1
    if at - begin > _MOST_ID_DIGITS:
        return number, ODD
    return -number if negative else number, at if at > begin else DECIMAL


@_compiled
def edges(
    text: Array, rules: Rules, decimals: bool, src: Array, dst: Array, weights: Array
) -> Any:
    """Read a block of whole lines.

    Parameters
    ----------
    text : uint8 array
        Ends with a newline.
    rules : Rules
        What lines look like.
    decimals : bool
        Whether weights are decimal numbers, not integers.
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
    kinds = rules.kinds
    at, row = 0, 0
    all_whole = True
    while at < len(text):
        if kinds[text[at]] & COMMENT:
            while text[at] != 10:
                at += 1
            at += 1
            continue
        column, markers = 0, 0
        while True:
            kind = kinds[text[at]] & _KIND
            if kind == SPACE:
                at += 1
            elif kind == MARKER:
                markers += 1
                at += 1
            elif kind == NEWLINE:
                break
            else:
                if column == rules.columns:
                    return ODD
                if markers != (rules.between if column else rules.before):
                    return ODD
                markers = 0
                if column < 2:
                    number, begin = np.int64(0), at
                    while 0 <= np.int64(text[at]) - 48 <= 9:
                        number = number * 10 + (np.int64(text[at]) - 48)
                        at += 1
                    number -= rules.base
                    most = rules.targets if column else rules.sources
                    if at - begin > _MOST_ID_DIGITS or number < 0 or number >= most:
                        return ODD
                    if at == begin:
                        return ODD
                    if column:
                        dst[row] = number
                    else:
                        src[row] = number
                elif column == rules.weight_column:
                    if decimals:
                        bits, at, whole = _decimal(text, at)
                        if at < 0:
                            return ODD
                        all_whole = all_whole and whole
                        weights[row] = np.int64(bits)
                    else:
                        cost, at = _integer(text, at)
                        if at < 0:
                            return at
                        if text[at] == _POINT or text[at] | 0x20 == _EXPONENT:
                            return DECIMAL
                        weights[row] = cost
                else:
                    while kinds[text[at]] & _KIND == TOKEN:
                        at += 1
                if kinds[text[at]] & _KIND == TOKEN:
                    return ODD
                column += 1
        if column:
            if column != rules.columns or markers:
                return ODD
            row += 1
        elif markers:
            return ODD
        at += 1
    return DECIMAL if decimals and all_whole and row else row
