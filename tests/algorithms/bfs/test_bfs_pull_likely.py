"""The likeliest parent of a vertex is tried before its row; results are the same without."""

import dataclasses

import numpy as np
import pytest
from searches import MIXED, MIXED_ONE_WAY, check_search

import clgraph as cg
from clgraph import pull
from clgraph.algorithms.bfs.likely import LOOKED_AT, likely_parents
from clgraph.algorithms.bfs.stages import lists_pulled
from clgraph.engine.choose import resolve


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("kept", [1, 2, 4])
def test_the_in_neighbours_of_most_edges_are_found(kept, device):
    for graph in (MIXED, MIXED_ONE_WAY, cg.Graph([0, 0], [])):
        back = graph.transpose() if graph.directed else graph
        found = likely_parents(graph, back, kept, device)
        assert found is likely_parents(graph, back, kept, device)
        for v, parents in enumerate(found.read().reshape(-1, kept)):
            row = back.indices[back.indptr[v] : back.indptr[v + 1]][:LOOKED_AT]
            best = np.sort(graph.degrees[row])[::-1][:kept]
            assert np.isin(parents[: best.size], row).all()
            if row.size <= kept:
                np.testing.assert_array_equal(np.sort(parents[: row.size]), np.sort(row))
            np.testing.assert_array_equal(graph.degrees[parents[: best.size]], best)
            assert (parents[best.size :] == v).all()


@pytest.mark.runtimes("intel", "pocl+lanes8")
@pytest.mark.parametrize(("kept", "predecessors"), [(1, True), (2, False), (2, True), (4, True)])
def test_a_likely_parent_is_a_parent(kept, predecessors, device):
    config = cg.BFSConfig(pull=pull.ByEdges(alpha=2**30, floor=2**30, likely=kept))
    for graph in (MIXED, MIXED_ONE_WAY):
        plan = cg.BFS(graph, predecessors, config, device)
        for source in (0, 7):
            result = plan.run(source)
            check_search(graph, source, result)


def _rows_that_end_in_a_parent(longest):
    """Give a graph whose vertex k has the only parent at 2 hops at the end of k others.

    These others, which have more edges and are likelier parents, are reached later.
    """
    others, parent = longest, 2 * longest + 1
    source = parent + 1
    rows = [(k, longest + other) for k in range(1, others + 1) for other in range(1, k + 1)]
    leaves = [
        (longest + other, source + 1 + leaf)
        for other in range(1, others + 1)
        for leaf in range(2 * longest)
    ]
    ends = [(k, parent) for k in range(1, others + 1)]
    return cg.from_edges(*np.array([*rows, *leaves, *ends, (parent, source)]).T, symmetrize=True)


@pytest.mark.runtimes("intel", "pocl+lanes8")
@pytest.mark.parametrize(("kept", "probes"), [(1, 4), (4, 16)])
def test_a_parent_is_found_wherever_in_a_row_it_is(kept, probes, device):
    """Among the likely ones, those that lanes try, and those that they try together."""
    graph = _rows_that_end_in_a_parent(80)
    rule = pull.ByEdges(alpha=2**30, floor=2**30, likely=kept, probes=probes)
    plan = cg.BFS(graph, True, cg.BFSConfig(pull=rule), device)
    result = plan.run(162)
    assert (result.distances[1:81] == 2).all()
    assert (result.predecessors[1:81] == 161).all()
    check_search(graph, 162, result)


