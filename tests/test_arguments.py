"""Whatever is passed for an argument: taken in each form that is promised, or refused in a line."""

import inspect
import re
import types
import warnings
from dataclasses import is_dataclass

import numpy as np
import pandas as pd
import pytest

import clgraph as cg

N = 8
RNG = np.random.default_rng(3)
ENDS = RNG.integers(0, N, (2, 24))
GRAPH = cg.from_edges(*ENDS, RNG.integers(1, 9, 24).astype(np.int32), n=N, dedup=True)
BOTH = cg.from_edges(*ENDS, n=N, symmetrize=True, dedup=True, self_loops=False)
QUERY = cg.generate.path(2)
LOG = np.array([[1.0, 2, 3], [2, 4, 6]])


class Array:
    def __init__(self, values):
        self.values = np.ascontiguousarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Interface:
    def __init__(self, values):
        self.values = np.ascontiguousarray(values)
        self.__array_interface__ = self.values.__array_interface__


class Pack:
    def __init__(self, values):
        self.values = np.ascontiguousarray(values)

    def __dlpack__(self, **wishes):
        return self.values.__dlpack__(**wishes)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def dynamic(device, values):
    graph = cg.DynamicGraph(GRAPH, device=device)
    graph.insert_edges(values, values, np.ones(2, np.int32))
    return graph.to_graph().indices


PAIR = np.array([1, 5])
# What is passed, and what it is passed to.
TAKES = {
    "sources": (PAIR, lambda d, a: cg.apsp(GRAPH, a, device=d)),
    "betweenness sources": (PAIR, lambda d, a: cg.betweenness_centrality(GRAPH, a, device=d)),
    "targets": (PAIR, lambda d, a: cg.reachable(GRAPH, [0], a, device=d)),
    "source": (PAIR, lambda d, a: cg.sssp(GRAPH, a, device=d).distances),
    "argument": (
        np.arange(N, dtype=np.int32),
        lambda d, a: cg.MultiSearch(
            GRAPH,
            state={"hops": cg.State("int32", fill=-1)},
            init="if (lid == 0) hops[src] = given[src];",
            arguments={"given": a},
            device=d,
        ).run([2])["hops"],
    ),
    "starts": (PAIR, lambda d, a: cg.random_walks(GRAPH, a, 3, device=d).walks),
    "x": (np.arange(N) + 0.5, lambda d, a: cg.spmv(GRAPH, a, device=d)),
    "personalization": (
        np.arange(N) + 1.0,
        lambda d, a: cg.pagerank(GRAPH, personalization=a, device=d).ranks,
    ),
    "nstart": (np.arange(N) + 1.0, lambda d, a: cg.hits(GRAPH, nstart=a, tol=1, device=d).hubs),
    "beta": (
        np.arange(N) + 1.0,
        lambda d, a: cg.katz_centrality(GRAPH, alpha=1e-3, beta=a, device=d).ranks,
    ),
    "pairs": (np.array([[0, 1], [2, 3]]), lambda d, a: cg.jaccard(BOTH, a, device=d)),
    "labels": (np.arange(N) % 3, lambda d, a: cg.modularity(BOTH, a, device=d)),
    "order": (
        np.arange(N)[::-1].copy(),
        lambda d, a: cg.greedy_color(BOTH, order=a, device=d).colors,
    ),
    "similarity": (
        np.linspace(0, 1, 2 * N).reshape(2, N),
        lambda d, a: cg.subgraph_matching(BOTH, QUERY, similarity=a, k=3, device=d).mapping,
    ),
    "trace": (LOG, lambda d, a: cg.mine_invariants(a, device=d).text()),
    "column": (LOG[0], lambda d, a: cg.mine_invariants({"a": a, "b": LOG[1]}, device=d).text()),
    "edges": (PAIR, dynamic),
    "distances": (
        cg.bfs(GRAPH, 0, device="cpu").distances,
        lambda _, a: cg.verify.distances(GRAPH, 0, a),
    ),
}


@pytest.mark.parametrize("form", [Array, Interface, Pack])
@pytest.mark.parametrize("name", TAKES)
def test_arrays_come_in_every_form(name, form, pocl):
    values, call = TAKES[name]
    np.testing.assert_array_equal(call(pocl, form(values)), call(pocl, values))


