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
        If they have no case in common.

    Notes
    -----
    Searches from the same sources are compared in pairs, which takes out how sources differ: a case
    is slower if the 95 % bootstrap interval of the median ratio lies wholly above 1.02, faster if
    wholly below 0.98. Records with different sources are compared by whether the intervals of their
    medians overlap.
    """
    old = {case["key"]: case for case in before["cases"]}
    new = {case["key"]: case for case in after["cases"]}
    if not old.keys() & new.keys():
        raise InvalidArgumentError("the two records have no case in common.")
    rows = [_row(key, old.get(key), new.get(key)) for key in old | new]
    return {
        "cases": rows,
        "regressions": sum(row["verdict"] in {"slower", "broken", "gone"} for row in rows),
        "notes": _differences(before, after),
    }


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
        (old_low, old_high), (new_low, new_high) = (
            case["summary"]["kernel_ms"]["interval"] for case in (old, new)
        )
        low, high = new_low / old_high, new_high / old_low
    row["interval"] = [low, high]
    if low > 1 + SMALLEST_CHANGE:
        return row | {"verdict": "slower"}
    return row | {"verdict": "faster" if high < 1 - SMALLEST_CHANGE else "same"}


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
