"""Who turns text into columns of numbers: SciPy's reader of Matrix Market, or the own tokenizer.

The two give the same arrays. SciPy's, which is fast_matrix_market and uses all processors, reads a
block of plain lines as if it were a matrix. Lines are plain if they are alike but for their digits
and the spelling of their weights. SciPy stops at the first byte that a number cannot have and says
nothing of what follows on the line, so all that is looked at before. A block in which anything is
odd, and so every error, is left to the tokenizer.
"""

import io
from dataclasses import dataclass

import numpy as np

from clgraph.graph.csr import Array, index_dtype
from clgraph.graph.formats.files import Block, Source
from clgraph.graph.formats.tokens import separator_table
from clgraph.graph.modules import module

__all__ = ["BLOCK_BYTES", "Columns", "PlainBlocks", "worth_it"]

Columns = tuple[Array, Array, Array | None]

LEAST_BYTES = 1 << 22  # below, the tokenizer is done before SciPy's reader is imported
BLOCK_BYTES = 1 << 23  # SciPy gives a mebibyte of them to each of its threads
_PIECE_BYTES = 1 << 17  # looked at together: temporaries stay in the cache of a core
_OF_COMPRESSED = 4  # times its size is what compressed text of graphs expands to, at least
_LINES_LOOKED_AT = 100  # for the first that is neither blank nor a comment
_MOST_SPACES = 32  # between two numbers
_MOST_ID = 1 << 53  # from here on float64, as which ids next to decimal numbers come, may be wrong
_MOST_WEIGHT = 1 << 63  # what has no point must be less
_DIGITS = b"0123456789"
_SMALL_E = bytes.maketrans(b"E", b"e")
_ONLY_SPACES = bytes.maketrans(b"\t\r", b"  ")
_SPACE, _PLUS, _MINUS, _ZERO, _E = b" +-0e"


