"""The table of a checked kernel: what it may access, and its first access out of bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device.lazy import cl
from clgraph.device.memory.allocation import Allocation
from clgraph.device.memory.allocator import Memory
from clgraph.device.rendering.checked import TABLE, CheckedSource
from clgraph.device.waiting import wait
from clgraph.errors import OutOfBoundsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device.discovery import Device

__all__ = ["Checks"]


class Checks:
    """Bounds of one kernel's arguments, and what its checks found.

    Parameters
    ----------
    device : Device
        Where the kernel runs.
    kernel : str
        Its name.
    source : CheckedSource
        What it was built from.
    plain : str
        The rendered source without checks, of which errors quote a line.
    """

    def __init__(self, device: Device, kernel: str, source: CheckedSource, plain: str) -> None:
        self._device = device
        self._kernel = kernel
        self._source = source
        self._lines = plain.splitlines()
        words = TABLE["sizes"] + 2 * source.arrays
        self._words = np.zeros(words, np.uint64)
        self.table = Memory(device).upload("checks", self._words)
        self._written = True  # whether the table is known to hold these words and no finding

    def prepare(self, args: Sequence[object]) -> None:
        """Write down how large the arguments of the next launch are."""
        sizes = np.array([_size_bytes(arg) for arg in args], np.uint64)
        place = slice(TABLE["sizes"], TABLE["sizes"] + sizes.size)
        if not (self._written and np.array_equal(self._words[place], sizes)):
            self._written = False
            self._words[place] = sizes
            self.table.write(self._words)
        self._written = False

    def examine(self, event: cl.Event) -> None:
        """Wait for a launch, and raise what its checks found.

        Raises
        ------
        OutOfBoundsError
            If an access was outside of its array.
        """
        wait(event)
        words = self.table.read(TABLE["waste"])
        if not words[TABLE["taken"]]:
            self._written = True
            return
        line = int(words[TABLE["line"]]) - self._source.extra_lines
        index, bound = int(words[TABLE["index"]].astype(np.int64)), int(words[TABLE["bound"]])
        names = self._source.arguments[self._kernel]
        array = int(words[TABLE["array"]])
        where = repr(names[array]) if array < len(names) else "a local array"
        what = f"index {index} of {where}, which has {bound} elements"
        if not bound:
            what = "a pointer that is in none of its arrays"
        quoted = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
        raise OutOfBoundsError(
            f"{self._kernel} on {self._device.name} used {what}, in line {line} of its rendered "
            f"source: {quoted!r}. The graph's arrays or the kernel are wrong; CLGRAPH_CHECK=1 "
            "found it, and without it the result would have been undefined.",
            kernel=self._kernel,
            array=names[array] if array < len(names) else None,
            index=index,
            bound=bound,
            line=line,
        )


def _size_bytes(arg: object) -> int:
    if isinstance(arg, Allocation):
        return arg.size_bytes
    return int(arg.size) if isinstance(arg, cl.Buffer) else 0
