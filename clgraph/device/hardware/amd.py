"""What AMD's compute units hold, and what the compiler says about a kernel in its binary."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.device.hardware.nvidia import KernelUse

if TYPE_CHECKING:
    from clgraph.device.lazy import cl

__all__ = [
    "PLATFORM",
    "QUERY",
    "UnitLimits",
    "architecture",
    "groups_per_unit",
    "lanes",
    "local_banks",
    "parse_binary",
    "simds_per_unit",
    "unit_limits",
]

# Mesa's drivers run on the same cards and announce the same query, with another compiler.
PLATFORM = "AMD Accelerated Parallel Processing"
QUERY = "cl_amd_device_attribute_query"


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """What one SIMD unit of a generation holds.

    Attributes
    ----------
    waves : int
        Waves at once.
    registers : int
        Vector registers of a lane, for all its waves together.
    granule : int
        They are handed to a wave in multiples of this.
    scalars : int
        Scalar registers of all waves together; 0 where every wave has a full set.
    groups : int
        Work-groups of several waves at once in a compute unit, which has so many barriers.
    local_granule : int
        Bytes that local memory is handed out in.
    """

    waves: int
    registers: int
    granule: int
    scalars: int
    groups: int
    local_granule: int


SCALAR_GRANULE = 16

# By generation, of waves of 64 up to (9, ...) and of 32 from (10, ...) on: an entry holds from its
# own version up to the next one. From the tables of LLVM's back end for these processors
# (AMDGPUBaseInfo) and its user guide. A version newer than all of these is taken for the last.
UNITS: tuple[tuple[tuple[int, int, int], UnitLimits], ...] = (
    ((8, 0, 0), UnitLimits(10, 256, 4, 800, 16, 512)),
    ((9, 0, 10), UnitLimits(8, 512, 8, 800, 16, 512)),
    ((9, 0, 12), UnitLimits(10, 256, 4, 800, 16, 512)),
    ((9, 4, 0), UnitLimits(8, 512, 8, 800, 16, 512)),
    ((10, 1, 0), UnitLimits(20, 1024, 8, 0, 32, 512)),
    ((10, 3, 0), UnitLimits(16, 1024, 16, 0, 32, 512)),
    ((11, 0, 0), UnitLimits(16, 1536, 24, 0, 32, 1024)),
    ((11, 0, 2), UnitLimits(16, 1024, 16, 0, 32, 1024)),
    ((11, 5, 1), UnitLimits(16, 1536, 24, 0, 32, 1024)),
    ((11, 5, 2), UnitLimits(16, 1024, 16, 0, 32, 1024)),
    ((12, 0, 0), UnitLimits(16, 1536, 24, 0, 32, 1024)),
)

_NAME = re.compile(r"gfx(\d{1,2})([0-9a-f])([0-9a-f])(?![0-9a-f])")


def architecture(device: cl.Device) -> tuple[int, int, int] | None:
    """Read the version of the instruction set from a device's name; None if it has none.

    The driver calls an MI250 "gfx90a:sramecc+:xnack-": major, minor and stepping, the last two as
    one hexadecimal digit each.
    """
    found = _NAME.search(device.name)
    return (int(found[1]), int(found[2], 16), int(found[3], 16)) if found else None


def lanes(device: cl.Device, version: tuple[int, int, int] | None) -> int:
    """Ask for the width of a wave; 1 where the amdgcn flavour is not for such waves."""
    if version is None or version < UNITS[0][0]:
        return 1
    width = int(device.wavefront_width_amd)
    return width if width == (64 if version[0] < 10 else 32) else 1


def simds_per_unit(device: cl.Device) -> int:
    """Ask for the SIMD units of a compute unit, as the driver counts compute units."""
    return int(device.simd_per_compute_unit_amd)


def local_banks(device: cl.Device) -> int:
    """Ask for the banks of local memory."""
    return int(device.local_mem_banks_amd)


def unit_limits(version: tuple[int, int, int]) -> UnitLimits:
    """Look up what one SIMD unit of a generation holds."""
    return [limits for since, limits in UNITS if since <= version or since == UNITS[0][0]][-1]


def groups_per_unit(
    limits: UnitLimits, simds: int, lanes: int, use: KernelUse, group_size: int, room: int
) -> int:
    """Compute how many work-groups one compute unit holds.

    Parameters
    ----------
    limits : UnitLimits
        Of one SIMD unit.
    simds : int
        SIMD units of a compute unit.
    lanes : int
        Work-items of a wave.
    use : KernelUse
        What the kernel takes.
    group_size : int
        Work-items per work-group.
    room : int
        Work-groups whose local memory fits.

    Returns
    -------
    int
        0 if not even one fits. Where waves do not spread evenly over the SIMD units, the fewest
        that fit however they are placed.
    """
    waves = -(-group_size // lanes)
    registers = -(-max(use.registers, 1) // limits.granule) * limits.granule
    on_simd = min(limits.waves, limits.registers // registers)
    if limits.scalars:
        scalars = -(-max(use.scalars, 1) // SCALAR_GRANULE) * SCALAR_GRANULE
        on_simd = min(on_simd, limits.scalars // scalars)
    groups = on_simd // -(-waves // simds) * max(simds // waves, 1)
    return min(groups, room, limits.groups if waves > 1 else groups)


def parse_binary(binary: bytes) -> dict[str, KernelUse]:
    """Read what the compiler notes about each kernel in a code object.

    Parameters
    ----------
    binary : bytes
        As the driver gives it, or a file of the compiler; anything else has no kernels.

    Returns
    -------
    dict of str to KernelUse
        By kernel name.
    """
    try:
        notes = _metadata(binary)
        kernels = _unpacked(notes)[0].get("amdhsa.kernels", []) if notes else []
        return {str(kernel[".name"]): _use(kernel) for kernel in kernels}
    except (struct.error, LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _use(kernel: dict[str, Any]) -> KernelUse:
    return KernelUse(
        registers=max(kernel[".vgpr_count"], kernel.get(".agpr_count", 0)),
        stack_bytes=kernel.get(".private_segment_fixed_size", 0),
        # A wave's registers spill to those of its lanes, which costs no memory.
        spill_bytes=4 * kernel.get(".vgpr_spill_count", 0),
        local_bytes=kernel[".group_segment_fixed_size"],
        scalars=kernel.get(".sgpr_count", 0),
    )


ELF = b"\x7fELF"
NOTE_SECTION = 7
METADATA_NOTE = 32


def _metadata(binary: bytes) -> bytes:
    """Find the compiler's note in a 64-bit ELF file, or in one that lies within another."""
    start = binary.find(ELF)
    while start >= 0:
        found = _note_of(binary[start:])
        if found:
            return found
        start = binary.find(ELF, start + 1)
    return b""


