"""Whether a file of zstd frames is whole, which the library that decompresses them does not say.

Its stream ends where the file does, within a frame too, and what is missing looks like the end.
"""

from __future__ import annotations

from typing import IO

__all__ = ["check_whole"]

_FRAME = 0xFD2FB528
_SKIPPED = range(0x184D2A50, 0x184D2A60)
_RUN = 1  # type of a block that repeats one byte
_NAME_BYTES = (0, 1, 2, 4)  # of a dictionary
_SIZE_BYTES = (0, 2, 4, 8)


def check_whole(file: IO[bytes]) -> None:
    """Go from head to head of the blocks of each frame, and back to the start.

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
