"""PageRank of every vertex as the runner measures it."""
"""PageRank by the GAP suite's convention as the runner measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph import PageRank

from ..peers.ranking import ALPHA, MOST_ITERATIONS, RANKS, TOLERANCE, ranks_of
import numpy as np

from clgraph import PageRank

from ..peers.libraries import IgraphPeer, NetworkitPeer, scipy_matrix
from .problem import Least, Problem, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from .graphs import Loaded
    from .records import Record

__all__ = ["PROBLEM", "Ranks"]


class Ranks(Problem):
    """`clgraph.PageRank` to a tolerance, in the most precise type of the device.

    What is compared are ranks times the number of vertices, so that rounding is in proportion.
    """
DAMPING = 0.85
# Convention and iterations by preset; zero tolerance, so that all do the same work.
WAYS = {"gap": ("gap", 20), "graphalytics": ("graphalytics", 10), "auto": ("networkx", 20)}


class PagerankIgraph(IgraphPeer):
    """``Graph.pagerank``, to its own precision."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank."""
        return self.graph.pagerank(damping=DAMPING)

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take the ranks."""
        return np.asarray(answer)

    def complaint(
        self,
        answer: Any,
        given: int,
        wanted: Any,  # noqa: ARG002 (after a number of iterations, not converged)
        counts: Mapping[str, float],  # noqa: ARG002
    ) -> str:
        """Find nothing wrong as long as ranks sum to 1."""
        return "" if abs(self.values(answer, given).sum() - 1) < 1e-6 else "ranks do not sum to 1"


class PagerankNetworkit(NetworkitPeer):
    """``centrality.PageRank``, as many iterations as ours."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank."""
        ranks = self.networkit.centrality.PageRank(self.graph, DAMPING, 0.0)
        ranks.maxIterations = WAYS["auto"][1]
        ranks.run()
        return ranks

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Take the ranks."""
        return np.asarray(answer.scores())

    complaint = PagerankIgraph.complaint


class Ranks(Problem):
    """`clgraph.PageRank`, a fixed number of iterations; weights are not counted."""

    kind = "pagerank"
    from_sources = False
    result = "ranks"
    peers = RANKS

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = PageRank(loaded.graph, device=device)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Name the only configuration."""
        return ("auto",)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank the vertices."""
        # The tolerance is per vertex.
        tol = TOLERANCE / max(self.graph.n, 1)
        return self.plan.run(alpha=ALPHA, tol=tol, max_iter=MOST_ITERATIONS)

    def values(self, result: Any) -> Any:
        """Give ranks as shares of their mean."""
        return result.ranks * self.graph.n

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count edges that ranks went along, and iterations."""
        return {"edges": result.stats.edges, "iterations": result.iterations}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all ranks with those by scipy."""
        expected = ranks_of(self.graph)
        for given in givens:
            refuse_differences(
                self.values(self.run(given)), expected, what="ranks", against="scipy"
            )
        return {"against": "scipy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a head read per edge, and a rank read and written per vertex, an iteration."""
        iterations, size = columns["iterations"], self.plan.dtype.itemsize
        return Least(
            bytes=4.0 * columns["edges"] + (4.0 + 2.0 * size) * self.graph.n * iterations,
            barriers=iterations,
        )

    def describe(self) -> Record:
        """Give the configuration as decided, and the hash of the source."""
        if not self.plan.source_hash:
            self.run(0)
        config = {"dtype": self.plan.dtype.name}
        return {"config": config, "source_hash": self.plan.source_hash}
    peers = {"igraph": PagerankIgraph, "networkit": PagerankNetworkit}  # noqa: RUF012

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.convention, self.iterations = WAYS[config]
        self.plan = PageRank(self.graph, weights=False, device=device)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names of the conventions."""
        return ("auto", *(way for way in WAYS if way != "auto"))

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Rank."""
        how: dict[str, Any] = {"alpha": DAMPING, "convention": self.convention}
        return self.plan.run(tol=0.0, max_iter=self.iterations, **how)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count the edges of all iterations."""
        return {"edges": result.iterations * self.graph.m, "rounds": result.iterations}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare ranks with as many iterations by scipy."""
        matrix, n = scipy_matrix(self.graph), self.graph.n
        matrix.data[:] = 1.0
        leaving = self.graph.degrees
        x = np.full(n, 1.0 / n)
        for _ in range(self.iterations):
            held = 0.0 if self.convention == "gap" else x[leaving == 0].sum()
            flow = np.divide(x, leaving, out=np.zeros(n), where=leaving > 0)
            x = DAMPING * (matrix.T @ flow + held / n) + (1 - DAMPING) / n
        for given in givens:
            found = self.values(self.run(given))
            refuse_differences(found * n, x * n, what="ranks", against="scipy")
        return {"against": "scipy"}

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each edge and the rank at its end read, and ranks written, every iteration."""
        rounds, real = columns["rounds"], self.plan.dtype.itemsize
        moved = (4.0 + real) * columns["edges"] + 3.0 * real * self.graph.n * rounds
        return Least(bytes=moved, barriers=rounds - 1.0)

    def describe(self) -> Record:
        """Give the convention, and the hash of what sums."""
        if not self.plan._affine:  # noqa: SLF001 (kernels are built by the first run)
            self.run(0)
        program = next(iter(self.plan._affine.values())).pulling.program  # noqa: SLF001
        return {
            "config": {"convention": self.convention, "dtype": self.plan.dtype.name},
            "source_hash": program.source_hash,
        }


PROBLEM = Ranks
