"""Graphs from tables and results as tables: the checklist of the cuRnet sheet, line by line."""

import contextlib
import gc
import io
import logging
import pickle
import signal
from itertools import pairwise

import igraph
import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from clocks import Work, alarms
from scipy.sparse import csgraph, csr_array

import clgraph as cg
from clgraph.compat import curnet
from clgraph.interop.tables import frames

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
EDGES = {
    "from": ["p53", "mdm2", "p53", "atm", "brca1", "atm", "x"],
    "to": ["mdm2", "p53", "atm", "brca1", "p53", "atm", "x"],
    "score": [1.0, 2.5, 0.0, 0.0, 3.0, 1.0, 1.0],
}
NAMES = ["p53", "mdm2", "atm", "brca1", "x"]


@pytest.fixture
def table():
    return pd.DataFrame(EDGES)


@pytest.fixture
def graph(table):
    return cg.from_pandas(table, "from", "to", "score")


def random_table(n=60, m=240, seed=1, low=0):
    draw = np.random.default_rng(seed)
    ends = draw.integers(0, n, (2, m))
    names = np.array([f"g{i}" for i in range(n)], object)
    return pd.DataFrame(
        {"from": names[ends[0]], "to": names[ends[1]], "w": draw.integers(low, 9, m).astype(float)}
    )


def test_1_two_or_three_columns_of_texts_or_integers(table):
    assert cg.from_pandas(table, "from", "to").weights is None
    assert cg.from_pandas(table, "from", "to", "score").weights.dtype == np.float64
    numbers = pd.DataFrame({"a": [0, 2], "b": [1, 0]})
    assert cg.from_pandas(numbers, "a", "b").vertices.tolist() == [0, 1, 2]


def test_2_other_sources_give_the_same_graph(table, graph):
    text = io.StringIO(table.to_csv(index=False))
    of_csv = cg.from_csv(text, "from", "to", "score")
    tuples = table.itertuples(index=False)
    of_igraph = cg.from_igraph(igraph.Graph.TupleList(tuples, directed=True, edge_attrs=["weight"]))
    nxg = nx.DiGraph()
    nxg.add_weighted_edges_from(table.itertuples(index=False))
    for other in (of_csv, of_igraph, cg.from_networkx(nxg)):
        names = other.labels.tolist()
        assert sorted(names) == sorted(NAMES)
        again = other.subgraph(NAMES)
        assert (again.to_scipy() != graph.to_scipy()).nnz == 0
    assert cg.from_csv(io.StringIO("0 1\n1 2\n"), sep=" ", header=None).m == 2


def test_columns_of_a_file_by_place():
    text = "score from to\n7 a b\n8 b c\n"
    found = cg.from_csv(io.StringIO(text), 1, 2, 0, sep=" ")
    assert found.labels.tolist() == ["a", "b", "c"]
    assert (found.indices.tolist(), found.weights.tolist()) == ([1, 2], [7, 8])
    with pytest.raises(cg.InvalidArgumentError, match="3 columns, so there is no column 3"):
        cg.from_csv(io.StringIO(text), 1, 3, sep=" ")


def test_a_graph_of_igraph_keeps_directions_names_and_weights():
    given = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"weight": [2, 5]})
    given.vs["name"] = ["a", "b", "c"]
    found = cg.from_igraph(given)
    assert found.labels.tolist() == ["a", "b", "c"]
    assert found.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 5], [0, 5, 0]]


def test_4_undirected_graphs_have_both_directions(table):
    both = cg.from_pandas(table.iloc[[0, 2]], "from", "to", directed=False)
    assert (both.m, both.directed) == (4, False)
    back = cg.from_igraph(igraph.Graph([(0, 1), (1, 1)]))
    assert (back.m, back.directed, back.labels) == (3, False, None)


def test_5_6_depths_of_many_sources_by_name(any_device):
    graph = cg.from_pandas(random_table(), "from", "to")
    matrix = graph.to_scipy()
    sources = ["g3", "g7", "g11"]
    found = graph.bfs(sources, device=any_device)
    assert found.index.tolist() == sources
    assert found.columns.equals(graph.vertices)
    assert (found.dtypes == np.int32).all()
    places = [graph.vertices.get_loc(name) for name in sources]
    reference = csgraph.shortest_path(matrix, unweighted=True, indices=places)
    reference[np.isinf(reference)] = -1
    np.testing.assert_array_equal(found.to_numpy(), reference)
    assert (reference == -1).any()


