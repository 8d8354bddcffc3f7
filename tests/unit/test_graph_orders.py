"""Statistics, orders and generators."""

from collections.abc import Callable

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import clgraph.graph as cgg
from clgraph.errors import InvalidArgumentError
from clgraph.graph import Graph, generate

MAKERS: dict[str, Callable[..., Graph]] = {
    "kron": lambda **options: generate.kron(9, 8, **options),
    "rmat": lambda **options: generate.rmat(9, 8, **options),
    "random": lambda **options: generate.random(500, 6, **options),
    "random-directed": lambda **options: generate.random(500, 6, directed=True, **options),
    "grid2d": lambda **options: generate.grid2d(13, 7, **options),
    "grid3d": lambda **options: generate.grid3d(5, 4, 3, **options),
    "mesh": lambda **options: generate.mesh(13, 7, **options),
    "geometric": lambda **options: generate.geometric(400, **options),
    "road": lambda **options: generate.road(30, 20, **options),
    "path": lambda **options: generate.path(9, **options),
    "star": lambda **options: generate.star(9, **options),
    "complete": lambda **options: generate.complete(9, **options),
}


def same(first: Graph, second: Graph) -> bool:
    return np.array_equal(first.indptr, second.indptr) and np.array_equal(
        first.indices, second.indices
    )


@pytest.mark.parametrize("name", MAKERS)
def test_generated_graphs_are_simple_and_seeded(name: str) -> None:
    """bfs-enterprise 24, bfs-merrill 23: Kronecker, R-MAT, G(n, M) and lattices, seeded."""
    graph = MAKERS[name]()
    assert Graph(graph.indptr, graph.indices, directed=graph.directed).m == graph.m
    found = graph.statistics()
    assert (found.self_loops, found.parallel_edges) == (0, 0)
    assert graph.directed == (name in ("rmat", "random-directed"))
    assert same(graph, MAKERS[name](seed=0))
    if name in ("kron", "rmat", "random", "random-directed", "mesh", "geometric", "road"):
        assert not same(graph, MAKERS[name](seed=1))


def test_edges_are_drawn_by_the_published_chances() -> None:
    """bfs-enterprise 24, bfs-merrill 23: of a quadrant; ends are shared as halves of it have it."""
    assert same(generate.kron(9), generate.kron(9, a=0.57, b=0.19, c=0.19))
    assert same(generate.rmat(9), generate.rmat(9, a=0.45, b=0.15, c=0.15))
    graph = generate.rmat(13, 2, b=0.1, c=0.25)
    for degrees, half in ((graph.degrees, 0.55), (graph.transpose().degrees, 0.7)):
        ends = degrees.astype(float)
        shared = (ends * (ends - 1)).sum() / (graph.m * (graph.m - 1))
        assert shared == pytest.approx((half**2 + (1 - half) ** 2) ** 13, rel=0.1)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("bounds", [(1, 100), (0.5, 2.0), (-3, -3)])
def test_generated_weights(name: str, bounds: tuple[float, float]) -> None:
    graph = MAKERS[name](weights=bounds)
    assert same(graph, MAKERS[name]())
    assert graph.weights.dtype == (np.float64 if isinstance(bounds[0], float) else np.int32)
    assert bounds[0] <= graph.weights.min()
    assert graph.weights.max() <= bounds[1]
    Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)


def test_generated_shapes() -> None:
    assert nx.is_isomorphic(generate.grid2d(4, 3).to_networkx(), nx.grid_2d_graph(4, 3))
    assert nx.is_isomorphic(generate.grid3d(3, 2).to_networkx(), nx.grid_graph((3, 2, 2)))
    assert nx.utils.graphs_equal(generate.path(6).to_networkx(), nx.path_graph(6))
    assert nx.utils.graphs_equal(generate.star(6).to_networkx(), nx.star_graph(5))
    assert nx.utils.graphs_equal(generate.complete(6).to_networkx(), nx.complete_graph(6))
    assert generate.grid2d(5).n == 25
    assert generate.grid3d(3).n == 27
    for make in (
        generate.path,
        generate.star,
        generate.complete,
        generate.grid2d,
        generate.geometric,
    ):
        assert (make(1).n, make(1).m) == (1, 0)
    assert generate.kron(0).n == 1


def test_grids_are_numbered_along_x() -> None:
    graph = generate.grid2d(4, 3)
    assert graph.indices[graph.indptr[5] : graph.indptr[6]].tolist() == [1, 4, 6, 9]


def test_geometric_graphs_join_what_is_close() -> None:
    graph = generate.geometric(300, 0.1)
    degree = 300 * np.pi * 0.1**2
    assert 0.6 * degree < graph.mean_degree < 1.1 * degree
    assert generate.geometric(50, 2.0).m == 50 * 49


def test_roads_are_connected_and_deep() -> None:
    graph = generate.road(60)
    distances = graphs.reference_distances(graph, 0)
    assert distances.min() == 0
    assert distances.max() > 90
    assert generate.road(5, drop=0.0).n == 25
    assert generate.road(5, drop=1.0).n == 1


