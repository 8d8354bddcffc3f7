"""Built programs on disk: binaries with a checksum, in a folder only the user can write to."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from clgraph.device.folders import (
    cache_root,
    is_private,
    owned_file,
    private_folder,
    write_atomically,
)

__all__ = ["BinaryCache", "CachedBinary", "DamagedEntryError", "named_cache", "read_private"]

log = logging.getLogger("clgraph")

DESCRIPTION_LIMIT_BYTES = 4 << 20
BINARY_LIMIT_BYTES = 256 << 20
FOLDER_LIMIT_BYTES = 1 << 30
# What the folder holds is looked up again after this part of its limit has been written: the look
# takes longer than writing an entry does as soon as there are hundreds.
LOOKS_PER_LIMIT = 64


@dataclass(frozen=True, slots=True)
class CachedBinary:
    """A built program: the driver's binary, and what its compiler said when it was built."""

    binary: bytes
    build_log: str


class DamagedEntryError(Exception):
    """A cache entry that must not be used."""


class BinaryCache:
    """Built programs by key, in one folder.

    Parameters
    ----------
    folder : pathlib.Path
        Made with mode 0700 when first needed. If it cannot be made, belongs to someone else or
        others can write to it, the cache stays empty and says so once.

    limit_bytes : int, optional
        What it may grow to; default is 1 GiB.

    Notes
    -----
    An entry is ``<key>.json``, which names ``<sha256>.bin`` by the checksum of its
    contents: processes that build the same program at the same time cannot mix their halves.
    Entries that are damaged or belong to another user are never used. When the folder passes its
    limit the oldest half goes; a process looks before its first entry and after every 64th part of
    the limit that it has written.
    """

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        self.folder = folder
        self._limit_bytes = FOLDER_LIMIT_BYTES if limit_bytes is None else limit_bytes
        self._ready: bool | None = None
        # Bytes that may be written before the next look.
        self._unseen_bytes = 0

    def load(self, key: str) -> CachedBinary | None:
        """Give the entry of a key; None if there is none, or, with one log line, a damaged one."""
        if not self._usable():
            return None
        path = self.folder / f"{key}.json"
        try:
            return self._read(path, key)
        except FileNotFoundError as error:
            if Path(error.filename) != path:
                log.warning("program cache entry %s has lost its binary and is rebuilt", path.name)
        except (DamagedEntryError, OSError, ValueError, RecursionError) as error:
            log.warning("program cache entry %s is not used and is rebuilt: %s", path.name, error)
        return None

    def store(self, key: str, entry: CachedBinary, about: dict[str, str]) -> None:
        """Keep a built program; a failure costs one log line and nothing else."""
        if not self._usable():
            return
        digest = hashlib.sha256(entry.binary).hexdigest()
        description = {
            **about,
            "key": key,
            "sha256": digest,
            "size_bytes": len(entry.binary),
            "build_log": entry.build_log,
        }
        try:
            private_folder(self.folder)  # again: it may have been deleted since
            if self._unseen_bytes <= 0:
                self._prune()
                self._unseen_bytes = self._limit_bytes // LOOKS_PER_LIMIT
            text = json.dumps(description, indent=1).encode()
            self._unseen_bytes -= len(entry.binary) + len(text)
            write_atomically(self.folder / f"{digest}.bin", entry.binary)
            write_atomically(self.folder / f"{key}.json", text)
        except OSError as error:
            log.warning("the program cache %s cannot be written to: %s", self.folder, error)
            self._ready = False

    def _usable(self) -> bool:
        if self._ready is None:
            try:
                private_folder(self.folder)
                self._ready = True
            except OSError as error:
                log.warning("programs are not cached on disk: %s", error)
                self._ready = False
        return self._ready

    def _read(self, path: Path, key: str) -> CachedBinary:
        description = json.loads(read_private(path, DESCRIPTION_LIMIT_BYTES))
        if not isinstance(description, dict) or description.get("key") != key:
            raise DamagedEntryError("its description belongs to something else")
        digest, build_log = description.get("sha256"), description.get("build_log")
        if not isinstance(digest, str) or not isinstance(build_log, str) or not digest.isalnum():
            raise DamagedEntryError("its description is incomplete")
        binary = read_private(self.folder / f"{digest}.bin", BINARY_LIMIT_BYTES)
        if hashlib.sha256(binary).hexdigest() != digest:
            raise DamagedEntryError("the checksum of its binary is wrong")
        return CachedBinary(binary, build_log)

    def _prune(self) -> None:
        entries = []
        for file in os.scandir(self.folder):
            # Other processes rename what they have written, and prune as well.
            with contextlib.suppress(FileNotFoundError):
                if file.is_file(follow_symlinks=False):
                    status = file.stat(follow_symlinks=False)
                    entries.append((status.st_mtime, status.st_size, file.path))
        total = sum(size for _, size, _ in entries)
        if total <= self._limit_bytes:
            return
        log.info("the program cache %s has grown to %d bytes; the oldest go", self.folder, total)
        for _, size, name in sorted(entries):
            Path(name).unlink(missing_ok=True)
            total -= size
            if total <= self._limit_bytes // 2:
                return


def read_private(path: Path, limit_bytes: int) -> bytes:
    """Read a file that this user owns and nobody else can write to; links are refused.

    Raises
    ------
    DamagedEntryError
        If it is somebody else's, or larger than `limit_bytes`.
    OSError
        If it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with io.BufferedReader(owned_file(path, flags, access="rb")) as stream:
        status = os.fstat(stream.fileno())
        if not is_private(status):
            raise DamagedEntryError(
                f"{path.name} belongs to another user or others can write to it"
            )
        if status.st_size > limit_bytes:
            raise DamagedEntryError(f"{path.name} is larger than anything clgraph writes")
        return stream.read(limit_bytes)


_caches: dict[Path, BinaryCache] = {}
_caches_lock = threading.Lock()


def named_cache(name: str, limit_bytes: int | None = None) -> BinaryCache | None:
    """Give a cache below ``cache_root()``; None for a user without a home folder."""
    try:
        folder = cache_root() / name
    except OSError as error:
        log.debug("no cache of %s: %s", name, error)
        return None
    with _caches_lock:
        return _caches.setdefault(folder, BinaryCache(folder, limit_bytes))