def test_7_9_10_paths_are_trees_of_least_predecessors(any_device):
    graph = cg.from_pandas(random_table(), "from", "to", "w")
    arrays = cg.from_edges(*graph.listed_edges(), n=graph.n, dedup=True)
    found = graph.sssp(["g3", "g20"], device=any_device)
    for source in ("g3", "g20"):
        place = graph.vertices.get_loc(source)
        reference = cg.sssp(arrays, place, device=any_device).distances
        np.testing.assert_allclose(found.distances.loc[source], reference)
        for target in graph.vertices:
            path = found.path(source, target)
            if np.isinf(found.distances.loc[source, target]):
                assert path == []
                assert found["predecessors"].loc[source, target] == -1
                continue
            assert path[0] == source
            assert path[-1] == target
            assert len(set(path)) == len(path)
            assert along(arrays, graph, path) == found.distances.loc[source, target]


def along(arrays, graph, path):
    matrix = arrays.to_scipy()
    places = [graph.vertices.get_loc(name) for name in path]
    total = 0.0
    for u, v in pairwise(places):
        row = slice(matrix.indptr[u], matrix.indptr[u + 1])
        total += matrix.data[row][matrix.indices[row] == v].min()
    return total


def test_9_edges_of_weight_zero_make_no_circles(any_device):
    ring = pd.DataFrame({"a": list("xyzx"), "b": list("yzxz"), "w": [0.0, 0.0, 0.0, 0.0]})
    found = cg.from_pandas(ring, "a", "b", "w").sssp("y", device=any_device)
    assert found.path("y", "x") == ["y", "z", "x"]
    assert found.predecessors.loc["y"].tolist() == [2, -1, 1]


@pytest.mark.runtimes("pocl", "intel")
def test_10_predecessors_are_the_same_everywhere(device):
    graph = cg.from_pandas(random_table(seed=4), "from", "to", "w")
    expected = graph.sssp(["g1", "g2"], device="pocl").predecessors
    assert graph.sssp(["g1", "g2"], device=device).predecessors.equals(expected)


@pytest.mark.parametrize("low", [0, 1])
def test_10_the_predecessor_is_the_least_of_the_nearest_on_shortest_paths(low, any_device):
    """By every edge, whether some weigh nothing or all something: the fewest edges come first."""
    drawn = random_table(n=40, m=400, seed=6, low=low)
    drawn["w"] = drawn["w"].to_numpy() % 3 + low
    graph = cg.from_pandas(drawn, "from", "to", "w")
    edges = list(zip(*graph.listed_edges(), strict=True))
    found = graph.sssp(["g1", "g2"], device=any_device)
    several = farther = 0
    for source in ("g1", "g2"):
        lengths = found.distances.loc[source].to_numpy()
        tight = [(u, v) for u, v, w in edges if lengths[u] + w == lengths[v] < np.inf]
        hops, level = {}, {graph.vertices.get_loc(source)}
        while level:
            hops |= dict.fromkeys(level, 1 + max(hops.values(), default=-1))
            level = {v for u, v in tight if u in level} - hops.keys()
        for v, chosen in enumerate(found.predecessors.loc[source]):
            every = [u for u, w in tight if w == v]
            nearest = [u for u in every if hops[u] < hops[v]]
            assert chosen == min(nearest, default=-1)
            several += len(nearest) > 1
            farther += chosen > min(every, default=-1) >= 0
    assert several > 5
    assert farther > 0


def test_8_negative_edges_and_cycles(any_device):
    edges = pd.DataFrame({"a": ["s", "s", "m"], "b": ["m", "t", "t"], "w": [4, 3, -2]})
    graph = cg.from_pandas(edges, "a", "b", "w")
    assert graph.sssp("s", device=any_device).distances.loc["s", "t"] == 2
    cycle = pd.DataFrame({"a": ["s", "m"], "b": ["m", "s"], "w": [1, -2]})
    with pytest.raises(cg.NegativeCycleError):
        cg.from_pandas(cycle, "a", "b", "w").sssp("s", device=any_device)


def test_11_distances_alone_are_the_same(graph, any_device):
    both = graph.sssp(NAMES, device=any_device)
    alone = graph.sssp_distances(NAMES, device=any_device)
    assert both.distances.equals(alone)
    array = graph.sssp_distances(NAMES, as_numpy=True, device=any_device)
    np.testing.assert_array_equal(array, alone)
    whole = cg.from_edges([0, 1], [1, 2], np.array([3, 4], np.int32), n=4)
    assert whole.sssp_distances(0, device=any_device).iloc[0].tolist() == [0, 3, 7, np.inf]


