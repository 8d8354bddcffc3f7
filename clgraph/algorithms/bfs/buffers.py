"""What a breadth-first search takes: its kernel's arguments, with their memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.bfs.hubs import hub_floor_of
from clgraph.algorithms.bfs.likely import likely_parents
from clgraph.algorithms.bfs.stages import TALLY_COUNT, TALLY_WORDS, has_shares, likely_kept
from clgraph.engine.blocks import BlockRows, rows_of
from clgraph.engine.plan import LEVEL_CAPACITY, SearchPlan
from clgraph.engine.resident import unreachable_words
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import QUEUE_PAYLOAD, check_hubs
from clgraph.engine.strategies.frontier import StatusArray
from clgraph.engine.strategies.pull import ByEdges
from clgraph.engine.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.resolved import Resolved
    from clgraph.graph import Graph

__all__ = ["level_capacity", "read_tallies", "table_of"]


def level_capacity(graph: Graph | BlockRows) -> int:
    """Give how many levels have a record."""
    return min(graph.n + 1, LEVEL_CAPACITY)


def table_of(
    graph: Graph | BlockRows,
    config: Resolved,
    device: Device,
    groups: Callable[[], int],
    *,
    predecessors: bool,
    progress: Progress | None = None,
) -> Table:
    """Declare the arguments of ``bfs/bfs.cl``.

    Parameters
    ----------
    graph : Graph
        What is searched.
    config : Resolved
        Which arguments the stages use.
    device : Device
        Where the graph is uploaded.
    groups : callable
        Gives the work-groups of a launch, once the kernel is compiled.
    predecessors : bool
        Whether searches label a tree.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.
    """
    word = np.dtype(f"u{config.word_bits // 8}")
    table = Table(
        {
            "row_t": (config.offset_dtype, 2),
            "word_t": (word, 1),
            "entry_t": (np.uint32, config.entry_words),
            "candidate_t": (np.uint32, 2 if predecessors else 1),
        }
    )
    # Of an exact form n entries; of others so many percent, since a vertex may be queued again.
    percent = 100 if config.exact else (config.limits.queue_percent or 100)
    _declare_graph(table, graph, config, device, progress)
    table.given("uint", "source")
    table.given("uint", "max_level")
    table.given("int", "distances", "[n] out", "write")
    if predecessors:
        table.given("int", "predecessors", "[n] out", "write")
    else:
        table.array("int", "predecessors", 1, "no tree is labelled", "write")
    _declare_bitmaps(table, config, -(-graph.n // config.word_bits))
    _declare_queues(table, graph, config, percent)
    if config.frontier.HAS_CANDIDATES:
        room = max(graph.m, 1) * (config.limits.queue_percent or 100) // 100 + 1
        room = min(room, 2**32 - 1)
        other = 1 if config.frontier.name == "two_phase" else room
        table.array("candidate_t", "candidates_even", room, "[candidate_capacity]")
        table.array("candidate_t", "candidates_odd", other, "[candidate_capacity], or one element")
        table.number("uint", "candidate_capacity", room)
    if isinstance(config.frontier, StatusArray):
        _declare_status(table, graph, config.frontier, lambda: groups() * config.group_size, groups)
    if config.balance.scope == "grid":
        _declare_sums(table, graph, config, percent, groups)
    SearchPlan.declare_levels(table, level_capacity(graph))
    if has_shares(config):
        note = "[level_capacity] out: lanes a vertex, and how else edges were shared out"
        table.array("uint", "level_shares", level_capacity(graph), note)
    return table


def _declare_graph(
    table: Table,
    graph: Graph | BlockRows,
    config: Resolved,
    device: Device,
    progress: Progress | None,
) -> None:
    back = graph
    if not isinstance(graph, BlockRows) and graph.directed and config.pull:
        back = graph.transpose()
    if isinstance(graph, BlockRows):
        place, lengths = graph.store.pointer, graph.store.used
        table.held("offset_t", "indptr", lambda: place, "[n] where a row begins that is not empty")
        table.held("uint", "row_lengths", lambda: lengths, "[n]")
    elif config.rows == "pairs":
        ends = np.stack([graph.indptr[:-1], graph.indptr[1:]], axis=1)
        kind = config.offset_dtype
        table.upload("row_t", "indptr", lambda: ends.astype(kind).ravel(), "[n] begin and end")
    else:
        table.held("offset_t", "indptr", lambda: rows_of(graph, device, progress).indptr, "[n + 1]")
    table.held("uint", "indices", lambda: rows_of(graph, device, progress).indices, "[m]")
    table.held(
        "offset_t",
        "in_indptr",
        lambda: rows_of(back, device, progress).indptr,
        "[n + 1] of the transpose",
    )
    table.held("uint", "in_indices", lambda: rows_of(back, device, progress).indices, "[m]")
    table.upload(
        "word_t",
        "unreachable",
        lambda: unreachable_words(back.degrees, config.word_bits),
        "[words] no in-edges, and what lies beyond n",
    )
    kept = likely_kept(config)
    if kept:
        parents = partial(likely_parents, graph, back, kept, device, progress)
        ctype = "uint" if kept == 1 else f"uint{kept}"
        table.held(ctype, "likely", parents, "[n] the in-neighbours of most edges")
    table.number("uint", "n", graph.n)
    if isinstance(config.pull, ByEdges) and config.pull.looks:
        table.number("uint", "reachable", np.count_nonzero(back.degrees), "vertices with in-edges")
    table.number("ulong", "m", graph.m)
    if isinstance(graph, BlockRows):
        table.number("ulong", "entries", graph.entries, "of indices, used or not")
    # Classes by degree are of in-edges, too, and the longest row is shared out by its length.
    classed = (graph, back) if isinstance(config.frontier, StatusArray) else (graph,)
    table.number("uint", "max_degree", max(rows.max_degree for rows in classed))
    table.number("uint", "mean_degree", max(round(graph.mean_degree), 1))


def _declare_bitmaps(table: Table, config: Resolved, words: int) -> None:
    keeps_bits = bool(config.pull) or config.frontier.visited in {"bitmap", "mask"}
    even = words if keeps_bits and config.frontier.name != "status" else 1
    table.array("word_t", "visited_even", even, "[words]")
    table.array("word_t", "visited_odd", even if config.pull else 1, "[words]")


def _declare_queues(table: Table, graph: Graph | BlockRows, config: Resolved, percent: int) -> None:
    """Declare queues of vertices and of hubs beside them, in turn where levels alternate."""
    room = graph.n * percent // 100 + QUEUE_SLACK
    hub_room = config.hubs_among(graph.degrees) * percent // 100 + QUEUE_SLACK
    check_hubs(QUEUE_PAYLOAD, hub_room)
    begins = _hub_bin_begins(graph, config, percent)
    if config.hub_bins:
        hub_room = int(begins[-1])
    alternates = config.frontier.name in {"vertex", "status"}
    table.array(
        "entry_t", "queue_even", 1 if config.frontier.name == "edge" else room, "[n + slack]"
    )
    table.array("entry_t", "queue_odd", room if alternates else 1, "[n + slack]")
    table.array("entry_t", "hubs_even", hub_room, "[number of hubs + slack]")
    table.array("entry_t", "hubs_odd", hub_room if alternates else 1)
    if config.hub_bins:
        table.upload(
            "uint", "bin_begins", lambda: begins.astype(np.uint32), "[bins + 1] see bins.mako"
        )
    if not config.exact:
        table.number("uint", "queue_capacity", room, "entries, where they may be more than n")
        table.number("uint", "hub_capacity", hub_room)


def _hub_bin_begins(graph: Graph | BlockRows, config: Resolved, percent: int) -> NDArray[np.int64]:
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


def _declare_status(
    table: Table,
    graph: Graph | BlockRows,
    status: StatusArray,
    shares: Callable[[], int],
    groups: Callable[[], int],
) -> None:
    """Declare what generating queues from a status array takes."""
    floor = hub_floor_of(graph, status)
    hubs = int(np.count_nonzero(graph.degrees > floor))
    table.array("uint", "tallies", TALLY_COUNT, "[tally_count] see status_array.mako", "shared")
    table.array("uint", "group_counts", lambda: 4 * groups(), "[4, groups]")
    table.array("uint", "share_begins", lambda: 4 * shares(), "[4, work-items of a launch]")
    table.array("uint", "share_counts", lambda: 4 * shares(), "the same")
    table.array("uint", "hub_list", max(hubs, 1), "[hub_total]")
    table.number("uint", "hub_floor", floor, "out-degree above which a vertex is a hub")
    table.number("uint", "hub_total", hubs)
    if status.bits == 8:
        table.array("uchar", "statuses", graph.n, "[n]")
    if status.generation == "bins":
        table.array(
            "uint",
            "bins",
            lambda: 4 * (graph.n // shares() + 2) * shares(),
            "[4, bin_capacity, work-items of a launch]",
        )
        table.number("uint", "bin_capacity", lambda: graph.n // shares() + 2)


def _declare_sums(
    table: Table,
    graph: Graph | BlockRows,
    config: Resolved,
    percent: int,
    groups: Callable[[], int],
) -> None:
    """Declare what balancers of the whole grid need: see ``/balance/shared/arrange.mako``."""
    table.array(
        "uint",
        "prefix",
        graph.n * percent // 100 + QUEUE_SLACK + 1,
        "[queue + 1] exclusive sums of a frontier's degrees",
        "own",
    )
    table.array(
        "uint",
        "chunk_items",
        lambda: most_chunks(config, graph.m * percent // 100, groups()) + 2,
        "[chunks + 1] see /balance/shared/chunks.mako",
        "own",
    )


def most_chunks(config: Resolved, edges: int, groups: int) -> int:
    """How many chunks a frontier of so many edges may be cut into, by `groups` of a launch."""
    if config.balance.name == "direct":
        return 0
    # The smallest there are: a sum of degrees that wrapped says nothing about how many there are.
    chunks = edges // config.chunks.step
    if config.exact:
        # Chunks are smaller than the most only where there are no more of them than can be taken at
        # once, or after single-group mode, which may only estimate the edges ahead.
        few = max(groups * config.group_size, (config.limits.single_group_edges or 0))
        chunks = min(chunks, edges // config.chunks.units + few // config.chunks.step)
    return chunks


def read_tallies(table: Table) -> dict[str, int]:
    """Read what the last search over a status array counted, by name."""
    words = table["tallies"].read()

    def wide(name: str) -> int:
        low, high = words[TALLY_WORDS[name] : TALLY_WORDS[name] + 2]
        return int(low) | int(high) << 32

    names = ("LOOKS", "HITS", "PUSHED_EDGES", "PULLED_EDGES", "SWITCHES", "RETURNS")
    return {"hubs": int(table["hub_total"]), **{name.lower(): wide(name) for name in names}}
