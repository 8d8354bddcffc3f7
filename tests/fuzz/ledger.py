"""What was tried, kept so that runs of several days add up.

``python -m pytest tests/fuzz --ledger bench/results/pocl-reliability.json`` adds what it tried;
``python tests/fuzz/ledger.py`` prints the sums. What is the same input again counts once: of runs
with the same seed only the longest, of plans and runs in one process the longest one. What no seed
decides, moments at which signals come, is added up.
"""

import datetime as dt
import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "bench/results/pocl-reliability.json"
# Each of one machine.
LEDGERS = (LEDGER, *sorted((ROOT / "bench/results").glob("h*00-reliability.json")))
MOMENTS = "test_interruptions_at_random_moments"
IDLE = 0.5  # of a core, in the minute before a run
# Of a test: what it is called, which figure is what it tried, and how the figures of two runs of
# the same case are put together.
BY_SEED, BY_PART, ADDED, LONGEST = "by seed", "by part", "added", "longest"
INJECTED = "interruptions", BY_PART
COUNTED = {
    "test_mutated_files": ("Mutated files, of each format", "inputs", BY_SEED),
    "test_mutated_files_that_are_no_graphs": (
        "Mutated traces, labels, updates, likenesses and weights, of each kind",
        "inputs",
        BY_SEED,
    ),
    MOMENTS: ("Signals at random moments, of each algorithm", "interruptions", ADDED),
    "test_plans_leave_nothing": ("Plans in one process, of each algorithm", "plans", LONGEST),
    "test_runs_leave_nothing": ("Runs of one plan, of each algorithm", "runs", LONGEST),
    "test_a_run_that_is_interrupted": ("Places of runs, by injection", *INJECTED),
    "test_making_a_plan_that_is_interrupted": ("Places of making plans", *INJECTED),
    "test_a_first_run_that_is_interrupted": ("Places of first runs alone", *INJECTED),
    "test_building_programs_that_is_interrupted": ("Places of building programs", *INJECTED),
    "test_reading_that_is_interrupted": ("Places of copying back", *INJECTED),
    "test_reading": ("Places of reading files", *INJECTED),
    "test_reading_by_pyarrow": ("Places of reading files by pyarrow", *INJECTED),
    "test_reading_a_pipe": ("Places of reading a pipe", *INJECTED),
    "test_writing_over_another": ("Places of writing files", *INJECTED),
    "test_keeping_a_program": ("Places of keeping what was built on disk", *INJECTED),
    "test_generating": ("Places of generating graphs", *INJECTED),
    "test_each_allocation_fails_once": ("Allocations that fail once", "allocations", LONGEST),
    "test_two_oracles_agree_with_it": ("Calls compared with two oracles", "calls", BY_SEED),
}


def load(path):
    """Give the runs that a ledger has; none if there is no such file yet."""
    return json.loads(path.read_text("utf-8"))["runs"] if path.exists() else []


def known():
    """Give the runs of all machines."""
    return [run for path in LEDGERS for run in load(path)]


def add(path, run):
    """Write a ledger with one run more, whole or not at all."""
    runs = [*load(path), run]
    head = {
        "kind": "reliability",
        "commit": run["commit"].rstrip("+"),
        "dirty": any(one["commit"].endswith("+") for one in runs),
    }
    lines = ",\n".join(map(json.dumps, runs))
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(f'{json.dumps(head)[:-1]}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    part.replace(path)


def beginning():
    """Give when a run begins, and how loaded the machine was in the minute before."""
    began = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"began": began, "load": round(os.getloadavg()[0], 2)}


def entry(began, efforts, reports):
    """Describe a run of the tests: where, what was asked, and what each test counted and found."""
    tried = defaultdict(dict)
    for test, case, outcome, figures in reports:
        tried[test][case] = {**figures, **({} if outcome == "passed" else {"outcome": outcome})}
    return {
        **began,
        "commit": commit(),
        "python": platform.python_version(),
        "processor": platform.machine(),
        "processors": os.cpu_count(),
        "optimised": os.environ.get("CLGRAPH_NO_OPTIMISING", "0") in {"", "0"},
        "asked": efforts,
        "tried": tried,
    }


def commit():
    """Name the commit, with a plus where files that git knows were changed since."""
    git = ["git", "-C", str(ROOT)]
    told = subprocess.run(
        [*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False
    )
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False)
    return told.stdout.strip() + ("+" if changed.returncode else "")


def sums(runs):
    """Give what each test tried in all.

    Returns
    -------
    dict
        From names of tests to ``{"cases", "least", "most", "sum", "failures"}``, the second and
        third of a case.
    """
    found = {}
    for test, (_, figure, how) in COUNTED.items():
        counts = defaultdict(lambda: defaultdict(int))
        failures = 0
        for run in runs:
            for case, figures in run["tried"].get(test, {}).items():
                failures += "outcome" in figures
                seen = counts[case]
                share = share_of(run["asked"], how)
                count = figures.get(figure, 0)
                seen[share] = seen[share] + count if how == ADDED else max(seen[share], count)
        each = [int(in_all(shares)) for shares in counts.values()]
        if each:
            found[test] = {
                "cases": len(each),
                "least": min(each),
                "most": max(each),
                "sum": sum(each),
                "failures": failures,
            }
    return found


def share_of(asked, how):
    """Give what adds up with others, and which of them it is."""
    if how == BY_PART:
        part, _, parts = asked.get("part", "1/1").partition("/")
        return (asked.get("graph"), parts), part
    return None, asked["seed"] if how == BY_SEED else None


def in_all(shares):
    """Add up what belongs together; of several ways to divide the same, take the one with more."""
    sums = defaultdict(int)
    for (together, _), count in shares.items():
        sums[together] += count
    return max(sums.values())


def answers(runs, most_load=float("inf")):
    """Give how many signals were answered, how many within 5 ms, and the slowest answer in ms.

    Of runs that began with no more load than that; early ones did not note theirs.
    """
    figures = [
        figures
        for run in runs
        if run.get("load", float("inf")) <= most_load
        for figures in run["tried"].get(MOMENTS, {}).values()
        if figures.get("interruptions")
    ]
    return {
        "count": int(sum(one["interruptions"] for one in figures)),
        "below_5_ms": int(sum(one["below_5_ms"] for one in figures)),
        "worst_ms": max((one["worst_ms"] for one in figures), default=0.0),
    }


def table(runs):
    """Give the lines of the table that docs/reliability.md shows."""
    lines = ["| Tried | Cases | Of each | In all | Failures |", "|---|---|---|---|---|"]
    for test, one in sums(runs).items():
        title = COUNTED[test][0]
        few, many = f"{one['least']:,}", f"{one['most']:,}"
        each = few if few == many else f"{few} to {many}"
        lines.append(f"| {title} | {one['cases']} | {each} | {one['sum']:,} | {one['failures']} |")
    for found, where in ((answers(runs), ""), (answers(runs, IDLE), " on an idle machine")):
        if found["count"]:
            lines += [
                "",
                f"Of {found['count']:,} signals{where} {found['below_5_ms']:,} were answered "
                f"within 5 ms, the slowest after {found['worst_ms']:.0f} ms.",
            ]
    return lines


if __name__ == "__main__":
    kept = load(Path(sys.argv[1])) if len(sys.argv) > 1 else known()
    sys.stdout.write("\n".join([*table(kept), ""]))
