"""Whatever a device is like: a configuration resolves, renders and fits it, or says why not."""

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local_memory import entry_points

from bench.studies.plans import ALGORITHMS, plans
from bench.studies.recorded import H200, RECORDED
from bench.studies.renderings import on_device, rendered

# Plans are made on a device that is there, whose traits are replaced.
pytestmark = pytest.mark.usefixtures("pocl")
KIB = 1 << 10
SENTENCE = re.compile(r"[^\n]{20,400}\.")
# What a lane flavour goes with: memory words, 64-bit atomics and the other facts that follow.
FLAVOURS = {
    "scalar": {"memory_ops": ("plain", "c11"), "lanes": (1,)},
    "khr": {"memory_ops": ("c11", "plain"), "lanes": (2, 4, 8, 16, 32, 64)},
    "amdgcn": {"memory_ops": ("amdgcn",), "lanes": (32, 64)},
    "ptx": {"memory_ops": ("ptx",), "lanes": (32,)},
}


@st.composite
def devices(draw, flavours=tuple(FLAVOURS)):
    """Draw the traits of a GPU that may exist, or may not."""
    lane_ops = draw(st.sampled_from(flavours))
    flavour = FLAVOURS[lane_ops]
    lanes = draw(st.sampled_from(flavour["lanes"]))
    units = draw(st.sampled_from((1, 7, 96, 304)))
    computed = lane_ops in {"ptx", "amdgcn"}
    return dataclasses.replace(
        H200,
        lanes=lanes,
        lane_ops=lane_ops,
        memory_ops=draw(st.sampled_from(flavour["memory_ops"])),
        grid_barrier=computed,
        compute_units=units,
        max_group_size=max(draw(st.sampled_from((64, 128, 256, 512, 1024))), lanes),
        local_bytes=draw(st.sampled_from((16, 24, 32, 48, 64, 100, 163, 228))) * KIB,
        threads_per_unit=2048 if computed or draw(st.booleans()) else 0,
        registers_per_unit=65536 if computed else 0,
        compute_capability=(9, 0) if lane_ops == "ptx" else None,
        graphics_ip={64: (9, 0, 10), 32: (11, 0, 0)}[lanes] if lane_ops == "amdgcn" else None,
        int64_atomics=computed or draw(st.booleans()),
        fp64=draw(st.booleans()),
        build_options=(),
    )


def misfits(plan, traits):
    """Say what does not fit of what a plan renders on a device with such traits."""
    device = on_device("h200")
    device.__dict__["traits"] = traits
    found = rendered(plan.build, device)
    assert found, f"{plan.name} builds nothing"
    wrong = []
    for what in found:
        if what.label == "refused":
            if not SENTENCE.fullmatch(what.source):
                wrong.append(f"{plan.name} is not refused in one sentence: {what.source}")
            continue
        for kernel, size, local_bytes in entry_points(what.source):
            if kernel not in what.kernels:
                continue
            if size > traits.max_group_size or local_bytes > traits.local_bytes:
                wrong.append(f"{plan.name}: {kernel} has {size} items, {local_bytes} bytes")
            if size % traits.lanes and size > 1:
                wrong.append(f"{plan.name}: {kernel} has {size} items for {traits.lanes} lanes")
    return wrong


# Of a small device of each flavour what is launched first: the whole is drawn by the slow tests.
SMALL = {
    "scalar": {"lanes": 1, "memory_ops": "plain", "graphics_ip": None},
    "khr": {"lanes": 64, "memory_ops": "c11", "graphics_ip": None},
    "amdgcn": {"lanes": 64, "memory_ops": "amdgcn", "graphics_ip": (9, 0, 10)},
}


def small(lane_ops):
    return dataclasses.replace(
        RECORDED["gfx942"],
        **SMALL[lane_ops],
        lane_ops=lane_ops,
        local_bytes=16 * KIB,
        max_group_size=64,
        fp64=False,
        int64_atomics=lane_ops == "amdgcn",
        grid_barrier=lane_ops == "amdgcn",
    )


