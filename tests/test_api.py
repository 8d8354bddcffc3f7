"""The public names, arguments and conventions that code outside of this repository relies on.

Signatures here are promises: arguments may be added to them, but none renamed, moved or given
another default.
"""

import inspect
import operator

import numpy as np
import pytest
import scipy.sparse as sp

import clgraph as cg

ALGORITHM = "config=None, device=None"
FUNCTIONS = {
    "devices": "",
    "device": "spec=None",
    "Graph": "indptr, indices, weights=None, *, directed=True",
    "from_edges": (
        "src, dst, weights=None, *, n=None, directed=True, symmetrize=False, dedup=False, "
        "self_loops=True"
    ),
    "from_scipy": "matrix, *, directed=True, weighted=None",
    "from_networkx": "nxg, *, weight='weight'",
    "from_pandas": "df, source='source', target='target', weight=None, *, directed=True",
    "read": "path, *, format=None, directed=None, weighted=None, max_vertices=None, max_bytes=None",
    "write": "graph, path, *, format=None",
    "generate.kron": "scale, edge_factor=16, *, a=.57, b=.19, c=.19, seed=0, weights=None",
    "generate.rmat": "scale, edge_factor=16, *, seed=0, weights=None",
    **{
        f"generate.{name}": f"{size}, *, seed=0, weights=None"
        for name, size in {
            "random": "n", "grid2d": "width", "grid3d": "width", "mesh": "width", "geometric": "n",
            "road": "width", "path": "n", "star": "n", "complete": "n",
        }.items()
    },
    "bfs": f"g, source, *, predecessors=False, max_depth=None, verify=False, {ALGORITHM}",
    "BFS": f"g, predecessors=False, {ALGORITHM}",
    "BFS.run": "self, source",
    "BFSConfig.presets": "",
    "BFSConfig.preset": "name",
    "sssp": f"g, source, *, predecessors=False, verify=False, {ALGORITHM}",
    "SSSP": f"g, predecessors=False, {ALGORITHM}",
    "SSSP.run": "self, source",
    "SSSPConfig": "*, delta=None, set_point=None, power_target=None",
    "scc": f"g, *, verify=False, {ALGORITHM}",
    "SCC": f"g, *, {ALGORITHM}",
    "SCC.run": "self",
    "MultiSearch": f"g, *, {ALGORITHM}",
    "apsp": f"g, sources=None, *, {ALGORITHM}",
    "betweenness_centrality": f"g, sources=None, normalized=True, *, {ALGORITHM}",
    "closeness_centrality": f"g, sources=None, *, {ALGORITHM}",
    "eccentricity": f"g, sources=None, *, {ALGORITHM}",
    "diameter": f"g, *, disconnected='raise', {ALGORITHM}",
    "reachable": f"g, sources, targets=None, *, {ALGORITHM}",
    "triangle_count": f"g, *, {ALGORITHM}",
    "triangles": f"g, per='vertex', *, {ALGORITHM}",
    "local_clustering": f"g, *, {ALGORITHM}",
    "average_clustering": f"g, *, {ALGORITHM}",
    "transitivity": f"g, *, {ALGORITHM}",
    "truss_numbers": f"g, *, {ALGORITHM}",
    "k_truss": f"g, k, *, {ALGORITHM}",
    "max_truss": f"g, *, {ALGORITHM}",
    "core_numbers": f"g, *, {ALGORITHM}",
    "k_core": f"g, k, *, {ALGORITHM}",
    "DynamicGraph": "g=None, *, n=None, directed=True, sorted=True, device=None",
    "subgraph_matching": (
        f"target, query, *, labels=None, similarity=None, k=1000, seed=0, {ALGORITHM}"
    ),
    "spmv": f"g, x, *, {ALGORITHM}",
    "pagerank": f"g, *, alpha=.85, personalization=None, {ALGORITHM}",
    "hits": f"g, *, {ALGORITHM}",
    "eigenvector_centrality": f"g, *, {ALGORITHM}",
    "katz_centrality": f"g, *, {ALGORITHM}",
    "connected_components": f"g, *, {ALGORITHM}",
    "minimum_spanning_forest": f"g, *, {ALGORITHM}",
    "label_propagation": f"g, rounds, *, {ALGORITHM}",
    "louvain": f"g, *, {ALGORITHM}",
    "leiden": f"g, *, {ALGORITHM}",
    "modularity": f"g, labels, *, {ALGORITHM}",
    "greedy_color": f"g, *, {ALGORITHM}",
    "maximal_independent_set": f"g, *, {ALGORITHM}",
    "jaccard": f"g, pairs=None, *, {ALGORITHM}",
    "random_walks": f"g, starts, length, *, {ALGORITHM}",
    "mine_invariants": (
        "trace, *, templates='I', arity=3, tolerance=0, inference=True, names=None, "
        f"verify=False, {ALGORITHM}"
    ),
    "energy.measure": "device=None",
    "energy.per_run": "run, *, min_seconds=2.0",
}  # fmt: skip
# Results of all are checked on request; those of plans in `run`.
ALGORITHMS = [
    name
    for name, arguments in FUNCTIONS.items()
    if arguments.endswith(ALGORITHM) and name.islower()
]
LONG_CALLS = (*ALGORITHMS, "BFS", "SSSP", "SCC", "MultiSearch", "MultiSearch.run", "read", "write")
PRESETS = {
    cg.BFSConfig: {
        *("merrill-expand-contract", "merrill-contract-expand", "merrill-two-phase"),
        *("merrill-hybrid", "bfs-4k", "helix", "enterprise", "auto"),
    },
    cg.SSSPConfig: {
        *("h-bf", "near-far", "delta-stepping", "asynchronous", "self-tuning", "auto"),
    },
    cg.SCCConfig: {"forward-backward", "coloring", "multistep", "auto"},
}
ERRORS = {
    "InvalidGraphError": ValueError,
    "InvalidArgumentError": ValueError,
    "GraphFormatError": ValueError,
    "DeviceNotFoundError": RuntimeError,
    "DeviceMemoryError": MemoryError,
    "KernelBuildError": cg.ClgraphError,
    "KernelTimeoutError": cg.ClgraphError,
}
POSITIONAL = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)


