"""How networkx finds the backend, when it asks it, and what is kept."""

import copy
import inspect
import logging
import pickle
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms as registered
from nx_graphs import KINDS
from runtimes import ROOT

import _clgraph_networkx_info as info
import clgraph as cg
from clgraph.interop.networkx import Backend, NetworkxGraph, backend, table
from clgraph.interop.networkx.graph import NetworkxGraph as Converted

pytestmark = pytest.mark.usefixtures("on_any_device")


@pytest.fixture
def first_choice():
    """The backend as it is asked by who set a priority for every function."""
    before = list(nx.config.backend_priority.algos)
    nx.config.backend_priority.algos = ["clgraph"]
    yield
    nx.config.backend_priority.algos = before


def test_networkx_finds_the_backend():
    assert "clgraph" in nx.utils.backends.backends
    assert nx.config.backends.clgraph.device != ""


def test_the_info_needs_nothing_and_imports_nothing():
    """Networkx runs it on every import of its own, also where no dependency is installed."""
    script = """
import sys
before = set(sys.modules)
import _clgraph_networkx_info as info
said = info.get_info()
new = set(sys.modules) - before - {"_clgraph_networkx_info"}
assert not new, new
print(sorted(said), said["default_config"], len(said["functions"]))
"""
    command = [sys.executable, "-S", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'backend_name'" in done.stdout
    assert str({"device": "auto"}) in done.stdout


def test_importing_networkx_does_not_import_clgraph():
    script = "import sys, networkx; print('clgraph' in sys.modules)"
    paths = [path for path in sys.path if path]
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": ":".join(paths), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
    assert done.stderr == ""


def test_info_and_page_tell_what_the_class_serves():
    assert set(info.get_info()["functions"]) == set(Backend.served())
    text = (ROOT / "_clgraph_networkx_info.py").read_text("utf-8")
    page = (ROOT / "docs" / "networkx.md").read_text("utf-8")
    again = "run python -m clgraph.interop.networkx.table"
    assert table.listing() in text, again
    assert table.markdown() in page, again


def arguments(signature):
    return [
        (each.name, each.default, each.kind)
        for each in signature.parameters.values()
        if each.name != "backend" and each.kind is not inspect.Parameter.VAR_KEYWORD
    ]


SINCE_3_7 = tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 7)


@pytest.mark.parametrize("name", sorted(set(registered) & set(Backend.served())))
def test_arguments_are_those_of_networkx(name):
    """Others than those of 3.6 have a value that means what is computed here."""
    served, theirs = Backend.served()[name], inspect.signature(registered[name])
    newer = [p for p in theirs.parameters.values() if p.name in served.later]
    known = [p for p in theirs.parameters.values() if p not in newer]
    assert bool(newer) <= SINCE_3_7
    whole = slice(2 if SINCE_3_7 else 3)  # some are by keyword alone since then
    ours, theirs = (arguments(one) for one in (served.signature, theirs.replace(parameters=known)))
    assert [one[whole] for one in ours] == [one[whole] for one in theirs]


WHY_NOT = [
    ("betweenness_centrality_subset", {"sources": [0], "targets": [1], "weight": "w"}, "weight"),
    ("dijkstra_path_length", {"source": 0, "target": 1, "weight": lambda *_: 1}, "function"),
    ("closeness_centrality", {"distance": lambda *_: 1}, "function"),
    ("bfs_edges", {"source": 0, "sort_neighbors": sorted}, "sort_neighbors"),
    ("eccentricity", {"sp": {}}, "sp"),
    ("strongly_connected_components", {}, "undirected"),
    ("no_such_function", {}, "no_such_function"),
]


@pytest.mark.parametrize(("name", "given", "reason"), WHY_NOT)
def test_reasons_why_a_call_is_refused(name, given, reason):
    said = backend.can_run(name, (nx.path_graph(3),), given)
    assert isinstance(said, str)
    assert reason in said


def test_parameters_of_a_newer_networkx():
    """3.7 has more of them and gives all to a backend; some ask for something else."""
    graph, paths = nx.path_graph(5), {"u": None, "distance": None, "wf_improved": True}
    assert backend.can_run("closeness_centrality", (graph,), {**paths, "sp": None}) is True
    refused = backend.can_run("closeness_centrality", (graph,), {**paths, "sp": {}})
    assert "not those of networkx" in refused
    found = backend.closeness_centrality(Converted.of_networkx(graph), sp=None)
    assert found == pytest.approx(nx.closeness_centrality(graph))
    leiden = {"theta": 0.01, "metric": "modularity"}
    assert backend.can_run("leiden_communities", (graph,), leiden) is True
    leiden["metric"] = "cpm"
    assert "not those of" in backend.can_run("leiden_communities", (graph,), leiden)


