"""Mining invariants: the published traces, long random ones, and the sequential reference.

``python -m bench.studies.mining --device nvidia --json bench/results/h200-mining.json`` checks
first (short traces against the reference), then times each case: kernels alone, the whole call with
copies out of pinned and of ordinary memory, with and without inference, and how the device is
shared out. ``--reference`` times NumPy's sequential reference in turn with the device, and
``--copies`` only what copies cost: pinned and pageable memory, staging by pieces of several sizes
and threads, and copies that overlap with kernels.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import clgraph as cg
from clgraph import energy
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Tiled,
    Trace,
    generate_trace,
    mine_sequentially,
    published_trace,
)
from clgraph.algorithms.invariants.chunks import Chunks
from clgraph.device.memory.staging import Staging
from clgraph.device.observing import observed_by
from clgraph.profile.criteria import union_length
from clgraph.profile.passes.timeline import Timeline

from ..runner import machine

SCHEMA = "clgraph-bench-mining/1"
SETS = ("I", "II")
# Milliseconds that the thesis prints for a GTX 780.
PUBLISHED_MS = {("I", 2): 17, ("I", 4): 182, ("II", 2): 140, ("II", 4): 4577}
CHECK_LENGTH = 20_000
SHORT, LONG = 1_000_000, 100_000_000
ENERGY_SECONDS = 2.0
# Of the case that shows copies and kernels overlapping: on a GPU 12,180 triples, which take about
# twice as long as copies do, on a CPU 3 pairs.
OVERLAP_TRACE, OVERLAP_PARTS, OVERLAP_ROWS, OVERLAP_CPU_ROWS = 4, 8, 30, 6
STAGINGS = tuple((mib << 20, threads) for mib in (4, 8, 16) for threads in (4, 6, 8, 12))
OVERLAP_TEMPLATES = {True: ["a <= b + c"], False: ["a <= b + 1e6"]}

Row = dict[str, Any]


def timed(plan: InvariantMiner, trace: Trace, repeat: int) -> Row:
    """Mine a trace some times; medians, and what the last run looked at."""
    plan.run(trace)
    runs = [plan.run(trace) for _ in range(repeat)]
    stats = runs[-1].stats
    kernel_s = statistics.median(run.stats.kernel_ms for run in runs) / 1e3
    return {
        "invariants": len(runs[-1]),
        "kernel_ms": [run.stats.kernel_ms for run in runs],
        "total_ms": [run.stats.total_ms for run in runs],
        "kernel_ms_median": 1e3 * kernel_s,
        "total_ms_median": statistics.median(run.stats.total_ms for run in runs),
        "asked_gb_s": stats.effective_gb_s,
        "trace_gb_s": stats.trace_bytes / kernel_s / 1e9 if kernel_s else None,
        "copied_bytes": stats.copied_bytes,
        "phases": stats.phases,
    }


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


def on_the_device(device: cg.Device, plan: InvariantMiner, trace: Trace) -> Row:
    """Give the milliseconds in which copies, kernels, and both were under way, by its clock."""
    timeline = Timeline(device)
    with observed_by(timeline):
        plan.run(trace)
    copies = [(begin, end) for _, begin, end in timeline.copies()]
    kernels = [(launch.start, launch.end) for launch in timeline.launches()]
    origin = min(begin for begin, _ in copies + kernels)  # clocks count from long ago
    copied, mined, either = (
        union_length((begin - origin, end - origin) for begin, end in spans)
        for spans in (copies, kernels, copies + kernels)
    )
    both = copied + mined - either
    return {
        "copies_ms": copied / 1e6,
        "kernels_ms": mined / 1e6,
        "both_ms": both / 1e6,
        "share": both / copied,
    }


def pageable(device: cg.Device, trace: Trace, repeat: int) -> Row:
    """Time trace 4 of set I out of the memory that it is in."""
    plan = InvariantMiner("I", device=device)
    name = "pageable" if trace.numeric.pinned is None else "pinned"
    row: Row = {"case": name, "trace": 4, "set": "I", "variant": "auto"}
    row |= timed(plan, trace, repeat)
    row["device"] = on_the_device(device, plan, trace)
    show(row)
    print(f"  copies under way for {row['device']['copies_ms']:.1f} ms", flush=True)
    return row


def copying_ms(device: cg.Device, trace: Trace, config: MiningConfig, staging: Staging) -> float:
    """Copy the numeric rows of a trace part by part, without mining them."""
    chunks = Chunks(device, [trace], "numeric", config, staging)
    everything = np.ones(chunks.variables, bool)
    began = time.perf_counter()
    for _ in chunks.parts(lambda: everything):
        pass
    took = 1e3 * (time.perf_counter() - began)
    chunks.close()
    return took


def stagings(device: cg.Device, trace: Trace, repeat: int) -> list[Row]:
    """Time copies out of pageable memory, by pieces of several sizes and by several threads."""
    rows = []
    config = MiningConfig()
    for slot_bytes, threads in STAGINGS:
        staging = Staging(device, slot_bytes, threads)
        copying_ms(device, trace, config, staging)
        times = [copying_ms(device, trace, config, staging) for _ in range(repeat)]
        size = trace.count("numeric") * trace.length * 4
        row: Row = {"case": "staging", "slot_bytes": slot_bytes, "threads": threads}
        row |= {"copy_ms": times, "gb_s": size / statistics.median(times) / 1e6}
        rows.append(row)
        print(
            f"staging {slot_bytes >> 20} MiB by {threads:2} threads: "
            f"{statistics.median(times):.1f} ms, {row['gb_s']:.1f} GB/s",
            flush=True,
        )
    return rows


def overlap(device: cg.Device, trace: Trace, length: int, repeat: int) -> Row:
    """Time the stages of one pass over a trace one after the other, and overlapping.

    The template has so many triples that a part is mined for longer than it is copied.
    """
    if device.is_gpu:
        trace = trace.chosen(trace.numeric.names[:OVERLAP_ROWS]).pinned(device)
    else:  # which computes in place unless there is something to convert
        values = trace.numeric.values[:OVERLAP_CPU_ROWS, :length]
        trace = Trace.of(values.astype(np.float64))
    chunk_bytes = max(trace.count("numeric") * 4 * length // OVERLAP_PARTS, 1 << 16)
    configs = {
        name: MiningConfig(chunk_bytes=chunk_bytes, ahead=ahead)
        for name, ahead in (("in_turn", 0), ("overlapping", 2))
    }
    templates = OVERLAP_TEMPLATES[device.is_gpu]
    plans = {
        name: InvariantMiner(templates, inference=False, config=config, device=device)
        for name, config in configs.items()
    }
    times: dict[str, list[float]] = {f"{name}_ms": [] for name in ("copy", "kernel", *plans)}
    for plan in plans.values():
        plan.run(trace)
    for _ in range(repeat):
        times["copy_ms"].append(copying_ms(device, trace, configs["in_turn"], Staging(device)))
        for name, plan in plans.items():
            stats = plan.run(trace).stats
            times[f"{name}_ms"].append(stats.total_ms)
        times["kernel_ms"].append(stats.kernel_ms)
    middle = {name: statistics.median(found) for name, found in times.items()}
    row: Row = {
        "case": "overlap",
        "trace": OVERLAP_TRACE,
        "templates": templates,
        "variables": trace.count("numeric"),
        "parts": OVERLAP_PARTS,
        **times,
        "saved_ms": middle["in_turn_ms"] - middle["overlapping_ms"],
        "device": {name: on_the_device(device, plan, trace) for name, plan in plans.items()},
    }
    print(
        f"overlap: copies alone {middle['copy_ms']:.1f} ms, kernels {middle['kernel_ms']:.1f} ms; "
        f"one after the other {middle['in_turn_ms']:.1f} ms, overlapping "
        f"{middle['overlapping_ms']:.1f} ms",
        flush=True,
    )
    for name, found in row["device"].items():
        print(
            f"  {name}: copies {found['copies_ms']:.1f} ms, kernels {found['kernels_ms']:.1f} ms, "
            f"both at a time {found['both_ms']:.1f} ms, {found['share']:.0%} of the copies",
            flush=True,
        )
    return row


def copies(device: cg.Device, length: int, repeat: int) -> list[Row]:
    """Time what copies of trace 4 cost, out of pageable and out of pinned memory."""
    trace = published_trace(OVERLAP_TRACE, length)
    # What copies it most often comes first: a dozen passes over fresh memory are slower.
    rows = stagings(device, trace, repeat) if device.is_gpu else []
    rows.append(pageable(device, trace, repeat))
    if device.is_gpu:
        rows.append(pageable(device, trace.pinned(device), repeat))
    return [*rows, overlap(device, trace, length, repeat)]


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
            row |= found[-1]
            for name in ("kernel_ms", "total_ms"):
                row[name] = [one[name][0] for one in found]
                row[f"{name}_median"] = statistics.median(row[name])
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


def show(row: Row) -> None:
    """Print one line about a case."""
    name = row.get("trace", row.get("length"))
    print(
        f"{row['case']:9} set {row['set']:2} trace {name:<11} {row['variant']:30} "
        f"{row['invariants']:7} inv  kernel {row['kernel_ms_median']:9.3f} ms  total "
        f"{row['total_ms_median']:9.2f} ms  asked {row['asked_gb_s']:8.0f} GB/s",
        flush=True,
    )


def main() -> None:
    """Check, time and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--length", type=int, default=5_000_000)
    parser.add_argument("--traces", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--longest", type=int, default=LONG)
    parser.add_argument("--reference", action="store_true", help="only against the reference")
    parser.add_argument("--copies", action="store_true", help="only what copies cost")
    parser.add_argument("--commit", help="of the code, where there is no checkout")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    device = cg.device(args.device)
    check(device)
    if args.reference:
        rows = against_reference(device, args.length, args.repeat)
    elif args.copies:
        rows = copies(device, args.length, args.repeat)
    else:
        rows = published(device, args.traces, args.length, args.repeat)
        rows += copies(device, args.length, args.repeat)
        rows += random_lengths(device, args.repeat, args.longest)
        rows.append(joules(device, args.length))
    record = {"schema": SCHEMA, "machine": machine.describe(device, args.commit), "cases": rows}
    if args.json is not None:
        args.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
