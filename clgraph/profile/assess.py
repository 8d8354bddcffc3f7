"""From what passes found to criteria and predictions."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from clgraph.profile import criteria as formulas
from clgraph.profile.bounds import bounds_of, work_of
from clgraph.profile.criteria import LINE_BYTES, SECTOR_BYTES, Criterion
from clgraph.profile.evidence import NO_PASS, Evidence
from clgraph.profile.kernel_criteria import criteria_of, inactivity_of, occupancy_of
from clgraph.profile.passes.counters import Chain
from clgraph.profile.prediction import (
    Prediction,
    corrected,
    potential_speedup,
    speedups,
    time_shares,
)
from clgraph.profile.quality import PUBLISHED, Weights, quality
from clgraph.profile.report import KernelReport, kernel_criteria

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clgraph.device import Device
    from clgraph.profile.bounds import Work
    from clgraph.profile.characterise import Ceilings, CharacterisationFunction
    from clgraph.profile.passes.timeline import Launch
    from clgraph.profile.pricing import Prices

__all__ = ["kernel_report", "run_criteria", "run_prediction"]


def kernel_report(
    evidence: Evidence,
    device: Device,
    ceilings: Ceilings | None,
    functions: Mapping[str, CharacterisationFunction],
    weights: Weights = PUBLISHED,
    prices: Prices | None = None,
) -> KernelReport:
    """Judge one kernel."""
    occupied = occupancy_of(evidence, device)
    criteria = criteria_of(evidence, occupied, device, ceilings)
    work = _work(evidence, device)
    prediction = _prediction(evidence, criteria, work, ceilings, functions, device, prices)
    criteria = {name: _with_speedup(criterion, prediction) for name, criterion in criteria.items()}
    largest = max(evidence.launches, key=lambda launch: launch.global_size)
    return KernelReport(
        evidence.place.name,
        evidence.place.label,
        len(evidence.launches),
        evidence.time_s,
        largest.group_size,
        largest.global_size // largest.group_size,
        criteria,
        quality(kernel_criteria(criteria), weights),
        prediction,
        evidence.static,
        occupied,
        evidence.totals,
        work,
    )


def _with_speedup(criterion: Criterion, prediction: Prediction) -> Criterion:
    gain = prediction.speedups.get(criterion.name)
    return Criterion(
        criterion.name,
        criterion.value,
        criterion.reason,
        criterion.inputs,
        None if gain is None else gain.reading,
    )


def _work(evidence: Evidence, device: Device) -> Work | None:
    if evidence.totals is None:
        return None
    largest = max(evidence.launches, key=lambda launch: launch.global_size)
    groups = largest.global_size // largest.group_size
    work = work_of(evidence.totals, len(evidence.launches), evidence.footprint_bytes, groups)
    # A processor's cores put other instructions in between what waits.
    return replace(work, chain=Chain()) if device.traits.is_cpu else work


def _prediction(
    evidence: Evidence,
    criteria: Mapping[str, Criterion],
    work: Work | None,
    ceilings: Ceilings | None,
    functions: Mapping[str, CharacterisationFunction],
    device: Device,
    prices: Prices | None,
) -> Prediction:
    time_s = evidence.time_s
    if work is None or ceilings is None:
        reason = NO_PASS if work is None else "the ceilings of the device were not measured"
        return Prediction(None, time_s, reason=reason)
    residency = evidence.residency
    parts = bounds_of(work, ceilings)
    bounds = parts.priced({} if prices is None else prices.values)
    totals = evidence.totals
    assert totals is not None  # noqa: S101 - there is work
    values = {name: criterion.value for name, criterion in criteria.items()}
    lines = float(totals.where("load", "store", "atomic")[:, 3].sum())
    idle = 0.0
    if residency is not None and residency.cycles and residency.busy:
        busy = sum(residency.busy.values()) / (residency.cycles * device.traits.compute_units)
        idle = formulas.clamped(1.0 - busy) * time_s
    shares = time_shares(
        {
            "DRAM": bounds.times["stream"] + bounds.times["random"] + bounds.times["atomics"],
            "L2": work.sectors * SECTOR_BYTES / ceilings.cache if ceilings.cache else 0.0,
            # The nearest cache and local memory are one memory.
            "L1": lines * LINE_BYTES / ceilings.local if ceilings.local else 0.0,
            "local": bounds.times["local"],
            "arithmetic": bounds.times["integer"],
        },
        time_s,
        idle,
    )
    reached = (work.sectors * SECTOR_BYTES) / time_s / ceilings.copy if time_s else 0.0
    arith = work.operations / time_s / ceilings.integer if time_s else 0.0
    raw_mem, raw_arith = formulas.clamped(reached), formulas.clamped(arith)
    bound, gain = potential_speedup(raw_mem, raw_arith)
    return Prediction(
        bounds.time_s(),
        time_s,
        bound,
        raw_mem,
        raw_arith,
        gain,
        bounds.limiter,
        bounds.times,
        shares,
        speedups(values, shares, inactivity_of(evidence, device) or 1.0),
        corrections={
            name: corrected(name, raw, functions)
            for name, raw in (
                ("DIVERGENCE", values.get("TDiv")),
                ("SHMEMEFFICIENCY", values.get("SMem_eff")),
                ("MEMTHR", raw_mem),
                ("ARITHTHR", raw_arith),
            )
            if raw is not None
        },
        parts=parts.parts,
    )


def run_criteria(
    runs: Sequence[Sequence[Launch]],
    copies: Sequence[tuple[int, int, int]],
    allocated_bytes: int,
) -> dict[str, Criterion]:
    """Compute HSync and DT, which are the whole run's."""
    each = [
        value
        for run in runs
        if (
            value := formulas.host_synchronisation(
                [(one.start, one.end - one.start) for one in run]
            )
        )
        is not None
    ]
    hsync = statistics.median(each) if each else None
    kernels = [(float(launch.start), float(launch.end)) for launch in runs[-1]]
    moved = float(sum(size for size, _, _ in copies))
    beside = sum(
        size * _overlap(start, end, kernels) / max(end - start, 1) for size, start, end in copies
    )
    launches = len(runs[-1])
    return {
        "HSync": Criterion(
            "HSync", hsync, "", {"launches": launches}, None if not hsync else 1.0 / hsync
        ),
        "DT": Criterion(
            "DT",
            formulas.data_transfer(allocated_bytes, moved, beside),
            "",
            {"allocated_bytes": allocated_bytes, "copied_bytes": moved, "beside_bytes": beside},
        ),
    }


