"""Truss and core numbers of seven graphs against the bars: all numbers, and the greatest k alone.

``python -m bench.studies.truss --device nvidia --data FOLDER --output record.json``; the folder
holds ``soc-slashdot0902``, ``dblp-2010`` and ``email-enron`` as ``NAME.npz.xz``, which are left out
where they are not there; ``--scale 12`` makes graphs small enough for a CPU.

Truss numbers by lists are first compared with those by rows, core numbers with those by counting
anew (and with igraph's, where it is installed), and the greatest k with the greatest number; what
differs is not timed. Milliseconds are of the device and include turning edges, counting and listing
triangles. Joules are of all truss numbers.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import clgraph
from clgraph import Cores, CoresConfig, Graph, Truss, TrussConfig, from_edges, generate
from clgraph.algorithms.truss import peeling
from clgraph.cli.reporting import energy_of
from clgraph.cli.text import table
from clgraph.device.hardware.measured import ONE_GROUP_EDGES, PEELING_DRIFT, Constant
from clgraph.errors import ClgraphError, InvalidGraphError
from clgraph.graph.modules import module

from ..runner import machine
from ..runner.graphs import Places, UnavailableError, find
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clgraph import Device

__all__ = ["main"]

SEED = 20261122
REPEATS = 5
REAL = ("soc-slashdot0902", "dblp-2010", "email-enron")
# Milliseconds by issue: all truss numbers, the greatest k alone, all core numbers.
BARS = {
    "kron": (140.0, 100.0, 12.0),
    "rgg": (14.0, 7.0, 1.0),
    "mesh": (12.0, 6.0, None),
    "road": (0.25, 0.125, 1.5),
    "soc-slashdot0902": (6.0, 3.0, None),
    "dblp-2010": (4.0, 2.0, None),
    "email-enron": (4.0, 2.0, None),
}
ROWS_BAR = 1000.0  # of kron without lists
METERED = ("kron", "soc-slashdot0902")
# The seed's: kilojoules as seconds times the mean power that it takes for the host and its card.
SEED_POWER_W = 350.0


def triangulated(side: int, seed: int) -> Graph:
    """Give a square grid with one diagonal in every cell, drawn."""
    place = np.arange(side * side).reshape(side, side)
    first = np.random.default_rng(seed).integers(0, 2, (side - 1, side - 1)).astype(bool)
    pairs = [
        (place[:, :-1], place[:, 1:]),
        (place[:-1], place[1:]),
        (place[:-1, :-1][first], place[1:, 1:][first]),
        (place[:-1, 1:][~first], place[1:, :-1][~first]),
    ]
    sources, targets = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return from_edges(sources, targets, n=side * side, directed=False, symmetrize=True)


def makers(scale: int, data: Path | None, seed: int = SEED) -> dict[str, Callable[[], Graph]]:
    """Graphs by name; generated ones have about ``2**scale`` vertices, mesh and road more."""
    side = round(2 ** (scale / 2))
    mesh, road = side * 1500 // 1024, side * 2000 // 1024

    def real(name: str) -> Callable[[], Graph]:
        return lambda: find(name, Places(data=data)).graph

    return {
        "road": lambda: generate.road(road, road, seed=seed),
        "mesh": lambda: triangulated(mesh, seed),
        "rgg": lambda: generate.geometric(1 << scale, seed=seed),
        **{name: real(name) for name in REAL},
        "kron": lambda: generate.kron(scale, seed=seed),
    }


def differences(plan: Truss, cores: Cores) -> list[str]:
    """Name what is found otherwise in another way."""
    simple, device = plan.simple, plan.device
    wrong = []
    found = plan.run()
    rows = Truss(simple, config=TrussConfig(triangles="rows"), device=device).run()
    if not found.same(rows):
        wrong.append("truss numbers by rows")
    if plan.run(greatest=True).max_k != found.max_k:
        wrong.append("greatest k")
    known = cores.run()
    anew = Cores(simple, config="recount", device=device).run()
    if not known.same(anew):
        wrong.append("core numbers")
    try:
        igraph = module("igraph")
    except ImportError:
        return wrong
    if simple.m < 1 << 22:
        sources, targets, _ = simple.listed_edges()
        other = igraph.Graph(n=simple.n, edges=np.column_stack([sources, targets]))
        if not np.array_equal(np.asarray(known.numbers), other.coreness()):
            wrong.append("igraph's core numbers")
    return wrong


def times(run: Callable[[], Any], repeats: int = REPEATS) -> dict[str, Any]:
    """Report the median of device milliseconds, and of their parts."""
    run()
    stats = [run().stats for _ in range(repeats)]
    middle = sorted(stats, key=lambda each: each.kernel_ms)[len(stats) // 2]
    return {
        "ms": middle.kernel_ms,
        "all_ms": [each.kernel_ms for each in stats],
        "total_ms": statistics.median(each.total_ms for each in stats),
        "parts": middle.parts,
        "mode": middle.mode,
        "launches": middle.launches,
        "rounds": len(middle.rounds),
        "visited": middle.visited,
        "probes": middle.probes,
        "device_bytes": middle.device_bytes,
    }


def measure(
    name: str,
    graph: Graph,
    device: Device,
    shapes: Sequence[str],
    drifts: Sequence[str] = (),
    *,
    metered: bool = False,
) -> dict[str, Any]:
    """Check and time one graph."""
    try:
        plan = Truss(graph, device=device)
    except InvalidGraphError:
        plan = Truss(Truss(graph, device=device, clean=True).simple, device=device)
    cores = Cores(plan.simple, device=device)
    result = plan.run()
    found: dict[str, Any] = {
        "n": plan.simple.n,
        "m": plan.simple.m,
        "max_k": result.max_k,
        "triangles": result.stats.triangles,
        "method": plan.method,
        "wrong": differences(plan, cores),
    }
    if found["wrong"]:
        return found
    found["levels"] = [list(map(float, level)) for level in result.stats.levels.tolist()]
    found["numbers"] = times(lambda: plan.run(prepare=True))
    found["peel"] = times(plan.run)
    found["greatest"] = times(lambda: plan.run(greatest=True, prepare=True))
    found["cores"] = times(cores.run)
    if name in METERED or metered:
        found["energy"] = energy_of(lambda: plan.run(prepare=True), device)
    for shape in shapes:
        try:
            found[f"peel, {shape}"], found[f"cores, {shape}"] = shaped(plan.simple, shape, device)
        except ClgraphError as error:
            found[f"shape {shape}"] = str(error)
    for drift in drifts:
        found |= drifted(plan.simple, drift, device)
    rows = Truss(plan.simple, config="rows", device=device)
    found["rows"] = times(lambda: rows.run(prepare=True), 2)
    found["greatest, rows"] = times(lambda: rows.run(greatest=True, prepare=True), 3)
    return found


def shaped(graph: Graph, shape: str, device: Device) -> tuple[dict[str, Any], dict[str, Any]]:
    """Time peeling in so many groups of so many items, in which so many elements are a group's own.

    `shape` is ``SIZE``, ``SIZExGROUPS`` or ``SIZExGROUPS/ELEMENTS``; 0 groups are as many as usual.
    """
    launch, _, few = shape.partition("/")
    size, _, groups = launch.partition("x")
    few_edges = Constant("", "", int(few)) if few else ONE_GROUP_EDGES
    schedule = clgraph.schedule.Persistent(group_size=int(size), groups=int(groups or 0) or None)
    with mock.patch.object(peeling, "ONE_GROUP_EDGES", few_edges):
        plan = Truss(graph, config=TrussConfig(schedule=schedule), device=device)
        plan.run()
        cores = Cores(graph, config=CoresConfig(schedule=schedule), device=device)
    return times(plan.run, 3), times(cores.run, 3)


def drifted(graph: Graph, drift: str, device: Device) -> dict[str, Any]:
    """Time so many rounds of a SIMD group alone: ``ROUNDS`` or ``ROUNDS/MOST_ITEMS``."""
    rounds, _, items = drift.partition("/")
    limit = Constant("", "", (0, int(items))) if items else PEELING_DRIFT
    with mock.patch.object(peeling, "PEELING_DRIFT", limit):
        plan = Truss(graph, config=TrussConfig(drift=int(rounds)), device=device)
        plan.run()
        plan.run(greatest=True)
        cores = Cores(graph, config=CoresConfig(drift=int(rounds)), device=device)
    return {
        f"peel, drift {drift}": times(plan.run, 3),
        f"greatest, drift {drift}": times(lambda: plan.run(greatest=True, prepare=True), 3),
        f"cores, drift {drift}": times(cores.run, 3),
    }


def rows_of(graphs: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Give the lines of the table: each graph and what is found, beside its bar."""
    lines = []
    for name, found in graphs.items():
        if found.get("wrong"):
            lines.append([name, "WRONG: " + ", ".join(found["wrong"]), *[""] * 7])
            continue
        bars = dict(zip(("numbers", "greatest", "cores"), BARS[name], strict=True))
        bars["rows"] = ROWS_BAR if name == "kron" else None
        for what in [key for key in found if isinstance(found[key], dict) and "ms" in found[key]]:
            one, bar = found[what], bars.get(what)
            parts = " ".join(f"{part} {ms:.2f}" for part, ms in one["parts"].items())
            figures = [f"{one['ms']:.3f}", "" if bar is None else f"{bar:g}"]
            figures.append(f"{one['total_ms']:.2f}")
            counts = [str(one["rounds"]), str(one["launches"]), one["mode"]]
            lines.append([name, what, *figures, parts, *counts])
        lines.append([name, f"k_max {found['max_k']}", f"T {found['triangles']}", *[""] * 6])
    return lines


