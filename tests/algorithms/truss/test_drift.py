"""SIMD groups that go on by themselves while trusses and cores are peeled; and guesses of k."""

from functools import partial

import numpy as np
import pytest
from peeling import (
    core_numbers_of,
    hub_and_cliques,
    matrix_of,
    random_graph,
    truss_numbers_of,
    tube,
    tube_with_cliques,
    undirected,
)

import clgraph as cg
from clgraph.algorithms.truss import greatest, peeling, shape
from clgraph.algorithms.truss.edges import Edges
from clgraph.device.hardware.measured import Constant
from clgraph.engine.sweeps import SweepLog

on_both = pytest.mark.runtimes("pocl", "intel")
HOPS = (1, 3, 64)
GRAPHS = {
    "cliques": hub_and_cliques,
    "random": lambda: random_graph(80, 900, 4),
    "dense": lambda: random_graph(70, 1100, 5),
    "tube": lambda: tube(300),
    "tube with cliques": lambda: tube_with_cliques(60),
    "grid": lambda: cg.generate.grid2d(12, 9),
    "kron": lambda: cg.generate.kron(9, seed=3),
}


def drawn(side, seed):
    """Give a square grid with one diagonal in every cell."""
    place = np.arange(side * side).reshape(side, side)
    first = np.random.default_rng(seed).integers(0, 2, (side - 1, side - 1)).astype(bool)
    pairs = [
        (place[:, :-1], place[:, 1:]),
        (place[:-1], place[1:]),
        (place[:-1, :-1][first], place[1:, 1:][first]),
        (place[:-1, 1:][~first], place[1:, :-1][~first]),
    ]
    return undirected(*(np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1)))


