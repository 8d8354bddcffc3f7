"""The rules that complete a configuration from graph statistics and device traits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from clgraph.engine.balancers import BALANCERS, Balance, balance_sizes
from clgraph.engine.forms import Form, form_of
from clgraph.engine.state import MOST_BINS
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.engine.config import TraversalConfig

__all__ = ["Resolved", "most_items", "resolve", "usual_group_size"]

# Largest number of work-groups: the members field of a stage word has 12 bits.
MAX_GROUPS = 4095
# Mean out-degree up to which edges are searched in local memory; see _usual_balance.
FEW_EDGES = 8
ENTRY_BYTES = {"vertex": 4, "row": 8, "full": 16}
# Local memory that a work-item takes in a group with the largest entries, and where a published
# form has tables beside its queues; and what its filters take for each SIMD group.
ITEM_BYTES, PUBLISHED_ITEM_BYTES, FILTER_BYTES = 40, 88, 1200
# Work-items of a group on a GPU of which nothing is known: its SIMD groups are as wide or narrower.
NEUTRAL_GROUP = 64
# Entries that a lane on its own collects before it reserves room for them: on a processor many, as
# its local memory is no scarcer than the rest; among others that share theirs few.
ALONE_BUFFER, ONE_LANE_BUFFER = 512, 8


@dataclass(frozen=True, slots=True)
class Resolved(Form, Balance):
    """A configuration with every dimension decided; what templates see as ``config``."""

    lanes: int
    group_size: int
    groups: int | None
    synchronisation: str
    membership: str
    solo: bool
    distribution: str
    kernels: str
    buffer: int
    word_bits: int
    wide_offsets: bool
    wide: int
    hub_degree: int
    hub_batch: int
    leaves: str
    leaf_degree: int
    hub_bins: int
    hub_bits: int
    pull: bool
    pull_tile: int
    pull_words: int
    pull_most: int
    pull_batch: int
    pull_probes: int
    push_tile: int
    fill_tile: int
    alpha: int
    pull_floor: int
    pull_gain: int
    solo_capacity: int
    solo_edges: int
    eager_limit: int
    stage_work: int
    launch_work: int
    spin_limit: int
    patience: int
    direct_limit: int
    solo_eager: int
    held: bool
    held_limit: int
    held_solo: int
    held_look: int
    wide_batch: int
    scan_batch: int
    counts: bool = False
    prefetch_row: int = 32
    prefetch_edges: int = 16
    prefetch_words: int = 2
    solo_batch: int = 256
    solo_row: int = 64
    solo_patience: int = 1 << 15
    # On an H200 64 to 128 vertices a group are as fast, 32 or 256 slower; twice and three times the
    # mean are as fast; without a limit levels of a grid take 2.84 us instead of 2.36.
    held_levels: int = 1 << 12
    held_crowd: int = 128
    held_uneven: int = 3

    def as_dict(self) -> dict[str, Any]:
        """Every decision by name, for records."""
        return asdict(self)


def resolve(
    config: TraversalConfig,
    traits: DeviceTraits,
    *,
    m: int,
    predecessors: bool,
    max_degree: int | None = None,
    mean_degree: float | None = None,
    directed: bool = True,
) -> Resolved:
    """Complete a configuration for a graph of `m` edges and known out-degrees.

    Raises
    ------
    InvalidArgumentError
        If the device cannot run the configuration.

    Notes
    -----
    One lane per group marks a CPU thread, where plain loops over compact arrays win; on SIMD groups
    latency is hidden by lanes instead, so state is a bitmap and queues carry rows.
    """
    lanes = traits.lanes
    scalar = lanes == 1
    wide_offsets = m >= 2**32
    group_size = config.group_size or usual_group_size(config, traits)
    if group_size % lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not a multiple of the {lanes} lanes of this device."
        )
    if group_size > traits.max_group_size:
        raise InvalidArgumentError(
            f"group_size={group_size} exceeds the {traits.max_group_size} work-items that this "
            "device allows."
        )
    if traits.emulated and group_size != lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not possible with emulated lanes; it must be {lanes}."
        )
    alone = group_size == 1
    form = form_of(config, traits, group_size, m=m, predecessors=predecessors)
    if (
        form.queue == "vertex"
        and form.direction == "switching"
        and form.visited != "bitmap"
        and not alone
    ):
        raise InvalidArgumentError(
            "visited='labels' with direction='switching' is for one-lane devices with "
            "group_size=1; choose 'bitmap' here, or direction='push'."
        )
    # Two edges a lane at a time: four spilled 200 bytes on an H200 and cost more than they saved.
    # Emulated lanes gain nothing, and their compilers suffer from every further collective.
    batch = 1 if scalar or traits.emulated else 2
    solo_capacity = config.solo_capacity or _solo_capacity(traits, group_size, form.entry)
    if config.solo_capacity and not alone:
        _check_solo_room(solo_capacity, form.entry, traits)
    # PoCL takes minutes over one kernel with all the barriers of emulated lanes.
    emulated = traits.emulated
    launch_by_launch = emulated or config.kernels == "split"
    synchronisation = config.synchronisation or ("stepped" if launch_by_launch else "persistent")
    in_steps = synchronisation == "stepped"
    kernels = config.kernels or ("split" if emulated and in_steps else "fused")
    distribution = config.distribution or (
        "claimed" if alone and not config.hub_degree else "static"
    )
    _check_hub_batch(config.hub_batch, group_size)
    balance = balance_sizes(
        config.balance or _usual_balance(traits, form, max_degree, mean_degree),
        lanes,
        group_size,
        config.as_dict(),
    )
    _check_sums(balance, form, m)
    serves_hubs = (
        not emulated
        and form.queue == "vertex"
        and distribution == "static"
        and balance["scope"] != "grid"
    )
    hub_degree = _pick(config.hub_degree, _hub_degree(traits) if serves_hubs else 0)
    # Kernels for graphs without hubs are rendered without them, which saves registers.
    if max_degree is not None and max_degree < hub_degree:
        hub_degree = 0
    hub_degree, hub_bins, hub_bits = _bins(config, traits, group_size, hub_degree, max_degree)
    membership = config.membership or ("fixed" if traits.grid_barrier else "open")
    # Groups that keep their frontiers must all be there, with room for them and nobody's help.
    can_hold = (
        membership == "fixed"
        and distribution == "static"
        and kernels == "fused"
        and not (in_steps or hub_degree)
        and group_size > lanes
        and (form.queue, form.visited, form.duplicates) == ("vertex", "bitmap", "keep")
        and balance["scope"] == "lanes"
        # The width of dynamic virtual warps is for a whole list, not for a group's share.
        and balance["balance"] != "dyn_vwarp"
    )
    if config.held and not can_hold:
        raise InvalidArgumentError(
            "held=True needs a persistent kernel with fixed membership, static work, a queue of "
            "vertices claimed in a bitmap, several SIMD groups in a work-group that balance their "
            "own load, and a graph without hubs; leave it out, or set hub_degree=0 and what else "
            "is missing."
        )
    held = can_hold and (config.solo is not False if config.held is None else config.held)
    has_solo = (
        form.queue == "vertex"
        and (form.exact or config.solo is True)
        and not hub_bins
        # One work-item alone appends without looking how much room there is.
        and not (alone and (form.rows == "pairs" or form.queue_percent < 100))
    )
    return Resolved(
        **asdict(form),
        lanes=lanes,
        group_size=group_size,
        groups=config.groups,
        **balance,
        synchronisation=synchronisation,
        membership=membership,
        # A frontier that fits two or three work-items is not worth a mode of its own.
        solo=has_solo
        and kernels == "fused"
        and config.solo is not False
        and (alone or group_size > 3),
        distribution=distribution,
        kernels=kernels,
        buffer=ALONE_BUFFER if alone else max(2 * lanes, ONE_LANE_BUFFER),
        word_bits=64 if alone else 32,
        wide_offsets=wide_offsets,
        wide=_pick(config.wide, 0 if emulated else 2 * lanes),
        hub_degree=hub_degree,
        # Two edges of a hub a lane at a time, so an even number.
        hub_batch=(config.hub_batch or 0) + (config.hub_batch or 0) % 2,
        leaves=config.leaves or "keep",
        leaf_degree=int(config.leaves == "discard" and not directed),
        hub_bins=hub_bins,
        hub_bits=hub_bits,
        pull=form.direction == "switching",
        pull_tile=16,
        pull_words=min(4, lanes),
        pull_most=lanes,
        pull_batch=1 if scalar or emulated else 4,
        pull_probes=config.pull_probes or 16,
        push_tile=64 if alone else lanes,
        fill_tile=16384 if alone else 32 * lanes,
        alpha=config.alpha or 14,
        pull_floor=config.pull_floor or 16,
        pull_gain=_pick(config.pull_gain, 0 if config.alpha or config.pull_floor else 4),
        solo_capacity=solo_capacity,
        solo_edges=_pick(config.solo_edges, 1 << 16 if alone else 1 << 9 if held else 1 << 11),
        eager_limit=_pick(config.eager_limit, 1 << 14),
        direct_limit=1 << 14,
        solo_eager=1024,
        held=held,
        held_limit=1 << 15,
        held_solo=1 << 8,
        held_look=5,
        wide_batch=batch,
        scan_batch=batch,
        counts=bool(config.counts),
        stage_work=200 if traits.is_cpu else 60_000,
        launch_work=200_000_000 if traits.is_cpu else 20_000_000_000,
        spin_limit=config.spin_limit or (1 << 26 if traits.is_cpu else 1 << 22),
        patience=_pick(config.patience, 1 << 10 if traits.is_cpu else 1 << 14),
    )


def _usual_balance(
    traits: DeviceTraits, form: Form, max_degree: int | None, mean_degree: float | None
) -> str:
    """Choose among the balancers of lanes by the out-degrees, where these are known.

    On an H200 a search in local memory takes 0.94 to 0.95 of the time of one in registers on a
    road network, a grid and a planar mesh, and 0.96 to 0.97 on Kronecker graphs, whose hubs the
    grid shares; 1.01 on a cube and a geometric graph of degree 13, 1.04 on a uniform one of 32.
    """
    if traits.lanes == 1:
        return "item_thread"
    if mean_degree is None or traits.is_cpu or form.queue != "vertex":
        return "warp_search"
    few = mean_degree <= FEW_EDGES
    hubs = max_degree is not None and max_degree >= _hub_degree(traits)
    return "warp_search_local" if few or hubs else "warp_search"


def _bins(
    config: TraversalConfig,
    traits: DeviceTraits,
    group_size: int,
    hub_degree: int,
    max_degree: int | None,
) -> tuple[int, int, int]:
    """Give the least degree of a hub, the number of bins and the first one's binary digits.

    The last bin begins at the resident work-items, if any vertex has so many edges.
    """
    if not (config.hub_bins and hub_degree):
        return hub_degree, 0, 0
    bits = max((hub_degree - 1).bit_length(), traits.lanes.bit_length() - 1)
    resident = traits.compute_units * max(traits.threads_per_unit, group_size)
    top = min(resident, 2**31 - 1 if max_degree is None else max_degree).bit_length() - 1
    return 1 << bits, min(max(top - bits + 1, 1), MOST_BINS), bits


def _check_sums(balance: dict[str, Any], form: Form, m: int) -> None:
    if m >= 2**31 and (balance["scope"] == "grid" or balance["balance"] == "block_search"):
        raise InvalidArgumentError(
            f"balance={balance['balance']!r} adds up a frontier's degrees in 32 bits, but the "
            f"graph has {m} edges; choose another balancer from 2**31 edges on."
        )
    # Such a sum is found too large by what it exceeds, so that must not wrap either.
    if balance["scope"] == "grid" and not form.exact and m * form.queue_percent // 100 >= 2**32:
        raise InvalidArgumentError(
            f"balance={balance['balance']!r} adds up a frontier's degrees in 32 bits, but "
            f"queue_percent={form.queue_percent} has room for more in a graph of {m} edges; choose "
            f"at most {100 * 2**32 // m}, or visited='bitmap'."
        )


def _pick(value: int | None, default: int) -> int:
    return default if value is None else value


def usual_group_size(config: TraversalConfig, traits: DeviceTraits) -> int:
    """Give the work-items of a group where the configuration does not say."""
    if traits.is_cpu or traits.emulated:
        return traits.lanes
    published = (
        config.queue not in {None, "vertex"}
        or config.duplicates not in {None, "keep"}
        or config.history
        or config.rules == "helix"
        or (config.balance is not None and BALANCERS[config.balance] != "lanes")
    )
    # Lane groups have buffers in local memory, which simulators and some GPUs have little of.
    most, each = 1024, ITEM_BYTES
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


def _hub_degree(traits: DeviceTraits) -> int:
    """Out-degree from which a vertex is worth the whole grid; one group of a CPU never is."""
    return 0 if traits.lanes == 1 else 64 * traits.lanes


def _solo_capacity(traits: DeviceTraits, group_size: int, entry: str) -> int:
    """Frontier entries that fit twice into a third of the local memory."""
    if group_size == 1:
        return 2**31 - 1
    most = traits.local_bytes // (3 * 2 * ENTRY_BYTES[entry])
    return max(traits.lanes, min(group_size, most))


def _check_hub_batch(hub_batch: int | None, group_size: int) -> None:
    """Refuse tiles of hubs whose places, over the largest launch there is, do not fit 32 bits."""
    most = 2**32 // (MAX_GROUPS * group_size) // 2 * 2
    if hub_batch is not None and hub_batch > most:
        raise InvalidArgumentError(
            f"hub_batch={hub_batch} edges for each of {group_size} work-items in a group are more "
            f"than kernels can number; choose at most {most}."
        )


def _check_solo_room(capacity: int, entry: str, traits: DeviceTraits) -> None:
    """Refuse two frontiers beyond local memory here: a compiler may fall over such an array."""
    most = traits.local_bytes // (2 * ENTRY_BYTES[entry])
    if capacity > most:
        raise InvalidArgumentError(
            f"solo_capacity={capacity} entries, twice, do not fit the {traits.local_bytes} bytes "
            f"of local memory of this device; choose at most {most}, or leave it out."
        )
