"""Communities by other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.verify import host_modularity

from ..runner.pinned import SEED
from .libraries import IgraphPeer, NetworkitPeer, NetworkxPeer
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["DETECTED", "PROPAGATED"]

LOSS = 0.05  # of modularity, beyond which an answer is not the same kind of answer


class _Detects(Peer):
    """Answers are compared by their modularity: no two libraries find the same communities."""

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Say if it is worse than ours by much; note its modularity."""
        theirs = host_modularity(self.given, found, 1.0, weighted=True)
        self.remarks["modularity"] = theirs
        is_worse = theirs < counts["modularity"] - LOSS
        return f"modularity {theirs:.4f}, ours {counts['modularity']:.4f}" if is_worse else ""


class _Igraph(_Detects, IgraphPeer):
    limit_edges = 40_000_000

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take the membership."""
        return np.asarray(answer.membership)


class LeidenIgraph(_Igraph):
    """``Graph.community_leiden`` by modularity, with its two iterations."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find communities."""
        return self.graph.community_leiden("modularity", weights=self.weights)


class LouvainIgraph(_Igraph):
    """``Graph.community_multilevel``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find communities."""
        return self.graph.community_multilevel(weights=self.weights)


class _Networkit(_Detects, NetworkitPeer):
    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take the partition."""
        return np.unique(np.asarray(answer.getPartition().getVector()), return_inverse=True)[1]


class LeidenNetworkit(_Networkit):
    """``community.ParallelLeiden``, with its three iterations."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find communities."""
        found = self.networkit.community.ParallelLeiden(self.graph)
        found.run()
        return found


class LouvainNetworkit(_Networkit):
    """``community.PLM``."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Find communities."""
        found = self.networkit.community.PLM(self.graph)
        found.run()
        return found


class LouvainNetworkx(_Detects, NetworkxPeer):
    """``networkx.community.louvain_communities``."""

    limit_edges = 500_000

    def run(self, given: int) -> Any:
        """Find communities."""
        return self.networkx.community.louvain_communities(self.graph, seed=SEED + given)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Give the sets numbers."""
        labels = np.zeros(self.n, np.int64)
        for number, community in enumerate(answer):
            labels[list(community)] = number
        return labels


class PropagationNetworkit(NetworkitPeer):
    """``community.PLP``, whose rule is another: vertices see labels of the same round."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Propagate."""
        found = self.networkit.community.PLP(self.graph, 0, 10)
        found.run()
        return found

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take the partition."""
        return np.asarray(answer.getPartition().getVector())

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Find nothing wrong as long as every vertex has a label: it goes by another rule."""
        return "" if len(found) == self.n else "vertices have no label"


DETECTED: dict[str, dict[str, type[Peer]]] = {
    "leiden": {"igraph": LeidenIgraph, "networkit": LeidenNetworkit},
    "louvain": {
        "igraph": LouvainIgraph,
        "networkit": LouvainNetworkit,
        "networkx": LouvainNetworkx,
    },
}
PROPAGATED: dict[str, type[Peer]] = {"networkit": PropagationNetworkit}
