"""Triangles in one call: how many, of which vertices and edges, and which they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.algorithms.triangles.plan import BLOCK, MAX_TRIANGLES, PERS, Triangles
from clgraph.errors import InvalidArgumentError
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

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        Without self-loops and parallel edges; weights are ignored.
    clean : bool
        Whether to take any graph, as if its edges went both ways, once, and self-loops were not
        there.
    config : TrianglesConfig or str, optional
        A configuration or the name of a preset; default "auto".
    device : Device or str, optional
        Default is ``clgraph.device()``.
    progress : callable or True, optional
        Called while the graph is uploaded.
    verify : bool
        Whether to count again in another way.

    Returns
    -------
    int
        Exact, beyond 2**32 too.

    Raises
    ------
    InvalidGraphError
        If the graph is directed, or has self-loops or parallel edges, and is not to be cleaned.
    DeviceMemoryError
        If it does not fit the device.
    VerificationError
        If the result was to be checked and is wrong.

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
    graph : Graph, DynamicGraph or scipy.sparse matrix
        As for `triangle_count`.
    per : {"vertex", "edge", "list"}
        What to report.
    clean : bool
        As for `triangle_count`; a stored edge then has what its edge has in the cleaned graph, and
        a self-loop 0.
    max_triangles : int
        Most triangles that may be listed; `triangle_blocks` lists any number.
    config, device, progress, verify
        As for `triangle_count`.

    Returns
    -------
    numpy.ndarray
        int64 [n], triangles of each vertex; uint32 [m], those of each stored edge, the same in
        both directions; or int64 [t, 3], the corners of each triangle, ascending, in lexicographic
        order.

    Raises
    ------
    InvalidArgumentError
        If `per` is unknown, or there are more triangles to list than allowed.
    InvalidGraphError, DeviceMemoryError, VerificationError
        As for `triangle_count`.

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
    if per not in PERS[1:]:
        raise InvalidArgumentError(f"per={per!r} is not one of {', '.join(PERS[1:])}.")
    plan = Triangles(graph, config=config, device=device, clean=clean, progress=progress)
    found = plan.run(per, max_triangles=max_triangles, verify=verify).values
    report_progress(progress, 1, 1, "counting triangles")
    return np.zeros(0) if found is None else found


def triangle_blocks(
    graph: Graph,
    size: int = BLOCK,
    *,
    clean: bool = False,
    device: Device | str | None = None,
    progress: Progress | None = None,
) -> Iterator[NDArray[np.int64]]:
    """List all triangles of an undirected graph, some at a time.

    Parameters
    ----------
    graph, clean, device, progress
        As for `triangle_count`.
    size : int
        Most triangles of a block, unless those of one middle vertex are more.

    Yields
    ------
    int64 array [k, 3]
        Corners ascending, in lexicographic order within the block; each triangle once.

    Raises
    ------
    InvalidGraphError, DeviceMemoryError
        As for `triangle_count`.
    """
    plan = Triangles(graph, config="bitmap", device=device, clean=clean, progress=progress)
    yield from plan.blocks(size)
