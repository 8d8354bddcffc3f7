"""Which of a processor's cores take part in a plan's runs, by clocks that are made up."""

from types import SimpleNamespace

import numpy as np
import pytest
from paths import check_paths, weighted

import clgraph as cg
from clgraph.engine.driver import Driver
from clgraph.engine.outcome import OVERFLOWED, Outcome
from clgraph.engine.strategies.cores import (
    FEWEST_EDGES,
    LONGEST_MS,
    MOST_SELDOM,
    SELDOM,
    TURNS,
    Cores,
)

ALL = 4


def seen(cores, count, milliseconds, edges=FEWEST_EDGES, mode="persistent"):
    """Groups of so many runs, each of which takes `milliseconds` by its groups and number."""
    groups = []
    for number in range(count):
        groups.append(cores.groups)
        took = milliseconds(cores.groups, number)
        cores.saw(SimpleNamespace(explored=edges, mode=mode, kernel_ms=took))
    return groups


@pytest.mark.parametrize(("alone", "chosen"), [(2.0, 1), (3.9, ALL), (6.0, ALL)])
def test_the_faster_way_is_kept(alone, chosen):
    """After one run that is not counted, either way in turn."""
    cores = Cores(ALL)
    first = 1 + 2 * TURNS
    groups = seen(cores, first + SELDOM, lambda groups, _: alone if groups == 1 else 4.0)
    assert groups[:first] == [ALL] + [ALL, 1] * TURNS
    assert set(groups[first:]) == {chosen}


@pytest.mark.parametrize(("alone", "chosen", "disturbed"), [(3.0, 1, 6), (5.0, ALL, 5)])
def test_noise_does_not_choose(alone, chosen, disturbed):
    """The last run of the faster way takes twice as long as those before."""
    cores = Cores(ALL)
    slower = lambda groups, k: (alone if groups == 1 else 4.0) * (2 if k == disturbed else 1)  # noqa: E731
    seen(cores, 1 + 2 * TURNS, slower)
    assert cores.groups == chosen


def test_what_is_clear_is_tried_once():
    cores = Cores(ALL)
    groups = seen(cores, 100, lambda groups, _: 14.0 if groups == 1 else 4.0)
    assert groups.count(1) == 1


def test_both_ways_are_tried_again_and_ever_more_seldom():
    cores = Cores(ALL)
    quiet = lambda groups, _: 5.0 if groups == 1 else 4.0  # noqa: E731
    groups = seen(cores, 20 * MOST_SELDOM, quiet)
    tried = np.flatnonzero(np.array(groups) == 1)[TURNS - 1 :: TURNS]
    apart = np.diff(tried)
    assert apart[0] == 2 * SELDOM + 2 * TURNS
    assert (apart[1:4] - 2 * TURNS == 2 * (apart[:3] - 2 * TURNS)).all()
    assert apart[-1] == MOST_SELDOM + 2 * TURNS
    groups = seen(cores, MOST_SELDOM + 3 * TURNS, lambda groups, _: 1.0 if groups == 1 else 4.0)
    assert groups[-1] == 1  # somebody else wants the cores


@pytest.mark.parametrize("about", [{"edges": FEWEST_EDGES - 1}, {"mode": "stepped"}])
def test_runs_that_say_nothing_are_not_counted(about):
    cores = Cores(ALL)
    assert set(seen(cores, 50, lambda groups, _: 1.0 if groups == 1 else 4.0, **about)) == {ALL}


def test_long_runs_are_not_tried_alone():
    cores = Cores(ALL)
    groups = seen(cores, SELDOM, lambda groups, _: 0.1 if groups == 1 else LONGEST_MS / 3)
    assert set(groups) == {ALL}


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("chosen", ["all", "one"])
@pytest.mark.parametrize("problem", ["bfs", "sssp"])
def test_plans_find_out_and_give_the_same(problem, chosen, device, monkeypatch):
    graph = weighted(cg.generate.kron(11, 16, seed=3), np.int32, 1, 100)
    plan = (cg.SSSP if problem == "sssp" else cg.BFS)(graph, predecessors=True, device=device)
    everyone = plan.groups
    if everyone == 1:
        pytest.skip("one core")
    faster = 1 if chosen == "one" else everyone
    clock = property(lambda outcome: 1.0 if outcome.groups == faster else 2.0)
    monkeypatch.setattr(Outcome, "kernel_ms", clock)
    source = int(np.argmax(graph.degrees))
    ran, levels = [], set()
    for _ in range(12):
        result = plan.run(source, verify=True)
        ran.append(result.stats.groups)
        levels.add(result.distances.tobytes())
        if problem == "sssp":
            check_paths(graph, source, result)
    assert ran[: 1 + 2 * TURNS] == [everyone] + [everyone, 1] * TURNS
    assert set(ran[1 + 2 * TURNS :]) == {faster}
    assert len(levels) == 1


@pytest.mark.runtimes("pocl")
def test_whoever_names_groups_has_them(device):
    graph = weighted(cg.generate.kron(11, 16, seed=3), np.int32, 1, 100)
    config = cg.SSSPConfig(schedule=cg.schedule.Schedule(groups=2))
    plan = cg.SSSP(graph, config=config, device=device)
    assert {plan.run(5).stats.groups for _ in range(9)} == {2}


@pytest.mark.runtimes("pocl")
def test_one_core_alone_is_not_bothered(device):
    """It takes no room in queues that others might take, however wide a frontier is."""
    graph = weighted(cg.generate.kron(11, 16, seed=3), np.int32, 1, 100)
    plan = cg.SSSP(graph, config=cg.SSSPConfig(counts=True), device=device)
    if plan.groups == 1:
        pytest.skip("one core")
    source, taken = int(np.argmax(graph.degrees)), {}
    for _ in range(2 * TURNS):
        stats = plan.run(source).stats
        taken[stats.groups] = stats.counters["RESERVATIONS"]
    assert taken[1] == 1 < taken[plan.groups]  # the source's own


def test_nothing_is_learned_from_a_run_that_overflowed(pocl, monkeypatch):
    plan, seen_runs = cg.BFS(cg.generate.path(40), device=pocl), []
    plan.run(3)
    if plan._stages._cores is None:
        pytest.skip("one core")
    persistent = Driver._persistent

    def overflowing(self, *about):
        assert persistent(self, *about)
        self._words[OVERFLOWED] = 1
        return True

    monkeypatch.setattr(Cores, "saw", lambda _, outcome: seen_runs.append(outcome))
    with monkeypatch.context() as patch:
        patch.setattr(Driver, "_persistent", overflowing)
        with pytest.raises(cg.QueueOverflowError):
            plan.run(3)
    assert not seen_runs
    assert plan.run(3).depth == 36
    assert len(seen_runs) == 1
