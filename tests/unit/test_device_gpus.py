"""AMD's and Intel's GPUs: what is asked, what follows for work-groups, what a binary tells."""

import struct
from types import SimpleNamespace

import pytest

from clgraph.device import native, resident_groups
from clgraph.device.hardware import amd
from clgraph.device.hardware.nvidia import KernelUse
from clgraph.device.hardware.traits import SUB_GROUP_EXTENSIONS, probe_traits
from clgraph.profile.microbenchmarks.memories import Words, banks_of, conflicts

ATOMICS = "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "


def amd_card(name="gfx90a:sramecc+:xnack-", wave=64, **changes):
    """As much of pyopencl.Device as the traits of an AMD card need."""
    card = SimpleNamespace(
        name=name,
        extensions=ATOMICS + amd.QUERY,
        type=4,
        platform=SimpleNamespace(name=amd.PLATFORM),
        wavefront_width_amd=wave,
        simd_per_compute_unit_amd=4,
        local_mem_banks_amd=32,
        max_compute_units=104,
        max_work_group_size=1024,
        local_mem_size=64 << 10,
        global_mem_cache_size=8 << 20,
        global_mem_size=64 << 30,
        max_mem_alloc_size=54 << 30,
    )
    vars(card).update(changes)
    return card


@pytest.mark.parametrize(
    ("name", "wave", "version", "threads", "registers"),
    [
        ("gfx90a:sramecc+:xnack-", 64, (9, 0, 10), 4 * 8 * 64, 4 * 512 * 64),
        ("gfx942", 64, (9, 4, 2), 4 * 8 * 64, 4 * 512 * 64),
        ("gfx906", 64, (9, 0, 6), 4 * 10 * 64, 4 * 256 * 64),
        ("gfx90c", 64, (9, 0, 12), 4 * 10 * 64, 4 * 256 * 64),
        ("gfx803", 64, (8, 0, 3), 4 * 10 * 64, 4 * 256 * 64),
        ("gfx1030", 32, (10, 3, 0), 4 * 16 * 32, 4 * 1024 * 32),
        ("gfx1100", 32, (11, 0, 0), 4 * 16 * 32, 4 * 1536 * 32),
        ("gfx1103", 32, (11, 0, 3), 4 * 16 * 32, 4 * 1024 * 32),
        ("gfx1201", 32, (12, 0, 1), 4 * 16 * 32, 4 * 1536 * 32),
    ],
)
def test_traits_of_amd_cards(name, wave, version, threads, registers):
    traits = probe_traits(amd_card(name, wave))
    assert (traits.lanes, traits.lane_ops, traits.memory_ops) == (wave, "amdgcn", "amdgcn")
    assert traits.graphics_ip == version
    assert (traits.threads_per_unit, traits.registers_per_unit) == (threads, registers)
    assert traits.grid_barrier
    assert traits.build_options[0] == "-cl-std=CL2.0"
    assert not traits.emulated


def test_what_an_amd_driver_is_asked():
    """Wavefront width, SIMD units and banks of local memory are its answers, and no constants."""
    plain = probe_traits(amd_card())
    assert (plain.lanes, plain.local_banks) == (64, 32)
    pairs = probe_traits(amd_card("gfx1100", 32, simd_per_compute_unit_amd=2))
    assert (pairs.lanes, pairs.threads_per_unit) == (32, 2 * 16 * 32)
    assert probe_traits(amd_card("gfx950", local_mem_banks_amd=64)).local_banks == 64
    for asked in ("wavefront_width_amd", "simd_per_compute_unit_amd", "local_mem_banks_amd"):
        silent = amd_card()
        delattr(silent, asked)
        with pytest.raises(AttributeError, match=asked):
            probe_traits(silent)


