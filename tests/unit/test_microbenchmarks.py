"""The catalogue of microbenchmarks, what each touches, and that they run on every device."""

import contextlib
import dataclasses
import itertools
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from unit import microbench_offline as offline

from clgraph.cli.main import main
from clgraph.energy import SteadyPower
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.profile import microbenchmarks
from clgraph.profile.microbenchmarks import (
    CATALOGUE,
    COSTS,
    Protocol,
    Result,
    Scale,
    choose,
    measure_entry,
    measuring,
    work,
)
from clgraph.profile.microbenchmarks.catalogue import specification
from clgraph.profile.microbenchmarks.memories import Copy, conflicts, lines_touched
from clgraph.profile.microbenchmarks.page import page
from clgraph.profile.microbenchmarks.purity import purity

QUICK = Protocol(launch_s=0.001, ramp_s=0.0, repeats=2, window_s=0.0)
# One entry of every kernel and of every way through it.
EACH_KERNEL = (
    "int32_compare.less",
    "int64_simple.add_long",
    "fp32_simple.fma_float",
    "fp64_simple.add_double",
    "dram.load",
    "dram.store_scattered",
    "dram.load_wide",
    "dram.store_wide",
    "l2.load",
    "shared.store",
    "constant.load",
    "random.load",
    "random.atomic_cached",
    "launch.empty",
    "latency.shared",
    "latency.dram",
    "access_size=16",
    "device_sync=4",
)

STATIC_ROWS = (
    "int32_simple",
    "int32_complex",
    "int32_bit",
    "int32_shift",
    "int32_compare",
    "int32_popc",
    "int32_rem",
    "int64_simple",
    "fp32_simple",
    "fp32_div",
    "fp32_special",
    "fp64_simple",
)


def small(device):
    return Scale(unroll=16, group_size=Scale.of(device).group_size, footprint_bytes=1 << 20)


@pytest.mark.parametrize(
    ("operations", "time_s", "cycles", "stated", "reached"),
    [  # of an H200 at 1,980 MHz: the mean of the groups' own cycles gave 26.59, 185.9 and 102.3
        (75 * 4096.0 * 132 * 2048, 0.02003, 23_660_000.0, 16.0, 15.86),
        (596832681984.0, 0.020687008, 24326961.7, 128.0, 110.4),
        (301 * 4096.0 * 132 * 2048, 0.01998, 24_690_000.0, 64.0, 63.83),
    ],
)
def test_operations_per_cycle_are_those_of_the_whole_launch(
    operations, time_s, cycles, stated, reached
):
    result = Result("x", "operation", None, operations, 0.0, {}, 132, time_s, 0.0, 5, 75)
    result = dataclasses.replace(result, cycles=cycles, throughput_spec=stated)
    judged = microbenchmarks.measuring.judged(result, offline_device())
    assert any("some were removed" in reason for reason in judged.invalid)
    busy = {"seconds": 2.0, "kernel_seconds": 1.98, "source": "nvml-counter"}
    power = SteadyPower(mean_watts=156.0, sm_clock_mhz=(1965, 1980, 1980), **busy)
    metered = microbenchmarks.measuring.with_power(result, power, 80.0)
    assert metered.throughput == pytest.approx(reached, rel=0.002)
    assert microbenchmarks.measuring.judged(metered, offline_device()).invalid == ()
    # The check still sees that the assembler left out a tenth.
    fewer = dataclasses.replace(metered, operations=1.1 * stated / reached * operations)
    (reason,) = microbenchmarks.measuring.judged(fewer, offline_device()).invalid
    assert "some were removed" in reason


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"ptx_purity": 0.9899}, "only 98.99% of the instructions are the target's"),
        ({"ptx_purity": 0.99}, None),
        ({"ptx_purity": 0.5, "value": 4.0}, None),  # of a sweep, whose other instructions are meant
        ({"wanted_run": 4096, "longest_run": 4095}, "4095 instructions in a row, not 4096"),
        ({"wanted_run": 4096, "longest_run": None}, "None instructions in a row, not 4096"),
        ({"wanted_run": 4096, "longest_run": 4096}, None),
    ],
)
def test_results_of_other_instructions_are_invalid(told, why):
    """Checklist: purity below its target, or targets that are not in sequence: not valid."""
    plain = Result("x", "operation", None, 1e9, 0.0, {}, 132, 0.02, 0.0, 5, 75)
    judged = microbenchmarks.measuring.judged(dataclasses.replace(plain, **told), offline_device())
    assert judged.invalid == (() if why is None else (why,))


