"""How several devices search together: what they exchange, and what each does with its part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clgraph.algorithms.bfs.hubs import USUAL_CACHE
from clgraph.engine.choose import resolve
from clgraph.engine.strategies.frontier import Frontier, StatusArray, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Never
from clgraph.engine.strategies.schedule import Schedule, Stepped
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.bfs.config import BFSConfig
    from clgraph.cluster.parts.share import Facts
    from clgraph.device import Device
    from clgraph.engine.resolved import Resolved
    from clgraph.graph import Graph

__all__ = ["Found", "PartitionPlan", "pays_in_bits"]

# Pulling is what bits are for: it pays where a level reaches much of the graph.
BITS_DEGREE = 8.0
# An edge that is pushed counts for so many that are pulled: bits of the whole graph go to all then.
PUSH_COST = 2


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """A configuration as several devices share it.

    Attributes
    ----------
    exchange : {"candidates", "bits"}
        What devices send each other after a level: the vertices they found, to the owner of each;
        or a bit for each vertex of the graph, to all.
    config : BFSConfig
        What was asked for.
    visited : {"bitmap", "mask", "plain"}
        What keeps a device from sending a vertex: bits that are claimed by atomics, so that it is
        sent once; bits that are not, so that it may be sent again; nothing.
    gamma : int or None
        Percent of the hubs in a frontier from which levels pull; None where edges decide.
    beta : int
        Levels push again below ``n / beta`` found vertices; 0 for never.
    one_way : bool
        Whether a level that pulls is followed by others unless `beta` says otherwise; else each
        level is decided by itself.
    hub_floor, hubs : int
        Degree above which a vertex is a hub, and how many there are.
    """

    exchange: str
    config: BFSConfig
    visited: str
    gamma: int | None
    beta: int
    one_way: bool
    hub_floor: int
    hubs: int

    @classmethod
    def of(cls, facts: Facts, wanted: BFSConfig) -> PartitionPlan:
        """Decide what devices must agree on.

        Parameters
        ----------
        facts : Facts
            Of the graph.
        wanted : BFSConfig
            A status array asks for bits, any other frontier for candidates. Where neither frontier
            nor pull is said, it follows from the mean degree.

        Raises
        ------
        InvalidArgumentError
            If it has what only the status array of one device has: classes, a way to generate
            queues, a hub cache, statuses of a byte.
        """
        frontier = wanted.frontier or VertexQueue()
        status = isinstance(frontier, StatusArray)
        _check_status(frontier)
        says = wanted.frontier or wanted.pull or wanted.rules == "helix"
        bits = status or (not says and pays_in_bits(facts))
        visited = (None if status else frontier.visited) or (
            "mask" if frontier.filtered else "bitmap"
        )
        by_hubs = ByHubs() if status and wanted.pull is None else wanted.pull
        hubs = by_hubs if isinstance(by_hubs, ByHubs) else None
        floor = 0
        if hubs and isinstance(frontier, StatusArray):
            asked, cache = frontier.hub_floor, frontier.hub_cache or USUAL_CACHE
            floor = facts.hub_floor(cache) if asked is None else asked
        return cls(
            exchange="bits" if bits else "candidates",
            config=wanted,
            visited="bitmap" if bits else "plain" if visited == "labels" else visited,
            gamma=hubs.gamma if hubs else None,
            beta=getattr(by_hubs, "beta", 0),
            one_way=status,
            hub_floor=floor,
            hubs=facts.hubs_above(floor) if hubs else 0,
        )

    def exchanging(self, exchange: str) -> PartitionPlan:
        """Give the same with another exchange, which a partition asks for.

        Raises
        ------
        InvalidArgumentError
            If the configuration says something else.
        """
        if self.config.frontier or self.config.pull:
            raise InvalidArgumentError(
                f"the configuration has ranks exchange {self.exchange}, but the partition is for "
                f"{exchange}; leave one of the two out."
            )
        return replace(self, exchange=exchange, visited="bitmap")

    def resolved(
        self, sample: Graph, facts: Facts, device: Device, *, predecessors: bool
    ) -> Resolved:
        """Complete the configuration for one device, by a graph or some of its rows.

        Raises
        ------
        InvalidArgumentError
            If it is not for parts of a graph, or not for this device.
        """
        completed = self.config.completed(sample, device.traits)
        frontier = completed.frontier or VertexQueue()
        if (frontier.duplicates or "").startswith("load"):
            raise InvalidArgumentError(
                f"duplicates={frontier.duplicates!r} drops vertices out of a queue, in which "
                "parts of a graph have each once; choose 'lookup_lanes' or 'keep'."
            )
        pulls = self.exchange == "bits" and not isinstance(completed.pull, Never)
        by_edges = completed.pull if isinstance(completed.pull, ByEdges) else ByEdges()
        config = resolve(
            replace(
                completed,
                frontier=self._queue(frontier),
                pull=replace(by_edges, beta=0) if pulls else Never(),
                schedule=_stepped(completed.schedule),
                limits=replace(completed.limits or Limits(), queue_percent=None),
                counts=False,
            ),
            device.traits,
            m=facts.m,
            predecessors=predecessors,
            max_degree=facts.max_degree,
        )
        if config.balance.scope == "grid":
            raise InvalidArgumentError(
                f"balance={config.balance.name!r} needs prefix sums of a frontier, which parts of "
                "a graph do not have; choose another, such as 'warp_search' or 'cws'."
            )
        return config

    def _queue(self, frontier: Frontier) -> VertexQueue:
        """Give a part's frontier: a queue of its vertices, each once."""
        given = frontier.given()
        dropped = {"visited", "rows"} | (
            {"duplicates", "history"} if self.visited == "bitmap" else set()
        )
        kept = {name: value for name, value in given.items() if name in VertexQueue.parameters()}
        kept = {name: value for name, value in kept.items() if name not in dropped}
        return VertexQueue(visited=self.visited, **kept)

    def pulls(self, *, before: bool, facts: Facts, found: Found, rule: ByEdges) -> bool:
        """Whether the next level pulls, by what all devices found together.

        Parameters
        ----------
        before : bool
            Whether the last one did.
        facts : Facts
            Of the graph.
        found : Found
            What the last level found, and what was explored before.
        rule : ByEdges
            As resolved.
        """
        if self.one_way and before:
            return not (self.beta and found.vertices < facts.n // self.beta)
        if self.gamma is not None:
            return self.hubs > 0 and 100 * found.hubs > self.gamma * self.hubs
        return rule.reads_fewer(PUSH_COST * found.edges, facts.m - found.explored, facts.n)


def pays_in_bits(facts: Facts) -> bool:
    """Whether the vertices of a graph have so many edges that bits of all are sent for less."""
    return facts.mean_degree >= BITS_DEGREE


def _check_status(frontier: Frontier) -> None:
    """Refuse what a status array has on one device only: each part keeps a queue and a bitmap."""
    if not isinstance(frontier, StatusArray):
        return
    alone = set(frontier.given()) - {"hub_floor"}
    if alone:
        raise InvalidArgumentError(
            f"frontier.{min(alone)} is about the status array of one device, as the preset "
            "'enterprise' has it; several devices exchange a bit a vertex and keep queues: choose "
            "BFSConfig(frontier='status')."
        )


def _stepped(asked: Schedule | None) -> Stepped:
    """Give a launch for every level: what says how one device runs levels has no effect."""
    sizes = asked or Schedule()
    return Stepped(
        group_size=sizes.group_size, groups=sizes.groups, distribution="static", single_group=False
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What all devices found at one level: vertices, hubs among them, their edges.

    Attributes
    ----------
    vertices, hubs, edges : int
        Of this level.
    explored : int
        Edges of this and all levels before.
    """

    vertices: int
    hubs: int
    edges: int
    explored: int
