"""Communities: checked against the host, then timed, on a kron graph and a planted partition.

``python -m bench.studies.communities --device nvidia --seconds 55 --json F``; ``--scale 12`` makes
graphs small enough for a CPU, and ``--against`` names other libraries to measure in turn.

Checks come first, on small graphs: modularity by NumPy, connected communities, the last round of
label propagation on the host, the same labels from two configurations, and those of the record that
``--expected`` names, of whatever device. What fails is reported and ends the run. Edges count as
they are stored, both ways. Times are of the device, with the host's looks in between; a graph is
left out if the seconds are over.
"""

from __future__ import annotations

import functools
import json
import statistics
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph as cg
from clgraph.cli.text import table
from clgraph.errors import ClgraphError

from ..peers.communities import DETECTED
from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main", "planted"]

SEED = 20261122
SCHEMA = "clgraph-communities-1"
BAR_EDGES_PER_S = 0.5e9
WITHIN, BETWEEN = 16, 8  # mean edges of a vertex within its part, and to others

Row = dict[str, Any]


def planted(n: int, parts: int, *, device: cg.Device | None = None) -> cg.Graph:
    """Give a planted partition: random edges within equal parts, and fewer between any vertices.

    Parameters
    ----------
    n, parts : int
        Vertices, and parts of them.
    device : Device, optional
        What sorts the edges.
    """
    rng = np.random.default_rng(SEED)
    size = n // parts
    inner, outer = n * WITHIN // 2, n * BETWEEN // 2
    first = rng.integers(0, size * parts, inner, dtype=np.int32)
    second = first // size * size + rng.integers(0, size, inner, dtype=np.int32)
    sources = np.concatenate([first, rng.integers(0, n, outer, dtype=np.int32)])
    targets = np.concatenate([second, rng.integers(0, n, outer, dtype=np.int32)])
    return cg.from_edges(sources, targets, n=n, directed=False, symmetrize=True, device=device)


def small_graphs() -> dict[str, cg.Graph]:
    """Graphs with long rows and short ones, weights, loops and parts that hang apart."""
    rng = np.random.default_rng(SEED)
    ends = rng.integers(0, 3000, (2, 20_000))
    made = {
        "kron": cg.generate.kron(13, seed=SEED),
        "planted": planted(4000, 50),
        "star": cg.generate.star(20_000),
    }
    weights = rng.random(20_000)
    made["real"] = cg.from_edges(ends[0], ends[1], weights, n=3100, directed=False, symmetrize=True)
    return made


def check(device: cg.Device) -> tuple[list[str], dict[str, int]]:
    """Say what is wrong, and give a checksum of the labels of each run."""
    wrong, sums = [], {}
    calls: dict[str, Callable[..., Any]] = {
        "leiden": cg.leiden,
        "louvain": cg.louvain,
        "propagation": cg.label_propagation,
    }
    for name, graph in small_graphs().items():
        for kind, call in calls.items():
            try:
                found = call(graph, device=device, verify=True).labels
            except ClgraphError as error:
                wrong.append(f"{kind} of {name}: {error}")
                continue
            sums[f"{kind} of {name}"] = zlib.crc32(found.tobytes())
            if name == "kron":
                again = call(graph, config="global", device=device).labels
                if not np.array_equal(found, again):
                    wrong.append(f"{kind} of {name} differs with tables in global memory")
    return wrong, sums


