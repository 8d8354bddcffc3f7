"""Rankings as fixed points of products that are brought to length 1: eigenvectors, and HITS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arguments import check_scale
from clgraph.algorithms.ranking.iterating import Columns, Iteration
from clgraph.algorithms.ranking.pulling import Pulling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Normed"]


SCALES = 3  # weights that are multiplied: two products in a row, whose squares are added up


class Normed(Iteration):
    """x becomes a product of it, or two, brought to length 1.

    Parameters
    ----------
    graph : Graph
        With vertices; rows are pulled along.
    device, memory, real
        As for `Pulling`.
    weighted : bool
        Whether weights count.
    shifted : bool
        Whether x itself is added to the product, so that no sign alternates.
    before : Graph, optional
        Whose rows are pulled along first.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        memory: Memory,
        real: np.dtype[Any],
        *,
        weighted: bool,
        shifted: bool = False,
        before: Graph | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(device, memory, graph.n, 1, real)
        if weighted and graph.m:
            weights = np.asarray(graph.weights)
            large = max(float(weights.max()), -float(weights.min()))
            check_scale(large, large, real, SCALES)
        options: dict[str, Any] = {"weighted": weighted, "progress": progress}
        self.pulling = Pulling(graph, device, memory, real, shifted=shifted, **options)
        self._first = None
        if before is not None:
            self._first = Pulling(before, device, memory, real, **options)
            self.between = memory.allocate("between", graph.n, real)
        names = ("length", "scale", "decide")
        self._kernels = {name: self.pulling.program.kernel(f"power_{name}") for name in names}
        self._x = memory.allocate("x", graph.n, real)
        self._product = memory.allocate("product", graph.n, real)
        self._squares = memory.allocate("squares", self.sweeper.groups, real)
        self._errors = memory.allocate("errors", self.sweeper.groups, real)
        self._tolerance = real.type(0)

    def run(
        self,
        log: SweepLog,
        start: NDArray[Any],
        *,
        tolerance: float,
        max_iter: int,
        progress: Progress | None = None,
    ) -> Columns:
        """Find the fixed point from a start, real [n]; see `Affine.run`."""
        self._tolerance = self.real.type(tolerance)
        self._x.write(np.ascontiguousarray(start, self.real))
        state = self.iterate(log, max_iter, progress)
        return self._columns(self._x.read(), state, 1)

    def product(self, log: SweepLog, x: NDArray[Any]) -> None:
        """Leave the first product with x, real [n], in `between`."""
        assert self._first is not None  # noqa: S101 (only of plans that were given `before`)
        self.state.write(np.zeros(1, np.uint32))
        self._x.write(np.ascontiguousarray(x, self.real))
        self._first.launch(log, self.state, self._x, self.between)
        log.wait()

    def _enqueue(self, log: SweepLog, *, even: bool) -> None:  # noqa: ARG002 (x is in place)
        source = self._x
        if self._first is not None:
            self._first.launch(log, self.state, source, self.between)
            source = self.between
        self.pulling.launch(log, self.state, source, self._product)
        n, launch, kernels = np.uint32(self.n), self.sweeper.launch, self._kernels
        launch(log, kernels["length"], n, self.state, self._product, self._squares)
        launch(
            log,
            kernels["scale"],
            n,
            self.state,
            self._squares,
            self._product,
            self._x,
            self._errors,
        )
        groups = np.uint32(self.sweeper.groups)
        launch(
            log,
            kernels["decide"],
            groups,
            self._tolerance,
            self._errors,
            self.error,
            self.state,
            groups=1,
        )
