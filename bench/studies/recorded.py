"""Devices that are not here: their traits, as `clgraph.device` finds or would find them."""

from __future__ import annotations

from dataclasses import replace

from clgraph.device import DeviceTraits

__all__ = ["H200", "RECORDED"]

H200 = DeviceTraits(
    lanes=32,
    lane_ops="ptx",
    memory_ops="ptx",
    grid_barrier=True,
    compute_units=132,
    max_group_size=1024,
    local_bytes=49152,
    cache_bytes=62914560,
    global_bytes=150_000_000_000,
    max_alloc_bytes=37_500_000_000,
    threads_per_unit=2048,
    registers_per_unit=65536,
    compute_capability=(9, 0),
    int64_atomics=True,
    fp64=True,
    is_cpu=False,
    build_options=("-cl-nv-verbose", "-w"),
    local_banks=32,
)

# Sizes from AMD's and Intel's publications of these products, in the form that OpenCL drivers give
# them: none of these was asked.
_AMD = replace(
    H200,
    lanes=64,
    lane_ops="amdgcn",
    memory_ops="amdgcn",
    local_bytes=64 << 10,
    compute_capability=None,
    build_options=("-cl-std=CL2.0", "-w"),
)
_INTEL = replace(
    H200,
    lanes=16,
    lane_ops="khr",
    memory_ops="c11",
    grid_barrier=False,
    local_bytes=64 << 10,
    registers_per_unit=0,
    compute_capability=None,
    local_banks=0,
    build_options=("-cl-std=CL3.0", "-w"),
)

RECORDED: dict[str, DeviceTraits] = {
    "h200": H200,
    # Instinct MI250, one of its two dies.
    "gfx90a": replace(
        _AMD,
        compute_units=104,
        cache_bytes=8 << 20,
        global_bytes=64 << 30,
        max_alloc_bytes=54 << 30,
        threads_per_unit=2048,
        registers_per_unit=4 * 512 * 64,
        graphics_ip=(9, 0, 10),
    ),
    # Instinct MI300X.
    "gfx942": replace(
        _AMD,
        compute_units=304,
        cache_bytes=4 << 20,
        global_bytes=192 << 30,
        max_alloc_bytes=163 << 30,
        threads_per_unit=2048,
        registers_per_unit=4 * 512 * 64,
        graphics_ip=(9, 4, 2),
    ),
    # Radeon RX 7900 XTX; a unit is a pair of them that shares its local memory.
    "gfx1100": replace(
        _AMD,
        lanes=32,
        compute_units=48,
        cache_bytes=6 << 20,
        global_bytes=24 << 30,
        max_alloc_bytes=20 << 30,
        threads_per_unit=2048,
        registers_per_unit=4 * 1536 * 32,
        graphics_ip=(11, 0, 0),
    ),
    # Iris Xe with 96 execution units, in a laptop's processor.
    "tgllp": replace(
        _INTEL,
        compute_units=96,
        max_group_size=512,
        cache_bytes=3840 << 10,
        global_bytes=12 << 30,
        max_alloc_bytes=4 << 30,
        threads_per_unit=7 * 16,
        units_together=16,
        fp64=False,
    ),
    # Arc A770.
    "dg2": replace(
        _INTEL,
        compute_units=512,
        max_group_size=1024,
        cache_bytes=16 << 20,
        global_bytes=16 << 30,
        max_alloc_bytes=4 << 30,
        threads_per_unit=8 * 16,
        units_together=16,
        fp64=False,
    ),
}
