"""What is known of a kernel without running it: registers, spills, instructions by block."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.device.programs.program import build
from clgraph.profile.instrument.rewriting import instrumented
from clgraph.profile.instrument.words import Mask
from clgraph.profile.microbenchmarks.purity import assembler_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device import Kernel

__all__ = ["CLASSES", "StaticFacts", "block_mix", "instruction_class", "static_facts"]

CLASSES = ("integer", "float", "double", "special", "memory", "atomic", "local", "control")
_MARK = re.compile(r"//\s*PROF_BLOCK (\d+)")
_ENTRY = re.compile(
    r"^\s*(?:\.visible\s+)?\.(entry|func)\b[^(]*?(?:\([^)]*\)\s*)?(\w+)\s*\(", re.MULTILINE
)
_OPCODE = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\b[^:]*;")
_SPECIAL = ("sin", "cos", "ex2", "lg2", "rsqrt", "rcp", "sqrt", "popc", "clz", "brev", "bfind")
_CONTROL = ("bra", "ret", "exit", "call", "bar", "barrier", "vote", "match", "activemask")


@dataclass(frozen=True, slots=True)
class StaticFacts:
    """What the compiler made of a kernel.

    Attributes
    ----------
    registers, spill_bytes : int or None
        Of a work-item; None where the compiler does not say.
    local_bytes : int
        Declared local memory of a work-group.
    mix : dict of int to dict of str to float, or None
        Instructions by class for each marked block; None where there is no assembler's text.
    reason : str
        Why something is None.
    """

    registers: int | None
    spill_bytes: int | None
    local_bytes: int
    mix: Mapping[int, Mapping[str, float]] | None
    reason: str = ""

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "registers": self.registers,
            "spill_bytes": self.spill_bytes,
            "local_bytes": self.local_bytes,
            "reason": self.reason,
        }


def static_facts(kernel: Kernel) -> StaticFacts:
    """Gather what is known of a kernel; its program is built once more with marks for the mix."""
    mix, reason = None, ""
    if kernel.registers is None:
        reason = "the compiler does not say how many registers a work-item takes"
    if kernel.device.traits.memory_ops == "ptx" and kernel.program is not None:
        marked = instrumented(kernel.program.source, Mask.MIX, kernel.device.traits)
        program = build(kernel.device, marked.text, label=kernel.program.label)
        text = assembler_text(program.binary())
        mix = None if text is None else block_mix(text, kernel.name)
    if mix is None:
        reason = "; ".join([*([reason] if reason else []), "there is no assembler's text"])
    return StaticFacts(kernel.registers, kernel.spill_bytes, kernel.local_bytes, mix, reason)


def block_mix(text: str, kernel: str) -> dict[int, dict[str, float]]:
    """Count instructions by class between the marks of an assembler's text.

    Parameters
    ----------
    text : str
        PTX.
    kernel : str
        Entry point; functions that it calls count where they stand.

    Returns
    -------
    dict of int to dict of str to float
        By the number of a mark, up to the next one; a mark that a compiler has cloned has the mean
        of its clones. What comes before the first mark is under -1.
    """
    found: dict[int, list[dict[str, float]]] = {}
    for name, kind, body in _functions(text):
        if kind == "entry" and name != kernel:
            continue
        here: dict[str, float] = {}
        found.setdefault(-1, []).append(here)
        for line in body.splitlines():
            if mark := _MARK.search(line):
                here = {}
                found.setdefault(int(mark[1]), []).append(here)
                continue
            if opcode := _OPCODE.match(line):
                kind_of = instruction_class(opcode[1])
                here[kind_of] = here.get(kind_of, 0.0) + 1.0
    return {
        mark: {
            kind: sum(clone.get(kind, 0.0) for clone in clones) / len(clones)
            for kind in CLASSES
            if any(kind in clone for clone in clones)
        }
        for mark, clones in found.items()
    }


def _functions(text: str) -> list[tuple[str, str, str]]:
    starts = list(_ENTRY.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return [
        (start[2], start[1], text[start.end() : end])
        for start, end in zip(starts, ends, strict=True)
    ]


def instruction_class(opcode: str) -> str:
    """Say which class an instruction is of."""
    base, *modifiers = opcode.split(".")
    if base in {"atom", "red"}:
        return "atomic"
    if base in {"ld", "st"}:
        return "local" if "shared" in modifiers else "memory"
    if base in _CONTROL or base.startswith("bra"):
        return "control"
    if base in _SPECIAL:
        return "special"
    if "f64" in modifiers:
        return "double"
    return "float" if "f32" in modifiers else "integer"
