"""The rules that complete a configuration from graph statistics and device traits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clgraph.device.hardware.measured import (
    EDGES_TOGETHER,
    LAUNCH_EDGES,
    LIKELY_PARENTS,
    PULL_COSTS,
    RESIDENT_OVERFULL,
    RESIDENT_UNEVEN,
    STAGE_EDGES,
)
from clgraph.engine.resident import wide_offsets
from clgraph.engine.resolved import MAX_GROUPS, USUAL, Mechanics, Resolved
from clgraph.engine.strategies.balance import WarpSearch
from clgraph.engine.strategies.frontier import Frontier, Hubs, StatusArray, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.pull import LOOKED_FLOOR, ByEdges, ByHubs, Never, Pull
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped
from clgraph.engine.usual import (
    MANY_EDGES,
    bins_of,
    distribution_of,
    entry_of,
    group_size_of,
    hub_degree_of,
    limits_of,
    pick,
    pull_of,
    schedule_of,
    usual_balance,
)
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.engine.blocks import BlockRows
    from clgraph.engine.strategies.balancer import Balancer
    from clgraph.engine.strategies.config import TraversalConfig

__all__ = ["resolve"]

# Entries that a lane on its own collects before it reserves room for them: on a processor many, as
# its local memory is no scarcer than the rest; among others that share theirs few.
ONE_ITEM_BUFFER, ONE_LANE_BUFFER = 512, 8


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
    blocks: BlockRows | None = None,
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
    blocks : BlockRows, optional
        Where rows are, if that is in blocks.

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
    scalar, emulated = lanes == 1, traits.emulated
    offsets_are_wide = wide_offsets(m) if blocks is None else blocks.wide
    group_size = group_size_of(config, traits)
    one_item = group_size == 1
    frontier = (config.frontier or VertexQueue()).resolved(traits, group_size, mean_degree)
    if frontier.HAS_CANDIDATES and m >= 2**32 - 64:
        raise InvalidArgumentError(
            f"frontier={frontier.name!r} numbers candidates with 32 bits, but the graph has {m} "
            "edges; choose frontier='vertex'."
        )
    pull = pull_of(config.pull, frontier, one_item=one_item)
    asked_balance = config.balance or usual_balance(traits, frontier, max_degree, mean_degree)
    balance = asked_balance.resolved(lanes, group_size)
    schedule = schedule_of(config.schedule, traits)
    stepped = isinstance(schedule, Stepped)
    kernels = (schedule.kernels if isinstance(schedule, Stepped) else None) or (
        "split" if emulated and stepped else "fused"
    )
    distribution = distribution_of(config, group_size)
    hubs = frontier.hubs or Hubs()
    hub_degree = hub_degree_of(
        config, traits, balance=balance, max_degree=max_degree, mean_degree=mean_degree
    )
    hub_degree, hub_bins, hub_bits = bins_of(hubs, traits, group_size, hub_degree, max_degree)
    _check_hub_batch(hubs.batch, group_size)
    entry = mechanics.entry or entry_of(
        frontier, one_item=one_item, full=predecessors or offsets_are_wide
    )
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
    asked_resident = schedule.group_resident if isinstance(schedule, Persistent) else None
    if asked_resident and not can_hold:
        raise InvalidArgumentError(
            "group_resident=True needs a persistent kernel with fixed membership, static work, a "
            "queue of "
            "vertices claimed in a bitmap, several SIMD groups in a work-group that balance their "
            "own load, and a graph without hubs; leave it out, or set hubs.degree=0 and what else "
            "is missing."
        )
    group_resident = can_hold and (
        schedule.single_group is not False if asked_resident is None else asked_resident
    )
    limits = limits_of(
        config.limits or Limits(),
        traits,
        frontier,
        entry,
        group_size,
        group_resident=group_resident,
    )
    _check_sums(balance, frontier, limits, m)
    has_single_group = (
        frontier.name == "vertex"
        and (frontier.exact or schedule.single_group is True)
        and not hub_bins
        # One work-item alone appends without looking how much room there is.
        and not (one_item and (frontier.rows == "pairs" or (limits.queue_percent or 0) < 100))
    )
    # Emulated lanes gain nothing, and their compilers suffer from every further collective.
    batch = mechanics.batch or (1 if scalar or emulated else EDGES_TOGETHER.on(traits))
    wide = balance.wide if isinstance(balance, WarpSearch) else None
    usual_wide = 0 if emulated else 2 * lanes
    return Resolved(
        asked=_named(asked or config, frontier, asked_balance, pull or Never(), schedule),
        frontier=frontier,
        balance=balance,
        chunks=balance.chunks(group_size, lanes),
        pull=_pull_on(
            pull,
            traits,
            queues=frontier.name == "vertex" and not (scalar or emulated),
            has_hubs=hub_degree > 0,
            has_many=hub_degree > 0 or (mean_degree or 0) >= MANY_EDGES,
        ),
        limits=limits,
        lanes=lanes,
        group_size=group_size,
        groups=schedule.groups,
        synchronisation=schedule.NAME,
        membership=membership,
        # A frontier that fits two or three work-items is not worth a mode of its own.
        single_group=has_single_group
        and kernels == "fused"
        and schedule.single_group is not False
        and (one_item or group_size > 3),
        distribution=distribution,
        kernels=kernels,
        group_resident=group_resident,
        entry=entry,
        buffer=mechanics.buffer
        or (ONE_ITEM_BUFFER if one_item else max(2 * lanes, ONE_LANE_BUFFER)),
        word_bits=64 if one_item else 32,
        wide_offsets=offsets_are_wide,
        in_blocks=blocks is not None,
        wide=wide if wide is not None else pick(mechanics.wide, usual_wide),
        hub_degree=hub_degree,
        # Two edges of a hub a lane at a time, so an even number.
        hub_batch=(hubs.batch or 0) + (hubs.batch or 0) % 2,
        hub_bins=hub_bins,
        hub_bits=hub_bits,
        leaf_degree=int(balance.leaves == "discard" and not directed),
        pull_batch=1 if scalar or emulated else 4,
        wide_batch=batch,
        scan_batch=batch,
        push_tile=64 if one_item else lanes,
        fill_tile=16384 if one_item else 32 * lanes,
        class_batch=64 if one_item else 1,
        stage_work=STAGE_EDGES.on(traits),
        launch_work=mechanics.launch_work or LAUNCH_EDGES.on(traits),
        counts=config.counts,
        resident_overfull=RESIDENT_OVERFULL.on(traits),
        resident_uneven=RESIDENT_UNEVEN.on(traits),
    )


def _pull_on(
    pull: Pull | None, traits: DeviceTraits, *, queues: bool, has_hubs: bool, has_many: bool
) -> ByEdges | ByHubs | None:
    """Decide what is open of a rule: what it weighs, and what is tried first."""
    if not isinstance(pull, ByEdges):
        return pull if isinstance(pull, ByHubs) else None
    with_hubs, without = LIKELY_PARENTS.on(traits)
    usual = (with_hubs if has_hubs else without) if queues and has_many else 0
    likely = pick(pull.likely, usual)
    looks, gain = PULL_COSTS.on(traits)
    is_open = all(left is None for left in (pull.alpha, pull.floor, pull.gain, pull.looks))
    if queues and has_many and looks and is_open:
        pull = replace(pull, looks=looks, gain=gain, floor=LOOKED_FLOOR)
    return replace(pull.resolved(), likely=likely)


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


def _check_hub_batch(hub_batch: int | None, group_size: int) -> None:
    """Refuse tiles of hubs whose places, over the largest launch there is, do not fit 32 bits."""
    most = 2**32 // (MAX_GROUPS * group_size) // 2 * 2
    if hub_batch is not None and hub_batch > most:
        raise InvalidArgumentError(
            f"hubs.batch={hub_batch} edges for each of {group_size} work-items in a group are more "
            f"than kernels can number; choose at most {most}."
        )
