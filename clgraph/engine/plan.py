"""Plans: what everything that is compiled once and run many times has in common.

A plan's kernel takes its arguments from one `Table`: the signature is rendered from it, arrays are
allocated and reported by it, and a launch is bound by it, so that no argument is listed twice.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from clgraph.device import Allocation, Memory
from clgraph.device import device as find_device
from clgraph.device.memory.results import ResultMemory
from clgraph.device.programs.asked import asking
from clgraph.device.staying import StaysHere
from clgraph.engine.blocks import Searched
from clgraph.engine.driver import Driver
from clgraph.engine.findings import BufferPool, SearchBuffers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["FollowingPlan", "Plan", "SearchPlan", "Table", "Turn"]

P = TypeVar("P", bound="Plan")
S = TypeVar("S")

LEVEL_CAPACITY = 1 << 16  # levels whose size and time are kept; 16 bytes each
# What an element of each type that kernels name is on the host: a NumPy type, and how many of it.
TYPES: dict[str, tuple[DTypeLike, int]] = {
    "int": (np.int32, 1),
    "uint": (np.uint32, 1),
    "ulong": (np.uint64, 1),
    "float": (np.float32, 1),
    "uchar": (np.uint8, 1),
    "uint2": (np.uint32, 2),
    "uint4": (np.uint32, 4),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One argument of a kernel.

    Attributes
    ----------
    ctype, name : str
        As the kernel has them.
    access : str
        A key of ``templates/grid/signature.mako``.
    note : str
        What it is, for the reader of the kernel: of an array first its shape, as in ``[n + 1]``.
    """

    ctype: str
    name: str
    access: str
    note: str


class Table:
    """The arguments of a kernel, in order.

    Parameters
    ----------
    types : dict
        Element types of the kernel's own, by name: a NumPy type, and how many of it make one.

    Attributes
    ----------
    rows : list of Row
        What ``/grid/signature.mako`` renders.
    stamp : object
        Another one whenever what all runs share is.
    changing : tuple of int
        Places of arguments that some launch was given. They stay: the next launch may leave them to
        the table, and a kernel may not be launched by every run.
    """

    def __init__(self, types: Mapping[str, tuple[DTypeLike, int]] | None = None) -> None:
        self.rows: list[Row] = []
        self._types = TYPES | dict(types or {})
        self._makers: list[Callable[[Memory], Argument | None]] = []
        self._bound: list[Argument | None] = []
        self._places: dict[str, int] = {}
        self.stamp = object()
        self.changing: tuple[int, ...] = ()
        self._known: frozenset[str] = frozenset()  # names of some of these

    def _declare(self, row: Row, make: Callable[[Memory], Argument | None]) -> None:
        self.rows.append(row)
        self._makers.append(make)

    def given(self, ctype: str, name: str, note: str = "", access: str = "value") -> None:
        """Declare what each run gives: a number, or an array of a result."""
        self._declare(Row(ctype, name, access, note), lambda _: None)

    def number(self, ctype: str, name: str, value: Any, note: str = "") -> None:
        """Declare a number of all runs: one of NumPy's, or for `TYPES` any."""
        kind: Any = self._types.get(ctype, (None,))[0]

        def make(_: Memory) -> Argument:
            number = value() if callable(value) else value
            made: Argument = number if kind is None else kind(number)
            return made

        self._declare(Row(ctype, name, "value", note), make)

    def array(
        self,
        ctype: str,
        name: str,
        count: int | Callable[[], int],
        note: str = "",
        access: str = "write",
    ) -> None:
        """Declare an array of so many elements, for the kernel to fill."""
        kind, words = self._types[ctype]

        def make(memory: Memory) -> Argument:
            elements = count if isinstance(count, int) else count()
            return memory.allocate(name, elements * words, kind)

        self._declare(Row(ctype, name, access, note), make)

    def upload(
        self,
        ctype: str,
        name: str,
        values: Callable[[], NDArray[Any]],
        note: str = "",
        access: str = "read",
        *,
        progress: Progress | None = None,
    ) -> None:
        """Declare an array that is copied to the device."""
        self._declare(
            Row(ctype, name, access, note),
            lambda memory: memory.upload(name, values(), progress=progress),
        )

    def held(
        self,
        ctype: str,
        name: str,
        array: Callable[[], Allocation],
        note: str = "",
        access: str = "read",
    ) -> None:
        """Declare an array that somebody else allocates: the graph's, most often."""
        self._declare(Row(ctype, name, access, note), lambda _: array())

    def allocate(self, memory: Memory) -> None:
        """Make everything that all runs share.

        Raises
        ------
        DeviceMemoryError
            If not all of it fits.
        """
        self.stamp = object()
        self._places = {row.name: place for place, row in enumerate(self.rows)}
        self._bound = [None] * len(self.rows)
        for place, make in enumerate(self._makers):  # in order: one may ask for those before it
            self._bound[place] = make(memory)
        self._makers.clear()  # and the host arrays that they know

    def __getitem__(self, name: str) -> Any:
        """Give what all runs share by this name."""
        return self._bound[self._places[name]]

    def __setitem__(self, name: str, value: Argument) -> None:
        """Have all runs share something else from now on."""
        self.stamp = object()
        self._bound[self._places[name]] = value

    def bind(self, given: Mapping[str, Argument]) -> list[Argument]:
        """Give the arguments of a launch: those of all runs and those of this one."""
        bound: list[Any] = self._bound.copy()
        places = self._places
        for name, value in given.items():
            bound[places[name]] = value
        if not given.keys() <= self._known:
            self.change(places[name] for name in given)
            self._known |= given.keys()
        return bound

    def change(self, places: Iterable[int]) -> None:
        """Have the arguments in these places looked at in every launch from now on."""
        self.changing = tuple({*self.changing, *places})  # another thread may be at the one before

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each array that all runs share, by name."""
        made = zip(self.rows, self._bound, strict=True)
        return {row.name: a.size_bytes for row, a in made if isinstance(a, Allocation)}


class Turn:
    """A run that has a plan to itself.

    Attributes
    ----------
    total_ms : float
        Host wall clock, with waiting for the plan; once the turn is over.
    """

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self.total_ms = 0.0

    def end(self) -> None:
        """Stop the clock."""
        self.total_ms = 1e3 * (time.perf_counter() - self._began)


class Plan(StaysHere):
    """Something compiled for one graph and device, which serves one thread at a time.

    Parameters
    ----------
    graph : object
        What it works on.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded, where that takes long.

    Attributes
    ----------
    graph : Graph
        What it works on.
    device : Device
        Where.
    source_hash : str
        Of the rendered kernel.
    device_bytes : int
        Device memory that was taken for it.

    Raises
    ------
    DeviceMemoryError
        If graph and state do not fit the device.
    KernelBuildError
        If the kernels do not compile there.
    """

    def __init__(self, graph: Any, device: Device | str | None = None) -> None:
        self.graph = graph
        self.device = find_device(device)
        self.source_hash = ""
        self.device_bytes = 0
        self._memory = Memory(self.device)
        self._result_memory = ResultMemory(self._memory)
        self._lock = threading.Lock()
        self._fallback: Any = None

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count what is allocated within."""
        before = self.device.ledger.used_bytes
        yield
        self.device_bytes += self.device.ledger.used_bytes - before

    @contextlib.contextmanager
    def _turn(self) -> Iterator[Turn]:
        """Have the plan to oneself; an exception, Ctrl-C too, gives it back."""
        turn = Turn()
        with self._lock:
            yield turn
        turn.end()

    def _stats_of(self, kind: Callable[..., S], log: SweepLog, turn: Turn, **about: Any) -> S:
        """Make the stats of a run: of this graph and plan, but for what is given."""
        usual = {"edges": self.graph.m, "device_bytes": self.device_bytes}
        return kind(log, turn.total_ms, **usual | about)

    @asking
    def _instead(self, make: Callable[[], P]) -> P:
        """Give the plan that runs what this one cannot; made once."""
        if self._fallback is None:
            self._fallback = make()
        fallback: P = self._fallback
        return fallback


