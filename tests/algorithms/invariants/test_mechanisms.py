"""What mining leaves out, and when: inference, votes, copies ahead and their places, Ctrl-C."""

import dataclasses
import gc
import itertools
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from clocks import Work, alarms

import clgraph as cg
from clgraph.algorithms.invariants import InvariantMiner, MiningConfig, Trace, generate_trace
from clgraph.algorithms.invariants import chunks as chunks_of
from clgraph.algorithms.invariants.chunks import Chunks
from clgraph.algorithms.invariants.config import PerEntry, SplitTrace, Tiled
from clgraph.algorithms.invariants.inference import (
    ALWAYS,
    EQUAL,
    FALSE,
    MINE,
    NEVER,
    OPPOSITE,
    TRUE,
    UNRELATED,
    VARIES,
    _observations,
    decisions,
)
from clgraph.algorithms.invariants.sweep import Sweeper
from clgraph.algorithms.invariants.templates import Template
from clgraph.device import Allocation, Kernel, Memory
from clgraph.device.lazy import cl
from clgraph.device.memory.staging import Staging

AND, OR, XOR = (Template.of(f"a == (b {op} c)", "boolean") for op in ("and", "or", "^"))
ANSWER_LIMIT_S = 2.0  # of processor time; the bar of half a second is of a machine that is idle


def by_the_table(operator, a, b, c, ab, ac, bc):  # noqa: PLR0911 (the lines of the table)
    """Read the table of section 3.5 from top to bottom."""

    def only_if(condition):
        return ALWAYS if condition else NEVER

    if operator in (AND, OR):
        low, high = (FALSE, TRUE) if operator == AND else (TRUE, FALSE)
        if low in (b, c) or bc == OPPOSITE:
            return only_if(a == low)
        if b == high:
            return only_if(ac == EQUAL)
        if c == high or bc == EQUAL:
            return only_if(ab == EQUAL)
        return NEVER if a == high or OPPOSITE in (ab, ac) else MINE
    for constant, other in ((b, ac), (c, ab)):
        if constant != VARIES:
            return only_if(other == (OPPOSITE if constant == TRUE else EQUAL))
    if bc != UNRELATED:
        return only_if(a == (FALSE if bc == EQUAL else TRUE))
    return NEVER if a != VARIES or UNRELATED not in (ab, ac) or ab != ac else MINE


@pytest.mark.parametrize("operator", [AND, OR, XOR], ids=str)
def test_decisions_follow_the_table(operator):
    """Checklist 17: on the facts of each of the 255 sets of values that a triple may take."""
    seen = {(constants, relations) for _, constants, relations in _observations(3)}
    assert len(_observations(3)) == 255
    outcomes = set()
    for constants, relations in seen:
        expected = by_the_table(operator, *constants, *relations)
        assert decisions(operator, constants, relations) == expected, (constants, relations)
        outcomes.add(expected)
    assert outcomes == {ALWAYS, NEVER, MINE}


def test_the_published_examples_of_inference(any_device):
    """Checklist 18: a == b and c is a == b where b == c; a == b ^ c is a != c where b is true."""
    random = np.random.default_rng(5)
    b, other = random.random((2, 900)) < 0.5
    columns = {"a": b, "b": b, "c": b, "d": other}
    texts = ["a == b", "a != b", "a == True", "a == False"]
    result = cg.mine_invariants(columns, templates=[*texts, str(AND)], device=any_device)
    found = result.text().splitlines()
    assert "a == (b and c)" in found
    assert "d == (b and c)" not in found
    columns = {"a": ~b, "b": np.ones(900, bool), "c": b, "d": other}
    result = cg.mine_invariants(columns, templates=[*texts, str(XOR)], device=any_device)
    found = result.text().splitlines()
    assert "a == (b ^ c)" in found
    assert "d == (b ^ c)" not in found
    equal = (VARIES,) * 3
    assert decisions(AND, equal, (EQUAL, EQUAL, EQUAL)) == ALWAYS
    assert decisions(AND, equal, (UNRELATED, UNRELATED, EQUAL)) == NEVER
    some = (VARIES, TRUE, VARIES)
    assert decisions(XOR, some, (UNRELATED, OPPOSITE, UNRELATED)) == ALWAYS
    assert decisions(XOR, some, (UNRELATED, UNRELATED, UNRELATED)) == NEVER