def joules_row(energy: dict[str, Any]) -> list[str]:
    """Give what the page's table says of a graph: time, joules, and those by a constant power."""
    seconds = energy["seconds_per_run"]
    return [
        f"{1e3 * seconds:.1f}",
        f"{energy['joules_per_run']:.3g}",
        f"{100 * energy['spread']:.0f} %",
        f"{energy['mean_watts']:.0f}",
        f"{SEED_POWER_W * seconds:.3g}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a number is wrong."""
    parser = command(__doc__, scale=20, data=None, seconds=60.0)
    parser.add_argument("--seed", type=int, default=SEED, help="of generated graphs")
    parser.add_argument("--graphs", help="names of those wanted, with commas; default all")
    parser.add_argument("--energy", action="store_true", help="joules of every graph")
    parser.add_argument("--shapes", default="", help="launches to try, see `shaped`, with commas")
    parser.add_argument("--drifts", default="", help="drifts to try, see `drifted`, with commas")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    began = time.perf_counter()
    record: dict[str, Any] = machine.head_of("truss", device) | {
        "scale": args.scale,
        "seed": args.seed,
        "repeats": REPEATS,
        "seed_power_w": SEED_POWER_W,
        "graphs": {},
        "left_out": {},
    }
    shapes, drifts = (list(filter(None, each.split(","))) for each in (args.shapes, args.drifts))
    for name, make in makers(args.scale, args.data, args.seed).items():
        if args.graphs and name not in args.graphs.split(","):
            continue
        if time.perf_counter() - began > args.seconds:
            record["left_out"][name] = "no time"
            continue
        try:
            graph = make()
        except UnavailableError as error:
            record["left_out"][name] = str(error)
            continue
        since = time.perf_counter()
        record["graphs"][name] = measure(name, graph, device, shapes, drifts, metered=args.energy)
        record["graphs"][name]["seconds"] = time.perf_counter() - since
        keep(record, args.output)
    columns = ["graph", "what", "ms", "bar", "wall ms", "parts", "rounds", "launches", "mode"]
    print(table(columns, rows_of(record["graphs"])))
    metered = [
        [name, *joules_row(found["energy"])]
        for name, found in record["graphs"].items()
        if found.get("energy", {}).get("joules_per_run") is not None
    ]
    if metered:
        print(table(["graph", "ms", "joules", "spread", "watts", "seed's way, joules"], metered))
    for name, why in record["left_out"].items():
        print("left out:", name, why)
    return int(any(found["wrong"] for found in record["graphs"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
