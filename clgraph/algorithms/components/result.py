"""What a decomposition into components reports: labels, sizes and what it took."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.stats import Estimated, Work
from clgraph.errors import InvalidArgumentError
from clgraph.interop.tables.results import NamedResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from pyopencl.array import Array

    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["STEP_RECORD", "ComponentStats", "ComponentsResult"]


STEP_RECORD = np.dtype(
    [
        *(("frontier", np.int64), ("edges", np.int64), ("direction", "U12")),
        *(("microseconds", np.float64), ("phase", "U16")),
        *(("rounds", np.int64), ("found", np.int64)),
    ]
)
WHOLE_STEPS = ("hook", "sequential")  # that look at each edge


class ComponentStats(Estimated):
    """Times, counts and configuration of one decomposition.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``.
    edges_traversed : int
        Edges of the graph, whatever part of them was looked at and how often.
    launches : int
        Kernel launches.
    mode : {"persistent", "stepped"}
        How the stages were run: in one launch, or by a launch each, as a fixed sequence of kernels
        is.
    method : str
        What found the components: the finishing step of the configuration.
    steps : list of dict
        In order, what was done: the ``phase`` it belongs to, its name as ``step``, how many
        ``rounds`` it took, and from kernels that run stage by stage also ``items`` (in the first
        round), what was ``found`` (in all rounds) and its ``milliseconds`` (NaN on devices without
        a clock that kernels can read).
    device_bytes : int
        Device memory of the plan: the graph and its transpose, where this plan was the first to
        want them there, and all state.
    vertices : int
        Of the graph, noted by the plan.
    energy : object or None
        Filled in by whoever measured the run.
    """

    def __init__(
        self,
        log: SweepLog,
        total_ms: float,
        *,
        edges: int,
        mode: str,
        method: str,
        config: Mapping[str, Any],
        steps: Callable[[], list[dict[str, Any]]],
        device_bytes: int = 0,
    ) -> None:
        self._log = log
        self._config = dict(config)
        self.total_ms = total_ms
        self.edges_traversed = edges
        self.mode = mode
        self.method = method
        self._make_steps = steps
        self.device_bytes = device_bytes
        self.vertices = 0
        self.energy: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the steps, and not what they are made from."""
        return super().__getstate__() | {"steps": self.steps, "_make_steps": None}

    @cached_property
    def steps(self) -> list[dict[str, Any]]:
        """What was done, in order; see above."""
        return self._make_steps()

    def _work(self) -> Work | None:
        if self.method != "hooking":
            return None  # how often steps look at an edge is not counted
        n = float(self.vertices)
        return Work(n, float(self.edges_traversed), n, 8.0, 4.0 * n)

    @property
    def launches(self) -> int:
        """Kernel launches."""
        return self._log.launches

    @property
    def phases(self) -> dict[str, dict[str, Any]]:
        """Rounds and milliseconds of each phase: its own, without what surrounds the launches."""
        table: dict[str, dict[str, Any]] = {}
        for step in self.steps:
            row = table.setdefault(step["phase"], {"rounds": 0, "milliseconds": 0.0})
            row["rounds"] += int(step["rounds"])
            row["milliseconds"] += step.get("milliseconds", math.nan)
        return table

    @property
    def levels(self) -> int:
        """Rounds of all steps together: passes over vertices, edges or a frontier."""
        return sum(int(step["rounds"]) for step in self.steps)

    @property
    def per_level(self) -> NDArray[Any]:
        """One row per step, which has ``rounds`` of them: see `STEP_RECORD`.

        Fields are those of a search's levels, as far as they are known: ``frontier`` are the items
        of the first round, ``edges`` of the graph where a step looks at them all, ``direction`` is
        the step's name. What is not recorded is -1, microseconds that nobody took are NaN.
        """
        table = np.zeros(len(self.steps), STEP_RECORD)
        for row, step in zip(table, self.steps, strict=True):
            row["frontier"] = step.get("items", -1)
            row["edges"] = self.edges_traversed if step["step"] in WHOLE_STEPS else -1
            row["direction"] = step["step"]
            row["microseconds"] = 1e3 * step.get("milliseconds", math.nan)
            row["phase"], row["rounds"] = step["phase"], step["rounds"]
            row["found"] = step.get("found", -1)
        return table

    @property
    def kernel_ms(self) -> float:
        """Device time from the first launch's start to the labels in device memory, ms."""
        return self._log.kernel_ms

    @property
    def teps(self) -> float:
        """Edges of the graph per second of kernel time."""
        return self.edges_traversed / (self.kernel_ms * 1e-3) if self.kernel_ms > 0 else 0.0

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as decided."""
        return dict(self._config)


class ComponentsResult(NamedResult):
    """Components of a graph; arrays are copied from the device on first access.

    Attributes
    ----------
    count : int
        How many there are.
    stats : ComponentStats
        Times, counts and the configuration that ran.
    """

    plot_kind = "sizes"

    def __init__(
        self,
        labels: Allocation | None,
        n: int,
        count: int,
        stats: ComponentStats,
        *,
        names: NDArray[Any] | None = None,
    ) -> None:
        self.names = names
        self._device_labels = labels
        self._labels = np.zeros(n if labels is None else 0, np.int32)
        self._n = n
        self.count = count
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many components there are."""
        return f"{type(self).__name__}(count={self.count})"

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the labels, and not the device's memory."""
        _ = self.labels
        return self.__dict__ | {"_device_labels": None}

    def columns(self) -> dict[str, Any]:
        """Labels by name."""
        return {"component": self.labels}

    @property
    def labels(self) -> NDArray[np.int32]:
        """Component of each vertex, int32 [n]: 0 .. count - 1, numbered by smallest member."""
        held = self._device_labels
        if held is not None:
            self._labels = held.read()
            self._device_labels = None  # not before: a copy may be interrupted
        return self._labels

    @property
    def labels_device(self) -> Array:
        """A copy of the labels that stays on the device [n], while `labels` was not asked for.

        Raises
        ------
        InvalidArgumentError
            If the labels have left the device, or there are no vertices.
        """
        held = self._device_labels
        if held is None:
            raise InvalidArgumentError("the labels have left the device; take them from `labels`.")
        return held.duplicate()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each component, int64 [count]."""
        return np.bincount(self.labels, minlength=self.count).astype(np.int64)

    @property
    def largest_share(self) -> float:
        """Share of the vertices that are in the largest component; 0 without vertices."""
        return float(self.sizes.max(initial=0)) / max(self._n, 1)

    @property
    def trivial_share(self) -> float:
        """Share of the vertices that are components by themselves; 0 without vertices."""
        return float(np.count_nonzero(self.sizes == 1)) / max(self._n, 1)
