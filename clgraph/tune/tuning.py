"""Tuning in one call: search, compare the best in turn, meter them, and keep the winner."""

from __future__ import annotations

import datetime as dt
import math
import time
from typing import TYPE_CHECKING, Any

from clgraph.cli.text import version_of
from clgraph.device import device as find_device
from clgraph.energy import NoMeter, find_meter
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.graph import as_graph
from clgraph.graph.modules import module
from clgraph.tune import database
from clgraph.tune.effects import Observation
from clgraph.tune.features import distance, features_of
from clgraph.tune.problems import problem_of
from clgraph.tune.result import Objective, Tuned
from clgraph.tune.search import Limits, search
from clgraph.tune.space import key_of
from clgraph.tune.trials import Bench, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.progress import Progress
    from clgraph.tune.features import Features
    from clgraph.tune.problems import Problem
    from clgraph.tune.space import Space

__all__ = ["run"]

FINALISTS = 3  # beside "auto"
GROUPS, THRIFTY = "schedule.groups", 4
FEWEST_METERED = 2
SEARCH_SHARE, METERED_SHARE = 0.75, 0.5  # of the time, for the search
FEWEST_TURNS, MOST_TURNS = 5, 60
METER_S = 2.0
NOISE = 0.02  # a gain below it, or below the spread, is none
CLOSE_ENTRIES, REMEMBERED = 4, 48


def run(  # noqa: PLR0913 - all but two by keyword
    graph: Graph,
    algorithm: str = "bfs",
    *,
    objective: str | Objective = "time",
    budget: float = 60.0,
    trials: int | None = None,
    device: Device | str | None = None,
    sources: Sequence[int] | None = None,
    name: str | None = None,
    seed: int = 0,
    store: bool = True,
    meter: bool = True,
    progress: Progress | None = None,
) -> Tuned:
    """Search for the best configuration of an algorithm on a graph.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        What it is to be good for.
    algorithm : {"bfs", "sssp", "scc", "triangles"}
        What is run.
    objective : str or Objective
        ``"time"``, ``"energy"`` (joules of a run), ``"edp"`` (their product) or ``"power:WATTS"``:
        the fastest that draws no more.
    budget : float
        Seconds, about; a configuration that has been begun is finished.
    trials : int, optional
        How many points may be tried at most, "auto" not counted.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    sources : sequence of int, optional
        Where searches begin; default is up to three vertices from which much is reached.
    name : str, optional
        What the graph is called in the database.
    seed : int
        Of what is drawn.
    store : bool
        Whether to keep the winner for ``config="tuned"``.
    meter : bool
        Whether to measure joules of the best, where there is a meter; some two seconds for each.
    progress : callable or True, optional
        As everywhere.

    Returns
    -------
    Tuned
        The winner, everything that was tried, and the Pareto front of time and joules.

    Raises
    ------
    InvalidArgumentError
        If something cannot be tuned, or joules are asked for where no meter reports them.
    InvalidGraphError, DeviceMemoryError
        As the algorithm raises them for "auto".

    Notes
    -----
    "auto" is run first. The next points are published configurations, entries for similar graphs,
    and one of every branch of the space; where entries are known, a model of main effects fitted
    to them puts these in order. Then the model, fitted to everything that was seen, chooses among
    the untried neighbours of the best. Points come through rungs of 1, 3 and 9 runs by successive
    halving. Those left are run in turn with "auto", and metered where there is a meter. Every
    point must find what "auto" finds. What is tried depends on times, so two calls may differ.

    References
    ----------
    .. [1] L. Li et al., "A system for massively parallel hyperparameter tuning", MLSys 2020:
           asynchronous successive halving.
    """
    began = time.monotonic()
    wanted, problem = Objective.of(objective), problem_of(algorithm)
    if not (math.isfinite(budget) and budget > 0):
        raise InvalidArgumentError(f"budget={budget} is not a positive number of seconds.")
    if trials is not None and trials < 0:
        raise InvalidArgumentError(f"trials={trials} is negative.")
    chosen = find_device(device)
    prepared = problem.prepare(as_graph(graph, weighted=problem.weighted))
    source = _meter_source(chosen) if meter else "none"
    if source == "none" and wanted.name != "time":
        raise InvalidArgumentError(
            f"objective={wanted.name!r} needs a power meter, which "
            + (f"{chosen.name} has not" if meter else "meter=False forbids")
            + "; use objective='time'."
        )
    starts = list(sources) if sources is not None else problem.sources(prepared, chosen, seed)
    bench = Bench(problem, prepared, chosen, starts)
    space = problem.space(chosen.traits)
    features = features_of(prepared)
    start, known = _remembered(problem, prepared, chosen, features, wanted.name)
    share = SEARCH_SHARE if source == "none" else METERED_SHARE
    found = search(
        bench,
        space,
        start=start,
        known=known,
        limits=Limits(began + share * budget, trials),
        cost=wanted.cost,
        seed=seed,
        progress=progress,
    )
    auto = found[0]
    if auto.error:
        raise ClgraphError(f"auto cannot be run: {auto.error}")
    finalists = _finalists(found, wanted)
    if source != "none":
        finalists += _thrifty(bench, space, found, finalists)
    _compare(bench, finalists, began + budget, metered=source != "none")
    seen = [one for one in finalists if wanted.name == "time" or one.joules is not None]
    best = min(seen, key=wanted.final)
    if _is_noise(best, auto, wanted):
        best = auto
    seconds = time.monotonic() - began
    entry = database.Entry(
        algorithm,
        wanted.name,
        database.described(chosen),
        features,
        best.values,
        _measured(best, auto),
        [[one.values, one.time_ms] for one in _usable(found)[:REMEMBERED]],
        _provenance(prepared, name, seed, seconds, len(space), len(found) - 1, source),
    )
    result = Tuned(
        algorithm,
        wanted,
        found,
        best,
        auto,
        problem.config(best.values, prepared),
        len(space),
        seconds,
        source,
        entry,
        finalists=finalists,
    )
    if store:
        result.stored = database.keep(entry)
        result.config = database.configured(prepared, algorithm, chosen, wanted.name)
    return result


