"""When levels of Louvain and Leiden are refined, when they end, and what comes of them."""

from functools import cache, partial, partialmethod

import numpy as np
import pytest
from community_graphs import refined_parts
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import clgraph as cg
from clgraph.algorithms.communities import iterating, merging, moving, turns
from clgraph.algorithms.communities.coarsening import Coarsening
from clgraph.algorithms.communities.level import Levels
from clgraph.algorithms.communities.merging import Merging
from clgraph.device import Allocation
from clgraph.engine.sweeps import SweepLog

everywhere = pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")


@cache
def named_graphs():
    rng = np.random.default_rng(2)
    parts = np.repeat(np.arange(60), 30)
    likely = np.where(parts[:, None] == parts, 0.15, 0.01)
    ends = np.nonzero(rng.random(likely.shape) < likely)
    return {
        "kron": cg.generate.kron(10, 8, seed=2),
        "road": cg.generate.road(60, seed=2),
        "planted": cg.from_edges(*ends, directed=False, symmetrize=True, dedup=True),
    }


def matrix_of(level):
    """Give a level's edges between different vertices, as SciPy keeps them."""
    indptr, indices = level.rows[0].read(level.n + 1), level.rows[1].read(level.m)
    weights = level.rows[2].read(level.m) if level.weighted else np.ones(level.m)
    made = csr_array((weights.astype(np.float64), indices, indptr), shape=(level.n, level.n))
    made.setdiag(0)
    made.eliminate_zeros()
    return made


def same_parts(one, other):
    """Whether two labellings part the vertices alike."""
    pairs = np.unique(np.column_stack([one, other]), axis=0)
    return len(pairs) == np.unique(one).size == np.unique(other).size


@pytest.fixture
def watched(monkeypatch):
    """What each level gained, and what the next was made of, if one was made."""
    told = []

    def moves(log, turns, level, scale, **how):
        found = moving.moved(log, turns, level, scale, **how)
        sizes = {"n": level.n, "m": level.m}
        told.append({"gain": found[2], "refined": False, "pieces": None} | sizes)
        return found

    def refining(*args, **how):
        told[-1]["refined"] = True
        return moving.refined(*args, **how)

    def making(coarser, coarsening, log, level, parts, between):
        rows = matrix_of(level)
        labels, taken = level.labels.read(level.n), parts.read(level.n)
        made = coarser(coarsening, log, level, parts, between)
        within = rows.tocoo()
        kept = labels[within.row] == labels[within.col]
        places = within.row[kept], within.col[kept]
        within = csr_array((np.ones(kept.sum()), places), shape=rows.shape)
        told[-1].update(labels=labels, parts=taken, pieces=connected_components(within)[1])
        return made

    monkeypatch.setattr(iterating, "moved", moves)
    monkeypatch.setattr(iterating, "refined", refining)
    for kind in (Coarsening, Merging):
        watching = partialmethod(partial(making, kind.coarser))
        monkeypatch.setattr(kind, "coarser", watching)
    return told


def iterations_of(told, found):
    """Give what was told of each iteration's levels."""
    assert len(told) == len(found.stats.levels)
    assert [one["n"] for one in told] == [level["vertices"] for level in found.stats.levels]
    parted = [[] for _ in range(found.stats.levels[-1]["iteration"] + 1)]
    for one, level in zip(told, found.stats.levels, strict=True):
        parted[level["iteration"]].append(one)
    return parted


