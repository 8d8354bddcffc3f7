"""The search: what it tries, what it keeps, and that it finds what is best."""

import itertools
import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from runtimes import device_or_skip

import clgraph as cg
from clgraph import tune
from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.tune import tuning
from clgraph.tune.effects import Effects, Observation
from clgraph.tune.problems import PROBLEMS, Hops
from clgraph.tune.search import RUNGS, Limits, search
from clgraph.tune.space import Branch, Space, key_of
from clgraph.tune.trials import Bench, Trial

SIZES = (None, 32, 64, 128, 256, 512, 1024)
BRANCHES = (
    Branch({"way": "a"}, {"size": SIZES, "parts": (None, 1, 2, 4, 8, 16), "order": ("x", "y")}),
    Branch({"way": "b"}, {"size": SIZES, "bits": (None, *range(10, 19)), "pieces": (1, 2, 4, 8)}),
    Branch({"way": "c"}, {"size": SIZES}),
)
FAR = Limits(math.inf, 10_000)


def legal(values):
    if values.get("size") == 1024 and values["way"] == "b":
        raise InvalidArgumentError("too large.")


def milliseconds(values):
    """A landscape with one lowest point in the second branch."""
    cost = {"a": 3.0, "b": 1.0, "c": 6.0, None: 4.0}[values.get("way")]
    cost *= 1.0 + 0.2 * abs(math.log2((values.get("size") or 64) / 256))
    cost *= 1.0 + 0.1 * abs((values.get("bits") or 10) - 15)
    return cost * (1.0 + 0.15 * abs(math.log2(values.get("pieces", 8)) - 1))


class MadeUp:
    """A bench whose times are known."""

    def __init__(self, failing=lambda _: False):
        self.runs = []
        self.failing = failing

    def run(self, trial, times):
        self.runs.append((key_of(trial.values), times))
        if self.failing(trial.values):
            trial.error = "it does not build"
            return False
        trial.runs = trial.runs or [[]]
        trial.runs[0] += [milliseconds(trial.values)] * times
        return True


def cost(trial):
    return trial.time_ms


def searched(trials, seed=0, known=(), bench=None):
    return search(
        bench or MadeUp(),
        Space(BRANCHES, legal),
        start=[],
        known=known,
        limits=Limits(math.inf, trials),
        cost=cost,
        seed=seed,
    )


def test_a_space_has_each_legal_point_once():
    points = list(Space(BRANCHES, legal).points())
    assert len({key_of(values) for values in points}) == len(points)
    assert len(points) == 7 * 6 * 2 + 6 * 10 * 4 + 7
    assert not any(values.get("size") == 1024 and values["way"] == "b" for values in points)


def test_neighbours_differ_in_one_axis_by_one_step():
    space = Space(BRANCHES, legal)
    here = {"way": "b", "size": 512, "bits": 12, "pieces": 4}
    found = list(space.neighbours(here))
    assert {"way": "b", "size": 256, "bits": 12, "pieces": 4} in found
    assert {"way": "b", "size": 512, "pieces": 4} in found  # as rules choose
    for values in found:
        names = set(here) | set(values)
        assert sum(here.get(name) != values.get(name) for name in names) == 1
        assert abs((values.get("bits") or 12) - 12) <= 1
        assert values.get("size") != 1024  # not legal with it


def test_points_of_a_space_are_the_neighbours_of_their_neighbours():
    space = Space(BRANCHES, legal)
    for values in itertools.islice(space.points(), 0, None, 17):
        for other in space.neighbours(values):
            assert values in list(space.neighbours(other))


