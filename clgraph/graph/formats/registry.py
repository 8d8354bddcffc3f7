"""Reading and writing graphs in the format that a file's name or head calls for."""

import importlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags, one_of, shown
from clgraph.graph.build import as_graph
from clgraph.graph.formats.files import BYTE_ORDER_MARK, Progress, Source
from clgraph.graph.formats.limits import Limits
from clgraph.graph.formats.writing import written
from clgraph.graph.graph import Graph
from clgraph.progress import Progress as Report
from clgraph.progress import report_progress

__all__ = ["FORMATS", "Format", "format_of", "read", "write"]

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_SNIFFED_BYTES = 4096
_REPORTED_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        What ``format=`` calls it.
    extensions : tuple of str
        Endings of file names that mean it.
    title : str
        What people call it.
    module : str
        Where it is read and written, below ``clgraph.graph.formats``; imported on first use.
    variant : str
        What its functions there have behind their names.
    """

    name: str
    extensions: tuple[str, ...]
    title: str
    module: str
    variant: str = ""

    def read(self, source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
        """Read a graph from an open file."""
        graph: Graph = self._function("read")(source, directed=directed, weighted=weighted)
        return graph

    def write(self, graph: Graph) -> Iterator[bytes]:
        """Give a graph as the pieces of a file."""
        pieces: Iterator[bytes] = self._function("write")(graph)
        return pieces

    def _function(self, does: str) -> Any:
        module = importlib.import_module(f"clgraph.graph.formats.{self.module}")
        return getattr(module, does + self.variant)


FORMATS = {
    entry.name: entry
    for entry in (
        Format("mtx", (".mtx",), "Matrix Market", "mtx"),
        Format("snap", (".txt", ".snap"), "SNAP edge list", "snap"),
        Format("dimacs9", (".gr",), "DIMACS 9 shortest paths", "dimacs9"),
        Format("metis", (".graph", ".metis"), "METIS, DIMACS 10", "metis"),
        Format("koblenz", (".konect",), "Koblenz network collection", "koblenz"),
        Format("edges", (".edges",), "Network Repository", "edges"),
        Format("csv", (".csv", ".tsv"), "table of edges", "csv"),
        Format("npz", (".npz",), "NumPy archive", "npz"),
        Format("el", (".el",), "GAP edge list", "gap", "_el"),
        Format("wel", (".wel",), "GAP weighted edge list", "gap", "_wel"),
        Format("sg", (".sg",), "GAP serialised graph", "gap", "_sg"),
        Format("wsg", (".wsg",), "GAP serialised weighted graph", "gap", "_wsg"),
    )
}


@flags
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the public API calls it so
    directed: bool | None = None,
    weighted: bool | None = None,
    max_vertices: int | None = None,
    max_bytes: int | None = None,
    progress: Report | None = None,
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : str or path-like
        The file; .gz, .bz2, .xz and .zst data is recognised and decompressed on the way.
    format : str, optional
        One of ``FORMATS``; default is what the first bytes or the extension say.
    directed : bool, optional
        Default is what the file says, or its format implies. False reads a list of edges as
        undirected: each line is an edge both ways, unless all of them are listed both ways anyway.
    weighted : bool, optional
        False leaves weights out, True insists on them; default takes them where there are some.
    max_vertices : int, optional
        Most vertices; default allows 4 million, or 16 for each byte of the file.
    max_bytes : int, optional
        Most bytes, after decompression; default allows 64 GiB, and 200 times the size of a
        compressed file.
    progress : callable or bool, optional
        Called as ``progress(done, total, what)`` in bytes of the file; True shows a bar of tqdm.

    Returns
    -------
    Graph
        Ids that count from 1 become 0 to n - 1. Edge lists whose ids leave gaps (SNAP, Network
        Repository, CSV) are renumbered in ascending order and keep the ids in ``labels``. Weights
        are int64, or float64 if one of them has a decimal point.

    Raises
    ------
    GraphFormatError
        As ``file:line: what is wrong``, before anything large is allocated.
    InvalidArgumentError
        If there is no such format or none fits the name.
    OSError
        If the file cannot be opened.
    """
    name = _name(path)
    limits = Limits(
        _limit("max_vertices", max_vertices),
        _limit("max_bytes", max_bytes),
    )
    with Source(name, limits, _reporter(progress)) as source:
        source.check_size()
        chosen = _named(format) if format is not None else _guessed(name, source)
        return chosen.read(source, directed=directed, weighted=weighted)


