"""The launches of matching: probabilities, seeds and extension of a batch of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.matching.launches import SCRATCH_BYTES
from clgraph.algorithms.matching.probabilities import Probabilities
from clgraph.algorithms.matching.queries import QueryBatch
from clgraph.device.lazy import cl
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.matching.launches import Held
    from clgraph.algorithms.matching.probabilities import Drawn
    from clgraph.algorithms.matching.queries import Query
    from clgraph.device import Allocation
    from clgraph.device.memory.allocation import Progress

__all__ = ["Matches", "Phases", "Request"]

STATE_BYTES = 16 << 10  # of a solution in local memory: more would leave few work-groups resident
STEPS_PER_GROUP = 1 << 13  # of a launch on a CPU, where a step takes about a microsecond
GPU_SOLUTIONS_PER_GROUP = 256
SEEDS_PER_GROUP = 128  # of a launch


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a batch.

    Attributes
    ----------
    k, levels, iterations, seed : int
        Solutions of each query, depth of neighbourhoods, steps (0: as many as a query has
        vertices), and the key of the random numbers.
    label_floor : int
        In fixed point.
    """

    k: int
    levels: int
    iterations: int
    seed: int
    label_floor: int

    @property
    def key(self) -> tuple[np.uint32, np.uint32]:
        """Both words of the seed."""
        return np.uint32(self.seed & 0xFFFFFFFF), np.uint32(self.seed >> 32)


@dataclass(slots=True)
class Matches:
    """What the extension of a batch gives, on the host."""

    mapping: NDArray[np.int32]  # [sum of k * rows]
    label_losses: NDArray[np.uint64]  # [queries * k] fixed point
    edge_losses: NDArray[np.uint32]
    node_losses: NDArray[np.uint32]


