"""Searching by buckets without steps: what decides its dimensions, and where entries wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.sssp.method import Asynchronous, NearFar
from clgraph.device.hardware.measured import (
    BUCKET_DEGREE,
    BUCKET_REACH,
    DRIFT_HOPS,
)
from clgraph.engine.resolved import Mechanics
from clgraph.engine.usual import most_items, usual_group_size
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.method import Method
    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.device import DeviceTraits
    from clgraph.engine.strategies.config import TraversalConfig
    from clgraph.engine.table import Table
    from clgraph.graph import Graph

__all__ = [
    "AsynchronousPart",
    "asynchronous_part",
    "declare_bucket_queues",
    "settled_method",
]

BUCKETS, QUEUES, FEW_QUEUES = 16, 128, 4  # many where groups all write at once
# Buckets between two changes of their width, which stays within a factor of 2 of the first: 16
# times as wide ones took more than twice as long on a geometric graph. From the default width on,
# changes do not pay: 9.2 ms against 7.7 of a fixed width on a road network, 7.4 and 6.1 on a mesh,
# 12.8 and 10.3 on a grid, 5.1 both on a geometric graph. They are for widths that are far off.
PERIOD = 8
# Groups of 256, one for each compute unit: 198 or 264 of them were 2 and 13 percent slower.
GROUP_SIZE = 256
ITEM_BYTES = 180  # of local memory for a work-item of such a group, with the widest keys
# Rounds of a SIMD group on a row from which on it is better spread over the grid.
HUB_ROUNDS = 64
# What may be said of a search whose method is left open without meaning another.
RUNNING = frozenset({"membership", "group_size", "groups", "spin", "patience"})
# Balancers whose loops need no more than a list of entries in local memory.
BUCKET_BALANCERS = ("item_thread", "vwarp", "warp_search", "warp_search_local")
FIRST_WORDS, LEAST_COUNTS = 64, 32  # before the words of the queues: see bucket_queues.mako
# Entries of the queues of a bucket, per vertex, and of a queue, at least.
ROOM, LEAST_QUEUE = 0.25, 256


def settled_method(
    config: SSSPConfig, traits: DeviceTraits, graph: Graph, *, negative: bool
) -> Method | None:
    """Give the method that was asked for, or by buckets where nobody insists on another.

    Where SIMD groups of several work-groups go on together, sparse graphs without hubs are searched
    so if that pays on the device. A hub's row is more than one SIMD group should walk: groups that
    drift are better at it, where they are of use.
    """
    asked = config.method
    if not traits.grid_barrier or negative or not _only_running(config):
        return asked
    hubs = graph.max_degree >= HUB_ROUNDS * traits.lanes
    if isinstance(asked, Asynchronous):
        tuned = set(asked.given()) - {"adapt"}
        drift = DRIFT_HOPS.on(traits)
        return NearFar(drift=drift) if hubs and drift and not tuned else asked
    able = traits.int64_atomics and not traits.emulated
    if asked is None and able and not hubs and graph.mean_degree <= BUCKET_DEGREE.on(traits):
        return Asynchronous()
    return asked


def _only_running(config: SSSPConfig) -> bool:
    """Whether a configuration says nothing but how a search is run, beside the method."""
    schedule = set(config.schedule.given() if config.schedule else ())
    limits = set(config.limits.given() if config.limits else ())
    others = set(config.given()) - {"method", "schedule", "limits"}
    return not others and schedule <= RUNNING and limits <= RUNNING


class AsynchronousPart(NamedTuple):
    """What searches by buckets decide in their own way."""

    method: Asynchronous
    group_size: int | None
    groups: int | None
    mechanics: Mechanics
    more: dict[str, Any]


def asynchronous_part(
    method: Asynchronous, engine: TraversalConfig, balance: str, traits: DeviceTraits
) -> AsynchronousPart:
    """Decide every number of a search by buckets, and what it needs of the engine.

    Raises
    ------
    InvalidArgumentError
        If the device or the balancer does not go with them.
    """
    if not traits.int64_atomics:
        raise InvalidArgumentError(
            "method='asynchronous' hands entries on by 64-bit atomics, which this device does not "
            "have; use near-far."
        )
    if balance not in BUCKET_BALANCERS:
        raise InvalidArgumentError(
            f"method='asynchronous' has SIMD groups that go their own ways, which balance="
            f"{balance!r} is not made for; choose one of {', '.join(BUCKET_BALANCERS)}."
        )
    lanes, buckets = traits.lanes, method.buckets or BUCKETS
    usual = usual_group_size(engine, traits)
    largest = min(GROUP_SIZE, most_items(traits, ITEM_BYTES))
    large = not traits.is_cpu and usual > largest
    group_size = (engine.schedule and engine.schedule.group_size) or (
        traits.group_of(largest) if large else usual
    )
    # What one lane on its own holds; others share local memory with their whole group.
    buffer = 4 * lanes if lanes > 1 else 64 if group_size == 1 else 8
    reach = BUCKET_REACH.on(traits) if method.reach is None else method.reach
    return AsynchronousPart(
        replace(
            method,
            buckets=buckets,
            # What lies ahead of the last of them must have a bucket too.
            reach=min(reach, buckets // 2),
            # 8 vertices of 32 lanes took 7.9 and 6.0 ms on these two, 16 8.5 and 6.8, 32 11.8 and
            # 10.9; one lane keeps what fits the mean degree.
            keep=min(method.keep or lanes // 4, buffer // 2) or None,
        ),
        group_size=group_size,
        groups=traits.compute_units if traits.grid_barrier else None,
        mechanics=Mechanics(entry="full", buffer=buffer, batch=1, wide=0),
        more={
            "bucket_queues": QUEUES if traits.grid_barrier else FEW_QUEUES,
            # Of a few groups, how many idle says little.
            "period": PERIOD if method.adapt and traits.grid_barrier else 0,
            "ahead": buffer,
            # A fraction of a second, after which a launch may pause and groups that left return.
            "iteration_limit": 1 << 16 if traits.is_cpu else 1 << 17,
            "spin_rounds": 1 << 10 if traits.is_cpu else 1 << 16,
        },
    )


def declare_bucket_queues(table: Table, n: int, config: ResolvedPaths) -> None:
    """Declare where entries wait in buckets: see templates/frontier/bucket_queues.mako.

    8 bytes times the buckets times n / 4, or up to twice as much.
    """
    buckets = getattr(config.method, "buckets", 0)
    count = buckets * config.bucket_queues
    size = 1 << (max(int(ROOM * n) // config.bucket_queues, LEAST_QUEUE) - 1).bit_length()
    words = FIRST_WORDS + max(buckets, LEAST_COUNTS) + 2 * count
    tiny = np.finfo(np.float32).tiny
    table.array(
        "ulong",
        "bucket_queues",
        count * size,
        "[BUCKETS * BUCKET_QUEUES * (bucket_mask + 1)], see bucket_queues.mako",
        "shared",
    )
    table.array(
        "uint", "bucket_state", words, "[BUCKET_WORDS + 2 * BUCKETS * BUCKET_QUEUES]", "shared"
    )
    table.number("uint", "bucket_mask", size - 1, "a queue's size, a power of two, less one")
    table.number("float", "per_length", np.clip(1 / config.delta, tiny, 1e38), "1 / delta")
