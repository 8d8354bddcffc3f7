"""How many work-groups are resident together, and what NVIDIA's compiler says about kernels."""

import dataclasses
from types import SimpleNamespace

import pytest
from runtimes import run_under_pocl_threads

from clgraph.device import Device, discovery, resident_groups
from clgraph.device.hardware import nvidia
from clgraph.device.hardware.nvidia import (
    KernelUse,
    groups_per_unit,
    largest_group,
    parse_build_log,
    unit_limits,
)
from clgraph.device.programs import compiling, program
from clgraph.device.programs.program import build

HOPPER = (9, 0)


@pytest.mark.parametrize(
    ("registers", "group_size", "local_bytes", "groups"),
    [
        (32, 512, 0, 4),  # by threads
        (40, 512, 0, 3),  # by registers: 65536 / (40 * 512) = 3.2; four of these hung a card
        (40, 256, 0, 6),
        (33, 1024, 0, 1),  # 33 registers are handed out as 40
        (32, 1024, 0, 2),
        (255, 256, 0, 1),
        (255, 512, 0, 0),
        (168, 384, 0, 1),
        (16, 32, 0, 32),  # by groups
        (16, 64, 0, 32),
        (16, 96, 0, 21),
        (16, 33, 0, 32),  # a started warp is a whole one
        (32, 256, 48 << 10, 4),  # by local memory: 49 KiB each of 227
        (32, 256, 16 << 10, 8),
        (32, 256, 1, 8),
        (32, 128, 15 << 10, 14),
        (32, 1024, 227 << 10, 0),
        (32, 1024, 226 << 10, 1),
    ],
)
def test_groups_on_one_multiprocessor_of_an_h200(registers, group_size, local_bytes, groups):
    assert groups_per_unit(HOPPER, registers, group_size, local_bytes) == groups


