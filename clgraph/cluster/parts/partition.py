"""Who owns which vertices, and who holds which edges.

A vertex is owned by one rank, which keeps its distance. The rows of a rank are those of its own
vertices, or parts of rows: `rows_of` numbers them, `holder` says who has an edge, and `spread` to
whom an owner passes on what is new about its vertices.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import among, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "PARTITIONS",
    "RANGE_GRAIN",
    "Blocks",
    "Copies",
    "Grid",
    "Hubs",
    "Ownership",
    "Rows",
    "Turns",
]

RANGE_GRAIN = 64  # vertices; a range is whole words of a bitmap on every device
MANY_RANKS = 16  # from which a grid's fewer partners pay


@dataclass(frozen=True, slots=True)
class Ownership:
    """Vertices of the graph in a row: ``first, first + stride, ...``, `count` of them.

    Attributes
    ----------
    first, stride, count : int
        Vertex ``first + k * stride`` of the graph is number k on the device, k < `count`.
    """

    first: int
    stride: int
    count: int

    @staticmethod
    def in_turns(n: int, parts: int) -> list[Ownership]:
        """Give vertex v to part ``v % parts``: shares alike in number and, likely, in degrees."""
        return [Ownership(part, parts, max(-(-(n - part) // parts), 0)) for part in range(parts)]

    @staticmethod
    def in_ranges(n: int, parts: int) -> list[Ownership]:
        """Give each part neighbouring vertices, equally many but for the grain of a bitmap."""
        words = -(-n // RANGE_GRAIN)
        bounds = [min(words * part // parts * RANGE_GRAIN, n) for part in range(parts + 1)]
        return [Ownership(begin, 1, end - begin) for begin, end in itertools.pairwise(bounds)]

    @property
    def vertices(self) -> slice:
        """The owned vertices among all."""
        return slice(self.first, self.first + self.count * self.stride, self.stride)

    @property
    def names(self) -> NDArray[np.int64]:
        """The owned vertices, int64 [count]."""
        return np.arange(self.count, dtype=np.int64) * self.stride + self.first

    def number(self, vertex: int) -> int:
        """Give a vertex's number on the device, `count` if it is another's."""
        number, rest = divmod(vertex - self.first, self.stride)
        return number if rest == 0 and 0 <= number < self.count else self.count


@dataclass(frozen=True, slots=True)
class Rows:
    """Vertices whose rows a rank holds: some in a row, and others behind them.

    Attributes
    ----------
    line : Ownership
        The first.
    others : int64 array
        The others, ascending.
    """

    line: Ownership
    others: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many."""
        return self.line.count + self.others.size

    @property
    def names(self) -> NDArray[np.int64]:
        """The vertices in the order of their rows, int64 [count]."""
        return np.concatenate([self.line.names, self.others])

    def numbers(self, vertices: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rows of vertices, `count` where there is none."""
        line, others = self.line, self.others
        numbers, rest = np.divmod(np.asarray(vertices, np.int64) - line.first, line.stride)
        found = np.where((rest == 0) & (numbers >= 0) & (numbers < line.count), numbers, self.count)
        if others.size:
            places = np.minimum(np.searchsorted(others, vertices), others.size - 1)
            found = np.where(others[places] == vertices, line.count + places, found)
        return found


NOBODY = np.zeros(0, np.int64)


class Blocks:
    """Neighbouring vertices with their rows: ranges of whole words of a bitmap.

    Parameters
    ----------
    n : int
        Vertices.
    ranks : int
        How many share them.
    """

    name = "block"
    spreads = False  # whether owners have to notify others what is new

    def __init__(self, n: int, ranks: int) -> None:
        self.n, self.ranks = n, ranks
        self.shares = self._shares()

    def _shares(self) -> list[Ownership]:
        return Ownership.in_ranges(self.n, self.ranks)

    def owner(self, vertices: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rank that owns each vertex."""
        ends = np.array([share.first + share.count for share in self.shares])
        return np.searchsorted(ends, vertices, side="right").astype(np.int64)

    def owned(self, vertices: NDArray[Any], rank: int) -> NDArray[np.int64]:
        """Give the numbers that vertices of a rank have there."""
        share = self.shares[rank]
        return (np.asarray(vertices, np.int64) - share.first) // share.stride

    def holder(self, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:  # noqa: ARG002
        """Give the rank that has each edge."""
        return self.owner(sources)

    def rows(self, rank: int) -> Rows:
        """Give the rows of a rank."""
        return Rows(self.shares[rank], NOBODY)

    def spread(self, rank: int, vertices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Give the vertices of a rank that each other has rows of, of those that are new."""
        raise NotImplementedError


class Copies(Blocks):
    """Neighbouring vertices, as far as results go; every rank has all rows."""

    name = "copies"


class Turns(Blocks):
    """Vertex v belongs to rank ``v % ranks``, with its row."""

    name = "cyclic"

    def _shares(self) -> list[Ownership]:
        return Ownership.in_turns(self.n, self.ranks)

    def owner(self, vertices: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rank that owns each vertex."""
        return np.asarray(vertices, np.int64) % self.ranks


class Grid(Turns):
    """Ranks in rows and columns: a column has all edges out of its vertices, a row those into its.

    Rank k of r times c stands in row ``k // c`` and column ``k % c``. Edges u -> v are in the
    column of u's owner and the row of v's. So what is found goes to c ranks, and what is new to r.
    """

    name = "2d"
    spreads = True

    def __init__(self, n: int, ranks: int) -> None:
        self.lines = next(d for d in range(math.isqrt(ranks), 0, -1) if ranks % d == 0)
        self.columns = ranks // self.lines
        super().__init__(n, ranks)

    def holder(self, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rank that has each edge."""
        line = self.owner(targets) // self.columns
        return line * self.columns + np.asarray(sources, np.int64) % self.columns

    def rows(self, rank: int) -> Rows:
        """Give the rows of a rank: those of all vertices of its column."""
        return Rows(Ownership.in_turns(self.n, self.columns)[rank % self.columns], NOBODY)

    def spread(self, rank: int, vertices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Give everything to the rank's column."""
        column = rank % self.columns
        return [vertices if peer % self.columns == column else NOBODY for peer in range(self.ranks)]


class Hubs(Turns):
    """Cyclic, but every rank knows the hubs and has those of their edges that lead to its vertices.

    Parameters
    ----------
    n, ranks
        As for `Blocks`.
    hubs : int64 array
        Vertices of large degree, ascending; the same on all ranks.
    """

    name = "1.5d"
    spreads = True

    def __init__(self, n: int, ranks: int, hubs: NDArray[np.int64]) -> None:
        super().__init__(n, ranks)
        self.hubs = np.asarray(hubs, np.int64)

    def _are_hubs(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        if not self.hubs.size:
            return np.zeros(np.shape(vertices), bool)
        places = np.minimum(np.searchsorted(self.hubs, vertices), self.hubs.size - 1)
        return np.asarray(self.hubs[places] == vertices)

    def holder(self, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rank that has each edge: of a hub, the owner of its target."""
        return np.where(self._are_hubs(sources), self.owner(targets), self.owner(sources))

    def rows(self, rank: int) -> Rows:
        """Give the rows of a rank: those of its vertices, and its parts of those of all hubs."""
        return Rows(self.shares[rank], self.hubs)

    def numbers(self, rank: int, vertices: NDArray[Any]) -> NDArray[np.int64]:
        """Give the rows that have the edges out of vertices: a hub's is behind the others."""
        return self.rows(rank).numbers(vertices)

    def spread(self, rank: int, vertices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Give hubs to everybody and the others to the rank itself."""
        hubs = vertices[self._are_hubs(vertices)]
        return [vertices if peer == rank else hubs for peer in range(self.ranks)]


PARTITIONS: dict[str, type[Blocks]] = {"block": Blocks, "cyclic": Turns, "2d": Grid, "1.5d": Hubs}


def chosen(n: int, m: int, ranks: int, max_degree: int, *, bits: bool) -> str:
    """Choose a partition by what the graph is like.

    Parameters
    ----------
    n, m, max_degree : int
        Of the graph.
    ranks : int
        How many share it.
    bits : bool
        Whether ranks exchange bitmaps of the whole graph, which needs ranges.

    Returns
    -------
    str
        "block" for bitmaps; else "1.5d" where one row alone is more than a rank's share of the
        edges, "2d" from 16 ranks on that form a grid, and "cyclic".
    """
    if bits or n == 0:
        return "block" if bits else "cyclic"
    if ranks > 1 and max_degree > m / ranks:
        return "1.5d"
    lines = Grid(0, ranks).lines
    return "2d" if ranks >= MANY_RANKS and lines * lines * 2 >= ranks else "cyclic"


def made(name: str, n: int, ranks: int, hubs: NDArray[np.int64]) -> Blocks:
    """Make a partition by its name.

    Raises
    ------
    InvalidArgumentError
        If there is none of that name.
    """
    if not among(name, PARTITIONS):
        raise InvalidArgumentError(
            f"partition={shown(name)} is not one of {', '.join(PARTITIONS)}, or None to choose."
        )
    kind = PARTITIONS[name]
    return Hubs(n, ranks, hubs) if kind is Hubs else kind(n, ranks)
