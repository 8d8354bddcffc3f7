"""Rankings as fixed points of products with what every vertex is given: PageRank's, and Katz's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arranged import Arranged
from clgraph.algorithms.ranking.columns import column_blocks
from clgraph.algorithms.ranking.iterating import CONVERGED, Columns, Iteration
from clgraph.algorithms.ranking.placing import places_of
from clgraph.algorithms.ranking.pulling import Pulling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Affine"]


class Affine(Iteration):
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
        The weight that leaves a vertex; needed with `dangling`.
    mirrored : bool
        Whether that is the length of the vertex's row.
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
        mirrored: bool = False,
        piece: int | None = None,
        arranged: bool = False,
        references: NDArray[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        columns, self.blocks = column_blocks(count, device)
        super().__init__(device, memory, graph.n, columns, real)
        rows = Arranged.by_length(graph) if arranged and device.traits.lanes == 1 else None
        self._order = None if rows is None else rows.order
        self._places = places_of(references, graph.m, device, real) if columns == 1 else None
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
            mirrored=mirrored,
        )
        self._decide = self.pulling.program.kernel("power_decide")
        n = graph.n

        def room(name: str, count: int) -> Allocation:
            return memory.allocate(name, count, real)

        self._shares = (room("share", n * columns), room("next_share", n * columns))
        self._errors = room("errors", self.pulling.groups * columns)
        self._given = room("given", n * columns) if given else None
        self._leaves: NDArray[Any] | None = None
        self._outgoing: list[Allocation] = []
        self._totals: list[Allocation] = []
        if dangling is not None and outgoing is not None:
            leaves = self._arranged(outgoing.astype(real))
            self._sinks = np.flatnonzero(leaves == 0)
            if not mirrored:
                self._outgoing = [memory.upload("outgoing", leaves)]
            self._leaves = np.where(leaves > 0, leaves, real.type(1))[:, None]
            self._totals = [
                room("held", self.pulling.groups * columns),
                room("dangling", columns),
            ]
        self._receives = room("receives", n * columns) if dangling == "own" else None
        self._alike: tuple[tuple[float, int], NDArray[Any], NDArray[Any] | None] | None = None
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
        self._begin(start)
        for array, values in ((self._given, given), (self._receives, receives)):
            if array is not None and values is not None:
                array.write(self._wide(self._arranged(values)))
        state = self.iterate(log, max_iter, progress)
        found = self._columns(self._found(state), state, count)
        if self._order is None:
            return found
        own = np.empty_like(found.x)
        own[self._order] = found.x
        return replace(found, x=own)

    def _begin(self, start: NDArray[Any]) -> None:
        """Write what to begin with; where all vertices begin alike that is worked out once."""
        alike = (float(start[0, 0]), start.shape[1]) if start.strides == (0, 0) else None
        if alike is None or self._alike is None or self._alike[0] != alike:
            shares, held = self._shared_out(start)
            if alike is not None:
                self._alike = (alike, shares, held)
        else:
            _, shares, held = self._alike
        if held is not None:
            self._totals[1].write(held)
        self._shares[0].write(shares)

    def _shared_out(self, start: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Give the shares of edges, where they are kept, and what those without edges hold."""
        start, held = self._arranged(start), None
        x = self._wide(start).reshape(self.n, self.columns)
        if self._leaves is not None:
            sums = start[self._sinks].sum(axis=0, dtype=np.float64)
            held = self._wide(sums[None, :] * self._portion)
            x = x / self._leaves
        if self._places is not None:
            shares = np.empty_like(x)
            shares[self._places] = x
            x = shares
        return x.ravel(), held

    def _found(self, state: NDArray[Any]) -> NDArray[Any]:
        """Give what the shares of the last iteration belong to."""
        last = int((state & ~CONVERGED).max()) % 2
        x = self._shares[last].read()
        if self._places is not None:  # of one column, all within it
            placed = self.device.host_arrays.empty(self.n, self.real)
            x = x.take(self._places, out=placed, mode="clip")
        x = x.reshape(self.n, self.columns)
        return x if self._leaves is None else np.multiply(x, self._leaves, out=x)

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
        optional = [] if self._given is None else [self._given]
        optional += [*self._outgoing, *self._totals[1:]]
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
            *self._totals[:1],
            self._errors,
        )
        portion = [self.real.type(self._portion)] if self._totals else []
        size = self.pulling.shares.group_size
        event = self._decide.launch(
            size,
            size,
            np.uint32(self.pulling.groups),
            self._tolerance,
            *portion,
            self._errors,
            *self._totals,
            self.error,
            self.state,
        )
        log.add(event, event)
