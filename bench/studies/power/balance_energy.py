"""What balancing load costs in time and in power: every balancer on five lists of sizes.

``python -m bench.studies.power.balance_energy --device nvidia --seconds 75 --json FILE`` takes for
each distribution of sizes the best work-group size and tuning of each balancer by time, then meters
it and prints time, mean and peak power, joules and joules times time, and which of the published
conclusions hold on this device. Static: an item or a fixed width of lanes each; semi-dynamic: a
width by the level, or groups, SIMD groups and a scan by size; dynamic: searches for the owner of
every unit. Without a meter it prints times alone. First results are compared with ``numpy.repeat``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import energy
from clgraph.cli.text import table
from clgraph.device import wait
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.errors import ClgraphError
from clgraph.primitives import Expand, ExpandConfig

from ...runner.machine import commit_of_checkout
from ..balance import TUNING, measure, sizes_of
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device

__all__ = ["CLASSES", "conclusions", "main"]

Record = dict[str, Any]

# Great-britain_osm, cit-Patents, web-NotreDame, circuit5M and as-Skitter by their moments.
WORKLOADS = ("road", "citations", "web", "circuit", "internet")
CLASSES = {
    "static": ("item_thread", "vwarp"),
    "semi-dynamic": ("dyn_vwarp", "cws"),
    "dynamic": (
        "warp_search",
        "warp_search_local",
        "block_search",
        "direct",
        "two_phase",
        "multi_phase",
    ),
}
GROUP_SIZES = (64, 128, 256, 512)
REPEATS = 3
METER_S, WARM_UP_S, BATCH_MS = 2.0, 0.2, 5.0
TIE = 0.02


def _best(sizes: Any, balance: str, device: Device) -> Record | None:
    """Find the fastest tuning of a balancer, then its fastest group size."""
    found: Record | None = None
    lanes = device.traits.lanes
    emulated = device.traits.emulated

    def attempt(config: ExpandConfig) -> None:
        nonlocal found
        try:
            run = measure(sizes, config, device, repeats=REPEATS, check=found is None)
        except ClgraphError:
            return
        if found is None or run["median_ms"] < found["median_ms"]:
            found = run | {"made": config}

    for tuning in TUNING.get(balance, [{}]):
        attempt(ExpandConfig(balance=balance).with_values(tuning))
    if found is not None and lanes > 1 and not emulated:
        best = found["made"]
        for size in GROUP_SIZES:
            if size <= device.traits.max_group_size:
                attempt(best.with_values({"group_size": size}))
    return found


def _metered(sizes: Any, best: Record, device: Device) -> Record:
    """Add mean and peak watts of the steady state, and joules of a launch."""
    plan = Expand(sizes, config=best["made"], ranks=False, device=device)
    plan.run()
    together = max(1, round(BATCH_MS / max(best["median_ms"], 1e-3)))

    def launch() -> Callable[[], float]:
        events = [event for _ in range(together) for event in plan.enqueue()]

        def finish() -> float:
            wait(events)
            return sum(event.profile.end - event.profile.start for event in events) * 1e-9

        return finish

    power = energy.steady_power(
        launch, device=device, min_seconds=METER_S, warm_up_seconds=WARM_UP_S
    )
    time_s = best["median_ms"] * 1e-3
    joules = None if power.mean_watts is None else power.mean_watts * time_s
    return {
        "mean_watts": power.mean_watts,
        "peak_watts": power.peak_watts,
        "joules": joules,
        "joules_seconds": None if joules is None else joules * time_s,
        "duty": power.duty,
        "flags": list(power.flags),
        "source": power.source,
    }


def _least(rows: Sequence[Record], names: Sequence[str], quantity: str) -> Record | None:
    known = [row for row in rows if row["balance"] in names and row.get(quantity) is not None]
    return min(known, key=lambda row: row[quantity], default=None)


def conclusions(record: Record) -> list[tuple[str, str, bool | None]]:
    """Answer the published conclusions.

    Parameters
    ----------
    record : dict
        With ``rows``: one for each distribution and balancer.

    Returns
    -------
    list of (str, str, bool or None)
        The conclusion, the figures, and whether it holds on every list of sizes; None where nothing
        was metered or measured.
    """
    rows = record["rows"]
    by_name: dict[str, list[Record]] = {}
    for row in rows:
        by_name.setdefault(row["distribution"], []).append(row)
    claims: list[tuple[str, str, bool | None]] = []

    def answer(text: str, values: dict[str, tuple[float, bool]]) -> None:
        shown = ", ".join(f"{name} {value:.2f}" for name, (value, _) in values.items())
        claims.append((text, shown, all(ok for _, ok in values.values()) if values else None))

    def ratios(
        quantity: str, over: Sequence[str], under: Sequence[str], limit: float
    ) -> dict[str, tuple[float, bool]]:
        found = {}
        for name, mine in by_name.items():
            one, other = _least(mine, over, quantity), _least(mine, under, quantity)
            if one is not None and other is not None:
                ratio = one[quantity] / other[quantity]
                found[name] = (ratio, ratio >= limit)
        return found

    rest = [name for name in BALANCERS if name != "multi_phase"]
    answer(
        "multi-phase is the fastest (best other over it)",
        ratios("median_ms", rest, ["multi_phase"], 1.0 - TIE),
    )
    answer(
        "multi-phase takes the least energy (best other over it)",
        ratios("joules", rest, ["multi_phase"], 1.0 - TIE),
    )
    skewed = {"circuit", "internet"}
    dynamic = CLASSES["dynamic"]
    answer(
        "on skewed sizes dynamic balancers take less energy than static ones (static over dynamic)",
        {
            name: value
            for name, value in ratios("joules", CLASSES["static"], dynamic, 1.0).items()
            if name in skewed
        },
    )
    answer(
        "static balancers draw the least power (dynamic over static)",
        ratios("mean_watts", dynamic, CLASSES["static"], 1.0),
    )
    fastest = {
        name: min(mine, key=lambda row: row["median_ms"])["balance"]
        for name, mine in by_name.items()
        if mine
    }
    thrifty = {
        name: least["balance"]
        for name, mine in by_name.items()
        if (least := _least(mine, list(BALANCERS), "joules")) is not None
    }
    same = {name: fastest[name] == thrifty[name] for name in thrifty}
    claims.append(
        (
            "the fastest balancer takes the least energy",
            ", ".join(f"{name} {fastest[name]}/{thrifty[name]}" for name in thrifty),
            all(same.values()) if same else None,
        )
    )
    widths = {
        row["distribution"]: (float(row["config"].get("balance.width") or 0.0), row["mean"])
        for row in rows
        if row["balance"] == "vwarp"
    }
    near = {
        name: (width, bool(width) and mean / 2 <= width <= 2 * mean)
        for name, (width, mean) in widths.items()
    }
    answer("the best width of virtual warps is about the mean size (best width)", near)
    sizes = [row["config"].get("group_size") for row in rows if row["config"].get("group_size")]
    claims.append(
        (
            "work-groups of 128 to 256 are best",
            ", ".join(f"{size}: {sizes.count(size)}" for size in sorted(set(sizes))),
            None if not sizes else 2 * sum(128 <= s <= 256 for s in sizes) > len(sizes),
        )
    )
    return claims


def _render(record: Record) -> str:
    def figure(value: float | None, digits: str = ".4g") -> str:
        return "-" if value is None else format(value, digits)

    rows = [
        (
            row["distribution"],
            row["balance"],
            figure(row["median_ms"]),
            figure(row.get("mean_watts"), ".0f"),
            figure(row.get("peak_watts"), ".0f"),
            figure(row.get("joules")),
            figure(row.get("joules_seconds"), ".3g"),
            str(row["config"].get("group_size", "")),
        )
        for row in record["rows"]
    ]
    head = ("sizes", "balancer", "ms", "W", "max W", "J", "J s", "group")
    said = {True: "holds", False: "does not hold", None: "not measured"}
    answers = [(text, shown, said[holds]) for text, shown, holds in conclusions(record)]
    return "\n".join(
        [
            table(head, rows),
            "",
            table(("conclusion", "figures", ""), answers),
            f"{record['seconds']:.0f} s in all",
        ]
    )


def _times(lists: dict[str, Any], balancers: Sequence[str], device: Device) -> list[Record]:
    """Find the best of every balancer on every list."""
    return [
        {"distribution": name, "balance": balance, **found}
        for name, sizes in lists.items()
        for balance in balancers
        if (found := _best(sizes, balance, device)) is not None
    ]


def _resumed(path: Path) -> Record:
    """Read a record, with the configuration of each row."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))
    for row in record["rows"]:
        row["made"] = ExpandConfig().with_values(row["config"])
    return record


