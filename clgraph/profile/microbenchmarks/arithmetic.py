"""Arithmetic: one instruction repeated, with its intensity, chains, units, barriers and paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import VerificationError
from clgraph.profile.microbenchmarks.work import NEVER, Prepared, Scale, Work, plan

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["OPERANDS", "Operations"]

# First, second and third operand by type: no step may get stuck at once in a value whose bits stand
# still where that can be helped, nor leave the numbers. Nearly twice itself taken off, a float
# changes its sign for ever.
OPERANDS: dict[str, tuple[Any, Any, Any]] = {
    "uint": (np.uint32(0x9E3779B9), np.uint32(0x7F4A7C15), np.uint32(5)),
    "ulong": (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(5)),
    "float": (np.float32(1.5), np.float32(0.9999999), np.float32(-1.9999999)),
    "double": (np.float64(1.5), np.float64(0.9999999999999), np.float64(1e-13)),
}


@dataclass(frozen=True, slots=True)
class Operations(Work):
    """An arithmetic instruction in a straight line.

    Attributes
    ----------
    operation : str
        A name of ``templates/lanes/stress``.
    kind : {"uint", "ulong", "float", "double"}
        Type of its operands.
    feature : str
        What the energy model counts it as.
    instructions : float
        Native instructions that one operation becomes, which is what the model counts.
    unroll : int or None
        Instructions in a row; None for what suits the device.
    chains : int
        Unrelated chains.
    threads_per_unit : int or None
        Work-items on each compute unit; None for all that are resident.
    units : int or None
        Compute units that take part; None for all.
    barriers : int
        Work-group barriers in each straight line.
    paths : int
        Ways into which the lanes part; 0 leaves the code without branches.
    """

    operation: str
    kind: str
    feature: str
    instructions: float = 1.0
    unroll: int | None = None
    chains: int = 1
    threads_per_unit: int | None = None
    units: int | None = None
    barriers: int = 0
    paths: int = 0

    def missing(self, device: Device) -> str | None:
        """Say what the device lacks for it, or give None."""
        if self.kind == "double" and not device.traits.fp64:
            return "the device has no double precision"
        if self.paths > 1 and device.traits.lanes % self.paths:
            return f"{device.traits.lanes} lanes cannot part into {self.paths} ways"
        if self.units is not None and device.traits.compute_capability is None:
            return "the device does not say which compute unit a work-item runs on"
        return None

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        unroll = min(self.unroll or scale.unroll, scale.unroll)
        made = plan(
            device,
            "operations.cl",
            "operations",
            scale.group_size,
            threads_per_unit=self.threads_per_unit,
            operation=self.operation,
            kind=self.kind,
            unroll=unroll,
            chains=self.chains,
            barriers=min(self.barriers, unroll),
            paths=self.paths,
        )
        spans = made.spans()
        sink = made.allocate(
            "sink", 1, {"uint": "u4", "ulong": "u8", "float": "f4", "double": "f8"}[self.kind]
        )
        units = device.traits.compute_units if self.units is None else self.units
        items = made.items * units / device.traits.compute_units
        operands = OPERANDS[self.kind]

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), *operands, np.uint32(units), NEVER, spans, sink

        def check(_: int) -> None:
            ran = np.unique(spans.read().reshape(-1, 3)[:, 2])
            ran = ran[ran > 0]
            if self.units is not None and ran.size != units:
                raise VerificationError(f"{ran.size} compute units took part instead of {units}.")
            if not ran.size:
                raise VerificationError("no work-item ran to its end.")

        body = unroll * max(self.paths, 1)
        return Prepared(
            made,
            arguments,
            operations=items * unroll,
            counts={self.feature: items * unroll * self.instructions},
            body=body,
            spans=spans,
            some_units=units,
            check=check,
        )
