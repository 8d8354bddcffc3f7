"""Scans in one launch, whose work-groups look back at the tiles before theirs."""

from dataclasses import replace

import numpy as np
import pytest
from unit.primitives_reference import KERNELS

from bench.studies.recorded import RECORDED
from clgraph.device import Memory, load, wait
from clgraph.device.rendering.sources import render
from clgraph.engine.sweeps import SweepLog
from clgraph.primitives import launches, scanning, stages
from clgraph.primitives.launches import group_size
from clgraph.primitives.scanning import Compaction, Scan, SegmentedScan
from clgraph.primitives.stages import Last, Shape

# A work-item's elements in vectors, a tile and several, more tiles than are looked at at once.
SIZES = [0, 1, 3, 4, 5, 127, 128, 129, 4096, 20_001]
OPERATORS = {"add": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}


@pytest.fixture(autouse=True)
def _all_in_sweeps(monkeypatch):
    for name in ("FEW", "CPU_FEW"):
        monkeypatch.setattr(scanning, name, -1)
    every = replace(scanning.COMPACTED_AT_ONCE, neutral=(2**40,) * 2, h200=None)
    monkeypatch.setattr(scanning, "COMPACTED_AT_ONCE", every)


@pytest.fixture
def lanes(any_device):
    """Give a device with several lanes; on others nothing is swept."""
    return any_device if any_device.traits.lanes > 1 else any_device.emulating(8)


def numbers(n, dtype="u4", seed=0):
    return np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint32).astype(dtype)


def check_scan(stage, device, values, n, *, in_place):
    memory, log = Memory(device), Last()
    held = memory.upload("values", values)
    scanned = held if in_place else memory.upload("scanned", values)
    total = stage.enqueue(log, held, n, scanned)
    log.wait()
    sums = np.cumsum(values[:n], dtype=values.dtype)
    expected = np.concatenate([np.zeros(min(n, 1), values.dtype), sums[:-1], values[n:]])
    np.testing.assert_array_equal(scanned.read(), expected)
    assert total.read()[0] == (sums[-1] if n else 0)


def check_compaction(stage, device, n, share, kinds):
    memory, random, log = Memory(device), np.random.default_rng(n), Last()
    mask = (random.random(n) < share).astype(np.uint8) << random.integers(0, 8, n).astype(np.uint8)
    arrays = [random.integers(0, 250, n).astype(kind) for kind in kinds]
    given = [memory.upload("given", array) for array in arrays]
    kept = [memory.upload("kept", np.full(n + 1, 251, kind)) for kind in kinds]
    total = stage.enqueue(log, memory.upload("mask", mask), n, *zip(given, kept, strict=True))
    log.wait()
    count = np.count_nonzero(mask)
    assert total.read()[0] == count
    for array, got in zip(arrays, kept, strict=True):
        rest = np.full(n + 1 - count, 251, array.dtype)
        np.testing.assert_array_equal(got.read(), np.concatenate([array[mask != 0], rest]))


def check_segments(stage, device, n, share, *, inclusive):
    memory, log, values = Memory(device), Last(), numbers(n, stage.dtype)
    heads = np.random.default_rng(1).random(n) < share
    scanned = memory.allocate("scanned", n, stage.dtype)
    held, marks = memory.upload("values", values), memory.upload("heads", heads.view(np.uint8))
    stage.enqueue(log, held, marks, n, scanned, inclusive=inclusive)
    log.wait()
    sums = np.cumsum(values, dtype=values.dtype)
    begins = np.maximum.accumulate(np.where(heads, np.arange(n), 0))
    wanted = sums - (sums - values)[begins] - (0 if inclusive else values)
    np.testing.assert_array_equal(scanned.read(), wanted)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", ["u4", "i8"])
def test_one_stage_scans_any_number(lanes, dtype, in_place):
    stage = Scan(lanes, dtype)
    for turn, n in enumerate((*SIZES, 20_001, 5, 20_001, 0)):
        # Other numbers each time: what tiles said before is wrong now.
        check_scan(stage, lanes, numbers(n + 3, dtype, seed=turn), n, in_place=in_place)
    assert {key[1] for key in stage._kernels} == {"scan_sweep"}


@pytest.mark.parametrize("kinds", [(), ("u4",), ("u8", "u4"), ("u1", "u2", "c16")])
def test_one_stage_compacts_any_number_of_arrays(lanes, kinds):
    stage = Compaction(lanes)
    for n in SIZES:
        for share in (0, 0.02, 0.5, 1):
            check_compaction(stage, lanes, n, share, kinds)


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("share", [0, 0.0005, 0.1, 1])
def test_segments_of_any_length(lanes, share, inclusive):
    stage = SegmentedScan(lanes, np.uint32)
    for n in SIZES[1:]:
        check_segments(stage, lanes, n, share, inclusive=inclusive)


