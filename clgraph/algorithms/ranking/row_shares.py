"""How the rows of a graph are shared out among work-groups that sum over them.

What `templates/balance/row_sums.mako` is rendered with and launched on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.sweeps import Sweeper
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device, Memory

__all__ = ["RowShares", "most_columns"]

RANGES_PER_UNIT = 16  # of a CPU, so that a thread which finishes early takes another
ROW_EDGES = 2  # what beginning a row costs a CPU, in edges
EDGES_PER_MEMBER = 4  # of the longest row that a team of few work-items takes
EDGES_PER_LANE = 32  # of the longest row that one SIMD group takes
# Groups of a class, in times what is on the device together; each takes rows after each other.
# Those of short rows, which wait for memory, begin all at once, those of long ones in turn.
WAVES, WAVES_OF_LONG = 1, 4
PIECE = 1 << 16
PIECE_OF_COLUMNS = 1 << 9  # a work-item walks it alone


class RowShares:
    """Shares of the rows of one graph on one device.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    indptr : integer array [n + 1]
        Of a graph with vertices.
    columns : int
        Sums taken at once in every row; a power of two, at most `most_columns`.
    real : dtype
        Of the sums.
    piece : int, optional
        Edges at which rows are cut into pieces.

    Attributes
    ----------
    group_size, groups : int
        Work-items in a group, and groups of a launch.
    parameters : dict
        What templates call ``shares``.
    arguments : tuple
        What a launch passes.
    pieced_groups : int
        Groups of the launch that puts pieces together; 0 where no row is cut.
    """

    def __init__(
        self,
        device: Device,
        memory: Memory,
        indptr: NDArray[Any],
        *,
        columns: int = 1,
        real: Any = np.float32,
        piece: int | None = None,
    ) -> None:
        traits = device.traits
        self.group_size = group_size(traits)
        self._lanes = traits.lanes
        self.pieced_groups = 0
        degrees = np.diff(indptr)
        if traits.lanes == 1:
            begins = _ranges(indptr, traits.compute_units * RANGES_PER_UNIT)
            self.groups = len(begins) - 1
            self._render(ranges=True, columns=columns)
            self.arguments: tuple[Allocation, ...] = (memory.upload("row_shares", begins),)
            return
        if columns == 1:
            teams, longest = _teams(traits.lanes, self.group_size)
        else:
            teams, longest = [columns], [np.inf]
        piece = piece or (PIECE if columns == 1 else PIECE_OF_COLUMNS)
        # Widest first: the longest rows begin early. Rows of a class stay in their order.
        classes = np.searchsorted(longest, degrees).astype(np.uint8)
        long_rows = np.flatnonzero(degrees > piece)
        if len(long_rows):
            teams = [*teams, teams[-1]]
            classes[long_rows] = len(teams) - 1
        order = np.argsort(len(teams) - classes, kind="stable").astype(np.uint32)
        counts = np.bincount(classes, minlength=len(teams))[::-1].copy()
        teams = teams[::-1]
        cuts, parts, piece_begins = _cut(degrees[long_rows], piece)
        if len(long_rows):
            # Rows that are cut, which come first, make way for their pieces.
            rows = np.repeat(long_rows, cuts).astype(np.uint32)
            order = np.concatenate([rows, order[len(long_rows) :]])
            counts[0] = len(rows)
            self.pieced_groups = -(-len(long_rows) * columns // self.group_size)
        kept = counts > 0
        teams = [team for team, keep in zip(teams, kept, strict=True) if keep]
        counts = counts[kept]
        begins = _begins(counts, teams, self.group_size, device)
        self.groups = int(begins[-1, 0])
        ordered = len(teams) > 1 or len(long_rows) > 0
        rendered = {"teams": teams, "ordered": ordered, "pieced": len(long_rows), "piece": piece}
        self._render(ranges=False, columns=columns, **rendered)
        arrays: list[Allocation] = [memory.upload("row_shares", begins.ravel())]
        if ordered:
            arrays.append(memory.upload("row_order", order))
        if len(long_rows):
            arrays.append(memory.upload("piece_parts", parts))
            arrays.append(memory.upload("piece_begins", piece_begins))
            arrays.append(memory.allocate("piece_sums", len(parts) * columns, real))
        self.arguments = tuple(arrays)

    def _render(self, *, ranges: bool, columns: int, **others: Any) -> None:
        self.parameters: dict[str, Any] = {
            "ranges": ranges,
            "columns": columns,
            "group_size": self.group_size,
            "lanes": self._lanes,
            "teams": [],
            "ordered": False,
            "pieced": 0,
            "piece": 0,
            "member_edges": EDGES_PER_MEMBER,
            **others,
        }


def _begins(
    counts: NDArray[Any], teams: list[int], size: int, device: Device
) -> NDArray[np.uint32]:
    """Give of each class the first group, the first slot, and how often a group takes rows."""
    together = Sweeper(device, 2**32).groups
    tiles = [-(-int(count) // (size // team)) for count, team in zip(counts, teams, strict=True)]
    waves = [WAVES if team < device.traits.lanes else WAVES_OF_LONG for team in teams]
    each = [-(-t // (together * w)) for t, w in zip(tiles, waves, strict=True)]
    begins = np.zeros((len(teams) + 1, 3), np.uint32)
    begins[1:, 0] = np.cumsum([-(-t // e) for t, e in zip(tiles, each, strict=True)])
    begins[1:, 1], begins[:-1, 2] = np.cumsum(counts), each
    return begins


def most_columns(device: Device) -> int:
    """Give how many sums can be taken at once in every row."""
    return 8 if device.traits.lanes == 1 else min(device.traits.lanes, 16)


def _cut(
    degrees: NDArray[Any], piece: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the pieces of rows: how many each has, their numbers in their rows, where rows begin."""
    cuts = -(-degrees.astype(np.int64) // piece)
    begins = np.concatenate([[0], np.cumsum(cuts)])
    parts = np.arange(begins[-1]) - np.repeat(begins[:-1], cuts)
    return cuts, parts.astype(np.uint32), begins.astype(np.uint32)


def _teams(lanes: int, size: int) -> tuple[list[int], list[float]]:
    """Give the work-items for a row by class, narrowest first, and the longest row of each."""
    teams = [1 << bit for bit in range(lanes.bit_length())]
    longest = [float(EDGES_PER_MEMBER * team) for team in teams]
    longest[-1] = np.inf
    if size > lanes:
        teams.append(size)
        longest[-1:] = [float(EDGES_PER_LANE * lanes), np.inf]
    return teams, longest


def _ranges(indptr: NDArray[Any], most: int) -> NDArray[np.uint32]:
    """Cut rows into ranges that cost about the same."""
    n = len(indptr) - 1
    cost = indptr.astype(np.int64) + ROW_EDGES * np.arange(n + 1)
    count = max(min(most, n), 1)
    wanted = cost[-1] * np.arange(1, count) // count
    return np.concatenate([[0], np.searchsorted(cost, wanted), [n]]).astype(np.uint32)
