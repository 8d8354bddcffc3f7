"""Triangles in one call: how many, of which vertices and edges, and which they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.triangles.plan import BLOCK, MAX_TRIANGLES, PERS, Triangles
from clgraph.documented import documented
from clgraph.graph.arguments import flags, one_of
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import TrianglesConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["triangle_blocks", "triangle_count", "triangles"]


@documented(Triangles, Triangles.run)
@flags
def triangle_count(
    graph: Graph | DynamicGraph,
    *,
    clean: bool = False,
    config: TrianglesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> int:
    """Count the triangles of an undirected graph.

    Returns
    -------
    int
        Exact, beyond 2**32 too.

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    O(m^1.5) work, deterministic. See `Triangles` for times and for repeated counts.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.triangle_count(cg.generate.complete(6))
    20
    """
    plan = Triangles(graph, config=config, device=device, clean=clean, progress=progress)
    return plan.run(verify=verify).count


@documented(Triangles, Triangles.run)
@flags
def triangles(
    graph: Graph | DynamicGraph,
    per: Literal["vertex", "edge", "list"] = "vertex",
    *,
    clean: bool = False,
    max_triangles: int = MAX_TRIANGLES,
    config: TrianglesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[Any]:
    """Report of which vertices or edges the triangles of an undirected graph are, or list them.

    Parameters
    ----------
    per : {"vertex", "edge", "list"}
        What to report.
    max_triangles : int
        Most triangles that may be listed; `triangle_blocks` lists any number.

    Returns
    -------
    numpy.ndarray
        int64 [n], triangles of each vertex; uint32 [m], those of each stored edge, the same in
        both directions; or int64 [t, 3], the corners of each triangle, ascending, in lexicographic
        order.

    Notes
    -----
    Deterministic. Listing counts first and takes 12 bytes per triangle of device memory.

    Examples
    --------
    >>> import clgraph as cg
    >>> square = cg.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], directed=False, symmetrize=True)
    >>> cg.triangles(square, per="vertex").tolist()
    [2, 1, 2, 1]
    >>> cg.triangles(square, per="list").tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    one_of("per", per, PERS[1:])
    plan = Triangles(graph, config=config, device=device, clean=clean, progress=progress)
    found = plan.run(per, max_triangles=max_triangles, verify=verify).values
    report_progress(progress, 1, 1, "counting triangles")
    return np.zeros(0) if found is None else found


@documented(Triangles, Triangles.blocks)
@flags
def triangle_blocks(
    graph: Graph,
    size: int = BLOCK,
    *,
    clean: bool = False,
    device: Device | str | None = None,
    progress: Progress | None = None,
) -> Iterator[NDArray[np.int64]]:
    """List all triangles of an undirected graph, some at a time."""
    plan = Triangles(graph, config="bitmap", device=device, clean=clean, progress=progress)
    yield from plan.blocks(size)