class Phases(Probabilities):
    """Launches of all three phases over one target; parameters as for `Launches`."""

    _tables: tuple[Allocation, ...] | None = None

    def score(self, held: Held, request: Request) -> Drawn:
        """Run the first phase."""
        return self.weigh(held, *self.similarities(held), request.label_floor)

    def run_until(self, last: str, query: Query, request: Request) -> None:
        """Run up to the end of "transfers", "probabilities" or "seeds", and wait."""
        held = self.hold(QueryBatch([query]), request.levels)
        if last != "transfers":
            drawn = self.score(held, request)
            if last == "seeds":
                self.draw(held, request, drawn)
            held.logs[last].wait()

    def draw(self, held: Held, request: Request, drawn: Drawn) -> None:
        """Run the second phase, by what the first left."""
        batch, arrays = held.batch, held.arrays
        scores, row_sums = drawn.scores, drawn.row_sums
        rows, blocks = np.uint32(batch.rows), np.uint32(self.blocks)
        parts = batch.rows * self.blocks
        scan = self.kernel("scores", "matching_scan")
        log = held.logs["seeds"]
        queries = len(batch.queries)
        sums: tuple[Allocation, ...] = ()
        if self.config.seeds == "flat":
            flat = self.work.array("normalised_sums", parts, np.uint64)
            normalise = self.kernel("scores", "matching_normalise")
            self.each(log, parts, normalise, self.n, scores, rows, blocks, row_sums, flat)
            first = arrays["query_first"]
            self.each(log, queries, scan, first, np.uint32(queries), blocks, flat)
            sums = (flat,)
        drawn.seeds = self.work.array("seeds", 2 * queries * request.k, np.uint32)
        draws = queries * request.k
        share = self.groups * SEEDS_PER_GROUP
        for begin in range(0, draws, share):
            end = min(begin + share, draws)
            self.each(
                log,
                end - begin,
                self.kernel("scores", "matching_seeds"),
                self.n,
                arrays["query_first"],
                np.uint32(request.k),
                blocks,
                scores,
                row_sums,
                *sums,
                np.uint64(begin),
                np.uint64(end),
                *request.key,
                drawn.seeds,
            )
            if end < draws:  # the host can be interrupted between two launches, not within one
                log.wait()

    def extend(
        self, held: Held, request: Request, drawn: Drawn, progress: Progress | None
    ) -> Matches:
        """Run the third phase and bring its results to the host."""
        batch, arrays, log = held.batch, held.arrays, held.logs["extension"]
        assert drawn.seeds is not None  # noqa: S101 - the second phase has run
        queries, k = len(batch.queries), request.k
        solutions = queries * k
        mapping = self.work.array("mapping", k * batch.rows, np.int32)
        label_losses = self.work.array("label_losses", solutions, np.uint64)
        edge_losses = self.work.array("edge_losses", solutions, np.uint32)
        node_losses = self.work.array("node_losses", solutions, np.uint32)
        words = 3 * batch.largest + -(-self.graph.n // 32)
        state = batch.largest + -(-words // 2)  # in elements of 8 bytes
        in_local = 8 * state <= min(STATE_BYTES, self.device.traits.local_bytes // 2)
        groups = min(self.groups, solutions)
        tables: tuple[Allocation, ...] = ()
        if self._counts_common:
            tables = self._profile_tables()
            groups = min(groups, tables[0].count // self.graph.n)
        if self.config.profile == "lost_edges":
            tables = (drawn.scores, *tables)
            if self._likeness == "stored":
                self._store_likeness(held, request, drawn)
        states: Any = cl.LocalMemory(8 * state)
        if not in_local:
            groups = max(min(groups, SCRATCH_BYTES // (8 * state)), 1)
            states = self.work.array("states", groups * state, np.uint64)
        kernel = self.kernel(
            "extend",
            "matching_extend",
            by_labels=held.by_labels,
            state_space="__local" if in_local else "__global",
        )
        share = GPU_SOLUTIONS_PER_GROUP
        if self.device.traits.is_cpu:
            share = max(STEPS_PER_GROUP // (request.iterations or batch.largest), 1)
        for begin in range(0, solutions, groups * share):
            end = min(begin + groups * share, solutions)
            event = kernel.launch(
                min(groups, end - begin) * self._lanes,
                self._lanes,
                *self.rows,
                *held.alike,
                arrays["query_indptr"],
                arrays["query_indices"],
                arrays["query_first"],
                np.uint32(k),
                drawn.seeds,
                np.uint64(begin),
                np.uint64(end),
                np.uint32(request.iterations),
                np.uint32(request.label_floor),
                *request.key,
                np.uint32(batch.largest),
                *tables,
                mapping,
                label_losses,
                edge_losses,
                node_losses,
                states,
            )
            log.add(event, event)
            log.wait()
            report_progress(progress, end, solutions, "extending matches")
        counts = (k * batch.rows, solutions, solutions, solutions)
        found = (mapping, label_losses, edge_losses, node_losses)
        return Matches(*self.work.read_all(zip(found, counts, strict=True)))

    def _store_likeness(self, held: Held, request: Request, drawn: Drawn) -> None:
        """Turn scores, which seeds have been drawn by, into what extension draws by."""
        kernel = self.kernel("scores", "matching_likeness", by_labels=held.by_labels)
        rows, floor = np.uint32(held.batch.rows), np.uint32(request.label_floor)
        log, scores = held.logs["extension"], drawn.scores
        self.each(log, held.batch.rows, kernel, self.n, *held.alike, rows, floor, scores)

    def _profile_tables(self) -> tuple[Allocation, ...]:
        """Give counts and frontiers of work-groups, by target vertex; all counts are 0."""
        if self._tables is None:
            n = self.graph.n
            whole = self.config.profile == "equal_bits"
            groups = max(min(self.groups, SCRATCH_BYTES // ((12 if whole else 4) * n)), 1)
            zeros = np.zeros(groups * n, np.uint32)
            self._tables = (self.memory.upload("profile_common", zeros),)
            if whole:
                counts = self.memory.upload("profile_counts", zeros)
                listed = self.memory.allocate("target_frontiers", groups * n, np.uint32)
                self._tables += (counts, listed)
        return self._tables