def test_11_distances_alone_look_for_no_paths(graph, any_device, monkeypatch):
    """Which is what they take less time by."""
    monkeypatch.setattr(frames, "_least_before", None)
    assert graph.sssp_distances(NAMES, device=any_device).shape == (5, 5)
    assert sum(map(len, graph.sssp_distance_blocks(NAMES, block=2, device=any_device))) == 5
    with pytest.raises(TypeError):
        graph.sssp(NAMES, device=any_device)


def test_12_paths_need_weights(table):
    with pytest.raises(cg.InvalidArgumentError, match="no weights"):
        cg.from_pandas(table, "from", "to").sssp("p53")


def test_13_components_by_name(graph, any_device):
    found = graph.scc(device=any_device)
    assert found.dtype == np.int32
    assert found.attrs["n_components"] == 2
    assert found.loc["p53"] == found.loc["brca1"] != found.loc["x"]
    assert list(graph.component_of("atm", device=any_device)) == NAMES[:4]


@pytest.mark.parametrize("sources", [3, 60])
def test_15_many_sources_are_one_run(sources, any_device, monkeypatch):
    """Work-groups take sources in turn on the device; the host asks once."""
    graph = cg.from_pandas(random_table(), "from", "to", "w")
    asked = []
    run = cg.MultiSearch.run
    monkeypatch.setattr(
        cg.MultiSearch,
        "run",
        lambda plan, some, **more: asked.append(len(some)) or run(plan, some, **more),
    )
    names = (list(graph.vertices) * 2)[:sources]
    for search in (graph.bfs, graph.sssp_distances):
        search(names, batch="per_group", device=any_device)
    assert asked == [sources, sources]
    for search in (graph.bfs, graph.sssp_distances):
        search(names, batch="per_source", device=any_device)
    assert asked == [sources, sources]  # a run each, of other plans


def test_16_blocks_are_parts_of_the_whole(any_device):
    graph = cg.from_pandas(random_table(), "from", "to", "w")
    names = list(graph.vertices)[:11]
    whole = graph.bfs(names, device=any_device)
    parts = list(graph.bfs_blocks(names, block=4, device=any_device))
    assert [len(part) for part in parts] == [4, 4, 3]
    assert pd.concat(parts).equals(whole)
    lengths = pd.concat(graph.sssp_distance_blocks(names, block=5, device=any_device))
    assert lengths.equals(graph.sssp_distances(names, device=any_device))


def test_16_tables_larger_than_the_device_allows_are_the_same(any_device, monkeypatch):
    """A limit that leaves no room for all rows: they are searched for some at a time."""
    graph = cg.from_pandas(random_table(), "from", "to", "w")
    names = list(graph.vertices) * 20
    options = {"as_numpy": True, "device": any_device, "batch": "per_group"}
    hops, lengths = graph.bfs(names, **options), graph.sssp_distances(names, **options)
    runs = []
    run = cg.MultiSearch.run
    monkeypatch.setattr(
        cg.MultiSearch,
        "run",
        lambda plan, sources, **more: runs.append(len(sources)) or run(plan, sources, **more),
    )
    gc.collect()
    limit = any_device.ledger.used_bytes + hops.nbytes
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))
    np.testing.assert_array_equal(graph.bfs(names, **options), hops)
    assert len(runs) > 1
    assert sum(runs) == len(names)
    runs.clear()
    np.testing.assert_array_equal(graph.sssp_distances(names, **options), lengths)
    assert len(runs) > 1
    assert sum(runs) == len(names)


def test_17_ways_to_run_a_batch_agree(any_device):
    graph = cg.from_pandas(random_table(), "from", "to")
    names = list(graph.vertices)[:40]
    expected = graph.bfs(names, device=any_device)
    for batch in ("per_source", "per_group"):
        assert graph.bfs(names, batch=batch, device=any_device).equals(expected)
    with pytest.raises(cg.InvalidArgumentError, match="batch"):
        graph.bfs(names, batch="both")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint32, np.int64])
