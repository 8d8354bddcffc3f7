"""Where clgraph keeps files of its own, and whether such a folder can be trusted."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

__all__ = ["cache_root", "is_private", "private_folder", "write_atomically"]


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
    descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
