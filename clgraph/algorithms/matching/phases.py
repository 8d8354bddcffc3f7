"""The launches of matching: probabilities, seeds and extension of a batch of queries."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.queries import BLOCK
from clgraph.device import load
from clgraph.device.lazy import cl
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import SweepLog
from clgraph.engine.workspace import Workspace
from clgraph.primitives import group_size
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.matching.config import MatchingConfig
    from clgraph.algorithms.matching.queries import QueryBatch
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument, Kernel
    from clgraph.graph import Graph

__all__ = ["PHASES", "Drawn", "Matches", "Phases", "Request"]

PHASES = ("probabilities", "seeds", "extension")
CPU_GROUPS_PER_UNIT = 16  # shares small enough that a thread which finishes early takes another
GPU_GROUPS_PER_UNIT = 32  # the most work-groups that a compute unit holds
SCRATCH_BYTES = 1 << 28  # of all work-groups together
STATE_BYTES = 16 << 10  # of a solution in local memory: more would leave few work-groups resident
SOLUTIONS_PER_GROUP = 16  # of a launch on a CPU, where launches are cheap and solutions long
GPU_SOLUTIONS_PER_GROUP = 256
SEEDS_PER_GROUP = 128  # of a launch
# What profile "lost_edges" draws with. On the HPRD network with its labels and k = 1000, a match
# of cost 0 was found for queries of 32 vertices cut from it in 12 of 20 runs by the 4th power of
# likeness and in 15 of 15 by the 16th.
LIKENESS_SQUARINGS = 4
LEAST_LIKENESS = 64  # of 2^20, so that whoever is alike can still be drawn
LOST_EDGE_BITS = 4


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
class Drawn:
    """What the first two phases leave on the device: scores and the seeds drawn by them."""

    scores: Allocation  # uint32 [rows, n]
    row_sums: Allocation  # uint64 [rows, blocks], scanned
    seeds: Allocation | None = None  # uint32 [queries, k, 2]; None before the second phase


@dataclass(slots=True)
class Matches:
    """What the extension of a batch gives, on the host."""

    mapping: NDArray[np.int32]  # [sum of k * rows]
    label_losses: NDArray[np.uint64]  # [queries * k] fixed point
    edge_losses: NDArray[np.uint32]
    node_losses: NDArray[np.uint32]


@dataclass(slots=True)
class Held:
    """Arrays of a batch on the device."""

    batch: QueryBatch
    arrays: dict[str, Allocation]
    alike: tuple[Allocation, ...]
    by_labels: bool
    logs: dict[str, SweepLog] = field(default_factory=lambda: {name: SweepLog() for name in PHASES})


class Phases:
    """Launches over one target.

    Parameters
    ----------
    graph : Graph
        The target, simple and undirected, of at least one vertex.
    codes : numpy.ndarray
        uint32 [n], its labels.
    config : MatchingConfig
        What is launched.
    device, memory : Device, Memory
        Where.
    progress : callable or True, optional
        For the upload.
    """

    def __init__(
        self,
        graph: Graph,
        codes: NDArray[np.uint32],
        config: MatchingConfig,
        memory: Memory,
        progress: Progress | None = None,
    ) -> None:
        self.graph, self.config, self.memory = graph, config, memory
        self.device: Device = memory.device
        traits = self.device.traits
        self.n = np.uint32(graph.n)
        self.blocks = -(-graph.n // BLOCK)
        self._graph = resident(graph, self.device, progress)
        self.rows = (self._graph.indptr, self._graph.indices, self.n)
        self._codes = memory.upload("target_labels", codes)
        self._lanes = traits.lanes
        per_unit = CPU_GROUPS_PER_UNIT
        if not traits.is_cpu:
            resident_groups = traits.threads_per_unit // traits.lanes or GPU_GROUPS_PER_UNIT
            per_unit = min(resident_groups, GPU_GROUPS_PER_UNIT)
        self.groups = traits.compute_units * per_unit
        # A processor's cache holds counts over the target, and a search costs it branches.
        self._lost_edges_by = "counts" if traits.is_cpu else "searches"
        self._likeness = "stored" if traits.is_cpu else "computed"
        self.work = Workspace(self.device)  # arrays of a batch, for the next one to use again
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._queues: tuple[Allocation, Allocation, int] | None = None
        self._tables: tuple[Allocation, ...] | None = None

    def _store_likeness(self, held: Held, request: Request, drawn: Drawn) -> None:
        """Turn scores, which seeds have been drawn by, into what extension draws by."""
        kernel = self.kernel("scores", "matching_likeness", by_labels=held.by_labels)
        rows, floor = np.uint32(held.batch.rows), np.uint32(request.label_floor)
        log, scores = held.logs["extension"], drawn.scores
        self.each(log, held.batch.rows, kernel, self.n, *held.alike, rows, floor, scores)

    @property
    def _counts_common(self) -> bool:
        by = {"equal_bits": True, "lost_edges": self._lost_edges_by == "counts"}
        return by.get(self.config.profile, False)

    def kernel(self, file: str, name: str, **params: object) -> Kernel:
        """Give a kernel, built on first use."""
        key = (file, name, *sorted(params.items()))
        if key not in self._kernels:
            wide = group_size(self.device.traits) if file == "candidates" else self._lanes
            known: dict[str, Any] = {
                "group_size": wide,
                "one": ONE,
                "block": BLOCK,
                "wide_offsets": self.graph.m >= 2**32,
                "by_arcs": False,
                "exact": False,
                "by_labels": True,
                "state_space": "__local",
                "likeness_squarings": LIKENESS_SQUARINGS,
                "least_likeness": LEAST_LIKENESS,
                "lost_edge_bits": LOST_EDGE_BITS,
                "lost_edges_by": self._lost_edges_by,
                "counts_common": self._counts_common,
                "likeness": self._likeness,
            }
            known |= asdict(self.config) | params
            program = load(self.device, f"matching/{file}.cl", **known)
            self._kernels[key] = program.kernel(name)
        return self._kernels[key]

    def hold(self, batch: QueryBatch) -> Held:
        """Bring a batch onto the device."""
        arrays = self.work.upload_all(
            {name: array.astype(np.uint32) for name, array in batch.arrays.items()}
        )
        first = batch.queries[0]
        if first.similarities is not None:
            matrix = np.concatenate([query.similarities for query in batch.queries])
            return Held(batch, arrays, (self.work.upload("similarities", matrix),), False)
        codes = np.concatenate([query.codes for query in batch.queries])
        return Held(batch, arrays, (self.work.upload("labels", codes), self._codes), True)

    def items(self, log: SweepLog, count: int, kernel: Kernel, *args: Argument) -> None:
        """Launch over so many items, in work-groups of the usual size."""
        size = group_size(self.device.traits)
        per_unit = max(self.groups * self._lanes // size, 1)
        groups = min(max(-(-count // size), 1), per_unit)
        event = kernel.launch(groups * size, size, *args)
        log.add(event, event)

    def each(self, log: SweepLog, count: int, kernel: Kernel, *args: Argument) -> None:
        """Launch over so many parts, one SIMD group for each at a time."""
        groups = min(max(count, 1), self.groups)
        event = kernel.launch(groups * self._lanes, self._lanes, *args)
        log.add(event, event)

    def candidates(self, held: Held, log: SweepLog, *, exact: bool = False) -> Allocation:
        """Which vertices can stand for which: uint32 [2, node_words, n], the second half open."""
        batch, arrays = held.batch, held.arrays
        count = batch.node_words * self.graph.n
        found = self.work.array("candidates", 2 * count, np.uint32)
        kernel = self.kernel(
            "candidates", "matching_candidates", exact=exact, by_labels=held.by_labels
        )
        names = ("word_rows", "word_sizes")
        self.items(
            log,
            count,
            kernel,
            self.rows[0],
            self.n,
            *held.alike,
            arrays["row_degrees"],
            np.uint32(batch.node_words),
            *(arrays[name] for name in names),
            found,
        )
        return found

    def similarities(self, held: Held, levels: int) -> tuple[Allocation, Allocation]:
        """Count matched arcs by level, uint32 [rows, n]; out of how many, uint32 [rows]."""
        batch, log, arrays = held.batch, held.logs["probabilities"], held.arrays
        n = self.graph.n
        first, size = batch.mask_first(levels)
        masks = self.work.array("arc_masks", max(size, 1), np.uint32)
        mask_first = self.work.upload("mask_first", first)
        weighted_arcs = self.work.array("weighted_arcs", batch.rows, np.uint32)
        scores = self.work.array("scores", batch.rows * n, np.uint32)
        candidates = self.candidates(held, log)
        groups = min(batch.rows, self.groups, max(SCRATCH_BYTES // (4 * batch.largest), 1))
        scratch = self.work.array("query_levels", groups * batch.largest, np.uint32)
        self.each(
            log,
            groups,
            self.kernel("levels", "matching_query_levels"),
            arrays["query_indptr"],
            arrays["query_indices"],
            np.uint32(batch.rows),
            arrays["row_query"],
            arrays["query_first"],
            arrays["query_words"],
            mask_first,
            np.uint32(levels),
            np.uint32(batch.largest),
            scratch,
            masks,
            weighted_arcs,
        )
        room = min(self.device.traits.max_alloc_bytes, self.memory.free_bytes // 2)
        tile = max(min(batch.words, room // (4 * levels * n)), 1)
        found = self.work.array("found_arcs", levels * tile * n, np.uint32)
        by_vertices = self.config.similarities == "bitset"
        if by_vertices:
            self._gather(log, batch.node_words, candidates)
        for begin in range(0, max(batch.words, 1), tile):
            words = min(tile, batch.words - begin)
            by = self._found_by_vertices if by_vertices else self._found_by_arcs
            by(held, candidates, levels, begin, words, found)
            self.each(
                log,
                batch.rows * self.blocks,
                self.kernel("scores", "matching_accumulate", by_labels=held.by_labels),
                self.n,
                found,
                masks,
                mask_first,
                arrays["row_query"],
                arrays["query_words"],
                np.uint32(batch.rows),
                np.uint32(self.blocks),
                np.uint32(levels),
                np.uint32(begin),
                np.uint32(words),
                scores,
            )
        return scores, weighted_arcs

    def _gather(self, log: SweepLog, words: int, bits: Allocation) -> None:
        """Unite the neighbours' bits: from the first so many words of each vertex to the next."""
        kernel = self.kernel("candidates", "matching_gather")
        self.items(log, words * self.graph.n, kernel, *self.rows, np.uint32(words), bits)

    def _found_by_vertices(
        self,
        held: Held,
        candidates: Allocation,
        levels: int,
        begin: int,
        words: int,
        found: Allocation,
    ) -> None:
        log, arrays = held.logs["probabilities"], held.arrays
        names = ("arc_sources", "query_indices", "row_words", "row_bits", "word_arcs", "arc_counts")
        self.items(
            log,
            words * self.graph.n,
            self.kernel("candidates", "matching_arcs"),
            self.n,
            candidates,
            np.uint32(held.batch.node_words),
            *(arrays[name] for name in names),
            np.uint32(begin),
            np.uint32(words),
            found,
        )
        if levels == 2:  # in a simple graph, the neighbours are all there is at distance 1
            self._gather(log, words, found)
        elif levels > 2:
            queues, visited, groups = self._search_scratch()
            self.each(
                log,
                min(groups, self.graph.n),
                self.kernel("levels", "matching_target_levels"),
                *self.rows,
                np.uint32(levels),
                np.uint32(begin),
                np.uint32(words),
                queues,
                visited,
                found,
            )

    def _found_by_arcs(
        self,
        held: Held,
        candidates: Allocation,
        levels: int,
        begin: int,
        words: int,
        found: Allocation,
    ) -> None:
        log, arrays, batch = held.logs["probabilities"], held.arrays, held.batch
        queues, visited, groups = self._search_scratch()
        names = ("query_indptr", "query_indices", "row_words", "row_query", "query_first")
        self.each(
            log,
            min(groups, self.graph.n),
            self.kernel("levels", "matching_target_levels", by_arcs=True),
            *self.rows,
            candidates,
            np.uint32(batch.node_words),
            arrays["word_rows"],
            *(arrays[name] for name in names),
            arrays["query_words"],
            np.uint32(levels),
            np.uint32(begin),
            np.uint32(words),
            queues,
            visited,
            found,
        )

    def _search_scratch(self) -> tuple[Allocation, Allocation, int]:
        """Queues and visited bits of work-groups, and of how many."""
        if self._queues is None:
            n = self.graph.n
            words = -(-n // 32)
            groups = max(min(self.groups, n, SCRATCH_BYTES // (4 * (n + words))), 1)
            queues = self.memory.allocate("queues", groups * n, np.uint32)
            visited = self.memory.upload("visited", np.zeros(groups * words, np.uint32))
            self._queues = (queues, visited, groups)
        return self._queues

    def weigh(
        self, held: Held, scores: Allocation, weighted_arcs: Allocation, label_floor: int
    ) -> Drawn:
        """Turn matched arcs into weights, in place, and scan their sums row by row."""
        batch, log = held.batch, held.logs["probabilities"]
        rows, blocks = np.uint32(batch.rows), np.uint32(self.blocks)
        parts = batch.rows * self.blocks
        row_sums = self.work.array("row_sums", parts, np.uint64)
        self.each(
            log,
            parts,
            self.kernel("scores", "matching_weights", by_labels=held.by_labels),
            self.rows[0],
            self.n,
            *held.alike,
            held.arrays["row_degrees"],
            weighted_arcs,
            rows,
            blocks,
            np.uint32(label_floor),
            scores,
            row_sums,
        )
        every_row = self.work.upload("every_row", np.arange(batch.rows + 1, dtype=np.uint32))
        scan = self.kernel("scores", "matching_scan")
        self.each(log, batch.rows, scan, every_row, rows, blocks, row_sums)
        return Drawn(scores, row_sums)

    def score(self, held: Held, request: Request) -> Drawn:
        """Run the first phase."""
        return self.weigh(held, *self.similarities(held, request.levels), request.label_floor)

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
        share = SOLUTIONS_PER_GROUP if self.device.traits.is_cpu else GPU_SOLUTIONS_PER_GROUP
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
        return Matches(
            mapping.read(k * batch.rows),
            label_losses.read(solutions),
            edge_losses.read(solutions),
            node_losses.read(solutions),
        )

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
