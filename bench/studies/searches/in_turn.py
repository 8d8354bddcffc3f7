"""What a change costs: cases of a suite on two checkouts of clgraph, in turn.

``python -m bench.studies.searches.in_turn --before FOLDER --device nvidia --suite presets`` has a
process for each checkout on the same device. For every case both load the same arrays and make a
plan; then they run from the same sources, by turns, round after round. What is told are medians and
90th percentiles over the sources; the median over the rounds of the ratio of times, after to
before, and its range; the geometric mean of that ratio over the sources and the worst of them; and
whether both found the same from each. Device time, without what a plan prepares. A search whose
duplicates overflow a queue is made again by exact claims, which is told, and is compared with such
searches only.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import device as find_device
from clgraph.cli.text import table

from ...runner import machine
from ...runner.graphs import Places, UnavailableError, find
from ...runner.suites import SUITES
from ..command import command, keep
from .in_turn_worker import CLASSES, SEARCHES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from ...runner.graphs import Loaded

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[3]
WORKER = Path(__file__).with_name("in_turn_worker.py")
SEED = 20261123
ALL = {
    "bfs": "merrill-expand-contract merrill-two-phase merrill-hybrid bfs-4k helix enterprise",
    "sssp": "h-bf near-far delta-stepping self-tuning",
    "scc": "forward-backward coloring multistep",
    "components": "",
}


class Process:
    """A worker with a checkout of its own."""

    def __init__(self, checkout: Path, device: str | None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), device or ""],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_paths(checkout))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self.tell(what, **more)
        return self.answer()

    def tell(self, what: str, **more: Any) -> None:
        """Ask for something."""
        assert self._process.stdin is not None  # noqa: S101 (a pipe)
        with contextlib.suppress(BrokenPipeError):  # `answer` says that it has ended
            self._process.stdin.write(json.dumps({"ask": what, **more}) + "\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to what was asked."""
        assert self._process.stdout is not None  # noqa: S101 (a pipe)
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "its process has ended"}
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def _failed(sides: Sequence[Process], what: str, **more: Any) -> dict[str, Any]:
    """Ask all sides at once for what is not timed; give the answer that is an error, or nothing."""
    for side in sides:
        side.tell(what, **more)
    answers = [side.answer() for side in sides]
    return next((answer for answer in answers if "error" in answer), {})


def _paths(checkout: Path) -> list[str]:
    """Put the checkout before what this process was told, as where its libraries are."""
    told = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(checkout), *(path for path in told if path and Path(path).resolve() != ROOT)]


def cases(suite: str, only: str | None) -> Iterator[tuple[str, str, list[str]]]:
    """Give algorithm, graph and presets of what both sides can run."""
    wanted = only.split(",") if only else None
    for case in SUITES[suite]:
        names = {case.algorithm, case.graph, f"{case.algorithm}/{case.graph}"}
        if case.algorithm in CLASSES and (wanted is None or names & set(wanted)):
            several = "all" in case.presets or len(case.presets) > 1
            more = ALL[case.algorithm].split() if several else []
            yield case.algorithm, case.graph, ["auto", *more]


def compared(
    before: Process, after: Process, algorithm: str, preset: str, sources: list[int], rounds: int
) -> dict[str, Any]:
    """Run one case by turns, the first round to compare what is found and for no times."""
    if failed := _failed((before, after), "plan", algorithm=algorithm, preset=preset):
        return failed
    taken: list[list[dict[str, Any]]] = []
    same = True
    for number in range(rounds + 1):
        order = (before, after) if number % 2 else (after, before)
        found = {side: side.ask("run", sources=sources, digests=not number) for side in order}
        for answer in found.values():
            if "error" in answer:
                return answer
        if number:
            taken.append([found[before], found[after]])
        else:
            same = found[before]["digests"] == found[after]["digests"]
    ms, again = (
        np.array([[one[key] for one in pair] for pair in taken]) for key in ("ms", "again")
    )
    alike = again[:, 0] == again[:, 1]
    if not alike.any():
        return {"error": "no source was searched in the same way by both"}
    ratios = [
        (pair[1] @ same_way) / (pair[0] @ same_way)
        for pair, same_way in zip(ms, alike, strict=True)
        if same_way.any()
    ]
    # By source: medians over the rounds that took the same way.
    pairs = np.where(alike[:, None], ms, np.nan)[..., alike.any(axis=0)]
    theirs, ours = np.nanmedian(pairs, axis=0)
    return {
        "before_ms": float(np.median(ms[:, 0])),
        "after_ms": float(np.median(ms[:, 1])),
        "again": again.mean(axis=(0, 2)).tolist(),
        "before_p90_ms": float(np.quantile(theirs, 0.9)),
        "after_p90_ms": float(np.quantile(ours, 0.9)),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "by_source": float(np.exp(np.log(ours / theirs).mean())),
        "worst_source": float((ours / theirs).max()),
        "same": same,
    }