def test_directed_graphs_and_multigraphs_are_refused_where_networkx_alone_has_them():
    assert backend.can_run("clustering", (nx.DiGraph(),), {}) == "the graph is directed"
    assert backend.can_run("clustering", (nx.MultiGraph(),), {}) == "the graph is a multigraph"
    assert backend.can_run("clustering", (nx.Graph(),), {}) is True


@pytest.mark.usefixtures("first_choice")
def test_small_graphs_and_single_searches_do_not_pay(caplog):
    graph = nx.path_graph(50)
    with caplog.at_level(logging.DEBUG, "networkx.utils.backends"):
        nx.betweenness_centrality(graph)
        nx.single_source_shortest_path_length(graph, 0)
    assert "shouldn't run `betweenness_centrality`" in caplog.text
    assert "that pay" in caplog.text
    assert "one search takes less than converting" in caplog.text
    assert not graph.__networkx_cache__.get("backends")


def test_what_is_converted_already_pays_sooner():
    """Of as many nodes and edges, or with as many sources, as would not pay for a conversion."""
    graph = nx.gnm_random_graph(2000, 30_000, seed=1)
    calls = [("connected_components", {}), ("betweenness_centrality", {"k": 20})]
    for name, more in calls:
        assert isinstance(backend.should_run(name, (graph,), more), str)
    assert backend.should_run("betweenness_centrality", (graph,), {}) is True
    nx.is_connected(graph, backend="clgraph")
    for name, more in calls:
        assert backend.should_run(name, (graph,), more) is True


@pytest.mark.usefixtures("first_choice")
def test_large_calls_run_on_the_backend(caplog):
    graph = nx.gnm_random_graph(1500, 6000, seed=1)
    with caplog.at_level(logging.DEBUG, "networkx.utils.backends"):
        found = nx.closeness_centrality(graph)
    assert "Using backend 'clgraph' for call to 'closeness_centrality'" in caplog.text
    some = list(found)[:5]
    theirs = [nx.closeness_centrality(graph, u=node, backend="networkx") for node in some]
    np.testing.assert_allclose([found[node] for node in some], theirs)


def test_a_conversion_is_kept_with_the_graph_and_forgotten_when_it_changes():
    graph = nx.gnm_random_graph(300, 900, seed=2)
    nx.diameter(nx.compose(graph, nx.path_graph(300)), backend="clgraph")
    nx.connected_components(graph, backend="clgraph")
    assert nx.number_connected_components(graph, backend="clgraph") >= 1
    kept = graph.__networkx_cache__["backends"]["clgraph"]
    (converted,) = kept.values()
    assert isinstance(converted, NetworkxGraph)
    nx.transitivity(graph, backend="clgraph")
    assert list(kept.values()) == [converted]
    graph.add_edge(0, 1, weight=3)
    assert not graph.__networkx_cache__.get("backends")


def test_a_conversion_that_failed_is_not_tried_again(monkeypatch):
    graph = nx.path_graph(4)
    graph[0][1]["weight"] = float("inf")
    tried = []
    convert = Converted.of_networkx.__func__

    def counting(*args):
        tried.append(args)
        return convert(Converted, *args)

    monkeypatch.setattr(Converted, "of_networkx", counting)
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="clgraph"):
            nx.dijkstra_path_length(graph, 0, 3, backend="clgraph")
    assert len(tried) == 1


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "far", None, 2**70, 1 + 2j])
def test_weights_that_are_no_plain_numbers_are_left_to_networkx(value):
    graph = nx.path_graph(4)
    graph[0][1]["weight"] = value
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(graph, 0, 3, backend="clgraph")


def test_negative_weights_of_dijkstra_are_left_to_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2), (1, 2, -1)])
    with pytest.raises(NotImplementedError, match="clgraph"):
        nx.dijkstra_path_length(graph, 0, 2, backend="clgraph")


def test_integer_weights_give_integer_distances():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 3, "length")
    found = nx.dijkstra_path_length(graph, 0, 3, weight="length", backend="clgraph")
    assert (found, type(found)) == (9, int)
    graph[0][1]["length"] = 0.5
    graph.__networkx_cache__.clear()
    assert nx.dijkstra_path_length(graph, 0, 3, weight="length", backend="clgraph") == 6.5


