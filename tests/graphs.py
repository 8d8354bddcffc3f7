"""Graphs to test on: small awkward shapes, random ones, and real ones with known answers."""

import io
import json
import lzma
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import clgraph.graph as cgg
from clgraph.graph import Graph

DATA = Path(__file__).resolve().parent / "data"
# A larger collection of the same form, used where it is present.
SHARED = Path(os.environ.get("CLGRAPH_TEST_GRAPHS", DATA.parents[2] / "shared" / "data"))

Loader = Callable[[], Graph]


def _edges(n: int, *ends: tuple[int, int], directed: bool = False) -> Graph:
    src, dst = np.array(ends, np.int64).reshape(-1, 2).T
    return cgg.from_edges(src, dst, n=n, symmetrize=not directed)


def _power_law(n: int = 400, seed: int = 7) -> Graph:
    rng = np.random.default_rng(seed)
    ends = (rng.random((2, 8 * n)) ** 4 * n).astype(np.int64)
    return cgg.from_edges(*ends, n=n, symmetrize=True, dedup=True)


def _one_way(n: int = 300, seed: int = 8) -> Graph:
    rng = np.random.default_rng(seed)
    return cgg.from_edges(rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), n=n)


def _hub_beyond_groups() -> Graph:
    """One vertex with 5,000 neighbours, each with one more, and a short way back."""
    leaves = np.arange(1, 5001)
    src = np.concatenate([np.zeros_like(leaves), leaves])
    dst = np.concatenate([leaves, leaves + 5000])
    return cgg.from_edges(src, dst, symmetrize=True)


def _bipartite(left: int, right: int) -> Graph:
    src, dst = (side.ravel() for side in np.indices((left, right)))
    return cgg.from_edges(src, dst + left, symmetrize=True)