def check_trusses(graph, config, device):
    """All numbers, every kind of one k, and the greatest, twice; give the plan."""
    plan = cg.Truss(graph, config=config, device=device, clean=True)
    numbers = truss_numbers_of(plan.simple)
    top = int(numbers.max())
    for _ in range(2):
        found = plan.run()
        np.testing.assert_array_equal(found.numbers, numbers)
        assert found.max_k == top
        removed = found.stats.levels["removed"].sum()
        assert removed in {0, plan.simple.m // 2}
        for k in (3, 4, top, top + 1):
            one = plan.run(k)
            np.testing.assert_array_equal(one.mask, numbers >= k)
            assert 2 * one.count == (numbers >= k).sum()
        most = plan.run(greatest=True)
        assert most.max_k == most.k == top
        np.testing.assert_array_equal(most.mask, numbers == top)
        assert 2 * most.count == (numbers == top).sum()
    return plan


def check_cores(graph, config, device):
    plan = cg.Cores(graph, config=config, device=device, clean=True)
    numbers = core_numbers_of(plan.simple)
    top = int(numbers.max())
    for _ in range(2):
        found = plan.run()
        np.testing.assert_array_equal(found.numbers, numbers)
        assert found.max_k == top
        assert found.stats.rounds["removed"].sum() == plan.simple.n
        for k in (1, 2, top, top + 1):
            one = plan.run(k)
            np.testing.assert_array_equal(one.mask, numbers >= k)
            assert one.count == (numbers >= k).sum()
    return plan


@pytest.mark.rest
@on_both
@pytest.mark.parametrize("name", GRAPHS)
def test_numbers_whatever_the_rounds(name, device):
    graph = GRAPHS[name]()
    for drift in HOPS:
        config = cg.TrussConfig(drift=drift, triangles="lists")
        check_trusses(graph, config, device)
        check_cores(graph, cg.CoresConfig(drift=drift), device)


@on_both
@pytest.mark.parametrize("removal", [None, "subtract"])
@pytest.mark.parametrize("search", [None, "bisection", "bottom-up"])
def test_every_way_of_searching_and_removing(removal, search, device):
    for make in (hub_and_cliques, GRAPHS["dense"]):
        config = cg.TrussConfig(drift=16, removal=removal, search=search, triangles="lists")
        check_trusses(make(), config, device)
        check_cores(make(), cg.CoresConfig(drift=16, removal=removal), device)


@pytest.mark.rest
@on_both
@pytest.mark.slow_on("pocl")  # compiles work-groups of several for long
def test_groups_of_several(device):
    schedule = cg.schedule.Persistent(group_size=4 * device.traits.lanes)
    for make in (hub_and_cliques, GRAPHS["dense"], GRAPHS["tube"]):
        config = cg.TrussConfig(drift=16, schedule=schedule, triangles="lists")
        check_trusses(make(), config, device)
        check_cores(make(), cg.CoresConfig(drift=16, schedule=schedule), device)


@on_both
def test_one_launch_a_stage(device):
    for make in (hub_and_cliques, GRAPHS["tube"]):
        config = cg.TrussConfig(drift=16, schedule="stepped", triangles="lists")
        assert check_trusses(make(), config, device).run().stats.mode == "stepped"
        check_cores(make(), cg.CoresConfig(drift=16, schedule="stepped"), device)


@on_both
def test_pauses_between_rounds(device, monkeypatch):
    monkeypatch.setattr("clgraph.algorithms.scc.stages.CPU_LAUNCH_WORK", 1)
    config = cg.TrussConfig(drift=2, triangles="lists")
    plan = check_trusses(GRAPHS["dense"](), config, device)
    assert plan.run().stats.launches > 15
    check_cores(GRAPHS["tube"](), cg.CoresConfig(drift=2), device)


@on_both
@pytest.mark.parametrize("name", GRAPHS)
def test_wide_rounds_and_narrow_ones_take_turns(name, device, monkeypatch):
    """Rounds of more items than may drift are everybody's; what drifted before stays gone."""
    graph = GRAPHS[name]()
    for items in (4, 20):
        monkeypatch.setattr(peeling, "PEELING_DRIFT", Constant("", "", (0, items)))
        if name != "grid":
            config = cg.TrussConfig(drift=3, removal="subtract", triangles="lists")
            check_trusses(graph, config, device)
        check_cores(graph, cg.CoresConfig(drift=3, removal="subtract"), device)


@on_both
def test_fewer_rounds(device):
    """A tube is peeled from both ends: 300 rounds one by one, of which two groups make few."""
    kinds = (cg.Truss, cg.TrussConfig, {"triangles": "lists"}), (cg.Cores, cg.CoresConfig, {})
    for plan, config, more in kinds:
        alone, drifting = (
            plan(tube(300), config=config(drift=drift, **more), device=device).run()
            for drift in (0, 64)
        )
        np.testing.assert_array_equal(alone.numbers, drifting.numbers)
        assert len(alone.stats.rounds) >= 150
        assert len(drifting.stats.rounds) <= 30
        # A round more or less between the ends, or an item that had nobody left to tell.
        assert abs(alone.stats.visited - drifting.stats.visited) < alone.stats.visited // 10


@on_both
def test_long_chains_outlast_what_a_byte_tells_apart(device):
    """Stamps of stages come round; one round at a time there are 500 of them."""
    for drift in (1, 2):
        config = cg.TrussConfig(drift=drift, triangles="lists")
        found = cg.truss_numbers(tube_with_cliques(280), config=config, device=device)
        assert ((found == 6) | (found == 3)).all()
        assert (found == 6).sum() == 2 * 15 * 280
        assert (cg.core_numbers(cg.generate.path(1000), config="auto", device=device) == 1).all()
        config = cg.CoresConfig(drift=drift)
        assert (cg.core_numbers(cg.generate.path(1000), config=config, device=device) == 1).all()


@on_both
def test_each_triangle_is_taken_off_once(device):
    """Counts far above the level, but for a batch: what is left of them is what a recount gives."""
    rng = np.random.default_rng(8)
    for make in (hub_and_cliques, GRAPHS["dense"]):
        graph = make()
        config = cg.TrussConfig(drift=8, triangles="lists", removal="subtract")
        plan = cg.Truss(graph, config=config, device=device)
        plan.run()
        log = SweepLog()
        places = plan._memory.allocate("places", graph.m, np.uint32)
        plan._trusses.edges.spread(log, None, places)
        log.wait()
        numbers = places.read()
        supports = plan._trusses.edges.supports.read()[:-1]
        peels, sources = plan._trusses.peeling, np.repeat(np.arange(graph.n), graph.degrees)
        for share in (0.02, 0.3, 0.8):
            batch = np.flatnonzero(rng.random(graph.m) < share / 2)
            counts = supports + np.uint32(1000)
            counts[numbers[batch]] = 1
            given = plan._memory.upload("given", np.append(counts, np.uint32(0)))
            log = SweepLog()
            begin = partial(peels.begin, log, given)
            peels.run(log, begin, left=peels.items, levels=(1, 1))
            gone = np.isin(numbers, numbers[batch])
            left = peels.counts.read()[numbers].astype(int) - 1000
            matrix = matrix_of(graph).copy()
            matrix.data[gone] = 0
            matrix.eliminate_zeros()
            expected = np.asarray((matrix @ matrix)[sources, graph.indices]).ravel()
            np.testing.assert_array_equal(left[~gone], expected[~gone])


@pytest.mark.parametrize(
    ("graph", "of_trusses", "of_cores"),
    [(tube(300), 7, 7), (cg.generate.kron(9, seed=3), 0, 0), (random_graph(300, 2400, 4), 0, 7)],
    ids=["tube", "hubs", "even"],
)
def test_graphs_of_long_rows_do_not_drift(graph, of_trusses, of_cores, pocl, monkeypatch):
    """By the largest degree, unless the configuration says so."""
    monkeypatch.setattr(shape, "PEELING_DRIFT", Constant("", "", (7, 1 << 15)))
    monkeypatch.setattr(shape, "DRIFT_DEGREE", Constant("", "", (16, 40)))
    for kind, config, drift in (
        (cg.Truss, cg.TrussConfig, of_trusses),
        (cg.Cores, cg.CoresConfig, of_cores),
    ):
        for asked, expected in ((None, drift), (0, 0), (5, 5)):
            plan = kind(graph, config=config(drift=asked), device=pocl, clean=True)
            plan.run()
            peels = plan._peeling if kind is cg.Cores else plan._trusses.peeling
            assert peels.drift == expected


def test_who_cannot_drift(pocl):
    with pytest.raises(cg.InvalidArgumentError, match="triangles='lists'"):
        cg.TrussConfig(drift=4, triangles="rows")
    for config in (cg.TrussConfig, cg.CoresConfig):
        with pytest.raises(cg.InvalidArgumentError, match="removal='subtract'"):
            config(drift=4, removal="recount")
    graph = random_graph(80, 900, 4)
    for config, drift in (("rows", 0), ("iterative", 0), (None, 0), (cg.TrussConfig(drift=5), 5)):
        plan = cg.Truss(graph, config=config, device=pocl)
        plan.run()
        assert plan._trusses.peeling.drift == drift
    ordered = cg.Truss(graph, config=cg.TrussConfig(drift=5), device=pocl, ordered=True)
    ordered.run()
    assert ordered._trusses.peeling.drift == 0


@on_both
def test_guesses_of_the_greatest_k(device):
    """The bound is the first; three quarters of one that has no truss the next; then one by one.

    A bound of 4 is not worth a guess: without such a truss 3 would have to be found after it.
    """
    clique = cg.generate.complete(9)
    found = cg.Truss(clique, device=device).run(greatest=True)
    assert (found.max_k, found.stats.probes) == (9, [(9, True)])
    assert found.count == 36
    for make, probes in (
        (lambda: drawn(12, 1), [(3, True)]),
        (lambda: tube(40), None),
        (hub_and_cliques, None),
        (GRAPHS["kron"], None),
    ):
        plan = cg.Truss(make(), device=device, clean=True)
        numbers = truss_numbers_of(plan.simple)
        for prepare in (False, True):
            found = plan.run(greatest=True, prepare=prepare)
            assert found.max_k == numbers.max()
            np.testing.assert_array_equal(found.mask, numbers == numbers.max())
            tried = found.stats.probes
            assert probes in (None, tried)
            assert [truss for _, truss in tried] == [False] * (len(tried) - 1) + [True]
            lower = [max(3 * k // 4, 3) for k, _ in tried[:-1]]
            assert lower == [k for k, _ in tried[1:]]


@on_both
def test_buckets_are_not_waited_for_where_triangles_are_few(device, monkeypatch):
    """Known from a run before to be few, triangles are listed while their supports are counted."""
    happened = []

    def noted(owner, name, what):
        original = getattr(owner, name)

        def call(*args, **options):
            happened.append(what)
            return original(*args, **options)

        monkeypatch.setattr(owner, name, call)

    plan = cg.Truss(hub_and_cliques(), device=device)
    first = plan.run(greatest=True)
    noted(Edges, "lists", "lists")
    noted(greatest, "finish_copy", "waits")
    assert plan.run(greatest=True, prepare=True).same(first)
    assert happened[:2] == ["lists", "waits"]
    monkeypatch.setattr(greatest, "FEW_TRIANGLES", 0)
    happened.clear()
    assert plan.run(greatest=True, prepare=True).same(first)
    assert happened[0] == "waits"


@on_both
def test_without_triangles_nothing_is_searched_for(device):
    plan = cg.Truss(cg.generate.grid2d(20, 20), device=device)
    plan.run()
    numbers = plan.run(prepare=True)
    found = plan.run(greatest=True, prepare=True)
    assert found.max_k == numbers.max_k == 2
    assert found.mask.all()
    if plan._trusses.edges.bare:
        assert found.stats.launches == numbers.stats.launches
