"""Label propagation by the rule of the LDBC Graphalytics benchmark (CDLP)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.config import CommunitiesConfig
from clgraph.algorithms.communities.detection import check_sizes
from clgraph.algorithms.communities.result import CommunitiesResult, CommunityStats
from clgraph.algorithms.communities.tallies import Tallies
from clgraph.device import load
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, whole
from clgraph.graph.csr import row_ids
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.communities.tallies import Tally
    from clgraph.device import Device, Kernel
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["LabelPropagation", "label_propagation"]

HUB_SLOTS = 1 << 27  # of all tables in global memory together


@documented(Plan)
class LabelPropagation(Plan):
    """Label propagation, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    config : CommunitiesConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Raises
    ------
    InvalidGraphError
        If the graph has 2**31 - 1 vertices or edges, or more, or a vertex that many of both kinds.
    InvalidArgumentError
        If the configuration is not legal on the device.

    Notes
    -----
    O(n + m) work a round, in one launch for each of four lengths of rows at most; deterministic. Of
    a directed graph the transposed one is kept too.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community
           structures in large-scale networks", Physical Review E 76, 2007.
    .. [2] A. Iosup et al., "LDBC Graphalytics: a benchmark for large-scale graph analysis on
           parallel and distributed platforms", PVLDB 9, 2016.
    """

    @asking
    def __init__(
        self,
        graph: Graph,
        *,
        config: CommunitiesConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        self.config = CommunitiesConfig.of(config)
        check_sizes(self.graph)
        self._tables = self.config.tables_on(self.device)
        n = self.graph.n
        if not n:
            return
        lengths = self.graph.degrees.astype(np.int64)
        directions = [self.graph]
        if self.graph.directed:
            directions.append(self.graph.transpose())
            lengths += directions[1].degrees
        longest = int(lengths.max())
        if longest >= 2**31:
            raise InvalidGraphError(f"a vertex has {longest} edges; use fewer than {2**31}.")
        with self._counted():
            held = [resident(one, self.device, progress) for one in directions]
            self._rows = tuple(array for one in held for array in (one.indptr, one.indices))
            self._labels = [self._memory.allocate(f"labels {k}", n, np.uint32) for k in "ab"]
            self._changes = self._memory.allocate("changes", 1, np.uint32)
            self._share(lengths, longest)

    def _share(self, lengths: NDArray[np.int64], longest: int) -> None:
        """Say who takes which rows."""
        tallies = Tallies(self.device, self._tables, wide=False)
        kinds = np.searchsorted(tallies.bounds, lengths)
        order = np.argsort(kinds, kind="stable").astype(np.uint32)
        self._vertices = self._memory.upload("row_order", order)
        self._claims = self._memory.allocate("row_claims", 1, np.uint32)
        self._shares: list[tuple[Kernel, int, tuple[Any, ...]]] = []
        counts = np.bincount(kinds, minlength=len(tallies.kinds)).tolist()
        for place, kind in enumerate(tallies.kinds):
            if counts[place]:
                kernel = self._load(tallies, kind)
                slots = tallies.table_slots(kind, self.graph.n, longest)
                groups = tallies.groups(kind, counts[place])
                if not kind.slots and kind.unit == "group":
                    groups = max(min(groups, HUB_SLOTS // slots), 1)
                rows = (np.uint32(sum(counts[:place])), np.uint32(counts[place]))
                tables = tallies.arguments(self._memory, kind, groups, slots)
                before = (*tables, self._claims, np.uint32(0))
                args = (*before, *self._rows, self._vertices, *rows)
                self._shares.append((kernel, groups, args))
        self._size = tallies.group_size

    def _load(self, tallies: Tallies, kind: Tally) -> Kernel:
        lanes = self.device.traits.lanes
        wide = wide_offsets(self.graph.m)
        program = load(
            self.device,
            "communities/propagate.cl",
            config=SimpleNamespace(group_size=tallies.group_size, lanes=lanes, wide_offsets=wide),
            tally=tallies.parameters(kind),
            directed=self.graph.directed,
        )
        self.source_hash = self.source_hash or program.source_hash
        return program.kernel("propagate_round")

    @flags
    @asking
    def run(
        self, rounds: int = 10, *, verify: bool = False, progress: Progress | None = None
    ) -> CommunitiesResult:
        """Propagate labels.

        Parameters
        ----------
        rounds : int
            How many; it ends before if labels stay what they are.
        verify : bool
            Whether to do the last round on the host too and compare.
        progress : callable or True, optional
            Called with rounds done, rounds in all, "rounds".

        Returns
        -------
        CommunitiesResult
            ``labels`` int32 [n], each the number of the vertex it began at; ``count`` of labels
            that are left; ``modularity`` None.

        Raises
        ------
        InvalidArgumentError
            If `rounds` is not a whole number from 0 on.
        VerificationError
            If the result was to be checked and is wrong.
        """
        rounds = whole("rounds", rounds, 0, None)
        n, log = self.graph.n, SweepLog(named=True)
        labels = before = np.arange(n, dtype=np.uint32)
        changes: list[int] = []
        with Turn() as turn, self._lock:
            if n and rounds:
                self._labels[0].write(labels)
                changes = self._rounds(log, rounds, progress)
                labels = self._labels[len(changes) % 2].read()
                if verify:
                    before = self._labels[1 - len(changes) % 2].read()
        report_progress(progress, rounds, rounds, "rounds")
        config = {"tables": self._tables, "rounds": rounds}
        levels = [{"moves": moves} for moves in changes]
        stats = self._stats_of(CommunityStats, log, turn, levels=levels, config=config)
        if verify and changes:
            wanted = host_round(self.graph, before)
            if not np.array_equal(wanted, labels):
                wrong = int(np.flatnonzero(wanted != labels)[0])
                raise VerificationError(
                    f"vertex {wrong} has label {labels[wrong]} instead of {wanted[wrong]}."
                )
        count = int(np.count_nonzero(np.bincount(labels))) if n else 0
        names = self.graph.labels
        return CommunitiesResult(labels.astype(np.int32), count, None, stats, names=names)

    def _rounds(self, log: SweepLog, rounds: int, progress: Progress | None) -> list[int]:
        """Launch rounds until one changes nothing or all are done; give the changes of each."""
        changes: list[int] = []
        while len(changes) < rounds and 0 not in changes:
            self._changes.clear()
            self._claims.clear()
            source, target = self._labels[len(changes) % 2], self._labels[1 - len(changes) % 2]
            for kernel, groups, args in self._shares:
                size = groups * self._size
                event = kernel.launch(size, self._size, *args, source, target, self._changes)
                log.add(event, event, name=kernel.name)
            changes.append(int(self._changes.read()[0]))
            report_progress(progress, len(changes), rounds, "rounds")
        return changes


def host_round(graph: Graph, labels: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Do one round by NumPy.

    Parameters
    ----------
    graph : Graph
        Whose edges count, both ways if it is directed.
    labels : uint32 array [n]
        Before the round.

    Returns
    -------
    uint32 array [n]
    """
    sources, targets = row_ids(np.asarray(graph.indptr)), np.asarray(graph.indices)
    if graph.directed:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    words = sources.astype(np.uint64) << np.uint64(32) | labels[targets]
    words, counts = np.unique(words, return_counts=True)
    owners, found = (words >> np.uint64(32)).astype(np.int64), words.astype(np.uint32)
    # By vertex the most frequent last, and of those the smallest label.
    order = np.lexsort((~found, counts, owners))
    last = np.flatnonzero(np.diff(owners[order], append=graph.n))
    after = labels.copy()
    after[owners[order][last]] = found[order][last]
    return after


@documented(LabelPropagation, LabelPropagation.run)
@flags
def label_propagation(
    graph: Graph,
    rounds: int = 10,
    *,
    config: CommunitiesConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> CommunitiesResult:
    """Have vertices take the label that most neighbours have, all at once, round by round.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored. Of a directed graph neighbours along edges and
        against them count, and twice where there are edges both ways.

    Returns
    -------
    CommunitiesResult
        ``labels`` int32 [n]: labels begin as the numbers of the vertices, and among the most
        frequent ones the smallest is taken. Files whose vertices are named in the order of their
        numbers, as Graphalytics' are, thus get what that benchmark's reference has, by number.

    Notes
    -----
    O(n + m) work a round; deterministic. Labels of two sides may take turns for ever, as on a star:
    rounds are what ends that.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], symmetrize=True)
    >>> cg.label_propagation(graph).labels.tolist()
    [0, 0, 0, 3, 3, 3]
    """
    plan = LabelPropagation(graph, config=config, device=device, progress=progress)
    return plan.run(rounds, verify=verify, progress=progress)
