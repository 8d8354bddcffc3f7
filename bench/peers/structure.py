"""Colourings and maximal independent sets: what is right of any, and those of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.csr import row_ids

from ..runner.pinned import SEED
from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["COLORINGS", "INDEPENDENT_SETS", "coloring_fault", "set_fault"]


def _ends(graph: Graph) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the ends of all edges but self-loops."""
    sources, targets = row_ids(np.asarray(graph.indptr)), np.asarray(graph.indices)
    others = sources != targets
    return sources[others], targets[others]


def coloring_fault(graph: Graph, colors: NDArray[Any]) -> str:
    """Say what is wrong with a colouring; nothing if neighbours always differ."""
    if len(colors) != graph.n:
        return f"{len(colors)} colours instead of {graph.n}"
    sources, targets = _ends(graph)
    same = np.flatnonzero(colors[sources] == colors[targets])
    return f"{same.size} edges have ends of one colour" if same.size else ""


def set_fault(graph: Graph, chosen: NDArray[Any]) -> str:
    """Say what is wrong with a maximal independent set; nothing if it is one."""
    if len(chosen) != graph.n:
        return f"{len(chosen)} vertices instead of {graph.n}"
    chosen = chosen.astype(bool)
    sources, targets = _ends(graph)
    within = int(np.count_nonzero(chosen[sources] & chosen[targets]))
    if within:
        return f"{within} edges have both ends in the set"
    covered = chosen.copy()
    covered[sources[chosen[targets]]] = True
    return "" if covered.all() else f"{np.count_nonzero(~covered)} vertices could be added"


class _Colors(Peer):
    """Answers need not be ours, but right: no two libraries find the same."""

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Say what is wrong with colours."""
        return coloring_fault(self.given, found)


class _Chosen(Peer):
    """Sets need not be ours either, but right."""

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Say what is wrong with a set."""
        return set_fault(self.given, found)


class ColoringIgraph(_Colors, IgraphPeer):
    """``Graph.vertex_coloring_greedy``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Colour the vertices."""
        return self.graph.vertex_coloring_greedy()


class ColoringNetworkx(_Colors, NetworkxPeer):
    """``networkx.greedy_color``."""

    missing = 0

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Colour the vertices, those of most neighbours first."""
        return self.networkx.greedy_color(self.graph, strategy="largest_first")


class SetNetworkit(_Chosen, NetworkitPeer):
    """``independentset.Luby``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Choose vertices."""
        return self.networkit.independentset.Luby().run(self.graph)


class SetNetworkx(_Chosen, NetworkxPeer):
    """``networkx.maximal_independent_set``."""

    limit_edges = 200_000

    def run(self, given: int) -> Any:
        """Choose vertices."""
        return self.networkx.maximal_independent_set(self.graph, seed=SEED + given)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take which are in the set."""
        chosen = np.zeros(self.n, bool)
        chosen[answer] = True
        return chosen


COLORINGS: dict[str, type[Peer]] = {"igraph": ColoringIgraph, "networkx": ColoringNetworkx}
INDEPENDENT_SETS: dict[str, type[Peer]] = {"networkit": SetNetworkit, "networkx": SetNetworkx}
