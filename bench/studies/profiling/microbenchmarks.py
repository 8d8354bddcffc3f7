"""What operations cost on a device, how well that repeats, and what a model of it predicts.

``python -m bench.studies.profiling.microbenchmarks --device nvidia --seconds 150 --json FILE`` runs
the microbenchmarks named (default: those of a short run) with the meter, then kernels of the
library that the energy model has not seen, then the microbenchmarks a second time, first one of
every family, and as many sweeps without the meter as the time allows. It stops by itself when the
time is spent, writes its record after every part, and prints a short table last.
"""

from __future__ import annotations

import functools
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import energy
from clgraph.cli.text import plain, table
from clgraph.energy.estimating import fit_record, traversal_counts
from clgraph.energy.model import Sample, validate
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.profile import microbenchmarks
from clgraph.profile.microbenchmarks.page import page, static_table

from ...runner.machine import commit_of_checkout
from ..command import command, keep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from clgraph import Device, Graph
    from clgraph.profile.microbenchmarks import Entry, Protocol

__all__ = ["main", "repeatability", "unseen"]

Record = dict[str, Any]

SWEEPS = (
    "coalescence",
    "access_size",
    "divergence",
    "ilp",
    "sm_occupancy",
    "device_sync",
    "unroll",
    "random_footprint",
    "atomic_footprint",
    "grid_barrier",
    "cost",
    "bank_conflict",
    "coalescence_store",
    "static",
)
BITS_PER_BYTE = 8
# Shares of the time after which no entry, kernel or sweep begins.
OCCASIONS_UNTIL, UNSEEN_UNTIL, SWEEPS_UNTIL = (0.75, 0.96), 0.9, 0.98
# Of entries with a meter, whose window says more than repeated launches do.
LAUNCH_S, REPEATS, WARM_UP_S = 0.01, 3, 0.3


@dataclass(frozen=True, slots=True)
class Unseen:
    """A kernel of the library on a graph: how to run it, and what a run counts."""

    name: str
    run: Callable[[], Any]
    count: Callable[[Any], tuple[float, float, float, float]]  # vertices, edges, atomics, barriers
    state_bytes: float


def repeatability(record: Record) -> dict[str, float]:
    """Relative difference of nJ per operation between occasions, by entry."""
    costs: dict[str, list[float]] = {}
    for result in record["results"]:
        if result["nj_per_operation"] is not None and not result["invalid"]:
            costs.setdefault(result["name"], []).append(result["nj_per_operation"])
    return {
        name: (max(seen) - min(seen)) / statistics.mean(seen)
        for name, seen in costs.items()
        if len(seen) > 1
    }


def _cases(device: Device, scale: int) -> Iterator[Unseen]:
    side = 1 << scale // 2
    kron = clgraph.generate.kron(scale, 16, seed=1, weights=(1, 100))
    grid = clgraph.generate.grid2d(side, side, seed=1, weights=(1, 100))
    source = int(kron.degrees.argmax())

    def searched(result: Any) -> tuple[float, float, float, float]:
        rows = result.stats.per_level
        pushed = rows["edges"][rows["direction"] == "push"].sum()
        pulled = (rows["direction"] == "pull").sum() * result.distances.size
        reached = float((result.distances >= 0).sum())
        return reached, float(pushed + pulled), reached, float(result.stats.levels)

    for name, graph, start, preset in (
        ("bfs auto kron", kron, source, "auto"),
        ("bfs merrill-two-phase kron", kron, source, "merrill-two-phase"),
        ("bfs helix kron", kron, source, "helix"),
        ("bfs auto grid", grid, 0, "auto"),
    ):
        plan = clgraph.BFS(graph, config=preset, device=device)
        yield Unseen(name, functools.partial(plan.run, start), searched, 4.0 * graph.n)
    for name, graph, start in (("sssp kron", kron, source), ("sssp grid", grid, 0)):
        yield _weighted(name, graph, start, device)
    parts = clgraph.ConnectedComponents(kron, device=device)
    yield Unseen(
        "components kron",
        parts.run,
        lambda result: (kron.n, float(result.stats.edges_traversed), kron.n, 8.0),
        4.0 * kron.n,
    )


