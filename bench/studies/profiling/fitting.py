"""How well quality and prices foretell times: fitted, and judged by what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module
from clgraph.profile.bounds import Bounds, Work, bounds_of
from clgraph.profile.characterise import Ceilings
from clgraph.profile.passes.counters import Chain
from clgraph.profile.pricing import Timed, left_out_errors
from clgraph.profile.quality import PUBLISHED, Specimen, calibrated, quality

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bounds_in", "judged", "plan_of", "ranked"]

LEAST_RANKED = 3
# What the corpus calls the plans of `crossed`.
SAME = {
    "enterprise": "bfs enterprise",
    "merrill-expand-contract": "bfs expand-contract",
    "merrill-two-phase": "bfs two-phase",
}


def ranked(corpus: Sequence[Specimen]) -> list[dict[str, Any]]:
    """Compare QM with time within each primitive: by the published weights, and left out.

    Parameters
    ----------
    corpus : sequence of Specimen
        All that was profiled.

    Returns
    -------
    list of dict
        For each primitive with three implementations or more ``name``, its ``rows`` by time, and
        Spearman's coefficients of QM and speed: ``published`` weights, and weights ``left_out``
        that were fitted to the other primitives.
    """
    found = []
    for name in dict.fromkeys(specimen.primitive for specimen in corpus):
        own = sorted((s for s in corpus if s.primitive == name), key=lambda s: s.time_s)
        rest = [s for s in corpus if s.primitive != name]
        if len(own) < LEAST_RANKED:
            continue
        published = [quality(s.criteria, PUBLISHED) or 0.0 for s in own]
        fitted: list[float] | None = None
        if len({s.primitive for s in rest}) < len(rest):
            weights = calibrated(rest).weights
            fitted = [quality(s.criteria, weights) or 0.0 for s in own]
        speed = [1.0 / s.time_s for s in own]
        found.append(
            {
                "name": name,
                "rows": [
                    {
                        "implementation": s.implementation,
                        "time_s": s.time_s,
                        "quality": value,
                        "criteria": dict(s.criteria),
                    }
                    for s, value in zip(own, published, strict=True)
                ],
                "published": _spearman(published, speed),
                "left_out": None if fitted is None else _spearman(fitted, speed),
            }
        )
    return found


def _spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(module("scipy.stats").spearmanr(a, b).statistic)


def judged(record: dict[str, Any], least_s: float = 0.0) -> dict[str, float]:
    """Give median errors of foretold times, by prices that were fitted without what is foretold.

    Parameters
    ----------
    record : dict
        Of `bench.studies.profiling.crossed`.
    least_s : float
        Kernels that take less time are left out.

    Returns
    -------
    dict of str to float
        "ceilings": without prices. "corpus": with those of the corpus, from which the plan was left
        out. "plans" and "graphs": with those of the other rows, the plan or the graph left out.
    """
    ceilings = _ceilings(record)
    rows = [row for row in record["kernels"] if row["measured_s"] >= least_s]
    by_plan = [_timed(row, ceilings, plan_of(row)) for row in rows]
    corpus = [_timed(row, ceilings, plan_of(row)) for row in record.get("corpus", ())]
    alone = [Bounds(one.parts).time_s() / one.time_s - 1.0 for one in by_plan]
    errors = {
        "ceilings": alone,
        "corpus": left_out_errors(by_plan, corpus) if corpus else [],
        "plans": left_out_errors(by_plan),
        "graphs": left_out_errors([_timed(row, ceilings, row["graph"]) for row in rows]),
    }
    return {name: float(np.median(np.abs(each))) for name, each in errors.items() if len(each)}


def plan_of(row: dict[str, Any]) -> str:
    """Name the plan that a kernel belongs to, alike in the study and in the corpus."""
    plan = str(row["kernel"]).rpartition(" ")[0]
    return SAME.get(plan, plan)


def bounds_in(row: dict[str, Any], record: dict[str, Any]) -> Bounds:
    """Give the bounds of a kernel of a record, by its ceilings and without prices."""
    return _bounds(row, _ceilings(record))


def _timed(row: dict[str, Any], ceilings: Ceilings, name: str) -> Timed:
    return Timed(name, _bounds(row, ceilings).parts, row["measured_s"])


def _bounds(row: dict[str, Any], ceilings: Ceilings) -> Bounds:
    work = dict(row["work"])
    chain = row.get("chain") or work.get("chain") or {}
    work["chain"] = Chain(**chain) if isinstance(chain, dict) else Chain(*chain)
    return bounds_of(Work(**work), ceilings)


def _ceilings(record: dict[str, Any]) -> Ceilings:
    known = record["ceilings"]
    units = record["machine"]["device"]["traits"]["compute_units"]
    # Earlier records have one barrier, of one work-group for each unit.
    barriers = known.get("grid_barriers_s")
    if barriers is None:
        barriers = [(units, known["grid_barrier_s"])]
    return Ceilings(
        copy=known["copy_bytes_per_s"],
        cache=known["cache_bytes_per_s"],
        random_reads=tuple((size, rate) for size, rate in known["random_reads_per_s"]),
        atomics=tuple((size, rate) for size, rate in known["atomics_per_s"]),
        integer=known["integer_per_s"],
        local=known["local_bytes_per_s"],
        launch_s=known["launch_s"],
        cache_bytes=known["cache_bytes"],
        latencies=known["latencies_s"],
        grid_barriers=tuple((groups, time_s) for groups, time_s in barriers),
        units=units,
        contended=known.get("contended_per_s"),
    )