def test_bank_conflicts_are_of_the_banks_that_there_are(monkeypatch):
    """Two lanes in a bank of 32 lie in one row of 64: the microbenchmark asks the device."""
    cards = {banks: amd_card("gfx950", local_mem_banks_amd=banks) for banks in (32, 64)}
    devices = {banks: SimpleNamespace(traits=probe_traits(card)) for banks, card in cards.items()}
    assert {banks: banks_of(device) for banks, device in devices.items()} == {32: 32, 64: 64}
    assert [conflicts(ways, 64) for ways in (1, 2, 64)] == [1, 2, 64]
    assert Words("local", conflicts=64).missing(devices[64]) is None
    assert Words("local", conflicts=64).missing(devices[32]) == "local memory has 32 banks"
    arc = SimpleNamespace(traits=probe_traits(intel_card(monkeypatch)))
    assert (arc.traits.local_banks, banks_of(arc)) == (0, 32)


@pytest.mark.parametrize(
    "card",
    [
        amd_card("gfx1030", 64),  # half of the permutes of such a wave would be wrong
        amd_card("gfx701"),  # has no data-parallel moves
        amd_card("Hawaii"),
        amd_card(platform=SimpleNamespace(name="rusticl")),
        amd_card(extensions=ATOMICS),
    ],
    ids=["wide-rdna", "too-old", "no-name", "other-driver", "no-query"],
)
def test_other_waves_get_one_lane(card):
    traits = probe_traits(card)
    assert (traits.lanes, traits.lane_ops, traits.graphics_ip) == (1, "scalar", None)
    assert not traits.grid_barrier


def intel_card(monkeypatch, units=16, threads=8, sizes=(8, 16, 32)):
    monkeypatch.setattr(native, "sub_group_sizes", lambda _: sizes)
    monkeypatch.setattr(native, "execution_units", lambda _: (units, threads))
    return amd_card(
        "Intel(R) Arc(TM) A770 Graphics",
        extensions=" ".join(SUB_GROUP_EXTENSIONS),
        platform=SimpleNamespace(name="Intel(R) OpenCL Graphics"),
        max_compute_units=512,
    )


def test_traits_of_an_intel_gpu(monkeypatch):
    traits = probe_traits(intel_card(monkeypatch))
    assert (traits.lanes, traits.lane_ops, traits.memory_ops) == (16, "khr", "c11")
    assert (traits.threads_per_unit, traits.units_together) == (8 * 16, 16)
    assert traits.max_group_size == 1024
    assert not traits.grid_barrier
    narrow = probe_traits(intel_card(monkeypatch, 8, 7, sizes=(8,)))
    assert (narrow.lanes, narrow.max_group_size) == (8, 8 * 7 * 8)
    silent = probe_traits(intel_card(monkeypatch, 0, 0))
    assert (silent.threads_per_unit, silent.units_together) == (0, 1)


def kernel(registers=64, scalars=100, local_bytes=0):
    use = KernelUse(registers, 0, 0, local_bytes, scalars)
    return SimpleNamespace(
        use=use, registers=registers, local_bytes=local_bytes, max_group_size=1024
    )


@pytest.mark.parametrize(
    ("registers", "scalars", "group_size", "local_bytes", "groups"),
    [
        (64, 100, 1024, 0, 1),  # 16 waves of 28: seven a SIMD unit, four of them taken
        (64, 96, 512, 0, 4),  # 32 waves by slots and registers, 8 a group
        (65, 96, 512, 0, 3),  # handed out in eights: 72, so seven a SIMD unit
        (128, 96, 512, 0, 2),
        (264, 96, 256, 0, 1),
        (264, 96, 512, 0, 0),  # two waves a SIMD unit do not fit: the compiler would refuse
        (24, 16, 64, 0, 32),  # single waves need no barrier
        (24, 16, 128, 0, 16),
        (24, 16, 192, 0, 8),  # three waves: as if one SIMD unit stayed empty
        (24, 16, 256, 20 << 10, 3),
        (24, 16, 256, (64 << 10) + 1, 0),
    ],
)
def test_groups_on_a_compute_unit_of_an_mi250(registers, scalars, group_size, local_bytes, groups):
    device = SimpleNamespace(traits=probe_traits(amd_card()))
    found = resident_groups(device, kernel(registers, scalars, local_bytes), group_size)
    assert found == 104 * groups


def test_groups_on_a_pair_of_units_of_rdna():
    device = SimpleNamespace(traits=probe_traits(amd_card("gfx1100", 32, max_compute_units=48)))
    assert resident_groups(device, kernel(96, 0), 256) == 48 * 8
    assert resident_groups(device, kernel(97, 0), 256) == 48 * 6  # in 24s: 120 of 1,536


