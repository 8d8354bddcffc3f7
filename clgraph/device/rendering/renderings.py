"""Rendered kernels on disk, found by what they are rendered from.

Rendering a large kernel takes as long as loading its binary takes many times over, and only gives
the text by which the binary is found. The text is therefore kept under a key made of the file's
name, its parameters, and the contents of all kernels, templates and modules of the package: some
parameters are objects whose methods templates call. Where a parameter is of a class from elsewhere
nothing is kept.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import os
import sys
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.device.cache import CachedBinary, named_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["kept_rendering", "rendering_key"]

FOLDER = "renderings"
FOLDER_LIMIT_BYTES = 64 << 20
TEXT_LIMIT_BYTES = 64 << 20
READ = (".py", ".cl", ".mako")
PLAIN = frozenset({type(None), bool, int, float, str, bytes, range})
DEPTH = 12

_texts: dict[str, str] = {}
_lock = threading.Lock()


class _UnknownError(Exception):
    """A parameter of which nobody can say what it is made of."""


def kept_rendering(
    name: str, params: Mapping[str, object], roots: tuple[Path, ...], render: Callable[[], str]
) -> str:
    """Give a rendered kernel: from memory, from disk, or by rendering it.

    Parameters
    ----------
    name : str
        Path of the kernel's file.
    params : mapping
        What it is rendered with.
    roots : tuple of pathlib.Path
        The folders of kernels and templates.
    render : callable
        Renders it.

    Returns
    -------
    str
        The text.
    """
    key = rendering_key(name, params, roots)
    if key is None:
        return render()
    with _lock:
        text = _texts.get(key)
    if text is not None:
        return text
    cache = named_cache(FOLDER, FOLDER_LIMIT_BYTES)
    kept = cache.load(key) if cache else None
    text = _unpacked(kept.binary) if kept else None
    if text is None:
        text = render()
        if cache:
            cache.store(key, CachedBinary(zlib.compress(text.encode(), 1), ""), {"label": name})
    with _lock:
        _texts[key] = text
    return text


def _unpacked(data: bytes) -> str | None:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, TEXT_LIMIT_BYTES).decode()
    except (zlib.error, UnicodeDecodeError):
        return None
    return text if unpacker.eof else None


def rendering_key(name: str, params: Mapping[str, object], roots: tuple[Path, ...]) -> str | None:
    """Give the name under which a rendering is kept; None where a parameter has none.

    Parameters
    ----------
    name, params, roots
        As for `kept_rendering`.

    Returns
    -------
    str or None
        SHA-256, hexadecimal; another one where anything that the text depends on is another.
    """
    try:
        described = _described(params, 0)
    except _UnknownError:
        return None
    return _sha256(repr((name, _contents(roots), sys.version, described)))


def _part(value: object, depth: int) -> object:
    """Give what stands for a part of a parameter: itself, where its text says all about it.

    A plan's kernels have some 600 such numbers and names, which therefore cost no call each.
    """
    return value if type(value) in PLAIN else _described(value, depth)


def _described(value: object, depth: int) -> tuple[object, ...]:  # noqa: PLR0911 - one for each
    """Say what a parameter is made of: tuples of names and of plain values, whose text is a key."""
    if isinstance(value, enum.Enum):
        return ("name", _class_name(type(value)), value.name)
    if isinstance(value, np.generic | np.dtype):
        return ("numpy", str(getattr(value, "dtype", "dtype")), repr(value))
    if isinstance(value, type):
        return ("class", _class_name(value))
    if depth > DEPTH:
        raise _UnknownError
    if isinstance(value, set | frozenset):
        return ("set", *sorted(repr(_part(part, depth + 1)) for part in value))
    if isinstance(value, list | tuple):
        return (_class_name(type(value)), *[_part(part, depth + 1) for part in value])
    if isinstance(value, Mapping):
        return ("mapping", *_described_fields(value, depth))
    kind: Any = type(value)
    return (_class_name(kind), *_described_fields(_fields(value), depth))


def _described_fields(fields: Mapping[Any, object], depth: int) -> list[tuple[object, object]]:
    return [(_part(key, depth + 1), _part(value, depth + 1)) for key, value in fields.items()]


def _fields(value: object) -> dict[str, object]:
    kind: Any = type(value)
    names = _field_names(kind)
    if names is not None:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, SimpleNamespace) or kind.__module__.startswith("clgraph."):
        try:
            return dict(vars(value))
        except TypeError:  # it has slots
            pass
    raise _UnknownError


@functools.lru_cache
def _field_names(kind: type) -> list[str] | None:
    """Give the names of a dataclass's fields; None of other classes."""
    if not dataclasses.is_dataclass(kind):
        return None
    return [field.name for field in dataclasses.fields(kind)]


@functools.lru_cache
def _class_name(kind: type) -> str:
    """Name a class of this package, whose contents are in the key, or of Python; no other."""
    package = kind.__module__.partition(".")[0]
    if package not in {"clgraph", "builtins", "types"} or "<locals>" in kind.__qualname__:
        raise _UnknownError
    return f"{kind.__module__}.{kind.__qualname__}"


@functools.cache
def _contents(roots: tuple[Path, ...]) -> str:
    """Give a checksum of all that kernels are rendered from.

    Reading it takes longer than anything else here, so that the checksum itself is kept under what
    the file system says of the files: no file changes without the time of its last change.
    """
    package = Path(str(clgraph.__file__)).resolve().parent
    entries = {entry.path: entry for root in (package, *roots) for entry in _files(root)}
    files = sorted(entries)
    said = [(path, *_stamp(entries[path])) for path in files]
    key = _sha256(repr(said))
    cache = named_cache(FOLDER, FOLDER_LIMIT_BYTES)
    kept = cache.load(key) if cache else None
    if kept is not None:
        return kept.binary.decode("ascii", "replace")
    digest = hashlib.sha256()
    for path in files:
        data = Path(path).read_bytes()
        place = next(
            Path(path).relative_to(root) for root in (*roots, package) if _below(path, root)
        )
        digest.update(f"{place} {len(data)}\n".encode() + data)
    if cache:
        entry = CachedBinary(digest.hexdigest().encode(), "")
        cache.store(key, entry, {"label": "contents of the package"})
    return digest.hexdigest()


def _files(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            elif entry.name.endswith(READ):
                yield entry


def _stamp(file: os.DirEntry[str]) -> tuple[int, ...]:
    status = file.stat()  # a path of pathlib's takes three times as long, for each of 700 files
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _below(path: str, root: Path) -> bool:
    return Path(path).is_relative_to(root)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
