"""Cases by the seed that their graphs were drawn with: the usual one, and others beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ..runner.pinned import SEED
from .text import figure, graph_of, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record

__all__ = ["Newest", "newest_cases", "redrawn_table", "seed_of"]

Newest: TypeAlias = "dict[tuple[str, int], tuple[str, Record]]"


def newest_cases(records: Sequence[tuple[str, Record]]) -> Newest:
    """By key and seed the newest case that was measured, or failing that the newest, and its file.

    The seed of a graph that was not generated counts as the usual one.
    """
    found: Newest = {}
    for name, record in records:
        for case in record["cases"]:
            place = (case["key"], seed_of(case))
            known = found.get(place)
            if known is None or (known[1]["status"] != "ok" and case["status"] == "ok"):
                found[place] = (name, case)
    return found


def seed_of(case: Record) -> int:
    """Give what the graph of a case was drawn with."""
    graph = case["graph"]
    seed = graph.get("seed") if isinstance(graph, dict) else None
    return SEED if seed is None else int(seed)


def redrawn_table(cases: Sequence[Record], others: Sequence[tuple[str, Record]]) -> str:
    """Tabulate graphs that were drawn with other seeds, beside the usual ones.

    Parameters
    ----------
    cases : sequence of dict
        Measured ones of an algorithm on the usual graphs.
    others : sequence of (letter, case)
        Measured ones on others, and the letter of each one's record.
    """
    if not others:
        return ""
    first = {case["key"]: case["summary"]["kernel_ms"]["median"] for case in cases}
    rows = []
    for letter, case in others:
        summary, before = case["summary"], first.get(case["key"])
        low, high = summary["kernel_ms"]["quartiles"]
        mean = summary["teps_harmonic_mean"]
        rows.append(
            [
                graph_of(case),
                str(case.get("preset", "")),
                str(seed_of(case)),
                f"{case['graph']['m']:,}",
                figure(summary["kernel_ms"]["median"]),
                f"{figure(low)}-{figure(high)}",
                figure(None if mean is None else mean / 1e9),
                figure(None if before is None else summary["kernel_ms"]["median"] / before),
                f"({letter})",
            ]
        )
    head = ("graph", "preset", "seed", "m", "median ms", "quartiles", "GTEPS", "over the first")
    return "Other draws of the same graphs:\n\n" + markdown((*head, "record"), rows)
