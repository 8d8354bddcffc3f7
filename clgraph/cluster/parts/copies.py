"""What a device of a cluster holds that has the whole graph, and what is read of it."""

from __future__ import annotations

import copy
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.bfs.sharing import STAMPS, Sharing
from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.parts.linked import LinkedDriver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.numbering import Numbering
    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share
    from clgraph.device.programs.kernel import Argument
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

    DRIVER = LinkedDriver
    _stages: LinkedDriver

    def __init__(self, begins: Sequence[int], rank: int, *of: Any, **options: Any) -> None:
        self._sharing: Sharing = Sharing(begins, rank)
        self._own = begins[rank], begins[rank + 1]
        super().__init__(*of, memory="device", **options)
        self._buffers: SearchBuffers

    @property
    def driver(self) -> LinkedDriver:
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
        """Give what the next search writes, which whoever has it may read after others."""
        self._buffers = self._pool.take()
        return self._buffers

    def prepare(self, source: int, limit: int, stamp: int) -> list[Argument]:
        """Have a search ready to be launched; give its arguments."""
        self._sharing.begin(stamp)
        return self._stages.prepare(
            {
                "source": np.uint32(source),
                "max_level": np.uint32(limit),
                "first_stamp": np.uint32(stamp % STAMPS),
                **self._buffers.arguments,
            }
        )

    def launch(self, args: list[Argument], launch: int) -> None:
        """Launch what was prepared, and do nothing else: the others' kernels wait for this one."""
        self._stages.launch(args, launch)

    def ask(self) -> Any:
        """Have the search report how it ended; whoever waits for it flushes its own queue alone."""
        asked = self._stages.ask()
        self.device.queue.flush()
        return asked

    def own(self, buffers: SearchBuffers, name: str) -> NDArray[np.int32]:
        """Read what a search wrote of its own vertices: distances or predecessors."""
        first, past = self._own
        found: NDArray[np.int32] = buffers.arguments[name].read(past - first, begin=first)
        return found


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

    Attributes
    ----------
    depth : int
        Largest distance.
    endings : dict of int to int
        How the last launch of each rank ended.
    launches : int
        Of all ranks.
    """

    def __init__(self, n: int, numbering: Numbering | None, lone: int | None) -> None:
        self._n, self._numbering, self._lone = n, numbering, lone
        self._read: dict[str, NDArray[np.int32]] = {}
        self._written: list[tuple[SharedBFS, SearchBuffers]] = []
        self._rows: NDArray[np.uint32] | None = None
        self._reading = threading.RLock()
        self.depth = self.launches = 0
        self.endings: dict[int, int] = {}

    def add(self, plan: SharedBFS, buffers: SearchBuffers) -> None:
        """Have the next device's part, in what it is about to write."""
        self._written.append((plan, buffers))

    def own(self) -> None:
        """Own the buffers, which are no other search's from now on, since this one has ended."""
        for _, buffers in self._written:
            buffers.owner = weakref.ref(self)

    def array(self, name: str) -> NDArray[np.int32]:
        """Give distances or predecessors, int32 [n]."""
        with self._reading:
            if name not in self._read:
                self._read[name] = self._put_together(name)
            return self._read[name]

    def noted(self) -> NDArray[np.uint32]:
        """Give what the first device noted of levels, and of the end, as far as there was room."""
        with self._reading:
            if self._rows is None:
                levels = self._written[0][1].levels
                count = min(4 * (self.depth + 2), levels.count)
                self._rows = levels.read(count).reshape(-1, 4)
            return self._rows

    def detach(self) -> None:
        """Read everything, and leave the buffers to others."""
        with self._reading:
            if not self._written:
                return
            self.noted()
            for name in ("distances", "predecessors"):
                if all(name in buffers.arguments for _, buffers in self._written):
                    self.array(name)
            for _, buffers in self._written:
                if buffers.living() is self:
                    buffers.owner = None
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
    found : Found
        What all found.
    name : str
        Of the array; empty for none.
    owned : Ownership
        Which vertices.
    """

    def __init__(self, found: Found, name: str, owned: Ownership) -> None:
        self._found, self._name, self._owned = found, name, owned
        self.count = owned.count if name else 0

    def read(self) -> NDArray[np.int32]:
        """Give it."""
        return self._found.array(self._name)[self._owned.vertices]


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
        self._found: Found | None = None

    def _result(self, name: str) -> OwnPart:
        return OwnPart(self._found or self._gathered.last, name, self.owned)

    @property
    def distances(self) -> OwnPart:
        """Of the owned vertices, which are those whose rows are said to be here."""
        return self._result("distances")

    row_distances = distances

    @property
    def predecessors(self) -> OwnPart:
        """Of the owned vertices, if a tree is labelled."""
        return self._result("predecessors" if self.plan.with_predecessors else "")

    def detach(self) -> None:
        """Leave the devices' memory to the next search; what it held has been read or is now."""
        if self._found is not None:
            self._found.detach()

    def of_last(self) -> CopyPart:
        """Give the same with what the last search found, also when there was another."""
        part = copy.copy(self)
        part._found = self._gathered.last  # noqa: SLF001 - it is one of these
        return part
