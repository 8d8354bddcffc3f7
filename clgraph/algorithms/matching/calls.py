"""Approximate subgraph matching in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.matching.plan import SubgraphMatching
from clgraph.documented import documented
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.matching.config import MatchingConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["subgraph_matching"]


@documented(SubgraphMatching, SubgraphMatching.run)
@flags
def subgraph_matching(  # noqa: PLR0913 - all but two by keyword
    target: Any,
    query: Any = None,
    *,
    queries: Sequence[Any] | None = None,
    labels: tuple[Any, Any] | None = None,
    similarity: Any = None,
    k: int = 1000,
    max_level: int = 2,
    label_floor: float | None = None,
    iterations: int | None = None,
    seed: int = 0,
    distinct: bool = False,
    sort: bool = True,
    exact: bool = False,
    limit: int | None = None,
    config: MatchingConfig | str | None = None,
    device: Device | str | None = None,
    verify: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Find approximate occurrences of a small labelled graph in a large one.

    Parameters
    ----------
    query : Graph or scipy.sparse matrix
        What to look for, undirected as well.
    queries : list of Graph or scipy.sparse matrix, optional
        Several instead, matched in the same launches.
    labels : tuple, optional
        Labels of the target's vertices, and of the query's (for several queries, a list with those
        of each): any hashables. Without labels and similarities, all vertices are alike.
    similarity : array_like, scipy.sparse matrix or path, optional
        Instead of labels: [|V|, n] in [0, 1].
    config : MatchingConfig or str, optional
        A configuration or the name of a preset: "auto", "product", "thesis", "thesis-bfs".

    Raises
    ------
    InvalidArgumentError
        If a query is empty, labels are missing, a similarity has the wrong shape or an entry
        outside of [0, 1], or another argument is out of range.

    Notes
    -----
    Matches are drawn at random: a seed pair in proportion to how alike the neighbourhoods are, then
    pair by pair in proportion to similarity and connections. The same seed gives the same matches
    on every device. A match may leave out query vertices; each costs 1, as does each edge that is
    not kept and each label that differs, over the number of vertices and edges of the query.

    References
    ----------
    .. [1] V. Bonnici, F. Busato, G. Micale, N. Bombieri, A. Pulvirenti, R. Giugno, "APPAGATO: an
           approximate parallel and stochastic graph querying tool for biological networks",
           Bioinformatics 32(14), 2016.

    Examples
    --------
    >>> import clgraph as cg
    >>> target = cg.from_edges([0, 0, 0, 1, 2, 2, 4], [1, 2, 3, 2, 3, 4, 5], symmetrize=True)
    >>> query = cg.from_edges([0, 0, 1], [1, 2, 2], symmetrize=True)
    >>> result = cg.subgraph_matching(target, query, labels=("ABCADB", "ABC"), k=20)
    >>> result.best.tolist(), float(result.cost.min())
    ([0, 1, 2], 0.0)
    """
    if (query is None) == (queries is None):
        raise InvalidArgumentError("pass either query, or queries.")
    of_target, of_query = _both_labels(labels)
    if similarity is not None and labels is not None:
        raise InvalidArgumentError("a query has labels or similarities; pass one of the two.")
    plan = SubgraphMatching(
        target, labels=of_target, config=config, device=device, progress=progress
    )
    return plan.run(
        query if queries is None else list(queries),
        labels=of_query,
        similarity=similarity,
        k=k,
        max_level=max_level,
        label_floor=label_floor,
        iterations=iterations,
        seed=seed,
        distinct=distinct,
        sort=sort,
        exact=exact,
        limit=limit,
        verify=verify,
        progress=progress,
    )


def _both_labels(labels: tuple[Any, Any] | None) -> tuple[Any, Any]:
    if labels is None:
        return None, None
    if not isinstance(labels, (tuple, list)) or len(labels) != 2:
        raise InvalidArgumentError(
            "labels must be a pair: those of the target, those of the query."
        )
    of_target, of_query = labels
    if of_target is None or of_query is None:
        raise InvalidArgumentError(
            "labels must be a pair: those of the target, those of the query; one of them is None."
        )
    return of_target, of_query
