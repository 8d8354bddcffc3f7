"""What lanes do together in the instructions of NVIDIA's assembler, and which of it they may skip.

An instruction has 128 bits, from Volta on. The lowest twelve say what it does, the next three under
which predicate (7: always), and the one after these inverts it.

Of a small branch with a reduction in it ptxas 13.0 makes a REDUX under a predicate. If it has put
the branch's condition among the values that are the same for all lanes, it takes the number of that
register for one of the lanes': what is to be under UPn is under Pn, which holds something else, for
one a bit of each lane. Lanes that skip the instruction, or all, go on with what was in the result's
register. Which number it is is a matter of how registers are given out, so that a kernel may turn
wrong by a change elsewhere in it. Here it is wrong to be under a predicate at all.
"""

import struct
from dataclasses import dataclass

ALWAYS = 7
SIZE = 16  # bytes of an instruction
# By the operation, in each form that its operands have.
TOGETHER = {0x3C4: "REDUX", 0x806: "VOTE", 0x886: "VOTEU", 0x3A1: "MATCH"}
TOGETHER |= dict.fromkeys((0x389, 0x589, 0x989, 0xF89), "SHFL")


@dataclass(frozen=True)
class Collective:
    """An instruction, and the predicate that it is under, if any."""

    kernel: str
    address: int
    operation: str
    guard: str


def sections(binary: bytes) -> dict[str, bytes]:
    """Give the sections of an ELF file of 64 bits by their names."""
    (table,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", binary, table + i * size) for i in range(count)]
    first = heads[names][4]
    found = {}
    for name, _, _, _, start, length in heads:
        end = binary.index(b"\0", first + name)
        found[binary[first + name : end].decode()] = binary[start : start + length]
    return found


def collectives(binary: bytes) -> list[Collective]:
    """List what lanes do together, in the order of the code."""
    found = []
    for section, code in sections(binary).items():
        if not section.startswith(".text."):
            continue
        kernel = section.removeprefix(".text.")
        for address in range(0, len(code), SIZE):
            (word,) = struct.unpack_from("<Q", code, address)
            if operation := TOGETHER.get(word & 0xFFF):
                inverted, number = word >> 15 & 1, word >> 12 & 7
                always = number == ALWAYS and not inverted
                guard = "" if always else f"{'!' * inverted}P{number}"
                found.append(Collective(kernel, address, operation, guard))
    return found


def skipped(binary: bytes) -> list[str]:
    """Say which of them lanes may skip."""
    return [
        f"{one.kernel}: {one.operation} at {one.address:#x} under {one.guard}"
        for one in collectives(binary)
        if one.guard
    ]
