"""Counters of instrumented kernels against patterns that are known, and traces against lanes."""

import numpy as np
import pytest

from bench.studies import KERNELS
from bench.studies.profiling import patterns
from clgraph.device import Memory, load, wait
from clgraph.device.observing import observed_by
from clgraph.primitives import Expand, ExpandConfig
from clgraph.profile import criteria
from clgraph.profile.instrument.sites import Site
from clgraph.profile.instrument.words import (
    RECORD_WORDS,
    SITE_WORDS,
    SPREAD,
    STAGE_WORDS,
    Mask,
    words_beside,
)
from clgraph.profile.passes import layout
from clgraph.profile.passes.counted import MOST_PARTS, Counted
from clgraph.profile.passes.counters import Chain, Totals, decoded_counters
from clgraph.profile.passes.residency import Residency
from clgraph.profile.passes.traces import decoded_trace
from clgraph.profile.passes.watching import Counting


@pytest.mark.parametrize("pattern", patterns.PATTERNS, ids=lambda pattern: pattern.name)
@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
def test_counters_of_known_patterns_are_exact(pattern, device):
    totals = patterns.counted(pattern, device)
    found = patterns.judged(totals)
    for name, value in pattern.expected.items():
        assert found[name] == value
    if pattern.kernel == "patterns_strided":
        assert totals.accesses() == {pattern.size: 2.0 * patterns.ITEMS}


def test_what_lanes_do_together_behind_a_loop_is_counted_once(pocl):
    groups = patterns.ITEMS / patterns.LANES
    rounds, meetings = patterns.rounds_and_meetings(patterns.counted(patterns.PARTED, pocl))
    assert rounds == [groups * patterns.LANES, groups * patterns.LANES * (patterns.LANES + 1) / 2]
    assert meetings == [groups, groups, 1.0]


def test_divergence_of_half_of_the_lanes_tends_to_one_half(pocl):
    (pattern,) = (p for p in patterns.PATTERNS if p.name == "divergent")
    totals = patterns.counted(pattern, pocl)
    blocks = [
        (site.weight, row)
        for site, row in zip(totals.sites, totals.counts, strict=True)
        if site.kind == "block" and row[0] > 0
    ]
    inside = max(blocks, key=lambda block: block[0])[1]
    assert inside[1] / (inside[0] * totals.lanes) == 0.5  # the body alone
    mean, weighted = criteria.divergence(totals.executed, totals.possible)
    assert 0.5 < mean < 0.6
    assert mean == pytest.approx(weighted)  # all SIMD groups are alike
    # By hand: the head runs on all lanes, the body on half of them.
    head = sum(weight for weight, row in blocks if row[1] == row[0] * totals.lanes)
    body = sum(weight for weight, row in blocks if row[1] != row[0] * totals.lanes)
    assert mean == pytest.approx((head + body / 2) / (head + body))


def test_only_what_is_asked_for_is_counted(pocl):
    local = next(p for p in patterns.PATTERNS if p.kernel == "patterns_local")
    for mask, kinds in (
        (Mask.GMEM, {"load", "store", "atomic"}),
        (Mask.LMEM, {"local_load", "local_store"}),
        (Mask.DIV, {"block"}),
    ):
        totals = patterns.counted(local, pocl, mask)
        counted = {
            site.kind for site, row in zip(totals.sites, totals.counts, strict=True) if row[1] > 0
        }
        assert counted <= kinds
        assert counted


def trace(*accesses, sites, group_size=32, lanes=32):
    """Bring a trace together; an access is (work-item, turn, place, bytes, address)."""
    counts = np.zeros((group_size, len(sites)), np.uint64)
    entries = []
    for item, turn, place, size, address in accesses:
        counts[item, place] += np.uint64(1)
        entries.append((item << 40 | turn, place << 52 | size << 47 | address))
    table = np.array(entries, np.uint64).reshape(-1, 2)
    return decoded_trace(counts, table, sites, group_size=group_size, groups=1, lanes=lanes)


def test_lanes_meet_where_they_have_been_as_often():
    # Two turns: all lanes side by side, then four lanes in one sector.
    first = [(lane, 0, 0, 4, 4096 + 4 * lane) for lane in range(32)]
    second = [(lane, 1, 0, 4, 8192 + 4 * lane) for lane in range(4)]
    totals = trace(*first, *second, sites=[Site("load", 1)])
    assert totals.counts[0].tolist() == [2, 36, 144, 2, 5]


def test_the_width_of_a_simd_group_is_a_parameter():
    accesses = [(lane, 0, 0, 4, 4096 + 4 * lane) for lane in range(32)]
    wide = trace(*accesses, sites=[Site("load", 1)], lanes=32)
    narrow = trace(*accesses, sites=[Site("load", 1)], lanes=8)
    assert wide.counts[0].tolist() == [1, 32, 128, 1, 4]
    assert narrow.counts[0].tolist() == [4, 32, 128, 4, 4]


