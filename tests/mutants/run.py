"""Break the code on purpose, one place at a time, and see whether its tests notice.

Each table of a ``*.toml`` file beside this one is a mutant: a text of a file that stands there
once, what to put in its place, and the tests that must fail then. ``make mutants`` runs them all,
on copies of the checkout. A mutant is killed when one of its tests fails, takes far too long, or
brings its process down: each mutant has a process of its own. What killed must pass without it. (In
the suite itself a crash ends one worker of pytest-xdist, is a failure of the test that ran there,
and another worker goes on.)
"""

import argparse
import compileall
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "clgraph",
    "kernels_cl",
    "templates",
    "bench",
    "tests",
    "docs",
    "pyproject.toml",
    "_clgraph_networkx_info.py",
)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "results", "*_cache", ".hypothesis")
LIMIT_S = 600  # of the tests of one mutant, which take seconds
WANTED = 0.95  # of the mutants are killed
KILLED = {"killed", "crashed", "timed out"}
OUTCOMES = {0: "survived", 1: "killed"}  # by the exit status of pytest; others ran no test


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One place that is broken.

    Attributes
    ----------
    name : str
        What is wrong then.
    file : str
        Path in the checkout.
    old, new : str
        A text that stands there once, and what comes in its place.
    tests : list of str
        Files and tests, as pytest takes them.
    survives : str
        Why no test can notice, if none can; else empty.
    """

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    survives: str = ""


def listed() -> list[Mutant]:
    """Give all mutants."""
    found = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        common = tomllib.loads(path.read_text("utf-8"))
        found += [Mutant(**table) for table in common["mutant"]]
    return found


def some(mutants: list[Mutant], most: int, seed: str) -> list[Mutant]:
    """Choose so many of them; with the commit as the seed, each has its turn."""
    return random.Random(seed).sample(mutants, min(most, len(mutants)))  # noqa: S311 (no secret)


def commit() -> str:
    """Give the commit of the checkout; nothing where there is no git or no repository."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """Give the text of the mutant's file with the mutant in it."""
    text = (root / mutant.file).read_text("utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: its text stands {text.count(mutant.old)} times there")
    return text.replace(mutant.old, mutant.new)


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy what tests need, and compile its modules once for all processes.

    Compiled ones are found by the text that they are of: a mutant's is never taken for another's.
    """
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    mode = PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "clgraph", quiet=1, invalidation_mode=mode)
    return folder


def tried(
    mutant: Mutant | None, tests: Collection[str], copy: Path
) -> tuple[str, str, Collection[str]]:
    """Run tests in a copy that a mutant is put into.

    Returns
    -------
    outcome, printed : str
    failed : collection of str
        The cases that failed; all tests where the process ended before it could say which.
    """
    path = copy / mutant.file if mutant else None
    before = path.read_text("utf-8") if path else ""
    names = copy / ".last" / "v" / "cache" / "lastfailed"
    names.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-o", "cache_dir=.last", *tests]
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        if mutant and path:
            path.write_text(mutated(mutant, copy), "utf-8")
        done = subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return "timed out", "", tests
    finally:
        if path:
            path.write_text(before, "utf-8")
    crashed = "crashed" if done.returncode < 0 or done.returncode > 128 else "no test ran"
    outcome = OUTCOMES.get(done.returncode, crashed)
    said = outcome == "killed" and names.exists()
    failed = json.loads(names.read_text("utf-8")) if said else tests
    return outcome, done.stdout + done.stderr, failed


def run(mutants: list[Mutant], jobs: int, seconds: float) -> list[tuple[Mutant, str]]:
    """Try mutants, the first ones first, and begin none after `seconds`.

    Then what killed them is run without any: a test that fails by itself has noticed nothing.
    """
    end = time.monotonic() + seconds
    results = []
    killers: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="clgraph-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(copy_of_the_checkout(Path(folder) / str(number)))

        def one(mutant: Mutant | None, tests: Collection[str]) -> tuple[str, str, Collection[str]]:
            if mutant and time.monotonic() > end:
                return "not tried", "", ()
            copy = copies.get()
            try:
                return tried(mutant, tests, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            outcomes = pool.map(lambda mutant: one(mutant, mutant.tests), mutants)
            for mutant, (outcome, text, failed) in zip(mutants, outcomes, strict=True):
                print(f"{outcome:10} {mutant.name}", flush=True)
                if outcome == "no test ran":
                    print(text[-2000:])
                if outcome in KILLED:
                    killers.update(failed)
                results.append((mutant, outcome))
            tests = sorted(killers)
            parts = [tests[k::jobs] for k in range(min(jobs, len(tests)))]
            for outcome, text, failed in pool.map(lambda part: one(None, part), parts):
                if outcome != "survived":
                    sys.exit(f"without a mutant: {outcome}: {list(failed)}\n{text[-4000:]}")
    return results


def judged(results: list[tuple[Mutant, str]]) -> int:
    """Print the sum and what is wrong with it, and give the exit status."""
    count = Counter(outcome for _, outcome in results)
    tried_ = len(results) - count["not tried"]
    survivors = [mutant for mutant, outcome in results if outcome == "survived"]
    killed = sum(count[name] for name in KILLED)
    wrong = [f"no test ran: {mutant.name}" for mutant, how in results if how == "no test ran"]
    wrong += [f"no test notices: {m.name} ({m.file})" for m in survivors if not m.survives]
    for mutant, outcome in results:
        if mutant.survives and outcome in KILLED:
            wrong.append(f"killed, although it is said to survive: {mutant.name}")
    print("\n" + ", ".join(f"{number} {name}" for name, number in sorted(count.items())))
    for mutant in survivors:
        if mutant.survives:
            print(f"survives: {mutant.name}: {mutant.survives}")
    if tried_ and killed < WANTED * tried_:
        wrong.append(f"{killed} of {tried_} killed, which is less than {WANTED:.0%}")
    print("\n".join(wrong) if wrong else f"{killed} of {tried_} mutants killed")
    return bool(wrong)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("words", nargs="*", help="only mutants whose name or file holds a word")
    parser.add_argument("--jobs", type=int, default=2, help="processes beside each other")
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="begin no mutant later than this; the order is another each time",
    )
    parser.add_argument("--most", type=int, help="only so many, others with each commit")
    options = parser.parse_args()
    mutants = [
        mutant
        for mutant in listed()
        if not options.words or any(word in mutant.name + mutant.file for word in options.words)
    ]
    if options.most is not None:
        mutants = some(mutants, max(options.most, 0), commit())
    if not mutants:
        parser.error("nothing to run: no mutant is so called, or --most is below 1.")
    if options.seconds != float("inf"):
        random.shuffle(mutants)
    return judged(run(mutants, options.jobs, options.seconds))


if __name__ == "__main__":
    sys.exit(main())
