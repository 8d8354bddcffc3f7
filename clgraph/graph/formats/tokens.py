"""Numbers out of text, many at a time: finding tokens, and reading integers and decimals.

A block of text becomes an array of bytes; token borders are where white space begins and ends.
Integers are read eight digits at a time in one 64-bit word each, so a block costs a fixed number
of array operations whatever it holds: 300 MB/s and more on one CPU core.
"""

import functools
import io
import re
from dataclasses import dataclass

import numpy as np

from clgraph.graph.csr import Array
from clgraph.graph.modules import module

__all__ = ["IntegerOverflowError", "Tokens", "separator_table"]

_PAD = 24  # white space before the text: words are read backwards from the end of a token
_SPACE, _NEWLINE, _BAD, _ZERO = 0x20, 0x0A, 0x7F, 0x30
_DIGIT_BITS = np.uint64(0x0F0F0F0F0F0F0F0F)
_MAX_DIGITS = 19
_DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class IntegerOverflowError(Exception):
    """An integer token needs more than 64 bits; its place among those asked for is the argument."""


@functools.cache
def separator_table(extra: bytes = b"", markers: bytes = b"") -> bytes:
    """Table for ``bytes.translate`` that leaves white space, tokens and nothing else.

    Parameters
    ----------
    extra : bytes
        Characters that separate tokens besides space, tab and carriage return.
    markers : bytes
        Characters to replace by 1, 2, ...: no part of a token, but still to be told from space.

    Returns
    -------
    bytes [256]
        Control characters and bytes above 126 map to 127, which no number contains.
    """
    table = bytearray(byte if 0x20 <= byte < 0x7F else _BAD for byte in range(256))
    table[_NEWLINE] = _NEWLINE
    for byte in b"\t\r" + extra:
        table[byte] = _SPACE
    for place, byte in enumerate(markers):
        table[byte] = place + 1
    return bytes(table)


