"""Predicted and measured times of many kernels on many graphs, with all that they were made of.

``python -m bench.studies.profiling.crossed --device nvidia --output record.json --seconds 60``
counts what each kernel does and times it plainly, one plan after another on every graph, so that a
kernel is built once. ``--share 2/8`` takes every eighth plan from the second on and writes nothing
of note: several such processes beside each other fill the caches of programs beforehand.
``--apart`` runs each plan, and each part of the corpus, in a process of its own: a kernel that a
card gives up takes its process with it, not the study.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import device as find_device
from clgraph.profile.characterise import QUICK, ceilings_of, characterise
from clgraph.profile.corpus import LEAST_SHARE, others, specimens
from clgraph.profile.kernel_criteria import mixed

from ...runner import graphs as suite_graphs
from ...runner import machine
from ..command import command, keep
from .fitting import judged

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph
    from clgraph.profile.report import KernelReport

__all__ = ["PLANS", "features", "main"]

GRAPHS = ("kron16", "unif17", "road500", "rgg16", "grid500", "rmat14")
CORPUS_SCALE = 17
LEAST_S = 4e-6  # of a kernel in a run: what is shorter is the launch
LAUNCHED_S = 12e-6  # twice an empty kernel
CORPUS_PARTS = 4
MODULE = "bench.studies.profiling.crossed"
LEAST_LEFT_S = 5.0  # for a process of a plan

PLANS: dict[str, tuple[bool, Callable[[Graph, Device], Any]]] = {
    "bfs auto": (False, lambda graph, device: clgraph.BFS(graph, device=device)),
    "bfs expand-contract": (
        False,
        lambda graph, device: clgraph.BFS(graph, config="merrill-expand-contract", device=device),
    ),
    "components": (False, lambda graph, device: clgraph.ConnectedComponents(graph, device=device)),
    "triangles": (
        False,
        lambda graph, device: clgraph.Triangles(graph, device=device, clean=True),
    ),
    "sssp near-far": (
        True,
        lambda graph, device: clgraph.SSSP(graph, config="near-far", device=device),
    ),
    "sssp h-bf": (True, lambda graph, device: clgraph.SSSP(graph, config="h-bf", device=device)),
    "scc multistep": (
        False,
        lambda graph, device: clgraph.SCC(graph, config="multistep", device=device),
    ),
    "page rank": (False, lambda graph, device: clgraph.PageRank(graph, device=device)),
    "cores": (False, lambda graph, device: clgraph.Cores(graph, clean=True, device=device)),
    "bfs two-phase": (
        False,
        lambda graph, device: clgraph.BFS(graph, config="merrill-two-phase", device=device),
    ),
    "bfs enterprise": (
        False,
        lambda graph, device: clgraph.BFS(graph, config="enterprise", device=device),
    ),
    "colouring": (False, lambda graph, device: clgraph.Coloring(graph, device=device)),
    "independent set": (False, lambda graph, device: clgraph.IndependentSet(graph, device=device)),
    "label propagation": (
        False,
        lambda graph, device: clgraph.LabelPropagation(graph, device=device),
    ),
    "truss": (False, lambda graph, device: clgraph.Truss(graph, clean=True, device=device)),
}


UNDIRECTED = frozenset({"cores", "colouring", "independent set", "truss"})


def features(kernel: KernelReport, device: Device) -> dict[str, Any]:
    """Give everything of a kernel that its time may depend on."""
    totals, work, occupied = kernel.totals, kernel.work, kernel.occupancy
    kinds: dict[str, list[float]] = {}
    if totals is not None:
        for name in dict.fromkeys(site.kind for site in totals.sites):
            kinds[name] = totals.where(name).sum(axis=0).tolist()
            if totals.missed is not None:
                own = [site.kind == name for site in totals.sites]
                kinds[name].append(float(totals.missed[own].sum()))
    resident = kernel.groups
    if occupied is not None:
        resident = min(resident, int(occupied.groups_per_unit) * device.traits.compute_units)
    return {
        "launches": kernel.launches,
        "group_size": kernel.group_size,
        "groups": kernel.groups,
        "resident_warps": resident * -(-kernel.group_size // max(device.traits.lanes, 1)),
        "registers": kernel.static.registers,
        "work": None if work is None else asdict(work),
        "kinds": kinds,
        "chain": None if totals is None else totals.chain._asdict(),
        "waits": 0.0 if totals is None else float(totals.where("wait")[:, 0].sum()),
        "queued": 0.0 if totals is None else totals.queued,
        "possible": None if totals is None else float(totals.possible.sum()),
        "warps": 0 if totals is None else len(totals.possible),
        "instructions": {} if totals is None else mixed(totals, kernel.static.mix or {}),
        "lanes": None if totals is None else totals.lanes,
    }


def rows_of(name: str, graph: str, plan: Any, device: Device, repeats: int) -> list[dict[str, Any]]:
    """Profile a plan and give a row for each kernel that takes its part of the time."""
    report = clgraph.profile(plan, passes=("counters",), device=device, repeats=repeats)
    rows = []
    for kernel in report.kernels:
        prediction = kernel.prediction
        if prediction.time_s is None or kernel.time_s < max(LEAST_S, LEAST_SHARE * report.time_s):
            continue
        rows.append(
            {
                "graph": graph,
                "kernel": f"{name} {kernel.name}",
                "measured_s": prediction.measured_s,
                "predicted_s": prediction.time_s,
                "bounds_s": dict(prediction.bounds),
                "limiter": prediction.limiter,
                "criteria": {key: each.value for key, each in kernel.criteria.items()},
                **features(kernel, device),
            }
        )
    return rows


def share_of(args: argparse.Namespace) -> tuple[int, int]:
    """Give which part of how many is asked for."""
    part, parts = (int(number) for number in args.share.split("/"))
    return part, parts


def plan_rows(args: argparse.Namespace, device: Device, record: dict[str, Any]) -> None:
    """Add the rows of plans to a record."""
    began, (part, parts) = time.perf_counter(), share_of(args)
    known: dict[tuple[str, bool, bool], Graph] = {}
    for name in [name for name in args.plans if name in PLANS][part - 1 :: parts]:
        weighted, make = PLANS[name]
        for graph in args.graphs:
            if time.perf_counter() - began > args.seconds:
                continue
            key = graph, weighted, name in UNDIRECTED
            if key not in known:
                found = suite_graphs.find(graph, weighted=weighted).graph
                known[key] = found.symmetrized() if key[2] else found
            try:
                plan = make(known[key], device)
                rows = rows_of(name, graph, plan, device, args.repeats)
            # A study of many kernels goes on without one of them.
            except Exception as error:
                print(f"{graph}/{name}: {error!r}, {error.__cause__!r}"[:400], flush=True)
                continue
            record["kernels"] += rows
            spent = time.perf_counter() - began
            print(f"{spent:7.1f} {graph} {name}: {len(rows)} kernels", flush=True)
            keep(record, args.output)


def corpus_rows(
    device: Device, repeats: int, seconds: float, part: int = 1, parts: int = 1
) -> list[dict[str, Any]]:
    """Profile what prices are fitted on, which is none of the plans and graphs above."""
    began, rows = time.perf_counter(), []
    # Where the seconds do not do for all of them, expansions are left out: they are most alike.
    ordered = sorted(
        (*others(device, CORPUS_SCALE), *specimens(device, CORPUS_SCALE)),
        key=lambda one: one[0].startswith("expansion"),
    )
    for where, plan, make in ordered[part - 1 :: parts]:
        if time.perf_counter() - began > seconds:
            break
        try:
            rows += rows_of(plan, where, make(), device, repeats)
        # A card that gave up a kernel runs no other: what there is, is kept.
        except Exception as error:
            print(f"{where}/{plan}: {error!r}"[:300], flush=True)
            if not isinstance(error, clgraph.ClgraphError):
                break
    return rows


def apart(args: argparse.Namespace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Give the rows of plans and of the corpus, each plan and part in a process of its own."""
    began, (plans, corpus) = time.perf_counter(), ([], [])
    common = ["--repeats", str(args.repeats), "--graphs", *args.graphs]
    common += ["--device", args.device] if args.device else []
    common += ["--commit", args.commit] if args.commit else []
    alone = [["--plans", name] for name in args.plans]
    alone += [
        ["--plans", "none", "--share", f"{part}/{CORPUS_PARTS}"]
        for part in range(1, CORPUS_PARTS + 1)
        if args.corpus_seconds > 0
    ]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "rows.json"
        for own in alone:
            left = args.seconds - (time.perf_counter() - began)
            left += args.corpus_seconds if "none" in own else 0.0
            if left < LEAST_LEFT_S:
                continue
            output.unlink(missing_ok=True)
            command = [sys.executable, "-m", MODULE, *common, *own]
            command += ["--corpus-seconds", str(left - LEAST_LEFT_S)] if "none" in own else []
            command += ["--seconds", str(left), "--output", str(output)]
            try:
                subprocess.run(command, timeout=left, check=False)
            except subprocess.TimeoutExpired:
                print(f"{own}: given up after {left:.0f} s", flush=True)
            if output.exists():  # as far as it came
                found = json.loads(output.read_text("utf-8"))
                plans += found["kernels"]
                corpus += found["corpus"]
    return plans, corpus


