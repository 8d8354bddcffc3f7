"""What a rank holds of a graph: its rows, and what all know of the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.hubs import USUAL_CACHE, hub_floor_of_top
from clgraph.cluster.parts.partition import chosen, made
from clgraph.cluster.ranks.comm import AllGather, Program, Swap
from clgraph.graph import csr
from clgraph.graph.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.parts.partition import Blocks, Ownership, Rows
    from clgraph.cluster.parts.slices import Edges, Slices

__all__ = ["Facts", "Share", "deal", "facts_of", "rows_of", "whole_share"]

TOP = 4 * USUAL_CACHE  # of the largest degrees, those that all ranks know
HUB_SHARE = 4  # a hub has so many times less edges than a rank's share of all, or more


@dataclass(frozen=True, slots=True)
class Facts:
    """What every rank knows of the whole graph.

    Attributes
    ----------
    n, m : int
        Vertices and stored edges.
    directed, weighted : bool
        Whether edges go one way, and whether they weigh something.
    top_degrees, top_vertices : int64 arrays
        The largest out-degrees, descending, and whose they are.
    """

    n: int
    m: int
    directed: bool
    weighted: bool
    top_degrees: NDArray[np.int64]
    top_vertices: NDArray[np.int64]

    @property
    def max_degree(self) -> int:
        """Greatest out-degree."""
        return int(self.top_degrees[0]) if self.top_degrees.size else 0

    @property
    def mean_degree(self) -> float:
        """Stored edges per vertex."""
        return self.m / self.n if self.n else 0.0

    def hub_floor(self, capacity: int) -> int:
        """Give the out-degree above which a vertex counts as a hub of a search."""
        return hub_floor_of_top(self.top_degrees, self.n, self.m, capacity)

    def hubs_above(self, floor: int) -> int:
        """Count vertices of larger degree, as far as these are known."""
        return int(np.count_nonzero(self.top_degrees > floor))

    def replicated(self, ranks: int) -> NDArray[np.int64]:
        """Give the vertices whose rows all ranks share, ascending."""
        floor = self.m / (HUB_SHARE * ranks)
        return np.sort(self.top_vertices[self.top_degrees > floor])


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank holds.

    Attributes
    ----------
    facts : Facts
        Of the whole graph.
    partition : Blocks
        Who has what.
    rank : int
        Whose share it is.
    indptr, indices, weights : arrays
        Its rows, in the order of ``rows``; targets are numbered as in the whole graph.
    back : (indptr, indices), or None
        In-edges of the owned vertices, where the graph is directed and a search may pull.
    labels : array [n], or None
        What the vertices are called, where the whole graph is at hand.
    """

    facts: Facts
    partition: Blocks
    rank: int
    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    weights: NDArray[Any] | None
    back: tuple[NDArray[np.int64], NDArray[Any]] | None = None

    @property
    def owned(self) -> Ownership:
        """The vertices of this rank."""
        return self.partition.shares[self.rank]

    @property
    def rows(self) -> Rows:
        """The vertices whose rows it holds."""
        return self.partition.rows(self.rank)

    def unweighted(self) -> Share:
        """Give the same without weights."""
        return replace(self, weights=None)

    @property
    def sample(self) -> Graph:
        """A graph that rules may look at instead of the whole: the rows, targets wrapped round."""
        count = self.indptr.size - 1
        targets = self.indices % max(count, 1)
        return Graph.trusted(
            csr.sorted_rows(self.indptr, targets.astype(csr.index_dtype(max(count, 1))), None),
            directed=True,
        )


def survey(slices: Slices, rank: int, ranks: int) -> Generator[Any, Any, tuple[Edges, Facts]]:
    """Read a rank's slice of the edges and put together what all know."""
    edges = slices.read(rank, ranks)
    ends = yield AllGather.of(edges.n, edges.directed, edges.weights is not None)
    n = int(ends[:, 0].max())
    if edges.once:  # of drawn edges each end's owner needs one
        edges = yield from _simplified(edges, n, ranks)
    count = yield AllGather.of(edges.src.size)
    m = int(count.sum())
    # The degree of a vertex whose edges several ranks have is known to none of them.
    block = made("block", n, ranks, np.zeros(0, np.int64))
    vertices, degrees = np.unique(edges.src, return_counts=True)
    owners = block.owner(vertices)
    pairs = np.stack([vertices, degrees], axis=1).astype(np.int64)
    received = yield Swap([pairs[owners == peer].ravel() for peer in range(ranks)])
    mine = np.concatenate(received).reshape(-1, 2)
    own = block.shares[rank]
    totals = np.bincount(mine[:, 0] - own.first, mine[:, 1], own.count).astype(np.int64)
    order = np.argsort(-totals, kind="stable")[:TOP]
    top = np.stack([order + own.first, totals[order]], axis=1)
    tops = yield Swap([top.ravel()] * ranks)
    every = np.concatenate(tops).reshape(-1, 2)
    every = every[np.argsort(-every[:, 1], kind="stable")][:TOP]
    facts = Facts(n, m, bool(ends[0, 1]), bool(ends[:, 2].any()), every[:, 1], every[:, 0])
    return edges, facts


