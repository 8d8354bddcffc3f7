"""Which of the papers' findings hold on the device that was measured, by the recorded times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .matrix import Matrix
from .text import figure, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record

__all__ = ["COMMENT", "EXPLANATION", "FINDINGS", "Finding", "findings"]

NOISE = 0.03  # times closer than this are even

MERRILL = tuple(
    f"merrill-{name}" for name in ("expand-contract", "contract-expand", "two-phase", "hybrid")
)
PUBLISHED = (*MERRILL, "bfs-4k", "helix", "enterprise")
# Where frontiers are wide, and where they are narrow, of the graphs of the suite.
WIDE = ("kron20", "kron22", "kron20x64", "unif22")
NARROW = ("rgg", "mesh", "grid2d", "road", "usa-road-d-ny")
# Whose degrees follow a power law, and whose are all small.
POWER_LAW = ("kron20", "kron22", "kron20x64", "web-notredame")
SMALL_DEGREES = ("mesh", "grid3d", "grid2d", "road", "usa-road-d-ny")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a paper found, as one preset being faster or slower than others.

    Attributes
    ----------
    paper : str
        Short name.
    says : str
        The finding, in a sentence.
    of : str
        A preset.
    against : tuple of str
        Presets of which the fastest is compared.
    faster : bool
        Whether `of` is said to be faster (or as fast), else slower.
    times : float
        What its time over the others' is said to be at most, or at least where it is slower.
    graphs : tuple of str
        Those that the finding is about; empty for all.
    """

    paper: str
    says: str
    of: str
    against: tuple[str, ...]
    faster: bool = True
    times: float = 1.0
    graphs: tuple[str, ...] = ()


FINDINGS = (
    Finding(
        "Merrill",
        "the hybrid meets or beats expand-contract on every graph",
        "merrill-hybrid",
        ("merrill-expand-contract",),
    ),
    Finding(
        "Merrill",
        "contract-expand suits small, fleeting frontiers",
        "merrill-contract-expand",
        ("merrill-expand-contract", "merrill-two-phase"),
        graphs=NARROW,
    ),
    Finding(
        "Merrill",
        "contract-expand is bad for large degrees",
        "merrill-contract-expand",
        ("merrill-expand-contract", "merrill-two-phase"),
        faster=False,
        graphs=WIDE,
    ),
    Finding(
        "Merrill",
        "two phases suit frontiers that saturate the device",
        "merrill-two-phase",
        ("merrill-expand-contract", "merrill-contract-expand"),
        graphs=WIDE,
    ),
    Finding(
        "BFS-4K",
        "is at least as fast as Merrill's searches",
        "bfs-4k",
        MERRILL,
    ),
    Finding(
        "Helix",
        "its decision table beats Merrill's searches and BFS-4K, by 1.2 times and more",
        "helix",
        (*MERRILL, "bfs-4k"),
        times=1 / 1.2,
    ),
    Finding(
        "Helix",
        "two phases are never the best",
        "merrill-two-phase",
        tuple(name for name in PUBLISHED if name != "merrill-two-phase"),
        faster=False,
    ),
    Finding(
        "Helix",
        "queues of candidates suit irregular graphs of small degrees",
        "merrill-contract-expand",
        ("merrill-expand-contract",),
        graphs=("road", "usa-road-d-ny"),
    ),
    Finding(
        "Enterprise",
        "a status array with hubs and pulling beats queues on graphs of a power law",
        "enterprise",
        (*MERRILL, "bfs-4k", "helix"),
        graphs=POWER_LAW,
    ),
    Finding(
        "Enterprise",
        "loses only slightly to Merrill's searches where all degrees are small",
        "enterprise",
        MERRILL,
        times=1.25,
        graphs=SMALL_DEGREES,
    ),
    Finding(
        "clgraph",
        "auto is at least as fast as every published preset",
        "auto",
        PUBLISHED,
    ),
)

EXPLANATION = """\
What the papers found and what holds here, by the medians above. A figure is the time of the preset
in question over that of the fastest it is compared with; within 3 % of each other they count as
even. Most sources of web-notredame reach next to nothing: there a search is little more than its
launch.

"""

COMMENT = """
## Why presets differ

As far as levels and bytes tell: the papers' cards had caches of one or two megabytes and launches
of 5 to 15 us. On those above the state of most graphs stays in the cache and a level is a barrier
of the grid, which moves what is worth doing. Fusing both steps of a level (contract-expand)
saves barriers where frontiers are narrow; that is still so, and the hybrid gains there by being it.
On wide frontiers it copies every edge to memory and back, and so does the hybrid's other half, so
that expanding vertices wins as long as claims are looked up in the cache. Scanning a status array
of all vertices at every level, twice, costs nothing beside a wide frontier and everything beside a
narrow one: what was a slight loss on roads is the largest one here, because everything else got
faster. Helix's table asks for a launch at each level where it expects few levels, which costs more
than such a level takes, and gives a hub to one work-group, which is slow on skewed degrees. Of what
makes up BFS-4K, hubs that are shared by all pay on skewed degrees (kron20: 1.3 instead of 3.6 ms);
to count a frontier's edges in advance costs a fifth to two thirds on graphs of small degrees, and
virtual groups of one fixed width are faster than those that follow each frontier but on roads
([probe](../bench/results/probes/h200-20261122-variants.json), study bfs-4k). What decides on graphs
of few levels is pulling, which only enterprise and auto do; what decides on deep ones is the cost
of a level, which only auto avoids, by levels that a work-group runs alone or that all hold in local
memory.
"""


def findings(cases: Sequence[Record], device: str) -> str:
    """Markdown of the table of findings, for the measured cases of breadth-first search."""
    matrix = Matrix(cases, device)
    rows = [row for finding in FINDINGS if (row := _row(finding, matrix))]
    if len(matrix.presets) < 2 or not rows:
        return ""
    head = ("paper", "finding", "time over the others'", "holds")
    return EXPLANATION + markdown(head, rows, head)


def _row(finding: Finding, matrix: Matrix) -> list[str] | None:
    ratios = {}
    for graph in matrix.graphs:
        if finding.graphs and graph not in finding.graphs:
            continue
        mine, others = matrix.ms(finding.of, graph), matrix.best(finding.against, graph)
        if mine is not None and others is not None:
            ratios[graph] = mine / others
    if not ratios:
        return None
    measured = ", ".join(f"{graph} {figure(ratio)}" for graph, ratio in ratios.items())
    return [finding.paper, finding.says, measured, _verdict(finding, ratios)]


def _verdict(finding: Finding, ratios: dict[str, float]) -> str:
    holds = {
        graph: ratio <= finding.times * (1 + NOISE)
        if finding.faster
        else ratio >= finding.times * (1 - NOISE)
        for graph, ratio in ratios.items()
    }
    if all(holds.values()):
        return "yes"
    if not any(holds.values()):
        return "no"
    return f"not on {', '.join(graph for graph, good in holds.items() if not good)}"
