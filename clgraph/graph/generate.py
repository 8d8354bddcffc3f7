"""Seeded synthetic graphs: power laws, uniform random, grids, geometric, road-like and classics.

Every function takes ``seed``, an int, and ``weights``: None, or a pair (low, high). A pair of ints
draws int32 weights from low to high, both included; a pair with a float draws float64 weights from
low up to high. The two directions of an undirected edge weigh the same. One seed gives one graph
on every machine with the same NumPy. What they give is a `Graph`, undirected and simple unless they
say otherwise; a parameter out of range is an `InvalidArgumentError`.
"""

import math

import numpy as np

from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError
from clgraph.graph import csr
from clgraph.graph.arguments import flags, real, whole
from clgraph.graph.build import with_reverses
from clgraph.graph.csr import Array
from clgraph.graph.drawn import (
    WeightRange,
    directed_graph,
    generator,
    undirected_graph,
    whole_edges,
)
from clgraph.graph.graph import Graph
from clgraph.graph.modules import module

__all__ = [
    "complete",
    "geometric",
    "grid2d",
    "grid3d",
    "kron",
    "mesh",
    "path",
    "random",
    "rmat",
    "road",
    "star",
]

_BLOCK = 1 << 18  # edges drawn together: their temporaries stay in cache


def kron(
    scale: int,
    edge_factor: float = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    weights: WeightRange = None,
) -> Graph:
    """Undirected Kronecker graph of the Graph500 benchmark, its vertices in random order.

    Parameters
    ----------
    scale : int
        The graph has 2**scale vertices.
    edge_factor : float
        Edges drawn per vertex; self-loops and repeats among them are dropped.
    a, b, c : float
        Chances of the quadrants (0, 0), (0, 1) and (1, 0); (1, 1) gets the rest.
    seed : int
        One seed gives one graph.
    weights : (low, high), optional
        Between which weights are drawn: int32 from a pair of ints, otherwise float64.

    Returns
    -------
    Graph
        Undirected and simple.

    Notes
    -----
    O(m scale). Scale 20 with edge factor 16 takes some seconds and 1 GB.
    """
    n, src, dst, rng = _rmat_edges(scale, edge_factor, (a, b, c), seed)
    return undirected_graph(n, src, dst, rng, weights)


@documented(kron)
def rmat(
    scale: int,
    edge_factor: float = 16,
    *,
    a: float = 0.45,
    b: float = 0.15,
    c: float = 0.15,
    seed: int = 0,
    weights: WeightRange = None,
) -> Graph:
    """Directed R-MAT graph, its vertices in random order.

    Parameters
    ----------
    edge_factor : float
        Arcs drawn per vertex; self-loops and repeats among them are dropped.

    Returns
    -------
    Graph
        Directed, without self-loops and parallel arcs.
    """
    n, src, dst, rng = _rmat_edges(scale, edge_factor, (a, b, c), seed)
    return directed_graph(n, src, dst, rng, weights)


@documented(kron)
@flags
def random(
    n: int,
    mean_degree: float = 16,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRange = None,
) -> Graph:
    """Uniform random graph: both ends of every edge are drawn evenly.

    Parameters
    ----------
    n : int
        Number of vertices.
    mean_degree : float
        Stored edges per vertex before self-loops and repeats are dropped.
    directed : bool
        Whether edges go one way.

    Returns
    -------
    Graph
        Simple.
    """
    n = whole("n", n)
    count = whole_edges(n * real("mean_degree", mean_degree) / (1 if directed else 2))
    rng = generator(seed)
    ids = csr.index_dtype(n)
    src, dst = (rng.integers(0, n, count, dtype=ids) for _ in range(2))
    made = directed_graph if directed else undirected_graph
    return made(n, src, dst, rng, weights)


