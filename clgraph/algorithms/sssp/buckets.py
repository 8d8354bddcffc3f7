"""Searching by buckets without steps: what decides its dimensions, and where entries wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.choose import most_items, usual_group_size
from clgraph.engine.config import check_number
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.choose import ResolvedPaths
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.device import DeviceTraits, Memory
    from clgraph.device.kernel import Argument
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = [
    "Rings",
    "bucket_group",
    "bucket_hops",
    "bucket_part",
    "settle_buckets",
    "validate_buckets",
]

# On an H200 a reach of 4 or 8 was as good, 2 took 8 to 18 percent longer; 64 to 256 rings made no
# difference.
BUCKETS, REACH, RINGS, FEW_RINGS = 16, 4, 128, 4
# Buckets between two changes of their width, which stays within this factor of the first: 16 times
# as wide ones took more than twice as long on a geometric graph. From the default width on, changes
# do not pay: 9.2 ms against 7.7 of a fixed width on a road network, 7.4 and 6.1 on a mesh, 12.8 and
# 10.3 on a grid, 5.1 both on a geometric graph. They are for widths that are far off.
PERIOD, STRETCH = 8, 2
# Groups of 256, one for each compute unit: 198 or 264 of them were 2 and 13 percent slower.
GROUP_SIZE = 256
ITEM_BYTES = 180  # of local memory for a work-item of such a group, with the widest keys
# Edges out of a vertex that are as long as a bucket is wide. 10 and 20 took 8.5 and 7.5 ms on a
# road network, 6.8 and 6.5 on a mesh; 5 took 12.6 and 10.9. Few groups had better keep in order.
BROAD, SLIM = 10.0, 8.0
# Graphs of many edges per vertex have few and large frontiers; from so many rounds of a SIMD group
# on a row is better spread over the grid, by groups that drift through so many hops.
MOST_EDGES, HUB_ROUNDS, DRIFT = 16.0, 64, 16
# What may be said of a search whose method is left open without meaning another.
RUNNING = frozenset(
    {"synchronisation", "membership", "group_size", "groups", "spin_limit", "patience"}
)
# Balancers whose loops need no more than a list of entries in local memory.
BUCKET_BALANCERS = ("item_thread", "vwarp", "warp_search", "warp_search_local")
FIRST_WORDS, LEAST_COUNTS = 64, 32  # before the rings' own words: see rings.mako
# Entries of a bucket's rings, per vertex, and of a ring, at least.
ROOM, LEAST_RING = 0.25, 256


def validate_buckets(config: SSSPConfig) -> None:
    """Check what only searches by buckets have.

    Raises
    ------
    InvalidArgumentError
        One sentence on the first thing that is not legal.
    """
    check_number("buckets", config.buckets, 4, 64)
    check_number("reach", config.reach, 0, 31)
    check_number("keep", config.keep, 1, 2**31 - 1)
    if config.buckets and config.buckets & (config.buckets - 1):
        raise InvalidArgumentError(f"buckets={config.buckets} is not a power of two.")
    if config.adapt not in {None, True, False}:
        raise InvalidArgumentError(f"adapt={config.adapt!r} is neither True nor False.")
    for name in ("buckets", "reach", "keep", "adapt"):
        if getattr(config, name) is not None and config.method != "buckets":
            raise InvalidArgumentError(
                f"{name}={getattr(config, name)} is for method='buckets'; set that too, or leave "
                "it out."
            )


def settle_buckets(
    config: SSSPConfig, traits: DeviceTraits, graph: Graph, *, negative: bool
) -> SSSPConfig:
    """Decide whether a search is by buckets where it may be, but nobody insists on it.

    Where SIMD groups of several work-groups go on together, sparse graphs without hubs are. A hub's
    row is more than one SIMD group should walk: kron20 took 10.7 ms on an H200, and 2.2 by groups
    that drift.
    """
    asked = {name for name, value in config.as_dict().items() if value is not None}
    if not traits.grid_barrier or negative:
        return config
    hubs = graph.max_degree >= HUB_ROUNDS * traits.lanes
    if config.method == "buckets" and hubs and asked <= RUNNING | {"method", "adapt"}:
        return replace(config, method="near-far", adapt=None, drift=DRIFT)
    able = traits.int64_atomics and not traits.emulated
    if able and not hubs and graph.mean_degree <= MOST_EDGES and asked <= RUNNING:
        return replace(config, method="buckets")
    return config


def bucket_group(config: SSSPConfig, traits: DeviceTraits) -> dict[str, int]:
    """Give the work-items of a group, where they are not left to the engine's rules."""
    usual = usual_group_size(config, traits)
    largest = min(GROUP_SIZE, most_items(traits, ITEM_BYTES))
    if config.group_size or traits.is_cpu or usual <= largest:
        return {}
    return {"group_size": traits.group_of(largest)}


