"""Edge lists as tables: lines of two vertex ids and, perhaps, a weight."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from clgraph.graph.ahead import in_order
from clgraph.graph.csr import Array, index_dtype
from clgraph.graph.formats import seam
from clgraph.graph.formats.files import Block, Source
from clgraph.graph.formats.seam import Columns, Quick, Rules
from clgraph.graph.formats.tokens import IntegerOverflowError, Tokens, separator_table
from clgraph.graph.growing import GrowingColumns

__all__ = ["EdgeTable", "Layout", "blank_comments", "read_table"]

_MARK = 1  # what the first marker of a separator_table becomes
_NEWLINE = 0x0A


@dataclass(frozen=True, slots=True)
class Layout:
    """What the lines of an edge list look like.

    Attributes
    ----------
    columns : tuple of int
        Allowed numbers of tokens on a line; all lines must have the same.
    base : int
        Least vertex id, 0 or 1; it is subtracted.
    weight_column : int or None
        Which column holds weights, from 0, if there are that many; None ignores weights.
    integer_weights : bool
        Whether weights must be integers.
    comments : bytes
        Characters that make a line a comment where they begin it.
    separators : bytes
        Characters that separate tokens besides white space.
    marker : bytes
        A character that begins every line ("a" of DIMACS) or stands between tokens (a comma).
    leading : bool
        Whether the marker begins the line.
    """

    columns: tuple[int, ...]
    base: int = 0
    weight_column: int | None = 2
    integer_weights: bool = False
    comments: bytes = b"#%"
    separators: bytes = b""
    marker: bytes = b""
    leading: bool = False


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """An edge list as it stands in a file, with ids counted from 0.

    Attributes
    ----------
    src, dst : int32 or int64 arrays [rows]
        The two ends.
    weights : int64 or float64 array [rows], or None
        The weights.
    largest : int
        Largest vertex id; -1 without edges.
    """

    src: Array
    dst: Array
    weights: Array | None
    largest: int

    @property
    def rows(self) -> int:
        """Number of edges listed."""
        return len(self.src)


def read_table(
    source: Source,
    layout: Layout,
    *,
    ids: int | tuple[int, int] | None = None,
    rows: int | None = None,
    what: str = "edges",
) -> EdgeTable:
    """Read the rest of a file as an edge list.

    Parameters
    ----------
    source : Source
        The file, behind its header.
    layout : Layout
        What lines look like.
    ids : int or pair of int, optional
        Number of vertices the header declares, or how many may stand at either end; default is
        whatever the file's size allows.
    rows : int, optional
        Number of edges the header declares.
    what : str
        What the format calls an edge, in the plural.

    Returns
    -------
    EdgeTable
        All edges, in file order.

    Raises
    ------
    GraphFormatError
        For the first line that is not as it should be.
    """
    reader = _TableReader(layout, ids, rows, what)
    found, done_bytes, largest = GrowingColumns(), 0, -1
    with closing(_parts(source, reader)) as read:
        for part, size_bytes in read:
            done_bytes += size_bytes
            found.append(part, done_bytes / source.size_bytes)
            # Here, where a cache still has them, rather than of all in the end.
            largest = max(largest, *(int(ends.max(initial=-1)) for ends in part[:2]))
    if rows is not None and found.rows < rows:
        source.fail(
            f"the file ends after {found.rows} of the {rows} {what} that its header declares"
        )
    return EdgeTable(*found.columns(), largest)


def _parts(source: Source, reader: "_TableReader") -> Generator[tuple[Columns, int], None, None]:
    """Edges and size of block after block: by a quick reader where nothing is odd, else not."""
    readers = seam.quick_readers(source, reader.rules(source))

    def slowly(block: Block) -> Iterator[tuple[Columns, int]]:
        return ((reader.read(part), len(part.data)) for part in block.parts())

    if not readers:
        for block in source.blocks():
            yield from slowly(block)
        return

    def quickly(block: Block) -> tuple[Quick | None, int]:
        tried = (one.read(block) for one in readers)
        quick = next((found for found in tried if found is not None), None)
        lines = None if quick is None else quick.lines
        return quick, block.data.count(b"\n") if lines is None else lines

    blocks = source.blocks(block_bytes=seam.BLOCK_BYTES, numbered=False)
    with closing(in_order(blocks, quickly, seam.threads())) as found:
        for block, (quick, lines) in found:
            source.number(block, lines)
            if quick is not None and reader.accepts(quick.columns, quick.edges):
                yield quick.edges, len(block.data)
            else:
                yield from slowly(block)


def blank_comments(data: bytes, marks: bytes) -> bytes:
    """Replace lines that begin with one of the marks by spaces; their newlines stay."""
    if not any(mark in data for mark in marks):
        return data
    text = np.frombuffer(bytearray(data), np.uint8)
    newlines = np.flatnonzero(text == _NEWLINE)
    begins = np.concatenate([[0], newlines[:-1] + 1])
    comment = np.isin(text[begins], np.frombuffer(marks, np.uint8))
    if not comment.any():
        return data
    text[np.repeat(comment, newlines + 1 - begins) & (text != _NEWLINE)] = 0x20
    return text.tobytes()


class _TableReader:
    """Reads block after block; remembers the number of columns that the first line set."""

    def __init__(
        self, layout: Layout, ids: int | tuple[int, int] | None, rows: int | None, what: str
    ) -> None:
        self.layout = layout
        self.ids = ids if isinstance(ids, tuple) else (ids, ids)
        self.rows = rows
        self.what = what
        self.found = 0
        self.columns = 0
        self.table = separator_table(layout.separators, layout.marker)

    def rules(self, source: Source) -> Rules:
        """Say what lines of a file must look like."""
        layout = self.layout
        most = source.most_vertices()
        first, second = (most if ids is None else ids for ids in self.ids)
        return Rules(
            columns=layout.columns,
            base=layout.base,
            weight_column=layout.weight_column,
            integer_weights=layout.integer_weights,
            separators=layout.separators,
            marker=layout.marker,
            leading=layout.leading,
            ids=(first, second),
        )

    def accepts(self, columns: int, edges: Columns) -> bool:
        """Whether a block fits those before it; what does not, `read` has to refuse."""
        found = self.found + len(edges[0])
        if self.columns not in (0, columns) or (self.rows is not None and found > self.rows):
            return False
        self.columns, self.found = columns, found
        return True

    def read(self, block: Block) -> Columns:
        """Edges of one block."""
        tokens = Tokens.of(blank_comments(block.data, self.layout.comments), self.table)
        begins = self._check_lines(block, tokens)
        if not len(tokens.starts):
            self._refuse_bare_markers(block, tokens)
            none = np.empty(0, np.int32)
            weighted = self._weight_column(self.columns) is not None
            return none, none, np.empty(0, np.int64) if weighted else None
        starts = tokens.starts.reshape(-1, self.columns)
        ends = tokens.ends.reshape(-1, self.columns)
        if self.layout.marker:
            self._check_markers(block, tokens, starts, ends, begins)
        src = self._ids(block, tokens, starts[:, 0], ends[:, 0], self.ids[0])
        dst = self._ids(block, tokens, starts[:, 1], ends[:, 1], self.ids[1])
        self._check_count(block, starts)
        column = self._weight_column(self.columns)
        if column is None:
            return src, dst, None
        return src, dst, self._weights(block, tokens, starts[:, column], ends[:, column])

    def _weight_column(self, columns: int) -> int | None:
        column = self.layout.weight_column
        return column if column is not None and column < columns else None

    def _check_lines(self, block: Block, tokens: Tokens) -> Array:
        """Check the number of tokens on every line; give where the lines that have some begin."""
        starts, ends, newlines = tokens.starts, tokens.ends, tokens.newlines
        begins = np.concatenate([[0], newlines[:-1] + 1])
        k = self.columns
        if k and len(starts) == k * len(newlines):
            first, last = starts[0::k], ends[k - 1 :: k]
            if (first[1:] > newlines[:-1]).all() and (last <= newlines).all():
                return begins
        per_line = tokens.per_line()
        busy = np.flatnonzero(per_line)
        if len(busy) and not k:
            k = self.columns = int(per_line[busy[0]])
        wrong = busy[(per_line[busy] != k) | (k not in self.layout.columns)]
        if len(wrong):
            line = int(wrong[0])
            allowed = " or ".join(map(str, self.layout.columns))
            begin = int(begins[line])
            if k in self.layout.columns:
                allowed = str(k)
            block.fail(
                Tokens.offset(begin),
                f"the line has {per_line[line]} numbers, not {allowed}: {_shown(block, begin)}",
            )
        return begins[busy]

    def _check_markers(
        self, block: Block, tokens: Tokens, starts: Array, ends: Array, begins: Array
    ) -> None:
        """See that every marker stands where it must: at the head of a line or between tokens."""
        places = np.flatnonzero(tokens.text == _MARK)
        sign = self.layout.marker.decode()
        if self.layout.leading:
            gaps, stops = begins, starts[:, 0]
            rule = f"the line does not begin with one {sign!r}"
        else:
            gaps, stops = ends[:, :-1].ravel(), starts[:, 1:].ravel()
            rule = f"numbers are not separated by one {sign!r} each"
        if len(places) == len(stops) and (places >= gaps).all() and (places < stops).all():
            return
        inside = np.searchsorted(places, stops) - np.searchsorted(places, gaps)
        wrong = stops[inside != 1]
        if len(places) > len(stops):
            gap = np.searchsorted(gaps, places, side="right") - 1
            stray = (gap < 0) | (places >= stops[np.maximum(gap, 0)])
            wrong = np.concatenate([wrong, places[stray]])
        if len(wrong):
            first = int(wrong.min())
            line = int(np.searchsorted(tokens.newlines, first))
            begin = int(tokens.newlines[line - 1]) + 1 if line else 0
            block.fail(Tokens.offset(first), f"{rule}: {_shown(block, begin)}")

    def _refuse_bare_markers(self, block: Block, tokens: Tokens) -> None:
        places = np.flatnonzero(tokens.text == _MARK)
        if len(places):
            block.fail(
                Tokens.offset(places[0]), f"the line has no numbers: {_shown(block, places[0])}"
            )

    def _check_count(self, block: Block, starts: Array) -> None:
        self.found += len(starts)
        if self.rows is not None and self.found > self.rows:
            first_extra = len(starts) - (self.found - self.rows)
            block.fail(
                Tokens.offset(starts[first_extra, 0]),
                f"the file goes on after the {self.rows} {self.what} that its header declares",
            )

    def _ids(
        self, block: Block, tokens: Tokens, starts: Array, ends: Array, ids: int | None
    ) -> Array:
        """Numbers below `ids`, counted from 0."""
        within = tokens.others_within(starts, ends)
        if within.any():
            row = int(np.argmax(within > 0))
            self._refuse_id(block, int(starts[row]), int(ends[row]), ids)
        try:
            numbers = tokens.integers(starts, ends)
        except IntegerOverflowError as error:
            row = error.args[0]
            self._refuse_id(block, int(starts[row]), int(ends[row]), ids)
        base = self.layout.base
        most = ids if ids is not None else block.source.most_vertices()
        outside = (numbers < base) | (numbers >= most + base)
        if outside.any():
            row = int(np.argmax(outside))
            self._refuse_id(block, int(starts[row]), int(ends[row]), ids)
        if base:
            numbers -= base
        return numbers.astype(index_dtype(most), copy=False)

    def _refuse_id(self, block: Block, start: int, end: int, ids: int | None) -> None:
        text = _shown(block, start, end)
        whole = block.data[Tokens.offset(start) : Tokens.offset(end)]
        base = self.layout.base
        if not whole.isdigit():
            kind = "is negative" if whole[:1] == b"-" and whole[1:].isdigit() else "is no integer"
            problem = f"vertex id {text} {kind}; ids are integers from {base}"
        elif base and not whole.strip(b"0"):
            problem = f"vertex id {text} is below {base}, where this format begins to count"
        elif ids is not None:
            problem = f"vertex id {text} is beyond the {ids} vertices that the header declares"
        else:
            most = block.source.most_vertices()
            problem = (
                f"vertex id {text} is beyond the {most} allowed for a file of this size; "
                "pass max_vertices= if it is right"
            )
        block.fail(Tokens.offset(start), problem)

    def _weights(self, block: Block, tokens: Tokens, starts: Array, ends: Array) -> Array:
        try:
            numbers: Array | int | None = tokens.signed_integers(starts, ends)
        except IntegerOverflowError as error:
            row = error.args[0]
            text = _shown(block, int(starts[row]), int(ends[row]))
            block.fail(Tokens.offset(starts[row]), f"weight {text} does not fit 64-bit integers")
        if numbers is None:
            numbers = tokens.decimals(starts, ends)
            if self.layout.integer_weights and not isinstance(numbers, int):
                numbers = _first_non_integer(tokens, starts, ends)
        if isinstance(numbers, int):
            text = _shown(block, int(starts[numbers]), int(ends[numbers]))
            kind = "an integer" if self.layout.integer_weights else "a finite number"
            block.fail(Tokens.offset(starts[numbers]), f"weight {text} is not {kind}")
        return numbers


def _first_non_integer(tokens: Tokens, starts: Array, ends: Array) -> int:
    """Place of the first token that is not digits with an optional minus."""
    digits = starts + (tokens.text[starts] == ord("-"))
    return int(np.argmax((tokens.others_within(digits, ends) > 0) | (digits == ends)))


def _shown(block: Block, start: int, end: int | None = None) -> str:
    """Piece of a block for a message: up to the end of the line, and not too long."""
    begin = Tokens.offset(start)
    stop = block.data.find(b"\n", begin) if end is None else Tokens.offset(end)
    piece = block.data[begin : min(stop, begin + 40)]
    return piece.decode("utf-8", "backslashreplace").strip() + ("..." if stop > begin + 40 else "")
