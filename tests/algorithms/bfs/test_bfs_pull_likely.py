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
    assert likely(rule=pull.ByEdges(likely=2)) == 2
    for traits in (intel.traits, unknown):
        assert likely(traits, mean_degree=16.0, max_degree=100_000) == 0
    # Whoever says a number of the rule has that, zero too, and no prices beside it.
    for rule in (pull.ByEdges(gain=0), pull.ByEdges(gain=4), pull.ByEdges(alpha=9)):
        decided = resolved(rule=rule, max_degree=100_000).pull
        assert decided.looks == 0
        assert decided.gain == (rule.gain or 0)
