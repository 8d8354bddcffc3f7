"""Latency of memories: one work-item after another follows a chain of addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import wait
from clgraph.profile.microbenchmarks.memories import LINE_BYTES, steps_of
from clgraph.profile.microbenchmarks.work import NEVER, Prepared, Scale, Work, plan
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device, Memory, Program

__all__ = ["Chase"]

LOCAL_WORDS = 1024  # of a chain of addresses


@dataclass(frozen=True, slots=True)
class Chase(Work):
    """Loads each of which waits for the one before.

    Attributes
    ----------
    space : {"global", "cached", "local", "constant"}
        Which memory: the cache that all units share and what is behind it, any cache, local or
        constant memory.
    size_bytes : int or None
        What the chain runs through; None for what misses every cache.
    everywhere : bool
        Whether all resident work-items follow it, for throughput, or one SIMD group, for latency.
    """

    space: str
    size_bytes: int | None
    everywhere: bool = False

    def missing(self, device: Device) -> str | None:
        """Say what the device lacks for it, or give None."""
        if device.is_simulator:
            return "a simulator's addresses mean nothing to the host"
        return None

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        unroll = steps_of(device, scale)
        wanted = scale.footprint_bytes if self.size_bytes is None else self.size_bytes
        size = min(wanted, device.traits.max_alloc_bytes)
        traits = device.traits
        group = scale.group_size if self.everywhere else traits.lanes
        made = plan(
            device,
            "chase.cl",
            "chase",
            group,
            groups=None if self.everywhere else 1,
            space=self.space,
            local_words=LOCAL_WORDS,
            unroll=unroll,
        )
        table = made.allocate("table", self._words(size), np.uint64)
        base = 0 if self.space == "local" else self._address(made.program, table, made.memory)
        table.write(self._chain(size, base))
        spans = made.spans()
        reached = made.upload("place reached", np.array([base], np.uint64))
        # Many groups would write to one word; they all begin where the chain does.
        keeper = NEVER if self.everywhere or self.space == "local" else np.uint32(0)

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), keeper, spans, reached, table

        requests = made.items / traits.lanes * unroll
        moved = float(made.items * unroll * 8)
        return Prepared(
            made,
            arguments,
            operations=requests,
            counts={"constant_bytes": moved} if self.space == "constant" else {},
            body=unroll,
            spans=spans,
            some_units=None if self.everywhere else 1,
            bytes_moved=moved,
        )

    def _words(self, size: int) -> int:
        return LOCAL_WORDS if self.space == "local" else max(size // 8, LINE_BYTES // 8)

    def _chain(self, size: int, base: int) -> Any:
        """Addresses, in one cycle through all lines of the table in an order of chance."""
        words = self._words(size)
        stride = 1 if self.space == "local" else LINE_BYTES // 8
        lines = words // stride
        order = seeded(1).permutation(lines).astype(np.uint64)
        table = np.zeros(words, np.uint64)
        following = np.roll(order, -1) * np.uint64(stride)
        scaled = following if self.space == "local" else following * np.uint64(8)
        table[order.astype(np.int64) * stride] = scaled + np.uint64(base)
        return table

    def _address(self, program: Program, table: Allocation, memory: Memory) -> int:
        address = memory.allocate("address", 1, np.uint64)
        wait(program.kernel("place").launch(1, 1, table, address))
        return int(address.read()[0])
