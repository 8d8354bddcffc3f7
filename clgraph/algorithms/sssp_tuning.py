"""Shortest paths by a threshold that tunes itself: its start, its form on the host, its trace."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp_result import PathFindings, PathStats
from clgraph.algorithms.sssp_stages import BOARD_COUNT, BOARD_WORDS, TUNED_WORDS
from clgraph.device import Mirror
from clgraph.engine.control import DEGREE_FLOOR, Controller, Counts
from clgraph.engine.stats import LEVEL_RECORD
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp_config import ResolvedPaths
    from clgraph.algorithms.sssp_weights import Weights
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.kernel import Argument
    from clgraph.engine.driver import Outcome
    from clgraph.engine.findings import BufferPool, SearchBuffers
    from clgraph.graph import Graph

__all__ = ["ROW_QUADS", "TRACE_RECORD", "HostControl", "TunedFindings", "TunedStats", "Tuning"]

# A step as kernels record it, 64 bytes.
_ROW = np.dtype(
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
    + [(name, np.float64 if _ROW[name].kind == "f" else np.int64) for name in _TRACED]
)

_WORDS = BOARD_WORDS | TUNED_WORDS


def checked_set_point(value: Any) -> float:
    """Give a set-point that a running plan can take over.

    Raises
    ------
    InvalidArgumentError
        If it is not a finite number of at least one edge per step.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InvalidArgumentError(f"set_point={value!r} is not a number of edges per step.")
    if not (math.isfinite(value) and value >= 1):
        raise InvalidArgumentError(
            f"set_point={value} must be finite and at least 1 edge per step."
        )
    return float(value)


@dataclass(frozen=True, slots=True)
class _Start:
    """What a controller begins with."""

    degree: float
    delta: float
    unit: float

    def controller(self, set_point: float) -> Controller:
        return Controller(set_point, self.degree, self.delta, self.unit)


class Tuning:
    """What a plan whose searches tune themselves has beside the buffers of all plans.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    graph : Graph
        What is searched.
    weights : Weights
        Of the graph.
    config : ResolvedPaths
        First threshold, unit and set-point.

    Attributes
    ----------
    start : object
        What every search's controller begins with.
    """

    def __init__(
        self, memory: Memory, graph: Graph, weights: Weights, config: ResolvedPaths
    ) -> None:
        self.start = _Start(max(graph.m / graph.n, DEGREE_FLOOR), config.delta, config.unit)
        self._set_point = config.set_point
        self._expanded = memory.allocate("expanded", graph.n, f"u{weights.dtype.itemsize}")
        self._far = memory.allocate("far", 2 * graph.n, np.uint32)
        self._aim = memory.upload("set_point", np.array([self._set_point]).view(np.uint64))
        self._handed_over = self._set_point
        self._numbers = tuple(
            np.float64(number).view(np.uint64)
            for number in (self.start.degree, self.start.delta, self.start.unit)
        )

    @property
    def set_point(self) -> float:
        """Edges per step that are wanted."""
        return self._set_point

    @set_point.setter
    def set_point(self, value: float) -> None:
        self._set_point = checked_set_point(value)

    def hand_over(self) -> None:
        """Let the device know of the set-point; between launches."""
        wanted = self._set_point
        if wanted != self._handed_over:
            self._aim.write(np.array([wanted]).view(np.uint64))
            self._handed_over = wanted

    def arguments(self) -> tuple[Argument, ...]:
        """Give the kernel's arguments from `expanded` to `unit`."""
        self.hand_over()
        return (self._expanded, self._far, self._aim, *self._numbers)


