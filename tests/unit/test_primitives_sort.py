"""Sorting, merging and segmented scans on a device against NumPy."""

import dataclasses
import re

import numpy as np
import pytest
from runtimes import run_under_oclgrind

from bench.studies.recorded import RECORDED
from clgraph.device import Memory
from clgraph.device.hardware.measured import Constant
from clgraph.device.rendering.sources import render
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.primitives import (
    launches,
    merge,
    merge_pairs,
    radix,
    segmented_scan,
    sort,
    sort_pairs,
)
from clgraph.primitives.radix import RadixSort

SIZES = [0, 1, 2, 7, 8, 9, 31, 33, 127, 129, 513, 4097, 5001]
LARGE = 70_001


class Served:
    """A device that nothing is launched on."""

    def __init__(self, traits):
        self.traits = traits


def keys_of(n, dtype=np.uint64, bits=40, seed=0):
    return np.random.default_rng(seed).integers(0, 2**bits, n, dtype=dtype)


def check_pairs(device, keys, values):
    got = sort_pairs(keys, values, device=device)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(got[0], keys[order])
    np.testing.assert_array_equal(got[1], values[order])


def check_merge(device, a, b):
    a, b = np.sort(a), np.sort(b)
    keys = np.concatenate([a, b])
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(merge(a, b, device=device), keys[order])
    places = np.arange(len(keys), dtype=np.uint32)
    pairs = merge_pairs((a, places[: len(a)]), (b, places[len(a) :]), device=device)
    np.testing.assert_array_equal(pairs[0], keys[order])
    np.testing.assert_array_equal(pairs[1], places[order])


def segmented(values, heads, combine, neutral, inclusive):
    result, running = np.empty_like(values), neutral
    for i, x in enumerate(values):
        running = neutral if heads[i] else running
        result[i] = combine(running, x) if inclusive else running
        running = combine(running, x)
    return result


