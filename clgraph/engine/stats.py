"""What a traversal reports about itself; and the joules of a run that is too short for a meter."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from clgraph.engine.launch_stats import Shown
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resolved import Resolved

__all__ = ["LEVEL_RECORD", "Estimated", "TraversalStats", "Work"]

LEVEL_RECORD = np.dtype(
    [("frontier", np.int64), ("edges", np.int64), ("direction", "U4"), ("microseconds", np.float64)]
)


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
    _kept_estimate: tuple[float | None, str] = (None, "nothing was run on a device.")

    @property
    def kernel_ms(self) -> float:
        """Device time, milliseconds."""
        raise NotImplementedError

    def _work(self) -> Work | None:
        """Say what the run did; None where nobody counted."""
        return None

    def ran_on(self, device: Device) -> None:
        """Note where the run was."""
        self._device = device

    def _ran_in(self) -> int | None:
        """Give the work-groups that the run had; None where they are as many as there is room."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what the estimate is, and not the device."""
        return self.__dict__ | {"_kept_estimate": self._estimated(), "_device": None}

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
            return self._kept_estimate
        units, groups = device.traits.compute_units, self._ran_in()
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
            units=units if groups is None else min(groups, units),
        )
        joules: float | None = estimating.estimate(device, counts)
        if joules is None:
            return None, "the energy model has no price for some of the work."
        return joules, f"by the energy model of {device.name}, driver {device.driver}"


class Findings(Protocol):
    """What stats need of a search's results."""

    @property
    def levels(self) -> NDArray[np.uint32]:
        """uint32 [levels, 4]: frontier, nothing, direction, clock; the last row is the end."""

    @property
    def edges_by_level(self) -> NDArray[np.int64]:
        """int64 [levels]: out-edges of the vertices at each distance."""


class TraversalStats(Estimated):
    """Times, counts and configuration of one traversal.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``, once it has ended.
    energy : object or None
        Filled in by whoever measured the run.
    """

    # By stage mode as kernels number them; gathering is part of the push that follows, marking of
    # the pull, and arranging of the push.
    DIRECTIONS: ClassVar[tuple[str, ...]] = ("end", "push", "push", "pull", "push", "pull", "push")

    energy: Any = None
    total_ms = 0.0

    def __init__(self, findings: Findings, outcome: Outcome, config: Resolved) -> None:
        self._findings = findings
        self._outcome = outcome
        self._config = config

    @property
    def levels(self) -> int:
        """Frontiers that were expanded or found: the depth and the source's own."""
        return self._outcome.depth + 1

    @property
    def mode(self) -> str:
        """How the stages were run: "persistent" or "stepped"."""
        return self._outcome.mode

    @property
    def launches(self) -> int:
        """Kernel launches."""
        return self._outcome.launches

    @property
    def groups(self) -> int:
        """Work-groups of each; a plan on a processor finds out whether 1 is faster than all."""
        return self._outcome.groups

    def _ran_in(self) -> int:
        return self.groups

    @property
    def kernel_ms(self) -> float:
        """Device time from the start of the search to its result in device memory, milliseconds."""
        return self._outcome.kernel_ms

    @property
    def config(self) -> Resolved:
        """The configuration that ran; it prints as the call that makes it."""
        return self._config

    @cached_property
    def edges_traversed(self) -> int:
        """Out-edges of reached vertices."""
        return int(self._findings.edges_by_level.sum())

    @property
    def teps(self) -> float:
        """Edges traversed per second of kernel time."""
        return self.edges_traversed / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0

    @cached_property
    def per_level(self) -> NDArray[Any]:
        """One row per distance from 0: frontier, its out-edges, direction, microseconds.

        Structured array of `LEVEL_RECORD`. Microseconds are NaN on devices without a clock that
        kernels can read; only the first 65,536 levels are kept.
        """
        raw = self._findings.levels
        rows = min(self.levels, len(raw))
        table = np.zeros(rows, LEVEL_RECORD)
        table["frontier"] = raw[:rows, 0]
        table["edges"] = self._findings.edges_by_level[:rows]
        table["direction"] = np.array(self.DIRECTIONS)[raw[:rows, 2]]
        clock = raw[:, 3].astype(np.uint32)
        table["microseconds"] = np.nan
        if clock.any():
            steps = np.diff(clock)[:rows]  # modulo 2**32, as the clock is
            table["microseconds"][: len(steps)] = steps / 1e3
            # Where max_depth ends a search, nothing expands the last level, so no time follows it.
            table["microseconds"][table["direction"] == "end"] = 0
        return table