@pytest.mark.parametrize(
    ("size", "stride", "passes", "best"),
    [
        (4, 1, 1, 1),
        (4, 2, 2, 1),
        (4, 3, 1, 1),
        (4, 32, 32, 1),
        (4, 0, 1, 1),
        (8, 8, 2, 2),
        (1, 1, 1, 1),
    ],
)
def test_passes_over_the_banks(size, stride, passes, best):
    step = stride if size != 4 else 4 * stride
    accesses = [(lane, 0, 0, size, 64 * 1024 + step * lane) for lane in range(32)]
    totals = trace(*accesses, sites=[Site("local_load", 1)])
    assert totals.counts[0, 3:].tolist() == [passes, best]


def test_a_trace_agrees_with_a_simulation_of_random_accesses():
    rng = np.random.default_rng(7)
    lanes, turns = 32, 20
    addresses = 1 << 20 | 4 * rng.integers(0, 4096, (turns, lanes))
    taking = rng.random((turns, lanes)) < 0.6
    turn_of = np.cumsum(taking, axis=0) - 1
    accesses = [
        (lane, int(turn_of[t, lane]), 0, 4, int(addresses[t, lane]))
        for t in range(turns)
        for lane in range(lanes)
        if taking[t, lane]
    ]
    totals = trace(*accesses, sites=[Site("load", 1)])
    lines = sectors = requests = 0
    for turn in range(turns):
        here = [address for _, own, _, _, address in accesses if own == turn]
        requests += bool(here)
        lines += len({address // 128 for address in here})
        sectors += len({address // 32 for address in here})
    assert totals.counts[0].tolist() == [requests, len(accesses), 4 * len(accesses), lines, sectors]


def test_a_trace_that_is_full_is_scaled_up_and_says_so(pocl, monkeypatch):
    pattern = patterns.PATTERNS[0]
    whole = patterns.counted(pattern, pocl)
    monkeypatch.setattr(layout, "TRACED_ACCESSES", 256)
    part = patterns.counted(pattern, pocl)
    assert "50% of the accesses" in part.note
    assert whole.note == ""
    assert part.where("load", "store")[:, 1].sum() == whole.where("load", "store")[:, 1].sum()


def test_groups_are_sampled_where_there_are_many(pocl, monkeypatch):
    whole = patterns.counted(patterns.PATTERNS[0], pocl)
    monkeypatch.setattr(layout, "TRACED_ITEMS", 2 * patterns.GROUP)
    part = patterns.counted(patterns.PATTERNS[0], pocl)
    assert part.share == 0.5
    np.testing.assert_array_equal(part.counts, whole.counts)


def records(*rows):
    """Records of SIMD groups: begin, end, unit, and nanoseconds of both."""
    table = np.zeros((len(rows), RECORD_WORDS), np.uint64)
    for row, (begin, end, unit, first, last) in zip(table, rows, strict=True):
        row[[0, 1, 2, 6, 7]] = begin, end, unit + 1, first, last
    return table


def test_residency_of_two_units():
    # Unit 0 has two groups that overlap, unit 1 one; counters of the units have nothing in common.
    found = Residency()
    found.add(records((100, 200, 0, 0, 100), (150, 300, 0, 50, 200), (9000, 9100, 1, 0, 100)), 1, 0)
    assert found.active == 350
    assert found.busy == {0: 200.0, 1: 100.0}
    assert found.groups_per_unit == 2
    assert criteria.unit_balance([*found.busy.values(), 0.0]) == 0.5


def test_elapsed_cycles_come_from_the_common_clock():
    found = Residency()
    # 2 cycles a nanosecond; 50 microseconds from the first to the last.
    found.add(records((1000, 41000, 0, 1, 20001), (70, 40070, 1, 30001, 50001)), 1, 0)
    assert found.clock_hz == pytest.approx(2e9)
    assert found.cycles == pytest.approx(100_000)


def test_groups_that_never_ran_are_left_out():
    found = Residency()
    table = np.concatenate([records((100, 200, 0, 0, 0)), np.zeros((2, RECORD_WORDS), np.uint64)])
    found.add(table, 1, 5)
    assert (found.records, found.missing, found.active) == (1, 5, 100)


def test_two_simd_groups_of_a_work_group_are_one_group_of_a_unit():
    found = Residency()
    found.add(records((0, 100, 0, 0, 0), (0, 90, 0, 0, 0)), 2, 0)
    assert found.groups_per_unit == 1


def test_one_busy_group_shows_in_balance_of_work(pocl):
    program = load(pocl, "patterns.cl", folders=(KERNELS,), type="uint")
    to = Memory(pocl).upload("to", np.zeros(256, np.uint32))
    counting = Counting(Mask.TIME | Mask.DIV, pocl, 32)
    with observed_by(counting):
        wait(
            program.kernel("patterns_unbalanced").launch(
                256, 256, to, np.uint32(32), np.uint32(500)
            )
        )
    (found,) = counting.found.values()
    counting.release()
    executed = np.sort(found.totals.executed)
    assert executed.size == 8
    assert executed[-1] > 100 * executed[-2]


def test_the_chains_of_launches_are_added():
    def launch(*chain):
        return Totals((), np.zeros((0, 5)), np.ones(2), np.ones(2), 32, chain=Chain(*chain))

    totals = launch(8.0, 1.0, 0.0, 2.0)
    totals.add(launch(5.0, 3.0, 7.0, 0.0), launch(1.0))
    assert totals.chain == Chain(14.0, 4.0, 7.0, 2.0)
    assert totals.executed.size == 6


def test_a_chain_is_the_longest_of_each_stage():
    """Two stages, and what two SIMD groups did since they last met the others."""
    sites = [Site("load", 1), Site("atomic", 2)]
    counts = np.zeros((SPREAD, 2, SITE_WORDS), np.uint64)
    counts[:, 0] = 1, 32, 128, 2, 4, 3
    counters = words_beside(Mask.DIV | Mask.GMEM, "counters")
    beside = np.zeros(counters, np.uint64)
    beside[: 2 * STAGE_WORDS] = 100, 5, 1, 2, 7, 50, 1, 0, 1, 3
    beside[-3:] = 4 | 4 << 32, 90 | 3 << 32, 6 | 5 << 32  # atomics by address
    records = np.zeros((2, RECORD_WORDS), np.uint64)
    records[:, [5, 8, 9, 10, 11]] = (200, 9, 1, 4, 12), (160, 6, 3, 3, 10)
    records[:, [12, 13, 14, 15, 16]] = (150, 6, 1, 3, 10), (140, 6, 1, 3, 10)
    found = decoded_counters(np.concatenate([counts.ravel(), beside]), records, sites)
    assert found.chain == Chain(100 + 50 + 50, 5 + 1 + 3, 1 + 0 + 2, 2 + 1 + 1, 7 + 3 + 2)
    assert (found.contended, found.queued) == (90, 5)
    assert found.counts[0].tolist() == [SPREAD * x for x in (1, 32, 128, 2, 4)]
    assert found.missed.tolist() == [3 * SPREAD, 0]
    plain = decoded_counters(counts.ravel(), records, sites, beside=False)
    assert (plain.contended, plain.chain.requests) == (0.0, 3.0)


def test_a_chain_is_what_one_simd_group_did():
    """Of two SIMD groups one loads twice; stores wait for nobody, lanes together ask once."""
    loads = [(lane, 0, 0, 4, 4096 + 4 * lane) for lane in range(64)]
    more = [(lane, 1, 0, 4, 8192 + 4 * lane) for lane in range(32, 40)]
    stores = [(lane, 0, 1, 4, 65536 + 4 * lane) for lane in range(32)]
    near = [(lane, 0, 2, 4, 128 * lane) for lane in range(8)]
    sites = [Site("load", 1), Site("store", 1), Site("local_load", 1)]
    totals = trace(*loads, *more, *stores, *near, sites=sites, group_size=64)
    assert totals.chain == Chain(0.0, 2.0, 8.0, 0.0)


@pytest.mark.parametrize("name", ["strided", "local"])
def test_chains_of_patterns(name, pocl):
    pattern = next(p for p in patterns.PATTERNS if p.kernel == f"patterns_{name}")
    chain = patterns.counted(pattern, pocl).chain
    assert chain.requests == (0.0 if name == "local" else 1.0)
    assert (chain.passes > 0) == (name == "local")
    assert chain.barriers == (1.0 if name == "local" else 0.0)
    assert chain.operations > 0


def test_counters_of_many_launches_are_joined_and_none_is_lost():
    counted, launches = Counted(), 2 * MOST_PARTS + 3
    for number in range(launches):
        rows = np.array([[1.0, 0.0, 0.0, 0.0, float(number)]])
        counted.add(Totals((Site("load", 1),), rows, np.ones(2), np.ones(2), 32, chain=Chain(1.0)))
        assert len(counted.parts) <= MOST_PARTS
    assert counted.totals.counts[0].tolist() == [launches, 0, 0, 0, sum(range(launches))]
    assert counted.totals.executed.size == 2 * launches
    assert counted.totals.chain.operations == launches
    assert Counted().totals is None


@pytest.mark.optimised
@pytest.mark.parametrize("balance", ["block_search", "two_phase"])
def test_expansions_are_counted_and_stay_right(balance, pocl):
    """PoCL's optimiser ends the process where the counting text is one that it cannot."""
    sizes = np.arange(200, dtype=np.uint32) % 7
    expand = Expand(sizes, config=ExpandConfig(balance=balance), device=pocl)
    counting = Counting(Mask.DIV | Mask.GMEM | Mask.LMEM, pocl)
    with observed_by(counting):
        expand.run()
    assert all(found.totals is not None for found in counting.found.values())
    counting.release()
    np.testing.assert_array_equal(expand.owners(), np.repeat(np.arange(sizes.size), sizes))
