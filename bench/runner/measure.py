"""Measuring one algorithm on one graph, with one preset or several in turn.

By the rules of Graph500 and GAP: sources drawn with a seed, a warm-up, every result's figures taken
and some whole results checked outside the timed region, times of the device. Presets of one graph
are measured together: each pass runs every input with every preset in an order of its own, so that
clocks that drift and neighbours that disturb meet all presets alike.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import energy

from ..peers.external import peers_of
from ..peers.peer import compare
from .floors import floor
from .pinned import SEED
from .stats import harmonic_mean, relative_width, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from clgraph import Device

    from .graphs import Loaded
    from .problem import Problem
    from .records import Record

__all__ = ["Settings", "failure", "measure", "summarise"]

log = logging.getLogger("clgraph")

LEAST_PASSES = 3
NO_INPUT = "no vertex of the graph has an edge"
NONE_FAR = "none that was drawn reaches far enough"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a case is measured.

    Attributes
    ----------
    sources : int
        Runs per pass, from distinct vertices that have edges.
    passes : int
        Most passes; three at least, unless time runs out.
    narrow : float
        Passes end when the 95 % interval of their median total is narrower than this share of it.
    budget_s : float
        Seconds of passes after which none begins; of each preset.
    validate : int
        Runs whose whole result is checked; with 0 what to check against is not worked out.
    energy_s : float
        Shortest window for joules; 0 leaves them out.
    presets : tuple of str
        Configurations instead of those that a case names; "all" for every one there is.
    peers : tuple of str
        Libraries to measure beside.
    external : Path or None
        File that describes native codes to measure beside; see `external`.
    reach : int
        Vertices that a search from each source must reach; 0 for any source that has edges.
    """

    sources: int = 64
    passes: int = 15
    narrow: float = 0.02
    budget_s: float = 5.0
    validate: int = 2
    energy_s: float = 0.0
    presets: tuple[str, ...] = field(default_factory=tuple)
    peers: tuple[str, ...] = field(default_factory=tuple)
    external: Path | None = None
    reach: int = 0


@dataclass(slots=True)
class _Trial:
    """One preset while it is measured."""

    problem: Problem
    record: Record
    inputs: list[int] = field(default_factory=list)
    columns: dict[str, list[float]] = field(default_factory=dict)
    device_ms: list[list[float]] = field(default_factory=list)
    host_ms: list[list[float]] = field(default_factory=list)
    spent_s: float = 0.0
    ended: str = ""


def failure(error: Exception) -> Record:
    """Record of what went wrong."""
    return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def measure(
    kind: type[Problem],
    loaded: Loaded,
    device: Device,
    settings: Settings,
    *,
    presets: Sequence[str],
    machine: Record,
) -> dict[str, Record]:
    """Measure one graph with some presets.

    Parameters
    ----------
    kind : type of Problem
        What is measured.
    loaded : Loaded
        The graph.
    device : Device
        Where.
    settings : Settings
        How.
    presets : sequence of str
        Configurations to measure in turn.
    machine : dict
        As `machine.describe` gives it, for the floor.

    Returns
    -------
    dict
        By preset everything about the case but its name; a preset that fails is recorded with its
        reason and does not end the others.
    """
    found: dict[str, Record] = {}
    trials: dict[str, _Trial] = {}
    for preset in presets:
        try:
            trial = _prepared(kind, loaded, device, settings, preset)
        except Exception as error:
            log.warning("%s with preset %s failed: %s", loaded.name, preset, error)
            log.debug("where it failed", exc_info=True)
            found[preset] = failure(error)
            continue
        if trial is None:
            found[preset] = {
                "status": "skipped",
                "reason": NONE_FAR if settings.reach else NO_INPUT,
            }
        else:
            trials[preset] = trial
    _timed_passes(trials, settings)
    for place, (preset, trial) in enumerate(trials.items()):
        if trial.record["status"] == "ok":
            try:
                _conclude(trial, settings, machine, with_peers=place == 0)
            except Exception as error:
                log.warning("%s with preset %s failed: %s", loaded.name, preset, error)
                trial.record |= failure(error)
        found[preset] = trial.record
    return {preset: found[preset] for preset in presets}


def _prepared(
    kind: type[Problem], loaded: Loaded, device: Device, settings: Settings, preset: str
) -> _Trial | None:
    """Compile, warm up, take figures of every input, check some results."""
    began = time.perf_counter()
    problem = kind(loaded, device, preset)
    build_s = time.perf_counter() - began
    inputs = (
        problem.far_inputs(settings.sources, settings.reach)
        if settings.reach
        else problem.inputs(settings.sources)
    )
    if not inputs:
        return None
    first = problem.run(inputs[0])
    record: Record = {
        "status": "ok",
        "graph": loaded.as_dict(),
        "preset": preset,
        **problem.describe(),
        "mode": problem.mode(first),
        "build_s": build_s,
        "first_run_ms": problem.times(first)[1],
    }
    del first
    trial = _Trial(problem, record, inputs)
    repeats = 1 if kind.from_sources else len(inputs)  # repeats are alike
    for given in inputs[::repeats]:
        for name, value in problem.count(problem.run(given), given).items():
            trial.columns.setdefault(name, []).extend([value] * repeats)
    checked = inputs[: settings.validate]
    record["verified"] = problem.check(checked) if checked else None
    return trial


