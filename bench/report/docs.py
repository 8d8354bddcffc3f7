"""``python -m bench.report.docs``: write docs/benchmarks.md and its picture from bench/results.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.errors import InvalidArgumentError

from ..runner.pinned import GRAPHS, SEED
from ..runner.records import load, newest_first
from ..runner.suites import SUITES
from . import matching_plots, scc_page, searches_page
from .draws import newest_cases, redrawn_table, seed_of
from .findings import COMMENT, EXPLANATION, findings
from .matrix import matrices
from .method import METHOD
from .overview import picture, said
from .text import (
    figure,
    graph_of,
    groups,
    markdown,
    results,
    rivals,
    shown_joules,
    unmeasured,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runner.records import Record
    from ..runner.suites import Case
    from .draws import Newest

__all__ = ["PAGE", "RESULTS", "main", "page", "recorded"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = PAGE.with_name("overview.svg")
PROFILED = "bfs/kron22/auto"
TITLES = {
    "bfs": "Breadth-first search",
    "sssp": "Shortest paths",
    "scc": "Strongly connected components",
    "components": "Connected components",
    "multi-search": "Many searches at once",
    "triangles": "Triangles of every vertex, edges turned anew",
    "truss": "Truss numbers of every edge, triangles counted each time",
    "pagerank": "PageRank, all iterations",
    "betweenness": "Betweenness from four sources",
    "spanning-forest": "A minimum spanning forest",
    "propagation": "Label propagation, ten rounds",
    "clustering": "Local clustering of every vertex",
    "cores": "Core numbers of every vertex",
    "independent-set": "A maximal independent set",
    "coloring": "A greedy colouring",
    "eigenvector": "Eigenvector centrality of every vertex",
    "hits": "Hubs and authorities",
    "katz": "Katz centrality of every vertex",
    "walks": "A random walk of forty steps from every vertex",
    "expansion": "Load balancing alone: the owner of every edge",
}

INTRODUCTION = """# Benchmarks

Written by `python -m bench.report.docs` from the records in `bench/results`; change those, not
this page. Each figure belongs to the commit that its record names; what has changed since is not
in it. [Probes](../bench/results/probes/README.md) are timings taken on the way, by programs of
their own.
"""

NOTHING_YET = """
No run has been recorded yet. `clgraph bench --json FILE` records one.
"""


def recorded(folder: Path = RESULTS) -> list[tuple[str, Record]]:
    """List the runs in a folder as file name and record, newest first; other JSON is left out.

    So are runs of files that differed from the commit: nobody can have that code again.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            record = load(path)
        except InvalidArgumentError:
            continue
        if not record["machine"]["dirty"]:
            found.append((path.name, record))
    return newest_first(found)


def page(records: Sequence[tuple[str, Record]], tables: str = "") -> str:
    """Text of the page.

    Parameters
    ----------
    records : sequence of (file name, record)
        Newest first. Of each case of a device and suite the newest is shown; records that have
        none of these are listed.
    tables : str
        Sections of programs of their own, that come before the method.

    Returns
    -------
    str
        Markdown.
    """
    if not records:
        return INTRODUCTION + NOTHING_YET + METHOD
    places: dict[tuple[str, str], list[tuple[str, Record]]] = {}
    for name, record in records:
        place = (record["machine"]["device"]["name"], record["suite"])
        places.setdefault(place, []).append((name, record))
    text = INTRODUCTION
    older = []
    for (device, suite), found in sorted(places.items(), key=lambda item: _rank(*item[0])):
        newest = newest_cases(found)
        used = {name for name, _ in newest.values()}
        older += [name for name, _ in found if name not in used]
        text += _section(device, suite, [item for item in found if item[0] in used], newest)
    if older:
        text += "\nOlder records: " + ", ".join(f"`{name}`" for name in older) + ".\n"
    why = COMMENT if EXPLANATION in text else ""
    return text + why + tables + METHOD


def _rank(device: str, suite: str) -> tuple[int, str]:
    """Order sections: what was measured on most graphs first."""
    order = ("papers", "presets", "full", "quick")
    return order.index(suite) if suite in order else len(order), device


def _section(
    device: str,
    suite: str,
    records: Sequence[tuple[str, Record]],
    newest: Newest,
) -> str:
    letters = {name: chr(ord("a") + place) for place, (name, _) in enumerate(records)}
    parts = [f"\n## {device}, suite {suite}\n"]
    parts += [_origin(letters[name], name, record) for name, record in records]
    parts.append("")
    order = {(case.algorithm, case.graph): place for place, case in enumerate(_cases(suite))}
    every = sorted(
        newest.values(),
        key=lambda item: order.get((item[1]["algorithm"], graph_of(item[1])), len(order)),
    )
    shown = [item for item in every if seed_of(item[1]) == SEED]
    measured = [(letters[name], case) for name, case in shown if case["status"] == "ok"]
    redrawn = [
        (letters[name], case)
        for name, case in every
        if seed_of(case) != SEED and case["status"] == "ok"
    ]
    for algorithm, cases in groups(case for _, case in measured).items():
        origins = [letter for letter, case in measured if case["algorithm"] == algorithm]
        parts.append(f"### {TITLES.get(algorithm, algorithm)}\n")
        parts += [_results(cases, device, origins), _energy(cases), _peers(cases)]
        parts.append(
            redrawn_table(cases, [item for item in redrawn if item[1]["algorithm"] == algorithm])
        )
        if suite == "presets":
            parts.append(matrices(cases, device))
        if suite == "presets" and algorithm == "bfs":
            parts.append(findings(cases, device))
        parts += [_levels(case) for case in cases if _is_profiled(case)]
    there = {f"{case['algorithm']}/{graph_of(case)}" for _, case in measured}
    missing = unmeasured(case for _, case in shown if not case.get("stand_in"))
    missing += _never_run(suite, there | {line.rpartition("/")[0] for line in missing})
    if missing:
        parts.append("Not measured:\n")
        parts.append("".join(f"- {line}\n" for line in missing))
    return "\n".join(part for place, part in enumerate(parts) if part or place == len(records) + 1)