@pytest.mark.parametrize(
    ("told", "doubtful", "valid"),
    [
        ({"doubling": 1.021}, True, True),
        ({"doubling": 0.979}, True, True),
        ({"doubling": 1.019}, False, True),
        ({"spread": 0.051}, True, True),
        ({"spread": 0.049}, False, True),
        ({"operations": 1.049 * 64e6}, False, True),
        ({"operations": 1.051 * 64e6}, False, False),
    ],
)
def test_results_at_the_limits_of_what_is_allowed(told, doubtful, valid):
    """Checklist: twice the rounds within 2 %, at most 1.05 of the specification."""
    plain = Result("x", "operation", None, 1e6, 0.0, {}, 1, 0.02, 0.0, 5, 75)
    plain = dataclasses.replace(plain, cycles=1e6, throughput_spec=64.0)
    judged = microbenchmarks.measuring.judged(dataclasses.replace(plain, **told), offline_device())
    assert (bool(judged.flags), not judged.invalid) == (doubtful, valid)


def offline_device():
    return SimpleNamespace(traits=offline.HOPPER)


def test_cycles_are_those_between_the_first_start_and_the_last_end_of_a_unit():
    """Groups that share a unit take turns: each computes a part of the time only."""
    spans = np.zeros((5, 3), np.uint64)
    spans[0] = 1000, 4000, 1
    spans[1] = 1010, 6000, 1
    spans[2] = 4000, 6500, 1
    spans[3] = 900_000, 905_000, 2  # the counters of two units need not agree
    assert microbenchmarks.measuring.covered(spans.ravel()) == 5500.0  # the last one did not run
    spans[:, :2] = 0
    assert microbenchmarks.measuring.covered(spans.ravel()) is None


