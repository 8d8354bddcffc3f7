"""How a batch changes a dynamic graph: where its rows are, or by writing them elsewhere."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.dynamic import batches
from clgraph.dynamic.batches import ANY, Edges, key_bits
from clgraph.dynamic.contents import Contents
from clgraph.dynamic.maintained.following import Change
from clgraph.dynamic.parts import Batch, Steps
from clgraph.dynamic.regime import REGIMES, Costs, costs_of
from clgraph.dynamic.result import UpdateResult, filled
from clgraph.dynamic.storage.freelists import WORDS
from clgraph.dynamic.storage.store import Spare, Store, copied
from clgraph.dynamic.updating import JOIN, LEAVE
from clgraph.graph.arguments import one_of
from clgraph.primitives.launches import MOVED

if TYPE_CHECKING:
    from clgraph.dynamic.storage.columns import Place
    from clgraph.dynamic.storage.freelists import Outcome

__all__ = ["Changing", "timed"]

STATUS = WORDS["STATUS"]


class Changing(Contents):
    """What a `DynamicGraph` does with a batch, once that has been checked."""

    @cached_property
    def _costs(self) -> Costs:
        return costs_of(self.device)

    def _changed(
        self, edges: Edges, values: dict[str, Any], want: int, way: int, regime: str
    ) -> UpdateResult:
        one_of("regime", regime, REGIMES)
        began = time.perf_counter()
        with self.lock:
            steps = Steps()
            if edges.count and self._in_place_pays(edges.count, want, regime):
                result = self._placed(steps, edges, values, way, began)
                if result is not None:
                    return result
            result = self._replaced(steps, edges, values, want, way, regime)
            steps.wait()
            return timed(result, steps, began)

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
                    batch = replace(batch, values=self._on_device(steps, values))
                chosen = regime
                if regime == "auto":
                    mean = store.m / max(store.n, 1)
                    chosen = self._costs.faster(batch.count, store.m, mean)
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
            store.check_narrow()
            self._held = held.changed(store, spare, vertex_fields=vertex_fields, states=states)
        return result

    def _in_place_pays(self, count: int, want: int, regime: str) -> bool:
        """Whether a batch is to be brought in by one launch that changes the rows it touches."""
        if want == ANY or regime == "rewrite" or not self.sorted or self.allocator != "device":
            return False
        held = self._held
        store = held.store
        if store.parallel:
            return False
        if held.states and any(state is not None for state in held.states.values()):
            return False  # they want to know what changed
        if regime == "rows":
            return True
        too_many = count >= held.updater.in_place.too_many_from
        return not too_many and self._costs.in_place(count, store.m, store.n)

    def _placed(
        self, steps: Steps, edges: Edges, values: dict[str, Any], way: int, began: float
    ) -> UpdateResult | None:
        """Bring a batch in by one launch; None if it does not fit that, and nothing changed."""
        given, joins = edges.count, way == JOIN
        carried = self._on_device(steps, values) if values else []
        while True:
            held = self._held
            store, vertex_fields = held.store, held.vertex_fields
            if edges.largest is not None:  # else it turns out on the device
                edges, store, vertex_fields = self._fitted(steps, edges, store, vertex_fields, way)
                if not edges.count:
                    return timed(UpdateResult(given, absent=edges.outside), steps, began)
            outcome = self._in_place(
                steps, edges, store, vertex_fields, carried, joins=joins, both=not self.directed
            )
            if outcome is None:
                return None
            if not outcome.counts[STATUS]:
                break
            edges = replace(edges, largest=outcome["LARGEST"])
        report = partial(_report, outcome, steps, given, edges.count, edges.outside, joins)
        return UpdateResult.later(report, began)

    def _made(
        self, steps: Steps, held: tuple[Store, Spare], batch: Batch, way: int, regime: str
    ) -> tuple[Store, Spare]:
        step = self._updater.moved if regime == "rows" else self._updater.rewritten
        return step(steps, *held, batch, way, key_bits(held[0].n))

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

    def _on_device(self, steps: Steps, values: dict[str, Any]) -> list[Any]:
        """Upload the values of a batch, as pools have them."""
        updater, made = self._updater, []
        for at, column in enumerate(updater.fields, 1):
            if column.dtype.names is None:
                made.append(self._uploaded(column.name, values[column.name]))
                continue
            members = list(updater.columns.members(at))
            given = [values[field.name] for field, _ in members]
            count = len(given[0]) if isinstance(given[0], np.ndarray) else given[0].count
            if all(isinstance(one, np.ndarray) for one in given):
                records = np.empty(count, column.dtype)
                for (field, _), one in zip(members, given, strict=True):
                    records[field.name] = one
                made.append(updater.work.upload("batch_values", records))
                continue
            joined = updater.work.array("batch_values", count, column.dtype)
            for (field, place), one in zip(members, given, strict=True):
                kind = MOVED[field.dtype.itemsize]
                args = (self._uploaded(field.name, one), np.uint32(count), *_steps_of(place))
                log = steps["place"]
                updater.kernels.launch(log, "batch_join", count, *args, joined, value=kind)
            made.append(joined)
        return made

    def _uploaded(self, name: str, values: Any) -> Any:
        """Give the values of a field on the device."""
        if not isinstance(values, np.ndarray):
            return values
        return self._updater.work.upload(f"batch_of_{name}", values)

    def _written(
        self, steps: Steps, store: Store, found: batches.Marked, values: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Give pools of which those that get values are copies, with the values written."""
        updater = self._updater
        pools = list(store.pools)
        for at, pool in enumerate(store.pools):
            wanted = [one for one in updater.columns.members(at) if one[0].name in values]
            if not wanted:
                continue
            pools[at] = self._memory.allocate(pool.name, pool.count, pool.dtype)
            event = copied(pool, pools[at], pool.count)
            steps["copy"].add(event, event)
            for field, place in wanted:
                given = self._uploaded(field.name, values[field.name])
                wanted_keys = (found.mask, found.place, found.order, np.uint32(found.count))
                args = (*wanted_keys, given, *_steps_of(place), pools[at])
                kind = MOVED[field.dtype.itemsize]
                updater.kernels.launch(steps["copy"], "batch_write", found.count, *args, value=kind)
        return tuple(pools)

    def _grown_fields(self, fields: dict[str, Any], known: int, n: int) -> dict[str, Any]:
        made = {}
        for name, old in fields.items():
            array = np.zeros(n, old.dtype)
            array[:known] = old.read(known)
            made[name] = self._memory.upload(name, array)
        return made


