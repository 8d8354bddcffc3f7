"""Trusses and cores in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.truss.cores import Cores, core_order
from clgraph.algorithms.truss.plan import Truss
from clgraph.algorithms.truss.result import DenseSubgraph, TrussNumbers
from clgraph.algorithms.truss.searching import truss_order
from clgraph.documented import documented
from clgraph.graph.arguments import flags
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.truss.config import CoresConfig, TrussConfig
    from clgraph.algorithms.truss.result import TrussResult
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["core_numbers", "k_core", "k_truss", "max_truss", "truss_numbers"]


@documented(Truss, Truss.run)
@flags
def truss_numbers(
    graph: Graph,
    *,
    clean: bool = False,
    config: TrussConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> TrussNumbers:
    """Find the truss number of every edge: the greatest k whose k-truss it is in.

    Returns
    -------
    TrussNumbers
        A numpy array uint32 [m], the same for both directions of an edge, at least 2; with
        ``max_k``, the greatest number, or 0 without edges, and ``stats``.

    Raises
    ------
    InvalidArgumentError
        If `config` is not a legal configuration, or not on this device.

    Notes
    -----
    Deterministic. See `Truss` for cost, and for repeated runs.

    Examples
    --------
    >>> import clgraph as cg
    >>> kite = cg.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False, symmetrize=True)
    >>> numbers = cg.truss_numbers(kite)
    >>> numbers.tolist(), numbers.max_k
    ([3, 3, 3, 3, 3, 3, 2, 2], 3)
    """
    plan = Truss(graph, config=config, device=device, clean=clean, progress=progress)
    result = plan.run(progress=progress, verify=verify)
    numbers = np.zeros(0, np.uint32) if result.numbers is None else result.numbers
    return TrussNumbers.of(numbers, result.stats)


@documented(truss_numbers)
@flags
def k_truss(
    graph: Graph,
    k: int,
    *,
    clean: bool = False,
    config: TrussConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> DenseSubgraph:
    """Find the largest subgraph in which every edge is in k - 2 triangles at least.

    Parameters
    ----------
    k : int
        At least 2, which keeps every edge.

    Returns
    -------
    DenseSubgraph
        A `Graph` of the vertices that have edges left, in their order, ``labels`` saying which
        they were; ``mask`` bool [m], which stored edges these are; ``original`` and ``k``. Without
        vertices where there is no such truss.

    Raises
    ------
    InvalidArgumentError
        If `k` is less than 2, or `config` is not a legal configuration, or not on this device.

    Examples
    --------
    >>> import clgraph as cg
    >>> kite = cg.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False, symmetrize=True)
    >>> truss = cg.k_truss(kite, 3)
    >>> truss.n, truss.m, truss.labels.tolist(), truss.mask.tolist()[-2:]
    (3, 6, [0, 1, 2], [False, False])
    """
    k = truss_order(k)
    plan = Truss(graph, config=config, device=device, clean=clean, progress=progress)
    return _subgraph(plan, plan.run(k, progress=progress, verify=verify), clean=clean)


@documented(truss_numbers)
@flags
def max_truss(
    graph: Graph,
    *,
    clean: bool = False,
    config: TrussConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> DenseSubgraph:
    """Find the k-truss of the greatest k that there is one for.

    Returns
    -------
    DenseSubgraph
        As of `k_truss`; its ``k``, also called ``max_k``, is 2 for a graph of edges without
        triangles, and 0 without edges.

    Notes
    -----
    Faster than all numbers: a k is guessed that most edges have too few triangles for, and these
    go at once; where there is no such truss a lower one is tried. See `Truss`.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.max_truss(cg.generate.complete(6)).k
    6
    """
    plan = Truss(graph, config=config, device=device, clean=clean, progress=progress)
    return _subgraph(plan, plan.run(greatest=True, progress=progress, verify=verify), clean=clean)


@documented(Cores, Cores.run)
@flags
def core_numbers(
    graph: Graph,
    *,
    clean: bool = False,
    config: CoresConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.uint32]:
    """Find the core number of every vertex: the greatest k whose k-core it is in.

    Returns
    -------
    uint32 array [n]

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    O(n + m) work, deterministic. See `Cores` for repeated runs.

    Examples
    --------
    >>> import clgraph as cg
    >>> kite = cg.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False, symmetrize=True)
    >>> cg.core_numbers(kite).tolist()
    [2, 2, 2, 1]
    """
    plan = Cores(graph, config=config, device=device, clean=clean, progress=progress)
    numbers = plan.run(progress=progress, verify=verify).numbers
    return np.zeros(0, np.uint32) if numbers is None else numbers


@documented(core_numbers)
@flags
def k_core(
    graph: Graph,
    k: int,
    *,
    clean: bool = False,
    config: CoresConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> DenseSubgraph:
    """Find the largest subgraph in which every vertex has k neighbours at least.

    Parameters
    ----------
    k : int
        At least 0, which keeps everything.

    Returns
    -------
    DenseSubgraph
        As of `k_truss`, with all vertices of the core.

    Raises
    ------
    InvalidArgumentError
        If `k` is negative, or `config` is not a legal configuration, or not on this device.

    Examples
    --------
    >>> import clgraph as cg
    >>> kite = cg.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False, symmetrize=True)
    >>> cg.k_core(kite, 2).labels.tolist()
    [0, 1, 2]
    """
    k = core_order(k)
    plan = Cores(graph, config=config, device=device, clean=clean, progress=progress)
    within = plan.run(k, progress=progress, verify=verify).mask
    if within is None:
        within = np.zeros(plan.simple.n, np.bool_)
    sources = row_ids(plan.graph.indptr)
    targets = plan.graph.indices
    mask = within[sources] & within[targets] & (sources != targets)
    return DenseSubgraph.of(plan.graph, mask, within, k, clean=clean)


def _subgraph(plan: Truss, result: TrussResult, *, clean: bool) -> DenseSubgraph:
    graph = plan.graph
    mask = np.zeros(graph.m, np.bool_) if result.mask is None else result.mask
    within = np.zeros(graph.n, np.bool_)
    within[row_ids(graph.indptr)[mask]] = True
    within[graph.indices[mask]] = True
    return DenseSubgraph.of(graph, mask, within, result.k or 0, clean=clean)