@pytest.mark.parametrize("attribute", [True, 0, 3, ("a", 1)])
def test_any_hashable_names_an_attribute(attribute):
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 4, attribute)
    assert nx.dijkstra_path_length(graph, 0, 2, weight=attribute, backend="clgraph") == 8


def test_a_graph_of_ours_goes_to_networkx_functions():
    graph = cg.generate.grid2d(6, 5, weights=(1, 9))
    assert nx.diameter(graph) == 9
    assert nx.is_connected(graph) is True
    theirs = nx.dijkstra_path_length(graph.to_networkx(), 0, 29)
    assert nx.dijkstra_path_length(graph, 0, 29) == theirs
    assert len(list(nx.bfs_edges(graph, 3))) == 29
    # What the backend does not serve networkx computes on a copy, if it may.
    assert nx.number_of_spanning_trees(cg.generate.path(4), backend="networkx") == 1


def test_labels_of_a_graph_of_ours_are_its_nodes():
    graph = cg.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
    assert nx.single_source_shortest_path_length(graph, "a") == {"a": 0, "b": 1, "c": 2}


def test_an_unknown_device_is_told():
    nx.config.backends.clgraph.device = "no such device"
    with pytest.raises(cg.DeviceNotFoundError):
        nx.is_connected(nx.path_graph(3), backend="clgraph")
    with pytest.raises((AttributeError, TypeError)):
        nx.config.backends.clgraph.no_such_option = 1


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_conversion_has_the_nodes_and_edges_of_the_graph(kind):
    graph = KINDS[kind]()
    converted = NetworkxGraph.of_networkx(graph, {"weight": 1})
    assert list(converted) == list(graph)
    assert converted.number_of_edges() == graph.number_of_edges()
    assert converted.edges == list(dict.fromkeys((u, v) for u, v, *_ in graph.edges))
    degrees = dict(graph.degree)
    assert converted.degrees.tolist() == [degrees[node] for node in graph]
    assert converted.to_networkx() is graph
    for vertex, node in enumerate(graph):
        begin, end = converted.starts[vertex : vertex + 2]
        neighbours = [converted.names[v] for v in converted.edge_targets[begin:end].tolist()]
        assert neighbours == list(graph.adj[node])
        assert converted.vertex(node) == vertex
    plain = converted.weighted("weight")
    costs = {(int(u), int(v)): w for u, v, w in zip(*plain.listed_edges(), strict=True)}
    for u, v, cost in graph.edges(data="weight", default=1):
        ends = converted.vertex(u), converted.vertex(v)
        found = costs[ends if graph.is_directed() else tuple(sorted(ends))]
        assert found <= cost
        if not graph.is_multigraph():
            assert found == cost


def test_what_is_left_of_a_conversion_whose_graph_is_gone():
    converted = NetworkxGraph.of_networkx(KINDS["strong"](), {"weight": 1})
    theirs = KINDS["strong"]()
    assert nx.utils.graphs_equal(backend.convert_to_nx(converted), theirs)


def test_nodes_of_results_are_the_objects_of_the_graph():
    graph = nx.path_graph([0.0, True, 2])
    found = nx.single_source_shortest_path_length(graph, 0, backend="clgraph")
    assert [type(node) for node in found] == [float, bool, int]


def test_graphs_are_copied_and_pickled_after_a_call():
    """Networkx copies what it keeps with a graph; plans and devices stay behind."""
    graph = KINDS["undirected"]()
    expected = nx.betweenness_centrality(graph, weight="weight", backend="clgraph")
    for copied in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):  # noqa: S301
        assert nx.utils.graphs_equal(copied, graph)
        again = nx.betweenness_centrality(copied, weight="weight", backend="clgraph")
        assert again.keys() == expected.keys()


def test_nodes_that_are_equal_but_not_the_same_objects():
    """Long texts are other objects in each line of a file."""
    names = [f"node {i}" for i in range(50)]
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((f"node {i}", f"node {i + 1}") for i in range(49))
    mixed = nx.Graph([(0, 1.0), (1, True), (2, 1)])
    for each in (graph, mixed):
        converted = NetworkxGraph.of_networkx(each)
        assert converted.edges == list(each.edges)