def _weighted(name: str, graph: Graph, start: int, device: Device) -> Unseen:
    plan = clgraph.SSSP(graph, device=device)

    def relaxed(result: Any) -> tuple[float, float, float, float]:
        edges = float(result.stats.relaxations)
        return float(graph.n), edges, edges / BITS_PER_BYTE, float(result.stats.levels)

    return Unseen(name, functools.partial(plan.run, start), relaxed, 4.0 * graph.n)


def unseen(device: Device, scale: int, window_s: float, until: float) -> list[Record]:
    """Measure kernels that no model was fitted on.

    Parameters
    ----------
    device : Device
        What to run on.
    scale : int
        Of the graphs: log2 of their vertices.
    window_s : float
        Of the meter.
    until : float
        Moment of `time.monotonic` after which none begins.

    Returns
    -------
    list of dict
        ``name``, ``seconds``, ``joules`` (None without a meter) and ``counts`` of one run.
    """
    measured = []
    for case in _cases(device, scale):
        if time.monotonic() > until:
            break
        result = case.run()
        result = case.run()
        spent = energy.per_run(case.run, min_seconds=window_s, device=device)
        vertices, edges, atomics, barriers = case.count(result)
        counts = traversal_counts(
            device,
            seconds=spent.seconds_per_run,
            kernel_seconds=min(result.stats.kernel_ms * 1e-3, spent.seconds_per_run),
            vertices=vertices,
            edges=edges,
            state_bytes=case.state_bytes,
            atomics=atomics,
            barriers=barriers,
        )
        measured.append(
            {
                "name": case.name,
                "seconds": spent.seconds_per_run,
                "joules": spent.joules_per_run,
                "mean_watts": spent.mean_watts,
                "counts": counts,
            }
        )
    return measured


def _modelled(record: Record) -> Record:
    """Fit on the microbenchmarks, and compare with what was left out of the fit."""
    try:
        fitted = fit_record(record)
    except InvalidArgumentError as error:
        return {"none": str(error)}
    samples = [
        Sample(sample["name"], sample["counts"], sample["joules"])
        for sample in record["unseen"]
        if sample["joules"] is not None
    ]
    # Kinds of work that the chosen microbenchmarks had no price for cost nothing here.
    priced = [
        Sample(s.name, {k: v for k, v in s.counts.items() if k in fitted.model.prices}, s.joules)
        for s in samples
    ]
    checked = validate(fitted.model, priced)
    return {
        **fitted.model.record(),
        "fit_errors": fitted.errors,
        "mean_fit_error": fitted.mean_error,
        "unseen_errors": checked.errors,
        "mean_unseen_error": checked.mean_error,
    }


def _render(record: Record) -> str:
    lines = [static_table(record), ""]
    again = record["repeatability"]
    if again:
        lines.append(
            table(
                ("nJ/op, two occasions", "difference"),
                [(name, f"{difference:.2%}") for name, difference in again.items()],
            )
        )
    lines += [f"failed: {out['name']}: {out['error'][:300]}" for out in record["failed"]]
    model = record["model"]
    if "none" in model:
        return "\n".join([*lines, f"no energy model: {model['none']}"])
    lines += [
        "",
        table(
            ("price of", "J", "unit"),
            [
                (name, f"{price:.4g}", model["units"][name])
                for name, price in model["prices"].items()
            ],
        ),
    ]
    lines += [
        "",
        table(
            ("not in the fit", "error"),
            [(name, f"{error:+.1%}") for name, error in model["unseen_errors"].items()],
        ),
    ]
    lines.append(
        f"mean absolute error: {model['mean_fit_error']:.1%} on the microbenchmarks, "
        f"{model['mean_unseen_error']:.1%} on kernels not seen; {record['seconds']:.0f} s in all"
    )
    return "\n".join(lines)


