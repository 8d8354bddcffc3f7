"""What the profiler says against what is measured: counters, overhead, cases, and predictions.

``python -m bench.studies.profiling.profiles --device nvidia --output record.json --seconds 180``
first checks counters against known patterns and times the calibration, then profiles every preset
of BFS on three graphs and other plans on six until the seconds are spent, then the case studies,
and fits prices and weights, each judged by what was left out. ``--parts presets cases`` does these
alone.
`bench.studies.profiling.profile_stages` is about results, and about instrumented kernels that do
not end.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import device as find_device
from clgraph.profile.characterise import (
    COMPONENTS,
    QUICK,
    ceilings_of,
    characterise,
    costs_of,
    functions_of,
)
from clgraph.profile.pricing import Timed, fitted, left_out_errors
from clgraph.profile.quality import Specimen, calibrated

from ...runner import graphs as suite_graphs
from ...runner import machine
from ..command import command, keep
from . import cases, patterns
from .fitting import ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from clgraph import Device, Graph
    from clgraph.profile.report import QualityReport

__all__ = ["cases_table", "criteria_table", "main", "summary"]

GRAPHS = ("kron16", "unif17", "road500", "rgg16", "grid500", "rmat14")
PRESETS_ON = 3  # of the graphs, the first ones
REPEATS = 5  # of each version of a case
PARTS = ("patterns", "calibration", "presets", "plans", "cases", "card")
SWEEPS = ("divergence", "coalescence", "ilp", "bank_conflict")
TOLERANCE = 1e-9


def presets_on(graph: Graph, device: Device) -> Iterator[tuple[str, str, Any]]:
    """Give every preset of BFS."""
    for preset in clgraph.BFSConfig.PRESETS:
        yield "bfs", preset, lambda preset=preset: clgraph.BFS(graph, config=preset, device=device)


def runs_on(graph: Graph, weighted: Graph, device: Device) -> Iterator[tuple[str, str, Any]]:
    """Give other plans by primitive and implementation; built when they are asked for."""
    yield "components", "auto", lambda: clgraph.ConnectedComponents(graph, device=device)
    yield "triangles", "auto", lambda: clgraph.Triangles(graph, device=device, clean=True)
    for preset in ("near-far", "h-bf"):
        yield (
            "sssp",
            preset,
            lambda preset=preset: clgraph.SSSP(weighted, config=preset, device=device),
        )
    yield "scc", "multistep", lambda: clgraph.SCC(graph, config="multistep", device=device)


def checked_patterns(device: Device) -> list[dict[str, Any]]:
    """Compare counters with what is known of the patterns."""
    rows = []
    for pattern in patterns.PATTERNS:
        found = patterns.judged(patterns.counted(pattern, device))
        right = all(
            abs((found[name] or 0.0) - value) < TOLERANCE
            for name, value in pattern.expected.items()
        )
        if not pattern.expected:
            right = abs((found["TDiv"] or 0.0) - 0.5) < 0.1
        rows.append({"pattern": pattern.name, "right": right, "found": found})
    return rows


def profiled(
    runs: Iterator[tuple[str, str, Any]], where: str, device: Device, left: Callable[[], float]
) -> Iterator[tuple[str, str, QualityReport]]:
    """Profile plans while there is time."""
    for primitive, implementation, make in runs:
        if left() <= 0:
            return
        step(f"{where} {primitive} {implementation}")
        try:
            report = clgraph.profile(
                make(), passes=("time", "sync", "counters"), device=device, repeats=3
            )
        # A study of many kernels goes on without one of them.
        except Exception as error:
            print(f"{where}/{primitive}/{implementation}: {error!r}"[:600])
            continue
        yield primitive, implementation, report


def calibration(device: Device) -> dict[str, Any]:
    """Measure ceilings, costs and functions anew, and say how long it took."""
    began = time.perf_counter()
    words = tuple(dict.fromkeys([*QUICK, *COMPONENTS.values(), *SWEEPS]))
    record = characterise(device, words, again=True)
    ceilings = ceilings_of(record)
    return {
        "seconds": time.perf_counter() - began,
        "ceilings": None if ceilings is None else ceilings.record(),
        "costs_s": costs_of(record),
        "functions": {
            name: [list(sample) for sample in function.samples]
            for name, function in functions_of(record).items()
        },
    }


def step(what: str) -> None:
    """Say what begins, at once: what comes last is what did not end."""
    print(f"{time.perf_counter():10.1f} {what}", flush=True)


def median_error(errors: Sequence[float | None]) -> float | None:
    """Give the median of absolute errors, None where there are none."""
    known = [abs(error) for error in errors if error is not None]
    return statistics.median(known) if known else None


def summary(record: dict[str, Any]) -> str:
    """Show what was found in a few lines."""
    wrong = [row["pattern"] for row in record["patterns"] if not row["right"]]
    lines = [
        f"patterns: {len(record['patterns']) - len(wrong)} of {len(record['patterns'])} exact"
        + (f"; wrong: {', '.join(wrong)}" if wrong else ""),
        *(
            [f"calibration: {record['calibration']['seconds']:.1f} s"]
            if record["calibration"]
            else []
        ),
        "",
    ]
    for rows in record["cases"].values():
        lines += [cases.shown(rows), ""]
    for judged in record["ranked"]:
        lines += [
            f"{judged['name']}: Spearman of QM and speed, published weights "
            f"{_shown(judged['published'])}, fitted to the others {_shown(judged['left_out'])}",
            *(
                f"  {row['implementation']:28} {row['time_s'] * 1e3:9.4f} ms  "
                f"QM {row['quality']:.3f}"
                for row in judged["rows"]
            ),
        ]
    rows, fit = record["kernels"], record["fit"]
    if rows and fit:
        overheads = [row["overhead_time"] for row in record["runs"]]
        lines += [
            f"{len({row['kernel'] for row in rows})} kernels x "
            f"{len({row['graph'] for row in rows})} graphs, {len(rows)} rows; overhead of TIME "
            f"median {statistics.median(overheads):.1%}, largest {max(overheads):.1%}",
            *(
                f"median error of the time, {name}: {_percent(median_error(fit[name]))}"
                for name in ("plain", "left_out")
            ),
            f"prices: { {name: round(price, 3) for name, price in fit['prices'].items()} }",
        ]
    if record["weights"] is not None:
        weights = record["weights"]
        lines.append(
            f"weights: error {weights['error']:.3f}, left out {weights['left_out_error']:.3f}"
        )
    lines.append(f"card: {record['card']}; seconds {record['seconds']:.0f}")
    return "\n".join(lines)


def criteria_table(record: dict[str, Any]) -> list[str]:
    """Give every preset of BFS by criterion and QM beside its time, as lines of a page.

    Only kernels count for the time; runs whose counters failed have dashes.
    """
    rows = [row for row in record["runs"] if row["run"].startswith("bfs/")]
    names = list(rows[0]["criteria"])
    lines = [f"| graph | preset | us | QM | {' | '.join(names)} |", "|---" * (len(names) + 4) + "|"]
    for row in rows:
        values = [_shown(row["criteria"][name]) for name in names]
        start = (row["graph"], row["run"].partition("/")[2], f"{row['time_s'] * 1e6:,.1f}")
        lines.append(f"| {' | '.join([*start, _shown(row['quality']), *values])} |")
    return lines


def cases_table(record: dict[str, Any]) -> list[str]:
    """Give every version of the case studies, measured and foretold, as lines of a page."""
    lines = [
        "| case | version | us | speed-up | foretold from the ceilings | left to gain | QM |",
        "|---" * 7 + "|",
    ]
    for name, rows in record["cases"].items():
        for row in rows:
            foretold = _ratio(rows[0]["foretold_s"], row["foretold_s"])
            cells = (
                name,
                row["change"],
                f"{row['time_s'] * 1e6:,.1f}",
                f"{row['speedup']:.2f}",
                _shown(foretold),
                _shown(row["potential_speedup"]),
                _shown(row["quality"]),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _ratio(first: float | None, now: float | None) -> float | None:
    return first / now if first and now else None


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, scale=26, seconds=180.0, commit=None)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="NAME")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    args = parser.parse_args(argv)
    began = time.perf_counter()
    device = find_device(args.device)

    def left() -> float:
        return float(args.seconds - (time.perf_counter() - began))

    study = _Study(device, args.output, left)
    study.record["machine"] = machine.describe(device, args.commit)
    if "patterns" in args.parts:
        step("patterns")
        study.record["patterns"] = checked_patterns(device)
    if "calibration" in args.parts:
        step("calibration")
        study.record["calibration"] = calibration(device)
    if "presets" in args.parts:
        study.presets(args.graphs[:PRESETS_ON])
    if "plans" in args.parts:
        study.plans(args.graphs)
    if "cases" in args.parts:
        study.cases(args.scale)
    if "card" in args.parts:
        study.card(args.graphs[0])
    study.fits()
    study.record["seconds"] = time.perf_counter() - began
    study.save()
    print(summary(study.record))
    return 0


class _Study:
    """The record as it grows; what there is no time for is left out."""

    def __init__(self, device: Device, output: Path | None, left: Callable[[], float]) -> None:
        self.record: dict[str, Any] = {"kernels": [], "runs": [], "cases": {}, "ranked": []}
        self.record |= {"card": None, "fit": None, "weights": None}
        self.record |= {"patterns": [], "calibration": None}
        self._device, self._output, self._left = device, output, left
        self._corpus: list[Specimen] = []

    def presets(self, names: Sequence[str]) -> None:
        """Profile every preset of BFS."""
        for name in names:
            self._runs(name, presets_on(suite_graphs.find(name).graph, self._device))

    def plans(self, names: Sequence[str]) -> None:
        """Profile other plans."""
        for name in names:
            if self._left() > 0:
                weighted = suite_graphs.find(name, weighted=True).graph
                graph = suite_graphs.find(name).graph
                self._runs(name, runs_on(graph, weighted, self._device))

    def _runs(self, name: str, runs: Iterator[tuple[str, str, Any]]) -> None:
        for primitive, implementation, report in profiled(runs, name, self._device, self._left):
            _keep(self.record, name, f"{primitive}/{implementation}", report)
            values = {key: criterion.value for key, criterion in report.criteria.items()}
            self._corpus.append(
                Specimen(f"{primitive} {name}", implementation, values, report.elapsed_s)
            )
        self.save()

    def cases(self, scale: int) -> None:
        """Run the case studies."""
        for name in cases.STUDIES:
            if self._left() <= 0:
                return
            step(f"case {name}")
            try:
                rows = cases.studied(name, self._device, scale, repeats=REPEATS)
                self.record["cases"][name] = [_without_report(row) for row in rows]
            except Exception as error:
                print(f"{name}: {error!r}"[:400])
            self.save()

    def card(self, name: str) -> None:
        """Ask the card about a search."""
        if self._left() <= 0:
            return
        step("card")
        plan = clgraph.BFS(suite_graphs.find(name).graph, device=self._device)
        card = clgraph.profile(plan, device=self._device, passes=("card",), repeats=1).card
        self.record["card"] = None if card is None else card.record()

    def fits(self) -> None:
        """Fit prices and weights to what was found."""
        if self.record["kernels"]:
            self.record["fit"] = _fit(self.record["kernels"])
        if len({specimen.primitive for specimen in self._corpus}) < len(self._corpus):
            self.record["weights"] = calibrated(self._corpus, device=self._device.name).record()
            self.record["ranked"] = ranked(self._corpus)

    def save(self) -> None:
        """Write what there is."""
        keep(self.record, self._output)


def _fit(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Fit prices, and judge each plan by those of the others."""
    timed = [Timed(row["run"], row["parts_s"], row["measured_s"]) for row in rows]
    return {
        "prices": dict(fitted(timed).values),
        "plain": [row["predicted_s"] / row["measured_s"] - 1.0 for row in rows],
        "left_out": left_out_errors(timed).tolist(),
    }