@pytest.mark.parametrize("limit", [0, 3])
def test_tiles_that_say_nothing_are_combined(lanes, monkeypatch, limit):
    """No work-group depends on another, not even where elements are overwritten."""
    monkeypatch.setattr(stages, "POLL_LIMIT", limit)
    for in_place in (False, True):
        check_scan(Scan(lanes, "u4"), lanes, numbers(50_001), 50_001, in_place=in_place)
        check_scan(Scan(lanes, "u8"), lanes, numbers(9_001, "u8"), 9_001, in_place=in_place)
    check_compaction(Compaction(lanes), lanes, 50_001, 0.5, ("u4",))
    for share in (1e-4, 0.01):
        check_segments(SegmentedScan(lanes, np.uint32), lanes, 50_001, share, inclusive=True)


def test_a_tile_between_the_words_of_its_value_is_waited_for(lanes):
    """Its elements may be overwritten, and what it said before can no longer be read."""
    size, stamp, part, whole = group_size(lanes.traits), 5, (3 << 32) + 4, (7 << 32) + 9
    about = {"group_size": size, "state_head": stages.STATE_HEAD}
    program = load(lanes, "half_said_check.cl", folders=(KERNELS,), **about)
    words = np.zeros(stages.STATE_HEAD + 4, np.uint64)
    words[stages.STATE_HEAD] = (2 * stamp + 1) << 32 | whole % 2**32
    words[stages.STATE_HEAD + 1] = 2 * stamp << 32 | part >> 32
    memory = Memory(lanes)
    state, values = memory.upload("state", words), memory.upload("values", numbers(size, "u8"))
    found = memory.upload("found", np.zeros(1, np.uint64))
    limits = (np.uint32(stamp), np.uint32(2**20), np.uint32(0))
    kernel = program.kernel("half_said_check")
    wait(kernel.launch(2 * size, size, values, np.uint64(whole), *limits, state, found))
    assert found.read()[0] == whole


def test_lanes_combine_what_was_said_in_no_condition():
    """Of one, ptxas 13.0 made a predicate of something else: tiles took what some lanes knew."""
    params = {"index": "uint", "kinds": ("uint",), "group_size": 256, "items": 16, "looks": 1}
    params |= {"traits": RECORDED["h200"], "ahead": 0, "state_head": stages.STATE_HEAD}
    text = render("primitives/compact_sweep.cl", params)
    known = text[text.index("unknown = lane_ballot(") : text.index("from = ends ?")]
    assert "lane_reduce_in_add(" in known
    assert "if (" not in known.replace("if (ends) begin", "")


@pytest.mark.rest
@pytest.mark.parametrize("shape", [(1, 4, 1, 0), (2, 8, 3, 2), (1, 16, 8, 0), (4, 16, 2, 1)])
def test_tiles_of_any_shape(lanes, monkeypatch, shape):
    """So many SIMD groups, elements of a work-item, tiles that it looks at, and fetched ahead."""
    groups = 1 if lanes.traits.emulated else shape[0]
    size = groups * lanes.traits.lanes
    monkeypatch.setattr(stages, "sweep_shape", lambda *_: Shape(size, *shape[1:]))
    check_scan(Scan(lanes, "u4"), lanes, numbers(9_001), 9_001, in_place=True)
    check_scan(Scan(lanes, "i8"), lanes, numbers(9_001, "i8"), 9_001, in_place=False)
    check_segments(SegmentedScan(lanes, np.uint32), lanes, 9_001, 0.01, inclusive=False)
    check_compaction(Compaction(lanes), lanes, 9_001, 0.3, ("u4", "u8"))


def test_large_arrays_are_compacted_in_three_launches(lanes):
    """By how many bytes an element has in all."""
    for kinds, n, wanted in (
        (("u4",), 1999, ["compact_sweep"]),
        (("u4",), 2000, ["compact_fold", "compact_totals", "compact_apply"]),
        (("u2", "u4"), 999, ["compact_sweep"]),
        (("u8",), 1000, ["compact_fold", "compact_totals", "compact_apply"]),
    ):
        stage = Compaction(lanes)
        stage.at_once = 2000, 1000
        check_compaction(stage, lanes, n, 0.5, kinds)
        assert [name for _, name, *_ in stage._kernels] == wanted


