"""Searches that share words of bits: widths, passes, rows in parts, sums."""

import gc

import numpy as np
import pytest
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, SEARCH_RUNTIMES, expected_distances

import clgraph as cg
from clgraph.algorithms.multi_search import totals as multi_search_totals
from clgraph.algorithms.multi_search.ms_bfs import BitParallel
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.device import DeviceTraits

pytestmark = pytest.mark.runtimes(*SEARCH_RUNTIMES)


def check(graph, sources, device):
    plan = BitParallel(graph, device, "distances", sources.size)
    found = plan.distances(sources)
    for row, source in zip(found, sources, strict=True):
        np.testing.assert_array_equal(row, expected_distances(graph, int(source)))
    return plan


@pytest.mark.parametrize("count", [1, 33, 600])
def test_rows_of_every_width_and_several_passes(count, device):
    for graph in (MIXED, MIXED_ONE_WAY):
        sources = np.random.default_rng(count).integers(0, graph.n, count)
        plan = check(graph, sources, device)
        assert plan.width >= min(count, plan.most)
        assert plan.passes == -(-count // plan.width)


def test_a_row_longer_than_its_parts(device):
    hub = SHAPES["hub"]
    assert hub.max_degree > 4096
    check(hub, np.array([0, 1, 5001, 10_000, 77]), device)


@pytest.mark.rest
@pytest.mark.parametrize("lanes", [8, 32])
@pytest.mark.parametrize("count", [2, 40, 300])
def test_emulated_lanes(count, lanes, intel):
    if count == 2:
        check(SHAPES["hub"], np.array([0, 5001]), intel.emulating(lanes))
    else:
        sources = np.random.default_rng(count).integers(0, MIXED.n, count)
        check(MIXED, sources, intel.emulating(lanes))


def test_several_simd_groups_in_a_group(intel, monkeypatch):
    monkeypatch.setattr(
        "clgraph.algorithms.multi_search.ms_bfs_config.GROUP_SIZE", 4 * intel.traits.lanes
    )
    monkeypatch.setattr(DeviceTraits, "usual_group", DeviceTraits.group_of)
    check(MIXED, np.arange(0, MIXED.n, 9), intel)
    check(SHAPES["hub"], np.array([0, 5001]), intel)


@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["both", "one-way"])
def test_sums_per_source_and_per_target(graph, device):
    sources = np.random.default_rng(1).integers(0, graph.n, 150)
    hops = np.array([expected_distances(graph, int(source)) for source in sources])
    for output, axis in (("sources", 1), ("targets", 0)):
        sums = BitParallel(graph, device, output, sources.size).totals(sources)
        np.testing.assert_array_equal(sums.reached, (hops >= 0).sum(axis))
        np.testing.assert_array_equal(sums.total, np.maximum(hops, 0).sum(axis))
        np.testing.assert_array_equal(sums.farthest, np.maximum(hops, 0).max(axis))
        reciprocals = np.where(hops > 0, 1 / np.where(hops > 0, hops, 1), 0).sum(axis)
        np.testing.assert_allclose(sums.harmonic, reciprocals, rtol=1e-12)


def test_rows_get_narrower_where_memory_is_short(any_device, monkeypatch):
    gc.collect()
    cg.apsp(MIXED, [0], method="bit-parallel", device=any_device)
    free = 600_000
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(any_device.ledger.used_bytes + free))
    sources = np.arange(200)
    plan = check(MIXED, sources, any_device)
    assert plan.width < 200
    assert plan.passes > 1


def test_few_sources_or_deep_graphs_are_searched_singly(any_device):
    def shares(graph, count):
        return Searcher(graph, any_device)._shares_bits(np.zeros(count, np.int64))

    shallow = cg.generate.kron(10, seed=1)
    assert not shares(shallow, 8)
    assert shares(shallow, 512)
    path = cg.generate.path(20_000)
    assert not shares(path, 64)
    assert path.kept[Searcher.depth] >= 10_000


@pytest.mark.runtimes("pocl")
def test_on_one_lane_narrow_rows_pay_from_ten_sources_on(device, monkeypatch):
    """A pass costs by the words of its rows; of large graphs as much as the widest."""
    graph = cg.generate.kron(10, seed=1)
    searcher = Searcher(graph, device)

    def least():
        return next(
            count for count in range(1, 600) if searcher._shares_bits(np.zeros(count, np.int64))
        )

    levels = searcher.depth() + 1
    assert least() == multi_search_totals.LEAST_SHARED_ALONE == 10
    one, all_of_them = (searcher._level_searches(count) for count in (1, 512))
    assert one < 3 < all_of_them
    assert least() > one * levels
    monkeypatch.setattr(type(graph), "m", multi_search_totals.SHARED_SIZE.on(device.traits))
    assert searcher._level_searches(1) == all_of_them
    assert least() == all_of_them * levels + 1


@pytest.mark.runtimes("pocl")
def test_single_searches_on_one_lane(device):
    """There larger graphs are searched by BFS where bits are not shared: faster than by groups."""
    large = cg.generate.geometric(20_000, seed=2)
    assert large.n + large.m > multi_search_totals.SINGLE_SIZE.on(device.traits)
    some = np.arange(0, large.n, 2000)
    auto = Searcher(large, device)
    groups = Searcher(large, device, "multi-search")
    assert auto._one_by_one()
    assert not Searcher(MIXED, device)._one_by_one()
    assert not Searcher(large, device, "auto", "hybrid")._one_by_one()
    found, expected = auto.totals(some), groups.totals(some)
    for name in ("reached", "total", "farthest"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.harmonic, expected.harmonic)
    np.testing.assert_array_equal(auto.distances(some), groups.distances(some))
    np.testing.assert_array_equal(auto.marks(some), groups.marks(some))


def test_what_is_kept_must_be_known(any_device):
    with pytest.raises(cg.InvalidArgumentError, match="output='all'"):
        BitParallel(MIXED, any_device, "all", 1)
