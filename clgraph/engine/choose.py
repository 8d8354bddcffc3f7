"""The rules that complete a configuration from graph statistics and device traits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.state import MOST_BINS
from clgraph.engine.strategies.balance import (
    Balancer,
    Chunks,
    ItemThread,
    WarpSearch,
    WarpSearchLocal,
)
from clgraph.engine.strategies.frontier import EXACT, Frontier, Hubs, StatusArray, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Never, Pull
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped, check_group_size
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import DeviceTraits
    from clgraph.engine.strategies.config import TraversalConfig
    from clgraph.engine.strategies.strategy import Strategy

__all__ = [
    "QUEUE_SLACK",
    "USUAL",
    "Mechanics",
    "Resolved",
    "decisions",
    "distribution_of",
    "group_size_of",
    "hub_degree_of",
    "most_items",
    "resolve",
    "usual_group_size",
    "usual_launch_work",
]

# Largest number of work-groups: the members field of a stage word has 12 bits.
MAX_GROUPS = 4095
# Mean out-degree up to which edges are searched in local memory; see _usual_balance.
FEW_EDGES = 8
# Words of a queue's entry: a vertex, with its row, or with what is known of it too.
ENTRY_WORDS = {"vertex": 1, "row": 2, "full": 4}
# Entries beyond those of a queue that branch-free appends may touch.
QUEUE_SLACK = 64
# Local memory that a work-item takes in a group with the largest entries, and where a published
# form has tables beside its queues; and what its filters take for each SIMD group.
ITEM_BYTES, PUBLISHED_ITEM_BYTES, FILTER_BYTES = 40, 88, 1200
SIMD_GROUP_BYTES = 80  # that each keeps beside what its work-items do
# Work-items of a group on a GPU of which nothing is known: its SIMD groups are as wide or narrower.
NEUTRAL_GROUP = 64
# Entries that a lane on its own collects before it reserves room for them: on a processor many, as
# its local memory is no scarcer than the rest; among others that share theirs few.
ALONE_BUFFER, ONE_LANE_BUFFER = 512, 8
# Room for the duplicates that filters overlook, in percent of what exact claims need.
INEXACT_PERCENT = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanics:
    """What an algorithm's kernels need of the engine, whatever is configured; None: as usual.

    Attributes
    ----------
    entry : {"vertex", "row", "full"}, optional
        What a queue keeps of a vertex: its number, its row too, or also what is known of it.
    launch_work : int, optional
        Edges after which a launch pauses.
    buffer : int, optional
        Entries that a SIMD group collects in local memory.
    batch : int, optional
        Edges that a lane visits at a time.
    wide : int, optional
        Rows of so many edges are walked by a whole SIMD group, where the balancer does not say.
    """

    entry: str | None = None
    launch_work: int | None = None
    buffer: int | None = None
    batch: int | None = None
    wide: int | None = None


USUAL = Mechanics()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Resolved:
    """A configuration with everything decided; what templates see as ``config``.

    Attributes
    ----------
    asked : Strategy
        The configuration that was asked for, with the strategies that were chosen.
    frontier, balance, pull, limits
        The strategies that run, with every number; `pull` is None where no level does.
    chunks : Chunks
        How balancers of the whole grid cut a frontier.
    lanes, group_size, groups, synchronisation, membership, solo, distribution, kernels,
    group_resident
        How it is launched; see `clgraph.engine.strategies.schedule`.
    entry, buffer, wide
        See `Mechanics`.
    word_bits : int
        Of a word of the bitmaps.
    wide_offsets : bool
        Whether edges are numbered by 64 bits.
    hub_degree, hub_batch, hub_bins, hub_bits : int
        Least degree of a vertex that is set apart, 0 for none; see
        `clgraph.engine.strategies.frontier.Hubs`.
    leaf_degree : int
        Degree of vertices that are left out of what is shared out; 0 for none.
    pull_batch, wide_batch, scan_batch : int
        Edges that a lane looks at together where it pulls, walks a wide row, or searches.
    push_tile, fill_tile : int
        Entries of a queue, and of an array, that work-items take together.
    class_batch : int
        Vertices of the lowest class that a work-item takes.
    stage_work, launch_work : int
        What a stage costs, in edges, and after how many a launch pauses.
    counts : bool
        Whether events are counted.
    pull_tile : int
        Words of a bitmap that a work-item alone takes together.
    solo_patience : int
        Work of one group alone after which others that wait are sent away.
    resident_levels, resident_overfull, resident_uneven : int
        Levels after which groups that hold their frontiers meet; and how many vertices of one
        group, or how many times the mean, are too many.

    Notes
    -----
    On an H200 64 to 128 vertices of a group are as fast, 32 or 256 slower; twice and three times
    the mean are as fast; without a limit levels of a grid take 2.84 us instead of 2.36.
    """

    asked: Strategy
    frontier: Frontier
    balance: Balancer
    chunks: Chunks
    pull: ByEdges | ByHubs | None
    limits: Limits
    lanes: int
    group_size: int
    groups: int | None
    synchronisation: str
    membership: str
    solo: bool
    distribution: str
    kernels: str
    group_resident: bool
    entry: str
    buffer: int
    word_bits: int
    wide_offsets: bool
    wide: int
    hub_degree: int
    hub_batch: int
    hub_bins: int
    hub_bits: int
    leaf_degree: int
    pull_batch: int
    wide_batch: int
    scan_batch: int
    push_tile: int
    fill_tile: int
    class_batch: int
    stage_work: int
    launch_work: int
    counts: bool
    pull_tile: int = 16
    solo_patience: int = 1 << 15
    resident_levels: int = 1 << 12
    resident_overfull: int = 128
    resident_uneven: int = 3

    @property
    def exact(self) -> bool:
        """Whether a vertex enters a queue at most once."""
        return self.frontier.exact

    @property
    def rows(self) -> str | None:
        """Whether rows have offsets, or begin and end side by side."""
        return self.frontier.rows

    @property
    def entry_words(self) -> int:
        """Words of 32 bits of a queue's entry."""
        return ENTRY_WORDS[self.entry]

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """Type of row offsets on the device."""
        return np.dtype(np.uint64 if self.wide_offsets else np.uint32)

    def hubs_among(self, degrees: NDArray[Any]) -> int:
        """Count the vertices that are set apart, by their out-degrees."""
        return int(np.count_nonzero(degrees >= self.hub_degree)) if self.hub_degree else 0

    def __repr__(self) -> str:
        """Show the call that makes it: what was asked for, and the strategies that were chosen."""
        return repr(self.asked)

    def as_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults, by dotted names, for records."""
        return self.asked.as_dict()


def resolve(  # noqa: PLR0913 - all but two by keyword
    config: TraversalConfig,
    traits: DeviceTraits,
    *,
    m: int,
    predecessors: bool,
    max_degree: int | None = None,
    mean_degree: float | None = None,
    directed: bool = True,
    mechanics: Mechanics = USUAL,
    asked: TraversalConfig | None = None,
) -> Resolved:
    """Complete a configuration for a graph of `m` edges and known out-degrees.

    Parameters
    ----------
    config : TraversalConfig
        With what rules that know the graph have filled in.
    traits, m, predecessors, max_degree, mean_degree, directed
        Of the device, the graph and what is searched for.
    mechanics : Mechanics
        What kernels need whatever is configured.
    asked : TraversalConfig, optional
        What the user wrote, before such rules; shown instead of `config`.

    Raises
    ------
    InvalidArgumentError
        If the device cannot run the configuration.

    Notes
    -----
    One lane per group marks a CPU thread, where plain loops over compact arrays win; on SIMD groups
    latency is hidden by lanes instead, so state is a bitmap and queues carry rows.
    """
    decided = decisions(
        config,
        traits,
        m=m,
        predecessors=predecessors,
        max_degree=max_degree,
        mean_degree=mean_degree,
        directed=directed,
        mechanics=mechanics,
        asked=asked,
    )
    return Resolved(**decided)


def _named(
    asked: TraversalConfig, frontier: Frontier, balance: Balancer, pull: Pull, schedule: Schedule
) -> TraversalConfig:
    """Give what was asked for, with the strategies that were chosen where it named none."""
    given = asked.schedule.given() if asked.schedule else {}
    return replace(
        asked,
        frontier=asked.frontier or type(frontier)(),
        balance=None if isinstance(frontier, StatusArray) else asked.balance or type(balance)(),
        pull=asked.pull or type(pull)(),
        schedule=type(schedule)(**given),
    )


def decisions(  # noqa: PLR0913 - all but two by keyword
    config: TraversalConfig,
    traits: DeviceTraits,
    *,
    m: int,
    predecessors: bool,
    max_degree: int | None,
    mean_degree: float | None,
    directed: bool,
    mechanics: Mechanics,
    asked: TraversalConfig | None = None,
) -> dict[str, Any]:
    """Give every attribute of `Resolved`, for that or what has more."""
    lanes = traits.lanes
    scalar, emulated = lanes == 1, traits.emulated
    group_size = group_size_of(config, traits)
    alone = group_size == 1
    frontier = (config.frontier or VertexQueue()).resolved(traits, group_size)
    if frontier.HAS_CANDIDATES and m >= 2**32 - 64:
        raise InvalidArgumentError(
            f"frontier={frontier.name!r} numbers candidates with 32 bits, but the graph has {m} "
            "edges; choose frontier='vertex'."
        )
    pull = _pull(config.pull, frontier, alone=alone)
    asked_balance = config.balance or _usual_balance(traits, frontier, max_degree, mean_degree)
    balance = asked_balance.resolved(lanes, group_size)
    schedule = _schedule(config.schedule, traits)
    stepped = isinstance(schedule, Stepped)
    kernels = (schedule.kernels if isinstance(schedule, Stepped) else None) or (
        "split" if emulated and stepped else "fused"
    )
    distribution = distribution_of(config, group_size)
    hubs = frontier.hubs or Hubs()
    hub_degree = hub_degree_of(config, traits, balance=balance, max_degree=max_degree)
    hub_degree, hub_bins, hub_bits = _bins(hubs, traits, group_size, hub_degree, max_degree)
    _check_hub_batch(hubs.batch, group_size)
    entry = mechanics.entry or _entry(frontier, alone=alone, full=predecessors or m >= 2**32)
    membership = (schedule.membership if isinstance(schedule, Persistent) else None) or (
        "fixed" if traits.grid_barrier else "open"
    )
    # Groups that keep their frontiers must all be there, with room for them and nobody's help.
    can_hold = (
        membership == "fixed"
        and distribution == "static"
        and kernels == "fused"
        and not (stepped or hub_degree)
        and group_size > lanes
        and (frontier.name, frontier.visited, frontier.duplicates) == ("vertex", "bitmap", "keep")
        and balance.scope == "lanes"
        # The width of dynamic virtual warps is for a whole list, not for a group's share.
        and balance.name != "dyn_vwarp"
    )
    asked_held = schedule.held if isinstance(schedule, Persistent) else None
    if asked_held and not can_hold:
        raise InvalidArgumentError(
            "held=True needs a persistent kernel with fixed membership, static work, a queue of "
            "vertices claimed in a bitmap, several SIMD groups in a work-group that balance their "
            "own load, and a graph without hubs; leave it out, or set hubs.degree=0 and what else "
            "is missing."
        )
    held = can_hold and (schedule.solo is not False if asked_held is None else asked_held)
    limits = _limits(config.limits or Limits(), traits, frontier, entry, group_size, held=held)
    _check_sums(balance, frontier, limits, m)
    has_solo = (
        frontier.name == "vertex"
        and (frontier.exact or schedule.solo is True)
        and not hub_bins
        # One work-item alone appends without looking how much room there is.
        and not (alone and (frontier.rows == "pairs" or (limits.queue_percent or 0) < 100))
    )
    # Two edges a lane at a time: four spilled 200 bytes on an H200 and cost more than they saved.
    # Emulated lanes gain nothing, and their compilers suffer from every further collective.
    batch = mechanics.batch or (1 if scalar or emulated else 2)
    wide = balance.wide if isinstance(balance, WarpSearch) else None
    usual_wide = 0 if emulated else 2 * lanes
    return {
        "asked": _named(asked or config, frontier, asked_balance, pull or Never(), schedule),
        "frontier": frontier,
        "balance": balance,
        "chunks": balance.chunks(group_size, lanes),
        "pull": pull.resolved() if pull else None,
        "limits": limits,
        "lanes": lanes,
        "group_size": group_size,
        "groups": schedule.groups,
        "synchronisation": schedule.NAME,
        "membership": membership,
        # A frontier that fits two or three work-items is not worth a mode of its own.
        "solo": has_solo
        and kernels == "fused"
        and schedule.solo is not False
        and (alone or group_size > 3),
        "distribution": distribution,
        "kernels": kernels,
        "group_resident": held,
        "entry": entry,
        "buffer": mechanics.buffer or (ALONE_BUFFER if alone else max(2 * lanes, ONE_LANE_BUFFER)),
        "word_bits": 64 if alone else 32,
        "wide_offsets": m >= 2**32,
        "wide": wide if wide is not None else pick(mechanics.wide, usual_wide),
        "hub_degree": hub_degree,
        # Two edges of a hub a lane at a time, so an even number.
        "hub_batch": (hubs.batch or 0) + (hubs.batch or 0) % 2,
        "hub_bins": hub_bins,
        "hub_bits": hub_bits,
        "leaf_degree": int(balance.leaves == "discard" and not directed),
        "pull_batch": 1 if scalar or emulated else 4,
        "wide_batch": batch,
        "scan_batch": batch,
        "push_tile": 64 if alone else lanes,
        "fill_tile": 16384 if alone else 32 * lanes,
        "class_batch": 64 if alone else 1,
        "stage_work": 200 if traits.is_cpu else 60_000,
        "launch_work": mechanics.launch_work or usual_launch_work(traits),
        "counts": config.counts,
    }


def pick(value: int | None, default: int) -> int:
    """Give a number, or the usual one where it is open."""
    return default if value is None else value


def usual_launch_work(traits: DeviceTraits) -> int:
    """Edges that a launch looks at before it pauses: about a second's."""
    return 200_000_000 if traits.is_cpu else 20_000_000_000