def worth_it(source: Source) -> bool:
    """Whether a file is large enough for SciPy's reader."""
    return source.size_bytes * (_OF_COMPRESSED if source.compression else 1) >= LEAST_BYTES


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is left of a plain line without its digits.

    Attributes
    ----------
    before, behind : bytes
        What stands on either side of the signs, point and exponent of the weight.
    gap : bytes
        What stands between two numbers, one character.
    weighted : bool
        Whether there is a weight.
    """

    before: bytes
    behind: bytes
    gap: bytes
    weighted: bool

    def kind(self, bones: bytes, lines: int) -> str | None:
        """Field of a matrix with such lines, "integer" or "real"; None if one is of other shape.

        Parameters
        ----------
        bones : bytes
            All lines without their digits.
        lines : int
            How many there are.
        """
        alike = (self.before + self.behind) * lines
        if bones == alike:
            return "integer"
        if not self.weighted:
            return None
        if bones.replace(b"-" + self.behind, self.behind) == alike:
            return "integer"
        for mark in (b"e-", b"e+", b"e", b".", b"-"):
            bones = bones.replace(mark + self.behind, self.behind)
        return "real" if bones == alike else None


class PlainBlocks:
    """Reads blocks in which nothing is odd.

    Parameters
    ----------
    separators, comments, marker, leading, base, weight_column
        As in a layout.
    ids : pair of int
        How many vertices there are at either end.
    """

    def __init__(
        self,
        *,
        separators: bytes,
        comments: bytes,
        marker: bytes,
        leading: bool,
        base: int,
        weight_column: int | None,
        ids: tuple[int, int],
    ) -> None:
        self._table = separator_table(separators, marker)
        self._comments = comments
        self._opening = marker + b" " if leading else b""
        gaps = marker if marker and not leading else b" \t" + separators
        self._gaps = [bytes([gap]) for gap in gaps]
        self._base = base
        self._weight_column = weight_column
        self._ids = min(ids[0], _MOST_ID), min(ids[1], _MOST_ID)

    def columns_of(self, block: Block) -> int:
        """Tokens on the first line that has some; 0 if that does not come soon."""
        lines = io.BytesIO(block.data)
        for _ in range(_LINES_LOOKED_AT):
            line = lines.readline()
            if line[:1] not in self._comments or not line:
                words = line.translate(self._table).replace(b"\1", b" ").split()
                if words:
                    return len(words)
        return 0

    def read(self, block: Block, columns: int) -> Columns | None:
        """Edges of a block with so many tokens on a line; None if there are none or any is odd."""
        if block.long_line() is not None:
            return None
        found = self._read(block.data, block.lines, columns)
        if found is None and (data := _with_single_spaces(block.data)) != block.data:
            found = self._read(data, block.lines, columns)
        return found

    def _read(self, data: bytes, lines: int, columns: int) -> Columns | None:
        bones = data.translate(_SMALL_E, _DIGITS)
        shape = self._shape(bones[: bones.find(b"\n") + 1], columns)
        kind = shape.kind(bones, lines) if shape else None
        body = self._without_openings(data, lines)
        if shape is None or kind is None or body is None:
            return None
        # Lines of a sparse matrix have a row and a column, both from 1, and perhaps an entry.
        # What has more numbers, or ids from 0, is read as a dense one, number after number.
        sparse = self._base == 1 and columns == 2 + shape.weighted
        if sparse:
            body = body if shape.gap.isspace() else body.replace(shape.gap, b" ")
            field = kind if shape.weighted else "pattern"
            head = f"coordinate {field} general\n{self._ids[0]} {self._ids[1]} {lines}\n"
        else:
            body = body.replace(shape.gap, b"\n")
            head = f"array {kind} general\n{columns} {lines}\n"
        text = b"%%MatrixMarket matrix " + head.encode() + body
        numbers = np.frombuffer(text, np.uint8)[len(text) - len(body) - 1 :]
        marked = b"-" in bones or b"e" in bones
        if not _begins_right(numbers, kind) or (marked and not _is_marked_right(numbers)):
            return None
        try:
            matrix = module("scipy.io").mmread(io.BytesIO(text))
        except (ValueError, OverflowError):  # what SciPy says of text that it cannot read
            return None
        if sparse:
            src, dst, weights = matrix.row, matrix.col, matrix.data
        else:
            src, dst = matrix[:2] - self._base if self._base else matrix[:2]
            weights = matrix[self._weight_column].copy() if shape.weighted else None
        return self._checked(src, dst, weights if shape.weighted else None, signed=b"-" in bones)

    def _shape(self, line: bytes, columns: int) -> _Shape | None:
        """Shape of the lines of which one is this without its digits; None if it is odd."""
        bare = line.translate(None, b"+-.e")
        place = columns - 1 if self._weight_column is None else self._weight_column
        weighted = self._weight_column is not None and place < columns
        place = min(place, columns - 1)
        for gap in self._gaps:
            for end in (b"\n", b"\r\n"):
                before, behind = self._opening + gap * place, gap * (columns - 1 - place) + end
                if before + behind == bare:
                    return _Shape(before, behind, gap, weighted)
        return None

    def _without_openings(self, data: bytes, lines: int) -> bytes | None:
        """Take from each line the marker that it begins with; None if one does not."""
        if not self._opening:
            return data
        body = (b"\n" + data).replace(b"\n" + self._opening, b"\n")[1:]
        return body if len(body) == len(data) - lines * len(self._opening) else None

    def _checked(
        self, src: Array, dst: Array, weights: Array | None, *, signed: bool
    ) -> Columns | None:
        """Look at the numbers themselves; None if one may not be what stands in the text."""
        for ends, most in zip((src, dst), self._ids, strict=True):
            if not 0 <= ends.min() <= ends.max() < most:
                return None
        if weights is not None:
            if not -_MOST_WEIGHT < weights.min() <= weights.max() < _MOST_WEIGHT:
                return None
            if signed and (weights == 0).any():  # -0.0 as an entry of a dense matrix becomes 0.0
                return None
        first, second = (index_dtype(most) for most in self._ids)
        return src.astype(first, copy=False), dst.astype(second, copy=False), weights


def _with_single_spaces(data: bytes) -> bytes:
    """Replace white space within lines, of any kind but not any length, by single spaces.

    At the ends of lines it is removed.
    """
    data = data.translate(_ONLY_SPACES)
    for _ in range(_MOST_SPACES.bit_length() - 1):
        if b"  " not in data:
            break
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def _begins_right(text: Array, kind: str) -> bool:
    """Whether no number begins with zeros, which count where digits are counted.

    That of a decimal number with a sign is looked at elsewhere.
    """
    behind = _ZERO if kind == "integer" else _SPACE + 1  # bytes below come before a number
    for begin in range(0, len(text) - 2, _PIECE_BYTES):
        piece = text[begin : begin + _PIECE_BYTES + 2]
        zeros = (piece[1:-1] == _ZERO) & (piece[:-2] < behind) & (piece[2:] >= _ZERO)
        if zeros.any():
            return False
    return True


def _is_marked_right(text: Array) -> bool:
    """Whether signs and exponents stand where they should.

    SciPy leaves out what follows a number. That each weight has at most a sign, a point, an e and
    its sign, in this order, is known from the shape of the lines.
    """
    small = text | np.uint8(0x20)
    exponent = small == _E
    places = np.flatnonzero(exponent | (text == _MINUS) | (text == _PLUS))
    exponent = exponent[places]
    first = (text[places - 1] <= _SPACE) & (text[places] == _MINUS)
    second = small[places - 1] == _E
    last = text[places + 1] <= _SPACE
    zeros = first & (text[places + 1] == _ZERO) & (text[places + 2 - last] >= _ZERO)
    return bool((exponent | first | second).all() and not (last | zeros).any())
