"""The levels of a search by devices of one process each of which holds the whole graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.algorithms.bfs.sharing import MOST_SHARED
from clgraph.cluster.parts.copies import CopyPart, SharedBFS
from clgraph.cluster.parts.linked import GAVE_UP
from clgraph.cluster.ranks.comm import AllGather, Step
from clgraph.cluster.result import Level
from clgraph.engine.findings import Later
from clgraph.engine.outcome import Outcome
from clgraph.engine.state import STATUS_PAUSED
from clgraph.engine.strategies.schedule import Persistent
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from clgraph.cluster.parts.copies import Found, Gathered
    from clgraph.cluster.parts.numbering import Numbering
    from clgraph.cluster.parts.share import Share
    from clgraph.cluster.result import Levels
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["CopyExchange", "check_alike"]

DIRECTIONS = ("end", "push", "push", "pull", "push", "push")
TOGETHER = Step()
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
    gathered : Gathered
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
        Whether in the last search a device was waited for in vain, so that each ran alone.
    """

    NAME = "bits"

    def __init__(
        self,
        graph: Graph,
        numbering: Numbering | None,
        gathered: Gathered,
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
        gathered.plans.append(plan)
        self.part, self._gathered = CopyPart(share, plan, gathered), gathered
        self.stepped = False

    def prepare(self) -> Generator[Any, Any, None]:
        """Learn where the others' mailboxes are."""
        addresses = yield AllGather.of(self.part.plan.sharing.address)
        self.part.plan.link(addresses[:, 0].tolist())

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        plan, driver, gathered = self.part.plan, self.part.plan.driver, self._gathered
        number, self.stepped = gathered.begin(plan, source), False
        if number is None:
            return [Level(1)], 0, 0.0
        stamp, found, rank = gathered.stamp, gathered.last, self.part.rank
        try:
            args = plan.prepare(number, limit, stamp)
            ending, launches = STATUS_PAUSED, 0
            begun = time.perf_counter()
            while True:
                # Kernels wait for each other: each is launched right behind the one before.
                yield TOGETHER
                gathered.stamp = stamp + MOST_SHARED  # whatever comes, no later search has these
                if ending == STATUS_PAUSED:
                    plan.launch(args, launches)
                    launches += 1
                yield TOGETHER
                asked = plan.ask()
                yield TOGETHER  # all are asked before any is waited for
                ending = driver.ended(asked)
                found.endings[rank] = ending
                yield TOGETHER
                endings = set(found.endings.values())
                if GAVE_UP in endings or STATUS_PAUSED not in endings:
                    break
            self.stepped, outcome = GAVE_UP in endings, Outcome()
            if self.stepped:
                if ending == GAVE_UP:
                    driver.give_up()
                driver.again_stepped(args, outcome)
                launches += outcome.launches
            else:
                driver.done(outcome, launches)
            found.launches += launches
            yield TOGETHER
        except BaseException:
            plan.device.queue.finish()  # its waits are bounded; it reads the mailboxes of others
            raise
        seconds = time.perf_counter() - begun
        found.depth = outcome.depth
        found.own()
        levels = Later(lambda: cast("Any", self._levels(found, seconds)))
        return levels, found.launches, seconds

    def _levels(self, found: Found, seconds: float) -> list[Level]:
        """Give levels by what the first device noted: vertices, how it goes on, nanoseconds."""
        raw = found.noted()
        spent = np.append(np.diff(raw[:, 3]), 0) / 1e3  # modulo 2**32, as the clock is
        if not spent.any():  # the device has no clock
            spent = np.full(spent.size, 1e6 * seconds / spent.size)
        levels = []
        rows = raw[: found.depth + 1].tolist()
        for (vertices, _, mode, _), us in zip(rows, spent, strict=False):
            level = Level(vertices, DIRECTIONS[mode % SHARED], float(us))
            if mode >= SHARED:
                level.sent_bytes = (self._ranks - 1) * self.part.plan.sharing.level_bytes
                level.rounds = 1
            levels.append(level)
        if found.depth >= len(rows):  # there was no room to note all
            distances = found.array("distances")
            counts = np.bincount(distances[distances >= 0], minlength=found.depth + 1)
            levels += [Level(int(count), "push") for count in counts[len(rows) :]]
        return levels