def _add(record: Record, more: Record, occasion: int) -> None:
    for result in more["results"]:
        record["results"].append({**result, "occasion": occasion})
    known = {out["name"] for out in record["skipped"]}
    record["skipped"] += [out for out in more["skipped"] if out["name"] not in known]


def _measure(
    record: Record, entry: Entry, device: Device, protocol: Protocol, occasion: int
) -> None:
    """Measure an entry into the record; one that fails must not cost the others."""
    idle = record["idle_watts"]
    try:
        more = microbenchmarks.run(device=device, protocol=protocol, entries=(entry,), idle=idle)
    except ClgraphError as error:
        record["failed"].append({"name": entry.name, "error": str(error)[:2000]})
    else:
        _add(record, more, occasion)


def _save(record: Record, args: argparse.Namespace, began: float) -> None:
    record["repeatability"] = repeatability(record)
    record["model"] = _modelled(record)
    record["seconds"] = time.monotonic() - began
    keep(record, args.json)
    if args.html is not None:
        args.html.write_text(page(record), encoding="utf-8")


def _in_turn(entries: Sequence[Entry], occasion: int) -> Sequence[Entry]:
    """Put the first of every family first the second time, which may not reach the end."""
    if occasion == 0:
        return entries
    seen: list[str] = []
    place = []
    for entry in entries:
        place.append(seen.count(entry.family))
        seen.append(entry.family)
    return [entry for _, entry in sorted(zip(place, entries, strict=True), key=lambda at: at[0])]


def _sweeps(record: Record, device: Device, until: float) -> None:
    """Take times of what the meter was not asked about, as long as there is time."""
    quick = microbenchmarks.Protocol(launch_s=0.005, ramp_s=0.01, repeats=2, window_s=0.0)
    done = {result["name"] for result in record["results"]}
    for family in SWEEPS:
        for entry in microbenchmarks.choose([family], device.traits):
            if time.monotonic() > until:
                return
            if entry.name not in done:
                done.add(entry.name)
                _measure(record, entry, device, quick, 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything; the exit status is 1 if a microbenchmark failed or came out invalid."""
    parser = command(__doc__, "--json", seconds=150.0, scale=18)
    parser.add_argument("words", nargs="*", default=["important"], help="entries to meter")
    parser.add_argument("--window", type=float, default=2.0, help="of the meter, in seconds")
    parser.add_argument(
        "--no-unseen", dest="unseen", action="store_false", help="leave out kernels of the library"
    )
    parser.add_argument("--store", action="store_true", help="keep it for cg.energy.model")
    parser.add_argument("--html", type=Path)
    args = parser.parse_args(argv)
    began = time.monotonic()
    device = clgraph.device(args.device)
    protocol = microbenchmarks.Protocol(
        launch_s=LAUNCH_S, repeats=REPEATS, window_s=args.window, warm_up_s=WARM_UP_S
    )
    record = microbenchmarks.run(device=device, protocol=protocol, entries=())
    commit, dirty = commit_of_checkout()
    record |= {"commit": commit, "dirty": dirty, "failed": [], "unseen": []}
    for occasion in range(2):
        for entry in _in_turn(microbenchmarks.choose(args.words, device.traits), occasion):
            if time.monotonic() > began + OCCASIONS_UNTIL[occasion] * args.seconds:
                break
            _measure(record, entry, device, protocol, occasion)
        _save(record, args, began)
        if occasion == 0 and args.unseen:
            record["unseen"] = unseen(
                device, args.scale, args.window, began + UNSEEN_UNTIL * args.seconds
            )
            _save(record, args, began)
    if record["idle_watts"] is not None:
        record["idle_watts_after"] = energy.idle_baseline(device)
    _sweeps(record, device, began + SWEEPS_UNTIL * args.seconds)
    _save(record, args, began)
    if args.store:
        microbenchmarks.store(plain(record), device)
    print(_render(record))
    return int(bool(record["failed"]) or any(result["invalid"] for result in record["results"]))


if __name__ == "__main__":
    raise SystemExit(main())
