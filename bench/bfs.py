"""Measuring breadth-first searches by the rules of Graph500 and GAP."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import BFS, energy, verify

from .floors import floor
from .graphs import SEED
from .peers import compare
from .reference import reference
from .stats import harmonic_mean, relative_error, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from .graphs import Loaded
    from .records import Record

__all__ = ["Settings", "measure", "pick_sources"]

RULES_UP_TO_EDGES = 200_000_000  # checking the rules takes a second per thirty million edges
SHOWN_LEVELS = 256
STEADY = 0.01


@dataclass(frozen=True, slots=True)
class Settings:
    """How a case is measured.

    Attributes
    ----------
    sources : int
        Searches per pass, from distinct vertices that have edges.
    passes : int
        Most passes over the sources; fewer if their totals settle or time runs out.
    budget_s : float
        Seconds after which no further pass begins.
    validate : int
        Searches whose whole result is checked.
    energy_s : float
        Shortest window for joules; 0 leaves them out.
    config : str
        Preset.
    peers : tuple of str
        Libraries to measure beside.
    """

    sources: int = 64
    passes: int = 3
    budget_s: float = 5.0
    validate: int = 2
    energy_s: float = 0.0
    config: str = "auto"
    peers: tuple[str, ...] = field(default_factory=tuple)


def pick_sources(degrees: NDArray[Any], count: int, name: str) -> list[int]:
    """Draw distinct vertices that have edges; one name and count gives one choice."""
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    able = np.flatnonzero(degrees)
    drawn = rng.choice(able, min(count, len(able)), replace=False)
    return [int(vertex) for vertex in drawn]


class _EdgeCounts:
    """Out-edges of the reached vertices; of an undirected graph counted once per component."""

    def __init__(self, graph: clgraph.Graph) -> None:
        self._graph = graph
        self._known: list[tuple[NDArray[np.bool_], int, int]] = []

    def of(self, result: clgraph.BFSResult, source: int) -> int:
        for inside, reached, edges in self._known:
            if inside[source] and reached == result.reached:
                return edges
        inside = result.distances >= 0
        edges = int(self._graph.degrees[inside].sum(dtype=np.int64))
        if not self._graph.directed:
            self._known.append((inside, result.reached, edges))
        return edges


def measure(loaded: Loaded, device: Device, settings: Settings, machine: Record) -> Record:
    """Measure one graph.

    Parameters
    ----------
    loaded : Loaded
        The graph.
    device : Device
        Where.
    settings : Settings
        How.
    machine : dict
        As `machine.describe` gives it, for the floor.

    Returns
    -------
    dict
        Everything about the case but its name.

    Raises
    ------
    VerificationError
        If a search is wrong.
    """
    graph = loaded.graph
    sources = pick_sources(graph.degrees, settings.sources, loaded.name)
    if not sources:
        return {"status": "skipped", "reason": "no vertex of the graph has an edge"}
    began = time.perf_counter()
    plan = BFS(graph, config=settings.config, device=device)
    build_s = time.perf_counter() - began
    first = plan.run(sources[0])
    searches = _search_all(plan, sources)  # warms up
    verified = _validate(plan, sources[: settings.validate])
    times, passes = _timed_passes(plan, sources, settings)
    searches |= times
    middle = sources[_nearest_median(times["kernel_ms"])]
    record: Record = {
        "status": "ok",
        "graph": loaded.as_dict(),
        "preset": settings.config,
        "config": plan.config.as_dict(),
        "source_hash": plan.source_hash,
        "mode": first.stats.mode,
        "build_s": build_s,
        "first_run_ms": first.stats.total_ms,
        "passes": passes,
        "searches": {"source": sources, **searches},
        "summary": summarise(searches),
        "floor": floor(machine, graph.n, searches),
        "per_level": _per_level(plan, middle),
        "verified": verified,
    }
    del first
    if settings.peers:
        record["peers"] = compare(plan, sources, settings.peers)
    if settings.energy_s > 0:
        record["energy"] = _joules(plan, sources, settings, float(np.mean(searches["edges"])))
    return record


def _search_all(plan: BFS, sources: Sequence[int]) -> dict[str, list[Any]]:
    counts = _EdgeCounts(plan.graph)
    columns: dict[str, list[Any]] = {"levels": [], "reached": [], "edges": []}
    for source in sources:
        result = plan.run(source)
        columns["levels"].append(result.stats.levels)
        columns["reached"].append(result.reached)
        columns["edges"].append(counts.of(result, source))
    return columns


def _validate(plan: BFS, sources: Sequence[int]) -> Record:
    """Compare whole results with another's search and check them by the rules."""
    graph = plan.graph
    name, search = reference(graph)
    by_rules = graph.m <= RULES_UP_TO_EDGES
    for source in sources:
        found = plan.run(source).distances
        expected = search(source)
        wrong = np.flatnonzero(found != expected)
        if wrong.size:
            vertex = int(wrong[0])
            raise clgraph.errors.VerificationError(
                f"from source {source}, {wrong.size} distances differ from {name}'s; the first is "
                f"vertex {vertex}: {found[vertex]} instead of {expected[vertex]}."
            )
        if by_rules:
            verify.distances(graph, source, found)
    return {
        "sources": list(sources),
        "against": name,
        "rules": by_rules,
        "note": "" if by_rules else f"rules are checked up to {RULES_UP_TO_EDGES:,} edges",
    }


