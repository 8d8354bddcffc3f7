"""The load balancers: their names, in which control flow each runs, and their sizes.

Every name is a file of ``templates/balance/``; :doc:`load balancing </load-balancing>` compares
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BALANCERS",
    "BALANCER_COUNTERS",
    "BALANCER_SYNONYMS",
    "Balance",
    "Scope",
    "balance_sizes",
    "canonical",
    "dynamic_width",
]

Scope = Literal["lanes", "group", "grid"]

BALANCERS: dict[str, Scope] = {
    "item_thread": "lanes",
    "vwarp": "lanes",
    "dyn_vwarp": "lanes",
    "warp_search": "lanes",
    "warp_search_local": "lanes",
    "cws": "group",
    "block_search": "group",
    "direct": "grid",
    "two_phase": "grid",
    "multi_phase": "grid",
}

BALANCER_SYNONYMS = {
    "item_per_vertex": "item_thread",
    "lanes_per_vertex": "vwarp",
    "lane_scan": "warp_search",
}

# What renderings that count tell of a balancer: see tally() of /balance/items.mako.
BALANCER_COUNTERS = (
    "SEARCHES",
    "PROBES",
    "MISFITS",
    "GROUP_ROWS",
    "LANE_ROWS",
    "SCAN_ROUNDS",
    "BROADCASTS",
)

MOST_UNITS = 256  # that a work-item keeps in registers (multi_phase), each with code of its own
# Entries of a local array: more than any device has room for, few enough that no compiler's sum of
# bytes wraps, as Intel's does, to one that seems to fit.
MOST_LOCAL = 1 << 24
DIRECT_ROUNDS = 16  # units that a lane looks up one by one before its SIMD group takes new ones


@dataclass(frozen=True, kw_only=True)
class Balance:
    """How units are shared out, every size decided; what templates see of a balancer.

    Attributes
    ----------
    balance : str
        A name of `BALANCERS`.
    scope : {"lanes", "group", "grid"}
        In which control flow its loops run.
    virtual_warp : int
        Lanes that share an item (``vwarp``).
    min_virtual_warp : int
        The fewest lanes that do (``dyn_vwarp``).
    discover : int
        Resident work-items over entries beyond which lanes search instead (``dyn_vwarp``); 0 for
        never.
    extended : bool
        Whether a search is spared where a long row fills whole rounds (``warp_search``).
    group_threshold, lane_threshold : int
        Items of more units are a work-group's, or a SIMD group's (``cws``).
    scratch : int
        Places that small items are put in order in (``cws``).
    group_scan : {"ordered", "unordered"}
        Whether the small items of a work-group are put in a row in their order (``cws``).
    block_items : int
        Items of each work-item that a work-group searches at once (``block_search``).
    unit_batch : int
        Units in a row that a work-item finds by one search (``two_phase``, ``multi_phase``).
    iterations : int
        Searches of each work-item for one chunk (``multi_phase``).
    partition : {"units", "merge"}
        Whether chunks are equal in units, or in units and items together (``two_phase``).
    chunk : int
        Units in a chunk of the whole list; in searches the most.
    chunk_step : int
        Work-items that share a chunk.
    slice : int
        Prefix sums of a chunk that local memory holds.
    """

    balance: str
    scope: str
    virtual_warp: int
    min_virtual_warp: int
    discover: int
    extended: bool
    group_threshold: int
    lane_threshold: int
    scratch: int
    group_scan: str
    block_items: int
    unit_batch: int
    iterations: int
    partition: str
    chunk: int
    chunk_step: int
    slice: int


def canonical(name: str) -> str:
    """Give the name of a balancer for it or one of its synonyms; other names as they are."""
    return BALANCER_SYNONYMS.get(name, name)


def balance_sizes(
    name: str, lanes: int, group_size: int, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Decide the sizes of a balancer.

    Parameters
    ----------
    name : str
        A name of `BALANCERS`.
    lanes, group_size : int
        Of the device and of the launch.
    wanted : mapping
        Sizes that were asked for, by the names of `Balance`; None or missing for the usual ones.

    Returns
    -------
    dict
        Every attribute of `Balance`.

    Raises
    ------
    InvalidArgumentError
        If a width is not a power of two, or if a work-item would keep more than `MOST_UNITS`, or
        an array in local memory hold more than `MOST_LOCAL`.

    Notes
    -----
    A virtual SIMD group is at most as wide as a real one: a wider one is made narrower, so that a
    configuration serves every device.
    """

    def size(key: str, usual: int) -> int:
        value = wanted.get(key)
        return usual if value is None else value

    for key in ("virtual_warp", "min_virtual_warp"):
        width = size(key, 1)
        if width & (width - 1):
            raise InvalidArgumentError(
                f"{key}={width} is not a power of two, and a SIMD group is cut in equal parts."
            )
    iterations = size("iterations", 2) if name == "multi_phase" else 1
    unit_batch = size("unit_batch", 8)
    step, most = group_size, unit_batch * iterations  # work-items that share a chunk, units of each
    if name == "multi_phase" and most > MOST_UNITS:
        raise InvalidArgumentError(
            f"unit_batch={unit_batch} times iterations={iterations} are {most} units in the "
            f"registers of a work-item of balance='multi_phase'; choose at most {MOST_UNITS}."
        )
    local = {
        "cws": ("scratch", size("scratch", group_size)),
        "block_search": ("block_items", group_size * size("block_items", 1)),
        "two_phase": ("unit_batch", group_size * unit_batch),
    }
    if name in local and local[name][1] > MOST_LOCAL:
        key, entries = local[name]
        raise InvalidArgumentError(
            f"{key}={size(key, 1)} takes {entries} entries of local memory, which no device has; "
            "choose a smaller one."
        )
    if name == "direct":
        step, most = lanes, DIRECT_ROUNDS
    # A chunk cut by items and units touches up to one item more than it has of both.
    return {
        "balance": name,
        "scope": BALANCERS[name],
        "virtual_warp": min(size("virtual_warp", lanes), lanes),
        "min_virtual_warp": min(size("min_virtual_warp", 4), lanes),
        "discover": size("discover", 0) if name == "dyn_vwarp" else 0,
        "extended": bool(wanted.get("extended")),
        "group_threshold": size("group_threshold", group_size),
        "lane_threshold": size("lane_threshold", lanes),
        "scratch": size("scratch", group_size),
        "group_scan": wanted.get("group_scan") or "ordered",
        # Whoever holds one item a work-item, as cws does, would leave out all the others.
        "block_items": size("block_items", 1) if name == "block_search" else 1,
        "unit_batch": unit_batch,
        "iterations": iterations,
        "partition": "units",
        "chunk": step * most,
        "chunk_step": step,
        "slice": group_size * unit_batch + 3,
    }


def dynamic_width(resident: int, entries: int, least: int, lanes: int) -> int:
    """Give the lanes that share an item under ``dyn_vwarp``, as kernels compute it.

    Parameters
    ----------
    resident : int
        Work-items that run together.
    entries : int
        Items, at least 1.
    least, lanes : int
        Bounds of the width, powers of two.

    Returns
    -------
    int
        ``resident / entries`` rounded down to a power of two, between the bounds.
    """
    ratio = resident // entries
    return min(max(1 << (ratio.bit_length() - 1) if ratio else 1, least), lanes)
