"""Louvain and Leiden in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.algorithms.communities.detection import Leiden, Louvain
from clgraph.documented import documented
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from clgraph.algorithms.communities.config import CommunitiesConfig
    from clgraph.algorithms.communities.result import CommunitiesResult
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["leiden", "louvain"]


@documented(Leiden, Leiden.run)
@flags
def leiden(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    iterations: int = 2,
    weights: bool = True,
    config: CommunitiesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> CommunitiesResult:
    """Find communities of high modularity that are connected.

    Returns
    -------
    CommunitiesResult
        ``labels`` int32 [n], 0 .. count - 1 by smallest member; ``count``; ``modularity``;
        ``sizes`` int64 [count]; ``stats``.

    Notes
    -----
    The same seed gives the same communities on every device and in every configuration. Of an
    isolated vertex the community has no other. See `Leiden`.

    References
    ----------
    .. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing
           well-connected communities", Scientific Reports 9, 2019.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], symmetrize=True)
    >>> cg.leiden(graph).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    plan = Leiden(graph, weights=weights, config=config, device=device, progress=progress)
    return plan.run(
        resolution=resolution, seed=seed, iterations=iterations, verify=verify, progress=progress
    )


@documented(leiden)
@flags
def louvain(  # noqa: PLR0913 - all but one by keyword
    graph: Graph,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    iterations: int = 2,
    weights: bool = True,
    config: CommunitiesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> CommunitiesResult:
    """Find communities of high modularity.

    Parameters
    ----------
    verify : bool
        Whether to compute the modularity on the host too.

    Returns
    -------
    CommunitiesResult
        As of `leiden`; communities need not be connected.

    Notes
    -----
    The same seed gives the same communities on every device and in every configuration.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities
           in large networks", Journal of Statistical Mechanics, 2008.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], symmetrize=True)
    >>> cg.louvain(graph).modularity > 0.35
    True
    """
    plan = Louvain(graph, weights=weights, config=config, device=device, progress=progress)
    return plan.run(
        resolution=resolution, seed=seed, iterations=iterations, verify=verify, progress=progress
    )
