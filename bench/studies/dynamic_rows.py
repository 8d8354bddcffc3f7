"""Rows in blocks beside compressed rows: searches, components and products, bytes and beginnings.

``python -m bench.studies.dynamic_rows --device nvidia --output record.json``; ``--scale 12`` makes
graphs small enough for a CPU. Every pair runs in turn, on the same sources, and is told as the
speed on blocks over that on compressed rows, by device time; distances, labels and products are
compared first. Bars: 0.95 on the Kronecker graph and 0.85 on roads for searches and products; 1.4
times the bytes.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import generate
from clgraph.cli.text import table
from clgraph.device import Memory
from clgraph.engine.resident import resident

from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, DynamicGraph, Graph

__all__ = ["main"]

SEED = 20261122
SOURCES = 16
REPEATS = 9
BARS = {"kron": 0.95, "road": 0.85}
PROPERTIES = {"since": "u4", "until": "u4", "kind": "i4", "score": "f4"}
LAYOUT_BATCHES = (10**3, 10**4, 10**5, 10**6)
BLOCK_EDGES = (None, 2**8, 2**16, 2**19, 2**22)  # of the memory study; None is the default


def graphs(scale: int) -> dict[str, Graph]:
    """Make a Kronecker graph, and roads of about as many vertices."""
    side = round(2 ** (scale / 2)) * 2000 // 1024
    return {"kron": generate.kron(scale, seed=SEED), "road": generate.road(side, side, seed=SEED)}


def pairs(graph: Graph, dynamic: DynamicGraph, device: Device) -> dict[str, tuple[Any, Any]]:
    """Make what runs on compressed rows, and on blocks; it gives an answer and milliseconds."""
    rng = np.random.default_rng(SEED)
    sources = rng.choice(np.flatnonzero(graph.degrees), SOURCES).tolist()
    x = rng.random(graph.n).astype(np.float32)

    def search(of: Any) -> Callable[[], tuple[Any, float]]:
        plan = clgraph.BFS(of, device=device)

        def run() -> tuple[Any, float]:
            found = [plan.run(source) for source in sources]
            answer = [int(one.distances.sum(dtype=np.int64)) for one in found[:2]]
            return answer, sum(one.stats.kernel_ms for one in found)

        return run

    def components(of: Any) -> Callable[[], tuple[Any, float]]:
        plan = clgraph.ConnectedComponents(of, device=device)

        def run() -> tuple[Any, float]:
            found = plan.run()
            return found.labels.tobytes(), found.stats.kernel_ms

        return run

    def product(of: Any) -> Callable[[], tuple[Any, float]]:
        plan = clgraph.SpMV(of, device=device)

        def run() -> tuple[Any, float]:
            found = plan.run(x)
            return found.values.tobytes(), found.stats.kernel_ms

        return run

    made = {"bfs": search, "components": components, "spmv": product}
    return {name: (make(graph), make(dynamic)) for name, make in made.items()}


def compared(packed: Any, blocks: Any) -> dict[str, Any]:
    """Median milliseconds of each, in turn, and the ratio of their speeds."""
    if packed()[0] != blocks()[0]:
        raise SystemExit("WRONG: blocks and compressed rows give different answers")
    times: dict[str, list[float]] = {"packed": [], "blocks": []}
    for _ in range(REPEATS):
        times["packed"].append(packed()[1])
        times["blocks"].append(blocks()[1])
    medians = {name: statistics.median(ms) for name, ms in times.items()}
    ratios = [p / b for p, b in zip(times["packed"], times["blocks"], strict=True)]
    return medians | {"speed": medians["packed"] / medians["blocks"], "ratios": ratios}


def uploads(graph: Graph, device: Device) -> float:
    """Milliseconds until compressed rows are on the device, when that is done once more."""
    for _ in range(2):
        again = clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=True)
        began = time.perf_counter()
        resident(again, device)
        ms = 1e3 * (time.perf_counter() - began)
    return ms


def beginnings(graph: Graph, device: Device) -> dict[str, dict[str, float]]:
    """Bytes beside compressed rows, and milliseconds of a beginning, by size of block arrays."""
    found = {}
    clgraph.DynamicGraph(graph, device=device)  # builds kernels and warms the host's memory
    for block_edges in BLOCK_EDGES:
        began = time.perf_counter()
        dynamic = clgraph.DynamicGraph(graph, block_edges=block_edges, device=device)
        ms = 1e3 * (time.perf_counter() - began)
        usage = dynamic.memory_usage()
        found[str(block_edges or "default")] = {
            "init_ms": ms,
            "over_csr": usage.over_csr,
            "over_coo": usage.structure_bytes / usage.coo_bytes,
            "blocks_used": usage.block_utilisation,
            "block_arrays_used": usage.array_utilisation,
        }
    return found


def layouts(graph: Graph, device: Device) -> dict[str, dict[str, dict[str, float]]]:
    """Device milliseconds of batches whose edges have four properties, as arrays and as records."""
    rng = np.random.default_rng(SEED)
    memory = Memory(device)
    rows = clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=True)
    made = {
        layout: clgraph.DynamicGraph(rows, properties=PROPERTIES, layout=layout, device=device)
        for layout in ("arrays", "records")
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for count in LAYOUT_BATCHES:
        src, dst = (rng.integers(0, graph.n, count) for _ in range(2))
        fresh = ~made["arrays"].has_edges(src, dst)
        ends = [memory.upload("ends", ids[fresh].astype(np.uint32)) for ids in (src, dst)]
        values = {
            name: memory.upload(name, np.arange(ends[0].count, dtype=kind))
            for name, kind in PROPERTIES.items()
        }
        times: dict[str, dict[str, list[float]]] = {}
        for turn in range(REPEATS + 1):
            for layout, dynamic in made.items():
                into = dynamic.insert_edges(*ends, properties=values)
                out = dynamic.delete_edges(*ends)
                if turn:
                    kept = times.setdefault(layout, {"insert_ms": [], "delete_ms": []})
                    kept["insert_ms"].append(into.kernel_ms)
                    kept["delete_ms"].append(out.kernel_ms)
        found[str(count)] = {
            layout: {name: statistics.median(ms) for name, ms in kept.items()}
            for layout, kept in times.items()
        }
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if blocks take more than 1.4 times the bytes of compressed rows."""
    parser = command(__doc__, scale=20)
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    record: dict[str, Any] = machine.head_of("dynamic-rows", device) | {
        "scale": args.scale,
        "repeats": REPEATS,
        "graphs": {},
    }
    speeds, bytes_told, laid_out = [], [], []
    for name, graph in graphs(args.scale).items():
        figures: dict[str, Any] = {
            "n": graph.n,
            "m": graph.m,
            "upload_ms": uploads(graph, device),
            "beginnings": beginnings(graph, device),
        }
        dynamic = clgraph.DynamicGraph(graph, device=device)
        for what, pair in pairs(graph, dynamic, device).items():
            figures[what] = one = compared(*pair)
            bar = "" if what == "components" else str(BARS[name])
            shown = [f"{one[key]:.3f}" for key in ("packed", "blocks", "speed")]
            speeds.append([name, what, *shown, bar])
        for block_edges, told in figures["beginnings"].items():
            bytes_told.append([name, block_edges, *(f"{value:.2f}" for value in told.values())])
        figures["layouts"] = layouts(graph, device)
        for count, told in figures["layouts"].items():
            shown = [f"{ms:.3f}" for times in told.values() for ms in times.values()]
            laid_out.append([name, count, *shown])
        record["graphs"][name] = figures
        keep(record, args.output)
    print(table(["graph", "what", "packed ms", "blocks ms", "speed", "bar"], speeds))
    columns = ["graph", "block array", "init ms", "over CSR", "over COO", "of blocks", "of arrays"]
    print(table(columns, bytes_told))
    columns = ["graph", "batch", "arrays in ms", "out", "records in ms", "out"]
    print(table(columns, laid_out))
    taken = [one["beginnings"]["default"]["over_csr"] for one in record["graphs"].values()]
    return int(max(taken) > 1.4)


if __name__ == "__main__":
    raise SystemExit(main())
