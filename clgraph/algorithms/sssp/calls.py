"""Shortest paths by weight in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.plan import SSSP
from clgraph.engine.arguments import vertex_numbers
from clgraph.engine.blocks import is_changing
from clgraph.graph import as_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.result import SSSPResult
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["sssp"]


def sssp(  # noqa: PLR0913 - all but two by keyword
    graph: Graph | DynamicGraph,
    source: int | Sequence[int],
    *,
    predecessors: bool = False,
    target: int | None = None,
    max_distance: float | None = None,
    config: SSSPConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> SSSPResult:
    """Lengths of shortest paths, and optionally one tree of them, from one or several sources.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        With weights: int32, int64, uint32, float32 or float64. Negative ones need a directed graph.
    source : int or sequence of int
        Where paths may begin: vertices in [0, n).
    predecessors : bool
        Whether to label a tree too; costs one more pass over the edges of reached vertices.
    target : int, optional
        Stop as soon as this vertex's distance is known; whatever is farther stays unreached.
        With negative weights the search goes on to the end.
    max_distance : float, optional
        Vertices farther than this stay unreached. Where weights are negative, paths may lead
        through those, so there is no tree then.
    config : SSSPConfig or str, optional
        A configuration or the name of a preset; default "auto".
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded, where that takes long.
    verify : bool
        Whether to check the result on the device.

    Returns
    -------
    SSSPResult
        ``distances`` [n] in the type and unit of the weights, infinity or the largest integer where
        there is no path; ``predecessors`` int32 [n] or None.

    Raises
    ------
    InvalidArgumentError
        If there are no weights, one is not finite, an undirected edge is negative, a vertex is none
        of the graph, or ``config`` is not legal for these weights or on this device.
    NegativeCycleError
        If a source leads to a cycle of negative weight; it names one.
    OverflowError
        If a shortest path is longer than the integer type of the weights holds.
    DeviceMemoryError
        If graph and search state do not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

    Notes
    -----
    Distances are deterministic, of floating-point weights too: a sum is taken from the source on,
    and the least of all sums is what remains. Among several shortest paths the predecessor may
    differ from run to run. Work depends on how far the order of expansion is from that of
    distances: at least each edge of what is reached once, O(n m) at worst.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 0, 1], [1, 2, 2], [2, 9, 3])
    >>> result = cg.sssp(graph, 0, predecessors=True)
    >>> result.distances.tolist(), result.path(2)
    ([0, 2, 5], [0, 1, 2])
    """
    searched: Any = graph if is_changing(graph) else as_graph(graph, weighted=True)
    vertex_numbers(source, searched.n)
    plan = SSSP(
        searched, predecessors=predecessors, config=config, device=device, progress=progress
    )
    return plan.run(source, target=target, max_distance=max_distance, verify=verify)
