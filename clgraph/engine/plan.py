"""Plans: what everything that is compiled once and run many times has in common."""

from __future__ import annotations

import contextlib
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.device.memory.results import ResultMemory
from clgraph.device.programs.asked import asking
from clgraph.device.staying import StaysHere
from clgraph.engine.blocks import Searched, is_changing
from clgraph.engine.driver import Driver
from clgraph.engine.findings import BufferPool, SearchBuffers
from clgraph.engine.outcome import LOOKED_AT, NOTHING_COUNTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import DTypeLike

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.driver import Started
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.sweeps import SweepLog
    from clgraph.engine.table import Table
    from clgraph.graph import Graph

__all__ = ["FollowingPlan", "Plan", "SearchPlan", "Turn"]

P = TypeVar("P", bound="Plan")
S = TypeVar("S")

LEVEL_CAPACITY = 1 << 16  # levels whose size and time are kept; 16 bytes each


class Turn:
    """The clock of a run, which waits for the plan and then has it to itself.

    The lock of the plan is entered beside it and not in it: of what Python code does on entering,
    Ctrl-C may find the lock taken and nobody yet who gives it back.

    Attributes
    ----------
    total_ms : float
        Host wall clock, with waiting for the plan; once the turn is over.
    """

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = time.perf_counter()
        self.total_ms = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
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
        with self._searched.alone:
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


class Rehearsed(Driver):
    """A driver whose runs are those of another but for all that the device has to do with.

    Parameters
    ----------
    driver : Driver
        The other.
    """

    NOTHING = np.zeros(LOOKED_AT.stop - LOOKED_AT.start, np.uint32).data

    def __init__(self, driver: Driver) -> None:
        # Not its mirror, which is to know of this: device memory is not left to the collector.
        kept = {name: value for name, value in vars(driver).items() if name != "_mirror"}
        self.__dict__.update(kept, _is_persistent=False)  # so that nothing is launched

    def finish(self, started: Started, outcome: Outcome, **_: Any) -> None:
        """Report a search that found nothing."""
        first = started[1]  # nothing
        outcome.ended("persistent", (first, first), 1, 1, self.NOTHING, NOTHING_COUNTED)


class SearchPlan(FollowingPlan):
    """A plan whose stages write distances, perhaps a tree, and a record of every level."""

    HELD = ("_pool",)
    graph: Graph
    config: Resolved
    with_predecessors: bool
    DRIVER: ClassVar[type[Driver]] = Driver

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
            self._stages = self.DRIVER(
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

    def _keep_warm(self) -> None:
        """Have a run gone through now and then while one is waited for long.

        What follows a wait of 10 ms takes several times as long as after 1 ms, since whoever shares
        the caches has had them meanwhile. So they are kept: by runs of a plan of the same parts but
        for the driver, and for the lock, since the run that waits has it. Such a run leaves nothing
        behind, so this is for plans whose runs read nothing of the device; and a graph that changes
        is locked by the run that waits.
        """
        if not self.graph.n or is_changing(self._searched.given):
            return
        twin: Any = object.__new__(type(self))
        twin.__dict__.update(vars(self), _lock=threading.Lock(), _stages=Rehearsed(self._stages))
        self._stages.meanwhile(partial(twin.run, 0))

    @staticmethod
    def declare_levels(table: Table, capacity: int) -> None:
        """Declare the records of levels."""
        table.given("uint4", "levels", "[level_capacity] out: size, edges, mode, time", "write")
        table.number("uint", "level_capacity", capacity)

    @property
    def groups(self) -> int:
        """Work-groups of a persistent launch."""
        return self._stages.groups
