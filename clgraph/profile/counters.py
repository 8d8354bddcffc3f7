"""What instrumented launches wrote down, as counters for each place of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clgraph.profile.criteria import BANK_BYTES, LINE_BYTES, SECTOR_BYTES, USUAL_BANKS
from clgraph.profile.instrument import RECORD_WORDS, SITE_WORDS, SPREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.profile.instrument import Site

__all__ = ["Accesses", "Residency", "Totals", "decoded_counters", "decoded_trace", "requests"]

_TICKS_NS = 10_000  # a SIMD group that ran for as long reports the clock


@dataclass(slots=True)
class Residency:
    """Where and when SIMD groups ran, summed over the launches of a kernel.

    Attributes
    ----------
    active : float
        Cycles of all SIMD groups, each from its begin to its end.
    busy : dict of int to float
        Cycles in which each compute unit had a work-group.
    cycles : float
        From the first begin to the last end, in cycles of a unit.
    waited, barriers : float
        Cycles at barriers, and barriers, of all SIMD groups.
    groups_per_unit : int
        Most work-groups that were seen on a unit together.
    records, missing : int
        SIMD groups that were written down, and those that there was no room for.
    clock_hz : float or None
        Of the units, from SIMD groups that ran long enough; None where nothing reports.
    """

    active: float = 0.0
    busy: dict[int, float] = field(default_factory=dict)
    cycles: float = 0.0
    waited: float = 0.0
    barriers: float = 0.0
    groups_per_unit: int = 0
    records: int = 0
    missing: int = 0
    clock_hz: float | None = None

    def add(self, records: NDArray[np.uint64], per_group: int, missing: int) -> None:
        """Add the records of one launch; `per_group` of them belong to a work-group."""
        table = records.reshape(-1, RECORD_WORDS)
        numbers = np.arange(len(table)) // max(per_group, 1)
        ran = (table[:, 2] > 0) & (table[:, 1] >= table[:, 0])
        self.missing += missing
        table, numbers = table[ran], numbers[ran]
        if not len(table):
            return
        # The smallest stamp goes first: cycles counters have more bits than a float.
        begin = table[:, 0].astype(np.int64)
        end = table[:, 1].astype(np.int64)
        units = table[:, 2].astype(np.int64) - 1
        self.records += len(table)
        self.active += float((end - begin).sum())
        self.waited += float(table[:, 3].sum())
        spans = _spans(begin, end, units, numbers)
        for unit, busy in spans.busy.items():
            self.busy[unit] = self.busy.get(unit, 0.0) + busy
        self.groups_per_unit = max(self.groups_per_unit, spans.most_together)
        self.cycles += self._elapsed(table, begin, end)

    def _elapsed(
        self, table: NDArray[np.uint64], begin: NDArray[np.int64], end: NDArray[np.int64]
    ) -> float:
        """Give the cycles of a launch: units agree on nanoseconds, not on their counters."""
        first_ns, last_ns = table[:, 6].astype(np.int64), table[:, 7].astype(np.int64)
        if not (first_ns > 0).any():
            return float(end.max() - begin.min())
        took = last_ns - first_ns
        long = took >= min(_TICKS_NS, int(took.max()))
        spent = float(took[long].sum())
        if spent > 0:
            self.clock_hz = float((end - begin)[long].sum()) / spent * 1e9
        return float(last_ns.max() - first_ns.min()) * 1e-9 * (self.clock_hz or 0.0)


class _Spans(NamedTuple):
    """Cycles in which each unit had a work-group, and most groups that one had together."""

    busy: dict[int, float]
    most_together: int


def _spans(
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    units: NDArray[np.int64],
    groups: NDArray[np.int64],
) -> _Spans:
    """Bring SIMD groups to work-groups, and these to the units that they ran on.

    Units are laid behind one another on one axis, so that all of them are gone through at once.
    """
    order = np.lexsort((groups, units))
    unit, group = units[order], groups[order]
    changed = np.ones(order.size, bool)
    changed[1:] = (np.diff(unit) != 0) | (np.diff(group) != 0)
    firsts = np.flatnonzero(changed)
    low = np.minimum.reduceat(begin[order], firsts)
    high = np.maximum.reduceat(end[order], firsts)
    where = unit[firsts]
    numbers, starts, which = np.unique(where, return_index=True, return_inverse=True)
    base = np.minimum.reduceat(low, starts)[which]
    low, high = low - base, high - base
    length = int(high.max()) + 1
    low, high = low + which * length, high + which * length
    by_start = np.argsort(low, kind="stable")
    low, high, which = low[by_start], high[by_start], which[by_start]
    reached = np.maximum.accumulate(high)
    before = np.concatenate([[-1], reached[:-1]])
    covered = np.maximum(high - np.maximum(low, before), 0)
    busy = np.bincount(which, covered, minlength=len(numbers))
    # One may begin where another ends.
    edges = np.concatenate([low, high])
    steps = np.concatenate([np.ones(low.size, np.int64), -np.ones(high.size, np.int64)])
    together = np.cumsum(steps[np.lexsort((steps, edges))]).max(initial=0)
    return _Spans(
        {int(number): float(cycles) for number, cycles in zip(numbers, busy, strict=True)},
        int(together),
    )


@dataclass(slots=True)
class Totals:
    """Counters of a kernel, summed over its launches.

    Attributes
    ----------
    sites : tuple of Site
        The places.
    counts : ndarray of float64, shape (sites, 5)
        Requests, lanes, bytes; then lines and sectors, or passes and the fewest possible. Of a
        block executions and lanes, of a barrier executions and cycles.
    executed, possible : ndarray of float64
        Lane instructions of each SIMD group, by the weight of blocks.
    lanes : int
        Of a SIMD group.
    share : float
        Of the work that was written down; counts are scaled up by it.
    note : str
        What was left out.
    balance : float or None
        Mean over largest work of the SIMD groups of a work-group, mean of the work-groups; None
        where a work-group is one SIMD group, or nobody wrote it down.
    longest : float
        Lane instructions of the SIMD group that had most of them, summed over the launches.
    """

    sites: tuple[Site, ...]
    counts: NDArray[np.float64]
    executed: NDArray[np.float64]
    possible: NDArray[np.float64]
    lanes: int
    share: float = 1.0
    note: str = ""
    balance: float | None = None
    longest: float = 0.0

    def __post_init__(self) -> None:
        """Find the SIMD group that had most to do."""
        self.longest = self.longest or float(self.possible.max(initial=0.0))

    def where(self, *kinds: str) -> NDArray[np.float64]:
        """Give the rows of places of some kinds."""
        chosen = [site.kind in kinds for site in self.sites]
        rows: NDArray[np.float64] = self.counts[np.array(chosen, bool)]
        return rows

    def accesses(self) -> dict[int, float]:
        """Give accesses of work-items to global memory by their bytes; odd sizes count as bytes."""
        found: dict[int, float] = {}
        for row in self.where("load", "store", "atomic"):
            if row[1] > 0:
                size = round(row[2] / row[1])
                found[size] = found.get(size, 0.0) + float(row[1])
        return found

    def add(self, other: Totals) -> None:
        """Add those of another launch of the same kernel."""
        self.counts += other.counts
        self.executed = np.concatenate([self.executed, other.executed])
        self.possible = np.concatenate([self.possible, other.possible])
        self.share = min(self.share, other.share)
        self.note = self.note or other.note
        self.longest += other.longest
        both = [one for one in (self.balance, other.balance) if one is not None]
        self.balance = sum(both) / len(both) if both else None


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


def decoded_counters(
    words: NDArray[np.uint64], records: NDArray[np.uint64], sites: Sequence[Site]
) -> Totals:
    """Read the counters that lanes added up themselves."""
    table = words[: SPREAD * len(sites) * SITE_WORDS].reshape(SPREAD, len(sites), SITE_WORDS)
    warps = records.reshape(-1, RECORD_WORDS)
    ran = warps[:, 5] > 0
    return Totals(
        tuple(sites),
        table.sum(axis=0).astype(np.float64),
        warps[ran, 4].astype(np.float64),
        warps[ran, 5].astype(np.float64),
        32,
    )


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
    blocks = np.array([site.kind in {"block", "wait"} for site in sites], bool)
    weights = np.array([site.weight for site in sites], np.float64)
    table = np.zeros((len(sites), SITE_WORDS))
    table[blocks, 0] = most.sum(axis=0)[blocks]
    table[blocks, 1] = total.sum(axis=0)[blocks]
    executed = (total * weights)[:, blocks].sum(axis=1)
    possible = (most * weights)[:, blocks].sum(axis=1) * lanes
    found, complete = _accesses(entries, group_size, warps, lanes), True
    wanted = counts[:, ~blocks].sum()
    if len(found.row) < wanted:
        complete = False
    local = np.array([site.kind.startswith("local") for site in sites], bool)
    _add_requests(table, found, local, lanes, banks)
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
    table: NDArray[np.float64], found: Accesses, local: NDArray[np.bool_], lanes: int, banks: int
) -> None:
    """Count requests, lanes, bytes, and lines and sectors or passes over banks, place by place."""
    if not found.row.size:
        return
    sites = len(table)
    request = requests(found.row, found.place, found.turn)
    table[:, 1] += np.bincount(found.place, minlength=sites)
    table[:, 2] += np.bincount(found.place, found.size, minlength=sites)
    _count_unique(table[:, 0], found.place, request)
    far = ~local[found.place]
    for column, unit in ((3, LINE_BYTES), (4, SECTOR_BYTES)):
        _count_unique(table[:, column], found.place[far], request[far], found.address[far] // unit)
    near = ~far
    if near.any():
        _add_passes(table, found, request, near, lanes, banks)


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
) -> None:
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
