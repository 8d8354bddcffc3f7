"""Tools of the published experiments: queries cut and altered, costs compared, and more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.matching.inputs import simple_graph
from clgraph.errors import GraphFormatError, InvalidArgumentError
from clgraph.graph import from_edges
from clgraph.graph.arguments import real, whole
from clgraph.graph.modules import module
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from clgraph.graph import Graph

__all__ = [
    "Term",
    "coherence",
    "compare_costs",
    "filtered_similarity",
    "perturbed_query",
    "planted_query",
    "read_annotations",
]


def planted_query(target: Graph, size: int, *, seed: int = 0) -> tuple[Graph, NDArray[np.int64]]:
    """Cut a random connected subgraph out of a target, with all edges between its vertices.

    Parameters
    ----------
    target : Graph
        Undirected, with a component of at least `size` vertices.
    size : int
        Vertices of the query.
    seed : int
        Of the random numbers.

    Returns
    -------
    query : Graph
        Undirected.
    vertices : numpy.ndarray
        int64 [size], where each vertex of it was: a match of cost 0.

    Raises
    ------
    InvalidArgumentError
        If no component that was tried is large enough.
    """
    whole("size", size)
    random = seeded(seed)
    graph = simple_graph(target, "target")
    for _ in range(100):
        found = [int(random.integers(graph.n))] if graph.n else []
        frontier = dict.fromkeys(found)
        chosen: list[int] = []
        while frontier and len(chosen) < size:
            u = list(frontier)[int(random.integers(len(frontier)))]
            del frontier[u]
            chosen.append(u)
            row = graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist()
            frontier.update(dict.fromkeys(v for v in row if v not in chosen))
        if len(chosen) == size:
            vertices = np.array(chosen)
            part = graph.to_scipy()[vertices][:, vertices].tocoo()
            return from_edges(part.row, part.col, n=size, directed=False), vertices
    raise InvalidArgumentError(
        f"no connected subgraph of {size} vertices was found in 100 tries; ask for a smaller one."
    )


def perturbed_query(
    query: Graph, labels: ArrayLike, share: float, *, seed: int = 0
) -> tuple[Graph, NDArray[Any]]:
    """Alter the labels of some vertices, and move some edges elsewhere.

    Parameters
    ----------
    query : Graph
        Undirected.
    labels : array_like [|V|]
        Its labels.
    share : float
        Of the vertices whose labels, and of the edges that are changed, in [0, 1].
    seed : int
        Of the random numbers.

    Returns
    -------
    query : Graph
        With as many edges, as far as there are pairs without one.
    labels : numpy.ndarray
        Each changed one is another label of the query, if there is one.
    """
    if not 0 <= real("share", share) <= 1:
        raise InvalidArgumentError(f"share={share} must be in [0, 1].")
    random = seeded(seed)
    changed = np.array(labels)
    alphabet = np.unique(changed)
    for u in random.choice(query.n, round(share * query.n), replace=False):
        others = alphabet[alphabet != changed[u]]
        if len(others):
            changed[u] = random.choice(others)
    src, dst, _ = simple_graph(query, "query").listed_edges()
    present = np.zeros((query.n, query.n), bool)
    present[src, dst] = True
    absent = np.argwhere(np.triu(~present, 1))
    moved = min(round(share * len(src)), len(absent))
    stays = np.ones(len(src), bool)
    stays[random.choice(len(src), moved, replace=False)] = False
    new = absent[random.choice(len(absent), moved, replace=False)] if moved else absent[:0]
    ends = np.concatenate([np.stack([src[stays], dst[stays]], 1), new])
    return from_edges(ends[:, 0], ends[:, 1], n=query.n, symmetrize=True), changed


def filtered_similarity(similarity: ArrayLike, percent: float) -> NDArray[np.float64]:
    """Keep the most similar part of each row, with ties, and bring each row's maximum to 1.

    Parameters
    ----------
    similarity : array_like [|V|, n]
        Not negative.
    percent : float
        Of the entries of a row, in (0, 100].

    Returns
    -------
    numpy.ndarray
        float64 [|V|, n]; rows of zeros stay.
    """
    matrix = np.array(similarity, np.float64)
    if matrix.ndim != 2 or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InvalidArgumentError("similarity must be a matrix of finite numbers, none negative.")
    if not 0 < real("percent", percent) <= 100:
        raise InvalidArgumentError(f"percent={percent} must be above 0 and at most 100.")
    if matrix.shape[1]:
        kept = max(int(np.ceil(matrix.shape[1] * percent / 100)), 1)
        least = np.partition(matrix, matrix.shape[1] - kept, axis=1)[:, -kept]
        matrix[matrix < least[:, None]] = 0
        most = matrix.max(axis=1, keepdims=True)
        np.divide(matrix, most, out=matrix, where=most > 0)
    return matrix


def compare_costs(
    ours: Sequence[ArrayLike], others: Sequence[ArrayLike]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test, query by query, whether the costs of two tools differ.

    Parameters
    ----------
    ours, others : sequence of array_like
        Costs of the matches of each query.

    Returns
    -------
    p_values, adjusted : numpy.ndarray
        float64 [queries]: of the Wilcoxon rank-sum test, and after the correction of Benjamini and
        Hochberg for the number of queries.
    """
    if len(ours) != len(others) or not len(ours):
        raise InvalidArgumentError("both tools need costs of the same queries, at least one.")
    stats = module("scipy.stats")
    pairs = zip(ours, others, strict=True)
    p_values = np.array([stats.ranksums(np.asarray(a), np.asarray(b)).pvalue for a, b in pairs])
    return p_values, np.asarray(stats.false_discovery_control(p_values))


