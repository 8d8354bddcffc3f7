"""A graph on a device that changes in batches: rows in blocks whose sizes are powers of two."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Allocation
from clgraph.dynamic import batches
from clgraph.dynamic.batches import (
    ABSENT,
    ANY,
    PRESENT,
    as_edges,
    as_fields,
    by_name,
    key_bits,
    on_its_device,
)
from clgraph.dynamic.changing import Changing, timed
from clgraph.dynamic.parts import Steps
from clgraph.dynamic.result import UpdateResult
from clgraph.dynamic.storage.store import Spare
from clgraph.dynamic.updating import JOIN, LEAVE, STAY
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of, whole
from clgraph.graph.arrays import as_weight_array

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DynamicGraph"]


class DynamicGraph(Changing):
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
    layout : {"auto", "arrays", "records"}
        How properties of edges lie: each in an array of its own, or all of an edge together, which
        is chosen where two or more take 2, 4, 8 or 16 bytes together, so that one load has them.
    vertex_properties : mapping of str to data type, optional
        What vertices have, 0 to begin with.
    block_edges : int, optional
        Entries of a block array, a power of two; default by the size of `g`, 16 to 65,536.
    min_block : int
        Entries of the smallest block, a power of two.
    allocator : {"device", "host"}
        Who finds blocks for rows that move: lists of free blocks on the device, so that a batch is
        one launch, or trees of bits in host memory.
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called while `g` is uploaded.

    Attributes
    ----------
    device : Device
        Where it is.
    directed, sorted : bool
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
    A row of d edges lies in a block of the next power of two; a row longer than a block array in
    several of these, four sizes to a power of two. Blocks of one size are cut from block arrays,
    whose free blocks are in lists on the device, or in trees of bits in host memory. A batch writes
    rows that change to other blocks, or all rows to other memory, and replaces what the graph
    refers to at the very end: if it is refused or fails, the graph is as it was, and if it is
    interrupted, it is as it was or as it should be. That takes room for the rows that change, or
    for all of them, beside the graph; see `memory_usage`.

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
        src, dst : integer array-like [count]
            Sources and targets in any order. Of equal ones the first counts. Ids from n on add
            vertices; self-loops are edges like others. Two pyopencl arrays of the graph's device,
            of uint32 or int32, or two `Allocation` of uint32, are used where they are.
        weights : array-like [count], optional
            Of a weighted graph; a graph that began without edges and was not given weights takes
            the type of the first ones. An array of the graph's device is taken as it is, without a
            look at its values.
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
        O(b log b) for the batch, and O(degrees of its sources) or O(n + m). Deterministic.
        """
        one_of("duplicates", duplicates, ("drop", "keep"))
        edges = as_edges(self._memory, src, dst)
        if edges.largest is not None:
            batches.check_growth(edges, self.n)
        if weights is not None:
            weights = on_its_device(self._memory, weights, "weights")
        if weights is not None and self._open and self.m == 0 and not self.properties:
            self._take_weights(weights)
        fields, values = self._updater.columns.fields, {}
        if fields or weights is not None or properties:
            named = {"weights": weights, **by_name(properties)}
            values = as_fields(self._memory, named, fields, edges.count, all_of=True)
        want = ANY if duplicates == "keep" else ABSENT
        return self._changed(edges, values, want, JOIN, regime)

    def _take_weights(self, weights: Any) -> None:
        """Let edges have weights of the type of the first ones."""
        dtype = np.dtype(np.float32)
        if isinstance(weights, Allocation):
            dtype = weights.dtype
        elif len(np.atleast_1d(weights)):
            dtype = as_weight_array(weights, len(np.atleast_1d(weights))).dtype
        with self.lock:
            other = DynamicGraph(
                n=self.n,
                directed=self.directed,
                sorted=self.sorted,
                weights=dtype,
                block_edges=self.rows.blocks.block_edges,
                min_block=self._updater.least,
                allocator=self.allocator,
                device=self.device,
            )
            held = self._held
            fresh = other._held
            self._held = replace(held, updater=fresh.updater, store=fresh.store, spare=Spare())

    def delete_edges(self, src: Any, dst: Any, *, regime: str = "auto") -> UpdateResult:
        """Delete edges, all parallel ones of each.

        Parameters
        ----------
        src, dst : integer array-like [count]
            Sources and targets; what is not there is counted as absent.
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
        return self._changed(as_edges(self._memory, src, dst), {}, PRESENT, LEAVE, regime)

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
        src, dst : integer array-like [count]
            Sources and targets; of equal ones the last counts, and of parallel edges one changes.
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
        Degrees, places and targets stay. The values are written to a copy of their pool.
        """
        edges = as_edges(self._memory, src, dst)
        named = {"weights": weights, **by_name(properties)}
        values = as_fields(
            self._memory, named, self._updater.columns.fields, edges.count, all_of=False
        )
        if not values:
            raise InvalidArgumentError("there is nothing to update: pass weights or properties.")
        began = time.perf_counter()
        with self.lock:
            steps, updater = Steps(), self._updater
            held = self._held
            store, vertex_fields = held.store, held.vertex_fields
            given = edges.count
            edges = edges.on_host()
            edges, _, _ = self._fitted(steps, edges, store, vertex_fields, LEAVE)
            result = UpdateResult(given, absent=edges.outside)
            if not edges.count:
                return timed(result, steps, began)
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
            steps.wait()
            if found.wanted:
                pools = self._written(steps, store, found, values)
                steps.wait()
                self._held = held.changed(replace(store, pools=pools), held.spare)
            return timed(result, steps, began)

    def insert_vertices(self, count: int = 1) -> range:
        """Add vertices without edges; gives their ids."""
        count = whole("count", count, least=0)
        with self.lock:
            held, store = self._held, self._held.store
            n = store.n + count
            if n >= batches.MOST_VERTICES:
                raise InvalidArgumentError(f"{n} vertices are too many; use fewer than 2**31 - 1.")
            if count:
                steps = Steps()
                grown = self._grown_fields(held.vertex_fields, store.n, n)
                made = self._updater.grown(steps, store, n)
                steps.wait()
                self._held = held.changed(made, held.spare, vertex_fields=grown)
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
        ids = as_edges(self._memory, vertices, vertices).on_host()
        with self.lock:
            held, store = self._held, self._held.store
            if ids.count and int(ids.src.max()) >= store.n:
                raise InvalidArgumentError(
                    f"there is no vertex {int(ids.src.max())}; the graph has {store.n}."
                )
            steps = Steps()
            dead = np.zeros(store.n, np.uint8)
            dead[ids.src] = 1
            result = UpdateResult(ids.count, repeated=ids.count - int(dead.sum(dtype=np.int64)))
            if not ids.count or not store.m:
                return timed(result, steps, began)
            kept, gone = self._updater.alive(steps, store, dead, both=not self.directed)
            made, spare = self._updater.rewritten(
                steps, store, held.spare, None, STAY, key_bits(store.n), kept=kept
            )
            steps.wait()
            self._held = held.changed(made, spare, states=dict.fromkeys(held.states))
            return timed(replace(result, gone=gone, regime="rewrite"), steps, began)

    def set_vertex_property(self, name: str, values: Any) -> None:
        """Replace the values of all vertices [n]."""
        with self.lock:
            held = self._vertex_field(name)
            array = np.ascontiguousarray(values)
            if array.shape != (self.n,):
                raise InvalidArgumentError(
                    f"{name!r} needs a value for each of {self.n} vertices; got {array.shape}."
                )
            fresh = self._memory.allocate(name, held.count, held.dtype)
            fresh.write(array.astype(held.dtype))
            fields = self._held.vertex_fields | {name: fresh}
            self._held = replace(self._held, vertex_fields=fields)

    def trim(self) -> int:
        """Let other sizes have the block arrays that are empty, and free scratch memory.

        Returns
        -------
        int
            Block arrays given up.
        """
        with self.lock:
            store = self._held.store
            blocks = store.blocks.fork()
            dropped = blocks.drop_empty()
            self._graph = None
            self._held = replace(self._held, store=replace(store, blocks=blocks), spare=Spare())
            self._updater.release()
            return dropped

    def compact(self) -> None:
        """Write all rows to memory that they just fit, and free the rest."""
        with self.lock:
            store = self._held.store
            steps = Steps()
            made, _ = self._updater.rewritten(steps, store, Spare(), None, STAY, key_bits(store.n))
            steps.wait()
            held = self._held
            states = {one: None if one.by_place else known for one, known in held.states.items()}
            self._held = replace(held, store=made, spare=Spare(), states=states)
            self._updater.release()