@everywhere
@pytest.mark.parametrize("name", named_graphs())
def test_a_level_is_refined_only_where_its_moves_gained_enough(device, name, watched):
    found = cg.Leiden(named_graphs()[name], device=device).run(seed=1, iterations=3, verify=True)
    made = [one for one in watched if one["pieces"] is not None]
    assert {one["refined"] for one in made} == {False, True}
    assert len(made) <= len(found.stats.levels)
    for iteration, levels in enumerate(iterations_of(watched, found)):
        for one in (one for one in levels if one["pieces"] is not None):
            if one["n"] == found.labels.size:
                assert one["refined"] == (one["gain"] > 0)
            else:
                few = one["m"] <= 0.55 * named_graphs()[name].m
                settled = 2e-5 if iteration < 2 else 5e-6
                assert one["refined"] == (one["gain"] > (settled if few else 1e-3))
            if not one["refined"]:
                assert same_parts(one["parts"], one["pieces"])
    finer = [one for one in made if not same_parts(one["parts"], one["pieces"])]
    assert finer  # refining takes apart what hangs together


@everywhere
def test_communities_that_are_not_refined_are_parted_where_they_do_not_hang_together(
    device, watched, monkeypatch
):
    """No gain is enough here, so that those of the graph itself come to what is made of it."""
    monkeypatch.setattr(iterating.Iterations, "_refined_from", lambda *_: 1.0)
    graph = cg.generate.kron(11, seed=2)
    found = cg.Leiden(graph, device=device).run(iterations=3, verify=True)
    assert not any(one["refined"] for one in watched)
    made = [one for one in watched if one["pieces"] is not None]
    assert any(not same_parts(one["labels"], one["pieces"]) for one in made)
    assert all(same_parts(one["parts"], one["pieces"]) for one in made)
    assert found.modularity > 0.1


@everywhere
@pytest.mark.parametrize("kind", [cg.Leiden, cg.Louvain])
@pytest.mark.parametrize("name", named_graphs())
def test_iterations_end_where_single_vertices_gain_little(device, name, kind, watched):
    plan = kind(named_graphs()[name], device=device)
    found = plan.run(seed=1, iterations=20, verify=True)
    done = iterations_of(watched, found)
    assert 2 < len(done) < 20
    enough = [0.0, 2e-5] + [5e-6] * 18
    assert all(levels[0]["gain"] > least for levels, least in zip(done[:-1], enough, strict=False))
    assert done[-1][0]["gain"] <= enough[len(done) - 1]
    assert len(done[-1]) == 1
    # What the last iteration moved on its only level is not taken.
    before = plan.run(seed=1, iterations=len(done) - 1)
    np.testing.assert_array_equal(found.labels, before.labels)
    assert found.modularity == before.modularity


@everywhere
@pytest.mark.parametrize("kind", [cg.Leiden, cg.Louvain])
@pytest.mark.parametrize("name", named_graphs())
def test_an_iteration_ends_where_whole_communities_gain_little(device, name, kind, watched):
    found = kind(named_graphs()[name], device=device).run(iterations=4, verify=True)
    for iteration, levels in enumerate(iterations_of(watched, found)):
        whole = [False] + [not one["refined"] for one in levels[:-1]]  # are its vertices?
        whole[0] = iteration > 0 and len(levels) == 1  # or this one ends everything
        enough = 5e-6 if iteration > 1 else 2e-5
        ends = [held and one["gain"] <= enough for held, one in zip(whole, levels, strict=True)]
        assert not any(ends[:-1])
        # Of the last nothing is made, unless to see that it would be the same again.
        assert (levels[-1]["pieces"] is None) == ends[-1]


