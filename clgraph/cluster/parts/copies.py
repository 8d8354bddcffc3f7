"""What a device of a cluster holds that has the whole graph, and what is read of it."""

from __future__ import annotations

import copy
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.bfs.sharing import Sharing
from clgraph.algorithms.bfs.stages import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.numbering import Numbering
    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.driver import Driver
    from clgraph.engine.findings import SearchBuffers

__all__ = ["CopyPart", "Found", "Gathered", "SharedBFS"]


class SharedBFS(BFS):
    """A search on one of several devices that share its wide levels; `run` is not for it.

    Parameters
    ----------
    begins : sequence of int
        First vertex of each device, and how many vertices there are.
    rank : int
        Which of these it is.
    *of, **options
        As for `BFS`.
    """

    def __init__(self, begins: Sequence[int], rank: int, *of: Any, **options: Any) -> None:
        self._sharing: Sharing = Sharing(begins, rank)
        self._own = begins[rank], begins[rank + 1]
        super().__init__(*of, memory="device", **options)
        self._buffers: SearchBuffers

    @property
    def driver(self) -> Driver:
        """What launches its kernel."""
        return self._stages

    @property
    def sharing(self) -> Sharing:
        """Its part in levels that are shared."""
        return self._sharing

    def link(self, addresses: Sequence[int]) -> None:
        """Say where the mailboxes of all are."""
        self._sharing.link(self._stages.table, addresses)

    def take(self) -> SearchBuffers:
        """Give what the next search writes: whoever has it may read it when others have followed."""
        self._buffers = self._pool.take()
        return self._buffers

    def prepare(self, source: int, limit: int, stamp: int) -> list[Argument]:
        """Have a search ready to be launched; give its arguments."""
        return self._stages.prepare(
            {
                "source": np.uint32(source),
                "max_level": np.uint32(limit),
                "first_stamp": np.uint32(stamp),
                **self._buffers.arguments,
            }
        )

    def start(self, args: list[Argument], launch: int) -> None:
        """Launch what was prepared, and do nothing else: the others' kernels wait for this one."""
        self._stages.start(args, launch)

    def ask(self) -> Any:
        """Have the search tell how it ended; whoever waits for it flushes its own queue alone."""
        asked = self._stages.ask()
        self.device.queue.flush()
        return asked

    def own(self, buffers: SearchBuffers, name: str) -> NDArray[np.int32]:
        """Read what a search wrote of its own vertices: distances or predecessors."""
        first, past = self._own
        found: NDArray[np.int32] = buffers.arguments[name].read(past - first, begin=first)
        return found

    @property
    def noted_levels(self) -> int:
        """Of how many levels there is room to note something."""
        return self._buffers.levels.count // 4

    def noted(self, depth: int) -> NDArray[np.uint32]:
        """Read what it noted of levels, and of the end behind them, as far as there is room."""
        rows = min(depth + 2, self.noted_levels)
        return self._buffers.levels.read(4 * rows).reshape(-1, 4)


class Found:
    """What the devices found together in one search, by vertices; put together when first read.

    Parameters
    ----------
    n : int
        Vertices.
    numbering : Numbering, optional
        What devices call them.
    lone : int, optional
        A source that no device has, because it has no edges.
    """

    def __init__(self, n: int, numbering: Numbering | None, lone: int | None) -> None:
        self._n, self._numbering, self._lone = n, numbering, lone
        self._read: dict[str, NDArray[np.int32]] = {}
        self._written: list[tuple[SharedBFS, SearchBuffers]] = []
        self._reading = threading.RLock()

    def add(self, plan: SharedBFS, buffers: SearchBuffers) -> None:
        """Have the next device's part; the buffers are no other search's while this is there."""
        buffers.owner = weakref.ref(self)
        self._written.append((plan, buffers))

    def array(self, name: str) -> NDArray[np.int32]:
        """Give distances or predecessors, int32 [n]."""
        with self._reading:
            if name not in self._read:
                self._read[name] = self._put_together(name)
            return self._read[name]

    def detach(self) -> None:
        """Read everything, and leave the buffers to others."""
        with self._reading:
            for name in ("distances", "predecessors"):
                if all(name in buffers.arguments for _, buffers in self._written):
                    self.array(name)
            self._written = []

    def _put_together(self, name: str) -> NDArray[np.int32]:
        if self._lone is not None:
            whole = np.full(self._n, UNREACHED, np.int32)
            whole[self._lone] = 0 if name == "distances" else self._lone
            return whole
        found = np.concatenate([plan.own(buffers, name) for plan, buffers in self._written])
        if self._numbering is None:
            return found
        if name != "distances":
            found = np.where(found < 0, found, self._numbering.order[found].astype(np.int32))
        return self._numbering.named(found, UNREACHED)


class Gathered:
    """What the ranks of a plan share.

    Parameters
    ----------
    n : int
        Vertices.
    numbering : Numbering, optional
        What devices call them.

    Attributes
    ----------
    plans : list of SharedBFS
        Those of all ranks.
    stamp : int
        The number of the next level that is shared; no two searches have the same, not even an
        interrupted one and the next.
    last : Found
        What the last search found.
    """

    def __init__(self, n: int, numbering: Numbering | None) -> None:
        self._n, self._numbering = n, numbering
        self.plans: list[SharedBFS] = []
        self.stamp = 1
        self.last = Found(n, numbering, None)

    def begin(self, plan: SharedBFS, source: int) -> int | None:
        """Have a device's buffers for a search; give its number of the source, None if it has none.

        What was found before is forgotten by the first, and lives if somebody has its result.
        """
        number = source if self._numbering is None else self._numbering.number(source)
        if plan is self.plans[0]:
            self.last = Found(self._n, self._numbering, source if number is None else None)
        if number is not None:
            self.last.add(plan, plan.take())
        return number


class OwnPart:
    """A rank's part of what was found.

    Parameters
    ----------
    found : callable
        Gives what all found.
    name : str
        Of the array; empty for none.
    owned : Ownership
        Which vertices.
    """

    def __init__(self, found: Callable[[], Found], name: str, owned: Ownership) -> None:
        self._found, self._name, self._owned = found, name, owned
        self.count = owned.count if name else 0

    def read(self) -> NDArray[np.int32]:
        """Give it."""
        return self._found().array(self._name)[self._owned.vertices]


class CopyPart:
    """What a rank holds and runs, as `Part` has it: everything, and results of its vertices."""

    WHOLE_TREE, LASTS = False, True

    def __init__(self, share: Share, plan: SharedBFS, gathered: Gathered) -> None:
        self.plan, self.device, self.config = plan, plan.device, plan.config
        self.rank, self.owned, self.rows = share.rank, share.owned, share.rows
        self.owners = share.partition.shares
        self.degrees = np.diff(share.indptr)
        self.kernels = plan.driver.kernels
        self._gathered = gathered
        self._have(lambda: gathered.last)

    def _have(self, found: Callable[[], Found]) -> None:
        self.distances = OwnPart(found, "distances", self.owned)
        self.row_distances = self.distances
        tree = "predecessors" if self.plan.with_predecessors else ""
        self.predecessors = OwnPart(found, tree, self.owned)

    def of_last(self) -> CopyPart:
        """Give the same with what the last search found, also when there was another."""
        last, part = self._gathered.last, copy.copy(self)
        part._have(lambda: last)
        return part