def timed(run: Callable[[], Any], repeats: int, most_s: float) -> tuple[Any, list[float]]:
    """Give the run of the median time, and all times in milliseconds, after one that warms up."""
    run()
    began = time.perf_counter()
    results = [run()]
    while len(results) < repeats and time.perf_counter() - began < most_s:
        results.append(run())
    results.sort(key=lambda result: result.stats.kernel_ms)
    middle = results[(len(results) - 1) // 2]
    return middle, [result.stats.kernel_ms for result in results]


def measured(
    name: str, graph: cg.Graph, device: cg.Device, repeats: int, most_s: float
) -> list[Row]:
    """Time everything on a graph."""
    rows = []
    detect: dict[str, tuple[Any, dict[str, Any]]] = {
        "leiden": (cg.Leiden, {}),
        "leiden, 1 iteration": (cg.Leiden, {"iterations": 1}),
        "louvain": (cg.Louvain, {}),
        "propagation, 10 rounds": (cg.LabelPropagation, {}),
    }
    for kind, (plan_of, options) in detect.items():
        plan = plan_of(graph, device=device)
        result, times = timed(functools.partial(plan.run, **options), repeats, most_s)
        median_ms = statistics.median(times)
        row: Row = {
            "graph": name,
            "vertices": graph.n,
            "edges": graph.m,
            "algorithm": kind,
            "kernel_ms": times,
            "total_ms": result.stats.total_ms,
            "edges_per_s": 1e3 * graph.m / median_ms,
            "modularity": result.modularity,
            "communities": result.count,
            "launches": result.stats.launches,
            "levels": result.stats.levels,
            "parts": result.stats.parts,
            "device_bytes": result.stats.device_bytes,
        }
        if result.modularity is None:
            row["modularity"] = cg.modularity(graph, result, device=device)
        rows.append(row)
        del plan, result  # and their memory
    return rows


def against(name: str, graph: cg.Graph, libraries: list[str]) -> list[Row]:
    """Time other libraries; their modularity is computed here."""
    rows = []
    for library in libraries:
        for kind, peers in DETECTED.items():
            if library not in peers:
                continue
            peer = peers[library](graph)
            answer, spent_ms = peer.timed(0)
            quality = cg.modularity(graph, peer.values(answer, 0))
            row = {"graph": name, "algorithm": f"{kind} by {library}", "kernel_ms": [spent_ms]}
            rows.append(
                row | {"edges_per_s": 1e3 * graph.m / spent_ms, "modularity": float(quality)}
            )
    return rows


def shown(rows: list[Row]) -> str:
    """Give a table."""
    lines = [
        [
            row["graph"],
            row["algorithm"],
            f"{statistics.median(row['kernel_ms']):.2f}",
            f"{row['total_ms']:.2f}" if "total_ms" in row else "",
            f"{row['edges_per_s'] / 1e9:.3f}",
            f"{row['modularity']:.4f}",
            str(row.get("communities", "")),
            str(row.get("launches", "")),
        ]
        for row in rows
    ]
    titles = ["graph", "algorithm", "ms", "host ms", "G edges/s", "modularity", "found", "launches"]
    return table(titles, lines)


def main() -> None:
    """Check, time and write the record."""
    parser = command(__doc__, "--json", seconds=55.0, scale=20, repeats=5)
    parser.add_argument("--edges", type=int, default=10**8, help="of the planted partition")
    parser.add_argument("--against", nargs="*", default=[], help="other libraries")
    parser.add_argument("--expected", type=Path, help="a record whose labels are to be found again")
    args = parser.parse_args()
    began = time.perf_counter()
    device = cg.device(args.device)
    wrong, sums = check(device)
    if args.expected is not None:
        known = json.loads(args.expected.read_text())["checksums"]
        wrong += [f"labels of {key}" for key in known if sums.get(key) != known[key]]
    print(f"checked in {time.perf_counter() - began:.1f} s: {wrong or 'all as it should be'}")
    if wrong:
        raise SystemExit(1)
    small = args.scale < 18
    n = (1 << 12) if small else args.edges // (WITHIN + BETWEEN)
    graphs: dict[str, Callable[[], cg.Graph]] = {
        f"kron{args.scale}": lambda: cg.generate.kron(args.scale, seed=SEED),
        "planted": lambda: planted(n, max(n // 400, 1), device=device),
        f"road{args.scale}": lambda: cg.generate.road(*(round(2 ** (args.scale / 2)),) * 2),
    }
    rows: list[Row] = []
    for name, make in graphs.items():
        left = args.seconds - (time.perf_counter() - began)
        if left < args.seconds / 8:
            print(f"{name} is left out: {left:.0f} s are left")
            continue
        graph = make()
        made_s = time.perf_counter() - began
        rows += measured(name, graph, device, args.repeats, left / 24)
        rows += against(name, graph, args.against)
        print(f"{name}: made by {made_s:.1f} s, done by {time.perf_counter() - began:.1f} s")
        for row in rows[-4:]:
            parts = sorted(row.get("parts", {}).items(), key=lambda part: -part[1])[:9]
            print(f"  {row['algorithm']}: " + ", ".join(f"{k} {v:.2f}" for k, v in parts))
        for row in rows:
            if row["graph"] == name and row["algorithm"] == "leiden":
                for level in row["levels"]:
                    print(f"    {level}")
    if args.json is not None:
        described = machine.describe(device, None)
        record = {
            "schema": SCHEMA,
            "machine": described,
            "bar_edges_per_s": BAR_EDGES_PER_S,
            "checksums": sums,
            "rows": rows,
        }
        keep(record, args.json)
    print(shown(rows))


if __name__ == "__main__":
    main()
