"""Files as a stream of lines and blocks: decompressed, bounded, and able to name a line."""

import io
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn, Self

import numpy as np

from clgraph.device.folders import temporary_file
from clgraph.errors import GraphFormatError
from clgraph.graph.ahead import Ahead
from clgraph.graph.compressed import compression_of, decompressed
from clgraph.graph.csr import Array
from clgraph.graph.formats.limits import CEILING, Limits

__all__ = ["BYTE_ORDER_MARK", "Block", "Progress", "Source"]

Progress = Callable[[int, int, str], Any]

_BLOCK_BYTES = 1 << 20  # measured: 0.25 to 1 MiB is fastest, temporaries then stay in cache
_LINE_BYTES = 1 << 20
_SHORT_LINE = 1 << 10
_LONG_LINE = f"the line is longer than {_LINE_BYTES} bytes"
_PIECE_BYTES = 1 << 24
_AHEAD = 4  # blocks that a thread decompresses before they are asked for
STDIN = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # with which editors of Windows begin text
_KEPT_COMMENTS = 1000  # of the head of a file; formats say what they have to say early
_HEAD_LINES = 10_000  # a head longer than that is no head but an attempt to keep readers busy


@dataclass(slots=True)
class Block:
    """Some whole lines of a file.

    Attributes
    ----------
    data : bytes
        The lines; the last one ends with a newline even if the file does not.
    line : int
        Number of the first line, from 1.
    source : Source
        Where they come from.
    """

    data: bytes
    line: int
    source: "Source"

    def parts(self) -> Iterator["Block"]:
        """Give the lines in blocks of about a mebibyte each, none longer than allowed."""
        begin, line = 0, self.line
        while begin < len(self.data):
            end = self.data.find(b"\n", begin + _BLOCK_BYTES - 1) + 1 or len(self.data)
            part = Block(self.data[begin:end], line, self.source)
            if (place := part.long_line()) is not None:
                part.fail(place, _LONG_LINE)
            yield part
            begin, line = end, line + part.data.count(b"\n")

    def long_line(self) -> int | None:
        """Where the first line begins that is longer than allowed, if any."""
        for inside in range(_LINE_BYTES, len(self.data), _LINE_BYTES):
            begin = self.data.rfind(b"\n", 0, inside) + 1
            if self.data.find(b"\n", inside) + 1 - begin > _LINE_BYTES:
                return begin
        return None

    def fail(self, offset: int, problem: str) -> NoReturn:
        """Raise GraphFormatError for the line that holds the byte at ``offset``."""
        self.source.fail(problem, self.line + self.data.count(b"\n", 0, offset))