@dataclass(frozen=True, slots=True)
class Term:
    """How much a match shares one annotation.

    Attributes
    ----------
    term : str
        Its name.
    in_match, in_target : int
        Vertices of the match, and of the target, that carry it.
    p_value, adjusted : float
        Chance of so many in a random set of as many vertices, Equation 10.7, and after the
        correction of Benjamini and Hochberg for the number of terms.
    """

    term: str
    in_match: int
    in_target: int
    p_value: float
    adjusted: float


def coherence(match: ArrayLike, annotations: Mapping[int, Sequence[str]], n: int) -> list[Term]:
    """Tell which annotations the vertices of a match have in common more than chance would.

    Parameters
    ----------
    match : array_like
        Target vertices; -1 is left out.
    annotations : mapping
        Terms of target vertices; vertices may be missing.
    n : int
        Vertices of the target.

    Returns
    -------
    list of Term
        One for each term in the match, the least likely first.
    """
    images = [int(t) for t in np.unique(np.asarray(match, np.int64)) if t >= 0]
    carriers: dict[str, int] = {}
    for terms in annotations.values():
        for term in set(terms):
            carriers[term] = carriers.get(term, 0) + 1
    found: dict[str, int] = {}
    for t in images:
        for term in set(annotations.get(t, ())):
            found[term] = found.get(term, 0) + 1
    if not found:
        return []
    stats = module("scipy.stats")
    names = sorted(found)
    p_values = np.array(
        [stats.hypergeom.sf(found[x] - 1, n, carriers[x], len(images)) for x in names]
    )
    adjusted = stats.false_discovery_control(np.clip(p_values, 0, 1))
    rows = [
        Term(name, found[name], carriers[name], float(p), float(q))
        for name, p, q in zip(names, p_values, adjusted, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.p_value, row.term))


def read_annotations(
    path: str | Path, vertices: Mapping[str, int] | None = None
) -> dict[int, list[str]]:
    """Read annotations: a vertex and its terms on each line, apart by spaces, tabs or commas.

    Parameters
    ----------
    path : str or Path
        The file; lines that begin with # are left out.
    vertices : mapping, optional
        Vertices by their names in the file; without, vertices are numbers there.

    Returns
    -------
    dict of int to list of str
        Names that `vertices` does not have are left out.

    Raises
    ------
    GraphFormatError
        If a line does not begin with a vertex.
    """
    found: dict[int, list[str]] = {}
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        if vertices is None and not words[0].isdecimal():
            raise GraphFormatError(f"{path}:{number}: {words[0]!r} is not a vertex.")
        vertex = int(words[0]) if vertices is None else vertices.get(words[0])
        if vertex is not None:
            found.setdefault(vertex, []).extend(words[1:])
    return found
