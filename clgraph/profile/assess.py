"""From what passes found to criteria and predictions."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.device.nvidia import unit_limits
from clgraph.profile import criteria as formulas
from clgraph.profile.criteria import LINE_BYTES, SECTOR_BYTES, Criterion, Occupancy
from clgraph.profile.prediction import (
    Bounds,
    Prediction,
    bounds_of,
    corrected,
    potential_speedup,
    speedups,
    time_shares,
    work_of,
)
from clgraph.profile.quality import PUBLISHED, Weights, quality
from clgraph.profile.report import KernelReport, kernel_criteria

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clgraph.device import Device, Kernel
    from clgraph.profile.characterise import Ceilings, CharacterisationFunction
    from clgraph.profile.counters import Residency, Totals
    from clgraph.profile.prediction import Work
    from clgraph.profile.static import StaticFacts
    from clgraph.profile.watching import Launch, Place

__all__ = ["Evidence", "kernel_report", "run_criteria", "run_prediction"]

ONE_LANE = "each SIMD group is one work-item here"
NO_PASS = "the pass that tells was not asked for"  # noqa: S105 - no password


@dataclass(slots=True)
class Evidence:
    """Everything that the passes found about one kernel.

    Attributes
    ----------
    place : Place
        Which.
    kernel : Kernel
        The plain one.
    runs : list of list of Launch
        Its launches in each of the plain runs.
    footprint_bytes : int
        Of the buffers that it was given.
    static : StaticFacts
        What the compiler says.
    residency, waiting : Residency or None
        Of the passes TIME and SYNC.
    totals : Totals or None
        Of the pass that counts.
    counts_lanes : bool
        Whether lanes are counted while they run.
    barrier_cycles : float
        What a barrier costs at which nobody waits.
    """

    place: Place
    kernel: Kernel
    runs: list[list[Launch]]
    footprint_bytes: int
    static: StaticFacts
    residency: Residency | None = None
    waiting: Residency | None = None
    totals: Totals | None = None
    counts_lanes: bool = False
    barrier_cycles: float = 0.0

    @property
    def time_s(self) -> float:
        """Of all launches of a run, median of the runs."""
        return (
            statistics.median(sum(launch.end - launch.start for launch in run) for run in self.runs)
            * 1e-9
        )

    @property
    def launches(self) -> list[Launch]:
        """Of the last run."""
        return self.runs[-1]


def kernel_report(
    evidence: Evidence,
    device: Device,
    ceilings: Ceilings | None,
    functions: Mapping[str, CharacterisationFunction],
    weights: Weights = PUBLISHED,
) -> KernelReport:
    """Judge one kernel."""
    occupied = _occupancy(evidence, device)
    found = [
        _occ(evidence, occupied, device),
        _dsync(evidence, device),
        _tdiv(evidence),
        _lb_w(evidence, device),
        _lb_sm(evidence, device),
        *_granularities(evidence),
        _smem(evidence),
        _ci(evidence, device, ceilings),
    ]
    work = _work(evidence)
    told = {criterion.name: criterion for criterion in found}
    prediction = _prediction(evidence, told, work, ceilings, functions, device)
    told = {name: _with_speedup(criterion, prediction) for name, criterion in told.items()}
    largest = max(evidence.launches, key=lambda launch: launch.global_size)
    return KernelReport(
        evidence.place.name,
        evidence.place.label,
        len(evidence.launches),
        evidence.time_s,
        largest.group_size,
        largest.global_size // largest.group_size,
        told,
        quality(kernel_criteria(told), weights),
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


def _occupancy(evidence: Evidence, device: Device) -> Occupancy | None:
    capability = device.traits.compute_capability
    if capability is None:
        return None
    launches = evidence.launches
    each = [
        formulas.occupancy(
            capability,
            device.traits.compute_units,
            group_size=launch.group_size,
            groups=launch.global_size // launch.group_size,
            registers=evidence.kernel.registers,
            local_bytes=evidence.kernel.local_bytes + launch.dynamic_bytes,
        )
        for launch in launches
    ]
    times = [max(launch.end - launch.start, 1) for launch in launches]
    value = sum(t * o.value for t, o in zip(times, each, strict=True)) / sum(times)
    longest = each[times.index(max(times))]
    return Occupancy(value, longest.unit, longest.grid, longest.groups_per_unit, longest.limiter)


def _occ(evidence: Evidence, occupied: Occupancy | None, device: Device) -> Criterion:
    if occupied is not None:
        reason = "" if evidence.kernel.registers is not None else "without the registers' limit"
        return Criterion(
            "OCC",
            occupied.value,
            reason,
            {
                "limiter": occupied.limiter,
                "groups_per_unit": occupied.groups_per_unit,
                "registers": evidence.kernel.registers,
                "local_bytes": evidence.kernel.local_bytes,
            },
        )
    launch = max(evidence.launches, key=lambda one: one.global_size)
    groups, lanes = launch.global_size // launch.group_size, device.traits.lanes
    padded = -(-launch.group_size // lanes) * lanes
    value = min(1.0, groups / device.traits.compute_units) * launch.group_size / padded
    return Criterion(
        "OCC",
        formulas.clamped(value),
        "another definition: work-groups over compute units",
        {"groups": groups, "compute_units": device.traits.compute_units},
    )


def _dsync(evidence: Evidence, device: Device) -> Criterion:
    barriers = evidence.totals is not None and any(
        site.kind == "barrier" for site in evidence.totals.sites
    )
    single = all(launch.group_size <= device.traits.lanes for launch in evidence.launches)
    waiting = evidence.waiting
    if waiting is None or not waiting.active:
        if evidence.totals is not None and (single or not barriers):
            return Criterion("DSync", 1.0, "no barrier makes anybody wait")
        if not evidence.counts_lanes:
            return Criterion("DSync", None, "barriers are cut out of loops here: nothing is seen")
        return Criterion("DSync", None, NO_PASS)
    issued = 0.0
    if evidence.totals is not None:
        blocks = zip(evidence.totals.sites, evidence.totals.counts, strict=True)
        issued = sum(row[0] * site.weight for site, row in blocks if site.kind == "block")
    waited = max(waiting.waited - waiting.barriers * evidence.barrier_cycles, 0.0)
    stall = formulas.clamped(waited / max(waiting.active - issued, waited, 1.0))
    inactive = _inactivity(evidence, device) or 0.0
    return Criterion(
        "DSync",
        formulas.device_synchronisation(stall),
        "",
        {
            "stall_sync": stall,
            "empty_barrier_cycles": evidence.barrier_cycles,
            "inactivity": inactive,
            "pro++": formulas.device_synchronisation(stall, inactive, model="pro++"),
        },
    )


def _inactivity(evidence: Evidence, device: Device) -> float | None:
    residency, capability = evidence.residency, device.traits.compute_capability
    if residency is None or capability is None or not residency.cycles:
        return None
    warps = device.traits.compute_units * unit_limits(capability).threads // 32
    return formulas.inactivity(residency.active, warps, residency.cycles)


def _tdiv(evidence: Evidence) -> Criterion:
    totals = evidence.totals
    if totals is None:
        return Criterion("TDiv", None, NO_PASS)
    if totals.lanes == 1:
        return Criterion("TDiv", None, ONE_LANE)
    both = formulas.divergence(totals.executed, totals.possible)
    if both is None:
        return Criterion("TDiv", None, "no block was executed")
    return Criterion(
        "TDiv",
        both[0],
        "",
        {
            "issue_weighted": both[1],
            "simd_groups": len(totals.executed),
            "lane_use": _lane_use(totals),
        },
    )


def _lane_use(totals: Totals) -> float | None:
    """Give the share of lanes that take part in a request to memory, in the mean of requests."""
    rows = totals.where("load", "store", "atomic")
    issued = float(rows[:, 0].sum()) * totals.lanes
    return float(rows[:, 1].sum()) / issued if issued else None


def _lb_w(evidence: Evidence, device: Device) -> Criterion:
    residency = evidence.residency
    if residency is None:
        return Criterion("LB_W", None, NO_PASS)
    if not evidence.counts_lanes:
        balance = None if evidence.totals is None else evidence.totals.balance
        reason = "work of SIMD groups instead of cycles: a unit runs one work-group at a time"
        if balance is None:
            reason = "a unit runs one work-group after the other here"
        return Criterion("LB_W", balance, reason)
    if not residency.records:
        return Criterion("LB_W", None, "no SIMD group was written down")
    size = max(launch.group_size for launch in evidence.launches)
    busy = sum(residency.busy.values())
    value = formulas.warp_balance(
        residency.active, busy, size, residency.groups_per_unit, device.traits.lanes
    )
    inputs = {
        "active_warps": residency.active,
        "active_cycles": busy,
        "groups_per_unit": residency.groups_per_unit,
    }
    return Criterion("LB_W", value, "", inputs)


def _lb_sm(evidence: Evidence, device: Device) -> Criterion:
    residency = evidence.residency
    if residency is None:
        return Criterion("LB_SM", None, NO_PASS)
    cycles = sorted(residency.busy.values(), reverse=True)
    if not cycles or not cycles[0]:
        return Criterion("LB_SM", None, "kernels of this device can read no clock")
    units = device.traits.compute_units
    padded = (cycles + [0.0] * units)[: max(units, len(cycles))]
    return Criterion("LB_SM", formulas.unit_balance(padded), "", {"units_seen": len(cycles)})


def _granularities(evidence: Evidence) -> list[Criterion]:
    totals, names = evidence.totals, ("Gran_L1", "Gran_L2")
    if totals is None:
        return [Criterion(name, None, NO_PASS) for name in names]
    if totals.lanes == 1:
        return [Criterion(name, None, ONE_LANE) for name in names]
    rows, accesses = totals.where("load", "store", "atomic"), totals.accesses()
    found = []
    for name, column, size in zip(names, (3, 4), (LINE_BYTES, SECTOR_BYTES), strict=True):
        moved = float(rows[:, column].sum())
        value = formulas.granularity(accesses, moved, size)
        reason = "no access to global memory" if value is None else totals.note
        inputs = {"accesses": {str(k): v for k, v in accesses.items()}, "transactions": moved}
        found.append(Criterion(name, value, reason, inputs))
    return found


def _smem(evidence: Evidence) -> Criterion:
    totals = evidence.totals
    if totals is None:
        return Criterion("SMem_eff", None, NO_PASS)
    if totals.lanes == 1:
        return Criterion("SMem_eff", None, ONE_LANE)
    rows = totals.where("local_load", "local_store", "local_atomic")
    passes, best = float(rows[:, 3].sum()), float(rows[:, 4].sum())
    value = formulas.local_efficiency(best, passes)
    reason = "" if value is not None else "no access to local memory"
    return Criterion("SMem_eff", value, reason, {"passes": passes, "at_best": best})


def _ci(evidence: Evidence, device: Device, ceilings: Ceilings | None) -> Criterion:
    totals, mix, residency = evidence.totals, evidence.static.mix, evidence.residency
    if mix is None:
        return Criterion("CI", None, "there is no assembler's text to count instructions in")
    if totals is None or residency is None or ceilings is None or not residency.cycles:
        return Criterion("CI", None, NO_PASS)
    executed = mixed(totals, mix)
    arithmetic = sum(executed.get(kind, 0.0) for kind in ("integer", "float", "double", "special"))
    alu = arithmetic * totals.lanes / evidence.time_s / ceilings.integer
    memory = sum(executed.get(kind, 0.0) for kind in ("memory", "atomic", "local"))
    ldst = memory / (residency.cycles * device.traits.compute_units)
    alu, ldst = formulas.clamped(alu), formulas.clamped(ldst)
    inputs: dict[str, Any] = {"alu_utilisation": alu, "ldst_utilisation": ldst}
    inputs |= {f"{kind}_instructions": count for kind, count in executed.items()}
    return Criterion("CI", formulas.computation_intensity(alu, ldst), "", inputs)


def mixed(totals: Totals, mix: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    """Give executed instructions of SIMD groups by class: executions of blocks times their mix."""
    executed: dict[str, float] = {}
    for number, (site, row) in enumerate(zip(totals.sites, totals.counts, strict=True)):
        if site.kind != "block":
            continue
        for kind, count in mix.get(number, {}).items():
            executed[kind] = executed.get(kind, 0.0) + row[0] * count
    return executed


def _work(evidence: Evidence) -> Work | None:
    if evidence.totals is None:
        return None
    largest = max(evidence.launches, key=lambda launch: launch.global_size)
    groups = largest.global_size // largest.group_size
    return work_of(evidence.totals, len(evidence.launches), evidence.footprint_bytes, groups)


def _prediction(
    evidence: Evidence,
    told: Mapping[str, Criterion],
    work: Work | None,
    ceilings: Ceilings | None,
    functions: Mapping[str, CharacterisationFunction],
    device: Device,
) -> Prediction:
    time_s = evidence.time_s
    if work is None or ceilings is None:
        reason = NO_PASS if work is None else "the ceilings of the device were not measured"
        return Prediction(None, time_s, reason=reason)
    residency = evidence.residency
    active = (
        None if residency is None or not residency.cycles else residency.active / residency.cycles
    )
    bounds = bounds_of(work, ceilings, active)
    totals = evidence.totals
    assert totals is not None  # noqa: S101 - there is work
    values = {name: criterion.value for name, criterion in told.items()}
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
        speedups(values, shares, _inactivity(evidence, device) or 1.0),
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
    told = [kernel.prediction for kernel in kernels]
    if not told or any(one.time_s is None for one in told):
        reason = next((one.reason for one in told if one.reason), "no kernel was launched")
        return Prediction(None, time_s, reason=reason)
    times = {name: sum(one.bounds.get(name, 0.0) for one in told) for name in told[0].bounds}

    def mean(values: Sequence[float | None]) -> float:
        weighted = [(k.time_s, v) for k, v in zip(kernels, values, strict=True) if v is not None]
        whole = sum(time for time, _ in weighted)
        return sum(time * value for time, value in weighted) / whole if whole else 0.0

    memory, arith = mean([one.mem_thr for one in told]), mean([one.arith_thr for one in told])
    bound, gain = potential_speedup(memory, arith)
    longest = max(kernels, key=lambda kernel: kernel.time_s).prediction
    shares = {name: mean([one.shares.get(name) for one in told]) for name in longest.shares}
    return Prediction(
        sum(one.time_s or 0.0 for one in told),
        time_s,
        bound,
        memory,
        arith,
        gain,
        Bounds(times).limiter,
        times,
        shares,
        longest.speedups,
        longest.reason,
    )
