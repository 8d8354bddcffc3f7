"""Jaccard and overlap similarity of vertices: the neighbours that they have in common."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.similarity.config import SimilarityConfig
from clgraph.algorithms.similarity.result import SimilarityResult, SimilarityStats
from clgraph.algorithms.triangles.plan import Triangles
from clgraph.device import load
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, one_of
from clgraph.graph.arrays import argument_array
from clgraph.graph.csr import row_ids
from clgraph.primitives import group_size
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["MEASURES", "Similarity", "jaccard", "overlap"]

MEASURES = ("jaccard", "overlap")
LOPSIDED = 16
BLOCK = 1 << 24  # pairs of a launch
SAMPLE = 1000  # pairs that are checked


@documented(Plan)
class Similarity(Plan):
    """Similarities of vertices of one graph, compiled for a device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Without parallel edges; weights are ignored. Of a directed graph neighbours are those that
        edges lead to.
    config : SimilarityConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Raises
    ------
    InvalidGraphError
        If there are parallel edges.
    InvalidArgumentError
        If the configuration is not legal, or counts triangles of a graph that has none to count.

    Notes
    -----
    Of pairs O(the shorter row, times the logarithm of the longer, or both) work each; of all edges
    of a simple graph that of counting triangles. Deterministic, and the same on all devices.

    References
    ----------
    .. [1] D. Liben-Nowell, J. Kleinberg, "The link prediction problem for social networks",
           CIKM 2003.
    """

    @asking
    def __init__(
        self,
        graph: Graph,
        *,
        config: SimilarityConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        self.config = SimilarityConfig.of(config)
        statistics = self.graph.statistics()
        if statistics.parallel_edges:
            raise InvalidGraphError(
                "similarity is of sets of neighbours, and the graph has parallel edges; pass "
                "from_edges(..., dedup=True)."
            )
        simple = not self.graph.directed and not statistics.self_loops
        if self.config.edges == "triangles" and not simple:
            raise InvalidArgumentError(
                "edges='triangles' needs an undirected graph without self-loops; leave it out."
            )
        self._by_triangles = simple and self.config.edges != "pairs"
        self._triangles: Triangles | None = None
        traits = self.device.traits
        size = group_size(traits)
        program = load(
            self.device,
            "similarity/pairs.cl",
            config=SimpleNamespace(
                group_size=size, lanes=traits.lanes, wide_offsets=wide_offsets(self.graph.m)
            ),
            way=self.config.way_on(self.device),
        )
        self.source_hash = program.source_hash
        self._kernel = program.kernel("pairs_common")
        with self._counted():
            held = resident(self.graph, self.device, progress)
            self._rows = (held.indptr, held.indices)

    @flags
    @asking
    def run(
        self,
        pairs: ArrayLike | None = None,
        *,
        measure: str = "jaccard",
        verify: bool = False,
        progress: Progress | None = None,
    ) -> SimilarityResult:
        """Compute similarities.

        Parameters
        ----------
        pairs : array_like [k, 2], optional
            Vertices; default are the ends of every stored edge.
        measure : {"jaccard", "overlap"}
            Common neighbours over those of either, or over the fewer of both.
        verify : bool
            Whether to compute those of a thousand pairs on the host and compare.
        progress : callable or True, optional
            Called with pairs done, pairs in all, "pairs".

        Returns
        -------
        SimilarityResult
            ``values`` float64 [k] or [m], 0 where no vertex of a pair has a neighbour; ``common``
            uint32, the neighbours that they share; ``stats``.

        Raises
        ------
        InvalidArgumentError
            If a pair names no vertex, or the measure is another.
        DeviceMemoryError
            If a block of pairs does not fit the device.
        VerificationError
            If the result was to be checked and is wrong.
        """
        one_of("measure", measure, MEASURES)
        log = SweepLog(named=True)
        way, kernel_ms = "pairs", None
        with Turn() as turn, self._lock:
            if pairs is None:
                sources = row_ids(np.asarray(self.graph.indptr))
                targets = np.asarray(self.graph.indices)
                if self._by_triangles and self.graph.m:
                    common, kernel_ms = self._supports()
                    way = "triangles"
                else:
                    common = self._common(log, sources, targets, progress)
            else:
                sources, targets = checked_pairs(pairs, self.graph.n)
                common = self._common(log, sources, targets, progress)
            values = scored(self.graph.degrees, sources, targets, common, measure)
            report_progress(progress, len(values), len(values), "pairs")
        config = {"way": way, "intersect": self.config.way_on(self.device), "measure": measure}
        about = {"kernel_ms": kernel_ms, "pairs": len(values), "config": config}
        stats = self._stats_of(SimilarityStats, log, turn, **about)
        if verify:
            self._verify(sources, targets, common)
        return SimilarityResult(values, common, stats)

    def _supports(self) -> tuple[NDArray[np.uint32], float]:
        if self._triangles is None:
            with self._counted():
                self._triangles = Triangles(self.graph, device=self.device)
        found = self._triangles.run("edge")
        return np.asarray(found.values).astype(np.uint32), found.stats.kernel_ms

    def _common(
        self, log: SweepLog, sources: NDArray[Any], targets: NDArray[Any], progress: Progress | None
    ) -> NDArray[np.uint32]:
        common = np.zeros(len(sources), np.uint32)
        count = min(len(sources), BLOCK)
        if not count:
            return common
        with self._counted():
            ends = [
                self._memory.allocate(name, count, np.uint32) for name in ("sources", "targets")
            ]
            found = self._memory.allocate("common", count, np.uint32)
        lanes = self.device.traits.lanes
        for begin in range(0, len(sources), count):
            part = slice(begin, min(begin + count, len(sources)))
            for array, values in zip(ends, (sources, targets), strict=True):
                array.write(values[part].astype(np.uint32))
            size = part.stop - part.start
            sweeper = Sweeper(self.device, size * lanes)
            numbers = (np.uint32(size), np.uint32(LOPSIDED))
            sweeper.launch(log, self._kernel, *self._rows, *ends, *numbers, found)
            common[part] = found.read(size)
            report_progress(progress, part.stop, len(sources), "pairs")
        return common

    def _verify(
        self, sources: NDArray[Any], targets: NDArray[Any], common: NDArray[np.uint32]
    ) -> None:
        step = max(len(sources) // SAMPLE, 1)
        indptr, indices = np.asarray(self.graph.indptr), np.asarray(self.graph.indices)
        for place in range(0, len(sources), step):
            u, v = int(sources[place]), int(targets[place])
            rows = (indices[indptr[u] : indptr[u + 1]], indices[indptr[v] : indptr[v + 1]])
            wanted = len(np.intersect1d(*rows))
            if wanted != common[place]:
                raise VerificationError(
                    f"vertices {u} and {v} have {wanted} neighbours in common, not {common[place]}."
                )


def checked_pairs(pairs: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give both ends of pairs.

    Raises
    ------
    InvalidArgumentError
        If they are no pairs of vertices.
    """
    array = argument_array("pairs", pairs)
    if array.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"pairs are whole numbers of shape (k, 2); got {array.dtype} of shape {array.shape}."
        )
    if array.min() < 0 or array.max() >= n:
        wrong = int(array.min() if array.min() < 0 else array.max())
        raise InvalidArgumentError(f"a pair names vertex {wrong}, but n = {n}.")
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def scored(
    degrees: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    common: NDArray[np.uint32],
    measure: str,
) -> NDArray[np.float64]:
    """Give similarities by degrees and common neighbours; 0 where there are no neighbours."""
    first, second = degrees[sources].astype(np.int64), degrees[targets].astype(np.int64)
    both = common.astype(np.int64)
    among = first + second - both if measure == "jaccard" else np.minimum(first, second)
    shares = np.zeros(len(both))
    np.divide(both, among, out=shares, where=among > 0)
    return shares


