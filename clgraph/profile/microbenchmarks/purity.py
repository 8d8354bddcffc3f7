"""How much of what a kernel executes is the instruction that it is meant to measure.

Read from the text that the OpenCL compiler hands to the assembler, which NVIDIA's driver gives as a
program's binary; and from the assembled code where a disassembler is at hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Purity", "assembler_text", "purity"]

_ENTRY = re.compile(r"\.entry\s+(?P<name>[\w$]+)\s*\(")
_LABEL = re.compile(r"^\s*(?P<label>[$\w]+):\s*(//.*)?$")
_BRANCH = re.compile(r"bra(?:\.uni)?\s+(?P<label>[$\w]+)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NO_INSTRUCTION = (".", "{", "}", "(", ")")


@dataclass(frozen=True, slots=True)
class Purity:
    """What the assembler's text of a kernel says.

    Attributes
    ----------
    longest : int
        Most target instructions in a row.
    targets, others : float
        Target and other instructions that a work-item executes.
    """

    longest: int
    targets: float
    others: float

    @property
    def share(self) -> float:
        """Target instructions over all."""
        executed = self.targets + self.others
        return self.targets / executed if executed else 0.0


def assembler_text(binary: bytes) -> str | None:
    """Give a program's binary as text, if it is the assembler's."""
    text = binary.rstrip(b"\0").decode("utf-8", errors="replace")
    return text if ".visible .entry" in text or ".entry " in text else None


def _body(text: str, name: str) -> str:
    for entry in _ENTRY.finditer(text):
        if entry["name"] == name:
            start = text.index("{", entry.end())
            depth, place = 0, start
            for found in re.finditer(r"[{}]", text[start:]):
                depth += 1 if found[0] == "{" else -1
                place = start + found.end()
                if depth == 0:
                    break
            return text[start + 1 : place - 1]
    raise ValueError(f"the assembler's text has no kernel {name}")


def _instructions(body: str) -> tuple[list[str], dict[str, int]]:
    """Give the instructions in their order, and before which of them each label stands."""
    instructions: list[str] = []
    labels: dict[str, int] = {}
    for line in _COMMENT.sub("", body).splitlines():
        label = _LABEL.match(line)
        if label:
            labels[label["label"]] = len(instructions)
            continue
        for part in re.split(r"[;{}]", line):
            word = part.strip()
            if word and not word.startswith(_NO_INSTRUCTION):
                instructions.append(word)
    return instructions, labels


def _opcode(instruction: str) -> str:
    words = instruction.split()
    return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]


def purity(text: str, kernel: str, opcode: str, rounds: int) -> Purity:
    """Count what a work-item executes.

    Parameters
    ----------
    text : str
        The assembler's text.
    kernel : str
        Entry point.
    opcode : str
        The target instruction with all its modifiers, for example ``"ld.volatile.shared.u32"``.
    rounds : int
        How often the loop of the kernel runs. Everything between a label and the last branch back
        to it is taken to be executed so often, and everything else once.

    Returns
    -------
    Purity
        Of straight-line code exact; of code with branches an upper bound of the other instructions.

    Raises
    ------
    ValueError
        If there is no such kernel.
    """
    instructions, labels = _instructions(_body(text, kernel))
    weights = [1.0] * len(instructions)
    for place, instruction in enumerate(instructions):
        branch = _BRANCH.search(instruction)
        first = labels.get(branch["label"]) if branch else None
        if first is not None and first <= place:
            for inside in range(first, place + 1):
                weights[inside] = float(rounds)
    targets = others = 0.0
    longest = row = 0
    for instruction, weight in zip(instructions, weights, strict=True):
        if _opcode(instruction) == opcode:
            targets += weight
            row += 1
            longest = max(longest, row)
        else:
            others += weight
            row = 0
    return Purity(longest, targets, others)