@documented(kron)
def grid2d(
    width: int, height: int | None = None, *, seed: int = 0, weights: WeightRange = None
) -> Graph:
    """Grid of width x height vertices, each with up to four neighbours.

    Parameters
    ----------
    width, height : int
        Size; a square without ``height``. Vertex (x, y) is number y * width + x.
    """
    width = whole("width", width)
    height = width if height is None else whole("height", height)
    return _lattice((height, width), seed, weights)


@documented(kron)
def grid3d(
    width: int,
    height: int | None = None,
    depth: int | None = None,
    *,
    seed: int = 0,
    weights: WeightRange = None,
) -> Graph:
    """Grid of width x height x depth vertices, each with up to six neighbours.

    Parameters
    ----------
    width, height, depth : int
        Size; a cube without the last two. Vertex (x, y, z) is number (z * height + y) * width + x.
    """
    width = whole("width", width)
    height = width if height is None else whole("height", height)
    depth = height if depth is None else whole("depth", depth)
    return _lattice((depth, height, width), seed, weights)


@documented(kron)
def mesh(
    width: int, height: int | None = None, *, seed: int = 0, weights: WeightRange = None
) -> Graph:
    """Planar mesh of triangles: a grid with one diagonal, drawn at random, in each square.

    Parameters
    ----------
    width, height : int
        Size; a square without ``height``. Vertex (x, y) is number y * width + x.

    Returns
    -------
    Graph
        Of 2 (width - 1) (height - 1) triangles, and a mean degree near 6.
    """
    grid = grid2d(width, height)
    src, dst, _ = grid.listed_edges()
    width = whole("width", width)
    rng = generator(seed)
    corner = np.arange(grid.n, dtype=src.dtype).reshape(-1, width)[:-1, :-1].ravel()
    falling = rng.random(len(corner)) < 0.5
    sources = np.where(falling, corner, corner + 1)
    targets = np.where(falling, corner + width + 1, corner + width)
    return undirected_graph(
        grid.n, np.concatenate([src, sources]), np.concatenate([dst, targets]), rng, weights
    )


@documented(kron)
def geometric(
    n: int, radius: float | None = None, *, seed: int = 0, weights: WeightRange = None
) -> Graph:
    """Random geometric graph: points of the unit square, joined when closer than a radius.

    Parameters
    ----------
    n : int
        Number of points; they are numbered row by row, so neighbours have close numbers.
    radius : float, optional
        Default is 0.55 sqrt(ln n / n), at which almost all points hang together.
    """
    n = whole("n", n)
    radius = 0.55 * math.sqrt(math.log(n) / n) if radius is None else real("radius", radius)
    if radius < 0:
        raise InvalidArgumentError(f"radius={radius} is negative")
    whole_edges(n * min(n * math.pi * radius**2, n) / 2)
    rng = generator(seed)
    points = rng.random((n, 2))
    rows = np.floor(points[:, 1] / max(radius, 1 / n))
    points = points[np.lexsort((points[:, 0], rows))]
    tree = module("scipy.spatial").cKDTree(points)
    pairs = tree.query_pairs(radius, output_type="ndarray").astype(csr.index_dtype(n))
    return undirected_graph(n, pairs[:, 0], pairs[:, 1], rng, weights)


@documented(kron)
def road(
    width: int,
    height: int | None = None,
    *,
    drop: float = 0.35,
    seed: int = 0,
    weights: WeightRange = None,
) -> Graph:
    """Road-like graph: the largest component of a grid that lost some of its edges.

    Parameters
    ----------
    width, height : int
        Size of the grid; a square without ``height``.
    drop : float
        Share of the edges taken out, 0 to 1. At 0.35 degrees and depth resemble road networks.

    Returns
    -------
    Graph
        Connected, of fewer vertices than the grid.
    """
    if not 0 <= real("drop", drop) <= 1:
        raise InvalidArgumentError(f"drop={drop} is not a share between 0 and 1")
    grid = grid2d(width, height)
    src, dst, _ = grid.listed_edges()
    rng = generator(seed)
    kept = rng.random(len(src)) >= drop
    src, dst = src[kept], dst[kept]
    arrays = csr.edges_to_csr(grid.n, *with_reverses(src, dst, None)[:2], None)
    matrix = csr.simple_matrix(arrays[0], arrays[1])
    _, component = module("scipy.sparse.csgraph").connected_components(matrix, directed=False)
    inside = component == np.bincount(component).argmax()
    number = (np.cumsum(inside) - 1).astype(src.dtype)
    kept = inside[src]
    return undirected_graph(
        int(np.count_nonzero(inside)), number[src[kept]], number[dst[kept]], rng, weights
    )


