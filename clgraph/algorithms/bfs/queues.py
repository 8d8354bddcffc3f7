"""Device memory of the forms that a frontier takes: the kernel's arguments for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs.hubs import hub_floor_of
from clgraph.algorithms.bfs.stages import TALLY_COUNT, TALLY_WORDS
from clgraph.engine.choose import QUEUE_SLACK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Memory
    from clgraph.device.kernel import Argument
    from clgraph.engine.choose import Resolved
    from clgraph.engine.frontier import StatusArray
    from clgraph.graph import Graph

__all__ = ["StatusQueues", "candidate_queues", "hub_bin_begins", "prefix_sums", "vertex_queues"]


def vertex_queues(memory: Memory, graph: Graph, config: Resolved) -> list[Argument]:
    """Allocate queues of vertices and of hubs beside them, in turn where levels alternate.

    n entries each where claims are exact, ``queue_percent`` of that where they are not.
    """
    hubs = config.hubs_among(graph.degrees)
    percent = 100 if config.exact else (config.limits.queue_percent or 100)
    room = graph.n * percent // 100 + QUEUE_SLACK
    hub_room = hubs * percent // 100 + QUEUE_SLACK
    begins = hub_bin_begins(graph, config, percent)
    if config.hub_bins:
        hub_room = int(begins[-1])
    alternates = config.frontier.name in {"vertex", "status"}

    def entries(name: str, count: int) -> Allocation:
        return memory.allocate(name, count * config.entry_words, np.uint32)

    queues: list[Argument] = [
        entries("queue_even", 1 if config.frontier.name == "edge" else room),
        entries("queue_odd", room if alternates else 1),
        entries("hubs_even", hub_room),
        entries("hubs_odd", hub_room if alternates else 1),
    ]
    if config.hub_bins:
        queues.append(memory.upload("bin_begins", begins.astype(np.uint32)))
    if not config.exact:
        queues += [np.uint32(room), np.uint32(hub_room)]
    return queues


def hub_bin_begins(graph: Graph, config: Resolved, percent: int) -> NDArray[np.int64]:
    """Find where each bin of hubs begins in their queue, int64 [bins + 1].

    A bin has room for every vertex of its degrees; see ``/balance/bins.mako``.
    """
    if not config.hub_bins:
        return np.zeros(1, np.int64)
    degrees = graph.degrees[graph.degrees >= config.hub_degree]
    digits = np.frexp(degrees.astype(np.float64))[1] - 1  # exact: degrees are below 2**53
    bins = np.minimum(digits - config.hub_bits, config.hub_bins - 1)
    rooms = np.bincount(bins, minlength=config.hub_bins) * percent // 100 + 1
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(rooms)])


def candidate_queues(
    memory: Memory, graph: Graph, config: Resolved, *, predecessors: bool
) -> list[Argument]:
    """Allocate queues of candidates: one for two phases, two where levels alternate.

    ``queue_percent`` of m entries of 4 bytes, twice that where a tree is labelled.
    """
    if not config.frontier.HAS_CANDIDATES:
        return []
    capacity = min(max(graph.m, 1) * (config.limits.queue_percent or 100) // 100 + 1, 2**32 - 1)
    words = 2 if predecessors else 1
    other = 1 if config.frontier.name == "two_phase" else capacity
    return [
        memory.allocate("candidates_even", capacity * words, np.uint32),
        memory.allocate("candidates_odd", other * words, np.uint32),
        np.uint32(capacity),
    ]


def prefix_sums(memory: Memory, graph: Graph, config: Resolved, groups: int) -> list[Argument]:
    """Allocate what balancers of the whole grid need of a frontier: see ``/balance/arrange.mako``.

    4 bytes for each entry of a queue, and 4 for each chunk that a frontier is cut into.
    """
    if config.balance.scope != "grid":
        return []
    percent = 100 if config.exact else (config.limits.queue_percent or 100)
    edges = graph.m * percent // 100
    # The smallest there are: a sum of degrees that wrapped says nothing about how many there are.
    chunks = edges // config.chunks.step
    if config.balance.name == "direct":
        chunks = 0
    elif config.exact:
        # Chunks are smaller than the most only where there are no more of them than can be taken at
        # once, or after solo mode, which may only estimate the edges ahead.
        few = max(groups * config.group_size, (config.limits.solo_edges or 0))
        chunks = min(chunks, edges // config.chunks.units + few // config.chunks.step)
    return [
        memory.allocate("prefix", graph.n * percent // 100 + QUEUE_SLACK + 1, np.uint32),
        memory.allocate("chunk_items", chunks + 2, np.uint32),
    ]


class StatusQueues:
    """What generating queues from a status array takes, and what it tells.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    graph : Graph
        What is searched.
    status : StatusArray
        As resolved.
    groups, group_size : int
        Of a launch.

    Attributes
    ----------
    arguments : list
        What the kernel takes.
    hubs : int
        Vertices that count as hubs.
    """

    def __init__(
        self, memory: Memory, graph: Graph, status: StatusArray, groups: int, group_size: int
    ) -> None:
        floor = hub_floor_of(graph, status)
        self.hubs = int(np.count_nonzero(graph.degrees > floor))
        shares = groups * group_size
        self._tallies = memory.allocate("tallies", TALLY_COUNT, np.uint32)
        self.arguments: list[Argument] = [
            self._tallies,
            memory.allocate("group_counts", 4 * groups, np.uint32),
            memory.allocate("share_begins", 4 * shares, np.uint32),
            memory.allocate("share_counts", 4 * shares, np.uint32),
            memory.allocate("hub_list", max(self.hubs, 1), np.uint32),
            np.uint32(floor),
            np.uint32(self.hubs),
        ]
        if status.bits == 8:
            self.arguments.append(memory.allocate("statuses", graph.n, np.uint8))
        if status.generation == "bins":
            capacity = graph.n // shares + 2
            self.arguments += [
                memory.allocate("bins", 4 * capacity * shares, np.uint32),
                np.uint32(capacity),
            ]

    def tell(self) -> dict[str, int]:
        """Read what the last search counted, by name."""
        words = self._tallies.read()

        def wide(name: str) -> int:
            low, high = words[TALLY_WORDS[name] : TALLY_WORDS[name] + 2]
            return int(low) | int(high) << 32

        names = ("LOOKS", "HITS", "PUSHED_EDGES", "PULLED_EDGES", "SWITCHES", "RETURNS")
        return {"hubs": self.hubs, **{name.lower(): wide(name) for name in names}}
