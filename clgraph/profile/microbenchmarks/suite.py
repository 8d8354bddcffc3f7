"""The suite: entries in turn, their record, and where characterisations of devices are kept."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.device.folders import write_atomically
from clgraph.energy.steady import idle_baseline
from clgraph.errors import DeviceMemoryError, InvalidArgumentError, VerificationError
from clgraph.profile.kept import device_file, private_place
from clgraph.profile.microbenchmarks.catalogue import Entry, choose
from clgraph.profile.microbenchmarks.measuring import Protocol, measure_entry
from clgraph.profile.microbenchmarks.quantities import UNITS, Result
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clgraph.device import Device
    from clgraph.profile.microbenchmarks.work import Scale
    from clgraph.progress import Progress

__all__ = ["SCHEMA", "characterisation", "results_of", "run", "store", "validated"]

Record: TypeAlias = dict[str, Any]

SCHEMA = "clgraph-microbenchmarks/1"
LARGEST_FILE = 64 << 20


def run(
    words: Sequence[str] = (),
    *,
    device: Device,
    protocol: Protocol | None = None,
    scale: Scale | None = None,
    occasions: int = 1,
    entries: Sequence[Entry] | None = None,
    idle: float | None = None,
    progress: Progress | None = None,
) -> Record:
    """Run microbenchmarks.

    Parameters
    ----------
    words : sequence of str
        As `catalogue.choose` has them; none for all.
    device : Device
        What to characterise.
    protocol : Protocol, optional
        How each is measured.
    scale : Scale, optional
        How much of the device is used.
    occasions : int
        How often the whole list is gone through, for repeatability.
    entries : sequence of Entry, optional
        Which to run, instead of `words`.
    idle : float, optional
        Watts at rest, where they are known and not to be measured again.
    progress : callable, optional
        As everywhere: called with entries done, entries in all, and what is done.

    Returns
    -------
    dict
        A record for JSON: device, driver, units, ``results`` of every occasion, and ``skipped``
        with reasons.

    Raises
    ------
    InvalidArgumentError
        If a word means no entry.

    Notes
    -----
    An entry with a window takes about 0.6 s more than the window. No setting of the device is
    changed.
    """
    protocol = protocol or Protocol()
    entries = choose(words, device.traits) if entries is None else entries
    metered = protocol.window_s > 0 and idle is None
    idle = idle_baseline(device) if metered else idle
    record: Record = {
        "schema": SCHEMA,
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "compute_units": device.traits.compute_units,
        "cache_bytes": device.traits.cache_bytes,
        "optimised": not any("opt-disable" in option for option in device.traits.build_options),
        "when": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "units": UNITS,
        "protocol": {name: getattr(protocol, name) for name in protocol.__dataclass_fields__},
        "idle_watts": idle,
        "idle_watts_after": None,
        "results": [],
        "skipped": [],
    }
    total = occasions * len(entries)
    for occasion in range(occasions):
        for place, entry in enumerate(entries):
            report_progress(progress, occasion * len(entries) + place, total, "microbenchmarks")
            _measure_into(record, entry, device, protocol, scale, occasion)
    report_progress(progress, total, total, "microbenchmarks")
    if metered and entries:
        record["idle_watts_after"] = idle_baseline(device)
    return record


def _measure_into(
    record: Record,
    entry: Entry,
    device: Device,
    protocol: Protocol,
    scale: Scale | None,
    occasion: int,
) -> None:
    lacks = entry.work.missing(device)
    if lacks is not None:
        if occasion == 0:
            record["skipped"].append({"name": entry.name, "reason": lacks})
        return
    try:
        result = measure_entry(
            entry, device, scale=scale, protocol=protocol, idle_watts=record["idle_watts"]
        )
    except (DeviceMemoryError, VerificationError) as error:
        record["skipped"].append({"name": entry.name, "reason": str(error)})
        return
    row = {
        "family": entry.family,
        "kind": entry.kind,
        "component": entry.component,
        "occasion": occasion,
        **result.record(),
    }
    record["results"].append(row)


def results_of(record: Record) -> list[Result]:
    """Give the results of a record, those that must not be used left out."""
    found = [Result.of_record(result) for result in record["results"]]
    return [result for result in found if not result.invalid]


def _file(device: Device) -> Path:
    return device_file(device, f"{device.name}\0{device.platform}\0{device.driver}")


def store(record: Record, device: Device) -> Path:
    """Keep a record as the characterisation of a device with its driver.

    Raises
    ------
    OSError
        If the user's folder cannot be written to.
    """
    path = private_place(_file(device))
    write_atomically(path, json.dumps(record, allow_nan=False).encode())
    return path


def characterisation(device: Device) -> Record | None:
    """Give what is kept of a device with this driver; None if nothing is, or what is is damaged."""
    path = _file(device)
    try:
        if path.stat().st_size > LARGEST_FILE:
            return None
        return validated(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError, InvalidArgumentError):
        return None


def validated(record: Any) -> Record:
    """Check that something read from a file is a record of microbenchmarks.

    Raises
    ------
    InvalidArgumentError
        If it is not.
    """
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise InvalidArgumentError(f"this is no record of microbenchmarks with schema {SCHEMA}.")
    results = record.get("results")
    if not isinstance(results, list):
        raise InvalidArgumentError("a record of microbenchmarks has a list of results.")
    for result in results:
        try:
            Result.of_record(result)
        except (TypeError, AttributeError) as error:
            raise InvalidArgumentError(f"a result of the record cannot be read: {error}.") from None
    return record
