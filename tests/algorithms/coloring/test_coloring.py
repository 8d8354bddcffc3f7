"""Greedy colouring: colour by colour what networkx gives by the same order."""

import pickle

import igraph
import networkx as nx
import numpy as np
import pytest
from drawing import color_order, neighbours
from graphs import SHAPES, bundled_graphs
from searches import EMULATED_RUNTIMES

import clgraph as cg
from clgraph.algorithms.coloring.plan import ORDERS, _verify

on_both = pytest.mark.runtimes("pocl", "intel")
UNDIRECTED = [name for name, graph in SHAPES.items() if not graph.directed]


def expected(graph, seed=0, order="largest_first"):
    """Colours by networkx, without self-loops."""
    other = graph.to_networkx()
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    vertices = color_order(graph, seed, by_degree=order == "largest_first")
    found = nx.greedy_color(other, strategy=lambda *_: vertices)
    return [found[v] for v in range(graph.n)]


@on_both
@pytest.mark.parametrize("name", UNDIRECTED)
def test_shapes(name, device):
    graph = SHAPES[name]
    for order in ORDERS:
        for seed in (0, 5 << 40 | 9):
            result = cg.greedy_color(graph, order=order, seed=seed, device=device, verify=True)
            assert result.colors.tolist() == expected(graph, seed, order)
            assert result.count == result.colors.max() + 1
            assert result.sizes.sum() == graph.n


@on_both
def test_an_order_that_is_given(device):
    graph = SHAPES["power-law"]
    order = np.random.default_rng(2).permutation(graph.n)
    result = cg.greedy_color(graph, order=order, device=device, verify=True)
    theirs = nx.greedy_color(graph.to_networkx(), strategy=lambda *_: order.tolist())
    assert result.colors.tolist() == [theirs[v] for v in range(graph.n)]
    for wrong in (order[1:], np.zeros(graph.n, int), order / 2):
        with pytest.raises(cg.InvalidArgumentError, match="order"):
            cg.greedy_color(graph, order=wrong, device=device)


@pytest.mark.runtimes(*EMULATED_RUNTIMES)
@pytest.mark.parametrize("name", ["power-law", "hub", "clique"])
def test_emulated_lanes(name, device):
    assert cg.greedy_color(SHAPES[name], device=device).colors.tolist() == expected(SHAPES[name])


@pytest.mark.rest
@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.slow_on("pocl+lanes32")
def test_more_colours_than_lanes_have_bits(device):
    """Cliques in which vertices have words of bits, and whoever comes last walks all of them."""
    graph = cg.generate.complete(700)
    result = cg.greedy_color(graph, device=device)
    assert sorted(result.colors.tolist()) == list(range(700))
    graph = cg.generate.kron(9, 64, seed=2)
    assert cg.greedy_color(graph, device=device).colors.tolist() == expected(graph)


@on_both
def test_real_graph_and_igraph(device):
    graph = dict(bundled_graphs())["as-caida20071105.npz.xz"]().symmetrized()
    result = cg.greedy_color(graph, device=device, verify=True)
    assert result.colors.tolist() == expected(graph)
    sources, targets, _ = graph.listed_edges()
    other = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets])[sources != targets])
    assert other.is_bipartite() == (result.count <= 2)
    theirs = max(other.vertex_coloring_greedy(method="dsatur")) + 1
    assert result.count <= 2 * theirs


def test_vertices_do_not_wait_for_those_whose_colours_they_cannot_get(any_device):
    """A path of growing degrees is one chain of waiting; bounds cut it."""
    graph = cg.generate.kron(11, 16, seed=1)
    order = color_order(graph, 0, by_degree=True)
    depth = dict.fromkeys(order, 1)
    rank = {v: place for place, v in enumerate(order)}
    for v in order:
        before = [depth[u] for u in neighbours(graph, v) if rank[u] < rank[v]]
        depth[v] = 1 + max(before, default=0)
    result = cg.greedy_color(graph, device=any_device)
    assert len(result.stats.rounds) < 1.3 * result.count
    assert max(depth.values()) > 2 * len(result.stats.rounds)


def test_seeds_and_plans(any_device):
    graph = SHAPES["grid"]
    plan = cg.Coloring(graph, device=any_device)
    told = []
    first = plan.run(1, progress=lambda *what: told.append(what))
    other, again = plan.run(2), plan.run(1)
    copy = pickle.loads(pickle.dumps(first))  # noqa: S301
    np.testing.assert_array_equal(first.colors, again.colors)
    np.testing.assert_array_equal(copy.colors, again.colors)
    assert first.colors.tolist() != other.colors.tolist()
    assert told[0][1:] == (graph.n, "colouring")
    assert told[-1] == (1, 1, "colouring")
    assert first.stats.kernel_ms > 0
    assert first.stats.device_bytes >= 20 * graph.n + 4 * graph.m


def test_verification_finds_what_is_wrong(any_device):
    graph = cg.generate.path(4)
    result = cg.greedy_color(graph, device=any_device, verify=True)
    for colors, words in (([0, 0, 1, 0], "both of colour 0"), ([0, 1, 0, 2], "vertex 3")):
        result._colors._values = np.array(colors, np.int32)
        with pytest.raises(cg.VerificationError, match=words):
            _verify(graph, result)


def test_what_is_refused(any_device):
    with pytest.raises(cg.InvalidGraphError, match="symmetrized"):
        cg.greedy_color(SHAPES["one-way-path"], device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="order"):
        cg.greedy_color(cg.generate.path(3), order="smallest_last", device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="seed"):
        cg.greedy_color(cg.generate.path(3), seed=-1, device=any_device)


def test_without_vertices_or_edges(any_device):
    for n in (0, 1, 5):
        graph = cg.Graph(np.zeros(n + 1, int), [], directed=False)
        result = cg.greedy_color(graph, device=any_device, verify=True)
        assert result.colors.tolist() == [0] * n
        assert result.count == min(n, 1)
