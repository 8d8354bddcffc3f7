"""Hubs, eigenvector and Katz centrality by other libraries, and what is right of each.

Iterations that are slow to converge end at scores that differ by more than what the last one
changed: so each answer is judged by the equation that it should solve, and not by ours.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.modules import module

from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer, ScipyPeer, scipy_matrix
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = [
    "EIGENVECTORS",
    "HUBS",
    "KATZ",
    "MOST_ITERATIONS",
    "RESIDUAL",
    "TOLERANCE",
    "eigenvector_fault",
    "greatest_eigenvalue",
    "greatest_singular_value",
    "hubs_fault",
    "katz_alpha",
    "katz_fault",
]

TOLERANCE, MOST_ITERATIONS = 1e-8, 20_000  # of what an iteration changes in all
RESIDUAL = 1e-4  # of the sides of an equation, relatively to their length


def _length(values: NDArray[Any]) -> float:
    return float(np.linalg.norm(values)) or 1.0


def _scores_fault(matrix: Any, scores: NDArray[Any], *, signed: bool = False) -> str:
    if scores.shape != (matrix.shape[0],):
        return f"{scores.shape} scores of {matrix.shape[0]} vertices"
    least = -np.inf if signed else -RESIDUAL * scores.max()
    if not np.isfinite(scores).all() or scores.min() < least:
        return "scores that are negative or not finite"
    return ""


def _apart(found: NDArray[Any], wanted: NDArray[Any], what: str) -> str:
    """Say how far two sides of an equation are apart, if they are."""
    apart = _length(found - wanted) / _length(wanted) if (found != wanted).any() else 0.0
    return f"{what} by {apart:.2g} of their length" if apart > RESIDUAL else ""


def greatest_eigenvalue(matrix: Any) -> float:
    """Give the greatest eigenvalue of a matrix of weights from 0 on, by ARPACK."""
    linalg = module("scipy.sparse.linalg")
    found = linalg.eigs(matrix, k=1, which="LR", return_eigenvectors=False, tol=1e-8)
    return float(found[0].real)


def greatest_singular_value(matrix: Any) -> float:
    """Give the greatest singular value of a matrix, by ARPACK."""
    found = module("scipy.sparse.linalg").svds(matrix, k=1, return_singular_vectors=False)
    return float(found[0])


def eigenvector_fault(matrix: Any, scores: NDArray[Any], greatest: float) -> str:
    """Say what is wrong with eigenvector centrality.

    Parameters
    ----------
    matrix : scipy.sparse matrix [n, n]
        Of the graph, rows by source.
    scores : real array [n]
        In any unit.
    greatest : float
        The greatest eigenvalue, or one that is to be reached.

    Returns
    -------
    str
        Nothing if scores are an eigenvector of that value, none of them negative.
    """
    fault = _scores_fault(matrix, scores)
    if fault:
        return fault
    x = scores / _length(scores)
    product = matrix.T @ x
    value = float(x @ product)
    if value < greatest * (1 - RESIDUAL):
        return f"an eigenvalue of {value:.6g} instead of {greatest:.6g}"
    return _apart(product, value * x, "scores and what neighbours give them differ")


def hubs_fault(matrix: Any, scores: NDArray[Any], greatest: float, *, signed: bool = False) -> str:
    """Say what is wrong with hubs and authorities, real [2, n]; see `eigenvector_fault`.

    They may be `signed` where a library finds any vector of the greatest singular value: of
    bipartite graphs there are many.
    """
    if scores.shape != (2, matrix.shape[0]):
        return f"{scores.shape} scores of {matrix.shape[0]} hubs and authorities"
    for each in scores:
        fault = _scores_fault(matrix, each, signed=signed)
        if fault:
            return fault
    hubs, authorities = (each / _length(each) for each in scores)
    given = matrix.T @ hubs
    value = float(given @ given)
    if value < greatest * (1 - RESIDUAL):
        return f"an eigenvalue of {value:.6g} instead of {greatest:.6g}"
    if signed:
        authorities = authorities * np.sign(given @ authorities)
    fault = _apart(matrix @ given, value * hubs, "hubs and what authorities give them differ")
    others = "authorities and what hubs give them differ"
    return fault or _apart(given / _length(given), authorities, others)


def katz_alpha(matrix: Any) -> float:
    """Give the share of a step that is surely below 1 over the greatest eigenvalue."""
    return 1.0 / (1.0 + float(matrix.sum(axis=0).max()))


def katz_fault(matrix: Any, scores: NDArray[Any], alpha: float) -> str:
    """Say what is wrong with Katz centrality in any unit: all must have the same of themselves."""
    fault = _scores_fault(matrix, scores)
    if fault:
        return fault
    own = scores - alpha * (matrix.T @ scores)
    return _apart(own, np.full_like(own, own.mean()), "what vertices have of themselves differs")


class _Judged(Peer):
    """Answers are judged by their equation, and need be as good as ours by its value."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.judging = scipy_matrix(graph)