def _origin(letter: str, name: str, record: Record) -> str:
    """Say what a record was measured with."""
    machine = record["machine"]
    device, versions = machine["device"], machine["versions"]
    ended = "" if record["finished"] else ", interrupted"
    return (
        f"- ({letter}) `bench/results/{name}`: {record['started'][:16].replace('T', ' ')}, "
        f"{device['platform']}, driver {device['driver']}, clgraph at "
        f"`{(machine['commit'] or 'unknown')[:12]}`, {record['settings']['sources']} runs "
        f"a pass, Python {versions['python']}, host {machine['host']['processor']}{ended}"
    )


def _cases(suite: str) -> tuple[Case, ...]:
    return SUITES.get(suite, ())


def _never_run(suite: str, there: set[str]) -> list[str]:
    """Say which cases of a suite no record has, and which graphs stand in for those of papers."""
    missing = [case for case in _cases(suite) if f"{case.algorithm}/{case.graph}" not in there]
    plain, replaced = [], []
    for case in missing:
        known = GRAPHS[case.graph]
        if known.generator or known.checksums:
            plain.append(f"{case.algorithm}/{case.graph}")
        else:
            replaced.append(f"{case.graph} ({known.stand_in})")
    lines = [f"not run on this device yet: {', '.join(plain)}"] if plain else []
    if replaced:
        lines.append(f"not to be had here, and what stands in for it: {', '.join(replaced)}")
    return lines


def _results(cases: Sequence[Record], device: str, origins: Sequence[str]) -> str:
    head, rows = results(cases, device, mark=" (1)", strong="**")
    if len(set(origins)) > 1:
        head.append("record")
        rows = [[*row, f"({origin})"] for row, origin in zip(rows, origins, strict=True)]
    note = "(1) not bit for bit the graph that the suite names.\n"
    any_other = any(case["graph"]["pinned"] is False for case in cases)
    return markdown(head, rows) + ("\n" + note if any_other else "")


def _energy(cases: Sequence[Record]) -> str:
    measured = [(case, case["energy"]) for case in cases if case.get("energy")]
    measured = [
        (case, taken)
        for case, taken in measured
        if shown_joules(taken["joules_per_search"], taken["window_s"], taken["spread"]) is not None
    ]
    if not measured:
        return ""
    rows = [
        [
            graph_of(case),
            str(case.get("preset", "")),
            figure(taken["joules_per_search"]),
            f"{100 * taken['spread']:.1f} %",
            figure(taken["mean_watts"]),
            figure(taken["idle_watts"]),
            figure(taken["mteps_per_watt"]),
            figure(taken["energy_delay_js"]),
            f"{taken['searches']:,} in {taken['window_s']:.1f} s",
            taken["meter"],
        ]
        for case, taken in measured
    ]
    head = (
        *("graph", "preset", "J/run", "spread", "mean W", "idle W", "MTEPS/W", "J s", "runs"),
        "meter",
    )
    return "Energy:\n\n" + markdown(head, rows)


def _peers(cases: Sequence[Record]) -> str:
    rows = rivals(cases, failed=False)
    if not rows:
        return ""
    head = ("graph", "library", "ms", "conversion s", "its time over ours", "quartiles", "remarks")
    return "Other libraries in the same run, by the host's clock:\n\n" + markdown(head, rows)


def _is_profiled(case: Record) -> bool:
    return case["key"] == PROFILED and bool(case["per_level"])


def _levels(case: Record) -> str:
    profile = case["per_level"]
    columns = (profile[name] for name in ("frontier", "edges", "direction", "microseconds"))
    rows = [
        [str(level), f"{frontier:,}", f"{edges:,}", direction, figure(microseconds)]
        for level, (frontier, edges, direction, microseconds) in enumerate(
            zip(*columns, strict=True)
        )
    ]
    head = ("distance", "frontier", "its out-edges", "direction", "us")
    return (
        f"{graph_of(case)} level by level, from source {profile['source']}, "
        f"{figure(profile['kernel_ms'])} ms in all:\n\n" + markdown(head, rows)
    )


def _same(path: Path, text: str) -> bool:
    """Whether a file is up to date; a picture if it says the same: others of matplotlib differ."""
    if not path.exists():
        return False
    found = path.read_text("utf-8")
    return found == text or (path.suffix == PICTURE.suffix and said(found) == said(text))


def main(argv: Sequence[str]) -> int:
    """Write page and pictures, or with --check only look whether they are up to date."""
    tables = "".join(part.section(part.recorded(RESULTS)) for part in (scc_page, searches_page))
    written = {PAGE: page(recorded(), tables), PICTURE: picture(recorded())}
    for name, drawn in matching_plots.plots(matching_plots.recorded(RESULTS)).items():
        written[PAGE.with_name(f"matching-{name.replace(' ', '-')}.svg")] = drawn
    if "--check" in argv:
        return 0 if all(_same(path, text) for path, text in written.items()) else 1
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