@dataclass(slots=True)
class Tokens:
    """The tokens of a block of text.

    Attributes
    ----------
    text : uint8 array
        The translated text, padded with white space at both ends.
    starts, ends : int64 arrays
        Where each token begins, and the place after it, in ``text``.
    newlines : int64 array
        Where each line ends in ``text``.
    others : int64 array
        Where token characters are that are not digits.
    """

    text: Array
    starts: Array
    ends: Array
    newlines: Array
    others: Array

    @classmethod
    def of(cls, data: bytes, table: bytes) -> "Tokens":
        """Find the tokens of text that ends with a newline."""
        padded = b" " * _PAD + data.translate(table)
        text = np.frombuffer(padded, np.uint8)
        inside = text > _SPACE
        borders = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        newlines = np.flatnonzero(text == _NEWLINE)
        others = np.flatnonzero(((text - np.uint8(48)) > 9) & inside)
        return cls(text, borders[0::2], borders[1::2], newlines, others)

    @staticmethod
    def offset(place: int) -> int:
        """Place in the original text of a place in ``text``."""
        return max(int(place) - _PAD, 0)

    def per_line(self) -> Array:
        """Count the tokens on each line."""
        counts: Array = np.diff(np.searchsorted(self.starts, self.newlines), prepend=0)
        return counts

    def others_within(self, starts: Array, ends: Array) -> Array:
        """Count the characters in each interval that are not digits."""
        if not len(self.others):
            return np.zeros(len(starts), np.int64)
        count: Array = np.searchsorted(self.others, ends) - np.searchsorted(self.others, starts)
        return count

    def integers(self, starts: Array, ends: Array) -> Array:
        """Read tokens of digits only.

        Parameters
        ----------
        starts, ends : int64 arrays
            Their borders; every character between is a digit.

        Returns
        -------
        int64 array
            The numbers.

        Raises
        ------
        IntegerOverflowError
            With the place of the first that does not fit.
        """
        lengths = ends - starts
        longest = int(lengths.max(initial=0))
        if longest > _MAX_DIGITS:
            lengths = ends - self._behind_zeros(starts)
            longest = int(lengths.max())
        if longest > _MAX_DIGITS:
            raise IntegerOverflowError(int(np.argmax(lengths > _MAX_DIGITS)))
        numbers = self._eight_digits(ends, lengths)
        scale = 10**8
        for skipped in range(8, longest, 8):
            more = np.flatnonzero(lengths > skipped)
            high = self._eight_digits(ends[more] - skipped, lengths[more] - skipped)
            numbers[more] += high * np.uint64(scale)
            scale *= 10**8
        if longest == _MAX_DIGITS and (numbers >> np.uint64(63)).any():
            raise IntegerOverflowError(int(np.argmax(numbers >> np.uint64(63))))
        signed: Array = numbers.view(np.int64)
        return signed

    def _behind_zeros(self, starts: Array) -> Array:
        """Where each token begins without the zeros before its first digit that counts."""
        others = np.flatnonzero(self.text != _ZERO)  # the text ends with one
        behind: Array = others[np.searchsorted(others, starts)]
        return behind

    def _eight_digits(self, ends: Array, lengths: Array) -> Array:
        """Last eight digits of each token (or all it has), as uint64."""
        words = np.ndarray((len(self.text) - 7,), "V8", self.text, 0, (1,))
        digits: Array = words[ends - 8].view("<u8").astype(np.uint64, copy=False)
        digits &= _DIGIT_BITS
        before = ((8 - np.minimum(lengths, 8)) << 3).astype(np.uint64)
        digits >>= before  # clears what stands before a short token
        digits <<= before
        # Neighbouring digits, then pairs, then fours are joined within the word.
        for factor, shift, mask in (
            (10, 8, 0x00FF00FF00FF00FF),
            (100, 16, 0x0000FFFF0000FFFF),
            (10000, 32, 0x00000000FFFFFFFF),
        ):
            upper = digits >> np.uint64(shift)
            digits *= np.uint64(factor)
            digits += upper
            digits &= np.uint64(mask)
        return digits

    def signed_integers(self, starts: Array, ends: Array) -> Array | None:
        """Read tokens as integers with an optional minus; None if one is anything else."""
        negative = self.text[starts] == ord("-")
        digits = starts + negative
        signs = int(np.count_nonzero(negative))
        if (digits == ends).any() or self.others_within(starts, ends).sum() != signs:
            return None
        numbers = self.integers(digits, ends)
        numbers[negative] *= -1
        return numbers

    def decimals(self, starts: Array, ends: Array) -> Array | int:
        """Read tokens as finite decimal numbers.

        Parameters
        ----------
        starts, ends : int64 arrays
            Their borders, ascending.

        Returns
        -------
        float64 array or int
            The numbers, correctly rounded; or the place of the first token that is none.
        """
        if not len(starts):
            return np.empty(0)
        if self._spelled_as_decimals(starts, ends):
            steps = np.zeros(len(self.text), np.int8)
            steps[starts] = 1
            steps[ends] = -1
            only = np.where(np.cumsum(steps, dtype=np.int8).view(bool), self.text, np.uint8(_SPACE))
            only[ends] = _NEWLINE
            head = b"%%%%MatrixMarket matrix array real general\n%d 1\n" % len(starts)
            try:
                numbers: Array = module("scipy.io").mmread(io.BytesIO(head + only.tobytes()))[:, 0]
            except ValueError:  # it knows no leading plus, for one
                numbers = np.empty(0)
            if len(numbers) == len(starts) and np.isfinite(numbers).all():
                # mmread adds to zero, which loses the sign of -0.0.
                numbers[(numbers == 0) & (self.text[starts] == ord("-"))] = -0.0
                return numbers
        return self._decimals_one_by_one(starts, ends)

    def _spelled_as_decimals(self, starts: Array, ends: Array) -> bool:
        """Whether all tokens are spelled right; mmread itself stops reading at the first oddity."""
        token = np.searchsorted(starts, self.others, side="right") - 1
        inside = (token >= 0) & (self.others < ends[np.maximum(token, 0)])
        places, token = self.others[inside], token[inside]
        characters = self.text[places]
        lower = characters | np.uint8(0x20)
        exponent, point = lower == ord("e"), characters == ord(".")
        sign = (characters == ord("-")) | (characters == ord("+"))
        if not (exponent | point | sign).all():
            return False
        for once in (token[exponent], token[point]):
            if (once[1:] == once[:-1]).any():
                return False
        mantissa_ends = ends.copy()
        mantissa_ends[token[exponent]] = places[exponent]
        leads = places == starts[token]
        follows_exponent = (self.text[places - 1] | np.uint8(0x20)) == ord("e")
        digits = mantissa_ends - starts
        np.subtract.at(digits, token[point], 1)
        np.subtract.at(digits, token[sign & leads], 1)
        last = self.text[ends - 1]
        return bool(
            (~sign | leads | follows_exponent).all()
            and (places[point] < mantissa_ends[token[point]]).all()
            and (digits > 0).all()
            and (((last - np.uint8(48)) <= 9) | (last == ord("."))).all()
        )

    def _decimals_one_by_one(self, starts: Array, ends: Array) -> Array | int:
        text = self.text.tobytes()
        numbers = np.empty(len(starts))
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            if not _DECIMAL.fullmatch(text, start, end):
                return place
            numbers[place] = float(text[start:end])
            if not np.isfinite(numbers[place]):
                return place
        return numbers