@pytest.mark.parametrize("device", ["pocl", "pocl+lanes32"], indirect=True)
def test_a_chain_goes_on_where_the_last_launch_ended(device):
    """Else the latency of device memory is that of a cache, which soon holds what is walked on."""
    (entry,) = choose(["latency.dram"])
    prepared = entry.work.prepare(device, small(device))
    table, _, reached = prepared.plan.kept[:3]
    at = base = int(reached.read()[0])
    chain = table.read()
    for rounds in (1, 3, 2):
        microbenchmarks.measuring.timed(prepared, rounds)
        for _ in range(rounds * prepared.body):
            at = int(chain[(at - base) // 8])
        assert int(reached.read()[0]) == at
    assert at != base


@pytest.mark.parametrize(
    ("name", "few"), [("dram.store_scattered", 2), ("latency.shared", 100), ("dram.load_wide", 1)]
)
def test_rounds_are_as_many_as_purity_asks_for(name, few, monkeypatch):
    """Bar: purity at least 99 %, where a round takes so long that few fill a launch."""
    (entry,) = choose([name])
    found = offline.rendered(entry, monkeypatch)
    target = "{%r1, %r2, %r3, %r4}" if ".v4." in entry.opcode else "%r1"
    line = f"{entry.opcode} {target}, [%rd1];\n" * found.params["unroll"]
    text = (
        f".visible .entry k(\n)\n{{\n{'mov.u32 %r1, %r2;' * 40}\n$L1:\n{line}"
        "add.s32 %r1, %r1, -1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;\nret;\n}\n"
    )
    made = SimpleNamespace(
        program=SimpleNamespace(binary=text.encode), kernel=SimpleNamespace(name="k")
    )
    prepared = SimpleNamespace(plan=made)
    rounds = microbenchmarks.measuring.enough_for_purity(entry, prepared, few)
    assert purity(text, "k", entry.opcode, rounds).share >= 0.99
    assert rounds <= max(16, few)


def test_the_catalogue_has_every_static_row():
    """Checklist: all 12 static arithmetic rows exist (division in four modes), each selectable."""
    families = [entry.family for entry in CATALOGUE if entry.kind == "static"]
    for row in STATIC_ROWS:
        assert row in families
    assert families.count("fp32_div") == 4
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)
    for entry in CATALOGUE:
        assert choose([entry.name]) == (entry,)


def test_the_catalogue_has_every_memory_and_sweep():
    """Checklist: static memory with load and store; the eight dynamic ones; 12 costs."""
    names = {entry.name for entry in CATALOGUE}
    for memory in ("dram", "l2", "shared"):
        assert {f"{memory}.load", f"{memory}.store"} <= names
    assert "constant.load" in names
    sweeps = {entry.family for entry in choose(["dynamic"], offline.HOPPER)}
    assert sweeps >= {
        *("coalescence", "access_size", "bank_conflict", "unroll", "ilp"),
        *("sm_occupancy", "device_sync", "divergence"),
    }
    assert len(COSTS) == 12
    assert set(COSTS) <= names


def test_an_unknown_name_is_refused():
    with pytest.raises(InvalidArgumentError, match="no microbenchmark 'warp_drive'"):
        choose(["warp_drive"])


def places(source):
    """Which words the lanes of the first SIMD group begin with, as their kernel says."""
    (text,) = re.findall(r"uint \*const base = (?:banked|words)(.*?);", source, re.DOTALL)
    text = re.sub(r"(\d+)u\b", r"\1", text).replace("(size_t)get_group_id(0)", "0")
    names = {"lane": np.arange(32), "item": np.arange(32)}
    return eval("0" + " ".join(text.replace("/", "//").split()), names)  # noqa: S307 (the text of our own kernel)


@pytest.mark.parametrize("ways", range(1, 33))
def test_banks_conflict_exactly_as_asked(ways, monkeypatch):
    """Checklist: exactly n-way conflicts for every n in 1..32, of the kernel and of its model."""
    (entry,) = choose([f"bank_conflict={ways}"])
    words = places(offline.rendered(entry, monkeypatch).source)
    assert len(set(words)) == 32
    assert np.bincount(words % 32).max() == conflicts(ways) == ways


@pytest.mark.parametrize("family", ["coalescence", "coalescence_store"])
@pytest.mark.parametrize("together", [1, 2, 4, 8, 16, 32])
def test_a_request_touches_as_many_lines_as_asked(together, family, monkeypatch):
    """Checklist: 32/TH_GROUP lines per request, of the kernel and of its model."""
    (entry,) = choose([f"{family}={together}"])
    words = places(offline.rendered(entry, monkeypatch).source)
    assert len(set(words)) == 32
    assert len(set(words * 4 // 128)) == lines_touched(together) == 32 // together


def test_sweeps_vary_what_they_are_about(monkeypatch):
    """Checklist: chains, barriers, paths of lanes and straight lines, as many as are asked for."""

    def of(family):
        for entry in choose([family], offline.HOPPER):
            source = offline.rendered(entry, monkeypatch).source
            yield int(entry.value), source, source.partition("for (uint round")[2]

    for chains, _, loop in of("ilp"):
        registers = re.findall(r"fma\.rn\.f32 (%\d+)", loop)
        assert len(set(registers[:chains])) == len(set(registers)) == chains
    for barriers, _, loop in of("device_sync"):
        assert loop.count("barrier(CLK_LOCAL_MEM_FENCE)") == barriers
    for steps, _, loop in of("unroll"):
        assert loop.count("add.u32") == steps
    lane = np.arange(32)
    for lanes, source, _ in of("divergence"):
        paths = re.findall(r"get_local_id\(0\) % 32u \* (\d+)u / 32u == (\d+)u", source)
        assert len(set(paths)) == len(paths) == 32 // lanes
        assert {np.sum(lane * int(of) // 32 == int(path)) for of, path in paths} == {lanes}
    for size, source, _ in of("access_size"):
        kinds = dict(
            zip(("uchar", "ushort", "uint", "uint2", "uint4"), (1, 2, 4, 8, 16), strict=True)
        )
        (kind,) = set(re.findall(r"volatile (?:const )?__global (\w+) \*", source))
        assert kinds[kind] == size
    for _, source, _ in of("sm_occupancy"):
        assert "if (unit_id() >= units) return;" in source


@pytest.mark.parametrize(
    ("ran", "why"),
    [
        ([1, 7, 9], None),
        ([1, 7], "2 compute units"),
        ([1, 2, 3, 4], "4 compute units"),
        ([], "0 compute units"),
    ],
)
def test_units_that_take_part_are_counted(ran, why, pocl, monkeypatch):
    """Checklist: as many different units computed as were asked for, or there is no result."""
    (entry,) = choose(["int32_simple.add_int"])
    prepared = dataclasses.replace(entry.work, units=3).prepare(pocl, small(pocl))
    spans = [[10, 20, unit] for unit in [*ran, *ran, 0, 0]]  # units from 1 on; 0: it left at once
    monkeypatch.setattr(type(prepared.spans), "read", lambda _: np.array(spans, np.uint64).ravel())
    with pytest.raises(VerificationError, match=why) if why else contextlib.nullcontext():
        prepared.check(1)


def test_a_sweep_of_memory_covers_eight_caches(monkeypatch):
    """Checklist: footprint >= 8x L2, and no line comes twice before all others."""
    for entry in choose(["coalescence"]):
        params = offline.rendered(entry, monkeypatch).params
        if entry.value == 32:
            whole = 132 * 8 * params["sweep"] * params["step_bytes"]
            assert whole >= 7.9 * offline.HOPPER.cache_bytes
        assert params["step_bytes"] == 128 * params["group_size"] // int(entry.value)
        # What an instruction for global memory holds as its offset; beyond it takes registers.
        assert params["sweep"] * params["step_bytes"] < 1 << 23


@pytest.mark.parametrize("device", ["pocl", "pocl+lanes32", "intel"], indirect=True)
@pytest.mark.parametrize("name", EACH_KERNEL)
def test_entries_run_everywhere_with_time_alone(device, name):
    """Checklist: without a meter all performance results still work and energies are None."""
    (entry,) = choose([name])
    assert entry.work.missing(device) is None
    result = microbenchmarks.measure_entry(entry, device, scale=small(device), protocol=QUICK)
    assert result.time_s > 0
    assert result.rate > 0
    assert result.invalid == ()
    for figure in ("energy_j", "dynamic_energy_j", "nj_per_operation", "nj_per_byte", "efficiency"):
        assert getattr(result, figure) is None
    assert Result.of_record(json.loads(json.dumps(result.record()))) == result


def test_copies_are_verified(intel):
    """Checklist: the access-size sweep moves identical bytes for each size, result verified."""
    moved = set()
    for entry in choose(["access_size"]):
        prepared = entry.work.prepare(intel, small(intel))
        microbenchmarks.measuring.timed(prepared, 1)
        prepared.check(1)
        moved.add(prepared.bytes_moved)
        prepared.plan.kept[1].write(np.zeros(4, np.uint32) + 7)
        with pytest.raises(Exception, match="changed the data"):
            prepared.check(1)
    assert len(moved) == 1


def test_what_does_not_verify_has_no_result(intel, monkeypatch):
    """Checklist: a copy that changed the data, units that did not take part: skipped, with why."""
    prepare = Copy.prepare

    def spoilt(self, device, scale):
        made = prepare(self, device, scale)
        made.plan.kept[0].write(np.zeros(4, np.uint32) + 7)
        return made

    monkeypatch.setattr(Copy, "prepare", spoilt)
    names = ["access_size=16", "launch.empty"]
    record = microbenchmarks.run(names, device=intel, scale=small(intel), protocol=QUICK)
    assert [result["name"] for result in record["results"]] == ["launch.empty"]
    (skipped,) = record["skipped"]
    assert (skipped["name"], "changed the data" in skipped["reason"]) == ("access_size=16", True)


def test_the_window_of_a_result_is_its_own_launches(intel, monkeypatch):
    """Checklist: baseline, warm-up, length, clock and temperature, with each result."""
    asked, spent = {}, []

    def steady(launch, **how):
        asked.update(how)
        spent.extend(launch()() for _ in range(2))
        return SteadyPower(
            mean_watts=200.0, peak_watts=230.0, idle_watts_before=85.0, idle_watts_after=80.0,
            seconds=2.0, kernel_seconds=1.9, source="nvml-counter", sm_clock_mhz=(1900, 1950, 1980),
            temperature_c=(40, 44), power_limit_w=700.0, flags=("warm",),
        )  # fmt: skip

    monkeypatch.setattr(measuring, "steady_power", steady)
    protocol = dataclasses.replace(QUICK, window_s=2.5, warm_up_s=0.7, idle_s=0.3)
    (entry,) = choose(["int32_simple.add_int"])
    result = measure_entry(entry, intel, scale=small(intel), protocol=protocol, idle_watts=99.0)
    seconds = ("min_seconds", "warm_up_seconds", "idle_seconds")
    assert [asked[name] for name in seconds] == [2.5, 0.7, 0.3]
    assert asked["device"] == intel
    assert min(spent) > 0
    assert (result.mean_watts, result.peak_watts, result.idle_watts) == (200.0, 230.0, 80.0)
    assert result.clock_hz == 1950e6
    assert "warm" in result.flags
    window = result.record()["window"]
    told = ("seconds", "temperature_c", "power_limit_w", "sm_clock_mhz", "duty")
    assert [window[name] for name in told] == [2.0, (40, 44), 700.0, (1900, 1950, 1980), 0.95]


def test_as_many_work_items_as_are_asked_for(pocl, monkeypatch):
    """Checklist: threads as a parameter, of each unit; else all that are resident."""
    units, scale = pocl.traits.compute_units, small(pocl)
    monkeypatch.setattr(work, "resident_groups", lambda *_: 8 * units)
    (entry,) = choose(["ilp=4"])

    def items(threads):
        asked = dataclasses.replace(entry.work, threads_per_unit=threads)
        return asked.prepare(pocl, scale).plan.items

    group = scale.group_size
    found = [items(threads) for threads in (None, 2 * group, group, 1, 99 * group)]
    assert found == [many * units * group for many in (8, 2, 1, 1, 8)]


def test_chains_of_addresses_go_through_every_line():
    (entry,) = choose(["latency.l2"])
    work = dataclasses.replace(entry.work, size_bytes=1 << 14)
    chain = work._chain(1 << 14, base=4096)
    at, seen = 4096, set()
    while at not in seen:
        seen.add(at)
        at = int(chain[(at - 4096) // 8])
    assert len(seen) == (1 << 14) // 128


LISTING = """
.visible .entry other(.param .u64 a)
{ add.u32 %r1, %r1, %r2; }
.visible .entry wanted(
    .param .u32 wanted_param_0
)
{
    .reg .b32 %r<9>;
    ld.param.u32 %r1, [wanted_param_0];
$L__BB1_1:
    // begin inline asm
    add.u32 %r2,%r2,%r3; add.u32 %r3,%r3,%r2;
    // end inline asm
    add.s32 %r1, %r1, -1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra $L__BB1_1;
    ret;
}
"""


def test_purity_counts_what_is_executed():
    """Checklist: purity from PTX; loops weigh as often as they run."""
    found = purity(LISTING, "wanted", "add.u32", rounds=10)
    assert found.longest == 2
    assert found.targets == 20
    assert found.others == 30 + 2
    assert found.share == pytest.approx(20 / 52)
    with pytest.raises(ValueError, match="no kernel"):
        purity(LISTING, "missing", "add.u32", rounds=1)


@pytest.mark.parametrize(
    "name",
    [
        "int32_simple.add_int",
        "shared.load",
        "dram.store",
        "dram.load_wide",
        "latency.l2",
        "bank_conflict=7",
    ],
)
def test_straight_lines_survive_the_assembler(name, monkeypatch, tmp_path):
    """Checklist: U target opcodes in sequence with their state space, and none is removed."""
    if offline.CLANG is None or offline.PTXAS is None:
        pytest.skip("no compiler for a GPU here")
    (entry,) = choose([name])
    found = offline.rendered(entry, monkeypatch)
    text = offline.assembler_text(found.source, tmp_path)
    kernel = re.findall(r"\.entry (\w+)", text)[-1]
    pure = purity(text, kernel, entry.opcode, rounds=10_000)
    assert pure.longest == found.params["unroll"]
    assert pure.share >= (0.999 if entry.kind == "static" and "_" in entry.family else 0.99)
    code = offline.assembled(text, tmp_path).stat().st_size
    assert code > 16 * found.params["unroll"]  # bytes of a native instruction


@pytest.mark.rest
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("fp32_simple.fma_float", 1),
        ("fp32_simple.add_float", 1),
        ("int32_simple.add_int", 2),  # every second one on the pipe of multiply-adds
        ("int32_complex.mul_int", 1),
        ("int32_popc.popcount", 1),
        ("fp32_special.rsqrt", 1),
        ("fp64_simple.add_double", 1),
        ("shared.load", 1),
        ("l2.store", 1),
        ("dram.load_wide", 1),
    ],
)
def test_native_code_is_the_instruction_that_is_meant(name, kinds, monkeypatch, tmp_path):
    """Checklist: purity at least 99 % from native code too, as the assembler makes it."""
    if offline.CLANG is None or offline.PTXAS is None:
        pytest.skip("no compiler for a GPU here")
    (entry,) = choose([name])
    found = offline.rendered(entry, monkeypatch)
    text = offline.assembler_text(found.source, tmp_path)
    kernel = re.findall(r"\.entry (\w+)", text)[-1]
    hit, share = offline.native_purity(
        offline.native_kinds(offline.assembled(text, tmp_path), kernel), kinds
    )
    assert hit >= found.params["unroll"]
    assert share >= 0.99


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_entry_renders_for_a_gpu(entry, monkeypatch):
    """Checklist: sources come from Mako, with U, type, opcode, ILP, threads as parameters."""
    found = offline.rendered(entry, monkeypatch)
    if entry.opcode is not None:
        assert found.source.count(entry.opcode) >= found.params["unroll"]


def test_the_specification_is_the_vendors():
    assert specification(offline.HOPPER, "float") == 128
    assert (
        specification(dataclasses.replace(offline.HOPPER, compute_capability=None), "float") is None
    )


def test_the_record_is_kept_per_device_and_driver(intel, pocl, tmp_path, monkeypatch):
    """Checklist: characterization stored per device and driver, loaded without re-running."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "mine"))
    record = microbenchmarks.run(["launch.empty"], device=intel, scale=small(intel), protocol=QUICK)
    assert microbenchmarks.characterisation(intel) is None
    path = microbenchmarks.store(record, intel)
    assert microbenchmarks.characterisation(intel) == json.loads(path.read_text())
    assert microbenchmarks.characterisation(pocl) is None
    path.write_text(path.read_text()[:-40])  # a damaged file is as good as none
    assert microbenchmarks.characterisation(intel) is None
    path.write_text(json.dumps({"schema": "something else"}))
    assert microbenchmarks.characterisation(intel) is None


def test_the_page_draws_a_curve_for_every_sweep(intel):
    names = ["ilp", "launch.empty"]
    record = microbenchmarks.run(names, device=intel, scale=small(intel), protocol=QUICK)
    shown = page(record)
    assert shown.count("<svg") == 1  # rates alone: there are no watts
    assert "ilp" in shown
    assert "There is no power meter" in shown
    assert "<script" not in shown


def test_the_command_gives_a_record(tmp_path, capsys):
    html = tmp_path / "curves.html"
    words = ["microbench", "launch.empty", "--device", "intel", "--html", str(html), "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == "clgraph-microbenchmarks/1"
    assert record["units"]["nj_per_operation"] == "nJ"
    assert html.read_text().startswith("<!DOCTYPE html>")
    assert main(["microbench", "--window", "0.5"]) == 2
    assert "too short for a power meter" in capsys.readouterr().err


def with_times(monkeypatch, seconds):
    """Measure an entry whose launches, numbered, are said to take what they are given."""
    launches, run = itertools.count(), measuring.timed

    def timed(prepared, rounds):
        run(prepared, 1)
        return seconds(rounds, next(launches))

    monkeypatch.setattr(measuring, "timed", timed)


@pytest.mark.parametrize(
    ("seconds", "flagged"),
    [
        (lambda rounds, _: 1e-6 * rounds, False),
        # A clock that is low in most launches is none of the rounds' matter,
        (lambda rounds, nth: 1e-6 * rounds * (1.0 if nth % 5 == 0 else 1.06), False),
        # but what a launch costs beside them is, and what rounds cost each other.
        (lambda rounds, _: 1e-6 * rounds + 4e-4, True),
        (lambda rounds, _: 1e-6 * rounds + 1e-10 * rounds**2, True),
    ],
    ids=["in proportion", "with clocks that move", "and a part that stays", "and more of each"],
)
def test_twice_the_rounds_take_twice_as_long_or_are_flagged(seconds, flagged, monkeypatch, pocl):
    """Checklist: doubling N doubles the time within 2 %."""
    with_times(monkeypatch, seconds)
    result = measure_entry(choose(["fp32_simple.fma_float"])[0], pocl, protocol=QUICK)
    assert (abs(result.doubling - 1) > 0.02) == flagged
    assert any("twice the rounds" in flag for flag in result.flags) == flagged


@pytest.mark.parametrize(("is_gpu", "longest_s"), [(True, 0.001), (False, 0.004)])
def test_what_is_doubled_is_over_before_a_card_lowers_its_clocks(is_gpu, longest_s, monkeypatch):
    prepared = SimpleNamespace(plan=SimpleNamespace(device=SimpleNamespace(is_gpu=is_gpu)))
    took = []

    def timed(_, rounds):
        took.append(1e-5 * rounds)
        return took[-1]

    monkeypatch.setattr(measuring, "timed", timed)
    assert measuring._doubling(prepared, 1000, 0.01) == pytest.approx(1.0)
    assert max(took) == pytest.approx(longest_s)


def test_launches_that_differ_are_flagged(monkeypatch, pocl):
    with_times(monkeypatch, lambda rounds, nth: 1e-6 * rounds * (1 + 0.08 * (nth % 2)))
    result = measure_entry(choose(["fp32_simple.fma_float"])[0], pocl, protocol=QUICK)
    assert "launches of the same work differ by 8%" in result.flags
