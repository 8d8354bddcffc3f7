"""Kernels whose counters are known beforehand, by which profiles are checked on any device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.studies import KERNELS
from clgraph.device import Memory, load, wait
from clgraph.device.lazy import cl
from clgraph.device.observing import observed_by
from clgraph.profile import criteria
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes.watching import Counting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clgraph import Device
    from clgraph.profile.instrument.words import Flavour
    from clgraph.profile.passes.counters import Totals

__all__ = ["PARTED", "PATTERNS", "Pattern", "counted", "judged", "rounds_and_meetings"]

GROUP, GROUPS, LANES = 64, 4, 32
ITEMS = GROUP * GROUPS
KINDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "uint2", 16: "uint4"}


@dataclass(frozen=True)
class Pattern:
    """A kernel with its arguments, and the criteria that its counters must give exactly."""

    name: str
    kernel: str
    size: int = 4
    numbers: tuple[int, ...] = ()
    stride: int = 1
    expected: Mapping[str, float] = field(default_factory=dict)


def strided(size: int, stride: int, lines: float, sectors: float) -> Pattern:
    """Give accesses of `size` bytes, `stride` elements apart."""
    name = f"strided, {size} bytes, every {stride}"
    expected = {"Gran_L1": lines, "Gran_L2": sectors}
    return Pattern(name, "patterns_strided", size, (stride,), stride, expected)


def local(stride: int, efficiency: float, size: int = 4) -> Pattern:
    """Give accesses to local memory that are `stride` elements apart."""
    name = f"local, {size} bytes, every {stride}"
    return Pattern(name, "patterns_local", size, (stride,), stride, {"SMem_eff": efficiency})


PARTED = Pattern("parted", "patterns_parted", numbers=(LANES,))
PATTERNS = (
    strided(4, 1, 1.0, 1.0),
    strided(4, 32, 1 / 32, 1 / 8),
    strided(4, 2, 1 / 2, 1 / 2),
    strided(1, 1, 1 / 4, 1.0),
    strided(2, 1, 1 / 2, 1.0),
    strided(8, 1, 1.0, 1.0),
    strided(16, 1, 1.0, 1.0),
    Pattern("broadcast", "patterns_broadcast", expected={"Gran_L1": 1.0, "Gran_L2": 1.0}),
    local(1, 1.0),
    local(2, 1 / 2),
    local(32, 1 / 32),
    local(33, 1.0),
    local(0, 1.0),
    local(1, 1.0, 8),
    local(1, 1.0, 16),
    Pattern("divergent", "patterns_divergent", numbers=(LANES, 16)),
    PARTED,
)


def counted(
    pattern: Pattern,
    device: Device,
    mask: Mask | None = None,
    flavour: Flavour | None = None,
) -> Totals:
    """Run a pattern instrumented, and give what was counted."""
    mask = Mask.DIV | Mask.GMEM | Mask.LMEM if mask is None else mask
    program = load(device, "patterns.cl", folders=(KERNELS,), type=KINDS[pattern.size])
    kernel, memory = program.kernel(pattern.kernel), Memory(device)
    elements = ITEMS * max(pattern.stride, 1)
    to = memory.upload("to", np.zeros(elements * pattern.size, np.uint8))
    numbers = [np.uint32(x) for x in pattern.numbers]
    arguments: list[Any] = [to, *numbers]
    if pattern.kernel in {"patterns_strided", "patterns_broadcast", "patterns_again"}:
        source = memory.upload("from", np.ones(elements * pattern.size, np.uint8))
        arguments = [source, to, *numbers]
    if pattern.kernel == "patterns_local":
        arguments.append(cl.LocalMemory(GROUP * max(pattern.stride, 1) * pattern.size))
    watching = Counting(mask, device, LANES, flavour)
    launch: Callable[..., Any] = kernel.launch
    with observed_by(watching):
        wait(launch(ITEMS, GROUP, *arguments))
    (found,) = watching.found.values()
    watching.release()
    assert found.totals is not None  # noqa: S101 - counters were asked for
    return found.totals


def rounds_and_meetings(totals: Totals) -> tuple[list[float], list[float]]:
    """Give how often lanes of `patterns_parted` went round, and what they did together behind it.

    Returns
    -------
    tuple of list of float
        Executions and lanes of the loop; stores of the result, barriers that were come to, and the
        most of them by one SIMD group.
    """
    loop = max(totals.where("block").tolist(), key=lambda row: row[0])
    stores, barriers = (float(totals.where(kind)[:, 0].sum()) for kind in ("store", "barrier"))
    return loop[:2], [stores, barriers, totals.chain.barriers]


def judged(totals: Totals) -> dict[str, float | None]:
    """Give the criteria of memory and divergence that counters say."""
    rows = totals.where("load", "store", "atomic")
    near = totals.where("local_load", "local_store", "local_atomic")
    accesses = totals.accesses()
    both = criteria.divergence(totals.executed, totals.possible)
    return {
        "Gran_L1": criteria.granularity(accesses, float(rows[:, 3].sum()), criteria.LINE_BYTES),
        "Gran_L2": criteria.granularity(accesses, float(rows[:, 4].sum()), criteria.SECTOR_BYTES),
        "SMem_eff": criteria.local_efficiency(float(near[:, 4].sum()), float(near[:, 3].sum())),
        "TDiv": None if both is None else both[0],
    }
