"""What the profiler says against what is measured: counters, overhead, cases, and predictions.

``python -m bench.studies.profiles --device nvidia --output record.json --seconds 280`` first checks
counters against known patterns and results against plain runs, then times the case studies, then
profiles kernels on six graphs of the suites until the seconds are spent, and fits prices and
weights, each judged by what was left out.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import device as find_device
from clgraph.graph.modules import module
from clgraph.profile.characterise import ceilings_of, characterise
from clgraph.profile.quality import Specimen, calibrated

from ..runner import graphs as suite_graphs
from ..runner import machine
from . import cases, patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph
    from clgraph.profile.report import QualityReport

__all__ = ["main", "priced", "summary"]

GRAPHS = ("kron16", "unif17", "rgg16", "grid500", "road500", "rmat14")
TOLERANCE = 1e-9
STANDING_S = 15.0


def runs_on(graph: Graph, weighted: Graph, device: Device) -> Iterator[tuple[str, str, Any]]:
    """Give plans by primitive and implementation; built when they are asked for."""
    # Those that many kernels come from first: the seconds may not do for all.
    yield "components", "auto", lambda: clgraph.ConnectedComponents(graph, device=device)
    yield "triangles", "auto", lambda: clgraph.Triangles(graph, device=device, clean=True)
    yield "scc", "multistep", lambda: clgraph.SCC(graph, config="multistep", device=device)
    for preset in ("merrill-two-phase", "helix", "bfs-4k", "enterprise", "merrill-hybrid"):
        yield "bfs", preset, lambda preset=preset: clgraph.BFS(graph, config=preset, device=device)
    for preset in ("near-far", "h-bf"):
        yield (
            "sssp",
            preset,
            lambda preset=preset: clgraph.SSSP(weighted, config=preset, device=device),
        )


def checked_patterns(device: Device) -> list[dict[str, Any]]:
    """Compare counters with what is known of the patterns."""
    rows = []
    for pattern in patterns.PATTERNS:
        found = patterns.judged(patterns.counted(pattern, device))
        right = all(
            abs((found[name] or 0.0) - value) < TOLERANCE
            for name, value in pattern.expected.items()
        )
        if not pattern.expected:
            right = abs((found["TDiv"] or 0.0) - 0.5) < 0.1
        rows.append({"pattern": pattern.name, "right": right, "found": found})
    return rows


def profiled(
    graph_name: str, device: Device, left: Callable[[], float]
) -> Iterator[tuple[str, str, QualityReport]]:
    """Profile plans on a graph while there is time."""
    graph = suite_graphs.find(graph_name).graph
    weighted = suite_graphs.find(graph_name, weighted=True).graph
    for primitive, implementation, make in runs_on(graph, weighted, device):
        if left() <= 0:
            return
        step(f"{graph_name} {primitive} {implementation}")
        try:
            plan = make()
            report = clgraph.profile(
                plan, passes=("time", "sync", "counters"), device=device, repeats=3
            )
        # A study of many kernels goes on without one of them.
        except Exception as error:
            print(f"{graph_name}/{primitive}/{implementation}: {error!r}"[:400])
            continue
        yield primitive, implementation, report


def same_results(device: Device, left: Callable[[], float]) -> dict[str, bool | None]:
    """Tell of each algorithm whether instrumented runs give what plain ones do; None: no time."""
    graph = suite_graphs.find("rmat14").graph
    same: dict[str, bool | None] = {}
    for name, make, read in (
        ("components", clgraph.ConnectedComponents, "labels"),
        ("bfs", clgraph.BFS, "distances"),
        ("scc", clgraph.SCC, "labels"),
    ):
        same[name] = None
        if left() <= 0:
            continue
        step(f"results of {name}")
        plan = make(graph, device=device)
        arguments = (0,) if name == "bfs" else ()
        wanted = np.array(getattr(plan.run(*arguments), read))
        seen: list[NDArray[Any]] = []
        clgraph.profile(
            lambda plan=plan, arguments=arguments, seen=seen, read=read: seen.append(
                np.array(getattr(plan.run(*arguments), read))
            ),
            device=device,
            repeats=1,
            passes=("time", "sync", "counters"),
            progress=lambda done, total, what: step(f"  {what} {done}/{total}"),
        )
        same[name] = all(np.array_equal(one, wanted) for one in seen)
    return same


def step(what: str) -> None:
    """Say what begins, at once: what comes last is what did not end."""
    print(f"{time.perf_counter():10.1f} {what}", flush=True)


def priced(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Fit prices of resources to times, and judge each kernel by prices fitted without it.

    Parameters
    ----------
    rows : sequence of dict
        ``kernel``, ``bounds_s`` and ``measured_s`` of each kernel and graph.

    Returns
    -------
    dict
        ``prices``, and the relative errors as ``plain`` (soft maximum of ceilings), ``fitted`` and
        ``left_out``.
    """
    names = sorted({name for row in rows for name in row["bounds_s"]})
    kernels = np.array([row["kernel"] for row in rows])
    bounds = np.array([[row["bounds_s"].get(name, 0.0) for name in names] for row in rows])
    # The constant is what a launch costs beside what an empty kernel says.
    bounds = np.column_stack([bounds, [row["launches"] * 1e-6 for row in rows]])
    times = np.array([row["measured_s"] for row in rows])
    left_out = np.zeros(len(rows))
    for kernel in np.unique(kernels):
        out = kernels == kernel
        if out.all():
            left_out[out] = np.nan
            continue
        left_out[out] = bounds[out] @ _prices(bounds[~out], times[~out]) / times[out] - 1.0
    prices = _prices(bounds, times)
    return {
        "prices": dict(zip([*names, "microsecond of a launch"], prices.tolist(), strict=True)),
        "plain": [row["predicted_s"] / row["measured_s"] - 1.0 for row in rows],
        "fitted": (bounds @ prices / times - 1.0).tolist(),
        "left_out": [None if np.isnan(error) else float(error) for error in left_out],
    }


