"""The part of a rank in a search for shortest paths."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, PART_WORDS
from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.device import Memory, Mirror, load, resident_groups
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import (
    QUEUE_PAYLOAD,
    SLOT_WORDS,
    STATE_WORDS,
    stage_fields,
)
from clgraph.graph.csr import unsigned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Device
    from clgraph.engine.resolved import Resolved

__all__ = ["PathPart"]

KERNELS = ("begin", "relax", "send", "absorb", "collect")
SLOT_STRIDE = STATE_WORDS["SLOT_STRIDE"]


class PathPart:
    """What one rank holds of a search, and launches."""

    def __init__(self, share: Share, weights: Weights, device: Device, config: Resolved) -> None:
        self.share, self.device, self.weights = share, device, weights
        self.rank = share.rank
        facts, owned = share.facts, share.owned
        ranks = share.partition.ranks
        memory = Memory(device)
        self.key = np.dtype(f"u{weights.keys.bits // 8}")
        self.candidate_bytes = 2 * self.key.itemsize
        self._group_size = config.group_size
        bits = config.word_bits
        words = -(-facts.n // RANGE_GRAIN) * (RANGE_GRAIN // bits)
        state_words = BIN_LENGTHS + ranks * BIN_STRIDE
        rows = (
            memory.upload("indptr", share.indptr.astype(offsets_dtype(facts.m))),
            memory.upload("indices", unsigned(share.indices)),
        )
        costs = memory.upload("weights", np.ascontiguousarray(weights.values))
        self.best = memory.allocate("best", facts.n, self.key)
        changed = memory.allocate("changed", words, f"u{bits // 8}")
        self.least = memory.allocate("least", 1, self.key)
        hubs = config.hubs_among(np.diff(share.indptr))
        frontier, hub_frontier = (
            memory.allocate(name, config.entry_words * (count + QUEUE_SLACK), np.uint32)
            for name, count in (("frontier", owned.count), ("hubs", hubs))
        )
        self.bins = memory.allocate("bins", 2 * facts.n, self.key)
        self.inbox = memory.allocate("inbox", 2 * owned.count * max(ranks - 1, 1), self.key)
        firsts = [other.first for other in share.partition.shares]
        self.bin_begins = np.array([*firsts, facts.n], np.int64)
        begins = memory.upload("bin_begins", self.bin_begins.astype(np.uint32))
        self.state = memory.allocate("state", state_words, np.uint32)
        self._counts = Mirror(device, self.state, 0, state_words)
        self._nearest = Mirror(device, self.least, 0, self.key.itemsize // 4)
        program = load(
            device,
            "sssp/parts.cl",
            config=config,
            problem=SimpleNamespace(predecessors=False),
            keys=weights.keys,
            state_words=STATE_WORDS | PART_WORDS,
            slot_words=SLOT_WORDS,
            stage_fields=stage_fields(QUEUE_PAYLOAD),
        )
        self._kernels = {}
        for name in KERNELS:
            kernel = program.kernel(f"sssp_parts_{name}")
            groups = config.groups or resident_groups(device, kernel, config.group_size)
            self._kernels[name] = (kernel, groups)
        own = (np.uint32(owned.first // bits), np.uint32(-(-owned.count // bits)))
        first, many = np.uint32(owned.first), np.uint32(ranks)
        self._begin = (np.uint32(facts.n), np.uint32(words), np.uint32(state_words))
        self._arrays = (self.best, changed)
        self._relax = (*rows, costs, first, frontier, hub_frontier, self.best, changed, self.state)
        self._send = (np.uint32(words), *own, self.best, changed, self.bins, begins, many)
        self._absorb = (
            (np.uint32(words), *own, self.inbox),
            (many, self.best, changed, self.state),
        )
        self._collect = ((*rows, np.uint32(owned.count), first, *own), (self.best, changed))
        self._queues = (self.least, frontier, hub_frontier, self.state)
        self._turn = 0

    def _launch(self, name: str, *args: Any) -> None:
        kernel, groups = self._kernels[name]
        kernel.launch(groups * self._group_size, self._group_size, *args)

    def begin(self, source: int) -> None:
        """Enqueue what makes no vertex reached but the source."""
        here = self.share.owned.number(source) < self.share.owned.count
        at = np.uint32(source if here else self.share.facts.n)
        self._launch("begin", *self._begin, at, *self._arrays, self.state)
        self._turn = 0

    def collect(self, bound: int) -> None:
        """Enqueue what puts near vertices into the frontier."""
        self.least.write(np.array([self.weights.keys.none], self.key))
        before, after = self._collect
        self._launch(
            "collect",
            *before,
            self.key.type(bound),
            *after,
            *self._queues,
            np.uint32(self._turn),
        )

    def relax(self) -> None:
        """Enqueue the relaxing of the frontier's edges, and the sorting of what is others'."""
        self._launch("relax", *self._relax, np.uint32(self._turn))
        self._launch("send", *self._send, self.state, np.uint32(self._turn))
        self._turn ^= 1

    def absorb(self, received: int) -> None:
        """Enqueue the taking of so many decreases that others sent."""
        before, after = self._absorb
        self._launch("absorb", *before, np.uint32(received), *after)

    def looks(self) -> list[Any]:
        """Enqueue a read of the counters."""
        return [self._counts.enqueue(), self._nearest.enqueue()]

    def near(self) -> NDArray[np.int64]:
        """Give the length of the frontier and the least key that is far, as last seen."""
        words = self._counts.words
        count = sum(
            int(words[STATE_WORDS[name] + self._turn * SLOT_STRIDE])
            for name in ("NEXT", "NEXT_HUBS")
        )
        return np.array([count, int(self._nearest.words.view(self.key)[0])], np.int64)

    def sent(self) -> NDArray[np.int64]:
        """Give how much is in each bin, as last seen."""
        return self._counts.words[BIN_LENGTHS::BIN_STRIDE][: self.bin_begins.size - 1].astype(
            np.int64
        )
