"""Compressed files: told by their first bytes, and read as what they expand to."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import IO, Any

from clgraph.graph.modules import module

__all__ = ["compression_of", "decompressed"]

# What those raise whose data is damaged.
_DAMAGED: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, lzma.LZMAError)

_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_READERS: dict[str | None, Any] = {
    "gz": lambda file: gzip.GzipFile(fileobj=file),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    None: lambda file: file,
}
_FRAME = 0xFD2FB528
_SKIPPED = range(0x184D2A50, 0x184D2A60)
_RUN = 1  # type of a block that repeats one byte
_NAME_BYTES = (0, 1, 2, 4)  # of a dictionary
_SIZE_BYTES = (0, 2, 4, 8)


def compression_of(start: bytes) -> str | None:
    """Tell a compression by the first bytes of a file; None for none."""
    return next((kind for mark, kind in _MAGIC.items() if start.startswith(mark)), None)


def decompressed(
    file: io.BufferedReader[Any], compression: str | None, path: str
) -> tuple[Any, tuple[type[Exception], ...]]:
    """Read a file as what it expands to.

    Parameters
    ----------
    file : io.BufferedReader
        At its start.
    compression : str or None
        See `compression_of`.
    path : str
        Its name, for messages.

    Returns
    -------
    stream, errors
        What to read from, and what that raises where data is damaged.

    Raises
    ------
    EOFError
        If a file of zstd ends within a frame.
    """
    if compression != "zst":
        return _READERS[compression](file), _DAMAGED
    zstandard = module("zstandard", needed_for=f"reading {path}")
    _check_whole(file)
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        file, read_across_frames=True, closefd=False
    )
    return io.BufferedReader(stream), (*_DAMAGED, zstandard.ZstdError)


def _check_whole(file: IO[bytes]) -> None:
    """Go from head to head of the blocks of each frame, and back to the start.

    The library's stream ends where the file does, within a frame too: what is missing looks like
    the end.

    Raises
    ------
    EOFError
        If the file ends within a frame.
    """
    size = file.seek(0, 2)
    end = file.seek(0)
    while end < size:
        magic = _number(file, 4)
        if magic in _SKIPPED:
            end = file.seek(_number(file, 4), 1)
        elif magic == _FRAME:
            end = _end_of_frame(file)
        else:
            break  # no frame at all: an error of the library's
    if end > size:
        raise EOFError("the last frame is cut off")
    file.seek(0)


def _end_of_frame(file: IO[bytes]) -> int:
    """Give where the frame ends whose mark was read."""
    flags = _number(file, 1)
    single = flags >> 5 & 1
    sizes = _SIZE_BYTES[flags >> 6] or single
    file.seek((not single) + _NAME_BYTES[flags & 3] + sizes, 1)
    last = 0
    while not last:
        head = _number(file, 3)
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        file.seek(1 if kind == _RUN else length, 1)
    return file.seek(4 * (flags >> 2 & 1), 1)


def _number(file: IO[bytes], count: int) -> int:
    data = file.read(count)
    if len(data) < count:
        raise EOFError("the last frame is cut off")
    return int.from_bytes(data, "little")
