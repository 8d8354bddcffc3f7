"""What is usual where a configuration leaves it open, by device and graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.device.hardware.measured import (
    GROUP_RESIDENT_EDGES,
    HUB_EDGES,
    LOCAL_SEARCH_DEGREE,
    SINGLE_GROUP_EDGES,
)
from clgraph.engine.resolved import ENTRY_WORDS
from clgraph.engine.state import MOST_BINS
from clgraph.engine.strategies.balance import ItemThread, WarpSearch, WarpSearchLocal
from clgraph.engine.strategies.frontier import EXACT, Frontier, Hubs, StatusArray, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Pull
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped, check_group_size
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.engine.strategies.balancer import Balancer
    from clgraph.engine.strategies.config import TraversalConfig

__all__ = [
    "MANY_EDGES",
    "bins_of",
    "distribution_of",
    "entry_of",
    "group_size_of",
    "hub_degree_of",
    "limits_of",
    "most_items",
    "pick",
    "pull_of",
    "schedule_of",
    "usual_balance",
    "usual_group_size",
]

# Mean degree of graphs whose searches have few levels, if any has.
MANY_EDGES = 16
# Local memory that a work-item takes in a group with the largest entries, and where a published
# form has tables beside its queues; and what its filters take for each SIMD group.
ITEM_BYTES, PUBLISHED_ITEM_BYTES, FILTER_BYTES = 40, 88, 1200
SIMD_GROUP_BYTES = 80  # that each keeps beside what its work-items do
# Work-items of a group on a GPU of which nothing is known: its SIMD groups are as wide or narrower.
NEUTRAL_GROUP = 64
# Room for the duplicates that filters overlook, in percent of what exact claims need.
INEXACT_PERCENT = 130


def pick(value: int | None, default: int) -> int:
    """Give a number, or the usual one where it is open."""
    return default if value is None else value


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
    # SIMD groups have buffers in local memory, which simulators and some GPUs have little of.
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
    mean_degree: float | None = None,
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
    mean_degree : float, optional
        Where it is known and large, fewer edges make a hub on graphs without such vertices.
    """
    frontier, chosen = config.frontier or VertexQueue(), config.balance or balance
    serves = (
        not traits.emulated
        and frontier.name == "vertex"
        and distribution_of(config, group_size_of(config, traits)) == "static"
        and (chosen is None or chosen.scope != "grid")
    )
    asked = frontier.hubs.degree if frontier.hubs else None
    degree = pick(asked, _usual_hub_degree(traits, max_degree, mean_degree) if serves else 0)
    return 0 if max_degree is not None and max_degree < degree else degree


def _usual_hub_degree(
    traits: DeviceTraits, max_degree: int | None, mean_degree: float | None
) -> int:
    """Out-degree from which a vertex is worth the whole grid; one group of a CPU never is.

    Where levels are few, as on graphs of many edges, groups need not keep their frontiers, and rows
    of fewer edges hold them up.
    """
    if traits.lanes == 1:
        return 0
    usual = 64 * traits.lanes
    has_none = max_degree is not None and max_degree < usual
    many = (mean_degree or 0) >= MANY_EDGES
    return HUB_EDGES.on(traits) * traits.lanes if has_none and many else usual


def pull_of(asked: Pull | None, frontier: Frontier, *, one_item: bool) -> ByEdges | ByHubs | None:
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
        and (one_item or frontier.visited == "bitmap")
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


def schedule_of(asked: Schedule | None, traits: DeviceTraits) -> Schedule:
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


def entry_of(frontier: Frontier, *, one_item: bool, full: bool) -> str:
    """Give what a queue keeps of a vertex."""
    loads = frontier.name == "vertex" and (frontier.duplicates or "").startswith("load")
    if one_item or frontier.name == "status" or loads:
        return "vertex"
    return "full" if full else "row"


def limits_of(
    asked: Limits,
    traits: DeviceTraits,
    frontier: Frontier,
    entry: str,
    group_size: int,
    *,
    group_resident: bool,
) -> Limits:
    """Give where modes end, with every number."""
    one_item = group_size == 1
    capacity = asked.single_group_capacity or _single_group_capacity(traits, group_size, entry)
    if asked.single_group_capacity and not one_item:
        _check_single_group_room(capacity, entry, traits)
    usual_edges = GROUP_RESIDENT_EDGES if group_resident else SINGLE_GROUP_EDGES
    return Limits(
        single_group_capacity=capacity,
        single_group_edges=pick(
            asked.single_group_edges, 1 << 16 if one_item else usual_edges.on(traits)
        ),
        eager=pick(asked.eager, 1 << 14),
        spin=asked.spin or (1 << 26 if traits.is_cpu else 1 << 22),
        patience=pick(asked.patience, 1 << 10 if traits.is_cpu else 1 << 14),
        queue_percent=asked.queue_percent
        or (100 if frontier.visited in EXACT else INEXACT_PERCENT),
    )


def usual_balance(
    traits: DeviceTraits, frontier: Frontier, max_degree: int | None, mean_degree: float | None
) -> Balancer:
    """Choose among the balancers of lanes by the out-degrees, where these are known.

    A search in local memory pays where rows are short, and where the grid shares hubs, if at all.
    """
    if traits.lanes == 1:
        return ItemThread()
    if mean_degree is None or traits.is_cpu or frontier.name != "vertex":
        return WarpSearch()
    few_edges = LOCAL_SEARCH_DEGREE.on(traits)
    few = mean_degree <= few_edges
    hubs = max_degree is not None and max_degree >= _usual_hub_degree(
        traits, max_degree, mean_degree
    )
    return WarpSearchLocal() if few_edges and (few or hubs) else WarpSearch()


def bins_of(
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


def _single_group_capacity(traits: DeviceTraits, group_size: int, entry: str) -> int:
    """Frontier entries that fit twice into a third of the local memory."""
    if group_size == 1:
        return 2**31 - 1
    most = traits.local_bytes // (3 * 2 * 4 * ENTRY_WORDS[entry])
    return max(traits.lanes, min(group_size, most))


def _check_single_group_room(capacity: int, entry: str, traits: DeviceTraits) -> None:
    """Refuse two frontiers beyond local memory here: a compiler may fall over such an array."""
    most = traits.local_bytes // (2 * 4 * ENTRY_WORDS[entry])
    if capacity > most:
        raise InvalidArgumentError(
            f"single_group_capacity={capacity} entries, twice, do not fit the "
            f"{traits.local_bytes} bytes "
            f"of local memory of this device; choose at most {most}, or leave it out."
        )