def test_17_ways_to_run_a_batch_by_weight_agree(dtype, device):
    """Bit by bit; zero weights, parallel edges, self-loops and vertices that nothing reaches."""
    rng = np.random.default_rng(11)
    ends = rng.integers(0, 60, (2, 260))
    weights = rng.integers(0, 9, 260).astype(dtype)
    if weights.dtype.kind == "f":
        weights += rng.choice([0, 0.1, 1 / 3], 260).astype(dtype)
    graph = cg.from_edges(*ends, weights, n=64)
    sources = [5, 61, 5, *range(20)]
    options = {"as_numpy": True, "device": device}
    expected = graph.sssp_distances(sources, batch="per_source", **options)
    assert np.isinf(expected).any()
    for batch in ("auto", "per_group"):
        found = graph.sssp_distances(sources, batch=batch, **options)
        np.testing.assert_array_equal(found, expected)
        paths = graph.sssp(sources, batch=batch, device=device)
        np.testing.assert_array_equal(paths.distances.to_numpy(), expected)
    with pytest.raises(cg.InvalidArgumentError, match="batch='all'"):
        graph.sssp(sources, batch="all", device=device)


def test_17_a_work_group_each_is_for_weights_that_only_add(any_device):
    """Others are searched one after the other, whatever is more; who insists is told why not."""
    below = cg.from_edges([0, 1], [1, 2], np.array([3, -1], np.int32))
    large = cg.from_edges([0, 1], [1, 2], np.array([2**31 - 2, 1], np.int32))
    for graph, expected in ((below, [[0, 3, 2]] * 9), (large, None)):
        with pytest.raises(cg.InvalidArgumentError, match="method='multi-search' needs"):
            graph.sssp_distances([0], batch="per_group", device=any_device)
        if expected:
            found = graph.sssp_distances([0] * 9, as_numpy=True, device=any_device)
            np.testing.assert_array_equal(found, expected)


def test_18_names_that_are_wrong_repeated_or_none(graph, any_device):
    with pytest.raises(KeyError, match="nobody"):
        graph.bfs(["p53", "nobody"], device=any_device)
    with pytest.raises(KeyError, match="nobody"):
        graph.component_of("nobody")
    nothing = graph.bfs([], device=any_device)
    assert nothing.shape == (0, 5)
    assert graph.sssp([], device=any_device).distances.shape == (0, 5)
    twice = graph.bfs(["atm", "p53", "atm"], device=any_device)
    assert twice.iloc[0].equals(twice.iloc[2])
    assert twice.index.tolist() == ["atm", "p53", "atm"]


def test_numbers_that_are_no_vertices(any_device):
    """Where vertices have no names; also what only looks like a number."""
    graph = cg.from_edges([0, 1], [1, 2], n=4)
    assert graph.bfs([3, np.int64(0)], device=any_device).to_numpy()[:, 2].tolist() == [-1, 2]
    for wrong in (4, -1, True, 1.0, "1"):
        with pytest.raises(KeyError, match="is not a vertex"):
            graph.bfs([wrong], device=any_device)


def test_18_self_loops_parallel_edges_and_vertices_alone(any_device):
    edges = pd.DataFrame({"a": ["u", "u", "u"], "b": ["u", "v", "v"], "w": [5.0, 9.0, 2.0]})
    graph = cg.from_pandas(edges, "a", "b", "w", vertices=["v", "u", "alone"])
    assert graph.vertices.tolist() == ["v", "u", "alone"]
    assert graph.bfs("u", device=any_device).loc["u"].tolist() == [1, 0, -1]
    assert graph.sssp_distances("u", device=any_device).loc["u"].tolist() == [2, 0, np.inf]
    with pytest.raises(cg.InvalidArgumentError, match="twice"):
        cg.from_pandas(edges, "a", "b", vertices=["u", "v", "u"])
    with pytest.raises(cg.InvalidGraphError, match="'v' in column 'b'"):
        cg.from_pandas(edges, "a", "b", vertices=["u"])


@pytest.mark.parametrize(
    ("name", "more"), [("sssp_distances", {}), ("bfs", {"batch": "per_source"})]
)
def test_18_ctrl_c_is_answered_and_the_next_call_is_right(name, more, any_device):
    """In a notebook: between any two of many searches."""
    graph = cg.from_pandas(random_table(n=1500, m=9000), "from", "to", "w")
    search = getattr(graph, name)
    few = list(graph.vertices[:3])
    expected = search(few, device=any_device, **more)  # compiles
    sent = []

    def interrupt(*_):
        sent.append(Work())
        raise KeyboardInterrupt

    with alarms(interrupt):
        for after in (0.05, 0.01, 0.001):  # until it is not over before
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, after)
                search(list(graph.vertices) * 4, device=any_device, as_numpy=True, **more)
                signal.setitimer(signal.ITIMER_REAL, 0)
            if sent:
                break
        assert sent[0].seconds() < 0.5
    assert search(few, device=any_device, **more).equals(expected)


