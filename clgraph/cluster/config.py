"""How several devices search together: what they exchange, and what each does with its part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.hubs import hub_floor
from clgraph.engine.choose import Resolved, resolve
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.bfs.config import BFSConfig
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["Division", "Found"]

# A frontier of a part is a queue of its vertices, each once, and the host launches every level:
# what says how one device runs levels has no effect.
_STEPPED: dict[str, Any] = {
    "queue": "vertex",
    "synchronisation": "stepped",
    "membership": None,
    "distribution": "static",
    "kernels": None,
    "solo": False,
    "held": False,
    "rows": None,
    "queue_percent": None,
    "hybrid_limit": None,
    "generation": None,
    "classes": None,
    "switching": None,
    "gamma": None,
    "beta": None,
    "hub_cache": None,
    "hub_floor": None,
    "counts": None,
    "status_bits": None,
}
# Pulling is what bits are for: it pays where a level reaches much of the graph.
BITS_DEGREE = 8.0


@dataclass(frozen=True, slots=True)
class Division:
    """A configuration as several devices share it.

    Attributes
    ----------
    exchange : {"candidates", "bits"}
        What devices tell each other after a level: the vertices they found, to the owner of each;
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
    def of(cls, graph: Graph, wanted: BFSConfig) -> Division:
        """Decide what devices must agree on.

        Parameters
        ----------
        graph : Graph
            What will be searched.
        wanted : BFSConfig
            ``queue="status"`` asks for bits, any other queue for candidates. Where nothing is said
            of queue, look-up, filters or direction, it follows from the mean degree.
        """
        filtered = bool(wanted.history) or wanted.duplicates not in {None, "keep"}
        says = (
            filtered
            or wanted.queue
            or wanted.visited
            or wanted.direction
            or wanted.rules == "helix"
        )
        bits = wanted.queue == "status" or (not says and graph.mean_degree >= BITS_DEGREE)
        visited = wanted.visited or ("mask" if filtered else "bitmap")
        by_hubs = wanted.queue == "status" and wanted.switching != "edges"
        floor = wanted.hub_floor
        if floor is None and by_hubs:
            floor = hub_floor(graph.degrees, wanted.hub_cache or 1024)
        return cls(
            exchange="bits" if bits else "candidates",
            config=wanted,
            visited="bitmap" if bits else "plain" if visited == "labels" else visited,
            gamma=(30 if wanted.gamma is None else wanted.gamma) if by_hubs else None,
            beta=wanted.beta or 0,
            one_way=wanted.queue == "status",
            hub_floor=floor or 0,
            hubs=int(np.count_nonzero(graph.degrees > (floor or 0))) if by_hubs else 0,
        )

    def resolved(self, graph: Graph, device: Device, *, predecessors: bool) -> Resolved:
        """Complete the configuration for one device.

        Raises
        ------
        InvalidArgumentError
            If it is not for parts of a graph, or not for this device.
        """
        completed = self.config.completed(graph, device.traits)
        if (completed.duplicates or "").startswith("load"):
            raise InvalidArgumentError(
                f"duplicates={completed.duplicates!r} drops vertices out of a queue, in which "
                "parts of a graph have each once; choose 'lookup_lanes' or 'keep'."
            )
        bits = self.exchange == "bits"
        unfiltered = {"duplicates": None, "history": None} if self.visited == "bitmap" else {}
        pulls = bits and completed.direction != "push"
        config = resolve(
            replace(
                completed,
                **_STEPPED,
                **unfiltered,
                visited=self.visited,
                direction="switching" if pulls else "push",
            ),
            device.traits,
            m=graph.m,
            predecessors=predecessors,
            max_degree=graph.max_degree,
        )
        if config.scope == "grid":
            raise InvalidArgumentError(
                f"balance={config.balance!r} needs prefix sums of a frontier, which parts of a "
                "graph do not have; choose another, such as 'warp_search' or 'cws'."
            )
        return config

    def pulls(self, *, before: bool, graph: Graph, found: Found, alpha: int, floor: int) -> bool:
        """Whether the next level pulls, by what all devices found together.

        Parameters
        ----------
        before : bool
            Whether the last one did.
        graph : Graph
            What is searched.
        found : Found
            What the last level found, and what was explored before.
        alpha, floor : int
            Dimensions ``alpha`` and ``pull_floor``.
        """
        if self.one_way and before:
            return not (self.beta and found.vertices < graph.n // self.beta)
        if self.gamma is not None:
            return self.hubs > 0 and 100 * found.hubs > self.gamma * self.hubs
        return found.edges > (graph.m - found.explored) // alpha + graph.n // floor


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
