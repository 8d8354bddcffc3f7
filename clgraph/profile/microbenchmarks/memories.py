"""Memories: lines of device memory, words of caches, copies, random words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import VerificationError
from clgraph.profile.criteria import USUAL_BANKS
from clgraph.profile.microbenchmarks.work import NEVER, Prepared, Scale, Work, plan

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = [
    "Copy",
    "Lines",
    "RandomWords",
    "Words",
    "banks_of",
    "conflicts",
    "lines_touched",
]

LINE_BYTES = 128
WORD_BYTES = 4
MOST_STEPS = 1024  # of a straight line of accesses: one part in 250 is the loop
CPU_STEPS = 16
LARGEST_FOOTPRINT = (1 << 31) - 1


def banks_of(device: Device) -> int:
    """Give the banks of local memory that lanes are spread over."""
    return device.traits.local_banks or USUAL_BANKS


def conflicts(ways: int, banks: int = USUAL_BANKS) -> int:
    """Most lanes that meet in one bank when `words.cl` is asked for so many; by counting."""
    lane = np.arange(banks)
    words = lane % ways * banks + lane // ways
    _, meeting = np.unique(words % banks, return_counts=True)
    return int(meeting.max())


def lines_touched(together: int, lanes: int = USUAL_BANKS) -> int:
    """Lines that one request of a SIMD group touches in `lines.cl`; by counting."""
    lane = np.arange(lanes)
    words = lane // together * (LINE_BYTES // WORD_BYTES) + lane % together
    return int(np.unique(words * WORD_BYTES // LINE_BYTES).size)


def steps_of(device: Device, scale: Scale) -> int:
    return min(MOST_STEPS if device.traits.memory_ops == "ptx" else CPU_STEPS, scale.unroll)


@dataclass(frozen=True, slots=True)
class Lines(Work):
    """Accesses to device memory that no cache holds.

    Attributes
    ----------
    together : int
        Neighbouring lanes that share a line of 128 bytes: the degree of coalescence.
    way : {"load", "store"}
        What is done.
    width : {1, 4}
        Words that each lane moves at a time.
    """

    together: int = 32
    way: str = "load"
    width: int = 1

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        traits = device.traits
        per_unit = traits.threads_per_unit or scale.group_size
        if self.width > 1:  # a lane has many in flight, in most of a unit's registers
            per_unit = scale.group_size
        items = per_unit // scale.group_size * scale.group_size * traits.compute_units
        groups = items // scale.group_size
        step_bytes = max(scale.group_size // self.together, 1) * LINE_BYTES  # of a work-group
        wanted = min(scale.footprint_bytes, traits.max_alloc_bytes, LARGEST_FOOTPRINT)
        steps = steps_of(device, scale)
        sweep = max(min(wanted // (groups * step_bytes), steps), 1)
        unroll = max(steps // sweep, 1) * sweep
        made = plan(
            device,
            "lines.cl",
            "lines",
            scale.group_size,
            groups=groups,
            together=self.together,
            way=self.way,
            width=self.width,
            line_bytes=LINE_BYTES,
            sweep=sweep,
            step_bytes=step_bytes,
            unroll=unroll,
        )
        spans = made.spans()
        words = made.allocate("words", groups * sweep * step_bytes // WORD_BYTES, np.uint32)

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), np.uint32(1), NEVER, spans, words

        requests = made.items / traits.lanes * unroll
        # What travels are sectors of 32 bytes, which a lane's word shares with its neighbours'.
        sectors = -(-self.together * self.width * WORD_BYTES // 32)
        moved = made.items / self.together * unroll * sectors * 32
        return Prepared(
            made,
            arguments,
            operations=requests,
            counts={"memory_bytes": moved},
            body=unroll,
            spans=spans,
            bytes_moved=moved,
        )


@dataclass(frozen=True, slots=True)
class Words(Work):
    """The same words again and again, of local memory or of the cache that all units share.

    Attributes
    ----------
    space : {"local", "global"}
        Which memory.
    way : {"load", "store"}
        What is done.
    conflicts : int
        Lanes that meet in a bank of local memory, 1 to as many as there are banks.
    """

    space: str
    way: str = "load"
    conflicts: int = 1

    def missing(self, device: Device) -> str | None:
        """Say what the device lacks for it, or give None."""
        banks = banks_of(device)
        if self.conflicts > 1 and device.traits.lanes < banks:
            return "the device has no lanes"
        return f"local memory has {banks} banks" if self.conflicts > banks else None

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        unroll, banks = steps_of(device, scale), banks_of(device)
        made = plan(
            device,
            "words.cl",
            "words",
            scale.group_size,
            space=self.space,
            way=self.way,
            conflicts=self.conflicts,
            banks=banks,
            local_words=banks * banks,
            unroll=unroll,
        )
        spans = made.spans()
        shared = made.upload("shared words", np.zeros(made.items, np.uint32))

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), np.uint32(1), NEVER, spans, shared

        requests = made.items / device.traits.lanes * unroll
        moved = float(made.items * unroll * WORD_BYTES)
        feature = {"local": "local_bytes", "global": "cache_bytes"}[self.space]
        return Prepared(
            made,
            arguments,
            operations=requests,
            counts={feature: moved * self.conflicts},
            body=unroll,
            spans=spans,
            bytes_moved=moved,
        )


@dataclass(frozen=True, slots=True)
class Copy(Work):
    """A copy of one large array to another, in elements of some size.

    Attributes
    ----------
    element_bytes : {1, 2, 4, 8, 16}
        What each work-item moves at a time.
    """

    element_bytes: int

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        kinds = {1: "uchar", 2: "ushort", 4: "uint", 8: "uint2", 16: "uint4"}
        made = plan(
            device,
            "copy.cl",
            "copy",
            scale.group_size,
            kind=kinds[self.element_bytes],
            element_bytes=self.element_bytes,
        )
        size = min(scale.footprint_bytes // 2, device.traits.max_alloc_bytes) // 16 * 16
        data = np.arange(size // 4, dtype=np.uint32)
        source = made.upload("source", data)
        target = made.allocate("target", size // 4, np.uint32)
        count = np.uint64(size // self.element_bytes)

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), count, source, target

        def check(_: int) -> None:
            if not np.array_equal(target.read(), data):
                raise VerificationError(
                    f"copying in elements of {self.element_bytes} bytes changed the data."
                )

        return Prepared(
            made,
            arguments,
            operations=2.0 * size / LINE_BYTES,
            counts={"memory_bytes": 2.0 * size},
            bytes_moved=2.0 * size,
            check=check,
        )


@dataclass(frozen=True, slots=True)
class RandomWords(Work):
    """Words anywhere in an array.

    Attributes
    ----------
    size_bytes : int or None
        Of the array; rounded down to a power of two. None for what misses every cache.
    way : {"load", "atomic"}
        What is done.
    """

    size_bytes: int | None
    way: str = "load"

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        unroll = 16
        made = plan(
            device, "random.cl", "random_words", scale.group_size, way=self.way, unroll=unroll
        )
        wanted = scale.footprint_bytes if self.size_bytes is None else self.size_bytes
        words = 1 << ((min(wanted, device.traits.max_alloc_bytes) // WORD_BYTES).bit_length() - 1)
        table = made.upload("words", np.zeros(words, np.uint32))
        mask = np.uint32(words - 1)

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), mask, NEVER, table

        accesses = float(made.items * unroll)
        missing = words * WORD_BYTES > device.traits.cache_bytes
        feature = {
            ("load", True): "random_reads",
            ("load", False): "cached_random_reads",
            ("atomic", True): "atomics",
            ("atomic", False): "cached_atomics",
        }[self.way, missing]
        return Prepared(
            made,
            arguments,
            operations=accesses,
            counts={feature: accesses, "integer_operations": 4 * accesses},
            bytes_moved=accesses * WORD_BYTES,
        )
