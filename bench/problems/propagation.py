"""Label propagation (CDLP) as the runner measures it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import CommunitiesConfig, LabelPropagation

from ..peers.communities import PROPAGATED
from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Propagation"]

ROUNDS = 10  # as Graphalytics has them
ROWS, LABEL = 1 << 16, 0xFFFFFFFF


def round_by_numpy(graph: Graph, labels: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Do a round by sorting the labels around each vertex, some rows in every thread."""
    after = labels.copy()
    ways = (graph, graph.transpose()) if graph.directed else (graph,)

    def take(begin: int) -> None:
        end = min(begin + ROWS, graph.n)
        words = np.empty(0, np.uint64)
        for way in ways:
            offsets = way.indptr[begin : end + 1].astype(np.int64)
            owners = np.repeat(np.arange(begin, end, dtype=np.uint64), np.diff(offsets))
            around = labels[way.indices[offsets[0] : offsets[-1]]]
            words = np.append(words, owners << np.uint64(32) | around)
        words.sort()
        first = np.flatnonzero(np.diff(words, prepend=~words[:1]))
        counts = np.diff(first, append=words.size).astype(np.uint64)
        ours = words[first] >> np.uint64(32)
        starts = np.flatnonzero(np.diff(ours, prepend=~ours[:1]))
        if starts.size:
            # The most frequent one, and of those the smallest.
            keys = counts << np.uint64(32) | ~words[first] & np.uint64(LABEL)
            best = np.maximum.reduceat(keys, starts)
            after[ours[starts].astype(np.int64)] = (~best & np.uint64(LABEL)).astype(np.uint32)

    with ThreadPoolExecutor() as pool:
        list(pool.map(take, range(0, graph.n, ROWS)))
    return after


class Propagation(Problem):
    """`clgraph.LabelPropagation`, ten rounds."""

    kind = "propagation"
    presets = ("auto", "local", "global")
    from_sources = False
    result = "labels"
    peers = PROPAGATED

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = LabelPropagation(
            loaded.graph, config=CommunitiesConfig.of(config), device=device
        )

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Propagate labels."""
        return self.plan.run(ROUNDS)

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Count the edges that rounds looked at, rounds and labels."""
        rounds = len(result.stats.levels)
        ways = 2 if self.graph.directed else 1
        return {
            "edges": rounds * ways * self.graph.m,
            "rounds": rounds,
            "communities": result.count,
        }

    def check(self, givens: Sequence[int]) -> Record:
        """Compare labels with those of NumPy."""
        expected = np.arange(self.graph.n, dtype=np.uint32)
        for _ in range(ROUNDS):
            expected = round_by_numpy(self.graph, expected)
        return self.compared(givens, expected, what="labels", against="numpy")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count each edge and the label at its end read, and labels written, every round."""
        rounds = columns["rounds"]
        return Least(
            bytes=8.0 * columns["edges"] + 8.0 * self.graph.n * rounds, barriers=rounds - 1.0
        )


PROBLEM = Propagation