def test_power_laws_are_skewed() -> None:
    skewed, even = generate.kron(12).statistics(), generate.random(1 << 12, 32).statistics()
    assert skewed.gini > 0.5
    assert even.gini < 0.2
    assert skewed.max_degree > 5 * even.max_degree
    assert 0.8 * 32 < even.mean_degree <= 32
    quadrants = generate.rmat(12, 4, a=1.0, b=0.0, c=0.0)
    assert quadrants.m == 0  # every edge is a loop at the first vertex


@pytest.mark.parametrize(
    "call",
    [
        lambda: generate.kron(-1),
        lambda: generate.kron(99),
        lambda: generate.kron(2.5),
        lambda: generate.kron(4, -3),
        lambda: generate.kron(4, float("nan")),
        lambda: generate.kron(4, a=0.9, b=0.2),
        lambda: generate.kron(4, a=-0.1),
        lambda: generate.kron(40),
        lambda: generate.kron(4, seed=-1),
        lambda: generate.kron(4, seed="x"),
        lambda: generate.kron(4, weights=5),
        lambda: generate.kron(4, weights=(5, 1)),
        lambda: generate.kron(4, weights=(0, 2**40)),
        lambda: generate.kron(4, weights=(0, float("inf"))),
        lambda: generate.random(0),
        lambda: generate.random(10, 1e18),
        lambda: generate.grid2d(0),
        lambda: generate.grid2d(1 << 20, 1 << 20),
        lambda: generate.grid3d(10, 0),
        lambda: generate.geometric(10, "wide"),
        lambda: generate.road(5, drop=2),
        lambda: generate.complete(10**7),
        lambda: generate.path(None),
        lambda: generate.star(True * 0),
    ],
)
def test_bad_arguments(call: Callable[[], Graph]) -> None:
    with pytest.raises(InvalidArgumentError):
        call()


@pytest.mark.parametrize("shape", graphs.SHAPES)
@pytest.mark.parametrize("order", ["degree", "rcm", "hub"])
def test_reordered_graphs_are_the_same_graph(shape: str, order: str) -> None:
    graph = graphs.SHAPES[shape]
    weighted = Graph(
        graph.indptr, graph.indices, np.arange(graph.m), labels=[f"v{v}" for v in range(graph.n)]
    )
    result = weighted.reordered(order)
    old = result.permutation
    assert sorted(old.tolist()) == list(range(graph.n))
    assert result.labels.tolist() == [f"v{v}" for v in old]
    sources = np.repeat(np.arange(graph.n), result.degrees)
    before = sorted(zip(old[sources], old[result.indices], result.weights, strict=True))
    original = np.repeat(np.arange(graph.n), graph.degrees)
    assert before == sorted(zip(original, graph.indices, weighted.weights, strict=True))
    assert graph.reordered(order).directed == graph.directed
    Graph(result.indptr, result.indices)


def test_orders() -> None:
    graph = graphs.SHAPES["power-law"]
    by_degree = graph.reordered("degree")
    assert (np.diff(by_degree.degrees) <= 0).all()
    hubs = graph.reordered("hub")
    count = np.count_nonzero(graph.degrees > graph.mean_degree)
    assert (hubs.degrees[:count] > graph.mean_degree).all()
    assert (np.diff(hubs.permutation[count:]) > 0).all()
    shuffled = cgg.from_edges(
        *np.random.default_rng(0).permutation(400)[np.array([range(399), range(1, 400)])],
        symmetrize=True,
    )
    banded = shuffled.reordered("rcm")
    sources = np.repeat(np.arange(400), banded.degrees)
    assert abs(sources - banded.indices).max() == 1
    with pytest.raises(InvalidArgumentError, match="degree, hub, rcm"):
        graph.reordered("random")


@given(graphs.graphs())
def test_statistics_agree_with_networkx(graph: Graph) -> None:
    found = graph.statistics()
    other = graph.to_networkx()
    assert found.vertices == other.number_of_nodes() == graph.n
    assert found.edges == other.number_of_edges()
    assert found.self_loops == nx.number_of_selfloops(other)
    assert found.isolated == nx.number_of_isolates(other)
    degrees = graph.degrees
    assert found.mean_degree == pytest.approx(degrees.mean())
    assert found.std_degree == pytest.approx(degrees.std())
    assert (found.min_degree, found.max_degree) == (degrees.min(), degrees.max())
    assert found.max_degree == graph.max_degree
    total = np.abs(degrees[:, None] - degrees[None, :]).sum()
    gini = total / (2 * graph.n * degrees.sum()) if degrees.sum() else 0.0
    assert found.gini == pytest.approx(gini, abs=1e-12)
    pairs = set(
        zip(np.repeat(np.arange(graph.n), degrees).tolist(), graph.indices.tolist(), strict=True)
    )
    assert found.parallel_edges == graph.m - len(pairs)
    assert graph.statistics() is found
    assert found.as_dict()["vertices"] == graph.n


def test_statistics_of_nothing() -> None:
    found = Graph([0], []).statistics()
    assert (found.vertices, found.edges, found.max_degree, found.gini) == (0, 0, 0, 0.0)
    assert Graph([0], []).mean_degree == 0.0


def test_large_graphs_are_counted_in_pieces() -> None:
    star = generate.star(5_000_000)
    found = star.statistics()
    assert (found.max_degree, found.self_loops, found.parallel_edges) == (4_999_999, 0, 0)
    loops = cgg.from_edges(np.arange(4_500_000), np.arange(4_500_000))
    assert loops.statistics().self_loops == 4_500_000