SHAPES: dict[str, Graph] = {
    "one-vertex": _edges(1),
    "one-self-loop": _edges(1, (0, 0)),
    "no-edges": _edges(70),
    "one-edge": _edges(2, (0, 1)),
    "path": cgg.generate.path(97),
    "long-path": cgg.generate.path(3000),
    "cycle": _edges(64, *((v, (v + 1) % 64) for v in range(64))),
    "one-way-path": _edges(33, *((v, v + 1) for v in range(32)), directed=True),
    "star": cgg.generate.star(130),
    "hub": _hub_beyond_groups(),
    "tree": _edges(511, *(((v - 1) // 2, v) for v in range(1, 511))),
    "clique": cgg.generate.complete(40),
    "bipartite": _bipartite(17, 60),
    "grid": cgg.generate.grid2d(23, 17),
    "two-components": _edges(40, *((v, v + 1) for v in range(39) if v != 19)),
    "power-law": _power_law(),
    "one-way-random": _one_way(),
    "self-loops": _edges(50, *((v, v) for v in range(50)), *((v, v + 1) for v in range(0, 49, 2))),
    "parallel-edges": _edges(20, *((v, v + 1) for v in range(19) for _ in range(1 + v % 4))),
    "isolated-vertices": _edges(200, *((v, v + 7) for v in range(3, 190, 7))),
    "last-vertex-only": _edges(65, (64, 64), (63, 64)),
}


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    max_vertices: int = 40,
    max_edges: int = 120,
    directed: bool | None = None,
    weighted: bool | None = False,
) -> Graph:
    """Small random graphs with everything that is allowed: loops, repeats, isolated vertices."""
    n = draw(st.integers(1, max_vertices))
    one_way = draw(st.booleans()) if directed is None else directed
    vertex = st.integers(0, n - 1)
    ends = draw(st.lists(st.tuples(vertex, vertex), max_size=max_edges))
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = None
    if has_weights:
        kinds = (
            (np.int32, st.integers(-(2**31), 2**31 - 1)),
            (np.int64, st.integers(-(2**63) + 1, 2**63 - 1)),
            (np.float32, st.floats(width=32, allow_nan=False, allow_infinity=False)),
            (np.float64, st.floats(allow_nan=False, allow_infinity=False)),
        )
        dtype, value = draw(st.sampled_from(kinds))
        weights = np.array(draw(st.lists(value, min_size=len(ends), max_size=len(ends))), dtype)
    src, dst = np.array(ends, np.int64).reshape(-1, 2).T
    return cgg.from_edges(src, dst, weights, n=n, symmetrize=not one_way)


def reference_distances(graph: Graph, source: int) -> np.ndarray:
    """Hop distances by a plain search, int32 with -1 for unreached vertices."""
    indptr, indices = graph.indptr.astype(np.int64), graph.indices
    distances = np.full(graph.n, -1, np.int32)
    distances[source] = 0
    frontier, depth = np.array([source]), 0
    while len(frontier):
        depth += 1
        begins, counts = indptr[frontier], np.diff(indptr)[frontier]
        first = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(begins - first, counts)
        targets = np.unique(indices[places])
        frontier = targets[distances[targets] < 0]
        distances[frontier] = depth
    return distances


def load(path: Path) -> Graph:
    """Read a graph of the collection: an .npz.xz of kind "graph" (data/README.md), or any format.

    Rows are stored as gaps: the first entry of row u as its distance from u, the others as their
    distance from the one before; an undirected graph may hold each edge once ("half").
    """
    if not path.name.endswith(".npz.xz"):
        return cgg.read(path)
    return _decoded(_stored(path))


def _stored(path: Path) -> dict[str, Any]:
    with lzma.open(path) as file, np.load(io.BytesIO(file.read()), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _decoded(stored: dict[str, Any]) -> Graph:
    degrees, gaps = stored["deg"].astype(np.int64), stored["gap"].astype(np.int64)
    rows = np.repeat(np.arange(int(stored["n"])), degrees)
    running = np.concatenate([[0], np.cumsum(gaps)])
    before = running[np.cumsum(degrees) - degrees]
    targets = rows + running[1:] - np.repeat(before, degrees)
    weights = stored.get("weights")
    half = bool(stored["half"])
    built = cgg.from_edges(rows, targets, weights, n=int(stored["n"]), symmetrize=half)
    if half or bool(stored["directed"]):
        return built
    return Graph(built.indptr, built.indices, built.weights, directed=False)


def load_part(path: Path, part: str) -> Graph:
    """Read a graph of what is more than one: either of a pair, or all edges of a stream."""
    stored = _stored(path)
    if part == "stream":
        return cgg.from_edges(stored["src"], stored["dst"], n=int(stored["n"]), dedup=True)
    whole = {name.removeprefix(f"{part}_"): value for name, value in stored.items()}
    return _decoded({"directed": False, "half": True} | whole)


# Of each kind of file: its graphs.
PARTS = {"pair": ("a", "b"), "temporal": ("stream",), "labelled": ("",)}


def facts(folder: Path = DATA) -> dict[str, dict[str, Any]]:
    """Known answers of a collection by file name."""
    found: dict[str, dict[str, Any]] = json.loads((folder / "facts.json").read_text())
    return {name: fact for name, fact in found.items() if fact.get("kind", "graph") == "graph"}


def bundled_graphs() -> list[tuple[str, Loader]]:
    """Real graphs that come with the tests: name and loader of each."""
    return [(name, partial(load, DATA / name)) for name in facts()]


def shared_graphs() -> list[tuple[str, Loader]]:
    """Real graphs of the larger collection; empty where it is absent."""
    if not (SHARED / "facts.json").exists():
        return []
    return [(name, partial(load, SHARED / name)) for name in facts(SHARED)]


def shared_parts() -> list[tuple[str, Loader]]:
    """Graphs of the larger collection that are parts of pairs, streams or labelled ones."""
    path = SHARED / "facts.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    return [
        (f"{name}-{part}", partial(load_part, SHARED / name, part))
        for name, fact in known.items()
        for part in PARTS.get(fact.get("kind"), ())
    ]


def shared_facts() -> dict[str, dict[str, Any]]:
    """Known answers of the larger collection; empty where it is absent."""
    return facts(SHARED) if (SHARED / "facts.json").exists() else {}
