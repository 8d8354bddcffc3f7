"""Triangles of four graphs against the bars: totals, vertices and edges, prepared and not.

``python -m bench.studies.triangles --device nvidia --output record.json``; ``--scale 12`` makes
graphs small enough for a CPU. Counts are first compared with those of the preset "binary-search",
and a graph that differs is not timed; joules are those of totals, with preparation. Seeds are
taken in turn until the seconds are spent.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import Triangles, generate
from clgraph.cli.searching import energy_of
from clgraph.cli.text import table

from ..runner import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph

__all__ = ["main"]

SEEDS = (20261122, 1, 2)
PERS = ("total", "vertex", "edge")
REPEATS = 7
# Milliseconds with preparation, by issue; those of vertices are 1.5 times the total's found.
BARS = {
    "kron": {"total": 2.0, "edge": 9.0},
    "rgg": {"total": 0.27, "edge": 0.6},
    "mesh": {"total": 0.085, "edge": 0.3},
    "road": {"total": 0.06, "edge": 0.11},
}
VERTEX_FACTOR = 1.5


def makers(scale: int) -> dict[str, Callable[[int], Graph]]:
    """Graphs by name, each of about ``2**scale`` vertices; a mesh and a road have more."""
    side = round(2 ** (scale / 2))
    mesh, road = side * 1500 // 1024, side * 2000 // 1024
    return {
        "road": lambda seed: generate.road(road, road, seed=seed),
        "mesh": lambda seed: generate.grid2d(mesh, mesh),  # noqa: ARG005 (there is one)
        "rgg": lambda seed: generate.geometric(1 << scale, seed=seed),
        "kron": lambda seed: generate.kron(scale, seed=seed),
    }


def differences(plan: Triangles) -> list[str]:
    """Names of the counts that are not those of the preset "binary-search"."""
    other = Triangles(plan.simple, config="binary-search", device=plan.device)
    wrong = []
    for per in PERS:
        found, expected = plan.run(per), other.run(per)  # type: ignore[arg-type]
        same = found.count == expected.count
        if found.values is not None and expected.values is not None:
            same = same and np.array_equal(found.values, expected.values)
        if not same:
            wrong.append(per)
    return wrong


def times(plan: Triangles, per: Any) -> dict[str, float]:
    """Median device milliseconds: with preparation, of the preparation, and without."""
    with_ms, of_ms, without_ms = [], [], []
    for _ in range(REPEATS):
        anew = plan.run(per, prepare=True).stats
        with_ms.append(anew.kernel_ms)
        of_ms.append(anew.prepare_ms)
        without_ms.append(plan.run(per).stats.kernel_ms)
    return {
        "with_ms": statistics.median(with_ms),
        "prepare_ms": statistics.median(of_ms),
        "without_ms": statistics.median(without_ms),
    }


def measure(graph: Graph, device: Device, metered: bool) -> dict[str, Any]:
    """Check and time one graph."""
    plan = Triangles(graph, device=device, clean=True)
    wrong = differences(plan)
    found: dict[str, Any] = {
        "n": plan.simple.n,
        "m": plan.simple.m,
        "count": plan.run().count,
        "config": str(plan.config),
        "probes": plan.run().stats.probes,
        "wrong": wrong,
    }
    if not wrong:
        found |= {per: times(plan, per) for per in PERS}
    if metered and not wrong:
        found["energy"] = energy_of(lambda: plan.run(prepare=True), device)
    return found


def rows_of(graphs: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Lines of the table: each graph and what is counted, beside its bar."""
    rows = []
    for key, found in graphs.items():
        kind = key.split("/")[0]
        if found["wrong"]:
            rows.append([key, "WRONG: " + ", ".join(found["wrong"]), "", "", "", ""])
            continue
        for per in PERS:
            told = found[per]
            bar = BARS[kind].get(per, VERTEX_FACTOR * found["total"]["with_ms"])
            figures = [f"{told[name]:.3f}" for name in ("with_ms", "prepare_ms", "without_ms")]
            rows.append([key, per, *figures, f"{bar:.3f}"])
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a count is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    began = time.perf_counter()
    commit, dirty = machine.commit_of_checkout()
    record: dict[str, Any] = {
        "schema": "clgraph-study-triangles",
        "started": datetime.now(UTC).isoformat(),
        "device": device.name,
        "driver": device.driver,
        "commit": commit,
        "dirty": dirty,
        "scale": args.scale,
        "repeats": REPEATS,
        "graphs": {},
        "left_out": [],
    }
    for seed in SEEDS:
        for name, make in makers(args.scale).items():
            key = f"{name}/{seed}"
            if time.perf_counter() - began > args.seconds:
                record["left_out"].append(key)
                continue
            record["graphs"][key] = measure(make(seed), device, seed == SEEDS[0])
            if args.output is not None:
                args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    columns = ["graph", "per", "with ms", "prepare ms", "without ms", "bar ms"]
    print(table(columns, rows_of(record["graphs"])))
    if record["left_out"]:
        print("no time for", ", ".join(record["left_out"]))
    return int(any(found["wrong"] for found in record["graphs"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
