"""Options of the tests that try many inputs, interruptions and plans: few by default."""

import gc
import importlib
import itertools
import sys
import time
from functools import partial
from pathlib import Path

import algorithms_list
import numpy as np
import pytest
import runtimes
from interruption import places, shared, some

from clgraph.device import Device

sys.path.insert(0, str(Path(__file__).resolve().parent))
ledger = importlib.import_module("ledger")

# name: default, what it is
EFFORTS = {
    "inputs": (40, "mutated inputs of each file format"),
    "interruptions": (2, "places at which each call of each algorithm is interrupted; 0 is all"),
    "moments": (3, "interruptions of each algorithm at random moments"),
    "graphs": (2, "hostile graphs that several libraries are compared on"),
    "plans": (4, "plans of each algorithm that are made and dropped"),
    "runs": (20, "runs of one plan of each algorithm"),
    "seed": (1, "where random choices begin"),
}

BEGAN = pytest.StashKey()
LEFT = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clgraph: how much is tried")
    for name, (default, what) in EFFORTS.items():
        group.addoption(f"--{name}", type=int, default=default, help=f"{what} (default {default})")
    group.addoption(
        "--graph",
        choices=sorted(algorithms_list.GRAPHS),
        default="usual",
        help="what plans of algorithms get",
    )
    group.addoption(
        "--part",
        default="1/1",
        metavar="K/N",
        help="of the places at which a call is interrupted the K-th of N parts",
    )
    group.addoption("--on", default="pocl", metavar="DEVICE", help="what plans run on (pocl)")
    group.addoption("--ledger", type=Path, metavar="FILE", help="add what was tried to this record")
    group.addoption(
        "--until",
        type=float,
        metavar="TIME",
        help="seconds since 1970: each test tries fewer, and counts what it tried, to end by then",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGAN] = ledger.beginning()
    algorithms_list.using = config.getoption("--graph", default="usual")


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[LEFT] = [item.nodeid for item in session.items]


@pytest.fixture
def ends(request: pytest.FixtureRequest) -> float:
    """When this test is to end: an equal share of what is left until ``--until``; else never."""
    until = request.config.getoption("--until", default=None)
    if until is None:
        return float("inf")
    left = request.config.stash[LEFT]
    now = time.time()
    return now + max(until - now, 0) / (len(left) - left.index(request.node.nodeid))


@pytest.fixture
def turns(ends):
    """Count up to a number, or for as long as there is time."""

    def count(most):
        return itertools.takewhile(lambda _: time.time() < ends, range(most))

    return count


@pytest.fixture
def chosen(effort, ends, request):
    """Choose the places of a call that are tried while there is time, and count them."""
    rng = np.random.default_rng(effort("seed"))
    part = request.config.getoption("--part", default="1/1")
    figures = request.node.user_properties

    def choose(call, *ready, opcodes=False, beyond=frozenset(), deaf=False):
        """Give places of a call with what each of `ready` makes, but none at the sites `beyond`.

        A call that only reads an attribute may be `deaf`: it answers no signal.
        """
        for _ in range(2):
            call(*[make() for make in ready])  # what is done once a process, or at a second time
        given = [make() for make in ready]
        found = places(partial(call, *given), opcodes=opcodes)
        assert found or deaf
        found = [place for place in found if place[0] not in beyond]
        del given
        found = shared(found, [int(number) for number in part.split("/")])
        there = len(found)
        found = some(found, effort("interruptions"), rng)
        gc.collect()
        gc.freeze()  # what is there already, so that collections cost next to nothing
        at = len(figures)
        for tried, place in enumerate(found):
            figures[at:] = [("interruptions", tried), ("places", there)]
            if time.time() > ends:
                return
            yield place
        figures[at:] = [("interruptions", len(found)), ("places", there)]

    yield choose
    gc.unfreeze()


@pytest.fixture(
    params=[
        pytest.param(False, id="lines"),
        pytest.param(True, id="opcodes", marks=pytest.mark.slow),
    ]
)
def opcodes(request):
    return request.param


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Device:
    """What plans run on, where a property depends neither on lanes nor on the kind of device."""
    return runtimes.device_or_skip(request.config.getoption("--on", default="pocl"))


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest):
    """Give how much of something to try; options are known only where this folder is named."""
    return lambda name: request.config.getoption(f"--{name}", default=EFFORTS[name][0])


def counted(reporter: pytest.TerminalReporter):
    """Give what each test counted: its name, its case, how it ended, and the figures."""
    for report in reporter.getreports("passed") + reporter.getreports("failed"):
        if report.when == "call" and report.user_properties and "tests/fuzz" in report.nodeid:
            test, _, case = report.nodeid.partition("::")[2].partition("[")
            yield test, case.rstrip("]"), report.outcome, dict(report.user_properties)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each test counted, and add it to the ledger."""
    rows = list(counted(terminalreporter))
    if not rows:
        return
    terminalreporter.section("what was tried")
    for test, case, _, properties in rows:
        figures = ", ".join(f"{key} {value:.4g}" for key, value in properties.items())
        terminalreporter.write_line(f"{test}[{case}]: {figures}")
    config = terminalreporter.config
    file = config.getoption("--ledger", default=None)
    if file is not None:
        efforts = {name: config.getoption(f"--{name}") for name in EFFORTS}
        efforts |= {name: config.getoption(f"--{name}") for name in ("on", "graph", "part")}
        ledger.add(file, ledger.entry(config.stash[BEGAN], efforts, rows))
