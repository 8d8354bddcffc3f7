"""Betweenness by searches that keep what they find in its order, for undirected graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.run import STATUS_WORDS, Batch, Scratch
from clgraph.algorithms.multi_search.state import State
from clgraph.device import Memory, load, resident_groups
from clgraph.engine.resident import resident, wide_offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["OrderedBetweenness"]

GROUP_SIZE = 512  # two to four of them share a multiprocessor of the large cards
BATCH = 2  # edges of a lane whose places are looked up together; with four, as fast, it spills


@dataclass(frozen=True, slots=True)
class OrderedConfig:
    """What the kernel is rendered with."""

    lanes: int
    group_size: int
    wide_offsets: bool
    real: str
    wide_row: int
    shares_rows: bool  # whether lanes take a wide row together
    sequential: bool  # whether one work-item runs a search, with plain accesses
    batch: int


class OrderedBetweenness:
    """Sums of Brandes' dependencies, a search by each work-group.

    Parameters
    ----------
    graph : Graph
        Undirected, without parallel edges.
    device : Device
        Where.
    dtype : dtype
        float64 or float32, of path counts and scores.
    group_size : int, optional
        Work-items that run one search.

    Attributes
    ----------
    kernel_ms : float
        Device time of all launches.

    Notes
    -----
    What a search knows of its vertices lies in the order in which it found them: a level is read in
    a row, and backward a vertex hands its share on to its parents, whom it has kept, where other
    ways look at all neighbours again. 36 bytes per vertex and search at a time in float64.
    """

    def __init__(
        self, graph: Graph, device: Device, dtype: np.dtype[Any], group_size: int | None = None
    ) -> None:
        self.graph = graph
        traits = device.traits
        one_lane = traits.lanes == 1
        size = group_size or traits.usual_group(GROUP_SIZE)
        self.config = OrderedConfig(
            lanes=traits.lanes,
            group_size=size,
            wide_offsets=wide_offsets(graph.m),
            real="double" if dtype == np.float64 else "float",
            wide_row=2**31 - 1 if one_lane else 2 * traits.lanes,
            shares_rows=not one_lane,
            sequential=size == 1,
            batch=1 if one_lane or traits.emulated else BATCH,
        )
        n = graph.n
        states = {
            "order": State(np.uint32, per="group"),
            "places": State(np.uint32, per="group"),
            "paths": State(dtype, per="group"),
            "onward": State(dtype, per="group"),
            "parent_pairs": State(np.uint32, size=2 * n, per="group"),
            "begins": State(np.uint32, size=n + 2, per="group"),
            "scores": State(dtype, per="run"),
            "overflows": State(np.uint32, size=1, per="run"),
        }
        program = load(
            device,
            "centrality/betweenness_ordered.cl",
            config=self.config,
            states=[state.named(name) for name, state in states.items()],
            status_words=STATUS_WORDS,
        )
        self._kernel = program.kernel("betweenness_ordered")
        self._groups = max(resident_groups(device, self._kernel, size), 1)
        held = resident(graph, device)
        self._graph_args = (held.indptr, held.indices)
        self._scratch = Scratch(Memory(device), states, graph)
        self.kernel_ms = 0.0

    def run(
        self,
        sources: NDArray[np.int64],
        limits: dict[str, np.generic],
        progress: Progress | None = None,
    ) -> tuple[NDArray[Any], bool]:
        """Add up the dependencies of all sources.

        Parameters
        ----------
        sources : int64 [k]
            Where searches begin.
        limits : dict
            "high" and "factor": path counts above the former have the next level scaled.
        progress : callable or True, optional
            Called with searches done, searches in all, and what is done.

        Returns
        -------
        scores : numpy.ndarray
            [n].
        overflowed : bool
            Whether some counts did not fit.
        """
        size = self.config.group_size
        batch = Batch(
            self._kernel, self._scratch, sources, group_size=size, most_groups=self._groups
        )
        batch.run(self._graph_args, (limits["high"], limits["factor"]), progress)
        self.kernel_ms += batch.kernel_ms
        (scores, _), (overflows, _) = batch.arrays["scores"], batch.arrays["overflows"]
        return scores.read(), bool(overflows.read()[0])
