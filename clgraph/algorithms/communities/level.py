"""A graph on the device whose vertices move between communities, and the graph of those."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, Mirror, load
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.sweeps import Sweeper
from clgraph.engine.tallies import Tallies, Tally
from clgraph.primitives.radix import DIGIT_BITS, RadixSort, digit_passes
from clgraph.primitives.stages import Compaction, Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Allocation, Device, Kernel
    from clgraph.engine.sweeps import SweepLog

__all__ = ["CLASSES", "PHASES", "Level", "Levels", "Order"]

CLASSES = 8  # turns of a pass
LONG_ROW = 4  # edges of a mover's row from which on all lanes walk it
LONG_ROW_ONE_LANE = 2**31  # where a work-item is a whole SIMD group
PHASES = {"CHOOSE": 1, "SCORE": 2, "SETTLE": 4, "APPLY": 8}  # of a turn
DIRECT_CHUNK = 32  # entries of a chunk where none is summed in local memory first


@dataclass(slots=True)
class Order:
    """In which turns the vertices of a level are taken.

    Attributes
    ----------
    vertices, turns, chunks : Allocation
        As kernels take them, see ``kernels_cl/communities/turns.mako``.
    most_chunks : int
        Bound of the chunks of all turns, known before the device has counted them.
    look : callable or None
        Waits for how many the hubs of each turn have; None where there are no hubs.
    """

    vertices: Allocation
    turns: Allocation
    chunks: Allocation
    most_chunks: int
    look: Callable[[], NDArray[Any]] | None
    _counts: list[int] | None = None

    @property
    def chunk_counts(self) -> list[int]:
        """Chunks of the hubs of each turn; the first to ask may have to wait."""
        if self._counts is None:
            self._counts = self.look().tolist() if self.look else [0] * CLASSES
        return self._counts


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
    side : str
        Names the arrays of levels: two neighbouring ones have two names.
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
    side: str = "odd"
    seed: int = 0
    order: Order | None = None

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return len(self.rows) == 3

    @property
    def next_side(self) -> str:
        """Of the level that is made of this one."""
        return "even" if self.side == "odd" else "odd"


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
        self._mirrors: dict[str, tuple[object, Mirror]] = {}
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
            # Runs with other seeds want a little more or less; memory that is taken between
            # launches lets the device run dry.
            room = count if held is None else count + count // 8
            held = None  # free before the next one is taken
            held = self._arrays[name] = self.memory.allocate(name, room, dtype)
        return held

    def look(self, name: str, source: Allocation) -> Callable[[], NDArray[np.uint32]]:
        """Enqueue copying the words of a short array to the host.

        Parameters
        ----------
        name : str
            What they say; the next look of this name overwrites what this one copies.
        source : Allocation
            Of 32 or 64 bits.

        Returns
        -------
        callable
            Waits for the copy, and gives the words.
        """
        held, mirror = self._mirrors.get(name, (None, None))
        if mirror is None or held is not source.token:
            words = source.count * source.dtype.itemsize // 4
            mirror = Mirror(self.device, source, 0, words)
            self._mirrors[name] = (source.token, mirror)
        queue = self.device.queue
        queue.flush()  # what was launched begins while the copy is enqueued
        event = mirror.enqueue()

        def waited(mirror: Mirror = mirror) -> NDArray[np.uint32]:  # kept while it is written to
            finish_copy(event, queue=queue)
            return mirror.words

        return waited

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
        """Begin with communities of one vertex each, or as `labels` of the level says.

        The launch also empties what is summed up later on this level.
        """
        if given:
            level.totals.clear()
        n, side = level.n, level.next_side
        held = (level.strengths, level.labels, level.totals, self.sums("slacks", n))
        sums = (self.sums(name, n) for name in ("cuts", f"strengths {side}", f"loops {side}"))
        words = (self.array(name, n) for name in ("numbers", "places", "least"))
        args = (np.uint32(n), np.uint32(given), *held, *sums, *words)
        self.launch(log, None, n, "level_start", *args)

    def most_chunks(self, level: Level) -> int:
        """Bound the chunks of a level's hubs, each of which may have one that is not full."""
        if self.tables == "dense":
            return 0
        bounds = self.tallies.bounds
        shortest = bounds[-1] + 1 if bounds else 1
        return level.m // self.chunk + min(level.n, level.m // shortest)

    def chunks(self, level: Level) -> tuple[Any, ...]:
        """Give what kernels that take hubs in chunks are told of them."""
        if self.tables == "dense":
            return ()
        assert level.order is not None  # noqa: S101 (ordered before)
        return level.order.chunks, np.uint32(sum(level.order.chunk_counts))

    def numbered(
        self, log: SweepLog, level: Level, labels: Allocation, *, again: bool = False
    ) -> tuple[Allocation, Allocation]:
        """Give numbers to the labels that occur, by label, and how many there are.

        The latter is overwritten by the next scan. `again` where this is not the first time since
        the level was started.
        """
        n = level.n
        numbers = self.array("numbers", n)
        if again:
            numbers.clear()
        self.launch(log, None, n, "level_used", np.uint32(n), labels, numbers)
        return numbers, self._scan.enqueue(log, numbers, n, numbers)

    def coarser(
        self,
        log: SweepLog,
        level: Level,
        labels: Allocation,
        between: Callable[[Level, Allocation], None],
    ) -> Level:
        """Make the graph whose vertices are those of a level that have the same label.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        level : Level
            The graph, which has been started and ordered.
        labels : Allocation
            Which vertices become one.
        between : callable
            Given the new level, whose edges are not known yet, and new vertices by label; enqueues
            what needs no edges, for the device to do while they are counted.

        Returns
        -------
        Level
            Its labels and totals are those that `between` has given it.
        """
        n, side = level.n, level.next_side
        numbers, total = self.numbered(log, level, labels)
        numbered = self.look("vertices", total)
        # Room for as many as there can be takes a look less than for as many as there are.
        strengths, loops = self.sums(f"strengths {side}", n), self.sums(f"loops {side}", n)
        new_labels, totals = self.array(f"labels {side}", n), self.sums(f"totals {side}", n)
        indptr, places = self.array(f"indptr {side}", n + 1), self.array("places", n)
        mapping = (np.uint32(n), labels, numbers)
        held = (level.strengths, level.loops)
        args = (*self.chunks(level), *mapping, *held, places, strengths, loops)
        self.launch(log, level, n, "coarsen_count", *args)
        paired = self.look("pairs", self._scan.enqueue(log, places, n, places))
        made = Level(int(numbered()[0]), 0, (), strengths, loops, new_labels, totals, side)
        made.rows = (indptr, self.array(f"indices {side}", 1), self.sums(f"weights {side}", 1))
        self._joined(log, level, made, (*mapping, places), paired, lambda: between(made, numbers))
        return made

    def _joined(
        self,
        log: SweepLog,
        level: Level,
        made: Level,
        given: tuple[Any, ...],
        paired: Callable[[], NDArray[Any]],
        between: Callable[[], None],
    ) -> None:
        """Sort the pairs of new vertices that edges join, and make every run of them an edge."""
        bits = max((made.n - 1).bit_length(), 1)
        width = DIGIT_BITS * digit_passes(bits)
        word: Any = np.uint32 if width + bits <= 32 else np.uint64
        key = "uint" if word is np.uint32 else "ulong"
        # There is room for all edges: so pairs are listed before it is known how many they are.
        pairs = self.array(f"pairs {key}", level.m, word)
        pair_weights = self.sums("pair_weights", level.m if level.weighted else 1)
        args = (*self.chunks(level), *given, np.uint32(width), pairs, pair_weights)
        self.launch(log, level, level.n, "coarsen_pairs", *args, key=key)
        count = int(paired()[0])
        indptr, indices, weights = made.rows
        if not count:
            indptr.clear()
            between()
            return
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
        joined = self._compaction.enqueue(log, begins, count, (all_places, run_places))
        edges = self.look("edges", joined)
        before, whole = all_places, all_places  # of edges that weigh 1 each nothing is summed
        if sorted_weights is not None:
            before = self.sums("weights_before", count)
            whole = self._sums.enqueue(log, sorted_weights, count, before)
        between()
        made.m = m = int(edges()[0])
        indices, weights = (
            self.array(f"indices {made.side}", m),
            self.sums(f"weights {made.side}", m),
        )
        made.rows = (indptr, indices, weights)
        found = (pairs, run_places, np.uint32(m))
        sweeper = Sweeper(self.device, m, self.tallies.group_size)
        kernel = self.kernel("coarsen_rows", weighted=level.weighted, key=key)
        sizes = (np.uint32(count), np.uint32(width))
        sweeper.launch(log, kernel, *found, *sizes, before, whole, indices, weights)
        rows = (np.uint32(width), np.uint32(made.n), indptr)
        self.launch(log, None, made.n + 1, "coarsen_begins", *found, *rows, key=key)

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

    def parted(self, log: SweepLog, level: Level, pieces: Allocation) -> None:
        """Give labels to the pieces of communities."""
        n = np.uint32(level.n)
        numbers, _ = self.numbered(log, level, pieces, again=True)
        ends = (np.uint32(0), np.uint32(1), pieces, numbers, level.labels)
        self.launch(log, None, level.n, "level_follow", n, *ends)

    def copy(self, log: SweepLog, source: Allocation, target: Allocation, n: int) -> None:
        """Copy words."""
        self.launch(log, None, n, "level_copy", np.uint32(n), source, target)

    def quality(self, log: SweepLog, level: Level, name: str) -> Callable[[], tuple[int, int]]:
        """Sum what edges within communities weigh, from both ends, and squares of totals.

        Returns
        -------
        callable
            Waits for the sums; to be asked before the next call of the same name.
        """
        lanes = self.device.traits.lanes
        sweeper = Sweeper(self.device, level.n * lanes, self.tallies.group_size)
        units = sweeper.groups * self.tallies.group_size // lanes
        sums = self.array("quality", 3 * units, np.uint64)
        args = (np.uint32(level.n), level.labels, level.loops, level.totals, sums)
        self.launch(log, level, level.n, "level_quality", *args)
        look = self.look(name, sums)

        def waited() -> tuple[int, int]:
            found = look().view(np.uint64)[: 3 * units].reshape(units, 3).sum(axis=0)
            inside, low, high = (int(one) for one in found)
            return inside, (high << 32) + low

        return waited
