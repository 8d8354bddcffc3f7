"""What the pass TIME costs: kernels as they are, and those that note when they ran, by turns.

``python -m bench.studies.profiling.overheads --device nvidia --output record.json --seconds 60``
runs plans of `bench.studies.profiling.crossed`, every run after one of its own kind.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from clgraph import device as find_device
from clgraph.device.observing import observed_by
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes.timeline import Timeline
from clgraph.profile.passes.watching import Counting
from clgraph.profile.running import runnable

from ...runner import graphs as suite_graphs
from ...runner import machine
from ..command import command, keep
from .crossed import GRAPHS, PLANS, UNDIRECTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device

__all__ = ["by_turns", "main", "summary"]

ON = GRAPHS[:3]


def by_turns(call: Callable[[], Any], device: Device, rounds: int) -> dict[str, Any]:
    """Time kernels as they are, and with the pass TIME.

    Returns
    -------
    dict
        Seconds of all kernels of each run as ``plain_s`` and ``time_s``, the first run of the pass,
        whose programs are new, as ``first_s``, and ``reasons`` of what was not launched as it is.
    """

    def plain() -> float:
        watching = Timeline(device)
        with observed_by(watching):
            call()
        return sum(one.end - one.start for one in watching.launches()) * 1e-9

    counting, spent = Counting(Mask.TIME, device), 0

    def instrumented() -> float:
        nonlocal spent
        with observed_by(counting):
            call()
        before, spent = spent, sum(each.times_ns for each in counting.found.values())
        return (spent - before) * 1e-9

    try:
        plain()
        found: dict[str, Any] = {"first_s": instrumented()}
        turns = [(again(plain), again(instrumented)) for _ in range(rounds)]
    finally:
        counting.release()
    found["plain_s"], found["time_s"] = (list(times) for times in zip(*turns, strict=True))
    found["reasons"] = [*counting.run_stepped.values(), *counting.left_plain.values()]
    return found


def again(run: Callable[[], float]) -> float:
    """Run twice and give the second time: a first run finds the caches with another's code."""
    run()
    return run()


def overhead(row: dict[str, Any]) -> float:
    """Give how much longer the pass took, median of the turns."""
    pairs = zip(row["time_s"], row["plain_s"], strict=True)
    return float(statistics.median(timed / plain for timed, plain in pairs)) - 1.0


def launched(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out plans that launch nothing on their graph."""
    return [row for row in rows if min(row["plain_s"]) > 0.0]


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Show what the pass takes, case by case and as a median."""
    rows = launched(rows)
    lines = [
        f"{row['graph']:8} {row['plan']:22} {statistics.median(row['plain_s']) * 1e6:9.1f} us, "
        f"TIME {overhead(row):+7.1%}, "
        f"first {row['first_s'] / statistics.median(row['plain_s']) - 1.0:+7.1%}"
        f"{' ' + row['reasons'][0][:70] if row['reasons'] else ''}"
        for row in rows
    ]
    if rows:
        each = [overhead(row) for row in rows]
        lines.append(
            f"{len(rows)} cases: median {statistics.median(each):.1%}, largest {max(each):.1%}"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, seconds=60.0, commit=None)
    parser.add_argument("--graphs", nargs="+", default=list(ON), metavar="NAME")
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args(argv)
    began, device = time.perf_counter(), find_device(args.device)
    record: dict[str, Any] = {"machine": machine.describe(device, args.commit), "runs": []}
    for name in args.plans:
        weighted, make = PLANS[name]
        for graph in args.graphs:
            if time.perf_counter() - began > args.seconds:
                break
            found = suite_graphs.find(graph, weighted=weighted).graph
            plan = make(found.symmetrized() if name in UNDIRECTED else found, device)
            row = by_turns(runnable(plan), device, args.rounds)
            record["runs"].append({"graph": graph, "plan": name, **row})
    keep(record, args.output)
    print(summary(record["runs"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
