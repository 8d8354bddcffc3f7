"""Subgraph matching by one processor core, compiled: what a CPU device is measured against.

``python -m bench.studies.matchers.compiled --data FOLDER --device pocl`` runs the compiled form
of `bench.studies.matchers.one_core` and a device in turn on the networks in FOLDER and compares
their matches.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import SubgraphMatching
from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.quality import planted_query

from ...runner import machine
from ..command import command, keep
from ..matching import read_networks
from .one_core import match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["main"]

BAR = 2.0  # two cores against one
CASES = (("human", 32, 64, 1000), ("human", 32, 16, 1000), ("hprd", 0, 32, 1000))


def compare(
    plan: SubgraphMatching, codes: NDArray[Any], size: int, k: int, repeats: int
) -> dict[str, Any]:
    """Match a planted query in turn on one core and on the plan's device; equal matches.

    Raises
    ------
    SystemExit
        If the matches differ.
    """
    query, vertices = planted_query(plan.target, size, seed=1)
    own = codes[vertices]
    result = plan.run(query, labels=own, k=k, sort=False)
    mapping, losses, _ = match(plan.target, query, codes, own, k=k)
    parts = np.stack([result.cost_parts[part] for part in ("labels", "edges", "nodes")], axis=1)
    if (result.mapping != mapping).any() or (parts * [ONE, 1, 1] != losses).any():
        raise SystemExit("the compiled form and the device found different matches")
    one_core, device, phases = [], [], []
    for _ in range(repeats):
        times = match(plan.target, query, codes, own, k=k)[2]
        stats = plan.run(query, labels=own, k=k).stats
        one_core.append(sum(times.values()))
        device.append(stats.total_ms)
        phases.append((times, stats.phases))
    ratios = [one / ours for one, ours in zip(one_core, device, strict=True)]
    return {
        "size": size,
        "k": k,
        "one_core_ms": one_core,
        "device_ms": device,
        "ratio": statistics.median(ratios),
        "bar": BAR,
        "phases_ms": {
            who: {name: statistics.median(pair[at][name] for pair in phases) for name in own_phases}
            for at, (who, own_phases) in enumerate(
                (("one_core", phases[0][0]), ("device", phases[0][1]))
            )
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run both in turn on every case and print the ratios."""
    parser = command(__doc__, repeats=7)
    parser.add_argument("--data", type=Path, required=True, help="folder of the networks")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    networks = read_networks(args.data)
    cases = []
    for name, labels, size, k in CASES:
        graph, codes = networks[name]
        if labels or codes is None:
            codes = np.random.default_rng(labels).integers(0, labels, graph.n)
        plan = SubgraphMatching(graph, labels=codes, device=device)
        row: dict[str, Any] = {"network": name, "labels": labels}
        row |= compare(plan, codes, size, k, args.repeats)
        cases.append(row)
        print(
            f"{name}, {size} vertices, k={k}: one core {statistics.median(row['one_core_ms']):.2f} "
            f"ms, {device.name} {statistics.median(row['device_ms']):.2f} ms, "
            f"{row['ratio']:.2f} times as fast (bar {BAR})"
        )
        print(json.dumps(row["phases_ms"]))
    commit, _ = machine.commit_of_checkout()
    record = {
        "table": "subgraph matching against one compiled core",
        "machine": machine.describe(device, commit),
        "cases": cases,
    }
    keep(record, args.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