def test_distances_stay_on_the_device_until_somebody_looks(any_device):
    """As pyopencl arrays, which the next search does not write over."""
    graph = cg.generate.grid2d(7, 5, weights=(1, 5))
    for plan in (cg.BFS(graph, device=any_device), cg.SSSP(graph, device=any_device)):
        found = plan.run(3)
        there = found.distances_device
        assert there.shape == (graph.n,)
        plan.run(20)
        np.testing.assert_array_equal(there.get(), found.distances)


def test_labels_stay_on_the_device_until_somebody_looks(any_device):
    """As pyopencl arrays, which outlive the result and which the next run does not write over."""
    graph = cg.from_edges([0, 1, 2, 4], [1, 0, 3, 5], n=6)
    for plan in (
        cg.ConnectedComponents(graph, device=any_device),
        cg.SCC(graph, device=any_device),
    ):
        found = plan.run()
        there = found.labels_device
        assert (there.shape, there.dtype) == ((graph.n,), np.int32)
        plan.run()
        np.testing.assert_array_equal(there.get(), found.labels)
        with pytest.raises(cg.InvalidArgumentError, match="take them from `labels`"):
            _ = found.labels_device


def test_results_into_given_memory(any_device):
    graph = cg.generate.path(5)
    out = np.empty((2, 5), np.int32)
    assert graph.bfs([0, 4], out=out, as_numpy=True, device=any_device) is out
    assert out.tolist() == [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]
    with pytest.raises(cg.InvalidArgumentError, match="out"):
        graph.bfs([0], out=out)


def test_subgraphs_and_mean_distances(graph, any_device):
    part = graph.subgraph(["atm", "brca1", "p53"])
    assert part.labels.tolist() == ["atm", "brca1", "p53"]
    assert part.m == 4
    hops = cg.from_edges([0, 1], [1, 2], n=4)
    assert hops.mean_distance(device=any_device) == 4 / 3
    assert hops.mean_distance([1], device=any_device) == 1
    assert np.isnan(hops.mean_distance([3], device=any_device))
    assert graph.mean_distance(["x"], device=any_device) != graph.mean_distance(device=any_device)


def test_22_from_expression_to_distances_within_a_component(any_device):
    """Correlations of genes, the component of one, shortest paths in it, and their mean."""
    rng = np.random.default_rng(7)
    modules = rng.normal(size=(3, 21))
    levels = np.repeat(modules, 12, axis=0) + 0.4 * rng.normal(size=(36, 21))
    related = np.corrcoef(levels)
    rows, columns = np.nonzero(np.triu(related > 0.7, 1))
    names = np.array([f"gene{i:02}" for i in range(36)])
    edges = pd.DataFrame({"from": names[rows], "to": names[columns]})
    edges["cost"] = 1 - related[rows, columns]
    graph = cg.from_pandas(edges, "from", "to", "cost", directed=False, vertices=names)
    assert graph.scc(device=any_device).attrs["n_components"] > 2
    group = graph.component_of("gene00", device=any_device)
    assert set(group) <= set(names[:12])
    inside = graph.subgraph(list(group))
    costs = inside.sssp(list(group), device=any_device)
    whole = np.full((36, 36), np.inf)
    whole[rows, columns] = whole[columns, rows] = edges["cost"]
    numbers = [int(name[4:]) for name in inside.vertices]
    expected = csgraph.dijkstra(csr_array(np.where(np.isinf(whole), 0, whole)))
    expected = expected[np.ix_(numbers, numbers)]
    order = costs.distances.loc[list(inside.vertices)].to_numpy()
    np.testing.assert_allclose(order, expected)
    apart = expected[~np.eye(len(numbers), dtype=bool)]
    assert inside.mean_distance(device=any_device) == pytest.approx(apart.mean())


