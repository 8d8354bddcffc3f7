"""What a traversal reports about itself."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from clgraph.engine.estimates import Estimated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.driver import Outcome
    from clgraph.engine.resolved import Resolved

__all__ = ["LEVEL_RECORD", "TraversalStats"]

LEVEL_RECORD = np.dtype(
    [("frontier", np.int64), ("edges", np.int64), ("direction", "U4"), ("microseconds", np.float64)]
)


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
        Host wall clock of ``run``.
    energy : object or None
        Filled in by whoever measured the run.
    """

    # By stage mode as kernels number them; gathering is part of the push that follows, marking of
    # the pull, and arranging of the push.
    DIRECTIONS: ClassVar[tuple[str, ...]] = ("end", "push", "push", "pull", "push", "pull", "push")

    energy: Any = None

    def __init__(
        self, findings: Findings, outcome: Outcome, total_ms: float, config: Resolved
    ) -> None:
        self._findings = findings
        self._outcome = outcome
        self._config = config
        self.total_ms = total_ms

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
