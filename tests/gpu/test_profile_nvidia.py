"""Profiles on an NVIDIA card: exact counters, unchanged programs, results and resident groups."""

import numpy as np
import pytest
from runtimes import gpu_or_none

import clgraph as cg
from bench.studies import KERNELS
from bench.studies.profiling import cases, patterns, profile_stages
from clgraph import primitives
from clgraph.device import Memory, load, wait
from clgraph.device.observing import observed_by
from clgraph.profile import corpus, mixes
from clgraph.profile.instrument.rewriting import instrumented
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes import watching
from clgraph.profile.passes.watching import Counting
from clgraph.profile.static import static_facts

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def card():
    return gpu_or_none()


@pytest.mark.parametrize("pattern", patterns.PATTERNS, ids=lambda pattern: pattern.name)
def test_counters_of_known_patterns_are_exact(pattern, card):
    found = patterns.judged(patterns.counted(pattern, card))
    for name, value in pattern.expected.items():
        assert found[name] == value


@pytest.mark.parametrize("pattern", patterns.PATTERNS, ids=lambda pattern: pattern.name)
def test_lanes_that_count_and_traces_agree(pattern, card):
    lanes = patterns.counted(pattern, card)
    traced = patterns.counted(pattern, card, flavour="trace")
    assert lanes.sites == traced.sites
    np.testing.assert_array_equal(lanes.counts, traced.counts)


def test_lanes_that_part_are_not_counted_twice_behind_it(card):
    groups = patterns.ITEMS / patterns.LANES
    rounds, meetings = patterns.rounds_and_meetings(patterns.counted(patterns.PARTED, card))
    assert rounds == [groups * patterns.LANES, groups * patterns.LANES * (patterns.LANES + 1) / 2]
    assert meetings == [groups, groups, 1.0]


@pytest.mark.parametrize("words", [1, 2, 64])
def test_atomics_that_meet_at_one_address(words, card):
    pattern = patterns.Pattern("contended", "patterns_contended", numbers=(words,))
    found = patterns.counted(pattern, card)
    assert found.contended == patterns.ITEMS / words
    assert found.queued == patterns.ITEMS / max(words, 32)


def test_sectors_that_the_nearest_cache_holds(card):
    rounds = 5
    pattern = patterns.Pattern("again", "patterns_again", numbers=(rounds,))
    totals = patterns.counted(pattern, card)
    loads = np.array([site.kind == "load" for site in totals.sites])
    assert totals.counts[loads, 4].sum() == rounds * patterns.ITEMS / 8
    assert totals.missed[loads].sum() == patterns.ITEMS / 8
    assert (totals.chain.requests, totals.chain.hits) == (1.0, rounds - 1.0)


def test_what_one_group_does_while_the_others_wait_adds_up(card):
    """The longest of each stage, not of the whole: a quarter of this for each of four groups."""
    groups, rounds, loads = patterns.GROUPS, 64, 50
    program = load(card, "patterns.cl", folders=(KERNELS,), type="uint")
    memory, counting = Memory(card), Counting(Mask.DIV | Mask.GMEM | Mask.LMEM, card)
    source = memory.upload("from", np.zeros(patterns.ITEMS, np.uint32))
    state = memory.upload("state", np.zeros(96, np.uint32))
    with observed_by(counting):
        launch = program.kernel("patterns_in_turn").launch
        wait(launch(patterns.ITEMS, patterns.GROUP, source, state, *np.uint32([rounds, loads])))
    (found,) = counting.found.values()
    counting.release()
    assert rounds * loads / groups == 800
    assert found.totals.chain.requests == pytest.approx(rounds * loads, rel=0.05)


def test_every_mix_is_counted_and_those_in_stages_wait(card):
    """What waits for other work-groups is not left plain, and is as long as its stages together."""
    found = {}
    for where, _, make in mixes.mixes(card):
        (kernel,) = cg.profile(make(), device=card, passes=("counters",), repeats=1).kernels
        found[where] = kernel
        assert kernel.totals is not None, where
        assert kernel.prediction.time_s > 0, where
    assert len(found) == len(mixes.MIXES)
    for number, mix in enumerate(mixes.MIXES):
        work = found[f"mix {number}"].work
        assert work.waits / work.groups == mix.stages, number
        if mix.stages and mix.links:
            waited = work.chain.requests + work.chain.hits
            assert waited >= 0.95 * mix.stages * mix.links, number
        if mix.atomics and not mix.words:
            share = mix.active / 32
            items = work.groups * mixes.GROUP
            assert work.contended == share * items * mix.atomics * max(mix.stages, 1), number


