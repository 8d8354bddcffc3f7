"""Instrumented kernels that stand for plain ones: from which text and how they are built."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.device.programs.compiling import unoptimised
from clgraph.device.programs.linker import POCL_PLATFORM
from clgraph.device.programs.program import build
from clgraph.profile.instrument.rewriting import Instrumented, instrumented
from clgraph.profile.instrument.words import Mask

if TYPE_CHECKING:
    from clgraph.device import Kernel
    from clgraph.profile.instrument.words import Flavour

__all__ = ["TRACED", "Twin", "Twins"]

TRACED = Mask.DIV | Mask.GMEM | Mask.LMEM
LEAST_REGISTERS, REGISTER_STEP = 32, 8
GROUP_SIZE = re.compile(r"__attribute__\(\(reqd_work_group_size\([^()]*\)\)\)")


@dataclass(slots=True)
class Twin:
    """The instrumented kernel that stands for a plain one, and whether it was launched before."""

    kernel: Kernel
    source: Instrumented
    launched: bool = False


class Twins:
    """Instrumented kernels by the plain ones that they stand for, built when they are asked for.

    Parameters
    ----------
    mask, flavour
        As `clgraph.profile.passes.watching.Counting`.
    """

    def __init__(self, mask: Mask, flavour: Flavour | None) -> None:
        self._mask = mask
        self._flavour = flavour
        self._known: dict[tuple[str, str, int], Twin] = {}

    def of(self, kernel: Kernel) -> Twin:
        """Give what stands for a kernel: the same for every object of the same entry point.

        Primitives make a kernel for each launch, so that neither the object nor its address says
        which one it is.
        """
        program = kernel.program
        assert program is not None  # noqa: S101 - looked at by `Counting.launch`
        device = kernel.device
        key = (program.source_hash, kernel.name, device.queue.int_ptr)
        twin = self._known.get(key)
        if twin is None:
            source = instrumented(program.source, self._mask, device.traits, self._flavour)
            twin = self._known[key] = Twin(_built(kernel, self._mask, source), source)
        return twin

    def forget(self) -> None:
        """Keep none."""
        self._known.clear()


def _built(kernel: Kernel, mask: Mask, source: Instrumented) -> Kernel:
    """Build what stands for a kernel."""
    device, program = kernel.device, kernel.program
    assert program is not None  # noqa: S101 - looked at by `Counting.launch`

    def built(text: str, *more: str) -> Kernel:
        return build(device, text, label=program.label, more=more).kernel(kernel.name)

    if source.flavour == "trace" and mask & TRACED and device.platform == POCL_PLATFORM:
        # PoCL 3 spoils its own memory optimising texts with many traces, and dies some time later.
        return built(source.text, *unoptimised(device))
    limit = register_limit(kernel) if source.waits else None
    if limit is None:
        return built(source.text)
    option = f"-cl-nv-maxrregcount={limit}"
    twin = built(source.text, option)
    if not mask & TRACED and twin.registers is not None and twin.registers > limit:
        # The driver passes the limit over where a kernel declares the size of its work-groups.
        return built(GROUP_SIZE.sub("", source.text), option)
    return twin


def register_limit(kernel: Kernel) -> int | None:
    """Give the registers of a plain kernel, so that as many work-groups are resident of its twin.

    Otherwise a kernel whose work-groups wait for one another might wait for ever. No other is kept
    to them: what counts would spill them. None where no compiler takes a limit.
    """
    if kernel.device.traits.memory_ops != "ptx" or kernel.registers is None:
        return None
    rounded = -(-kernel.registers // REGISTER_STEP) * REGISTER_STEP
    return max(rounded, LEAST_REGISTERS)
