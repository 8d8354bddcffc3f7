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
# Which figure of a test is what it tried, and how two of the same test and case are put together.
BY_SEED, ADDED, LONGEST = "by seed", "added", "longest"
COUNTED = {
    "test_mutated_files": ("inputs", BY_SEED),
    "test_interruptions_at_random_moments": ("interruptions", ADDED),
    "test_plans_leave_nothing": ("plans", LONGEST),
    "test_runs_leave_nothing": ("runs", LONGEST),
    "test_each_allocation_fails_once": ("allocations", LONGEST),
    "test_two_oracles_agree_with_it": ("calls", BY_SEED),
}


def load(path):
    """Give the runs that a ledger has; none if there is no such file yet."""
    return json.loads(path.read_text("utf-8"))["runs"] if path.exists() else []


def add(path, run):
    """Write a ledger with one run more, whole or not at all."""
    lines = ",\n".join(json.dumps(one) for one in [*load(path), run])
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(f'{{"kind": "reliability", "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    part.replace(path)


def entry(began, efforts, reports):
    """Describe a run of the tests: where, what was asked, and what each test counted and found."""
    tried = defaultdict(dict)
    for test, case, outcome, figures in reports:
        tried[test][case] = {**figures, **({} if outcome == "passed" else {"outcome": outcome})}
    return {
        "began": began.strftime("%Y-%m-%dT%H:%M:%SZ"),
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
    named = subprocess.run(
        [*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True
    )
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False)
    return named.stdout.strip() + ("+" if changed.returncode else "")


def now():
    return dt.datetime.now(dt.UTC)


def sums(runs):
    """Give what each test tried in all: cases, sum, fewest and failures.

    Returns
    -------
    dict
        From names of tests to ``{"cases", "sum", "least", "failures"}``.
    """
    found = {}
    for test, (figure, how) in COUNTED.items():
        counts = defaultdict(lambda: defaultdict(int))
        failures = 0
        for run in runs:
            for case, figures in run["tried"].get(test, {}).items():
                failures += "outcome" in figures
                seen = counts[case]
                seed = run["asked"]["seed"] if how == BY_SEED else None
                count = figures.get(figure, 0)
                seen[seed] = seen[seed] + count if how == ADDED else max(seen[seed], count)
        each = [int(sum(of_seeds.values())) for of_seeds in counts.values()]
        if each:
            found[test] = {
                "cases": len(each),
                "sum": sum(each),
                "least": min(each),
                "failures": failures,
            }
    return found


def answers(runs):
    """Give the answers to signals in all: how many, the share below 5 ms, and the slowest."""
    figures = [
        figures
        for run in runs
        for figures in run["tried"].get("test_interruptions_at_random_moments", {}).values()
        if figures.get("interruptions")
    ]
    count = sum(one["interruptions"] for one in figures)
    return {
        "count": int(count),
        "share_below_5_ms": sum(one["below_5_ms"] for one in figures) / max(count, 1),
        "worst_ms": max((one["worst_ms"] for one in figures), default=0.0),
    }


if __name__ == "__main__":
    kept = load(Path(sys.argv[1]) if len(sys.argv) > 1 else LEDGER)
    lines = [f"{name}: {total}" for name, total in sums(kept).items()]
    sys.stdout.write("\n".join([*lines, f"answers to signals: {answers(kept)}", ""]))
