"""Load balancing by itself: every unit of every item exactly once, whoever shares them out."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from configs import dynamic_width, expand_config
from hypothesis import given, settings
from hypothesis import strategies as st

import clgraph as cg
from clgraph.device import Device
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.primitives import Expand, ExpandConfig, ExpandStats, expand, expansion
from clgraph.primitives.expand_config import HybridSearch, usual_balancer

RNG = np.random.default_rng(1)
# The worked example of the literature; its items are called A to H.
EXAMPLE = np.array([3, 1, 5, 6, 3, 3, 3, 4])
SIZES: dict[str, np.ndarray] = {
    "example": EXAMPLE,
    "one item": np.array([7]),
    "one empty item": np.array([0]),
    "nothing": np.array([], int),
    "all empty": np.zeros(50, int),
    "leading empties": np.array([0] * 40 + [5, 0, 9]),
    "trailing empties": np.array([4, 2] + [0] * 70),
    "inner empties": np.array([1, 0, 0, 3] * 90),
    "regular": np.full(700, 8),
    "ones": np.ones(900, int),
    "uniform": RNG.integers(0, 9, 1500),
    "power law": (RNG.pareto(1.2, 1200) * 3).astype(int) % 4000,
    "one hub": np.array([2] * 60 + [9000] + [1] * 200),
    "many empties": np.array([3] * 300 + [0] * 10_000 + [2] * 300),
}


def owners_and_ranks(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first = np.cumsum(sizes) - sizes
    return np.repeat(np.arange(sizes.size), sizes), np.arange(sizes.sum()) - np.repeat(first, sizes)


def checked(sizes: np.ndarray, device: Device, **config: Any) -> tuple[Expand, ExpandStats]:
    plan = Expand(sizes, config=expand_config(**config), counts=True, device=device)
    return plan, check_counted(sizes, plan)


def check_counted(sizes: np.ndarray, plan: Expand) -> ExpandStats:
    stats = plan.run()
    owners, ranks = owners_and_ranks(sizes)
    np.testing.assert_array_equal(plan.visits(), np.ones(owners.size))
    np.testing.assert_array_equal(plan.owners(), owners)
    np.testing.assert_array_equal(plan.ranks(), ranks)
    assert (stats.items, stats.units) == (sizes.size, owners.size)
    return stats


def emulating(intel: Device, lanes: int) -> Device:
    return intel.emulating(lanes)


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("balance", BALANCERS)
def test_every_unit_exactly_once(device: Device, balance: str) -> None:
    """load-balancing common 1 and 3: the same units as the sequential loop, on every shape."""
    for sizes in SIZES.values():
        checked(sizes, device, balance=balance)


@pytest.mark.parametrize("more", [{"shuffle": True}, {"gather": 5}, {"shuffle": True, "gather": 9}])
@pytest.mark.parametrize("width", [1, 4, 8])
def test_lanes_that_pass_items_on(intel: Device, width: int, more: dict[str, int]) -> None:
    """bfs-helix 3: shuffled within virtual groups, long rows gathered; each unit once."""
    for sizes in SIZES.values():
        checked(sizes, emulating(intel, 8), balance="vwarp", virtual_warp=width, **more)


@pytest.mark.parametrize("lanes", [8, pytest.param(32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("balance", BALANCERS)
def test_every_unit_exactly_once_by_emulated_lanes(intel: Device, balance: str, lanes: int) -> None:
    for sizes in SIZES.values():
        checked(sizes, emulating(intel, lanes), balance=balance)


@pytest.mark.slow
@pytest.mark.parametrize("balance", BALANCERS)
def test_every_unit_exactly_once_by_lanes_emulated_on_pocl(pocl: Device, balance: str) -> None:
    for sizes in SIZES.values():
        checked(sizes, pocl.emulating(8), balance=balance)


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_random_sizes_and_configurations(any_device: Device, data: st.DataObject) -> None:
    sizes = np.array(data.draw(st.lists(st.integers(0, 90) | st.just(0), max_size=300)), int)
    kind = data.draw(st.sampled_from(list(BALANCERS.values())))
    numbers = {
        "unit_batch": [3, 8],
        "iterations": [1, 3],
        "threshold": [0, 20],
        "block_items": [1, 3],
    }
    drawn = {
        name: data.draw(st.sampled_from(values))
        for name, values in numbers.items()
        if name in kind.parameters()
    }
    config = ExpandConfig(
        balance=kind(**drawn),
        group_size=any_device.traits.lanes * data.draw(st.sampled_from([1, 4])),
        grid_factor=data.draw(st.sampled_from([0, 1, 32])),
    )
    check_counted(sizes, Expand(sizes, config=config, counts=True, device=any_device))


def test_the_example(intel: Device) -> None:
    """load-balancing common 2: who gets which unit of 3,1,5,6,3,3,3,4."""
    four, eight = emulating(intel, 4), emulating(intel, 8)
    plan, _ = checked(EXAMPLE, eight, balance="direct")
    assert plan.owners()[5] == 2  # work-item 5 finds unit 5 in the third item
    plan, _ = checked(EXAMPLE, four, balance="block_search", block_items=2)
    np.testing.assert_array_equal(plan.writers(), np.arange(28) // 7)  # 4 slots of 7
    plan, _ = checked(EXAMPLE, four, balance="two_phase", unit_batch=10)
    names = np.array(
        [f"{'ABCDEFGH'[o]}{r + 1}" for o, r in zip(plan.owners(), plan.ranks(), strict=True)]
    )
    mine = [names[plan.writers() == item].tolist() for item in (0, 1)]
    assert (mine[0][0], mine[0][-1], mine[1][0], mine[1][-1]) == ("A1", "D1", "D2", "F2")
    plan, _ = checked(EXAMPLE, eight, balance="vwarp", virtual_warp=2)
    assert names[plan.writers() == 0][:2].tolist() == ["A1", "A3"]
    assert names[plan.writers() == 1][0] == "A2"


@pytest.mark.parametrize("balance", BALANCERS)
def test_sums_of_64_bits(intel: Device, monkeypatch: pytest.MonkeyPatch, balance: str) -> None:
    """load-balancing common 4: the rendering for 2**32 units and more."""
    monkeypatch.setattr(expansion, "NARROW_UNITS", 2)
    for sizes in SIZES.values():
        plan, _ = checked(sizes, intel, balance=balance)
        assert plan.config.wide_offsets or sizes.size < 2


def test_how_many_units_take_64_bits(intel: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """load-balancing common 4: where items and units, and one more chunk, might pass 32."""
    monkeypatch.setattr(Expand, "_allocate", lambda *_: None)
    for sizes, wide in (([2**31 - 2], False), ([2**31 - 1], True), ([2**31 - 2, 0], True)):
        assert Expand(sizes, device=intel).config.wide_offsets == wide


@pytest.mark.parametrize("name", SIZES)
def test_moments(name: str, intel: Device) -> None:
    """load-balancing common 5: mean and deviation to 1e-9."""
    sizes = SIZES[name]
    stats = Expand(sizes, device=intel).run()
    if sizes.size:
        assert stats.mean == pytest.approx(sizes.mean(), rel=1e-9)
        assert stats.deviation == pytest.approx(sizes.std(), rel=1e-9, abs=1e-9)


def steps(n: int) -> int:
    return math.ceil(math.log2(n)) if n > 1 else 0


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 100, 1024, 1025])
def test_a_binary_search_has_a_fixed_number_of_probes(intel: Device, n: int) -> None:
    """load-balancing searches 1: exactly ceil(log2 n), one read each."""
    _, stats = checked(RNG.integers(0, 4, n) + (n == 1), intel, balance="direct")
    assert stats.counts["PROBES"] == stats.counts["SEARCHES"] * steps(n)


@pytest.mark.parametrize("name", [name for name in SIZES if SIZES[name].sum()])
def test_interpolation_finds_what_bisection_finds(intel: Device, name: str) -> None:
    """load-balancing searches 2: the same items, empty ones too, within bounded probes."""
    sizes, lanes = SIZES[name], intel.traits.lanes
    small = {"balance": "two_phase", "group_size": lanes, "unit_batch": 1}
    binary, _ = checked(sizes, intel, search="binary", **small)
    found, stats = checked(sizes, intel, search="interpolation", **small)
    np.testing.assert_array_equal(found.chunk_items(), binary.chunk_items())
    searches = stats.counts["PARTITION_SEARCHES"]
    assert searches == stats.chunks + 1
    most = searches * (HybridSearch().estimates + steps(sizes.size))
    assert stats.counts.get("PARTITION_PROBES", 0) <= most


@pytest.mark.parametrize("name", ["regular", "ones"])
def test_interpolation_goes_where_equal_sizes_say(intel: Device, name: str) -> None:
    """load-balancing searches 2: one look where the item is, one behind it, however many there are.

    Bisection, which finds the same, takes a look for each binary digit of their number.
    """
    small = {"balance": "two_phase", "group_size": intel.traits.lanes, "unit_batch": 1}
    _, stats = checked(SIZES[name], intel, search="interpolation", **small)
    assert stats.counts["PARTITION_PROBES"] <= 2 * stats.counts["PARTITION_SEARCHES"]


@pytest.mark.parametrize("name", [name for name in SIZES if SIZES[name].sum()])
def test_all_lanes_search_for_one_chunk(intel: Device, name: str) -> None:
    """The same items in as many steps as the number of items has digits to the base of LANES."""
    sizes, device = SIZES[name], emulating(intel, 8)
    small = {"balance": "two_phase", "unit_batch": 1}
    binary, _ = checked(sizes, device, search="binary", **small)
    found, stats = checked(sizes, device, search="lanes", **small)
    np.testing.assert_array_equal(found.chunk_items(), binary.chunk_items())
    most = stats.counts["PARTITION_SEARCHES"] * math.ceil(math.log(max(sizes.size, 1), 8) + 1)
    assert stats.counts.get("PARTITION_PROBES", 0) <= most


@pytest.mark.parametrize("name", [name for name in SIZES if SIZES[name].sum()])
def test_a_search_by_one_lane_comes_to_an_end(pocl: Device, name: str) -> None:
    """Where all lanes are one, it bisects; it once went round for ever."""
    assert pocl.traits.lanes == 1
    small = {"balance": "two_phase", "unit_batch": 1}
    binary, _ = checked(SIZES[name], pocl, search="binary", **small)
    found, _ = checked(SIZES[name], pocl, search="lanes", **small)
    np.testing.assert_array_equal(found.chunk_items(), binary.chunk_items())


def test_the_hybrid_rule(intel: Device) -> None:
    """load-balancing searches 3: both thresholds are inclusive, and may be overridden."""
    sizes = np.array([1, 17] * 30)  # mean 9, deviation 8: the limits themselves

    def search(sizes: np.ndarray, **config: Any) -> str:
        chosen = expand_config(balance="multi_phase", **config)
        return Expand(sizes, config=chosen, device=intel).config.search

    assert search(sizes) == "interpolation"
    assert search(sizes + 1) == "binary"  # the mean is beyond
    assert search(np.array([0, 17] * 30)) == "binary"  # the deviation is
    assert search(sizes, alike_deviation=7.9) == "binary"
    assert search(sizes, alike_mean=8.9) == "binary"
    assert search(sizes + 1, alike_mean=10) == "interpolation"
    assert search(sizes, search="binary") == "binary"
    assert search(sizes + 1, search="interpolation") == "interpolation"


def test_item_thread_strides_over_the_grid(intel: Device) -> None:
    """load-balancing static 1: fewer work-items than items, each taking one at a stride."""
    sizes = np.ones(5000, int)
    plan, _ = checked(sizes, intel, balance="item_thread", grid_factor=1)
    launched = plan.writers().max() + 1
    assert launched < sizes.size
    shares = np.bincount(plan.writers())
    assert shares.max() - shares.min() <= 1


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_virtual_groups_of_every_width(intel: Device, width: int) -> None:
    """load-balancing static 1: vwarp with 1, 2, 4, 8, 16 and 32 lanes."""
    device = emulating(intel, 32)
    for name in ("example", "power law", "inner empties"):
        checked(SIZES[name], device, balance="vwarp", virtual_warp=width)
    plan, _ = checked(np.full(40, 100), device, balance="vwarp", virtual_warp=width)
    lanes_of_item = {tuple(np.unique(w)) for w in plan.writers().reshape(40, 100)}
    assert {len(lanes) for lanes in lanes_of_item} == {width}
    assert all(lanes[0] % width == 0 for lanes in lanes_of_item)


@pytest.mark.parametrize("least", [1, 4, 32])
@pytest.mark.parametrize("items", [1, 3, 20, 1000])
def test_the_dynamic_width(intel: Device, items: int, least: int) -> None:
    """load-balancing static 2, bfs-4k F4: clamp(pow2floor(resident / items), K1, LANES)."""
    device = emulating(intel, 32)
    plan, _ = checked(np.full(items, 100), device, balance="dyn_vwarp", min_virtual_warp=least)
    ratio = max(plan.resident_items // items, 1)
    expected = min(max(2 ** int(math.log2(ratio)), least), 32)
    assert dynamic_width(plan.resident_items, items, least, 32) == expected
    for writers in plan.writers().reshape(items, 100):
        assert np.unique(writers).size == expected


def test_large_items_go_to_tiles(intel: Device) -> None:
    """load-balancing static 3, bfs-helix 12: those above the threshold, ceil(size / tile) tiles."""
    sizes = SIZES["power law"]
    for threshold in (0, 7, 500):
        plan, stats = checked(
            sizes, intel, balance="dyn_vwarp", dyn_threshold=threshold, tile_batch=2
        )
        tile = 2 * plan.config.group_size
        large = sizes[sizes > threshold]
        assert stats.tiles == sum(-(-size // tile) for size in large.tolist())
        assert stats.launches == 2
        assert plan.extra_bytes == 8 * stats.tiles
        assert 0 < stats.tiles_ms < stats.kernel_ms
        # A tile is a whole work-group's, whose work-items take its units in turn.
        in_tiles, size = np.repeat(sizes > threshold, sizes), plan.config.group_size
        np.testing.assert_array_equal(
            plan.writers()[in_tiles] % size, plan.ranks()[in_tiles] % size
        )
    _, stats = checked(sizes, intel, balance="dyn_vwarp", dyn_threshold=2**31 - 1)
    assert stats.tiles == 0
    # Without tiles all is as by virtual groups of the width that was chosen.
    device, sizes = emulating(intel, 32), np.arange(5000) % 150
    plan, _ = checked(sizes, device, balance="dyn_vwarp", dyn_threshold=2**31 - 1)
    width = dynamic_width(plan.resident_items, sizes.size, plan.config.balance.width, 32)
    plain, _ = checked(sizes, device, balance="vwarp", virtual_warp=width)
    np.testing.assert_array_equal(plan.writers(), plain.writers())


def test_the_three_phases_of_cws(intel: Device) -> None:
    """load-balancing static 4: each counted; a size at a threshold belongs to the lower phase."""
    lanes = intel.traits.lanes
    config = {"balance": "cws", "group_size": 4 * lanes, "group_threshold": 50, "lane_threshold": 9}
    _, stats = checked(np.array([50] * 3 + [51] * 4 + [9] * 5 + [10] * 6), intel, **config)
    assert (stats.counts["GROUP_ROWS"], stats.counts["LANE_ROWS"]) == (4, 9)
    assert stats.counts["SCAN_ROUNDS"] == 1
    sizes = np.full(64, 9)
    for scratch, rounds in ((1000, 1), (64, 9), (10, 58), (1, 576)):
        _, stats = checked(sizes, intel, scratch=scratch, **config)
        assert stats.counts["SCAN_ROUNDS"] == rounds
        assert stats.counts["GROUP_ROWS"] == stats.counts["LANE_ROWS"] == 0


@pytest.mark.parametrize("order", ["ordered", "unordered"])
def test_every_way_to_gather(intel: Device, order: str) -> None:
    """bfs-merrill 5 to 7: lists of all lengths around a SIMD group and a work-group, by each way.

    One by one, by a SIMD group, by a work-group, by a scan and by all three together.
    """
    lanes = intel.traits.lanes
    group, never = 4 * lanes, 2**31 - 1
    edges = (lanes, group, 2 * group)
    sizes = np.array([0, 1, *(x + d for x in edges for d in (-1, 0, 1)), 7 * group] * 5)
    cws = {"balance": "cws", "group_size": group, "group_scan": order}
    ways: dict[str, dict[str, Any]] = {
        "one by one": {"balance": "item_thread", "group_size": group},
        "SIMD group": {**cws, "group_threshold": never, "lane_threshold": 1},
        "work-group": {**cws, "group_threshold": 1, "lane_threshold": never},
        "scan": {**cws, "group_threshold": never, "lane_threshold": never},
        "together": cws,
    }
    found = {name: checked(sizes, intel, **way)[1].counts for name, way in ways.items()}
    several = int(np.count_nonzero(sizes > 1))
    assert found["SIMD group"]["LANE_ROWS"] == several
    # Each long list is a work-group's once.
    assert found["work-group"]["GROUP_ROWS"] == several
    assert found["together"]["GROUP_ROWS"] == np.count_nonzero(sizes > group)
    assert found["together"]["LANE_ROWS"] == np.count_nonzero((sizes > lanes) & (sizes <= group))
    assert found["scan"]["GROUP_ROWS"] == found["scan"]["LANE_ROWS"] == 0
    # All work-items of a group, or all lanes, take the places of a long list in turn.
    for name, wide in (("work-group", group), ("SIMD group", lanes)):
        plan, _ = checked(np.full(5, 3 * wide), intel, **ways[name])
        np.testing.assert_array_equal(plan.writers() % wide, np.arange(15 * wide) % wide)
    # Consecutive work-items read consecutive places, in the last, partial round too.
    few = np.full(group, 3)
    plan, _ = checked(few, intel, **ways["scan"])
    if order == "ordered":
        np.testing.assert_array_equal(plan.writers(), np.arange(3 * group) % group)
    assert np.bincount(plan.writers()).tolist() == [3] * group
    # A SIMD group that walks a list waits for no other.
    source = rendered(intel, **cws)
    walk = source[source.index("lanemask_t wide = lane_ballot(left") :]
    assert "group_barrier" not in walk[: walk.index("my_rank")]
    # Where any order will do, SIMD groups take their ranks from a word as they arrive.
    assert ("atomic_add(&ranks_taken" in source) == (order == "unordered")


def test_the_slots_of_a_block_search(intel: Device) -> None:
    """load-balancing dynamic 1, bfs-helix 7: slots of ceil(total / group size), one search each."""
    sizes = SIZES["power law"][:64]
    plan, stats = checked(sizes, intel, balance="block_search", group_size=64)
    slot = -(-int(sizes.sum()) // 64)
    np.testing.assert_array_equal(plan.writers(), np.arange(sizes.sum()) // slot)
    assert stats.counts["SEARCHES"] == -(-int(sizes.sum()) // slot)
    checked(SIZES["power law"], intel, balance="block_search", block_items=5)


@pytest.mark.parametrize("balance", [name for name in BALANCERS if name != "block_search"])
def test_the_items_of_a_block_search_are_no_other_balancers(intel: Device, balance: str) -> None:
    """With them a work-group of cws took more items than it has work-items, and left most out."""
    with pytest.raises(TypeError, match="block_items"):
        BALANCERS[balance](block_items=8)
    plan, _ = checked(SIZES["uniform"], intel, balance=balance)
    assert plan.config.balance.block_items == 1


@pytest.mark.parametrize("balance", ["warp_search", "warp_search_local"])
def test_rounds_of_a_lane_search_are_in_order(intel: Device, balance: str) -> None:
    """load-balancing dynamic 1: both forms give consecutive lanes consecutive units."""
    plan, _ = checked(np.full(16, 5), intel, balance=balance)
    np.testing.assert_array_equal(plan.writers(), np.arange(80) % 16)


def test_the_chunks_of_two_phases(intel: Device) -> None:
    """load-balancing dynamic 2, bfs-helix 8: equal chunks, a search a chunk and one an item."""
    sizes, size, batch = SIZES["power law"], 64, 5
    plan, stats = checked(sizes, intel, balance="two_phase", group_size=size, unit_batch=batch)
    units, chunk = int(sizes.sum()), size * batch
    assert stats.chunks == -(-units // chunk)
    assert stats.counts["PARTITION_SEARCHES"] == stats.chunks + 1
    assert stats.counts["SEARCHES"] == -(-units // batch)
    np.testing.assert_array_equal(plan.writers() % size, np.arange(units) % chunk // batch)
    starts = np.minimum(np.arange(stats.chunks + 1) * chunk, units - 1)
    np.testing.assert_array_equal(plan.chunk_items(), plan.owners()[starts])


@pytest.mark.parametrize("name", [name for name in SIZES if SIZES[name].sum()])
def test_chunks_of_items_and_units_together(intel: Device, name: str) -> None:
    """load-balancing dynamic 3: items and units of a chunk are a constant, so it always fits."""
    sizes = SIZES[name]
    config = {"group_size": 16, "unit_batch": 4}
    plan, stats = checked(sizes, intel, balance="two_phase", partition="merge", **config)
    total = sizes.size + int(sizes.sum())
    assert stats.chunks == -(-total // 64)
    assert stats.counts["MISFITS"] == 0
    # Merge item ends and units by hand: an item ends right after its last unit.
    is_end = np.concatenate([[False] * size + [True] for size in sizes.tolist()])
    ended = np.concatenate([[0], np.cumsum(is_end)])
    diagonals = np.minimum(np.arange(stats.chunks + 1) * 64, total)
    np.testing.assert_array_equal(plan.chunk_items(), ended[diagonals])


@pytest.mark.parametrize(("iterations", "batch"), [(1, 3), (2, 4), (3, 3), (5, 1), (8, 1)])
def test_any_number_of_iterations(intel: Device, iterations: int, batch: int) -> None:
    """load-balancing dynamic 4: the result depends on neither iterations, batch nor group size."""
    group_size = 16 if iterations % 2 else 64
    config = {"iterations": iterations, "unit_batch": batch, "group_size": group_size}
    for name in ("power law", "uniform", "leading empties"):
        plan, stats = checked(SIZES[name], intel, balance="multi_phase", **config)
        units, chunk = int(SIZES[name].sum()), group_size * batch * iterations
        assert stats.chunks == -(-units // chunk)
        assert plan.chunk_items().size == stats.chunks + 1
        assert plan.extra_bytes == 4 * (stats.chunks + 1)  # load-balancing dynamic 8
        assert stats.counts["PARTITION_SEARCHES"] == stats.chunks + 1
        assert stats.counts["SEARCHES"] == -(-units // batch)
        assert 0 < stats.partition_ms < stats.kernel_ms


def test_slices_that_do_not_fit_are_read_from_global_memory(intel: Device) -> None:
    """load-balancing dynamic 5 and 7: items smaller than the iterations, and 10,000 empty ones."""
    config = {"balance": "multi_phase", "group_size": 64, "unit_batch": 4, "iterations": 3}
    # And those that fit, out of local memory, which no result shows.
    assert "#define BOUND(i) (fits ? chunk_slice[i] : indptr[" in rendered(intel, **config)
    _, stats = checked(SIZES["ones"], intel, **config)
    assert stats.counts["MISFITS"] == 1  # 768 of 900 items in the first chunk, 132 in the second
    _, stats = checked(SIZES["many empties"], intel, **config)
    assert stats.counts["MISFITS"] >= 1
    _, stats = checked(SIZES["regular"], intel, **config)
    assert stats.counts["MISFITS"] == 0


@pytest.mark.parametrize("batch", [3, 8])
def test_lanes_write_in_order(intel: Device, batch: int) -> None:
    """load-balancing dynamic 6: lane l writes base + l, or four units at base + 4 l."""
    lanes, sizes = intel.traits.lanes, SIZES["power law"]
    plan, _ = checked(sizes, intel, balance="multi_phase", unit_batch=batch)
    run = 4 if batch % 4 == 0 else 1
    units = int(sizes.sum())
    np.testing.assert_array_equal(plan.writers() % lanes, np.arange(units) // run % lanes)


def rendered(device: Device, **config: Any) -> str:
    plan = Expand(EXAMPLE, config=expand_config(**config), ranks=False, device=device)
    return plan._program.source


def test_the_optimisations_are_in_the_source(intel: Device) -> None:
    """load-balancing O1, O3, O4, O5 and O7, as text: what a test can see of them."""
    source = rendered(intel, balance="multi_phase", unit_batch=4, iterations=3)
    for q in range(3):  # O1: registers of every iteration by name, no array and no loop
        assert source.count(f"uint item_{q}_3;") == 1
    # O2: the slot and the number of chunks are computed before the loop over chunks.
    assert source.index("const uint chunks") < source.index("tile_first =")
    assert source.index("uint *const staging") < source.index("tile_first =")
    # O3: all loads of a slice are issued before the first is stored.
    assert source.rindex("const offset_t staged") < source.index("chunk_slice[get_local_id(0)")
    # O4: 16 bytes at a time into local memory, out of it, and to global memory.
    assert "*(__local uint4 *)(staging" in source
    assert "*(__local const uint4 *)(staging" in source
    assert "*(__global uint4 *)(owners" in source
    odd = rendered(intel, balance="multi_phase", unit_batch=5)
    assert "uint4 *)" not in odd.split("void expand")[1].split("kernel")[0].replace("(uint4)", "")
    # O5: once the registers are full, one barrier of the group and then only those of the lanes.
    drain = source[source.index("uint *const staging") :]
    drain = drain[drain.rindex("item_2_3 =") : drain.index("#undef BOUND")]
    assert drain.count("group_barrier") == 1
    assert drain.count("lane_converge();") == 6
    # O7: offsets through the read-only path or not.
    assert "#define OFFSETS __global const offset_t *restrict" in source
    assert "restrict" not in rendered(intel, read_only=False).split("OFFSETS")[1].split("\n")[0]


@pytest.mark.parametrize("balance", ["item_thread", "block_search", "direct", "multi_phase"])
def test_offsets_by_loads_that_need_not_be_coherent(balance: str, intel: Device) -> None:
    """load-balancing O7: they can be chosen, for every offset that a kernel reads."""
    plan, _ = checked(SIZES["power law"], intel, balance=balance, cache="read-only")
    assert plan._program.source.count("load_read_only(indptr + (") >= 2
    assert "indptr[" not in plan._program.source
    for other in ({}, {"cache": "default"}):
        assert "load_read_only" not in rendered(intel, balance=balance, **other)


@pytest.mark.parametrize("factor", [0, 1, 32])
def test_the_grid_is_resident_groups_times_a_factor(intel: Device, factor: int) -> None:
    """load-balancing O6: as many groups as chunks, as resident ones, or 32 times these."""
    sizes = np.full(20_000, 8)
    plan, stats = checked(
        sizes, intel, balance="multi_phase", grid_factor=factor, unit_batch=1, iterations=1
    )
    launched = np.unique(plan.writers() // plan.config.group_size).size
    assert launched == (min(stats.chunks, factor * plan._resident) if factor else stats.chunks)


def test_expand(any_device: Device) -> None:
    found = expand([3, 0, 2], device=any_device)
    assert found.owners.tolist() == [0, 0, 0, 2, 2]
    assert found.ranks is not None
    assert found.ranks.tolist() == [0, 1, 2, 0, 1]
    assert found.owners.dtype == found.ranks.dtype == np.uint32
    assert found.stats.units_per_s > 0
    assert found.stats.kernel_ms >= found.stats.partition_ms
    assert expand([3, 0, 2], ranks=False, device=any_device).ranks is None
    for other, kind in BALANCERS.items():
        for name in kind.SYNONYMS:
            stats = expand([3, 0, 2], balance=name, device=any_device).stats
            assert stats.config.balance.name == other
    empty = expand([], device=any_device)
    assert empty.owners.size == empty.stats.units == empty.stats.launches == 0


def test_the_balancer_is_chosen_by_the_sizes(intel: Device, pocl: Device) -> None:
    gpu = dataclasses.replace(intel.traits, is_cpu=False, compute_capability=(9, 0))
    other = dataclasses.replace(gpu, compute_capability=None)
    for traits, mean, deviation, expected in (
        (other, 8.0, 0.0, "multi_phase"),
        (gpu, 2.1, 0.5, "multi_phase"),
        (gpu, 8.0, 0.0, "warp_search"),
        (gpu, 5.2, 21.4, "warp_search"),
        (gpu, 13.1, 136.9, "multi_phase"),
        (intel.traits, 8.0, 0.0, "item_thread"),
        (intel.traits, 13.1, 136.9, "warp_search"),
        (pocl.traits, 13.1, 136.9, "item_thread"),
    ):
        assert usual_balancer(mean, deviation, traits).name == expected
    _, stats = checked(SIZES["power law"], intel)
    assert stats.config.search == "lanes"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"sizes": [1.5]}, "array of integers; got float64"),
        ({"sizes": [[1]]}, r"shape \(1, 1\)"),
        ({"sizes": [1, -2]}, r"sizes\[1\]=-2 is out of range"),
        ({"sizes": [2**32]}, r"sizes\[0\]=4294967296 is out of range"),
        ({"sizes": [[1], [1, 2]]}, "sizes must be a one-dimensional array of integers; "),
        ({"sizes": [1], "balance": "best"}, "balance='best' is not one of item_thread"),
        ({"sizes": [1], "balance": 3}, "balance=3 is not one of item_thread"),
        ({"sizes": [1], "config": {}}, "config is a dict; pass an ExpandConfig"),
        ({"sizes": [1], "config": cg.BFSConfig()}, "config is a BFSConfig; pass an ExpandConfig"),
        ({"sizes": [1], "balance": "cws", "config": ExpandConfig()}, "both given"),
    ],
)
def test_what_expand_refuses(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        expand(**arguments)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"search": "linear"}, "search='linear' is not one of hybrid"),
        ({"balance": "two_phase", "partition": "items"}, "partition='items' is not one of"),
        (
            {"partition": "merge", "balance": "cws"},
            "balance.partition is of two_phase, and balance is 'cws'",
        ),
        ({"balance": "two_phase", "unit_batch": 0}, "unit_batch=0 is out of range"),
        ({"group_size": True}, "group_size=True is not an integer"),
        ({"virtual_warp": 3, "balance": "vwarp"}, "width=3 is not a power of two"),
        ({"group_size": 17}, "multiple of the 16 lanes"),
        ({"balance": "cws", "scratch": 2**24}, "bytes of local memory"),
        # Bytes that wrap to fewer, and units that were more than a compiler came to an end with.
        ({"balance": "cws", "scratch": 2**31 - 1}, "scratch=2147483647 takes 2147483647 entries"),
        ({"balance": "two_phase", "unit_batch": 2**27}, "unit_batch=134217728 takes"),
        ({"balance": "block_search", "block_items": 2**27}, "block_items=134217728 takes"),
        ({"balance": "multi_phase", "unit_batch": 300}, "are 600 units"),
        ({"balance": "dyn_vwarp", "tile_batch": 2**31 - 1}, "tile_batch=2147483647 of group_size="),
        ({"balance": "dyn_vwarp", "tile_batch": 0}, "tile_batch=0 is out of range; it must be at"),
        ({"read_only": "no"}, "read_only='no' is neither True nor False"),
        ({"cache": "streaming"}, "cache='streaming' is not one of"),
        ({"balance": "warp_search", "extended": 2}, "extended=2 is neither True nor False"),
        ({"alike_mean": -1}, "mean=-1 must be at least 0"),
        ({"alike_deviation": float("nan")}, "deviation=nan must be at least 0"),
        ({"alike_deviation": "8"}, "deviation='8' is not a number"),
    ],
)
def test_what_a_configuration_refuses(intel: Device, bad: dict[str, Any], complaint: str) -> None:
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        Expand([1, 2], config=expand_config(**bad), device=intel)


def test_numbers_of_a_configuration_may_be_those_of_numpy() -> None:
    config = expand_config(balance="warp_search", wide=np.int64(4), extended=np.True_)
    assert config == expand_config(balance="warp_search", wide=4, extended=True)
    assert (type(config.balance.wide), type(config.balance.extended)) == (int, bool)
    assert expand_config(alike_mean=np.float32(2)) == expand_config(alike_mean=2.0)


def test_edges_are_discovered(intel: Device) -> None:
    """bfs-4k F6, bfs-helix 6: the published assignment, the switch to it, K4 = 0 for never."""
    degrees = np.array([3, 1, 4, 6, 3, 3])
    device = emulating(intel, 32)
    plan, _ = checked(degrees, device, balance="warp_search")
    np.testing.assert_array_equal(plan.writers(), np.arange(20))
    assert plan.owners()[5] == 2
    sizes = np.full(12, 3)
    for discover, searched in ((0, False), (1, True), (2, True), (10**6, False)):
        plan, _ = checked(sizes, device, balance="dyn_vwarp", discover=discover, grid_factor=1)
        assert plan.resident_items > 2 * sizes.size
        in_order = (plan.writers()[:32] == np.arange(32)).all()
        assert in_order == searched
    resident = plan.resident_items
    for items in (resident - 1, resident):
        plan, _ = checked(np.full(items, 3), device, balance="dyn_vwarp", discover=1, grid_factor=1)
        assert plan.resident_items == resident
        assert (plan.writers()[:32] == np.arange(32)).all() == (items < resident)


def test_long_rows_are_extended_without_a_search(intel: Device) -> None:
    """bfs-4k F6, EXT: the same units with fewer searches, where items are larger than LANES."""
    device = emulating(intel, 8)
    for name in ("power law", "one hub", "regular"):
        searches = [
            checked(SIZES[name], device, balance="warp_search", extended=wanted)[1].counts[
                "SEARCHES"
            ]
            for wanted in (False, True)
        ]
        assert searches[1] < searches[0] or (name == "regular" and searches[1] == searches[0])


@pytest.mark.parametrize("least", [4, 8])
@pytest.mark.parametrize("items", [20, 3000])
def test_reads_are_broadcast(intel: Device, items: int, least: int) -> None:
    """bfs-4k F8: only with more items than resident work-items and all lanes for each."""
    sizes = np.arange(items) % 30
    config = {"balance": "dyn_vwarp", "min_virtual_warp": least, "dyn_threshold": 25}
    plan, stats = checked(sizes, emulating(intel, 8), **config)
    assert (stats.counts["BROADCASTS"] > 0) == (items > plan.resident_items and least == 8)
    assert stats.tiles == np.count_nonzero(sizes > 25)
    as_many = np.arange(plan.resident_items) % 30
    assert not checked(as_many, emulating(intel, 8), **config)[1].counts["BROADCASTS"]