def promised(arguments: str) -> inspect.Signature:
    space: dict[str, object] = {}
    exec(f"def promise({arguments}): pass", space)  # noqa: S102 (of this file's own text)
    return inspect.signature(space["promise"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature_is_as_promised(name):
    found = inspect.signature(operator.attrgetter(name)(cg)).parameters
    wanted = promised(FUNCTIONS[name]).parameters
    for place, (argument, parameter) in enumerate(wanted.items()):
        if parameter.kind in POSITIONAL:
            assert len(found) > place, f"{name} takes no {argument}"
            mine = list(found.values())[place]
            assert mine.kind in POSITIONAL
            # The first argument is a graph, whatever it is called.
            assert mine.name == argument or argument in {"g", "nxg", "df"}
        else:
            assert argument in found
            mine = found[argument]
        if parameter.default is not inspect.Parameter.empty:
            assert mine.default == parameter.default, argument
    for argument, mine in list(found.items())[len(wanted) :]:
        optional = mine.default is not inspect.Parameter.empty
        assert optional or argument in wanted or name == "MultiSearch", argument


@pytest.mark.parametrize("name", LONG_CALLS)
def test_long_calls_tell_how_far_they_are(name):
    parameters = inspect.signature(operator.attrgetter(name)(cg)).parameters
    assert parameters["progress"].default is None
    assert parameters["progress"].kind is inspect.Parameter.KEYWORD_ONLY


CHECKED = (*ALGORITHMS, "BFS.run", "SSSP.run", "SCC.run", "harmonic_centrality", "MultiSearch.run")


@pytest.mark.parametrize("name", CHECKED)
def test_results_can_be_checked(name):
    verify = inspect.signature(operator.attrgetter(name)(cg)).parameters["verify"]
    assert verify.default is False
    assert verify.kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("plan", [cg.BFS, cg.SSSP])
def test_plans_take_their_arguments_by_place(plan):
    """``cg.BFS(g, predecessors=False, config=None, device=None)``, with or without the names."""
    parameters = inspect.signature(plan).parameters.values()
    placed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert placed == ["graph", "predecessors", "config", "device"]


@pytest.mark.parametrize("config", PRESETS, ids=lambda config: config.__name__)
def test_presets(config):
    assert set(config.presets()) >= PRESETS[config]
    for name in config.presets():
        assert isinstance(config.preset(name), config)
    for wrong in ("no-such", None, [], 3):
        with pytest.raises(cg.InvalidArgumentError, match="choose one of"):
            config.preset(wrong)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_their_bases(name):
    assert issubclass(getattr(cg, name), (cg.ClgraphError, ERRORS[name]))
    assert issubclass(getattr(cg, name), ERRORS[name])


def test_all_names_exist_and_are_documented():
    assert len(set(cg.__all__)) == len(cg.__all__)
    for name in cg.__all__:
        assert inspect.getdoc(getattr(cg, name)), name


def test_graph_has_what_is_promised():
    graph = cg.from_edges([0, 0, 2], [1, 2, 0], [3, 4, 5])
    assert (graph.n, graph.m, graph.directed, graph.labels) == (3, 3, True, None)
    assert graph.indptr.tolist() == [0, 2, 2, 3]
    assert graph.indices.tolist() == [1, 2, 0]
    assert graph.weights.tolist() == [3, 4, 5]
    assert graph.degrees.tolist() == [2, 0, 1]
    assert (graph.max_degree, graph.mean_degree) == (2, 1.0)
    assert graph.transpose().indices.tolist() == [2, 0, 0]
    assert not graph.symmetrized().directed
    assert all(graph.reordered(order).m == 3 for order in ("degree", "rcm", "hub"))
    assert graph.statistics().vertices == 3
    assert graph.to_scipy().shape == (3, 3)
    assert graph.to_networkx().number_of_edges() == 3


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_that_do_not_ascend_are_sorted_in_a_copy(dtype):
    """scipy's convention does not order rows, so neither do callers."""
    indptr, indices = np.array([0, 3, 3, 5], dtype), np.array([2, 0, 2, 1, 0], dtype)
    graph = cg.Graph(indptr, indices, np.array([1.5, 2.5, 3.5, 4.5, 5.5]))
    assert graph.indices.tolist() == [0, 2, 2, 0, 1]
    assert graph.weights.tolist() == [2.5, 1.5, 3.5, 5.5, 4.5]
    assert indices.tolist() == [2, 0, 2, 1, 0]
    assert graph.indices.dtype == dtype
    assert cg.Graph(indptr, indices).indices.tolist() == [0, 2, 2, 0, 1]


WEIGHTED = cg.generate.kron(6, 4, seed=1, weights=(1, 5))


def test_results_and_their_stats(any_device):
    graph = WEIGHTED
    r = cg.bfs(graph, 0, predecessors=True, device=any_device)
    assert r.distances.dtype == np.int32
    assert r.predecessors[0] == 0
    unreached = r.distances < 0
    assert (r.distances[unreached] == -1).all()
    assert (r.predecessors[unreached] == -1).all()
    assert (r.depth, r.reached) == (r.distances.max(), np.count_nonzero(~unreached))
    check_stats(r.stats, graph.degrees[~unreached].sum())
    r = cg.sssp(graph, 0, predecessors=True, device=any_device)
    assert (r.distances[unreached] == np.iinfo(r.distances.dtype).max).all()
    assert (r.predecessors[unreached] == -1).all()
    assert r.reached == np.count_nonzero(~unreached)
    check_stats(r.stats, graph.degrees[~unreached].sum())
    r = cg.scc(graph, device=any_device)
    assert r.sizes.sum() == graph.n
    assert (len(r.sizes), r.labels.max() + 1) == (r.count, r.count)
    firsts = [np.flatnonzero(r.labels == label)[0] for label in range(r.count)]
    assert firsts == sorted(firsts)
    assert r.stats.total_ms >= r.stats.kernel_ms >= 0


def test_results_say_on_a_line_what_they_are(any_device):
    """Not only where in memory they are."""
    hops = {
        "state": {"hops": cg.State("int32", fill=-1)},
        "init": "if (lid == 0) hops[src] = 0;",
        "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    }
    assert repr(cg.MultiSearch(WEIGHTED, device=any_device, **hops).run([0, 1])) == (
        "MultiSearchResult(searches=2, arrays=['hops'])"
    )
    assert repr(cg.DividedSearches(WEIGHTED, [any_device], **hops).run([0, 1])) == (
        "DividedSearchesResult(searches=2, arrays=['hops'])"
    )
    ranks = cg.cluster.Together([any_device])
    found = cg.cluster.ConnectedComponents(WEIGHTED, ranks).run()
    assert repr(found) == "Ranked(vertices=64, arrays=['labels'])"
    assert repr(WEIGHTED.sssp([0], device=any_device)) == "NamedPaths(sources=1, vertices=64)"
    modules = [cg, *(each for each in map(cg.__dict__.get, cg.__all__) if inspect.ismodule(each))]
    for module in modules:
        for name in module.__all__:
            if name.endswith("Result"):
                assert getattr(module, name).__repr__ is not object.__repr__, name


@pytest.mark.parametrize("plan", [cg.BFS, cg.SSSP])
def test_predecessors_are_the_second_argument_of_a_search(plan, any_device):
    for wanted in (False, True):
        found = plan(WEIGHTED, wanted, device=any_device).run(0).predecessors
        assert (found is not None) == wanted


def check_stats(stats, edges):
    assert stats.total_ms > 0
    assert stats.kernel_ms >= 0
    assert stats.levels > 0
    assert stats.edges_traversed == edges
    assert stats.teps > 0
    assert stats.per_level.dtype.names
    assert stats.mode in {"persistent", "stepped"}
    assert stats.config is not None
    assert stats.energy is None


def test_energy_has_what_is_promised(any_device):
    with cg.energy.measure(any_device, idle_seconds=0) as e:
        pass
    assert e.seconds >= 0
    assert e.source in {"nvml-counter", "nvml-power", "rapl", "none"}
    for name in ("joules", "mean_watts", "peak_watts", "idle_watts", "samples"):
        assert hasattr(e, name)
    assert e.source != "none" or e.joules is None


def test_a_scipy_matrix_is_a_graph_everywhere(any_device, tmp_path):
    matrix = sp.coo_array(WEIGHTED.to_scipy())
    options = {"device": any_device}
    np.testing.assert_array_equal(
        cg.bfs(matrix, 0, **options).distances, cg.bfs(WEIGHTED, 0, **options).distances
    )
    assert cg.sssp(matrix, 0, **options).reached == cg.bfs(matrix, 0, **options).reached
    assert cg.scc(matrix, **options).count == cg.scc(WEIGHTED, **options).count
    assert cg.apsp(matrix, [1], **options).shape == (1, 64)
    assert cg.betweenness_centrality(matrix, **options).shape == (64,)
    assert cg.closeness_centrality(matrix, **options).shape == (64,)
    assert cg.eccentricity(matrix, disconnected="ignore", **options).shape == (64,)
    assert cg.diameter(matrix, disconnected="ignore", **options) > 1
    assert cg.reachable(matrix, [0], [0], **options).tolist() == [[True]]
    cg.write(matrix, tmp_path / "g.mtx")
    assert cg.read(tmp_path / "g.mtx").m == WEIGHTED.m


WRONG = {
    "source": lambda d: cg.bfs(WEIGHTED, -1, device=d),
    "source beyond": lambda d: cg.sssp(WEIGHTED, 64, device=d),
    "source of float": lambda d: cg.bfs(WEIGHTED, 1.0, device=d),
    "source of no graph": lambda d: cg.bfs(cg.from_edges([], [], n=0), 0, device=d),
    "max_depth": lambda d: cg.bfs(WEIGHTED, 0, max_depth=1.5, device=d),
    "max_distance nan": lambda d: cg.sssp(WEIGHTED, 0, max_distance=float("nan"), device=d),
    "max_distance text": lambda d: cg.sssp(WEIGHTED, 0, max_distance="2", device=d),
    "target": lambda d: cg.sssp(WEIGHTED, 0, target=64, device=d),
    "no weights": lambda d: cg.sssp(cg.generate.path(3), 0, device=d),
    "config": lambda d: cg.bfs(WEIGHTED, 0, config="no-such", device=d),
    "config of another": lambda d: cg.bfs(WEIGHTED, 0, config=cg.SCCConfig(), device=d),
    "no config": lambda d: cg.scc(WEIGHTED, config=7, device=d),
    "graph": lambda d: cg.bfs([[0, 1]], 0, device=d),
    "device": lambda _: cg.bfs(WEIGHTED, 0, device=7),
    "apsp dtype": lambda d: cg.apsp(WEIGHTED, dtype="junk", device=d),
    "sources": lambda d: cg.apsp(WEIGHTED, [0, -1], device=d),
    "sources of float": lambda d: cg.reachable(WEIGHTED, [0.0], device=d),
    "seed": lambda d: cg.betweenness_centrality(WEIGHTED, 3, seed="x", device=d),
    "seed below 0": lambda d: cg.betweenness_centrality(WEIGHTED, 3, seed=-1, device=d),
    "betweenness dtype": lambda d: cg.betweenness_centrality(WEIGHTED, dtype="x", device=d),
    "config of searches": lambda d: cg.apsp(WEIGHTED, config="no-such", device=d),
    "disconnected": lambda d: cg.diameter(WEIGHTED, disconnected="maybe", device=d),
    "progress": lambda d: cg.bfs(cg.generate.path(5), 0, progress=7, device=d),
    "scale": lambda _: cg.generate.kron(60),
    "radius": lambda _: cg.generate.geometric(5, -1.0),
    "path": lambda _: cg.read(None),
    "run": lambda _: cg.energy.per_run(3),
    "nan weight": lambda _: cg.Graph([0, 1], [0], [float("nan")]),
    "head beyond": lambda _: cg.Graph([0, 1], [1]),
    "lying rows": lambda _: cg.Graph([0, 2**62], [0]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_errors_of_one_clear_sentence(name, any_device):
    with pytest.raises((cg.InvalidArgumentError, cg.InvalidGraphError)) as caught:
        WRONG[name](any_device)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 15


def test_a_missing_folder_is_named_not_the_file_that_was_to_be_written_first(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        cg.write(WEIGHTED, tmp_path / "none" / "g.mtx")
    assert caught.value.filename == str(tmp_path / "none")


def test_many_searches_take_a_configuration(any_device):
    options = {"method": "multi-search", "config": "warp-based", "device": any_device}
    expected = cg.apsp(WEIGHTED, device=any_device)
    np.testing.assert_array_equal(cg.apsp(WEIGHTED, **options), expected)
    farthest = cg.eccentricity(WEIGHTED, disconnected="ignore", **options)
    np.testing.assert_array_equal(farthest, expected.max(axis=1))
    np.testing.assert_array_equal(cg.reachable(WEIGHTED, [5], **options)[0], expected[5] >= 0)
    np.testing.assert_allclose(
        cg.closeness_centrality(WEIGHTED, **options),
        cg.closeness_centrality(WEIGHTED, device=any_device),
    )


def test_progress_is_told_to_a_callable_or_shown(any_device, capsys):
    said = []
    cg.reachable(WEIGHTED, [0, 1], device=any_device, progress=lambda *words: said.append(words))
    assert said[-1][:2] == (2, 2)
    assert all(isinstance(what, str) for _, _, what in said)
    cg.reachable(WEIGHTED, [0, 1], device=any_device, progress=True)
    cg.bfs(cg.generate.path(9), 0, device=any_device, progress=False)
    assert capsys.readouterr().out == ""
