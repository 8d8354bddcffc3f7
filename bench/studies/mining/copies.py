"""What copies of a trace cost, and reading it for ranges instead, beside kernels and without."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.invariants import InvariantMiner, MiningConfig, Trace, published_trace
from clgraph.algorithms.invariants.chunks import Chunks
from clgraph.algorithms.invariants.ranges import RangeFinder
from clgraph.algorithms.invariants.reading import KnownRanges, Reading
from clgraph.device.memory.staging import Staging
from clgraph.device.observing import observed_by
from clgraph.profile.criteria import union_length
from clgraph.profile.passes.timeline import Timeline

from .timing import Row, in_one, show, timed

if TYPE_CHECKING:
    import clgraph as cg

# Of the case that shows copies and kernels overlapping: on a GPU 12,180 triples, which take about
# twice as long as copies do, on a CPU 3 pairs.
OVERLAP_TRACE, OVERLAP_PARTS, OVERLAP_ROWS, OVERLAP_CPU_ROWS = 4, 8, 30, 6
STAGINGS = tuple((mib << 20, threads) for mib in (4, 8, 16) for threads in (4, 6, 8, 12))
READERS = (4, 8, 12, 16)
OVERLAP_TEMPLATES = {True: ["a <= b + c"], False: ["a <= b + 1e6"]}


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


def end_to_end(device: cg.Device, trace: Trace, repeat: int) -> list[Row]:
    """Time trace 4 of set I out of the memory that it is in; the ways to get ranges in turn."""
    name = "pageable" if trace.numeric.pinned is None else "pinned"
    variants = {"auto": True, "ranges-copied": False} if name == "pageable" else {"auto": True}
    plans = {
        variant: InvariantMiner("I", config=MiningConfig(ranges_on_host=on), device=device)
        for variant, on in variants.items()
    }
    turns: dict[str, list[Row]] = {variant: [] for variant in plans}
    for _ in range(repeat):
        for variant, plan in plans.items():
            turns[variant].append(timed(plan, trace, 1))
    rows = []
    for variant, found in turns.items():
        row: Row = {"case": name, "trace": 4, "set": "I", "variant": variant}
        row |= in_one(found)
        row["device"] = on_the_device(device, plans[variant], trace)
        show(row)
        spread = f"{min(row['total_ms']):.1f} to {max(row['total_ms']):.1f}"
        print(f"  {spread}; copies under way for {row['device']['copies_ms']:.1f} ms", flush=True)
        rows.append(row)
    return rows


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


def reading_ms(device: cg.Device, trace: Trace, staging: Staging) -> float:
    """Read the numeric rows of a trace for their ranges, part by part."""
    known = KnownRanges(RangeFinder(device, 4), trace.count("numeric"), 0)
    reading = Reading([trace], known, staging)
    chunks = Chunks(device, [trace], "numeric", MiningConfig(), staging, reading)
    everything = np.ones(chunks.variables, bool)
    began = time.perf_counter()
    for _ in chunks.parts(lambda: everything):
        chunks.read_only(everything)
    took = 1e3 * (time.perf_counter() - began)
    chunks.close()
    return took * trace.length * len(everything) * 4 / max(reading.read_bytes, 1)


def readings(device: cg.Device, trace: Trace, repeat: int) -> list[Row]:
    """Time reading for ranges by several threads."""
    rows = []
    for threads in READERS:
        staging = Staging(device, threads=threads)
        reading_ms(device, trace, staging)
        times = [reading_ms(device, trace, staging) for _ in range(repeat)]
        size = trace.count("numeric") * trace.length * 4
        row: Row = {"case": "reading", "threads": threads, "read_ms": times}
        row["gb_s"] = size / statistics.median(times) / 1e6
        rows.append(row)
        print(f"reading by {threads:2} threads: {row['gb_s']:.1f} GB/s", flush=True)
    return rows


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


def copying_costs(device: cg.Device, length: int, repeat: int) -> list[Row]:
    """Time what copies of trace 4 cost, out of pageable and out of pinned memory."""
    trace = published_trace(OVERLAP_TRACE, length)
    # What copies it most often comes first: a dozen passes over fresh memory are slower.
    rows = []
    if device.is_gpu:
        rows += stagings(device, trace, repeat) + readings(device, trace, repeat)
    rows += end_to_end(device, trace, repeat)
    if device.is_gpu:
        rows += end_to_end(device, trace.pinned(device), repeat)
    return [*rows, overlap(device, trace, length, repeat)]
