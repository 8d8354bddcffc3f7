"""Shortest paths by a threshold that tunes itself: its start, its form on the host, its trace."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.sssp.stages import CONTROL_BLOCK_COUNT, CONTROL_BLOCK_WORDS, TUNED_WORDS
from clgraph.algorithms.sssp.trace import ROW
from clgraph.device import Mirror
from clgraph.energy.target import PowerTarget
from clgraph.engine.control import DEGREE_FLOOR, Controller, Counts
from clgraph.graph.arguments import real

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import Allocation, Device
    from clgraph.engine.table import Table
    from clgraph.graph import Graph

__all__ = ["Tuning", "declare_tuning"]

LEAST_SET_POINT = 64.0  # that a power target leads to
_WORDS = CONTROL_BLOCK_WORDS | TUNED_WORDS


@dataclass(frozen=True, slots=True)
class Start:
    """What a controller begins with."""

    degree: float
    delta: float
    unit: float

    def controller(self, set_point: float) -> Controller:
        return Controller(set_point, self.degree, self.delta, self.unit)


def start_of(graph: Graph, config: ResolvedPaths) -> Start:
    """Give what every search's controller begins with."""
    degree = max(graph.m / max(graph.n, 1), DEGREE_FLOOR)
    return Start(degree, config.delta, config.unit)


def declare_tuning(table: Table, graph: Graph, config: ResolvedPaths) -> None:
    """Declare what searches take that tune themselves: `Tuning` moves the set-point."""
    start = start_of(graph, config)
    table.array("key_t", "expanded", graph.n, "[n] keys when vertices last entered the frontier")
    table.array("uint2", "far", graph.n, "[n] where they wait, see self_tuning.mako")
    table.upload(
        "ulong",
        "set_point",
        lambda: _pattern(config.set_point),
        "[1] edges per step; these four are patterns of doubles",
        "watched",
    )
    for name, number, note in (
        ("first_degree", start.degree, "edges per vertex"),
        ("first_delta", start.delta, "the length that first_high is the key of"),
        ("unit", start.unit, "least difference of lengths that counts"),
    ):
        table.number("ulong", name, _pattern(number)[0], note)


def _pattern(number: float) -> NDArray[np.uint64]:
    """Give a double's bits, uint64 [1]."""
    return np.array([number], np.float64).view(np.uint64)


class Tuning:
    """How searches of a plan tune themselves.

    Parameters
    ----------
    aim : Allocation
        Where kernels read the set-point.
    graph : Graph
        What is searched.
    config : ResolvedPaths
        First threshold, unit and set-point or power target.
    device : Device
        Whose power is held.

    Attributes
    ----------
    start : Start
        What every search's controller begins with.
    power : PowerTarget or None
        What moves the set-point, if power is to be held.

    Raises
    ------
    InvalidArgumentError
        If there is a power target that cannot be held.
    """

    def __init__(
        self, aim: Allocation, graph: Graph, config: ResolvedPaths, device: Device
    ) -> None:
        self.start = start_of(graph, config)
        self._device, self._by_host = device, config.method.controller == "host"
        self._mirror: Mirror | None = None
        self._set_point = self._handed_over = config.set_point
        self._aim = aim
        self.power: PowerTarget | None = None
        target = getattr(config.method, "power_target", None)
        if target is not None:
            most = max(float(graph.m), LEAST_SET_POINT)
            self.power = PowerTarget(target, device, self._set_point, LEAST_SET_POINT, most)

    @property
    def set_point(self) -> float:
        """Edges per step that are wanted."""
        return self._set_point

    @set_point.setter
    def set_point(self, value: float) -> None:
        self._set_point = real("set_point", value, 1)

    def begin(self, table: Table, weights: Weights) -> HostControl | None:
        """Do what is due before a search; give its controller, if the host controls it."""
        control = None
        if self._by_host:
            block = table["control_block"]
            if self._mirror is None:
                self._mirror = Mirror(self._device, block, 0, CONTROL_BLOCK_COUNT)
            control = HostControl(block, self._mirror, weights, self)
        self.follow()
        return control

    def follow(self) -> None:
        """Do what is due between two launches: the set-point follows power, the device learns."""
        if self.power is not None:
            self._set_point = self.power.look()
        wanted = self._set_point
        if wanted != self._handed_over:
            self._handed_over = math.nan  # equal to none, in case the writing is interrupted
            self._aim.write(_pattern(wanted))
            self._handed_over = wanted


class HostControl:
    """The controller of one search, on the host: the kernels wait for it in every step.

    Parameters
    ----------
    control_block : Allocation
        The words of the search.
    mirror : Mirror
        Of the whole control_block.
    weights : Weights
        Of the graph.
    tuning : Tuning
        What to begin with; the set-point is taken from there in every step.

    Attributes
    ----------
    seconds : float
        Host time that the controller itself took.
    """

    def __init__(
        self, control_block: Allocation, mirror: Mirror, weights: Weights, tuning: Tuning
    ) -> None:
        self._control_block, self._mirror = control_block, mirror
        self._weights, self._tuning = weights, tuning
        self._control = tuning.start.controller(tuning.set_point)
        self._rows: list[tuple[Any, ...]] = []
        self.seconds = 0.0

    def order(self, places: Mapping[str, int]) -> Iterator[int]:
        """Report which kernel is next, from the second launch to the end of the last step.

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
        return np.array(self._rows, ROW).view(np.uint32).reshape(-1, 4)

    def _turn(self, words: NDArray[np.uint32]) -> bool:
        control, wide = self._control, words.view(np.uint64)
        self._tuning.follow()
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
        self._control_block.write(words)
        return scanned

    def _length(self, wide: NDArray[np.uint64], name: str) -> float:
        key = int(wide[_WORDS[name] // 2])
        return math.inf if key == self._weights.keys.none else self._weights.length(key)

    def _largest(self, wide: NDArray[np.uint64]) -> float:
        mask = (1 << self._weights.keys.bits) - 1
        return self._weights.length(~int(wide[_WORDS["SHALLOWEST"] // 2]) & mask)
