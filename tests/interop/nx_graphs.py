"""Networkx graphs of every kind for the backend's tests."""

import random

import networkx as nx


def weighted(graph, seed, *, real=False, attribute="weight"):
    draw = random.Random(seed)  # noqa: S311
    for edge in graph.edges:
        graph.edges[edge][attribute] = draw.randint(1, 9) + (0.5 if real else 0)
    return graph


def undirected():
    """Strings for nodes, two components, a node alone and a self-loop."""
    graph = nx.disjoint_union(nx.gnp_random_graph(30, 0.12, seed=3), nx.cycle_graph(5))
    graph.add_node(99)
    graph.add_edge(4, 4)
    return weighted(nx.relabel_nodes(graph, {v: f"n{v}" for v in graph}), 1)


def connected():
    """Integers that are not in order; real weights."""
    graph = nx.connected_watts_strogatz_graph(36, 4, 0.3, seed=5)
    return weighted(nx.relabel_nodes(graph, {v: 3 * v + 1 for v in graph}), 2, real=True)


def directed():
    """Cycles, sources, sinks and a self-loop; nodes 0, 1, 2, ..."""
    graph = nx.gnp_random_graph(40, 0.05, seed=8, directed=True)
    graph.add_edge(7, 7)
    return weighted(graph, 3)


def strong():
    """Every node reaches every other; tuples for nodes."""
    graph = nx.gnp_random_graph(24, 0.15, seed=4, directed=True)
    nx.add_cycle(graph, range(24))
    return weighted(nx.relabel_nodes(graph, {v: (v, "x") for v in graph}), 4)


def acyclic():
    base = nx.gnp_random_graph(30, 0.12, seed=6, directed=True)
    graph = nx.DiGraph([(u, v) for u, v in base.edges if u < v])
    graph.add_nodes_from(base)
    return weighted(graph, 5)


def multi():
    """Parallel edges of different weight."""
    graph = nx.MultiGraph(nx.gnp_random_graph(25, 0.15, seed=7))
    for u, v in list(graph.edges())[::3]:
        graph.add_edge(u, v)
    return weighted(graph, 6)


def multi_directed():
    graph = nx.MultiDiGraph(nx.gnp_random_graph(25, 0.1, seed=9, directed=True))
    for u, v in list(graph.edges())[::2]:
        graph.add_edge(u, v)
    return weighted(graph, 7)


def negative():
    """Negative weights without negative cycles."""
    graph = acyclic()
    for u, v in list(graph.edges)[::4]:
        graph[u][v]["weight"] = -2
    return graph


def distinct():
    """Real weights without ties."""
    graph = nx.gnp_random_graph(28, 0.15, seed=11)
    draw = random.Random(5)  # noqa: S311
    for edge in graph.edges:
        graph.edges[edge]["weight"] = draw.random()
    return graph


def tree():
    return weighted(nx.balanced_tree(2, 4), 8)


def tournament():
    return nx.tournament.random_tournament(12, seed=3)


def petersen():
    """Distance regular."""
    return weighted(nx.petersen_graph(), 9)


KINDS = {
    make.__name__: make
    for make in (
        *(undirected, connected, directed, strong, acyclic, multi, multi_directed),
        *(negative, distinct, tree, tournament, petersen),
    )
}