def test_pairs_and_triples_that_facts_decide_are_not_in_the_dictionary(any_device, monkeypatch):
    """Checklist 16: no pair with a constant, and of each class the pairs with its first only."""
    random = np.random.default_rng(11)
    a, b, c = random.random((3, 50_000)) < 0.5
    columns = {"on": np.ones_like(a), "off": np.zeros_like(a), "a": a, "a2": a, "a3": ~a, "a4": a}
    columns |= {"b": b, "b2": ~b, "c": c}
    looks, failed = [], Sweeper.failed

    def spy(self, chunk, begin, end, tuples, *rest):
        looks.append((self.family.arity, end - begin, {tuple(row) for row in tuples.tolist()}))
        return failed(self, chunk, begin, end, tuples, *rest)

    monkeypatch.setattr(Sweeper, "failed", spy)
    InvariantMiner("II", device=any_device).run(columns)
    asked = {
        arity: set().union(*(rows for k, _, rows in looks if k == arity)) for arity in (1, 2, 3)
    }
    # After a first, short look at all pairs of what varies, one pair for each member of a class.
    assert asked[2] == set(itertools.combinations(range(2, 9), 2))
    longest = set().union(*(rows for k, words, rows in looks if k == 2 and words > 1000))
    assert longest == {(2, 3), (2, 4), (2, 5), (6, 7)}
    values = list(columns.values())
    constants = [TRUE, FALSE] + [VARIES] * 7

    def relation(i, j):
        same = values[i] == values[j]
        return EQUAL if same.all() else UNRELATED if same.any() else OPPOSITE

    expected = {
        row
        for row in itertools.permutations(range(9), 3)
        if row[1] < row[2]
        and any(
            by_the_table(
                operator,
                *(constants[i] for i in row),
                *(relation(i, j) for i, j in itertools.combinations(row, 2)),
            )
            == MINE
            for operator in (AND, OR, XOR)
        )
    }
    assert asked[3] == expected
    assert len(expected) < 9 * 28 // 2


def test_a_group_for_each_entry_and_four_words_a_load(any_device):
    """Checklist 11."""
    plan = InvariantMiner("II", config="per-entry", device=any_device)
    for sweeper, family in zip(plan._sweepers, plan.families, strict=True):
        values = "float" if family.kind == "numeric" else "uint"
        assert f"#define VALUES {values}{sweeper.width}" in sweeper.source
        assert sweeper.width % 4 == 0
        entries = np.zeros((7, 4), np.uint32)  # no more than one core has groups
        kernel, groups, segments = sweeper._shape(entries, 1000)
        assert (kernel.name, groups, segments) == ("mine_entries", 7, 1)


