"""What work-items wrote down one by one, brought together to the counters of SIMD groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.profile.criteria import BANK_BYTES, LINE_BYTES, SECTOR_BYTES, USUAL_BANKS
from clgraph.profile.instrument.words import SITE_WORDS
from clgraph.profile.passes.counters import Chain, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.profile.instrument.sites import Site

__all__ = ["Accesses", "decoded_trace", "requests"]


@dataclass(frozen=True, slots=True)
class Accesses:
    """Accesses that were written down one by one.

    Attributes
    ----------
    row, lane, turn, place, size, address : ndarray of int64
        Number of the SIMD group, lane in it, how many times the work-item had been at the place,
        number of the place, bytes, and where.
    """

    row: NDArray[np.int64]
    lane: NDArray[np.int64]
    turn: NDArray[np.int64]
    place: NDArray[np.int64]
    size: NDArray[np.int64]
    address: NDArray[np.int64]


def decoded_trace(
    counts: NDArray[np.uint64],
    entries: NDArray[np.uint64],
    sites: Sequence[Site],
    *,
    group_size: int,
    groups: int,
    lanes: int,
    banks: int = USUAL_BANKS,
) -> Totals:
    """Bring together what work-items wrote down.

    Parameters
    ----------
    counts : ndarray of uint64, shape (work-items, sites)
        How often each came by each place; whole work-groups.
    entries : ndarray of uint64, shape (accesses, 2)
        As templates/profile/trace.mako writes them.
    sites : sequence of Site
        The places.
    group_size, groups : int
        Of the launch.
    lanes : int
        Work-items that are taken for a SIMD group.
    banks : int
        Of local memory.

    Returns
    -------
    Totals
        Scaled up from the work-groups that were written down to all.

    Notes
    -----
    Lanes are taken to be at a place together where they have been there as often before: exact for
    loops whose iterations meet again, a lower bound of how they diverge in nested ones.
    """
    here = max(len(counts) // group_size, 1)
    warps = -(-group_size // lanes)
    per_item = counts.astype(np.float64).reshape(here, group_size, len(sites))
    padded = np.zeros((here, warps * lanes, len(sites)))
    padded[:, :group_size] = per_item
    by_warp = padded.reshape(here * warps, lanes, len(sites))
    most, total = by_warp.max(axis=1), by_warp.sum(axis=1)
    blocks = np.array([site.kind in {"block", "wait", "barrier"} for site in sites], bool)
    barriers = np.array([site.kind == "barrier" for site in sites], bool)
    weights = np.array([site.weight for site in sites], np.float64)
    table = np.zeros((len(sites), SITE_WORDS - 1))
    table[blocks, 0] = most.sum(axis=0)[blocks]
    table[blocks & ~barriers, 1] = total.sum(axis=0)[blocks & ~barriers]
    executed = (total * weights)[:, blocks].sum(axis=1)
    possible = (most * weights)[:, blocks].sum(axis=1) * lanes
    found, complete = _accesses(entries, group_size, warps, lanes), True
    wanted = counts[:, ~blocks].sum()
    if len(found.row) < wanted:
        complete = False
    local = np.array([site.kind.startswith("local") for site in sites], bool)
    awaited = np.array([site.kind in {"load", "atomic"} for site in sites], bool)
    asked, passes = _add_requests(table, found, local, awaited, lanes, banks)
    # Accesses beyond the room were not written down; those that were stand for them.
    kept = len(found.row) / float(wanted) if wanted and not complete else 1.0
    share = here / groups
    table[blocks] /= share
    table[~blocks] /= share * max(kept, 1e-9)
    note = "" if complete else f"{kept:.0%} of the accesses were written down"
    ran = possible > 0
    return Totals(
        tuple(sites),
        table,
        executed[ran],
        possible[ran],
        lanes,
        share * kept,
        note,
        _work_balance(possible.reshape(here, warps)),
        Chain(
            float(possible.max(initial=0.0)),
            asked / max(kept, 1e-9),
            passes / max(kept, 1e-9),
            float(most[:, barriers].sum(axis=1).max(initial=0.0)),
        ),
    )


def _work_balance(work: NDArray[np.float64]) -> float | None:
    """Give the mean over the largest work of each work-group's SIMD groups, in the mean."""
    ran = work.max(axis=1, initial=0.0) > 0
    if work.shape[1] == 1 or not ran.any():
        return None
    return float((work[ran].mean(axis=1) / work[ran].max(axis=1)).mean())


