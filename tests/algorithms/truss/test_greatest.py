"""The greatest truss: bounds by supports, smaller graphs that hold it, and what runs wait for."""

import math

import numpy as np
import pytest
from peeling import hub_and_cliques, random_graph, truss_numbers_of, tube, undirected

import clgraph as cg
from clgraph.algorithms.triangles.orient import BUCKETS
from clgraph.algorithms.truss import greatest, narrowing, peeling
from clgraph.algorithms.truss.searching import raised
from clgraph.algorithms.truss.tightening import Tightening
from clgraph.device import Allocation, Kernel
from clgraph.device.hardware.measured import Constant
from clgraph.engine.sweeps import SweepLog

on_both = pytest.mark.runtimes("pocl", "intel")


def sparse_and_clique(n, edges, clique, seed):
    """Give a random graph and a clique among its first vertices."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, edges))
    ends = ends[:, ends[0] != ends[1]]
    inner = np.array([(a, b) for a in range(clique) for b in range(a)]).T
    return undirected(*np.concatenate([ends, inner], axis=1), n=n)


GRAPHS = {
    "clique": lambda: sparse_and_clique(400, 2500, 12, 1),
    "cliques": hub_and_cliques,
    "random": lambda: random_graph(70, 1100, 5),
    "kron": lambda: cg.generate.kron(9, seed=3),
    "tube": lambda: tube(40),
    "forest": lambda: undirected(np.arange(40), np.arange(1, 41)),
}


@pytest.mark.parametrize("search", [None, "bisection"])
@pytest.mark.parametrize("shares", [narrowing.SHARES, (0.9,), (0.001, 0.02, 0.9), ()])
@on_both
def test_the_greatest_truss_whatever_is_guessed(shares, search, device, monkeypatch):
    """KT-04: guesses that are too high, too low, and none; a second run is as the first."""
    monkeypatch.setattr(greatest, "SHARES", shares)
    monkeypatch.setattr(narrowing, "FEW_TRIANGLES", 100)
    monkeypatch.setattr(greatest, "FEW_TRIANGLES", 0)
    narrowed = []
    for name, make in GRAPHS.items():
        given = cg.Truss(make(), device=device, clean=True).simple
        numbers = truss_numbers_of(given)
        plan = cg.Truss(given, config=cg.TrussConfig(search=search), device=device)
        for prepare in (False, True):
            found = plan.run(greatest=True, prepare=prepare)
            assert found.max_k == found.k == numbers.max(), name
            np.testing.assert_array_equal(found.mask, numbers == numbers.max())
            assert 2 * found.count == (numbers == numbers.max()).sum()
        np.testing.assert_array_equal(plan.run().numbers, numbers)
        assert plan.run(greatest=True).max_k == numbers.max()
        narrowed += [name] * ("narrow" in found.stats.parts)
    assert ("clique" in narrowed) == bool(shares)


def test_a_smaller_graph_has_fewer_triangles_to_list(pocl, monkeypatch):
    """Of a clique in a large sparse graph its triangles are listed, and few others.

    Where there are few in all, listing them takes no longer than making a smaller graph.
    """
    graph = sparse_and_clique(2000, 30_000, 30, 2)
    plan = cg.Truss(graph, device=pocl)
    whole = plan.run(greatest=True)
    assert (whole.max_k, whole.stats.triangles) == (30, cg.triangle_count(graph, device=pocl))
    assert "narrow" not in whole.stats.parts
    monkeypatch.setattr(greatest, "FEW_TRIANGLES", whole.stats.triangles - 1)
    found = plan.run(greatest=True)
    assert found.max_k == 30
    bisecting = cg.Truss(graph, config=cg.TrussConfig(search="bisection"), device=pocl)
    assert bisecting.run(greatest=True).stats.probes == [(30, True)]
    assert found.stats.triangles > 8000
    assert found.stats.visited < 4060
    assert plan.source_hash


def test_bounds_by_supports():
    """No bound is less than what it bounds; below 2,048 all are exact."""
    rng = np.random.default_rng(3)
    for most in (3, 40, 3000, 200_000):
        values = rng.integers(0, most, 5000)
        places = np.searchsorted(narrowing.LEAST, values, side="right") - 1
        buckets = np.bincount(places[values > 0], minlength=BUCKETS)
        supports = narrowing.Supports(buckets)
        ks = np.arange(3, min(most, 400) + 3)
        kept = (values[None] >= ks[:, None] - 2).sum(axis=1)
        fits = ks[kept >= ks * (ks - 1) // 2].max(initial=2)
        assert supports.bound(2**31) == fits
        assert values.sum() // 3 * 0.9 <= supports.triangles <= values.sum() // 3
        assert supports.bound(2) == 2
        np.testing.assert_array_equal([supports.kept(k) for k in ks.tolist()], kept)
        for edges in (0, 10, 2500, 5000):
            least = supports.least(edges)
            assert supports.kept(least) <= edges
            if 3 < least < 2050:
                assert (values >= least - 3).sum() > edges
    assert (np.diff(narrowing.LEAST) > 0).all()
    none = narrowing.Supports(np.zeros(BUCKETS, np.uint32))
    assert (none.triangles, none.kept(3), none.least(0), none.bound(9)) == (0, 0, 3, 2)
    one = np.zeros(BUCKETS, np.uint32)
    one[-1] = 2**32 - 1  # as many edges as there can be, of as many triangles
    bound = narrowing.Supports(one).bound(2**40)
    assert bound * (bound - 1) // 2 <= 2**32 - 1 < bound * (bound + 1) // 2


def test_coarse_buckets_bound_as_each_of_them_does():
    """Whatever bucket a truss's least support may be in; only one of them has to be looked at."""
    rng = np.random.default_rng(4)
    for top in (3, 50, 2047, 2048, 2049, 3000, BUCKETS):
        for edges in (1, 4, 300, 10**5):
            buckets = np.zeros(BUCKETS, np.uint32)
            buckets[1:top] = rng.integers(0, edges + 1, top - 1)
            at_least = np.cumsum(buckets[::-1].astype(object))[::-1].tolist()
            bounds = [2]
            for least, greatest_k, count in zip(
                narrowing.LEAST.tolist(), narrowing.GREATEST_K.tolist(), at_least, strict=True
            ):
                fits = (1 + math.isqrt(1 + 8 * count)) // 2
                if fits >= least + 2:
                    bounds.append(min(fits, greatest_k))
            assert narrowing.Supports(buckets).bound(2**40) == max(bounds)


