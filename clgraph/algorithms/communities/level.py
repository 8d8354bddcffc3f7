"""A graph on the device whose vertices move between communities, and the graph of those."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load
from clgraph.engine.sweeps import Sweeper
from clgraph.engine.tallies import Tallies, Tally
from clgraph.primitives.radix import DIGIT_BITS, RadixSort, digit_passes
from clgraph.primitives.stages import Compaction, Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike

    from clgraph.device import Allocation, Device, Kernel
    from clgraph.engine.sweeps import SweepLog

__all__ = ["CLASSES", "PHASES", "Level", "Levels", "Order"]

CLASSES = 8  # turns of a pass
LONG_ROW = 4  # edges of a mover's row from which on all lanes walk it
LONG_ROW_ONE_LANE = 2**31  # where a work-item is a whole SIMD group
PHASES = {"CHOOSE": 1, "SCORE": 2, "SETTLE": 4, "APPLY": 8}  # of a turn
DIRECT_CHUNK = 32  # entries of a chunk where none is summed in local memory first


@dataclass(frozen=True, slots=True)
class Order:
    """In which turns the vertices of a level are taken.

    Attributes
    ----------
    vertices, turns, chunks : Allocation
        As kernels take them, see ``kernels_cl/communities/turns.mako``.
    counts : list of list of int
        Vertices of each turn, by the kind of their rows, but hubs.
    chunk_counts : list of int
        Of the hubs of each turn.
    written : callable
        Holds what is copied to `turns`.
    """

    vertices: Allocation
    turns: Allocation
    chunks: Allocation
    counts: list[list[int]]
    chunk_counts: list[int]
    written: Callable[[], None]


@dataclass(slots=True)
class Level:
    """A graph, and the communities of its vertices.

    Attributes
    ----------
    n, m : int
        Vertices, and stored edges.
    rows : tuple of Allocation
        indptr, indices and, unless every edge weighs 1, weights.
    strengths, loops : Allocation
        Of each vertex what its edges weigh, and its self-loops among them, twice.
    labels, totals : Allocation
        Communities of vertices, and strengths of communities.
    seed : int
        Of 32 bits: of classes, and of what is equally good.
    order : Order or None
        In which turns vertices are taken.
    """

    n: int
    m: int
    rows: tuple[Allocation, ...]
    strengths: Allocation
    loops: Allocation
    labels: Allocation
    totals: Allocation
    seed: int = 0
    order: Order | None = None

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return len(self.rows) == 3


class Levels:
    """Kernels and scratch arrays for the levels of one graph on one device.

    Parameters
    ----------
    device : Device
        Where.
    tables : {"dense", "local", "global"}
        Where sums by community are kept.
    wide : bool
        Whether sums of weights take 64 bits.
    """

    def __init__(self, device: Device, tables: str, *, wide: bool) -> None:
        self.device = device
        self.memory = Memory(device)
        self.tallies = Tallies(device, tables, wide=wide)
        self.sum_type = np.dtype(np.uint64 if wide else np.uint32)
        self.source_hash = ""
        self._arrays: dict[str, Allocation] = {}
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self.tables = tables
        of_group = [kind for kind in self.tallies.kinds if kind.slots]
        # What is longer than the tables of a work-group have room for is cut into chunks.
        longest = of_group[-1].longest if of_group else None
        self.chunk = longest or DIRECT_CHUNK
        self._scan = Scan(device, np.uint32)
        self._sums = Scan(device, self.sum_type)
        self._compaction = Compaction(device)
        self._sorts: dict[tuple[Any, ...], RadixSort] = {}

    def array(self, name: str, count: int, dtype: DTypeLike = np.uint32) -> Allocation:
        """Give an array of at least so many elements, the same one for the same name."""
        held = self._arrays.get(name)
        if held is None or held.count < count:
            self._arrays.pop(name, None)
            held = self._arrays[name] = self.memory.allocate(name, count, dtype)
        return held

    def sums(self, name: str, count: int) -> Allocation:
        """Give an array of sums of weights."""
        return self.array(name, count, self.sum_type)

    @property
    def kinds(self) -> list[Tally]:
        """Rows that are summed in one piece, shortest first; longer ones are hubs."""
        return [kind for kind in self.tallies.kinds if kind.slots or kind.unit == "thread"]

    def kernel(
        self,
        name: str,
        *,
        weighted: bool = True,
        key: str = "uint",
        only: tuple[str, int | str] | None = None,
    ) -> Any:
        """Give a kernel, or that which does only one step of it; built when it is first wanted."""
        file = name.partition("_")[0]
        if file != "coarsen":
            key = "uint"
        found = (name, weighted, key, only)
        if found not in self._kernels:
            size, lanes = self.tallies.group_size, self.device.traits.lanes
            kinds = [self.tallies.parameters(kind) for kind in self.kinds]
            hub = self.tallies.parameters(Tally("group", 0, None))
            program = load(
                self.device,
                f"communities/{file}.cl",
                config=SimpleNamespace(group_size=size, lanes=lanes, wide_offsets=False),
                tally=hub,
                kinds=kinds,
                hub_kinds=[] if self.tables == "dense" else [hub],
                hubs=self.tables != "dense",
                phases=PHASES,
                only=only,
                weighted=weighted,
                classes=CLASSES,
                long_row=LONG_ROW_ONE_LANE if lanes == 1 else LONG_ROW,
                key=key,
                chunk=self.chunk,
                bins=self.tallies.bounds,
            )
            self._kernels[found] = program.kernel(name)
            self.source_hash = self.source_hash or program.source_hash
        return self._kernels[found]

    def launch(
        self, log: SweepLog, level: Level | None, n: int, name: str, *args: Any, **how: Any
    ) -> None:
        """Launch a kernel over n items; those of a level begin with its rows."""
        weighted = True if level is None else level.weighted
        key = how.pop("key", "uint")
        lanes = self.device.traits.lanes
        sweeper = Sweeper(self.device, n if level is None else n * lanes, self.tallies.group_size)
        rows = () if level is None else level.rows
        sweeper.launch(log, self.kernel(name, weighted=weighted, key=key), *rows, *args, **how)

    def start(self, log: SweepLog, level: Level, *, given: bool) -> None:
        """Begin with communities of one vertex each, or as `labels` of the level says."""
        if given:
            level.totals.clear()
        n = np.uint32(level.n)
        self.launch(
            log,
            None,
            level.n,
            "level_start",
            n,
            np.uint32(given),
            level.strengths,
            level.labels,
            level.totals,
            self.sums("slacks", level.n),
        )

    def chunks(self, level: Level) -> tuple[Any, ...]:
        """Give what kernels that take hubs in chunks are told of them."""
        if self.tables == "dense":
            return ()
        assert level.order is not None  # noqa: S101 (ordered before)
        return level.order.chunks, np.uint32(sum(level.order.chunk_counts))

    def numbered(
        self, log: SweepLog, level: Level, labels: Allocation
    ) -> tuple[Allocation, Allocation]:
        """Give numbers to the labels that occur, by label, and how many there are.

        The latter is overwritten by the next scan.
        """
        n = level.n
        numbers = self.array("numbers", n)
        numbers.clear()
        self.launch(log, None, n, "level_used", np.uint32(n), labels, numbers)
        return numbers, self._scan.enqueue(log, numbers, n, numbers)

    def coarser(
        self, log: SweepLog, level: Level, labels: Allocation, side: str
    ) -> tuple[Level, Allocation]:
        """Make the graph whose vertices are those of a level that have the same label.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        level : Level
            The graph.
        labels : Allocation
            Which vertices become one.
        side : str
            Names the arrays of the new level; two neighbouring levels have two names.

        Returns
        -------
        Level
            Its labels and totals are undefined.
        Allocation
            New vertices by label.
        """
        n = level.n
        numbers, total = self.numbered(log, level, labels)
        numbered = total.read_later(1)
        # Room for as many as there can be takes a look less than for as many as there are.
        strengths, loops = self.sums(f"strengths {side}", n), self.sums(f"loops {side}", n)
        strengths.clear()
        loops.clear()
        places = self.array("places", n)
        mapping = (np.uint32(n), labels, numbers)
        held = (level.strengths, level.loops)
        places.clear()
        chunks = self.chunks(level)
        args = (*chunks, *mapping, *held, places, strengths, loops)
        self.launch(log, level, n, "coarsen_count", *args)
        paired = self._scan.enqueue(log, places, n, places).read_later(1)
        new_n, count = int(numbered()[0]), int(paired()[0])
        indptr = self.array(f"indptr {side}", new_n + 1)
        m = 0
        indices = self.array(f"indices {side}", 1)
        weights = self.sums(f"weights {side}", 1)
        if count:
            m, indices, weights = self._joined(
                log, level, (mapping, places), (count, new_n), indptr, side
            )
        else:
            indptr.write(np.zeros(new_n + 1, np.uint32))
        made = Level(
            new_n,
            m,
            (indptr, indices, weights),
            strengths,
            loops,
            self.array(f"labels {side}", new_n),
            self.sums(f"totals {side}", new_n),
        )
        return made, numbers

    def _joined(
        self,
        log: SweepLog,
        level: Level,
        given: tuple[tuple[Any, ...], Allocation],
        counts: tuple[int, int],
        indptr: Allocation,
        side: str,
    ) -> tuple[int, Allocation, Allocation]:
        """Sort the pairs of new vertices that edges join, and make every run of them an edge."""
        (n, labels, numbers), places = given
        count, new_n = counts
        bits = max((new_n - 1).bit_length(), 1)
        width = DIGIT_BITS * digit_passes(bits)
        word: Any = np.uint32 if width + bits <= 32 else np.uint64
        key = "uint" if word is np.uint32 else "ulong"
        pairs = self.array(f"pairs {key}", count, word)
        pair_weights = self.sums("pair_weights", count if level.weighted else 1)
        args = (*self.chunks(level), n, labels, numbers, places)
        args += (np.uint32(width), pairs, pair_weights)
        self.launch(log, level, level.n, "coarsen_pairs", *args, key=key)
        value = self.sum_type if level.weighted else None
        if (word, value) not in self._sorts:
            self._sorts[word, value] = RadixSort(self.device, word, value)
        sort = self._sorts[word, value]
        held = pair_weights if level.weighted else None
        pairs, sorted_weights = sort.enqueue(log, pairs, count, held, bits=bits)
        begins = self.array("run_begins", count, np.uint8)
        all_places, run_places = self.array("pair_places", count), self.array("run_places", count)
        runs = (pairs, np.uint32(count), begins, all_places)
        self.launch(log, None, count, "coarsen_runs", *runs, key=key)
        total = self._compaction.enqueue(log, begins, count, (all_places, run_places))
        m = int(total.read()[0])
        before, whole = all_places, all_places  # of edges that weigh 1 each nothing is summed
        if sorted_weights is not None:
            before = self.sums("weights_before", count)
            whole = self._sums.enqueue(log, sorted_weights, count, before)
        indices, weights = self.array(f"indices {side}", m), self.sums(f"weights {side}", m)
        found = (pairs, run_places, np.uint32(m))
        sweeper = Sweeper(self.device, m, self.tallies.group_size)
        kernel = self.kernel("coarsen_rows", weighted=level.weighted, key=key)
        sizes = (np.uint32(count), np.uint32(width))
        sweeper.launch(log, kernel, *found, *sizes, before, whole, indices, weights)
        rows = (np.uint32(width), np.uint32(new_n), indptr)
        self.launch(log, None, new_n + 1, "coarsen_begins", *found, *rows, key=key)
        return m, indices, weights

    def inherit(
        self,
        log: SweepLog,
        level: Level,
        made: Level,
        parts: Allocation,
        numbers: Allocation,
    ) -> None:
        """Put new vertices into the communities that their parts are in."""
        least = self.array("least", level.n)
        least.clear()
        n = np.uint32(level.n)
        self.launch(log, None, level.n, "coarsen_least", n, level.labels, parts, numbers, least)
        args = (n, level.labels, parts, numbers, least, made.labels)
        self.launch(log, None, level.n, "coarsen_inherit", *args)

    def pieces(self, log: SweepLog, level: Level) -> Allocation:
        """Find what hangs together within communities; give the least vertex of each."""
        n, pieces = np.uint32(level.n), self.array("pieces", level.n)
        self.launch(log, None, level.n, "pieces_alone", n, pieces)
        args = (*self.chunks(level), n, level.labels, pieces)
        self.launch(log, level, level.n, "pieces_join", *args)
        self.launch(log, None, level.n, "pieces_roots", n, pieces)
        return pieces

    def parted(self, log: SweepLog, level: Level) -> None:
        """Give labels to what hangs together within communities."""
        n, pieces = np.uint32(level.n), self.pieces(log, level)
        numbers, _ = self.numbered(log, level, pieces)
        ends = (np.uint32(0), np.uint32(1), pieces, numbers, level.labels)
        self.launch(log, None, level.n, "level_follow", n, *ends)

    def copy(self, log: SweepLog, source: Allocation, target: Allocation, n: int) -> None:
        """Copy words."""
        self.launch(log, None, n, "level_copy", np.uint32(n), source, target)

    def quality(self, log: SweepLog, level: Level) -> tuple[int, int]:
        """Sum what edges within communities weigh, from both ends, and squares of totals."""
        lanes = self.device.traits.lanes
        sweeper = Sweeper(self.device, level.n * lanes, self.tallies.group_size)
        units = sweeper.groups * self.tallies.group_size // lanes
        sums = self.array("quality", 3 * units, np.uint64)
        args = (np.uint32(level.n), level.labels, level.loops, level.totals, sums)
        self.launch(log, level, level.n, "level_quality", *args)
        found = sums.read(3 * units).reshape(units, 3).sum(axis=0, dtype=np.uint64)
        inside, low, high = (int(one) for one in found)
        return inside, (high << 32) + low