def _overlap(start: float, end: float, kernels: Sequence[tuple[float, float]]) -> float:
    inside = [(max(start, a), min(end, b)) for a, b in kernels if a < end and b > start]
    return formulas.union_length(inside)


def run_prediction(kernels: Sequence[KernelReport], time_s: float) -> Prediction:
    """Bring the predictions of kernels together."""
    each = [kernel.prediction for kernel in kernels]
    if not each or any(one.time_s is None for one in each):
        reason = next((one.reason for one in each if one.reason), "no kernel was launched")
        return Prediction(None, time_s, reason=reason)
    times = {name: sum(one.bounds.get(name, 0.0) for one in each) for name in each[0].bounds}

    def mean(values: Sequence[float | None]) -> float:
        weighted = [(k.time_s, v) for k, v in zip(kernels, values, strict=True) if v is not None]
        whole = sum(time for time, _ in weighted)
        return sum(time * value for time, value in weighted) / whole if whole else 0.0

    memory, arith = (
        mean([one.mem_thr for one in each]),
        mean([one.arith_thr for one in each]),
    )
    bound, gain = potential_speedup(memory, arith)
    longest = max(kernels, key=lambda kernel: kernel.time_s).prediction
    shares = {name: mean([one.shares.get(name) for one in each]) for name in longest.shares}
    return Prediction(
        sum(one.time_s or 0.0 for one in each),
        time_s,
        bound,
        memory,
        arith,
        gain,
        max(times, key=lambda name: times[name]),
        times,
        shares,
        longest.speedups,
        longest.reason,
    )
