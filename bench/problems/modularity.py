"""Modularity of given communities as the runner measures it."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import Modularity
from clgraph.algorithms.communities.verify import host_modularity

from ..peers.libraries import IgraphPeer, NetworkxPeer
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "GivenCommunities"]

MEMBERS = 32  # of each community: vertices of neighbouring numbers


def communities(n: int) -> NDArray[np.uint32]:
    """Give every vertex the number of its community."""
    return (np.arange(n) // MEMBERS).astype(np.uint32)


class ModularityNetworkx(NetworkxPeer):
    """``networkx.community.modularity``."""

    limit_edges = 500_000

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.parts = [range(v, min(v + MEMBERS, self.n)) for v in range(0, self.n, MEMBERS)]

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.networkx.community.modularity(self.graph, self.parts)


class ModularityIgraph(IgraphPeer):
    """``Graph.modularity``."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.membership = communities(self.n).tolist()

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Compute it."""
        return self.graph.modularity(self.membership, weights=self.weights)


class GivenCommunities(Problem):
    """`clgraph.Modularity` of communities that are there."""

    kind = "modularity"
    from_sources = False
    result = "found"
    peers = {"networkx": ModularityNetworkx, "igraph": ModularityIgraph}  # noqa: RUF012

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Modularity(loaded.graph, device=device)
        self.labels = communities(self.graph.n)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the same each time)
        """Compute it; the plan gives a number, and keeps what its launches took."""
        began = time.perf_counter()
        found = np.array([self.plan.run(self.labels)])
        total_ms = 1e3 * (time.perf_counter() - began)
        stats = SimpleNamespace(kernel_ms=self.plan.log.kernel_ms, total_ms=total_ms)
        return SimpleNamespace(found=found, stats=stats)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges and communities, and note the modularity."""
        return {
            "edges": self.graph.m,
            "communities": -(-self.graph.n // MEMBERS),
            "modularity": float(result.found[0]),
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare with NumPy's."""
        expected = np.array([host_modularity(self.graph, self.labels, 1.0, weighted=True)])
        return self.compared(givens, expected, what="modularities", against="numpy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each edge and the label at its end read, and each row's start and label."""
        edges = columns["edges"]
        return Least(bytes=8.0 * edges + 8.0 * self.graph.n, barriers=0.0 * edges)

    def decided(self) -> Record:
        """Give nothing: there is nothing to choose."""
        return {}


PROBLEM = GivenCommunities
