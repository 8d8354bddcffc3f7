"""Whether tuning keeps its promises: never behind auto, near the best of a whole space, two ends.

``python -m bench.studies.power.tuning --device nvidia --json FILE`` runs three parts, each for
about the seconds it is given (0 leaves it out):

- ``--suite 45``: tunes every case of the quick suite, then runs winner and "auto" in turn anew;
- ``--exhaustive 75``: runs every point of the space of triangles on one graph, then tunes it with
  at most 5 % as many trials and runs what it found in turn with the best of all;
- ``--pareto 44``: tunes searches of two deep graphs for energy and prints the front of time and
  joules with its spread; needs a meter.

It writes its record after every case, prints a short table last, and fails if a promise is broken.
``--characterisation FILE`` stores a record of microbenchmarks first, for the energy model, and
``--entries FILE`` writes the winners as the package ships them.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import tune
from clgraph.cli.text import plain, table
from clgraph.profile import microbenchmarks
from clgraph.tune.database import SCHEMA
from clgraph.tune.problems import PROBLEMS
from clgraph.tune.trials import Bench, Trial

from ...runner.graphs import find
from ...runner.machine import commit_of_checkout
from ...runner.suites import QUICK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device, Graph
    from clgraph.tune import Tuned
    from clgraph.tune.problems import Problem

__all__ = ["compared", "exhaustive", "main"]

Record = dict[str, Any]

TURNS = 15
SHARE = 0.05  # of the points that may be tried, and how near the best one must come
EXHAUSTIVE_RUNS = 3
PARETO_GRAPHS = ("road1000", "grid1000")
NOISE = 0.03
RECHECKED = 8  # of the best of a whole space, which chance has put first


def compared(
    problem: Problem, graph: Graph, device: Device, points: Sequence[dict[str, Any]], turns: int
) -> list[Trial]:
    """Run points in turn, with plans of their own.

    Parameters
    ----------
    problem, graph, device
        What is run, on what, and where.
    points : sequence of dict
        The first one says what the answer is.
    turns : int
        How often each is run from every source.

    Returns
    -------
    list of Trial
        In the order of `points`.
    """
    bench = Bench(problem, graph, device, problem.sources(graph, device, seed=1))
    trials = [Trial(dict(values)) for values in points]
    for trial in trials:
        if not bench.run(trial, 1):
            raise clgraph.ClgraphError(f"{trial.values} cannot be run: {trial.error}")
    for turn in range(turns):
        bench.in_turn(trials, turn)
    return trials


def _warm(problem: Problem, graph: Graph, device: Device, place: int, jobs: int) -> None:
    """Build every so manieth point, so that another process finds it in the cache."""
    for values in itertools.islice(problem.space(device.traits).points(), place, None, jobs):
        with contextlib.suppress(clgraph.ClgraphError):
            plan = problem.plan(graph, problem.config(values, graph), device)
            problem.run(plan, 0)


def _warmed(name: str, device: str | None, jobs: int) -> None:
    """Build all points in processes side by side, which compilers of drivers do not do in one."""
    command = [sys.executable, "-m", __spec__.name, "--graph", name]
    if device is not None:
        command += ["--device", device]
    workers = [subprocess.Popen([*command, "--warm", f"{place}/{jobs}"]) for place in range(jobs)]
    for worker in workers:
        worker.wait()


def exhaustive(
    problem: Problem, graph: Graph, device: Device, until: float
) -> tuple[list[Trial], bool]:
    """Run every point of a space.

    Returns
    -------
    (list of Trial, bool)
        The default configuration first; and whether that was all before `until`.
    """
    bench = Bench(problem, graph, device, problem.sources(graph, device, seed=1))
    trials = [Trial({})]
    bench.run(trials[0], EXHAUSTIVE_RUNS)
    for values in problem.space(device.traits).points():
        if time.monotonic() > until:
            return trials, False
        trials.append(Trial(values))
        bench.run(trials[-1], 1)
        # Who takes twice as long as the best is not run again.
        best = min(one.time_ms for one in trials)
        if not trials[-1].error and trials[-1].time_ms < 2.0 * best:
            bench.run(trials[-1], EXHAUSTIVE_RUNS - 1)
    return trials, True


def _suite(record: Record, device: Device, seconds: float, save: Any) -> list[Tuned]:
    cases = [case for case in QUICK if case.algorithm in PROBLEMS]
    tuned = []
    for case in cases:
        problem = PROBLEMS[case.algorithm]
        graph = problem.prepare(find(case.graph, weighted=problem.weighted).graph)
        found = tune.run(
            graph,
            case.algorithm,
            budget=seconds / len(cases),
            device=device,
            name=case.graph,
            store=False,
            meter=False,
        )
        tuned.append(found)
        auto, best = compared(problem, graph, device, ({}, found.best.values), TURNS)
        spread = math.hypot(auto.spread, best.spread) / math.sqrt(TURNS)
        record["suite"].append(
            {
                "case": f"{case.algorithm}/{case.graph}",
                "auto_ms": auto.time_ms,
                "tuned_ms": best.time_ms,
                "ratio": auto.time_ms / best.time_ms,
                "noise": max(NOISE, 2.0 * spread),
                "config": best.config,
                "tried": found.tried,
                "points": found.points,
                "seconds": found.seconds,
                "trials": [one.as_dict() for one in found.trials],
            }
        )
        save()
    return tuned


def _exhaustive(record: Record, device: Device, args: argparse.Namespace, save: Any) -> list[Tuned]:
    name, seconds = args.graph, args.exhaustive
    problem = PROBLEMS["triangles"]
    graph = problem.prepare(find(name).graph)
    points = sum(1 for _ in problem.space(device.traits).points())
    trials = int(SHARE * points)
    began = time.monotonic()
    found = tune.run(
        graph,
        problem.name,
        budget=seconds,
        trials=trials,
        device=device,
        name=name,
        store=False,
        meter=False,
    )
    if args.jobs > 1:
        _warmed(name, args.device, args.jobs)
    all_of_it, whole = exhaustive(problem, graph, device, time.monotonic() + seconds)
    usable = sorted((one for one in all_of_it if not one.error), key=lambda one: one.time_ms)
    top = [one.values for one in usable[:RECHECKED]]
    again = compared(problem, graph, device, (found.best.values, *top), TURNS)
    best = min(one.time_ms for one in again[1:])
    record["exhaustive"] = {
        "case": f"triangles/{name}",
        "points": points,
        "whole": whole,
        "run": len(all_of_it) - 1,
        "failed": sum(bool(one.error) for one in all_of_it),
        "tried": found.tried,
        "found_ms": again[0].time_ms,
        "best_ms": best,
        "worst_ms": usable[-1].time_ms,
        "search": [one.as_dict() for one in found.trials],
        "off": again[0].time_ms / best - 1.0,
        "rank": 1 + sum(one.time_ms < again[0].time_ms for one in usable),
        "seconds": time.monotonic() - began,
        "found": again[0].config,
        "best": min(again[1:], key=lambda one: one.time_ms).config,
        "trials": [one.as_dict() for one in all_of_it],
    }
    save()
    return [found]


def _pareto(record: Record, device: Device, args: argparse.Namespace, save: Any) -> list[Tuned]:
    tuned = []
    for name in args.pareto_graphs:
        found = tune.run(
            find(name).graph,
            "bfs",
            objective="energy",
            budget=args.pareto / len(args.pareto_graphs),
            device=device,
            name=name,
            store=False,
        )
        tuned.append(found)
        record["pareto"].append({"case": f"bfs/{name}", **found.as_dict()})
        save()
    return tuned


def _broken(record: Record) -> list[str]:
    """Say which promises the record does not keep."""
    broken = [
        f"{case['case']}: tuned {case['tuned_ms']:.4g} ms, auto {case['auto_ms']:.4g} ms"
        for case in record["suite"]
        if case["ratio"] < 1.0 - case["noise"]
    ]
    whole = record["exhaustive"]
    if whole and not whole["whole"]:
        broken.append(f"{whole['case']}: only {whole['run']} of {whole['points']} points were run")
    if whole and whole["off"] > SHARE:
        broken.append(f"{whole['case']}: {whole['off']:.1%} behind the best")
    broken += [
        f"{case['case']}: least time and least energy are the same"
        for case in record["pareto"]
        if sum(trial["pareto"] for trial in case["trials"]) < 2
    ]
    return broken


def _render(record: Record) -> str:
    lines = []
    if record["suite"]:
        head = ("case", "auto ms", "tuned ms", "auto/tuned", "noise", "tried", "s", "configuration")
        rows = [
            (
                case["case"],
                f"{case['auto_ms']:.4g}",
                f"{case['tuned_ms']:.4g}",
                f"{case['ratio']:.3f}",
                f"{case['noise']:.1%}",
                str(case["tried"]),
                f"{case['seconds']:.1f}",
                case["config"],
            )
            for case in record["suite"]
        ]
        lines += [table(head, rows), ""]
    whole = record["exhaustive"]
    if whole:
        lines += [
            f"{whole['case']}: {whole['points']} points in {whole['seconds']:.0f} s, best "
            f"{whole['best_ms']:.4g} ms {whole['best']}; found {whole['found_ms']:.4g} ms "
            f"{whole['found']} ({whole['off']:+.1%}) after {whole['tried']} trials, "
            f"{whole['tried'] / whole['points']:.1%} of the points",
            "",
        ]
    for case in record["pareto"]:
        columns = (str(case["case"]), "ms", "+-", "J", "+-", "W")
        front = [
            (
                ("* " if one["pareto"] else "  ") + one["config"],
                f"{one['time_ms']:.4g}",
                f"{one['spread'] / 2:.1%}",
                f"{one['joules']:.4g}",
                f"{(one['joules_spread'] or 0.0) / 2:.1%}",
                f"{one['watts']:.0f}",
            )
            for one in sorted(case["trials"], key=lambda one: one["time_ms"] or math.inf)
            if one["joules"] is not None
        ]
        lines += [table(columns, front), ""]
    lines += [f"broken: {one}" for one in record["broken"]] or ["every promise is kept"]
    return "\n".join([*lines, f"{record['seconds']:.0f} s in all"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts; the exit status is 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--suite", type=float, default=45.0, metavar="SECONDS")
    parser.add_argument("--exhaustive", type=float, default=75.0, metavar="SECONDS")
    parser.add_argument("--pareto", type=float, default=44.0, metavar="SECONDS")
    parser.add_argument("--pareto-graphs", nargs="+", default=list(PARETO_GRAPHS))
    parser.add_argument("--graph", default="kron16", help="of the exhaustive part")
    parser.add_argument("--jobs", type=int, default=1, help="processes that build its kernels")
    parser.add_argument("--warm", metavar="PLACE/JOBS", help=argparse.SUPPRESS)
    parser.add_argument("--characterisation", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--entries", type=Path)
    args = parser.parse_args(argv)
    began = time.monotonic()
    device = clgraph.device(args.device)
    if args.warm is not None:
        counting = PROBLEMS["triangles"]
        place, jobs = map(int, args.warm.split("/"))
        _warm(counting, counting.prepare(find(args.graph).graph), device, place, jobs)
        return 0
    commit, dirty = commit_of_checkout()
    record: Record = {
        "schema": "clgraph-tuning-study/1",
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "commit": commit,
        "dirty": dirty,
        "suite": [],
        "exhaustive": {},
        "pareto": [],
    }
    if args.characterisation is not None:
        characterised = microbenchmarks.validated(json.loads(args.characterisation.read_text()))
        microbenchmarks.store(characterised, device)

    def save() -> None:
        record["broken"], record["seconds"] = _broken(record), time.monotonic() - began
        if args.json is not None:
            args.json.write_text(json.dumps(plain(record), indent=1) + "\n", encoding="utf-8")

    tuned: list[Tuned] = []
    if args.suite > 0:
        tuned += _suite(record, device, args.suite, save)
    if args.exhaustive > 0:
        tuned += _exhaustive(record, device, args, save)
    if args.pareto > 0:
        tuned += _pareto(record, device, args, save)
    save()
    if args.entries is not None:
        shipped = {"schema": SCHEMA, "entries": [found.entry.record() for found in tuned]}
        args.entries.write_text(json.dumps(shipped, indent=1) + "\n", encoding="utf-8")
    print(_render(record))
    return int(bool(record["broken"]))


if __name__ == "__main__":
    raise SystemExit(main())
