"""Helix's decision table: a configuration from mean degree, Gini coefficient and largest degree.

References
----------
.. [1] F. Busato, N. Bombieri, "BFS-4K" and the fully configurable breadth-first search after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.strategies.balance import Cws, ItemThread, Vwarp, WarpSearch
from clgraph.engine.strategies.frontier import Ballot, EdgeQueue, Hubs, Registers, VertexQueue
from clgraph.engine.strategies.pull import Never
from clgraph.engine.strategies.schedule import Persistent, Stepped

if TYPE_CHECKING:
    from clgraph.engine.strategies.balancer import Balancer
    from clgraph.engine.strategies.frontier import Frontier
    from clgraph.graph import Graph

__all__ = ["HelixChoice", "are_labels_random", "helix_choice"]

LABEL_SAMPLES = 1 << 14
RANDOM_DISTANCE = 0.25  # mean of |u - v| / n: a third where labels are random, far less where not


@dataclass(frozen=True, slots=True)
class HelixChoice:
    """What the decision table says of one graph.

    Attributes
    ----------
    balance : {"node", "scan"}
        A group of lanes a vertex, or the edges of a SIMD group's vertices side by side.
    width : int
        Lanes a vertex, where `balance` is "node"; else 0.
    shuffle : bool
        Whether lanes load their vertices at once and pass them on.
    gather_lanes, gather_group, bins : bool
        Whether longer rows than a SIMD group, than a work-group, or than half the resident
        work-items are treated apart.
    queue : {"vertex", "edge"}
        What the frontier is a queue of.
    single : bool
        One kernel with a barrier of the whole device, not a launch for each level.
    update : {"ballot", "local"}
        How found vertices enter the queue.
    duplicates : {"lanes", "group"}
        Among whom duplicates are dropped as the frontier is loaded.
    mask : bool
        Whether a bitmap is looked at before distances.
    """

    balance: str
    width: int
    shuffle: bool
    gather_lanes: bool
    gather_group: bool
    bins: bool
    queue: str
    single: bool
    update: str
    duplicates: str
    mask: bool

    def strategies(
        self, lanes: int, group_size: int, resident: int, launched: int
    ) -> dict[str, Any]:
        """Give the choice in terms of `clgraph.engine.strategies.config.TraversalConfig`.

        Scans with rows for work-groups are ``cws``. Rows for work-groups beside groups of lanes
        become vertices that the whole grid shares. `launched` work-items make a work-group.
        """
        queue: dict[str, Any] = {
            "visited": "mask" if self.mask else "plain",
            "duplicates": f"load_{self.duplicates}",
            "rows": "pairs",
        }
        frontier: Frontier = EdgeQueue(**queue)
        if self.queue == "vertex":
            apart = self.bins or (self.gather_group and self.balance != "scan")
            degree = (resident // 2 if self.bins else group_size + 1) if apart else 0
            update = Registers() if self.update == "local" else Ballot()
            hubs = Hubs(degree=degree, bins=True if self.bins else None)
            frontier = VertexQueue(**queue, update=update, hubs=hubs)
        return {
            "frontier": frontier,
            "balance": self._balancer(lanes),
            "pull": Never(),
            "schedule": (Persistent if self.single else Stepped)(group_size=launched),
        }

    def _balancer(self, lanes: int) -> Balancer:
        gather = lanes + 1 if self.gather_lanes else 0
        if self.balance != "scan":
            if self.width == 1 and not gather:
                return ItemThread()
            return Vwarp(width=self.width, shuffle=self.shuffle, gather=gather)
        if self.gather_group:
            return Cws()
        return WarpSearch(wide=gather)


def helix_choice(
    mean_degree: float,
    gini: float,
    max_degree: int,
    *,
    random_labels: bool,
    lanes: int = 32,
    group_size: int = 256,
    resident: int = 32768,
) -> HelixChoice:
    """Decide every feature from three numbers of a graph and three of a device.

    Parameters
    ----------
    mean_degree, gini : float
        Of the out-degrees.
    max_degree : int
        The largest out-degree.
    random_labels : bool
        Whether neighbours' numbers have nothing to do with each other.
    lanes, group_size, resident : int
        Of a SIMD group, of a work-group, and work-items that run together on the device.

    Returns
    -------
    HelixChoice
        Rules overlap and are tried from the top, the wider group of lanes first.
    """
    width, shuffle = 0, False
    if mean_degree < 5:
        width = 1 if gini >= 0.2 else 4
    elif gini < 0.3 and mean_degree > lanes:
        width, shuffle = (lanes if mean_degree > 2 * lanes else lanes // 2), True
    return HelixChoice(
        balance="node" if width else "scan",
        width=width,
        shuffle=shuffle,
        gather_lanes=max_degree > lanes,
        gather_group=max_degree > group_size,
        bins=max_degree > resident // 2,
        queue="edge" if mean_degree < 5 and gini >= 0.2 else "vertex",
        single=not (mean_degree > 20 or gini >= 0.6),
        update="local" if mean_degree > lanes and gini < 0.9 else "ballot",
        duplicates="group" if width else "lanes",
        mask=random_labels,
    )


def are_labels_random(graph: Graph) -> bool:
    """Report whether neighbours' numbers are as far apart as random ones.

    Looks at 16,384 edges at even distances; a third of n apart in the mean is random.
    """
    if not graph.m:
        return False
    edges = np.unique(np.linspace(0, graph.m - 1, LABEL_SAMPLES).astype(np.int64))
    sources = np.searchsorted(graph.indptr, edges, side="right") - 1
    targets = np.asarray(graph.indices)[edges].astype(np.int64)
    return bool(np.abs(sources - targets).mean() > RANDOM_DISTANCE * graph.n)
