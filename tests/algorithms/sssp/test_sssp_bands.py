"""Delta-stepping by SIMD groups: rows cut by what is left of a band, pieces, looks from beyond."""

import dataclasses

import numpy as np
import pytest
from configs import sssp_config
from graphs import SHAPES, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DTYPES, check_paths, weighted
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.sssp import method_plans
from clgraph.algorithms.sssp.classes import NO_END, cut_weights, rows_in_order

pytestmark = pytest.mark.runtimes("intel")

FORMS = (("push", None), ("switching", 3))  # and the length of a piece of a row


def banded(delta=20, heavy="switching", piece=None, **more):
    return sssp_config(method="delta-stepping", delta=delta, heavy=heavy, hub_degree=piece, **more)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_put_in_order(dtype, device):  # noqa: ARG001 - without a device
    """Edges stay in their rows; as many as `ends` says are no heavier than each cut."""
    graph = weighted(MIXED, dtype, 0, 60)
    cuts = cut_weights(np.dtype(dtype).type(17))
    assert cuts.dtype == dtype
    assert cuts[-1] == 17
    order, ends = rows_in_order(graph, graph.weights, cuts)
    np.testing.assert_array_equal(np.sort(order), np.arange(graph.m))
    costs = graph.weights[order]
    for v in range(graph.n):
        row = slice(graph.indptr[v], graph.indptr[v + 1])
        np.testing.assert_array_equal(np.sort(order[row]), np.arange(row.start, row.stop))
        for cut, end in zip(cuts, ends[v], strict=True):
            assert (costs[row][:end] <= cut).all()
            assert (costs[row][end:] > cut).all()


def test_rows_too_long_for_their_ends(device):
    """More light edges than 16 bits tell: the whole row is looked at, and nothing is lost."""
    graph = weighted(cg.generate.star(66_000), np.int32, 1, 9)
    _, ends = rows_in_order(graph, graph.weights, cut_weights(np.int32(8)))
    assert ends[0, -1] == NO_END
    for heavy in ("push", "switching"):
        plan = cg.SSSP(graph, config=banded(8, heavy), device=device)
        for source in (0, 5):
            check_paths(graph, source, plan.run(source))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("heavy", "piece"), FORMS)