def integer_graph(edges):
    draw = np.random.default_rng(0)
    graph = nx.Graph()
    graph.add_nodes_from(range(edges // 10))
    graph.add_edges_from(draw.integers(0, edges // 10, (edges, 2)).tolist())
    return graph


def least_ratios(works, base, enough, times=40):
    """What each takes of what `base` does: of the least of each, in turn, until it is `enough`.

    By the clock of this thread, which what others do in the caches stretches all the same.
    """
    least = [np.inf] * (len(works) + 1)
    for turn in range(times):
        for place, work in enumerate((base, *works)):
            begin = time.thread_time()
            work()
            least[place] = min(least[place], time.thread_time() - begin)
        ratios = [spent / least[0] for spent in least[1:]]
        if turn >= 2 and all(ratio < most for ratio, most in zip(ratios, enough, strict=True)):
            break
    return ratios


def test_conversion_takes_little_more_than_looking_at_each_neighbour():
    """A million edges take some 0.3 s, of texts 1 s, by the clock of an idle core."""
    graph = integer_graph(100_000)
    texts = nx.relabel_nodes(graph, {node: f"node {node}" for node in graph})
    of_numbers, of_texts = least_ratios(
        [
            lambda: NetworkxGraph.of_networkx(graph).plain,
            lambda: NetworkxGraph.of_networkx(texts).plain,
        ],
        lambda: [v for row in graph.adj.values() for v in row],
        (4, 10),
    )
    assert of_numbers < 4
    assert of_texts < 10


def test_a_second_call_does_not_convert_again():
    graph = integer_graph(100_000)
    nx.number_connected_components(graph, backend="clgraph")
    (again,) = least_ratios(
        [lambda: nx.is_connected(graph, backend="clgraph")],
        lambda: NetworkxGraph.of_networkx(graph).plain,
        (0.05,),
    )
    assert again < 0.05


class Others(nx.Graph):
    """Neighbours are all nodes that no edge leads to."""

    def __getitem__(self, node):
        return {v: {"weight": 2} for v in self._adj if v != node and v not in self._adj[node]}

    def adjacency(self):
        return ((node, self[node]) for node in self)


def test_a_class_may_say_itself_who_is_a_neighbour():
    graph = Others(nx.petersen_graph())
    plain = nx.complement(nx.petersen_graph())
    nx.set_edge_attributes(plain, 2, "weight")
    converted = Converted.of_networkx(graph, {"weight": 1}).to_networkx()
    assert converted is graph
    assert nx.core_number(graph, backend="clgraph") == nx.core_number(plain)
    ours = nx.dijkstra_path_length(graph, 0, 1, backend="clgraph")
    assert ours == nx.dijkstra_path_length(plain, 0, 1)


@pytest.mark.parametrize("cutoff", [None, 0, 1, 2])
@pytest.mark.parametrize("kind", ["gnp", "path", "apart", "texts"])
def test_rows_of_all_pairs_in_the_order_of_the_nodes(kind, cutoff):
    """Whether they begin as a copy of a row in which all are equally far, or not."""
    graph = {
        "gnp": lambda: nx.gnp_random_graph(70, 0.3, seed=2),  # nearly all at distance 2
        "path": lambda: nx.path_graph(40),
        "apart": lambda: nx.disjoint_union(nx.complete_graph(9), nx.star_graph(8)),
        "texts": lambda: nx.relabel_nodes(nx.complete_graph(12), str),
    }[kind]()
    found = list(nx.all_pairs_shortest_path_length(graph, cutoff, backend="clgraph"))
    assert dict(found) == dict(nx.all_pairs_shortest_path_length(graph, cutoff))
    nodes = list(graph)
    assert [node for node, _ in found] == nodes
    assert all(list(row) == [node for node in nodes if node in row] for _, row in found)
    found[0][1].clear()
    assert found[1][1]


@pytest.mark.parametrize("n", [1, 2, 600])
def test_neighbours_of_every_kind_of_node(n):
    """Numbers in order, numbers far apart, texts that are the nodes and texts that equal them."""
    base = nx.gnm_random_graph(n, 5 * n, seed=4, directed=True)
    kinds = (
        lambda v: v,
        lambda v: 3 * v - 7,
        lambda v: v + 2**40,
        lambda v: v * 2**45,
        float,
        lambda v: f"n{v}",
    )
    for name in kinds:
        graph = nx.DiGraph()
        graph.add_nodes_from(map(name, base))
        graph.add_edges_from((name(u), name(v)) for u, v in base.edges)
        made = Converted.of_networkx(graph)
        rows = np.split(made.edge_targets, made.starts[1:-1])
        found = [[made.names[v] for v in row.tolist()] for row in rows]
        assert found == [list(row) for row in graph._adj.values()]
