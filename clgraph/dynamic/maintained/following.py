"""What is kept up to date with a dynamic graph."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.device.staying import StaysHere
from clgraph.engine.sweeps import LazyKernels
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.dynamic.parts import Batch, Steps
    from clgraph.dynamic.storage.store import Store

__all__ = ["Change", "Follower"]

FALLS_SHARE = 8  # of the graph's arcs a batch with its rows may be before finding anew takes less


@dataclass(frozen=True, slots=True)
class Change:
    """A batch that is about to change a graph.

    Attributes
    ----------
    batch : Batch
        Keys that join or leave, of both directions where the graph is undirected.
    joins : bool
        Whether they join.
    bits : int
        Of a target in a key.
    before, after : Store
        The graph without, or with, the batch.
    """

    batch: Batch
    joins: bool
    bits: int
    before: Store
    after: Store

    @property
    def without(self) -> Store:
        """The one of the two that has none of the batch."""
        return self.before if self.joins else self.after

    @property
    def keys(self) -> tuple[Any, ...]:
        """Arguments that kernels about the batch begin with."""
        return self.batch.keys, np.uint32(self.batch.count), np.uint32(self.bits)


class Follower(StaysHere):
    """Base of what is kept up to date: every change of the graph changes it too, or makes it stale.

    Parameters
    ----------
    graph : DynamicGraph
        What to follow.
    verify : bool
        Whether every value is compared with one that is found anew.

    Attributes
    ----------
    graph : DynamicGraph
        What is followed.
    updates, recounts : int
        How often values were brought up to date, and found anew.
    last_ms : float
        Host wall clock of the last time of either.
    by_place : bool
        Whether what is known is by edges' places in the pool, so that it is not once these change.
    """

    by_place: ClassVar[bool] = False

    @flags
    def __init__(self, graph: DynamicGraph, *, verify: bool = False) -> None:
        self.graph = graph
        self.verify = verify
        self.updates = self.recounts = 0
        self.last_ms = 0.0
        graph.follow(self)

    def close(self) -> None:
        """Follow no longer."""
        self.graph.unfollow(self)

    def advanced(self, steps: Steps, state: Any, change: Change) -> Any:
        """Give the state after a change; None if it is to be found anew when somebody asks."""
        raise NotImplementedError

    def found(self) -> Any:
        """Find the state anew."""
        raise NotImplementedError

    def check(self, state: Any) -> None:
        """Raise VerificationError if the state is not that of the graph."""
        raise NotImplementedError

    def followed(self, steps: Steps, state: Any, change: Change) -> Any:
        """Give the state after a change, and note the time; called by the graph."""
        began = time.perf_counter()
        if state is None or not self._pays(change):
            return None
        state = self.advanced(steps, state, change)
        if state is not None:
            steps.wait()
            self.updates += 1
            self.last_ms = 1e3 * (time.perf_counter() - began)
        return state

    def _pays(self, change: Change) -> bool:
        """Whether what the batch touches is little beside the graph."""
        graph = change.before
        mean = graph.m / max(graph.n, 1)
        return change.batch.count * (1 + mean) * FALLS_SHARE <= max(graph.m, 4096 * FALLS_SHARE)

    @property
    def state(self) -> Any:
        """The state of the graph as it is now, found anew where that takes less or is needed."""
        with self.graph.lock:
            state = self.graph.state_of(self)
            if state is None:
                began = time.perf_counter()
                state = self.found()
                self.graph.keep_state(self, state)
                self.recounts += 1
                self.last_ms = 1e3 * (time.perf_counter() - began)
            elif self.verify:
                self.check(state)
            return state

    @cached_property
    def kernels(self) -> LazyKernels:
        """Those of ``dynamic/follow.cl``."""
        wide = self.graph.rows.pointer.dtype == np.uint64
        files = {"follow": ("dynamic/follow.cl", {"per_vertex": False})}
        return LazyKernels(self.graph.device, files, wide=wide)


def check_rows(graph: DynamicGraph, *, undirected: bool) -> None:
    """Refuse graphs whose rows do not ascend, or that go one way where they must not."""
    if not graph.sorted:
        raise InvalidArgumentError("rows must ascend for this; make the graph with sorted=True.")
    if undirected and graph.directed:
        raise InvalidArgumentError("this needs an undirected graph; make it with directed=False.")
