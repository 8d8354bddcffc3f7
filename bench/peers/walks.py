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

__all__ = ["LENGTH", "SURE", "WALKS", "every_walk_fault", "second_steps_fault", "walks_fault"]

LENGTH = 40
SURE = 1e-6  # so unlikely are frequencies that are refused
LEAST_EXPECTED = 5.0  # of a cell of a chi-square test; those below are put together
BACK, NEAR, FAR = range(3)
PARTS = 4  # of the vertices of each kind, so that some of them cannot stand for all
CELLS = 3 * PARTS + 1  # of each vertex of the first step
TOGETHER = 1 << 12  # steps that are looked for among the same edges


def walks_fault(graph: Graph, walks: NDArray[Any]) -> str:
    """Say what is wrong with walks [k, length + 1]; nothing if steps are edges, while there are."""
    if walks.size and int(walks.max()) >= graph.n:
        return "walks to vertices that there are not"
    here, there = walks[:, :-1], walks[:, 1:]
    ended = there < 0
    if (~ended & (here < 0)).any():
        return "walks go on that had ended"
    steps = (here * np.int64(graph.n) + there)[~ended]
    wrong = _count_missing(steps, graph)
    if wrong:
        return f"{wrong} steps are along no edge"
    last = here[ended & (here >= 0)]
    early = int(np.count_nonzero(graph.degrees[last]))
    return f"{early} walks end at vertices with edges" if early else ""


def _count_missing(steps: NDArray[np.int64], graph: Graph) -> int:
    """Count steps, ``here * n + there``, that no edge is for; sorts them in place.

    Steps in any order would miss the cache with every look at the edges; some that are next to each
    other by order are between few edges.
    """
    keys = row_ids(np.asarray(graph.indptr), np.int64) * graph.n + graph.indices
    keys.sort(kind="stable")  # which sees that they are sorted
    steps.sort()
    missing = 0
    for begin in range(0, steps.size, TOGETHER):
        some = steps[begin : begin + TOGETHER]
        known = keys[slice(*np.searchsorted(keys, (some[0], some[-1] + 1)))]
        places = np.searchsorted(known, some)
        inside = places < known.size
        found = np.count_nonzero(known[places[inside]] == some[inside])
        missing += some.size - int(found)
    return missing


def every_walk_fault(graph: Graph, walks: NDArray[Any]) -> str:
    """Say what is wrong with walks of `LENGTH` from each vertex, in their order."""
    if walks.shape != (graph.n, LENGTH + 1):
        return f"walks of shape {walks.shape} instead of {(graph.n, LENGTH + 1)}"
    elsewhere = int(np.count_nonzero(walks[:, 0] != np.arange(graph.n)))
    return f"{elsewhere} walks begin elsewhere" if elsewhere else walks_fault(graph, walks)


class _SecondSteps:
    """Cells of the second vertex of walks from one vertex, and the chance of each.

    A cell is the vertex of the first step, how that of the second is to the start, and its number's
    remainder; of first steps to a vertex without edges there is one more cell.
    """

    def __init__(self, graph: Graph, start: int, p: float, q: float) -> None:
        indptr, indices = np.asarray(graph.indptr, np.int64), np.asarray(graph.indices, np.int64)
        first = indices[indptr[start] : indptr[start + 1]]
        self.start, self.first = start, np.unique(first)
        degrees = indptr[first + 1] - indptr[first]
        owners = np.repeat(np.arange(first.size), degrees)
        rows = [
            indices[begin:end] for begin, end in zip(indptr[first], indptr[first + 1], strict=True)
        ]
        targets = np.concatenate([*rows, np.zeros(0, np.int64)])
        weights = np.array([1.0 / p, 1.0, 1.0 / q])[self._kinds(targets)]
        totals = np.bincount(owners, weights, first.size)
        ended = first[degrees == 0]
        cells = self.cells(
            np.concatenate([first[owners], ended]),
            np.concatenate([targets, np.full(ended.size, -1)]),
        )
        each = np.concatenate([weights / totals[owners], np.ones(ended.size)]) / max(first.size, 1)
        self.chances = np.bincount(cells, each, self.first.size * CELLS)

    def _kinds(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        near = np.where(np.isin(targets, self.first), NEAR, FAR)
        return np.where(targets == self.start, BACK, near)

    def cells(self, v: NDArray[Any], u: NDArray[Any]) -> NDArray[np.int64]:
        """Give the cells of steps to `v` and then to `u`, -1 where `v` is no neighbour."""
        places = np.searchsorted(self.first, v)
        known = np.isin(v, self.first)
        within = np.where(u < 0, CELLS - 1, self._kinds(u) * PARTS + u % PARTS)
        return np.where(known, places * CELLS + within, -1)


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
    known = _SecondSteps(graph, int(walks[0, 0]), p, q)
    v, u = walks[:, 1].astype(np.int64), walks[:, 2].astype(np.int64)
    cells = known.cells(v, u)
    impossible = np.flatnonzero((cells < 0) | (np.append(known.chances, 0.0)[cells] == 0.0))
    if impossible.size:
        which = impossible[0]
        return f"steps to {v[which]} and {u[which]} that have no chance"
    found = np.bincount(cells, minlength=known.chances.size).astype(np.float64)
    expected = known.chances * len(walks)
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
        return every_walk_fault(self.given, found)


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
