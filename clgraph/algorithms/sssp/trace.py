"""What a search that tuned itself reports: a row for each step of its controller."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.result import PathFindings, PathStats
from clgraph.engine.stats import LEVEL_RECORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.engine.outcome import Outcome

__all__ = ["ROW", "ROW_QUADS", "TRACE_RECORD", "TunedFindings", "TunedStats"]

# A step as kernels record it, 64 bytes.
ROW = np.dtype(
    [
        *((name, "<u4") for name in ("X1", "X3", "X4", "S", "cur", "partitions", "scanned")),
        ("clock", "<u4"),
        ("X2", "<u8"),
        *((name, "<f8") for name in ("delta", "d", "alpha")),
    ]
)
ROW_QUADS = 4  # groups of four words that it takes
_TRACED = ("X1", "X2", "X3", "X4", "S", "scanned", "cur", "partitions", "delta", "d", "alpha")

TRACE_RECORD = np.dtype(
    LEVEL_RECORD.descr
    + [(name, np.float64 if ROW[name].kind == "f" else np.int64) for name in _TRACED]
)


class TunedFindings(PathFindings):
    """Findings of a search that tuned itself.

    Parameters
    ----------
    graph, buffers, outcome, unreached
        As for `PathFindings`.

    Attributes
    ----------
    host_rows : uint32 [4 steps, 4] or None
        The trace, where the host has kept it.
    """

    host_rows: NDArray[np.uint32] | None = None

    def _written_rows(self) -> int:
        return ROW_QUADS * self._outcome.depth

    @cached_property
    def levels(self) -> NDArray[np.uint32]:
        """The trace as words, uint32 [4 steps, 4]."""
        return super().levels if self.host_rows is None else self.host_rows

    @cached_property
    def trace(self) -> NDArray[Any]:
        """A row for each step."""
        words = self.levels
        whole = len(words) // ROW_QUADS * ROW_QUADS
        return np.ascontiguousarray(words[:whole]).reshape(-1).view(ROW)

    @cached_property
    def edges_by_level(self) -> NDArray[np.int64]:
        """Edges out of each frontier, int64 [steps]."""
        return self.trace["X2"].astype(np.int64)


class TunedStats(PathStats):
    """Times, counts and configuration of a search that tuned itself.

    Attributes
    ----------
    control_ms : float or None
        Host time that the controller took; None where it ran on the device.
    """

    control_ms: float | None = None

    def __init__(self, found: TunedFindings, outcome: Outcome, config: ResolvedPaths) -> None:
        super().__init__(found, outcome, config)
        self._tuned = found

    @property
    def control_share(self) -> float | None:
        """What part of ``total_ms`` the controller took on the host; None on the device."""
        return None if self.control_ms is None else self.control_ms / self.total_ms

    @cached_property
    def per_level(self) -> NDArray[Any]:
        """One row per step of the controller.

        Structured array of `TRACE_RECORD`: frontier, edges, direction and microseconds as of any
        search; then X1 (the frontier), X2 (edges out of it), X3 (vertices whose distance
        decreased), X4 (those of them at or below ``delta``), S (vertices that wait in the current
        partition), scanned (entries of partitions looked at after this step), cur and partitions
        (the current one, and how many there have been), delta (the threshold that X4 refers to),
        d (edges per vertex) and alpha (vertices per unit of distance), both as learned from this
        step. Only the first 65,536 steps are kept.
        """
        trace = self._tuned.trace
        table = np.zeros(len(trace), TRACE_RECORD)
        table["frontier"], table["edges"] = trace["X1"], trace["X2"]
        table["direction"] = "near"
        for name in _TRACED:
            table[name] = trace[name]
        clock = trace["clock"]
        table["microseconds"] = np.nan
        if clock.any():
            steps = np.diff(clock)  # modulo 2**32, as the clock is
            table["microseconds"][1:] = steps / 1e3
        return table
