"""Subgraph matching on real interaction networks: the bars, scaling, joules and quality.

``python -m bench.studies.matching --data FOLDER --device nvidia --output record.json`` reads
``ppi-yeast-human.npz.xz`` and ``hprd-labelled.npz.xz`` from FOLDER; ``--quick`` leaves out what
takes long on a CPU. A digest of the maps of each timed case reports whether two devices found the
same. Joules come from windows of repeated calls with the spread of their parts: of the whole call
for each case, and up to the end of each phase for some.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import SubgraphMatching, energy
from clgraph.algorithms.matching.joules import joules_by_phase
from clgraph.algorithms.matching.quality import perturbed_query, planted_query
from clgraph.cli.text import table

from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph
    from clgraph.energy import RunEnergy

__all__ = ["main"]

SIZES, KS, LABELS = (4, 8, 16, 32, 64, 128, 254), (10, 100, 1000, 10_000), (32, 64, 250)
BAR_64_MS, BAR_1000_MS = 20.0, 1000.0
SHARES = (0.0, 0.1, 0.2)
ENERGY_S = 2.0
MATCHES = 1000
BAR_QUERIES, QUICK_QUERIES = 1000, 20
# Matches, those of a long run, and seeds.
QUALITY, QUICK_QUALITY = (1000, 50_000, 10), (300, 1000, 3)
QUALITY_CASES = (("hprd", 0, 16), ("human", 32, 16), ("hprd", 0, 32), ("human", 32, 32))
PHASE_SIZES = (16, 254)  # of queries whose phases are metered, beside that of a bar


def read_networks(folder: Path) -> dict[str, tuple[Graph, NDArray[Any] | None]]:
    """Networks by name, with their labels where they have some."""
    pair, labelled = (
        _archive(folder / name) for name in ("ppi-yeast-human.npz.xz", "hprd-labelled.npz.xz")
    )
    return {
        "yeast": (_graph(pair, "a_"), None),
        "human": (_graph(pair, "b_"), None),
        "hprd": (_graph(labelled, ""), labelled["vlabel"]),
    }


def _archive(path: Path) -> dict[str, NDArray[Any]]:
    with lzma.open(path) as file, np.load(io.BytesIO(file.read()), allow_pickle=False) as stored:
        return dict(stored)


def _graph(stored: dict[str, NDArray[Any]], prefix: str) -> Graph:
    """Decode rows whose entries are kept as gaps, the first of a row as its distance from it."""
    degrees = stored[prefix + "deg"].astype(np.int64)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    running = np.cumsum(stored[prefix + "gap"].astype(np.int64))
    starts = np.concatenate(([0], np.cumsum(degrees)))[:-1]
    before = np.concatenate(([0], running))[starts]
    return clgraph.from_edges(
        rows,
        running - before[rows] + rows,
        n=len(degrees),
        symmetrize=True,
        dedup=True,
        self_loops=False,
    )


class Study:
    """Cases on one device, and their records.

    Parameters
    ----------
    device : Device
        Where.
    networks : dict
        Graph and labels by name.
    joules : bool
        Whether to meter every case.
    """

    def __init__(
        self,
        device: Device,
        networks: dict[str, tuple[Graph, NDArray[Any] | None]],
        *,
        joules: bool,
    ) -> None:
        self.device, self.networks, self.joules = device, networks, joules
        self.records: list[dict[str, Any]] = []
        self._plans: dict[tuple[str, int], tuple[SubgraphMatching, NDArray[Any]]] = {}

    def plan(self, name: str, labels: int) -> tuple[SubgraphMatching, NDArray[Any]]:
        """Give a plan and labels: so many, drawn at random, or 0 for those of the network."""
        if (name, labels) not in self._plans:
            graph, own = self.networks[name]
            codes = (
                own if not labels else np.random.default_rng(labels).integers(0, labels, graph.n)
            )
            assert codes is not None, f"{name} has no labels of its own"  # noqa: S101
            self._plans[name, labels] = (
                SubgraphMatching(graph, labels=codes, device=self.device),
                codes,
            )
        return self._plans[name, labels]

    def measure(
        self,
        what: str,
        name: str,
        *,
        labels: int,
        size: int,
        queries: int = 1,
        k: int | None = None,
        repeats: int = 7,
        phases: bool = False,
    ) -> dict[str, Any]:
        """Time a case, and meter it, or each of its phases; the first run is not counted."""
        k = MATCHES if k is None else k
        plan, codes = self.plan(name, labels)
        cut = [planted_query(plan.target, size, seed=seed) for seed in range(queries)]
        graphs = [graph for graph, _ in cut]
        own = [codes[vertices] for _, vertices in cut]

        def once() -> Any:
            return plan.run(graphs, labels=own, k=k)

        first = plan.run(graphs, labels=own, k=k, verify=queries <= 10)
        total, kernel, parts = [], [], []
        for _ in range(repeats):
            stats = once()[0].stats
            total.append(stats.total_ms)
            kernel.append(stats.kernel_ms)
            parts.append(stats.phases)
        digest = hashlib.sha256()
        for result in first:
            digest.update(result.mapping.tobytes())
        record: dict[str, Any] = {
            "what": what,
            "network": name,
            "n": plan.target.n,
            "m": plan.target.m,
            "labels": labels or len(np.unique(codes)),
            "size": size,
            "queries": queries,
            "k": k,
            "total_ms": total,
            "kernel_ms": kernel,
            "median_ms": statistics.median(total),
            "phases_ms": {
                phase: statistics.median(row[phase] for row in parts) for phase in parts[0]
            },
            "mean_cost": float(np.mean([result.cost.mean() for result in first])),
            "zero_found": float(np.mean([result.cost.min() == 0 for result in first])),
            "distinct": float(np.mean([result.distinct_ratio for result in first[:20]])),
            "device_bytes": first[0].stats.device_bytes,
            "digest": digest.hexdigest(),
        }
        if self.joules and phases:
            found = joules_by_phase(plan, graphs[0], labels=own[0], k=k, min_seconds=ENERGY_S)
            record["joules_by_phase"] = found.joules
            record["windows"] = {phase: metered(run) for phase, run in found.windows.items()}
            record["joules"] = record["windows"]["extension"]
        elif self.joules:
            record["joules"] = metered(
                energy.per_run(once, min_seconds=ENERGY_S, device=self.device)
            )
        self.records.append(record)
        return record

    def quality(self, name: str, labels: int, size: int, k: int, long_k: int, seeds: int) -> None:
        """Best and mean costs of altered queries over seeds, beside those of a long run."""
        plan, codes = self.plan(name, labels)
        for share in SHARES:
            cases = []
            for seed in range(seeds):
                graph, vertices = planted_query(plan.target, size, seed=100 + seed)
                cases.append(perturbed_query(graph, codes[vertices], share, seed=seed))
            reference = [
                float(plan.run(query, labels=own, k=long_k, seed=10_000 + seed).cost[0])
                for seed, (query, own) in enumerate(cases)
            ]
            for draws, rounds in effort(k, long_k):
                best, mean, total = [], [], []
                for seed, (query, own) in enumerate(cases):
                    iterations = rounds * query.n if rounds else None
                    result = plan.run(query, labels=own, k=draws, iterations=iterations, seed=seed)
                    best.append(float(result.cost[0]))
                    mean.append(float(result.cost.mean()))
                    total.append(result.stats.total_ms)
                self.records.append(
                    {
                        "what": "quality",
                        "network": name,
                        "size": size,
                        "share": share,
                        "k": draws,
                        "rounds": rounds,
                        "long_k": long_k,
                        "best": best,
                        "mean": mean,
                        "total_ms": total,
                        "long_run_best": reference,
                        "median_best": statistics.median(best),
                        "median_mean": statistics.median(mean),
                        "median_long_run_best": statistics.median(reference),
                    }
                )


def metered(run: RunEnergy) -> dict[str, Any]:
    """Give a window's joules, and how well they are known."""
    return {
        "per_run": run.joules_per_run,
        "spread": run.spread,
        "window_s": run.seconds,
        "runs": run.runs,
        "mean_watts": run.mean_watts,
        "idle_watts": run.idle_watts,
        "source": run.source,
        "note": run.note,
    }


