"""Launching instrumented kernels: what cannot run so runs otherwise, and all waiting ends."""

import re
import threading
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import clgraph as cg
from bench.studies.recorded import RECORDED
from clgraph.device import Memory, resident_groups
from clgraph.device.observing import observed_by
from clgraph.device.programs.program import build
from clgraph.engine.driver import Driver
from clgraph.errors import KernelTimeoutError
from clgraph.profile.instrument.rewriting import instrumented
from clgraph.profile.instrument.words import HEADER, Mask
from clgraph.profile.passes import counted, twins, watching
from clgraph.profile.passes.layout import Layout
from clgraph.profile.passes.residency import Residency
from clgraph.profile.passes.timeline import Timeline
from clgraph.profile.passes.watching import Counting

GRAPH = cg.generate.kron(7, seed=3)
SPIN = """
__kernel void spin(volatile __global uint *out, const uint rounds) {
    uint x = out[0];
    for (uint i = 0; i < rounds; ++i) { x = x * 1664525u + out[1]; }
    out[2] = x + 1u;
}
"""


@pytest.fixture
def plan(pocl):
    found = cg.BFS(GRAPH, device=pocl)
    assert found.run(0).stats.mode == "persistent"
    return found


def is_twin(kernel):
    return "PROF_PARAMETER" in kernel.program.source


@pytest.fixture
def no_room(monkeypatch, pocl):
    """No two work-groups of an instrumented kernel are resident together."""
    if pocl.traits.compute_units == 1:
        pytest.skip("one processor: no work-group waits for another, instrumented or not")

    def resident(device, kernel, group_size, local_bytes=0):
        own = resident_groups(device, kernel, group_size, local_bytes)
        assert own > 1
        return 1 if is_twin(kernel) else own

    monkeypatch.setattr(watching, "resident_groups", resident)


@pytest.mark.usefixtures("no_room")
def test_groups_that_would_wait_for_missing_ones_are_launched_stage_by_stage(plan):
    wanted = plan.run(0).distances
    modes = []

    def run():
        result = plan.run(0)
        np.testing.assert_array_equal(result.distances, wanted)
        modes.append(result.stats.mode)

    report = cg.profile(run, passes=("time", "counters"), repeats=1)
    assert modes == ["persistent", "persistent", "stepped", "stepped", "stepped"]
    assert any("launched stage by stage" in reason for reason in report.reasons)
    assert report.kernels[0].totals.where("block")[:, 0].sum() > 0


@pytest.mark.usefixtures("no_room")
def test_what_is_launched_stage_by_stage_anyway_needs_no_room(pocl):
    plan = cg.BFS(GRAPH, config=cg.BFSConfig(schedule="stepped"), device=pocl)
    assert plan.run(0).stats.mode == "stepped"
    report = cg.profile(plan, passes=("counters",), repeats=1)
    assert report.kernels[0].totals is not None
    assert not any("has room" in reason for reason in report.reasons)


def test_a_kernel_that_waits_for_nobody_needs_no_room(pocl, no_room):  # noqa: ARG001
    components = cg.ConnectedComponents(GRAPH, device=pocl)
    report = cg.profile(components, passes=("counters",), repeats=1)
    assert not any("stage by stage" in reason for reason in report.reasons)


def test_what_a_launch_counted_that_gave_up_is_forgotten(plan, monkeypatch):
    persistent, dropped = Driver._persistent, []
    counting = Counting(Mask.DIV)

    def giving_up(self, *given):
        assert persistent(self, *given)
        dropped.extend(counting.found.values())

    monkeypatch.setattr(Driver, "_persistent", giving_up)
    with observed_by(counting):
        assert plan.run(0).stats.mode == "stepped"
    counting.release()
    assert len(dropped) == len(counting.found) == 1
    assert next(iter(counting.found.values())) is not dropped[0]
    assert "waited in vain" in next(iter(counting.run_stepped.values()))


def test_a_timeline_keeps_everything(plan, monkeypatch):
    monkeypatch.setattr(Driver, "_persistent", lambda *_: False)
    timeline = Timeline()
    with observed_by(timeline):
        plan.run(0)
    assert timeline.launches()


