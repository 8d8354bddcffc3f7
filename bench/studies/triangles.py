"""Triangles of five graphs against the bars: totals, vertices and edges, prepared and not.

``python -m bench.studies.triangles --device nvidia --output record.json``; ``--scale 12`` makes
graphs small enough for a CPU. Counts are first compared with those of the preset "binary-search",
and a graph that differs is not timed; joules are those of totals, with preparation. All graphs of a
seed are drawn side by side before any is timed; they and seeds are taken in turn until the seconds
are spent. What is beside "auto" is timed on the first seed, where nothing else is measured.
``--presets`` times totals of all other presets on the first seed, with joules where they are
metered. ``--add`` goes on with the record that the output has: where one run may not take long,
several measure all graphs. ``--page RECORD`` measures nothing: it prints a record as the tables of
``docs/triangles.md``, medians of its seeds.
"""

from __future__ import annotations

import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import Triangles, TrianglesConfig, generate
from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.cli.reporting import energy_of
from clgraph.errors import InvalidArgumentError

from ..report.triangles import PERS, page, report
from ..runner import machine
from ..runner.stats import relative_width
from .command import command, keep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph
    from clgraph.algorithms.triangles.config import Intersection


__all__ = ["main"]

SEEDS = (20261122, 1, 2)
REPEATS = 7
SHORT_MS, SHORT_REPEATS = 0.1, 20  # of runs whose time a single late one changes
# What is timed beside "auto", where a graph is counted in that way at all.
VARIANTS: tuple[tuple[Intersection, tuple[str, ...]], ...] = (
    (Bitmap(packed=False), ("total", "vertex")),
    (Bitmap(byte_ranks=0), ("total",)),
    (Bitmap(stream=4), PERS),
    (Bitmap(stream=8), ("total",)),
    (Merge("row", span=1), ("total", "vertex")),
    (Merge("row", span=2), ("total", "vertex")),
    (Merge("row", span=4), ("total", "vertex")),
    (Merge("row", tile=0), ("edge",)),
    (Merge("row", tile=8), ("vertex", "edge")),
    (Merge("row", slots=64), ("vertex", "edge")),
    (Merge("row", slots=256), ("vertex", "edge")),
)


def makers(scale: int) -> dict[str, Callable[[int], Graph]]:
    """Graphs by name, each of about ``2**scale`` vertices; a mesh and a road have more."""
    side = round(2 ** (scale / 2))
    mesh, road = side * 1500 // 1024, side * 2000 // 1024
    return {
        "road": lambda seed: generate.road(road, road, seed=seed),
        "mesh": lambda seed: generate.mesh(mesh, mesh, seed=seed),
        "rgg": lambda seed: generate.geometric(1 << scale, seed=seed),
        "kron": lambda seed: generate.kron(scale, seed=seed),
        "kron+2": lambda seed: generate.kron(scale + 2, seed=seed),
    }


def differences(plan: Triangles, pers: Sequence[str]) -> list[str]:
    """Names of the counts that are not those of the preset "binary-search"."""
    other = Triangles(plan.simple, config="binary-search", device=plan.device)
    wrong = []
    for per in pers:
        found, expected = plan.run(per), other.run(per)  # type: ignore[arg-type]
        same = found.count == expected.count
        if found.values is not None and expected.values is not None:
            same = same and np.array_equal(found.values, expected.values)
        if not same:
            wrong.append(per)
    return wrong


def times(plan: Triangles, per: Any) -> dict[str, Any]:
    """Median device milliseconds: with preparation, of the preparation, without, and by step.

    The spread is the width of the interval of the first median, over it. Every run follows a run
    of the total at once: counts of vertices are copied out for milliseconds, and what comes after a
    pause of the device takes some 0.01 ms longer, which was a third of a road graph's.
    """
    with_ms, of_ms, without_ms = [], [], []
    parts: dict[str, list[float]] = {}
    plan.run(per, prepare=True)
    repeats = REPEATS if plan.run(per, prepare=True).stats.kernel_ms > SHORT_MS else SHORT_REPEATS
    for _ in range(repeats):
        plan.run(prepare=True)
        anew = plan.run(per, prepare=True).stats
        with_ms.append(anew.kernel_ms)
        of_ms.append(anew.prepare_ms)
        plan.run()
        without_ms.append(plan.run(per).stats.kernel_ms)
        for name, spent_ms in anew.parts.items():
            parts.setdefault(name, []).append(spent_ms)
    return {
        "repeats": repeats,
        "with_ms": statistics.median(with_ms),
        "spread": relative_width(with_ms),
        "prepare_ms": statistics.median(of_ms),
        "without_ms": statistics.median(without_ms),
        "parts_ms": {name: statistics.median(spent) for name, spent in parts.items()},
    }


def probes_of(plan: Triangles) -> int | None:
    """Report the elements that are looked up in bitmaps; None where the plan has none."""
    if not isinstance(plan.config.intersect, Bitmap):
        return None
    config = TrianglesConfig(intersect=plan.config.intersect, order="degree", counters=True)
    return Triangles(plan.simple, config=config, device=plan.device).run().stats.probes


