"""Rows of which only ranges are needed are read on the host, and what is found is the same."""

import gc
import itertools
import logging
import threading
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from clocks import happens
from interruption import interrupt, places

import clgraph as cg
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Trace,
    generate_trace,
    mine_sequentially,
)
from clgraph.algorithms.invariants import chunks as chunks_of
from clgraph.algorithms.invariants import phases as phases_of
from clgraph.algorithms.invariants import reading as reading_of
from clgraph.algorithms.invariants.chunks import Chunks
from clgraph.algorithms.invariants.expressions import NUMERIC
from clgraph.algorithms.invariants.reading import KnownRanges, Reading
from clgraph.device import Memory, waiting
from clgraph.device.memory import staging as staging_of
from clgraph.device.memory.staging import Staging

FIRST, CHUNK = 1 << 12, 1 << 13  # instants of the parts of these traces
LENGTH = FIRST + 5 * CHUNK + 777
DTYPES = ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
SETS = ("I", "II", ("a < b + 20", "a + b <= c", "a == b", "max(a, b) < c", "a < 100", "a != b"))


@pytest.fixture(autouse=True)
def short_parts(monkeypatch):
    """Have traces of some ten thousand instants go in parts, and rows of these in pieces."""
    monkeypatch.setattr(Chunks, "_wrap", lambda _: None)
    monkeypatch.setattr(chunks_of, "FIRST_INSTANTS", FIRST)
    monkeypatch.setattr(chunks_of, "SECOND_BYTES", 4 * 8 * FIRST)
    monkeypatch.setattr(phases_of, "SHORT_CHUNK", FIRST // 2)
    monkeypatch.setattr(reading_of, "SMALL_BYTES", 0)
    monkeypatch.setattr(staging_of, "LEAST_PIECE_BYTES", 12_000)


def apart(count, length=LENGTH, seed=0):
    """Numbers in intervals that lie one above the other: whole ones, the last in two of three."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 9, (count, length)) + 10 * np.arange(count)[:, None]
    return rows.astype(np.float32)


def plans(templates, device, *, rows, **options):
    """Give a plan that reads on the host, and one that does not."""
    size = 4 * rows * CHUNK
    return [
        InvariantMiner(
            templates,
            config=MiningConfig(probe=1 << 10, chunk_bytes=size, ranges_on_host=on),
            device=device,
            **options,
        )
        for on in (True, False)
    ]


def mined(plan, given):
    """Give what is found as a set, and the statistics."""
    result = plan.run(given)
    found = {(t, tuple(row)) for t in plan.templates for row in result.tuples(t).tolist()}
    return found, result.stats


def with_troubles(kind):
    """Rows apart, of which one has something that ranges do not know, or leaves its interval."""
    rows = apart(7)
    at = {"first": 5, "second": FIRST + 9, "middle": FIRST + 2 * CHUNK + 1, "last": -1}
    where, _, what = kind.partition(" ")
    if what:
        values = {"nan": np.nan, "infinite": np.inf, "over": 55, "under": 5}
        rows[3, at[where]] = values[what]
    return rows


# With one of the first two every pair of that row is open from the beginning, so nothing is read.
TROUBLES = ("first nan", "first infinite", "none", "first over", "second nan", "second under")
TROUBLES += ("middle infinite", "middle over", "last nan", "last under")


@pytest.mark.parametrize("tolerance", [0, 2])
@pytest.mark.parametrize("templates", SETS, ids=["I", "II", "own"])
def test_what_is_read_on_the_host_changes_nothing(templates, tolerance, device):
    """On every runtime, whatever happens where, exactly and within a tolerance."""
    reads, copies = plans(templates, device, rows=7, tolerance=tolerance)
    for kind in TROUBLES[2 * tolerance :]:
        trace = Trace.of(with_troubles(kind))
        expected = mine_sequentially([trace], reads.families, tolerance)
        (found, stats), (other, without) = mined(reads, trace), mined(copies, trace)
        assert found == expected, kind
        assert other == expected, kind
        assert without.read_bytes == 0
        if templates == "I" and not tolerance:
            assert (stats.read_bytes > 0) == (kind not in TROUBLES[:2]), kind
            assert stats.copied_bytes + stats.read_bytes >= without.copied_bytes // 2, kind


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_every_type(dtype, any_device):
    """Read as the device would have them: what 32 bits round is rounded, and told once."""
    rows = apart(5).astype(dtype)
    if np.dtype(dtype).itemsize >= 4 and dtype != "f4":
        rows[4] += np.array(2**24 if dtype != "f8" else 0.1, dtype)
        rows[3] += np.array(2**24 - 3 if dtype != "f8" else 9.9999999, dtype)
    reads, copies = plans("I", any_device, rows=5)
    (found, stats), (expected, _) = mined(reads, rows), mined(copies, rows)
    assert found == expected == mine_sequentially([Trace.of(rows)], reads.families)
    assert stats.read_bytes > 0


def test_numbers_that_32_bits_round_are_told_where_they_are_only_read(any_device, caplog):
    rows = apart(5).astype("f8")
    rows[2, -5] += 1e-9
    reads, _ = plans("I", any_device, rows=5)
    with caplog.at_level(logging.WARNING, "clgraph"):
        _, stats = mined(reads, rows)
    assert stats.copied_bytes < rows.size  # so it was not copied
    assert "'v2' has values that 32 bits round" in caplog.text
    assert "'v1'" not in caplog.text


@pytest.mark.parametrize("order", ["C", "F"])
def test_files_larger_than_memory(order, any_device, monkeypatch, tmp_path):
    """A memory-mapped file, with room on the device for some parts of it only."""
    rows = apart(6)
    rows[1, -1] = 35
    np.save(tmp_path / "t.npy", np.asarray(rows, order=order))
    reads, copies = plans(("a < b", "a + b < c"), any_device, rows=6)
    expected = mine_sequentially([Trace.of(rows)], reads.families)
    gc.collect()
    held = any_device.ledger.used_bytes
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(held + rows.nbytes // 2))
    for plan in (reads, copies):
        found, stats = mined(plan, tmp_path / "t.npy")
        assert found == expected
        assert not stats.kept
        assert (stats.read_bytes > 0) == (plan is reads)
        assert any_device.ledger.used_bytes == held


def test_several_traces(any_device):
    """Of which one may be pinned: what is copied by itself is not read."""
    first, other = apart(5, seed=1), apart(5, LENGTH // 2, seed=2)
    other[2, -1] = 49
    reads, _ = plans("I", any_device, rows=5)
    expected = mine_sequentially([Trace.of(first), Trace.of(other)], reads.families)
    read = {}
    for name, given in {
        "none": [first, other],
        "one": [first, Trace.of(other).pinned(any_device)],
        "all": [Trace.of(rows).pinned(any_device) for rows in (first, other)],
    }.items():
        found, stats = mined(reads, given)
        assert found == expected, name
        read[name] = stats.read_bytes
    assert read["none"] > read["one"] > read["all"] == 0


def test_rows_are_chosen_after_the_whole_first_part(any_device):
    """Pairs that only the first look leaves open keep no row from being only read.

    Copied is the first part, and a row and its partner from where they are seen to overlap.
    """
    rows = apart(8)
    size = 4 * LENGTH
    first = 4 * 8 * FIRST
    reads, _ = plans("I", any_device, rows=8)
    found, stats = mined(reads, rows)
    assert len(found) == 3 * 8 * 7 // 2
    assert stats.copied_bytes == first
    assert stats.read_bytes == 8 * (size - 4 * FIRST)
    overlapping = rows.copy()
    overlapping[0, : 1 << 10] = overlapping[1, : 1 << 10] = 5  # open in the first look, as equal
    overlapping[:2, 1 << 10] = 12, 10  # nothing holds of the two any more
    assert mined(reads, overlapping)[1].copied_bytes == first
    late = rows.copy()
    late[2, FIRST + 3 * CHUNK] = 31  # overlaps with the row above from the fourth part on
    found, stats = mined(reads, late)
    assert found == mine_sequentially([Trace.of(late)], reads.families)
    assert first < stats.copied_bytes <= first + 2 * size
    assert stats.copied_bytes <= first + 2 * 4 * (LENGTH - FIRST - 3 * CHUNK + 64)


def test_what_is_only_read_takes_no_room(any_device, monkeypatch):
    made, allocate = [], Memory.allocate

    def making(self, name, *rest):
        made.append(name)
        return allocate(self, name, *rest)

    monkeypatch.setattr(Memory, "allocate", making)
    rooms = {}
    for plan in plans("I", any_device, rows=6):
        made.clear()
        mined(plan, apart(6))
        rooms[plan.config.ranges_on_host] = sum(name.startswith("rows of") for name in made)
    assert rooms == {True: 1, False: 7}


def test_nothing_is_read_without_inference_or_where_the_device_reads_it(pocl, monkeypatch):
    rows = apart(5)
    reads, _ = plans("I", pocl, rows=5, inference=False)
    assert mined(reads, rows)[1].read_bytes == 0
    reads, _ = plans("I", pocl, rows=5)
    monkeypatch.undo()
    stats = mined(reads, Trace.of(rows).prepared())[1]
    assert stats.read_bytes == stats.copied_bytes == 0


def test_booleans_beside_what_is_read(any_device):
    trace = generate_trace(6, 6, LENGTH, mode="interval")
    reads, copies = plans("II", any_device, rows=6)
    found, stats = mined(reads, trace)
    assert found == mined(copies, trace)[0]
    assert {phase["kind"] for phase in stats.phases} == {"numeric", "boolean"}


@pytest.mark.parametrize("threads", [0, 3])
def test_ends_of_rows(threads, any_device):
    """Of every piece, also with numbers that are none; of what is no longer only read, nothing."""
    rows = apart(5, 10_007).astype("f8")
    rows[1, 9_999], rows[2, 10_006] = np.nan, -np.inf
    known = KnownRanges(None, 5, 0)
    staging = Staging(any_device, 12_000, threads)  # four pieces a row
    reading = Reading([Trace.of(rows)], known, staging)
    begin = 3
    span = chunks_of.Span(0, begin, 10_007)
    with staging.pieces(any_device.queue) as pieces:
        reading.only = np.array([True, True, True, False, False])
        reading.begin(5, span, np.array([True, True, True, True, False]), pieces)
        reading.finish(5, pieces)
        assert known.asked(5).tolist() == [True, True, True, False, False]
        reading.only = np.ones(5, bool)
        reading.begin(5, span, np.ones(5, bool), pieces)  # what is known is not read again
        reading.only = np.array([True, True, True, True, False])
        reading.finish(5, pieces)
    assert reading.read_bytes == 4 * (4 + 2) * (10_007 - begin)
    assert known.asked(5).tolist() == [True, True, True, True, False]
    assert not known.asked(4).any()
    ranges = known._part(5)[0]
    assert ranges.known.tolist() == [True, False, False, True, False]
    for row in (0, 3):
        assert ranges.low[row] == rows[row, begin:].min()
        assert ranges.high[row] == rows[row, begin:].max()


def test_within_what_was_decisive_nothing_is_decided_again(any_device, monkeypatch):
    """Not in later parts, unless a number leaves its range or is none, nor for other tuples."""
    decided = []
    by_ranges = phases_of.Phase._by_ranges

    def noting(self, ranges, tuples, alive):
        decided.append(len(tuples))
        return by_ranges(self, ranges, tuples, alive)

    monkeypatch.setattr(phases_of.Phase, "_by_ranges", noting)
    rows = apart(6)
    reads, _ = plans("I", any_device, rows=6)
    late, nan = rows.copy(), rows.copy()
    late[3, -1] = 25.0  # below all that it was, and above the row below it by less
    nan[3, -1] = np.nan
    counts = {}
    for name, given in {"none": rows, "late": late, "nan": nan}.items():
        decided.clear()
        found, _ = mined(reads, given)
        assert found == mine_sequentially([Trace.of(given)], reads.families), name
        counts[name] = len(decided)
    assert counts == {"none": 1, "late": 2, "nan": 2}
    # Tuples of two parts of the dictionary, of which ranges decide the first alone.
    monkeypatch.setattr("clgraph.algorithms.invariants.dictionary.BATCH", 32)
    crossing = apart(8, FIRST)
    crossing[7] = crossing[6][::-1]
    plan = InvariantMiner("I", config=MiningConfig(probe=FIRST), device=any_device)
    decided.clear()
    assert mined(plan, crossing)[0] == mine_sequentially([Trace.of(crossing)], plan.families)
    assert decided == [4 * 4 + 6, 6]


def test_what_ranges_leave_open_is_tried_in_every_part(any_device):
    """Also where every number lies in ranges that were seen before."""
    rows = apart(6)
    rows[5] = rows[4] + 4
    reads, _ = plans("I", any_device, rows=6)
    assert ("v1 < v2", 15) in Counter(str(t) for t, _ in mined(reads, rows)[0]).items()
    rows[4:, -100] = 48, 44
    assert mined(reads, rows)[0] == mine_sequentially([Trace.of(rows)], reads.families)


def test_parts_that_are_only_read_are_begun_at_once(any_device, monkeypatch):
    """They take no room, so that threads need not wait for the one that mines."""
    begun, begin, finish = [], Reading.begin, Reading.finish
    steps = []

    def beginning(self, number, *rest):
        begun.append(number)
        begin(self, number, *rest)

    def finishing(self, number, pieces):
        if number in self._jobs:
            steps.append((number, max(begun)))
        finish(self, number, pieces)

    monkeypatch.setattr(Reading, "begin", beginning)
    monkeypatch.setattr(Reading, "finish", finishing)
    reads, _ = plans("I", any_device, rows=5)
    mined(reads, apart(5))
    last = len(steps)
    assert last > reads.config.ahead + 2
    assert steps == [(number, last) for number in range(1, last + 1)]


def test_what_fails_while_it_is_read_is_raised(any_device, monkeypatch):
    rows = apart(5)
    reads, _ = plans("I", any_device, rows=5)
    expected, _ = mined(reads, rows)
    gc.collect()
    held = any_device.ledger.used_bytes
    ends, turn = Reading._ends, []

    def failing(self, *given):
        turn.append(threading.current_thread())
        if len(turn) == 4:
            raise OSError("unreadable")
        return ends(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Reading, "_ends", failing)
        with pytest.raises(OSError, match="unreadable"):
            reads.run(rows)
    assert threading.main_thread() not in turn
    assert any_device.ledger.used_bytes == held
    assert not waiting._sharing
    assert mined(reads, rows)[0] == expected


def passed(device, staging, values, parts):
    """Go through parts of three rows that are only read, until two of them are needed in part 2.

    Gives the bytes that were copied, and how long the parts were.
    """
    known = KnownRanges(None, 3, 0)
    reading = Reading([Trace.of(values)], known, staging)
    config = MiningConfig(chunk_bytes=4 * 3 * CHUNK)
    chunks = Chunks(device, reading._traces, NUMERIC, config, staging, reading)
    begin, lengths = 0, []
    try:
        with closing(chunks.parts(lambda: np.ones(3, bool))) as way:
            for chunk in itertools.islice(way, parts):
                if chunk.number == 0:
                    chunks.read_only(np.ones(3, bool))
                if chunk.number == 2:
                    assert chunk.lacks(np.array([0]))
                    chunk.bring(np.array([[0, 2]]))
                assert chunk.lacks(np.array([1])) == (chunk.number > 0)
                assert known.asked(chunk.number)[1] == (chunk.number > 0)
                if chunk.number >= 2:
                    assert not chunk.lacks(np.array([0, 2]))
                    there = chunk.buffer.read()[: 3 * chunk.elements].reshape(3, -1)
                    wanted = values[:, begin : begin + chunk.elements]
                    np.testing.assert_array_equal(there[0, : wanted.shape[1]], wanted[0])
                    np.testing.assert_array_equal(there[2, : wanted.shape[1]], wanted[2])
                begin += chunk.elements
                lengths.append(chunk.elements)
        copied = chunks.copied_bytes
        with closing(chunks.parts(lambda: np.ones(3, bool))) as way:
            # Another pass does not know yet what it needs.
            assert next(way).away is None
    finally:
        chunks.close()
    return copied, lengths


@pytest.mark.parametrize("kept", [True, False])
def test_rows_that_are_needed_later_are_there_from_then_on(kept, any_device, monkeypatch):
    values = apart(3)
    if not kept:
        gc.collect()
        limit = any_device.ledger.used_bytes + values.nbytes // 2
        monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))
    copied, lengths = passed(any_device, Staging(any_device, threads=2), values, 99)
    assert copied == 4 * (3 * lengths[0] + 2 * sum(lengths[2:]))
    assert len(lengths) > 5


def test_interrupted_anywhere_while_rows_are_read(pocl):
    """Ctrl-C leaves no job with the threads, and the next pass has every range."""
    values = apart(3)
    staging = Staging(pocl, threads=2)
    gc.collect()
    held = pocl.ledger.used_bytes

    def run():
        passed(pocl, staging, values, 4)

    run()
    tried = places(run)
    for place in tried[:: max(len(tried) // 100, 1)]:
        interrupt(run, place)
        assert not waiting._sharing
        assert happens(staging._jobs.empty)  # what was dropped is taken from there by the threads
        run()
        assert pocl.ledger.used_bytes == held


def test_the_switch_is_a_truth_value():
    with pytest.raises(cg.InvalidArgumentError, match="ranges_on_host=1 must be True or False"):
        MiningConfig(ranges_on_host=1)
