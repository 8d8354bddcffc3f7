"""Every function that the backend serves gives what networkx gives."""

import math
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms as registered
from nx_graphs import KINDS
from scipy.sparse import csgraph

from clgraph.interop.networkx import NetworkxGraph, backend, components, reachability
from clgraph.interop.networkx.reachability import generations
from clgraph.interop.networkx.searching import Searches

pytestmark = pytest.mark.usefixtures("on_any_device")

SINCE_3_7 = tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 7)

SETS = "sets"  # a collection of sets, in any order
PATHS = "paths"  # shortest paths, of which others may be as short
ANY = "any"  # a list in any order
ALL = "all paths"  # lists of paths, in any order
CLOSE = "close"  # found by another method, to a tolerance


def first(graph):
    return next(iter(graph))


def some(graph, count):
    return random.Random(1).sample(list(graph), count)  # noqa: S311


def farthest(graph):
    reached = list(nx.single_source_shortest_path_length(graph, first(graph)))
    return reached[-1]


U, C, D, S, A, M, MD, N, T, DISTINCT, P = (
    *("undirected", "connected", "directed", "strong", "acyclic", "multi", "multi_directed"),
    *("negative", "tree", "distinct", "petersen"),
)
EVERY = (U, C, D, S, M, MD)
UNDIRECTED, DIRECTED = (U, C, M), (D, S, A, MD)
SIMPLE = (U, C)

