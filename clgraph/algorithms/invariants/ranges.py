"""What follows for numeric templates from the smallest and largest value of each variable.

Addition, multiplication and their like are rounded monotonically, so the rounded ends of a range
are the ends of the rounded values: what ranges decide, they decide exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.apart import apart
from clgraph.device import load, wait
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.chunk import Chunk
    from clgraph.algorithms.invariants.expressions import Node
    from clgraph.algorithms.invariants.sweep import Scratch, Work
    from clgraph.device import Device

__all__ = ["RangeFinder", "Ranges", "verdicts"]

GROUPS_PER_UNIT = 8


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ends of the values of several things, and where they are known.

    Attributes
    ----------
    low, high : numpy.ndarray
        float32 [count].
    known : numpy.ndarray
        bool [count]; False where a value may be NaN or infinite, or the operator is not monotone.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    known: NDArray[np.bool_]

    def within(self, others: Ranges, tuples: NDArray[np.uint32]) -> bool:
        """Whether those of all variables of some tuples lie in others, and all are known."""
        some = np.zeros(len(self.low), bool)
        some[tuples] = True
        inside = (self.low >= others.low) & (self.high <= others.high) & self.known & others.known
        return bool(inside[some].all())


def verdicts(
    node: Node, variables: Ranges, tuples: NDArray[np.uint32], tolerance: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Report where a condition holds throughout, and where it fails throughout.

    Parameters
    ----------
    node : Node
        The condition.
    variables : Ranges
        Of all variables.
    tuples : numpy.ndarray
        uint32 [count, arity].
    tolerance : int
        With one, equality is left open.

    Returns
    -------
    always, never : numpy.ndarray
        bool [count]; neither is set where ranges leave it open.
    """
    nothing = np.zeros(len(tuples), bool)
    if node.op == "constant":
        return (~nothing, nothing) if node.value else (nothing, ~nothing)
    if node.op in ("and", "or", "xor", "iff", "not"):
        parts = [verdicts(arg, variables, tuples, tolerance) for arg in node.args]
        return _joined(node.op, parts)
    if tolerance and node.op in ("eq", "ne"):
        return nothing, nothing
    a, b = apart(np.errstate(all="ignore")(_ranges), node.args, variables, tuples)
    return _compared(node.op, a, b)


def _ranges(nodes: Sequence[Node], variables: Ranges, tuples: NDArray[np.uint32]) -> list[Ranges]:
    return [_range(node, variables, tuples) for node in nodes]


def _joined(
    op: str, parts: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if op == "not":
        return parts[0][1], parts[0][0]
    (a, not_a), (b, not_b) = parts
    if op == "and":
        return a & b, not_a | not_b
    if op == "or":
        return a | b, not_a & not_b
    same, different = (a & b) | (not_a & not_b), (a & not_b) | (not_a & b)
    return (same, different) if op == "iff" else (different, same)


def _compared(op: str, a: Ranges, b: Ranges) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if op in ("gt", "ge"):
        op, a, b = {"gt": "lt", "ge": "le"}[op], b, a
    known = a.known & b.known
    if op == "lt":
        return known & (a.high < b.low), known & (a.low >= b.high)
    if op == "le":
        return known & (a.high <= b.low), known & (a.low > b.high)
    same = known & (a.low == a.high) & (b.low == b.high) & (a.low == b.low)
    different = known & ((a.high < b.low) | (b.high < a.low))
    return (same, different) if op == "eq" else (different, same)


def _range(node: Node, variables: Ranges, tuples: NDArray[np.uint32]) -> Ranges:
    count = len(tuples)
    if node.op == "variable":
        places = tuples[:, int(node.value)]
        return Ranges(variables.low[places], variables.high[places], variables.known[places])
    if node.op == "constant":
        value = np.full(count, node.value, np.float32)
        return Ranges(value, value, np.ones(count, bool))
    args = [_range(arg, variables, tuples) for arg in node.args]
    ends = _ends(node.op, args)
    if ends is None:
        nothing = np.zeros(count, np.float32)
        return Ranges(nothing, nothing, np.zeros(count, bool))
    low, high = ends
    known = np.isfinite(low) & np.isfinite(high)
    for arg in args:
        known = known & arg.known
    return Ranges(low, high, known)


def _ends(  # noqa: PLR0911 (a case for each operator)
    op: str, args: list[Ranges]
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    a, b = args[0], args[-1]
    match op:
        case "add":
            return a.low + b.low, a.high + b.high
        case "sub":
            return a.low - b.high, a.high - b.low
        case "mul":
            corners = np.stack([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
            return corners.min(axis=0), corners.max(axis=0)
        case "min":
            return np.minimum(a.low, b.low), np.minimum(a.high, b.high)
        case "max":
            return np.maximum(a.low, b.low), np.maximum(a.high, b.high)
        case "neg":
            return -a.high, -a.low
        case "abs":
            across = (a.low <= 0) & (a.high >= 0)
            ends = np.abs(a.low), np.abs(a.high)
            return np.where(across, np.float32(0), np.minimum(*ends)), np.maximum(*ends)
    # Libraries do not promise that roots, logarithms and powers are rounded monotonically.
    return None


class RangeFinder:
    """Finds the ranges of rows of a part of a trace.

    Parameters
    ----------
    device : Device
        Where the rows are.
    width : int
        Elements of a vector.
    """

    def __init__(self, device: Device, width: int) -> None:
        self._device = device
        self._width = width
        self._group_size = group_size(device.traits)
        program = load(device, "invariants/ranges.cl", width=width, group_size=self._group_size)
        self._kernel = program.kernel("mine_ranges")

    def find(
        self, chunk: Chunk, variables: NDArray[np.uint32], work: Work, scratch: Scratch
    ) -> Ranges:
        """Give the ranges in a chunk of some variables, uint32 [count]; adds to `work`."""
        count = len(variables)
        wanted = -(-GROUPS_PER_UNIT * self._device.traits.compute_units // count)
        vectors = chunk.elements // self._width
        segments = max(min(wanted, vectors // self._group_size), 1)
        table = np.zeros(4 * count * segments + count, np.uint32)
        table[-count:] = variables
        found = scratch.put(table)
        event = self._kernel.launch(
            count * segments * self._group_size,
            self._group_size,
            chunk.buffer,
            np.uint64(chunk.stride // self._width),
            np.uint64(chunk.first // self._width),
            np.uint64((chunk.first + chunk.elements) // self._width),
            np.uint32(count),
            np.uint32(segments),
            found,
        )
        chunk.copy_ahead()
        ends = found.read(4 * count * segments).view(np.float32).reshape(count, segments, 4)
        wait(event)
        work.launches += 1
        work.kernel_ms += (event.profile.end - event.profile.start) / 1e6
        work.asked_bytes += 4 * count * chunk.elements
        low, high = ends[:, :, 0].min(axis=1), ends[:, :, 1].max(axis=1)
        known = np.isfinite(low) & np.isfinite(high) & (ends[:, :, 2] == 0).all(axis=1)
        return Ranges(low, high, known)