def _meter_source(device: Device) -> str:
    meter = find_meter(device)
    meter.close()
    return "none" if isinstance(meter, NoMeter) else str(meter.source)


def _remembered(
    problem: Problem, graph: Graph, device: Device, features: Features, objective: str
) -> tuple[list[dict[str, Any]], list[Observation]]:
    """Give points to begin with, and what was seen on similar graphs."""
    near = sorted(
        (
            (apart, entry)
            for entry in database.entries(problem.name)
            if (apart := distance(features, entry.features)) <= database.FARTHEST
            and entry.device["type"] == database.described(device)["type"]
        ),
        key=lambda pair: (pair[1].objective != objective, pair[0]),
    )[:CLOSE_ENTRIES]
    start = [entry.values for _, entry in near if entry.values]
    seen = [
        Observation(values, math.log(time_ms), 1.0, place)
        for place, (_, entry) in enumerate(near)
        for values, time_ms in entry.tried
        if time_ms > 0
    ]
    return [*start, *problem.presets(graph)], seen


def _usable(trials: list[Trial]) -> list[Trial]:
    return sorted((one for one in trials if not one.error), key=lambda one: one.time_ms)


def _finalists(trials: list[Trial], wanted: Objective) -> list[Trial]:
    """Give "auto" and the best by what is wanted."""
    others = sorted((one for one in trials[1:] if not one.error), key=wanted.cost)
    return [trials[0], *others[:FINALISTS]]


def _thrifty(
    bench: Bench, space: Space, trials: list[Trial], finalists: list[Trial]
) -> list[Trial]:
    """Give the fastest with fewer work-groups: they take longer, but draw less power."""
    numbers = {
        value
        for branch in space.branches
        for value in branch.axes.get(GROUPS, ())
        if value is not None
    }
    fastest = min(finalists, key=lambda one: one.time_ms)
    tried = {key_of(one.values): one for one in trials}
    found = []
    for groups in sorted(numbers, reverse=True)[:THRIFTY]:
        values = {**fastest.values, GROUPS: groups}
        trial = tried.get(key_of(values)) or Trial(values)
        if trial in finalists:
            continue
        if not trial.runs:
            trials.append(trial)
            bench.run(trial, 3)
        if not trial.error:
            found.append(trial)
    return found


def _compare(bench: Bench, finalists: list[Trial], until: float, *, metered: bool) -> None:
    """Run all in turn while there is time, and meter each; both at least for a little."""
    meter_s = METER_S * 1.2 * len(finalists) if metered else 0.0
    turn = 0
    while turn < FEWEST_TURNS or (turn < MOST_TURNS and time.monotonic() < until - meter_s):
        bench.in_turn(finalists, turn)
        turn += 1
    if not metered:
        return
    # "auto" and the fastest first; others as long as there is time.
    fastest = min(finalists[1:], key=lambda one: one.time_ms, default=finalists[0])
    rest = [one for one in reversed(finalists) if one is not fastest and one is not finalists[0]]
    first = [finalists[0]] if fastest is finalists[0] else [finalists[0], fastest]
    for place, trial in enumerate([*first, *rest]):
        if place >= FEWEST_METERED and time.monotonic() > until:
            break
        bench.meter(trial, METER_S)


def _is_noise(best: Trial, auto: Trial, wanted: Objective) -> bool:
    """Whether the winner is better than "auto" by no more than chance."""
    over, cost = wanted.final(auto)
    if over > wanted.final(best)[0]:
        return False
    spread = max(auto.spread, best.spread)
    if wanted.name in {"energy", "edp"}:
        spread = max(spread, auto.joules_spread or 0.0, best.joules_spread or 0.0)
    gain = 1.0 - wanted.final(best)[1] / cost if cost > 0 else 0.0
    return gain < max(NOISE, spread / math.sqrt(max(len(auto.in_turn_ms[0]), 1)))


def _measured(best: Trial, auto: Trial) -> dict[str, float | None]:
    return {
        "time_ms": best.time_ms,
        "auto_ms": auto.time_ms,
        "spread": best.spread,
        "joules": best.joules,
        "auto_joules": auto.joules,
        "watts": best.watts,
    }


def _provenance(
    graph: Graph, name: str | None, seed: int, seconds: float, points: int, tried: int, meter: str
) -> dict[str, Any]:
    return {
        "graph": name,
        "vertices": graph.n,
        "edges": graph.m,
        "version": version_of("clgraph"),
        "numpy": module("numpy").__version__,
        "when": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "seed": seed,
        "points": points,
        "tried": tried,
        "meter": meter,
        "origin": "measured",
    }
