"""Files that appear whole or not at all, whatever happens meanwhile."""

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from clgraph.device.folders import NEW, owned_file, unnamed_file
from clgraph.graph.modules import module

__all__ = ["Writer", "write_whole", "written"]

# A compressor takes some 50 ms for as much, and Ctrl-C waits for it.
_SLICE_BYTES = 1 << 16
# What waits for the disk is never more, so that the last wait, which is deaf, stays short.
_SYNC_BYTES = 1 << 25


class Writer:
    """A file that is being written, piece by piece.

    Parameters
    ----------
    stream : binary file
        What compresses, or `file` itself.
    file : binary file
        What the bytes end up in.
    sync : bool
        Whether there is a disk to wait for.
    """

    def __init__(self, stream: Any, file: BinaryIO, *, sync: bool) -> None:
        self._stream, self._file, self._sync = stream, file, sync
        self._unsynced = 0

    def write(self, piece: bytes | memoryview) -> None:
        """Write bytes, answering Ctrl-C meanwhile."""
        view = memoryview(piece).cast("B")
        for first in range(0, len(view), _SLICE_BYTES):
            part = view[first : first + _SLICE_BYTES]
            self._stream.write(part)
            self._unsynced += len(part)
            if self._unsynced >= _SYNC_BYTES:
                self._to_disk()

    def finish(self) -> None:
        """Have everything on the disk."""
        if self._stream is not self._file:
            self._stream.close()
        self._to_disk()

    def give_up(self) -> None:
        """Close what compresses, which would complain later that its file is closed."""
        if self._stream is not self._file:
            with contextlib.suppress(Exception):
                self._stream.close()

    def _to_disk(self) -> None:
        self._unsynced = 0
        self._file.flush()
        if self._sync:
            os.fsync(self._file.fileno())


@contextlib.contextmanager
def written(path: str | os.PathLike[str], *, compress: bool = True) -> Iterator[Writer]:
    """Open a file to write bytes to, compressed as its last extension says.

    Parameters
    ----------
    path : str or path-like
        The file. A link is followed; a device or a pipe is written to directly.
    compress : bool
        Whether an extension such as ``.gz`` is looked at.

    Yields
    ------
    Writer
        What to write to.

    Raises
    ------
    OSError
        If the file cannot be written; what was there before is still there then.

    Notes
    -----
    Bytes go to a file of no name where the system has such, so that not even a killed process
    leaves something behind, else to one beside the target whose name nobody can foresee. When
    everything is on the disk it takes the target's name, and the mode of the file that it replaces.
    """
    given = Path(path)
    target = Path(os.path.realpath(given)) if given.is_symlink() else given
    if target.is_symlink():  # of links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(given))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    extension = target.suffix.lower() if compress else ""
    if target.exists() and not target.is_file():
        with target.open("wb") as file, _writing(file, extension, given, sync=False) as writer:
            yield writer
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    # One list, so that whatever is interrupted, what has a name is known by it.
    beside: list[Path] = []
    try:
        with io.BufferedWriter(_opened(target, mode, beside)) as whole:
            with _writing(whole, extension, given, sync=True) as writer:
                yield writer
            _name(whole.fileno(), target, beside)
            beside[-1].replace(target)
        _sync_folder(target.parent)
    finally:
        for part in beside:
            part.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file as `written` does, in one go; texts in UTF-8, whatever stands in them."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    with written(path, compress=False) as file:
        file.write(data)


@contextlib.contextmanager
def _writing(file: BinaryIO, extension: str, path: Path, *, sync: bool) -> Iterator[Writer]:
    writer = Writer(_compressing(file, extension, path), file, sync=sync)
    try:
        yield writer
        writer.finish()
    except BaseException:
        writer.give_up()
        raise


def _opened(target: Path, mode: int | None, beside: list[Path]) -> io.FileIO:
    """Open a new file in the target's folder, if possible one without a name."""
    # Of a new file the process's mask decides; of an old one its mode, once there is something.
    first_mode = 0o666 if mode is None else 0o600
    file = None
    if Path("/proc/self/fd").is_dir():  # by which it gets its name
        file = unnamed_file(target.parent, os.O_WRONLY, first_mode)
    if file is None:
        beside.append(_unforeseen(target))
        file = owned_file(beside[-1], os.O_WRONLY | NEW, first_mode)
    if mode is not None and hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):  # some file systems have no modes
            os.fchmod(file.fileno(), mode)
    return file


def _name(descriptor: int, target: Path, beside: list[Path]) -> None:
    """Give the file a name beside the target, if it has none."""
    if beside:
        return
    beside.append(_unforeseen(target))
    # The one way that needs no privilege. Python follows links only if it is given a folder, which
    # the path, being absolute, does not need.
    os.link(f"/proc/self/fd/{descriptor}", beside[-1], src_dir_fd=descriptor, follow_symlinks=True)


def _unforeseen(target: Path) -> Path:
    # As long as names may be: 255 bytes, of which a name of the target's own takes any number.
    start = os.fsdecode(os.fsencode(target.name)[:200])
    return target.with_name(f".{start}.{secrets.token_hex(8)}.part")


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # the file is there; only a crash of the system could tell
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _compressing(file: BinaryIO, extension: str, path: Path) -> Any:
    if extension == ".gz":
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
    if extension == ".bz2":
        return bz2.BZ2File(file, "wb")
    if extension == ".xz":
        return lzma.LZMAFile(file, "wb")
    if extension == ".zst":
        zstandard = module("zstandard", needed_for=f"writing {path}")
        return zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    return file
