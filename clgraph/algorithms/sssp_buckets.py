"""Searching by buckets without steps: what decides its dimensions, and where entries wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.choose import usual_group_size
from clgraph.engine.config import check_number
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp_choose import ResolvedPaths
    from clgraph.algorithms.sssp_config import SSSPConfig
    from clgraph.device import DeviceTraits, Memory
    from clgraph.device.kernel import Argument
    from clgraph.engine.choose import Resolved

__all__ = [
    "Rings",
    "bucket_group",
    "bucket_hops",
    "bucket_part",
    "validate_buckets",
]

BUCKETS, REACH = 16, 4
PERIOD = 8  # buckets between two changes of their width
RINGS, FEW_RINGS = 128, 4
GROUP_SIZE = 256  # local memory for the buffers of more SIMD groups is scarce
# Many SIMD groups need much to do at once, few had better keep to the order.
BROAD, SLIM = 10.0, 8.0
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
    for name in ("buckets", "reach", "keep"):
        if getattr(config, name) is not None and config.method != "buckets":
            raise InvalidArgumentError(
                f"{name}={getattr(config, name)} is for method='buckets'; set that too, or leave "
                "it out."
            )


def bucket_group(config: SSSPConfig, traits: DeviceTraits) -> dict[str, int]:
    """Give the work-items of a group, where they are not left to the engine's rules."""
    if config.group_size or traits.is_cpu or usual_group_size(config, traits) <= GROUP_SIZE:
        return {}
    return {"group_size": GROUP_SIZE}


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
    buffer = 4 * lanes if lanes > 1 else 64
    groups = traits.compute_units if traits.grid_barrier else None
    return {
        "groups": config.groups or groups,
        "buckets": buckets,
        # What lies ahead of the last of them must have a bucket too.
        "reach": min(REACH if config.reach is None else config.reach, buckets // 2),
        "rings": RINGS if traits.grid_barrier else FEW_RINGS,
        "keep": min(config.keep or lanes // 2, buffer // 2),
        "hungry": 16,
        "naps": 8,
        "credit": 64,
        # Of a few groups, how many idle says little.
        "period": PERIOD if config.delta is None and traits.grid_barrier else 0,
        "idle_least": 10,
        "idle_most": 50,
        "stretch": 16,
        "buffer": buffer,
        "ahead": 4 * lanes if lanes > 1 else 64,
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