class FollowingPlan(Plan):
    """A plan whose graph may change between runs, each of which is of what there is then.

    Parameters
    ----------
    graph, device, needs, weighted
        As for `Searched`.
    progress : callable or True, optional
        As for `Plan`.
    """

    HELD: ClassVar[tuple[str, ...]] = ()  # attributes that hold memory for the rows

    def __init__(
        self,
        graph: Any,
        device: Device | str | None = None,
        needs: str = "",
        *,
        weighted: bool | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._searched = Searched(graph, device, needs, weighted=weighted)
        with self._searched.still():
            super().__init__(self._searched.now(), self._searched.device)
            self._prepare(progress)
            self._searched.now_seen()

    def _prepare(self, progress: Progress | None) -> None:
        """Build the kernels, and take memory for the rows that there are now."""
        raise NotImplementedError

    @asking
    def _follow(self) -> None:
        """Let go of the rows before, and prepare for those that there are now."""
        self._searched.forget()
        for name in self.HELD:
            self.__dict__.pop(name, None)
        self.device_bytes, self._fallback = 0, None
        self.graph = self._searched.now()
        self._prepare(None)
        self._searched.now_seen()


class SearchPlan(FollowingPlan):
    """A plan whose stages write distances, perhaps a tree, and a record of every level."""

    HELD = ("_pool",)
    graph: Graph
    config: Resolved
    with_predecessors: bool

    def _ready(
        self, table: Table, about: object, *, level_capacity: int, dtype: DTypeLike, **kernels: Any
    ) -> None:
        """Build the kernels, unless those of the rows before are the same, and take memory.

        Parameters
        ----------
        table : Table
            What they take.
        about : object
            Equal where kernels of the same arguments are the same.
        level_capacity : int
            Levels that are recorded.
        dtype : dtype
            Of distances.
        **kernels
            As `Driver` has it.
        """
        held: Driver | None = getattr(self, "_stages", None)
        if held is not None and self._built_for == (about, table.rows):
            held.follow(table)
        else:
            # An exception may come before there are others than those before.
            self._built_for: tuple[Any, ...] = ()
            self._stages = Driver(
                self.device, table=table, config=self.config, timed=True, **kernels
            )
            self._built_for = (about, table.rows)
        self.source_hash = self._stages.program.source_hash
        if self.graph.n:
            with self._counted():
                table.allocate(self._memory)
                kinds: dict[str, Any] = {"predecessors": self.with_predecessors, "dtype": dtype}
                shape = (self.graph.n, level_capacity)
                self._pool = BufferPool(partial(SearchBuffers, self._memory, *shape, **kinds))

    @staticmethod
    def declare_levels(table: Table, capacity: int) -> None:
        """Declare the records of levels."""
        table.given("uint4", "levels", "[level_capacity] out: size, edges, mode, time", "write")
        table.number("uint", "level_capacity", capacity)

    @property
    def groups(self) -> int:
        """Work-groups of a persistent launch."""
        return self._stages.groups
