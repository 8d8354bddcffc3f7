"""How searches in shared bits are laid out: what fits a device, what kernels are rendered with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.engine.resident import wide_offsets
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = [
    "FOUND_WORDS",
    "OUTPUTS",
    "BitParallelConfig",
    "most_words",
    "ms_bfs_config",
]

OUTPUTS = {"distances": "int", "marks": "uchar", "targets": "ulong", "sources": "ulong"}
MOST_WORDS_CPU, MOST_WORDS_GPU = 16, 32
FOUND_WORDS = 64
# Levels that are settled together, and looked at: their rows are kept.
KEPT_LEVELS = 8
MEMORY_SHARE = 0.9
GROUP_SIZE = 256


@dataclass(frozen=True, slots=True)
class BitParallelConfig:
    """What the kernels are rendered with.

    Attributes
    ----------
    lanes, group_size, wide_offsets
        Of the device and the graph.
    row_words : int
        32-bit words of a vertex's row; a power of two.
    part_edges : int
        Longer rows are gathered in parts of this many edges.
    tile : int
        Vertices that a SIMD group takes at a time.
    batch : int
        Neighbours whose rows are read at the same time.
    output : str
        What is kept of the searches.
    ctype, real : str
        Type of the result, and of sums of reciprocals.
    kept_levels : int
        Levels that are settled together.
    settle_tile : int
        Neighbouring vertices that a work-item settles: a line of distances on one lane.
    """

    lanes: int
    group_size: int
    wide_offsets: bool
    row_words: int
    part_edges: int
    tile: int
    batch: int
    output: str
    ctype: str
    real: str
    kept_levels: int
    settle_tile: int
    found_words: int = FOUND_WORDS

    @property
    def kept_slots(self) -> int:
        """Levels whose rows are kept: those that are settled together, and the one before."""
        return self.kept_levels + 1

    @property
    def counts_alone(self) -> bool:
        """Whether a work-item counts by itself."""
        return self.group_size == 1

    @property
    def level_bits(self) -> int:
        """Bits that number them."""
        return self.kept_levels.bit_length()

    @property
    def lane_words(self) -> int:
        """Words of a row that each lane has."""
        return max(self.row_words // self.lanes, 1)

    @property
    def slots(self) -> int:
        """Rows that the lanes of a SIMD group read side by side."""
        return max(self.lanes // self.row_words, 1)


def most_words(graph: Graph, traits: DeviceTraits, output: str, free_bytes: int) -> int:
    """Give the widest row that pays and fits, in words."""
    words = MOST_WORDS_CPU if traits.is_cpu or traits.lanes == 1 else MOST_WORDS_GPU
    # A pass keeps rows of bits, and a result of each search.
    result = 32 * {"distances": 4, "marks": 1}.get(output, 0)
    rows = 4 * (KEPT_LEVELS + 1)
    while words > 1 and (
        words * graph.n * (4 + rows + result) > MEMORY_SHARE * free_bytes
        or words * graph.n * max(rows, result) > traits.max_alloc_bytes
    ):
        words //= 2
    return words


def ms_bfs_config(
    graph: Graph, traits: DeviceTraits, output: str, row_words: int
) -> BitParallelConfig:
    """Decide every size for a graph, a device, a result and a width.

    Raises
    ------
    InvalidArgumentError
        If the device's lanes are not a power of two.
    """
    lanes = traits.lanes
    one_lane = lanes == 1
    if lanes & (lanes - 1):
        raise InvalidArgumentError(f"{lanes} lanes are not a power of two.")
    return BitParallelConfig(
        lanes=lanes,
        group_size=traits.usual_group(GROUP_SIZE),
        wide_offsets=wide_offsets(graph.m),
        row_words=row_words,
        part_edges=1024 if not one_lane else 1 << 16,
        tile=64 if one_lane else 1,
        batch=1 if one_lane or traits.emulated else 4,
        output=output,
        ctype=OUTPUTS[output],
        real="double" if traits.fp64 and traits.int64_atomics else "float",
        kept_levels=KEPT_LEVELS,
        settle_tile=16 if one_lane else 1,
    )
