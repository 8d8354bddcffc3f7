"""The matrix of a graph times a vector, on the rows of a graph or of a dynamic graph."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Allocation, load
from clgraph.documented import documented
from clgraph.dynamic.graph import DynamicGraph
from clgraph.engine.arguments import only_auto
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import element, flags
from clgraph.graph.arrays import argument_array
from clgraph.primitives.launches import TYPES
from clgraph.primitives.scanning import Compaction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["SpMV", "SpMVResult", "SpMVStats", "spmv"]

LONG_ROW_TILES = 32  # entries of a lane from which on a work-group sums a row
LONG_ROW_ONE_LANE = 2**32 - 1  # a work-item that is a whole SIMD group shares with nobody
TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
PACKED, BLOCKS = "packed", "blocks"


@dataclass(frozen=True, slots=True)
class SpMVStats:
    """Times of one product.

    Attributes
    ----------
    kernel_ms : float
        Device time, milliseconds.
    total_ms : float
        Host wall clock of `run`.
    launches : int
        Kernel launches.
    entries : int
        Of the matrix.
    tile : int
        Lanes that share a row which is not long.
    long_rows : int
        Rows that a work-group has for itself.
    """

    kernel_ms: float
    total_ms: float
    launches: int
    entries: int
    tile: int
    long_rows: int


@dataclass(frozen=True, slots=True)
class SpMVResult:
    """Outcome of one product.

    Attributes
    ----------
    values : numpy.ndarray
        float32 or float64 [n].
    stats : SpMVStats
        Times.
    """

    values: NDArray[Any]
    stats: SpMVStats


@documented(Plan)
class SpMV(Plan):
    """The matrix of one graph times vectors, compiled for a device.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        Entry (u, v) is the weight of edge u -> v, or 1; parallel edges add up. Of a dynamic graph
        every product sees what it holds then.
    dtype : {float32, float64}, optional
        Of the vectors; default float64 where weights are of 8 bytes, else float32.
    device : Device or str, optional
        Default is ``clgraph.device()``, or where a dynamic graph is.

    Raises
    ------
    InvalidArgumentError
        If the dtype is another, or the device not that of a dynamic graph.

    Notes
    -----
    One kernel for both layouts, which differ only in how a row is found. Deterministic: sums are
    the same in every run, and of the same edges in either layout.
    """

    def __init__(
        self,
        graph: Graph | DynamicGraph,
        *,
        dtype: Any = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.dynamic = graph if isinstance(graph, DynamicGraph) else None
        there = device if device is not None or self.dynamic is None else self.dynamic.device
        super().__init__(None if self.dynamic else as_graph(graph, weighted=True), there)
        if self.dynamic is not None and self.device is not self.dynamic.device:
            raise InvalidArgumentError(
                f"the dynamic graph is on {self.dynamic.device.name}; leave out device, or pass "
                "its to_graph()."
            )
        held = self._weight_type()
        wide = held is not None and held.itemsize == 8
        usual = np.float64 if wide else np.float32
        self.dtype = element(usual if dtype is None else dtype, *map(str, TOLERANCE))
        self._compaction = Compaction(self.device)
        self._weights: Allocation | None = None
        if self.graph is not None:
            self._packed = resident(self.graph, self.device, progress)
            if self.graph.weights is not None:
                self._weights = self._memory.upload(
                    "weights", self.graph.weights, progress=progress
                )
        self._prepared: tuple[Any, ...] | None = None
        n = self.n
        self._x = self._memory.allocate("spmv_x", n, self.dtype)
        self._y = self._memory.allocate("spmv_y", n, self.dtype)

    def _weight_type(self) -> np.dtype[Any] | None:
        if self.dynamic is not None:
            return self.dynamic.rows.pools[1].dtype if self.dynamic.weighted else None
        weights = None if self.graph is None else self.graph.weights
        return None if weights is None else weights.dtype

    @property
    def n(self) -> int:
        """Rows of the matrix now."""
        graph = self.graph or self.dynamic
        return 0 if graph is None else graph.n

    @flags
    def run(self, x: ArrayLike, *, verify: bool = False) -> SpMVResult:
        """Multiply.

        Parameters
        ----------
        x : array_like
            [n] numbers.
        verify : bool
            Whether to compare with scipy, outside the times in the stats.

        Returns
        -------
        SpMVResult
            ``values`` [n] of the plan's dtype.

        Raises
        ------
        InvalidArgumentError
            If the vector is of another length or holds no real numbers.
        VerificationError
            If the result was to be checked and is wrong.
        """
        vector = argument_array("x", x)
        unchanged = contextlib.nullcontext() if self.dynamic is None else self.dynamic.lock
        with Turn() as turn, unchanged, self._lock:
            n = self.n
            if vector.shape != (n,) or vector.dtype.kind not in "biuf":
                raise InvalidArgumentError(
                    f"x needs a real number for each of {n} vertices; got {vector.dtype} of shape "
                    f"{vector.shape}."
                )
            if self._x.count < n:
                self._x = self._memory.allocate("spmv_x", n, self.dtype)
                self._y = self._memory.allocate("spmv_y", n, self.dtype)
            vector = vector.astype(self.dtype)
            self._x.write(vector)
            log = SweepLog()
            self.enqueue(log, self._x, self._y)
            log.wait()
            values = self._y.read(n)
            prepared, entries = self._prepare(), self._entries()
        times = log.kernel_ms if n else 0.0, turn.total_ms
        stats = SpMVStats(*times, log.launches, entries, prepared[2], prepared[4])
        if verify:
            self._verify(vector, values)
        return SpMVResult(values, stats)

    def enqueue(self, log: SweepLog, x: Allocation, y: Allocation) -> None:
        """Enqueue one product, from and to arrays of the plan's dtype on its device.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        x, y : Allocation
            At least n elements; not the same.
        """
        n = self.n
        if not n:
            return
        kernels, rows, tile, long_rows, count = self._prepare()
        size = np.uint32(n)
        items = -(-n * tile // self.device.traits.lanes) * self.device.traits.lanes
        Sweeper(self.device, items).launch(log, kernels["spmv_rows"], *rows, size, x, y)
        if count:
            sweeper = Sweeper(self.device, n)
            args = (*rows, long_rows, np.uint32(count), x, y)
            groups = min(count, max(sweeper.groups, 1))
            sweeper.launch(log, kernels["spmv_long_rows"], *args, groups=groups)

    def _entries(self) -> int:
        graph = self.graph or self.dynamic
        return 0 if graph is None else graph.m

    def _arrays(self) -> tuple[tuple[Allocation, ...], Allocation, Allocation | None]:
        """Give where rows are, their targets, and their weights."""
        if self.dynamic is not None:
            store = self.dynamic.rows
            weights = store.pools[1] if self.dynamic.weighted else None
            return (store.pointer, store.used), store.pools[0], weights
        return (self._packed.indptr,), self._packed.indices, self._weights

    def _prepare(self) -> tuple[Any, ...]:
        """Kernels, arrays of rows, lanes of a row, and the long rows, of what the graph holds."""
        where, targets, weights = self._arrays()
        key = (*where, targets, weights)
        if self._prepared is not None and self._prepared[0] == key:
            prepared: tuple[Any, ...] = self._prepared[1]
            return prepared
        n, lanes = self.n, self.device.traits.lanes
        tile = 1
        while tile < min(lanes, self._entries() / max(n, 1)):
            tile *= 2
        sizes = Sweeper(self.device, n)
        config = SimpleNamespace(
            group_size=sizes.group_size,
            lanes=lanes,
            wide_offsets=where[0].dtype == np.uint64,
        )
        program = load(
            self.device,
            "spmv/spmv.cl",
            config=config,
            layout=PACKED if self.dynamic is None else BLOCKS,
            tile=tile,
            LONG_ROW=LONG_ROW_ONE_LANE if lanes == 1 else LONG_ROW_TILES * lanes,
            value=TYPES[self.dtype],
            weighted=weights is not None,
            weight="float" if weights is None else TYPES[weights.dtype],
        )
        names = ("spmv_long", "spmv_rows", "spmv_long_rows")
        kernels = {name: program.kernel(name) for name in names}
        mask = self._memory.allocate("long_mask", n, np.uint8)
        vertices = self._memory.allocate("vertices", n, np.uint32)
        rows = self._memory.allocate("long_rows", n, np.uint32)
        log = SweepLog()
        sizes.launch(log, kernels["spmv_long"], *where, np.uint32(n), mask, vertices)
        total = self._compaction.enqueue(log, mask, n, (vertices, rows))
        held = (*where, targets) if weights is None else (*where, targets, weights)
        made = (kernels, held, tile, rows, int(total.read()[0]))
        self._prepared = (key, made)
        return made

    def _verify(self, x: NDArray[Any], found: NDArray[Any]) -> None:
        graph = self.graph if self.dynamic is None else self.dynamic.to_graph()
        if graph is None:
            return
        matrix = graph.to_scipy().astype(np.float64)
        wanted = matrix @ x.astype(np.float64)
        scale = abs(matrix) @ np.abs(x.astype(np.float64))
        wrong = np.abs(found - wanted) > TOLERANCE[self.dtype] * np.maximum(scale, 1e-30)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise VerificationError(
                f"row {row} of the product is {found[row]}; scipy finds {wanted[row]}."
            )


@documented(SpMV, SpMV.run, only_auto)
@flags
def spmv(
    graph: Graph | DynamicGraph,
    x: ArrayLike,
    *,
    dtype: Any = None,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[Any]:
    """Multiply the matrix of a graph with a vector.

    Returns
    -------
    numpy.ndarray
        [n]; element u is the sum over edges u -> v of their weight, or 1, times ``x[v]``.

    Notes
    -----
    O(n + m) work, deterministic. To multiply again and again, make an `SpMV` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> path = cg.from_edges([0, 1], [1, 2], [5.0, 7.0])
    >>> cg.spmv(path, [1, 10, 100]).tolist()
    [50.0, 700.0, 0.0]
    """
    only_auto(config)
    plan = SpMV(graph, dtype=dtype, device=device, progress=progress)
    return plan.run(x, verify=verify).values