@pytest.mark.parametrize(
    ("capability", "threads", "groups"),
    [
        ((7, 0), 2048, 32),
        ((7, 5), 1024, 16),
        ((8, 0), 2048, 32),
        ((8, 6), 1536, 16),
        ((8, 7), 1536, 16),
        ((8, 9), 1536, 24),
        ((9, 0), 2048, 32),
        ((10, 0), 2048, 32),
        ((10, 3), 2048, 32),
        ((12, 0), 1536, 24),
        ((12, 1), 1536, 24),
        ((99, 0), 1536, 24),
    ],
)
def test_limits_by_capability(capability, threads, groups):
    limits = unit_limits(capability)
    assert (limits.threads, limits.groups, limits.registers) == (threads, groups, 65536)
    assert groups_per_unit(capability, 16, 32, 0) == groups
    assert groups_per_unit(capability, 16, threads // 2, 0) == 2


def test_limits_of_a_capability_older_than_all():
    assert unit_limits((2, 0)) == unit_limits((3, 0))


@pytest.mark.parametrize("group_size", [32, 64, 128, 256, 384, 512, 1024])
@pytest.mark.parametrize("registers", [1, 16, 24, 32, 40, 63, 64, 128, 255])
def test_resident_groups_never_exceed_what_there_is(registers, group_size):
    for capability, limits in nvidia.UNITS:
        groups = groups_per_unit(capability, registers, group_size, 4096)
        assert groups * group_size <= limits.threads
        assert groups * group_size * registers <= limits.registers
        assert groups * 4096 <= limits.local_bytes


def a_gpu(**changes):
    traits = SimpleNamespace(
        compute_units=132,
        compute_capability=HOPPER,
        local_bytes=48 << 10,
        is_cpu=False,
        graphics_ip=None,
        units_together=1,
    )
    vars(traits).update(changes)
    return SimpleNamespace(traits=traits)


def a_kernel(registers=40, local_bytes=0, max_group_size=1024):
    return SimpleNamespace(
        registers=registers, local_bytes=local_bytes, max_group_size=max_group_size
    )


def test_resident_groups_of_an_h200():
    assert resident_groups(a_gpu(), a_kernel(), 512) == 132 * 3
    assert resident_groups(a_gpu(), a_kernel(32), 512) == 132 * 4
    assert resident_groups(a_gpu(), a_kernel(32, 24 << 10), 256, 24 << 10) == 132 * 4


def test_kernel_that_cannot_run_has_no_resident_group():
    assert resident_groups(a_gpu(), a_kernel(max_group_size=256), 512) == 0
    assert resident_groups(a_gpu(), a_kernel(local_bytes=40 << 10), 512, 16 << 10) == 0


def test_one_group_per_unit_where_limits_are_unknown():
    assert resident_groups(a_gpu(compute_capability=None), a_kernel(), 256) == 132
    assert resident_groups(a_gpu(), a_kernel(registers=None), 256) == 132


def test_resident_groups_of_a_cpu(device):
    source = "__kernel void f(__global uint *a) { a[get_global_id(0)] = 1; }"
    kernel = build(device, source, label="f.cl").kernel("f")
    assert resident_groups(device, kernel, 8) == device.traits.compute_units
    assert resident_groups(device, kernel, 8, device.traits.local_bytes + 1) == 0


EIGHT_GROUPS_MEET = """
import sys
import numpy as np
from clgraph.device import device as find_device, Memory, resident_groups, wait
from clgraph.device.programs.program import build

device = find_device()
kernel = build(device, sys.argv[1], label="meet.cl").kernel("meet")
groups = resident_groups(device, kernel, 1)
assert groups == 8, groups
arrived = Memory(device).upload("arrived", np.zeros(groups + 1, np.uint32))
wait(kernel.launch(groups, 1, arrived, np.uint32(groups)))
assert arrived.read().tolist() == [groups] * (groups + 1)
"""
MEET = """
__kernel void meet(volatile __global uint *arrived, const uint groups) {
    atomic_inc(arrived);
    for (uint spins = 0; atomic_add(arrived, 0u) < groups && spins < 1u << 30; ++spins) {}
    arrived[1 + get_group_id(0)] = atomic_add(arrived, 0u);
}
"""


def test_groups_said_to_be_resident_meet():
    run_under_pocl_threads(EIGHT_GROUPS_MEET, MEET, threads=8)


@pytest.mark.parametrize(
    ("registers", "size"),
    [(32, 1024), (64, 1024), (65, 896), (128, 512), (168, 384), (255, 256)],
)
def test_largest_group_that_registers_allow(registers, size):
    assert largest_group(HOPPER, registers, 1024) == size
    assert largest_group(HOPPER, registers, 128) == 128


BUILD_LOG = """
(): Warning: Function bfs_init is a kernel, so overriding noinline attribute. The function may be inlined when called.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'bfs_persistent' for 'sm_90'
ptxas info    : Function properties for bfs_persistent
ptxas         .     16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 5156 bytes smem, 408 bytes cmem[0]
ptxas info    : Compiling entry function 'bfs_init' for 'sm_90'
ptxas info    : Function properties for bfs_init
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compile time = 1.044 ms
ptxas info    : Function properties for helper
ptxas         .     8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
"""  # noqa: E501


def test_build_log_gives_registers_spills_and_local_memory():
    assert parse_build_log(BUILD_LOG) == {
        "bfs_persistent": KernelUse(40, 16, 32, 5156),
        "bfs_init": KernelUse(12, 0, 0, 0),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Used 40 registers",
        "ptxas info    : Compiling entry function 'f' for 'sm_90'",
        'Kernel "f" was successfully vectorized (16)',
        "ptxas info : Compiling entry function '' for\nUsed x registers",
    ],
)
def test_build_log_without_figures(text):
    assert parse_build_log(text) == {}


def test_local_memory_of_two_kinds_is_added():
    log = BUILD_LOG.replace("5156 bytes smem", "4096+1024 bytes smem")
    assert parse_build_log(log)["bfs_persistent"].local_bytes == 5120


