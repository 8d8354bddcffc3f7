"""Launches, and barriers across all work-groups of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import VerificationError
from clgraph.profile.microbenchmarks.work import NEVER, Prepared, Scale, Work, plan

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["GridBarrier", "Nothing"]

STATE_WORDS = 96
SPIN_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True)
class GridBarrier(Work):
    """All work-groups of a launch wait for one another.

    Attributes
    ----------
    groups_per_unit : int
        Work-groups on each compute unit.
    """

    groups_per_unit: int = 1

    def missing(self, device: Device) -> str | None:
        """Say what the device lacks for it, or give None."""
        return None if device.traits.grid_barrier else "work-groups may not all make progress"

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        made = plan(
            device,
            "meetings.cl",
            "meetings",
            scale.group_size,
            threads_per_unit=self.groups_per_unit * scale.group_size,
        )
        state = made.upload("state", np.zeros(STATE_WORDS, np.uint32))
        met = made.upload("met", np.zeros(made.groups, np.uint32))

        def arguments(rounds: int) -> tuple[Any, ...]:
            return np.uint32(rounds), np.uint32(SPIN_LIMIT), state, met

        def check(rounds: int) -> None:
            if not (met.read() == rounds).all():
                state.write(np.zeros(STATE_WORDS, np.uint32))
                raise VerificationError("a work-group waited in vain for the others.")

        return Prepared(
            made,
            arguments,
            operations=1.0,
            counts={"grid_barriers": 1.0},
            check=check,
        )


@dataclass(frozen=True, slots=True)
class Nothing(Work):
    """An empty kernel; a round is a launch."""

    def prepare(self, device: Device, scale: Scale) -> Prepared:
        """Build it and take its memory."""
        made = plan(device, "meetings.cl", "nothing", scale.group_size)
        sink = made.allocate("sink", 1, np.uint32)

        def arguments(_: int) -> tuple[Any, ...]:
            return sink, NEVER

        return Prepared(
            made,
            arguments,
            operations=1.0,
            counts={},
        )
