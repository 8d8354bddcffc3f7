"""What a device of a cluster holds that sends the vertices it finds to their owners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.parts.part import BIN_LENGTHS, BIN_STRIDE, SEEN, Part
from clgraph.errors import InvalidGraphError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.device.programs.kernel import Argument

__all__ = ["CandidatePart"]

MOST_CANDIDATES = 2**32 - 64  # loops over them step past their end


class CandidatePart(Part):
    """A part that sends vertices to their owners.

    Attributes
    ----------
    bins : Allocation
        What it found, by owner.
    bin_begins : int64 array [parts + 1]
        Where each owner's bin begins, in candidates.
    inbox : Allocation
        What it is sent.
    candidate_bytes : int
        Of one candidate.
    """

    EXCHANGE = "candidates"

    def __init__(
        self, share: Share, partition_plan: PartitionPlan, *where: Any, **common: Any
    ) -> None:
        super().__init__(share, partition_plan, *where, **common)
        self.candidate_bytes = 8 if self._problem.predecessors else 4
        self.bin_begins = np.zeros(self._parts + 1, np.int64)
        np.cumsum(self._room(share), out=self.bin_begins[1:])
        if self.bin_begins[-1] >= MOST_CANDIDATES:
            raise InvalidGraphError(
                f"a device may find {self.bin_begins[-1]} vertices in one level, which bins number "
                "with 32 bits; use more devices or frontier='status'."
            )
        self._begins = self._memory.upload("bin_begins", self.bin_begins.astype(np.uint32))
        candidate = np.dtype(f"u{self.candidate_bytes}")
        self.bins = self._memory.allocate("bins", int(self.bin_begins[-1]), candidate)
        # Owners claim exactly, by the distances they keep.
        exact = {"visited": "labels", "duplicates": "keep", "history": 0}
        claims = replace(self.config, frontier=self.config.frontier.with_values(exact))
        self._claims = claims
        self._contract = self._kernel("bfs/parts_contract.cl", "bfs_parts_contract", claims)

    def _room(self, share: Share) -> NDArray[np.int64]:
        """Candidates for each owner that one level may find: edges to its vertices, at most."""
        if self.config.frontier.visited != "bitmap":
            return self._heads
        return np.minimum(self._heads, [owned.count for owned in share.partition.shares])

    def _survey(self, indices: NDArray[Any]) -> None:
        owners = np.remainder(indices, indices.dtype.type(self._parts))
        self._heads = np.bincount(owners, minlength=self._parts).astype(np.int64)

    def receive_from(self, capacity: int) -> None:
        """Make room for candidates from all other devices, so many at most."""
        arrivals = capacity + int(np.diff(self.bin_begins)[self.rank])
        if arrivals >= MOST_CANDIDATES:
            raise InvalidGraphError(
                f"{arrivals} edges may lead to vertices of one device in a level, which are "
                "numbered with 32 bits; use more devices, visited='bitmap' or frontier='status'."
            )
        self.inbox = self._memory.allocate("inbox", capacity, self.bins.dtype)

    @property
    def _targets(self) -> tuple[Argument, ...]:
        return (self.bins, self._begins, self._many)

    def sent(self) -> NDArray[np.int64]:
        """Candidates in each bin, as of the last look, int64 [parts]."""
        first = BIN_LENGTHS - SEEN
        return self._mirror.words[first::BIN_STRIDE][: self._parts].astype(np.int64)

    def contract(self, level: int, kept: tuple[int, int], received: int) -> None:
        """Enqueue the claiming of candidates at distance `level`: of the own bin and of the inbox.

        Parameters
        ----------
        level : int
            Their distance.
        kept : tuple of int
            Where the own bin begins, and how many it holds.
        received : int
            How many the inbox holds.
        """
        self._launch(
            self._contract,
            *(self._indptr, self._indices, self._n, np.uint32(level)),
            *(self.bins, np.uint32(kept[0]), np.uint32(kept[1]), self.inbox, np.uint32(received)),
            *(self.distances, self.predecessors, self._frontier, self._hubs),
            *(self._many, self._state, self._slots[level & 1]),
        )
