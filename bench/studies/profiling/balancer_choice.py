"""The load balancer that criteria point to, against the fastest of records.

``python -m bench.studies.profiling.balancer_choice --device nvidia`` profiles the expansion of each
graph and of each distribution of two records with one item a work-item, asks the rule, and shows
how much slower its choice was in the record than the best, beside how much slower the best single
balancer is. The borders of the rule were set on the graphs; the distributions are new to it. With
``--small`` smaller graphs of the same kinds and fewer items are profiled in their place: the rule
only looks at criteria that do not depend on the size, so that any device with 32 lanes will do.
"""

from __future__ import annotations

import functools
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
from ...runner import machine
from ..balance import sizes_of
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

__all__ = ["choices", "judged", "main", "recorded_times"]

RESULTS = Path(__file__).resolve().parents[2] / "results"
RECORD = RESULTS / "h200-20261121-expansion.json"
DISTRIBUTED = RESULTS / "h200-20261122-balance-energy.json"
SMALLER = {"kron20": "kron16", "road": "road500", "unif22": "unif17"}
SINGLE = "multi_phase"  # the best one for everything, by both records
UNITS, FEW_UNITS = 1 << 25, 1 << 18

Times = dict[str, dict[str, float]]


def recorded_times(record: dict[str, Any]) -> Times:
    """Give milliseconds by graph or distribution, and balancer."""
    found: Times = {}
    for row in record.get("rows", ()):
        found.setdefault(row["distribution"], {})[row["balance"]] = float(row["median_ms"])
    for case in record.get("cases", ()):
        if case["status"] == "ok":
            median = case["summary"]["kernel_ms"]["median"]
            found.setdefault(case["graph"]["name"], {})[case["preset"]] = float(median)
    return found


def graph_sizes(name: str, *, small: bool) -> NDArray[np.uint32]:
    """Give the degrees of a graph of the record, or of a smaller one of its kind."""
    graph = suite_graphs.find(SMALLER.get(name, name) if small else name).graph
    return np.asarray(graph.degrees, np.uint32)


def distribution_sizes(name: str, *, small: bool) -> NDArray[np.uint32]:
    """Draw sizes as the record did, or fewer."""
    return sizes_of(name, FEW_UNITS if small else UNITS)


def choices(
    times: Times, sizes: Callable[[str], NDArray[np.uint32]], device: Device
) -> list[dict[str, Any]]:
    """Ask the rule for each list of sizes, and compare with the record."""
    rows = []
    for name, by_balancer in times.items():
        plan = Expand(
            sizes(name), config=ExpandConfig(balance="item_thread"), ranks=False, device=device
        )
        report = profile(plan.run, device=device, passes=("time", "counters"), repeats=1)
        kernel = max(report.kernels, key=lambda kernel: kernel.time_s)
        suggestion = suggested_balancer(kernel.criteria)
        best = min(by_balancer, key=lambda balancer: by_balancer[balancer])
        chosen = suggestion.balancer
        rows.append(
            {
                "sizes": name,
                "TDiv": kernel.criteria["TDiv"].value,
                "lane_use": kernel.criteria["TDiv"].inputs.get("lane_use"),
                "LB_W": kernel.criteria["LB_W"].value,
                "chosen": chosen,
                "best": best,
                "slower": None if chosen is None else by_balancer[chosen] / by_balancer[best],
                "item_thread_slower": by_balancer["item_thread"] / by_balancer[best],
                "single_slower": by_balancer[SINGLE] / by_balancer[best],
            }
        )
    return rows


def judged(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Give median and largest factors over the best, of the rule and of the single balancer."""
    found: dict[str, float] = {}
    for name in ("slower", "single_slower", "item_thread_slower"):
        known = [row[name] for row in rows if row[name] is not None]
        if known:
            found |= {f"{name} median": statistics.median(known), f"{name} largest": max(known)}
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Compare choices with a record."""
    parser = command(__doc__)
    parser.add_argument("--small", action="store_true", help="smaller graphs of the same kinds")
    args = parser.parse_args(argv)
    device = find_device(args.device)
    record: dict[str, Any] = {"machine": machine.describe(device, None), "small": args.small}
    for name, path, sizes in (
        ("graphs", RECORD, graph_sizes),
        ("distributions", DISTRIBUTED, distribution_sizes),
    ):
        times = recorded_times(json.loads(path.read_text(encoding="utf-8")))
        rows = choices(times, functools.partial(sizes, small=args.small), device)
        record[name] = {"times": path.name, "rows": rows, "judged": judged(rows)}
        print(table(tuple(rows[0]), [[str(row[key]) for key in rows[0]] for row in rows]))
        print({key: round(factor, 2) for key, factor in record[name]["judged"].items()})
    keep(record, args.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