@on_both
def test_tightened_bounds(device):
    """No bound is less than the truss number; after a round none is above the h-index."""
    for make in (hub_and_cliques, GRAPHS["random"], GRAPHS["clique"], GRAPHS["kron"]):
        plan = cg.Truss(make(), config="lists", device=device, clean=True)
        max_k = plan.run().max_k
        begins, sides = (each.read() for each in plan._trusses.peeling.incidence.arguments)
        supports = plan._trusses.edges.supports.read()[:-1].astype(int)
        others = supports[sides.reshape(-1, 2)[: begins[-1]]].min(axis=1)
        rows = np.split(others, begins[1:-1])
        first = [(np.sort(row)[::-1] >= np.arange(1, len(row) + 1)).sum() for row in rows]
        tightening = Tightening(device, plan._memory, plan._trusses.edges.count)
        for most in (4, max_k, 3 * max_k):
            given = (plan._trusses.edges.supports, plan._trusses.peeling.incidence, most)
            bound = tightening.run(SweepLog(), *given)
            found = tightening._bounds.read()
            assert (found + 2 >= plan._trusses.peeling.numbers.read()).all()
            looked_at = supports >= max(most // 4, 1)
            np.testing.assert_array_equal(found[~looked_at], supports[~looked_at])
            assert (found[looked_at] <= np.maximum(first, most // 4)[looked_at]).all()
            assert bound <= max(most, max(most // 4, 1) + 1)
            assert bound >= min(max_k, most)
            if most == 3 * max_k:
                assert bound <= narrowed_bound(supports)


def narrowed_bound(supports):
    """Bound k by supports alone."""
    ks = np.arange(2, supports.max() + 3)
    return ks[[(supports >= k - 2).sum() >= k * (k - 1) // 2 for k in ks]].max()


@on_both
def test_guesses_of_tightened_bounds(device, monkeypatch):
    """Fewer of them have no truss; where a clique bounds k nothing is tightened."""
    for make, tightens in ((GRAPHS["kron"], True), (lambda: cg.generate.complete(9), False)):
        probes = {}
        for on in (False, True):
            monkeypatch.setattr(greatest, "TIGHTENED", Constant("", "", on))
            plan = cg.Truss(make(), device=device, clean=True)
            numbers = truss_numbers_of(plan.simple)
            for prepare in (False, True):
                found = plan.run(greatest=True, prepare=prepare)
                assert found.max_k == numbers.max()
                np.testing.assert_array_equal(found.mask, numbers == numbers.max())
                assert 2 * found.count == (numbers == numbers.max()).sum()
            probes[on] = found.stats.probes
        assert (probes[True][0] < probes[False][0]) == tightens
        assert len(probes[True]) <= len(probes[False])


@on_both
def test_whatever_is_guessed_first(device):
    """From every k below and above the greatest, with bounds that are met and that are not."""
    plan = cg.Truss(GRAPHS["random"](), config="lists", device=device, clean=True)
    numbers = plan.run().numbers
    top = int(numbers.max())
    for guess in range(2, top + 4):
        for most in {max(guess, top), max(guess, top) + 3}:
            given = (SweepLog(), plan._trusses.peeling, plan._trusses.edges.supports)
            told: list[SweepLog] = []
            k, left, tried = raised(*given, bounds=(guess, most), then=told.append)
            assert (k, len(told)) == (top, 1)
            count = left or plan._trusses.peeling.removed_at(top - 2, tried[-1][1])
            assert 2 * count == (numbers == top).sum()


@on_both
def test_more_rounds_than_are_kept(device, monkeypatch):
    """How many edges the greatest truss has is then counted, not summed up."""
    monkeypatch.setattr(peeling, "HISTORY_CAPACITY", 3)
    for shares in (narrowing.SHARES, ()):
        monkeypatch.setattr(greatest, "SHARES", shares)
        monkeypatch.setattr(greatest, "FEW_TRIANGLES", 0)
        plan = cg.Truss(GRAPHS["random"](), device=device, clean=True)
        numbers = truss_numbers_of(plan.simple)
        found = plan.run(greatest=True)
        assert len(found.stats.rounds) <= 3 * len(found.stats.probes or [1])
        assert 2 * found.count == (numbers == numbers.max()).sum()


@on_both
def test_results_that_are_kept_are_nobody_elses(device):
    plan = cg.Truss(GRAPHS["random"](), device=device, clean=True)
    numbers = truss_numbers_of(plan.simple)
    top = numbers.max()
    kept = [plan.run(), plan.run(4), plan.run(greatest=True), plan.run(5), plan.run()]
    kept.append(plan.run(top + 1))
    for found, expected in zip(
        kept,
        (numbers, numbers >= 4, numbers == top, numbers >= 5, numbers, numbers > top),
        strict=True,
    ):
        np.testing.assert_array_equal(found.numbers if found.k is None else found.mask, expected)
    results = plan._trusses._results
    token = results().token
    assert results().token is token  # of what nobody has any more
    lent = results()
    assert results().token is not lent.token


def test_greatest_trusses_that_are_kept_are_nobody_elses(pocl, monkeypatch):
    """Those that a smaller graph has given too."""
    for module in (greatest, narrowing):
        monkeypatch.setattr(module, "FEW_TRIANGLES", 0)
    plan = cg.Truss(GRAPHS["clique"](), device=pocl, clean=True)
    numbers = truss_numbers_of(plan.simple)
    kept = [plan.run(greatest=True) for _ in range(3)]
    assert all("narrow" in found.stats.parts for found in kept)
    assert plan.run().max_k == numbers.max()
    for found in kept:
        np.testing.assert_array_equal(found.mask, numbers == numbers.max())


@on_both
def test_a_graph_without_triangles_takes_one_launch(device):
    graph = cg.generate.grid2d(9, 9)
    plan = cg.Truss(graph, device=device)
    for _ in range(2):
        found = plan.run(prepare=True)
        assert (found.stats.launches, found.max_k, (found.numbers == 2).all()) == (1, 2, True)
        assert plan.run(greatest=True, prepare=True).mask.all()
    assert not plan._trusses.edges.supports.read().any()


@on_both
@pytest.mark.parametrize("paused", [False, True])
def test_what_follows_is_enqueued_ahead(paused, device, monkeypatch):
    """As on cards: before it is known whether a guess holds, or whether the launch has paused."""
    if paused:
        monkeypatch.setattr("clgraph.algorithms.scc.stages.CPU_LAUNCH_WORK", 1)
    plan = cg.Truss(hub_and_cliques(), device=device)
    numbers = truss_numbers_of(plan.simple)
    plan.run()
    plan._trusses.peeling.ahead = True
    for _ in range(2):
        found = plan.run()
        np.testing.assert_array_equal(found.numbers, numbers)
        most = plan.run(greatest=True)
        np.testing.assert_array_equal(most.mask, numbers == numbers.max())
        assert (found.stats.launches > 20) == paused


def test_later_runs_wait_for_nothing_before_peeling(pocl, monkeypatch):
    """Sizes are known from the first run: all that peeling needs is enqueued without a look."""
    plan = cg.Truss(random_graph(70, 1100, 5), config="lists", device=pocl)
    plan.run()
    happened = []

    def noted(owner, method, name):
        original = getattr(owner, method)

        def call(self, *args, **options):
            happened.append(name or self.name)
            return original(self, *args, **options)

        monkeypatch.setattr(owner, method, call)

    noted(Kernel, "launch_bound", "")
    for owner, method in ((Allocation, "read"), (Allocation, "write"), (SweepLog, "wait")):
        noted(owner, method, "host waits")
    plan.run(prepare=True)
    peels = happened.index("truss_peel")
    assert {"edges_gather", "scan_few"} <= set(happened[:peels])
    assert "host waits" not in happened[:peels]
    # What brings numbers to stored edges is enqueued before the host reads what peeling noted.
    assert happened.index("edges_scatter") < happened.index("host waits")


def test_later_runs_spend_little_on_launches(pocl, monkeypatch):
    """A device waits for the host: it looks at arguments that may change, and at buckets once."""
    monkeypatch.setattr(greatest, "TIGHTENED", Constant("", "", True))
    plan = cg.Truss(random_graph(70, 1100, 5), config="lists", device=pocl)
    for _ in range(2):
        first = plan.run(greatest=True, prepare=True)
    looked, made = [], []
    unlike, supports = Kernel._unlike, greatest.Supports

    def noted(self, args):
        looked.append(self.name)
        return unlike(self, args)

    monkeypatch.setattr(Kernel, "_unlike", noted)
    monkeypatch.setattr(greatest, "Supports", lambda given: made.append(1) or supports(given))
    again = plan.run(greatest=True, prepare=True)
    np.testing.assert_array_equal(again.mask, first.mask)
    assert len(made) == 1
    assert "edges_gather_counted" in looked
    assert not [name for name in looked if name.startswith(("orient_", "triangles_", "truss_"))]


@pytest.mark.parametrize("launched", [False, True])
def test_counting_by_bucket_may_be_broken_off(launched, pocl, monkeypatch):
    """Before its launch, buckets are still 0; after it, they must not be counted twice."""
    monkeypatch.setattr(greatest, "FEW_TRIANGLES", 0)
    plan = cg.Truss(GRAPHS["clique"](), device=pocl, clean=True)
    wanted = cg.Truss(plan.simple, device=pocl).run(greatest=True, prepare=True)
    plan.run()
    edges = plan._trusses.edges
    launch = edges._sweeper.launch

    def broken_off(log, kernel, *args):
        if launched:
            launch(log, kernel, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(edges._sweeper, "launch", broken_off)
        with pytest.raises(KeyboardInterrupt):
            edges.bucketed(SweepLog())
    found = plan.run(greatest=True)
    np.testing.assert_array_equal(found.mask, wanted.mask)
    buckets = edges.histogram(SweepLog())
    again = cg.Truss(plan.simple, device=pocl)
    again.run()
    np.testing.assert_array_equal(buckets, again._trusses.edges.histogram(SweepLog()))