def test_the_five_functions_of_curnet(table):
    graph = curnet.cuRnet_graph(table)
    assert curnet.cuRnet_bfs(graph, ["p53"]).loc["p53", "brca1"] == 2
    found = curnet.cuRnet_sssp(graph, ["p53"])
    assert set(found) == {"distances", "predecessors"}
    assert found["distances"].equals(curnet.cuRnet_sssp_dists(graph, ["p53"]))
    components = curnet.cuRnet_scc(graph)
    assert components.shape == (1, 5)
    assert components.columns.tolist() == NAMES
    assert components.to_numpy().max() + 1 == 2
    assert curnet.cuRnet_graph(table[["from", "to"]]).weights is None
    with pytest.raises(cg.InvalidArgumentError, match="1 columns"):
        curnet.cuRnet_graph(table[["from"]])


def test_tables_of_arrow(table, graph):
    again = cg.from_pandas(pa.Table.from_pandas(table), "from", "to", "score")
    assert again.labels.tolist() == graph.labels.tolist()
    assert (again.to_scipy() != graph.to_scipy()).nnz == 0

    class Capsule:
        """A table that knows only Arrow's interface, as those of polars do."""

        columns = tuple(EDGES)

        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(EDGES).__arrow_c_stream__(requested_schema)

        def to_numpy(self):
            raise AssertionError

    assert cg.from_pandas(Capsule(), "from", "to").labels.tolist() == NAMES


def test_results_as_series_and_frames(graph, any_device):
    search = cg.bfs(graph, 0, predecessors=True, device=any_device)
    assert search.to_series().loc["brca1"] == 2
    assert search.to_frame().columns.tolist() == ["distance", "predecessor"]
    paths = cg.sssp(graph, 0, device=any_device).to_series()
    assert (paths.loc["mdm2"], paths.loc["x"]) == (1.0, np.inf)
    components = cg.connected_components(graph, device=any_device)
    assert components.to_frame().loc["x", "component"] == 1
    copied = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert copied.to_series().equals(search.to_series())
    plain = cg.bfs(cg.generate.path(3), 0, device=any_device).to_series()
    assert plain.index.tolist() == [0, 1, 2]


def test_notebooks_show_tables_and_escape_names(any_device):
    graph = cg.from_edges([0], [1], n=2)
    named = cg.Graph(graph.indptr, graph.indices, labels=["<script>", "b"])
    assert "&lt;script&gt;" in named._repr_html_()
    assert "<script>" not in named._repr_html_()
    assert "reached" in cg.bfs(graph, 0, device=any_device)._repr_html_()
    assert "count" in cg.scc(graph, device=any_device)._repr_html_()
    assert "lanes" in any_device._repr_html_()


def test_pictures(any_device):
    graph = cg.generate.grid2d(5, 4, weights=(1, 5))
    search = cg.bfs(graph, 0, device=any_device)
    bars = search.plot()
    assert [bar.get_height() for bar in bars.patches] == np.bincount(search.distances).tolist()
    lengths = cg.sssp(graph, 0, device=any_device).plot()
    assert sum(bar.get_height() for bar in lengths.patches) == graph.n
    sizes = cg.scc(graph, device=any_device).plot()
    assert sizes.lines[0].get_ydata().tolist() == [20]
    drawn = graph.draw(result=search)
    assert len(drawn.collections[0].get_segments()) == graph.m // 2
    assert len(drawn.texts) == 20
    with pytest.raises(cg.InvalidArgumentError, match="too large"):
        cg.generate.path(2000).draw()
    with pytest.raises(cg.InvalidArgumentError, match="shape"):
        graph.draw(result=np.zeros(3))
    plt.close("all")


class OnDevice:
    """An array in the memory of a GPU, as CuPy and others show theirs."""

    def __init__(self, values, way):
        self.values = np.asarray(values)
        if way:
            setattr(self, way, lambda: self.values)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.values.shape, "typestr": "<i4", "data": (0, True), "version": 3}


@pytest.mark.parametrize("way", ["get", "cpu", "copy_to_host"])
def test_arrays_of_a_gpu_are_copied_and_it_is_said(way, caplog):
    with caplog.at_level(logging.INFO, "clgraph"):
        graph = cg.Graph(np.array([0, 1, 2]), OnDevice([1, 0], way))
    assert graph.indices.tolist() == [1, 0]
    assert len(caplog.records) == 1
    assert "indices, a OnDevice on a device, is copied" in caplog.text


def test_arrays_of_a_gpu_that_cannot_be_copied_are_refused():
    with pytest.raises(cg.InvalidGraphError, match="copy it to host memory"):
        cg.Graph(np.array([0, 1, 2]), OnDevice([1, 0], None))
