"""Checking components by the rules that make them right, not by finding them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.scc.config import SCCConfig
from clgraph.algorithms.scc.sequential import SequentialSearch
from clgraph.algorithms.scc.steps import Steps
from clgraph.device import Memory
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import VerificationError
from clgraph.graph import from_edges
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.components.result import ComponentsResult
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["verify_components"]


def verify_components(
    graph: Graph, result: ComponentsResult, device: Device, *, strong: bool
) -> None:
    """Check labels of strongly or weakly connected components.

    Parameters
    ----------
    graph : Graph
        What was decomposed.
    result : ComponentsResult
        Its components.
    device : Device
        Where closures run.
    strong : bool
        Whether directions count.

    Raises
    ------
    VerificationError
        If a label is out of range, labels are not numbered by smallest member, an edge between two
        components shows that they are one, or a vertex and another of its component do not reach
        each other.
    InvalidGraphError
        If the graph has 2**27 vertices or more.
    DeviceMemoryError
        If the check does not fit the device.

    Notes
    -----
    O(n + m) work: one forward and one backward closure from a vertex of each component inside it,
    and a search for cycles among the contracted components.
    """
    labels = result.labels
    if not graph.n:
        return
    _check_numbers(labels, result.count)
    sources, targets = labels[row_ids(graph.indptr)], labels[graph.indices]
    between = sources != targets
    if strong:
        _check_acyclic(sources[between], targets[between], result.count, device)
        _check_reach(graph, labels, device)
    elif between.any():
        edge = int(np.flatnonzero(between)[0])
        raise VerificationError(
            f"edge {edge} joins components {sources[edge]} and {targets[edge]}, which are one."
        )
    else:
        _check_reach(graph.symmetrized(), labels, device)


def _check_numbers(labels: NDArray[np.int32], count: int) -> None:
    if labels.min() < 0 or labels.max() >= count:
        raise VerificationError(f"labels are from {labels.min()} to {labels.max()} of {count}.")
    first = np.full(count, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    falls = np.flatnonzero(np.diff(first) <= 0)
    if falls.size or first[-1] == labels.size:
        label = int(falls[0]) if falls.size else count - 1
        raise VerificationError(
            f"component {label} begins at vertex {first[label]}, and the labels from there on are "
            "not numbered by smallest member."
        )


def _check_acyclic(
    sources: NDArray[np.int32], targets: NDArray[np.int32], count: int, device: Device
) -> None:
    """Search the contracted graph, in which a cycle would join components."""
    contracted = from_edges(sources, targets, n=count)
    memory = Memory(device)
    search = SequentialSearch(device, memory, resident(contracted, device), count, contracted.m)
    component = memory.allocate("component", count, np.uint32)
    log = SweepLog()
    search.run(log, component, keep=False)
    roots = component.read() & np.uint32(2**31 - 1)
    joined = np.flatnonzero(roots != np.arange(count))
    if joined.size:
        label = int(joined[0])
        raise VerificationError(
            f"components {label} and {roots[label]} reach each other, so they are one."
        )


def _check_reach(graph: Graph, labels: NDArray[np.int32], device: Device) -> None:
    """Run both closures from one vertex of each component, inside it."""
    memory = Memory(device)
    graphs = (resident(graph, device), resident(graph.transpose(), device))
    steps = Steps(SCCConfig(forward_backward=1), device, memory, graphs, graph.n, graph.m)
    ranges = memory.upload("ranges", labels.astype(np.uint32))
    component = memory.allocate("component", graph.n, np.uint32)
    outcome = steps.run(SweepLog(), component, ranges)
    if outcome.depth:
        left = np.flatnonzero(component.read() < 2**31)
        vertex = int(left[0])
        raise VerificationError(
            f"vertex {vertex} and others of its component {labels[vertex]} do not reach each other."
        )