def _accesses(entries: NDArray[np.uint64], group_size: int, warps: int, lanes: int) -> Accesses:
    first, second = entries[:, 0], entries[:, 1]
    item = (first >> np.uint64(40)).astype(np.int64)
    group, local = item // group_size, item % group_size
    return Accesses(
        group * warps + local // lanes,
        local % lanes,
        (first & np.uint64((1 << 40) - 1)).astype(np.int64),
        (second >> np.uint64(52)).astype(np.int64),
        (second >> np.uint64(47) & np.uint64(31)).astype(np.int64),
        (second & np.uint64((1 << 47) - 1)).astype(np.int64),
    )


def requests(*keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give combinations of keys numbers, equal ones the same, from 0 without gaps."""
    if not keys[0].size:
        return np.zeros(0, np.int64)
    order = np.lexsort(keys)
    changed = np.zeros(order.size, bool)
    for key in keys:
        changed[1:] |= np.diff(key[order]) != 0
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.cumsum(changed)
    return numbers


def _add_requests(
    table: NDArray[np.float64],
    found: Accesses,
    local: NDArray[np.bool_],
    awaited: NDArray[np.bool_],
    lanes: int,
    banks: int,
) -> tuple[float, float]:
    """Count requests, lanes, bytes, and lines and sectors or passes over banks, place by place.

    Returns the most requests that one SIMD group waited for, and the most passes of one.
    """
    if not found.row.size:
        return 0.0, 0.0
    sites = len(table)
    request = requests(found.row, found.place, found.turn)
    table[:, 1] += np.bincount(found.place, minlength=sites)
    table[:, 2] += np.bincount(found.place, found.size, minlength=sites)
    _count_unique(table[:, 0], found.place, request)
    far = ~local[found.place]
    for column, unit in ((3, LINE_BYTES), (4, SECTOR_BYTES)):
        _count_unique(table[:, column], found.place[far], request[far], found.address[far] // unit)
    asking = awaited[found.place]
    _, first = np.unique(request[asking], return_index=True)
    asked = float(np.bincount(found.row[asking][first], minlength=1).max())
    near = ~far
    if not near.any():
        return asked, 0.0
    return asked, _add_passes(table, found, request, near, lanes, banks)


def _count_unique(
    into: NDArray[np.float64], place: NDArray[np.int64], *keys: NDArray[np.int64]
) -> None:
    if not place.size:
        return
    _, first = np.unique(requests(*keys), return_index=True)
    into += np.bincount(place[first], minlength=len(into))


def _add_passes(
    table: NDArray[np.float64],
    found: Accesses,
    request: NDArray[np.int64],
    near: NDArray[np.bool_],
    lanes: int,
    banks: int,
) -> float:
    place, size = found.place[near], found.size[near]
    parts = np.where(size > 8, 4, np.where(size > 4, 2, 1))
    part = found.lane[near] // np.maximum(lanes // parts, 1)
    width = BANK_BYTES * parts
    word = found.address[near] // width
    together = requests(request[near], part)
    _, distinct = np.unique(requests(together, word), return_index=True)
    bank = word[distinct] % (banks // parts[distinct])
    meeting = requests(together[distinct], bank)
    passes = np.zeros(int(together.max()) + 1)
    np.maximum.at(passes, together[distinct], np.bincount(meeting)[meeting])
    _, first = np.unique(together, return_index=True)
    table[:, 3] += np.bincount(place[first], passes[together[first]], minlength=len(table))
    table[:, 4] += np.bincount(place[first], minlength=len(table))
    rows = found.row[near]
    return float(np.bincount(rows[first], passes[together[first]], minlength=1).max())