@pytest.mark.parametrize("seed", range(8))
def test_the_search_comes_near_the_best_after_a_twentieth_of_the_points(seed):
    """Bar: within 5 % of the best point of a whole space after at most 5 % of it."""
    points = list(Space(BRANCHES, legal).points())
    best = min(map(milliseconds, points))
    trials = searched(len(points) // 20, seed)
    assert len(trials) - 1 <= len(points) // 20
    assert min(map(cost, trials)) <= 1.25 * best
    more = searched(len(points) // 10, seed)
    assert min(map(cost, more)) <= 1.05 * best


def test_what_is_known_elsewhere_comes_first():
    """The model stage: other graphs say that b with 15 bits is best."""
    known = [
        Observation(values, math.log(7.0 * milliseconds(values)))
        for values in itertools.islice(Space(BRANCHES, legal).points(), 0, None, 5)
    ]
    trials = searched(8, known=known)
    assert trials[1].values["way"] == "b"
    assert min(map(cost, trials)) < min(map(cost, searched(8)))


def test_halving_runs_most_points_once_and_the_best_often():
    bench = MadeUp()
    trials = searched(60, bench=bench)
    runs = sorted(len(trial.runs[0]) for trial in trials[1:])
    assert runs[0] == RUNGS[0]
    assert runs[-1] == RUNGS[-1]
    assert sum(run == RUNGS[0] for run in runs) > len(runs) / 4
    best = min(trials, key=cost)
    assert len(best.runs[0]) == RUNGS[-1]


def test_no_point_is_tried_twice_and_all_are_if_there_is_time():
    space = Space(BRANCHES[2:], legal)
    bench = MadeUp()
    found = search(bench, space, start=[], known=(), limits=FAR, cost=cost)
    keys = [key_of(trial.values) for trial in found]
    assert len(set(keys)) == len(keys) == 1 + 7


def test_points_that_fail_are_noted_and_left_out():
    trials = searched(20, bench=MadeUp(lambda values: values.get("way") == "b"))
    assert any(trial.error for trial in trials)
    best = min((trial for trial in trials if not trial.error), key=cost)
    assert best.values["way"] == "a"


def test_the_budget_ends_the_search():
    late = Limits(time.monotonic() - 1)
    assert (
        len(search(MadeUp(), Space(BRANCHES, legal), start=[], known=(), limits=late, cost=cost))
        == 1
    )


def test_progress_is_told_of_points():
    told = []
    search(
        MadeUp(),
        Space(BRANCHES, legal),
        start=[],
        known=(),
        limits=Limits(math.inf, 5),
        cost=cost,
        progress=lambda *what: told.append(what),
    )
    assert told[-1] == (5, 5, "configurations")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_effects_foretell_products():
    points = list(Space(BRANCHES, legal).points())
    drawn = np.random.default_rng(3).permutation(len(points))
    seen = [points[place] for place in drawn[:90]]
    model = Effects([Observation(values, math.log(milliseconds(values))) for values in seen])
    rest = [points[place] for place in drawn[90:]]
    predicted = np.array([model(values) for values in rest])
    true = np.log([milliseconds(values) for values in rest])
    assert np.corrcoef(predicted, true)[0, 1] > 0.9


def test_effects_of_other_graphs_count_by_their_differences():
    here = [Observation({"a": 1}, 0.0), Observation({"a": 2}, 1.0)]
    there = [Observation({"a": 1}, 100.0, 1.0, 1), Observation({"a": 2}, 101.0, 1.0, 1)]
    model = Effects([*here, *there])
    assert abs(model({"a": 1})) < 0.6
    assert model({"a": 1}) < model({"a": 2})


@pytest.mark.parametrize("algorithm", PROBLEMS)
@pytest.mark.parametrize(
    "spec", ["pocl", pytest.param("pocl+lanes32", marks=pytest.mark.slow), "intel"]
)
def test_every_algorithm_is_tuned_on_every_runtime(algorithm, spec):
    """API: bfs, sssp, scc, triangles; time only, energies None."""
    device = device_or_skip(spec)
    graph = cg.generate.kron(6, 6, seed=2, weights=(1, 50))
    found = tune.run(graph, algorithm, budget=6, trials=3, device=device, store=False)
    assert found.auto is found.trials[0]
    assert not found.auto.error
    assert found.best.time_ms <= found.auto.time_ms
    assert found.tried <= 3
    assert found.meter == "none"
    assert found.pareto == []
    assert all(trial.joules is None and trial.estimated_j is None for trial in found.trials)


def test_a_point_that_finds_something_else_is_refused():
    """A configuration changes speed and never results."""
    graph = cg.generate.path(20)
    device = device_or_skip("pocl")

    class Wrong(Hops):
        def run(self, plan, source):
            result = plan.run(source)
            if plan.config.frontier.name == "edge":
                return SimpleNamespace(distances=result.distances + 1, stats=result.stats)
            return result

    bench = Bench(Wrong("bfs"), graph, device, [0])
    assert bench.run(Trial({}), 1)
    wrong = Trial({"frontier": "edge", "pull": "never"})
    assert not bench.run(wrong, 1)
    assert "something else" in wrong.error


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"algorithm": "pagerank"}, "cannot be tuned"),
        ({"objective": "joy"}, "not time, energy, edp or power:WATTS"),
        ({"objective": "power:0"}, "power:WATTS"),
        ({"objective": "energy", "device": "pocl"}, "needs a power meter"),
        ({"budget": 0}, "positive number of seconds"),
        ({"budget": math.nan}, "positive number of seconds"),
        ({"trials": -1}, "negative"),
        ({"algorithm": "sssp"}, "weights"),
    ],
)
def test_what_cannot_be_tuned_is_refused(given, said):
    with pytest.raises(ClgraphError, match=said):
        tune.run(cg.generate.path(5), **{"device": "pocl", "store": False, **given})