@pytest.mark.parametrize("name", TAKES)
def test_masked_entries_are_not_numbers(name, pocl):
    values, call = TAKES[name]
    masked = np.ma.masked_array(values, mask=False)
    np.testing.assert_array_equal(call(pocl, masked), call(pocl, values))
    masked[(0,) * values.ndim] = np.ma.masked
    with pytest.raises((cg.InvalidArgumentError, cg.InvalidGraphError), match="masked entries"):
        call(pocl, masked)


def test_masked_arrays_are_no_graph():
    masked = np.ma.masked_array([0, 1], mask=[False, True])
    for call in (
        lambda: cg.from_edges(masked, [1, 2]),
        lambda: cg.from_edges([0, 1], [1, 2], masked),
        lambda: cg.Graph([0, 1, 2], masked),
    ):
        with pytest.raises(cg.InvalidGraphError, match=r"masked entries.*\.filled"):
            call()


RAGGED, WORD, TABLE = [[1], [2, 3]], "x", np.zeros((3, 3))
WRONG = {
    "source of truth": lambda d: cg.bfs(GRAPH, True, device=d),
    "sources of truth": lambda d: cg.sssp(GRAPH, [True], device=d),
    "source table": lambda d: cg.bfs(GRAPH, TABLE, device=d),
    "sources table": lambda d: cg.sssp(GRAPH, TABLE, device=d),
    "ragged source": lambda d: cg.sssp(GRAPH, RAGGED, device=d),
    "ragged sources": lambda d: cg.betweenness_centrality(GRAPH, RAGGED, device=d),
    "depth of truth": lambda d: cg.bfs(GRAPH, 0, max_depth=True, device=d),
    "depth table": lambda d: cg.bfs(GRAPH, 0, max_depth=TABLE, device=d),
    "memory": lambda d: cg.bfs(GRAPH, 0, memory=TABLE, device=d),
    "config": lambda d: cg.pagerank(GRAPH, config=TABLE, device=d),
    "method": lambda d: cg.apsp(GRAPH, method=TABLE, device=d),
    "disconnected": lambda d: cg.diameter(GRAPH, disconnected=TABLE, device=d),
    "per": lambda d: cg.triangles(BOTH, per=TABLE, device=d),
    "triangles": lambda d: cg.triangles(BOTH, per="list", max_triangles=WORD, device=d),
    "block": lambda d: next(cg.triangle_blocks(BOTH, WORD, device=d)),
    "block beyond": lambda d: next(cg.triangle_blocks(BOTH, 2**62, device=d)),
    "order": lambda _: GRAPH.reordered(TABLE),
    "alpha": lambda d: cg.pagerank(GRAPH, alpha=WORD, device=d),
    "dtype": lambda d: cg.spmv(GRAPH, np.ones(N), dtype=WORD, device=d),
    "dtype table": lambda d: cg.apsp(GRAPH, dtype=TABLE, device=d),
    "ragged x": lambda d: cg.spmv(GRAPH, RAGGED, device=d),
    "complex start": lambda d: cg.hits(GRAPH, nstart=1j * np.ones(N), device=d),
    "beta": lambda d: cg.katz_centrality(GRAPH, beta=WORD, device=d),
    "text": lambda d: cg.pagerank(GRAPH, personalization=["1"] * N, device=d),
    "ragged pairs": lambda d: cg.jaccard(BOTH, RAGGED, device=d),
    "ragged labels": lambda d: cg.modularity(BOTH, RAGGED, device=d),
    "ragged order": lambda d: cg.greedy_color(BOTH, order=RAGGED, device=d),
    "labels": lambda d: cg.subgraph_matching(BOTH, QUERY, labels=(3, 4), device=d),
    "weights": lambda d: cg.pagerank(GRAPH, weights=GRAPH.weights, device=d),
    "weights of communities": lambda d: cg.leiden(BOTH, weights=np.ones(BOTH.m), device=d),
    "weights of walks": lambda d: cg.random_walks(GRAPH, [0], 2, weights=GRAPH.weights, device=d),
    "weighted": lambda d: cg.closeness_centrality(GRAPH, weighted=GRAPH.weights, device=d),
    "weighted shares": lambda d: cg.betweenness_centrality(GRAPH, weighted=TABLE, device=d),
    "out": lambda d: BOTH.bfs([0], out=[0] * N, device=d),
    "frozen out": lambda d: BOTH.bfs([0], out=np.broadcast_to(np.int32(0), (1, N)), device=d),
    "block of names": lambda d: next(BOTH.bfs_blocks([0], block=WORD, device=d)),
    "depth that was": lambda _: cg.verify.distances(GRAPH, 0, np.zeros(N, int), max_depth=WORD),
    "seconds": lambda d: cg.energy.per_run(int, min_seconds=WORD, device=d),
    "properties": lambda d: cg.DynamicGraph(GRAPH, device=d).update_values([0], [1], properties=3),
    "regime": lambda d: cg.DynamicGraph(GRAPH, device=d).delete_edges([0], [1], regime=TABLE),
    "format": lambda _: cg.read(__file__, format=["mtx"]),
    "path": lambda _: cg.read(TABLE),
    "limit": lambda _: cg.read(__file__, max_bytes=TABLE),
    "weights of what is drawn": lambda _: cg.generate.path(3, weights=TABLE),
    "device": lambda _: cg.device(TABLE),
    "balance": lambda _: cg.BFSConfig(balance=TABLE),
    "unit batch": lambda _: cg.balance.MultiPhase(unit_batch=TABLE),
    "delta": lambda _: cg.SSSPConfig(delta=TABLE),
    "trim": lambda _: cg.SCCConfig(trim=TABLE),
    "order of triangles": lambda _: cg.TrianglesConfig(order=[]),
    "cover": lambda _: cg.TrianglesConfig(cover=TABLE),
    "preset": lambda _: cg.BFSConfig.preset(TABLE),
    "origin": lambda _: cg.BFSConfig(origin=TABLE),
    "run": lambda _: cg.energy.per_run(TABLE),
    "distance": lambda d: cg.sssp(GRAPH, 0, max_distance=TABLE, device=d),
    "attribute": lambda _: cg.from_networkx(GRAPH.to_networkx(), weight=[]),
    "column": lambda _: cg.from_pandas(pd.DataFrame({"a": [1], "b": [2]}), ["a"], "b"),
    "arity": lambda d: cg.mine_invariants(LOG, arity=PAIR, device=d),
    "templates": lambda d: cg.mine_invariants(LOG, templates=3, device=d),
    "tolerance": lambda d: cg.mine_invariants(LOG, tolerance=TABLE, device=d),
    "way to mine": lambda d: cg.mine_invariants(LOG, config=[], device=d),
    "type of weights": lambda d: cg.DynamicGraph(weights=WORD, device=d),
    "types": lambda d: cg.DynamicGraph(properties=[WORD], device=d),
    "type": lambda d: cg.DynamicGraph(vertex_properties={"a": 1}, device=d),
    "ranks": lambda _: cg.cluster.BFS(GRAPH, 3),
    "delta of ranks": lambda d: cg.cluster.SSSP(GRAPH, cg.cluster.Together([d]), delta=WORD),
    "partition": lambda d: cg.cluster.BFS(GRAPH, cg.cluster.Together([d]), partition=[]),
    "partition of components": lambda d: cg.cluster.ConnectedComponents(
        GRAPH, cg.cluster.Together([d]), partition=WORD
    ),
    "negative": lambda d: cg.closeness_centrality(
        cg.from_edges([0, 1], [1, 2], [-1, 2]), weighted=True, device=d
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_on_one_line(name, pocl):
    with pytest.raises((cg.InvalidArgumentError, cg.InvalidGraphError)) as caught:
        WRONG[name](pocl)
    assert re.fullmatch(r".{15,250}", str(caught.value)), str(caught.value)
    assert "ambiguous" not in str(caught.value)


def calls():
    """Give every public function and method by name, but for those of records."""
    modules = [cg, *(each for each in map(cg.__dict__.get, cg.__all__) if inspect.ismodule(each))]
    for module in modules:
        for name, value in ((name, getattr(module, name)) for name in module.__all__):
            if isinstance(value, types.FunctionType):
                yield f"{module.__name__}.{name}", value
            elif inspect.isclass(value) and not (
                is_dataclass(value) or issubclass(value, cg.Device | np.ndarray)
            ):
                for method, function in inspect.getmembers(value, inspect.isfunction):
                    if method == "__init__" or not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function


SWITCHES = {
    f"{name} {parameter.name}": (call, parameter)
    for name, call in calls()
    for parameter in inspect.signature(call).parameters.values()
    if isinstance(parameter.default, bool) or parameter.annotation in ("bool | None", bool | None)
}


@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_true_or_false_is_no_array(name):
    """It is refused before anything else, by place as by name."""
    call, switch = SWITCHES[name]
    before = []
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name == switch.name or parameter.kind is parameter.KEYWORD_ONLY:
            break
        before.append(types.SimpleNamespace())
    arrays = np.ones(2), GRAPH.to_scipy(), np.ma.masked_array([1, 2])
    given = [(before, {switch.name: wrong}) for wrong in arrays]
    if switch.kind is switch.POSITIONAL_OR_KEYWORD:
        given.extend(([*before, wrong], {}) for wrong in arrays)
    for args, named in given:
        with pytest.raises(cg.InvalidArgumentError, match=f"^{switch.name}=.* is neither True nor"):
            call(*args, **named)


def test_what_is_true_or_false_may_be_a_number(pocl):
    plain = cg.pagerank(GRAPH, weights=False, device=pocl)
    for no in (0, np.False_, None, np.array(False)):
        found = cg.pagerank(GRAPH, weights=no, device=pocl)
        np.testing.assert_array_equal(found.ranks, plain.ranks)
        assert found.stats.config == plain.stats.config
    assert cg.bfs(GRAPH, 0, predecessors=1, device=pocl).predecessors is not None
    assert cg.BFS(GRAPH, np.True_, device=pocl).with_predecessors is True


@pytest.mark.parametrize("config", [cg.BFSConfig(pull="never"), "merrill-two-phase", "", [1]])
def test_a_configuration_in_the_place_of_a_flag_is_not_left_out(config, pocl):
    for plan in (cg.BFS, cg.SSSP):
        with pytest.raises(cg.InvalidArgumentError, match=r"neither True nor False.*config=\.$"):
            plan(GRAPH, config, device=pocl)


def test_progress_is_refused_before_there_is_any(pocl):
    cg.bfs(GRAPH, 0, device=pocl)  # so that nothing is uploaded
    for wrong in (7, np.ones(2), "bar"):
        with pytest.raises(cg.InvalidArgumentError, match=r"neither True nor a callable"):
            cg.bfs(GRAPH, 0, progress=wrong, device=pocl)


CONFIGS = [each for each in map(cg.__dict__.get, cg.__all__) if hasattr(each, "presets")]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_a_configuration_names_itself_where_it_lacks_an_argument(config):
    with pytest.raises(TypeError, match=rf"^{config.__name__}\.__init__\(\) got an unexpected"):
        config(no_such=1)


def alike(weight):
    path = cg.generate.path(5)
    return cg.Graph(path.indptr, path.indices, np.full(path.m, weight), directed=False)


RANKS = {
    "pagerank": lambda g, **o: cg.pagerank(g, **o).ranks,
    "hits": lambda g, **o: cg.hits(g, **o).hubs,
    "eigenvector": lambda g, **o: cg.eigenvector_centrality(g, **o).ranks,
}


FLOATS = pytest.mark.parametrize("dtype", ["float32", "float64"])


@FLOATS
@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e200, 1e308])
def test_weights_beyond_the_type_are_refused(name, weight, dtype, pocl):
    """Scores came out as 0 or as no numbers, some of which passed the check."""
    if (name, dtype) == ("pagerank", "float64") and 1e-200 <= weight <= 1e200:
        assert RANKS[name](alike(weight), verify=True, device=pocl).max() > 0.1
        return
    with pytest.raises(cg.InvalidGraphError, match="multiply all"):
        RANKS[name](alike(weight), dtype=dtype, device=pocl)