def _simplified(edges: Edges, n: int, ranks: int) -> Generator[Any, Any, Edges]:
    """Drop self-loops and repeats of drawn edges, and store each both ways."""
    low, high = np.minimum(edges.src, edges.dst), np.maximum(edges.src, edges.dst)
    straight = low != high
    keys = np.unique(low[straight] * np.int64(n) + high[straight])
    owners = (keys // n + keys % n) % ranks
    received = yield Swap([keys[owners == peer] for peer in range(ranks)])
    keys = np.unique(np.concatenate(received))
    low, high = np.divmod(keys, n)
    both = np.concatenate([low, high]), np.concatenate([high, low])
    return type(edges)(n, *both, None, directed=edges.directed)


def deal(
    slices: Slices, rank: int, ranks: int, *, partition: str | None, bits: Any, back: bool = False
) -> Program:
    """Read a graph in slices and give every rank its rows.

    Parameters
    ----------
    slices : Slices
        Where the edges come from.
    rank, ranks : int
        This one, of how many.
    partition : str or None
        Which; None chooses.
    bits : callable
        From the facts: whether ranks exchange bitmaps of the whole graph.
    back : bool
        Whether the in-edges of owned vertices are wanted too, where they differ.

    Returns
    -------
    Share
    """
    edges, facts = yield from survey(slices, rank, ranks)
    name = partition or chosen(facts.n, facts.m, ranks, facts.max_degree, bits=bits(facts))
    parts = made(name, facts.n, ranks, facts.replicated(ranks))
    holders = parts.holder(edges.src, edges.dst)
    rows = parts.rows(rank)
    src, dst, weights = yield from _sent(edges, holders, ranks)
    arrays = _rows(rows.numbers(src), rows.count, dst, weights)
    behind = None
    if back and facts.directed:
        src, dst, _ = yield from _sent(edges, parts.owner(edges.dst), ranks)
        owned = parts.shares[rank]
        behind = _rows(parts.owned(dst, rank), owned.count, src, None)[:2]
    return Share(facts, parts, rank, *arrays, back=behind)


def _sent(edges: Edges, places: NDArray[np.int64], ranks: int) -> Program:
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(1, ranks))
    found: list[NDArray[Any] | None] = []
    for column in (edges.src, edges.dst, edges.weights):
        if column is None:
            found.append(None)
            continue
        received = yield Swap(np.split(column[order], bounds))
        found.append(np.concatenate(received))
    return tuple(found)


def _rows(
    numbers: NDArray[np.int64], count: int, targets: NDArray[Any], weights: NDArray[Any] | None
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any] | None]:
    """Put edges in rows, each ascending."""
    size = max(count, int(targets.max(initial=-1)) + 1)
    indptr, indices, costs = csr.edges_to_csr(size, numbers, targets, weights)
    return indptr[: count + 1].astype(np.int64), indices, costs


def whole_share(graph: Graph, facts: Facts, partition: Blocks, rank: int, *, back: bool) -> Share:
    """Give a rank's rows of a graph that it holds, without a detour; see `deal`."""
    owned = partition.shares[rank]
    arrays = rows_of(graph, owned)
    behind = rows_of(graph.transpose(), owned)[:2] if back and graph.directed else None
    return Share(facts, partition, rank, *arrays, back=behind)


def facts_of(graph: Graph) -> Facts:
    """Give what all know of a graph that every rank holds."""
    degrees = np.asarray(graph.degrees, np.int64)
    count = min(TOP, graph.n)
    top = np.argpartition(degrees, graph.n - count)[graph.n - count :] if count else degrees
    top = np.sort(top)
    top = top[np.argsort(-degrees[top], kind="stable")]
    return Facts(graph.n, graph.m, graph.directed, graph.weights is not None, degrees[top], top)


def rows_of(
    graph: Graph, owned: Ownership
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any] | None]:
    """Give the rows of the owned vertices: offsets [count + 1], targets as in the graph, weights.

    Notes
    -----
    Those of a range are views. Others are copied, with a byte for each edge of the graph beside.
    """
    degrees, weights = graph.degrees, graph.weights
    indptr = np.zeros(owned.count + 1, np.int64)
    np.cumsum(degrees[owned.vertices], out=indptr[1:])
    if owned.stride == 1:
        place: Any = slice(graph.indptr[owned.first], graph.indptr[owned.first + owned.count])
    else:
        mine = np.zeros(graph.n, bool)
        mine[owned.vertices] = True
        place = np.repeat(mine, degrees)
    return indptr, graph.indices[place], None if weights is None else weights[place]
