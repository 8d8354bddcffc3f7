"""The graphs of the suites, pinned by name, seed and checksum, and where they come from.

A graph is looked for as ``NAME.bcsr`` beside ``NAME.json`` in one folder (graphs generated outside,
on which other codes were measured too), then as a file in another (real graphs), and is generated
by :mod:`clgraph.generate` where it can be. A record says which it was: the two generators draw
different graphs of the same kind.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import time
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import Graph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "GRAPHS",
    "SEED",
    "Loaded",
    "Pinned",
    "UnavailableError",
    "checksum",
    "find",
    "read_bcsr",
    "with_weights",
]

SEED = 12345
HEADER_BYTES = 16
LIGHTEST, HEAVIEST = 1, 100


class UnavailableError(Exception):
    """A graph cannot be had here; the message says why."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A graph by name.

    Attributes
    ----------
    generator : str or None
        Function of :mod:`clgraph.generate`; None for a real graph, which must be given as a file.
    arguments : tuple
        What it is called with, besides the seed.
    spec : str
        What the outside generator calls the graph.
    checksums : mapping
        `checksum` by origin ("bcsr", "generated", "file"), where it is known.
    """

    generator: str | None = None
    arguments: tuple[int, ...] = ()
    spec: str = ""
    checksums: Mapping[str, str] = field(default_factory=dict)


def _given(found: str) -> Pinned:
    """Pin a real graph."""
    return Pinned(checksums={"file": found})


GRAPHS: dict[str, Pinned] = {
    "kron16": Pinned("kron", (16, 16), "kron:16,16", {"generated": "74a09d10f507bda5"}),
    "unif17": Pinned("random", (1 << 17, 32), "unif:131072,32", {"generated": "8fbd061345145288"}),
    "rgg16": Pinned("geometric", (1 << 16,), "rgg:65536", {"generated": "97aefaf065e9e537"}),
    "grid500": Pinned("grid2d", (500, 500), "grid2d:500,500", {"generated": "a141874e3e93fa7c"}),
    "road500": Pinned("road", (500, 500), "road:500,500", {"generated": "e1eba4c1f6cab3e0"}),
    "kron20": Pinned("kron", (20, 16), "kron:20,16", {"bcsr": "daaf0cbefadf3daa"}),
    "kron22": Pinned("kron", (22, 16), "kron:22,16", {"bcsr": "856c55af28f72065"}),
    "kron20x64": Pinned("kron", (20, 64), "kron:20,64", {"bcsr": "028f1dbddecde872"}),
    "unif22": Pinned("random", (1 << 22, 32), "unif:4194304,32", {"bcsr": "1407d7877452c122"}),
    "rgg": Pinned("geometric", (1 << 20,), "rgg:1048576", {"bcsr": "a8e0e59ee1a1e0a4"}),
    "mesh": Pinned(None, (), "mesh:1500,1500", {"bcsr": "e1a170a6897a6ea4"}),
    "grid3d": Pinned("grid3d", (160, 160, 160), "grid3d:160,160,160", {"bcsr": "3de14a0d4c9b3d8d"}),
    "grid2d": Pinned("grid2d", (2000, 2000), "grid2d:2000,2000", {"bcsr": "29171075513ddff3"}),
    "road": Pinned("road", (2000, 2000), "road:2000,2000", {"bcsr": "3f6b9a8f66c78e81"}),
    "usa-road-d-ny": _given("beecceb8d22e7576"),
    "usa-road-bay": _given("d1ed4304c61ab3ea"),
    "usa-road-col": _given("8b2420e2d3713d16"),
    "usa-road-fla": _given("8b1c52184685825b"),
    "usa-road-nw": _given("fa6bc1de0af48e24"),
    "soc-slashdot0902": _given("58c05652dfa12a55"),
    "web-notredame": _given("549ee315457193c6"),
    "luxembourg-osm": _given("f04e1a29d4b66b90"),
    "delaunay-n16": _given("8c97c8a01b67ef49"),
    "dblp-2010": _given("08bea527ce3aad25"),
    "email-enron": _given("c929553f8442dd3b"),
    "cit-hepph": _given("aeef91655d53e997"),
    "as-caida20071105": _given("0187a50373f4513e"),
    "ego-facebook": _given("8affae358b0f7e95"),
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A graph in memory and where it came from.

    Attributes
    ----------
    origin : {"bcsr", "file", "generated"}
        Which of the three sources it was.
    load_s : float
        Seconds it took.
    checksum : str
        As `checksum` gives it.
    pinned : bool or None
        Whether it is the very graph that the suite names; None where no checksum is on record.
    weights : str or None
        Where its weights are from, if it has any.
    """

    name: str
    graph: Graph
    origin: str
    load_s: float
    checksum: str
    pinned: bool | None
    weights: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give what a record says of it."""
        known = GRAPHS.get(self.name, Pinned())
        return {
            "name": self.name,
            "n": self.graph.n,
            "m": self.graph.m,
            "directed": self.graph.directed,
            "max_degree": self.graph.max_degree,
            "origin": self.origin,
            "spec": known.spec if self.origin != "file" else None,
            "seed": SEED if self.origin != "file" else None,
            "checksum": self.checksum,
            "pinned": self.pinned,
            "weights": self.weights,
            "load_s": self.load_s,
        }


def checksum(graph: Graph) -> str:
    """First 16 hex digits of the SHA-256 of n, m, indptr (all int64) and indices (int32)."""
    digest = hashlib.sha256(np.array([graph.n, graph.m], "<i8").tobytes())
    heads = "<i4" if graph.n < 1 << 31 else "<i8"
    for array, dtype in ((graph.indptr, "<i8"), (graph.indices, heads)):
        digest.update(np.ascontiguousarray(array, dtype).view(np.uint8).data)
    return digest.hexdigest()[:16]


def find(
    name: str, *, graphs: Path | None = None, data: Path | None = None, weighted: bool = False
) -> Loaded:
    """Load a graph of the suites.

    Parameters
    ----------
    name : str
        Key of `GRAPHS`.
    graphs : Path, optional
        Folder of NAME.bcsr and NAME.json files.
    data : Path, optional
        Folder of real graphs, NAME.npz.xz or NAME with any extension that ``clgraph.read`` knows.
    weighted : bool
        Whether the graph is to have weights: its own, or whole numbers from 1 to 100 that depend on
        the ends of an edge alone. Without, weights are dropped.

    Returns
    -------
    Loaded
        The graph and its origin.

    Raises
    ------
    UnavailableError
        If it is in neither folder and cannot be generated, or its file is damaged.
    """
    began = time.perf_counter()
    graph, origin = _obtain(name, graphs, data)
    own = graph.weights is not None
    if weighted and not own:
        graph = with_weights(graph)
    elif own and not weighted:
        graph = Graph.trusted((graph.indptr, graph.indices, None), directed=graph.directed)
    load_s = time.perf_counter() - began
    found = checksum(graph)
    known = GRAPHS.get(name, Pinned()).checksums.get(origin)
    weights = None if not weighted else "own" if own else f"drawn, {LIGHTEST} to {HEAVIEST}"
    pinned = None if known is None else found == known
    return Loaded(name, graph, origin, load_s, found, pinned, weights)


def with_weights(graph: Graph) -> Graph:
    """Give a graph int32 weights that depend on the two ends of an edge alone, not their order."""
    tails = np.repeat(np.arange(graph.n, dtype=np.uint64), graph.degrees)
    heads = graph.indices.astype(np.uint64)
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    mixed = (low * np.uint64(graph.n) + high) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    spread = (mixed >> np.uint64(33)) % np.uint64(HEAVIEST - LIGHTEST + 1)
    weights = spread.astype(np.int32) + np.int32(LIGHTEST)
    return Graph.trusted((graph.indptr, graph.indices, weights), directed=graph.directed)


def _obtain(name: str, graphs: Path | None, data: Path | None) -> tuple[Graph, str]:
    if graphs is not None and (graphs / f"{name}.bcsr").exists():
        return read_bcsr(graphs / f"{name}.bcsr"), "bcsr"
    found = sorted(data.glob(f"{name}.*")) if data is not None else []
    files = [path for path in found if path.suffix not in {".bcsr", ".json"}]
    if files:
        return _read(files[0]), "file"
    known = GRAPHS.get(name, Pinned())
    if known.generator is None:
        places = [f"{folder}" for folder in (graphs, data) if folder is not None]
        where = f"not in {' or '.join(places)}" if places else "no folder of graphs was given"
        raise UnavailableError(f"{name} is a given graph, not generated here, and {where}.")
    made: Graph = getattr(clgraph.generate, known.generator)(*known.arguments, seed=SEED)
    return made, "generated"


def read_bcsr(path: Path) -> Graph:
    """Read a graph of the outside generator.

    The layout is int64 n, int64 m, int32 offsets [n + 1] (int64 from 2**31 edges on), int32 heads
    [m], int32 weights [m]; NAME.json says whether the graph is directed.

    Parameters
    ----------
    path : Path
        NAME.bcsr; NAME.json lies beside it.

    Returns
    -------
    Graph
        Offsets and heads are checked to be within bounds; rows are taken to be sorted, and an
        undirected graph to be symmetric, as the generator leaves them.

    Raises
    ------
    UnavailableError
        If the size of the file is not what its header says, or its numbers are out of bounds.
    """
    try:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        size = path.stat().st_size
        header = np.fromfile(path, "<i8", 2)
    except (OSError, ValueError) as error:
        raise UnavailableError(f"{path.name} cannot be read: {error}.") from None
    if not isinstance(about, dict) or len(header) < 2:
        raise UnavailableError(f"{path.name} or {path.stem}.json is no description of a graph.")
    n, m = header.tolist()
    wide = m >= 1 << 31
    offset_bytes = (n + 1) * (8 if wide else 4)
    expected = HEADER_BYTES + offset_bytes + 8 * m
    if not (0 <= n < 1 << 31 and m >= 0 and size == expected):
        raise UnavailableError(
            f"{path.name} holds {size} bytes, but its header (n={n}, m={m}) asks for {expected}."
        )
    indptr = np.fromfile(path, "<i8" if wide else "<i4", n + 1, offset=HEADER_BYTES)
    indices = np.fromfile(path, "<i4", m, offset=HEADER_BYTES + offset_bytes)
    inside = not m or bool(indices.view("<u4").max() < n)
    if indptr[0] or indptr[-1] != m or bool((np.diff(indptr) < 0).any()) or not inside:
        raise UnavailableError(f"{path.name} has offsets or heads that are out of bounds.")
    if (about.get("n"), about.get("m")) != (n, m):
        raise UnavailableError(f"{path.stem}.json describes another graph than {path.name}.")
    weights = np.fromfile(path, "<i4", m, offset=HEADER_BYTES + offset_bytes + 4 * m)
    return Graph.trusted((indptr, indices, weights), directed=bool(about.get("directed", True)))


def _read(path: Path) -> Graph:
    try:
        if path.name.endswith(".npz.xz"):
            archive = _arrays(path)
            if "gap" in archive:
                return _from_gaps(archive)
        return clgraph.read(path)
    except (clgraph.ClgraphError, OSError, ValueError, KeyError, EOFError) as error:
        raise UnavailableError(f"{path.name} cannot be read: {error}") from error
    except (lzma.LZMAError, zipfile.BadZipFile) as error:
        raise UnavailableError(f"{path.name} is damaged: {error}") from error


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with (
        lzma.open(path) as file,
        np.load(io.BytesIO(file.read()), allow_pickle=False) as archive,
    ):
        return {name: archive[name] for name in archive.files}


def _from_gaps(stored: Mapping[str, NDArray[Any]]) -> Graph:
    """Decode rows of gaps: the first entry counts from its row, the others from the one before."""
    n, half, directed = int(stored["n"]), bool(stored["half"]), bool(stored["directed"])
    degrees, gaps = stored["deg"].astype(np.int64), stored["gap"].astype(np.int64)
    rows = np.repeat(np.arange(n), degrees)
    running = np.concatenate([[0], np.cumsum(gaps)])
    first = np.cumsum(degrees) - degrees
    heads = rows + running[1:] - np.repeat(running[first], degrees)
    built = clgraph.from_edges(rows, heads, n=n, symmetrize=half)
    if half or directed:
        return built
    return Graph(built.indptr, built.indices, directed=False)