def _without_report(row: dict[str, Any]) -> dict[str, Any]:
    """Give a row of a case with criteria in place of its report."""
    criteria = row["report"]["criteria"]
    kept = {name: value for name, value in row.items() if name != "report"}
    return kept | {"criteria": {name: each["value"] for name, each in criteria.items()}}


def _keep(record: dict[str, Any], graph: str, run: str, report: QualityReport) -> None:
    record["runs"].append(
        {
            "graph": graph,
            "run": run,
            "time_s": report.time_s,
            "elapsed_s": report.elapsed_s,
            "quality": report.quality,
            "criteria": {name: criterion.value for name, criterion in report.criteria.items()},
            "limiter": report.limiter,
            "reasons": list(report.reasons),
            "overhead_time": report.overhead.get("time", 0.0),
        }
    )
    for kernel in report.kernels:
        prediction = kernel.prediction
        if prediction.time_s is None or not prediction.measured_s:
            continue
        record["kernels"].append(
            {
                "graph": graph,
                "kernel": f"{run} {kernel.name}",
                "launches": kernel.launches,
                "measured_s": prediction.measured_s,
                "predicted_s": prediction.time_s,
                "run": run,
                "parts_s": dict(prediction.parts),
                "bounds_s": dict(prediction.bounds),
                "limiter": prediction.limiter,
                "criteria": {name: each.value for name, each in kernel.criteria.items()},
                "registers": kernel.static.registers,
            }
        )


if __name__ == "__main__":
    raise SystemExit(main())