def _note_of(elf: bytes) -> bytes:
    sections_at = struct.unpack_from("<Q", elf, 40)[0]
    size, count = struct.unpack_from("<HH", elf, 58)
    for number in range(count):
        kind, _, _, offset, length = struct.unpack_from(
            "<IQQQQ", elf, sections_at + number * size + 4
        )
        if kind != NOTE_SECTION:
            continue
        at = offset
        while at + 12 <= offset + length:
            name_size, text_size, note = struct.unpack_from("<III", elf, at)
            name_at = at + 12
            text_at = name_at + -(-name_size // 4) * 4
            if note == METADATA_NOTE and elf[name_at : name_at + 6] == b"AMDGPU":
                return elf[text_at : text_at + text_size]
            at = text_at + -(-text_size // 4) * 4
    return b""


_FIXED = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SIZED = {
    0xD9: (">B", "text"), 0xDA: (">H", "text"), 0xDB: (">I", "text"),
    0xDC: (">H", "list"), 0xDD: (">I", "list"), 0xDE: (">H", "map"), 0xDF: (">I", "map"),
}  # fmt: skip


def _unpacked(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Read one value in the MessagePack format, and where the next one begins."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag in {0xC0, 0xC2, 0xC3}:
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if tag in _FIXED:
        return struct.unpack_from(_FIXED[tag], data, at)[0], at + struct.calcsize(_FIXED[tag])
    if tag in _SIZED:
        width, kind = _SIZED[tag]
        count = struct.unpack_from(width, data, at)[0]
        at += struct.calcsize(width)
    elif tag < 0xC0:
        kind = "map" if tag < 0x90 else "list" if tag < 0xA0 else "text"
        count = tag & (31 if kind == "text" else 15)
    else:
        raise ValueError(f"tag {tag:#x} is not one that compilers write")
    if kind == "text":
        return data[at : at + count].decode(), at + count
    values = []
    for _ in range(count * (2 if kind == "map" else 1)):
        value, at = _unpacked(data, at)
        values.append(value)
    return (dict(zip(values[::2], values[1::2], strict=True)) if kind == "map" else values), at