def metered(name, time_ms, joules, watts):
    return Trial({"n": name}, in_turn_ms=[[time_ms] * 9], joules=joules, watts=watts)


FOUND = (
    metered("auto", 1.0, 4.0, 400.0),
    metered("fast", 0.8, 3.9, 420.0),
    metered("thrifty", 1.1, 2.0, 190.0),
    metered("poor", 1.2, 3.0, 300.0),
)


@pytest.mark.parametrize(
    ("objective", "winner"),
    [
        ("time", "fast"),
        ("energy", "thrifty"),
        ("edp", "thrifty"),
        ("power:350", "thrifty"),
        ("power:410", "auto"),
    ],
)
def test_objectives_choose_by_what_the_meter_said(objective, winner):
    wanted = tuning.Objective.of(objective)
    assert min(FOUND, key=wanted.final).values["n"] == winner


def test_the_front_has_what_nothing_beats_in_both():
    told = SimpleNamespace(trials=list(FOUND))
    front = tuning.Tuned.pareto.fget(told)
    assert [trial.values["n"] for trial in front] == ["fast", "thrifty"]


def test_a_gain_within_the_noise_is_none():
    times = np.array([1.0, 1.3, 0.9, 1.1, 1.2, 0.8, 1.0, 1.1, 0.95])
    auto = Trial({}, in_turn_ms=[list(times)])
    same = Trial({"n": 1}, in_turn_ms=[list(0.96 * times)])
    better = Trial({"n": 2}, in_turn_ms=[list(0.5 * times)])
    wanted = tuning.Objective("time")
    assert tuning._is_noise(same, auto, wanted)
    assert not tuning._is_noise(better, auto, wanted)


def test_deltas_are_in_mean_weights():
    light = cg.generate.grid2d(8, 8, seed=1, weights=(10, 10))
    heavy = cg.generate.grid2d(8, 8, seed=1, weights=(1000, 1000))
    values = {"method": "near-far", "method.delta": 4.0}
    deltas = [PROBLEMS["sssp"].config(values, graph).method.delta for graph in (light, heavy)]
    assert deltas == [40.0, 4000.0]


def test_presets_are_among_what_is_tried_first():
    graph = cg.generate.kron(6, 6, seed=2)
    for values in PROBLEMS["bfs"].presets(graph):
        assert isinstance(PROBLEMS["bfs"].config(values, graph), BFSConfig)
    assert {"rules": "helix"} in PROBLEMS["bfs"].presets(graph)
