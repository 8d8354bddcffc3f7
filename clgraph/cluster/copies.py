"""The levels of a search by devices of one process each of which holds the whole graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.bfs.sharing import MOST_SHARED, Sharing
from clgraph.cluster.parts.partition import Ownership
from clgraph.cluster.ranks.comm import AllGather
from clgraph.cluster.result import Level

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.result import Levels
    from clgraph.device import Allocation, Device
    from clgraph.engine.driver import Driver, Started
    from clgraph.graph import Graph

__all__ = ["CopyExchange", "CopyPart"]

DIRECTIONS = ("end", "push", "push", "pull", "push")
SHARED = 1 << 8


class OwnPart:
    """The owned vertices' part of an array of all.

    Parameters
    ----------
    whole : Allocation
        Of all vertices.
    owned : Ownership
        A range.
    """

    def __init__(self, whole: Allocation, owned: Ownership) -> None:
        self._whole, self._owned = whole, owned
        self.count = owned.count

    def read(self) -> NDArray[Any]:
        """Copy it to the host."""
        return self._whole.read(self._owned.count, begin=self._owned.first)


class SharedBFS(BFS):
    """A search on one of several devices that share its wide levels; `run` is not for it."""

    def __init__(self, sharing: Sharing, *of: Any, **options: Any) -> None:
        self._sharing: Sharing = sharing
        super().__init__(*of, memory="device", **options)
        self.buffers = self._pool.take()

    @property
    def driver(self) -> Driver:
        """What launches its kernel."""
        return self._stages

    def link(self, addresses: Sequence[int]) -> None:
        """Say where the mailboxes of all are."""
        self._sharing.link(self._stages.table, addresses)

    def start(self, source: int, limit: int, stamp: int) -> Started:
        """Launch a search, and do not wait."""
        given: dict[str, Any] = {
            "source": np.uint32(source),
            "max_level": np.uint32(limit),
            "first_stamp": np.uint32(stamp),
            **self.buffers.arguments,
        }
        return self._stages.start(given)


class CopyPart:
    """What a rank holds and runs, as `Part` has it: everything, and results of its vertices."""

    WHOLE_TREE = False

    def __init__(self, share: Share, plan: SharedBFS) -> None:
        self.plan, self.device, self.config = plan, plan.device, plan.config
        self.rank, self.owned, self.rows = share.rank, share.owned, share.rows
        self.owners = share.partition.shares
        self.degrees = np.diff(share.indptr)
        self.distances = OwnPart(plan.buffers.distances, self.owned)
        self.row_distances = self.distances
        tree, none = plan.buffers.predecessors, Ownership(0, 1, 0)
        self.predecessors = (
            OwnPart(plan.buffers.distances, none) if tree is None else OwnPart(tree, self.owned)
        )
        self.kernels = plan.driver.kernels


class CopyExchange:
    """Narrow levels are run by all alike; of wide ones each finds its own, and all take the rest.

    Parameters
    ----------
    graph : Graph
        The whole.
    share, partition_plan, device, config, comm, predecessors
        As for `BitExchange`.

    Attributes
    ----------
    part : CopyPart
        What is on the device.
    stepped : bool
        Whether the last search waited for another device in vain, and so ran alone.
    """

    NAME = "bits"

    def __init__(
        self, graph: Graph, share: Share, device: Device, wanted: Any, *, predecessors: bool
    ) -> None:
        begins = [*(owned.first for owned in share.partition.shares), graph.n]
        self._sharing = Sharing(begins, share.rank)
        self._ranks = share.partition.ranks
        plan = SharedBFS(self._sharing, graph, predecessors, wanted, device)
        self.part = CopyPart(share, plan)
        self._stamp = 1
        self.stepped = False

    def prepare(self) -> Generator[Any, Any, None]:
        """Learn where the others' mailboxes are."""
        addresses = yield AllGather.of(self._sharing.address)
        self.part.plan.link(addresses[:, 0].tolist())

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        plan, driver = self.part.plan, self.part.plan.driver
        stamps = yield AllGather.of(self._stamp)
        self._stamp = int(stamps.max())
        begun = time.perf_counter()
        stamp, self._stamp = self._stamp, self._stamp + MOST_SHARED
        try:
            started = plan.start(source, limit, stamp % 2**32)
            yield AllGather.of(0)  # all are launched before any is waited for
            outcome = driver.finish(started)
            self.stepped = outcome.mode == "stepped"
            launched = yield AllGather.of(outcome.launches)
        except BaseException:
            plan.device.queue.finish()  # its waits are bounded; it reads the mailboxes of others
            raise
        seconds = time.perf_counter() - begun
        rows = min(outcome.depth + 2, plan.buffers.levels.count // 4)
        raw = plan.buffers.levels.read(4 * rows).reshape(-1, 4)[: outcome.depth + 2]
        levels = self._levels(raw, outcome.depth, seconds)
        if len(levels) <= outcome.depth:
            yield from self._counted(levels, outcome.depth)
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
                level.sent_bytes = (self._ranks - 1) * self._sharing.level_bytes
                level.rounds = 1
            levels.append(level)
        return levels

    def _counted(self, levels: list[Level], depth: int) -> Generator[Any, Any, None]:
        """Add the levels that there was no room to note, by distances."""
        own = self.part.distances.read()
        rows = yield AllGather(lambda: np.bincount(own[own >= 0], minlength=depth + 1))
        levels += [Level(int(count), "push") for count in rows.sum(axis=0)[len(levels) :]]