def format_of(name: str, named: str | None) -> Format:
    """Give the format that a graph is written in.

    Parameters
    ----------
    name : str
        Of the file.
    named : str or None
        The format's own name; None for the one that fits the file's.

    Raises
    ------
    InvalidArgumentError
        If there is none.
    """
    chosen = _by_name(name) if named is None else _named(named)
    if chosen is None:
        raise InvalidArgumentError(_no_format(name))
    return chosen


def write(
    graph: Any,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the public API calls it so
    progress: Report | None = None,
) -> None:
    """Write a graph to a file; reading it back gives the same graph.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        The graph.
    path : str or path-like
        The file, compressed if it ends in .gz, .bz2, .xz or .zst. It appears, or replaces an older
        one, when all is written.
    format : str, optional
        One of ``FORMATS``; default is what the extension says.
    progress : callable or bool, optional
        Called as ``progress(done, done, what)`` with the bytes written so far.

    Raises
    ------
    InvalidArgumentError
        If no format fits the name, or the format cannot hold the graph.
    OSError
        If the file cannot be written.

    Notes
    -----
    Floats are written with as many digits as give the same float64 again. What a format cannot
    say is lost: .el, .sg leave weights out, .el, .wel and .gr do not say undirected graphs and
    .el, .wel not isolated vertices at the end. Labels stay in npz, integer ones also in snap and
    csv.
    """
    name = _name(path)
    checked = as_graph(graph)
    chosen = format_of(name, format)
    report = _reporter(progress)
    pieces = chosen.write(checked)
    first = next(pieces, b"")  # a graph the format cannot hold fails before the file is touched
    done = 0
    with written(name) as stream:
        for piece in itertools.chain([first], pieces):
            for begin in range(0, len(piece), _REPORTED_BYTES):
                part = memoryview(piece)[begin : begin + _REPORTED_BYTES]
                stream.write(part)
                done += len(part)
                if report is not None:
                    report(done, done, f"write {Path(name).name}")


def _limit(name: str, value: int | None) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InvalidArgumentError(f"{name}={shown(value)} must be a positive integer")
    return value


def _named(name: Any) -> Format:
    one_of("format", name, FORMATS)
    return FORMATS[name]


def _by_name(path: str) -> Format | None:
    bare = Path(path)
    if bare.suffix.lower() in _COMPRESSED:
        bare = bare.with_suffix("")
    extension = bare.suffix.lower()
    by_extension = next((f for f in FORMATS.values() if extension in f.extensions), None)
    if by_extension is None and bare.name.startswith("out."):
        return FORMATS["koblenz"]
    return by_extension


def _guessed(path: str, source: Source) -> Format:
    """Format by the head of the file where that is plain, else by its name."""
    start = source.peek(_SNIFFED_BYTES).removeprefix(BYTE_ORDER_MARK)
    if start.lstrip(b"%")[:12].lower() == b"matrixmarket" and start.startswith(b"%"):
        return FORMATS["mtx"]
    if start.startswith(b"PK\x03\x04"):
        return FORMATS["npz"]
    found = _by_name(path)
    if found is not None:
        return found
    lines = [line.split() for line in start.splitlines()[:50] if line.strip()]
    for words in lines:
        if words[0] == b"p" and len(words) == 4:
            return FORMATS["dimacs9"]
        if words[0] == b"%" and words[1:2] and words[1] in (b"sym", b"asym", b"bip"):
            return FORMATS["koblenz"]
        if words[0].startswith(b"#"):
            return FORMATS["snap"]
    raise InvalidArgumentError(_no_format(path))


def _no_format(path: str) -> str:
    endings = " ".join(ending for entry in FORMATS.values() for ending in entry.extensions)
    return f"{path}: the name does not say the format; pass format=, or use one of {endings} out.*"


def _name(path: Any) -> str:
    try:
        name = os.fsdecode(path)
        encoded = os.fsencode(name)
    except (TypeError, UnicodeError):
        raise InvalidArgumentError(f"path={shown(path)} is not the name of a file") from None
    if not encoded or b"\0" in encoded:
        raise InvalidArgumentError(f"path={shown(path)} is not the name of a file")
    return name


def _reporter(progress: Report | None) -> Progress | None:
    return None if progress is None else partial(report_progress, progress)