def _timed_passes(
    plan: BFS, sources: Sequence[int], settings: Settings
) -> tuple[dict[str, list[float]], int]:
    """Median times per source over several passes, each in an order of its own."""
    rng = np.random.default_rng(SEED)
    device_ms = np.full((settings.passes, len(sources)), np.nan)
    host_ms = device_ms.copy()
    deadline = time.perf_counter() + settings.budget_s
    done = 0
    while done < settings.passes:
        for place in rng.permutation(len(sources)).tolist():
            stats = plan.run(sources[place]).stats
            device_ms[done, place], host_ms[done, place] = stats.kernel_ms, stats.total_ms
        done += 1
        error = relative_error(device_ms[:done].sum(axis=1).tolist())
        settled = done > 2 and error is not None and error < STEADY
        if settled or time.perf_counter() > deadline:
            break
    return {
        "kernel_ms": np.median(device_ms[:done], axis=0).tolist(),
        "total_ms": np.median(host_ms[:done], axis=0).tolist(),
    }, done


def _nearest_median(times: Sequence[float]) -> int:
    return int(np.argsort(times)[len(times) // 2])


def summarise(searches: dict[str, list[Any]]) -> Record:
    """Figures of a case from those of its searches.

    Parameters
    ----------
    searches : dict of lists
        ``kernel_ms``, ``total_ms``, ``levels`` and ``edges`` of each search.

    Returns
    -------
    dict
        Summaries of the times, and harmonic means of edges per second by device and host time.
    """
    kernel_ms, total_ms, edges, levels = (
        np.asarray(searches[name], float) for name in ("kernel_ms", "total_ms", "edges", "levels")
    )
    return {
        "kernel_ms": summary(kernel_ms.tolist()),
        "total_ms": summary(total_ms.tolist()),
        "overhead_us": summary((1e3 * (total_ms - kernel_ms)).tolist()),
        "us_per_level": summary((1e3 * kernel_ms / np.maximum(levels, 1)).tolist()),
        "teps": summary((edges / kernel_ms * 1e3).tolist()),
        "teps_harmonic_mean": harmonic_mean((edges / kernel_ms * 1e3).tolist()),
        "teps_harmonic_mean_host": harmonic_mean((edges / total_ms * 1e3).tolist()),
        "levels": summary(levels.tolist()),
        "edges": summary(edges.tolist()),
    }


def _per_level(plan: BFS, source: int) -> Record:
    """Profile of one search; neighbouring levels of a deep one are added up."""
    result = plan.run(source)
    table = result.stats.per_level
    step = -(-len(table) // SHOWN_LEVELS)
    starts = np.arange(0, len(table), step)
    return {
        "source": source,
        "kernel_ms": result.stats.kernel_ms,
        "levels_per_row": step,
        "frontier": np.add.reduceat(table["frontier"], starts).tolist(),
        "edges": np.add.reduceat(table["edges"], starts).tolist(),
        "direction": table["direction"][starts].tolist(),
        "microseconds": np.add.reduceat(table["microseconds"], starts).round(3).tolist(),
    }


def _joules(plan: BFS, sources: Sequence[int], settings: Settings, edges: float) -> Record:
    """Energy of the searches, one after the other over all sources, and figures made of it."""
    turn = cycle(sources)
    taken = energy.per_run(
        lambda: plan.run(next(turn)), min_seconds=settings.energy_s, device=plan.device
    )
    joules = taken.joules_per_run
    return {
        "joules_per_search": joules,
        "spread": taken.spread,
        "searches": taken.runs,
        "window_s": taken.seconds,
        "seconds_per_search": taken.seconds_per_run,
        "mean_watts": taken.mean_watts,
        "peak_watts": taken.peak_watts,
        "idle_watts": taken.idle_watts,
        "meter": taken.source,
        "note": taken.note,
        "mteps_per_watt": edges / joules / 1e6 if joules else None,
        "energy_delay_js": joules * taken.seconds_per_run if joules else None,
    }