@pytest.mark.runtimes("intel", "pocl+lanes8")
@pytest.mark.parametrize("kept", [1, 4])
def test_likely_parents_follow_rows_in_blocks(kept, device):
    """Rows that no longer hold an edge, or hold others, have other parents."""
    config = cg.BFSConfig(pull=pull.ByEdges(alpha=2**30, floor=2**30, likely=kept))
    graph = cg.DynamicGraph(cg.generate.kron(7, seed=4), device=device, block_edges=64)
    plan = cg.BFS(graph, True, config)
    rng = np.random.default_rng(4)
    for turn in range(5):
        packed = graph.to_graph()
        for source in (0, 7):
            check_search(packed, source, plan.run(source))
        assert (device, kept) in plan.graph.kept[likely_parents]
        back = likely_parents(plan.graph, plan.graph, kept, device).read().reshape(-1, kept)
        for v, parents in enumerate(back):
            row = packed.indices[packed.indptr[v] : packed.indptr[v + 1]][:LOOKED_AT]
            best = np.sort(packed.degrees[row])[::-1][:kept]
            np.testing.assert_array_equal(packed.degrees[parents[: best.size]], best)
            assert np.isin(parents[: best.size], row).all()
            assert (parents[best.size :] == v).all()
        edges = np.repeat(np.arange(packed.n), packed.degrees), packed.indices
        gone = rng.permutation(packed.m)[: packed.m // 2]
        graph.delete_edges(*(ends[gone] for ends in edges))
        # Loops, parallel edges, new vertices and a hub.
        some = rng.integers(0, packed.n + 3 * turn, (2, 60))
        graph.insert_edges(*some, duplicates="keep" if turn == 2 else "drop")
        graph.insert_edges([turn] * packed.n, np.arange(packed.n))


def test_a_push_before_a_level_that_surely_pulls_queues_nothing(intel):
    """Where vertices have many edges, and only where likely parents are kept; results are the same.

    The frontier before it is narrow, and levels behind it are few and pull or are pushed by one
    group: no SIMD group ever takes room in the queue for what it found.
    """
    rng = np.random.default_rng(1)
    graph = cg.from_edges(*rng.integers(0, 6000, (2, 6000 * 16)), n=6000, symmetrize=True)
    reservations = {}
    for kept in (0, 4):
        rule = pull.ByEdges(alpha=14, floor=64, gain=6, looks=1, likely=kept)
        plan = cg.BFS(graph, True, cg.BFSConfig(pull=rule, counts=True), intel)
        result = plan.run(3)
        check_search(graph, 3, result)
        directions = [str(level["direction"]) for level in result.stats.per_level]
        assert directions[:3] == ["push", "push", "pull"]
        reservations[kept] = result.stats.counters["RESERVATIONS"]
    assert reservations[0] > 0
    assert reservations[4] == 0


def test_after_a_push_that_queues_nothing_a_level_pulls_whatever_that_found(intel):
    """Where nearly all of its edges lead to the same few vertices, from which no rule would pull.

    They are no queue either, so that a level which pushes finds nothing.
    """
    rng = np.random.default_rng(1)
    wide, few, others = 1000, 40, 30_000
    first_few, first_other = 1 + wide, 1 + wide + few
    pairs = [
        [(0, 1 + k) for k in range(wide)],
        [(1 + k, first_few + j) for k in range(wide) for j in range(few)],
        [(first_few + j, first_other + j) for j in range(few)],
        first_other + rng.integers(0, others, (16 * others, 2)),
    ]
    graph = cg.from_edges(*np.concatenate(pairs).T, symmetrize=True)
    rule = pull.ByEdges(alpha=14, floor=64, gain=6, looks=1, likely=4)
    result = cg.BFS(graph, True, cg.BFSConfig(pull=rule, counts=True), intel).run(0)
    check_search(graph, 0, result)
    levels = result.stats.per_level
    assert levels["frontier"][:3].tolist() == [1, wide, few]
    assert levels["direction"][:3].tolist() == ["push", "push", "pull"]


@pytest.mark.parametrize("directed", [False, True])
def test_a_search_ends_with_the_last_vertex_that_has_in_edges(directed, intel):
    """Nobody expands the level that it is in; a source that nothing leads to is none of these."""
    rule = pull.ByEdges(alpha=14, floor=64, gain=6, looks=1)
    for n in (4, 40):
        graph = cg.from_edges(np.arange(n - 1), np.arange(1, n), symmetrize=not directed)
        for single in (False, True):
            schedule = cg.schedule.Persistent(single_group=single)
            plan = cg.BFS(graph, True, cg.BFSConfig(pull=rule, schedule=schedule), intel)
            for source in {0, n // 2}:
                result = plan.run(source)
                check_search(graph, source, result)
                ends = result.stats.per_level["direction"] == "end"
                assert ends[-1] == (source == 0 or not directed)
                assert not ends[:-1].any()


def test_they_are_tried_where_vertices_may_have_many_edges(intel):
    """And where that was measured; few of them where hubs are likelier than anyone else.

    Prices are weighed and levels listed there too and nowhere else: on a road network of thousands
    of levels both together took two thirds more time.
    """
    unknown = dataclasses.replace(intel.traits, is_cpu=False)
    gpu = dataclasses.replace(unknown, compute_capability=(9, 0))

    def resolved(traits=gpu, rule=None, **of_graph):
        facts = {"m": 1_000_000, "max_degree": 40, "mean_degree": 4.0, **of_graph}
        return resolve(cg.BFSConfig(pull=rule), traits, predecessors=False, **facts)

    def likely(*of, **options):
        config = resolved(*of, **options)
        if "rule" not in options:
            assert bool(config.pull.looks) == bool(config.pull.likely)
        assert lists_pulled(config) == bool(config.pull.likely)
        return config.pull.likely

    assert likely() == 0
    assert likely(mean_degree=16.0) == 4
    assert likely(mean_degree=16.0, max_degree=100_000) == 1
    assert likely(max_degree=100_000) == 1
    assert likely(mean_degree=16.0, max_degree=1000) == 1
    assert likely(mean_degree=4.0, max_degree=1000) == 0
    assert likely(rule=pull.ByEdges(likely=2)) == 2
    for traits in (intel.traits, unknown):
        assert likely(traits, mean_degree=16.0, max_degree=100_000) == 0
    # Where no vertex has the edges of a hub elsewhere fewer make one, if vertices have many.
    skewed = {"mean_degree": 32.0, "max_degree": 1000}
    assert (resolved(**skewed).hub_degree, resolved(**skewed).group_resident) == (
        16 * gpu.lanes,
        False,
    )
    assert resolved(mean_degree=4.0, max_degree=1000).hub_degree == 0
    assert resolved(mean_degree=32.0, max_degree=16 * gpu.lanes - 1).hub_degree == 0
    assert resolved(mean_degree=32.0, max_degree=64 * gpu.lanes).hub_degree == 64 * gpu.lanes
    assert resolved(unknown, **skewed).hub_degree == 0
    # Whoever says a number of the rule has that, zero too, and no prices beside it.
    for rule in (pull.ByEdges(gain=0), pull.ByEdges(gain=4), pull.ByEdges(alpha=9)):
        decided = resolved(rule=rule, max_degree=100_000).pull
        assert decided.looks == 0
        assert decided.gain == (rule.gain or 0)
