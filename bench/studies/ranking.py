"""PageRank an iteration, spanning forests, independent sets and colouring, against the bars.

``python -m bench.studies.ranking --device nvidia --seconds 55 --json record.json``; ``--scale 12``
makes graphs small enough for a CPU. Everything is checked before it is timed: PageRank against
scipy, forests against each other by three configurations and wholly on small graphs, sets and
colours by their rules. CuPy's product, which is cuSPARSE's, is timed in turn where CuPy is
installed. What there was no time for is listed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import generate
from clgraph.cli.text import table
from clgraph.device import Memory
from clgraph.engine.sweeps import SweepLog
from clgraph.graph.modules import module

from ..peers.libraries import scipy_matrix
from ..runner import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph

__all__ = ["main"]

SEED = 20261122
ITERATIONS, CHECKED_ITERATIONS, PRODUCTS, REPEATS = 100, 8, 20, 7
WEIGHTS = (1, 1_000_000)
# Milliseconds by graph, and colours at most.
BARS = {
    "pagerank": {"kron20": 0.25, "kron22": 0.90, "road": 0.09},
    "forest": {"kron20": 3.5, "road": 2.0, "rgg": 1.5},
    "independent": {"kron20": 0.40, "road": 0.28},
    "coloring": {"kron20": 10.0, "road": 4.0},
}
COLORS = {"kron20": 186, "road": 4}


def makers(scale: int) -> dict[str, Callable[[], Graph]]:
    """Graphs by the names of their bars; of scale 20 they are those of the bars."""
    side = round(2000 * 2 ** ((scale - 20) / 2))
    return {
        "road": lambda: generate.road(side, side, seed=SEED, weights=WEIGHTS),
        "rgg": lambda: generate.geometric(1 << scale, seed=SEED, weights=WEIGHTS),
        "kron20": lambda: generate.kron(scale, seed=SEED, weights=WEIGHTS),
        "kron22": lambda: generate.kron(scale + 2, seed=SEED),
    }


def _median(values: Sequence[float]) -> dict[str, float]:
    return {"ms": statistics.median(values), "least": min(values), "most": max(values)}


def _plain(graph: Graph) -> Graph:
    """Give the same rows without weights, a graph of its own."""
    return clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=graph.directed)


def pagerank(graph: Graph, device: Device) -> dict[str, Any]:
    """Check some iterations against scipy, then time many, and products in turn with CuPy's."""
    plan = clgraph.PageRank(graph, dtype="float32", device=device)
    found = plan.run(tol=0, max_iter=CHECKED_ITERATIONS).ranks
    matrix = scipy_matrix(graph)
    out = np.asarray(matrix.sum(axis=1)).ravel()
    x = np.full(graph.n, 1 / graph.n)
    pulled = matrix.T.tocsr() if graph.directed else matrix
    for _ in range(CHECKED_ITERATIONS):
        flow = np.divide(x, out, out=np.zeros(graph.n), where=out > 0)
        x = 0.85 * (pulled @ flow + x[out == 0].sum() / graph.n) + 0.15 / graph.n
    error = float(np.abs(found - x).sum())
    figures: dict[str, Any] = {"error": error, "wrong": not error < 1e-3}
    if figures["wrong"]:
        return figures
    spent: list[float] = []
    products: list[float] = []
    theirs: list[float] = []
    cupy_product = _cupy(graph)
    spmv = clgraph.SpMV(graph, dtype="float32", device=device)
    memory = Memory(device)
    ones = memory.upload("x", np.ones(graph.n, np.float32))
    room = memory.allocate("y", graph.n, np.float32)
    for turn in range(REPEATS):
        stats = plan.run(tol=0, max_iter=ITERATIONS).stats
        log = SweepLog()
        for _ in range(PRODUCTS):
            spmv.enqueue(log, ones, room)
        log.wait()
        if turn:
            spent.append(stats.kernel_ms / ITERATIONS)
            products.append(log.kernel_ms / PRODUCTS)
            if cupy_product is not None:
                theirs.append(cupy_product())
    figures |= {"iteration": _median(spent), "spmv": _median(products)}
    if theirs:
        figures["cupy"] = _median(theirs)
    return figures


def _cupy(graph: Graph) -> Callable[[], float] | None:
    """Give what times a product by CuPy; None where CuPy or its device is missing."""
    try:
        cupy = module("cupy")
        sparse = module("cupyx.scipy.sparse")
        data = cupy.ones(graph.m, cupy.float32)
        rows = (data, cupy.asarray(graph.indices), cupy.asarray(graph.indptr))
        matrix = sparse.csr_matrix(rows, shape=(graph.n, graph.n))
        x = cupy.ones(graph.n, cupy.float32)
        matrix @ x
    except Exception as missing:  # CuPy raises errors of its own, which cannot be named without it
        print(f"CuPy is left out: {missing}")
        return None

    def product() -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(PRODUCTS):
            matrix @ x
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) / PRODUCTS

    return product


