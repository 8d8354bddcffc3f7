"""A graph on a device that changes in batches: rows in blocks whose sizes are powers of two."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.dynamic import batches
from clgraph.dynamic.batches import ABSENT, ANY, PRESENT, Edges, as_edges, as_fields, key_bits
from clgraph.dynamic.blocks import Blocks
from clgraph.dynamic.regime import REGIMES, costs_of
from clgraph.dynamic.result import MemoryUsage, UpdateResult
from clgraph.dynamic.store import Field, Spare, Store, copied, read_range
from clgraph.dynamic.updating import JOIN, LEAVE, STAY, Batch, Steps, Updater
from clgraph.engine.resident import ResidentGraph, offsets_dtype, resident
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import Graph, as_graph
from clgraph.graph.arguments import whole
from clgraph.graph.csr import index_dtype, sorted_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory import Progress

__all__ = ["DynamicGraph"]

WIDE_FROM = 2**30  # arcs from which on places take 64 bits: a graph may grow to four times as many
MOST_NARROW = 2**32 - 2**20
LEAST_ARRAY, MOST_ARRAY, LARGE_ARRAY, LARGE_GRAPH = 2**8, 2**16, 2**21, 10**8
ARRAYS_AIMED_AT = 64
FIELD_BYTES = (1, 2, 4, 8)


class DynamicGraph:
    """A graph that grows and shrinks on a device, in batches of edges.

    Parameters
    ----------
    g : Graph or scipy.sparse matrix, optional
        What it begins with; default is no edges.
    n : int, optional
        Vertices to begin with; default those of `g`, or none. Batches add what they name.
    directed : bool
        Of a graph that begins without `g`: False stores every edge in both directions.
    sorted : bool
        Whether rows ascend. Edges are then looked up by bisection, and `to_graph` needs no sort.
    weights : data type or bool, optional
        Whether edges have weights, and of which type; default as `g` has them.
    properties : mapping of str to data type, optional
        What edges have beside their weight, of 1, 2, 4 or 8 bytes each.
    vertex_properties : mapping of str to data type, optional
        What vertices have, 0 to begin with.
    block_edges : int, optional
        Entries of a block array, a power of two; default by the size of `g`, 65,536 mostly.
    min_block : int
        Entries of the smallest block, a power of two.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called while `g` is uploaded.

    Attributes
    ----------
    device : Device
        Where it is.
    directed, sorted, weighted : bool
        As above.
    version : int
        Grows with every change.

    Raises
    ------
    InvalidArgumentError
        If sizes, types or names do not fit.
    DeviceMemoryError
        If it does not fit the device.

    Notes
    -----
    A row of d edges lies in a block of the next power of two. Blocks of one size are cut from block
    arrays, whose free blocks are found in trees of bits. A batch writes rows that change to other
    blocks, or all rows to other memory, and replaces what the graph refers to at the very end: if
    it is refused, fails or is interrupted, the graph is as it was. That takes room for the rows
    that change, or for all of them, beside the graph; see `memory_usage`.

    Methods may be called from several threads, which take turns.

    References
    ----------
    .. [1] F. Busato, O. Green, N. Bombieri, D. Bader, "Hornet: an efficient data structure for
           dynamic sparse graphs and matrices on GPUs", HPEC 2018.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.DynamicGraph(n=4, directed=False)
    >>> graph.insert_edges([0, 1, 2], [1, 2, 3]).new
    3
    >>> graph.delete_edges([2, 0], [1, 3]).gone
    1
    >>> graph.neighbors(1).tolist(), graph.degrees.tolist()
    ([0], [1, 1, 1, 1])
    """

    def __init__(
        self,
        g: Any = None,
        *,
        n: int | None = None,
        directed: bool = True,
        sorted: bool = True,  # noqa: A002 (the name that the interface promises)
        weights: DTypeLike | bool | None = None,
        properties: Mapping[str, DTypeLike] | None = None,
        vertex_properties: Mapping[str, DTypeLike] | None = None,
        block_edges: int | None = None,
        min_block: int = 1,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        start = None if g is None else as_graph(g)
        self.directed = bool(directed) if start is None else start.directed
        self.sorted = bool(sorted)
        fields = _fields(start, weights, properties)
        self.weighted = any(field.name == "weights" for field in fields)
        known = 0 if start is None else start.n
        n = known if n is None else whole("n", n, least=0)
        if n < known:
            raise InvalidArgumentError(f"n={n} is below the {known} vertices of the graph.")
        if n >= batches.MOST_VERTICES:
            raise InvalidArgumentError(f"n={n} is too large; use fewer than 2**31 - 1 vertices.")
        m = 0 if start is None else start.m
        if block_edges is None:
            block_edges = _usual_block_array(m)
        for name, value in (("block_edges", block_edges), ("min_block", min_block)):
            if whole(name, value, least=1) & (value - 1):
                raise InvalidArgumentError(f"{name}={value} is not a power of two.")
        self.device = find_device(device)
        self._memory = Memory(self.device)
        self._lock = threading.RLock()
        self._updater = Updater(
            self.device, fields, ordered=self.sorted, least=min_block, wide=m >= WIDE_FROM
        )
        self._vertex_fields = _vertex_arrays(self._memory, vertex_properties, n)
        store = self._begun(start, n, block_edges, progress)
        # One attribute, replaced by one assignment: an update happens whole or not at all.
        self._held: tuple[Store, Spare, int, dict[str, Any]] = (
            store,
            Spare(),
            0,
            self._vertex_fields,
        )
        self._graph: tuple[int, Graph] | None = None

    def _begun(
        self, start: Graph | None, n: int, block_edges: int, progress: Progress | None
    ) -> Store:
        """Lay out what the graph begins with."""
        offset = self._updater.offset
        lengths, begins = np.zeros(n, np.uint32), np.zeros(n, offset)
        columns: list[Any] = [np.zeros(0, np.uint32)]
        columns += [np.zeros(0, field.dtype) for field in self._updater.fields]
        m, parallel = 0, False
        if start is not None:
            m = start.m
            lengths[: start.n] = start.degrees
            begins[: start.n] = start.indptr[:-1]
            columns[0] = start.indices.astype(np.uint32, copy=False)
            for at, field in enumerate(self._updater.fields, 1):
                columns[at] = np.zeros(m, field.dtype)
                if field.name == "weights" and start.weights is not None:
                    columns[at] = start.weights.astype(field.dtype, copy=False)
                elif field.name == "weights":
                    columns[at] = np.ones(m, field.dtype)
            parallel = start.statistics().parallel_edges > 0
        upload = self._memory.upload
        names = ["heads", *(field.name for field in self._updater.fields)]
        rows = Store(
            n,
            m,
            upload("row_pointers", begins),
            upload("row_lengths", lengths),
            tuple(upload(*one, progress=progress) for one in zip(names, columns, strict=True)),
            Blocks(block_edges, 0),
            parallel,
        )
        steps = Steps()
        store, _ = self._updater.rewritten(steps, rows, Spare(), None, STAY, key_bits(n))
        steps.wait()
        return store

    @property
    def _store(self) -> Store:
        return self._held[0]

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self._store.n

    @property
    def m(self) -> int:
        """Number of stored directed edges; an undirected edge counts twice, a self-loop once."""
        return self._store.m

    @property
    def version(self) -> int:
        """Number of changes so far."""
        return self._held[2]

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of what edges have beside their heads, "weights" the first where there are any."""
        return tuple(field.name for field in self._updater.fields)

    @property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of each vertex: int64 [n]."""
        with self._lock:
            return self._store.used.read(self.n).astype(np.int64)

    def neighbors(self, v: int) -> NDArray[Any]:
        """Heads of a vertex' out-edges: int64 [degree], ascending if rows are sorted."""
        return self._row(v, 0).astype(np.int64)

    def edge_values(self, v: int, name: str = "weights") -> NDArray[Any]:
        """Values of a vertex' out-edges, in the order of `neighbors`.

        Raises
        ------
        InvalidArgumentError
            If there is no such vertex or no such name.
        """
        if name not in self.properties:
            raise InvalidArgumentError(f"edges of this graph have no {name!r}.")
        return self._row(v, 1 + self.properties.index(name))

    def _row(self, v: int, column: int) -> NDArray[Any]:
        with self._lock:
            store = self._store
            vertex = whole("v", v, least=0)
            if vertex >= store.n:
                raise InvalidArgumentError(f"there is no vertex {v}; the graph has {store.n}.")
            length = int(read_range(store.used, vertex, 1)[0])
            begin = int(read_range(store.pointer, vertex, 1)[0]) if length else 0
            return read_range(store.pools[column], begin, length)

    def has_edges(self, src: Any, dst: Any) -> NDArray[np.bool_]:
        """Tell which edges there are.

        Parameters
        ----------
        src, dst : integer array-like [count] or Allocation of uint32
            Tails and heads; vertices that the graph does not have have no edges.

        Returns
        -------
        bool array [count]
        """
        edges = as_edges(src, dst)
        if not edges.count:
            return np.zeros(0, bool)
        with self._lock:
            store, updater = self._store, self._updater
            ends = (edges.src, edges.dst)
            if not edges.on_device:
                ends = tuple(
                    updater.work.upload(name, ids)
                    for name, ids in (("batch_src", edges.src), ("batch_dst", edges.dst))
                )
            there = updater.work.array("there", edges.count, np.uint8)
            steps = Steps()
            sizes = (np.uint32(edges.count), np.uint32(store.n))
            args = (*ends, *sizes, store.pointer, store.used, store.pools[0], there)
            updater.kernels.launch(steps["check"], "batch_has", edges.count, *args)
            steps.wait()
            return there.read(edges.count).astype(bool)

    def insert_edges(
        self,
        src: Any,
        dst: Any,
        weights: Any = None,
        *,
        properties: Mapping[str, Any] | None = None,
        duplicates: str = "drop",
        regime: str = "auto",
    ) -> UpdateResult:
        """Insert edges.

        Parameters
        ----------
        src, dst : integer array-like [count] or Allocation of uint32
            Tails and heads in any order. Of equal ones the first counts. Ids from n on add
            vertices; self-loops are edges like others.
        weights : array-like [count] or Allocation, optional
            Of a weighted graph.
        properties : mapping of str to array-like, optional
            What else edges have, by name.
        duplicates : {"drop", "keep"}
            What becomes of edges that are there already: nothing, or they get parallel ones.
        regime : {"auto", "rows", "rewrite"}
            Whether to move the rows that the batch touches, or to write all rows anew.

        Returns
        -------
        UpdateResult
            ``new``, ``present`` and ``repeated`` add up to ``given``.

        Raises
        ------
        InvalidGraphError
            If lengths differ, or an id is negative or absurdly large.
        InvalidArgumentError
            If values are missing or do not fit.
        DeviceMemoryError
            If there is no room; the graph is as it was.

        Notes
        -----
        O(b log b) for the batch, and O(degrees of its tails) or O(n + m). Deterministic.
        """
        if duplicates not in ("drop", "keep"):
            raise InvalidArgumentError(f"duplicates={duplicates!r} is neither 'drop' nor 'keep'.")
        edges = as_edges(src, dst)
        if edges.largest is not None:
            batches.check_growth(edges, self.n)
        named = {"weights": weights, **(properties or {})}
        values = as_fields(named, self._updater.fields, edges.count, all_of=True)
        want = ANY if duplicates == "keep" else ABSENT
        return self._changed(edges, values, want, JOIN, regime)

    def delete_edges(self, src: Any, dst: Any, *, regime: str = "auto") -> UpdateResult:
        """Delete edges, all parallel ones of each.

        Parameters
        ----------
        src, dst : integer array-like [count] or Allocation of uint32
            Tails and heads; what is not there is counted as absent.
        regime : {"auto", "rows", "rewrite"}
            As for `insert_edges`.

        Returns
        -------
        UpdateResult
            ``gone``, ``absent`` and ``repeated`` add up to ``given``.

        Raises
        ------
        InvalidGraphError
            If lengths differ or an id is negative.
        DeviceMemoryError
            If there is no room; the graph is as it was.
        """
        return self._changed(as_edges(src, dst), {}, PRESENT, LEAVE, regime)

    def _changed(
        self, edges: Edges, values: dict[str, Any], want: int, way: int, regime: str
    ) -> UpdateResult:
        if regime not in REGIMES:
            raise InvalidArgumentError(f"regime={regime!r} is not one of {', '.join(REGIMES)}.")
        began = time.perf_counter()
        with self._lock:
            given = edges.count
            steps, updater = Steps(), self._updater
            store, spare, version, vertex_fields = self._held
            edges, store, vertex_fields = self._fitted(steps, edges, store, vertex_fields, way)
            result = UpdateResult(given, absent=edges.outside)
            made = replace(store, parallel=store.parallel or (want == ANY and store.m > 0))
            if edges.count:
                found = batches.marked(updater, steps, store, edges, want, both=not self.directed)
                assert not isinstance(found, int)  # noqa: S101 (ids have been looked at)
                counts = {"repeated": edges.count - found.different}
                if way == JOIN:
                    counts |= {"new": found.wanted, "present": found.different - found.wanted}
                else:
                    counts |= {"gone": found.wanted}
                    counts["absent"] = found.different - found.wanted + edges.outside
                result = replace(result, **counts)
                if found.wanted:
                    batch = batches.cleaned(updater, steps, found)
                    if way == JOIN:
                        batch = replace(batch, values=self._on_device(values, edges))
                    chosen = regime
                    if regime == "auto":
                        mean = store.m / max(store.n, 1)
                        costs = costs_of(self.device)
                        chosen = costs.faster(batch.count, store.m, mean)
                    made, spare = self._made(steps, (made, spare), batch, way, chosen)
                    result = replace(result, regime=chosen)
            steps.wait()
            if made is not self._store:
                self._check_narrow(made)
                self._held = (made, spare, version + 1, vertex_fields)
            return _timed(result, steps, began)

    def _made(
        self, steps: Steps, held: tuple[Store, Spare], batch: Batch, way: int, regime: str
    ) -> tuple[Store, Spare]:
        step = self._updater.moved if regime == "rows" else self._updater.rewritten
        return step(steps, *held, batch, way, key_bits(held[0].n))

    def _check_narrow(self, store: Store) -> None:
        if self._updater.offset == np.uint32 and store.entries > MOST_NARROW:
            raise InvalidGraphError(
                f"the graph has grown to blocks of {store.entries} entries, beyond what 32 bits "
                "count; make another DynamicGraph of to_graph(), which then takes 64."
            )

    def _fitted(
        self,
        steps: Steps,
        edges: Edges,
        store: Store,
        vertex_fields: dict[str, Any],
        way: int,
    ) -> tuple[Edges, Store, dict[str, Any]]:
        """Leave out edges of vertices that are not there, or add the vertices."""
        if edges.largest is None:
            src, dst = edges.on_host().src, edges.on_host().dst
            edges = replace(edges, largest=int(max(src.max(), dst.max())))
        if way == LEAVE:
            return edges.below(store.n), store, vertex_fields
        batches.check_growth(edges, store.n)
        if edges.largest is not None and edges.largest >= store.n:
            grown = edges.largest + 1
            vertex_fields = self._grown_fields(vertex_fields, store.n, grown)
            store = self._updater.grown(steps, store, grown)
        return edges, store, vertex_fields

    def _on_device(self, values: dict[str, Any], edges: Edges) -> list[Any]:
        """Upload the values of a batch, in the order of the fields."""
        del edges
        return [
            values[field.name]
            if not isinstance(values[field.name], np.ndarray)
            else self._updater.work.upload(f"batch_{field.name}", values[field.name])
            for field in self._updater.fields
        ]

    def update_values(
        self,
        src: Any,
        dst: Any,
        weights: Any = None,
        *,
        properties: Mapping[str, Any] | None = None,
    ) -> UpdateResult:
        """Give edges other values.

        Parameters
        ----------
        src, dst : integer array-like [count] or Allocation of uint32
            Tails and heads; of equal ones the last counts, and of parallel edges one changes.
        weights, properties
            As for `insert_edges`; what is left out stays as it is.

        Returns
        -------
        UpdateResult
            ``updated``, ``absent`` and ``repeated`` add up to ``given``.

        Raises
        ------
        InvalidArgumentError
            If there are no values, or they do not fit.
        InvalidGraphError, DeviceMemoryError
            As for `insert_edges`.

        Notes
        -----
        Degrees, places and heads stay as they are. The values are written to a copy of their pool.
        """
        edges = as_edges(src, dst)
        named = {"weights": weights, **(properties or {})}
        values = as_fields(named, self._updater.fields, edges.count, all_of=False)
        if not values:
            raise InvalidArgumentError("there is nothing to update: pass weights or properties.")
        began = time.perf_counter()
        with self._lock:
            steps, updater = Steps(), self._updater
            store, spare, version, vertex_fields = self._held
            given = edges.count
            edges, _, _ = self._fitted(steps, edges, store, vertex_fields, LEAVE)
            result = UpdateResult(given, absent=edges.outside)
            if not edges.count:
                return _timed(result, steps, began)
            if edges.chosen is not None:
                values = {
                    name: (one if isinstance(one, np.ndarray) else one.read())[edges.chosen]
                    for name, one in values.items()
                }
            found = batches.marked(
                updater, steps, store, edges, PRESENT, both=not self.directed, backwards=True
            )
            assert not isinstance(found, int)  # noqa: S101 (ids have been looked at)
            result = replace(
                result,
                repeated=edges.count - found.different,
                updated=found.wanted,
                absent=found.different - found.wanted + edges.outside,
            )
            if found.wanted:
                pools = self._written(steps, store, found, values)
                steps.wait()
                made = replace(store, pools=pools)
                self._held = (made, spare, version + 1, vertex_fields)
            return _timed(result, steps, began)

    def _written(
        self, steps: Steps, store: Store, found: batches.Marked, values: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Give pools of which those that get values are copies, with the values written."""
        updater = self._updater
        pools = list(store.pools)
        for at, field in enumerate(updater.fields, 1):
            if field.name not in values:
                continue
            given = values[field.name]
            if isinstance(given, np.ndarray):
                given = updater.work.upload(f"batch_{field.name}", given)
            pool = pools[at]
            pools[at] = self._memory.allocate(pool.name, pool.count, pool.dtype)
            event = copied(pool, pools[at], pool.count)
            steps["copy"].add(event, event)
            kind = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[field.dtype.itemsize]
            args = (found.mask, found.place, found.order, np.uint32(found.count), given, pools[at])
            updater.kernels.launch(steps["copy"], "batch_write", found.count, *args, value=kind)
        return tuple(pools)

    def insert_vertices(self, count: int = 1) -> range:
        """Add vertices without edges; gives their ids."""
        count = whole("count", count, least=0)
        with self._lock:
            store, spare, version, fields = self._held
            n = store.n + count
            if n >= batches.MOST_VERTICES:
                raise InvalidArgumentError(f"{n} vertices are too many; use fewer than 2**31 - 1.")
            if count:
                steps = Steps()
                grown_fields = self._grown_fields(fields, store.n, n)
                made = self._updater.grown(steps, store, n)
                steps.wait()
                self._held = (made, spare, version + 1, grown_fields)
            return range(n - count, n)

    def delete_vertices(self, vertices: Any) -> UpdateResult:
        """Delete all edges from and to vertices, which themselves stay, without edges.

        Parameters
        ----------
        vertices : integer array-like [count]
            Ids.

        Returns
        -------
        UpdateResult
            ``given`` vertices, and ``gone`` edges.

        Raises
        ------
        InvalidArgumentError
            If one is no vertex of the graph.

        Notes
        -----
        O(n + m): all rows are looked through for edges to them.
        """
        began = time.perf_counter()
        ids = as_edges(vertices, vertices).on_host()
        with self._lock:
            store, spare, version, fields = self._held
            if ids.count and int(ids.src.max()) >= store.n:
                raise InvalidArgumentError(
                    f"there is no vertex {int(ids.src.max())}; the graph has {store.n}."
                )
            steps = Steps()
            dead = np.zeros(store.n, np.uint8)
            dead[ids.src] = 1
            result = UpdateResult(ids.count, repeated=ids.count - int(dead.sum(dtype=np.int64)))
            if not ids.count or not store.m:
                return _timed(result, steps, began)
            kept, gone = self._updater.alive(steps, store, dead, both=not self.directed)
            made, spare = self._updater.rewritten(
                steps, store, spare, None, STAY, key_bits(store.n), kept=kept
            )
            steps.wait()
            self._held = (made, spare, version + 1, fields)
            return _timed(replace(result, gone=gone, regime="rewrite"), steps, began)

    def to_graph(self) -> Graph:
        """Give the edges there are as a `Graph`, kept until the next change.

        Notes
        -----
        Rows are packed on the device, where the graph's arrays stay for algorithms, and copied to
        host memory. The first field is the weights where there are any; others are left behind.
        """
        with self._lock:
            version = self.version
            if self._graph is not None and self._graph[0] == version:
                return self._graph[1]
            self._graph = None  # its device memory is free before the next takes some
            graph = self._packed()
            self._graph = (version, graph)
            return graph

    def _packed(self) -> Graph:
        store, updater = self._store, self._updater
        steps = Steps()
        sums, pools = updater.packed(steps, store)
        steps.wait()
        dtype = index_dtype(max(store.n, store.m))
        indptr = sums.read(store.n + 1).astype(dtype)
        indices = pools[0].read(store.m).astype(dtype)
        weights = pools[1].read(store.m) if self.weighted else None
        if weights is not None and weights.dtype not in _WEIGHTS:
            weights = weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)
        if not self.sorted:
            indptr, indices, weights = sorted_rows(indptr, indices, weights)
        graph = Graph.trusted((indptr, indices, weights), directed=self.directed)
        if self.sorted and sums.dtype == offsets_dtype(store.m):
            graph.kept[resident] = {self.device: ResidentGraph(sums, pools[0])}
        return graph

    def vertex_property(self, name: str) -> NDArray[Any]:
        """Values of all vertices [n]."""
        with self._lock:
            return self._vertex_field(name).read(self.n)

    def set_vertex_property(self, name: str, values: Any) -> None:
        """Replace the values of all vertices [n]."""
        with self._lock:
            held = self._vertex_field(name)
            array = np.ascontiguousarray(values)
            if array.shape != (self.n,):
                raise InvalidArgumentError(
                    f"{name!r} needs a value for each of {self.n} vertices; got {array.shape}."
                )
            fresh = self._memory.allocate(name, held.count, held.dtype)
            fresh.write(array.astype(held.dtype))
            store, spare, version, fields = self._held
            self._held = (store, spare, version, fields | {name: fresh})

    def _vertex_field(self, name: str) -> Any:
        fields = self._held[3]
        if name not in fields:
            raise InvalidArgumentError(f"vertices of this graph have no {name!r}.")
        return fields[name]

    def _grown_fields(self, fields: dict[str, Any], known: int, n: int) -> dict[str, Any]:
        made = {}
        for name, old in fields.items():
            array = np.zeros(n, old.dtype)
            array[:known] = old.read(known)
            made[name] = self._memory.upload(name, array)
        return made

    def memory_usage(self) -> MemoryUsage:
        """Tell the bytes on the device, and how well they are used."""
        with self._lock:
            store, spare = self._held[:2]
            entry = sum(pool.dtype.itemsize for pool in store.pools)
            record = store.pointer.dtype.itemsize + store.used.dtype.itemsize
            arrays = (store.pointer, store.used, *store.pools, *self._held[3].values())
            blocks = store.blocks.array_entries * entry
            vertices = store.n * record
            offset = offsets_dtype(store.m).itemsize
            in_use = store.blocks.used_entries
            return MemoryUsage(
                block_bytes=blocks,
                vertex_bytes=vertices,
                reserved_bytes=sum(array.size_bytes for array in arrays) - blocks - vertices,
                spare_bytes=spare.size_bytes,
                workspace_bytes=self._updater.scratch_bytes,
                block_arrays=store.blocks.block_arrays,
                block_utilisation=store.m / in_use if in_use else 1.0,
                array_utilisation=in_use / max(store.blocks.array_entries, 1),
                csr_bytes=offset * (store.n + 1) + entry * store.m,
                coo_bytes=(4 + entry) * store.m,
            )

    def trim(self) -> int:
        """Let other sizes have the block arrays that are empty, and free scratch memory.

        Returns
        -------
        int
            Block arrays given up.
        """
        with self._lock:
            store, _, version, fields = self._held
            blocks = store.blocks.fork()
            dropped = blocks.drop_empty()
            self._graph = None
            self._held = (replace(store, blocks=blocks), Spare(), version, fields)
            self._updater.release()
            return dropped

    def compact(self) -> None:
        """Write all rows to memory that they just fit, and free the rest."""
        with self._lock:
            store, _, version, fields = self._held
            steps = Steps()
            made, _ = self._updater.rewritten(steps, store, Spare(), None, STAY, key_bits(store.n))
            steps.wait()
            self._held = (made, Spare(), version, fields)
            self._updater.release()

    def snapshot(self) -> DynamicGraph:
        """Give a graph of its own with the same contents, which changes of this one leave alone."""
        with self._lock:
            store, _, version, fields = self._held
            steps = Steps()
            copies = []
            for array in (store.pointer, store.used, *store.pools, *fields.values()):
                fresh = self._memory.allocate(array.name, array.count, array.dtype)
                event = copied(array, fresh, array.count)
                steps["copy"].add(event, event)
                copies.append(fresh)
            steps.wait()
            pools = tuple(copies[2 : 2 + len(store.pools)])
            same = replace(
                store,
                pointer=copies[0],
                used=copies[1],
                pools=pools,
                blocks=store.blocks.fork(),
            )
            other = object.__new__(DynamicGraph)
            other.device, other.directed, other.sorted = self.device, self.directed, self.sorted
            other.weighted = self.weighted
            other._memory, other._lock = Memory(self.device), threading.RLock()  # noqa: SLF001
            old = self._updater
            other._updater = Updater(  # noqa: SLF001
                self.device,
                old.fields,
                ordered=self.sorted,
                least=old.least,
                wide=old.offset == np.uint64,
            )
            names = dict(zip(fields, copies[2 + len(store.pools) :], strict=True))
            other._held = (same, Spare(), version, names)  # noqa: SLF001
            other._graph = self._graph  # noqa: SLF001
            return other

    def __repr__(self) -> str:
        """Sizes and kind in one line."""
        kind = "directed" if self.directed else "undirected"
        rows = "" if self.sorted else ", unsorted rows"
        return f"DynamicGraph(n={self.n}, m={self.m}, {kind}{rows})"


_WEIGHTS = tuple(np.dtype(kind) for kind in ("i4", "i8", "u4", "f4", "f8"))


def _usual_block_array(m: int) -> int:
    if m >= LARGE_GRAPH:
        return LARGE_ARRAY
    wanted = 1 << max(m // ARRAYS_AIMED_AT, 1).bit_length()
    return min(max(wanted, LEAST_ARRAY), MOST_ARRAY)


def _fields(
    start: Graph | None, weights: DTypeLike | bool | None, properties: Any
) -> tuple[Field, ...]:
    made = []
    held = None if start is None else start.weights
    if weights is True or (weights is None and held is not None):
        made.append(Field("weights", np.dtype(np.float32) if held is None else held.dtype))
    elif weights is not None and weights is not False:
        made.append(Field("weights", np.dtype(weights)))
    for name, dtype in (properties or {}).items():
        made.append(Field(name, np.dtype(dtype)))
    names = [field.name for field in made]
    if len(set(names)) != len(names):
        raise InvalidArgumentError('a property named "weights" is the weights; pass weights=.')
    for field in made:
        if field.dtype.itemsize not in FIELD_BYTES or field.dtype.kind not in "iufb":
            raise InvalidArgumentError(
                f"{field.name!r} cannot be {field.dtype}; use numbers of 1, 2, 4 or 8 bytes."
            )
    return tuple(made)


def _vertex_arrays(memory: Memory, properties: Any, n: int) -> dict[str, Any]:
    return {
        name: memory.upload(name, np.zeros(n, np.dtype(dtype)))
        for name, dtype in (properties or {}).items()
    }


def _timed(result: UpdateResult, steps: Steps, began: float) -> UpdateResult:
    """Add times; what was launched has ended."""
    steps.wait()
    logs = {name: log for name, log in steps.logs.items() if log.launches}
    times = {name: log.kernel_ms for name, log in logs.items()}
    return replace(
        result,
        kernel_ms=sum(times.values()),
        total_ms=1e3 * (time.perf_counter() - began),
        launches=sum(log.launches for log in logs.values()),
        steps=times,
    )