def saved(loaded: Loaded, folder: Path) -> None:
    """Write the arrays of a graph for the workers."""
    graph = loaded.graph
    for path in folder.glob("*.npy"):
        path.unlink()
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    for name, array in arrays.items():
        if array is not None:
            np.save(folder / f"{name}.npy", array)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; give 1 where results differ."""
    parser = command(__doc__, graphs=None, data=None, sources=16, seconds=1e9)
    parser.add_argument("--before", type=Path, required=True, help="folder of the other checkout")
    parser.add_argument("--after", type=Path, default=ROOT, help="folder of this one")
    parser.add_argument("--suite", choices=sorted(SUITES), default="quick")
    parser.add_argument("--only", help="graphs, algorithms or algorithm/graph, with commas")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(argv)
    until = time.perf_counter() + given.seconds
    rows: list[dict[str, Any]] = []
    record = {
        **machine.head_of("in-turn", find_device(given.device)),
        "before": machine.commit_of_checkout(given.before),
        "after": machine.commit_of_checkout(given.after),
        "settings": {"sources": given.sources, "rounds": given.rounds, "seed": SEED},
        "cases": rows,
    }
    sides = [Process(checkout.resolve(), given.device) for checkout in (given.before, given.after)]
    try:
        with tempfile.TemporaryDirectory(prefix="clgraph-turns-") as folder:
            for algorithm, name, presets in cases(given.suite, given.only):
                if time.perf_counter() > until:
                    rows.append({"case": f"{algorithm}/{name}", "error": "no time was left"})
                else:
                    rows += _graph(sides, algorithm, name, presets, given, Path(folder), until)
                keep(record, given.output)
    finally:
        for side in sides:
            side.close()
    _print(rows)
    return int(any(row.get("same") is False for row in rows))


def _graph(
    sides: Sequence[Process],
    algorithm: str,
    name: str,
    presets: Sequence[str],
    given: argparse.Namespace,
    folder: Path,
    until: float,
) -> Iterator[dict[str, Any]]:
    """Load a graph on both sides, and compare each preset."""
    try:
        loaded = find(
            name, Places(graphs=given.graphs, data=given.data), weighted=algorithm == "sssp"
        )
    except UnavailableError as error:
        yield {"case": f"{algorithm}/{name}", "error": str(error)}
        return
    graph = loaded.graph
    saved(loaded, folder)
    if failed := _failed(sides, "load", folder=str(folder), directed=graph.directed):
        yield {"case": f"{algorithm}/{name}", **failed}
        return
    rng = np.random.default_rng(SEED)
    edged = np.flatnonzero(graph.degrees)
    count = given.sources if algorithm in SEARCHES else max(given.sources // 4, 1)
    for preset in presets:
        if time.perf_counter() > until:
            yield {"case": f"{algorithm}/{name}/{preset}", "error": "no time was left"}
            continue
        some = count if preset == "auto" else max(count // 4, 1)
        sources = rng.choice(edged, some).tolist() if algorithm in SEARCHES else [0] * some
        found = compared(sides[0], sides[1], algorithm, preset, sources, given.rounds)
        yield {"case": f"{algorithm}/{name}/{preset}", **found}


def _print(rows: Sequence[dict[str, Any]]) -> None:
    head = (
        *("case", "before ms", "p90", "after ms", "p90", "ratio", "range"),
        *("source by source", "worst", "made again", "results"),
    )
    lines = [
        (row["case"], *[""] * (len(head) - 2), row["error"])
        if "error" in row
        else (
            row["case"],
            f"{row['before_ms']:.4g}",
            f"{row['before_p90_ms']:.4g}",
            f"{row['after_ms']:.4g}",
            f"{row['after_p90_ms']:.4g}",
            f"{row['ratio']:.3f}",
            f"{row['least']:.3f} to {row['most']:.3f}",
            f"{row['by_source']:.3f}",
            f"{row['worst_source']:.2f}",
            " ".join(f"{share:.0%}" for share in row["again"]) if any(row["again"]) else "",
            "the same" if row["same"] else "DIFFER",
        )
        for row in rows
    ]
    print(table(head, lines))


if __name__ == "__main__":
    sys.exit(main())