def bucket_hops(traits: DeviceTraits) -> float:
    """How many edges out of a vertex should be as long as a bucket is wide, about."""
    return BROAD if traits.grid_barrier else SLIM


def bucket_part(config: SSSPConfig, base: Resolved, traits: DeviceTraits) -> dict[str, Any]:
    """Give what searches by buckets decide in their own way.

    Raises
    ------
    InvalidArgumentError
        If the device or a dimension does not go with them.
    """
    if not traits.int64_atomics:
        raise InvalidArgumentError(
            "method='buckets' hands entries on by 64-bit atomics, which this device does not have; "
            "use near-far."
        )
    if base.balance not in BUCKET_BALANCERS:
        raise InvalidArgumentError(
            f"method='buckets' has SIMD groups that go their own ways, which balance="
            f"{base.balance!r} is not made for; choose one of {', '.join(BUCKET_BALANCERS)}."
        )
    if config.claims not in {None, "stamped"}:
        raise InvalidArgumentError(
            f"claims={config.claims!r} is about stages, of which method='buckets' has none; use "
            "'stamped'."
        )
    lanes, buckets = base.lanes, config.buckets or BUCKETS
    # What one lane on its own holds; others share local memory with their whole group.
    buffer = 4 * lanes if lanes > 1 else 64 if base.group_size == 1 else 8
    groups = traits.compute_units if traits.grid_barrier else None
    return {
        "groups": config.groups or groups,
        "buckets": buckets,
        # What lies ahead of the last of them must have a bucket too.
        "reach": min(REACH if config.reach is None else config.reach, buckets // 2),
        "rings": RINGS if traits.grid_barrier else FEW_RINGS,
        # 8 vertices of 32 lanes took 7.9 and 6.0 ms on these two, 16 8.5 and 6.8, 32 11.8 and 10.9.
        "keep": min(config.keep or lanes // 4, buffer // 2),
        "hungry": 16,
        "naps": 8,
        "counts_every": 4,
        "credit": 64,
        # Of a few groups, how many idle says little.
        "period": PERIOD if config.adapt and traits.grid_barrier else 0,
        "idle_least": 10,
        "idle_most": 50,
        "stretch": STRETCH,
        "buffer": buffer,
        "ahead": buffer,
        # A fraction of a second, after which a launch may pause and groups that left come back.
        "turns": 1 << 16 if traits.is_cpu else 1 << 17,
        "waits": 1 << 10 if traits.is_cpu else 1 << 16,
        "entry": "full",
        "update": "buffer",
        "claims": "stamped",
        "solo": False,
        "held": False,
        "hub_degree": 0,
        "wide": config.wide or 0,
        "wide_batch": 1,
        "scan_batch": 1,
    }


class Rings:
    """Where entries wait in buckets: see templates/frontier/rings.mako.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    n : int
        Vertices.
    config : ResolvedPaths
        Of a search by buckets.

    Raises
    ------
    DeviceMemoryError
        If 8 bytes times `config.buckets` times n / 4, or up to
        twice as much, do not fit.
    """

    def __init__(self, memory: Memory, n: int, config: ResolvedPaths) -> None:
        count = config.buckets * config.rings
        size = 1 << (max(int(ROOM * n) // config.rings, LEAST_RING) - 1).bit_length()
        words = FIRST_WORDS + max(config.buckets, LEAST_COUNTS) + 2 * count
        self._arguments: tuple[Argument, ...] = (
            memory.allocate("rings", count * size, np.uint64),
            memory.allocate("ring_state", words, np.uint32),
            np.uint32(size - 1),
            np.float32(np.clip(1 / config.delta, np.finfo(np.float32).tiny, 1e38)),
        )

    def arguments(self) -> tuple[Argument, ...]:
        """Give the kernel's arguments for them."""
        return self._arguments
