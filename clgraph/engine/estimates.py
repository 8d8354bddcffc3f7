"""What stats say of the joules of a run that is too short for a meter: an estimate, or why none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from clgraph.engine.launch_stats import Shown
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["Estimated", "Work"]


class Work(NamedTuple):
    """What a run did, as far as it counts that.

    Attributes
    ----------
    vertices, edges, atomics, barriers : float
        Expanded vertices, edges looked at, atomic operations, barriers of all work-groups.
    state_bytes : float
        Size of the array that each edge looks into.
    """

    vertices: float
    edges: float
    atomics: float
    barriers: float
    state_bytes: float


class Estimated(Shown):
    """Base of stats that may give joules by the energy model of their device."""

    total_ms: float
    _device: Device | None = None
    _groups: int | None = None
    _told: tuple[float | None, str] = (None, "nothing was run on a device.")

    @property
    def kernel_ms(self) -> float:
        """Device time, milliseconds."""
        raise NotImplementedError

    def _work(self) -> Work | None:
        """Say what the run did; None where nobody counted."""
        return None

    def ran_on(self, device: Device, groups: int | None = None) -> None:
        """Note where the run was, and in how many work-groups."""
        self._device, self._groups = device, groups

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what the estimate is, and not the device."""
        return self.__dict__ | {"_told": self._estimated(), "_device": None}

    @property
    def energy_estimate(self) -> float | None:
        """Joules of this run by the device's energy model; None where there is none.

        From what the run counted, for the time between its start and its end on the host. For runs
        that a meter resolves see `clgraph.energy.per_run`.
        """
        return self._estimated()[0]

    @property
    def energy_estimate_note(self) -> str:
        """What the estimate is from, or why there is none."""
        return self._estimated()[1]

    def _estimated(self) -> tuple[float | None, str]:
        device = self._device
        if device is None:
            return self._told
        units = device.traits.compute_units
        estimating = module("clgraph.energy.estimating")
        why: str | None = estimating.why_none(device)
        if why is not None:
            return None, why
        work = self._work()
        if work is None:
            return (
                None,
                "this algorithm does not count the work that the energy model has prices of.",
            )
        counts = estimating.traversal_counts(
            device,
            seconds=self.total_ms * 1e-3,
            kernel_seconds=min(self.kernel_ms, self.total_ms) * 1e-3,
            vertices=work.vertices,
            edges=work.edges,
            state_bytes=work.state_bytes,
            atomics=work.atomics,
            barriers=work.barriers,
            units=units if self._groups is None else min(self._groups, units),
        )
        joules: float | None = estimating.estimate(device, counts)
        if joules is None:
            return None, "the energy model has no price for some of the work."
        return joules, f"by the energy model of {device.name}, driver {device.driver}"
