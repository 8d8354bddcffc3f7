"""Load balancing alone: every balancer on sizes of known distributions, in units per second.

``python -m bench.studies.balance --device nvidia`` prints a table of size distribution x balancer;
each figure is the best of a few work-group sizes, as the literature reports them. ``--sweep``
varies one size of ``multi_phase`` instead. Every first result is compared with ``numpy.repeat``.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import device as find_device
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.errors import ClgraphError
from clgraph.primitives import Expand, ExpandConfig

from .command import command, keep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

__all__ = ["DISTRIBUTIONS", "Distribution", "measure", "sizes_of"]

SEED = 12345


@dataclass(frozen=True)
class Distribution:
    """Item sizes of a given mean and deviation; log-normal where they vary, then rounded.

    The moments are those of the graphs that the literature on load balancing measures: roads,
    citations, web pages, systems of the Internet, circuits, and Kronecker graphs.
    """

    name: str
    mean: float
    deviation: float
    largest: int

    def sizes(self, items: int) -> NDArray[np.uint32]:
        """Draw sizes, uint32 [items]."""
        rng = np.random.default_rng(SEED)
        if self.deviation == 0:
            return np.full(items, round(self.mean), np.uint32)
        if self.name == "uniform":
            return rng.integers(0, 2 * round(self.mean) + 1, items, dtype=np.uint32)
        spread = np.log1p((self.deviation / self.mean) ** 2)
        drawn = rng.lognormal(np.log(self.mean) - spread / 2, np.sqrt(spread), items)
        return np.minimum(np.floor(drawn + rng.random(items)), self.largest).astype(np.uint32)


DISTRIBUTIONS = {
    found.name: found
    for found in (
        Distribution("road", 2.1, 0.5, 8),
        Distribution("citations", 4.8, 7.5, 770),
        Distribution("web", 5.2, 21.4, 3445),
        Distribution("regular8", 8.0, 0.0, 8),
        Distribution("uniform", 8.0, 4.9, 16),
        Distribution("circuit", 10.7, 1356.6, 1_290_501),
        Distribution("internet", 13.1, 136.9, 35_455),
        Distribution("kronecker", 96.2, 1033.1, 413_378),
    )
}

# What is tried for each balancer, beside the work-group size; the best is reported.
TUNING: dict[str, list[dict[str, Any]]] = {
    "vwarp": [{"balance.width": width} for width in (2, 4, 8, 16, 32)],
    "dyn_vwarp": [{"balance.width": 4}, {"balance.width": 32}],
    "block_search": [{"balance.block_items": 1}, {"balance.block_items": 4}],
    "two_phase": [{}, {"balance.partition": "merge"}],
    "multi_phase": [
        {"balance.unit_batch": batch, "balance.iterations": times, "search": search}
        for batch, times in ((8, 1), (8, 2), (8, 3), (12, 2), (9, 2))
        for search in ("hybrid", "lanes")
    ],
}
GROUP_SIZES = (128, 256)

SWEEPS: dict[str, list[dict[str, Any]]] = {
    "group_size": [{"group_size": size} for size in (32, 64, 128, 256, 512, 1024)],
    "iterations": [{"balance.iterations": times} for times in (1, 2, 3, 4, 5, 6, 7, 8)],
    "unit_batch": [{"balance.unit_batch": batch} for batch in (4, 5, 7, 8, 9, 11, 12, 16)],
    "grid_factor": [{"grid_factor": factor} for factor in (1, 4, 32, 0)],
    "search": [{"search": search} for search in ("binary", "interpolation", "lanes")],
    "read_only": [{"read_only": wanted} for wanted in (True, False)],
}


def sizes_of(name: str, units: int) -> NDArray[np.uint32]:
    """Draw sizes of a distribution that come to about `units` in all."""
    found = DISTRIBUTIONS[name]
    return found.sizes(max(round(units / found.mean), 1))


def measure(
    sizes: NDArray[np.uint32], config: ExpandConfig, device: Device, *, repeats: int, check: bool
) -> dict[str, Any]:
    """Time one configuration on one list of sizes.

    Returns
    -------
    dict
        Median, least and shares of the time in milliseconds, units per second, configuration.
    """
    plan = Expand(sizes, config=config, ranks=False, device=device)
    plan.run()
    if check:
        expected = np.repeat(np.arange(sizes.size, dtype=np.uint32), sizes)
        if not np.array_equal(plan.owners(), expected):
            raise AssertionError(f"{config} gives wrong owners")
    runs = [plan.run() for _ in range(repeats)]
    times = [run.kernel_ms for run in runs]
    median = statistics.median(times)
    return {
        "median_ms": median,
        "min_ms": min(times),
        "partition_ms": statistics.median(run.partition_ms for run in runs),
        "tiles_ms": statistics.median(run.tiles_ms for run in runs),
        "units_per_s": runs[0].units / (median * 1e-3),
        "units": runs[0].units,
        "items": runs[0].items,
        "mean": runs[0].mean,
        "deviation": runs[0].deviation,
        "config": config.as_dict(),
    }


def _tries(balance: str, group_sizes: Sequence[int], device: Device) -> Iterator[ExpandConfig]:
    lanes = device.traits.lanes
    sizes = [size for size in group_sizes if size % lanes == 0] if lanes > 1 else [None]
    for tuning, size in itertools.product(TUNING.get(balance, [{}]), sizes):
        yield ExpandConfig(balance=balance, group_size=size).with_values(tuning)


def _table(arguments: argparse.Namespace, device: Device) -> list[dict[str, Any]]:
    records = []
    for name in arguments.distributions:
        sizes = sizes_of(name, arguments.units)
        for balance in arguments.balancers:
            best: dict[str, Any] | None = None
            for config in _tries(balance, arguments.group_sizes, device):
                record = _record(sizes, config, device, arguments, name, check=best is None)
                if best is None or record["median_ms"] < best["median_ms"]:
                    best = record
                records.append(record)
            if best is not None:
                _print(name, balance, best)
    return records


def _sweep(arguments: argparse.Namespace, device: Device) -> list[dict[str, Any]]:
    records = []
    base = ExpandConfig(balance="multi_phase")
    for name in arguments.distributions:
        sizes = sizes_of(name, arguments.units)
        for change in SWEEPS[arguments.sweep]:
            config = base.with_values(change)
            try:
                record = _record(sizes, config, device, arguments, name, check=True)
            except ClgraphError as error:
                print(f"{name:10} {change}: {error}")
                continue
            _print(name, str(change), record)
            records.append(record)
    return records


def _record(
    sizes: NDArray[np.uint32],
    config: ExpandConfig,
    device: Device,
    arguments: argparse.Namespace,
    name: str,
    *,
    check: bool,
) -> dict[str, Any]:
    found = measure(sizes, config, device, repeats=arguments.repeats, check=check)
    return {"distribution": name, "device": device.name, **found}


def _print(name: str, what: str, record: dict[str, Any]) -> None:
    chosen = {k: v for k, v in record["config"].items() if k in {"group_size", *_VARIED}}
    print(
        f"{name:10} {what:22} {record['median_ms']:9.4f} ms (partition "
        f"{record['partition_ms']:.4f}, tiles {record['tiles_ms']:.4f}) "
        f"{record['units_per_s'] / 1e9:8.2f} G units/s  {chosen}",
        flush=True,
    )


_VARIED = {key for tries in TUNING.values() for tuning in tries for key in tuning}


def main() -> None:
    """Measure what the command line asks for."""
    parser = command(__doc__, "--json", repeats=7)
    parser.add_argument("--units", type=int, default=1 << 24, help="units in all, about")
    parser.add_argument("--distributions", nargs="+", default=list(DISTRIBUTIONS))
    parser.add_argument("--balancers", nargs="+", default=list(BALANCERS))
    parser.add_argument("--group-sizes", nargs="+", type=int, default=list(GROUP_SIZES))
    parser.add_argument("--sweep", choices=list(SWEEPS), help="vary this instead")
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    records = (_sweep if arguments.sweep else _table)(arguments, device)
    keep(records, arguments.json)


if __name__ == "__main__":
    main()