# name -> (graphs, calls, how results are compared)
SOURCE = [lambda g: (first(g),), lambda g: (some(g, 3)[2], 2)]
PLAIN_SOURCE = [lambda g: (first(g),)]
TARGETED = [lambda g: (first(g), farthest(g))]
NONE = [lambda _: ()]
# Networkx brings those that are not normalized to another length since 3.7.
HITS_UNSCALED = [] if SINCE_3_7 else [lambda _: {"normalized": False}]
HOPS_OR_WEIGHT = [lambda _: (), lambda _: {"weight": "weight"}]
SOURCES = [lambda g: (set(some(g, 3)),)]
BETWEEN = [
    lambda _: {},
    lambda _: {"normalized": False},
    lambda _: {"weight": "weight"},
    lambda _: {"k": 7, "seed": 5},
    lambda _: {"k": 7, "seed": 5, "normalized": False},
    lambda _: {"k": 1, "seed": 5},
]
SUBSET = [
    lambda g: {"sources": some(g, 5), "targets": some(g, 9), "normalized": True},
    lambda g: {"sources": some(g, 5), "targets": some(g, 9)},
]
CASES = {
    "single_source_shortest_path_length": (EVERY, SOURCE, None),
    "single_target_shortest_path_length": (EVERY, SOURCE, None),
    "all_pairs_shortest_path_length": (EVERY, [lambda _: (), lambda _: (3,)], None),
    "single_source_shortest_path": (EVERY, SOURCE, None),
    "single_target_shortest_path": (EVERY, SOURCE, PATHS),
    "all_pairs_shortest_path": ((U, D), NONE, None),
    "bidirectional_shortest_path": (EVERY, TARGETED, PATHS),
    "predecessor": (
        EVERY,
        [
            *SOURCE,
            lambda g: {"source": first(g), "return_seen": True},
            lambda g: {"source": first(g), "target": farthest(g), "return_seen": True},
            lambda g: {"source": first(g), "cutoff": 2},
        ],
        None,
    ),
    "bfs_edges": (
        EVERY,
        [*PLAIN_SOURCE, lambda g: {"source": first(g), "depth_limit": 2}],
        None,
    ),
    "generic_bfs_edges": (EVERY, PLAIN_SOURCE, None),
    "bfs_tree": (EVERY, PLAIN_SOURCE, None),
    "bfs_predecessors": (EVERY, PLAIN_SOURCE, None),
    "bfs_successors": (EVERY, PLAIN_SOURCE, None),
    "descendants_at_distance": (EVERY, [lambda g: (first(g), 2), lambda g: (first(g), 0)], None),
    "bfs_layers": (EVERY, [*PLAIN_SOURCE, lambda g: (some(g, 3),)], None),
    "bfs_labeled_edges": (EVERY, [*PLAIN_SOURCE, lambda g: (some(g, 3),)], None),
    "shortest_path": (
        EVERY,
        [
            lambda g: {"source": first(g)},
            lambda g: {"source": first(g), "target": farthest(g), "weight": "weight"},
            lambda g: {"target": farthest(g)},
        ],
        PATHS,
    ),
    "shortest_path_length": (
        EVERY,
        [
            lambda g: {"source": first(g)},
            lambda g: {"source": first(g), "target": farthest(g), "weight": "weight"},
            lambda g: {"target": farthest(g), "weight": "weight", "method": "bellman-ford"},
        ],
        None,
    ),
    "has_path": (EVERY, [lambda g: tuple(some(g, 2))], None),
    "all_shortest_paths": (
        EVERY,
        [lambda g: (first(g), farthest(g)), lambda g: (first(g), farthest(g), "weight")],
        ANY,
    ),
    "single_source_all_shortest_paths": ((C, D), [lambda g: (first(g), "weight")], ALL),
    "all_pairs_all_shortest_paths": ((T, A), NONE, ALL),
    "dijkstra_path": (EVERY, TARGETED, PATHS),
    "dijkstra_path_length": (EVERY, TARGETED, None),
    "single_source_dijkstra": (EVERY, PLAIN_SOURCE, PATHS),
    "single_source_dijkstra_path": (EVERY, PLAIN_SOURCE, PATHS),
    "single_source_dijkstra_path_length": (EVERY, SOURCE, None),
    "multi_source_dijkstra": ((DISTINCT,), SOURCES, None),
    "multi_source_dijkstra_path": ((DISTINCT,), SOURCES, None),
    "multi_source_dijkstra_path_length": (
        EVERY,
        [*SOURCES, lambda g: {"sources": some(g, 2), "cutoff": 5}],
        None,
    ),
    "dijkstra_predecessor_and_distance": (EVERY, SOURCE, ANY),
    "bidirectional_dijkstra": (EVERY, TARGETED, PATHS),
    "bellman_ford_path": ((*EVERY, N), TARGETED, PATHS),
    "bellman_ford_path_length": ((*EVERY, N), TARGETED, None),
    "single_source_bellman_ford": ((C, D, N), PLAIN_SOURCE, PATHS),
    "single_source_bellman_ford_path": ((C, D, N), PLAIN_SOURCE, PATHS),
    "single_source_bellman_ford_path_length": ((*EVERY, N), PLAIN_SOURCE, None),
    "bellman_ford_predecessor_and_distance": ((C, D, N), PLAIN_SOURCE, ANY),
    "goldberg_radzik": ((DISTINCT, T), PLAIN_SOURCE, None),
    "negative_edge_cycle": ((C, D, N), NONE, None),
    "johnson": ((T, N), NONE, PATHS),
    "all_pairs_dijkstra": ((T, D), NONE, PATHS),
    "all_pairs_dijkstra_path": ((T, D), NONE, PATHS),
    "all_pairs_dijkstra_path_length": ((U, D), NONE, None),
    "all_pairs_bellman_ford_path": ((T, A), NONE, PATHS),
    "all_pairs_bellman_ford_path_length": ((T, N), NONE, None),
    "floyd_warshall": ((U, D), NONE, None),
    "floyd_warshall_numpy": (
        (U, D),
        [lambda _: (), lambda g: {"nodelist": sorted(g, key=str), "weight": None}],
        None,
    ),
    "floyd_warshall_predecessor_and_distance": ((T, DISTINCT), NONE, None),
    "average_shortest_path_length": ((C, S), HOPS_OR_WEIGHT, None),
    "betweenness_centrality": (
        EVERY,
        [*BETWEEN, lambda _: {"endpoints": True}, lambda _: {"endpoints": True, "k": 5, "seed": 2}],
        None,
    ),
    "edge_betweenness_centrality": ((U, C, D), BETWEEN, None),
    "betweenness_centrality_subset": (EVERY, SUBSET, None),
    "edge_betweenness_centrality_subset": ((U, C, D), SUBSET, None),
    "newman_betweenness_centrality": (
        EVERY,
        [lambda _: {}, lambda g: {"v": first(g)}, lambda _: {"normalized": False}],
        None,
    ),
    "edge_load_centrality": (SIMPLE, NONE, None),
    "percolation_centrality": (
        EVERY,
        [lambda _: {}, lambda g: {"states": {v: i / 10 for i, v in enumerate(g)}}],
        None,
    ),
    "bipartite_betweenness_centrality": ((T,), [lambda g: (some(g, 8),)], None),
    "closeness_centrality": (
        EVERY,
        [
            lambda _: {},
            lambda g: {"u": first(g)},
            lambda _: {"distance": "weight", "wf_improved": False},
        ],
        None,
    ),
    "harmonic_centrality": (
        EVERY,
        [
            lambda _: {},
            lambda _: {"distance": "weight"},
            lambda g: {"nbunch": some(g, 4)},
            lambda g: {"sources": some(g, 4)},
            lambda g: {"sources": some(g, 4), "distance": "weight"},
        ],
        None,
    ),
    "incremental_closeness_centrality": (
        SIMPLE,
        [
            lambda g: {"edge": (first(g), farthest(g)), "prev_cc": nx.closeness_centrality(g)},
            lambda g: {
                "edge": next(iter(g.edges)),
                "prev_cc": nx.closeness_centrality(g),
                "insertion": False,
            },
        ],
        None,
    ),
    "group_closeness_centrality": (EVERY, [lambda g: (some(g, 3), "weight")], None),
    "bipartite_closeness_centrality": ((T, C), [lambda g: (some(g, 8),)], None),
    "local_reaching_centrality": (EVERY, PLAIN_SOURCE, None),
    "global_reaching_centrality": (EVERY, NONE, None),
    "eccentricity": (
        (C, S),
        [*HOPS_OR_WEIGHT, lambda g: {"v": first(g)}, lambda g: {"v": some(g, 3)}],
        None,
    ),
    "diameter": ((C, S), [*HOPS_OR_WEIGHT, lambda _: {"usebounds": True}], None),
    "radius": ((C, S), HOPS_OR_WEIGHT, None),
    "center": ((C, S, T), HOPS_OR_WEIGHT, ANY),
    "periphery": ((C, S, T), HOPS_OR_WEIGHT, ANY),
    "barycenter": ((C, S, T), HOPS_OR_WEIGHT, ANY),
    "harmonic_diameter": ((C, S, D), HOPS_OR_WEIGHT, None),
    "approximate_diameter": ((T, "cycle"), [lambda _: {"seed": 3}], None),
    "wiener_index": ((C, S, U), HOPS_OR_WEIGHT, None),
    "hyper_wiener_index": ((C, T, U), HOPS_OR_WEIGHT, None),
    "schultz_index": ((C, T, U), HOPS_OR_WEIGHT, None),
    "gutman_index": ((C, T, U), HOPS_OR_WEIGHT, None),
    "efficiency": (UNDIRECTED, [lambda g: tuple(some(g, 2))], None),
    "global_efficiency": (UNDIRECTED, NONE, None),
    "voronoi_cells": ((DISTINCT,), SOURCES, None),
    "descendants": (EVERY, PLAIN_SOURCE, None),
    "ancestors": (EVERY, PLAIN_SOURCE, None),
    "transitive_closure": (
        (U, D, A, MD),
        [lambda _: {}, lambda _: {"reflexive": True}, lambda _: {"reflexive": None}],
        None,
    ),
    "transitive_closure_dag": ((A,), NONE, None),
    "is_directed_acyclic_graph": ((*DIRECTED, U), NONE, None),
    "has_cycle": (DIRECTED, NONE, None),
    "topological_generations": ((A,), NONE, None),
    "topological_sort": ((A,), NONE, None),
    "is_reachable": (("tournament",), [lambda _: (0, 5), lambda _: (5, 0), lambda _: (3, 3)], None),
    "tournament_is_strongly_connected": (("tournament",), NONE, None),
    "girth": ((U, C, T), NONE, None),
    "is_bipartite": ((*EVERY, T, A), NONE, None),
    "connected_components": (UNDIRECTED, NONE, None),
    "number_connected_components": (UNDIRECTED, NONE, None),
    "is_connected": (UNDIRECTED, NONE, None),
    "node_connected_component": (UNDIRECTED, PLAIN_SOURCE, None),
    "weakly_connected_components": (DIRECTED, NONE, None),
    "number_weakly_connected_components": (DIRECTED, NONE, None),
    "is_weakly_connected": (DIRECTED, NONE, None),
    "strongly_connected_components": (DIRECTED, NONE, SETS),
    "kosaraju_strongly_connected_components": (DIRECTED, NONE, SETS),
    "number_strongly_connected_components": (DIRECTED, NONE, None),
    "is_strongly_connected": (DIRECTED, NONE, None),
    "condensation": (
        DIRECTED,
        [lambda g: (list(nx.strongly_connected_components(g)),)],
        None,
    ),
    "attracting_components": (DIRECTED, NONE, SETS),
    "number_attracting_components": (DIRECTED, NONE, None),
    "is_attracting_component": (DIRECTED, NONE, None),
    "is_semiconnected": ((*DIRECTED, "tournament"), NONE, None),
    "is_tree": ((*EVERY, T), NONE, None),
    "is_forest": ((*EVERY, T), NONE, None),
    "is_arborescence": ((*DIRECTED, "out_tree"), NONE, None),
    "is_branching": ((*DIRECTED, "out_tree"), NONE, None),
    "triangles": ((*SIMPLE, M), NONE, None),
    "transitivity": (SIMPLE, NONE, None),
    "clustering": (SIMPLE, [lambda _: (), lambda g: (first(g),), lambda g: (some(g, 4),)], None),
    "average_clustering": (SIMPLE, [lambda _: {}, lambda _: {"count_zeros": False}], None),
    "generalized_degree": (SIMPLE, [lambda _: (), lambda g: (first(g),)], None),
    "square_clustering": ((*SIMPLE, M, T), [lambda _: (), lambda g: (some(g, 4),)], None),
    "all_triangles": (SIMPLE, [lambda _: (), lambda g: (some(g, 6),)], "triangles"),
    "modularity": (
        (U, D),
        [
            lambda g: ([set(list(g)[::2]), set(list(g)[1::2])],),
            lambda g: {"communities": [set(g)], "weight": None, "resolution": 0.5},
        ],
        None,
    ),
    "jaccard_coefficient": (
        SIMPLE,
        [lambda _: (), lambda g: (list(zip(some(g, 5), some(g, 9)[4:], strict=True)),)],
        ANY,
    ),
    "fast_could_be_isomorphic": (SIMPLE, [lambda g: (g.copy(),)], None),
    "faster_could_be_isomorphic": (EVERY, [lambda g: (g.copy(),)], None),
    "pagerank": (
        (U, C, D, S, A),
        [
            lambda _: {},
            lambda _: {"alpha": 0.7, "weight": None, "tol": 1e-9},
            lambda g: {"personalization": {v: i for i, v in enumerate(g)}},
            lambda g: {"dangling": {first(g): 2}, "nstart": dict.fromkeys(some(g, 3), 1)},
        ],
        None,
    ),
    "hits": ((U, C, D, S), [lambda _: {}, *HITS_UNSCALED], CLOSE),
    "eigenvector_centrality": (
        (U, C, S),
        [
            lambda _: {"max_iter": 900},
            lambda g: {"weight": "weight", "nstart": dict.fromkeys(g, 3), "max_iter": 900},
        ],
        None,
    ),
    "katz_centrality": (
        (U, C, D, S, A),
        [
            lambda _: {"alpha": 0.02},
            lambda g: {
                "alpha": 0.01,
                "beta": {v: i for i, v in enumerate(g)},
                "normalized": False,
                "weight": "weight",
            },
        ],
        None,
    ),
    "core_number": ((C, DISTINCT, T), NONE, None),
    "k_core": ((C, DISTINCT, T), [lambda _: (), lambda _: (2,)], None),
    "k_truss": ((C, DISTINCT, T), [lambda _: (2,), lambda _: (3,), lambda _: (4,)], None),
    "minimum_spanning_edges": (
        (U, C, DISTINCT, T),
        [lambda _: {}, lambda _: {"data": False}, lambda _: {"weight": "other"}],
        None,
    ),
    "minimum_spanning_tree": ((U, C, DISTINCT, T), [lambda _: {}], None),
    "maximum_spanning_edges": (
        (U, C, DISTINCT, T),
        [lambda _: {}, lambda _: {"data": False}],
        None,
    ),
    "maximum_spanning_tree": ((U, C, DISTINCT), [lambda _: {}], None),
    "kruskal_mst_edges": (
        (U, C, DISTINCT),
        [lambda _: {"minimum": True}, lambda _: {"minimum": False, "data": False}],
        None,
    ),
    "k_shell": ((C, DISTINCT, T), [lambda _: (), lambda _: (2,)], None),
    "k_crust": ((C, DISTINCT, T), [lambda _: (), lambda _: (2,)], None),
    "k_corona": (
        (C, DISTINCT, T),
        [lambda _: (2,), lambda _: (4,), lambda g: (1, dict.fromkeys(g, 1))],
        None,
    ),
    "common_neighbor_centrality": (
        (C, DISTINCT, T),
        [
            lambda _: (),
            lambda _: {"alpha": 1},
            lambda g: {"ebunch": list(zip(some(g, 5), some(g, 9)[4:], strict=True))[1:]},
        ],
        ANY,
    ),
    "astar_path": ((C, S, MD), TARGETED, PATHS),
    "astar_path_length": ((C, S, MD), TARGETED, None),
    "closeness_vitality": (
        (C, S),
        [lambda g: {"node": first(g)}, lambda g: {"node": first(g), "weight": "weight"}],
        None,
    ),
    "flow_hierarchy": ((D, S, A), HOPS_OR_WEIGHT, None),
    "is_aperiodic": ((S,), NONE, None),
    "color": ((T,), NONE, None),
    "sets": ((T,), [lambda _: (), lambda g: (some(g, 4),)], None),
    "intersection_array": ((P,), NONE, None),
    "is_distance_regular": ((P, C, T), NONE, None),
    "is_strongly_regular": ((P, C), NONE, None),
    "greedy_color": ((U, C, DISTINCT, T), NONE, None),
}
# Functions with tests of their own below.
OWN = {
    "find_negative_cycle",
    "reconstruct_path",
    "maximal_independent_set",
    "leiden_communities",
    "louvain_communities",
}
MORE = {
    "cycle": lambda: nx.cycle_graph(9, create_using=nx.DiGraph),
    "out_tree": lambda: nx.bfs_tree(nx.balanced_tree(2, 3), 0),
}


