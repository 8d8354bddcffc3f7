"""Directed graphs whose strong components are awkward, and the oracle that tests compare with."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from graphs import SHAPES
from scipy.sparse.csgraph import connected_components as scipy_components
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.components import plan as components_plan


def canonical(labels):
    """Labels 0 .. k - 1 numbered by smallest member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return rank[inverse]


def oracle(graph, connection="strong"):
    """Canonical labels by scipy."""
    if graph.n == 0:
        return np.zeros(0, np.int32)
    matrix = graph.to_scipy()
    matrix.sum_duplicates()  # scipy 1.17 is wrong where parallel edges are separate entries
    return canonical(scipy_components(matrix, connection=connection)[1])


def check_components(graph, result, connection="strong"):
    """Compare a whole result with the oracle."""
    expected = oracle(graph, connection)
    np.testing.assert_array_equal(result.labels, expected)
    assert result.labels.dtype == np.int32
    assert result.count == (expected.max() + 1 if graph.n else 0)
    np.testing.assert_array_equal(result.sizes, np.bincount(expected, minlength=result.count))
    assert result.sizes.dtype == np.int64


def tiled_components(graph, device, tile):
    """A plan of weak components by tiles of so many vertices, whatever would be chosen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components_plan, "tile_of", lambda *_: tile)
        patch.setattr(components_plan, "has_hubs", lambda _: False)
        plan = cg.ConnectedComponents(graph, device=device)
    assert plan.config["tile"] == tile
    return plan


def digraph(src, dst, n=None, shuffle=None):
    """One-way edges; with `shuffle`, vertices are renamed at random by that seed."""
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    n = int(max(src.max(initial=-1), dst.max(initial=-1)) + 1) if n is None else n
    if shuffle is not None:
        names = np.random.default_rng(shuffle).permutation(n)
        src, dst = names[src], names[dst]
    return cg.from_edges(src, dst, n=n)


def cycle(n, shuffle=None):
    v = np.arange(n)
    return digraph(v, (v + 1) % n, shuffle=shuffle)


def path(n, shuffle=None, backward=False):
    v = np.arange(n - 1)
    ends = (v + 1, v) if backward else (v, v + 1)
    return digraph(*ends, n=n, shuffle=shuffle)


def chain_of_cycles(count, length, shuffle=None):
    """Cycles of `length`, each with one edge to the next: one component each."""
    v = np.arange(count * length)
    base = v // length * length
    ring = base + (v - base + 1) % length
    first = np.arange(count - 1) * length
    return digraph(np.r_[v, first + length - 1], np.r_[ring, first + length], shuffle=shuffle)


def nested_cycles(depth, shuffle=None):
    """A cycle through 0 .. 2^k for every k: back edges of doubling length over one path."""
    n = 2**depth
    v = np.arange(n - 1)
    ends = 2 ** np.arange(1, depth + 1) - 1
    return digraph(np.r_[v, ends], np.r_[v + 1, np.zeros(depth, int)], n=n, shuffle=shuffle)


def star(leaves, inward, shuffle=None):
    hub, others = np.zeros(leaves, int), np.arange(1, leaves + 1)
    return digraph(*((others, hub) if inward else (hub, others)), shuffle=shuffle)


def comb(teeth, length, shuffle=None):
    """A path of cycles, each entered from a cycle of its own: signatures rise again and again."""
    spine = chain_of_cycles(teeth, length)
    sources, targets, _ = spine.listed_edges()
    offset = teeth * length
    first = np.arange(teeth) * length
    return digraph(
        np.r_[sources, sources + offset, first + offset],
        np.r_[targets, targets + offset * (sources // length == targets // length), first],
        n=2 * offset,
        shuffle=shuffle,
    )


def random_digraph(n, degree, seed):
    rng = np.random.default_rng(seed)
    return digraph(rng.integers(0, n, n * degree), rng.integers(0, n, n * degree), n=n)


def dag(n, degree, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, n, (2, n * degree))
    return digraph(np.minimum(a, b), np.maximum(a, b) + (a == b), n=n + 1, shuffle=seed)


def complete(n):
    src, dst = (side.ravel() for side in np.indices((n, n)))
    return digraph(src, dst)


def grid(width, height, seed, two_way=0.2):
    """Edges of a grid, each one way at random, some both ways: deep, with many components."""
    rng = np.random.default_rng(seed)
    v = np.arange(width * height)
    right, down = v[v % width < width - 1], v[v < width * (height - 1)]
    src, dst = np.r_[right, down], np.r_[right + 1, down + width]
    draw = rng.random(src.size)
    there, back = draw < (1 + two_way) / 2, draw >= (1 - two_way) / 2
    return digraph(np.r_[src[there], dst[back]], np.r_[dst[there], src[back]], n=v.size)


SMALL = {
    **{name: (lambda graph=graph: graph) for name, graph in SHAPES.items()},
    "no-vertices": lambda: cg.from_edges([], [], n=0),
    "cycle": lambda: cycle(97),
    "cycle-shuffled": lambda: cycle(97, 1),
    "path-forward": lambda: path(200),
    "path-backward": lambda: path(200, backward=True),
    "path-shuffled": lambda: path(200, 2),
    "chain-of-2-cycles": lambda: chain_of_cycles(60, 2, 3),
    "chain-of-4-cycles": lambda: chain_of_cycles(30, 4),
    "nested-cycles": lambda: nested_cycles(7, 4),
    "star-in": lambda: star(150, inward=True),
    "star-out": lambda: star(150, inward=False, shuffle=5),
    "comb": lambda: comb(20, 4, 6),
    "dag": lambda: dag(150, 3, 7),
    "random": lambda: random_digraph(200, 2, 8),
    "random-sparse": lambda: random_digraph(400, 1, 9),
    "complete": lambda: complete(30),
    "grid": lambda: grid(25, 20, 10),
    "mixed": lambda: MIXED,
    "mixed-one-way": lambda: MIXED_ONE_WAY,
}
# Whatever is quadratic in some quantity takes minutes here.
MILLION = {
    "cycle": lambda: cycle(10**6),
    "cycle-shuffled": lambda: cycle(10**6, 1),
    "path-forward": lambda: path(10**6),
    "path-backward": lambda: path(10**6, backward=True),
    "path-shuffled": lambda: path(10**6, 2),
    "chain-of-2-cycles": lambda: chain_of_cycles(5 * 10**5, 2, 3),
    "chain-of-4-cycles": lambda: chain_of_cycles(25 * 10**4, 4),
    "comb": lambda: comb(10**5, 5, 4),
    "nested-cycles": lambda: nested_cycles(20, 5),
    "star-in": lambda: star(10**6, inward=True),
    "star-out": lambda: star(10**6, inward=False),
    "complete": lambda: complete(1000),
}


@cache
def small(name):
    return SMALL[name]()


@cache
def million(name):
    return MILLION[name]()


def different_presets(rounds=True):
    """Give the first preset of each configuration, which rows of the published table share.

    Without `rounds`, configurations are the same that differ in how often a step is repeated: the
    lanes of a device do each round alike.
    """
    found = {}
    for name in cg.SCCConfig.presets():
        config = cg.SCCConfig.preset(name)
        if not rounds:
            config = replace(
                config, trim=config.trim and 1, forward_backward=config.forward_backward and 1
            )
        found.setdefault(config, name)
    return list(found.values())
