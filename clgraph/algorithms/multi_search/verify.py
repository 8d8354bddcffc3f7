"""Checks of what many searches gave, by a sample of them: each is searched again by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.plan import BFS
from clgraph.algorithms.multi_search.result import sample_of
from clgraph.algorithms.sssp.plan import SSSP
from clgraph.apart import apart
from clgraph.errors import VerificationError
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["check_figures", "check_rows", "check_shares", "sampled"]

TOLERANCE = 1e-6  # of sums that are added in another order


def sampled(
    graph: Graph, sources: NDArray[np.int64], device: Device, *, weighted: bool
) -> Iterator[tuple[int, NDArray[Any], NDArray[np.bool_]]]:
    """Search again from a few of the sources, evenly spaced, the first and the last among them.

    Each search is a `clgraph.BFS` or `clgraph.SSSP` of its own, whose distances are checked on the
    device by the rules that make them right.

    Yields
    ------
    place : int
        Of the source in `sources`.
    distances : numpy.ndarray [n]
        From there.
    is_reached : bool [n]
        Whether there is a path.
    """
    plan: Any = (SSSP if weighted else BFS)(graph, device=device)
    unreached = plan.unreached if weighted else -1
    for place in sample_of(sources.size):
        distances = plan.run(int(sources[place]), verify=True).distances
        yield place, distances, distances != unreached


def check_rows(
    graph: Graph,
    sources: NDArray[np.int64],
    found: NDArray[Any],
    row: Callable[[NDArray[Any], NDArray[np.bool_]], NDArray[Any]],
    device: Device,
    *,
    weighted: bool = False,
) -> None:
    """Check sampled rows of an array that has one for each source.

    Raises
    ------
    VerificationError
        Naming the first source and place that differ.
    """
    for place, distances, reached in sampled(graph, sources, device, weighted=weighted):
        wanted = row(distances, reached)
        differ = np.flatnonzero(found[place] != wanted)
        if differ.size:
            first = int(differ[0])
            raise VerificationError(
                f"from vertex {sources[place]} entry {first} is {found[place][first]}, but a "
                f"search by itself gives {wanted[first]}."
            )


def check_figures(
    graph: Graph,
    sources: NDArray[np.int64],
    found: NDArray[Any],
    figure: Callable[[NDArray[np.float64]], float],
    device: Device,
    *,
    weighted: bool = False,
) -> None:
    """Check sampled ones of an array with a figure of each source's distances to what it reaches.

    Raises
    ------
    VerificationError
        Naming the first source whose figure differs by more than rounding.
    """
    for place, distances, reached in sampled(graph, sources, device, weighted=weighted):
        wanted = figure(distances[reached].astype(np.float64))
        if not math.isclose(found[place], wanted, rel_tol=TOLERANCE):
            raise VerificationError(
                f"vertex {sources[place]} has {found[place]}, but a search by itself gives "
                f"{wanted}."
            )


def check_shares(
    graph: Graph,
    sources: NDArray[np.int64],
    sums: NDArray[Any],
    device: Device,
    *,
    weighted: bool,
) -> None:
    """Check sums of what shortest paths from the sources pass through each vertex.

    No vertex has less than the sampled sources alone give it, which is computed on the host from
    their distances; all have as much where every source is sampled.

    Parameters
    ----------
    graph : Graph
        Without parallel edges.
    sums : [n]
        Over all sources, not scaled.

    Raises
    ------
    VerificationError
        Naming the first vertex that is off.
    """
    least, places = np.zeros(graph.n), 0
    for place, distances, reached in sampled(graph, sources, device, weighted=weighted):
        share = _dependencies(graph, int(sources[place]), distances, reached, weighted=weighted)
        if not np.isfinite(share).all():
            return  # more paths than a number of the host's counts
        least += share
        places += 1
    slack = (1e-3 if sums.dtype == np.float32 else TOLERANCE) * np.maximum(least, 1.0)
    wrong = sums < least - slack
    if places == sources.size:
        wrong |= sums > least + slack
    first = np.flatnonzero(wrong)
    if first.size:
        v = int(first[0])
        raise VerificationError(
            f"shortest paths pass through vertex {v} {sums[v]} times by all sources, but "
            f"{least[v]} times by {places} of them alone."
        )


def _dependencies(
    graph: Graph,
    source: int,
    distances: NDArray[Any],
    reached: NDArray[np.bool_],
    *,
    weighted: bool,
) -> NDArray[np.float64]:
    """Give the shares of one source [n], by two triangular solves in the order of the distances.

    Numbers of paths solve ``paths = A.T @ paths + e``, where A has the edges of shortest paths; and
    ``x = A @ x + 1 / paths`` has the shares as ``paths * x - 1``.
    """
    sparse, linalg = module("scipy.sparse"), module("scipy.sparse.linalg")
    order = np.flatnonzero(reached)
    order = order[np.argsort(distances[order], kind="stable")]
    rank = np.full(graph.n, -1, np.int64)
    rank[order] = np.arange(order.size)
    edge_sources = np.repeat(np.arange(graph.n), graph.degrees)
    edge_targets = np.asarray(graph.indices)
    known = reached[edge_sources] & reached[edge_targets]
    edge_sources, edge_targets = edge_sources[known], edge_targets[known]
    weights = graph.weights if weighted else None
    lengths: Any = 1 if weights is None else np.asarray(weights)[known]
    on_a_path = (distances[edge_sources] + lengths == distances[edge_targets]) & (
        edge_sources != edge_targets
    )
    size = (order.size, order.size)
    ones = np.full(int(on_a_path.sum()), -1.0)
    edges = (rank[edge_sources[on_a_path]], rank[edge_targets[on_a_path]])
    upper = (sparse.coo_array((ones, edges), size) + sparse.eye_array(order.size)).tocsr()
    start = np.zeros(order.size)
    start[rank[source]] = 1.0

    def through() -> Any:
        paths = linalg.spsolve_triangular(upper.T.tocsr(), start, lower=True)
        return paths * linalg.spsolve_triangular(upper, 1 / paths, lower=False) - 1

    shares = np.zeros(graph.n)
    shares[order] = apart(np.errstate(over="ignore", divide="ignore", invalid="ignore")(through))
    shares[source] = 0.0
    return shares