@FLOATS
@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize("weight", [1e-9, 1e9])
def test_large_and_small_weights_are_ranked(name, weight, dtype, pocl):
    found = RANKS[name](alike(weight), dtype=dtype, verify=True, device=pocl)
    assert np.isfinite(found).all()
    assert found.max() > 0.1


def test_scores_without_bound_come_without_warnings(pocl):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cg.katz_centrality(alike(1e9), alpha=1, device=pocl)
        assert not result.converged
        with pytest.raises(cg.VerificationError, match="pass an alpha below"):
            cg.katz_centrality(alike(1e9), alpha=1, verify=True, device=pocl)
        with pytest.raises(cg.InvalidGraphError, match="no finite sum"):
            cg.leiden(alike(1e308), device=pocl)


@pytest.mark.parametrize("call", [cg.sssp, lambda g, s, **o: cg.apsp(g, [s], weighted=True, **o)])
def test_sums_that_are_too_long_are_errors_of_this_library(call, pocl):
    with pytest.raises(cg.DistanceOverflowError) as caught:
        call(cg.from_edges([0, 1], [1, 2], np.full(2, 2**31 - 2, np.int32)), 0, device=pocl)
    assert isinstance(caught.value, OverflowError)
    assert isinstance(caught.value, cg.ClgraphError)
