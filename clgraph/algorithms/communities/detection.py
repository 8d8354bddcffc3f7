"""Louvain and Leiden: communities of high modularity, level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.communities.config import CommunitiesConfig
from clgraph.algorithms.communities.iterating import Iterations
from clgraph.algorithms.communities.level import Level, Levels
from clgraph.algorithms.communities.result import CommunitiesResult, CommunityStats
from clgraph.algorithms.communities.scale import MOST_RESOLUTION, Scale, whole_weights
from clgraph.algorithms.communities.turns import StrandedError, Turns
from clgraph.algorithms.communities.verify import verify_communities
from clgraph.algorithms.components.number import Numbering
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidGraphError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, real, whole
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Leiden", "Louvain", "check_sizes"]

MOST = 2**31 - 1


def check_sizes(graph: Graph) -> None:
    """Refuse graphs whose vertices or edges do not fit the words they are numbered with.

    Raises
    ------
    InvalidGraphError
        If there are 2**31 - 1 vertices or edges, or more.
    """
    if max(graph.n, graph.m) >= MOST:
        raise InvalidGraphError(
            f"the graph has {graph.n} vertices and {graph.m} edges, but communities number both "
            f"with 31 bits; use fewer than {MOST} of each."
        )


class _Detection(Plan):
    """What Louvain and Leiden have in common."""

    _refines: bool

    @flags
    @asking
    def __init__(
        self,
        graph: Graph,
        *,
        weights: bool = True,
        config: CommunitiesConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph, weighted=True), device)
        self.config = CommunitiesConfig.of(config)
        check_sizes(self.graph)
        if self.graph.directed:
            raise InvalidGraphError(
                f"{type(self).__name__} needs an undirected graph; pass graph.symmetrized()."
            )
        held, wide, self._unit = whole_weights(self.graph, weighted=weights)
        self._weighted = held is not None
        tables = self.config.tables_on(self.device)
        self._tables = tables
        self.total = 0
        if not self.graph.m:
            return
        n = self.graph.n
        with self._counted():
            self._levels = levels = Levels(self.device, tables, wide=wide)
            self._turns = Turns(levels)
            rows = resident(self.graph, self.device, progress)
            uploaded: tuple[Allocation, ...] = (rows.indptr, rows.indices)
            if held is not None:
                uploaded += (self._memory.upload("whole_weights", held, progress=progress),)
            self._first = Level(
                n,
                self.graph.m,
                uploaded,
                levels.sums("strengths", n),
                levels.sums("loops", n),
                levels.array("labels", n),
                levels.sums("totals", n),
            )
            log = SweepLog()
            sums = (self._first.strengths, self._first.loops)
            levels.launch(log, self._first, n, "level_strengths", np.uint32(n), *sums)
            self.total = int(self._first.strengths.read().sum(dtype=np.uint64))
            self._iterations = Iterations(levels, self._turns, self._first, refines=self._refines)
            self._labels = levels.array("final_labels", n, np.int32)
            self._numbering = Numbering(self.device, self._memory, n, smallest=False)
        self.source_hash = levels.source_hash

    @flags
    @asking
    def run(
        self,
        *,
        resolution: float = 1.0,
        seed: int = 0,
        iterations: int = 2,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> CommunitiesResult:
        """Find communities.

        Parameters
        ----------
        resolution : float
            From 0 on; the higher, the smaller communities are.
        seed : int
            From 0 on; decides who is asked first, and between what is equally good.
        iterations : int
            How often the whole is done, each time beginning with the communities found before;
            ends before if moves of single vertices gain no more than 0.00002 of modularity, or
            0.000005 from the third one on.
        verify : bool
            Whether to compute the modularity on the host too, and of Leiden to check that
            communities are connected, outside the times in the stats.
        progress : callable or True, optional
            Called with vertices that have been merged, as many as there are, and what is done.

        Returns
        -------
        CommunitiesResult
            ``labels`` int32 [n], 0 .. count - 1 by smallest member; ``count``; ``modularity``;
            ``stats``.

        Raises
        ------
        InvalidArgumentError
            If a value is out of its range.
        VerificationError
            If the result was to be checked and is wrong.
        DeviceMemoryError
            If a level does not fit the device beside the graph.
        """
        gamma = real("resolution", resolution, 0, MOST_RESOLUTION)
        seed = whole("seed", seed, 0, None)
        most = whole("iterations", iterations)
        log = SweepLog(named=True)
        found: list[dict[str, int]] = []
        labels = np.arange(self.graph.n, dtype=np.int32)
        count, quality = self.graph.n, 0.0
        with Turn() as turn, self._lock:
            if self.total:
                scale = Scale.of(self.total, gamma)
                with self._counted():
                    try:
                        quality = self._iterations.run(log, scale, seed, most, found, progress)
                    except StrandedError:
                        quality = self._iterations.run(log, scale, seed, most, found, progress)
                    self._numbering.run(log, self._iterations.places, self._labels)
                    count = self._numbering.count()
                    labels = self._labels.read()
            report_progress(progress, self.graph.n, self.graph.n, "merging vertices")
        config = {"tables": self._tables, "resolution": gamma, "seed": seed}
        stats = self._stats_of(CommunityStats, log, turn, levels=found, config=config)
        result = CommunitiesResult(labels, count, quality, stats, names=self.graph.labels)
        if verify:
            verify_communities(
                self.graph,
                labels,
                quality,
                gamma,
                weighted=self._weighted,
                unit=self._unit,
                connected=self._refines,
            )
        return result


@documented(Plan)
class Leiden(_Detection):
    """Leiden communities, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected; its weights count, from 0 on.
    weights : bool
        Whether weights count.
    config : CommunitiesConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Attributes
    ----------
    total : int
        What the edges weigh from both ends, in whole units.

    Raises
    ------
    InvalidGraphError
        If the graph is directed or too large, or a weight is negative or not finite.
    InvalidArgumentError
        If the configuration is not legal on the device.

    Notes
    -----
    Vertices move in turns by eight classes, drawn by the seed: those of one class choose from the
    same state. All sums are of whole numbers, weights that are none being rounded to 2**-40 of
    their total, so that results are the same on all devices. On the graph itself, and on levels
    whose moves gain more than 0.001 of modularity, or 0.00002 if they have about half of its edges
    or fewer, communities are parted into well-connected sets, those become the vertices of the next
    level, and begin in the communities they are from; elsewhere what hangs together in each
    community becomes a vertex. Communities are connected. O(m) work a pass;
    levels are sorted in O(m log n / 8).

    References
    ----------
    .. [1] V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing
           well-connected communities", Scientific Reports 9, 2019.
    .. [2] S. Sahu, "GVE-Leiden: fast Leiden algorithm for community detection in shared memory
           setting", ICPP 2024.
    .. [3] L. Gottesbüren, M. Hamann, "Deterministic parallel hypergraph partitioning",
           Euro-Par 2022.
    """

    _refines = True


@documented(Leiden)
class Louvain(_Detection):
    """Louvain communities, compiled for one graph and device.

    Notes
    -----
    As `Leiden`, but whole communities become the vertices of the next level; they may hang together
    badly, or not at all.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities
           in large networks", Journal of Statistical Mechanics, 2008.
    """

    _refines = False