def graph_of(kind):
    return (KINDS | MORE)[kind]()


def listed(result):
    return list(result) if isinstance(result, Iterator) else result


def plain_types(value):
    assert not isinstance(value, np.generic), value
    if isinstance(value, nx.Graph):
        plain_types(dict(value.nodes(data=True)))
        plain_types(list(value.edges(data=True)))
    elif isinstance(value, dict):
        for pair in value.items():
            plain_types(pair)
    elif isinstance(value, (list, tuple, set)):
        for one in value:
            plain_types(one)


def same(ours, theirs):
    if isinstance(theirs, nx.Graph):
        return (
            type(ours) is type(theirs)
            and dict(ours.nodes(data=True)) == dict(theirs.nodes(data=True))
            and ours.adj == theirs.adj
            and ours.graph == theirs.graph
        )
    if isinstance(theirs, np.ndarray):
        return np.allclose(ours, theirs)
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, float) and not isinstance(ours, bool):
        return (
            math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
            or ours is theirs
            or (math.isnan(ours) and math.isnan(theirs))
        )
    return ours == theirs


def shape(value):
    """What several right answers have in common: ends of paths, and numbers."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(shape(one) for one in value)
    if (
        isinstance(value, list)
        and value
        and isinstance(value[0], (tuple, list))
        and not (isinstance(value[0], tuple) and value[0] and value[0][-1] == "x")
    ):
        return [shape(one) for one in value]
    if isinstance(value, list):
        return ("path", value[0], value[-1]) if value else []
    return value if isinstance(value, (int, float)) else "tree"


def ordered(value):
    """Sort lists in a structure."""
    if isinstance(value, dict):
        return {key: ordered(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(ordered(one) for one in value)
    if isinstance(value, list):
        return sorted(value, key=str)
    return value


def all_sorted(paths):
    """Sort lists of paths, of one node or by node."""
    if isinstance(paths, dict):
        return {node: sorted(some_paths, key=str) for node, some_paths in paths.items()}
    return sorted(paths, key=str)


def rounded(value):
    """Numbers to six places, and no negative zero; the sign of a singular vector is any."""
    if isinstance(value, dict):
        return {key: abs(round(one, 6)) for key, one in value.items()}
    return tuple(map(rounded, value))


VIEWS = {
    CLOSE: rounded,
    None: lambda value: value,
    SETS: lambda value: sorted(sorted(map(str, one)) for one in value),
    PATHS: shape,
    ANY: ordered,
    ALL: lambda value: {node: all_sorted(paths) for node, paths in value},
    "triangles": lambda value: sorted(sorted(map(str, one)) for one in value),
}


HOMES = {
    "kruskal_mst_edges": nx.algorithms.tree.mst.kruskal_mst_edges,
    "color": nx.bipartite.color,
    "sets": nx.bipartite.sets,
    "modularity": nx.community.modularity,
    "louvain_communities": nx.community.louvain_communities,
    "leiden_communities": nx.community.leiden_communities,
    "newman_betweenness_centrality": nx.load_centrality,
    "has_cycle": nx.algorithms.dag.has_cycle,
    "is_reachable": nx.tournament.is_reachable,
    "tournament_is_strongly_connected": nx.tournament.is_strongly_connected,
    "approximate_diameter": nx.approximation.diameter,
    "bipartite_betweenness_centrality": nx.bipartite.betweenness_centrality,
    "bipartite_closeness_centrality": nx.bipartite.closeness_centrality,
}


def public(name):
    """Function as users call it, with what checks its arguments."""
    return HOMES.get(name) or getattr(nx, name)


def call(name, graph, given, **where):
    function = public(name)
    if isinstance(given, dict):
        return listed(function(graph, **given, **where))
    return listed(function(graph, *given, **where))


@pytest.mark.filterwarnings("ignore:(?s).*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", [name for name in CASES if name in registered])
def test_function_gives_what_networkx_gives(name):
    kinds, calls, how = CASES[name]
    for kind in kinds:
        for given in calls:
            graph = graph_of(kind)
            chosen = given(graph)
            theirs = call(name, graph, chosen, backend="networkx")
            ours = call(name, graph, chosen, backend="clgraph")
            plain_types(ours)
            assert same(VIEWS[how](ours), VIEWS[how](theirs)), (kind, chosen)


def test_communities_are_partitions_as_good_as_networkx_own():
    graph = graph_of(C)
    by_modularity = {"metric": "modularity"} if SINCE_3_7 else {}
    for name, more in (("louvain_communities", {}), ("leiden_communities", by_modularity)):
        ours = call(name, graph, {"seed": 3, **more}, backend="clgraph")
        assert ours == call(name, graph, {"seed": 3, **more}, backend="clgraph")
        assert sorted(v for part in ours for v in part) == sorted(graph)
        theirs = call("louvain_communities", graph, {"seed": 3}, backend="networkx")
        quality = [
            nx.community.modularity(graph, one, backend="networkx") for one in (ours, theirs)
        ]
        assert quality[0] > 0.95 * quality[1]


def test_every_function_is_among_the_cases():
    assert set(CASES) | OWN == set(backend.served())
    assert len(backend.served()) >= 150


def test_cycles_of_equal_length_have_a_period_and_odd_ones_no_colours():
    for nodes, period in (((0, 1, 2, 3), 4), ((0, 1, 2), 3)):
        ring = nx.DiGraph()
        nx.add_cycle(ring, nodes)
        assert nx.is_aperiodic(ring, backend="clgraph") is False
        nx.add_path(ring, (nodes[0], "x", "y", *nodes[1:2]))  # two longer than that edge
        expected = math.gcd(period, 2) == 1
        assert nx.is_aperiodic(ring, backend="clgraph") is expected
        assert nx.is_aperiodic(ring, backend="networkx") is expected
    mixed = nx.union(nx.cycle_graph(4), nx.path_graph(range(7, 10)))
    mixed.add_node("alone")
    assert nx.bipartite.color(mixed, backend="clgraph") == nx.bipartite.color(mixed)
    arrows = nx.DiGraph([(3, 1), (2, 1)])
    assert nx.bipartite.color(arrows, backend="clgraph") == nx.bipartite.color(arrows)


def test_a_vertex_that_holds_the_graph_together_has_no_vitality():
    line = nx.path_graph(5)
    assert nx.closeness_vitality(line, backend="clgraph") == nx.closeness_vitality(line)


def test_views_of_multigraphs_count_what_they_show():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (1, 2), (2, 0)])
    view = graph.edge_subgraph([(0, 1, 0), (1, 2, 1)])
    assert nx.is_tree(view, backend="clgraph")
    assert not nx.is_tree(graph, backend="clgraph")


def test_independent_sets_cannot_be_added_to():
    for kind in UNDIRECTED:
        graph = graph_of(kind)
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        found = nx.maximal_independent_set(graph, seed=4, backend="clgraph")
        assert found == nx.maximal_independent_set(graph, seed=4, backend="clgraph")
        assert sorted(nx.maximal_independent_set(graph, found, backend="networkx"), key=str) == (
            sorted(found, key=str)
        )
    with pytest.raises(IndexError):
        nx.maximal_independent_set(nx.Graph(), backend="clgraph")


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("core_number", {}, nx.NetworkXNotImplemented),
        ("k_truss", {"k": 3}, nx.NetworkXNotImplemented),
        ("pagerank", {"max_iter": 1}, nx.PowerIterationFailedConvergence),
        ("pagerank", {"personalization": {"n0": 0}}, ZeroDivisionError),
        ("hits", {"max_iter": 0}, nx.PowerIterationFailedConvergence),
        ("eigenvector_centrality", {"max_iter": 1}, nx.PowerIterationFailedConvergence),
        ("eigenvector_centrality", {"nstart": {"n0": 0}}, nx.NetworkXError),
        ("katz_centrality", {"max_iter": 1}, nx.PowerIterationFailedConvergence),
        ("katz_centrality", {"beta": {"n0": 1}}, nx.NetworkXError),
        ("katz_centrality", {"beta": "much"}, nx.NetworkXError),
    ],
)
def test_refusals_are_those_of_networkx(name, given, error):
    graph = graph_of(U)  # one with a self-loop
    for where in ("networkx", "clgraph"):
        with pytest.raises(error):
            listed(getattr(nx, name)(graph, backend=where, **given))


def weight_of(graph, path):
    lightest = nx.DiGraph()
    for u, v, cost in graph.edges(data="weight", default=1):
        for a, b in [(u, v)] if graph.is_directed() else [(u, v), (v, u)]:
            known = lightest.get_edge_data(a, b, {"weight": math.inf})["weight"]
            lightest.add_edge(a, b, weight=min(known, cost))
    return sum(lightest[u][v]["weight"] for u, v in pairwise(path))


@pytest.mark.parametrize("kind", EVERY)
def test_paths_by_weight_are_paths_and_as_long_as_told(kind):
    graph = graph_of(kind)
    lengths, paths = nx.single_source_dijkstra(graph, first(graph), backend="clgraph")
    assert lengths.keys() == paths.keys()
    for node, path in paths.items():
        assert path[0] == first(graph)
        assert path[-1] == node
        assert math.isclose(weight_of(graph, path), lengths[node])


@pytest.mark.parametrize("kind", [N, D])
def test_paths_of_bellman_ford(kind):
    graph = graph_of(kind)
    lengths, paths = nx.single_source_bellman_ford(graph, first(graph), backend="clgraph")
    assert len(lengths) > 5
    for node, path in paths.items():
        assert weight_of(graph, path) == lengths[node]


def test_a_negative_cycle_is_found_and_refused():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1), (1, 2, 1), (2, 3, -4), (3, 1, 1), (5, 0, 1)])
    found = nx.find_negative_cycle(graph, 0, backend="clgraph")
    assert found[0] == found[-1]
    assert set(found) == {1, 2, 3}
    assert weight_of(graph, found) == -2
    assert nx.negative_edge_cycle(graph, backend="clgraph") is True
    with pytest.raises(nx.NetworkXUnbounded):
        nx.single_source_bellman_ford(graph, 5, backend="clgraph")
    with pytest.raises(nx.NetworkXError, match="No negative cycles"):
        nx.find_negative_cycle(graph_of(N), 0, backend="clgraph")


def test_reconstructed_paths():
    graph = graph_of(T)
    before, _ = nx.floyd_warshall_predecessor_and_distance(graph, backend="clgraph")
    assert nx.reconstruct_path(9, 30, before, backend="clgraph") == nx.shortest_path(graph, 9, 30)


ERRORS = [
    ("single_source_shortest_path_length", D, ("absent",), nx.NodeNotFound),
    ("single_source_shortest_path", D, ("absent",), nx.NodeNotFound),
    ("single_target_shortest_path_length", D, ("absent",), nx.NodeNotFound),
    ("bidirectional_shortest_path", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("dijkstra_path", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("dijkstra_path_length", U, ("absent", "n0"), nx.NodeNotFound),
    ("bidirectional_dijkstra", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("bellman_ford_path", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("multi_source_dijkstra_path_length", U, (set(),), ValueError),
    ("eccentricity", U, (), nx.NetworkXError),
    ("diameter", D, (), nx.NetworkXError),
    ("radius", U, (), nx.NetworkXError),
    ("center", U, (), nx.NetworkXError),
    ("barycenter", U, (), nx.NetworkXNoPath),
    ("average_shortest_path_length", U, (), nx.NetworkXError),
    ("strongly_connected_components", U, (), nx.NetworkXNotImplemented),
    ("connected_components", D, (), nx.NetworkXNotImplemented),
    ("triangles", D, (), nx.NetworkXNotImplemented),
    ("descendants", D, ("absent",), nx.NetworkXError),
    ("bfs_layers", D, (["absent"],), nx.NetworkXError),
    ("topological_generations", D, (), nx.NetworkXUnfeasible),
    ("transitive_closure_dag", D, (), nx.NetworkXUnfeasible),
    ("shortest_path", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("astar_path", U, ("n0", "n99"), nx.NetworkXNoPath),
    ("astar_path_length", U, ("absent", "n0"), nx.NodeNotFound),
    ("is_aperiodic", D, (), nx.NetworkXError),
    ("is_aperiodic", U, (), nx.NetworkXError),
    ("color", U, (), nx.NetworkXError),
    ("sets", U, (), nx.AmbiguousSolution),
    ("intersection_array", C, (), nx.NetworkXError),
    ("common_neighbor_centrality", C, ([("absent", "n0")],), nx.NodeNotFound),
    ("common_neighbor_centrality", C, ([(1, 1)],), nx.NetworkXAlgorithmError),
]


# It refuses undirected graphs before the backend is asked.
THEIRS = {"is_aperiodic"} if SINCE_3_7 else set()


@pytest.mark.parametrize(
    ("name", "kind", "given", "error"),
    [row for row in ERRORS if row[0] in registered and row[0] not in THEIRS],
)
def test_errors_are_those_of_networkx(name, kind, given, error):
    for where in ("networkx", "clgraph"):
        with pytest.raises(error):
            call(name, graph_of(kind), given, backend=where)


EMPTY = [
    ("is_connected", nx.Graph, nx.NetworkXPointlessConcept),
    ("is_strongly_connected", nx.DiGraph, nx.NetworkXPointlessConcept),
    ("is_weakly_connected", nx.DiGraph, nx.NetworkXPointlessConcept),
    ("is_semiconnected", nx.DiGraph, nx.NetworkXPointlessConcept),
    ("average_shortest_path_length", nx.Graph, nx.NetworkXPointlessConcept),
    ("betweenness_centrality", nx.Graph, None),
    ("closeness_centrality", nx.DiGraph, None),
    ("connected_components", nx.Graph, None),
    ("strongly_connected_components", nx.DiGraph, None),
    ("condensation", nx.DiGraph, None),
    ("triangles", nx.Graph, None),
    ("clustering", nx.Graph, None),
    ("all_triangles", nx.Graph, None),
    ("global_efficiency", nx.Graph, None),
    ("all_pairs_shortest_path_length", nx.Graph, None),
    ("topological_generations", nx.DiGraph, None),
    ("is_bipartite", nx.Graph, None),
    ("edge_betweenness_centrality", nx.Graph, None),
]


@pytest.mark.parametrize(("name", "kind", "error"), EMPTY)
@pytest.mark.parametrize("n", [0, 1])
def test_graphs_of_no_or_one_node(name, kind, error, n):
    graph = nx.empty_graph(n, create_using=kind)
    if error and n == 0:
        with pytest.raises(error):
            call(name, graph, (), backend="clgraph")
        return
    theirs = call(name, graph, (), backend="networkx")
    assert same(call(name, graph, (), backend="clgraph"), theirs)


class Counting(np.ndarray):
    """An array whose elements, and those of what is made of it, are counted as NumPy meets them."""

    met = 0

    def __array_ufunc__(self, ufunc, method, *given, out=None, **options):
        return self._count(getattr(ufunc, method), given, options | ({"out": out} if out else {}))

    def __array_function__(self, function, _, given, options):
        with_plain = [plain(x) for x in given]
        return self._count(function, with_plain, options)

    def _count(self, function, given, options):
        options = {name: plain(value) for name, value in options.items()}
        made = function(*map(plain, given), **options)
        Counting.met += max((np.size(x) for x in (*given, made) if x is not None), default=0)
        return made.view(Counting) if isinstance(made, np.ndarray) else made

    def __getitem__(self, place):
        found = np.asarray(self)[plain(place)]
        Counting.met += np.size(found)
        return found.view(Counting) if isinstance(found, np.ndarray) else found

    def tolist(self):
        Counting.met += self.size
        return np.asarray(self).tolist()


def plain(value):
    if isinstance(value, tuple):
        return tuple(plain(x) for x in value)
    return np.asarray(value) if isinstance(value, Counting) else value


def work_of(function, *modules):
    """Elements that NumPy meets, and lines that are executed in modules."""
    files, lines = {module.__file__ for module in modules}, 0

    def trace(frame, event, _):
        nonlocal lines
        lines += event == "line"
        return trace if frame.f_code.co_filename in files else None

    Counting.met = 0
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return Counting.met + lines


def test_rounds_of_a_deep_graph_take_linear_work():
    """A path has as many rounds as vertices; none of them may look at all of these."""

    def work(n):
        starts, edge_targets = np.minimum(np.arange(n + 1), n - 1), np.arange(1, n)
        arrays = (starts.view(Counting), edge_targets.view(Counting))
        graph = NetworkxGraph(list(range(n)), arrays, directed=True)
        return work_of(lambda: list(generations(graph)), reachability)

    assert work(800) < 4.5 * work(200)


@pytest.mark.parametrize("promised", [True, False], ids=["as-now", "in-another-order"])
@pytest.mark.parametrize("kind", [D, A, MD])
def test_edges_lead_to_components_that_came_before(kind, promised, monkeypatch):
    """Whatever order SciPy numbers the vertices of the contracted graph in."""
    asked = csgraph.connected_components
    given = []

    def otherwise(matrix, **options):
        count, labels = asked(matrix, **options)
        given.append(matrix)
        return count, labels if promised else labels[::-1]

    monkeypatch.setattr(csgraph, "connected_components", otherwise)
    graph = KINDS[kind]()
    sets = list(nx.strongly_connected_components(graph, backend="clgraph"))
    place = {node: at for at, members in enumerate(sets) for node in members}
    assert all(place[u] >= place[v] for u, v in graph.edges())
    assert len(place) == len(graph)
    (matrix,) = given
    assert matrix.nnz > 1


def test_components_of_a_deep_graph_are_ordered_in_linear_work(monkeypatch):
    """Of a path, as in the test before, with all that puts its components in order."""

    def work(n):
        path = NetworkxGraph.of_networkx(nx.path_graph(n, create_using=nx.DiGraph))
        path.edge_targets = path.edge_targets.view(Counting)
        path.starts = path.starts.view(Counting)
        labels = np.arange(n).view(Counting)
        found = SimpleNamespace(count=n, labels=labels)
        monkeypatch.setattr(Searches, "strong_components", lambda _: found)
        done = work_of(lambda: components.Contracted(path), components, reachability)
        assert components.Contracted(path).labels.tolist() == list(range(n))[::-1]
        return done

    assert work(800) < 4.5 * work(200)
