"""Fetching the graphs that `pinned.GRAPHS` has an address for, through pooch."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.graph.modules import module

from .pinned import GRAPHS

if TYPE_CHECKING:
    from .pinned import Pinned

__all__ = ["DownloadError", "fetch"]

TIMEOUT_S = 60


class DownloadError(Exception):
    """A file cannot be fetched; the message says why."""


def fetch(name: str) -> Path:
    """Give the file of a graph, fetched once and then kept in the user's cache folder.

    Parameters
    ----------
    name : str
        Key of `pinned.GRAPHS`.

    Returns
    -------
    Path
        A file that ``clgraph.read`` reads. It is as trustworthy as its address: callers compare the
        checksum of the graph that they read from it.

    Raises
    ------
    DownloadError
        If the graph has no address, pooch is not installed, there is no network, or the archive
        does not hold what it should.
    """
    known = GRAPHS[name]
    if not known.url:
        raise DownloadError(f"{name} is not known to be anywhere")
    try:
        pooch = module("pooch", needed_for="--download", install="clgraph[bench]")
    except ImportError as error:
        raise DownloadError(str(error)) from None
    place = Path(pooch.os_cache("clgraph")) / "graphs"
    archive = f"{name}--{known.url.rpartition('/')[2]}"
    try:
        found = pooch.retrieve(
            known.url,
            known_hash=None,  # the graph has a checksum, which outlives repacking
            fname=archive,
            path=place,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT_S),
        )
    except Exception as error:  # whatever the network and pooch's libraries raise
        raise DownloadError(f"{known.url} cannot be fetched: {_short(error)}") from None
    return _unpacked(Path(found), known) if known.member else Path(found)


def _unpacked(archive: Path, known: Pinned) -> Path:
    """Take one regular file out of an archive; its name in there decides nothing."""
    target = archive.with_name(archive.name.partition("--")[0] + Path(known.member).suffix)
    if target.exists():
        return target
    aside = target.with_name(target.name + ".part")
    try:
        with tarfile.open(archive) as packed:
            inside = packed.extractfile(known.member)
            if inside is None:
                raise DownloadError(f"{known.member} of {known.url} is no file")
            with aside.open("wb") as file:
                while piece := inside.read(1 << 20):
                    file.write(piece)
        aside.replace(target)
    except (tarfile.TarError, KeyError, OSError, EOFError) as error:
        raise DownloadError(f"{known.url} holds no {known.member}: {_short(error)}") from None
    finally:
        aside.unlink(missing_ok=True)
    return target


def _short(error: Any) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