def _prices(bounds: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = bounds / times[:, None]
    sizes = np.maximum(np.linalg.norm(rows, axis=0), 1e-30)
    solved, _ = module("scipy.optimize").nnls(rows / sizes, np.ones(len(rows)))
    return np.asarray(solved / sizes, np.float64)


def median_error(errors: Sequence[float | None]) -> float | None:
    """Give the median of absolute errors, None where there are none."""
    known = [abs(error) for error in errors if error is not None]
    return statistics.median(known) if known else None


def summary(record: dict[str, Any]) -> str:
    """Show what was found in a few lines."""
    wrong = [row["pattern"] for row in record["patterns"] if not row["right"]]
    lines = [
        f"patterns: {len(record['patterns']) - len(wrong)} of {len(record['patterns'])} exact"
        + (f"; wrong: {', '.join(wrong)}" if wrong else ""),
        f"instrumented runs give the same: {record['same']}",
        "",
    ]
    for rows in record["cases"].values():
        lines += [cases.shown(rows), ""]
    rows, fit = record["kernels"], record["fit"]
    if rows and fit:
        overheads = [row["overhead_time"] for row in record["runs"]]
        lines += [
            f"{len({row['kernel'] for row in rows})} kernels x "
            f"{len({row['graph'] for row in rows})} graphs, {len(rows)} rows; overhead of TIME "
            f"median {statistics.median(overheads):.1%}, largest {max(overheads):.1%}",
            *(
                f"median error of the time, {name}: {median_error(fit[name]) or float('nan'):.1%}"
                for name in ("plain", "fitted", "left_out")
            ),
            f"prices: { {name: round(price, 3) for name, price in fit['prices'].items()} }",
        ]
    if record["weights"] is not None:
        told = record["weights"]
        lines.append(
            f"weights: error {told['error']:.3f}, left out {told['left_out_error']:.3f}, "
            f"Spearman {told['spearman']}"
        )
    lines.append(f"card: {record['card']}; seconds {record['seconds']:.0f}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="NAME")
    parser.add_argument("--scale", type=int, default=26, help="of the case studies")
    parser.add_argument(
        "--seconds", type=float, default=280.0, help="begin nothing new after these"
    )
    parser.add_argument("--commit", help="what is measured, where the checkout cannot tell")
    parser.add_argument("--output", type=Path, metavar="FILE", help="JSON record")
    args = parser.parse_args(argv)
    began = time.perf_counter()
    device = find_device(args.device)

    def left() -> float:
        return float(args.seconds - (time.perf_counter() - began))

    # Where it stands, every so often, and an end that no kernel can put off.
    faulthandler.dump_traceback_later(STANDING_S, repeat=True)
    record: dict[str, Any] = {"machine": machine.describe(device, args.commit)}
    record |= {"same": {}, "cases": {}, "kernels": [], "runs": [], "card": None, "fit": None}
    record["weights"], corpus = None, []
    step("patterns")
    record["patterns"] = checked_patterns(device)
    wrong = [row["pattern"] for row in record["patterns"] if not row["right"]]
    step(f"patterns that are wrong: {wrong or 'none'}")
    _save(record, args.output)
    step("ceilings")
    ceilings = ceilings_of(characterise(device))
    record["ceilings"] = None if ceilings is None else ceilings.record()
    _save(record, args.output)
    for name in cases.STUDIES:
        if left() <= 0:
            break
        step(f"case {name}")
        try:
            record["cases"][name] = cases.studied(name, device, args.scale, repeats=3)
        except Exception as error:
            print(f"{name}: {error!r}"[:400])
        _save(record, args.output)
    record["same"] = same_results(device, left)
    _save(record, args.output)
    if left() > 0:
        step("card")
        card = clgraph.profile(
            clgraph.BFS(suite_graphs.find(args.graphs[0]).graph, device=device),
            device=device,
            passes=("card",),
            repeats=1,
        ).card
        record["card"] = None if card is None else card.record()
    for name in args.graphs if left() > 0 else ():
        for primitive, implementation, report in profiled(name, device, left):
            _keep(record, name, f"{primitive}/{implementation}", report)
            values = {key: told.value for key, told in report.criteria.items()}
            corpus.append(Specimen(f"{primitive} {name}", implementation, values, report.time_s))
        _save(record, args.output)
    record["fit"] = priced(record["kernels"]) if record["kernels"] else None
    if len({specimen.primitive for specimen in corpus}) < len(corpus):
        record["weights"] = calibrated(corpus, device=device.name).record()
    record["seconds"] = time.perf_counter() - began
    _save(record, args.output)
    faulthandler.cancel_dump_traceback_later()
    print(summary(record))
    return 0


def _keep(record: dict[str, Any], graph: str, run: str, report: QualityReport) -> None:
    record["runs"].append(
        {
            "graph": graph,
            "run": run,
            "time_s": report.time_s,
            "quality": report.quality,
            "criteria": {name: told.value for name, told in report.criteria.items()},
            "limiter": report.limiter,
            "overhead_time": report.overhead.get("time", 0.0),
        }
    )
    for kernel in report.kernels:
        told = kernel.prediction
        if told.time_s is None or not told.measured_s:
            continue
        record["kernels"].append(
            {
                "graph": graph,
                "kernel": f"{run} {kernel.name}",
                "launches": kernel.launches,
                "measured_s": told.measured_s,
                "predicted_s": told.time_s,
                "bounds_s": dict(told.bounds),
                "limiter": told.limiter,
                "criteria": {name: each.value for name, each in kernel.criteria.items()},
                "registers": kernel.static.registers,
            }
        )


def _save(record: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