def test_a_thread_does_not_write_to_what_another_reads(pocl, monkeypatch):
    """One launches while the other is about to read what it counted, on the same queue."""
    built, memory = build(pocl, SPIN, label="spin.cl"), Memory(pocl)
    launches = [
        partial(built.kernel("spin").launch, 1, 1, memory.allocate("out", 4, np.uint32), rounds)
        for rounds in (np.uint32(10), np.uint32(1000))
    ]
    counting, read, others, waits = Counting(Mask.DIV), Counting._read, [], []

    def counted():
        (found,) = counting.found.values()
        return found.totals.where("block")[:, 0].sum()

    def meanwhile(self, *of):
        if not others:
            others.append(threading.Thread(target=launches[1]))
            others[0].start()
            others[0].join(timeout=0.5)  # when it has long ended, if it need not wait
            waits.append(others[0].is_alive())
        read(self, *of)

    with observed_by(counting):
        for launch in launches:
            launch()
        one_by_one = counted()
        counting.start_again()
        monkeypatch.setattr(Counting, "_read", meanwhile)
        launches[0]()
        others[0].join()
    assert waits == [True]
    assert counted() == one_by_one
    counting.release()


def test_a_launch_that_does_not_end_is_given_up_with_a_sentence(pocl, monkeypatch):
    kernel = build(pocl, SPIN, label="spin.cl").kernel("spin")
    out = Memory(pocl).upload("out", np.zeros(4, np.uint32))
    counting = Counting(Mask.TIME)
    with observed_by(counting):
        kernel.launch(1, 1, out, np.uint32(1))  # builds what is then launched
        counting.finish()
        monkeypatch.setattr(watching, "ANSWER_S", 0.05)
        kernel.launch(1, 1, out, np.uint32(500_000_000))
        with pytest.raises(KernelTimeoutError, match=r"spin on .* not ended within 0.05 s"):
            counting.finish()
    pocl.queue.finish()
    counting.release()


def test_loops_of_a_kernel_that_poll_are_left_alone(pocl):
    source = """
static inline void spin_hint(void) {}
__kernel void k(volatile __global uint *flag, __global uint *to, const uint n) {
    for (uint i = 0; i < n; ++i) {
        to[i] = 1u;
        if (get_local_id(0) == 0)
            for (uint spins = 0; !flag[0] && spins < 100u; ++spins) {
                if ((spins & 7u) == 0) spin_hint();
            }
        to[i] = 2u;
    }
}
"""
    found = instrumented(source, Mask(63), pocl.traits)
    kinds = [site.kind for site in found.sites if site.kind != "block"]
    assert sorted(kinds) == ["store", "store", "wait"]
    assert found.waits
    loop = found.text[found.text.index("for (uint spins") :]
    assert "PROF_" not in loop[: loop.index("spin_hint()")]
    build(pocl, found.text, label="k.cl")
    assert not instrumented(SPIN, Mask.DIV, pocl.traits).waits


@pytest.mark.usefixtures("pocl")
def test_lanes_that_count_never_part():
    """A branch between them would be counted as one of the program, and may keep them apart."""
    traits = RECORDED["h200"]
    text = instrumented(SPIN, Mask(31), traits).text
    words = text[: text.index("__kernel")]
    assert words.count("noinline") == 6
    assert not re.search(r"\bif\b|return;", re.sub(r"//.*", "", words))
    assert "@p red" in words


@pytest.mark.usefixtures("pocl")
def test_what_is_called_waits_for_nothing():
    """Else compilers have lanes yield there, and those that wait for them go on without them."""
    text = instrumented(SPIN, Mask.DIV | Mask.GMEM | Mask.LMEM, RECORDED["h200"]).text
    words = re.sub(r"//.*", "", text[: text.index("__kernel")])
    bodies = dict(re.findall(r"(prof_\w+)\([^)]*\) \{\n(.*?)\n\}", words, re.DOTALL))
    called = set(re.findall(r"noinline\)\) void (prof_\w+)\(", words))
    assert called <= set(bodies)
    strong = re.compile(r"\batom\.|\bld\.(?!weak)|\bprof_get\(|\bprof\[")
    assert {name for name in bodies if strong.search(bodies[name])} == {"prof_get", "prof_wait"}


