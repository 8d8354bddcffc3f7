"""How near the neighbours of vertices are to each other: clustering coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.calls import triangle_count
from clgraph.algorithms.triangles.plan import Triangles
from clgraph.documented import documented
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.triangles.config import TrianglesConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = [
    "average_clustering",
    "closed_shares",
    "closed_total",
    "local_clustering",
    "transitivity",
]


def closed_shares(degrees: NDArray[Any], found: NDArray[Any] | None) -> NDArray[np.float64]:
    """Share of the pairs of each vertex's neighbours that are joined, by its triangles; or 0."""
    known = degrees.astype(np.float64)
    pairs = known * (known - 1) / 2
    shares = np.zeros(len(known))
    if found is not None:
        np.divide(found, pairs, out=shares, where=pairs > 0)
    return shares


def closed_total(degrees: NDArray[Any], count: int) -> float:
    """Share of all paths of two edges that a third edge closes; 0 without such paths."""
    known = degrees.astype(np.int64)
    paths = int((known * (known - 1) // 2).sum())
    return 3 * count / paths if paths else 0.0


@documented(triangle_count)
@flags
def local_clustering(
    graph: Graph,
    *,
    clean: bool = False,
    config: TrianglesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.float64]:
    """Share of the pairs of each vertex's neighbours that are neighbours themselves.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected, without self-loops and parallel edges.

    Returns
    -------
    float64 array [n]
        From 0 to 1; 0 for vertices of fewer than two neighbours.

    Notes
    -----
    O(m^1.5) work, deterministic.

    References
    ----------
    .. [1] D. J. Watts, S. H. Strogatz, "Collective dynamics of small-world networks", Nature 1998.

    Examples
    --------
    >>> import clgraph as cg
    >>> square = cg.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], directed=False, symmetrize=True)
    >>> cg.local_clustering(square).round(3).tolist()
    [0.667, 1.0, 0.667, 1.0]
    """
    plan = Triangles(graph, config=config, device=device, clean=clean, progress=progress)
    return closed_shares(plan.simple.degrees, plan.run("vertex", verify=verify).values)


@documented(local_clustering)
@flags
def average_clustering(
    graph: Graph,
    *,
    clean: bool = False,
    config: TrianglesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> float:
    """Mean of `local_clustering` over all vertices; 0 without vertices.

    Returns
    -------
    float

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.average_clustering(cg.generate.complete(5))
    1.0
    """
    shares = local_clustering(
        graph, clean=clean, config=config, device=device, progress=progress, verify=verify
    )
    return float(shares.mean()) if shares.size else 0.0


@documented(local_clustering)
@flags
def transitivity(
    graph: Graph,
    *,
    clean: bool = False,
    config: TrianglesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> float:
    """Share of the paths of two edges that a third edge closes; 0 without such paths.

    Returns
    -------
    float
        Three times the triangles over the paths.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.transitivity(cg.generate.complete(5))
    1.0
    """
    plan = Triangles(graph, config=config, device=device, clean=clean, progress=progress)
    return closed_total(plan.simple.degrees, plan.run(verify=verify).count)
