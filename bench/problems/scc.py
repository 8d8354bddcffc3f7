"""Strongly connected components as the runner measures them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph import SCC, SCCConfig

from ..peers.components import STRONG, strong_labels
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Labelling", "StrongComponents"]


class Labelling(Problem):
    """A plan that labels all vertices of a graph.

    Attributes
    ----------
    ways : int
        Directions in which a vertex must be joined to others: 1, or 2 for strong components.
    """

    from_sources = False
    result = "labels"
    ways: ClassVar[int] = 1

    @abstractmethod
    def expected(self) -> NDArray[np.int32]:
        """Label the graph by another's code."""

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count components, passes over vertices or edges where there are any, and edges."""
        rounds = {"rounds": result.stats.levels} if result.stats.levels else {}
        return {"edges": self.graph.m, "components": result.count, **rounds}

    def check(self, givens: Sequence[int]) -> Record:
        """Compare all labels with scipy's, numbered in the same way."""
        expected = self.expected()
        return self.compared(givens, expected, what="labels", against="scipy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a label written per vertex, and a row's start and a target read for each way.

        Edges within what is known to be joined need not be read; the plain method reads all.
        Nothing must be waited for: vertices may be joined in any order.
        """
        n, edges, ways = self.graph.n, columns["edges"], self.ways
        return Least(
            bytes=(4.0 + 8.0 * ways) * n + 0.0 * edges,
            barriers=0.0 * edges,
            bytes_plain=(4.0 + 4.0 * ways) * n + 4.0 * ways * edges,
        )


def distinct_presets() -> tuple[str, ...]:
    """Names of configurations, one for each of those that are the same.

    The search by one work-item is left out: on CPUs it is "auto", on a GPU it takes seconds.
    """
    distinct: dict[SCCConfig, str] = {}
    for name in SCCConfig.presets():
        distinct.setdefault(SCCConfig.preset(name), name)
    return tuple(name for name in distinct.values() if name != "sequential")


class StrongComponents(Labelling):
    """`clgraph.SCC` of the whole graph."""

    kind = "scc"
    presets = distinct_presets()
    peers = STRONG
    ways = 2

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = SCC(loaded.graph, config=config, device=device)

    def expected(self) -> NDArray[np.int32]:
        """Label the graph by scipy."""
        return strong_labels(self.graph)


PROBLEM = StrongComponents
