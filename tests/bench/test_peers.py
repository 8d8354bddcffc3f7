"""Peers of every problem give what an independent oracle gives, where they are installed."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graphs import reference_distances
from hypothesis import given as given_by_hypothesis
from hypothesis import strategies as st

import clgraph as cg
from bench.peers import bfs as bfs_peers
from bench.peers import components as components_peers
from bench.peers import ranking as ranking_peers
from bench.peers import sssp as sssp_peers
from bench.peers.components import by_smallest_member
from bench.peers.peer import version_of
from bench.runner.graphs import with_weights

GRAPHS = {
    "directed": cg.generate.rmat(6, 3, seed=5),
    "undirected": cg.generate.kron(6, 2, seed=5),
    "apart": cg.from_edges([0, 2, 3, 4], [1, 3, 4, 2], n=7),
}
NEEDS_CARD = {"cupy", "cugraph"}  # the former is played by numpy below


def on_processors(peers):
    return [name for name in peers if name not in NEEDS_CARD]


def peer_of(peers, name, graph):
    if version_of(peers[name].package) is None:
        pytest.skip(f"{peers[name].package} is not installed")
    return peers[name](graph)


def given(peers, name, graph, source=0):
    peer = peer_of(peers, name, graph)
    answer, spent_ms = peer.timed(source)
    assert spent_ms > 0
    return peer.values(answer, source)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", on_processors(bfs_peers.PEERS))
def test_searches(name, graph):
    found = given(bfs_peers.PEERS, name, graph, 2)
    np.testing.assert_array_equal(found, reference_distances(graph, 2))


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", on_processors(sssp_peers.PEERS))
def test_shortest_paths(name, graph):
    graph = with_weights(graph)
    found = given(sssp_peers.PEERS, name, graph, 2)
    expected = np.full(graph.n, np.inf)
    for vertex, length in nx.single_source_bellman_ford_path_length(graph.to_networkx(), 2).items():
        expected[vertex] = length
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", sorted(set(ranking_peers.RANKS) - {"networkx"}))
def test_ranks(name, graph):
    found = given(ranking_peers.RANKS, name, graph)
    ranks = nx.pagerank(graph.to_networkx(), alpha=ranking_peers.ALPHA, tol=1e-12, max_iter=1000)
    expected = np.array([ranks[vertex] for vertex in range(graph.n)]) * graph.n
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", on_processors(components_peers.STRONG))
def test_components(name, graph):
    directed = graph.to_networkx().to_directed()
    for peers, components in (
        (components_peers.STRONG, nx.strongly_connected_components),
        (components_peers.WEAK, nx.weakly_connected_components),
    ):
        expected = np.empty(graph.n, int)
        for place, members in enumerate(sorted(components(directed), key=min)):
            expected[list(members)] = place
        np.testing.assert_array_equal(given(peers, name, graph), expected)


class OnCard(np.ndarray):
    """An array that must be fetched to be looked at."""

    def get(self):
        return np.asarray(self)


@pytest.fixture
def cupy(monkeypatch):
    """NumPy and scipy under the names of cupy's modules."""
    fake = SimpleNamespace(
        full=lambda n, value, dtype: np.full(n, value, dtype).view(OnCard),
        zeros=np.zeros,
        int32=np.int32,
        float32=np.float32,
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setitem(sys.modules, "cupyx.scipy.sparse", scipy.sparse)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.usefixtures("cupy")
def test_products_on_the_card(graph):
    peer = bfs_peers.Cupy(graph)
    found = peer.values(peer.run(2), 2)
    np.testing.assert_array_equal(found, reference_distances(graph, 2))


@pytest.mark.usefixtures("cupy")
def test_products_stop_where_a_graph_is_deep():
    path = cg.generate.path(bfs_peers.Cupy.most_levels + 5)
    peer = bfs_peers.Cupy(path)
    answer, _ = peer.timed(0)
    assert "more than 200 levels" in peer.complaint(answer, 0, reference_distances(path, 0), {})


@given_by_hypothesis(st.lists(st.integers(-5, 5), max_size=60))
def test_renumbering_keeps_who_is_with_whom_and_orders_by_smallest_member(labels):
    found = by_smallest_member(labels).tolist()
    seen: dict[int, int] = {}
    assert found == [seen.setdefault(label, len(seen)) for label in labels]


def test_oracles_of_components():
    labels = components_peers.strong_labels(GRAPHS["apart"])
    assert labels.tolist() == [0, 1, 2, 2, 2, 3, 4]
    labels = components_peers.weak_labels(GRAPHS["apart"])
    assert labels.tolist() == [0, 0, 1, 1, 1, 2, 3]
    assert by_smallest_member([7, 3, 7, 9, 3]).tolist() == [0, 1, 0, 2, 1]
