"""Maximal independent sets: against one vertex after the other, and against networkx's rules."""

import pickle

import networkx as nx
import numpy as np
import pytest
from drawing import independent_set
from graphs import SHAPES, bundled_graphs
from searches import EMULATED_RUNTIMES

import clgraph as cg
from clgraph.algorithms.independent_set import plan
from clgraph.algorithms.independent_set.plan import _verify

on_both = pytest.mark.runtimes("pocl", "intel")
UNDIRECTED = [name for name, graph in SHAPES.items() if not graph.directed]


@on_both
@pytest.mark.parametrize("name", UNDIRECTED)
def test_shapes_one_vertex_after_the_other(name, device):
    graph = SHAPES[name]
    for seed in (0, 5 << 40 | 9):
        result = cg.maximal_independent_set(graph, seed=seed, device=device, verify=True)
        assert result.vertices.tolist() == independent_set(graph, seed)
        assert result.count == result.mask.sum()


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("name", ["power-law", "hub", "clique"])
def test_emulated_lanes(name, device):
    found = cg.maximal_independent_set(SHAPES[name], seed=3, device=device)
    assert found.vertices.tolist() == independent_set(SHAPES[name], 3)


@pytest.mark.runtimes("pocl+lanes32")
def test_lanes_decide_what_waits_for_lanes_beside_it(device, monkeypatch):
    """With turns enough a path of one SIMD group takes one round, and its set stays what it is."""
    graph = cg.generate.path(device.traits.lanes)
    rounds = {}
    for turns in (1, plan.TURNS, 40):
        monkeypatch.setattr(plan, "TURNS", turns)
        found = cg.maximal_independent_set(graph, seed=3, device=device)
        assert found.vertices.tolist() == independent_set(graph, 3)
        assert found.stats.launches == 1 + plan.FIRST_AHEAD
        rounds[turns] = len(found.stats.rounds)
    assert rounds[1] > rounds[3] >= rounds[40] == 1


@on_both
def test_a_vertex_whose_neighbours_are_all_out_walks_a_long_row(device):
    """The centre's neighbours are put out by their leaves, and the centre goes in."""
    middle = np.arange(1, 3001)
    src = np.concatenate([np.zeros_like(middle), middle])
    graph = cg.from_edges(src, np.concatenate([middle, middle + 3000]), symmetrize=True)
    result = cg.maximal_independent_set(graph, device=device)
    assert result.vertices.tolist() == [0, *range(3001, 6001)]


@on_both
def test_networkx_has_nothing_to_add(device):
    graph = dict(bundled_graphs())["as-caida20071105.npz.xz"]().symmetrized()
    found = cg.maximal_independent_set(graph, seed=1, device=device, verify=True).vertices.tolist()
    # Refuses nodes that are neighbours, and adds whatever can be.
    other = graph.to_networkx()
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    assert sorted(nx.maximal_independent_set(other, found, seed=1)) == found


def test_seeds_and_plans(any_device):
    graph = SHAPES["grid"]
    sets = cg.IndependentSet(graph, device=any_device)
    told = []
    first = sets.run(1, progress=lambda *what: told.append(what))
    other, again = sets.run(2), sets.run(1)
    copy = pickle.loads(pickle.dumps(first))  # noqa: S301
    np.testing.assert_array_equal(first.mask, again.mask)
    np.testing.assert_array_equal(copy.mask, again.mask)
    assert first.vertices.tolist() != other.vertices.tolist()
    assert told[0][1:] == (graph.n, "deciding")
    assert told[-1] == (1, 1, "deciding")
    assert first.stats.rounds[0] == graph.n
    assert first.stats.rounds == sorted(first.stats.rounds, reverse=True)
    assert first.stats.kernel_ms > 0
    assert first.stats.device_bytes >= 16 * graph.n


def test_verification_finds_what_is_wrong(any_device):
    graph = cg.generate.path(4)
    result = cg.maximal_independent_set(graph, device=any_device, verify=True)
    for chosen, words in (([0, 1], "both in the set"), ([0], "no neighbour of it")):
        result._mask._values = np.isin(np.arange(4), chosen)
        with pytest.raises(cg.VerificationError, match=words):
            _verify(graph, result)


def test_what_is_refused(any_device):
    with pytest.raises(cg.InvalidGraphError, match="symmetrized"):
        cg.maximal_independent_set(SHAPES["one-way-path"], device=any_device)
    for seed in (-1, 2**64, "a"):
        with pytest.raises(cg.InvalidArgumentError, match="seed"):
            cg.maximal_independent_set(cg.generate.path(3), seed=seed, device=any_device)


def test_without_vertices_or_edges(any_device):
    for n in (0, 1, 5):
        graph = cg.Graph(np.zeros(n + 1, int), [], directed=False)
        assert cg.maximal_independent_set(graph, device=any_device, verify=True).mask.all()
