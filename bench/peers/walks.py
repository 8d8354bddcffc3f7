"""Random walks by other libraries, and what is right of any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module

from ..runner.pinned import SEED
from .libraries import IgraphPeer, ScipyPeer
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["LENGTH", "SURE", "WALKS", "second_steps_fault", "walks_fault"]

LENGTH = 40
SURE = 1e-6  # so unlikely are frequencies that are refused
LEAST_EXPECTED = 5.0  # of a cell of a chi-square test; those below are put together
BACK, NEAR, FAR = range(3)
PARTS = 4  # of the vertices of each kind, so that some of them cannot stand for all


def walks_fault(graph: Graph, walks: NDArray[Any]) -> str:
    """Say what is wrong with walks [k, length + 1]; nothing if steps are edges, while there are."""
    keys = row_ids(np.asarray(graph.indptr), np.int64) * graph.n + graph.indices
    keys = np.sort(keys)
    here, there = walks[:, :-1].astype(np.int64), walks[:, 1:].astype(np.int64)
    ended = there < 0
    steps = (here * graph.n + there)[~ended]
    if (here[~ended] < 0).any():
        return "walks go on that had ended"
    places = np.minimum(np.searchsorted(keys, steps), max(keys.size - 1, 0))
    wrong = int(np.count_nonzero(keys[places] != steps)) if keys.size else int(steps.size)
    if wrong:
        return f"{wrong} steps are along no edge"
    last = here[ended & (here >= 0)]
    early = int(np.count_nonzero(graph.degrees[last]))
    return f"{early} walks end at vertices with edges" if early else ""


def _cells(
    graph: Graph, start: int, p: float, q: float
) -> tuple[dict[tuple[int, ...], float], Any]:
    """Give the chances of two steps from a start by cell, and what cell two steps are of."""
    indptr, indices = np.asarray(graph.indptr, np.int64), np.asarray(graph.indices, np.int64)

    def row(v: int) -> NDArray[np.int64]:
        return indices[indptr[v] : indptr[v + 1]]

    first = row(start)
    shares = np.array([1.0 / p, 1.0, 1.0 / q])

    def kinds(targets: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(targets == start, BACK, np.where(np.isin(targets, first), NEAR, FAR))

    chances: dict[tuple[int, ...], float] = {}
    for v in first.tolist():
        targets = row(v)
        if not targets.size:
            chances[v,] = chances.get((v,), 0.0) + 1.0 / first.size
            continue
        kind = kinds(targets)
        each = shares[kind] / shares[kind].sum() / first.size
        parts = (targets % PARTS).tolist()
        for name in zip(kind.tolist(), parts, each.tolist(), strict=True):
            chances[v, *name[:2]] = chances.get((v, *name[:2]), 0.0) + name[2]

    def cell(v: int, u: int) -> tuple[int, ...]:
        return (v,) if u < 0 else (v, int(kinds(np.array([u]))[0]), u % PARTS)

    return chances, cell


def second_steps_fault(graph: Graph, walks: NDArray[Any], p: float, q: float) -> str:
    """Say if walks of two steps from one vertex are not as often as node2vec's rule has them.

    Parameters
    ----------
    graph : Graph
        Its weights do not count.
    walks : integer array [k, 3]
        All from the same vertex.
    p, q : float
        As `clgraph.random_walks` has them; 1 for walks of first order.

    Returns
    -------
    str
        Nothing if a chi-square test finds them likely enough: vertices of the second step count by
        how they are to the start, and by their number's remainder.
    """
    chances, cell = _cells(graph, int(walks[0, 0]), p, q)
    pairs, counts = np.unique(walks[:, 1:], axis=0, return_counts=True)
    seen = dict.fromkeys(chances, 0)
    for (v, u), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        name = cell(v, u)
        if name not in seen:
            return f"steps to {v} and {u} that have no chance"
        seen[name] += count
    expected = np.array(list(chances.values())) * len(walks)
    found = np.array(list(seen.values()), np.float64)
    rare = expected < LEAST_EXPECTED
    expected = np.append(expected[~rare], expected[rare].sum())
    found = np.append(found[~rare], found[rare].sum())
    some = expected > 0
    square = float(((found - expected)[some] ** 2 / expected[some]).sum())
    chance = float(module("scipy.special").chdtrc(max(int(some.sum()) - 1, 1), square))
    return f"second steps of a chance of {chance:.2g}" if chance < SURE else ""


class _Walks(Peer):
    """Answers are judged: everybody draws other numbers."""

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Say what is wrong with them; that they are other walks is not."""
        if counts["second_order"]:
            return "its walks are of first order only"
        return walks_fault(self.given, found)


class WalksScipy(_Walks, ScipyPeer):
    """What one writes with the arrays of a ``scipy.sparse`` matrix: steps of all walks together."""

    def run(self, given: int) -> NDArray[np.int64]:
        """Walk."""
        rng = np.random.default_rng([SEED, given])
        indptr, indices = self.matrix.indptr, self.matrix.indices
        walks = np.full((self.n, LENGTH + 1), -1)
        here = walks[:, 0] = np.arange(self.n)
        alive = np.arange(self.n)
        for step in range(1, LENGTH + 1):
            degrees = indptr[here + 1] - indptr[here]
            alive, here, degrees = (each[degrees > 0] for each in (alive, here, degrees))
            here = indices[indptr[here] + (rng.random(here.size) * degrees).astype(np.int64)]
            walks[alive, step] = here
        return walks


class WalksIgraph(_Walks, IgraphPeer):
    """``Graph.random_walk`` from each vertex."""

    limit_edges = 5_000_000

    def run(self, given: int) -> Any:  # noqa: ARG002 (draws other numbers each time)
        """Walk."""
        walk, mode = self.graph.random_walk, "out" if self.graph.is_directed() else "all"
        return [walk(vertex, LENGTH, mode=mode, stuck="return") for vertex in range(self.n)]

    def values(self, answer: Any, given: int) -> NDArray[Any]:  # noqa: ARG002
        """Fill up those that end early."""
        walks = np.full((self.n, LENGTH + 1), -1)
        for vertex, walk in enumerate(answer):
            walks[vertex, : len(walk)] = walk
        return walks


WALKS: dict[str, type[Peer]] = {"scipy": WalksScipy, "igraph": WalksIgraph}
