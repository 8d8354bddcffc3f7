"""The levels of a search by devices of one process each of which holds the whole graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.sharing import MOST_SHARED
from clgraph.cluster.parts.copies import CopyPart, SharedBFS
from clgraph.cluster.ranks.comm import AllGather
from clgraph.cluster.result import Level
from clgraph.engine.driver import GAVE_UP
from clgraph.engine.state import STATUS_PAUSED
from clgraph.engine.strategies.schedule import Persistent
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.copies import Gathered
    from clgraph.cluster.parts.numbering import Numbering
    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.result import Levels
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["CopyExchange", "check_alike"]

DIRECTIONS = ("end", "push", "push", "pull", "push")
TOGETHER = AllGather.of(0)  # nobody goes on before all have come so far
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
        Whether in the last search one of the devices was waited for in vain, so that each ran alone.
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
        # How long groups keep their frontiers is a matter of time, and decides when levels pull.
        wanted = wanted.filled(BFSConfig(schedule=Persistent(group_resident=False)))
        self._ranks = share.partition.ranks
        plan = SharedBFS(begins, share.rank, graph, predecessors, wanted, device)
        found.plans.append(plan)
        self.part, self._found = CopyPart(share, plan, found), found
        self.stepped = False

    def prepare(self) -> Generator[Any, Any, None]:
        """Learn where the others' mailboxes are."""
        addresses = yield AllGather.of(self.part.plan.sharing.address)
        self.part.plan.link(addresses[:, 0].tolist())

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        plan, driver, found = self.part.plan, self.part.plan.driver, self._found
        number, self.stepped = found.begin(plan, source), False
        begun = time.perf_counter()
        if number is None:
            return [Level(1)], 0, time.perf_counter() - begun
        stamp = found.stamp
        try:
            args = plan.prepare(number, limit, stamp % 2**32)
            ending, launches = STATUS_PAUSED, 0
            while True:
                # Kernels wait for each other: each is launched right behind the one before.
                yield TOGETHER
                found.stamp = stamp + MOST_SHARED  # whatever comes now, no later search has these
                if ending == STATUS_PAUSED:
                    plan.start(args, launches)
                    launches += 1
                yield TOGETHER
                asked = plan.ask()
                yield TOGETHER  # all are asked before any is waited for
                ending = driver.ended(asked)
                endings = yield AllGather.of(ending, launches)
                gave_up = endings[:, 0] == GAVE_UP
                if gave_up.any() or not (endings[:, 0] == STATUS_PAUSED).any():
                    break
            # Whoever went on without those that gave up may have taken something unlike for theirs.
            self.stepped = bool(gave_up.any())
            if self.stepped:
                if ending == GAVE_UP:
                    driver.warn()
                outcome = driver.again_stepped(args)
                launches += outcome.launches
            else:
                outcome = driver.outcome(launches)
            launched = yield AllGather.of(launches)
        except BaseException:
            plan.device.queue.finish()  # its waits are bounded; it reads the mailboxes of others
            raise
        seconds = time.perf_counter() - begun
        levels: list[Level] = []
        if plan is found.plans[0]:  # all have noted the same
            levels = self._levels(plan.noted(outcome.depth), outcome.depth, seconds)
        if outcome.depth >= plan.noted_levels:
            yield from self._counted(levels, outcome.depth)
        elif levels and not self.stepped and not any(one.rounds for one in levels):
            # No number was used. Those of mailboxes and of searches are compared modulo 2**32: what
            # mailboxes hold must not fall back behind by half of that.
            found.stamp = stamp
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
