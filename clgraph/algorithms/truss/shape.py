"""What a device decides about peeling where the configuration leaves it open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clgraph.device.hardware.measured import CORES_GROUP, DRIFT_DEGREE, PEELING_DRIFT
from clgraph.engine.strategies.schedule import Persistent

if TYPE_CHECKING:
    from clgraph.algorithms.truss.config import PeelingConfig, TrussConfig
    from clgraph.device import DeviceTraits

__all__ = ["drift_of", "lists_claimed", "shaped"]


def shaped(config: PeelingConfig, traits: DeviceTraits, kind: str, drift: int) -> PeelingConfig:
    """Give cores the shape of launch that suits them, where none was asked for."""
    wanted = CORES_GROUP.on(traits)[drift > 0]  # trusses would be the slower for it
    if kind != "neighbours" or config.schedule is not None or not wanted:
        return config
    size = min(wanted, traits.max_group_size)
    return replace(config, schedule=Persistent(group_size=size, groups=traits.compute_units))


def drift_of(config: PeelingConfig, traits: DeviceTraits, kind: str, max_degree: int) -> int:
    """How many rounds SIMD groups go on by themselves; 0 where they cannot or had better not."""
    if kind == "rows" or config.removal == "recount":
        return 0
    if config.drift is not None:
        return config.drift
    of_trusses, of_cores = DRIFT_DEGREE.on(traits)
    most = of_cores if kind == "neighbours" else of_trusses
    return PEELING_DRIFT.on(traits)[0] if max_degree <= most else 0


def lists_claimed(config: TrussConfig, traits: DeviceTraits, max_degree: int) -> bool:
    """Whether lists of triangles have to tell where each is claimed, since SIMD groups drift."""
    return drift_of(config, traits, "lists", max_degree) > 0
