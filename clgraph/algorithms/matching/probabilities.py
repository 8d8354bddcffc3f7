"""The first phase of matching: how alike the neighbourhoods of pairs of vertices are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.matching.launches import SCRATCH_BYTES, Launches

if TYPE_CHECKING:
    from clgraph.algorithms.matching.launches import Held
    from clgraph.device import Allocation
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Drawn", "Probabilities"]


@dataclass(slots=True)
class Drawn:
    """What the first two phases leave on the device: scores and the seeds drawn by them."""

    scores: Allocation  # uint32 [rows, n]
    row_sums: Allocation  # uint64 [rows, blocks], scanned
    seeds: Allocation | None = None  # uint32 [queries, k, 2]; None before the second phase


class Probabilities(Launches):
    """Launches of the first phase over one target; parameters as for `Launches`."""

    _queues: tuple[Allocation, Allocation, int] | None = None

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

    def similarities(self, held: Held) -> tuple[Allocation, Allocation]:
        """Count matched arcs by level, uint32 [rows, n]; out of how many, uint32 [rows]."""
        batch, log, arrays = held.batch, held.logs["probabilities"], held.arrays
        n, levels, mask_first = self.graph.n, held.levels, arrays["mask_first"]
        masks = self.work.array("arc_masks", max(held.masks, 1), np.uint32)
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
            by(held, candidates, begin, words, found)
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
        begin: int,
        words: int,
        found: Allocation,
    ) -> None:
        log, arrays, levels = held.logs["probabilities"], held.arrays, held.levels
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
        begin: int,
        words: int,
        found: Allocation,
    ) -> None:
        log, arrays, batch = held.logs["probabilities"], held.arrays, held.batch
        levels = held.levels
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
        scan = self.kernel("scores", "matching_scan")
        self.each(log, batch.rows, scan, held.arrays["every_row"], rows, blocks, row_sums)
        return Drawn(scores, row_sums)
