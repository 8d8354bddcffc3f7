"""One run: the cases of a suite one after the other, saved after each."""

from __future__ import annotations

import datetime as dt
import gc
import logging
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import clgraph
from clgraph.cli.text import plain
from clgraph.errors import InvalidArgumentError

from . import bfs, machine
from .graphs import UnavailableError, find
from .records import SCHEMA, Record, load, save
from .suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from clgraph import Device

    from .bfs import Settings
    from .suites import Case

__all__ = ["Inputs", "run"]

log = logging.getLogger("clgraph")

MEASURES = {"bfs": bfs.measure}


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where things are.

    Attributes
    ----------
    graphs, data : Path or None
        Folders of generated and of real graphs, as `graphs.find` wants them.
    record : Path or None
        File that is written after every case.
    resume : Path or None
        Record whose finished cases are taken over.
    commit : str or None
        What is measured, where the checkout cannot tell.
    """

    graphs: Path | None = None
    data: Path | None = None
    record: Path | None = None
    resume: Path | None = None
    commit: str | None = None


def run(
    suite: str,
    settings: Settings,
    *,
    device: Device | str | None = None,
    inputs: Inputs | None = None,
    only: Iterable[str] = (),
    tell: Callable[[Record], None] | None = None,
) -> Record:
    """Measure every case of a suite.

    Parameters
    ----------
    suite : str
        Key of `suites.SUITES`.
    settings : Settings
        How each case is measured.
    device : Device or str, optional
        As ``clgraph.device`` takes it.
    inputs : Inputs, optional
        Folders and files.
    only : iterable of str, optional
        Names of graphs; default is all of the suite.
    tell : callable, optional
        Called with each finished case.

    Returns
    -------
    dict
        The record; a case that cannot run or fails is in it with its reason.

    Raises
    ------
    InvalidArgumentError
        If there is no such suite or graph, or the record to resume is of another run.
    KeyboardInterrupt
        After what was measured has been saved, where a file for it was named.
    """
    inputs = Inputs() if inputs is None else inputs
    cases = _chosen(suite, set(only))
    clgraph.BFSConfig.of(settings.config)  # an unknown preset is refused before anything runs
    found = clgraph.device(device)
    record: Record = plain(
        {
            "schema": SCHEMA,
            "suite": suite,
            "started": _now(),
            "finished": None,
            "settings": asdict(settings),
            "machine": machine.describe(found, inputs.commit),
            "cases": [],
        }
    )
    kept = _resumed(inputs.resume, record)
    for case in cases:
        key = case.key(settings.config)
        measured = kept.get(key) or _measure(case, found, settings, inputs, record["machine"])
        record["cases"].append(measured)
        if inputs.record is not None:
            save(record, inputs.record)
        if tell is not None:
            tell(measured)
    record["finished"] = _now()
    if inputs.record is not None:
        save(record, inputs.record)
    return record


def _chosen(suite: str, only: set[str]) -> list[Case]:
    if suite not in SUITES:
        raise InvalidArgumentError(f"suite={suite!r} is not one of {', '.join(SUITES)}.")
    known = {case.graph for case in SUITES[suite]}
    if only - known:
        raise InvalidArgumentError(
            f"{', '.join(sorted(only - known))} is not in suite {suite}; it has "
            f"{', '.join(sorted(known))}."
        )
    return [case for case in SUITES[suite] if not only or case.graph in only]


def _measure(
    case: Case, device: Device, settings: Settings, inputs: Inputs, about: Record
) -> Record:
    """Measure one case; what goes wrong becomes its record and not the end of the run."""
    began = time.perf_counter()
    measured: Record = {"key": case.key(settings.config), **asdict(case)}
    try:
        loaded = find(case.graph, graphs=inputs.graphs, data=inputs.data)
        measured |= {"graph": loaded.as_dict()}
        measured |= MEASURES[case.algorithm](loaded, device, settings, about)
    except UnavailableError as error:
        measured |= {"status": "skipped", "reason": str(error)}
    except Exception as error:
        log.warning("%s failed: %s", measured["key"], error)
        log.debug("where it failed", exc_info=True)
        measured |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    gc.collect()  # device buffers of this graph make room for the next
    measured["card"] = machine.card_state(device)
    measured["seconds"] = time.perf_counter() - began
    told: Record = plain(measured)
    return told


def _resumed(path: Path | None, record: Record) -> dict[str, Record]:
    """Cases of an earlier run that need no second measurement."""
    if path is None:
        return {}
    earlier = load(path)
    for what in ("device", "commit"):
        before, now = earlier["machine"].get(what), record["machine"].get(what)
        if before != now:
            raise InvalidArgumentError(
                f"{path} was measured on another {what} ({_short(before)}, now {_short(now)}); "
                "runs of one record must agree."
            )
    if earlier["settings"] != record["settings"]:
        raise InvalidArgumentError(
            f"{path} was measured with other settings; give the same ones to resume it."
        )
    record["started"] = earlier["started"]
    return {case["key"]: case for case in earlier["cases"] if case["status"] == "ok"}


def _short(value: object) -> str:
    return str(value.get("name")) if isinstance(value, dict) else str(value)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
