"""Several queries as one graph: rows, words of bits, and how much memory a batch takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.matching.inputs import fixed_point, one_each, simple_graph
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.matching.inputs import LabelCodes
    from clgraph.algorithms.matching.phases import Request
    from clgraph.graph import Graph

__all__ = ["BLOCK", "Query", "QueryBatch", "batches", "read_queries"]

BLOCK = 256  # entries of a row that are summed up together
WORD = 32
PAIRS_BITS = 43  # so that sums of products of similarities and profiles fit 64 bits


@dataclass(frozen=True, slots=True)
class Query:
    """One query: a simple graph with label codes, or similarities in fixed point."""

    graph: Graph
    codes: NDArray[np.uint32] | None
    similarities: NDArray[np.uint32] | None


def read_queries(
    target: Graph,
    known: LabelCodes,
    graphs: Sequence[Any],
    labels: Any,
    similarity: Any,
    request: Request,
    *,
    several: bool,
) -> list[Query]:
    """Check queries and bring them into the form that a batch takes.

    Parameters
    ----------
    target, known : Graph, LabelCodes
        What they are matched with, and the numbers of its labels.
    graphs, labels, similarity, several
        As `SubgraphMatching.run` was given them: lists for several, otherwise for the only one.
    request : Request
        What is asked of them.

    Returns
    -------
    list of Query

    Raises
    ------
    InvalidGraphError, InvalidArgumentError
        As `SubgraphMatching.run` says.
    """
    if not graphs:
        raise InvalidArgumentError("there are no queries; pass at least one.")
    if labels is not None and similarity is not None:
        raise InvalidArgumentError("a query has labels or similarities; pass one of the two.")
    all_labels = one_each("labels", labels, len(graphs), several=several)
    all_similarities = one_each("similarity", similarity, len(graphs), several=several)
    queries = []
    for graph, own, alike in zip(graphs, all_labels, all_similarities, strict=True):
        simple = simple_graph(graph, "query")
        if not simple.n:
            raise InvalidArgumentError("the query has no vertices; there is nothing to match.")
        pairs = simple.n * max(target.n, 1)
        arcs = simple.m * request.levels * (request.levels + 1) // 2
        if pairs >= 2**PAIRS_BITS or arcs >= 2**32 or simple.n * request.k >= 2**40:
            raise InvalidArgumentError(
                f"a query of {simple.n} vertices and {simple.m} arcs is too large for a target "
                f"of {target.n}, k={request.k} and max_level={request.levels}; lower one."
            )
        if alike is not None:
            queries.append(Query(simple, None, fixed_point(alike, simple.n, target.n)))
        else:
            queries.append(Query(simple, known.of_query(own, simple.n), None))
    return queries


def _words(counts: NDArray[Any]) -> NDArray[Any]:
    """Where the words of each query begin, if each begins in one of its own."""
    return np.concatenate(([0], np.cumsum(-(-counts // WORD))))


class QueryBatch:
    """Queries side by side: the vertices of all are rows 0 .. R - 1, their arcs 0 .. A - 1.

    Parameters
    ----------
    queries : sequence of Query
        At least one, each of at least one vertex.

    Attributes
    ----------
    arrays : dict of str to numpy.ndarray
        What kernels read, by the names of their arguments.
    rows, arcs, words, node_words, largest : int
        Rows and arcs; words of arc bits and of node bits; rows of the largest query.
    """

    def __init__(self, queries: Sequence[Query]) -> None:
        self.queries = queries
        sizes = np.array([query.graph.n for query in queries])
        arcs = np.array([query.graph.m for query in queries])
        self.first = np.concatenate(([0], np.cumsum(sizes)))
        first_arc = np.concatenate(([0], np.cumsum(arcs)))
        self.rows, self.arcs, self.largest = (
            int(self.first[-1]),
            int(first_arc[-1]),
            int(sizes.max()),
        )
        degrees = np.concatenate([query.graph.degrees for query in queries])
        indices = [
            query.graph.indices + base for query, base in zip(queries, self.first[:-1], strict=True)
        ]
        row_query = np.repeat(np.arange(len(queries)), sizes)
        local = np.arange(self.rows) - self.first[row_query]
        node_first, self.word_first = _words(sizes), _words(arcs)
        self.node_words, self.words = int(node_first[-1]), int(self.word_first[-1])
        word_rows, word_sizes = _contents(sizes, self.first, node_first)
        word_arcs, arc_counts = _contents(arcs, first_arc, self.word_first)
        self.arrays: dict[str, NDArray[Any]] = {
            "query_indptr": np.concatenate(([0], np.cumsum(degrees))),
            "query_indices": np.concatenate(indices),
            "arc_sources": np.repeat(np.arange(self.rows), degrees),
            "row_query": row_query,
            "query_first": self.first,
            "query_words": self.word_first,
            "row_words": node_first[row_query] + local // WORD,
            "row_bits": local % WORD,
            "row_degrees": degrees,
            "word_rows": word_rows,
            "word_sizes": word_sizes,
            "word_arcs": word_arcs,
            "arc_counts": arc_counts,
            "every_row": np.arange(self.rows + 1),
        }

    def mask_first(self, levels: int) -> tuple[NDArray[np.uint64], int]:
        """Where the masks of each row begin, uint64 [rows], and how many words there are in all."""
        words = np.diff(self.word_first)[self.arrays["row_query"]] * levels
        ends = np.cumsum(words)
        return (ends - words).astype(np.uint64), int(ends[-1])


def _contents(
    counts: NDArray[Any], first: NDArray[Any], words: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """First element of each word, and how many it holds."""
    owner = np.repeat(np.arange(len(counts)), np.diff(words))
    within = (np.arange(int(words[-1])) - words[owner]) * WORD
    return first[owner] + within, np.minimum(counts[owner] - within, WORD)


def predicted_bytes(query: Query, n: int, k: int, levels: int) -> int:
    """Device memory that a query adds to a batch, but for the words of arc bits of one tile."""
    rows, arcs = query.graph.n, query.graph.m
    node_words, words = -(-rows // WORD), -(-arcs // WORD)
    per_vertex = 4 * rows + 16 * (rows / BLOCK) + 8 * node_words + 4 * words * levels
    if query.similarities is not None:
        per_vertex += 4 * rows
    return int(n * per_vertex) + 4 * rows * (k + levels * words) + 24 * k + 64 * (rows + arcs)


def batches(
    queries: Sequence[Query], n: int, k: int, levels: int, budget_bytes: int, largest_bytes: int
) -> Iterator[tuple[int, int]]:
    """Cut queries into batches that fit; a query that does not fit is one by itself.

    Yields
    ------
    begin, end : int
        Places in `queries`.
    """
    begin, taken, rows = 0, 0, 0
    for end, query in enumerate(queries):
        size = predicted_bytes(query, n, k, levels)
        widest = 4 * (rows + query.graph.n) * max(n, k)
        if end > begin and (taken + size > budget_bytes or widest > largest_bytes):
            yield begin, end
            begin, taken, rows = end, 0, 0
        taken += size
        rows += query.graph.n
    yield begin, len(queries)
