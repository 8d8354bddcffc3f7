"""A configuration with everything decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.hardware.measured import RESIDENT_OVERFULL, RESIDENT_UNEVEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.engine.strategies.balancer import Balancer, Chunks
    from clgraph.engine.strategies.frontier import Frontier
    from clgraph.engine.strategies.limits import Limits
    from clgraph.engine.strategies.pull import ByEdges, ByHubs
    from clgraph.engine.strategies.strategy import Strategy

__all__ = ["ENTRY_WORDS", "MAX_GROUPS", "QUEUE_SLACK", "USUAL", "Mechanics", "Resolved"]

# Largest number of work-groups: the members field of a stage word has 12 bits.
MAX_GROUPS = 4095
# Words of a queue's entry: a vertex, with its row, or with what is known of it too.
ENTRY_WORDS = {"vertex": 1, "row": 2, "full": 4}
# Entries beyond those of a queue that branch-free appends may touch.
QUEUE_SLACK = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanics:
    """What an algorithm's kernels need of the engine, whatever is configured; None: as usual.

    Attributes
    ----------
    entry : {"vertex", "row", "full"}, optional
        What a queue keeps of a vertex: its number, its row too, or also what is known of it.
    launch_work : int, optional
        Edges after which a launch pauses.
    buffer : int, optional
        Entries that a SIMD group collects in local memory.
    batch : int, optional
        Edges that a lane visits at a time.
    wide : int, optional
        Rows of so many edges are walked by a whole SIMD group, where the balancer does not say.
    """

    entry: str | None = None
    launch_work: int | None = None
    buffer: int | None = None
    batch: int | None = None
    wide: int | None = None


USUAL = Mechanics()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Resolved:
    """A configuration with everything decided; what templates see as ``config``.

    Attributes
    ----------
    asked : Strategy
        The configuration that was asked for, with the strategies that were chosen.
    frontier, balance, pull, limits
        The strategies that run, with every number; `pull` is None where no level does.
    chunks : Chunks
        How balancers of the whole grid cut a frontier.
    lanes, group_size, groups, synchronisation, membership, single_group, distribution, kernels,
    group_resident
        How it is launched; see `clgraph.engine.strategies.schedule`.
    entry, buffer, wide
        See `Mechanics`.
    word_bits : int
        Of a word of the bitmaps.
    wide_offsets : bool
        Whether edges are numbered by 64 bits.
    hub_degree, hub_batch, hub_bins, hub_bits : int
        Least degree of a vertex that is set apart, 0 for none; see
        `clgraph.engine.strategies.frontier.Hubs`.
    leaf_degree : int
        Degree of vertices that are left out of what is shared out; 0 for none.
    pull_batch, wide_batch, scan_batch : int
        Edges that a lane looks at together where it pulls, walks a wide row, or searches.
    push_tile, fill_tile : int
        Entries of a queue, and of an array, that work-items take together.
    class_batch : int
        Vertices of the lowest class that a work-item takes.
    stage_work, launch_work : int
        What a stage costs, in edges, and after how many a launch pauses.
    counts : bool
        Whether events are counted.
    in_blocks : bool
        Whether rows are in blocks, as those of a graph that changes are.
    row_line : int
        Edges of a line of memory where rows that SIMD groups walk are read by whole lines; else 0.
    pull_tile : int
        Words of a bitmap that a work-item alone takes together.
    single_patience : int
        Work of one group alone after which others that wait are sent away.
    resident_levels, resident_overfull, resident_uneven : int
        Levels after which groups that hold their frontiers meet; and how many vertices of one
        group, or how many times the mean, are too many.
    """

    asked: Strategy
    frontier: Frontier
    balance: Balancer
    chunks: Chunks
    pull: ByEdges | ByHubs | None
    limits: Limits
    lanes: int
    group_size: int
    groups: int | None
    synchronisation: str
    membership: str
    single_group: bool
    distribution: str
    kernels: str
    group_resident: bool
    entry: str
    buffer: int
    word_bits: int
    wide_offsets: bool
    wide: int
    hub_degree: int
    hub_batch: int
    hub_bins: int
    hub_bits: int
    leaf_degree: int
    pull_batch: int
    wide_batch: int
    scan_batch: int
    push_tile: int
    fill_tile: int
    class_batch: int
    stage_work: int
    launch_work: int
    counts: bool
    in_blocks: bool = False
    row_line: int = 0
    pull_tile: int = 16
    single_patience: int = 1 << 15
    resident_levels: int = 1 << 12
    resident_overfull: int = RESIDENT_OVERFULL.neutral
    resident_uneven: int = RESIDENT_UNEVEN.neutral

    @property
    def exact(self) -> bool:
        """Whether a vertex enters a queue at most once."""
        return self.frontier.exact

    @property
    def rows(self) -> str | None:
        """Whether rows have offsets, begin and end side by side, or blocks, which no choice is."""
        return "blocks" if self.in_blocks else self.frontier.rows

    @property
    def entry_words(self) -> int:
        """Words of 32 bits of a queue's entry."""
        return ENTRY_WORDS[self.entry]

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """Type of row offsets on the device."""
        return np.dtype(np.uint64 if self.wide_offsets else np.uint32)

    def hubs_among(self, degrees: NDArray[Any]) -> int:
        """Count the vertices that are set apart, by their out-degrees."""
        return int(np.count_nonzero(degrees >= self.hub_degree)) if self.hub_degree else 0

    def __repr__(self) -> str:
        """Show the call that makes it: what was asked for, and the strategies that were chosen."""
        return repr(self.asked)

    def as_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults, by dotted names, for records."""
        return self.asked.as_dict()
