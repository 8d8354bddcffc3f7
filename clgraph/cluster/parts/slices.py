"""Where the edges of a graph that no rank holds alone come from, a slice for each rank."""

from __future__ import annotations

import mmap
import zipfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import GraphFormatError, InvalidArgumentError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags
from clgraph.graph.sorting import MOST_VERTICES
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["Edges", "FileSlices", "GraphSlices", "Kronecker", "Slices", "slices_of", "turned"]

BLOCK = 1 << 18  # edges that are drawn from one stream of random numbers
HEAD = np.dtype([("directed", "?"), ("edges", "<i8"), ("vertices", "<i8")])
HEAD_BYTES = 17
TEXTS = (".el", ".wel", ".txt", ".edges")
MIXES = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True)
class Edges:
    """Some edges of a graph.

    Attributes
    ----------
    n : int
        Vertices of the whole graph, or at least of what this slice names.
    src, dst : int64 arrays
        Sources and targets.
    weights : array or None
        Of each edge.
    directed : bool
        Whether edges go one way.
    once : bool
        Whether these are drawn edges, of which loops and repeats go and the rest is stored both
        ways.
    """

    n: int
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    weights: NDArray[Any] | None
    directed: bool
    once: bool = False


class Slices(ABC):
    """A graph that is read in parts."""

    @abstractmethod
    def read(self, rank: int, ranks: int) -> Edges:
        """Give the edges that one of so many ranks begins with."""

    @property
    def named(self) -> dict[str, object]:
        """What all ranks must agree on."""
        return {}


