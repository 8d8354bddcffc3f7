"""What PoCL keeps of programs: libraries that were cut off go, before they end the process.

PoCL believes what it finds. A library that a full disk or a crash has cut off is mapped into memory
and called, and the process ends with SIGBUS. Which folder is a program's cannot be seen; but
PoCL stamps it whenever it builds the program or finds it there.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import struct
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.cache import DamagedEntryError, read_private
from clgraph.device.folders import cache_root, private_folder, write_atomically
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform != "win32":
    import resource

__all__ = [
    "check_room",
    "has_room",
    "is_whole_library",
    "pocl_cache_folder",
    "remove_what_is_cut_off",
    "trouble_with",
]

log = logging.getLogger("clgraph")

STAMP = "last_accessed"
# Clocks of file systems go by ticks, and lag behind by one.
TICK_S = 0.05
NAME_BYTES = 200
# What the kernels of one program take there is a tenth of it.
LEAST_ROOM_BYTES = 32 << 20
# Of a file in ELF for 64 bits: where its sections are listed, how long a line is, how many lines.
HEADER_BYTES, PLACE, LENGTHS = 64, ("<Q", 40), ("<HH", 58)


def pocl_cache_folder() -> Path | None:
    """Where PoCL keeps programs; None for a user without a home."""
    chosen = os.environ.get("POCL_CACHE_DIR")
    if chosen is not None:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base, "pocl", "kcache")
    home = os.environ.get("HOME")
    return Path(home, ".cache", "pocl", "kcache") if home else None


def has_room(folder: Path) -> bool:
    """Whether files can grow in a folder, which need not exist, by what a program takes there."""
    if sys.platform == "win32":
        return True
    largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if largest != resource.RLIM_INFINITY and largest < LEAST_ROOM_BYTES:
        return False
    for place in (folder, *folder.absolute().parents):
        with contextlib.suppress(OSError):
            status = os.statvfs(place)
            return status.f_bavail * status.f_frsize >= LEAST_ROOM_BYTES
    return True


def trouble_with(folder: Path) -> str:
    """Say why PoCL should keep nothing in a folder, which is made if it is not there; else ''."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Try it: permissions do not say all of every file system.
        with tempfile.TemporaryFile(dir=folder):
            status = folder.stat()
    except OSError as error:
        return f"it cannot be written to ({error.strerror})"
    # What lies there is called. A user's own group may write in many places.
    if sys.platform != "win32" and (status.st_uid != os.geteuid() or status.st_mode & stat.S_IWOTH):
        return "it belongs to another user or anybody can write to it"
    return "" if has_room(folder) else "the disk is full"


def check_room() -> None:
    """Refuse to have PoCL build where the disk is full: its compiler aborts the whole process.

    Raises
    ------
    KernelBuildError
        If there is little room where PoCL keeps programs.
    """
    folder = pocl_cache_folder()
    if folder is None or has_room(folder):
        return
    raise KernelBuildError(
        f"PoCL keeps kernels in {folder}, where files cannot grow by {LEAST_ROOM_BYTES >> 20} MiB, "
        "and would end this process; make room, or set POCL_CACHE_DIR to a folder elsewhere."
    )


def remove_what_is_cut_off(key: str, since: float) -> None:
    """Remove libraries of a program that are not whole; PoCL links them anew.

    Parameters
    ----------
    key : str
        Name of the program among all.
    since : float
        Time before PoCL was asked to build it, in seconds since 1970.

    Raises
    ------
    KernelBuildError
        If there is one that cannot be removed.

    Notes
    -----
    Some 50 us for each kernel of the program. The first time the program's folder is looked for
    among all, 5 us for each; it is then kept below `clgraph.device.folders.cache_root`.
    """
    root = pocl_cache_folder()
    if root is None or sys.platform != "linux":
        return
    for folder in _folders(root, key, since - TICK_S):
        for library in folder.glob("*/*/*.so"):
            if is_whole_library(library):
                continue
            log.warning("PoCL's kernel cache holds a library that is cut off, %s", library)
            try:
                library.unlink(missing_ok=True)
            except OSError as error:
                raise KernelBuildError(
                    f"PoCL's kernel cache holds {library}, which is cut off and would end this "
                    f"process, and it cannot be removed ({error.strerror}); remove it, or set "
                    "POCL_CACHE_DIR to another folder."
                ) from error


def is_whole_library(path: Path) -> bool:
    """Whether a file is as long as its header says; one that is gone meanwhile is no trouble."""
    try:
        with path.open("rb") as file:
            size, header = os.fstat(file.fileno()).st_size, file.read(HEADER_BYTES)
    except OSError:
        return True
    if len(header) < HEADER_BYTES or not header.startswith(b"\x7fELF"):
        return False
    (place,) = struct.unpack_from(PLACE[0], header, PLACE[1])
    length, count = struct.unpack_from(LENGTHS[0], header, LENGTHS[1])
    return bool(place > 0 and place + length * count <= size)


def _folders(root: Path, key: str, since: float) -> list[Path]:
    """Folders that PoCL has just stamped: the program's, and what others have just built."""
    kept = None
    with contextlib.suppress(OSError, ValueError, DamagedEntryError):
        name = hashlib.sha256(f"{root} {key}".encode("utf-8", "surrogateescape")).hexdigest()
        kept = cache_root() / "pocl" / name
        named = root / read_private(kept, NAME_BYTES).decode("ascii")
        if _is_stamped(named, since):
            return [named]
    found = [folder for folder in _programs(root) if _is_stamped(folder, since)]
    if len(found) == 1 and kept is not None:
        with contextlib.suppress(OSError):
            private_folder(kept.parent)
            write_atomically(kept, found[0].relative_to(root).as_posix().encode("ascii"))
    return found


def _programs(root: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for first in os.scandir(root):
            if len(first.name) == 2 and first.is_dir():
                for second in os.scandir(first):
                    yield Path(second.path)


def _is_stamped(folder: Path, since: float) -> bool:
    with contextlib.suppress(OSError):
        return (folder / STAMP).stat().st_mtime >= since
    return False
