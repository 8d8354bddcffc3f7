"""A graph on the device whose vertices move between communities."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.order import CLASSES
from clgraph.algorithms.communities.tallies import Tallies, Tally
from clgraph.device import Memory, Mirror, load
from clgraph.device.hardware.measured import COMMUNITY_GROUP
from clgraph.device.memory.copying import finish_copy
from clgraph.engine.sweeps import Sweeper
from clgraph.primitives.scanning import Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

    from clgraph.algorithms.communities.order import Order
    from clgraph.device import Allocation, Device, Kernel
    from clgraph.engine.sweeps import SweepLog

__all__ = ["PHASES", "Level", "Levels"]

LONG_ROW = 4  # edges of a mover's row from which on all lanes walk it
LONG_ROW_ONE_LANE = 2**31  # where a work-item is a whole SIMD group
PHASES = {"CHOOSE": 1, "SCORE": 2, "SETTLE": 4, "APPLY": 8}  # of a turn
DIRECT_CHUNK = 32  # entries of a chunk where none is summed in local memory first


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

    Attributes
    ----------
    scan : Scan
        Of 32-bit words.
    """

    def __init__(self, device: Device, tables: str, *, wide: bool) -> None:
        self.device = device
        self.memory = Memory(device)
        group, slots = COMMUNITY_GROUP.on(device.traits)
        self.tallies = Tallies(device, tables, wide=wide, group=group, slots=slots)
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
        self.scan = Scan(device, np.uint32)

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
        return numbers, self.scan.enqueue(log, numbers, n, numbers)

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
