"""Graphs of the classes that the paper of simultaneous searches measures, small ones.

A method that looks at every edge in every level needs n + m times the depth for each search: these
graphs are a fiftieth of the paper's, and keep its degrees and the order of depths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import clgraph
from clgraph import generate
from clgraph.graph.modules import module

from ...runner.pinned import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["CLASSES"]


def _triangulated(n: int, dimensions: int) -> Graph:
    """Delaunay triangulation of points at random, numbered along the first axis."""
    points = np.random.default_rng(SEED).random((n, dimensions))
    points = points[np.lexsort(points.T[::-1])]
    cells = module("scipy.spatial").Delaunay(points).simplices
    pairs = [(i, j) for i in range(dimensions + 1) for j in range(i)]
    src = np.concatenate([cells[:, i] for i, _ in pairs])
    dst = np.concatenate([cells[:, j] for _, j in pairs])
    return clgraph.from_edges(src, dst, n=n, symmetrize=True, dedup=True)


def _lattice(shape: tuple[int, ...], steps: NDArray[np.int64], copies: int = 1) -> Graph:
    """Join the places of a lattice by `steps`; each place is `copies` vertices, all joined."""
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(
        -1, len(shape)
    )
    src, dst = [], []
    for step in steps:
        there = places + step
        inside = ((there >= 0) & (there < shape)).all(axis=1)
        here = np.flatnonzero(inside)
        to = np.ravel_multi_index(tuple(there[inside].T), shape)
        for a in range(copies):
            for b in range(copies):
                src.append(here * copies + a)
                dst.append(to * copies + b)
    targets, sources = np.concatenate(dst), np.concatenate(src)
    apart = targets != sources
    n = len(places) * copies
    return clgraph.from_edges(sources[apart], targets[apart], n=n, symmetrize=True, dedup=True)


def _box(dimensions: int) -> NDArray[np.int64]:
    """Give the steps to the places around one, and to itself."""
    grid = np.meshgrid(*[[-1, 0, 1]] * dimensions, indexing="ij")
    return np.stack(grid, -1).reshape(-1, dimensions)


def _small_world(n: int, near: int, share: float) -> Graph:
    """Join each of a ring to `near` on either side, and rewire a share of these edges."""
    rng = np.random.default_rng(SEED)
    src = np.repeat(np.arange(n), near)
    dst = (src + np.tile(np.arange(1, near + 1), n)) % n
    moved = rng.random(dst.size) < share
    dst[moved] = rng.integers(0, n, int(moved.sum()))
    return clgraph.from_edges(src, dst, n=n, symmetrize=True, dedup=True)


# By name: the paper's graph that each is like, and what makes it.
CLASSES: dict[str, tuple[str, Callable[[], Graph]]] = {
    "mesh2d": ("333SP", lambda: _lattice((220, 220), np.array([[0, 1], [1, 0], [1, 1]]))),
    "grid256": ("ecology1", lambda: generate.grid2d(256, 256, seed=SEED)),
    "delaunay": ("delaunay_n21, thermal2", lambda: _triangulated(1 << 16, 2)),
    "tetrahedra": ("auto", lambda: _triangulated(1 << 15, 3)),
    "blocks": ("ldoor", lambda: _lattice((60, 30, 12), _box(3), copies=2)),
    "rgg16": ("rgg_n_2_21_s0", lambda: generate.geometric(1 << 16, seed=SEED)),
    "road300": ("roadNet-CA", lambda: generate.road(300, 300, seed=SEED)),
    "kron16": ("kron_g500-logn19", lambda: generate.kron(16, 16, seed=SEED)),
    "kron16x64": ("hollywood-2009", lambda: generate.kron(16, 64, seed=SEED)),
    "rmat15": ("as-Skitter", lambda: generate.rmat(15, 8, seed=SEED)),
    "small-world": ("(none)", lambda: _small_world(1 << 16, 5, 0.05)),
}
