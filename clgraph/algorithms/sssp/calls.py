"""Shortest paths by weight in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.plan import SSSP
from clgraph.documented import documented
from clgraph.engine.arguments import vertex_numbers
from clgraph.engine.blocks import is_changing
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.result import SSSPResult
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["sssp"]


@documented(SSSP, SSSP.run)
@flags
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