def forest(graph: Graph, device: Device) -> dict[str, Any]:
    """Compare three configurations, then time all of them."""
    plans = {
        name: clgraph.SpanningForest(graph, config=name, device=device)
        for name in ("auto", "boruvka", "filtered", "stepwise")
    }
    edges = {name: plan.run().edges for name, plan in plans.items()}
    wrong = [name for name in edges if not np.array_equal(edges[name], edges["auto"])]
    count = clgraph.connected_components(graph, device=device).count
    figures: dict[str, Any] = {"wrong": bool(wrong) or graph.n - count != edges["auto"].size}
    if figures["wrong"]:
        return figures
    for name, plan in plans.items():
        runs = [plan.run().stats for _ in range(REPEATS)]
        figures[name] = {
            **_median([stats.kernel_ms for stats in runs]),
            "launches": runs[-1].launches,
            "rounds": runs[-1].rounds,
        }
    return figures


def independent(graph: Graph, device: Device) -> dict[str, Any]:
    """Check by the rules, then time."""
    plan = clgraph.IndependentSet(graph, device=device)
    count = plan.run(verify=True).count
    runs = [plan.run().stats for _ in range(REPEATS)]
    return {
        "wrong": False,
        "count": count,
        "auto": {**_median([stats.kernel_ms for stats in runs]), "rounds": runs[-1].rounds},
    }


def coloring(graph: Graph, device: Device) -> dict[str, Any]:
    """Check by the rules, then time."""
    plan = clgraph.Coloring(graph, device=device)
    count = plan.run(verify=True).count
    runs = [plan.run().stats for _ in range(REPEATS)]
    return {
        "wrong": False,
        "colors": count,
        "auto": {
            **_median([stats.kernel_ms for stats in runs]),
            "launches": runs[-1].launches,
            "rounds": runs[-1].rounds,
        },
    }


def small_checks(device: Device) -> None:
    """Check whole results on small graphs in another way.

    Raises
    ------
    VerificationError
        If one is wrong.
    """
    for graph in (
        generate.kron(11, seed=SEED, weights=WEIGHTS),
        generate.road(60, 60, seed=SEED, weights=WEIGHTS),
        generate.star(5000, seed=SEED, weights=WEIGHTS),
    ):
        clgraph.minimum_spanning_forest(graph, device=device, verify=True)
        clgraph.maximal_independent_set(graph, device=device, verify=True)
        clgraph.greedy_color(graph, device=device, verify=True)
        functions: tuple[Any, ...] = (clgraph.pagerank, clgraph.hits, clgraph.katz_centrality)
        for ranks in functions:
            options: dict[str, Any] = {"alpha": 1e-4} if ranks is clgraph.katz_centrality else {}
            ranks(_plain(graph), device=device, verify=True, **options)
        starts = np.arange(0, graph.n, 7)
        clgraph.random_walks(graph, starts, 20, p=0.5, q=2.0, device=device, verify=True)


def rows_of(record: dict[str, Any]) -> list[list[str]]:
    """Lines of the table: each graph and problem beside its bar."""
    rows = []
    for key, figures in record["found"].items():
        problem, name = key.split("/")
        bar = BARS[problem].get(name)
        if figures["wrong"]:
            rows.append([key, "WRONG", "", "", "", ""])
            continue
        for way in ("iteration", "auto", "boruvka", "filtered", "stepwise", "spmv", "cupy"):
            if way not in figures:
                continue
            times = figures[way]
            rows.append(
                [
                    key,
                    way,
                    *(f"{times[figure]:.3f}" for figure in ("ms", "least", "most")),
                    f"{bar:.2f}" if bar and way in {"iteration", "auto"} else "",
                ]
            )
        for figure in ("colors", "count"):
            if figure in figures:
                most = str(COLORS.get(name, "")) if figure == "colors" else ""
                rows.append([key, figure, str(figures[figure]), "", "", most])
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--graphs", help="names from road, rgg, kron20, kron22; default all")
    parser.add_argument("--seconds", type=float, default=55.0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    began = time.perf_counter()
    record: dict[str, Any] = machine.head_of("ranking", device) | {
        "scale": args.scale,
        "repeats": REPEATS,
        "found": {},
        "left_out": [],
    }
    wanted = makers(args.scale)
    if args.graphs:
        wanted = {name: wanted[name] for name in args.graphs.split(",")}
    problems = {"pagerank": pagerank, "forest": forest}
    problems |= {"independent": independent, "coloring": coloring}
    with ThreadPoolExecutor(len(wanted)) as pool:
        made = {name: pool.submit(make) for name, make in wanted.items()}
        small_checks(device)
        for name, future in made.items():
            graph = future.result()
            plain = _plain(graph)
            for problem, measure in problems.items():
                if name not in BARS[problem]:
                    continue
                key = f"{problem}/{name}"
                if time.perf_counter() - began > args.seconds:
                    record["left_out"].append(key)
                    continue
                given = graph if problem == "forest" else plain
                record["found"][key] = {"n": graph.n, "m": graph.m, **measure(given, device)}
                record["seconds"] = time.perf_counter() - began
                if args.json is not None:
                    args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(table(["problem/graph", "what", "median ms", "least", "most", "bar"], rows_of(record)))
    print(f"{time.perf_counter() - began:.0f} seconds")
    if record["left_out"]:
        print("no time for", ", ".join(record["left_out"]))
    return int(any(figures["wrong"] for figures in record["found"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
