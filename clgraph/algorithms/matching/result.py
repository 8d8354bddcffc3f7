"""Matches of a query, what they cost, and what it took to find them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from clgraph.algorithms.matching.inputs import ONE
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph.csr import row_ids
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.matching.phases import Matches
    from clgraph.algorithms.matching.queries import QueryBatch
    from clgraph.graph import Graph

__all__ = ["MatchingResult", "MatchingStats", "kept_edges", "split_matches"]


@dataclass(slots=True)
class MatchingStats:
    """Times and counts of the call that a result came from, of all its queries together.

    Attributes
    ----------
    total_ms : float
        Host wall clock.
    kernel_ms : float
        Device time: from the first launch to the end of the last of each phase, added up.
    phases : dict of str to float
        Device milliseconds of ``probabilities``, ``seeds`` and ``extension``, or of ``exact``; and
        ``transfers``, the rest of the host's wall clock.
    launches, queries : int
        Kernel launches, and queries that were answered by them.
    device_bytes : int
        Most device memory that was held at once, the target included.
    config : dict
        The configuration that ran.
    energy : object or None
        Filled in by whoever measured the run.
    """

    total_ms: float = 0.0
    kernel_ms: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    launches: int = 0
    queries: int = 0
    device_bytes: int = 0
    config: dict[str, Any] = field(default_factory=dict)
    energy: Any = None
    mode = "launches"


@dataclass
class MatchingResult:
    """Matches of one query.

    Attributes
    ----------
    query, target : Graph
        As they were matched: without self-loops and parallel edges.
    mapping : numpy.ndarray
        int32 [matches, |V|], target vertices, -1 where a query vertex has none.
    cost_parts : dict of str to numpy.ndarray
        float64 [matches] each: ``labels``, the sum of 1 - similarity over matched vertices,
        ``edges`` and ``nodes``, query edges that are not kept and vertices without an image.
    stats : MatchingStats
        Shared by the results of one call.
    complete : bool
        Of exact matches: whether there are no others; for approximate ones False.
    count : int
        Matches that were found; more than are listed where exact matches were only counted.
    """

    query: Graph
    target: Graph
    mapping: NDArray[np.int32]
    cost_parts: dict[str, NDArray[np.float64]]
    stats: MatchingStats
    complete: bool = False
    count: int = 0

    @classmethod
    def without_images(cls, query: Graph, target: Graph, k: int, stats: MatchingStats) -> Self:
        """Give matches in a target without vertices."""
        mapping = np.full((k, query.n), -1, np.int32)
        parts = {
            "labels": np.zeros(k),
            "edges": np.full(k, query.m / 2),
            "nodes": np.full(k, float(query.n)),
        }
        return cls(query, target, mapping, parts, stats, count=k)

    def __repr__(self) -> str:
        """Tell how many there are and what the best costs."""
        best = f", best cost {self.cost.min():.4g}" if len(self.cost) else ""
        return f"MatchingResult({len(self.mapping)} matches of {self.query.n} vertices{best})"

    @cached_property
    def cost(self) -> NDArray[np.float64]:
        """Cost of each match, float64 [matches], in [0, 1]: Equation 10.1."""
        parts = self.cost_parts
        size = self.query.n + self.query.m // 2
        return (parts["labels"] + parts["edges"] + parts["nodes"]) / size

    @property
    def best(self) -> NDArray[np.int32]:
        """Mapping of the cheapest match, int32 [|V|].

        Raises
        ------
        InvalidArgumentError
            If there are no matches.
        """
        if not len(self.cost):
            raise InvalidArgumentError("there is no match, so none is best.")
        found: NDArray[np.int32] = self.mapping[int(np.argmin(self.cost))]
        return found

    @property
    def partial(self) -> NDArray[np.bool_]:
        """Whether a match leaves out query vertices, bool [matches]."""
        return np.asarray((self.mapping < 0).any(axis=1))

    @cached_property
    def distinct_ratio(self) -> float:
        """Share of the matches that differ from all before them; 0 without matches."""
        if not len(self.mapping):
            return 0.0
        return len(np.unique(self.mapping, axis=0)) / len(self.mapping)

    def arrange(self, *, sort: bool, distinct: bool) -> None:
        """Sort the matches by cost, and drop those that repeat another."""
        order = np.arange(len(self.mapping))
        if distinct:
            order = np.sort(np.unique(self.mapping, axis=0, return_index=True)[1])
            self.distinct_ratio = len(order) / max(len(self.mapping), 1)
        if sort:
            order = order[np.argsort(self.cost[order], kind="stable")]
        if sort or distinct:
            self.mapping = self.mapping[order]
            self.cost_parts = {part: values[order] for part, values in self.cost_parts.items()}
            self.__dict__.pop("cost", None)

    def to_networkx(self, match: int | None = None) -> Any:
        """Give the query as a networkx graph that says where it was found.

        Parameters
        ----------
        match : int, optional
            Which match; default is the cheapest.

        Returns
        -------
        networkx.Graph
            Vertices have ``image`` (a target vertex, or None), edges have ``kept``.
        """
        networkx = module("networkx", needed_for="to_networkx")
        images = self.best if match is None else self.mapping[match]
        kept = kept_edges(self.query, self.target, images[None, :])[0]
        graph = networkx.Graph()
        for u, image in enumerate(images.tolist()):
            graph.add_node(u, image=image if image >= 0 else None)
        src, dst, _ = self.query.listed_edges()
        for u, v, stays in zip(src.tolist(), dst.tolist(), kept.tolist(), strict=True):
            graph.add_edge(u, v, kept=stays)
        return graph

    def verify(self, similarity: NDArray[np.float64] | None = None) -> None:
        """Check the matches on the host, by the rules of Equation 10.1.

        Parameters
        ----------
        similarity : numpy.ndarray, optional
            float64 [|V|, n]; without it the labels' part of the cost is not checked.

        Raises
        ------
        VerificationError
            If a map is not injective, leaves the target, or a part of its cost is wrong.
        """
        mapping = self.mapping
        if mapping.size and (mapping.min() < -1 or mapping.max() >= self.target.n):
            raise VerificationError("a match maps to a vertex that the target does not have.")
        ordered = np.sort(mapping, axis=1)
        twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
        if twice.any():
            raise VerificationError(
                f"match {int(np.argmax(twice))} uses a target vertex more than once."
            )
        kept = kept_edges(self.query, self.target, mapping)
        wanted = {"nodes": (mapping < 0).sum(axis=1), "edges": (~kept).sum(axis=1)}
        if similarity is not None:
            found = np.take_along_axis(similarity, np.maximum(mapping, 0).T, axis=1).T
            wanted["labels"] = np.where(mapping < 0, 0.0, 1.0 - found).sum(axis=1)
        for part, right in wanted.items():
            wrong = np.abs(self.cost_parts[part] - right) > 1e-5 * self.query.n
            if wrong.any():
                place = int(np.argmax(wrong))
                raise VerificationError(
                    f"match {place} is charged {self.cost_parts[part][place]} for {part}, and "
                    f"costs {right[place]}."
                )


def kept_edges(query: Graph, target: Graph, mapping: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which query edges, as ``listed_edges`` gives them, are kept: bool [matches, |E|]."""
    src, dst, _ = query.listed_edges()
    a, b = mapping[:, src].astype(np.int64), mapping[:, dst].astype(np.int64)
    arcs = row_ids(target.indptr).astype(np.int64) * target.n + target.indices
    wanted = a * target.n + b
    if not len(arcs):
        return np.zeros(wanted.shape, bool)
    places = np.minimum(np.searchsorted(arcs, wanted), len(arcs) - 1)
    return np.asarray((a >= 0) & (b >= 0) & (arcs[places] == wanted))


def split_matches(
    batch: QueryBatch, target: Graph, matches: Matches, k: int, stats: MatchingStats
) -> list[MatchingResult]:
    """Give each query of a batch its k matches."""
    results = []
    for place, query in enumerate(batch.queries):
        begin, end = int(batch.first[place]) * k, int(batch.first[place + 1]) * k
        own = slice(place * k, (place + 1) * k)
        parts = {
            "labels": matches.label_losses[own] / ONE,
            "edges": matches.edge_losses[own].astype(np.float64),
            "nodes": matches.node_losses[own].astype(np.float64),
        }
        mapping = matches.mapping[begin:end].reshape(k, query.graph.n)
        results.append(MatchingResult(query.graph, target, mapping, parts, stats, count=k))
    return results
