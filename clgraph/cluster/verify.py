"""Checking a result by the rules of Graph500 where nobody has all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED
from clgraph.cluster.ranks.comm import Program, Swap
from clgraph.errors import VerificationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.cluster.parts.part import Part
    from clgraph.cluster.parts.share import Share

__all__ = ["asked_of_owners", "verified_lengths", "verified_search"]


def asked_of_owners(share: Share, vertices: NDArray[Any], own: NDArray[Any]) -> Program:
    """Give the values of any vertices, by asking their owners.

    Parameters
    ----------
    share : Share
        Of this rank.
    vertices : integer array [k]
        Whose value is wanted; may repeat.
    own : array
        Values of the owned vertices.

    Returns
    -------
    array [k]
        Of the type of `own`.
    """
    partition, ranks = share.partition, share.partition.ranks
    wanted, places = np.unique(np.asarray(vertices, np.int64), return_inverse=True)
    owners = partition.owner(wanted)
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(1, ranks))
    asked = yield Swap(np.split(wanted[order], bounds))
    answers = yield Swap([own[partition.owned(names, share.rank)] for names in asked])
    values = np.empty(wanted.size, own.dtype)
    values[order] = np.concatenate(answers)
    return values[places]


def verified_search(share: Share, part: Part, source: int, limit: int) -> Program:
    """Check distances in hops and, if there is one, the tree.

    Raises
    ------
    VerificationError
        On every rank, with what one of them found.
    """
    own = part.distances.read()
    tree = None
    if part.predecessors.count:
        tree = part.predecessors.read()
        if part.WHOLE_TREE:
            received = yield Swap([tree[owned.vertices] for owned in part.owners])
            tree = np.maximum.reduce(received)
    cost = np.ones(share.indices.size, np.int64)
    unreached = np.int64(2**62)
    lengths = np.where(own == UNREACHED, unreached, own).astype(np.int64)
    yield from verified_lengths(
        share, lengths, tree, cost, source, unreached=unreached, limit=limit
    )


def verified_lengths(
    share: Share,
    own: NDArray[Any],
    tree: NDArray[Any] | None,
    costs: NDArray[Any],
    source: int,
    *,
    unreached: Any,
    limit: float,
) -> Program:
    """Check lengths of shortest paths, and a tree of them.

    Parameters
    ----------
    share : Share
        Of this rank.
    own : array
        Lengths of the owned vertices, `unreached` where there is no path.
    tree : integer array or None
        Their predecessors, -1 where unreached.
    costs : array
        Of the edges of this rank.
    source : int
        Where paths begin.
    unreached : scalar
        Larger than every length.
    limit : float
        Vertices at this distance were not expanded.

    Notes
    -----
    Each rank looks at its edges: no target is farther than its source and the edge. Each owner
    looks at its vertices: only the source has length 0 by itself, and every other reached one has
    an edge from its predecessor that is exactly as long as the difference, which whoever holds the
    edge is asked about; without a tree one such edge must be among those into it.
    """
    wrong = yield from _wrong(share, own, tree, costs, source, unreached, limit)
    texts = yield Swap([np.frombuffer(wrong.encode(), np.uint8)] * share.partition.ranks)
    for rank, text in enumerate(texts):
        if text.size:
            raise VerificationError(f"rank {rank}: {text.tobytes().decode()}")


def _wrong(
    share: Share,
    own: NDArray[Any],
    tree: NDArray[Any] | None,
    costs: NDArray[Any],
    source: int,
    unreached: Any,
    limit: float,
) -> Program:
    """Give what is wrong, in a sentence; every rank asks as often, whatever it finds."""
    partition, ranks, rank = share.partition, share.partition.ranks, share.rank
    complaint = ""
    names = share.owned.names
    at_source = names == source
    if (own[at_source] != 0).any() or (own[~at_source] < 0).any():
        complaint = f"the source {source} is not at distance 0, or a vertex below it"
    sources = np.repeat(share.rows.names, np.diff(share.indptr))
    targets = share.indices.astype(np.int64)
    from_source = yield from asked_of_owners(share, sources, own)
    to_target = yield from asked_of_owners(share, targets, own)
    reaches = (from_source < unreached) & (from_source < limit)
    sums = np.where(reaches, from_source + costs, unreached)
    too_far = np.flatnonzero(to_target > sums)
    if too_far.size:
        edge = too_far[0]
        complaint = (
            f"edge {sources[edge]} -> {targets[edge]} leads to distance {to_target[edge]} from "
            f"{from_source[edge]}"
        )
    # Every vertex but the source has an edge into it, the predecessor's if there is a tree, that is
    # tight: those who hold tight edges notify the owners of their targets.
    tight = reaches & (to_target == sums)
    owners = partition.owner(targets[tight])
    pairs = np.stack([targets[tight], sources[tight]], axis=1)
    received = yield Swap([pairs[owners == peer].ravel() for peer in range(ranks)])
    met = np.concatenate(received).reshape(-1, 2)
    numbers = partition.owned(met[:, 0], rank)
    if tree is not None:
        here = tree[numbers] == met[:, 1]
        numbers = numbers[here]
    explained = np.zeros(own.size, bool)
    explained[numbers] = True
    explained[at_source] = True
    missing = np.flatnonzero((own < unreached) & ~explained)
    if missing.size:
        what = "predecessor" if tree is not None else "edge"
        complaint = f"vertex {names[missing[0]]} has no {what} that explains its distance"
    if tree is not None:
        odd = np.flatnonzero((own == unreached) != (tree == UNREACHED))
        if odd.size:
            complaint = f"vertex {names[odd[0]]} is in the tree or reached, but not both"
        if (tree[at_source] != source).any():
            complaint = f"the source {source} is not its own predecessor"
    return complaint
