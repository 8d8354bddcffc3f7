"""Mining invariants on a real NVIDIA card: equal to the reference, streamed and pinned."""

import gc

import numpy as np
import pytest
from traces import broken_at_the_end

from bench.studies.mining import copies
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Trace,
    generate_trace,
    mine_sequentially,
    published_trace,
)

pytestmark = pytest.mark.gpu

EXPRESSIONS = ("a * b + c >= b", "a * b - c * 3 == b", "not (a < b)", "min(a, b, c) == a")


def mined(plan, trace):
    result = plan.run(trace)
    return {(t, tuple(row)) for t in plan.templates for row in result.tuples(t).tolist()}


def mixed(length):
    random = np.random.default_rng(length)
    columns = {f"n{i}": random.integers(0, 3 + 5 * i, length).astype("f4") for i in range(5)}
    columns["nan"] = np.where(np.arange(length) == length // 2, np.nan, columns["n2"]).astype("f4")
    columns["tiny"] = np.full(length, 1e-45, "f4")
    columns |= {f"b{i}": random.random(length) < 0.5 for i in range(3)}
    columns |= {"same": columns["b0"], "other": ~columns["b1"], "true": np.ones(length, bool)}
    return Trace.from_columns(columns)


@pytest.mark.parametrize("templates", ["I", "II", EXPRESSIONS])
def test_equals_the_reference_at_every_length(templates, gpu):
    plan = InvariantMiner(templates, device=gpu)
    for length in [*range(1, 301), 5000, 70_001]:
        modes = ("random", "constant") if length <= 300 else ()
        made = [generate_trace(4, 4, length, mode=mode, seed=length) for mode in modes]
        for trace in (mixed(length), *made):
            assert mined(plan, trace) == mine_sequentially([trace], plan.families), length


@pytest.mark.parametrize("templates", ["I", "II"])
def test_counterexample_at_the_last_instant_at_all_lengths_to_300(templates, gpu):
    """For every template: found without that instant, and not with it."""
    plan = InvariantMiner(templates, device=gpu, tolerance=4)
    for length in range(2, 301):
        for template in plan.templates:
            values = broken_at_the_end(template, length)
            wanted = (template, tuple(range(template.arity)))
            assert wanted not in mined(plan, Trace.of(values)), (str(template), length)
            assert wanted in mined(plan, Trace.of(values[:, :-1])), (str(template), length)


@pytest.mark.parametrize("inference", [True, False])
@pytest.mark.parametrize("config", MiningConfig.presets())
def test_ways_to_share_out_the_device_agree(config, inference, gpu):
    for number in (1, 2):
        trace = published_trace(number, 300_000)
        plan = InvariantMiner("II", config=config, inference=inference, device=gpu)
        assert mined(plan, trace) == mine_sequentially([trace], plan.families)


def test_the_published_numbers_at_full_length(gpu):
    for number, invariants in ((1, 0), (2, 142), (4, 1788)):
        plan = InvariantMiner("I", device=gpu)
        assert len(plan.run(published_trace(number))) == invariants


@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_one_counterexample_in_a_long_trace(where, gpu):
    values = np.stack([np.full(3_000_000, i, np.float32) for i in range(40)])
    place = {"first": 0, "middle": 1_765_432, "last": -1}[where]
    values[7, place] = 30
    for config in MiningConfig.presets():
        for inference in (True, False):
            plan = InvariantMiner("I", config=config, inference=inference, device=gpu)
            counts = plan.run(Trace.of(values)).counts
            # Variable 7 lies above 22 others once, and equals one of them.
            assert counts["v1 < v2"] == 40 * 39 // 2 - 23
            assert counts["v1 != v2"] == 40 * 39 // 2 - 1


def test_a_trace_four_times_the_device_memory(gpu, monkeypatch):
    trace = generate_trace(15, 15, 4_000_000, mode="interval")
    plan = InvariantMiner("II", device=gpu)
    expected = plan.run(trace).text()
    for given in (trace, trace.pinned(gpu)):
        with monkeypatch.context() as patch:
            limit = gpu.ledger.used_bytes + 60_000_000
            patch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))
            result = plan.run(given)
        assert result.text() == expected
        assert not result.stats.kept


@pytest.mark.parametrize("place", [None, 20_000, 700_000, -1])
def test_what_is_read_on_the_host_changes_nothing(place, gpu):
    """Also where a number leaves its range: then most rows travel from that part on."""
    values = published_trace(4, 1_000_000).numeric.values[:, :1_000_000].copy()
    if place is not None:
        values[30, place] = 2.0
    stats, texts = {}, set()
    for on in (True, False):
        config = MiningConfig(chunk_bytes=32 << 20, ranges_on_host=on)
        result = InvariantMiner("I", config=config, device=gpu).run(values)
        stats[on] = result.stats
        texts.add(result.text())
    assert len(texts) == 1
    assert stats[True].read_bytes > stats[False].read_bytes == 0
    assert stats[True].copied_bytes < stats[False].copied_bytes
    if place in (None, -1):
        assert stats[True].copied_bytes < stats[False].copied_bytes // 3


@pytest.mark.gpu(alone=True)  # the clock of the device counts what others' kernels hold up
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("kind", ["pageable", "pinned"])
def test_copies_run_beside_kernels_unless_they_are_to_go_in_turn(kind, limited, gpu, monkeypatch):
    """Checklist 20: by the clock of the device, more than half of the time that copies take.

    Parts up to `ahead` are copied before any is mined, each other one beside the kernel of an
    earlier part. A quarter of that is left to launches. All rows are mined, so that a kernel takes
    longer than the host does to bring a part into pinned memory, too.
    """
    parts, ahead = 16, 2
    expected = {0: 0, ahead: 0.75 * (parts - ahead) / parts}
    assert expected[ahead] > 0.5
    trace = published_trace(copies.OVERLAP_TRACE, 2_400_000)
    trace = trace.chosen(trace.numeric.names)
    size = 4 * trace.count("numeric") * trace.length
    trace = trace.pinned(gpu) if kind == "pinned" else trace
    if limited:
        gc.collect()
        monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(gpu.ledger.used_bytes + 3 * size // 4))
    shares = {}
    for ahead in expected:
        config = MiningConfig(chunk_bytes=size // parts, ahead=ahead)
        plan = InvariantMiner(
            copies.OVERLAP_TEMPLATES[True], inference=False, config=config, device=gpu
        )
        assert plan.run(trace).stats.kept != limited
        shares[ahead] = copies.on_the_device(gpu, plan, trace)["share"]
    assert shares[0] == 0
    assert shares[2] > expected[2], shares
