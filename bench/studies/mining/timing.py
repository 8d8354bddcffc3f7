"""Timing runs of mining: medians, and what the last run looked at."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clgraph.algorithms.invariants import InvariantMiner, Trace

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
        "read_bytes": stats.read_bytes,
        "phases": stats.phases,
    }


def in_one(found: list[Row]) -> Row:
    """Give the rows of runs that were timed one by one as one row."""
    row = dict(found[-1])
    for name in ("kernel_ms", "total_ms"):
        row[name] = [one[name][0] for one in found]
        row[f"{name}_median"] = statistics.median(row[name])
    return row


def show(row: Row) -> None:
    """Print one line about a case."""
    name = row.get("trace", row.get("length"))
    print(
        f"{row['case']:9} set {row['set']:2} trace {name:<11} {row['variant']:30} "
        f"{row['invariants']:7} inv  kernel {row['kernel_ms_median']:9.3f} ms  total "
        f"{row['total_ms_median']:9.2f} ms  asked {row['asked_gb_s']:8.0f} GB/s",
        flush=True,
    )
