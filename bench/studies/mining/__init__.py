"""Mining invariants: the published traces, long random ones, and the sequential reference.

``python -m bench.studies.mining --device nvidia --json bench/results/h200-mining.json`` checks
first (short traces against the reference), then times each case: kernels alone, the whole call with
copies out of pinned and of ordinary memory, with and without inference, and how the device is
shared out. ``--reference`` times NumPy's sequential reference in turn with the device, and
``--copies`` only what copies cost: pinned and pageable memory, with ranges read on the host and
without in turn, staging and reading by several threads, and copies that overlap with kernels.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import clgraph as cg
from clgraph import energy
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Tiled,
    generate_trace,
    mine_sequentially,
    published_trace,
)

from ...runner import machine
from ..command import command, keep
from .copies import copying_costs
from .timing import Row, in_one, show, timed

SCHEMA = "clgraph-bench-mining/1"
SETS = ("I", "II")
# Milliseconds that the thesis prints for a GTX 780.
PUBLISHED_MS = {("I", 2): 17, ("I", 4): 182, ("II", 2): 140, ("II", 4): 4577}
CHECK_LENGTH = 20_000
SHORT, LONG = 1_000_000, 100_000_000
ENERGY_SECONDS = 2.0


def check(device: cg.Device) -> None:
    """Compare with the reference on short traces of every class, before anything is timed."""
    for templates in SETS:
        plan = InvariantMiner(templates, device=device)
        for number in (1, 2):
            trace = published_trace(number, CHECK_LENGTH)
            result = plan.run(trace)
            ours = {(t, tuple(r)) for t in plan.templates for r in result.tuples(t).tolist()}
            if ours != mine_sequentially([trace], plan.families):
                raise SystemExit(f"set {templates}, trace {number}: not what the reference finds")


def published(device: cg.Device, numbers: list[int], length: int, repeat: int) -> list[Row]:
    """Time the published classes of traces."""
    rows = []
    variants: dict[str, dict[str, Any]] = {
        "auto": {},
        "no-inference": {"inference": False},
        "no-inference-per-entry": {"inference": False, "config": "per-entry"},
        **{
            f"no-inference-tiled-{vectors}x{groups}": {
                "inference": False,
                "config": MiningConfig(Tiled(vectors, groups)),
            }
            for vectors, groups in ((256, 8), (256, 16))
        },
    }
    for number in numbers:
        trace = published_trace(number, length)
        if device.is_gpu:
            trace = trace.pinned(device)
        for templates in SETS:
            for name, options in variants.items():
                if name != "auto" and number != 4:
                    continue
                if name.startswith("no-inference-tiled") and not device.is_gpu:
                    continue
                plan = InvariantMiner(templates, device=device, **options)
                row = {"case": "published", "trace": number, "set": templates, "variant": name}
                row |= timed(plan, trace, repeat if name == "auto" else 2)
                row["published_ms"] = PUBLISHED_MS.get((templates, number))
                rows.append(row)
                show(row)
    return rows


def random_lengths(device: cg.Device, repeat: int, longest: int) -> list[Row]:
    """Time random traces of which one is a hundred times as long as the other, in turn."""
    traces = {length: generate_trace(4, 4, length) for length in (SHORT, longest)}
    rows = []
    for templates in SETS:
        plan = InvariantMiner(templates, device=device)
        turns: dict[int, list[Row]] = {length: [] for length in traces}
        for _ in range(repeat):
            for length, trace in traces.items():
                turns[length].append(timed(plan, trace, 1))
        for length, found in turns.items():
            row: Row = {"case": "random", "length": length, "set": templates, "variant": "auto"}
            row |= in_one(found)
            rows.append(row)
            show(row)
    return rows


def against_reference(device: cg.Device, length: int, repeat: int) -> list[Row]:
    """Time the device and the sequential reference in turn on trace 2."""
    rows = []
    trace = published_trace(2, length)
    for templates in SETS:
        plan = InvariantMiner(templates, device=device)
        plan.run(trace)
        ratios, reference_ms, ours_ms = [], [], []
        for _ in range(repeat):
            ours = plan.run(trace).stats.total_ms
            began = time.perf_counter()
            mine_sequentially([trace], plan.families)
            reference = 1e3 * (time.perf_counter() - began)
            ours = (ours + plan.run(trace).stats.total_ms) / 2
            ratios.append(reference / ours)
            reference_ms.append(reference)
            ours_ms.append(ours)
        row = {
            "case": "reference",
            "trace": 2,
            "set": templates,
            "reference_ms": reference_ms,
            "total_ms": ours_ms,
            "ratio": statistics.median(ratios),
        }
        rows.append(row)
        print(f"set {templates} trace 2: {row['ratio']:.1f} times the reference", flush=True)
    return rows


def joules(device: cg.Device, length: int) -> Row:
    """Measure what mining trace 4 with set I takes, copies included."""
    meter = energy.find_meter(device)
    meter.close()
    if isinstance(meter, energy.NoMeter):
        return {"case": "energy", "skipped": meter.note}
    trace = (
        published_trace(4, length).pinned(device) if device.is_gpu else published_trace(4, length)
    )
    plan = InvariantMiner("I", device=device)
    found = energy.per_run(lambda: plan.run(trace), min_seconds=ENERGY_SECONDS, device=device)
    print(f"energy, trace 4 set I: {found.joules_per_run} J", flush=True)
    return {
        "case": "energy",
        "joules_per_run": found.joules_per_run,
        "spread": found.spread,
        "mean_watts": found.mean_watts,
        "idle_watts": found.idle_watts,
        "source": found.source,
    }


def main() -> None:
    """Check, time and write the record."""
    parser = command(__doc__, "--json", commit=None)
    parser.add_argument("--length", type=int, default=5_000_000)
    parser.add_argument("--traces", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--longest", type=int, default=LONG)
    parser.add_argument("--reference", action="store_true", help="only against the reference")
    parser.add_argument("--copies", action="store_true", help="only what copies cost")
    args = parser.parse_args()
    device = cg.device(args.device)
    check(device)
    if args.reference:
        rows = against_reference(device, args.length, args.repeat)
    elif args.copies:
        rows = copying_costs(device, args.length, args.repeat)
    else:
        rows = published(device, args.traces, args.length, args.repeat)
        rows += copying_costs(device, args.length, args.repeat)
        rows += random_lengths(device, args.repeat, args.longest)
        rows.append(joules(device, args.length))
    record = {"schema": SCHEMA, "machine": machine.describe(device, args.commit), "cases": rows}
    keep(record, args.json)
