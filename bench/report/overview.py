"""One picture of where the library stands: how many times as fast as the fastest other code.

A row is an algorithm on a device. On each graph the fastest other code is the one to compare with;
the dot is the geometric mean over the graphs, the bar reaches from the worst graph to the best.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from clgraph.pages.pictures import Picture

from . import published
from .ranges import Range, ranges
from .text import figure, graph_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record

__all__ = ["picture", "said"]

PRESET = "auto"
NAMES = {
    "bfs": "breadth-first search",
    "sssp": "shortest paths",
    "scc": "strong components",
    "components": "components",
    "multi-search": "256 searches at once",
}
AXIS = "times as fast as the fastest other code; bar: from the worst graph to the best"
# A picture in a page takes no colours from it: these are legible on white and on black.
GREY, FAINT = "#7a828a", "#7a828a59"
COLOURS = {"GPU": "#3b82c4", "CPU": "#d2691e"}


def picture(records: Sequence[tuple[str, Record]]) -> str:
    """Draw what recorded runs say of each algorithm on each kind of device.

    Parameters
    ----------
    records : sequence of (file name, record)
        Newest first. Of each case the newest is taken.

    Returns
    -------
    str
        An SVG file; a card whose rivals were measured by other programs comes before processors,
        where libraries were measured beside.
    """
    rows = []
    for kind, colour in COLOURS.items():
        for algorithm, name in NAMES.items():
            found = _factors(records, algorithm, cpu=kind == "CPU")
            if found:
                factors = [factor for _, factor in found]
                mean = math.exp(math.fsum(map(math.log, factors)) / len(factors))
                rivals = ", ".join(dict.fromkeys(rival for rival, _ in found))
                graphs = "1 graph" if len(factors) == 1 else f"{len(factors)} graphs"
                text = f"{figure(mean, 2)} on {graphs}, beside {rivals}"
                span = (min(factors), max(factors))
                rows.append(Range(f"{kind}: {name}", mean, span, text, colour))
    title = "clgraph beside the fastest other codes"
    empty = Picture(title, 760, 60 + 22 * len(rows), ink=GREY, faint=FAINT)
    return ranges(empty, rows, AXIS, shown=(1.0,)).svg(file=True)


def said(drawn: str) -> list[str]:
    """Give the words of a picture and the hints of its dots, in their order."""
    return [text.strip() for text in ET.fromstring(drawn).itertext() if text.strip()]  # noqa: S314


def _factors(
    records: Sequence[tuple[str, Record]], algorithm: str, *, cpu: bool
) -> list[tuple[str, float]]:
    """Of each graph's newest case the fastest other code, and how many times as fast ours is."""
    found: dict[str, tuple[str, float]] = {}
    for _, record in records:
        device = record["machine"]["device"]
        if device["traits"]["is_cpu"] is not cpu:
            continue
        for case in record["cases"]:
            if (case["algorithm"], case["preset"], case["status"]) == (algorithm, PRESET, "ok"):
                factor = _beside(case) if cpu else _over_published(case, device["name"])
                if factor is not None:
                    found.setdefault(graph_of(case), factor)
    return list(found.values())


def _beside(case: Record) -> tuple[str, float] | None:
    """Compare wall clocks with the library that is the fastest of those run in turn with ours."""
    peers = {name: peer for name, peer in case.get("peers", {}).items() if peer.get("ratio")}
    if not peers:
        return None
    fastest = min(peers, key=lambda name: float(peers[name]["ms"]["median"]))
    ratio = float(peers[fastest]["ratio"]["median"])
    return fastest.partition("-")[0], ratio  # a code's name comes before what it was told


def _over_published(case: Record, device: str) -> tuple[str, float] | None:
    best = published.best(case["algorithm"], graph_of(case), device)
    return (
        None if best is None else (best[0], best[1] / float(case["summary"]["kernel_ms"]["median"]))
    )