def test_a_kernel_whose_binary_says_nothing_has_one_group_a_unit():
    device = SimpleNamespace(traits=probe_traits(amd_card()))
    silent = kernel()
    silent.use = None
    assert resident_groups(device, silent, 256) == 104


@pytest.mark.parametrize(
    ("group_size", "local_bytes", "groups"),
    [
        (1024, 0, 2),  # 128 threads of a core, 64 a group
        (256, 0, 8),
        (16, 0, 16),  # by barriers
        (256, 9 << 10, 4),  # in powers of two: 16 of 64 KiB
        (256, 33 << 10, 1),
    ],
)
def test_groups_on_a_core_of_an_arc(group_size, local_bytes, groups, monkeypatch):
    device = SimpleNamespace(traits=probe_traits(intel_card(monkeypatch)))
    found = resident_groups(device, kernel(local_bytes=local_bytes), group_size)
    assert found == 512 // 16 * groups


NAMES = {
    ".name": "step",
    ".vgpr_count": 300,
    ".agpr_count": 12,
    ".sgpr_count": 70_000,
    ".vgpr_spill_count": 3,
    ".sgpr_spill_count": 9,
    ".private_segment_fixed_size": 32,
    ".group_segment_fixed_size": 4096,
    ".kernarg_segment_align": -8,
    ".uses_dynamic_stack": False,
    ".args": [{".offset": 0, ".value_kind": "a kind of value with a long name"}] * 20,
}


def packed(value):
    """Write a value in the MessagePack format, in the shortest form."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if -32 <= value < 128:
            return struct.pack("b", value)
        return struct.pack(">BH", 0xCD, value) if value < 65536 else struct.pack(">BI", 0xCE, value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 + len(text)]) if len(text) < 32 else bytes([0xD9, len(text)])) + text
    few, many = (0x90, 0xDC) if isinstance(value, list) else (0x80, 0xDE)
    count = len(value)
    head = bytes([few + count]) if count < 16 else struct.pack(">BH", many, count)
    parts = value if isinstance(value, list) else [part for pair in value.items() for part in pair]
    return head + b"".join(map(packed, parts))


def code_object(metadata, section=7, owner=b"AMDGPU\0\0", note=32):
    """Write an ELF file with a section of notes, the second of which is given."""
    other = struct.pack("<III", 4, 3, 1) + b"GNU\0" + b"abc\0"
    notes = other + struct.pack("<III", 7, len(metadata), note) + owner + metadata
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<Q", header, 40, 64 + len(notes))
    struct.pack_into("<HH", header, 58, 64, 2)
    sections = bytearray(128)
    struct.pack_into("<IQQQQ", sections, 64 + 4, section, 0, 0, 64, len(notes))
    return bytes(header) + notes + bytes(sections)


def test_what_kernels_take_is_read_from_the_binary():
    binary = code_object(packed({"amdhsa.kernels": [NAMES], "amdhsa.version": [1, 2]}))
    expected = {"step": KernelUse(300, 32, 12, 4096, 70_000)}
    assert amd.parse_binary(binary) == expected
    assert amd.parse_binary(b"an older driver wraps it: \x7fELF" + bytes(90) + binary) == expected


@pytest.mark.parametrize(
    "binary",
    [
        b"",
        b"\x7fELF",
        b"// PTX\n.version 8.0",
        code_object(packed({"amdhsa.version": [1, 2]})),
        code_object(packed({"amdhsa.kernels": [{".name": "half"}]})),
        code_object(packed(7)),
        code_object(b"\xc7\x01"),
        code_object(packed(NAMES)[:40]),
        code_object(packed({"amdhsa.kernels": [NAMES]}), note=31),
        code_object(packed({"amdhsa.kernels": [NAMES]}), owner=b"OTHERS\0\0"),
        code_object(packed({"amdhsa.kernels": [NAMES]}), section=1),
    ],
)
def test_binaries_that_tell_nothing(binary):
    assert amd.parse_binary(binary) == {}