def main(argv: Sequence[str] | None = None) -> int:
    """Measure until the time is spent."""
    parser = command(__doc__, "--json", seconds=75.0)
    parser.add_argument("--units", type=int, default=1 << 25, help="units in all, about")
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS))
    parser.add_argument("--balancers", nargs="+", default=list(BALANCERS))
    parser.add_argument(
        "--record", type=Path, help="a record to go on with: rows without watts, other workloads"
    )
    args = parser.parse_args(argv)
    began = time.monotonic()
    device = clgraph.device(args.device)
    commit, dirty = commit_of_checkout()
    record: Record = {
        "schema": "clgraph-balance-energy/1",
        "device": device.name,
        "driver": device.driver,
        "commit": commit,
        "dirty": dirty,
        "units": args.units,
        "idle_watts": energy.idle_baseline(device),
        "rows": [],
    }

    def save() -> None:
        record["seconds"] = time.monotonic() - began
        kept = [{k: v for k, v in row.items() if k != "made"} for row in record["rows"]]
        keep({**record, "rows": kept}, args.json)

    lists = {name: sizes_of(name, args.units) for name in args.workloads}
    if args.record is not None:
        record |= _resumed(args.record)
    known = {row["distribution"] for row in record["rows"]}
    fresh = {name: sizes for name, sizes in lists.items() if name not in known}
    record["rows"] += _times(fresh, args.balancers, device)
    save()
    missing = [row for row in record["rows"] if row.get("mean_watts") is None]
    for row in missing:
        if time.monotonic() - began > args.seconds:
            break
        if row["distribution"] in lists:
            row.update(_metered(lists[row["distribution"]], row, device))
            save()
    save()
    print(_render(record))
    return int(not record["rows"])


if __name__ == "__main__":
    raise SystemExit(main())
