"""Share large runs of these tests among processes, each with cores of its own.

``python tests/fuzz/spread.py --seconds 500 --ledger FILE -- TESTS --runs 100000`` gives each test
that pytest finds a process, one after the other, on as many cores at once as there are, and adds
what they tried to one ledger. What counts within one process, plans and runs, is then counted so.
With ``--parts 8`` the places at which a test interrupts a call are shared among 8 processes.
With ``--seeds 16`` there are 16 processes instead that run all tests with a seed each: such counts
add up. When the time is over, or at Ctrl-C, all end and what they tried is kept.
"""

import argparse
import itertools
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ledger

ROOT = ledger.ROOT
FIRST_SEED = 100
START_S = 5.0  # of a process, before its first test
GRACE_S = 10.0  # after which one that does not end by itself is interrupted
LAST_LINES = 15
# Nothing is captured: what a driver says before it ends the process would be lost.
ALWAYS = ("--run-slow", "--timeout", "0", "-q", "--tb", "short", "-s")


def main(arguments=None):
    asked = parsed(arguments)
    until = time.time() + asked.seconds
    if asked.seeds:
        seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
        jobs = [[*asked.tests, "--seed", str(seed)] for seed in seeds]
    else:
        options = itertools.dropwhile(lambda word: not word.startswith("-"), asked.tests)
        options = list(options)
        names = ordered(collected(asked.tests), asked.first)
        jobs = [[name, *options, *part] for name in names for part in parts(asked.parts)]
    cores = sorted(os.sched_getaffinity(0))
    width = max(len(cores) // asked.processes, 1)
    places = [cores[at * width : (at + 1) * width] for at in range(asked.processes)]
    with tempfile.TemporaryDirectory(prefix="clgraph-fuzz-") as folder:
        spread = Spread(jobs, until, Path(folder))
        try:
            spread.run([place or cores for place in places])
        finally:
            for run in merged(spread.ledgers()):
                ledger.add(asked.ledger, run)
    return spread.failures


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--processes", type=int, default=len(os.sched_getaffinity(0)), help="how many at a time")
    add("--seconds", type=float, default=1e9, help="when to end")
    add("--seeds", type=int, default=0, help="so many processes with all tests instead")
    add("--first-seed", type=int, default=FIRST_SEED, help="of those (default %(default)s)")
    add("--parts", type=int, default=1, help="processes for each test of interruptions")
    add("--first", nargs="*", default=[], metavar="CASE", help="cases that take long")
    add("--ledger", type=Path, required=True, help="the record to add to")
    add("tests", nargs="+", help="tests, then options for pytest")
    return parser.parse_args(arguments)


def collected(tests):
    """Give the names of the tests that pytest would run."""
    command = [sys.executable, "-m", "pytest", *ALWAYS, "--collect-only", *tests]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = [line for line in told.stdout.splitlines() if "::" in line]
    if told.returncode or not names:
        sys.exit(told.stdout + told.stderr)
    return names


def parts(count):
    """Give the options of a test that is divided, which a whole one has none of."""
    return [["--part", f"{at}/{count}"] for at in range(1, count + 1)] if count > 1 else [[]]


def ordered(names, first):
    """Put what takes long at the front, in the order given, so that nobody waits for it."""
    ranks = {case: rank for rank, case in enumerate(first)}
    return sorted(names, key=lambda name: ranks.get(name.partition("[")[2][:-1], len(ranks)))


class Spread:
    """Jobs, and threads that run a process of each."""

    def __init__(self, jobs, until, folder):
        self._jobs = queue.SimpleQueue()
        for number, job in enumerate(jobs):
            self._jobs.put((number, job))
        self._until = until
        self._folder = folder
        self._running = set()
        self._stopped = False
        self.failures = 0

    def run(self, places):
        """Run the jobs, as many at a time as there are places, which are sets of cores."""
        threads = [threading.Thread(target=self._work, args=(place,)) for place in places]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            self._stopped = True
            for process in list(self._running):
                process.send_signal(signal.SIGINT)
            for thread in threads:
                thread.join()
            raise

    def _work(self, cores):
        os.sched_setaffinity(0, cores)  # of this thread, and of the processes it starts
        while not self._stopped and time.time() + START_S < self._until:
            try:
                number, job = self._jobs.get_nowait()
            except queue.Empty:
                return
            self._run_one(number, job, len(cores))

    def _run_one(self, number, job, cores):
        command = [sys.executable, "-m", "pytest", *ALWAYS, *job, "--until", str(self._until)]
        command += ["--ledger", str(self._folder / f"{number}.json")]
        told = self._folder / f"{number}.log"
        begun = time.time()
        with told.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "POCL_MAX_PTHREAD_COUNT": str(cores)},
            )
            self._running.add(process)
            status = self._wait(process)
            self._running.discard(process)
        if status not in {0, 2}:  # 2: interrupted
            self.failures += 1
        words = [word for word in job if "::" in word] or job[-1:]
        lines = told.read_text("utf-8", "replace").splitlines()
        kept = [line for line in lines if line.startswith("test_")]
        kept = kept[-1:] if status in {0, 2} else last_of(lines)
        text = "\n".join(kept) or words[0]
        sys.stdout.write(f"{time.time() - begun:.0f} s, status {status}: {text}\n")
        sys.stdout.flush()

    def _wait(self, process):
        """Wait for a process: one that outlasts its time is interrupted, and killed in the end."""
        for end in (signal.SIGINT, signal.SIGKILL):
            left = max(self._until - time.time(), 0) + GRACE_S
            try:
                return process.wait(min(left, threading.TIMEOUT_MAX))
            except subprocess.TimeoutExpired:
                process.send_signal(end)
        return process.wait()

    def ledgers(self):
        """Give what each process tried, in the order of the jobs."""
        files = sorted(self._folder.glob("*.json"), key=lambda file: int(file.stem))
        return [run for file in files for run in ledger.load(file)]


def last_of(lines):
    """Give the last lines, or those before the stack that Python shows where a process aborts."""
    fatal = (at for at, line in enumerate(lines) if "Fatal Python error" in line)
    return lines[: next(fatal, len(lines)) + 1][-LAST_LINES:]


def merged(runs):
    """Put together what was asked for alike: one entry for each seed."""
    kept = {}
    for run in runs:
        key = tuple(sorted(run["asked"].items()))
        if key not in kept:
            kept[key] = run
            continue
        kept[key]["began"] = min(kept[key]["began"], run["began"])
        for test, cases in run["tried"].items():
            kept[key]["tried"].setdefault(test, {}).update(cases)
    return list(kept.values())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
