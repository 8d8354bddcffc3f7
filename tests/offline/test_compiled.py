"""Every kernel compiles for devices that are not here, and takes no more than it should."""

import functools
import itertools
import json
import re
from pathlib import Path

import pytest
from collectives import skipped
from compilers import build, complaints, nvidia, operations, ptxas
from local_memory import entry_points

from bench.studies.plans import ALGORITHMS, plans
from bench.studies.recorded import RECORDED
from bench.studies.renderings import on_device, rendered
from clgraph.device.rendering.sources import render

# Plans are made on a device that is there, whose traits are replaced.
pytestmark = pytest.mark.usefixtures("pocl")
ROOT = Path(__file__).resolve().parents[2]
# Registers, bytes of a work-item's memory and of local memory that the kernels of a file take at
# most, as compilers said; from record_limits.py.
LIMITS = json.loads((Path(__file__).parent / "limits.json").read_text())
SPARE = 1.15  # for what another version of a compiler makes of it
SPARE_BYTES = 64  # of local memory, whose arrays may be aligned
SPILLS = {"h200": 64}  # bytes of a work-item; where registers are bound, a small change moves some
# One of each kind of kernel, for a quick look.
SOME = {
    "bfs/bfs.cl": ("bfs",),
    "sssp/sssp.cl": ("sssp",),
    "scc/steps.cl": ("scc", "multistep"),
    "multi_search/ms_bfs.cl": ("totals", "targets"),
}
# What only processors run, none of which is here; and what only devices do on which pinned memory
# has the address that it has on the host.
OF_PROCESSORS = {"communities/merge.cl", "edges/buckets.cl"}
MAILBOXES = {"bfs/copies/renumber.cl", "bfs/parts_levels.cl", "primitives/post.cl"}
WORDS = "primitives/lanes_check.cl"
PEEL, PEEL_REGISTERS = "truss/peel.cl", 84  # by clang 19 and ptxas 13 they are 80

# Instructions of the vocabulary, each of which a slower form would replace.
INSTRUCTIONS = {
    "gfx90a": ("ds_bpermute_b32", "v_readlane_b32", "row_shr:8", "row_bcast:31"),
    "gfx942": ("ds_bpermute_b32", "v_readlane_b32", "row_shr:8", "row_bcast:31"),
    "gfx1100": ("ds_bpermute_b32", "v_permlanex16_b32", "row_xmask:8"),
    "h200": ("vote.sync.ballot.b32", "shfl.sync.idx", "redux.sync.add", "match.any.sync"),
}
CLOCKS = {
    "gfx90a": "s_memrealtime",
    "gfx942": "s_memrealtime",
    "gfx1100": r"s_sendmsg_rtn_b64 .*REALTIME",
    "h200": "%globaltimer",
}
STREAMED = {"gfx942": r"global_load_dword .* nt", "gfx1100": r"global_load_b32 .* slc"}
# Of SPIR-V: sum and minimum over a sub-group, ballot, shuffle and shuffle by a distance.
GROUP_OPERATIONS = {264, 267, 339, 345, 347}


@functools.cache
def programs(device, algorithm):
    """Give the different texts of an algorithm on a device, with file and first plan of each."""
    found = {}
    for plan in plans([algorithm]):
        for what in texts_of(device, plan):
            found.setdefault(what.source, (what.label, plan.name))
    return [(label, name, source) for source, (label, name) in found.items()]


@functools.cache
def texts_of(device, plan):
    """Give the programs that a plan builds on a device; rendering takes most of a quick look."""
    return [what for what in rendered(plan.build, on_device(device)) if what.label != "refused"]


def program(device, label, algorithm, preset="auto"):
    """Give the first text of one file in a preset of an algorithm, and the plan that builds it."""
    for plan in plans([algorithm]):
        if plan.preset == preset:
            for what in texts_of(device, plan):
                if what.label == label:
                    return plan.name, what.source
    raise AssertionError(f"{algorithm} {preset} does not build {label} for {device}")


def files(device=None):
    """List the kernel files that some algorithm must build, for a device or for any of these."""
    found = {str(path.relative_to(ROOT / "kernels_cl")) for path in ROOT.glob("kernels_cl/**/*.cl")}
    snippets = {name for name in found if name.startswith("multi_search/searches/")}
    checks = {name for name in found if name.endswith("self_test.cl")}
    # Every measurement has a program of its own; those that are never launched are not reached.
    measures = {name for name in found if name.startswith(("microbenchmarks/", "profile/"))}
    elsewhere = MAILBOXES if device and RECORDED[device].memory_ops != "ptx" else set()
    return found - snippets - checks - measures - OF_PROCESSORS - elsewhere