@pytest.mark.parametrize("operator", ["min", "max", "or"])
def test_operators_on_values_of_one_word_and_of_two(lanes, operator):
    for dtype in ("i4", "u8"):
        memory, log, values = Memory(lanes), Last(), numbers(5_001, dtype)
        scanned = memory.allocate("scanned", 5_001, dtype)
        total = Scan(lanes, dtype, operator).enqueue(
            log, memory.upload("values", values), 5_001, scanned
        )
        log.wait()
        wanted = OPERATORS[operator].accumulate(values)
        np.testing.assert_array_equal(scanned.read()[1:], wanted[:-1])
        assert total.read()[0] == wanted[-1]


def test_a_stage_launches_once_and_clears_nothing_the_second_time(lanes):
    memory, stage = Memory(lanes), Scan(lanes, "u4")
    values = memory.upload("values", np.ones(1000, np.uint32))
    launched = []
    for _ in range(3):
        log = SweepLog()
        stage.enqueue(log, values, 1000, values)
        log.wait()
        launched.append(log.launches)
    assert launched == [2, 1, 1]


def test_rounded_sums_are_not_swept(lanes):
    """How a sweep groups its elements differs from run to run."""
    for stage, swept in ((Scan(lanes, "f4"), False), (Scan(lanes, "f4", "max"), True)):
        check = stage._sweeps
        assert check is swept
    assert not SegmentedScan(lanes, "f4")._sweeps
    values = np.random.default_rng(3).normal(size=30_000).astype("f4")
    memory, stage = Memory(lanes), Scan(lanes, "f4")
    scanned = memory.allocate("scanned", 30_000, "f4")
    log = Last()
    stage.enqueue(log, memory.upload("values", values), 30_000, scanned)
    log.wait()
    exact = np.cumsum(values, dtype=np.float64) - values
    np.testing.assert_allclose(scanned.read(), exact, atol=0.01)


def test_a_launch_that_is_broken_off_spoils_no_later_one(lanes, monkeypatch):
    """Nobody knows how many tiles it took, or would know which of its words hold."""
    stage, launch = Scan(lanes, "u4"), stages.Stage.launch

    def broken(*args, **params):
        launch(*args, **params)
        raise KeyboardInterrupt

    for when in range(2):
        check_scan(stage, lanes, numbers(20_001), 20_001, in_place=False)
        with monkeypatch.context() as broken_off:
            broken_off.setattr(stages.Stage, "launch", broken)
            with pytest.raises(KeyboardInterrupt):
                check_scan(stage, lanes, numbers(9_001 + when), 9_001 + when, in_place=False)
        check_scan(stage, lanes, numbers(20_001, seed=when), 20_001, in_place=False)


def test_stamps_and_tickets_begin_anew_before_they_run_out(lanes):
    stage = Scan(lanes, "u4")
    for stamp in (stages.LAST_STAMP - 1, stages.LAST_STAMP):
        check_scan(stage, lanes, numbers(9_001), 9_001, in_place=False)
        stage._stamp = stamp
        check_scan(stage, lanes, numbers(20_001), 20_001, in_place=False)
    assert stage._stamp == 1


def test_positions_of_64_bits(lanes, monkeypatch):
    monkeypatch.setattr(launches, "UINT_POSITIONS", 10)
    check_scan(Scan(lanes, "u4"), lanes, numbers(5_001), 5_001, in_place=False)
    check_compaction(Compaction(lanes), lanes, 5_001, 0.5, ("u4",))
    check_segments(SegmentedScan(lanes, np.uint32), lanes, 5_001, 0.01, inclusive=False)


@pytest.mark.gpu
def test_sweeps_on_a_gpu(gpu):
    for n in (*SIZES, 3_000_001):
        for dtype in ("u4", "i8"):
            check_scan(Scan(gpu, dtype), gpu, numbers(n + 3, dtype), n, in_place=n % 2 == 1)
        if n:
            check_segments(SegmentedScan(gpu, np.uint32), gpu, n, 0.0005, inclusive=n % 2 == 1)
        for kinds in (("u4",), ("u8",), ("u8", "u4"), ("u1", "u2", "c16")):
            check_compaction(Compaction(gpu), gpu, n, 0.5, kinds)


@pytest.mark.gpu
def test_tiles_that_say_nothing_are_combined_on_a_gpu(gpu, monkeypatch):
    test_tiles_that_say_nothing_are_combined(gpu, monkeypatch, 0)
