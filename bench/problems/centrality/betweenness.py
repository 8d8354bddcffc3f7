"""Betweenness centrality as the GAP suite asks for it: from four sources at a time."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.centrality.sums import simple, vertex_sums
from clgraph.device.rendering.sources import source_folders

from ...runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ...runner.graphs import Loaded
    from ...runner.records import Record

__all__ = ["PROBLEM", "Betweenness"]

SOURCES = 4  # of a trial
TRIALS = 16


def rows_of(
    graph: Graph, vertices: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the edges out of some vertices: where each begins and where it ends."""
    starts = graph.indptr[vertices].astype(np.int64)
    degrees = graph.indptr[vertices + 1] - starts
    starts -= np.cumsum(degrees) - degrees
    places = np.repeat(starts, degrees) + np.arange(degrees.sum())
    return np.repeat(vertices, degrees), graph.indices[places]


def brandes(graph: Graph, sources: Sequence[int]) -> NDArray[np.float64]:
    """Count dependencies level by level with NumPy.

    Parameters
    ----------
    graph : Graph
        Weights are ignored.
    sources : sequence of int
        Where searches begin.

    Notes
    -----
    Of paths logarithms are kept: across a grid there are more than a float64 holds, and beside its
    edges only one.
    """
    with ThreadPoolExecutor() as pool:  # NumPy lets go of the interpreter meanwhile
        return sum(pool.map(partial(_dependencies, graph), sources), np.zeros(graph.n))


def _dependencies(graph: Graph, source: int) -> NDArray[np.float64]:
    """Count what depends on each vertex along shortest paths from one source."""
    level, paths = np.full(graph.n, -1, np.int32), np.full(graph.n, -np.inf)
    steps: list[tuple[NDArray[Any], NDArray[Any]]] = []
    place = np.empty(graph.n, np.int64)
    frontier = np.array([source], np.int64)
    level[source] = paths[source] = 0
    while frontier.size:
        begins, ends = rows_of(graph, frontier)
        fresh = ends[level[ends] < 0]
        level[fresh] = len(steps) + 1
        tight = level[ends] == len(steps) + 1
        begins, ends = begins[tight], ends[tight]
        place[fresh] = np.arange(fresh.size)
        frontier = fresh[place[fresh] == np.arange(fresh.size)]  # each vertex once
        place[frontier] = np.arange(frontier.size)
        terms, slots = paths[begins], place[ends]
        most = np.full(frontier.size, -np.inf)
        np.maximum.at(most, slots, terms)
        sums = np.bincount(slots, np.exp(terms - most[slots]), frontier.size)
        paths[frontier] = most + np.log(sums)
        steps.append((begins, ends))
    owed = np.zeros(graph.n)
    for begins, ends in reversed(steps):
        shares = np.exp(paths[begins] - paths[ends])
        np.add.at(owed, begins, shares * (1 + owed[ends]))
    owed[source] = 0.0
    return owed


class Betweenness(Problem):
    """Sums of betweenness from four sources, not scaled; in single precision where it must be."""

    kind = "betweenness"
    from_sources = False
    result = "scores"

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = simple(loaded.graph)
        able = np.flatnonzero(self.graph.degrees)
        rng = np.random.default_rng(TRIALS)
        self._drawn = rng.choice(able, (TRIALS, SOURCES)).astype(np.int64)
        self._real = np.float64 if device.traits.fp64 else np.float32

    def run(self, given: int) -> Any:
        """Search from the four sources of a trial."""
        began = time.perf_counter()
        sources = np.unique(self._drawn[given])
        scores = vertex_sums(self.graph, sources, dtype=self._real, device=self.device)
        total_ms = 1e3 * (time.perf_counter() - began)
        return SimpleNamespace(scores=scores, total_ms=total_ms)

    def times(self, result: Any) -> tuple[float, float]:
        """Give the host's time twice: the call reports no other."""
        return result.total_ms, result.total_ms

    def mode(self, result: Any) -> str | None:  # noqa: ARG002 (the call reports none)
        """Report nothing."""
        return None

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count the edges that searches look at, there and back."""
        return {"edges": 2 * len(np.unique(self._drawn[given])) * self.graph.m}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all scores with those by NumPy."""
        for given in givens:
            expected = brandes(self.graph, np.unique(self._drawn[given]).tolist())
            found = np.asarray(self.values(self.run(given)), np.float64)
            refuse_differences(found, expected, what="scores", against="NumPy")
        return {"against": "numpy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each edge read once there and once back, and scores written."""
        edges = columns["edges"]
        return Least(bytes=4.0 * edges + 8.0 * self.graph.n, barriers=0.0 * edges)

    def describe(self) -> Record:
        """Give what the call was asked for."""
        return {
            "config": {"sources": SOURCES, "dtype": np.dtype(self._real).name},
            "source_hash": _hash_of_kernels(),
        }


def _hash_of_kernels() -> str:
    """Hash the files that the call is rendered from: it keeps no plan that would tell."""
    digest = hashlib.sha256()
    for path in sorted((source_folders()[0] / "centrality").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


PROBLEM = Betweenness