@documented(kron)
def path(n: int, *, seed: int = 0, weights: WeightRange = None) -> Graph:
    """Path of n vertices in a row.

    Parameters
    ----------
    n : int
        Number of vertices.
    """
    return _lattice((whole("n", n),), seed, weights)


@documented(kron)
def star(n: int, *, seed: int = 0, weights: WeightRange = None) -> Graph:
    """Star of n vertices: vertex 0 is joined to all others.

    Parameters
    ----------
    n : int
        Number of vertices.
    """
    n = whole("n", n)
    leaves = np.arange(1, n, dtype=csr.index_dtype(n))
    return undirected_graph(n, np.zeros_like(leaves), leaves, generator(seed), weights)


@documented(kron)
def complete(n: int, *, seed: int = 0, weights: WeightRange = None) -> Graph:
    """Complete graph: every pair of n vertices is joined.

    Parameters
    ----------
    n : int
        Number of vertices.
    """
    n = whole("n", n)
    whole_edges(n * (n - 1) / 2)
    src, dst = np.triu_indices(n, 1)
    return undirected_graph(n, src, dst, generator(seed), weights)


def _rmat_edges(
    scale: int, edge_factor: float, chances: tuple[float, float, float], seed: int
) -> tuple[int, Array, Array, np.random.Generator]:
    """Draw the ends of all edges, one bit of their ids after the other; then shuffle the ids."""
    scale = whole("scale", scale, least=0, most=40)
    a, b, c = (real(name, chance) for name, chance in zip("abc", chances, strict=True))
    if min(a, b, c) < 0 or a + b + c > 1 + 1e-12:
        raise InvalidArgumentError(f"a={a}, b={b}, c={c} are not chances that add up to at most 1")
    n = 1 << scale
    m = whole_edges(n * real("edge_factor", edge_factor))
    rng = generator(seed)
    ids = csr.index_dtype(n)
    src, dst = np.zeros(m, ids), np.zeros(m, ids)
    limits = [np.float32(a), np.float32(a + b), np.float32(a + b + c)]
    for begin in range(0, m, _BLOCK):
        sources, targets = src[begin : begin + _BLOCK], dst[begin : begin + _BLOCK]
        draw = np.empty(len(sources), np.float32)
        for _ in range(scale):
            rng.random(out=draw, dtype=np.float32)
            right, low, corner = (draw >= limit for limit in limits)
            np.left_shift(sources, 1, out=sources)
            np.left_shift(targets, 1, out=targets)
            sources |= low
            targets |= right ^ low ^ corner
    order = rng.permutation(n).astype(ids)
    return n, order[src], order[dst], rng


def _lattice(shape: tuple[int, ...], seed: int, weights: WeightRange) -> Graph:
    """Grid of any dimension; the last axis is numbered fastest."""
    n = math.prod(shape)
    whole_edges(n * len(shape))
    number = np.arange(n, dtype=csr.index_dtype(n)).reshape(shape)
    src, dst = [], []
    for axis in range(len(shape)):
        along = np.moveaxis(number, axis, 0)
        src.append(along[:-1].ravel())
        dst.append(along[1:].ravel())
    return undirected_graph(n, np.concatenate(src), np.concatenate(dst), generator(seed), weights)