def _timed_passes(trials: Mapping[str, _Trial], settings: Settings) -> None:
    """Time all presets pass by pass until their totals are known well enough."""
    rng = np.random.default_rng(SEED)
    while True:
        running = [trial for trial in trials.values() if not trial.ended]
        if not running:
            return
        for trial in running:
            empty = [float("nan")] * len(trial.inputs)
            trial.device_ms.append(empty)
            trial.host_ms.append(empty.copy())
        turns = [(trial, place) for trial in running for place in range(len(trial.inputs))]
        for turn in rng.permutation(len(turns)).tolist():
            trial, place = turns[turn]
            if not trial.ended:
                _timed_run(trial, place)
        for trial in running:
            trial.ended = trial.ended or _why_enough(trial, settings)


def _timed_run(trial: _Trial, place: int) -> None:
    began = time.perf_counter()
    try:
        times = trial.problem.times(trial.problem.run(trial.inputs[place]))
    except Exception as error:
        log.warning("a timed run failed: %s", error)
        trial.record |= failure(error)
        trial.ended = "failed"
        return
    trial.device_ms[-1][place], trial.host_ms[-1][place] = times
    trial.spent_s += time.perf_counter() - began


def _why_enough(trial: _Trial, settings: Settings) -> str:
    """Why no further pass is needed; empty if one is."""
    passes = len(trial.device_ms)
    width = relative_width(np.sum(trial.device_ms, axis=1).tolist())
    if passes >= LEAST_PASSES and width is not None and width < settings.narrow:
        return "narrow"
    if passes >= settings.passes:
        return "passes"
    return "budget" if trial.spent_s > settings.budget_s else ""


def _conclude(trial: _Trial, settings: Settings, machine: Record, *, with_peers: bool) -> None:
    """Work out what a record holds beyond the passes."""
    problem, record, inputs = trial.problem, trial.record, trial.inputs
    kernel_ms = np.median(trial.device_ms, axis=0)
    columns = {
        **trial.columns,
        "kernel_ms": kernel_ms.tolist(),
        "total_ms": np.median(trial.host_ms, axis=0).tolist(),
    }
    counts = {name: np.asarray(column, float) for name, column in trial.columns.items()}
    record |= {
        "passes": len(trial.device_ms),
        "passes_ended": trial.ended,
        "passes_width": relative_width(np.sum(trial.device_ms, axis=1).tolist()),
        "searches": {"source": inputs, **columns},
        "summary": summarise(columns),
        "floor": floor(machine, problem.least(counts), kernel_ms),
        "per_level": problem.profile(inputs[int(np.argsort(kernel_ms)[len(inputs) // 2])]),
        "histogram": problem.histogram(inputs[0]),
    }
    names = settings.peers
    known: dict[str, Any] = dict(problem.peers)
    if settings.external is not None:
        others = peers_of(settings.external, problem)
        known |= others
        names = (*names, *others)
    if names and with_peers:
        record["peers"] = compare(problem, inputs, names, known)
    if settings.energy_s > 0:
        record["energy"] = _joules(problem, inputs, settings, columns["edges"])


def summarise(columns: Mapping[str, Iterable[float]]) -> Record:
    """Figures of a case from those of its runs.

    Parameters
    ----------
    columns : mapping of lists
        ``kernel_ms``, ``total_ms`` and ``edges`` of each run, and what else `Problem.count` gave.

    Returns
    -------
    dict
        A summary of each, and harmonic means of edges per second by device and host time; with
        ``levels`` also ``us_per_level``, with ``relaxations`` also ``relaxations_per_edge``.
    """
    known = {name: np.asarray(column, float) for name, column in columns.items()}
    kernel_ms, total_ms, edges = (known[name] for name in ("kernel_ms", "total_ms", "edges"))
    rate, rate_host = edges / kernel_ms * 1e3, edges / total_ms * 1e3
    derived: dict[str, NDArray[np.float64]] = {
        "overhead_us": 1e3 * (total_ms - kernel_ms),
        "teps": rate,
    }
    if "levels" in known:
        derived["us_per_level"] = 1e3 * kernel_ms / np.maximum(known["levels"], 1)
    if "relaxations" in known:
        derived["relaxations_per_edge"] = known["relaxations"] / np.maximum(edges, 1)
    return {
        **{name: summary(column.tolist()) for name, column in (known | derived).items()},
        "teps_harmonic_mean": harmonic_mean(rate.tolist()),
        "teps_harmonic_mean_host": harmonic_mean(rate_host.tolist()),
    }


def _joules(
    problem: Problem, inputs: Sequence[int], settings: Settings, edges: Sequence[float]
) -> Record:
    """Energy of runs that follow one another over all inputs, and figures made of it."""
    turn = cycle(inputs)
    taken = energy.per_run(
        lambda: problem.run(next(turn)), min_seconds=settings.energy_s, device=problem.device
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
        "mteps_per_watt": float(np.mean(edges)) / joules / 1e6 if joules else None,
        "energy_delay_js": joules * taken.seconds_per_run if joules else None,
    }