@functools.cache
def one_of_each_file(device):
    """Render the first presets of all algorithms, the second ones, until every file is there."""
    wanted, found = files(device), {}
    every = (algorithm.plans() for algorithm in ALGORITHMS if algorithm.name != "microbenchmarks")
    for plan in filter(None, itertools.chain(*itertools.zip_longest(*every))):
        if wanted <= set(found):
            break
        for what in texts_of(device, plan):
            found.setdefault(what.label, (plan.name, what.source))
    return found


@pytest.mark.parametrize("device", RECORDED)
def test_every_file_has_limits(device):
    """Else the slow tests, of which only some are run at a time, fail for want of them."""
    assert sorted(files(device) - set(LIMITS[device])) == []


def compiled(device, name, source, folder, optimise="-O3"):
    """Build without complaints what takes no more than it declares and the device has."""
    built = build(source, folder, device, optimise)
    assert not built.complaints, f"{name} for {device}:\n{built.complaints}"
    declared = {kernel: (size, room) for kernel, size, room in entry_points(source)}
    assert set(built.uses) == set(declared) or (device == "h200" and ptxas() is None)
    for kernel, use in built.uses.items():
        size, room = declared[kernel]
        traits = RECORDED[device]
        assert use.local_bytes <= traits.local_bytes, f"{name}, {kernel}: {use}"
        assert size <= traits.max_group_size, f"{name}, {kernel}: {size} work-items"
        # What test_any_device.py counts on: the compiler finds no more than is declared; but AMD's
        # moves arrays of work-items into local memory that is left over.
        more = use.local_bytes > room + SPARE_BYTES
        assert not more or device.startswith("gfx"), f"{name}, {kernel}: {use}, declared {room}"
    assert not built.binary or skipped(built.binary) == [], name
    return built


def check(device, label, name, source, folder, optimise="-O3"):
    """Build what takes no more than the table allows."""
    built = compiled(device, name, source, folder, optimise)
    if optimise != "-O3":
        return built
    registers, stack, local_bytes = LIMITS[device][label]
    for kernel, use in built.uses.items():
        assert use.registers <= registers * SPARE, f"{name}, {kernel}: {use}"
        assert use.stack_bytes <= stack + SPILLS.get(device, 0), f"{name}, {kernel}: {use}"
        assert use.local_bytes <= local_bytes, f"{name}, {kernel}: {use}"
    return built


@pytest.mark.parametrize("device", RECORDED)
def test_words_become_instructions(device, tmp_path):
    """A wave ballot, not a loop."""
    name, source = program(device, WORDS, "primitives", "lanes")
    built = check(device, WORDS, name, source, tmp_path)
    if device in INSTRUCTIONS:
        missing = [word for word in INSTRUCTIONS[device] if not re.search(word, built.text)]
        assert missing == []
    else:
        assert operations(built.words) >= GROUP_OPERATIONS
    if device.startswith("gfx"):
        (use,) = built.uses.values()
        assert (use.stack_bytes, use.local_bytes, use.spill_bytes) == (0, 0, 0)
        # Only lane_match_any goes round, once for each value, and lane_match_low, which it is here.
        assert len(loops(built.text)) == 2


def loops(text):
    """Give the labels that are jumped back to."""
    seen, found = set(), set()
    for line in text.splitlines():
        if label := re.match(r"(\.LBB\w+):", line):
            seen.add(label[1])
        elif jump := re.search(r"s_c?branch\w* (\.LBB\w+)", line):
            found |= {jump[1]} & seen
    return found


@pytest.mark.parametrize("device", CLOCKS)
def test_levels_are_timed_by_the_devices_clock(device, tmp_path):
    name, source = program(device, "bfs/bfs.cl", "bfs")
    assert re.search(CLOCKS[device], check(device, "bfs/bfs.cl", name, source, tmp_path).text)


@pytest.mark.parametrize("device", STREAMED)
def test_streams_are_kept_out_of_the_cache(device, tmp_path):
    _, source = program(device, "sssp/sssp.cl", "sssp", "h-bf")
    assert "load_streaming(" in source[source.index("__kernel") :]
    assert re.search(STREAMED[device], build(source, tmp_path, device).text)


@pytest.mark.parametrize("device", ["dg2", "h200", "gfx942"])
@pytest.mark.parametrize("label", SOME)
def test_some_files(device, label, tmp_path):
    name, source = program(device, label, *SOME[label])
    check(device, label, name, source, tmp_path)


