"""Strongly and weakly connected components by other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.graph.modules import module

from .libraries import (
    CugraphPeer,
    IgraphPeer,
    NetworkitPeer,
    NetworkxPeer,
    ScipyPeer,
    scipy_matrix,
)
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["STRONG", "WEAK", "by_smallest_member", "strong_labels", "weak_labels"]


def by_smallest_member(labels: Any) -> NDArray[np.int32]:
    """Renumber components 0, 1, ... by their smallest member, whatever they are called."""
    _, first, place = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[place]


def strong_labels(graph: Graph) -> NDArray[np.int32]:
    """Strongly connected components by scipy, to check others against."""
    return _scipy_labels(graph, "strong")


def weak_labels(graph: Graph) -> NDArray[np.int32]:
    """Weakly connected components by scipy, to check others against."""
    return _scipy_labels(graph, "weak")


def _scipy_labels(graph: Graph, connection: str) -> NDArray[np.int32]:
    components = module("scipy.sparse.csgraph").connected_components
    # scipy 1.17 gives wrong strong components where parallel edges are separate entries.
    matrix = scipy_matrix(graph).copy()
    matrix.sum_duplicates()
    _, labels = components(matrix, directed=True, connection=connection)
    return by_smallest_member(labels)


class _Labels(Peer):
    """Answers are labels of vertices."""

    def values(self, answer: Any, given: int) -> NDArray[np.int32]:  # noqa: ARG002 (none needed)
        """Renumber them as we do."""
        return by_smallest_member(answer)


class _Sets(Peer):
    """Answers are sets of vertices."""

    def values(self, answer: Iterable[Sequence[int]], given: int) -> NDArray[np.int32]:  # noqa: ARG002
        """Give each vertex the number of its set."""
        labels = np.empty(self.n, np.int64)
        for place, members in enumerate(answer):
            labels[list(members)] = place
        return by_smallest_member(labels)


class StrongScipy(_Labels, ScipyPeer):
    """``connected_components``."""

    connection: ClassVar[str] = "strong"

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Label them."""
        return self.csgraph.connected_components(
            self.matrix, directed=True, connection=self.connection
        )[1]


class WeakScipy(StrongScipy):
    """``connected_components`` either way."""

    connection = "weak"


class StrongNetworkx(_Sets, NetworkxPeer):
    """``strongly_connected_components``, or ``connected_components``."""

    function: ClassVar[str] = "strongly_connected_components"

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """List them all."""
        name = self.function if self.graph.is_directed() else "connected_components"
        return list(getattr(self.networkx, name)(self.graph))


class WeakNetworkx(StrongNetworkx):
    """``weakly_connected_components``, or ``connected_components``."""

    function = "weakly_connected_components"


class StrongIgraph(_Labels, IgraphPeer):
    """``Graph.connected_components``."""

    mode: ClassVar[str] = "strong"

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Label them."""
        return self.graph.connected_components(mode=self.mode).membership


class WeakIgraph(StrongIgraph):
    """``Graph.connected_components`` either way."""

    mode = "weak"


class StrongNetworkit(_Labels, NetworkitPeer):
    """``components.StronglyConnectedComponents``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Run it; the partition stays inside."""
        return self.networkit.components.StronglyConnectedComponents(self.graph).run()

    def values(self, answer: Any, given: int) -> NDArray[np.int32]:
        """Take the vector of the partition."""
        return super().values(answer.getPartition().getVector(), given)


class WeakNetworkit(StrongNetworkit):
    """``components.WeaklyConnectedComponents``, or ``ConnectedComponents``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Run it; the sets stay inside."""
        components = self.networkit.components
        directed = self.graph.isDirected()
        kind = components.WeaklyConnectedComponents if directed else components.ConnectedComponents
        return kind(self.graph).run()

    def values(self, answer: Any, given: int) -> NDArray[np.int32]:
        """Take the sets."""
        return _Sets.values(self, answer.getComponents(), given)  # type: ignore[arg-type]


class StrongCugraph(_Labels, CugraphPeer):
    """``cugraph.strongly_connected_components``."""

    function: ClassVar[str] = "strongly_connected_components"

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Label them in a data frame."""
        return getattr(self.cugraph, self.function)(self.graph)

    def values(self, answer: Any, given: int) -> NDArray[np.int32]:
        """Sort by vertex."""
        return super().values(self.column(answer, "labels"), given)


class WeakCugraph(StrongCugraph):
    """``cugraph.weakly_connected_components``."""

    function = "weakly_connected_components"


STRONG: dict[str, type[Peer]] = {
    "scipy": StrongScipy,
    "networkx": StrongNetworkx,
    "igraph": StrongIgraph,
    "networkit": StrongNetworkit,
    "cugraph": StrongCugraph,
}
WEAK: dict[str, type[Peer]] = {
    "scipy": WeakScipy,
    "networkx": WeakNetworkx,
    "igraph": WeakIgraph,
    "networkit": WeakNetworkit,
    "cugraph": WeakCugraph,
}