@documented(Similarity, Similarity.run)
@flags
def jaccard(
    graph: Graph,
    pairs: ArrayLike | None = None,
    *,
    config: SimilarityConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.float64]:
    """Compute the share of common neighbours among those of either vertex, for pairs of vertices.

    Returns
    -------
    numpy.ndarray
        float64 [k], or [m] by stored edge; 0 where neither vertex has a neighbour.

    Notes
    -----
    See `Similarity`; its results say how many neighbours are common too.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.jaccard(cg.generate.complete(4), [[0, 1], [2, 3]]).tolist()
    [0.5, 0.5]
    """
    plan = Similarity(graph, config=config, device=device, progress=progress)
    return plan.run(pairs, verify=verify, progress=progress).values


@documented(jaccard)
@flags
def overlap(
    graph: Graph,
    pairs: ArrayLike | None = None,
    *,
    config: SimilarityConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.float64]:
    """Compute the share of common neighbours among those of the vertex that has fewer.

    Returns
    -------
    numpy.ndarray
        float64 [k], or [m] by stored edge; 0 where a vertex has no neighbour.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.overlap(cg.generate.star(4), [[1, 2], [0, 1]]).tolist()
    [1.0, 0.0]
    """
    plan = Similarity(graph, config=config, device=device, progress=progress)
    return plan.run(pairs, measure="overlap", verify=verify, progress=progress).values