class HostControl:
    """The controller of one search, on the host: the kernels wait for it in every step.

    Parameters
    ----------
    board : Allocation
        The words of the search.
    mirror : Mirror
        Of the whole board.
    weights : Weights
        Of the graph.
    tuning : Tuning
        What to begin with; the set-point is taken from there in every step.
    between : callable
        Called in every step, before that.

    Attributes
    ----------
    seconds : float
        Host time that the controller itself took.
    """

    def __init__(
        self,
        board: Allocation,
        mirror: Mirror,
        weights: Weights,
        tuning: Tuning,
        between: Callable[[], None],
    ) -> None:
        self._between = between
        self._board, self._mirror = board, mirror
        self._weights, self._tuning = weights, tuning
        self._control = tuning.start.controller(tuning.set_point)
        self._rows: list[tuple[Any, ...]] = []
        self.seconds = 0.0

    @staticmethod
    def mirror_of(device: Device, board: Allocation) -> Mirror:
        """Give what a plan keeps for its searches to look at the board."""
        return Mirror(device, board, 0, BOARD_COUNT)

    def order(self, places: Mapping[str, int]) -> Iterator[int]:
        """Tell which kernel is next, from the second launch to the end of the last step.

        Parameters
        ----------
        places : mapping
            The kernel that has each stage, as its place among the plan's.
        """
        yield places["start"]
        while True:
            yield places["relax"]
            yield places["split"]
            self._mirror.refresh()
            if not self._turn(self._mirror.words.copy()):
                return
            yield places["split"]

    @property
    def rows(self) -> NDArray[np.uint32]:
        """The trace as kernels would have written it, uint32 [4 rows, 4]."""
        return np.array(self._rows, _ROW).view(np.uint32).reshape(-1, 4)

    def _turn(self, words: NDArray[np.uint32]) -> bool:
        control, wide = self._control, words.view(np.uint64)
        self._between()
        control.set_point = self._tuning.set_point
        sides = ("ODD", "EVEN") if control.current % 2 else ("EVEN", "ODD")
        waiting = [int(words[_WORDS[f"LIVE_{side}"]]) for side in sides]
        threshold = control.delta
        frontier, improved, near = (
            int(words[_WORDS[name]]) for name in ("FRONTIER_SIZE", "IMPROVED", "NEAR_SIZE")
        )
        edges = int(wide[_WORDS["FRONTIER_EDGES"] // 2])
        scanned = 0
        finished = bool(words[_WORDS["FINISHED"]])
        if not finished:
            start = time.perf_counter()
            control.turn(
                Counts(
                    frontier,
                    edges,
                    improved,
                    near,
                    waiting[0],
                    waiting[1],
                    nearest=self._length(wide, "NEAREST"),
                    nearest_far=self._length(wide, f"LEAST_{sides[0]}"),
                    nearest_beyond=self._length(wide, f"LEAST_{sides[1]}"),
                    largest=self._largest(wide),
                )
            )
            self.seconds += time.perf_counter() - start
            scanned = self._write_back(words, wide, sides)
        counts = frontier, improved, near, 0 if finished else waiting[control.advanced]
        self._rows.append(
            (
                *counts,
                *(control.current, control.partitions, scanned),
                time.perf_counter_ns() & 0xFFFFFFFF,
                *(edges, threshold, control.degree.value, control.density.value),
            )
        )
        return not finished

    def _write_back(
        self, words: NDArray[np.uint32], wide: NDArray[np.uint64], sides: tuple[str, str]
    ) -> int:
        control, none = self._control, self._weights.keys.none
        if control.advanced:
            words[_WORDS[f"PILE_{sides[0]}"]] = 0
            wide[_WORDS[f"LEAST_{sides[0]}"] // 2] = none
            sides = sides[::-1]
        words[_WORDS["CURRENT"]] = control.current
        high = self._weights.limit_key(control.delta)
        # Someone is always taken, also where a length is no double.
        if words[_WORDS["NEAR_SIZE"]]:
            high = max(high, int(wide[_WORDS["NEAREST"] // 2]))
        elif words[_WORDS[f"LIVE_{sides[0]}"]]:
            high = max(high, min(int(wide[_WORDS[f"LEAST_{sides[0]}"] // 2]), none - 1))
        wide[_WORDS["HIGH"] // 2] = high
        wide[_WORDS["FAR_BOUND"] // 2] = (
            none if control.bound == math.inf else self._weights.limit_key(control.bound)
        )
        scanned = 0
        for side in sides:
            least = _WORDS[f"LEAST_{side}"] // 2
            reaches = bool(words[_WORDS[f"LIVE_{side}"]]) and wide[least] <= high
            entries = int(words[_WORDS[f"PILE_{side}"]]) if reaches else 0
            words[_WORDS[f"SCAN_{side}"]] = entries
            scanned += entries
            if reaches:
                wide[least] = none  # found anew by the scan
        self._board.write(words)
        return scanned

    def _length(self, wide: NDArray[np.uint64], name: str) -> float:
        key = int(wide[_WORDS[name] // 2])
        return math.inf if key == self._weights.keys.none else self._weights.length(key)

    def _largest(self, wide: NDArray[np.uint64]) -> float:
        mask = (1 << self._weights.keys.bits) - 1
        return self._weights.length(~int(wide[_WORDS["SHALLOWEST"] // 2]) & mask)


class TunedFindings(PathFindings):
    """Findings of a search that tuned itself.

    Parameters
    ----------
    graph, buffers, pool, steps, unreached
        As for `PathFindings`.
    rows : array, optional
        The trace, where the host has kept it.
    """

    def __init__(
        self,
        graph: Graph,
        buffers: SearchBuffers,
        pool: BufferPool,
        steps: int,
        unreached: Any,
        rows: NDArray[np.uint32] | None = None,
    ) -> None:
        super().__init__(graph, buffers, pool, ROW_QUADS * steps - 1, unreached)
        self._host_rows = rows

    @cached_property
    def levels(self) -> NDArray[np.uint32]:
        """The trace as words, uint32 [4 steps, 4]."""
        return super().levels if self._host_rows is None else self._host_rows

    @cached_property
    def trace(self) -> NDArray[Any]:
        """A row for each step."""
        words = self.levels
        whole = len(words) // ROW_QUADS * ROW_QUADS
        return np.ascontiguousarray(words[:whole]).reshape(-1).view(_ROW)

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

    def __init__(
        self,
        found: TunedFindings,
        outcome: Outcome,
        total_ms: float,
        config: ResolvedPaths,
        control_ms: float | None,
    ) -> None:
        super().__init__(found, outcome, total_ms, config)
        self._tuned = found
        self.control_ms = control_ms

    @property
    def control_share(self) -> float | None:
        """What part of ``total_ms`` the controller took on the host; None on the device."""
        return None if self.control_ms is None else self.control_ms / self.total_ms

    @cached_property
    def per_level(self) -> NDArray[Any]:
        """One row per step of the controller.

        Structured array of `TRACE_RECORD`: frontier, edges, direction and microseconds as of any
        search; then X1 (the frontier), X2 (edges out of it), X3 (vertices whose distance fell), X4
        (those of them at or below ``delta``), S (vertices that wait in the current partition),
        scanned (entries of partitions looked at after this step), cur and partitions (the current
        one, and how many there have been), delta (the threshold that X4 refers to), d (edges per
        vertex) and alpha (vertices per unit of distance), both as learned from this step. Only the
        first 65,536 steps are kept.
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