def check_sizes(device, sizes):
    for n in sizes:
        check_pairs(device, keys_of(n, bits=11), np.arange(n, dtype=np.uint32))
        check_merge(device, keys_of(n, bits=9), keys_of(2 * n // 3, bits=9, seed=1))


def test_all_sizes(device):
    check_sizes(device, SIZES)


def test_many_keys_of_40_bits(device):
    keys = keys_of(LARGE)
    np.testing.assert_array_equal(sort(keys, device=device), np.sort(keys))
    check_pairs(device, keys % 1000, np.arange(LARGE, dtype=np.uint32))
    check_merge(device, keys[: LARGE // 5], keys[LARGE // 5 :])


@pytest.mark.parametrize("key", [np.uint32, np.uint64])
@pytest.mark.parametrize("value", [np.float32, np.int64])
def test_all_types_and_bits(any_device, key, value):
    for bits in (0, 1, 8, 9, 31, 8 * np.dtype(key).itemsize - 1):
        keys = keys_of(3000, key, bits) if bits else np.zeros(3000, key)
        check_pairs(any_device, keys, np.arange(3000).astype(value))
    top = np.array([2 ** (8 * np.dtype(key).itemsize) - 1, 0, 5], key)
    np.testing.assert_array_equal(sort(top, device=any_device), np.sort(top))


def test_only_the_bits_that_are_said_take_passes(any_device, monkeypatch):
    passes = []
    plain = RadixSort._pass
    monkeypatch.setattr(
        RadixSort, "_pass", lambda self, *args: passes.append(args[-2]) or plain(self, *args)
    )
    keys = keys_of(100, bits=17)
    sort(keys, device=any_device)
    assert passes == [0, 8, 16]
    with pytest.raises(InvalidArgumentError, match="more than 9 bits"):
        sort(keys, bits=9, device=any_device)


@pytest.mark.parametrize("limit", [0, 3])
def test_work_groups_that_say_nothing_are_counted(device, monkeypatch, limit):
    """A sweep does not wait for others: it may count what they have instead."""
    monkeypatch.setattr("clgraph.primitives.radix.POLL_LIMIT", limit)
    keys = keys_of(20_000, bits=20)
    check_pairs(device, keys, np.arange(20_000, dtype=np.uint32))


@pytest.mark.parametrize("looks", [1, 3, 9])
def test_several_tiles_are_read_at_once(any_device, monkeypatch, looks):
    shapes = dict.fromkeys(radix.SORT_SHAPES.neutral, (384, 23, looks))
    monkeypatch.setattr(radix, "SORT_SHAPES", Constant("", "", shapes))
    keys = keys_of(20_000, bits=20)
    check_pairs(any_device, keys, np.arange(20_000, dtype=np.uint32))


def test_a_pass_is_one_launch_where_lanes_are_several(any_device):
    stage, log = RadixSort(any_device, np.uint64), SweepLog()
    keys = Memory(any_device).upload("keys", keys_of(5000, np.uint64, 40))
    wanted = np.sort(keys.read())
    found, _ = stage.enqueue(log, keys, 5000, bits=40)
    log.wait()
    np.testing.assert_array_equal(found.read(5000), wanted)
    # Clearing and counting once, then a launch for each of five digits.
    assert log.launches == (2 + 5 if any_device.traits.lanes > 1 else 15)


@pytest.mark.parametrize("device", RECORDED)
def test_a_tile_takes_one_memory_in_turns(device):
    """Counts by SIMD group, keys and values lie where each other lay: that makes a tile large."""
    traits = RECORDED[device]
    for (key, value), (_, most, _) in radix.SORT_SHAPES.on(traits).items():
        size, items = radix._sort_shape(traits, key, value, 4)
        assert size % traits.lanes == 0
        assert most // 2 < items <= most
        served = value == 0 and bool(radix.SORTS_SERVED.on(traits))
        params = {"key": {4: "uint", 8: "ulong"}[key], "looks": 8, "served": served}
        params |= {"limited": served}
        params |= {"value": {0: "", 4: "uint", 8: "ulong"}[value], "index": "uint"}
        text = render(
            "primitives/sort.cl",
            {"traits": traits, "check": False, "group_size": size, "items": items, **params},
        )
        words = int(re.search(r"__local ulong room\[(\d+)u\]", text)[1])
        counts = 4 * radix.DIGITS * size // traits.lanes
        assert 8 * words == max(counts, size * items * max(key, value)) + 8 * served
        assert 8 * words + 12 * radix.DIGITS < traits.local_bytes
        assert radix._sort_shape(traits, key, value, 8)[1] <= items


def test_counts_are_said_before_keys_are_ranked():
    """What other tiles wait for does not wait for the longest part of a pass."""
    for served in (False, True):
        params = {"key": "uint", "value": "" if served else "uint", "index": "uint", "looks": 8}
        params |= {"served": served, "limited": served, "group_size": 384, "items": 20}
        text = render("primitives/sort.cl", {"traits": RECORDED["h200"], "check": False, **params})
        body = text[text.index("void sort_sweep(") :]
        said = body.index("store_relaxed(")
        ranked = body.index("rank[item] += ours[" if served else "lane_match_low(")
        assert said < ranked < body.index("load_relaxed(")


@pytest.mark.parametrize("key", [np.uint32, np.uint64])
def test_keys_alone_are_ranked_as_they_are_served(any_device, monkeypatch, key):
    """In whatever order: emulated lanes are not served in theirs, and tiles are put right."""
    monkeypatch.setattr(radix, "SORTS_SERVED", Constant("", "", dict.fromkeys((4, 8), 80)))
    top = 2 ** (8 * np.dtype(key).itemsize) - 1
    for n in (1, 31, 129, 4097):
        random = np.random.default_rng(n)
        for keys in (
            random.integers(0, top, n, key, endpoint=True),
            random.integers(0, 3, n, key) << key(20),
            random.choice(np.array([top, 255, 255 << 8, 0], key), n),  # as what lies behind them
            np.arange(n, dtype=key)[::-1],
        ):
            np.testing.assert_array_equal(sort(keys, device=any_device), np.sort(keys))


def test_a_kernel_of_few_registers_does_not_say_its_size(pocl):
    """NVIDIA's compiler takes no notice of a limit for kernels that do."""
    sweep = re.compile(r"reqd_work_group_size\(\d+, 1, 1\)\)\)\s+void sort_sweep\(")
    params = {"key": "uint", "value": "", "index": "uint", "looks": 8, "served": True}
    params |= {"traits": RECORDED["h200"], "check": False, "group_size": 384, "items": 20}
    told, not_told = (
        render("primitives/sort.cl", {**params, "limited": limited}) for limited in (False, True)
    )
    assert sweep.search(told)
    assert not sweep.search(not_told)
    stage = RadixSort(pocl.emulating(8), np.uint32)
    assert (stage._params["limited"], stage._params["registers"]) == (False, 0)


def test_what_equal_keys_carry_is_not_left_to_service():
    served = RadixSort(Served(RECORDED["h200"]), np.uint32)
    carrying = RadixSort(Served(RECORDED["h200"]), np.uint32, np.uint32)
    assert (served._params["served"], carrying._params["served"]) == (True, False)
    assert (served._params["registers"] > 0, carrying._params["registers"]) == (True, 0)


@pytest.mark.parametrize("keys", ["equal", "sorted", "reversed", "one digit"])
def test_unusual_orders(device, keys):
    n = 3001
    array = {
        "equal": np.full(n, 77, np.uint32),
        "sorted": np.arange(n, dtype=np.uint32),
        "reversed": np.arange(n, dtype=np.uint32)[::-1],
        "one digit": (np.arange(n, dtype=np.uint32) % 2) << np.uint32(20),
    }[keys]
    check_pairs(device, array, np.arange(n, dtype=np.uint32))


def test_merging_what_is_lopsided(device):
    empty, some = np.empty(0, np.uint32), np.arange(1000, dtype=np.uint32)
    for a, b in ((empty, empty), (empty, some), (some, empty), (some[:1], some), (some, some)):
        check_merge(device, a, b)
    check_merge(device, some, some + np.uint32(5000))
    check_merge(device, some + np.uint32(5000), some)


def test_more_tiles_than_ends_are_looked_for_at_once(any_device, monkeypatch):
    device = any_device if any_device.traits.lanes > 1 else any_device.emulating(8)
    few = dataclasses.replace(device.traits, compute_units=1)  # work-groups go by these
    monkeypatch.setitem(vars(device), "traits", few)
    keys = keys_of(4 * LARGE, bits=14)
    check_merge(device, keys[:LARGE], keys[LARGE:])


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize(
    ("operator", "combine", "neutral"),
    [("add", np.add, 0), ("max", np.maximum, None), ("min", np.minimum, None)],
)
def test_segmented_scans(device, operator, combine, neutral, inclusive):
    random = np.random.default_rng(5)
    for n, share in ((1, 1), (300, 0.1), (5000, 0.001), (5000, 0.5)):
        heads = random.random(n) < share
        for dtype in (np.uint32, np.int32, np.float32):
            values = random.integers(0, 100, n).astype(dtype)
            start = neutral
            if start is None:
                info = np.finfo(dtype) if dtype == np.float32 else np.iinfo(dtype)
                start = info.min if operator == "max" else info.max
                start = start if dtype != np.float32 else np.sign(start) * np.inf
            with np.errstate(over="ignore"):
                wanted = segmented(values, heads, combine, dtype(start), inclusive)
            got = segmented_scan(
                values, heads, operator=operator, inclusive=inclusive, device=device
            )
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("limit", [0, 3])
def test_tiles_that_say_nothing_are_combined(intel, monkeypatch, limit):
    """A segmented scan does not wait for others either."""
    monkeypatch.setattr("clgraph.primitives.stages.POLL_LIMIT", limit)
    random = np.random.default_rng(6)
    values, heads = random.integers(0, 2**32, 200_000, dtype=np.uint32), random.random(200_000)
    for share in (1e-5, 0.01):
        sums = np.cumsum(values, dtype=np.uint32)
        begins = np.maximum.accumulate(np.where(heads < share, np.arange(200_000), 0))
        wanted = sums - (sums - values)[begins]
        got = segmented_scan(values, heads < share, inclusive=True, device=intel)
        np.testing.assert_array_equal(got, wanted)


def test_positions_of_64_bits(intel, monkeypatch):
    monkeypatch.setattr(launches, "UINT_POSITIONS", 10)
    check_sizes(intel, [9, 10, 1000])
    ones = np.ones(50, np.uint32)
    heads = np.arange(50) % 7 == 0
    got = segmented_scan(ones, heads, device=intel)
    np.testing.assert_array_equal(got, np.arange(50) % 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: sort([1, 2], device=d), "uint32 or uint64; got int64"),
        (lambda d: sort(np.zeros((2, 2), np.uint32), device=d), r"of shape \(2, 2\)"),
        (lambda d: sort_pairs(np.zeros(2, np.uint32), np.zeros(3), device=d), "2 elements"),
        (lambda d: sort_pairs(np.zeros(1, np.uint32), np.zeros(1, "S3"), device=d), "4 or 8"),
        (lambda d: merge(np.uint32([2, 1]), np.uint32([1]), device=d), "the first keys fall"),
        (lambda d: merge(np.uint32([1]), np.uint64([1]), device=d), "uint32 and uint64"),
        (lambda d: segmented_scan(np.zeros(2), [1, 0], device=d), "got float64"),
        (lambda d: segmented_scan(np.uint32([1]), [1, 0], device=d), "shapes"),
        (lambda d: segmented_scan(np.float32([1]), [1], operator="or", device=d), "segmented"),
    ],
)
def test_what_cannot_be_sorted_is_refused(any_device, call, message):
    with pytest.raises(InvalidArgumentError, match=message):
        call(any_device)


CHECK_HERE = """
import sys
sys.path.insert(0, "tests")
from clgraph.device import device as find_device
from unit import test_primitives_sort as tests

device = find_device()
tests.check_sizes(device, [1, 33])
tests.check_sizes(device.emulating(8), [33])
"""


def test_sorting_touches_nothing_it_should_not(tmp_path):
    # It takes a sum of local counters for uninitialised once an atomic adds it to another.
    run_under_oclgrind(CHECK_HERE, log_folder=tmp_path, checks=("DATA_RACES",))


@pytest.mark.gpu
def test_all_sizes_on_a_gpu(gpu):
    check_sizes(gpu, [*SIZES, 1_000_003])
    test_all_types_and_bits(gpu, np.uint64, np.int64)
    test_unusual_orders(gpu, "equal")
    test_merging_what_is_lopsided(gpu)
