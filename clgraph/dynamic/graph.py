"""A graph on a device that changes in batches: rows in blocks whose sizes are powers of two."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Allocation
from clgraph.dynamic import batches
from clgraph.dynamic.batches import ABSENT, ANY, PRESENT, Edges, as_edges, as_fields, key_bits
from clgraph.dynamic.contents import Contents
from clgraph.dynamic.maintained.following import Change
from clgraph.dynamic.parts import Batch, Steps
from clgraph.dynamic.regime import REGIMES, costs_of
from clgraph.dynamic.result import UpdateResult
from clgraph.dynamic.storage.store import MOVED, Spare, Store, copied
from clgraph.dynamic.updating import JOIN, LEAVE, STAY
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph.arguments import whole
from clgraph.graph.arrays import as_weight_array

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DynamicGraph"]

MOST_NARROW = 2**32 - 2**20


class DynamicGraph(Contents):
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
    A row of d edges lies in a block of the next power of two. Blocks of one size are cut from block
    arrays, whose free blocks are in lists on the device, or in trees of bits in host memory. A
    batch writes rows that change to other blocks, or all rows to other memory, and replaces what
    the graph refers to at the very end: if it is refused or fails, the graph is as it was, and if
    it is interrupted, it is as it was or as it should be. That takes room for the rows that change,
    or for all of them, beside the graph; see `memory_usage`.

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
        src, dst : integer array-like [count] or Allocation of uint32
            Tails and heads in any order. Of equal ones the first counts. Ids from n on add
            vertices; self-loops are edges like others.
        weights : array-like [count] or Allocation, optional
            Of a weighted graph; a graph that began without edges and was not told of weights takes
            the type of the first ones.
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
        if weights is not None and self._open and self.m == 0 and not self.properties:
            self._take_weights(weights)
        named = {"weights": weights, **(properties or {})}
        values = as_fields(named, self._updater.fields, edges.count, all_of=True)
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
        with self.lock:
            steps = Steps()
            result = None
            if edges.count and self._in_place_pays(edges.count, want, regime):
                result = self._placed(steps, edges, values, way)
            if result is None:
                result = self._replaced(steps, edges, values, want, way, regime)
                steps.wait()
            return _timed(result, steps, began)

    def _replaced(
        self,
        steps: Steps,
        edges: Edges,
        values: dict[str, Any],
        want: int,
        way: int,
        regime: str,
    ) -> UpdateResult:
        """Write the rows of a batch, or all, to other memory, and refer to that."""
        given, updater = edges.count, self._updater
        held = self._held
        store, spare, vertex_fields = held.store, held.spare, held.vertex_fields
        edges, store, vertex_fields = self._fitted(steps, edges, store, vertex_fields, way)
        result = UpdateResult(given, absent=edges.outside)
        states = None
        if edges.count:
            both = not self.directed
            found = batches.marked(updater, steps, store, edges, want, both=both)
            if isinstance(found, int):
                edges = replace(edges, largest=found)
                edges, store, vertex_fields = self._fitted(steps, edges, store, vertex_fields, way)
                result = replace(result, absent=edges.outside)
                if not edges.count:
                    return result
                found = batches.marked(updater, steps, store, edges, want, both=both)
            assert not isinstance(found, int)  # noqa: S101 (ids have been looked at)
            counts: dict[str, Any] = {"repeated": edges.count - found.different}
            if way == JOIN:
                counts |= {"new": found.wanted, "present": found.different - found.wanted}
            else:
                counts |= {"gone": found.wanted}
                counts["absent"] = found.different - found.wanted + edges.outside
            result = replace(result, **counts)
            if found.wanted:
                batch = batches.cleaned(updater, steps, found)
                if way == JOIN:
                    batch = replace(batch, values=self._on_device(values))
                chosen = regime
                if regime == "auto":
                    mean = store.m / max(store.n, 1)
                    costs = costs_of(self.device)
                    chosen = costs.faster(batch.count, store.m, mean)
                made = replace(store, parallel=store.parallel or want == ANY)
                made, spare = self._made(steps, (made, spare), batch, way, chosen)
                change = Change(batch, way == JOIN, key_bits(store.n), store, made)
                states = {
                    follower: follower.followed(steps, state, change)
                    for follower, state in held.states.items()
                }
                store = made
                result = replace(result, regime=chosen)
        steps.wait()
        if states is not None:
            self._check_narrow(store)
            self._held = held.changed(store, spare, vertex_fields=vertex_fields, states=states)
        return result

    def _in_place_pays(self, count: int, want: int, regime: str) -> bool:
        """Whether a batch is to be brought in by one launch that changes the rows it touches."""
        held = self._held
        store = held.store
        followed = any(state is not None for state in held.states.values())
        possible = self.sorted and want != ANY and not store.parallel and self.allocator == "device"
        if not possible or regime == "rewrite" or followed:
            return False
        if regime == "rows":
            return True
        crowded = count >= held.updater.in_place.crowded_from
        return not crowded and costs_of(self.device).in_place(count, store.m, store.n)

    def _placed(
        self, steps: Steps, edges: Edges, values: dict[str, Any], way: int
    ) -> UpdateResult | None:
        """Bring a batch in by one launch; None if it does not fit that, and nothing changed."""
        given, joins = edges.count, way == JOIN
        carried = self._on_device(values) if joins else []
        while True:
            held = self._held
            edges, store, vertex_fields = self._fitted(
                steps, edges, held.store, held.vertex_fields, way
            )
            if not edges.count:
                return UpdateResult(given, absent=edges.outside)
            outcome = self._in_place(
                steps, edges, store, vertex_fields, carried, joins=joins, both=not self.directed
            )
            if outcome is None:
                return None
            if not outcome["STATUS"]:
                break
            edges = replace(edges, largest=outcome["LARGEST"])
        self._check_narrow(self._store)
        different, wanted = outcome["DIFFERENT"], outcome["WANTED"]
        others = different - wanted
        return UpdateResult(
            given,
            repeated=edges.count - different,
            new=wanted if joins else 0,
            present=others if joins else 0,
            gone=0 if joins else wanted,
            absent=edges.outside + (0 if joins else others),
            regime="rows" if wanted else "none",
            moved=outcome.moved,
            looked=outcome["LOOKED"],
        )

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
            return edges, store, vertex_fields  # it turns out when keys are made
        if way == LEAVE:
            return edges.below(store.n), store, vertex_fields
        batches.check_growth(edges, store.n)
        if edges.largest is not None and edges.largest >= store.n:
            grown = edges.largest + 1
            vertex_fields = self._grown_fields(vertex_fields, store.n, grown)
            store = self._updater.grown(steps, store, grown)
        return edges, store, vertex_fields

    def _on_device(self, values: dict[str, Any]) -> list[Any]:
        """Upload the values of a batch, in the order of the fields."""
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
        with self.lock:
            steps, updater = Steps(), self._updater
            held = self._held
            store, vertex_fields = held.store, held.vertex_fields
            given = edges.count
            edges = edges.on_host()
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
            steps.wait()
            if found.wanted:
                pools = self._written(steps, store, found, values)
                steps.wait()
                self._held = held.changed(replace(store, pools=pools), held.spare)
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
            kind = MOVED[field.dtype.itemsize]
            args = (found.mask, found.place, found.order, np.uint32(found.count), given, pools[at])
            updater.kernels.launch(steps["copy"], "batch_write", found.count, *args, value=kind)
        return tuple(pools)

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
        ids = as_edges(vertices, vertices).on_host()
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
                return _timed(result, steps, began)
            kept, gone = self._updater.alive(steps, store, dead, both=not self.directed)
            made, spare = self._updater.rewritten(
                steps, store, held.spare, None, STAY, key_bits(store.n), kept=kept
            )
            steps.wait()
            self._held = held.changed(made, spare, states=dict.fromkeys(held.states))
            return _timed(replace(result, gone=gone, regime="rewrite"), steps, began)

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

    def _grown_fields(self, fields: dict[str, Any], known: int, n: int) -> dict[str, Any]:
        made = {}
        for name, old in fields.items():
            array = np.zeros(n, old.dtype)
            array[:known] = old.read(known)
            made[name] = self._memory.upload(name, array)
        return made

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
            self._held = replace(self._held, store=made, spare=Spare())
            self._updater.release()


def _timed(result: UpdateResult, steps: Steps, began: float) -> UpdateResult:
    """Add times; what was launched has ended."""
    times, launches = {}, 0
    for name, log in steps.logs.items():
        if log.launches:
            times[name] = log.kernel_ms
            launches += log.launches
    # The result is nobody else's yet, and replace() takes longer than a launch.
    for name, value in (
        ("kernel_ms", sum(times.values())),
        ("launches", launches),
        ("steps", times),
        ("total_ms", 1e3 * (time.perf_counter() - began)),
    ):
        object.__setattr__(result, name, value)
    return result
