"""Scores of nodes by their neighbours': PageRank, hubs and authorities, eigenvector and Katz."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.algorithms.ranking.eigenvector import eigenvector_centrality
from clgraph.algorithms.ranking.hits import hits
from clgraph.algorithms.ranking.katz import katz_centrality
from clgraph.algorithms.ranking.pagerank import pagerank
from clgraph.interop.networkx.searching import current_device
from clgraph.interop.networkx.serving import serves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph.graph import Graph
    from clgraph.interop.networkx.graph import NetworkxGraph

__all__ = ["Ranking"]

GROUP = "rankings"
SWEEP = "sweep"


def _rows(graph: NetworkxGraph, weight: Any, max_iter: int) -> Graph:
    """Give what is ranked, in a number of iterations that networkx would try."""
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return graph.plain if weight is None else graph.weighted(weight)


def _by_node(graph: NetworkxGraph, values: Mapping[Any, float] | None) -> NDArray[Any] | None:
    """Values by vertex, 0 where there are none."""
    if values is None:
        return None
    return np.array([values.get(node, 0) for node in graph.names], np.float64)


def _shares(graph: NetworkxGraph, values: Mapping[Any, float] | None) -> NDArray[Any] | None:
    """Give the same, which networkx divides by its sum."""
    found = _by_node(graph, values)
    if found is not None and found.sum() == 0:
        raise ZeroDivisionError
    return found


def _scores(graph: NetworkxGraph, found: Any, max_iter: int) -> dict[Any, float]:
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(graph.names, found.ranks.tolist(), strict=True))


class Ranking:
    """Functions of networkx's modules on link analysis and on centrality by eigenvectors."""

    @serves(GROUP, SWEEP, multigraph=False)
    def pagerank(
        self,
        G: Any,
        alpha: float = 0.85,
        personalization: Any = None,
        max_iter: int = 100,
        tol: float = 1e-06,
        nstart: Any = None,
        weight: Any = "weight",
        dangling: Any = None,
    ) -> dict[Any, float]:
        """Share of time that a surfer spends at each node."""
        if not G.n:
            return {}
        found = pagerank(
            _rows(G, weight, max_iter),
            alpha=alpha,
            personalization=_shares(G, personalization),
            max_iter=max_iter,
            tol=tol,
            nstart=_shares(G, nstart),
            dangling=_shares(G, dangling),
            device=current_device(),
        )
        return _scores(G, found, max_iter)

    @serves(
        GROUP,
        SWEEP,
        multigraph=False,
        note="by powers, to the tolerance that is asked for",
        later={"method": "power_iteration"},
    )
    def hits(
        self,
        G: Any,
        max_iter: int = 100,
        tol: float = 1e-08,
        nstart: Any = None,
        normalized: bool = True,
    ) -> tuple[dict[Any, float], dict[Any, float]]:
        """Score nodes as hubs and as authorities."""
        if not normalized and "method" in inspect.signature(nx.hits).parameters:
            raise NotImplementedError("networkx scales such scores in another way since 3.7")
        if not G.n:
            return {}, {}
        found = hits(
            _rows(G, "weight", max_iter),
            # Networkx counts steps of another method, which are worth more.
            max_iter=100 * max_iter,
            tol=min(tol, 1e-10) / G.n,
            nstart=_by_node(G, nstart),
            normalized=normalized,
            device=current_device(),
        )
        if not normalized:  # networkx brings authorities to length 1, and not the hubs
            length = float(np.linalg.norm(found.authorities)) or 1.0
            found.ranks = found.ranks * length
            found.authorities = found.authorities / length
        hubs = _scores(G, found, max_iter)
        return hubs, dict(zip(G.names, found.authorities.tolist(), strict=True))

    @serves(GROUP, SWEEP, multigraph=False)
    def eigenvector_centrality(
        self,
        G: Any,
        max_iter: int = 100,
        tol: float = 1e-06,
        nstart: Any = None,
        weight: Any = None,
    ) -> dict[Any, float]:
        """Score nodes by the scores of those with edges to them."""
        if not G.n:
            raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
        if nstart is not None and not any(nstart.values()):
            raise nx.NetworkXError("initial vector cannot have all zero values")
        found = eigenvector_centrality(
            _rows(G, weight, max_iter),
            max_iter=max_iter,
            tol=tol,
            nstart=_by_node(G, nstart),
            device=current_device(),
        )
        return _scores(G, found, max_iter)

    @serves(
        GROUP,
        SWEEP,
        multigraph=False,
        refuses={"nstart": "it is what networkx begins with, and makes no difference in the end"},
    )
    def katz_centrality(
        self,
        G: Any,
        alpha: float = 0.1,
        beta: Any = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-06,
        nstart: Any = None,
        normalized: bool = True,
        weight: Any = None,
    ) -> dict[Any, float]:
        """Score nodes by the walks that lead to them."""
        if not G.n:
            return {}
        given = beta
        if isinstance(beta, dict):
            if set(beta) != set(G.names):
                raise nx.NetworkXError("beta dictionary must have a value for every node")
            given = _by_node(G, beta)
        else:
            try:
                given = float(beta)
            except (TypeError, ValueError, AttributeError) as error:
                raise nx.NetworkXError("beta must be a number") from error
        found = katz_centrality(
            _rows(G, weight, max_iter),
            alpha=alpha,
            beta=given,
            max_iter=max_iter,
            tol=tol,
            normalized=normalized,
            device=current_device(),
        )
        return _scores(G, found, max_iter)
