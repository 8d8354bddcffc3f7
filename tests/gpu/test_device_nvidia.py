"""What is promised for NVIDIA cards, on a real one; run by hand."""

import ctypes
import time

import numpy as np
import pytest
from launches import overheads_ms
from runtimes import clean_environment, run_python

from clgraph.device import Memory, load, resident_groups, wait
from clgraph.device import device as find_device
from clgraph.device.hardware.nvidia import groups_per_unit, unit_limits
from clgraph.device.lazy import cl
from clgraph.device.programs import program
from clgraph.errors import ClgraphError, DeviceMemoryError, KernelBuildError

pytestmark = pytest.mark.gpu

MEET = """
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void meet(volatile __global uint *arrived, const uint groups, const uint patience,
                   __local uint *unused) {
    if (get_local_id(0) == 0) {
        unused[0] = 0;
        atomic_inc(arrived);
        for (uint spins = 0; atomic_add(arrived, 0u) < groups && spins < patience; ++spins) {}
        if (atomic_add(arrived, 0u) < groups) { atomic_inc(arrived + 1); }
    }
}
"""
KEEP = """
__kernel void keep(__global float *x, const uint rounds) {
    float a[${count}];
    #pragma unroll
    for (int i = 0; i < ${count}; ++i) { a[i] = x[i * get_global_size(0) + get_global_id(0)]; }
    for (uint r = 0; r < rounds; ++r) {
        #pragma unroll
        for (int i = 0; i < ${count}; ++i) { a[i] = a[i] * a[(i + 1) % ${count}] + 0.5f; }
    }
    #pragma unroll
    for (int i = 0; i < ${count}; ++i) { x[i * get_global_size(0) + get_global_id(0)] = a[i]; }
}
"""


def test_found_without_a_registration_file(gpu):
    assert gpu.traits.lane_ops == "ptx"
    assert find_device() == find_device("gpu") == gpu
    done = run_python(
        "import clgraph as cg; print(cg.device().name)",
        env=clean_environment(),
    )
    assert done.stdout.strip() == gpu.name


def test_traits_agree_with_the_cuda_driver(gpu):
    """The table of limits, against the attributes that the CUDA driver gives for the card."""
    cuda = ctypes.CDLL("libcuda.so.1")
    assert cuda.cuInit(0) == 0

    def attribute(number):
        value = ctypes.c_int(0)
        assert cuda.cuDeviceGetAttribute(ctypes.byref(value), number, 0) == 0
        return value.value

    traits, limits = gpu.traits, unit_limits(gpu.traits.compute_capability)
    assert traits.compute_capability == (attribute(75), attribute(76))
    assert traits.compute_units == attribute(16)
    assert traits.cache_bytes == attribute(38)
    assert traits.threads_per_unit == limits.threads == attribute(39)
    assert limits.local_bytes == attribute(81) - attribute(111)
    assert limits.reserved_bytes == attribute(111)
    assert limits.registers == traits.registers_per_unit == attribute(82)
    assert limits.groups == attribute(106)
    assert traits.lanes == attribute(10)


@pytest.mark.parametrize("count", [4, 32, 64])
def test_registers_and_spills_come_from_the_build_log(gpu, tmp_path, count):
    (tmp_path / "keep.cl").write_text(KEEP)
    kernel = load(gpu, "keep.cl", folders=(tmp_path,), count=count).kernel("keep")
    assert kernel.registers is not None
    assert count <= kernel.registers <= 255
    assert kernel.spill_bytes == 0
    size = kernel.max_group_size
    values = Memory(gpu).upload("values", np.zeros(count * 1056, np.float32))
    wait(kernel.launch(size, size, values, np.uint32(1)))
    with pytest.raises(ClgraphError, match="could not be launched"):
        kernel.launch(size + 32, size + 32, values, np.uint32(1))


def test_spills_are_seen(gpu, tmp_path):
    (tmp_path / "keep.cl").write_text(KEEP)
    kernel = load(gpu, "keep.cl", folders=(tmp_path,), count=160).kernel("keep")
    assert kernel.spill_bytes > 0


@pytest.mark.parametrize("group_size", [256, 512, 1024])
def test_groups_up_to_the_limit_run(gpu, group_size):
    """Also without a required size, although the driver says that 256 is the most."""
    source = "__kernel void f(__global uint *a, const uint x) { a[get_global_id(0)] = x; }"
    kernel = program.build(gpu, source, label="f.cl").kernel("f")
    assert kernel.max_group_size == 1024
    array = Memory(gpu).allocate("a", 1024, np.uint32)
    wait(kernel.launch(group_size, group_size, array, np.uint32(group_size)))
    assert (array.read(group_size) == group_size).all()


