"""The levels of a search by devices of one process each of which holds the whole graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.bfs.sharing import MOST_SHARED, Sharing
from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.ranks.comm import AllGather
from clgraph.cluster.result import Level
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.numbering import Numbering
    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.result import Levels
    from clgraph.device import Device
    from clgraph.engine.driver import Driver, Started
    from clgraph.graph import Graph

__all__ = ["CopyExchange", "CopyPart", "Gathered", "check_alike"]

DIRECTIONS = ("end", "push", "push", "pull", "push")
SHARED = 1 << 8


def check_alike(exchanges: Sequence[CopyExchange]) -> None:
    """Refuse devices that would share different levels, as each decides by itself which.

    Raises
    ------
    InvalidArgumentError
        If configurations or numbers of work-groups differ.
    """
    first, *others = (exchange.part for exchange in exchanges)
    for part in others:
        groups = part.plan.driver.groups, first.plan.driver.groups
        if part.config != first.config or groups[0] != groups[1]:
            raise InvalidArgumentError(
                f"copies of a graph are for devices that search alike, which {first.device.name} "
                f"and {part.device.name} do not; choose partition='block'."
            )


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
        self._buffers = self._pool.take()

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

    def start(self, source: int, limit: int, stamp: int) -> Started:
        """Launch a search, and do not wait."""
        given: dict[str, Any] = {
            "source": np.uint32(source),
            "max_level": np.uint32(limit),
            "first_stamp": np.uint32(stamp),
            **self._buffers.arguments,
        }
        started = self._stages.start(given)
        self.device.queue.flush()  # others wait for it, and whoever waits flushes its own queue
        return started

    def own(self, name: str) -> NDArray[np.int32]:
        """Read what the last search wrote of its own vertices: distances or predecessors."""
        first, past = self._own
        found: NDArray[np.int32] = self._buffers.arguments[name].read(past - first, begin=first)
        return found

    def noted(self, depth: int) -> NDArray[np.uint32]:
        """Read what it noted of levels, and of the end behind them, as far as there is room."""
        levels = self._buffers.levels
        return levels.read(4 * min(depth + 2, levels.count // 4)).reshape(-1, 4)


class Gathered:
    """What the devices found together, by vertices; put together when it is first read.

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
    """

    def __init__(self, n: int, numbering: Numbering | None) -> None:
        self._n, self._numbering = n, numbering
        self.plans: list[SharedBFS] = []
        self._read: dict[str, NDArray[np.int32]] = {}
        self._lone: int | None = None

    def begin(self, source: int) -> int | None:
        """Forget the last search; give the number of a source, None if it has no edges."""
        self._read, self._lone = {}, None
        if self._numbering is None:
            return source
        number = self._numbering.number(source)
        self._lone = source if number is None else None
        return number

    def array(self, name: str) -> NDArray[np.int32]:
        """Give distances or predecessors, int32 [n]."""
        if name not in self._read:
            self._read[name] = self._put_together(name)
        return self._read[name]

    def _put_together(self, name: str) -> NDArray[np.int32]:
        if self._lone is not None:
            whole = np.full(self._n, UNREACHED, np.int32)
            whole[self._lone] = 0 if name == "distances" else self._lone
            return whole
        found = np.concatenate([plan.own(name) for plan in self.plans])
        if self._numbering is None:
            return found
        if name != "distances":
            found = np.where(found < 0, found, self._numbering.order[found].astype(np.int32))
        return self._numbering.named(found, UNREACHED)


class OwnPart:
    """A rank's part of what was found.

    Parameters
    ----------
    found : Gathered
        What all found.
    name : str
        Of the array; empty for none.
    owned : Ownership
        Which vertices.
    """

    def __init__(self, found: Gathered, name: str, owned: Ownership) -> None:
        self._found, self._name, self._owned = found, name, owned
        self.count = owned.count if name else 0

    def read(self) -> NDArray[np.int32]:
        """Give it."""
        return self._found.array(self._name)[self._owned.vertices]


class CopyPart:
    """What a rank holds and runs, as `Part` has it: everything, and results of its vertices."""

    WHOLE_TREE = False

    def __init__(self, share: Share, plan: SharedBFS, found: Gathered) -> None:
        self.plan, self.device, self.config = plan, plan.device, plan.config
        self.rank, self.owned, self.rows = share.rank, share.owned, share.rows
        self.owners = share.partition.shares
        self.degrees = np.diff(share.indptr)
        self.distances = OwnPart(found, "distances", self.owned)
        self.row_distances = self.distances
        tree = "predecessors" if plan.with_predecessors else ""
        self.predecessors = OwnPart(found, tree, self.owned)
        self.kernels = plan.driver.kernels


class CopyExchange:
    """Narrow levels are run by all alike; of wide ones each finds its own, and all take the rest.

    Parameters
    ----------
    graph : Graph
        The whole.
    numbering : Numbering, optional
        Under which numbers devices have it.
    found : Gathered
        What all ranks of the plan find.
    share : Share
        Of which vertices this rank has results.
    device : Device
        Where.
    wanted : BFSConfig
        As for `BFS`.
    predecessors : bool
        Whether a tree is labelled.

    Attributes
    ----------
    part : CopyPart
        What is on the device.
    stepped : bool
        Whether the last search waited for another device in vain, and so ran alone.
    """

    NAME = "bits"

    def __init__(
        self,
        graph: Graph,
        numbering: Numbering | None,
        found: Gathered,
        share: Share,
        device: Device,
        wanted: Any,
        *,
        predecessors: bool,
    ) -> None:
        begins = [*(owned.first for owned in share.partition.shares), graph.n]
        if numbering:
            begins, graph = numbering.begins, numbering.place(device)
        self._ranks = share.partition.ranks
        plan = SharedBFS(begins, share.rank, graph, predecessors, wanted, device)
        found.plans.append(plan)
        self.part, self._found = CopyPart(share, plan, found), found
        self._stamp = 1
        self.stepped = False

    def prepare(self) -> Generator[Any, Any, None]:
        """Learn where the others' mailboxes are."""
        addresses = yield AllGather.of(self.part.plan.sharing.address)
        self.part.plan.link(addresses[:, 0].tolist())

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        plan, driver = self.part.plan, self.part.plan.driver
        number, self.stepped = self._found.begin(source), False
        stamps = yield AllGather.of(self._stamp)
        self._stamp = int(stamps.max())
        begun = time.perf_counter()
        if number is None:
            return [Level(1)], 0, time.perf_counter() - begun
        stamp, self._stamp = self._stamp, self._stamp + MOST_SHARED
        try:
            started = plan.start(number, limit, stamp % 2**32)
            yield AllGather.of(0)  # all are launched before any is waited for
            outcome = driver.finish(started)
            self.stepped = outcome.mode == "stepped"
            launched = yield AllGather.of(outcome.launches)
        except BaseException:
            plan.device.queue.finish()  # its waits are bounded; it reads the mailboxes of others
            raise
        seconds = time.perf_counter() - begun
        levels = self._levels(plan.noted(outcome.depth), outcome.depth, seconds)
        if len(levels) <= outcome.depth:
            yield from self._counted(levels, outcome.depth)
        elif not (self.stepped or any(level.rounds for level in levels)):
            # No number was used. Those of mailboxes and of searches are compared modulo 2**32: what
            # mailboxes hold must not fall back behind by half of that.
            self._stamp = stamp
        return levels, int(launched.sum()), seconds

    def _levels(self, raw: NDArray[np.uint32], depth: int, seconds: float) -> list[Level]:
        """Give levels by what was noted: vertices, how it goes on, nanoseconds."""
        spent = np.append(np.diff(raw[:, 3]), 0) / 1e3  # modulo 2**32, as the clock is
        if not spent.any():  # the device has no clock
            spent = np.full(spent.size, 1e6 * seconds / spent.size)
        levels = []
        for (vertices, _, mode, _), us in zip(raw[: depth + 1].tolist(), spent, strict=False):
            level = Level(vertices, DIRECTIONS[mode % SHARED], float(us))
            if mode >= SHARED:
                level.sent_bytes = (self._ranks - 1) * self.part.plan.sharing.level_bytes
                level.rounds = 1
            levels.append(level)
        return levels

    def _counted(self, levels: list[Level], depth: int) -> Generator[Any, Any, None]:
        """Add the levels that there was no room to note, by distances."""
        own = self.part.distances.read()
        rows = yield AllGather(lambda: np.bincount(own[own >= 0], minlength=depth + 1))
        levels += [Level(int(count), "push") for count in rows.sum(axis=0)[len(levels) :]]