def pairs(rows):
    """Entries of all pairs of so many rows."""
    found = np.zeros((rows * (rows - 1) // 2, 4), np.uint32)
    found[:, :2] = [*itertools.combinations(range(rows), 2)]
    return found


def test_each_way_to_share_out_the_device_is_its_own(any_device):
    """Checklist 26: which kernel, its groups, and segments of a tuple or vectors of a slice."""
    units, rows = any_device.traits.compute_units, pairs(4)  # six pairs

    def shape(sweep, vectors=100_000):
        plan = InvariantMiner(["a <= b"], config=MiningConfig(sweep), device=any_device)
        kernel, groups, last = plan._sweepers[0]._shape(rows, vectors)
        return kernel.name, groups, last

    assert shape(PerEntry()) == ("mine_entries", 6, 1)
    segments = -(-8 * units // 6)
    filled = ("mine_entries", min(6 * segments, 8 * units), segments)
    assert shape(SplitTrace()) == filled
    assert shape(SplitTrace(2)) == ("mine_entries", min(12, 8 * units), 2)
    size = InvariantMiner(["a <= b"], device=any_device)._sweepers[0].group_size
    assert shape(SplitTrace(9), 3 * size) == ("mine_entries", min(18, 8 * units), 3)
    assert shape(Tiled(10)) == ("mine_tiles", min(10_000, 8 * units), 10)
    assert shape(Tiled(50_000, groups_per_unit=1)) == ("mine_tiles", min(2, units), 50_000)


def test_the_way_is_chosen_by_tuples_rows_and_length(any_device):
    """Checklist 26: as MiningConfig says; tiles where more tuples share rows, on a processor."""
    sweeper = InvariantMiner(["a <= b"], device=any_device)._sweepers[0]
    long, short = (length // sweeper.width for length in (10_000, 2 * sweeper.config.probe))

    def chosen(rows, vectors):
        return sweeper._shape(rows, vectors)[0].name

    assert chosen(pairs(8), long) == "mine_tiles"
    assert chosen(pairs(8), short) == "mine_entries"
    assert chosen(pairs(3), long) == "mine_tiles"  # six looks at three rows
    assert chosen(pairs(3)[:2], long) == "mine_entries"  # four at three
    gpu = dataclasses.replace(any_device.traits, is_cpu=False)
    sweeper.device = SimpleNamespace(traits=gpu)
    assert chosen(pairs(8), long) == "mine_entries"


@pytest.mark.parametrize("config", ["per-entry", "tiled"])
def test_what_failed_is_not_tried_again(config, device, monkeypatch):
    """Checklist 12: the next look does not want what failed, and what is unwanted is not tried."""
    values = np.tile(np.arange(3, dtype=np.float32)[:, None], (1, 40_000))
    values[0, 10] = 5  # v0 <= v1 fails in the first look
    values[1, 20_000] = 9  # v1 <= v2 in a later one
    plan = InvariantMiner(
        ["a <= b", "a != b"], inference=False, device=device,
        config=MiningConfig(MiningConfig.of(config).sweep, probe=64),
    )  # fmt: skip
    asked, failed = [], Sweeper.failed

    def spy(self, chunk, begin, end, tuples, wanted, *rest):
        result = failed(self, chunk, begin, end, tuples, wanted, *rest)
        assert not (result & ~wanted).any()
        asked.append(dict(zip(map(tuple, tuples.tolist()), wanted.tolist(), strict=True)))
        broken.append(dict(zip(map(tuple, tuples.tolist()), result.tolist(), strict=True)))
        return result

    broken = []
    monkeypatch.setattr(Sweeper, "failed", spy)
    result = plan.run(values)
    assert "v0 <= v1" not in result.text().splitlines()
    assert "v0 <= v2" not in result.text().splitlines()
    assert len(asked) > 2
    for before, wrong, after in zip(asked, broken, asked[1:], strict=False):
        for row, wanted in after.items():
            assert wanted == before[row] & ~wrong[row], row
    assert any(wrong for look in broken for wrong in look.values())


def test_parts_are_copied_ahead_of_the_one_that_is_mined(any_device):
    """Checklist 20: nothing ahead of the first look; then the next parts, and needed rows only."""
    trace = Trace.of(generate_trace(3, 0, 500_000).numeric.values[:, :500_000])
    config = MiningConfig(chunk_bytes=1 << 18)
    chunks = Chunks(any_device, [trace], "numeric", config, Staging(any_device))
    needed = np.array([True, True, True])
    assert config.ahead > 0
    try:
        for number, chunk in enumerate(chunks.parts(lambda: needed)):  # noqa: B023 (it is to change)
            if number == 0:
                assert chunks.copied_bytes == 4 * 3 * chunk.elements
                first, needed = chunks.copied_bytes, np.array([False, True, False])
            elif number == 1:
                assert chunks.copied_bytes == first + 4 * config.ahead * chunk.elements
                chunk.copy_ahead()  # as behind a launch
                assert chunks.copied_bytes == first + 4 * (1 + config.ahead) * chunk.elements
            rows = chunk.buffer.read().reshape(3, -1)
            begin = sum(s.padded for s in chunks._spans[:number])
            expected = trace.numeric.values[1, begin : begin + chunk.elements]
            assert (rows[1, : len(expected)] == expected).all()
        assert number > config.ahead
        total = chunks.copied_bytes
        # Another pass takes what is there, and copies the rest of it only.
        for _ in chunks.parts(lambda: np.array([True, True, False])):
            pass
        assert chunks.copied_bytes == total + (total - first)
    finally:
        chunks.close()


@pytest.mark.parametrize(("kind", "eager"), [("numeric", 1), ("boolean", 0)])
def test_a_short_part_of_numbers_is_on_its_way_during_the_first_look(
    kind, eager, any_device, monkeypatch
):
    """Of a trace of several parts; of what is soon there, and of Booleans, nothing."""
    monkeypatch.setattr(Chunks, "_wrap", lambda _: None)
    monkeypatch.setattr(chunks_of, "FIRST_INSTANTS", 1 << 12)
    monkeypatch.setattr(chunks_of, "SECOND_BYTES", 3 * 4 << 13)
    config = MiningConfig(chunk_bytes=3 * 4 << 14)
    sent = []
    for length in (1 << 21, 1 << 14):
        trace = generate_trace(3, 3, length, mode="interval")
        chunks = Chunks(any_device, [trace], kind, config, Staging(any_device))
        try:
            for chunk in chunks.parts(lambda: np.ones(3, bool)):
                sent.append(chunks.copied_bytes // (3 * 4))
                first = chunk.elements
                break
        finally:
            chunks.close()
    assert first == (1 << 12) // (1 if kind == "numeric" else 32)
    assert sent == [first + (eager << 13), first]


def test_what_is_kept_has_its_room_before_long_copies(any_device, monkeypatch):
    """Making room waits for copies that are under way: none is made after those ahead began."""
    trace = copied_trace(3, "pinned", False, any_device, monkeypatch)
    steps, allocate, send = [], Memory.allocate, Chunks._send

    def making(self, name, *rest):
        steps.append("room" if name.startswith("rows of") else name)
        return allocate(self, name, *rest)

    def sending(self, number, *rest):
        steps.append(number)
        return send(self, number, *rest)

    monkeypatch.setattr(Memory, "allocate", making)
    monkeypatch.setattr(Chunks, "_send", sending)
    config = MiningConfig(chunk_bytes=1 << 18)
    plan = InvariantMiner(["a <= b"], inference=False, config=config, device=any_device)
    assert plan.run(trace).stats.kept
    rooms = [at for at, step in enumerate(steps) if step == "room"]
    assert len(rooms) == len(set(steps) & set(range(99))) > 3
    assert rooms[-1] < steps.index(1)


def copied_trace(variables, kind, limited, device, monkeypatch):
    """Give numbers that are copied in parts, as to a GPU, though a processor could read them."""
    values = generate_trace(variables, 0, 400_000, mode="interval").numeric.values[:, :400_000]
    trace = Trace.of(values.astype(np.float64))
    trace = trace.pinned(device) if kind == "pinned" else trace
    monkeypatch.setattr(Chunks, "_wrap", lambda _: None)
    if limited:
        gc.collect()
        limit = device.ledger.used_bytes + values.nbytes // 2
        monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))
    return trace


@pytest.mark.parametrize("kind", ["staged", "pinned"])
@pytest.mark.parametrize("limited", [False, True])
def test_a_part_is_mined_while_the_next_ones_are_copied(kind, limited, any_device, monkeypatch):
    """Checklist 20: copies of part 2 are held up; part 1 is mined all the same, and then the rest.

    Where nothing is to be copied ahead, no copy of part 2 has begun while part 1 is mined.
    """
    trace = copied_trace(3, kind, limited, any_device, monkeypatch)
    gate = cl.UserEvent(any_device.context)
    send, failed = Chunks._send, Sweeper.failed
    sent, mined, copies = [], [], {}

    def open_late():
        gate.set_status(cl.command_execution_status.COMPLETE)

    timer = threading.Timer(60, open_late)

    def held_up(self, number, *rest):
        if number == 2 and self._ahead:
            for piece in copies[1].staged:
                piece.result()  # those of part 1 are before the barrier
            cl.enqueue_barrier(self._copies.queue, wait_for=[gate])
            timer.start()
        sent.append(number)
        copies[number] = send(self, number, *rest)
        return copies[number]

    def spy(self, chunk, *rest):
        result = failed(self, chunk, *rest)
        if chunk.number == 1:
            mined.append((max(sent), gate.command_execution_status))
            if timer.is_alive():
                timer.cancel()
                open_late()
        return result

    monkeypatch.setattr(Chunks, "_send", held_up)
    monkeypatch.setattr(Sweeper, "failed", spy)
    found = {}
    for ahead in (0, 2):
        config = MiningConfig(chunk_bytes=1 << 18, ahead=ahead)
        plan = InvariantMiner(["a <= b"], inference=False, config=config, device=any_device)
        sent.clear()
        result = plan.run(trace)
        assert result.stats.kept != limited
        found[ahead] = result.text()
    assert found[0] == found[2] != ""
    closed = cl.command_execution_status.SUBMITTED
    assert mined[0] == (1, closed)
    assert mined[1] == (3, closed)
    assert len(mined) == 2


@pytest.mark.parametrize("kind", ["staged", "pinned"])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("inference", [False, True])
def test_copies_are_enqueued_behind_the_launch_that_they_run_beside(
    kind, limited, inference, any_device, monkeypatch
):
    """Checklist 20: launch of part n, copies of n + ahead, the wait for n; or all in turn.

    However soon copies end, there are some to run while every kernel does.
    """
    trace = copied_trace(4, kind, limited, any_device, monkeypatch)
    send, target, launch, read = Chunks._send, Chunks._target, Kernel.launch, Allocation.read
    steps = []

    def spy(what, real, name):
        def noting(self, *args, **options):
            steps.append((what, name(self, args)))
            return real(self, *args, **options)

        return noting

    monkeypatch.setattr(Chunks, "_send", spy("send", send, lambda _, args: args[0]))
    monkeypatch.setattr(Kernel, "launch", spy("launch", launch, lambda kernel, _: kernel.name))
    monkeypatch.setattr(Allocation, "read", spy("read", read, lambda *_: None))
    made = []

    def making(self, number, span):
        made.append((len(steps), number))
        return target(self, number, span)

    monkeypatch.setattr(Chunks, "_target", making)
    for ahead in (0, 1, 2):
        config = MiningConfig(chunk_bytes=1 << 18, ahead=ahead, ranges_on_host=False)
        plan = InvariantMiner(["a <= b"], inference=inference, config=config, device=any_device)
        steps.clear()
        made.clear()
        result = plan.run(trace)
        assert len(result) == 6
        assert result.stats.kept != limited
        sends = [at for at, (what, _) in enumerate(steps) if what == "send"]
        numbers = [steps[at][1] for at in sends]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 6
        for at, number in zip(sends, numbers, strict=True):
            before, after = steps[at - 1][0], steps[(at + 1) % len(steps)][0]
            if number > ahead > 0:  # those before it are under way when part 0 has been looked at
                assert (before, after) == ("launch", "read"), (number, ahead)
                # Its room was made before that launch, for which making it would wait.
                assert any(n == number and step < at for step, n in made), (number, ahead)
            elif ahead == 0:
                assert before != "launch", number


def test_rows_of_which_nothing_is_left_are_not_copied(device):
    values = np.random.default_rng(1).random((6, 300_000)).astype(np.float32)
    values[5] += 4
    plan = InvariantMiner(["a + 3 < b"], inference=False, device=device)
    result = plan.run(values)
    assert len(result) == 5
    assert result.stats.copied_bytes == 6 * 300_032 * 4
    result = plan.run(values[4:].repeat([3, 1], axis=0) + np.array([[0], [9], [9], [1]], "f4"))
    assert "(v0 + 3) < v3" in result.text().splitlines()
    values[1:5] -= 2 * values[5:] * (np.arange(300_000) == 7)  # of these nothing is known to hold
    values[1:5, 8] += 9
    result = plan.run(values)
    assert result.text() == "(v0 + 3) < v5"
    assert result.stats.copied_bytes < 3 * 300_032 * 4


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", ["staged", "direct"])
def test_interrupts_are_answered_and_the_plan_works_on(kind, any_device):
    """Ctrl-C, for which an alarm stands, at several moments of a run of many looks."""
    trace = generate_trace(10, 4, 100_000, mode="interval")
    if kind == "staged":
        trace = Trace.of(trace.numeric.values[:, :100_000].astype(np.float64))
    plan = InvariantMiner(["a <= b", "a <= b + c"], inference=False, device=any_device)
    expected = plan.run(trace).text()
    began = time.perf_counter()
    plan.run(trace)
    whole = time.perf_counter() - began
    gc.collect()  # which would give back what others left while this one looks
    held = any_device.ledger.used_bytes
    sent = []

    def interrupt(*_):
        sent.append(Work())
        raise KeyboardInterrupt

    with alarms(interrupt):
        for share in (0.05, 0.2, 0.5):
            try:
                signal.setitimer(signal.ITIMER_REAL, share * whole)
                plan.run(trace)
                signal.setitimer(signal.ITIMER_REAL, 0)
                whole /= 4  # others used the machine when it was measured
            except KeyboardInterrupt:
                assert sent[-1].seconds() < ANSWER_LIMIT_S
            assert any_device.ledger.used_bytes == held
    assert sent
    assert plan.run(trace).text() == expected