@pytest.mark.usefixtures("pocl")
@pytest.mark.parametrize("mask", [Mask.TIME, Mask.TIME | Mask.SYNC, Mask.DIV, Mask(31)])
def test_kernels_write_where_the_host_reads(mask):
    source = instrumented(SPIN, mask, RECORDED["h200"])
    layout = Layout.of(source, mask, groups=5, group_size=64)
    (records_at,) = re.findall(r"prof_records\(.*\) \{\n    return prof \+ (\d+)u;", source.text)
    assert int(records_at) == layout.records_at
    words = set(
        re.findall(r"\bplace(?:\(\))? \* (\d+)u", source.text.replace("prof_place", "place"))
    )
    assert words == {str(layout.record_words)}
    table = np.arange(layout.accesses_at, dtype=np.uint64)
    records = layout.records_in(table)
    assert records.shape == (5 * 2, layout.record_words)
    assert records[3, 1] == layout.records_at + 3 * layout.record_words + 1


@pytest.mark.usefixtures("pocl")
def test_times_alone_take_no_room_for_counters():
    """The table is filled before each launch and read after it."""
    groups, group_size = 660, 256
    source = instrumented(SPIN, Mask.TIME, RECORDED["h200"])
    layout = Layout.of(source, Mask.TIME, groups, group_size)
    assert layout.zeroed == layout.words == HEADER + groups * group_size // 32 * 8


def test_records_are_read_after_the_run(plan, monkeypatch):
    """Launches of a run follow one another sooner then."""
    read, add = [], Residency.add

    def noted(self, table, per_group, missing):
        read.append(len(table))
        add(self, table, per_group, missing)

    monkeypatch.setattr(Residency, "add", noted)
    counting = Counting(Mask.TIME)
    with observed_by(counting):
        plan.run(0)
        plan.run(0)
    counting.finish()  # as before what comes next, if that is to begin alone
    assert not read
    (found,) = counting.found.values()
    assert found.residency.records == sum(read) > 0
    before = len(read)
    assert found.residency is found.residency
    assert len(read) == before
    monkeypatch.setattr(counted, "MOST_RECORDS", 0)
    with observed_by(counting):
        plan.run(0)
    counting.finish()
    assert len(read) > before
    counting.release()


def test_times_are_those_of_a_second_run(pocl, monkeypatch):
    """The first brings programs to the device."""
    kernel = build(pocl, SPIN, label="spin.cl").kernel("spin")
    out = Memory(pocl).upload("out", np.zeros(4, np.uint32))
    kept, launch = [], Counting.launch

    def noted(self, *given):
        event = launch(self, *given)
        kept.append(next(iter(self.found.values())).residency.records)
        return event

    monkeypatch.setattr(Counting, "launch", noted)
    cg.profile(
        lambda: kernel.launch(1, 1, out, np.uint32(1)), passes=("time",), device=pocl, repeats=1
    )
    assert kept == [1, 1]


@pytest.mark.parametrize(
    ("mask", "registers", "texts"),
    [(Mask.TIME, 48, 1), (Mask.TIME, 49, 2), (Mask.TIME | Mask.SYNC, 56, 2), (Mask.DIV, 56, 1)],
)
def test_twins_are_kept_to_the_registers_of_plain_kernels(mask, registers, texts, monkeypatch):
    """Drivers pass the limit over where the size of work-groups is declared."""
    built = []

    def noted(_, text, *, label, more):
        built.append((text, label, more))
        return SimpleNamespace(kernel=lambda *_: SimpleNamespace(registers=registers))

    monkeypatch.setattr(twins, "build", noted)
    device = SimpleNamespace(
        traits=RECORDED["h200"], platform="NVIDIA CUDA", queue=SimpleNamespace(int_ptr=1)
    )
    declared = "__attribute__((reqd_work_group_size(256, 1, 1)))"
    source = SPIN.replace("__kernel", f"__kernel {declared}").replace(
        "++i)", "++i) { spin_hint(); }\n for (; x < 1u;)"
    )
    program = SimpleNamespace(source=source, source_hash="1", label="spin.cl")
    kernel = SimpleNamespace(device=device, program=program, name="spin", registers=46)
    twin = twins.Twins(mask, None).of(kernel)
    assert twin.source.waits
    assert [declared in text for text, *_ in built] == [True, False][:texts]
    assert {(label, more) for _, label, more in built} == {("spin.cl", ("-cl-nv-maxrregcount=48",))}
