"""The energy model of a device, from what is kept of its microbenchmarks, and what runs count."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from clgraph.device import device as choose_device
from clgraph.energy.model import EnergyModel, Fit, Sample, fit
from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.energy.model import Counts
    from clgraph.profile.microbenchmarks import Result

__all__ = ["estimate", "fit_record", "model", "sample_of", "traversal_counts", "why_none"]

HOW = "run 'clgraph microbench --store' on a device that has a power meter"
INDEX_BYTES = 4
# Integer instructions for each edge that a traversal looks at: its place, the load's address, the
# test and the loop. Counted in the assembled code of the push stage.
OPERATIONS_PER_EDGE = 12


def sample_of(result: Result) -> Sample | None:
    """Give a launch of a microbenchmark as a sample of the model; None if it was not metered."""
    joules = result.energy_j
    if joules is None or result.invalid:
        return None
    counts = {**result.counts, "seconds": result.time_s}
    if result.counts:
        counts["unit_seconds"] = result.time_s * result.compute_units
    return Sample(result.name, counts, joules)


def fit_record(record: dict[str, Any]) -> Fit:
    """Fit a model on a record of microbenchmarks.

    Raises
    ------
    InvalidArgumentError
        If too little of it was metered.
    """
    results_of = module("clgraph.profile.microbenchmarks").results_of

    samples = [sample for result in results_of(record) if (sample := sample_of(result))]
    if record["idle_watts"] is not None:
        rest = Sample("rest", {"seconds": 1.0}, record["idle_watts"])
        # As much weight as all entries of one kind together have: what is at rest is known best.
        samples += [rest] * max(len(samples) // 8, 1)
    if len(samples) < 2:
        raise InvalidArgumentError(f"the record has no metered microbenchmarks; {HOW}.")
    return fit(samples, device=record["device"], driver=record["driver"])


def model(device: Device | str | None = None) -> EnergyModel:
    """Give the energy model of a device.

    Parameters
    ----------
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    EnergyModel
        Prices of the kinds of work, fitted on the stored microbenchmarks of this device and driver.

    Raises
    ------
    InvalidArgumentError
        If none are stored, or they were taken without a meter: nothing is ever invented.
    DeviceNotFoundError
        If there is no such device.
    """
    chosen = choose_device(device)
    found = _model_of(chosen)
    if found is None:
        raise InvalidArgumentError(
            f"no metered microbenchmarks of {chosen.name} with driver {chosen.driver} are stored; "
            f"{HOW}."
        )
    return found


@functools.cache
def _model_of(device: Device) -> EnergyModel | None:
    """Look once for each device: a search must not pay for reading files."""
    record = module("clgraph.profile.microbenchmarks").characterisation(device)
    if record is None:
        return None
    try:
        return fit_record(record).model
    except InvalidArgumentError:
        return None


def why_none(device: Device) -> str | None:
    """Say why a device has no energy model; None where it has one."""
    if _model_of(device) is not None:
        return None
    return f"{device.name} with driver {device.driver} has no energy model; {HOW}."


def traversal_counts(  # noqa: PLR0913 - all but one by keyword
    device: Device,
    *,
    seconds: float,
    kernel_seconds: float,
    vertices: float,
    edges: float,
    state_bytes: float,
    atomics: float = 0.0,
    barriers: float = 0.0,
    units: int | None = None,
) -> dict[str, float]:
    """Say what a traversal did in terms of the energy model.

    Parameters
    ----------
    device : Device
        What it ran on.
    seconds, kernel_seconds : float
        From one run to the next, and of them those in which the device computed.
    vertices, edges : float
        Expanded vertices, and edges looked at.
    state_bytes : float
        Size of the array that each edge looks into: whether the common cache holds it.
    atomics, barriers : float
        Atomic operations, and barriers of all work-groups.
    units : int, optional
        Compute units that had work; default is all.

    Returns
    -------
    dict of str to float
        By names of ``FEATURES``.
    """
    cached = state_bytes <= device.traits.cache_bytes
    reads, writes = (
        ("cached_random_reads", "cached_atomics")
        if cached
        else (
            "random_reads",
            "atomics",
        )
    )
    return {
        "seconds": seconds,
        "unit_seconds": kernel_seconds * (units or device.traits.compute_units),
        "memory_bytes": INDEX_BYTES * (edges + 3.0 * vertices),
        reads: edges,
        writes: atomics,
        "integer_operations": OPERATIONS_PER_EDGE * edges,
        "grid_barriers": barriers,
    }


def estimate(device: Device, counts: Counts) -> float | None:
    """Estimate joules of a run by its counts; None where the device has no model."""
    found = _model_of(device)
    return None if found is None else found.joules(counts)