@pytest.mark.parametrize("balance", corpus.BALANCERS)
def test_expansions_are_counted_and_stay_right(balance, card):
    sizes = np.arange(5000, dtype=np.uint32) % 7
    config = primitives.ExpandConfig(balance=balance)
    expand = primitives.Expand(sizes, config=config, device=card)
    report = cg.profile(expand.run, passes=("counters",), device=card, repeats=1)
    assert report.kernels[0].totals.chain.operations > 0
    np.testing.assert_array_equal(expand.owners(), np.repeat(np.arange(5000), sizes))
    if balance == "block_search":
        assert report.kernels[0].totals.chain.barriers == 2.0  # 4 where lanes part


def test_a_product_is_counted_and_stays_right(card):
    """Long rows and short ones; what counts once had them read from elsewhere."""
    graph = cg.generate.kron(15, seed=20261122, weights=(1, 100))
    product, ones = cg.SpMV(graph, device=card), np.ones(graph.n, np.float32)
    values = product.run(ones, verify=True).values
    found = []
    report = cg.profile(
        lambda: found.append(product.run(ones)), passes=("counters",), device=card, repeats=1
    )
    chains = [kernel.totals.chain for kernel in report.kernels]
    assert min(chain.operations for chain in chains) > 0
    # 27 passes and 11 barriers where lanes part.
    assert sorted((chain.passes, chain.barriers) for chain in chains) == [(0.0, 0.0), (26.0, 10.0)]
    for result in found:
        np.testing.assert_allclose(result.values, values, rtol=1e-5)


def test_a_card_is_calibrated(card, monkeypatch, tmp_path):
    """The whole corpus is profiled, of which a kernel once ended the context."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    found = corpus.calibrate(card, scale=12, seconds=600)
    assert set(found.pearson) == {primitive for primitive, *_ in corpus.specimens(card, 12)}
    assert found.prices is not None


def test_a_program_is_the_same_after_a_profile(card):
    graph = cg.generate.kron(10, seed=1)
    before = cg.ConnectedComponents(graph, device=card)
    binary = load(card, "patterns.cl", folders=(KERNELS,), type="uint").binary()
    cg.profile(before, device=card, repeats=1)
    assert load(card, "patterns.cl", folders=(KERNELS,), type="uint").binary() == binary
    source = load(card, "patterns.cl", folders=(KERNELS,), type="uint").source
    assert instrumented(source, Mask.NONE, card.traits).text == source


@pytest.mark.parametrize("mask", ["counters", "time", "sync"])
@pytest.mark.parametrize("run", profile_stages.RUNS)
def test_instrumented_persistent_kernels_end_and_give_the_same(run, mask, card, monkeypatch):
    monkeypatch.setattr(watching, "ANSWER_S", 10.0)
    assert profile_stages.stage(f"{run} {mask}", card).startswith("same, ")


@pytest.mark.parametrize("preset", ["merrill-expand-contract", "enterprise", "bfs-4k"])
def test_twins_with_times_have_room_for_as_many_groups(preset, card):
    """Launched stage by stage they took twice as long."""
    plan = cg.BFS(cg.generate.kron(16, seed=1), config=preset, device=card)
    wanted = plan.run(0)
    assert wanted.stats.mode == "persistent"
    counting = Counting(Mask.TIME, card)
    with observed_by(counting):
        found = plan.run(0)
    (one,) = counting.found.values()
    units = card.traits.compute_units
    assert counting.run_stepped == {}
    assert (found.stats.mode, found.stats.groups) == ("persistent", wanted.stats.groups)
    assert one.residency.groups_per_unit == -(-wanted.stats.groups // units)
    counting.release()
    np.testing.assert_array_equal(found.distances, wanted.distances)


@pytest.mark.parametrize("make", [cg.BFS, cg.SCC, cg.ConnectedComponents])
def test_every_criterion_has_a_value_on_a_card(make, card):
    report = cg.profile(make(cg.generate.kron(14, seed=1), device=card), device=card, repeats=2)
    for name in (
        "OCC",
        "HSync",
        "DSync",
        "TDiv",
        "LB_W",
        "LB_SM",
        "Gran_L1",
        "Gran_L2",
        "CI",
        "DT",
    ):
        assert 0.0 <= report.criteria[name].value <= 1.0
    assert report.prediction.time_s > 0
    assert report.kernels[0].static.registers > 0


def test_the_mix_of_marked_blocks(card):
    kernel = load(card, "patterns.cl", folders=(KERNELS,), type="uint").kernel("patterns_divergent")
    mix = static_facts(kernel).mix
    assert max(block.get("integer", 0) for block in mix.values()) >= 10


def test_case_studies(card):
    for name in cases.STUDIES:
        rows = cases.studied(name, card, 22, repeats=3)
        assert rows[-1]["speedup"] > 1
