"""The load balancer that criteria point to, against the fastest of a record.

``python -m bench.studies.profiling.balancer_choice --device nvidia`` profiles the expansion of each
graph of the record with one item a work-item, asks the rule, and shows how much slower its choice
was in the record than the best. With ``--small`` smaller graphs of the same kinds are profiled in
their place: the rule only looks at criteria that do not depend on the size.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import device as find_device
from clgraph import profile
from clgraph.cli.text import table
from clgraph.primitives import Expand, ExpandConfig
from clgraph.profile.choose import suggested_balancer

from ...runner import graphs as suite_graphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device

__all__ = ["choices", "main", "recorded_times"]

RECORD = Path(__file__).resolve().parents[2] / "results" / "h200-20261121-expansion.json"
SMALLER = {"kron20": "kron16", "road": "road500", "unif22": "unif17"}


def recorded_times(record: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Give milliseconds by graph and balancer."""
    found: dict[str, dict[str, float]] = {}
    for case in record["cases"]:
        if case["status"] == "ok":
            median = case["summary"]["kernel_ms"]["median"]
            found.setdefault(case["graph"]["name"], {})[case["preset"]] = float(median)
    return found


def choices(
    times: dict[str, dict[str, float]], device: Device, *, small: bool
) -> list[dict[str, Any]]:
    """Ask the rule for each graph, and compare with the record."""
    rows = []
    for name, by_balancer in times.items():
        graph = suite_graphs.find(SMALLER.get(name, name) if small else name).graph
        plan = Expand(
            np.asarray(graph.degrees, np.uint32),
            config=ExpandConfig(balance="item_thread"),
            ranks=False,
            device=device,
        )
        report = profile(plan.run, device=device, passes=("time", "counters"), repeats=1)
        kernel = max(report.kernels, key=lambda kernel: kernel.time_s)
        suggestion = suggested_balancer(kernel.criteria)
        best = min(by_balancer, key=lambda balancer: by_balancer[balancer])
        chosen = suggestion.balancer
        rows.append(
            {
                "graph": name,
                "TDiv": kernel.criteria["TDiv"].value,
                "lane_use": kernel.criteria["TDiv"].inputs.get("lane_use"),
                "LB_W": kernel.criteria["LB_W"].value,
                "chosen": chosen,
                "best": best,
                "slower": None if chosen is None else by_balancer[chosen] / by_balancer[best],
                "item_thread_slower": by_balancer["item_thread"] / by_balancer[best],
            }
        )
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Compare choices with a record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--small", action="store_true", help="smaller graphs of the same kinds")
    parser.add_argument("--output", type=Path, metavar="FILE", help="JSON")
    args = parser.parse_args(argv)
    times = recorded_times(json.loads(args.record.read_text(encoding="utf-8")))
    rows = choices(times, find_device(args.device), small=args.small)
    shown = [[str(row[key]) for key in rows[0]] for row in rows]
    print(table(tuple(rows[0]), shown))
    known = [row["slower"] for row in rows if row["slower"] is not None]
    if known:
        print(f"slower than the best, median: {statistics.median(known):.2f} times")
    if args.output is not None:
        args.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
