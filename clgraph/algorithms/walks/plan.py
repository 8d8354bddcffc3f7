"""Random walks of first and second order: DeepWalk's and node2vec's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.state import as_sources
from clgraph.algorithms.walks.result import WalksResult
from clgraph.algorithms.walks.sums import row_sums
from clgraph.device import load
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.launch_stats import RoundStats
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidArgumentError, InvalidGraphError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, real, whole
from clgraph.graph.csr import row_ids
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device, Kernel
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["RandomWalks", "random_walks"]

MOST_VERTICES = 2**31
MOST_LENGTH = 2**31
NOWHERE = 2**32 - 1
SHARE_BITS = 20  # of the shares of a step back, to a neighbour, and farther
# Draws that may be refused before the row is gone through: at least so many, and as many as it has
# edges, since to go through it takes as long as so many draws.
TRIES = 64
# Vertices of walks that are kept on the device together.
TOGETHER, STEPS_TOGETHER = 1 << 24, 256
# Steps that a launch takes: its length is bounded, so that progress can be reported and Ctrl-C
# answered.
LAUNCH_STEPS, CPU_LAUNCH_STEPS = 1 << 24, 1 << 22
CPU_WIDE = 16  # walks of a thread that has no lanes


@documented(Plan)
class RandomWalks(Plan):
    """Random walks, compiled for one graph and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    weights : bool
        Whether steps are drawn in proportion to edge weights, where there are some; otherwise all
        edges of a vertex are alike.

    Raises
    ------
    InvalidGraphError
        If weights are to count and one is negative, or there are 2**31 vertices or more.

    Notes
    -----
    A step costs the logarithm of a degree where weights count, and of another to see whether a
    vertex is a neighbour where `p` or `q` is not 1; the expected number of draws is the greatest of
    1/p, 1 and 1/q over their mean. Takes 4 bytes an edge beside the graph where weights count, and
    at most 64 MiB for walks, or 1 KiB for a walk, and 8 bytes a walk. Integer weights count exactly
    where those of each row add up to less than 2**32; otherwise they are rounded to multiples of
    2**-31 of the total of their row, and shares of `p` and `q` to multiples of 2**-20. A plan
    serves one thread at a time; others wait.

    References
    ----------
    .. [1] A. Grover, J. Leskovec, "node2vec: scalable feature learning for networks", KDD 2016.
    .. [2] K. Yang, M. Zhang, K. Chen, X. Ma, Y. Bai, Y. Jiang, "KnightKing: a fast distributed
           graph random walk engine", SOSP 2019.
    """

    graph: Graph

    @flags
    def __init__(
        self,
        graph: Graph,
        *,
        weights: bool = True,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph, weighted=True), device)
        if self.graph.n >= MOST_VERTICES:
            raise InvalidGraphError(
                f"the graph has {self.graph.n} vertices, but walks keep them in 31 bits; use fewer "
                f"than {MOST_VERTICES}."
            )
        self.weighted = weights and self.graph.weights is not None
        self.config: dict[str, Any] = {
            "weighted": self.weighted,
            "wide_offsets": wide_offsets(self.graph.m),
            "group_size": Sweeper(self.device, self.graph.n).group_size,
            "share_bits": SHARE_BITS,
            "tries": TRIES,
            "wide": CPU_WIDE if self.device.traits.lanes == 1 else 1,
        }
        self._kernels: dict[bool, Kernel] = {}
        if self.graph.n:
            sums = row_sums(self.graph) if self.weighted else None
            with self._counted():
                held = resident(self.graph, self.device, progress)
                self._rows = [held.indptr, held.indices]
                if sums is not None:
                    self._rows.append(self._memory.upload("sums", sums, progress=progress))

    @flags
    def run(
        self,
        starts: ArrayLike,
        length: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
        seed: int = 0,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> WalksResult:
        """Walk.

        Parameters
        ----------
        starts : array_like [k]
            Where each walk begins; a vertex may be given many times.
        length : int
            Steps of a walk, from 0 on.
        p, q : float
            Both positive, and 1 by default: then every step is drawn alone. Edges back to the
            vertex before weigh 1/p as much, and those to vertices that no edge from there leads to
            1/q.
        seed : int
            0 to 2**64 - 1. Walk i of a seed does not depend on how many others there are.
        verify : bool
            Whether to check on the host that walks go along edges, and end where there are none.
        progress : callable or True, optional
            Called with how many steps have been taken, of all.

        Returns
        -------
        WalksResult
            ``walks`` int32 [k, length + 1], -1 beyond a vertex without out-edges; ``lengths``;
            ``stats``.

        Raises
        ------
        InvalidArgumentError
            If a start is not a vertex, or another argument is out of its range.
        VerificationError
            If the result was to be checked and is wrong.
        DeviceMemoryError
            If there is no room for the walks.
        """
        begins = as_sources(starts, self.graph.n, "starts").astype(np.uint32)
        steps = whole("length", length, least=0, most=MOST_LENGTH)
        seeds = np.uint64(whole("seed", seed, least=0, most=2**64 - 1))
        shares = _shares(p, q)
        log = SweepLog()
        blocks: list[int] = []
        edges = 0
        with Turn() as turn, self._lock:
            walks = self.device.host_arrays.empty(len(begins) * (steps + 1), np.int32)
            walks = walks.reshape(len(begins), steps + 1)
            size = max(TOGETHER // (min(steps, STEPS_TOGETHER) + 1), 1)
            for first in range(0, len(begins), size):
                block = begins[first : first + size]
                blocks.append(len(block))
                edges += self._walk(log, block, first, (seeds, shares), walks, progress)
        report_progress(progress, 1, 1, "walking")
        config = self.config | {"p": float(p), "q": float(q)}
        stats = self._stats_of(RoundStats, log, turn, rounds=blocks, edges=edges, config=config)
        result = WalksResult(walks, stats)
        if verify:
            _verify(self.graph, result, begins, weighted=self.weighted)
        return result

    def _walk(
        self,
        log: SweepLog,
        begins: NDArray[np.uint32],
        first: int,
        drawn: tuple[np.uint64, NDArray[np.uint32]],
        walks: NDArray[np.int32],
        progress: Progress | None,
    ) -> int:
        """Take walks together, some steps at a time, and give how many steps there were."""
        count, steps = len(begins), walks.shape[1] - 1
        kernel = self._kernel(second_order=len(set(drawn[1][:3].tolist())) > 1)
        take = self._result_memory.take
        held = take("walks", (min(steps, STEPS_TOGETHER) + 1) * count, np.int32)
        ends = take("ends_of_walks", 2 * count, np.uint32)
        ends.write(np.concatenate([begins, np.full(count, NOWHERE, np.uint32)]))
        shares = take("shares", len(drawn[1]), np.uint32)
        shares.write(drawn[1])
        taken = take("steps_taken", 1, np.uint32)
        sweeper = Sweeper(self.device, -(-count // self.config["wide"]))
        most = CPU_LAUNCH_STEPS if self.device.traits.is_cpu else LAUNCH_STEPS
        per_launch = max(most // count, 1)
        edges = 0
        for done in range(0, max(steps, 1), STEPS_TOGETHER):
            past = min(done + STEPS_TOGETHER, steps)
            # The starts are beside the first steps.
            since = done + 1 if done else 0
            columns = past + 1 - since
            taken.clear()
            for begin in range(done, max(past, 1), per_launch):
                sweeper.launch(
                    log,
                    kernel,
                    *self._rows,
                    np.uint32(count),
                    np.uint64(first),
                    np.uint32(begin),
                    np.uint32(min(begin + per_launch, past)),
                    drawn[0],
                    shares,
                    ends,
                    np.uint32(columns),
                    np.uint32(begin + 1 - since),
                    held,
                    taken,
                )
                log.wait()
            edges += int(taken.read()[0])
            piece = walks[first : first + count, since : past + 1]
            if piece.flags.c_contiguous:
                held.read(piece.size, piece.reshape(-1))
            else:
                piece[:] = held.read(piece.size).reshape(piece.shape)
            report_progress(progress, first * steps + count * past, walks.size, "walking")
        return edges

    def _kernel(self, *, second_order: bool) -> Kernel:
        if second_order not in self._kernels:
            program = load(self.device, "walks/walks.cl", second_order=second_order, **self.config)
            self.source_hash = program.source_hash
            self._kernels[second_order] = program.kernel("walks_step")
        return self._kernels[second_order]


def _shares(p: Any, q: Any) -> NDArray[np.uint32]:
    """Give the shares of steps back, to a neighbour and farther, of the greatest of them."""
    biases = []
    for name, value in (("p", p), ("q", q)):
        if real(name, value) <= 0:
            raise InvalidArgumentError(f"{name}={value} must be positive.")
        biases.append(1.0 / float(value))
    wanted = np.array([biases[0], 1.0, biases[1]])
    rounded = np.rint(wanted / wanted.max() * 2**SHARE_BITS)
    shares: NDArray[np.uint32] = np.maximum(rounded, 1).astype(np.uint32)
    return shares


def _verify(
    graph: Graph, result: WalksResult, begins: NDArray[np.uint32], *, weighted: bool
) -> None:
    """Check walks against the edges.

    Raises
    ------
    VerificationError
        If one begins elsewhere, takes a step that there is no edge for, or ends too early.
    """
    walks = result.walks.astype(np.int64)
    sources = row_ids(graph.indptr, np.int64)
    taken = np.ones(graph.m, np.bool_)
    if weighted:
        taken = np.asarray(graph.weights) > 0
    known = np.unique(sources[taken] * graph.n + graph.indices[taken])
    leads_on = np.zeros(graph.n, np.bool_)
    leads_on[sources[taken]] = True
    here, there = walks[:, :-1], walks[:, 1:]
    steps = there >= 0
    wrong = walks[:, 0] != begins
    wrong |= (steps & ~np.isin(here * graph.n + there, known)).any(axis=1)
    wrong |= (~steps & (here >= 0) & leads_on[np.maximum(here, 0)]).any(axis=1)
    wrong |= (steps & (here < 0)).any(axis=1)
    if wrong.any():
        walk = int(np.flatnonzero(wrong)[0])
        raise VerificationError(f"walk {walk} does not go along the edges of the graph.")


@documented(RandomWalks, RandomWalks.run, only_auto)
@flags
def random_walks(  # noqa: PLR0913 - all but three by keyword
    graph: Graph,
    starts: ArrayLike,
    length: int,
    *,
    p: float = 1.0,
    q: float = 1.0,
    weights: bool = True,
    seed: int = 0,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> WalksResult:
    """Walk along edges drawn at random.

    Notes
    -----
    The same seed gives the same walks in every run and on every device. O(k length log degree)
    work. For several calls, make a `RandomWalks` and `run` it.

    Examples
    --------
    >>> import clgraph as cg
    >>> ring = cg.from_edges([0, 1, 2], [1, 2, 0])
    >>> cg.random_walks(ring, [0, 2], 3).walks.tolist()
    [[0, 1, 2, 0], [2, 0, 1, 2]]
    """
    only_auto(config)
    plan = RandomWalks(graph, weights=weights, device=device, progress=progress)
    return plan.run(starts, length, p=p, q=q, seed=seed, verify=verify, progress=progress)