@everywhere
@pytest.mark.parametrize("kind", [cg.Leiden, cg.Louvain])
def test_a_level_is_waited_for_no_more_than_needed(device, kind, monkeypatch):
    """For its passes, and where the next is made of it for vertices, pairs to sort and edges."""
    monkeypatch.setattr(turns, "FEW_ENTRIES", 0)  # a thread alone is waited for less often
    plan = kind(named_graphs()["kron"], device=device)
    plan.run()  # arrays are taken
    asked, waited, others = [], [], []

    def looking(levels, name, source):
        asked.append(name)
        found = look(levels, name, source)

        def counted():
            waited.append(name)
            return found()

        return counted

    def other(allocation, what, *args):
        others.append(allocation.name)
        return what(allocation, *args)

    for name in ("read", "read_later", "write"):
        what = getattr(Allocation, name)
        monkeypatch.setattr(Allocation, name, partialmethod(other, what))
    look = Levels.look
    monkeypatch.setattr(Levels, "look", looking)
    levels = plan.run().stats.levels
    assert others == ["final_labels"]
    made = waited.count("vertices")
    iterations = levels[-1]["iteration"] + 1
    assert len(levels) - iterations <= made <= len(levels)
    merges = type(plan._iterations.coarsening) is Merging
    assert merges == (plan._levels.tables == "dense")
    assert waited.count("pairs") == (0 if merges else made)
    # While a level's edges are counted the device goes on with what needs none.
    assert waited.count("edges") <= made
    for place, name in enumerate(asked):
        if name == "vertices":
            assert asked[place + 1] == ("edges" if merges else "pairs")
    # Modularity is asked for once, in the end; whether the last level hangs together each time.
    assert waited.count("quality 0") + waited.count("quality 1") == 1
    assert waited[-1].startswith("quality")
    assert waited.count("communities") == (iterations if kind is cg.Leiden else 0)
    # Of an order how many chunks there are, where there may be any, and without a barrier the rest.
    orders = asked.count("chunks")
    assert waited.count("chunks") <= orders
    passes = waited.count("passes")
    assert passes >= sum(level["passes"] for level in levels)
    if plan._levels.tables == "dense":
        assert orders == 0
        assert waited.count("turns") == 0
    known = ("vertices", "pairs", "edges", "communities", "chunks", "turns", "passes")
    assert sum(waited.count(name) for name in known) + 1 == len(waited)


def coarse(device, graph, labels, kind=Coarsening):
    """Make the next level of communities; give the first, it and the numbers of communities."""
    plan = cg.Louvain(graph, device=device)
    assert kind is Coarsening or type(plan._iterations.coarsening) is kind
    levels, level, log = plan._levels, plan._first, SweepLog()
    level.labels.write(labels.astype(np.uint32))
    levels.start(log, level, given=True)
    plan._turns.order(log, level, 1)
    indptr = levels.array(f"indptr {level.next_side}", graph.n + 1)
    indptr.write(np.full(indptr.count, 0xFFFFFFFF, np.uint32))
    numbered = []
    made = kind(levels).coarser(log, level, level.labels, lambda *given: numbered.append(given[1]))
    log.wait()
    return level, made, numbered[0].read(graph.n)


def rows_of(level):
    """Give a level's rows, each by target: where they begin, targets and weights."""
    indptr = level.rows[0].read(level.n + 1)
    indices, weights = level.rows[1].read(level.m), level.rows[2].read(level.m)
    order = np.lexsort((indices, np.repeat(np.arange(level.n), np.diff(indptr.astype(np.int64)))))
    return indptr, indices[order], weights[order]