@pytest.mark.parametrize("lane_ops", SMALL)
def test_every_algorithm_fits_a_small_device_or_says_why_not(lane_ops):
    traits = small(lane_ops)
    first = [next(algorithm.plans()) for algorithm in ALGORITHMS]
    unmeasured = [plan for plan in first if plan.algorithm.name != "microbenchmarks"]
    assert [wrong for plan in unmeasured for wrong in misfits(plan, traits)] == []


@pytest.mark.parametrize("name", ["triangles-of", "dynamic", "primitives", "scc"])
@pytest.mark.parametrize("kib", [16, 32])
def test_tables_of_work_groups_shrink_with_local_memory(name, kib):
    """A batch of edges was sorted in 33 KB whatever there was."""
    traits = dataclasses.replace(small("amdgcn"), local_bytes=kib * KIB)
    assert [wrong for plan in plans([name]) for wrong in misfits(plan, traits)] == []


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True)
@given(devices(), st.data())
def test_every_algorithm_fits_or_says_why_not(traits, data):
    """Lanes 1 to 64, local memory 16 to 228 KiB, groups 64 to 1,024, 64-bit atomics or none."""
    for algorithm in ALGORITHMS:
        plan = data.draw(st.sampled_from(list(algorithm.plans())))
        assert misfits(plan, traits) == []


@pytest.mark.slow
@settings(max_examples=5, deadline=None, derandomize=True)
@given(devices())
def test_every_preset_fits_or_says_why_not(traits):
    assert [wrong for plan in plans() for wrong in misfits(plan, traits)] == []


# What a device may be without, by what a refusal says of it.
LACKS = {
    "double precision": lambda traits: not traits.fp64,
    "host memory has the address": lambda traits: traits.memory_ops != "ptx",
    "on processors only": lambda traits: not traits.is_cpu,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_devices_refuse_nothing_but_what_they_lack(name):
    """Every preset of every algorithm has a program for each of the recorded devices, that fits."""
    device = on_device(name)
    lacking = [said for said, lacks in LACKS.items() if lacks(device.traits)]
    presets = [plan for plan in plans() if plan.shape == "kron" and plan.weights in {"", "int64"}]
    refused = {
        f"{plan.name}: {what.source}"
        for plan in presets
        for what in rendered(plan.build, device)
        if what.label == "refused" and not any(said in what.source for said in lacking)
    }
    assert refused == set()
    assert [wrong for plan in presets for wrong in misfits(plan, RECORDED[name])] == []


def test_published_tables_leave_room_where_units_run_a_group_together():
    """A table took all local memory of an Arc: 16 of its units run a group together."""
    for plan in plans(["bfs", "bfs-tree"]):
        if plan.preset == "bfs-4k":
            assert misfits(plan, RECORDED["dg2"]) == []


def test_one_lane_of_a_gpu_asks_for_little():
    """The first search on a GPU without lanes asked for 4 MB of local memory in one group."""
    traits = dataclasses.replace(
        RECORDED["gfx942"], lanes=1, lane_ops="scalar", memory_ops="plain", graphics_ip=None
    )
    for plan in plans(["bfs", "bfs-tree"]):
        if plan.preset == "auto":
            assert misfits(plan, traits) == []


def test_a_device_without_64_bit_atomics_is_told_so():
    """Mesa's rusticl on a processor has none; its compiler called each use of one ambiguous."""
    traits = dataclasses.replace(
        RECORDED["dg2"], lanes=1, lane_ops="scalar", memory_ops="plain", int64_atomics=False
    )
    device = on_device("dg2")
    device.__dict__["traits"] = traits
    needed = {}
    for name in ("bfs", "components"):
        needed[name] = [what.source for what in rendered(next(plans([name])).build, device)]
    assert "needs 64-bit atomics" in needed["bfs"][-1]
    assert SENTENCE.fullmatch(needed["bfs"][-1])
    assert not any("64-bit atomics (" in text for text in needed["components"])


def test_a_misfit_is_seen():
    """The test above can fail: a device smaller than any rule knows of."""
    traits = dataclasses.replace(RECORDED["dg2"], local_bytes=600)
    assert any("bytes" in wrong for plan in plans(["bfs"]) for wrong in misfits(plan, traits))
