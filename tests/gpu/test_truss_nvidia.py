"""Trusses and cores on a real NVIDIA card: whole results against peeling by scipy."""

import numpy as np
import pytest
from peeling import core_numbers_of, hub_and_cliques, random_graph, truss_numbers_of, tube

import clgraph as cg
from clgraph.algorithms.truss.tightening import Tightening
from clgraph.engine.sweeps import SweepLog

pytestmark = pytest.mark.gpu

SMALL = {
    "random": lambda: random_graph(300, 4000, 1),
    "cliques": hub_and_cliques,
    "tube": lambda: tube(500),
    "kron": lambda: cg.generate.kron(11, seed=3),
    "rgg": lambda: cg.generate.geometric(3000, seed=3),
    "complete": lambda: cg.generate.complete(70),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("preset", cg.TrussConfig.presets())
def test_truss_numbers(name, preset, gpu):
    """KT-03, KT-06, KT-23: every preset gives the numbers of the reference, run after run."""
    plan = cg.Truss(SMALL[name](), config=preset, device=gpu, clean=True)
    expected = truss_numbers_of(plan.simple)
    for _ in range(3):
        assert plan.run().stats.mode == "persistent"
    found = cg.truss_numbers(plan.simple, config=preset, device=gpu)
    np.testing.assert_array_equal(found, expected)
    greatest = plan.run(greatest=True)
    assert greatest.max_k == expected.max(initial=0)
    np.testing.assert_array_equal(
        cg.max_truss(plan.simple, config=preset, device=gpu).mask, expected == expected.max()
    )
    for k in {3, 4, int(expected.max()), int(expected.max()) + 1}:
        truss = cg.k_truss(plan.simple, k, config=preset, device=gpu)
        np.testing.assert_array_equal(truss.mask, expected >= k)


@pytest.mark.parametrize("name", SMALL)
def test_tightened_bounds(name, gpu):
    """Whatever was read of others while they fell, no bound is less than the number."""
    plan = cg.Truss(SMALL[name](), config="lists", device=gpu, clean=True)
    max_k = plan.run().max_k
    tightening = Tightening(gpu, plan._memory, plan._trusses.edges.count)
    for _ in range(5):
        given = (plan._trusses.edges.supports, plan._trusses.peeling.incidence, 3 * max_k)
        assert max_k <= tightening.run(SweepLog(), *given) <= 3 * max_k
        assert (tightening._bounds.read() + 2 >= plan._trusses.peeling.numbers.read()).all()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("preset", cg.CoresConfig.presets())
def test_core_numbers(name, preset, gpu):
    plan = cg.Cores(SMALL[name](), config=preset, device=gpu, clean=True)
    np.testing.assert_array_equal(plan.run().numbers, core_numbers_of(plan.simple))


def test_large_graphs_are_the_same_in_both_ways(gpu):
    """Lists and rows, many times, on graphs that fill the card (KT-23)."""
    for graph in (cg.generate.kron(17, seed=1), cg.generate.geometric(200_000, seed=1)):
        lists = cg.Truss(graph, config="lists", device=gpu, clean=True)
        rows = cg.Truss(lists.simple, config="rows", device=gpu)
        expected = rows.run()
        for _ in range(5):
            found = lists.run()
            np.testing.assert_array_equal(found.numbers, expected.numbers)
        for _ in range(3):
            assert lists.run(greatest=True).max_k == expected.max_k


def test_groups_of_every_size(gpu):
    graph = random_graph(300, 4000, 1)
    expected = truss_numbers_of(graph)
    for size in (32, 128, 512, 1024):
        config = cg.TrussConfig(schedule=cg.schedule.Persistent(group_size=size))
        np.testing.assert_array_equal(cg.truss_numbers(graph, config=config, device=gpu), expected)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("drift", [0, 1, 5, 64, 1000])
def test_rounds_that_simd_groups_do_by_themselves(name, drift, gpu):
    """Whatever they find first, the numbers of the reference, run after run and in every shape."""
    graph = cg.Truss(SMALL[name](), device=gpu, clean=True).simple
    expected, cores = truss_numbers_of(graph), core_numbers_of(graph)
    for size in (None, 32, 256):
        schedule = cg.schedule.Persistent(group_size=size) if size else None
        config = cg.TrussConfig(drift=drift, triangles="lists", schedule=schedule)
        plan = cg.Truss(graph, config=config, device=gpu)
        for _ in range(5):
            np.testing.assert_array_equal(plan.run().numbers, expected)
        assert plan.run(greatest=True).max_k == expected.max()
        config = cg.CoresConfig(drift=drift, schedule=schedule)
        plan = cg.Cores(graph, config=config, device=gpu)
        for _ in range(5):
            np.testing.assert_array_equal(plan.run().numbers, cores)


def test_drifting_on_large_graphs(gpu):
    """On graphs that fill the card, with conflicts in every round: as without, many times."""
    for graph in (
        cg.generate.kron(17, seed=1),
        cg.generate.geometric(200_000, seed=1),
        tube(20_000),
    ):
        alone = cg.Truss(graph, config=cg.TrussConfig(drift=0), device=gpu, clean=True)
        expected = alone.run()
        simple = alone.simple
        cores = cg.Cores(simple, config=cg.CoresConfig(drift=0), device=gpu).run()
        for drift in (3, 64):
            plan = cg.Truss(simple, config=cg.TrussConfig(drift=drift), device=gpu)
            other = cg.Cores(simple, config=cg.CoresConfig(drift=drift), device=gpu)
            for _ in range(10):
                np.testing.assert_array_equal(plan.run().numbers, expected.numbers)
                np.testing.assert_array_equal(other.run().numbers, cores.numbers)
            assert plan.run(greatest=True).max_k == expected.max_k


def test_stepped_gives_the_same(gpu):
    graph = hub_and_cliques()
    config = cg.TrussConfig(schedule="stepped")
    found = cg.truss_numbers(graph, config=config, device=gpu)
    np.testing.assert_array_equal(found, truss_numbers_of(graph))
    assert found.stats.mode == "stepped"


def test_skewed_graphs_take_a_fixed_multiple_of_even_ones(gpu):
    """KT-21: a hub with a row of a million does not hold the others up."""
    cliques, size = 20_000, 12
    ends = np.array([(a, b) for a in range(size) for b in range(a)])
    members = (1 + size * np.arange(cliques))[:, None, None] + ends[None]
    spokes = np.arange(1, 1 + size * cliques)
    src = np.concatenate([members[:, :, 0].ravel(), np.zeros(len(spokes), int)])
    dst = np.concatenate([members[:, :, 1].ravel(), spokes])
    star = cg.from_edges(src, dst, directed=False, symmetrize=True)
    even = random_graph(star.n, star.m // 2, 4)
    spent = []
    for graph in (star, even):
        plan = cg.Truss(graph, device=gpu)
        plan.run()
        stats = [plan.run().stats for _ in range(5)]
        work = stats[0].visited + 100_000 * len(stats[0].rounds) + graph.m
        spent.append(min(each.kernel_ms for each in stats) / work)
    assert spent[0] < 10 * spent[1]


def differing(graph, found, expected):
    """Report which edges have other numbers, for people to read; nothing if none has."""
    sources, targets = np.repeat(np.arange(graph.n), graph.degrees), graph.indices
    wrong = np.flatnonzero(found != expected)
    some = [
        f"{sources[e]}-{targets[e]} has {found[e]}, not {expected[e]}" for e in wrong[:8].tolist()
    ]
    return f"{len(wrong)} of {len(found)} edges: {'; '.join(some)}" if some else ""


@pytest.mark.parametrize("allocator", ["device", "host"])
def test_numbers_follow_a_dynamic_graph(gpu, allocator):
    """Batches in and out, small and large, equal to a recount; the first comes before any state."""
    simple = cg.Truss(cg.generate.kron(12, seed=3), device=gpu, clean=True).simple
    graph = cg.DynamicGraph(simple, device=gpu, allocator=allocator)
    follower = cg.dynamic.TrussNumbers(graph, share=1000.0)
    rng = np.random.default_rng(5)
    wrong = []
    for size in (1, 30, 1000):
        sources, targets, _ = graph.to_graph().listed_edges()
        gone = rng.choice(len(sources), size, replace=False)
        for ends, change in (
            (rng.integers(0, simple.n, (2, size)), graph.insert_edges),
            ((sources[gone], targets[gone]), graph.delete_edges),
            ((sources[gone], targets[gone]), graph.insert_edges),
        ):
            result = change(*ends)
            now = graph.to_graph()
            expected = cg.truss_numbers(now, clean=True, device=gpu)
            told = differing(now, follower.numbers, expected)
            if told or follower.recounts != 1:
                batch = f"{change.__name__} {size} ({result.regime})"
                wrong.append(f"{batch}: {told}; {follower.recounts} recounts; {follower.last}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("method", ["subtract", "recount"])
def test_trusses_are_peeled_on_the_dynamic_store(gpu, method):
    small = hub_and_cliques()
    expected = truss_numbers_of(small)
    peeled = cg.dynamic.peel_trusses(cg.DynamicGraph(small, device=gpu), method=method)
    sources, targets = np.repeat(np.arange(small.n), small.degrees), small.indices
    known = dict(zip(zip(sources.tolist(), targets.tolist(), strict=True), expected, strict=True))
    pairs = zip(peeled.src.tolist(), peeled.dst.tolist(), peeled.numbers.tolist(), strict=True)
    wrong = [(u, v, k, int(known[u, v])) for u, v, k in pairs if known[u, v] != k]
    assert not wrong, f"{len(wrong)} edges (u, v, found, expected): {wrong[:8]}"
    assert (2 * len(peeled.src), peeled.max_k) == (small.m, expected.max()), peeled.rounds