def test_figures_are_there_although_the_driver_has_the_kernel_cached(gpu, tmp_path, monkeypatch):
    source = f"__kernel void f(__global uint *a) {{ a[0] = {time.time_ns() % 2**32}u; }}"
    figures = []
    for name in ("one", "two"):
        monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / name))
        monkeypatch.setattr(program, "_programs", {})
        built = program.build(gpu, source, label="f.cl")
        assert not built.from_cache
        figures.append(built.kernel("f").registers)
    assert figures[0] == figures[1] is not None


@pytest.mark.gpu(alone=True)  # a card that is shared by turns makes room for all groups
@pytest.mark.parametrize(
    ("group_size", "local_bytes"),
    [(32, 4), (64, 4), (256, 4), (512, 4), (1024, 4), (256, 16 << 10), (128, 47 << 10), (96, 8)],
)
def test_resident_groups_meet_and_one_more_a_unit_does_not(gpu, tmp_path, group_size, local_bytes):
    (tmp_path / "meet.cl").write_text(MEET)
    kernel = load(gpu, "meet.cl", folders=(tmp_path,), group_size=group_size).kernel("meet")
    resident = resident_groups(gpu, kernel, group_size, local_bytes)
    assert resident > 0
    more = resident + gpu.traits.compute_units
    late = {}
    for groups, patience in ((resident, 1 << 22), (more, 1 << 16)):
        arrived = Memory(gpu).upload("arrived", np.zeros(2, np.uint32))
        args = (arrived, np.uint32(groups), np.uint32(patience), cl.LocalMemory(local_bytes))
        wait(kernel.launch(groups * group_size, group_size, *args))
        late[groups] = int(arrived.read()[1])
    assert late[resident] == 0, "groups that were said to be resident never met"
    assert late[more] > 0, "more groups are resident than was said: occupancy is left unused"


def test_registers_limit_residency(gpu, tmp_path):
    (tmp_path / "keep.cl").write_text(KEEP)
    kernel = load(gpu, "keep.cl", folders=(tmp_path,), count=64).kernel("keep")
    expected = groups_per_unit(gpu.traits.compute_capability, kernel.registers, 256, 0)
    assert resident_groups(gpu, kernel, 256) == expected * gpu.traits.compute_units
    assert expected < gpu.traits.threads_per_unit // 256


def test_binary_keeps_the_build_log(gpu, tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "keep.cl").write_text(KEEP)
    times = []
    for expected in (False, True):
        monkeypatch.setattr(program, "_programs", {})
        begin = time.perf_counter()
        built = load(gpu, "keep.cl", folders=(tmp_path,), count=32)
        times.append(time.perf_counter() - begin)
        assert built.from_cache is expected
        assert built.kernel("keep").registers
    print(f"build {times[0] * 1e3:.1f} ms, from the cache {times[1] * 1e3:.1f} ms")  # noqa: T201


def test_build_error_shows_the_line(gpu):
    source = "__kernel void f(__global uint *a) {\n    a[0] = nothing;\n}\n"
    with pytest.raises(KernelBuildError, match=r"use of undeclared.* \(line 2\)\n.*\n  >    2 \|"):
        program.build(gpu, source, label="f.cl")


def test_assembler_error_is_shown(gpu):
    source = '__kernel void f(__global uint *a) { asm volatile("no_such_thing;"); a[0] = 1; }'
    with pytest.raises(KernelBuildError, match=r"no_such_thing|ptxas|arsing"):
        program.build(gpu, source, label="f.cl")


def test_more_memory_than_the_card_has(gpu):
    memory = Memory(gpu)
    piece = gpu.traits.max_alloc_bytes // 4
    with pytest.raises(DeviceMemoryError, match="one allocation there may have"):
        memory.allocate("indices", piece + 1024, np.uint32)
    fits = memory.free_bytes // (4 * piece)
    held = [memory.allocate("indices", piece, np.uint32) for _ in range(fits)]
    assert fits >= 2
    with pytest.raises(
        DeviceMemoryError, match=r"^'indices' needs \d+ bytes on .*, where \d+ are free"
    ):
        memory.allocate("indices", piece, np.uint32)
    held.clear()
    assert memory.allocate("indices", piece, np.uint32).count == piece


@pytest.mark.gpu(alone=True)  # it reads the host's clock
def test_launch_and_wait_overhead(gpu):
    launch, total = overheads_ms(gpu)
    print(f"launch {launch * 1e3:.1f} us, and wait, beyond the kernel {total * 1e3:.1f} us")  # noqa: T201
    assert total < 0.060