@pytest.mark.rest
def test_bands_of_wide_keys_fit(tmp_path):
    """Keys of 64 bits leave room in 48 KiB, where bands are the choice on a card."""
    texts = [
        (name, source)
        for label, name, source in programs("h200", "sssp")
        if label == "sssp/sssp.cl" and "int64" in name and ("auto kron" in name or "delta" in name)
    ]
    assert len(texts) == 2
    for name, source in texts:
        for use in check("h200", "sssp/sssp.cl", name, source, tmp_path).uses.values():
            assert use.local_bytes < 48 << 10


@pytest.mark.rest
@pytest.mark.parametrize("device", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.slow)])
def test_every_file_is_free_of_errors_and_warnings(device, tmp_path):
    """What a compiler says before it makes instructions, which takes most of its time."""
    for label, (name, source) in one_of_each_file(device).items():
        assert complaints(source, tmp_path, device) == "", f"{label} of {name}"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [algorithm.name for algorithm in ALGORITHMS])
@pytest.mark.parametrize("device", RECORDED)
def test_every_preset(device, algorithm, tmp_path):
    for label, name, source in programs(device, algorithm):
        check(device, label, name, source, tmp_path)


def test_the_peel_of_trusses_keeps_the_registers_of_wide_groups(tmp_path):
    """A field more in its stage word took 90 of them, and half as long again on a card.

    The limits above leave compilers more room than that: groups of 1,024 have 64 each, and what the
    one here takes without a bound says how much is kept elsewhere.
    """
    (stage,) = {
        re.search(r"uint (generation, .*);", what.source)[1]
        for plan in plans(["truss-peel"])
        for what in texts_of("h200", plan)
        if what.label == PEEL
    }
    assert stage.split(", ")[5:] == ["queue", "list", "length", "stamp", "level"]
    name, source = program("h200", PEEL, "truss-peel", "rows")
    assert "reqd_work_group_size(1024, 1, 1)" in source
    check("h200", PEEL, name, source, tmp_path)
    uses = nvidia(source, tmp_path, bound=False).uses
    assert all(use.registers <= PEEL_REGISTERS for use in uses.values()), uses


# One flavour of each kind by default; the others have the same words and are rendered as well.
FLAVOURS = {"gfx942": "amdgcn", "dg2": "khr", "h200": "ptx"}


@pytest.mark.parametrize(
    "device",
    [pytest.param(name, marks=[] if name in FLAVOURS else pytest.mark.slow) for name in RECORDED],
)
def test_no_algorithm_is_without_a_build(device):
    """Every kernel file of the library is among those that are compiled for every flavour."""
    assert files(device) == set(one_of_each_file(device))


def test_every_algorithm_is_in_the_list_of_builds():
    """A package of kernels belongs to an algorithm, and an algorithm has kernels in that list."""
    assert {RECORDED[name].lane_ops for name in FLAVOURS} == set(FLAVOURS.values())
    folders = {name.partition("/")[0] for name in files()}
    homes = {path.parent.name for path in ROOT.glob("clgraph/algorithms/*/__init__.py")}
    assert homes <= folders


def test_a_missing_word_is_a_complaint(tmp_path):
    """The tests above can fail."""
    _, source = program("gfx942", WORDS, "primitives", "lanes")
    wrong = source.replace("__builtin_amdgcn_readlane(", "lane_of_nothing(")
    assert "lane_of_nothing" in build(wrong, tmp_path, "gfx942").complaints


def test_what_is_scanned_in_place_is_not_read_as_if_nobody_wrote_it(tmp_path):
    """A GPU's loads of constant data may be moved beyond stores, and do not see them."""

    def constant(name, **params):
        params |= {
            "index": "uint",
            "group_size": 256,
            "items": 4,
            "looks": 1,
            "ahead": 0,
            "state_head": 16,
        }
        source = render(f"primitives/{name}.cl", {"traits": RECORDED["h200"], **params})
        built = build(source, tmp_path, "h200")
        assert not built.complaints
        entries = {part.split("(")[0].strip(): part for part in built.text.split(".entry")[1:]}
        return {name: len(re.findall(r"ld\.global\.nc", text)) for name, text in entries.items()}

    assert (
        constant("scan", type="uint", operator="add")["scan_apply"] == 1
    )  # where the chunks' totals are
    pairs = constant("scan", type="uint2", operator="affine")
    assert pairs["scan_apply"] == 1
    assert pairs["scan_fold"] == 4  # one element after the other, so that this can tell
    assert constant("scan_sweep", type="uint2", operator="affine")["scan_sweep"] == 0