def measure(
    graph: Graph,
    device: Device,
    pers: Sequence[str],
    *,
    metered: bool,
    variants: bool,
) -> dict[str, Any]:
    """Check and time one graph: `pers` by the configuration "auto", then by the variants."""
    plan = Triangles(graph, device=device)
    wrong = differences(plan, pers)
    found: dict[str, Any] = {
        "n": plan.simple.n,
        "m": plan.simple.m,
        "count": plan.run().count,
        "config": str(plan.config),
        "probes": probes_of(plan),
        "wrong": wrong,
        "variants": {},
    }
    if not wrong:
        found |= {per: times(plan, per) for per in pers}
    if metered and not wrong:
        found["energy"] = energy_of(lambda: plan.run(prepare=True), device)
    for way, asked in VARIANTS if variants and not wrong else ():
        if type(way) is not type(plan.config.intersect):
            continue
        other = Triangles(graph, config=TrianglesConfig(intersect=way), device=device)
        for per in asked:
            if per in pers and other.run(per).count == found["count"]:  # type: ignore[arg-type]
                found["variants"][f"{label(way)} {per}"] = times(other, per)
    return found


def presets_of(graph: Graph, device: Device, count: int, *, metered: bool) -> dict[str, Any]:
    """Totals by every other preset: milliseconds with preparation, and joules.

    Raises
    ------
    ValueError
        If one finds another number.
    """
    found: dict[str, Any] = {}
    for preset in sorted(set(TrianglesConfig.presets()) - {"auto"}):
        plan = Triangles(graph, config=preset, device=device)
        if (other := plan.run().count) != count:
            raise ValueError(f"{preset} finds {other} triangles, not {count}")
        runs = [plan.run(prepare=True).stats.kernel_ms for _ in range(REPEATS)]
        found[preset] = {"with_ms": statistics.median(runs), "spread": relative_width(runs)}
        if metered:
            found[preset]["energy"] = energy_of(partial(plan.run, prepare=True), device)
    return found


def label(way: Intersection) -> str:
    """Report what of a way is not default."""
    given = {each.name: getattr(way, each.name) for each in fields(way)}  # type: ignore[arg-type]
    said = [f"{name}={value}" for name, value in given.items() if value not in {None, "row"}]
    return f"{way.way}({', '.join(said)})"


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = command(__doc__, scale=20, seconds=75.0)
    parser.add_argument("--graphs", help="names from road, mesh, rgg, kron, kron+2; default all")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many of them")
    parser.add_argument("--energy", action="store_true", help="meter joules, two seconds a graph")
    parser.add_argument("--pers", default=",".join(PERS), help="what is counted; default all")
    parser.add_argument("--parts", action="store_true", help="print a table of the steps too")
    parser.add_argument("--presets", action="store_true", help="time totals of other presets too")
    parser.add_argument("--page", type=Path, help="print a record's tables, and measure nothing")
    parser.add_argument("--add", action="store_true", help="measure what the output has not yet")
    return parser.parse_args(argv)


def begun(args: argparse.Namespace, device: Device) -> dict[str, Any]:
    """Give a record without graphs, or with those that are measured already.

    Raises
    ------
    InvalidArgumentError
        If those are of something else, or from elsewhere.
    """
    record: dict[str, Any] = machine.head_of("triangles", device) | {
        "scale": args.scale,
        "graphs_ready_s": {},
        "graphs": {},
        "left_out": [],
        "seconds": 0.0,
    }
    if args.output is None:
        return record
    args.output.parent.mkdir(parents=True, exist_ok=True)
    if args.add and args.output.exists():
        before = json.loads(args.output.read_text(encoding="utf-8"))
        for name in ("schema", "device", "driver", "commit", "dirty", "scale"):
            if before[name] != record[name]:
                raise InvalidArgumentError(
                    f"{args.output} has {name} {before[name]!r}, not {record[name]!r}; "
                    "leave out --add."
                )
        kept = ("started", "graphs_ready_s", "graphs", "seconds")
        record |= {name: before[name] for name in kept}
    return record


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a count is wrong."""
    args = parsed(argv)
    if args.page is not None:
        print(page(json.loads(args.page.read_text(encoding="utf-8"))))
        return 0
    device = clgraph.device(args.device)
    began = time.perf_counter()
    record = begun(args, device)
    spent_s = record["seconds"]
    wanted = makers(args.scale)
    names = args.graphs.split(",") if args.graphs else list(wanted)
    with ThreadPoolExecutor(len(names)) as pool:
        for seed in SEEDS[: args.seeds]:
            missing = [name for name in names if f"{name}/{seed}" not in record["graphs"]]
            if time.perf_counter() - began > args.seconds:
                record["left_out"] += [f"{name}/{seed}" for name in missing]
                continue
            made = {name: pool.submit(wanted[name], seed) for name in missing}
            for name, future in made.items():
                future.result()
                record["graphs_ready_s"][f"{name}/{seed}"] = time.perf_counter() - began
            for name, future in made.items():
                key = f"{name}/{seed}"
                graph = future.result()
                if time.perf_counter() - began > args.seconds:
                    record["left_out"].append(key)
                    continue
                pers = ("total",) if name == "kron+2" else args.pers.split(",")
                variants = seed == SEEDS[0] and not args.energy
                record["graphs"][key] = measure(
                    graph, device, pers, metered=args.energy, variants=variants
                )
                if args.presets and seed == SEEDS[0] and name != "kron+2":
                    count = record["graphs"][key]["count"]
                    record["graphs"][key]["presets"] = presets_of(
                        graph, device, count, metered=args.energy
                    )
                record["seconds"] = spent_s + time.perf_counter() - began
                keep(record, args.output)
    report(record, parts=args.parts)
    return int(any(found["wrong"] for found in record["graphs"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