def test_binary_is_changed_in_a_comment_only():
    binary = b"//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 9.0\n"
    one, two = nvidia.unlike_any_other(binary), nvidia.unlike_any_other(binary)
    assert len({one, two, binary}) == 3
    lines = binary.split(b"\n")
    assert one.split(b"\n")[:1] + one.split(b"\n")[2:] == lines
    assert one.split(b"\n")[1].startswith(b"// ")
    assert nvidia.unlike_any_other(b"\x7fELF\n") == b"\x7fELF\n"


def test_figures_are_asked_for_again_where_the_log_has_none(intel, monkeypatch, tmp_path):
    """As on NVIDIA, whose driver says nothing about kernels that it finds in its own cache."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    asked = []

    def assembler_log(_device, binary, _options):
        asked.append(len(binary))
        return BUILD_LOG.replace("bfs_init", "f")

    monkeypatch.setattr(compiling, "_assembler_log", assembler_log)
    capability = dataclasses.replace(intel.traits, compute_capability=HOPPER, max_group_size=1024)
    device = Device(intel.cl, intel.index)
    device.traits, device.context, device.queue = capability, intel.context, intel.queue
    for from_cache in (False, True):
        monkeypatch.setattr(program, "_programs", {})
        source = "__kernel void f(__global uint *a) { a[get_global_id(0)] = 1; }"
        built = build(device, source, label="f.cl")
        assert built.from_cache is from_cache
        assert built.kernel("f").registers == 12
        assert built.kernel("f").max_group_size == 1024
    assert len(asked) == 1


def test_kernel_takes_its_figures_from_the_log(intel, monkeypatch):
    source = "__kernel void f(__global uint *a) { a[get_global_id(0)] = 1; }"
    built = build(intel, source, label="f.cl")
    monkeypatch.setattr(built, "_uses", {"f": KernelUse(40, 0, 8, 512)})
    kernel = built.kernel("f")
    assert (kernel.registers, kernel.spill_bytes, kernel.local_bytes) == (40, 8, 512)


class FakeNvidia:
    """As much of pyopencl.Device as the traits of an NVIDIA card need."""

    extensions = (
        "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics " + nvidia.QUERY
    )
    type = 4
    platform = SimpleNamespace(name="NVIDIA CUDA")
    compute_capability_major_nv, compute_capability_minor_nv = HOPPER
    max_compute_units, max_work_group_size = 132, 1024
    local_mem_size, global_mem_cache_size = 48 << 10, 4 << 20
    global_mem_size, max_mem_alloc_size = 150 << 30, 37 << 30


def test_traits_of_an_h200(monkeypatch):
    monkeypatch.setattr(nvidia, "cache_bytes", lambda _: 50 << 20)
    traits = discovery.probe_traits(FakeNvidia())
    assert dataclasses.asdict(traits) == {
        "lanes": 32,
        "lane_ops": "ptx",
        "memory_ops": "ptx",
        "grid_barrier": True,
        "compute_units": 132,
        "max_group_size": 1024,
        "local_bytes": 48 << 10,
        "cache_bytes": 50 << 20,
        "global_bytes": 150 << 30,
        "max_alloc_bytes": 37 << 30,
        "threads_per_unit": 2048,
        "registers_per_unit": 65536,
        "compute_capability": (9, 0),
        "int64_atomics": True,
        "fp64": True,
        "is_cpu": False,
        "build_options": ("-cl-nv-verbose", "-w"),
        "graphics_ip": None,
        "units_together": 1,
        "local_banks": 32,
        "emulated": False,
    }
    assert dataclasses.is_dataclass(traits)
    with pytest.raises(dataclasses.FrozenInstanceError):
        traits.lanes = 8


def test_cache_size_is_unknown_without_the_cuda_driver(monkeypatch):
    def refuse(name):
        raise OSError(name)

    monkeypatch.setattr(nvidia.ctypes, "CDLL", refuse)
    assert nvidia.cache_bytes(FakeNvidia()) == 0


def test_registers_are_limited_where_the_compiler_can_be_told():
    assert nvidia.register_limit((9, 0), 80) == ("-cl-nv-maxrregcount=80",)
    assert nvidia.register_limit((9, 0), 0) == nvidia.register_limit(None, 80) == ()
