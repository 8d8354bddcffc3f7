"""Rows of a graph that changes, read in the blocks where they are."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np

from clgraph.device import device as find_device
from clgraph.engine.resident import ResidentGraph, resident, wide_offsets
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = [
    "BlockRows",
    "Changing",
    "Searched",
    "is_changing",
    "rows_in_blocks",
    "rows_of",
    "wide_places",
]

log = logging.getLogger("clgraph")

NOBODY_CHANGES_IT = contextlib.nullcontext()


class Store(Protocol):
    """What a `DynamicGraph` has of its rows; see `clgraph.dynamic.storage.store.Store`."""

    n: int
    m: int
    pointer: Allocation
    used: Allocation
    pools: tuple[Allocation, ...]


class Changing(Protocol):
    """What algorithms ask of a `DynamicGraph`, which they know nothing else of."""

    device: Device
    directed: bool
    sorted: bool
    lock: Any

    @property
    def n(self) -> int:
        """Vertices."""

    @property
    def weighted(self) -> bool:
        """Whether edges have weights, which are the first of their fields then."""

    @property
    def rows(self) -> Any:
        """Its `Store` as it is now: another one after every change."""

    def to_graph(self) -> Graph:
        """Give the same in packed rows."""


def is_changing(graph: Any) -> TypeGuard[Changing]:
    """Tell whether a graph has its rows in blocks, and changes."""
    return callable(getattr(graph, "to_graph", None)) and hasattr(graph, "rows")


@dataclass(frozen=True)
class BlockRows:
    """The rows of a graph that changes, as they are between two changes: to searches, a graph.

    Attributes
    ----------
    store : Store
        Where they are; nobody may change the graph while kernels read it.
    directed : bool
        Whether edges may lack their reverses.
    weighted : bool
        Whether edges have weights.
    kept : dict
        What plans keep with these rows, as with a graph.
    """

    store: Store
    directed: bool
    weighted: bool = False
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    labels = None

    @property
    def n(self) -> int:
        """Vertices."""
        return self.store.n

    @property
    def m(self) -> int:
        """Stored edges."""
        return self.store.m

    @cached_property
    def degrees(self) -> NDArray[Any]:
        """Out-degree of each vertex [n], read from the device."""
        return self.store.used.read(self.n).astype(np.int64)

    @cached_property
    def max_degree(self) -> int:
        """Greatest out-degree; 0 without vertices."""
        return int(self.degrees.max(initial=0))

    @property
    def mean_degree(self) -> float:
        """Stored edges per vertex; 0 without vertices."""
        return self.m / self.n if self.n else 0.0

    @property
    def weights(self) -> Allocation | None:
        """Weights of the entries of the pool, used or not; None where edges have none."""
        return self.store.pools[1] if self.weighted else None

    @property
    def entries(self) -> int:
        """Entries of the pool that the rows are in."""
        return self.store.pools[0].count

    @property
    def wide(self) -> bool:
        """Whether places in the pool take 64 bits."""
        return bool(self.store.pointer.dtype == np.uint64)


class Searched:
    """The graph of a plan, which may change between runs, and does not during one.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        As it was given.
    device : Device or str, optional
        Where the plan is to run; default is where a graph that changes is, else none.
    needs : str
        What the plan needs packed rows for, which is logged; "" where blocks will do.
    weighted : bool, optional
        As for `as_graph`.

    Attributes
    ----------
    given : Graph or Changing
        The graph.
    device : Device or str, optional
        As above.
    alone : context manager
        To hold while it is to stay as it is; a lock as such, see `clgraph.engine.plan.Turn`.
    """

    def __init__(
        self,
        graph: Any,
        device: Device | str | None = None,
        needs: str = "",
        *,
        weighted: bool | None = None,
    ) -> None:
        self._changing: Changing | None = graph if is_changing(graph) else None
        self.given = as_graph(graph, weighted=weighted) if self._changing is None else graph
        self.device = device
        lock = NOBODY_CHANGES_IT if self._changing is None else self._changing.lock
        self.alone: contextlib.AbstractContextManager[object] = lock
        self._packs = bool(needs)
        self._seen: Any = None
        if self._changing is not None:
            there = self._changing.device
            if device is None:
                self.device = there
            elif find_device(device) is not there:
                needs = needs or f"they are on {there.name}, where this does not run"
            self._packs = bool(needs)
            if needs:
                log.info("rows of a dynamic graph are packed for this: %s", needs)

    @property
    def in_blocks(self) -> bool:
        """Whether the plan reads rows in blocks."""
        return self._changing is not None and not self._packs

    @property
    def changed(self) -> bool:
        """Whether it has since `now_seen` was called last; while it is kept as it is."""
        return self._changing is not None and self._changing.rows is not self._seen

    def pack(self, why: str) -> None:
        """Have rows packed from now on, since blocks will not do."""
        if not self._packs:
            self._packs = True
            log.info("rows of a dynamic graph are packed for this: %s", why)

    def now(self) -> Any:
        """Give the rows there are: a graph that does not change, or those in blocks."""
        if self._changing is None or self._packs:
            return self.as_graph()
        changing = self._changing
        return BlockRows(changing.rows, directed=changing.directed, weighted=changing.weighted)

    def now_seen(self) -> None:
        """Note that the plan is ready for the rows that there are."""
        if self._changing is not None:
            self._seen = self._changing.rows

    def forget(self) -> None:
        """Note that the plan is ready for none."""
        self._seen = None

    def as_graph(self) -> Graph:
        """Give packed rows in host memory."""
        graph: Graph = self.given if self._changing is None else self._changing.to_graph()
        return graph

    def packed(self, device: Device) -> ResidentGraph:
        """Give packed rows on a device: what results are verified with."""
        return resident(self.as_graph(), device)


def rows_of(graph: Graph | BlockRows, device: Device, progress: Progress | None) -> ResidentGraph:
    """Give where the rows of a graph begin, and their targets, on a device."""
    if isinstance(graph, BlockRows):
        return ResidentGraph(graph.store.pointer, graph.store.pools[0])
    return resident(graph, device, progress)


def rows_in_blocks(graph: Graph | BlockRows) -> BlockRows | None:
    """Give the same where its rows are in blocks, else None."""
    return graph if isinstance(graph, BlockRows) else None


def wide_places(graph: Graph | BlockRows) -> bool:
    """Report whether places of edges take 64 bits on a device."""
    if isinstance(graph, BlockRows):
        return graph.wide
    return wide_offsets(graph.m)
