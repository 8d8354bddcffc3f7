"""What a dynamic graph holds, and reading it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.dynamic import batches
from clgraph.dynamic.batches import as_edges, key_bits
from clgraph.dynamic.current import Current
from clgraph.dynamic.fields import fields_of, usual_block_array, vertex_arrays
from clgraph.dynamic.parts import Steps
from clgraph.dynamic.result import MemoryUsage
from clgraph.dynamic.storage.blocks import Blocks
from clgraph.dynamic.storage.columns import Columns
from clgraph.dynamic.storage.store import Held, Spare, Store, copied
from clgraph.dynamic.updating import STAY, Updater
from clgraph.engine.resident import ResidentGraph, offsets_dtype, resident
from clgraph.errors import InvalidArgumentError
from clgraph.graph import Graph, as_graph
from clgraph.graph.arguments import flags, one_of, whole
from clgraph.graph.csr import index_dtype, sorted_rows, unsigned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.maintained.following import Follower

__all__ = ["Contents"]

WIDE_FROM = 2**30  # arcs from which on places take 64 bits: a graph may grow to four times as many
ALLOCATORS = ("device", "host")
WEIGHTS = tuple(np.dtype(kind) for kind in ("i4", "i8", "u4", "f4", "f8"))


class Contents(Current):
    """What a `DynamicGraph` holds: everything about it but its changes."""

    @flags
    def __init__(  # noqa: PLR0913 (all that a graph can be made of)
        self,
        g: Any = None,
        *,
        n: int | None = None,
        directed: bool = True,
        sorted: bool = True,  # noqa: A002 (the name that the interface promises)
        weights: DTypeLike | bool | None = None,
        properties: Mapping[str, DTypeLike] | None = None,
        layout: str = "auto",
        vertex_properties: Mapping[str, DTypeLike] | None = None,
        block_edges: int | None = None,
        min_block: int = 1,
        allocator: str = "device",
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        start = None if g is None else as_graph(g)
        self.directed = bool(directed) if start is None else start.directed
        self.sorted = bool(sorted)
        columns = Columns.of(fields_of(start, weights, properties), layout)
        self._open = weights is None and properties is None and start is None
        known = 0 if start is None else start.n
        n = known if n is None else whole("n", n, least=0)
        if n < known:
            raise InvalidArgumentError(f"n={n} is below the {known} vertices of the graph.")
        if n >= batches.MOST_VERTICES:
            raise InvalidArgumentError(f"n={n} is too large; use fewer than 2**31 - 1 vertices.")
        m = 0 if start is None else start.m
        if block_edges is None:
            block_edges = usual_block_array(m)
        for name, value in (("block_edges", block_edges), ("min_block", min_block)):
            if whole(name, value, least=1) & (value - 1):
                raise InvalidArgumentError(f"{name}={value} is not a power of two.")
        one_of("allocator", allocator, ALLOCATORS)
        self.allocator = allocator
        self.device = find_device(device)
        self._memory = Memory(self.device)
        self.lock = threading.RLock()
        updater = Updater(
            self.device, columns, ordered=self.sorted, least=min_block, wide=m >= WIDE_FROM
        )
        vertex_fields = vertex_arrays(self._memory, vertex_properties, n)
        store = self._begun(updater, start, n, block_edges, progress)
        # One attribute, replaced by one assignment: an update happens whole or not at all.
        self._held = Held(updater, store, Spare(), 0, vertex_fields, {})
        self._graph: tuple[int, Graph] | None = None

    def _begun(
        self,
        updater: Updater,
        start: Graph | None,
        n: int,
        block_edges: int,
        progress: Progress | None,
    ) -> Store:
        """Lay out what the graph begins with."""
        offset = updater.offset
        lengths, begins = np.zeros(n, np.uint32), np.zeros(n, offset)
        columns: list[Any] = [np.zeros(0, np.uint32)]
        columns += [np.zeros(0, field.dtype) for field in updater.fields]
        m, parallel = 0, False
        if start is not None:
            m = start.m
            lengths[: start.n] = start.degrees
            begins[: start.n] = start.indptr[:-1]
            columns[0] = unsigned(start.indices)
            for at, field in enumerate(updater.fields, 1):
                columns[at] = np.zeros(m, field.dtype)
                if field.name == "weights" and start.weights is not None:
                    columns[at] = start.weights.astype(field.dtype, copy=False)
                elif field.name == "weights":
                    columns[at] = np.ones(m, field.dtype)
            repeats = np.flatnonzero(start.indices[1:] == start.indices[:-1]) + 1
            begun = np.searchsorted(start.indptr, repeats)  # a row that begins with the same
            parallel = bool((start.indptr[begun] != repeats).any())
        upload = self._memory.upload
        names = ["targets", *(field.name for field in updater.fields)]
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
        store, _ = updater.rewritten(steps, rows, Spare(), None, STAY, key_bits(n))
        steps.wait()
        return store

    @property
    def _updater(self) -> Updater:
        return self._held.updater

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return "weights" in self.properties

    @property
    def _store(self) -> Store:
        return self._held.store

    @property
    def rows(self) -> Store:
        """Where on the device the rows are now; kernels read them, and nobody writes there."""
        return self._store

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
        return self._held.version

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of what edges have beside their targets, "weights" first where there are any."""
        return tuple(field.name for field in self._updater.columns.fields)

    @property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of each vertex: int64 [n]."""
        with self.lock:
            return self._store.used.read(self.n).astype(np.int64)

    def neighbors(self, v: int) -> NDArray[Any]:
        """Targets of a vertex' out-edges: int64 [degree], ascending if rows are sorted."""
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
        row = self._row(v, self._updater.columns.places[name].column)
        return row if row.dtype.names is None else np.ascontiguousarray(row[name])

    def _row(self, v: int, column: int) -> NDArray[Any]:
        with self.lock:
            store = self._store
            vertex = whole("v", v, least=0)
            if vertex >= store.n:
                raise InvalidArgumentError(f"there is no vertex {v}; the graph has {store.n}.")
            length = int(store.used.read(1, begin=vertex)[0])
            begin = int(store.pointer.read(1, begin=vertex)[0]) if length else 0
            return store.pools[column].read(length, begin=begin)

    def has_edges(self, src: Any, dst: Any) -> NDArray[np.bool_]:
        """Report which edges there are.

        Parameters
        ----------
        src, dst : integer array-like [count]
            Sources and targets; vertices that the graph does not have have no edges.

        Returns
        -------
        bool array [count]
        """
        edges = as_edges(self._memory, src, dst)
        if not edges.count:
            return np.zeros(0, bool)
        with self.lock:
            store, updater = self._store, self._updater
            ends: tuple[Any, ...] = (edges.src, edges.dst)
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

    def to_graph(self) -> Graph:
        """Give the edges there are as a `Graph`, kept until the next change.

        Notes
        -----
        Rows are packed on the device, where the graph's arrays stay for algorithms, and copied to
        host memory. Weights come along, other fields of edges are left behind.
        """
        with self.lock:
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
        if weights is not None and weights.dtype not in WEIGHTS:
            weights = weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64)
        if not self.sorted:
            indptr, indices, weights = sorted_rows(indptr, indices, weights)
        graph = Graph.trusted((indptr, indices, weights), directed=self.directed)
        if self.sorted and sums.dtype == offsets_dtype(store.m):
            graph.kept[resident] = {self.device: ResidentGraph(sums, pools[0])}
        return graph

    def follow(self, follower: Follower) -> None:
        """Notify a follower of every change from now on."""
        self.keep_state(follower, None)

    def unfollow(self, follower: Follower) -> None:
        """Notify it no longer."""
        with self.lock:
            states = {one: state for one, state in self._held.states.items() if one is not follower}
            self._held = replace(self._held, states=states)

    def state_of(self, follower: Follower) -> Any:
        """Give what a follower knows of the graph as it is now; None if that is to be found."""
        return self._held.states.get(follower)

    def keep_state(self, follower: Follower, state: Any) -> None:
        """Keep what a follower has found of the graph as it is now."""
        with self.lock:
            self._held = replace(self._held, states=self._held.states | {follower: state})

    def vertex_property(self, name: str) -> NDArray[Any]:
        """Values of all vertices [n]."""
        with self.lock:
            values: NDArray[Any] = self._vertex_field(name).read(self.n)
            return values

    def _vertex_field(self, name: str) -> Any:
        fields = self._held.vertex_fields
        if name not in fields:
            raise InvalidArgumentError(f"vertices of this graph have no {name!r}.")
        return fields[name]

    def memory_usage(self) -> MemoryUsage:
        """Report the bytes on the device, and how well they are used."""
        with self.lock:
            store, spare = self._held.store, self._held.spare
            entry = sum(pool.dtype.itemsize for pool in store.pools)
            record = store.pointer.dtype.itemsize + store.used.dtype.itemsize
            arrays = (store.pointer, store.used, *store.pools, *self._held.vertex_fields.values())
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

    def snapshot(self) -> Self:
        """Give a graph of its own with the same contents, which changes of this one leave alone."""
        with self.lock:
            store, fields = self._held.store, self._held.vertex_fields
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
            other = object.__new__(type(self))
            other.device, other.directed, other.sorted = self.device, self.directed, self.sorted
            other._open, other.allocator = self._open, self.allocator
            other._memory, other.lock = Memory(self.device), threading.RLock()
            old = self._updater
            updater = Updater(
                self.device,
                old.columns,
                ordered=self.sorted,
                least=old.least,
                wide=old.offset == np.uint64,
            )
            names = dict(zip(fields, copies[2 + len(store.pools) :], strict=True))
            other._held = Held(updater, same, Spare(), self.version, names, {})
            other._graph = self._graph
            return other

    def __repr__(self) -> str:
        """Sizes and kind in one line."""
        kind = "directed" if self.directed else "undirected"
        rows = "" if self.sorted else ", unsorted rows"
        return f"DynamicGraph(n={self.n}, m={self.m}, {kind}{rows})"
