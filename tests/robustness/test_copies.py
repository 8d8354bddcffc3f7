"""Results come back from workers: copied and pickled they are what they were, without a device.

So do graphs and configurations. Plans stay where they are, and say why.
"""

import copy
import pickle
from operator import attrgetter

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SOURCES, fresh_graph
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph import primitives
from clgraph.device.staying import StaysHere

WEIGHTED = cg.Graph(
    MIXED_ONE_WAY.indptr, MIXED_ONE_WAY.indices, np.arange(MIXED_ONE_WAY.m, dtype=np.int32)
)
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
RESULTS = {
    "bfs": lambda d: cg.bfs(WEIGHTED, 3, predecessors=True, device=d),
    "sssp": lambda d: cg.sssp(WEIGHTED, 3, predecessors=True, device=d),
    "self-tuning": lambda d: cg.sssp(WEIGHTED, 3, config="self-tuning", device=d),
    "scc": lambda d: cg.scc(WEIGHTED, device=d),
    "components": lambda d: cg.connected_components(WEIGHTED, device=d),
    "multi-search": lambda d: cg.MultiSearch(WEIGHTED, device=d, **HOPS).run([3, 4]),
    "divided": lambda d: cg.DividedBFS(WEIGHTED, [d, d], predecessors=True).run(3),
    "condensation": lambda d: cg.condensation(WEIGHTED, device=d),
}
ARRAYS = ("distances", "predecessors", "labels", "sizes", "indices", "membership")
FIGURES = ("kernel_ms", "total_ms", "launches", "mode", "config", "teps", "edges_traversed")


def facts(result):
    """What anybody can ask of a result."""
    found = {name: getattr(result, name) for name in ARRAYS if hasattr(result, name)}
    stats = getattr(result, "stats", None)
    found |= {name: getattr(stats, name) for name in FIGURES if hasattr(stats, name)}
    if hasattr(stats, "per_level"):
        found["per_level"] = stats.per_level.tobytes()
    if hasattr(result, "sources"):
        found |= {name: result[name] for name in result}
    return found


def sent(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301 - our own


WAYS = (copy.deepcopy, copy.copy, sent)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_copy_is_what_it_is_a_copy_of(name, how, any_device):
    result = RESULTS[name](any_device)
    again = how(result)
    before, after = facts(result), facts(again)
    assert before.keys() == after.keys()
    for key, value in before.items():
        np.testing.assert_equal(after[key], value)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_every_algorithm_finds_comes_back_from_workers(name, pocl):
    algorithm = ALGORITHMS[name]
    result = algorithm.run(algorithm.make(fresh_graph(), pocl), SOURCES[0])
    known = np.array(algorithm.read(result))
    for how in WAYS:
        np.testing.assert_array_equal(algorithm.read(how(result)), known)


def test_a_pickled_result_has_no_graph(any_device):
    """It is as large as what it holds."""
    result = cg.bfs(WEIGHTED, 3, device=any_device)
    assert len(pickle.dumps(result)) < 8 * WEIGHTED.n + 30_000


@pytest.mark.parametrize("how", WAYS)
def test_a_copied_graph_has_what_the_host_has_of_it(how, any_device):
    """What is on a device stays there, and the copy is searched as the graph is."""
    graph = cg.Graph(WEIGHTED.indptr, WEIGHTED.indices, WEIGHTED.weights)
    before = cg.sssp(graph, 3, device=any_device).distances  # now it is on a device as well
    again = how(graph)
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(graph, name))
    assert again.directed == graph.directed
    np.testing.assert_array_equal(cg.sssp(again, 3, device=any_device).distances, before)
    named = cg.from_networkx(cg.generate.path(3).to_networkx())
    assert list(how(named).labels) == list(named.labels)


CONFIGURED = (
    *("BFSConfig", "SSSPConfig", "SCCConfig", "MultiSearchConfig", "MatchingConfig"),
    *("TrianglesConfig", "TrussConfig", "CoresConfig", "SpanningForestConfig"),
    *("CommunitiesConfig", "SimilarityConfig"),
)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("kind", CONFIGURED)
def test_a_copied_configuration_is_equal(kind, how):
    config = getattr(cg, kind)
    for name in config.presets():
        preset = config.preset(name)
        again = how(preset)
        assert (again, repr(again)) == (preset, repr(preset))


def test_every_configuration_is_copied_above():
    assert {name for name in cg.__all__ if name.endswith("Config")} == set(CONFIGURED)


PLANS = (
    *("BFS", "SSSP", "SCC", "MultiSearch", "ConnectedComponents", "Triangles", "Truss", "Cores"),
    *("PageRank", "SpMV", "SpanningForest", "Coloring", "IndependentSet", "LabelPropagation"),
    *("Leiden", "Louvain", "Modularity", "RandomWalks", "Similarity", "SubgraphMatching"),
    *("InvariantMiner", "DividedBFS", "DividedSearches", "DynamicGraph", "Device"),
    *("dynamic.BFS", "dynamic.TrussNumbers", "dynamic.EdgeSupports", "dynamic.TriangleCounter"),
    *("cluster.BFS", "cluster.SSSP", "cluster.PageRank", "cluster.ConnectedComponents"),
    *("cluster.Searches", "EigenvectorCentrality", "Hits", "KatzCentrality"),
)


def test_every_plan_stays_where_it_is():
    plans = {getattr(cg, name) for name in cg.__all__ if hasattr(getattr(cg, name), "run")}
    named = {attrgetter(name)(cg) for name in PLANS} | {primitives.Expand}
    assert plans <= named
    assert all(issubclass(plan, StaysHere) for plan in named)


STAYING = {
    "BFS": (lambda d: cg.BFS(WEIGHTED, device=d), "graph and configuration"),
    "Triangles": (lambda d: cg.Triangles(WEIGHTED, clean=True, device=d), "configuration"),
    "DividedBFS": (lambda d: cg.DividedBFS(WEIGHTED, [d, d]), "graph and configuration"),
    "DynamicGraph": (lambda d: cg.DynamicGraph(WEIGHTED, device=d), "to_graph"),
    "Device": (lambda d: d, "its name"),
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", STAYING)
def test_what_is_on_a_device_refuses_to_be_copied(name, how, any_device):
    """With the reason, and with what can be copied instead."""
    make, instead = STAYING[name]
    reason = f"^{name} holds kernels and memory of a device, so it is neither .*{instead}"
    with pytest.raises(TypeError, match=reason):
        how(make(any_device))