def group_size_of(config: TraversalConfig, traits: DeviceTraits) -> int:
    """Give the work-items of a group.

    Raises
    ------
    InvalidArgumentError
        If the device cannot have what was asked for.
    """
    asked = config.schedule.group_size if config.schedule else None
    return check_group_size(asked or usual_group_size(config, traits), traits)


def usual_group_size(config: TraversalConfig, traits: DeviceTraits) -> int:
    """Give the work-items of a group where the configuration does not say."""
    if traits.is_cpu or traits.emulated:
        return traits.lanes
    frontier = config.frontier or VertexQueue()
    published = (
        frontier.name != "vertex"
        or frontier.filtered
        or config.rules == "helix"
        or (config.balance is not None and config.balance.scope != "lanes")
    )
    # Lane groups have buffers in local memory, which simulators and some GPUs have little of.
    beside = SIMD_GROUP_BYTES // traits.lanes if traits.lanes > 1 else 0
    most, each = 1024, ITEM_BYTES + beside
    if published:
        most, each = 256, PUBLISHED_ITEM_BYTES + FILTER_BYTES // traits.lanes
    room = most_items(traits, each)
    if traits.lanes == 1:
        roomy = room >= NEUTRAL_GROUP and traits.local_bytes >= 1024 * ITEM_BYTES
        return traits.group_of(NEUTRAL_GROUP) if roomy else 1
    return traits.group_of(min(most, room))