def _steps_of(place: Place) -> tuple[np.uint32, np.uint32]:
    """Give the arguments of a kernel that say where in a pool a field is."""
    return np.uint32(place.stride), np.uint32(place.offset)


def _report(
    outcome: Outcome, steps: Steps, given: int, count: int, outside: int, joins: bool
) -> dict[str, Any]:
    """Give what a result says of a batch that one launch brought in, but for the host's time."""
    different, wanted = outcome["DIFFERENT"], outcome["WANTED"]
    others = different - wanted
    if outcome.stamped:
        steps["update"].note(outcome.device_ms)
    report: dict[str, Any] = {"given": given, "repeated": count - different}
    if joins:
        report |= {"new": wanted, "present": others, "gone": 0, "absent": outside}
    else:
        report |= {"new": 0, "present": 0, "gone": wanted, "absent": outside + others}
    report |= {"regime": "rows" if wanted else "none", "updated": 0, "logs": steps}
    return report | {"moved": outcome.moved, "looked": outcome["LOOKED"]}


def timed(result: UpdateResult, steps: Steps, began: float) -> UpdateResult:
    """Add times; what was launched has ended."""
    total_ms = 1e3 * (time.perf_counter() - began)
    filled(result, logs=steps, total_ms=total_ms)
    return result
