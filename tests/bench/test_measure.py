"""The part of the runner that knows no algorithm, on a problem that is made up."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from bench.peers.peer import Peer
from bench.report import text
from bench.runner import machine, problem, runner, suites
from bench.runner.measure import Settings
from bench.runner.problem import Least, Problem, refuse_differences
from bench.runner.suites import Case
from clgraph.errors import InvalidArgumentError, VerificationError


class Sorting(Problem):
    """Sorts degrees; times are drawn, so that what is done with them is known."""

    kind = "sorting"
    presets = ("steady", "shaky", "broken", "wrong", "dies")
    weighted = True
    from_sources = False
    result = "order"
    order_of_runs: ClassVar[list[str]] = []
    noise: ClassVar[dict[str, float]] = {"steady": 0.0, "shaky": 0.4}

    def __init__(self, loaded, device, config):
        super().__init__(loaded, device, config)
        if config == "broken":
            raise MemoryError("no room")
        self.name = config
        self.rng = np.random.default_rng(len(config))
        self.plan = SimpleNamespace(
            config=SimpleNamespace(as_dict=lambda: {"name": config}), source_hash="f00"
        )

    def run(self, given):
        self.order_of_runs.append(self.name)
        if self.name == "dies" and self.order_of_runs.count("dies") > 12:
            raise OSError("the card fell off")
        ms = 2.0 + given + self.noise.get(self.name, 0.0) * self.rng.uniform(-1, 1)
        stats = SimpleNamespace(kernel_ms=ms, total_ms=ms + 0.5)
        return SimpleNamespace(stats=stats, order=np.sort(self.graph.degrees))

    def count(self, result, given):
        del given
        return {"edges": 1000 * len(result.order), "rounds": 3, "relaxations": 2500.0}

    def check(self, givens):
        wrong = self.run(0).order + (self.name == "wrong")
        refuse_differences(wrong, np.sort(self.graph.degrees), what="places", against="numpy")
        return {"against": "numpy", "sources": list(givens)}

    def least(self, columns):
        return Least(bytes=8e6 + 0 * columns["edges"], barriers=columns["rounds"])


class Numpy(Peer):
    package = "numpy"

    def __init__(self, graph):
        super().__init__(graph)
        self.degrees = graph.degrees

    def run(self, given):
        del given
        return np.sort(self.degrees)

    def values(self, answer, given):
        del given
        return answer


class Backwards(Numpy):
    def run(self, given):
        del given
        return np.sort(self.degrees)[::-1]


class Huge(Numpy):
    limit_edges = 10


class Absent(Numpy):
    package = "no-such-distribution"


Sorting.peers = {"numpy": Numpy, "backwards": Backwards, "huge": Huge, "absent": Absent}


@pytest.fixture(autouse=True)
def sorting(monkeypatch):
    monkeypatch.setitem(sys.modules, "bench.problems.sorting", SimpleNamespace(PROBLEM=Sorting))
    case = Case("sorting", "grid500", shows="nothing", presets=("steady", "shaky"))
    monkeypatch.setitem(suites.SUITES, "made-up", (case,))
    monkeypatch.setattr(machine, "COPY_BYTES", 1 << 16)
    monkeypatch.setattr(Sorting, "order_of_runs", [])


def cases(pocl, **settings):
    settings = Settings(**({"sources": 4, "passes": 30, "budget_s": 60.0} | settings))
    found = runner.run("made-up", settings, device=pocl)
    return {case["preset"]: case for case in found["cases"]}


def test_any_problem_is_measured_and_its_figures_shown(pocl):
    steady = cases(pocl)["steady"]
    assert steady["key"] == "sorting/grid500/steady"
    assert steady["config"] == {"name": "steady"}
    assert steady["graph"]["weights"] == "drawn, 1 to 100"
    assert steady["searches"]["source"] == [0, 1, 2, 3]
    assert steady["searches"]["kernel_ms"] == [2.0, 3.0, 4.0, 5.0]
    assert steady["searches"]["rounds"] == [3, 3, 3, 3]
    assert steady["summary"]["relaxations_per_edge"]["median"] == pytest.approx(1e-5)
    assert steady["floor"]["bytes"] == 8e6
    assert steady["verified"]["against"] == "numpy"
    record = runner.run("made-up", Settings(sources=2, passes=1), device=pocl)
    assert "sorting\n" in text.render(record)
    assert "rounds" in text.render(record)


def test_a_record_without_checks_claims_none(pocl, monkeypatch):
    monkeypatch.setattr(Sorting, "check", None)  # nor is anything worked out for one
    steady = cases(pocl, validate=0, passes=1)["steady"]
    assert steady["status"] == "ok"
    assert steady["verified"] is None


def test_passes_end_when_the_interval_is_narrow_and_not_before(pocl):
    found = cases(pocl, narrow=0.02)
    assert (found["steady"]["passes"], found["steady"]["passes_ended"]) == (3, "narrow")
    shaky = found["shaky"]
    assert shaky["passes"] > 3
    assert shaky["passes_ended"] in {"narrow", "passes"}
    if shaky["passes_ended"] == "narrow":
        assert shaky["passes_width"] < 0.02


def test_passes_end_when_the_budget_is_spent(pocl):
    found = cases(pocl, narrow=0.0, budget_s=0.0)
    assert {case["passes"] for case in found.values()} == {1}
    assert {case["passes_ended"] for case in found.values()} == {"budget"}
    assert cases(pocl, narrow=0.0, passes=2)["steady"]["passes_ended"] == "passes"


def test_presets_take_turns_within_a_pass(pocl):
    cases(pocl, sources=16, passes=3, narrow=0.0)
    timed = Sorting.order_of_runs[-6 * 16 :]
    assert timed.count("steady") == timed.count("shaky") == 3 * 16
    changes = sum(one != other for one, other in zip(timed[1:], timed, strict=False))
    assert changes > 20  # half of 95 on average; one change a pass if they ran one after the other


def test_a_preset_that_fails_is_recorded_and_the_others_go_on(pocl):
    found = cases(pocl, presets=("all",))
    assert {name: case["status"] for name, case in found.items()} == {
        "steady": "ok",
        "shaky": "ok",
        "broken": "failed",
        "wrong": "failed",
        "dies": "failed",
    }
    assert found["broken"]["reason"] == "MemoryError: no room"
    assert "not what numpy gives" in found["wrong"]["reason"]
    assert "the card fell off" in found["dies"]["reason"]
    assert found["broken"]["graph"]["name"] == "grid500"


def test_peers_are_checked_and_those_that_cannot_run_say_why(pocl):
    names = ("numpy", "backwards", "huge", "absent", "boost")
    peers = cases(pocl, peers=names)["steady"]["peers"]
    assert peers["numpy"]["status"] == "ok"
    assert peers["numpy"]["ratio"]["count"] == 4
    assert peers["numpy"]["version"] == np.__version__
    assert peers["backwards"]["reason"].startswith("run 0: ")
    assert peers["backwards"]["reason"].endswith("values differ from ours")
    assert "is given at most 10" in peers["huge"]["reason"]
    assert peers["absent"]["reason"] == "no-such-distribution is not installed"
    assert peers["boost"]["reason"] == "boost is not compared on this problem"


def test_peers_are_measured_beside_the_first_preset_only(pocl):
    found = cases(pocl, peers=("numpy",))
    assert "peers" in found["steady"]
    assert "peers" not in found["shaky"]


def test_a_kind_without_a_problem_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"bench/problems/no_such\.py"):
        problem.problem_of("no-such")
    with pytest.raises(InvalidArgumentError, match=r"bench/problems/stats\.py"):
        problem.problem_of("stats")


def test_differences_are_exact_for_integers_and_up_to_rounding_for_floats():
    assert problem.differences([1, 2, 3], [1, 2, 4]) == 1
    assert problem.differences([1.0, np.inf], [1.0 + 1e-7, np.inf]) == 0
    assert problem.differences([1.0, np.inf], [1.1, 5.0]) == 2
    assert problem.differences([1, 2], [1, 2, 3]) == 3
    with pytest.raises(VerificationError, match="vertex 1: 2 instead of 5"):
        refuse_differences([1, 2], [1, 5], what="labels", against="scipy")
    with pytest.raises(VerificationError, match="instead of"):
        refuse_differences([1, 2], [1], what="labels", against="scipy")
