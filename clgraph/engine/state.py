"""The control words that a running traversal keeps in device memory.

Host and kernels agree on these by rendering: templates define each name from the tables here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.engine.strategies.balancer import BALANCER_COUNTERS
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BINS_AT",
    "BIN_WORDS",
    "CHUNK_WORDS",
    "COUNTERS",
    "COUNTERS_AT",
    "MOST_BINS",
    "NO_STAGE",
    "QUEUE_PAYLOAD",
    "SLOT_WORDS",
    "STATE_WORDS",
    "STATUS_DONE",
    "STATUS_PAUSED",
    "STATUS_RUNNING",
    "UNIT_WORDS",
    "WORD_COUNT",
    "check_hubs",
    "initial_state",
    "stage_fields",
    "stage_numbers",
]

_LINE = 32  # 32-bit words; contended words are kept 128 bytes apart

STATUS_RUNNING, STATUS_DONE, STATUS_PAUSED = 0, 1, 2
NO_STAGE = np.uint32(0xFFFFFFFF)

# Counters of one stage; two copies of each, used in turn, SLOT_STRIDE apart.
SLOT_WORDS = (
    "NEXT",
    "ARRIVED",
    "CLAIM",
    "NEXT_EDGES",
    "NEXT_EDGES_HIGH",
    "NEXT_HUBS",
    "RESIDENT_EDGES",
    "RESIDENT_EDGES_HIGH",
)
_SLOT_STRIDE = 5 * _LINE

STATE_WORDS: dict[str, int] = {
    "STATUS_RUNNING": STATUS_RUNNING,
    "STATUS_DONE": STATUS_DONE,
    "STATUS_PAUSED": STATUS_PAUSED,
    "STAGE_A": 0,
    "STAGE_B": 2,
    "JOINED": _LINE,
    "LEFT": 2 * _LINE,
    "HEARTBEAT": 3 * _LINE,
    "ABORTED": 3 * _LINE + 1,
    "STATUS_FLAGS": 3 * _LINE
    + 2,  # what a kernel has to report beside its result, in bits of its own
    # Kept by whichever group decides.
    "STATUS": 4 * _LINE,
    "DEPTH": 4 * _LINE + 1,
    "REACHED": 4 * _LINE + 2,
    "OVERFLOWED": 4 * _LINE + 3,
    "EXPLORED": 4 * _LINE + 4,
    "WORK": 4 * _LINE + 6,
    # One 64-bit word: what the queue holds so far, and above it how many groups have arrived, so
    # that whoever arrives last knows both at once.
    "NEXT": 5 * _LINE,
    "ARRIVED": 5 * _LINE + 1,
    "CLAIM": 6 * _LINE,
    "NEXT_EDGES": 7 * _LINE,
    "NEXT_EDGES_HIGH": 7 * _LINE + 1,
    "NEXT_HUBS": 8 * _LINE,
    "ENTERED": 8 * _LINE + 2,  # 64 bits, see membership.mako; never cleared
    "RESIDENT_EDGES": 8 * _LINE + 4,
    "RESIDENT_EDGES_HIGH": 8 * _LINE + 5,
    "MEET": 9 * _LINE,  # 64 bits, see group_frontier.mako; cleared by the decider of such a stage
    "SLOT_STRIDE": _SLOT_STRIDE,
}
# Of a stage too, where balancers need prefix sums: see arrange.mako; and what deciders keep: how
# many units a chunk of the next frontier has, see chunks.mako.
UNIT_WORDS = {"UNITS": 8 * _LINE + 6, "UNITS_HIGH": 8 * _LINE + 7}
CHUNK_WORDS = {"LEVEL_CHUNK": 3 * _LINE + 3}
# Events that renderings with config.counts add up, in words of their own behind WORK.
COUNTERS = (
    *BALANCER_COUNTERS,
    "RESERVATIONS",  # atomics that took room in a queue
    "BINARY_RANKS",  # registers numbered by a ballot
    "INDUCED_STORES",  # registers of a SIMD group stored side by side
    "DROPPED",  # lanes whose vertex another was found to hold
    "CONFLICTS",  # lanes that found another vertex in their slot
    "LEAVES",  # vertices of one edge that were not expanded
    "HUB_ROUNDS",  # times a SIMD group took edges of a vertex out of a bin
    "RELAXED",  # edges by way of which a distance was computed and compared
)
COUNTERS_AT = 4 * _LINE + 8
# Vertices in each bin by degree: see bins.mako. The first of a stage too; BINS is kept by deciders.
MOST_BINS = 8
BIN_WORDS = {f"NEXT_BIN_{bin_}": 8 * _LINE + 8 + bin_ for bin_ in range(MOST_BINS)}
BINS_AT = COUNTERS_AT + len(COUNTERS)
WORD_COUNT = 5 * _LINE + 2 * _SLOT_STRIDE


# Stages as stage words number them, in three bits; 0 is the end of a search.
_STAGE_NUMBERS = {
    "vertex": {"fill": 1, "push": 2, "pull": 3, "gather": 4, "mark": 5, "arrange": 6},
    "candidates": {"fill": 1, "contract": 2, "expand": 3, "contract_expand": 4},
    "status": {"fill": 1, "push": 2, "pull": 3, "count": 4, "write": 5, "widen": 6},
}


def stage_numbers(queue: str) -> dict[str, int]:
    """Give the number of each stage that a form of frontier (its name) has."""
    return _STAGE_NUMBERS.get(queue, _STAGE_NUMBERS["candidates"])


# Where the stage machine itself keeps what in its two words of 64 bits, by halves: place and number
# of bits. Both words carry the generation.
_MACHINE = {
    "a_high": (
        *(("generation", 24, 8), ("members", 12, 12), ("mode", 9, 3)),
        *(("leave", 6, 1), ("epoch", 3, 3)),
    ),
    "b_high": (("generation", 24, 8),),
}
_FREE = (("a_high", 7, 2), ("a_high", 0, 3), ("a_low", 0, 32), ("b_high", 0, 24), ("b_low", 0, 32))
# What queues of vertices and of hubs beside them are described by.
QUEUE_PAYLOAD = {"queue": 1, "visited": 1, "tile": 3, "length": 32, "hubs": 24, "level": 32}


def stage_fields(payload: Mapping[str, int]) -> dict[str, tuple[tuple[str, int, int], ...]]:
    """Pack what a kernel says of a stage beside what the machine needs.

    Parameters
    ----------
    payload : dict
        Bits of each field, by name; each goes where the first room is.

    Returns
    -------
    dict
        For each half of the two words the fields in it: name, place and number of bits.

    Raises
    ------
    ValueError
        If there is no room for a field.

    Examples
    --------
    >>> stage_fields({"queue": 1, "length": 32})["a_low"]
    (('length', 0, 32),)
    """
    halves = {half: list(_MACHINE.get(half, ())) for half in ("a_high", "a_low", "b_high", "b_low")}
    free = [bits for _, _, bits in _FREE]
    for name, bits in payload.items():
        room = next((k for k, left in enumerate(free) if left >= bits), None)
        if room is None:
            raise ValueError(f"no room for {bits} bits of {name!r} in a stage word")
        half, begin, _ = _FREE[room]
        free[room] -= bits
        halves[half].append((name, begin + free[room], bits))
    return {half: tuple(fields) for half, fields in halves.items()}


def check_hubs(payload: Mapping[str, int], hubs: int) -> None:
    """Refuse more hubs than a stage word can count.

    Raises
    ------
    InvalidArgumentError
        If there are so many.
    """
    if hubs >= 1 << payload["hubs"]:
        raise InvalidArgumentError(
            f"{hubs} vertices would be set apart as hubs, which are counted with "
            f"{payload['hubs']} bits; choose a larger hub_degree."
        )


def initial_state() -> np.ndarray:
    """Control words as a new search expects them, uint32 [WORD_COUNT]."""
    words = np.zeros(WORD_COUNT, np.uint32)
    words[STATE_WORDS["STAGE_A"] : STATE_WORDS["STAGE_A"] + 4] = NO_STAGE
    return words