class _Eigenvector(_Judged):
    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        ours = wanted / _length(wanted)
        return eigenvector_fault(self.judging, found, float(ours @ (self.judging.T @ ours)))


class EigenvectorScipy(_Eigenvector, ScipyPeer):
    """``scipy.sparse.linalg.eigs``, or ``eigsh`` of an undirected graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        linalg = module("scipy.sparse.linalg")
        self.directed = graph.directed
        self.solve = linalg.eigs if graph.directed else linalg.eigsh
        self.pulled = self.matrix.T.tocsr()

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the vector."""
        which = "LR" if self.directed else "LA"
        return np.abs(self.solve(self.pulled, k=1, which=which, tol=TOLERANCE)[1][:, 0].real)


class EigenvectorNetworkx(_Eigenvector, NetworkxPeer):
    """``networkx.eigenvector_centrality``; its tolerance is per vertex."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them."""
        options = {"tol": TOLERANCE / self.n, "max_iter": MOST_ITERATIONS}
        return self.networkx.eigenvector_centrality(self.graph, **options)


class EigenvectorIgraph(_Eigenvector, IgraphPeer):
    """``Graph.eigenvector_centrality``, by ARPACK."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them."""
        with warnings.catch_warnings(action="ignore"):  # of graphs that are not connected
            return self.graph.eigenvector_centrality()


class EigenvectorNetworkit(_Eigenvector, NetworkitPeer):
    """``centrality.EigenvectorCentrality``; its tolerance is of the eigenvalue."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them; scores stay inside."""
        return self.networkit.centrality.EigenvectorCentrality(self.graph, tol=TOLERANCE).run()


class _Hubs(_Judged):
    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        given = self.judging.T @ (wanted[0] / _length(wanted[0]))
        return hubs_fault(self.judging, found, float(given @ given), signed=True)


class HubsScipy(_Hubs, ScipyPeer):
    """``scipy.sparse.linalg.svds``."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.linalg = module("scipy.sparse.linalg")

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find the two vectors."""
        left, _, right = self.linalg.svds(self.matrix, k=1, tol=TOLERANCE)
        return np.stack([left[:, 0], right[0]])


class HubsNetworkx(_Hubs, NetworkxPeer):
    """``networkx.hits``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them."""
        return self.networkx.hits(self.graph, tol=TOLERANCE, max_iter=MOST_ITERATIONS)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Sort by vertex."""
        return np.stack([self.spread(scores) for scores in answer])


class HubsIgraph(_Hubs, IgraphPeer):
    """``Graph.hub_score`` and ``Graph.authority_score``, by ARPACK."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them."""
        with warnings.catch_warnings(action="ignore"):  # of scores that are 0
            return self.graph.hub_score(), self.graph.authority_score()


class _Katz(_Judged):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.alpha = katz_alpha(self.judging)

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        return katz_fault(self.judging, found, self.alpha)


class KatzScipy(_Katz, ScipyPeer):
    """What one writes with ``scipy.sparse``: products with the transposed matrix."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.pulled = self.matrix.T.tocsr()

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Iterate until nothing changes by more than the tolerance."""
        x = np.zeros(self.n)
        for _ in range(MOST_ITERATIONS):
            before = x
            x = self.alpha * (self.pulled @ x) + 1.0
            if np.abs(x - before).sum() < TOLERANCE * self.n:
                break
        return x / _length(x)


class KatzNetworkx(_Katz, NetworkxPeer):
    """``networkx.katz_centrality``; its tolerance is per vertex."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them."""
        options = {"tol": TOLERANCE, "max_iter": MOST_ITERATIONS}
        return self.networkx.katz_centrality(self.graph, self.alpha, **options)


class KatzNetworkit(_Katz, NetworkitPeer):
    """``centrality.KatzCentrality``, whose scores are those by a `beta` of 2, less 1."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Score them; scores stay inside."""
        katz = self.networkit.centrality.KatzCentrality
        return katz(self.graph, alpha=self.alpha, beta=1.0, tol=TOLERANCE).run()

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Add it, in the unit that brings scores to their length."""
        scores, step = np.asarray(answer.scores()), self.alpha * self.judging.T
        unit = _length(scores - step @ scores) / _length(1.0 + step @ np.ones(self.n))
        return scores + unit


EIGENVECTORS: dict[str, type[Peer]] = {
    "scipy": EigenvectorScipy,
    "networkx": EigenvectorNetworkx,
    "igraph": EigenvectorIgraph,
    "networkit": EigenvectorNetworkit,
}
HUBS: dict[str, type[Peer]] = {"scipy": HubsScipy, "networkx": HubsNetworkx, "igraph": HubsIgraph}
KATZ: dict[str, type[Peer]] = {
    "scipy": KatzScipy,
    "networkx": KatzNetworkx,
    "networkit": KatzNetworkit,
}
