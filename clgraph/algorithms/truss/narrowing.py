"""Where the greatest truss can be: bounds by supports, and smaller graphs that hold it."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.triangles.orient import BUCKETS, HeldRows
from clgraph.algorithms.truss.edges import Edges
from clgraph.algorithms.truss.searching import LEAST_K, most_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device, Memory
    from clgraph.engine.sweeps import SweepLog

__all__ = ["FEW_TRIANGLES", "SHARES", "Narrowing", "Supports"]

# The least support of each bucket: exact below 2,048, then 128 to an octave.
EXACT = 2048
_OCTAVES = np.arange(BUCKETS - EXACT)
LEAST = np.concatenate([np.arange(EXACT), (128 + _OCTAVES % 128) << (_OCTAVES // 128 + 4)])
GREATEST_K = np.append(LEAST[1:], 2**32) + 1  # the last k whose k - 2 is in the bucket
# Edges that a truss has at least whose k - 2 is the least support of the bucket.
NEEDED = ((LEAST.astype(np.uint64) + 2) * (LEAST.astype(np.uint64) + 1) // 2).astype(np.int64)
# Of the edges, that a smaller graph may have; each is tried where that before holds nothing.
SHARES = (1 / 8, 1 / 4, 1 / 2)
STEADY = 0.9  # of the edges of a smaller graph; where more stay it is not made smaller still
FEW_TRIANGLES = 1 << 23  # are listed in the time of another count


class Supports:
    """How many edges have which support, as far as buckets tell.

    Parameters
    ----------
    buckets : array
        Edges of each bucket; of support 0 none.
    """

    def __init__(self, buckets: NDArray[np.uint32]) -> None:
        # A device may wait for what is made of them: without those after the last that has any.
        some = np.flatnonzero(buckets)
        self._buckets = buckets[: some[-1] + 1 if some.size else 0].astype(np.int64)
        self._at_least = self._buckets[::-1].cumsum()[::-1]

    @property
    def triangles(self) -> int:
        """Triangles of the graph, not more than there are, nor much fewer."""
        return int(self._buckets @ LEAST[: len(self._buckets)]) // 3

    def kept(self, k: int) -> int:
        """Bound the edges that have k - 2 triangles."""
        bucket = int(LEAST.searchsorted(k - 2, side="right")) - 1
        return int(self._at_least[bucket]) if bucket < len(self._at_least) else 0

    def least(self, edges: float) -> int:
        """Give a k above 2, the least by buckets, that `kept` is so many edges of at most."""
        bucket = 1 + np.count_nonzero(self._at_least[1:] > edges)
        return int(LEAST[bucket] if bucket < BUCKETS else LEAST[-1] + 1) + 2

    def cliquish(self, k: int) -> bool:
        """Whether edges of just k - 2 triangles are half of what a k-truss has at least.

        A clique that hangs on little else has many of them; so do few graphs that have no such
        truss.
        """
        just = self.kept(k) - self.kept(k + 1) if k - 1 < EXACT else 0
        return 4 * just >= k * (k - 1)

    def bound(self, most: int) -> int:
        """Bound k: a k-truss has k (k - 1) / 2 edges, of k - 2 triangles each; or `most`."""
        # Of the buckets these are the first: the least supports rise, and edges of so many fall.
        enough = np.count_nonzero(self._at_least >= NEEDED[: len(self._at_least)])
        if not enough:
            return min(most, LEAST_K)
        fits = int(most_k(self._at_least[enough - 1]))
        return min(most, fits, int(GREATEST_K[enough - 1]))


class Narrowing:
    """Smaller graphs that hold all trusses from a k on, as in Cohen's reduction by supports.

    Edges of fewer than k - 2 triangles are dropped, those of the others counted again, until few
    go. Graphs and what counts them are kept from run to run.

    Parameters
    ----------
    whole : Edges
        Of the graph, filled before each run.
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    """

    def __init__(self, whole: Edges, device: Device, memory: Memory) -> None:
        self._whole = whole
        self._device, self._memory = device, memory
        self._smaller: list[tuple[HeldRows, Edges]] = []

    def run(self, log: SweepLog, supports: Supports, k: int, most: int) -> tuple[Edges | None, int]:
        """Narrow the graph to what may be in trusses from a k on.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        supports : Supports
            Of the whole graph.
        k, most : int
            The least that is wanted; no truss is of more than the other.

        Returns
        -------
        edges, most
            Of the smaller graph, filled, and what k cannot pass; None where it has no such truss.
        """
        edges = self._whole
        for level in count():
            edges.tally(log, k - 2)
            # Where buckets are exact they tell what to allocate without a wait.
            m = 2 * supports.kept(k) if k - 2 < EXACT else edges.tallied(log)
            if m < k * (k - 1):
                return None, most
            rows, smaller = self._held(level, m)
            edges.keep(log, k - 2, rows)
            edges = smaller
            edges.fill(log, anew=True, counted=True)
            supports = Supports(edges.histogram(log))
            edges.finish()
            most = supports.bound(most)
            if most < k:
                return None, most
            steady = supports.kept(k) >= STEADY * edges.count
            if steady or edges.triangles <= FEW_TRIANGLES:
                break
        return edges, most

    def _held(self, level: int, m: int) -> tuple[HeldRows, Edges]:
        """Give what counts so many stored edges: what did before, if they were as many."""
        if level >= len(self._smaller) or self._smaller[level][0].m != m:
            del self._smaller[level:]
            n, max_degree = self._whole.graph.n, self._whole.graph.max_degree
            rows = HeldRows(
                n,
                m,
                max_degree,
                self._memory.allocate("kept_pointers", n + 1, np.uint32),
                self._memory.allocate("kept_neighbours", m, np.uint32),
            )
            self._smaller.append((rows, Edges(rows, self._device, self._memory)))
        return self._smaller[level]
