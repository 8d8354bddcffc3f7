"""Leiden communities as the runner measures them; Louvain's are a case of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph import CommunitiesConfig, Leiden
from clgraph.algorithms.communities.verify import host_modularity, verify_communities
from clgraph.errors import VerificationError

from ..peers.communities import DETECTED
from ..runner.problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Louvain

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "LeidenCommunities"]


class LeidenCommunities(Problem):
    """`clgraph.Leiden`, or what a subclass names; weights are not counted.

    Of a directed graph the edges are taken both ways, and peers get that graph. The number of the
    repeat is the seed.
    """

    kind = "leiden"
    presets = ("auto", "local", "global")
    plan_of: ClassVar[type[Leiden | Louvain]] = Leiden
    peers = DETECTED["leiden"]
    from_sources = False
    result = "labels"

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        if self.graph.directed:
            self.graph = self.graph.symmetrized()
        chosen = CommunitiesConfig.of(config)
        self.plan = self.plan_of(self.graph, weights=False, config=chosen, device=device)

    def run(self, given: int) -> Any:
        """Find communities."""
        return self.plan.run(seed=given)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges, communities, passes over edges, and the modularity."""
        passes = sum(level["passes"] * level["edges"] for level in result.stats.levels)
        return {
            "edges": self.graph.m,
            "communities": result.count,
            "modularity": result.modularity,
            "edges_looked_at": passes,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare modularities with NumPy's; of Leiden also that communities are connected.

        Raises
        ------
        VerificationError
            If one is another, labels are not numbered by smallest member, or one is not connected.
        """
        for given in givens:
            result = self.run(given)
            labels = np.asarray(self.values(result))
            _, numbers = np.unique(labels, return_index=True)
            canonical = np.searchsorted(np.sort(numbers), numbers)
            refuse_differences(
                np.unique(labels), canonical, what="labels", against="numbering by least member"
            )
            wanted = host_modularity(self.graph, labels, 1.0, weighted=False)
            if abs(wanted - result.modularity) > 1e-9:
                raise VerificationError(
                    f"not what NumPy gives: modularity {result.modularity}, not {wanted}."
                )
            verify_communities(
                self.graph,
                labels,
                result.modularity,
                1.0,
                weighted=False,
                unit=1.0,
                connected=self.plan_of is Leiden,
            )
        return {"against": "numpy, scipy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each stored edge and the label at its end read once, and a label written."""
        edges = columns["edges"]
        return Least(bytes=8.0 * edges + 12.0 * self.graph.n, barriers=0.0 * edges)


PROBLEM = LeidenCommunities
