"""How the stages of a traversal are launched, and which work-groups take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.engine.strategies.parameters import choice, number, switch
from clgraph.engine.strategies.strategy import Strategy
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits

__all__ = ["Persistent", "Schedule", "Stepped", "check_group_size"]


def check_group_size(group_size: int, traits: DeviceTraits) -> int:
    """Give a size of work-groups that a device can have.

    Raises
    ------
    InvalidArgumentError
        If it cannot.
    """
    if group_size % traits.lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not a multiple of the {traits.lanes} lanes of this device."
        )
    if group_size > traits.max_group_size:
        raise InvalidArgumentError(
            f"group_size={group_size} exceeds the {traits.max_group_size} work-items that this "
            "device allows."
        )
    if traits.emulated and group_size != traits.lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not possible with emulated lanes; it must be "
            f"{traits.lanes}."
        )
    return group_size


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Schedule(Strategy):
    """Launches as suit the device: persistent, but for emulated lanes.

    Parameters
    ----------
    group_size : int, optional
        Work-items in a work-group; a multiple of the device's lanes.
    groups : int, optional
        Work-groups in a launch.
    distribution : {"static", "claimed"}, optional
        Whether work is shared by position or taken from a counter.
    single_group : bool, optional
        Whether one work-group runs small frontiers by itself; never with split kernels.
    """

    group_size: int | None = number(least=1)
    groups: int | None = number(least=1)
    distribution: str | None = choice("static", "claimed")
    single_group: bool | None = switch()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Persistent(Schedule):
    """All levels in one launch.

    Parameters
    ----------
    group_size, groups, distribution, single_group
        As for `Schedule`.
    membership : {"fixed", "open"}, optional
        Whether all work-groups take part from the start, which needs them resident together, or
        join as they start.
    group_resident : bool, optional
        Whether work-groups keep the vertices they find while frontiers are of middling size, so
        that levels have one meeting and no queue; where `single_group` is not refused and all
        groups are there from the start.
    """

    NAME = "persistent"

    membership: str | None = choice("fixed", "open")
    group_resident: bool | None = switch()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Stepped(Schedule):
    """A launch for each stage.

    Parameters
    ----------
    group_size, groups, distribution, single_group
        As for `Schedule`.
    kernels : {"fused", "split"}, optional
        One kernel for all stages, or one each, for compilers that large kernels overwhelm.
    """

    NAME = "stepped"

    kernels: str | None = choice("fused", "split")
