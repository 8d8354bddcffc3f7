"""Which stages the kernels of a breadth-first search have, and what they are rendered with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.bfs.sharing import SHARED_BITS, SHARED_STAGES, SHARED_WORDS
from clgraph.engine.state import (
    BIN_WORDS,
    BINS_AT,
    CHUNK_WORDS,
    COUNTERS,
    COUNTERS_AT,
    QUEUE_PAYLOAD,
    SLOT_WORDS,
    STATE_WORDS,
    UNIT_WORDS,
    stage_fields,
    stage_numbers,
)
from clgraph.engine.strategies.frontier import StatusArray
from clgraph.engine.strategies.pull import ByEdges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.bfs.sharing import Sharing
    from clgraph.engine.resolved import Resolved

__all__ = [
    "SHARES",
    "TALLY_COUNT",
    "TALLY_WORDS",
    "UNREACHED",
    "has_shares",
    "kernel_parameters",
    "likely_kept",
    "stages_of",
]

UNREACHED = -1
# The template by which one group runs levels; whether it is of one work-item.
SINGLE_GROUP = {False: "/grid/single_group.mako", True: "/grid/single_group_sequential.mako"}
# Words that a search over a status array keeps beside the state; those of 64 bits have even places.
TALLY_WORDS = {
    "CLASSES": 0,
    "NEWLY": 4,
    "NEWLY_HUBS": 5,
    "EDGES": 6,
    "HUBS_FOUND": 8,
    "HUBS_LISTED": 9,
    "SIZES": 16,
    "LOOKS": 24,
    "HITS": 26,
    "PUSHED_EDGES": 28,
    "PULLED_EDGES": 30,
    "SWITCHES": 32,
    "RETURNS": 34,
}
TALLY_COUNT = 36
# Of a stage over a queue of vertices: whether a level that pulls lists what it finds, too, or one
# that pushes does not. Distances are below 2**31, so a level leaves a bit for that.
LISTED_PAYLOAD = QUEUE_PAYLOAD | {"level": 31, "inverts": 1}
# Of a stage over a status array: which queue, whether levels pull, and how the next queue is made.
STATUS_PAYLOAD = {"queue": 1, "pulls": 1, "way": 3, "length": 32, "level": 32}
# How a level was shared out where a balancer prepares for each: lanes a vertex, and these.
SHARES = {"edges": 256, "single": 512}
LAST_BYTE_LEVEL = 254  # one more is the byte of what is unvisited, so nothing may come after it


def stages_of(config: Resolved, sharing: Sharing | None = None) -> list[str]:
    """Names of the stages that a configuration goes through, the first one first."""
    candidates = {
        "edge": ["contract_expand"],
        "two_phase": ["contract", "expand"],
        "hybrid": ["contract", "expand", "contract_expand"],
    }
    frontier = config.frontier
    if frontier.name in candidates:
        return ["fill", *candidates[frontier.name]]
    if isinstance(frontier, StatusArray):
        pull = ["pull"] if config.pull else []
        write = [] if frontier.generation == "none" else ["write"]
        widen = ["widen"] if frontier.bits == 8 else []
        return ["fill", "push", *pull, "count", *write, *widen]
    stages = ["fill", "push"]
    if config.balance.scope == "grid":
        stages.append("arrange")
    if config.pull:
        stages += ["pull", "gather"]
        if frontier.visited == "labels":
            stages.append("mark")
    if sharing:
        stages += SHARED_STAGES if pushes_shared(config) else ["take"]
    return stages


def likely_kept(config: Resolved) -> int:
    """How many likely parents of a vertex are tried before its row."""
    may = config.frontier.name == "vertex" and config.lanes > 1
    return (config.pull.likely or 0) if may and isinstance(config.pull, ByEdges) else 0


def lists_pulled(config: Resolved) -> bool:
    """Whether levels that pull may put what they find into the queue as well.

    Only where likely parents are kept, of graphs whose searches have few levels: what is decided
    for it costs each of the thousands of levels of a road network a microsecond or two.
    """
    return bool(likely_kept(config)) and config.frontier.exact and not config.hub_bins


def pushes_shared(config: Resolved) -> bool:
    """Whether levels that several devices share may push: rows are cut to what each looks for.

    Nobody makes a queue of what they find, so only where a level that pulls comes next.
    """
    return lists_pulled(config) and config.entry != "vertex"


def has_shares(config: Resolved) -> bool:
    """Whether kernels record how they shared out each level."""
    return config.frontier.name == "vertex" and config.balance.name == "dyn_vwarp"


def kernel_parameters(
    config: Resolved,
    stages: Sequence[str],
    *,
    predecessors: bool,
    sharing: Sharing | None = None,
) -> dict[str, Any]:
    """Give what ``bfs/bfs.cl`` is rendered with for a kernel of these stages."""
    arranges = config.balance.scope == "grid"
    all_stages = stages_of(config)
    words: dict[str, int] = STATE_WORDS
    slot: tuple[str, ...] = SLOT_WORDS
    if arranges:
        words, slot = words | UNIT_WORDS | CHUNK_WORDS, (*slot, *UNIT_WORDS)
    if config.hub_bins:
        words, slot = words | BIN_WORDS | {"BINS": BINS_AT}, (*slot, *BIN_WORDS)
    payload = QUEUE_PAYLOAD
    if isinstance(config.frontier, StatusArray):
        payload = STATUS_PAYLOAD
    elif lists_pulled(config):
        payload = LISTED_PAYLOAD
    numbers = stage_numbers(config.frontier.name)
    if sharing:
        words = words | SHARED_WORDS
        payload, numbers = payload | SHARED_BITS, numbers | SHARED_STAGES
    return {
        "config": config,
        "problem": SimpleNamespace(predecessors=predecessors),
        "stages": tuple(stages),
        "single_group": SINGLE_GROUP[config.group_size == 1],
        "stage_numbers": {
            name: number
            for name, number in numbers.items()
            if name not in {"arrange", "widen"} or name in all_stages
        },
        "UNREACHED": UNREACHED,
        "likely": likely_kept(config),
        "lists_pulled": lists_pulled(config),
        "shares": SHARES if has_shares(config) else None,
        "counters": {name: COUNTERS_AT + k for k, name in enumerate(COUNTERS)},
        "LAST_BYTE_LEVEL": LAST_BYTE_LEVEL,
        "tally_words": TALLY_WORDS,
        "tally_count": TALLY_COUNT,
        "state_words": words,
        "stage_fields": stage_fields(payload),
        "slot_words": slot,
        **(sharing.terms() if sharing else {"copies": 0}),
    }