class GraphSlices(Slices):
    """A graph that this process holds."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def read(self, rank: int, ranks: int) -> Edges:
        """Give some of its rows."""
        graph = self.graph
        begin, end = graph.n * rank // ranks, graph.n * (rank + 1) // ranks
        indptr = np.asarray(graph.indptr[begin : end + 1], np.int64)
        return _of_rows(
            *(graph.n, begin, indptr - indptr[0]),
            np.asarray(graph.indices[indptr[0] : indptr[-1]]),
            None if graph.weights is None else np.asarray(graph.weights[indptr[0] : indptr[-1]]),
            directed=graph.directed,
        )

    @property
    def named(self) -> dict[str, object]:
        """Sizes of the graph."""
        return {"n": self.graph.n, "m": self.graph.m, "directed": self.graph.directed}


def _of_rows(
    n: int,
    begin: int,
    indptr: NDArray[np.int64],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    *,
    directed: bool,
) -> Edges:
    sources = np.repeat(np.arange(begin, begin + indptr.size - 1, dtype=np.int64), np.diff(indptr))
    return Edges(n, sources, targets.astype(np.int64), weights, directed)


class FileSlices(Slices):
    """A file of which every rank reads a part: ``.sg``, ``.wsg``, ``.npz`` or lists of edges.

    Parameters
    ----------
    path : path-like
        Of the file; lists (``.el``, ``.wel``, ``.txt``, ``.edges``) have two or three numbers a
        line, ids from 0, and comments that begin with ``#``.
    directed : bool, optional
        For lists: whether an edge goes one way; False stores each both ways. Default is True.
    """

    @flags
    def __init__(self, path: str | Path, *, directed: bool | None = None) -> None:
        self.path = Path(path)
        self.directed = directed
        kinds = {".sg": self._serialised, ".wsg": self._serialised, ".npz": self._archive}
        kinds |= dict.fromkeys(TEXTS, self._list)
        if self.path.suffix not in kinds:
            raise InvalidArgumentError(
                f"{self.path} cannot be read in slices; convert it to one of {', '.join(kinds)}."
            )
        self._read = kinds[self.path.suffix]

    @property
    def named(self) -> dict[str, object]:
        """The name and size of the file, wherever a host has it."""
        size = self.path.stat().st_size if self.path.exists() else None
        return {"file": self.path.name, "bytes": size, "directed": self.directed}

    def read(self, rank: int, ranks: int) -> Edges:
        """Read the rows, or the lines, of one rank."""
        try:
            edges = self._read(rank, ranks)
        except (ValueError, OverflowError, OSError, KeyError, zipfile.BadZipFile) as error:
            if isinstance(error, (GraphFormatError, FileNotFoundError)):
                raise
            raise GraphFormatError(f"{self.path}:1: {error}") from error
        if edges.n >= MOST_VERTICES:
            raise GraphFormatError(
                f"{self.path}:1: {edges.n} vertices; ids are from 0, and below {MOST_VERTICES}"
            )
        for ends in (edges.src, edges.dst):
            if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < edges.n:
                raise GraphFormatError(f"{self.path}:1: an edge leaves the {edges.n} vertices")
        return edges

    def _serialised(self, rank: int, ranks: int) -> Edges:
        weighted = self.path.suffix == ".wsg"
        size = self.path.stat().st_size
        head = np.fromfile(self.path, HEAD, 1)
        if not head.size:
            raise ValueError("the file ends within its head")
        directed, m, n = head[0].item()
        entry = np.dtype([("v", "<i4"), ("w", "<i4")] if weighted else [("v", "<i4")])
        if n < 0 or m < 0 or HEAD_BYTES + 8 * (n + 1) + entry.itemsize * m > size:
            raise ValueError(f"{n} vertices and {m} edges are declared, but the file is shorter")
        begin, end = n * rank // ranks, n * (rank + 1) // ranks
        offsets = np.fromfile(self.path, "<i8", end - begin + 1, offset=HEAD_BYTES + 8 * begin)
        _check_rising(offsets, m, rank, ranks)
        first = HEAD_BYTES + 8 * (n + 1) + entry.itemsize * int(offsets[0])
        pairs = np.fromfile(self.path, entry, int(offsets[-1] - offsets[0]), offset=first)
        weights = pairs["w"].astype(np.int32) if weighted else None
        return _of_rows(n, begin, offsets - offsets[0], pairs["v"], weights, directed=directed)

    def _archive(self, rank: int, ranks: int) -> Edges:
        with zipfile.ZipFile(self.path) as archive:
            names = {Path(name).stem for name in archive.namelist()}
            n = _member(archive, "indptr", 0, 0)[1] - 1
            if n < 0:
                raise ValueError("indptr is empty")
            begin, end = n * rank // ranks, n * (rank + 1) // ranks
            offsets, _ = _member(archive, "indptr", begin, end + 1)
            if offsets.dtype.kind not in "iu":
                raise ValueError(f"indptr is {offsets.dtype}, not integers")
            offsets = offsets.astype(np.int64)
            first, last = int(offsets[0]), int(offsets[-1])
            targets, m = _member(archive, "indices", first, last)
            _check_rising(offsets, m, rank, ranks)
            if targets.dtype.kind not in "iu":
                raise ValueError(f"indices are {targets.dtype}, not integers")
            name = next((name for name in ("weights", "data") if name in names), None)
            weights = _member(archive, name, first, last)[0] if name else None
            directed = True
            if "directed" in names:
                directed = bool(_member(archive, "directed", 0, 1)[0].any())
        return _of_rows(n, begin, offsets - first, targets, weights, directed=directed)

    def _list(self, rank: int, ranks: int) -> Edges:
        size = self.path.stat().st_size
        begin, end = size * rank // ranks, size * (rank + 1) // ranks
        if begin == end:
            lines: list[bytes] = []
        else:
            with (
                self.path.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
            ):
                # A line belongs to the rank in whose part it begins.
                first = 0 if begin == 0 else _line_after(text, begin, size)
                last = size if end == size else _line_after(text, end, size)
                lines = text[first:last].splitlines()
        kept = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
        words = [line.split() for line in kept]
        columns = 3 if self.path.suffix == ".wel" else 2
        if any(len(row) < columns for row in words):
            raise ValueError(f"a line has fewer than {columns} numbers")
        table = np.array([row[:2] for row in words], np.int64).reshape(-1, 2)
        src, dst = table[:, 0], table[:, 1]
        weights = None
        if columns == 3:
            weights = np.array([float(row[2]) for row in words], np.float64)
        n = int(table.max(initial=-1)) + 1
        directed = True if self.directed is None else self.directed
        if not directed:
            straight = src != dst
            src, dst = (
                np.concatenate([src, dst[straight]]),
                np.concatenate([dst, src[straight]]),
            )
            if weights is not None:
                weights = np.concatenate([weights, weights[straight]])
        return Edges(n, src, dst, weights, directed)


def _line_after(text: mmap.mmap, place: int, size: int) -> int:
    if text[place - 1 : place] == b"\n":
        return place
    found = text.find(b"\n", place)
    return size if found < 0 else found + 1


def _check_rising(offsets: NDArray[Any], m: int, rank: int, ranks: int) -> None:
    """Check the offsets of a rank's rows; those of the first begin, those of the last end all."""
    ends = (rank > 0 or offsets[0] == 0) and (rank < ranks - 1 or offsets[-1] == m)
    if (np.diff(offsets) < 0).any() or not 0 <= offsets[0] <= offsets[-1] <= m or not ends:
        raise ValueError(f"the rows' offsets do not rise from 0 to the {m} edges")


