"""Counting at the middle vertex of each triangle, by tables of bits or bytes in local memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.triangles.config import Bitmap
from clgraph.algorithms.triangles.launching import Step, TurnedCounting
from clgraph.algorithms.triangles.orient import ALIGNED
from clgraph.engine.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.algorithms.triangles.orient import Orientation
    from clgraph.device import Device
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["OwnerCounting", "ranges_of"]

# Tables of bits: of work-groups, for the greatest hubs, and of SIMD groups, for all others.
TABLE_BITS, CPU_TABLE_BITS, SMALL_TABLE_BITS = 1 << 16, 1 << 18, 1 << 11
# Lanes that walk one row side by side; those of tables of bits; those of counts of vertices.
STREAM, WIDE_STREAM, NARROW_STREAM = 4, 8, 2
CHUNK = 16  # owners that a SIMD group claims at a time
ABREAST_LANES = 8  # of each of the owners that a SIMD group has abreast
HUBS, PIECES = 2048, 4  # owners whose work is cut, and in how many parts
# Of packed rows: with 2,048 and 4 kron20 took 1.01 times as long for a total, 1.02 for vertices.
PACKED_HUBS, PACKED_PIECES = 512, 2
TALLIES, SMALL_TALLIES = 1024, 64
# Ranks that counts of vertices from packed rows tally in local memory, at least those that may be
# bits. With 4,096 there is room for fewer groups at a time, and kron20 took 1.05 times as long.
RANK_TALLIES = 2048
PLANES = 9  # of counters that a lane has for each of its bits: up to 511 rows
PHASES = 3  # ranges of owners, at most
RUNS = 16  # whose counters of owners are cleared together
PACKED_RANKS = 1 << 16  # owners that packed rows serve
BYTE_RANKS = 1 << 14  # owners that tables of bytes serve
# Work-items of a group for owners after those, and for counts of vertices; for owners after both.
NEAR_GROUP, FAR_GROUP = 128, 64


class Launch(NamedTuple):
    """A kernel, what it is given in every run, and how its launch is noted and cut."""

    step: Step
    work: dict[str, Argument]
    name: str
    size: int | None


def ranges_of(sums: NDArray[np.int64], size: int) -> Iterator[tuple[int, int, int]]:
    """Give ranges of owners that have at most so many triangles, or of one owner, and how many."""
    first, n = 0, len(sums) - 1
    while first < n and sums[first] < sums[-1]:
        end = int(np.searchsorted(sums, sums[first] + size, side="right")) - 1
        end = min(max(end, first + 1), n)
        if sums[end] > sums[first]:
            yield first, end, int(sums[end] - sums[first])
        first = end


def _table_bytes(bits: int) -> int:
    return bits // 32 * (4 + (2 if bits <= 1 << 16 else 4)) + 4 * TALLIES + 256


def _rank_tallies(local_bytes: int) -> int:
    """Ranks that are tallied beside bits of the packed ones; 0 where there is no room."""
    room = (local_bytes - PACKED_RANKS // 8 - 256) // 4
    return RANK_TALLIES if room >= RANK_TALLIES else 0


class OwnerCounting(TurnedCounting):
    """Each triangle at its middle vertex, by tables of bits in local memory."""

    def __init__(self, config: Resolved, device: Device, turned: Orientation) -> None:
        super().__init__(config, device, turned)
        # A run takes those that the one before has left, as long as there are any.
        self._next = self.memory.allocate("next_owners", RUNS * PHASES * self.slices, np.uint32)
        self._taken = self._next.count
        way = config.intersect
        traits = device.traits
        given = way if isinstance(way, Bitmap) else Bitmap()
        self._given = given
        self._prepared: dict[str, tuple[tuple[int, int], list[Launch]]] = {}
        bits = given.bits or (CPU_TABLE_BITS if config.lanes == 1 else TABLE_BITS)
        # Beside each word of 32 bits, the place of its first rank: 2 bytes, or 4 in large tables.
        while bits > SMALL_TABLE_BITS and _table_bytes(bits) > traits.local_bytes:
            bits //= 2
        self._bits = bits
        self._streams = [min(given.stream or each, config.lanes) for each in (STREAM, WIDE_STREAM)]
        self._narrow_stream = min(given.stream or NARROW_STREAM, config.lanes)
        self._packed = bool(turned.packed) and given.packed is not False
        self._rank_tallies = _rank_tallies(traits.local_bytes)
        # A byte a rank, and what else a group keeps.
        room = 1 << (traits.local_bytes - 1024).bit_length() - 1
        asked = BYTE_RANKS if given.byte_ranks is None else given.byte_ranks
        self._byte_ranks = min(asked, room, PACKED_RANKS)
        self.intersections = turned.m // 2

    @property
    def probes(self) -> int | None:
        """Elements that a run looks up: in each row, for each, those before it."""
        if not self.config.counts:
            return None
        outs = self.turned.outs.read().astype(np.int64)
        return int((outs * (outs - 1) // 2).sum())

    def _cut(self, name: str) -> tuple[int, int]:
        """How many owners, the greatest hubs, have their work cut by a kernel, and how small."""
        hubs, pieces = (
            (HUBS, PIECES) if name == "triangles_owners" else (PACKED_HUBS, PACKED_PIECES)
        )
        return hubs, self._given.pieces or pieces

    def declare(self, name: str, per: str) -> Table:
        """Declare what a kernel takes: rows, packed ones first, and which of them are owners."""
        table = Table()
        if name != "triangles_owners":
            heads, packed = self.turned.packed
            note = "[n] by rank: first unit, and PACKED_ counts"
            table.held("uint2", "heads", lambda: heads, note)
            table.held("uint4", "packed", lambda: packed, "units")
        self.declare_turned(table)
        table.given("uint", "first", "owners from `first` on, in `items` pieces:")
        table.given("uint", "items", "`pieces` for each of the first `hubs`, else one")
        table.given("uint", "hubs")
        table.number("uint", "pieces", self._cut(name)[1])
        table.given("uint", "anew", "whether partial sums begin here")
        table.given("uint", "counter", "which of `next` counts what is claimed")
        table.held("uint", "next", lambda: self._next, "in/out, 0 on entry", "write")
        note = "[SIMD groups] in/out: triangles found"
        table.held("ulong", "partial", lambda: self.partial, note, "write")
        self.declare_results(table, per)
        return table

    def total(self, per: str) -> int:
        """Report what was counted, once all that was enqueued has ended."""
        del per  # each triangle was met once, at its middle
        return int(self.partial.read().sum())

    def run_owners(
        self, first: int, end: int, log: SweepLog, per: str, out: Mapping[str, Argument]
    ) -> int:
        """Count the triangles whose middle vertex has a rank from `first` to `end`."""
        self.enqueue(log, per, out, (first, end))
        log.wait()
        return self.total(per)

    def sums_of_owners(self, log: SweepLog) -> NDArray[np.int64]:
        """Count the triangles of all owners before each, and all, int64 [n + 1]."""
        owned = self.cleared(log, "triangles_of_owner", self.turned.n, self.sum_type)
        self.run(log, "owner", {"found": owned})
        return np.concatenate([[0], np.cumsum(owned.read().astype(np.int64))])

    def enqueue(
        self,
        log: SweepLog,
        per: str,
        out: Mapping[str, Argument],
        owners: tuple[int, int] | None = None,
    ) -> None:
        """Enqueue what counts all triangles, or those of some owners, as ``per`` says."""
        first, end = owners or (0, self.turned.n)
        if self._taken + PHASES * self.slices > self._next.count:
            log.add(self._next.clear(), name="clear")
            self._taken = 0
        for launch in self._launches(per, first, end):
            given = {**launch.work, "counter": np.uint32(self._taken), **out}
            self._taken += 1  # first: Ctrl-C may come when what is launched claims from it
            self.launch(log, launch.step, given, name=launch.name, size=launch.size)

    def _launches(self, per: str, first: int, end: int) -> list[Launch]:
        """Give what counts at these owners, which is what it was if the run before asked for them.

        A small graph's triangles are counted in the time that it takes to find out what to launch.
        """
        known = self._prepared.get(per)
        if known is None or known[0] != (first, end):
            known = self._prepared[per] = (first, end), list(self._prepare(per, first, end))
        return known[1]

    def _prepare(self, per: str, first: int, end: int) -> Iterator[Launch]:
        for begin, stop, name, options in self._phases(per, first, end):
            file = name.removeprefix("triangles_")
            file = file if file in {"owners", "packed_vertices"} else "packed"
            step = self.step(f"triangles/{file}.cl", name, per, **options)
            noted = f"{name} {options['unit']}" if file == "owners" else name
            for one, other in self.ranges(begin, stop):
                cut, pieces = (0, 1) if options.get("sifted") else self._cut(name)
                hubs = min(max(cut - int(one), 0), int(other - one))
                work: dict[str, Argument] = {
                    "first": one,
                    "items": np.uint32(int(other - one) + hubs * (pieces - 1)),
                    "hubs": np.uint32(hubs),
                    "anew": np.uint32(one == first),
                }
                yield Launch(step, work, noted, options.get("group_size"))

    def _phases(
        self, per: str, first: int, end: int
    ) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
        """Give ranges of owners, their kernel's name, and what it is rendered with."""
        if per == "total" and self._packed:
            yield from self._packed_phases(first, end)
            return
        if per == "vertex" and self._packed and self._rank_tallies and first < PACKED_RANKS:
            stop = min(PACKED_RANKS, end)
            size = min(self._size(first), self.group_of(NEAR_GROUP))
            shape = {"tallies": self._rank_tallies, "group_size": size}
            shape["stream"] = self._narrow_stream
            shape["planes"] = PLANES
            yield first, stop, "triangles_packed_vertices", shape
            first = stop
        one_lane = self.config.lanes == 1
        common = {
            "stream": self._streams[1],
            "width": ALIGNED if self.config.renamed and not one_lane else 1,
        }
        large = {
            **common,
            "unit": "group",
            "bits": self._bits,
            "exact": (one_lane and self.turned.n <= self._bits) or not one_lane,
            "chunk": CHUNK if one_lane else 1,
            "sifted": False,
            "abreast": 1,
            "tallies": TALLIES,
        }
        wide = min(self._bits, self.turned.long_rows, end)
        split = end if one_lane else max(first, wide)
        abreast = max(self.config.lanes // ABREAST_LANES, 1)
        small = {
            **common,
            "stream": self._narrow_stream if abreast > 1 else self._streams[1],
            "unit": "lanes",
            "bits": SMALL_TABLE_BITS,
            "exact": False,
            "chunk": min(CHUNK, self.config.lanes),
            "abreast": abreast,
            "sifted": True,
            "tallies": SMALL_TALLIES,
        }
        if first < split:
            yield first, split, "triangles_owners", large
        if split < end:
            yield split, end, "triangles_owners", small

    def _packed_phases(
        self, first: int, end: int
    ) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
        """Give the ranges of owners that bytes, bits, and bits of SIMD groups are for."""
        tables = (("bytes", self._byte_ranks), ("bits", PACKED_RANKS))
        for (table, ranks), stream in zip(tables, self._streams, strict=True):
            stop = min(ranks, end)
            shape = {"table": table, "ranks": ranks, "stream": stream, "beyond": False}
            shape |= {"unit": "group", "group_size": self._size(first)}
            if first < stop:
                yield first, stop, f"triangles_packed_{table}", shape
                first = stop
        if first < end:
            shape = {"table": "bits", "ranks": PACKED_RANKS, "stream": self._streams[0]}
            shape |= {"beyond": True, "unit": "group", "shared_bits": SMALL_TABLE_BITS}
            shape["group_size"] = self.group_of(FAR_GROUP)
            yield first, end, "triangles_packed_beyond", shape

    def _size(self, first: int) -> int:
        """Work-items of a group for owners from a rank on: later ones have shorter lists."""
        return self.config.group_size if first < BYTE_RANKS else self.group_of(NEAR_GROUP)
