"""What of a graph a good configuration depends on, and how far two graphs are apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.graph import Graph

__all__ = ["Features", "distance", "features_of", "mean_weight"]

Features: TypeAlias = dict[str, float | str]

# How much of a difference in each is as much as graphs may differ to be called alike.
ALIKE = {
    "log_vertices": 5.0,
    "log_mean_degree": 1.5,
    "log_skew": 5.0,
    "gini": 0.35,
    "log_locality": 6.0,
    "directed": 2.0,
}
SAMPLES = 4096  # edges whose ends are looked at
NO_LOCALITY = -32.0


def features_of(graph: Graph) -> Features:
    """Describe a graph by few figures that do not depend on the numbering of equal vertices.

    Parameters
    ----------
    graph : Graph
        Any.

    Returns
    -------
    dict
        ``log_vertices``, ``log_mean_degree``, ``log_skew`` (greatest over mean degree),
        ``log_locality`` (median distance of the numbers of an edge's ends, over the vertices), all
        to the base of 2; ``gini`` of the degrees; ``directed`` 0 or 1; ``weights`` "none",
        "integer" or "real".
    """
    statistics = graph.statistics()
    mean = statistics.mean_degree
    kind = "none"
    if graph.weights is not None:
        kind = "real" if graph.weights.dtype.kind == "f" else "integer"
    return {
        "log_vertices": math.log2(max(graph.n, 1)),
        "log_mean_degree": math.log2(1.0 + mean),
        "log_skew": math.log2(max(statistics.max_degree, 1) / mean) if mean else 0.0,
        "gini": statistics.gini,
        "log_locality": _locality(graph),
        "directed": float(graph.directed),
        "weights": kind,
    }


def _locality(graph: Graph) -> float:
    if not graph.m:
        return NO_LOCALITY
    places = np.unique(np.linspace(0, graph.m - 1, SAMPLES).astype(np.int64))
    sources = np.searchsorted(graph.indptr, places, side="right") - 1
    apart = np.abs(sources - graph.indices[places].astype(np.int64))
    return math.log2(max(float(np.median(apart)), 0.5) / graph.n)


def mean_weight(graph: Graph) -> float:
    """Mean of the absolute weights of some edges; 1 where there are none, or all are 0."""
    if graph.weights is None or not graph.m:
        return 1.0
    places = np.unique(np.linspace(0, graph.m - 1, 16 * SAMPLES).astype(np.int64))
    return float(np.abs(graph.weights[places].astype(np.float64)).mean()) or 1.0


def distance(one: Mapping[str, float | str], other: Mapping[str, float | str]) -> float:
    """How unlike two graphs are; 1 is as far as a configuration is carried over.

    Infinite where one has weights of a kind that the other has not.
    """
    if one["weights"] != other["weights"]:
        return math.inf
    return math.sqrt(
        sum(((float(one[name]) - float(other[name])) / scale) ** 2 for name, scale in ALIKE.items())
    )
