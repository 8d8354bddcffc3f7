"""Rates of batches in and out of three graphs by size and regime, beside their bars.

``python -m bench.studies.dynamic --device nvidia --output record.json``; ``--scale 12`` makes
graphs small enough for a CPU. First the contents of smaller graphs are compared with what NumPy
finds of the same batches; if they differ, nothing is timed. Batches are on the device, edges that
the graph has not, with the check for duplicates; each is inserted and then deleted. Primitives are
given as shares of the bandwidth of a copy, by bytes that a pass must move. ``--plot rates.svg``
draws rates by size of the batch, of this run or, with ``--record RECORD.json``, of an earlier one.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import generate
from clgraph.cli.text import table
from clgraph.device import Memory
from clgraph.engine.sweeps import SweepLog
from clgraph.graph.sorting import EdgeSorter, Wishes

from ..runner import machine
from .command import command, keep
from .primitives import primitives, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, DynamicGraph, Graph

__all__ = ["main"]

SEED = 20261122
CHECKED_SCALE = 15
REPEATS = 5
# Batches of up to so many edges are over in a fraction of a millisecond: an interpreter takes some
# twenty calls to be as fast as it gets, and single calls differ by a third.
SMALL, SMALL_REPEATS, SMALL_WARM = 10**5, 40, 20
# Million arcs a second by decade of the batch, for insertion and deletion each, by issue.
BARS = {
    "kron uniform": {4: 110, 5: 400, 6: 1000, 7: 2000},
    "kron rmat": {4: 50, 5: 200, 6: 600, 7: 1200},
    "road uniform": {4: 200, 5: 600, 6: 1000, 7: 2000},
}
STAGES = ("boxes", "rows", "long rows", "commit")
# Ways that take too long, or tell nothing new, by decade of the batch.
LEFT_OUT = {
    2: ("rewrite",),
    5: ("host", "rewrite"),
    6: ("host",),
    7: ("host", "rows", "stages"),
}


def batches(scale: int) -> dict[str, tuple[Graph, Callable[[int, Any], tuple[Any, Any]]]]:
    """Graphs, and what draws edges for each."""
    kron = generate.kron(scale, seed=SEED)
    side = round(2 ** (scale / 2)) * 2000 // 1024
    road = generate.road(side, side, seed=SEED)

    def uniform(n: int) -> Callable[[int, Any], tuple[Any, Any]]:
        return lambda count, rng: (rng.integers(0, n, count), rng.integers(0, n, count))

    def rmat(count: int, rng: Any) -> tuple[Any, Any]:
        sources, targets = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for _ in range(scale):
            part = np.searchsorted((0.57, 0.76, 0.95), rng.random(count, np.float32))
            sources, targets = 2 * sources + part // 2, 2 * targets + part % 2
        number = np.random.default_rng(SEED).permutation(1 << scale)
        return number[sources], number[targets]

    return {
        "kron uniform": (kron, uniform(kron.n)),
        "kron rmat": (kron, rmat),
        "road uniform": (road, uniform(road.n)),
    }


def arcs_of(graph: Graph) -> Any:
    """Arcs of a graph as sorted numbers."""
    sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    return sources * graph.n + graph.indices


def wrong(graph: Graph, draw: Any, device: Device) -> list[str]:
    """Name the regimes after which the contents are not those of NumPy's sets."""
    rng = np.random.default_rng(1)
    held = arcs_of(graph)
    src, dst = draw(20_000, rng)
    chosen = rng.choice(len(held), min(20_000, len(held)), replace=False)
    wanted = np.union1d(held, src * graph.n + dst)
    wanted = np.setdiff1d(wanted, held[chosen])
    found = []
    for regime, allocator in (("rows", "device"), ("rows", "host"), ("rewrite", "host")):
        dynamic = clgraph.DynamicGraph(
            clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=True),
            allocator=allocator,
            device=device,
        )
        for _ in range(2):  # the second time there are blocks enough
            dynamic.insert_edges(src, dst, regime=regime)
            dynamic.delete_edges(held[chosen] // graph.n, held[chosen] % graph.n, regime=regime)
            if not np.array_equal(arcs_of(dynamic.to_graph()), wanted):
                found.append(f"{regime} by the {allocator}")
            dynamic.delete_edges(src, dst, regime=regime)
            dynamic.insert_edges(held // graph.n, held % graph.n, regime=regime)
            if not np.array_equal(arcs_of(dynamic.to_graph()), held):
                found.append(f"back again, {regime} by the {allocator}")
    return found


def rates(dynamic: DynamicGraph, src: Any, dst: Any, way: str) -> dict[str, Any]:
    """Median milliseconds of inserting and of deleting a batch, in all and on the device.

    Ways are regimes, or "host" for rows whose blocks the host finds, or "stages" for rows that
    change in place with a launch for each stage.
    """
    regime = "rows" if way in {"host", "stages"} else way
    dynamic.allocator = "host" if way == "host" else "device"
    in_place = dynamic._updater.in_place  # noqa: SLF001 (what nobody else has a use for)
    together, in_place.together = in_place.together, in_place.together and way != "stages"
    memory = Memory(dynamic.device)
    ends = [memory.upload("ends", ids.astype(np.uint32)) for ids in (src, dst)]
    times: dict[str, list[float]] = {}
    steps: dict[str, dict[str, float]] = {}
    repeats, warm = (SMALL_REPEATS, SMALL_WARM) if len(src) <= SMALL else (REPEATS, 1)
    for turn in range(repeats + warm):
        for name, call in (("insert", dynamic.insert_edges), ("delete", dynamic.delete_edges)):
            result = call(*ends, regime=regime)
            if turn >= warm:
                times.setdefault(f"{name}_ms", []).append(result.total_ms)
                times.setdefault(f"{name}_kernel_ms", []).append(result.kernel_ms)
                steps[name] = result.steps | {"launches": result.launches, "moved": result.moved}
    in_place.together, dynamic.allocator = together, "device"
    return {name: statistics.median(values) for name, values in times.items()} | {"steps": steps}


def updates(
    name: str, graph: Graph, draw: Any, device: Device, most: int, until: float
) -> dict[str, Any]:
    """Time one graph, larger batches last, until the time is over."""
    started = time.perf_counter()
    figures: dict[str, Any] = {"n": graph.n, "m": graph.m}
    rows = clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=True)
    began = time.perf_counter()
    dynamic = clgraph.DynamicGraph(rows, device=device)
    figures["init_ms"] = 1e3 * (time.perf_counter() - began)
    figures["over_csr"] = dynamic.memory_usage().over_csr
    rng = np.random.default_rng(2)
    for decade in (2, *BARS[name]):
        if decade > most or time.perf_counter() > until:
            continue
        src, dst = draw(10**decade, rng)
        fresh = ~dynamic.has_edges(src, dst)
        for regime in ("stages", "host", "rows", "rewrite", "auto"):
            if regime in LEFT_OUT.get(decade, ()):
                continue
            times = rates(dynamic, src[fresh], dst[fresh], regime) | {"edges": int(fresh.sum())}
            if regime == "stages":
                figures[f"{decade} stages"] = times["steps"]
                print(name, decade, "stages", json.dumps(times["steps"]), flush=True)
                continue
            figures[f"{decade} {regime}"] = times
            print(name, decade, regime, json.dumps(times), flush=True)
    figures["seconds"] = time.perf_counter() - started
    return figures


def building(graph: Graph, device: Device) -> dict[str, Any]:
    """Milliseconds of making rows of a graph's edges, each given once and in any order.

    Device time of sorting, symmetrising and dropping duplicates, and host wall clock with the
    copies there and back.
    """
    sources = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees)
    chosen = np.random.default_rng(4).permutation(np.flatnonzero(sources <= graph.indices))
    src, dst = sources[chosen], graph.indices[chosen].astype(np.int64)
    wishes = Wishes(directed=True, symmetrize=True, dedup=True, self_loops=True)
    device_ms, wall_ms = [], []
    for _ in range(REPEATS):
        sorter = EdgeSorter(device, graph.n, len(src))
        sorter.log = SweepLog(named=True)
        ends = [sorter.memory.upload("ends", ids.astype(np.uint32)) for ids in (src, dst)]
        rows = sorter.rows(ends[0], ends[1], None, symmetrize=True, wishes=wishes)
        sorter.log.wait()
        device_ms.append(sorter.log.kernel_ms)
        parts = sorter.log.parts
        del sorter, ends
    if rows[3] != graph.m or not np.array_equal(rows[1].read(rows[3]), graph.indices):
        raise SystemExit("WRONG rows made of edges")
    for _ in range(2):
        began = time.perf_counter()
        clgraph.from_edges(src, dst, n=graph.n, symmetrize=True, dedup=True, device=device)
        wall_ms.append(1e3 * (time.perf_counter() - began))
    median = statistics.median(device_ms)
    return {"edges": len(src), "device_ms": median, "wall_ms": min(wall_ms), "parts": parts}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if contents are wrong."""
    parser = command(__doc__, scale=20, seconds=120.0)
    parser.add_argument("--most", type=int, default=7, help="decade of the largest batch")
    parser.add_argument(
        "--elements", type=int, default=1 << 25, help="of the primitives' arrays, or 0"
    )
    parser.add_argument("--plot", type=Path, help="picture of rates by size of the batch")
    parser.add_argument("--record", type=Path, help="record to draw, instead of a run")
    args = parser.parse_args(argv)
    if args.record is not None:
        draw_rates(json.loads(args.record.read_text("utf-8")), args.plot)
        return 0
    device = clgraph.device(args.device)
    record: dict[str, Any] = machine.head_of("dynamic", device) | {
        "scale": args.scale,
        "repeats": {"small": SMALL_REPEATS, "others": REPEATS},
        "primitives": primitives(device, args.elements) if args.elements else {},
        "wrong": [],
        "graphs": {},
        "left_out": [],
    }
    # Contents of smaller graphs, by the same kernels: NumPy takes seconds for the large ones.
    for name, (graph, draw) in batches(min(args.scale, CHECKED_SCALE)).items():
        record["wrong"] += [f"{name}: {regime}" for regime in wrong(graph, draw, device)]
    if record["wrong"]:
        print("WRONG contents after", ", ".join(record["wrong"]))
        return 1
    made = batches(args.scale)
    record["building"] = figures = building(made["kron uniform"][0], device)
    print(
        "rows of", figures["edges"], "edges:", f"{figures['device_ms']:.2f} ms on the device (4.2),"
    )
    print(f"  {figures['wall_ms']:.0f} ms with copies and checks", flush=True)
    until = time.perf_counter() + args.seconds
    for name, (graph, draw) in made.items():
        if time.perf_counter() > until:
            record["left_out"].append(name)
            continue
        record["graphs"][name] = updates(name, graph, draw, device, args.most, until)
        keep(record, args.output)
    print_tables(record)
    if args.plot is not None:
        draw_rates(record, args.plot)
    return 0


def draw_rates(record: dict[str, Any], path: Path) -> None:
    """Draw million edges a second by edges of a batch, in and out, with the bars beside them."""
    import matplotlib as mpl  # noqa: PLC0415 - optional

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 4))
    for name, figures in record["graphs"].items():
        found = sorted((t["edges"], t) for key, t in figures.items() if key.endswith(" auto"))
        color = None
        for way, style in (("insert", "o-"), ("delete", "o:")):
            rates = [times["edges"] / times[f"{way}_ms"] / 1e3 for _, times in found]
            sizes = [edges for edges, _ in found]
            (line,) = axes.loglog(sizes, rates, style, color=color, label=f"{name}, {way}")
            color = line.get_color()
        bars = BARS[name]
        axes.loglog([10**d for d in bars], list(bars.values()), "_", color=color, markersize=16)
    axes.set(xlabel="edges of a batch", ylabel="million edges a second", title=record["device"])
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def print_tables(record: dict[str, Any]) -> None:
    """Print what was measured beside the bars."""
    print(shown(record["primitives"]))
    rows = []
    for name, figures in record["graphs"].items():
        for key, times in figures.items():
            if not isinstance(times, dict) or "edges" not in times:
                continue
            bar = BARS[name].get(int(key.split()[0]))
            speeds = [
                f"{times['edges'] / times[f'{w}_ms'] / 1e3:.0f}" for w in ("insert", "delete")
            ]
            device_ms = [f"{times[f'{w}_kernel_ms']:.3f}" for w in ("insert", "delete")]
            rows.append([name, key, *speeds, *device_ms, "" if bar is None else str(bar)])
        rows.append([name, "bytes over CSR", f"{figures['over_csr']:.2f}", "", "", "", "1.4"])
    stages = [
        [
            name,
            key,
            way,
            *(f"{1e3 * steps.get(one, 0.0):.1f}" for one in STAGES),
            str(steps["moved"]),
        ]
        for name, figures in record["graphs"].items()
        for key, ways in figures.items()
        if key.endswith("stages")
        for way, steps in ways.items()
    ]
    print(table(["graph", "batch", "way", *(f"{one} us" for one in STAGES), "moved"], stages))
    columns = ["graph", "batch", "in M/s", "out M/s", "in kernel ms", "out kernel ms", "bar M/s"]
    print(table(columns, rows))


if __name__ == "__main__":
    raise SystemExit(main())