@dataclass
class Source:
    """A file being read, decompressed on the fly.

    Attributes
    ----------
    path : str
        Name for messages.
    limits : Limits
        What it may cost.
    progress : callable or None
        Called with bytes done, bytes in all (of the file as it lies on disk), and "read NAME".
    size_bytes : int
        Size on disk.
    line : int
        Number of the line that comes next, from 1.
    """

    path: str
    limits: Limits
    progress: Progress | None = None
    size_bytes: int = field(init=False)
    line: int = field(default=1, init=False)
    # Blocks that were handed out, and whose lines nobody has counted yet.
    _unnumbered: deque[Block] = field(default_factory=deque, init=False, repr=False)

    def __post_init__(self) -> None:
        """Open the file."""
        file = io.FileIO(0, closefd=False) if self.path == STDIN else io.FileIO(self.path)
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file = self._spooled(file)
        self._raw = io.BufferedReader(file)
        try:
            self._begin()
        except BaseException:
            self._raw.close()
            raise

    def _begin(self) -> None:
        """Look at the first bytes, and decide how to read the others."""
        self.size_bytes = os.fstat(self._raw.fileno()).st_size
        self.compression = compression_of(self._raw.peek(8))
        self._restart()
        self._ahead: Ahead[bytes] | None = None
        self._taken = 0
        self._returned = b""
        self._ceiling = self.limits.ceiling(self.size_bytes, compressed=bool(self.compression))

    def _restart(self) -> None:
        """Read from the start of the file on."""
        self._stream: Any
        self._errors: tuple[type[Exception], ...]
        try:
            self._stream, self._errors = decompressed(self._raw, self.compression, self.path)
        except EOFError as error:
            self._damaged(error)

    def _spooled(self, stream: io.FileIO) -> io.FileIO:
        """Copy what cannot be read twice, such as a pipe, to a file without a name."""
        most = self.limits.max_bytes or CEILING
        kept = temporary_file()
        try:
            with stream:
                while piece := stream.read(_PIECE_BYTES):
                    kept.write(piece)
                    if kept.tell() > most:
                        self.fail(
                            f"there are more than {most} bytes; pass max_bytes= if that is right"
                        )
            kept.seek(0)
        except BaseException:
            kept.close()
            raise
        return kept

    def check_size(self) -> None:
        """Refuse an empty file, or one that is larger than allowed as it lies on disk."""
        if not self.size_bytes:
            self.fail("the file is empty", 1)
        if self.size_bytes > self._ceiling and not self.compression:
            self.fail(
                f"the file has {self.size_bytes} bytes, over {self._ceiling}; pass max_bytes="
            )

    def __enter__(self) -> Self:
        """Give the source itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        try:
            if self._ahead is not None:
                self._ahead.close()  # its thread reads from the stream
        finally:
            if self._stream is not self._raw:
                self._stream.close()
            self._raw.close()

    @property
    def possible_bytes(self) -> int:
        """Most bytes that the file can hold, decompressed."""
        return self._ceiling if self.compression else self.size_bytes

    def fail(self, problem: str, line: int | None = None) -> NoReturn:
        """Raise GraphFormatError for a line; default is the last one read, or the first."""
        if line is None:
            line = max(self._lines_ahead() - 1, 1)
        raise GraphFormatError(f"{self.path}:{line}: {problem}")

    def check_vertices(self, n: int, line: int | None = None) -> None:
        """Refuse a number of vertices that such a file can hardly mean."""
        most = self.most_vertices()
        if n > most:
            self.fail(
                f"{n} vertices are more than the {most} allowed for a file of this size; "
                "pass max_vertices= if it is right",
                line,
            )

    def most_vertices(self) -> int:
        """Most vertices that the file may have."""
        return self.limits.vertices(self.possible_bytes)

    def check_rows(self, count: int, row_bytes: int, what: str, line: int | None = None) -> None:
        """Refuse a declared number of lines that the file is too small to hold."""
        if count * row_bytes > self.possible_bytes + row_bytes:
            self.fail(
                f"{count} {what} are declared, but a file of {self.size_bytes} bytes cannot hold "
                "them; it is truncated or the number is wrong",
                line,
            )

    def read(self, count: int) -> bytes:
        """Up to ``count`` decompressed bytes; fewer only at the end of the file."""
        return self._received(partial(self._stream.read, count))

    def _received(self, take: Callable[[], bytes]) -> bytes:
        try:
            piece = take()
        except self._errors as error:
            self._damaged(error)
        self._count(piece)
        return piece

    def read_fully(self, count: int) -> bytes:
        """``count`` bytes, or what there is; memory is taken as the bytes come, not before."""
        pieces = []
        while count > 0 and (piece := self.read(min(count, _PIECE_BYTES))):
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def read_array(self, kind: np.dtype[Any], count: int) -> Array:
        """Numbers as they lie in the file, ``count`` of them or as many as there are.

        What is compressed may not hold what it says, so memory is taken as the bytes come.
        """
        if self.compression:
            data = self.read_fully(kind.itemsize * count)
            return np.frombuffer(data, kind, len(data) // kind.itemsize)
        found = np.empty(min(count, self.rest_bytes(0) // kind.itemsize), kind)
        room, done = found.view(np.uint8).data, 0
        while done < len(room) and (got := self._raw.readinto(room[done : done + _PIECE_BYTES])):
            done += got
        self._taken += done
        return found[: done // kind.itemsize]

    def rest_bytes(self, most: int) -> int:
        """How many bytes there still are, or some number above ``most``."""
        if not self.compression:
            return self.size_bytes - self._raw.tell()
        found = 0
        while found <= most and (piece := self.read(_BLOCK_BYTES)):
            found += len(piece)
        return found

    def seekable(self) -> IO[bytes]:
        """Give the file's bytes, decompressed, to be read in any order."""
        return io.BytesIO(self.read_fully(self._ceiling + 1)) if self.compression else self._raw

    def peek(self, count: int) -> bytes:
        """First bytes of the file, up to the first ``count``; they are read again later."""
        start = self.read(count)
        self._raw.seek(0)
        self._restart()
        self._taken = 0
        return start

    def read_line(self) -> bytes:
        """Next line with its newline; empty at the end of the file."""
        if self._returned:
            text, self._returned = self._returned, b""
        else:
            try:
                text = self._stream.readline(_LINE_BYTES + 1)
            except self._errors as error:
                self._damaged(error)
            self._count(text)
            if self.line == 1:
                text = text.removeprefix(BYTE_ORDER_MARK)
        if len(text) > _LINE_BYTES:
            self.fail(_LONG_LINE, self.line)
        self.line += bool(text)
        return text

    def unread_line(self, text: bytes) -> None:
        """Hand the line just read back, to be read again."""
        self._returned = text
        self.line -= bool(text)

    def header(self, marks: bytes) -> list[str]:
        """Take the comment and blank lines that come next; stop before the first other line."""
        comments: list[str] = []
        last = self.line + _HEAD_LINES
        while text := self.read_line():
            stripped = text.strip()
            if stripped and stripped[0] not in marks:
                self.unread_line(text)
                break
            if self.line > last:
                self.fail(
                    f"there are more than {_HEAD_LINES} comment or blank lines before the data"
                )
            if len(comments) < _KEPT_COMMENTS:
                comments.append(stripped.decode("utf-8", "replace"))
        return comments

    def blocks(
        self,
        longest_line: int | None = _LINE_BYTES,
        block_bytes: int | None = None,
        *,
        numbered: bool = True,
    ) -> Iterator[Block]:
        """Rest of the file in blocks of whole lines, about a mebibyte each by default.

        What is compressed is decompressed ahead, in a thread. Lines of blocks that are not
        `numbered` are counted by whoever takes them, who tells `number` of each in its order.
        """
        count = block_bytes or _BLOCK_BYTES
        take: Callable[[], bytes] = partial(self._whole_lines, count)
        if self.compression:
            self._ahead = Ahead(partial(self._stream.read, count), _AHEAD)
            take = self._ahead.take
        pieces: list[bytes | memoryview] = [self._returned]
        self._returned = b""
        begins = self.line == 1
        while True:
            piece = self._received(take)
            self._report()
            cut = piece.rfind(b"\n") + 1
            if piece and not cut:
                pieces.append(piece)
                if longest_line is not None and sum(map(len, pieces)) > longest_line:
                    self.fail(f"the line is longer than {longest_line} bytes", self._lines_ahead())
                continue
            pieces.append(piece if cut == len(piece) else memoryview(piece)[:cut])
            data = b"".join(filter(None, pieces))  # which copies no single one
            pieces = [piece[cut:]]
            if data:
                data, begins = data.removeprefix(BYTE_ORDER_MARK) if begins else data, False
                data = data if data.endswith(b"\n") else data + b"\n"
                block = Block(data, self.line, self)
                if not numbered:
                    self._unnumbered.append(block)
                yield block
                if numbered:
                    self.line += data.count(b"\n")
            if not piece:
                return

    def _whole_lines(self, count: int) -> bytes:
        """So many bytes or a few less, up to a newline: no line need be put together of two."""
        begin, sure = self._raw.tell(), max(count - _SHORT_LINE, 0)
        self._raw.seek(begin + sure)
        newline = self._raw.read(count - sure).rfind(b"\n")
        self._raw.seek(begin)
        return self._raw.read(sure + newline + 1 if newline >= 0 else count)

    def number(self, block: Block, lines: int) -> None:
        """Say how many lines the first block has that is not numbered; all before it are."""
        self._unnumbered.popleft()
        block.line = self.line
        self.line += lines

    def _lines_ahead(self) -> int:
        """Give the number of the next line that nobody was given."""
        return self.line + sum(block.data.count(b"\n") for block in self._unnumbered)

    def _report(self) -> None:
        if self.progress is not None:
            done = min(self._raw.tell(), self.size_bytes)
            self.progress(done, self.size_bytes, f"read {Path(self.path).name}")

    def _count(self, piece: bytes) -> None:
        self._taken += len(piece)
        if self._taken > self._ceiling:
            kind = f"the {self.compression} file expands" if self.compression else "the file goes"
            self.fail(f"{kind} beyond {self._ceiling} bytes; pass max_bytes= if that is right")

    def _damaged(self, error: Exception) -> NoReturn:
        if self.compression is None:
            raise error
        self.fail(f"the {self.compression} data is damaged or cut off ({error})")
