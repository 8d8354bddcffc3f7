"""The criteria of a kernel, from what the passes found about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.device.hardware.nvidia import unit_limits
from clgraph.profile import criteria as formulas
from clgraph.profile.criteria import LINE_BYTES, SECTOR_BYTES, Criterion, Occupancy
from clgraph.profile.evidence import NO_PASS, ONE_LANE, Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device import Device
    from clgraph.profile.characterise import Ceilings
    from clgraph.profile.passes.counters import Totals

__all__ = ["criteria_of", "inactivity_of", "mixed", "occupancy_of"]


def criteria_of(
    evidence: Evidence, occupied: Occupancy | None, device: Device, ceilings: Ceilings | None
) -> dict[str, Criterion]:
    """Judge a kernel by every criterion that is a kernel's."""
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
    return {criterion.name: criterion for criterion in found}


def occupancy_of(evidence: Evidence, device: Device) -> Occupancy | None:
    """Compute the occupancy, mean of the launches by time; None where limits are unknown."""
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
    inactive = inactivity_of(evidence, device) or 0.0
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


def inactivity_of(evidence: Evidence, device: Device) -> float | None:
    """Compute the share of SIMD groups that were not resident; None where nothing reports."""
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