def effort(k: int, long_k: int) -> list[tuple[int, int]]:
    """So many matches, and so many steps of Gibbs sampling for each vertex of the query."""
    return [(k, 0), (k, 4), (k, 16), (k, 64), (long_k // 5, 0), (long_k // 5, 16)]


def bars(study: Study, *, queries: int) -> None:
    """Time what an H200 is asked for."""
    study.measure("bar-64", "human", labels=32, size=64, phases=True)
    study.measure("bar-1000", "human", labels=32, size=16, queries=queries, k=100, repeats=3)
    study.measure("bar-1000-k1000", "human", labels=32, size=16, queries=queries, repeats=3)


def scaling(study: Study, *, quick: bool) -> None:
    """Time by query size, target, labels and k."""
    for size in SIZES[:5] if quick else SIZES:
        phases = size in PHASE_SIZES
        study.measure("query size", "human", labels=32, size=size, repeats=5, phases=phases)
    for name in study.networks:
        study.measure("target", name, labels=32, size=32, repeats=5)
    for labels in LABELS:
        study.measure("labels", "human", labels=labels, size=32, repeats=5)
    study.measure("labels", "hprd", labels=0, size=32, repeats=5)
    for k in KS[:3] if quick else KS:
        study.measure("k", "human", labels=32, size=32, k=k, repeats=5)


def shown(records: Sequence[dict[str, Any]]) -> str:
    """Tables of the records."""
    head = [
        "case",
        "network",
        "n",
        "labels",
        "|V|",
        "queries",
        "k",
        "ms",
        "device ms",
        "cost",
        "zero",
        "J",
        "spread",
        "J by phase",
    ]
    timed = [
        [
            record["what"],
            record["network"],
            f"{record['n']:,}",
            str(record["labels"]),
            str(record["size"]),
            str(record["queries"]),
            str(record["k"]),
            f"{record['median_ms']:.2f}",
            f"{statistics.median(record['kernel_ms']):.2f}",
            f"{record['mean_cost']:.3f}",
            f"{record['zero_found']:.2f}",
            *_energy_columns(record),
        ]
        for record in records
        if "median_ms" in record
    ]
    rows = [
        [
            record["network"],
            str(record["size"]),
            f"{record['share']:.0%}",
            str(record["k"]),
            str(record["rounds"]),
            f"{statistics.median(record['total_ms']):.1f}",
            f"{record['median_best']:.3f}",
            f"{record['median_long_run_best']:.3f}",
            f"{record['median_mean']:.3f}",
        ]
        for record in records
        if record["what"] == "quality"
    ]
    quality_head = [
        "network",
        "|V|",
        "altered",
        "k",
        "rounds",
        "ms",
        "best",
        "best of a long run",
        "mean",
    ]
    return f"{table(head, timed)}\n\n{table(quality_head, rows)}"


def _energy_columns(record: dict[str, Any]) -> list[str]:
    found = record.get("joules", {})
    if found.get("per_run") is None:
        return ["", "", ""]
    spread = "" if found["spread"] is None else f"{found['spread']:.0%}"
    phases = record.get("joules_by_phase") or {}
    by_phase = ", ".join(f"{phase} {joules:.3f}" for phase, joules in phases.items())
    return [f"{found['per_run']:.3g}", spread, by_phase]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study and write its record."""
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the networks")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases, no joules")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    study = Study(device, read_networks(args.data), joules=not args.quick)
    started, began = datetime.now(UTC), time.perf_counter()
    bars(study, queries=QUICK_QUERIES if args.quick else BAR_QUERIES)
    scaling(study, quick=args.quick)
    for name, labels, size in QUALITY_CASES[: 1 if args.quick else None]:
        k, long_k, seeds = QUICK_QUALITY if args.quick else QUALITY
        study.quality(name, labels, size, k, long_k, seeds)
    commit, _ = machine.commit_of_checkout()
    record = {
        "table": "subgraph matching",
        "started": started.isoformat(timespec="seconds"),
        "seconds": time.perf_counter() - began,
        "machine": machine.describe(device, commit),
        "bars_ms": {"bar-64": BAR_64_MS, "bar-1000": BAR_1000_MS},
        "cases": study.records,
    }
    keep(record, args.output, indent=None)
    print(shown(study.records))
    print(f"{record['seconds']:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