def most_items(traits: DeviceTraits, each: int) -> int:
    """Give the largest power of two of work-items whose local memory fits, of `each` bytes."""
    return 1 << (max(traits.local_bytes // each, 1).bit_length() - 1)


def hub_degree_of(
    config: TraversalConfig,
    traits: DeviceTraits,
    *,
    balance: Balancer | None,
    max_degree: int | None,
) -> int:
    """Give the out-degree from which a vertex is queued apart; 0 where no vertex is.

    Parameters
    ----------
    config : TraversalConfig
        What was asked for.
    traits : DeviceTraits
        Where.
    balance : Balancer, optional
        Chosen, where `config` leaves it open.
    max_degree : int, optional
        Where it is known: kernels for graphs without hubs are rendered without them, which saves
        registers.
    """
    frontier, chosen = config.frontier or VertexQueue(), config.balance or balance
    serves = (
        not traits.emulated
        and frontier.name == "vertex"
        and distribution_of(config, group_size_of(config, traits)) == "static"
        and (chosen is None or chosen.scope != "grid")
    )
    asked = frontier.hubs.degree if frontier.hubs else None
    degree = pick(asked, _usual_hub_degree(traits) if serves else 0)
    return 0 if max_degree is not None and max_degree < degree else degree


def _usual_hub_degree(traits: DeviceTraits) -> int:
    """Out-degree from which a vertex is worth the whole grid; one group of a CPU never is."""
    return 0 if traits.lanes == 1 else 64 * traits.lanes


def _pull(asked: Pull | None, frontier: Frontier, *, alone: bool) -> ByEdges | ByHubs | None:
    """Give when levels pull, if they may.

    Raises
    ------
    InvalidArgumentError
        If they were asked to and cannot, here.
    """
    status = isinstance(frontier, StatusArray)
    may_pull = status or (
        frontier.name == "vertex"
        and frontier.visited in EXACT
        and (alone or frontier.visited == "bitmap")
    )
    if asked is None:
        return (ByHubs() if status else ByEdges()) if may_pull else None
    if not isinstance(asked, (ByEdges, ByHubs)):
        return None
    if not may_pull:
        raise InvalidArgumentError(
            "visited='labels' with pull='edges' is for one-lane devices with group_size=1; choose "
            "'bitmap' here, or pull='never'."
        )
    return asked


def _schedule(asked: Schedule | None, traits: DeviceTraits) -> Schedule:
    """Give a schedule that is either persistent or stepped."""
    asked = asked or Schedule()
    if type(asked) is not Schedule:
        return asked
    # PoCL takes minutes over one kernel with all the barriers of emulated lanes.
    return (Stepped if traits.emulated else Persistent)(**asked.given())


def distribution_of(config: TraversalConfig, group_size: int) -> str:
    """Whether work is shared by position, or taken from a counter."""
    frontier = config.frontier or VertexQueue()
    hubs = bool(frontier.hubs and frontier.hubs.degree)
    asked = config.schedule.distribution if config.schedule else None
    return asked or ("claimed" if group_size == 1 and not hubs else "static")


def _entry(frontier: Frontier, *, alone: bool, full: bool) -> str:
    """Give what a queue keeps of a vertex."""
    loads = frontier.name == "vertex" and (frontier.duplicates or "").startswith("load")
    if alone or frontier.name == "status" or loads:
        return "vertex"
    return "full" if full else "row"


def _limits(
    asked: Limits,
    traits: DeviceTraits,
    frontier: Frontier,
    entry: str,
    group_size: int,
    *,
    held: bool,
) -> Limits:
    alone = group_size == 1
    capacity = asked.solo_capacity or _solo_capacity(traits, group_size, entry)
    if asked.solo_capacity and not alone:
        _check_solo_room(capacity, entry, traits)
    return Limits(
        solo_capacity=capacity,
        solo_edges=pick(asked.solo_edges, 1 << 16 if alone else 1 << 9 if held else 1 << 11),
        eager=pick(asked.eager, 1 << 14),
        spin=asked.spin or (1 << 26 if traits.is_cpu else 1 << 22),
        patience=pick(asked.patience, 1 << 10 if traits.is_cpu else 1 << 14),
        queue_percent=asked.queue_percent
        or (100 if frontier.visited in EXACT else INEXACT_PERCENT),
    )


def _usual_balance(
    traits: DeviceTraits, frontier: Frontier, max_degree: int | None, mean_degree: float | None
) -> Balancer:
    """Choose among the balancers of lanes by the out-degrees, where these are known.

    On an H200 a search in local memory takes 0.94 to 0.95 of the time of one in registers on a
    road network, a grid and a planar mesh, and 0.96 to 0.97 on Kronecker graphs, whose hubs the
    grid shares; 1.01 on a cube and a geometric graph of degree 13, 1.04 on a uniform one of 32.
    """
    if traits.lanes == 1:
        return ItemThread()
    if mean_degree is None or traits.is_cpu or frontier.name != "vertex":
        return WarpSearch()
    few = mean_degree <= FEW_EDGES
    hubs = max_degree is not None and max_degree >= _usual_hub_degree(traits)
    return WarpSearchLocal() if few or hubs else WarpSearch()


def _bins(
    hubs: Hubs, traits: DeviceTraits, group_size: int, hub_degree: int, max_degree: int | None
) -> tuple[int, int, int]:
    """Give the least degree of a hub, the number of bins and the first one's binary digits.

    The last bin begins at the resident work-items, if any vertex has so many edges.
    """
    if not (hubs.bins and hub_degree):
        return hub_degree, 0, 0
    bits = max((hub_degree - 1).bit_length(), traits.lanes.bit_length() - 1)
    resident = traits.compute_units * max(traits.threads_per_unit, group_size)
    top = min(resident, 2**31 - 1 if max_degree is None else max_degree).bit_length() - 1
    return 1 << bits, min(max(top - bits + 1, 1), MOST_BINS), bits


def _check_sums(balance: Balancer, frontier: Frontier, limits: Limits, m: int) -> None:
    grid, percent = balance.scope == "grid", limits.queue_percent or 0
    if m >= 2**31 and (grid or balance.name == "block_search"):
        raise InvalidArgumentError(
            f"balance={balance.name!r} adds up a frontier's degrees in 32 bits, but the "
            f"graph has {m} edges; choose another balancer from 2**31 edges on."
        )
    # Such a sum is found too large by what it exceeds, so that must not wrap either.
    if grid and not frontier.exact and m * percent // 100 >= 2**32:
        raise InvalidArgumentError(
            f"balance={balance.name!r} adds up a frontier's degrees in 32 bits, but "
            f"queue_percent={percent} has room for more in a graph of {m} edges; choose "
            f"at most {100 * 2**32 // m}, or visited='bitmap'."
        )


def _solo_capacity(traits: DeviceTraits, group_size: int, entry: str) -> int:
    """Frontier entries that fit twice into a third of the local memory."""
    if group_size == 1:
        return 2**31 - 1
    most = traits.local_bytes // (3 * 2 * 4 * ENTRY_WORDS[entry])
    return max(traits.lanes, min(group_size, most))


def _check_hub_batch(hub_batch: int | None, group_size: int) -> None:
    """Refuse tiles of hubs whose places, over the largest launch there is, do not fit 32 bits."""
    most = 2**32 // (MAX_GROUPS * group_size) // 2 * 2
    if hub_batch is not None and hub_batch > most:
        raise InvalidArgumentError(
            f"hubs.batch={hub_batch} edges for each of {group_size} work-items in a group are more "
            f"than kernels can number; choose at most {most}."
        )


def _check_solo_room(capacity: int, entry: str, traits: DeviceTraits) -> None:
    """Refuse two frontiers beyond local memory here: a compiler may fall over such an array."""
    most = traits.local_bytes // (2 * 4 * ENTRY_WORDS[entry])
    if capacity > most:
        raise InvalidArgumentError(
            f"solo_capacity={capacity} entries, twice, do not fit the {traits.local_bytes} bytes "
            f"of local memory of this device; choose at most {most}, or leave it out."
        )
