"""Where clgraph keeps files of its own, and whether such a folder can be trusted."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
import sys
import tempfile
from pathlib import Path
from typing import Literal

__all__ = [
    "NEW",
    "cache_root",
    "is_private",
    "owned_file",
    "private_folder",
    "temporary_file",
    "unnamed_file",
    "write_atomically",
]

# What opens a file that was not there, and no link to another.
NEW = (
    os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def cache_root() -> Path:
    """Folder of everything clgraph caches.

    Returns
    -------
    pathlib.Path
        ``$CLGRAPH_CACHE_DIR`` if set, else ``clgraph`` in the user's cache folder. It need not
        exist.

    Raises
    ------
    OSError
        If the user has no home folder.
    """
    chosen = os.environ.get("CLGRAPH_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    try:
        home = Path.home()
    except RuntimeError as error:
        raise OSError(str(error)) from error
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base.absolute() / "clgraph"


def is_private(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user and nobody else can write to it."""
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def private_folder(path: Path) -> Path:
    """Make a folder that only this user can reach, or check that an existing one is private.

    Parameters
    ----------
    path : pathlib.Path
        The folder; its parents are made where they are missing.

    Returns
    -------
    pathlib.Path
        The same path.

    Raises
    ------
    OSError
        If it cannot be made, is not a folder, belongs to another user, or others can write to it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{path} is not a folder of its own")
    if not is_private(status):
        raise PermissionError(f"{path} belongs to another user or others can write to it")
    return path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that readers see all of it or none, also when several processes write it.

    Parameters
    ----------
    path : pathlib.Path
        The file, in a folder that exists; replaced if it is there. Readable by this user only.
    data : bytes
        Its new contents.

    Raises
    ------
    OSError
        If the folder cannot be written to or the disk is full; nothing is left behind.
    """
    temporary = path.with_name(f".new-{secrets.token_hex(8)}")
    try:
        with owned_file(temporary, os.O_WRONLY | NEW) as file, io.BufferedWriter(file) as stream:
            stream.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def owned_file(
    path: Path, flags: int, mode: int = 0o600, *, access: Literal["rb", "wb", "r+b"] = "wb"
) -> io.FileIO:
    """Open a file as ``os.open`` does, whose descriptor is never without an owner.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    flags, mode : int
        As of ``os.open``.
    access : {"rb", "wb", "r+b"}
        What the flags say, in words.

    Returns
    -------
    io.FileIO
        What closes it, also where Ctrl-C comes next: between its opening and its owner there is no
        place for that.
    """
    return next(map(io.FileIO, map(os.open, (path,), (flags,), (mode,)), (access,)))


def unnamed_file(
    folder: Path, flags: int, mode: int = 0o600, *, access: Literal["wb", "r+b"] = "wb"
) -> io.FileIO | None:
    """Open a new file that no name leads to, so that nothing is left behind, whatever happens.

    Parameters
    ----------
    folder : pathlib.Path
        Whose disk the file is on.
    flags, mode, access
        As of `owned_file`.

    Returns
    -------
    io.FileIO or None
        None where the system or the folder's file system knows no such files.
    """
    unnamed = getattr(os, "O_TMPFILE", None)
    if unnamed is not None:
        with contextlib.suppress(OSError):
            return owned_file(folder, unnamed | flags | os.O_CLOEXEC, mode, access=access)
    return None


def temporary_file() -> io.FileIO:
    """Open a new file to write and to read, which is gone when it is closed."""
    folder = Path(tempfile.gettempdir())
    file = unnamed_file(folder, os.O_RDWR, access="r+b")
    if file is not None:
        return file
    path = folder / f"clgraph-{secrets.token_hex(8)}"
    try:
        return owned_file(path, os.O_RDWR | NEW, access="r+b")
    finally:
        path.unlink(missing_ok=True)