@everywhere
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [300, 70_000], ids=["narrow", "wide"])  # keys of 32 bits or 64
def test_the_next_level_is_the_product_of_matrices(device, n, weighted):
    """With vertices without edges at both ends and in long gaps between."""
    rng = np.random.default_rng(6)
    held = np.concatenate([np.arange(n // 5, n // 4), np.arange(n // 2, n // 2 + 60)])
    ends = rng.choice(held, (2, 2000))
    weights = (rng.integers(1, 9, 2000),) if weighted else ()
    graph = cg.from_edges(*ends, *weights, n=n, directed=False, symmetrize=True)
    labels = np.arange(n)
    joined = rng.choice(held, 2 * (held.size // 3), replace=False).reshape(2, -1)
    labels[joined[0]] = labels[joined[1]]
    level, made, numbers = coarse(device, graph, labels)
    used = np.unique(labels)
    assert made.n == used.size
    np.testing.assert_array_equal(numbers[used], np.arange(made.n))
    of_vertex = np.searchsorted(used, labels)
    member = csr_array((np.ones(n), (np.arange(n), of_vertex)), shape=(n, made.n))
    wanted = member.T @ matrix_of(level) @ member
    inner = wanted.diagonal()
    wanted.setdiag(0)
    wanted.eliminate_zeros()
    wanted.sort_indices()
    np.testing.assert_array_equal(made.rows[0].read(made.n + 1), wanted.indptr)
    np.testing.assert_array_equal(made.rows[1].read(made.m), wanted.indices)
    np.testing.assert_array_equal(made.rows[2].read(made.m), wanted.data)
    loops = np.bincount(of_vertex, level.loops.read(n), made.n)
    np.testing.assert_array_equal(made.loops.read(made.n), loops + inner)
    strengths = np.bincount(of_vertex, level.strengths.read(n), made.n)
    np.testing.assert_array_equal(made.strengths.read(made.n), strengths)
    empty = np.diff(wanted.indptr) == 0
    assert empty[0]
    assert empty[-1]
    assert empty.sum() > made.n // 2


@pytest.mark.runtimes("pocl")
@pytest.mark.parametrize("weights", ["none", "narrow", "wide"])
@pytest.mark.parametrize("n", [1, 400, 20_000])
def test_threads_that_sum_whole_communities_make_the_same_level(device, n, weights):
    """With edges that weigh nothing, loops, vertices without edges and half of all in one."""
    rng = np.random.default_rng(n)
    ends = rng.integers(0, max(n * 9 // 10, 1), (2, 4 * n))
    given = {"none": (), "narrow": (rng.integers(0, 3, 4 * n),), "wide": (rng.random(4 * n),)}
    if weights == "wide":
        given["wide"][0][::3] = 0
    graph = cg.from_edges(*ends, *given[weights], n=n, directed=False, symmetrize=True)
    labels = rng.integers(0, n, n)
    labels[rng.random(n) < 0.5] = n // 2
    labels = np.unique(labels, return_index=True)[1][np.unique(labels, return_inverse=True)[1]]
    _, sorted_level, _ = coarse(device, graph, labels)
    _, merged, _ = coarse(device, graph, labels, Merging)
    assert (merged.n, merged.m) == (sorted_level.n, sorted_level.m)
    for one, other in zip(rows_of(merged), rows_of(sorted_level), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("strengths", "loops"):
        one, other = (getattr(level, name).read(merged.n) for level in (merged, sorted_level))
        np.testing.assert_array_equal(one, other)
    if n > 1 and weights == "narrow":
        assert (rows_of(merged)[2] == 0).any()


@pytest.mark.runtimes("pocl")
def test_many_threads_sort_what_few_merge(device, monkeypatch):
    """One thread would sum half of the edges while the others have long been done."""
    graph = named_graphs()["planted"]
    merged = cg.Leiden(graph, device=device)
    monkeypatch.setattr(merging, "MOST_THREADS", 0)
    sorting = cg.Leiden(graph, device=device)
    kinds = [type(plan._iterations.coarsening) for plan in (merged, sorting)]
    assert kinds == [Merging, Coarsening]
    one, other = merged.run(seed=3), sorting.run(seed=3)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.stats.levels == other.stats.levels


@everywhere
def test_who_is_not_well_connected_to_a_community_stays_alone_in_it(device):
    graph, resolution = cg.generate.kron(9, 8, seed=1), 1.01
    parts = refined_parts(graph, device, resolution)[0]
    strengths = graph.degrees.astype(np.float64)
    total = strengths.sum()
    expected = resolution * strengths * (total - strengths) / total
    loosely = strengths < expected * (1 - 1e-6)
    sizes = np.bincount(parts, minlength=graph.n)[parts]
    assert 0 < loosely.sum() < graph.n
    assert (sizes[loosely] == 1).all()
    assert (sizes[~loosely] > 1).any()
