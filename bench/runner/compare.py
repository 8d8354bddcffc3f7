"""Telling a regression from noise: two records, case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cli.text import table
from clgraph.errors import InvalidArgumentError

from ..report.text import figure
from .stats import bootstrap_interval

if TYPE_CHECKING:
    from .records import Record

__all__ = ["compare", "render"]

SHORTEST_MS, LONGEST_MS = 1e-9, 1e12  # of what can have been measured
SMALLEST_CHANGE = 0.02  # medians of one build differ by this much from run to run


def compare(before: Record, after: Record) -> dict[str, Any]:
    """Compare two records.

    Parameters
    ----------
    before, after : dict
        Records of runs.

    Returns
    -------
    dict
        ``cases``: per case of either record its ``verdict`` and what it rests on; ``regressions``:
        how many are slower, broken or gone; ``notes``: what else differs between the runs.

    Raises
    ------
    InvalidArgumentError
        If they have no case in common, or a case lacks what is compared.

    Notes
    -----
    Searches from the same sources are compared in pairs, which takes out how sources differ: a case
    is slower if the 95 % bootstrap interval of the median ratio lies wholly above 1.02, faster if
    wholly below 0.98. Records with different sources are compared by whether the intervals of their
    medians overlap.
    """
    old, new = _by_key(before, "first"), _by_key(after, "second")
    if not old.keys() & new.keys():
        raise InvalidArgumentError("the two records have no case in common.")
    rows = [_row(key, old.get(key), new.get(key)) for key in old | new]
    return {
        "cases": rows,
        "regressions": sum(row["verdict"] in {"slower", "broken", "gone"} for row in rows),
        "notes": _differences(before, after),
    }


def _by_key(record: Record, which: str) -> dict[str, Record]:
    for place, case in enumerate(record["cases"]):
        if not _is_whole(case):
            raise InvalidArgumentError(
                f"case {place} of the {which} record is no whole case: a key, a status, and either "
                "a reason or times of the searches with their summary are needed."
            )
    return {case["key"]: case for case in record["cases"]}


def _is_whole(case: Any) -> bool:
    """Whether a case, which may come from anywhere, has all that is looked at here."""
    match case:
        case {"key": str(), "status": "failed" | "skipped", "reason": str()}:
            return True
        case {
            "key": str(),
            "status": "ok",
            "graph": {"checksum": _},
            "searches": {"source": list(sources), "kernel_ms": list(times)},
            "summary": {"kernel_ms": {"median": median, "interval": None | [_, _] as interval}},
        }:
            numbers = [*times, median, *(interval or ())]
            return len(sources) == len(times) > 0 and all(map(_is_positive, numbers))
    return False


def _is_positive(number: Any) -> bool:
    kind = isinstance(number, int | float) and not isinstance(number, bool)
    return kind and SHORTEST_MS < number < LONGEST_MS


def _row(key: str, old: Record | None, new: Record | None) -> Record:
    row: Record = {"key": key, "before_ms": _median(old), "after_ms": _median(new)}
    if new is None:
        return row | {"verdict": "gone"}
    if new["status"] != "ok":
        worse = old is not None and old["status"] == "ok"
        verdict = {"failed": "broken", "skipped": "gone"}[new["status"]] if worse else new["status"]
        return row | {"verdict": verdict, "reason": new["reason"]}
    if old is None or old["status"] != "ok":
        return row | {"verdict": "new"}
    if old["graph"]["checksum"] != new["graph"]["checksum"]:
        return row | {"verdict": "another graph"}
    row["ratio"] = row["after_ms"] / row["before_ms"]
    if old["searches"]["source"] == new["searches"]["source"]:
        ratios = [
            now / then
            for then, now in zip(
                old["searches"]["kernel_ms"], new["searches"]["kernel_ms"], strict=True
            )
        ]
        row["ratio"] = float(np.median(ratios))
        low, high = bootstrap_interval(ratios) or (row["ratio"], row["ratio"])
    else:
        (old_low, old_high), (new_low, new_high) = (_interval_of(case) for case in (old, new))
        low, high = new_low / old_high, new_high / old_low
    row["interval"] = [low, high]
    if low > 1 + SMALLEST_CHANGE:
        return row | {"verdict": "slower"}
    return row | {"verdict": "faster" if high < 1 - SMALLEST_CHANGE else "same"}


def _interval_of(case: Record) -> tuple[float, float]:
    ms = case["summary"]["kernel_ms"]
    low, high = ms["interval"] or (ms["median"], ms["median"])  # of a single search
    return low, high


def _median(case: Record | None) -> float | None:
    if case is None or case["status"] != "ok":
        return None
    return float(case["summary"]["kernel_ms"]["median"])


def _differences(before: Record, after: Record) -> list[str]:
    notes = []
    for what, path in (
        ("device", ("device", "name")),
        ("driver", ("device", "driver")),
        ("commit", ("commit",)),
        ("processor", ("host", "processor")),
    ):
        then, now = (_at(record["machine"], path) for record in (before, after))
        if then != now:
            notes.append(f"{what}: {then} before, {now} after")
    return notes


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def render(found: dict[str, Any]) -> str:
    """Show a comparison as a table."""
    rows = [
        [
            row["key"],
            figure(row["before_ms"]),
            figure(row["after_ms"]),
            figure(row.get("ratio")),
            "-".join(figure(bound) for bound in row["interval"]) if "interval" in row else "",
            row["verdict"],
        ]
        for row in found["cases"]
    ]
    parts = [table(("case", "before ms", "after ms", "ratio", "95 %", "verdict"), rows)]
    parts += found["notes"]
    parts.append(f"{found['regressions']} regressions")
    return "\n".join(parts)
