"""Random walks from every vertex as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import RandomWalks
from clgraph.errors import VerificationError

from ..peers.walks import LENGTH, WALKS, every_walk_fault, second_steps_fault, walks_fault
from ..runner.judged import Judged
from ..runner.pinned import SEED
from ..runner.problem import Least

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Walks"]

# p and q of each preset: DeepWalk's, and what node2vec's authors take for communities.
BIASES = {"auto": (1.0, 1.0), "node2vec": (0.25, 4.0)}
# How many walks of two steps are counted, from a vertex of about so many neighbours.
COUNTED, NEIGHBORS = 1 << 16, 16


class Walks(Judged):
    """`clgraph.RandomWalks`, one walk from each vertex; the number of the repeat is the seed."""

    kind = "walks"
    presets = tuple(BIASES)
    result = "walks"
    peers = WALKS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.p, self.q = BIASES[config]
        self.plan = RandomWalks(self.graph, device=device)
        self.starts = np.arange(self.graph.n)

    def run(self, given: int) -> Any:
        """Walk with a seed."""
        return self.plan.run(self.starts, LENGTH, p=self.p, q=self.q, seed=given)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count steps; say whether they depend on the vertex before."""
        return {"edges": result.stats.edges_traversed, "second_order": int(self.p != self.q)}

    def check(self, givens: Sequence[int]) -> Record:
        """Judge walks by the edges, and many of two steps by how often each should be.

        Raises
        ------
        VerificationError
            If they are not along edges, or not as often as they should be.
        """
        super().check(givens)
        degrees = self.graph.degrees.astype(np.int64)
        able = np.flatnonzero(degrees)
        start = able[np.abs(degrees[able] - NEIGHBORS).argmin()]
        walks = self.plan.run(np.full(COUNTED, start), 2, p=self.p, q=self.q, seed=SEED).walks
        fault = walks_fault(self.graph, walks)
        fault = fault or second_steps_fault(self.graph, walks, self.p, self.q)
        if fault:
            raise VerificationError(f"not what {self.kind} asks for: {fault}.")
        return {"against": "its definition, and chi-square of second steps"}

    def fault(self, values: NDArray[Any]) -> str:
        """See that a walk begins at each vertex, and that steps are along edges."""
        return every_walk_fault(self.graph, values)

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a row's ends and a target read, and a vertex written, per step."""
        return Least(bytes=16.0 * columns["edges"], barriers=0.0 * columns["edges"])


PROBLEM = Walks
