"""What a dynamic graph refers to, and updates that change it where it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clgraph.device.staying import StaysHere
from clgraph.dynamic.storage.freelists import WORDS, FreeLists
from clgraph.dynamic.storage.store import Held, Store

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from clgraph.device import Allocation
    from clgraph.dynamic.batches import Edges
    from clgraph.dynamic.inplace import Shape
    from clgraph.dynamic.parts import Steps
    from clgraph.dynamic.storage.freelists import Outcome

__all__ = ["Current", "InPlaceBatch"]

MOST_TRIES = 8
DONE_CHANGED = WORDS["DONE_CHANGED"]
DONE, STATUS, LACKING, ARCS = (WORDS[name] for name in ("DONE", "STATUS", "LACKING", "ARCS"))


@dataclass(slots=True)
class InPlaceBatch:
    """A batch that the device is to bring in.

    Attributes
    ----------
    held : Held
        What the graph referred to before.
    store : Store
        The rows that are changed: those held, or longer vertex arrays of the same rows.
    lists : FreeLists
        Their free blocks.
    shape : Shape
        Of the keys.
    ends : pair of Allocation
        Sources and targets.
    values : sequence of Allocation
        Of the fields.
    count : int
        Edges.
    both, joins : bool
        Whether each stands for both directions; whether they join or leave.
    vertex_fields : dict of str to Allocation
        What vertices have then.
    following : pair of Held and FreeLists, optional
        What the graph refers to after it, but for what the device counts; see `prepare`.
    stamp : int or None
        What is posted at its end, if anything is.
    """

    held: Held
    store: Store
    lists: FreeLists
    shape: Shape
    ends: tuple[Allocation, Allocation]
    values: Sequence[Allocation]
    count: int
    both: bool
    joins: bool
    vertex_fields: dict[str, Allocation]
    following: tuple[Held, FreeLists] | None = None
    stamp: int | None = None

    def prepare(self) -> tuple[Held, FreeLists]:
        """Make what follows, while the device is at it: that takes a fifth of the host's time."""
        # Made by name of class, since replace() takes longer than a launch.
        one, held, lists = self.store, self.held, self.lists.following()
        store = Store(one.n, one.m, one.pointer, one.used, one.pools, lists, one.parallel)
        states, version = {}, held.version + 1
        if held.states:
            states = dict.fromkeys(held.states)
        made = Held(held.updater, store, held.spare, version, self.vertex_fields, states)
        self.following = made, lists
        return self.following

    def made(self, outcome: Outcome) -> Held:
        """Give what the graph refers to after it; the same however often it is asked."""
        arcs = outcome.counts[ARCS]
        if outcome.counts[DONE] != DONE_CHANGED or not arcs:
            held = self.held
            return replace(held, store=replace(held.store, blocks=self.lists.after(outcome)))
        made, lists = self.following or self.prepare()
        made.store.m = self.store.m + (arcs if self.joins else -arcs)
        lists.left = outcome.tops
        return made


class Current(StaysHere):
    """One reference to all of a graph, which a batch under way may be about to change.

    An update in place is noted before it is launched. Whoever asks next what the graph is, after an
    exception at any moment, first reads whether the device has done it.
    """

    sent_instead = "its `to_graph()`"

    lock: threading.RLock
    _now: Held
    _pending: InPlaceBatch | None = None

    @property
    def _held(self) -> Held:
        if self._pending is not None:
            self._settled()
        return self._now

    @_held.setter
    def _held(self, held: Held) -> None:
        self._now = held
        held.updater.in_place.forget()  # or the rows before would stay in memory

    def _settled(self) -> Outcome | None:
        """Bring what is known here up to date with the device, and give what the batch counted."""
        with self.lock:
            pending = self._pending
            if pending is None:
                return None
            lists, in_place = pending.lists, pending.held.updater.in_place
            outcome = lists.outcome(pending.stamp)
            if outcome.missed:  # nobody went on, so that nothing is referred to yet
                in_place.part_ways()
                outcome.counts[DONE] = 0
            if outcome.counts[DONE]:
                self._now = pending.made(outcome)
            else:
                in_place.reset()
                held = pending.held
                self._now = replace(held, store=replace(held.store, blocks=lists.reset()))
            self._pending = None
            return outcome

    def _in_place(
        self,
        steps: Steps,
        edges: Edges,
        store: Store,
        vertex_fields: dict[str, Any],
        values: list[Any],
        *,
        joins: bool,
        both: bool,
    ) -> Outcome | None:
        """Bring a batch into the rows; None if it does not fit this way, and nothing changed.

        The count of the status word says whether an id was beyond the vertices.
        """
        held = self._held
        updater = held.updater
        in_place = updater.in_place
        keys = edges.count * (2 if both else 1)
        shape = in_place.ready(keys, store.n, store.pools[0].count)
        if shape is None:
            return None
        lists: Any = store.blocks
        if type(lists) is not FreeLists:
            lists = updater.listed(store, keys)
        ends = (edges.src, edges.dst)
        if not edges.on_device:
            work = updater.work
            ends = (work.upload("batch_src", edges.src), work.upload("batch_dst", edges.dst))
        for _ in range(MOST_TRIES):
            self._pending = batch = InPlaceBatch(
                held, store, lists, shape, ends, values, edges.count, both, joins, vertex_fields
            )
            in_place.launch(steps, batch)
            batch.prepare()
            outcome = self._settled()
            assert outcome is not None  # noqa: S101 (it was noted above)
            if outcome.counts[DONE] == DONE_CHANGED:
                return outcome
            if outcome.stamped:
                steps["update"].note(outcome.device_ms)
            if outcome.counts[DONE] and outcome.counts[STATUS]:
                if outcome.counts[STATUS] & WORDS["OUTSIDE"]:
                    return outcome
                in_place.note_crowded(edges.count)
                return None
            if outcome.counts[DONE] and outcome.counts[LACKING]:
                store = self._enlarged(steps, store, keys, outcome)
                in_place.ready(keys, store.n, store.pools[0].count)
            held = self._held
            lists = updater.listed(held.store, keys)
        return None

    def _enlarged(self, steps: Steps, store: Store, keys: int, outcome: Outcome) -> Store:
        """Take the blocks that a refused batch lacked; give the store that it is to change then."""
        held = self._held
        updater = held.updater
        larger = updater.enlarged(steps, held.store, updater.listed(held.store, keys), outcome)
        steps.wait()
        larger.check_narrow()
        # More room changes nothing of what the graph holds.
        self._held = replace(held, store=larger)
        return replace(store, pools=larger.pools, blocks=larger.blocks)
