"""What tuning found, kept per user and shipped with the package, and the nearest of it.

An entry is a file of its own, written at once and replaced as a whole: processes that tune at the
same time never see half of one, and of two that tune the same thing the later one stays. Every
entry carries a checksum of itself; one that is damaged, of another version, or belongs to somebody
else is passed over with a line in the log.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from clgraph.device.cache import DamagedEntryError, read_private
from clgraph.device.folders import cache_root, private_folder, write_atomically
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.tune.features import distance, features_of
from clgraph.tune.problems import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.tune.features import Features

__all__ = [
    "OBJECTIVES",
    "SCHEMA",
    "Entry",
    "configured",
    "described",
    "entries",
    "keep",
    "nearest",
    "shipped",
]

log = logging.getLogger("clgraph")

SCHEMA = "clgraph-tuned/1"
OBJECTIVES = ("time", "energy", "edp", "power")
# What parameters were called when records were written that are still read.
FORMER_NAMES = {
    "schedule.solo": "schedule.single_group",
    "schedule.held": "schedule.group_resident",
    "limits.solo_capacity": "limits.single_group_capacity",
    "limits.solo_edges": "limits.single_group_edges",
}
SHIPPED = Path(__file__).with_name("shipped.json")
LARGEST_BYTES, LARGEST_SHIPPED_BYTES = 1 << 18, 1 << 24
MOST_ENTRIES = 4096  # of a folder that are looked at
FARTHEST = 1.0  # see features.distance
# Whose entries are taken: those of the device with its driver, of the device, of its kind.
SAME_DRIVER, SAME_DEVICE, SAME_KIND = range(3)


@dataclass(frozen=True, slots=True)
class Entry:
    """The best configuration that was found for a graph on a device.

    Attributes
    ----------
    algorithm, objective : str
        What was tuned, and for what.
    device : dict of str to str
        ``name``, ``platform``, ``driver`` and ``type`` ("gpu" or "cpu").
    features : dict
        Of the graph, by `clgraph.tune.features.features_of`.
    values : dict
        The point; empty where nothing was better than "auto".
    measured : dict
        ``time_ms`` and ``auto_ms`` in turn, ``spread``; ``joules``, ``auto_joules`` and ``watts``
        where there was a meter.
    tried : list of [dict, float]
        Points that were tried and their milliseconds, for the model of a later search.
    provenance : dict
        Graph, version, time, seconds, seed, how many points there were and were tried, meter.
    origin : {"user", "shipped"}
        Where it is kept.
    """

    algorithm: str
    objective: str
    device: dict[str, str]
    features: Features
    values: dict[str, Any]
    measured: dict[str, float | None]
    tried: list[Any] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    origin: Literal["user", "shipped"] = "user"

    def record(self) -> dict[str, Any]:
        """Give it for JSON, with a checksum."""
        record = dataclasses.asdict(self)
        del record["origin"]
        record["schema"] = SCHEMA
        return record | {"sha256": _checksum(record)}

    @classmethod
    def of_record(cls, record: Any, origin: Literal["user", "shipped"] = "user") -> Entry:
        """Read what `record` gave.

        Raises
        ------
        InvalidArgumentError
            If it is damaged, or not of this version.
        """
        if not isinstance(record, dict) or record.get("schema") != SCHEMA:
            raise InvalidArgumentError(f"it is no entry of {SCHEMA}.")
        body = {name: value for name, value in record.items() if name != "sha256"}
        if record.get("sha256") != _checksum(body):
            raise InvalidArgumentError("its checksum is wrong.")
        del body["schema"]
        try:
            body["values"] = _as_named_now(body["values"])
            body["tried"] = [[_as_named_now(values), ms] for values, ms in body.get("tried", [])]
            entry = cls(**body, origin=origin)
            distance(entry.features, entry.features)
            problem_of(entry.algorithm)
            named = {"name", "platform", "driver", "type"} <= entry.device.keys()
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InvalidArgumentError(f"it cannot be read: {error}.") from None
        if not named:
            raise InvalidArgumentError("it lacks a device.")
        return entry

    @property
    def name(self) -> str:
        """What its file is called: one for each device, driver, algorithm, objective and graph."""
        parts = [self.algorithm, self.objective, self.device, self.features]
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return f"{self.algorithm}-{key[:24]}.json"


def _as_named_now(values: Mapping[str, Any]) -> dict[str, Any]:
    return {FORMER_NAMES.get(name, name): value for name, value in values.items()}


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(
        json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    ).hexdigest()


def described(device: Device) -> dict[str, str]:
    """Give what an entry says of a device."""
    return {
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "type": "cpu" if device.traits.is_cpu else "gpu",
    }


def _folder() -> Path:
    return cache_root() / "tuned"


def keep(entry: Entry) -> Path:
    """Put an entry into the user's database, in the place of one for the same thing.

    Returns
    -------
    pathlib.Path
        Its file.

    Raises
    ------
    OSError
        If the user's folder cannot be written to.
    """
    folder = _folder()
    private_folder(folder.parent)
    path = private_folder(folder) / entry.name
    write_atomically(path, json.dumps(entry.record(), allow_nan=False, indent=1).encode())
    return path


def entries(algorithm: str | None = None) -> list[Entry]:
    """Give what is known: the user's own entries, then those that came with the package.

    Parameters
    ----------
    algorithm : str, optional
        Of one only.
    """
    known = (*_own(), *shipped())
    return [entry for entry in known if algorithm in {None, entry.algorithm}]


def _own() -> Iterator[Entry]:
    try:
        with os.scandir(_folder()) as found:
            names = sorted(file.path for file in found if file.name.endswith(".json"))
    except OSError:
        return
    for name in names[:MOST_ENTRIES]:
        try:
            yield Entry.of_record(json.loads(read_private(Path(name), LARGEST_BYTES)))
        except FileNotFoundError:
            continue  # another process has just put a new one there
        except (OSError, ValueError, RecursionError, DamagedEntryError) as error:
            log.warning("tuned entry %s is not used: %s", Path(name).name, error)


@functools.cache
def shipped() -> tuple[Entry, ...]:
    """Entries that came with the package."""
    try:
        record = json.loads(SHIPPED.read_bytes()[:LARGEST_SHIPPED_BYTES])
        return tuple(Entry.of_record(each, "shipped") for each in record["entries"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("the tuned entries of the package are not used: %s", error)
        return ()


def nearest(
    graph: Graph, algorithm: str, device: Device, objective: str = "time"
) -> tuple[Entry, float] | None:
    """Find what was tuned for what is most like a graph on a device.

    Parameters
    ----------
    graph : Graph
        Whose degrees, size and numbering are compared.
    algorithm : str
        What is to be run.
    device : Device
        Entries of this device with its driver come first, then those of this device, then those of
        the same platform and type.
    objective : str
        One of `OBJECTIVES`.

    Returns
    -------
    (Entry, float) or None
        With the distance of the graphs; None where nothing is nearer than 1.
    """
    features, here = features_of(graph), described(device)
    best: tuple[int, float] = (SAME_KIND + 1, FARTHEST)
    found: Entry | None = None
    for entry in entries(algorithm):
        if entry.objective != objective:
            continue
        apart = distance(features, entry.features)
        place = (_rank(entry.device, here), apart)
        if place[0] <= SAME_KIND and apart <= FARTHEST and place < best:
            best, found = place, entry
    return None if found is None else (found, best[1])


def _rank(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    names: tuple[tuple[str, ...], ...] = (
        ("name", "platform", "driver"),
        ("name", "platform"),
        ("platform", "type"),
    )
    for rank, same in enumerate(names):
        if all(one[name] == other[name] for name in same):
            return rank
    return SAME_KIND + 1


def configured(graph: Graph, algorithm: str, device: Device, objective: str = "time") -> Any:
    """Give the configuration of the nearest entry, which says where it is from.

    Parameters
    ----------
    graph, algorithm, device, objective
        As for `nearest`.

    Returns
    -------
    configuration
        Of the algorithm's own kind; "auto" where nothing is near, or what is near is not for this
        device. ``origin`` says which.
    """
    if objective not in OBJECTIVES:
        raise InvalidArgumentError(
            f"config='tuned:{objective}' is for nothing; use one of {', '.join(OBJECTIVES)}."
        )
    problem = problem_of(algorithm)
    found = nearest(graph, algorithm, device, objective)
    if found is None:
        return _auto(problem, algorithm, "nothing near was tuned, so auto")
    entry, apart = found
    provenance = entry.provenance
    origin = (
        f"{entry.origin} entry of {provenance.get('when', 'an unknown time')} for "
        f"{entry.objective}: {provenance.get('graph') or 'a graph'} on {entry.device['name']}, "
        f"distance {apart:.2f}"
    )
    try:
        return dataclasses.replace(problem.config(entry.values, graph), origin=origin[:300])
    except (ClgraphError, TypeError) as error:
        log.warning("the tuned entry %s is not used: %s", entry.name, error)
        return _auto(problem, algorithm, "the nearest entry is not legal here, so auto")


def _auto(problem: Any, algorithm: str, why: str) -> Any:
    log.info("config='tuned' of %s: %s", algorithm, why)
    return dataclasses.replace(problem.kind(), origin=why)