def _member(archive: zipfile.ZipFile, name: str, begin: int, end: int) -> tuple[NDArray[Any], int]:
    """Read some elements of an array in an archive, stored or deflated; and give its length."""
    with archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
        if dtype.hasobject or len(shape) > 1:
            raise ValueError(f"{name} is no plain array of numbers")
        count = shape[0] if shape else 1
        if not 0 <= begin <= end <= count:
            raise ValueError(f"{name} has {count} elements, not {end}")
        file.seek(begin * dtype.itemsize, 1)
        data = file.read((end - begin) * dtype.itemsize)
    return np.frombuffer(data, dtype), count


class Kronecker(Slices):
    """An undirected Kronecker graph of the Graph500 kind, of which each rank draws a part.

    Parameters
    ----------
    scale : int
        The graph has 2**scale vertices.
    edge_factor : int
        Edges drawn per vertex; loops and repeats are dropped.
    seed : int
        Of the random numbers.

    Notes
    -----
    The same graph for any number of ranks: edges are drawn in blocks, each with a stream of random
    numbers of its own, and ids are mixed by a bijection that needs no table. It is another graph
    than that of `clgraph.generate.kron`, which draws them one after the other.
    """

    def __init__(self, scale: int, edge_factor: int = 16, *, seed: int = 0) -> None:
        if not 0 <= scale <= 31 or edge_factor < 0 or seed < 0:
            raise InvalidArgumentError(
                f"scale={scale}, edge_factor={edge_factor}, seed={seed}: a scale is from 0 to 31, "
                "the others are not negative."
            )
        self.scale, self.edge_factor, self.seed = scale, edge_factor, seed

    @property
    def named(self) -> dict[str, object]:
        """The parameters."""
        return {"scale": self.scale, "edge_factor": self.edge_factor, "seed": self.seed}

    def read(self, rank: int, ranks: int) -> Edges:
        """Draw the edges of one rank."""
        n = 1 << self.scale
        m = n * self.edge_factor
        blocks = -(-m // BLOCK)
        drawn = [
            self._block(block, min(BLOCK, m - block * BLOCK))
            for block in range(blocks * rank // ranks, blocks * (rank + 1) // ranks)
        ]
        none = np.zeros(0, np.int64)
        src = np.concatenate([none, *(ends[0] for ends in drawn)])
        dst = np.concatenate([none, *(ends[1] for ends in drawn)])
        return Edges(n, src, dst, None, directed=False, once=True)

    def _block(self, block: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rng = seeded([self.seed, block])
        src, dst = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for _ in range(self.scale):
            draw = rng.random(count, np.float32)
            low, corner = draw >= 0.76, draw >= 0.95
            right = draw >= 0.57
            src = src << 1 | low
            dst = dst << 1 | (right ^ low ^ corner)
        return self._mixed(src), self._mixed(dst)

    def _mixed(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give vertices other numbers below 2**scale, each its own."""
        bits = self.scale
        if bits < 2:
            return ids
        mask = np.uint64((1 << bits) - 1)
        shift = np.uint64(bits - bits // 2)
        x = ids.astype(np.uint64) + np.uint64(self.seed % (1 << bits))
        x &= mask
        for mix in MIXES:
            x ^= x >> shift
            x = x * (mix | np.uint64(1)) & mask
        return (x ^ x >> shift).astype(np.int64)


class _Reversed(Slices):
    """A graph with every edge turned round."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices

    def read(self, rank: int, ranks: int) -> Edges:
        """Give the edges of a rank."""
        edges = self._slices.read(rank, ranks)
        return replace(edges, src=edges.dst, dst=edges.src)

    @property
    def named(self) -> dict[str, object]:
        """What the graph is known by."""
        return self._slices.named


def turned(slices: Slices) -> Slices:
    """Give a graph with every edge turned round."""
    if isinstance(slices, GraphSlices):
        return GraphSlices(slices.graph.transpose())
    return _Reversed(slices)


def slices_of(graph: Any) -> Slices:
    """Give a graph, matrix, path or drawn graph as slices."""
    if isinstance(graph, Slices):
        return graph
    if isinstance(graph, (str, Path)):
        return FileSlices(graph)
    return GraphSlices(as_graph(graph))