def test_awkward_shapes(heavy, piece, name, device):
    graph = weighted(SHAPES[name])
    plan = cg.SSSP(graph, predecessors=True, config=banded(10, heavy, piece), device=device)
    for source in sorted({0, graph.n // 2}):
        check_paths(graph, source, plan.run(source, verify=True))


@st.composite
def cases(draw):
    graph = draw(graphs(max_vertices=60, max_edges=200))
    low = draw(st.sampled_from((0, 1)))
    dtype = draw(st.sampled_from((np.int32, np.float64)))
    return weighted(graph, dtype, low, low + draw(st.sampled_from((1, 3, 1000))), 1)


@pytest.mark.rest
@given(cases(), st.sampled_from(FORMS), st.sampled_from((1, 5, 200, 10**6)), st.data())
@settings(max_examples=25)
def test_random_graphs(device, graph, form, delta, data):
    source = data.draw(st.integers(0, graph.n - 1))
    config = banded(delta, *form)
    check_paths(graph, source, cg.sssp(graph, source, config=config, device=device, verify=True))


def test_few_edges_are_looked_at(device):
    """A skewed graph settles most edges' sources early; the rest look for them in one more band."""
    graph = weighted(cg.generate.kron(12, 16, seed=3), np.int32, 1, 101)
    hub = int(graph.degrees.argmax())
    work = {}
    for heavy in ("push", "switching"):
        result = cg.sssp(graph, hub, config=banded(14, heavy), device=device)
        check_paths(graph, hub, result)
        work[heavy] = result.stats.relaxations
        stages = result.stats.per_level["direction"]
        assert (stages == "far").sum() <= 4
        assert result.stats.per_level["edges"].sum() == work[heavy]
    assert work["switching"] < 0.6 * graph.m < work["push"] < 1.5 * graph.m


@pytest.mark.parametrize("first", [3, 100])
def test_the_first_band_reaches_beyond_its_source(first, device):
    """However long the source's lightest edge is, and not much further."""
    ends = np.arange(40)
    graph = cg.from_edges(
        ends, ends + 1, np.r_[first, np.ones(39)].astype(np.int32), symmetrize=True
    )
    plan = cg.SSSP(graph, predecessors=True, config=banded(8), device=device)
    result = plan.run(0, verify=True)
    check_paths(graph, 0, result)
    stages = result.stats.per_level["direction"].tolist()
    within = 1 + (8 - first if first < 8 else 8)
    assert stages[: within + 1] == ["near"] * (within + 1)
    assert "far" in stages[within + 1 : within + 4]
    # Of several sources each has an edge of its own.
    check_paths(graph, [0, 20], plan.run([0, 20]))


@pytest.mark.parametrize(("directed", "aside"), [(False, 2), (True, 400)])
def test_whoever_has_only_settled_neighbours_is_done_with(directed, aside, device):
    """Of leaves that look back into a band only two, which have each other, are put aside."""
    near, far = np.triu_indices(60, 1)
    leaves = np.arange(60, 460)
    ends = np.r_[near, leaves, 60], np.r_[far, leaves % 60, 61]
    costs = np.r_[np.ones_like(near), 50 + leaves % 9, 3].astype(np.int32)
    graph = cg.from_edges(*ends, costs, symmetrize=True)
    graph = cg.Graph(graph.indptr, graph.indices, graph.weights, directed=directed)
    plan = cg.SSSP(graph, predecessors=True, config=banded(20), device=device)
    for source in (0, 59):
        result = plan.run(source, verify=True)
        check_paths(graph, source, result)
        stages = result.stats.per_level
        assert stages["frontier"][stages["direction"] == "far"].sum() == aside


@pytest.mark.parametrize("rows", [1, 3, 50, 600])
def test_long_rows_are_looked_at_once(rows, device):
    """SIMD groups share few, with a rest; of many, work-groups add up counts."""
    hubs = np.arange(1, rows + 1)
    leaves = rows + 1 + np.arange(203 * rows)
    near, far = np.r_[np.zeros_like(hubs), np.repeat(hubs, 203)], np.r_[hubs, leaves]
    weights = np.r_[np.ones_like(hubs), 1 + leaves % 7].astype(np.int32)
    graph = cg.from_edges(near, far, weights, n=204 * rows + 1)
    # Several SIMD groups whatever the machine: in one work-group, or in work-groups of one each.
    traits = device.traits
    several = {"groups": 8} if traits.emulated or traits.lanes == 1 else {"group_size": 128}
    for more in ({}, several):
        result = cg.sssp(graph, 0, config=banded(20, "push", **more), device=device)
        check_paths(graph, 0, result)
        assert result.stats.relaxations == graph.m


@pytest.mark.parametrize("heavy", ["push", "switching"])
def test_limits_targets_and_sources(heavy, device):
    graph = weighted(MIXED_ONE_WAY, np.int32, 0, 60)
    plan = cg.SSSP(graph, predecessors=True, config=banded(15, heavy, 4), device=device)
    for limit in (0, 14, 15, 100, 10**12):
        result = plan.run(7, max_distance=limit, verify=True)
        check_paths(graph, 7, result, max_distance=limit)
    for target in (7, 8, 300):
        check_paths(graph, 7, plan.run(7, target=target, verify=True), target=target)
    check_paths(graph, [1, 4, 9], plan.run([1, 4, 9], verify=True))


@pytest.mark.parametrize("heavy", ["push", "switching"])
def test_paths_too_long_for_their_type(heavy, device):
    most = np.iinfo(np.int32).max
    costs = np.array([most // 2, most // 2, 2, 5], np.int32)
    graph = cg.from_edges([0, 1, 2, 0], [1, 2, 3, 4], costs, n=6)
    for delta in (3, 10**9):
        plan = cg.SSSP(graph, config=banded(delta, heavy), device=device)
        with pytest.raises(OverflowError, match=r"edge 2 -> 3 is longer than"):
            plan.run(0)
        assert plan.run(2).distances.tolist() == [most, most, 0, 2, most, most]


@pytest.mark.parametrize("balance", ["item_thread", "vwarp"])
def test_balancers(balance, device):
    graph = weighted(MIXED, np.int32, 0, 40)
    result = cg.sssp(graph, 3, config=banded(9, balance=balance), device=device, verify=True)
    check_paths(graph, 3, result)


def test_other_balancers_are_refused(device):
    with pytest.raises(cg.InvalidArgumentError, match="needs balance to be one of"):
        cg.sssp(weighted(MIXED), 3, config=banded(9, balance="dyn_vwarp"), device=device)


def test_how_edges_are_read_is_the_devices_unless_asked(device, monkeypatch):
    """Where a device reads them by streaming: each is looked at about once."""
    graph = weighted(cg.generate.grid2d(12, 12), np.int32, 1, 50)
    constant = method_plans.BAND_CACHE
    assert (constant.neutral, constant.h200) == ("default", "streaming")
    for way in ("default", "streaming"):
        fixed = dataclasses.replace(constant, neutral=way, cpu=way)
        monkeypatch.setattr(method_plans, "BAND_CACHE", fixed)
        for asked in (None, "default", "streaming"):
            plan = cg.SSSP(graph, config=banded(cache=asked), device=device)
            assert plan.config.cache == (asked or way)
        check_paths(graph, 3, plan.run(3))
