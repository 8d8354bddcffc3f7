"""Rankings as fixed points of repeated products: the launches, and when they end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arranged import Arranged
from clgraph.algorithms.ranking.columns import column_blocks
from clgraph.algorithms.ranking.pulling import Pulling
from clgraph.engine.sweeps import Sweeper
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["CONVERGED", "Affine", "Columns", "Normed"]

CONVERGED = np.uint32(1 << 31)
# The host looks after so many iterations, twice as many each time: launches beyond the last needed
# iteration return at once, and Ctrl-C is answered between looks.
FIRST_LOOK, MOST_UNSEEN = 4, 64
# What the cache of a compute unit holds, and of what is read so much has to come from there.
NEAR_BYTES, NEAR_PORTION = 1 << 17, 0.25


@dataclass(frozen=True, slots=True)
class Columns:
    """Fixed points of one run.

    Attributes
    ----------
    x : real array [n, k]
        The last iterates.
    iterations : int64 array [k]
        How many it took.
    errors : float64 array [k]
        What the last one changed, summed over vertices.
    converged : bool array [k]
        Whether that was below the tolerance.
    """

    x: NDArray[Any]
    iterations: NDArray[np.int64]
    errors: NDArray[np.float64]
    converged: NDArray[np.bool_]


class _Iteration:
    """What both kinds have: state, totals, and how the host looks."""

    def __init__(
        self, device: Device, memory: Memory, n: int, columns: int, real: np.dtype[Any]
    ) -> None:
        self.device, self.memory, self.n, self.columns, self.real = device, memory, n, columns, real
        self.lock = threading.Lock()
        self.sweeper = Sweeper(device, n)
        self.state = memory.allocate("state", columns, np.uint32)
        self.error = memory.allocate("error", columns, real)

    def iterate(self, log: SweepLog, max_iter: int, progress: Progress | None) -> NDArray[Any]:
        """Launch iterations until all columns have converged or there were so many."""
        self.state.write(np.zeros(self.columns, np.uint32))
        self.error.write(np.zeros(self.columns, self.real))
        done, ahead = 0, FIRST_LOOK
        state = np.zeros(self.columns, np.uint32)
        while done < max_iter:
            for step in range(done, min(done + ahead, max_iter)):
                self._enqueue(log, even=step % 2 == 0)
            log.wait()
            done = min(done + ahead, max_iter)
            ahead = min(2 * ahead, MOST_UNSEEN)
            state = self.state.read()
            if (state & CONVERGED).all():
                report_progress(progress, max_iter, max_iter, "iterations")
                break
            report_progress(progress, done, max_iter, "iterations")
        return state

    def _enqueue(self, log: SweepLog, *, even: bool) -> None:
        raise NotImplementedError

    def _columns(self, x: NDArray[Any], state: NDArray[Any], count: int) -> Columns:
        return Columns(
            x.reshape(self.n, self.columns)[:, :count],
            (state & ~CONVERGED).astype(np.int64)[:count],
            self.error.read().astype(np.float64)[:count],
            (state & CONVERGED).astype(bool)[:count],
        )


class Affine(_Iteration):
    """x becomes scale * A x + given, where what vertices without edges hold is given to others.

    Parameters
    ----------
    graph : Graph
        With vertices; rows are pulled along.
    device, memory, real
        As for `Pulling`.
    weighted : bool
        Whether weights count.
    count : int
        Rankings; `column_blocks` reports how many of them are taken at once.
    given : bool
        Whether vertices are given different amounts.
    dangling : {None, "uniform", "own", "vanish"}
        Whether edges share out what a vertex holds, and who gets what those without edges hold.
    outgoing : float64 array [n], optional
        1 over the weight that leaves a vertex, 0 where none does; needed with `dangling`.
    piece : int, optional
        Edges at which rows are cut.
    arranged : bool
        Whether a processor may arrange the rows first, which pays off in a few runs.
    references : integer array [n], optional
        How many rows each vertex is in. Where few are in most, their shares may be kept together.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.
    """

    def __init__(  # noqa: PLR0913 - all but four by keyword
        self,
        graph: Graph,
        device: Device,
        memory: Memory,
        real: np.dtype[Any],
        *,
        weighted: bool,
        count: int = 1,
        given: bool = False,
        dangling: str | None = None,
        outgoing: NDArray[Any] | None = None,
        piece: int | None = None,
        arranged: bool = False,
        references: NDArray[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        columns, self.blocks = column_blocks(count, device)
        super().__init__(device, memory, graph.n, columns, real)
        rows = Arranged.by_length(graph) if arranged and device.traits.lanes == 1 else None
        self._order = None if rows is None else rows.order
        self._places = _places(references, graph.m, device, real) if columns == 1 else None
        self.pulling = Pulling(
            graph if rows is None else rows,
            device,
            memory,
            real,
            weighted=weighted,
            columns=columns,
            piece=piece,
            places=self._places,
            progress=progress,
            affine=True,
            given=given,
            dangling=dangling,
        )
        self._decide = self.pulling.program.kernel("power_decide")
        n = graph.n

        def room(name: str, count: int) -> Allocation:
            return memory.allocate(name, count, real)

        self._x = room("x", n * columns)
        self._shares = (room("share", n * columns), room("next_share", n * columns))
        self._errors = room("errors", self.pulling.groups * columns)
        self._given = room("given", n * columns) if given else None
        self._outgoing = None
        if dangling is not None and outgoing is not None:
            self._out = self._arranged(outgoing.astype(real))
            self._sinks = np.flatnonzero(self._out == 0)
            self._outgoing = memory.upload("outgoing", self._out)
            self._dangling = room("dangling", columns)
            self._held = room("held", self.pulling.groups * columns)
        self._receives = room("receives", n * columns) if dangling == "own" else None
        self._uniformly = dangling == "uniform"
        self._scale = self._uniform = self._tolerance = real.type(0)

    def run(  # noqa: PLR0913 - all but two by keyword
        self,
        log: SweepLog,
        start: NDArray[Any],
        *,
        scale: float,
        tolerance: float,
        max_iter: int,
        uniform: float = 0.0,
        given: NDArray[Any] | None = None,
        receives: NDArray[Any] | None = None,
        progress: Progress | None = None,
    ) -> Columns:
        """Find the fixed points of at most as many columns as are taken at once.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        start, given, receives : real arrays [n, k], k <= columns
            What to begin with, what each vertex is given in every iteration, and its share of what
            is held by vertices without edges.
        scale, uniform : float
            Of the product; what every vertex is given.
        tolerance : float
            Of the sum of changes.
        max_iter : int
            Most iterations.
        progress : callable or True, optional
            Called with iterations.
        """
        real = self.real.type
        self._scale, self._uniform, self._tolerance = real(scale), real(uniform), real(tolerance)
        count = start.shape[1]
        start = self._arranged(start)
        x = self._wide(start)
        self._x.write(x)
        if self._outgoing is not None:
            held = start[self._sinks].sum(axis=0, dtype=np.float64)
            self._dangling.write(self._wide(held[None, :] * self._portion))
            x = (x.reshape(self.n, self.columns) * self._out[:, None]).ravel()
        if self._places is not None:
            shares = np.empty_like(x)
            shares[self._places] = x
            x = shares
        self._shares[0].write(x)
        for array, values in ((self._given, given), (self._receives, receives)):
            if array is not None and values is not None:
                array.write(self._wide(self._arranged(values)))
        state = self.iterate(log, max_iter, progress)
        found = self._columns(self._x.read(), state, count)
        if self._order is None:
            return found
        own = np.empty_like(found.x)
        own[self._order] = found.x
        return replace(found, x=own)

    def _arranged(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values of vertices [n] or [n, k] into the order of the rows."""
        alike = self._order is None or values.strides[0] == 0
        return values if alike else values[self._order]

    @property
    def _portion(self) -> float:
        return 1.0 / self.n if self._uniformly else 1.0

    def _wide(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.shape[1] == self.columns:
            return np.ascontiguousarray(values, self.real).ravel()
        wide = np.zeros((values.shape[0], self.columns), self.real)
        wide[:, : values.shape[1]] = values
        return wide.ravel()

    def _enqueue(self, log: SweepLog, *, even: bool) -> None:
        source, target = self._shares if even else self._shares[::-1]
        optional = [array for array in (self._given, self._outgoing) if array is not None]
        held: list[Any] = []
        decide: list[Any] = []
        if self._outgoing is not None:
            optional.append(self._dangling)
            held = [self._held]
            decide = [self._held, self._dangling]
        if self.pulling.places is not None:
            optional.append(self.pulling.places)
        if self._receives is not None:
            optional.append(self._receives)
        self.pulling.launch(
            log,
            self.state,
            source,
            self._scale,
            self._uniform,
            *optional,
            target,
            self._errors,
            *held,
            self._x,
        )
        portion = [self.real.type(self._portion)] if self._outgoing is not None else []
        size = self.pulling.shares.group_size
        event = self._decide.launch(
            size,
            size,
            np.uint32(self.pulling.groups),
            self._tolerance,
            *portion,
            self._errors,
            *decide,
            self.error,
            self.state,
        )
        log.add(event, event)


def placed_on(device: Device) -> bool:
    """Whether compute units have a small cache of their own and nothing else to go by."""
    return not device.traits.is_cpu


def _places(
    references: NDArray[Any] | None, m: int, device: Device, real: np.dtype[Any]
) -> NDArray[np.uint32] | None:
    """Give where shares are to be, those that most rows read first; None where it does not pay."""
    if references is None or not placed_on(device):
        return None
    near = NEAR_BYTES // real.itemsize
    room = device.ledger.free_bytes // 2
    if len(references) <= near or m * np.dtype(np.uint32).itemsize > room:
        return None
    order = np.argsort(-references.astype(np.int64), kind="stable")
    if references[order[:near]].sum() < NEAR_PORTION * references.sum():
        return None
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    return places


class Normed(_Iteration):
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
