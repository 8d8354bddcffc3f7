"""What drawn edges become: simple graphs, with drawn weights."""

from typing import TypeAlias

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph import csr
from clgraph.graph.arguments import real, shown, whole
from clgraph.graph.build import with_reverses
from clgraph.graph.csr import Array
from clgraph.graph.graph import Graph
from clgraph.seeded import seeded

__all__ = [
    "WeightRange",
    "directed_graph",
    "draw_weights",
    "generator",
    "undirected_graph",
    "whole_edges",
]

WeightRange: TypeAlias = tuple[float, float] | None

_MAX_EDGES = 1 << 33


def undirected_graph(
    n: int, src: Array, dst: Array, rng: np.random.Generator, weights: WeightRange
) -> Graph:
    """Build a simple undirected graph of edges drawn in any order and number."""
    straight = src != dst
    src, dst = src[straight], dst[straight]
    half = csr.drop_duplicates(
        *csr.edges_to_csr(n, np.minimum(src, dst), np.maximum(src, dst), None)
    )
    sources, targets = csr.row_ids(half[0], half[1].dtype), half[1]
    both = with_reverses(sources, targets, draw_weights(len(targets), rng, weights))
    return Graph.trusted(csr.edges_to_csr(n, *both), directed=False)


def directed_graph(
    n: int, src: Array, dst: Array, rng: np.random.Generator, weights: WeightRange
) -> Graph:
    """Build a simple directed graph of arcs drawn in any order and number."""
    straight = src != dst
    arrays = csr.drop_duplicates(*csr.edges_to_csr(n, src[straight], dst[straight], None))
    drawn = draw_weights(len(arrays[1]), rng, weights)
    return Graph.trusted((arrays[0], arrays[1], drawn), directed=True)


def draw_weights(count: int, rng: np.random.Generator, weights: WeightRange) -> Array | None:
    """Draw so many weights of a range."""
    if weights is None:
        return None
    try:
        low, high = weights
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"weights={shown(weights)} is not a pair (low, high)") from None
    integers = all(isinstance(bound, int | np.integer) for bound in (low, high))
    limit = np.iinfo(np.int32).max if integers else np.finfo(np.float64).max / 2
    if not -limit <= real("weights", low) <= real("weights", high) <= limit:
        raise InvalidArgumentError(
            f"weights={shown(weights)} is not a rising pair within +-{limit:g}"
        )
    if integers:
        return rng.integers(int(low), int(high), count, dtype=np.int32, endpoint=True)
    return rng.uniform(low, high, count)


def generator(seed: int) -> np.random.Generator:
    """Give the random numbers of a seed."""
    return seeded(whole("seed", seed, least=0, most=None))


def whole_edges(count: float) -> int:
    """Give a number of edges, unless there are too many."""
    if not 0 <= count <= _MAX_EDGES:
        raise InvalidArgumentError(
            f"{count:.3g} edges are asked for; 0 to {_MAX_EDGES} are possible"
        )
    return int(count)