def summary(record: dict[str, Any]) -> str:
    """Show errors by kernel and by graph."""
    rows = record["kernels"]
    if not rows:
        return "no rows"
    lines = []
    for key in ("kernel", "graph"):
        for name in dict.fromkeys(row[key] for row in rows):
            own = [row["predicted_s"] / row["measured_s"] for row in rows if row[key] == name]
            lines.append(
                f"{name:44} {len(own):3} rows, predicted / measured "
                f"{min(own):.2f} .. {statistics.median(own):.2f} .. {max(own):.2f}"
            )
    kernels, graphs = ({row[key] for row in rows} for key in ("kernel", "graph"))
    errors = [abs(row["predicted_s"] / row["measured_s"] - 1.0) for row in rows]
    lines.append(
        f"{len(kernels)} kernels x {len(graphs)} graphs, {len(rows)} rows: "
        f"median error {statistics.median(errors):.1%}"
    )
    for least_s, errors in record["errors"].items():
        shown = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
        lines.append(f"  of {float(least_s) * 1e6:g} us and more: {shown}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, repeats=5, seconds=90.0, commit=None)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="NAME")
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=[*PLANS, "none"])
    parser.add_argument("--apart", action="store_true", help="a process for each plan")
    parser.add_argument("--share", default="1/1", help="which of how many parts of the plans")
    parser.add_argument("--corpus-seconds", type=float, default=0.0, help="for the corpus")
    args = parser.parse_args(argv)
    began = time.perf_counter()
    device = find_device(args.device)
    record: dict[str, Any] = {"machine": machine.describe(device, args.commit), "kernels": []}
    record |= {"errors": {}, "corpus": []}
    ceilings = ceilings_of(characterise(device, QUICK))
    record["ceilings"] = None if ceilings is None else ceilings.record()
    if args.apart:
        record["kernels"], record["corpus"] = apart(args)
    else:
        plan_rows(args, device, record)
        if args.corpus_seconds > 0:
            part, parts = share_of(args)
            record["corpus"] = corpus_rows(device, args.repeats, args.corpus_seconds, part, parts)
    if record["kernels"] and ceilings is not None:
        record["errors"] = {
            str(least_s): judged(record, least_s) for least_s in (LEAST_S, LAUNCHED_S)
        }
    record["seconds"] = time.perf_counter() - began
    keep(record, args.output)
    print(summary(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
