"""One run: the cases of a suite one after the other, saved after each."""

from __future__ import annotations

import datetime as dt
import gc
import logging
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import clgraph
from clgraph.cli.text import plain
from clgraph.errors import InvalidArgumentError

from . import machine
from .graphs import Places, UnavailableError, find
from .measure import failure, measure
from .problem import problem_of
from .records import SCHEMA, Record, load, save
from .suites import cases_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from clgraph import Device

    from .measure import Settings
    from .suites import Case

__all__ = ["Inputs", "InterruptedRun", "run"]

log = logging.getLogger("clgraph")


class InterruptedRun(KeyboardInterrupt):
    """Ctrl-C during a run; ``record`` is what was measured until then."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where things are.

    Attributes
    ----------
    places : Places
        Where graphs are.
    record : Path or None
        File that is written after every case.
    resume : Path or None
        Record whose finished cases are taken over.
    commit : str or None
        What is measured, where the checkout cannot tell.
    """

    places: Places = field(default_factory=Places)
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
    report: Callable[[Record], None] | None = None,
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
        Names of graphs, of algorithms, or ``algorithm/graph``; default is all of the suite.
    report : callable, optional
        Called with each finished case.

    Returns
    -------
    dict
        The record; a case that cannot run or fails is in it with its reason.

    Raises
    ------
    InvalidArgumentError
        If there is no such suite, graph, algorithm or preset, or the record to resume is of another
        run.
    InterruptedRun
        At Ctrl-C, after what was measured has been saved, where a file for it was named.
    """
    inputs = Inputs() if inputs is None else inputs
    cases = cases_of(suite, set(only))
    chosen = [(case, _presets(case, settings)) for case in cases]
    found = clgraph.device(device)
    record: Record = plain(
        {
            "schema": SCHEMA,
            "suite": suite,
            "started": _now(),
            "finished": None,
            "settings": asdict(settings) | {"seed": inputs.places.seed},
            "machine": machine.describe(found, inputs.commit),
            "cases": [],
        }
    )
    kept = _resumed(inputs.resume, record)
    try:
        for case, presets in chosen:
            ready = {name: kept[case.key(name)] for name in presets if case.key(name) in kept}
            missing = [name for name in presets if name not in ready]
            if missing:
                ready |= _measure(case, missing, found, settings, inputs, record["machine"])
            record["cases"] += [ready[name] for name in presets]
            if inputs.record is not None:
                save(record, inputs.record)
            if report is not None:
                for name in presets:
                    report(ready[name])
    except KeyboardInterrupt:
        raise InterruptedRun(record) from None
    record["finished"] = _now()
    if inputs.record is not None:
        save(record, inputs.record)
    return record


def _both(case: Case) -> str:
    return f"{case.algorithm}/{case.graph}"


def _presets(case: Case, settings: Settings) -> tuple[str, ...]:
    """Give the configurations to measure; an unknown one is refused before anything runs."""
    known = problem_of(case.algorithm).presets
    wanted = settings.presets or case.presets
    if "all" in wanted:
        return known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InvalidArgumentError(
            f"{', '.join(unknown)} is no preset of {case.algorithm}; choose from "
            f"{', '.join(known)}, or all."
        )
    return wanted


def _measure(
    case: Case,
    presets: list[str],
    device: Device,
    settings: Settings,
    inputs: Inputs,
    about: Record,
) -> dict[str, Record]:
    """Measure one graph; what goes wrong becomes its record and not the end of the run."""
    began = time.perf_counter()
    common: Record = {}
    try:
        kind = problem_of(case.algorithm)
        loaded = find(case.graph, inputs.places, weighted=kind.weighted)
        common = {"graph": loaded.as_dict()}
        found = measure(kind, loaded, device, settings, presets=presets, machine=about)
        del loaded
    except UnavailableError as error:
        missing = {"status": "skipped", "reason": str(error), "stand_in": error.stand_in}
        found = dict.fromkeys(presets, missing)
    except Exception as error:
        log.warning("%s failed: %s", _both(case), error)
        log.debug("where it failed", exc_info=True)
        found = {name: failure(error) for name in presets}
    gc.collect()  # device buffers of this graph make room for the next
    ending = {
        "card": machine.card_state(device),
        "seconds": (time.perf_counter() - began) / len(presets),
    }
    return {
        name: plain(
            {"key": case.key(name), **asdict(case), "preset": name, **common, **record, **ending}
        )
        for name, record in found.items()
    }


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
