"""Cores: the same engine, with vertices for items and degrees for counts."""

import pickle

import igraph
import networkx as nx
import numpy as np
import pytest
from graphs import bundled_graphs
from peeling import core_numbers_of, hub_and_cliques, random_graph

import clgraph as cg

on_both = pytest.mark.runtimes("pocl", "intel")
REAL = dict(bundled_graphs())


@pytest.mark.parametrize("preset", cg.CoresConfig.presets())
def test_core_numbers_and_every_core(preset, device):
    for graph in (hub_and_cliques(), random_graph(80, 900, 4), cg.generate.grid2d(12, 9)):
        expected = core_numbers_of(graph)
        plan = cg.Cores(graph, config=preset, device=device)
        result = plan.run()
        assert result.numbers.dtype == np.uint32
        np.testing.assert_array_equal(result.numbers, expected)
        assert result.max_k == expected.max()
        for k in (0, 1, 2, int(expected.max()), int(expected.max()) + 1):
            core = plan.run(k)
            np.testing.assert_array_equal(core.mask, expected >= k)
            assert core.count == (expected >= k).sum()


@on_both
def test_networkx_and_igraph_agree(device):
    graph = random_graph(90, 1000, 7)
    found = cg.core_numbers(graph, device=device)
    other = graph.to_networkx()
    assert dict(enumerate(found.tolist())) == nx.core_number(other)
    sources, targets, _ = graph.listed_edges()
    theirs = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets])).coreness()
    assert found.tolist() == theirs
    for k in range(int(found.max()) + 2):
        core = cg.k_core(graph, k, device=device)
        assert core.labels.tolist() == sorted(nx.k_core(other, k).nodes())
        assert core.m == 2 * nx.k_core(other, k).number_of_edges()


@on_both
def test_more_rounds_than_stamps(device):
    """A path is peeled from both ends: 500 rounds, of which a byte tells 250 apart."""
    several = cg.schedule.Persistent(group_size=4 * device.traits.lanes)
    for schedule in (None, several):
        config = cg.CoresConfig(schedule=schedule)
        result = cg.Cores(cg.generate.path(1000), config=config, device=device).run()
        assert (result.numbers == 1).all()
        assert len(result.stats.rounds) == 500
        assert result.stats.visited == 1994  # the last two have nobody left to tell


@on_both
@pytest.mark.parametrize("name", ["classic-karate.npz.xz", "as-caida20071105.npz.xz"])
def test_real_graphs(name, device):
    plan = cg.Cores(REAL[name](), device=device, clean=True)
    sources, targets, _ = plan.simple.listed_edges()
    theirs = igraph.Graph(n=plan.simple.n, edges=np.column_stack([sources, targets])).coreness()
    assert plan.run().numbers.tolist() == theirs


@on_both
def test_cleaning_and_what_is_refused(device):
    looped = cg.from_edges([0, 1, 1, 2], [1, 2, 1, 0], directed=True)
    with pytest.raises(cg.InvalidGraphError, match="clean=True"):
        cg.core_numbers(looped, device=device)
    assert cg.core_numbers(looped, clean=True, device=device).tolist() == [2, 2, 2]
    core = cg.k_core(looped, 2, clean=True, device=device)
    assert (core.n, core.m, core.mask.sum()) == (3, 6, 3)
    for k, words in ((-1, "at least 0"), (1.5, "integer")):
        with pytest.raises(cg.InvalidArgumentError, match=words):
            cg.k_core(cg.generate.complete(4), k, device=device)


@on_both
def test_without_vertices_or_edges(device):
    for n in (0, 1, 5):
        graph = cg.Graph(np.zeros(n + 1, int), [], directed=False)
        assert cg.core_numbers(graph, device=device).tolist() == [0] * n
        assert cg.k_core(graph, 0, device=device).n == n
        assert cg.k_core(graph, 1, device=device).n == 0


@on_both
def test_verification_and_copies(device):
    plan = cg.Cores(random_graph(80, 900, 4), device=device)
    result = plan.run(verify=True)
    plan.run(3, verify=True)
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301
    np.testing.assert_array_equal(copy.numbers, result.numbers)
    result._values._values = result.numbers + 1
    with pytest.raises(cg.VerificationError, match="another way"):
        plan._verify(result, None)


def test_cores_that_there_can_be_none_of(pocl):
    """As of trusses: beyond the greatest k there is nothing, however large k is."""
    graph = cg.generate.complete(4)
    for k in (4, 2**32, 2**32 + 3, 2**70):
        core = cg.k_core(graph, k, device=pocl)
        assert (core.k, core.n, core.m) == (k, 0, 0)
        assert cg.k_truss(graph, k + 1, device=pocl).n == 0
    for k in (None, -1, 2.5):
        with pytest.raises(cg.InvalidArgumentError, match="k="):
            cg.k_core(graph, k, device=pocl)
