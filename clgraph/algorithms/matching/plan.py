"""Approximate subgraph matching: the plan for a target."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clgraph.algorithms.matching.config import MatchingConfig
from clgraph.algorithms.matching.exact import exact_matches
from clgraph.algorithms.matching.inputs import ONE, LabelCodes, simple_graph
from clgraph.algorithms.matching.phases import Phases, Request
from clgraph.algorithms.matching.queries import Query, QueryBatch, batches, read_queries
from clgraph.algorithms.matching.result import MatchingResult, MatchingStats, split_matches
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan
from clgraph.errors import DeviceMemoryError, InvalidArgumentError
from clgraph.graph.arguments import flags, real, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from clgraph.algorithms.matching.launches import Held
    from clgraph.algorithms.matching.phases import Matches
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["SubgraphMatching"]

T = TypeVar("T")

MOST_LEVELS = 32
MOST_MATCHES = 2**31 - 1
MOST_KEPT_BYTES = 1 << 28  # of a batch's arrays, from one run to the next
BATCH_SHARE = 1 / 2  # of the free memory, for one batch of queries


@documented(Plan)
class SubgraphMatching(Plan):
    """Approximate subgraph matching, compiled for one target and device.

    Parameters
    ----------
    target : Graph or scipy.sparse matrix
        Undirected; self-loops, parallel edges and weights are ignored.
    labels : iterable of hashable [n], optional
        A label for each vertex; without, all are alike unless queries come with similarities.
    config : MatchingConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Raises
    ------
    InvalidGraphError
        If the target has an edge without a reverse.
    InvalidArgumentError
        If labels are missing, or `config` is not a configuration.
    DeviceMemoryError
        If the target does not fit the device.

    Notes
    -----
    The target is uploaded once and kept; `run` compiles on first use what its options need. Arrays
    of a run, up to 256 MiB, are kept for the next one. A plan serves one thread at a time; others
    wait.

    References
    ----------
    .. [1] V. Bonnici, F. Busato, G. Micale, N. Bombieri, A. Pulvirenti, R. Giugno, "APPAGATO: an
           approximate parallel and stochastic graph querying tool for biological networks",
           Bioinformatics 32(14), 2016.
    """

    @asking
    def __init__(
        self,
        target: Any,
        *,
        labels: Iterable[Any] | None = None,
        config: MatchingConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(simple_graph(target, "target"), device)
        self.target = self.graph
        self._labels = LabelCodes(labels, self.target.n)
        self.config = MatchingConfig.of(config)
        self._phases: Phases | None = None
        if self.target.n:
            codes = self._labels.codes
            self._phases = Phases(self.target, codes, self.config, self._memory, progress)

    @flags
    @asking
    def run(  # noqa: PLR0913 - all but one by keyword
        self,
        query: Any,
        *,
        labels: Any = None,
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
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Any:
        """Match a query, or several in the same launches.

        Parameters
        ----------
        query : Graph or scipy.sparse matrix, or a list or tuple of them
            Undirected, of at least one vertex; what it has more than the target stays unmatched.
        labels : iterable of hashable [|V|], optional
            One for each vertex of the query; for several queries, one such iterable for each.
        similarity : array_like, scipy.sparse matrix or path, optional
            Instead of labels: [|V|, n] in [0, 1], 1 for vertices that are alike. For several
            queries, one for each.
        k : int
            Matches of each query. Exact ones are listed up to so many.
        max_level : int
            Depth of the neighbourhoods that are compared, at most 32.
        label_floor : float, optional
            What stands for a similarity of 0 while drawing, never in costs; default is the
            configuration's: 0.005, and 0 for "thesis".
        iterations : int, optional
            Steps of each match, seeding included. Default is to stop when the match is full; more
            go on to redraw the images of matched vertices (Gibbs sampling) and keep the cheapest.
        seed : int
            Of the random numbers, in [0, 2^64).
        distinct : bool
            Whether to drop repeated matches.
        sort : bool
            Whether to sort matches by cost.
        exact : bool
            Find matches of cost 0 only, and all of them.
        limit : int, optional
            Of exact matches: after how many to stop; default is k.
        verify : bool
            Whether to check maps and costs, outside of the times in the stats.
        progress : callable or True, optional
            Called with solutions extended, solutions in all, and what is done.

        Returns
        -------
        MatchingResult or list of them
            ``mapping`` int32 [k, |V|], -1 for unmatched vertices; ``cost`` float64 [k] in [0, 1];
            ``cost_parts``; ``best``; ``to_networkx()``; ``stats``. A list for several queries.

        Raises
        ------
        InvalidGraphError
            If a query has an edge without a reverse.
        InvalidArgumentError
            If a query is empty, labels are missing, a similarity has the wrong shape or an entry
            outside of [0, 1], or another argument is out of range.
        DeviceMemoryError
            If a query does not fit the device beside the target.
        VerificationError
            If the result was to be checked and is wrong.

        Notes
        -----
        Neighbourhood similarities take O(max(m, |V| n) |E| / 32) work at the default depth; a step
        of a match takes time proportional to the degrees of the images next to it. For the same
        seed, matches are the same on every device and with any number of work-groups, and do not
        depend on what else is matched in the same call.
        """
        began = time.perf_counter()
        several = isinstance(query, (list, tuple))
        graphs = list(query) if several else [query]
        request = Request(
            k=whole("k", k, least=1, most=MOST_MATCHES),
            levels=whole("max_level", max_level, least=1, most=MOST_LEVELS),
            iterations=0 if iterations is None else whole("iterations", iterations),
            seed=whole("seed", seed, least=0, most=2**64 - 1),
            label_floor=self._floor(label_floor),
        )
        stop = request.k if limit is None else whole("limit", limit, least=1, most=MOST_MATCHES)
        asked = (labels, similarity, request)
        queries = read_queries(self.target, self._labels, graphs, *asked, several=several)
        stats = MatchingStats(queries=len(queries), config=asdict(self.config))
        with self._lock:
            if self._phases is None:
                results = [
                    MatchingResult.without_images(query.graph, self.target, request.k, stats)
                    for query in queries
                ]
            elif exact:
                results = [
                    self._with_room(partial(self._exact, query, request.k, stop, stats, progress))
                    for query in queries
                ]
            else:
                results = self._approximate(queries, request, stats, progress)
        for result in results:
            result.arrange(sort=sort and not exact, distinct=distinct)
        stats.total_ms = 1e3 * (time.perf_counter() - began)
        stats.kernel_ms = sum(stats.phases.values())
        stats.phases["transfers"] = max(stats.total_ms - stats.kernel_ms, 0.0)
        if verify:
            for one, result in zip(queries, results, strict=True):
                result.verify(self._similarity(one))
        return results if several else results[0]

    def run_until(
        self, phase: str, query: Any, *, labels: Any = None, similarity: Any = None, k: int = 1000
    ) -> None:
        """Match a query up to the end of a phase, and wait: for who measures what phases take.

        Parameters
        ----------
        phase : {"transfers", "probabilities", "seeds", "extension"}
            The last one: only the upload of the query, the first two, or all.
        query, labels, similarity, k
            As for `run`, of one query.
        """
        if phase == "extension" or self._phases is None:
            self.run(query, labels=labels, similarity=similarity, k=k, sort=False)
            return
        request = Request(k=k, levels=2, iterations=0, seed=0, label_floor=self._floor(None))
        asked = (labels, similarity, request)
        (one,) = read_queries(self.target, self._labels, [query], *asked, several=False)
        with self._lock:
            self._with_room(partial(self._phases.run_until, phase, one, request))

    def probabilities(
        self, query: Any, *, labels: Any = None, similarity: Any = None, **options: Any
    ) -> NDArray[np.float64]:
        """Give the probabilities that seeds are drawn with, Equation 10.3.

        Parameters
        ----------
        query, labels, similarity
            As for `run`, of one query.
        **options
            ``max_level`` and ``label_floor``, as for `run`.

        Returns
        -------
        numpy.ndarray
            float64 [|V|, n]; each row sums to 1, or to 0 where nothing is alike.
        """
        weights = self._scores(query, labels, similarity, options)[0].astype(np.float64)
        sums = weights.sum(axis=1, keepdims=True)
        result = np.zeros(weights.shape)
        np.divide(weights, sums, out=result, where=sums > 0)
        return result

    def neighbourhood_similarities(
        self, query: Any, *, labels: Any = None, similarity: Any = None, **options: Any
    ) -> NDArray[np.float64]:
        """Give how much of a query vertex's neighbourhood is found around a target vertex.

        Parameters
        ----------
        query, labels, similarity, **options
            As for `probabilities`.

        Returns
        -------
        numpy.ndarray
            float64 [|V|, n] in [0, 1], Equation 10.2; 0 for vertices without edges.
        """
        _, matched, arcs = self._scores(query, labels, similarity, options)
        rows = np.zeros(matched.shape)
        np.divide(matched, arcs[:, None], out=rows, where=arcs[:, None] > 0)
        return rows

    def _scores(
        self, query: Any, labels: Any, similarity: Any, options: dict[str, Any]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        floor = self._floor(options.pop("label_floor", None))
        levels = whole("max_level", options.pop("max_level", 2), least=1, most=MOST_LEVELS)
        if options:
            raise InvalidArgumentError(f"there is no option {next(iter(options))!r}.")
        request = Request(k=1, levels=levels, iterations=0, seed=0, label_floor=floor)
        asked = (labels, similarity, request)
        (one,) = read_queries(self.target, self._labels, [query], *asked, several=False)
        shape = (one.graph.n, self.target.n)
        if self._phases is None:
            empty = np.zeros(shape, np.uint32)
            return empty, empty, np.zeros(one.graph.n, np.uint32)
        with self._lock:
            return self._with_room(partial(self._scores_of, self._phases, one, levels, floor))

    def _scores_of(
        self, phases: Phases, query: Query, levels: int, floor: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        rows, n = query.graph.n, self.target.n
        held = phases.hold(QueryBatch([query]), levels)
        matched, arcs = phases.similarities(held)
        found = matched.read(rows * n).reshape(rows, n)
        drawn = phases.weigh(held, matched, arcs, floor)
        return drawn.scores.read(rows * n).reshape(rows, n), found, arcs.read(rows)

    def _with_room(self, run: Callable[[], T]) -> T:
        """Run; where there is no room, once more without the arrays that earlier runs left."""
        assert self._phases is not None  # noqa: S101 - the caller looked
        work = self._phases.work
        try:
            if work.size_bytes:
                try:
                    return run()
                except DeviceMemoryError:
                    work.release()
            return run()
        except DeviceMemoryError:
            work.release()
            raise
        finally:
            if work.size_bytes > MOST_KEPT_BYTES:
                work.release()

    def _floor(self, label_floor: float | None) -> int:
        value = self.config.label_floor if label_floor is None else real("label_floor", label_floor)
        if not 0 <= value <= 1:
            raise InvalidArgumentError(f"label_floor={value} must be in [0, 1].")
        return round(value * ONE)

    def _similarity(self, query: Query) -> NDArray[np.float64]:
        if query.similarities is not None:
            return np.asarray(query.similarities / ONE)
        assert query.codes is not None  # noqa: S101 - either of the two
        return np.asarray(query.codes[:, None] == self._labels.codes[None, :], np.float64)

    def _approximate(
        self,
        queries: list[Query],
        request: Request,
        stats: MatchingStats,
        progress: Progress | None,
    ) -> list[MatchingResult]:
        phases = self._phases
        assert phases is not None  # noqa: S101 - the caller looked
        results: list[MatchingResult] = []
        free = self._memory.free_bytes + phases.work.size_bytes
        budget = int(free * BATCH_SHARE)
        largest = self.device.traits.max_alloc_bytes
        cuts = batches(queries, self.target.n, request.k, request.levels, budget, largest)
        for begin, end in list(cuts):
            batch = QueryBatch(queries[begin:end])
            run = partial(self._matches, phases, batch, request, stats, progress)
            matches = self._with_room(run)
            results.extend(split_matches(batch, self.target, matches, request.k, stats))
        return results

    def _matches(
        self,
        phases: Phases,
        batch: QueryBatch,
        request: Request,
        stats: MatchingStats,
        progress: Progress | None,
    ) -> Matches:
        held = phases.hold(batch, request.levels)
        drawn = phases.score(held, request)
        phases.draw(held, request, drawn)
        matches = phases.extend(held, request, drawn, progress)
        self._note(stats, held)
        return matches

    def _exact(
        self, query: Query, k: int, limit: int, stats: MatchingStats, progress: Progress | None
    ) -> MatchingResult:
        phases = self._phases
        assert phases is not None  # noqa: S101 - the caller looked
        held = phases.hold(QueryBatch([query]))
        mapping, count, complete = exact_matches(phases, held, k, limit, progress)
        self._note(stats, held, exact=True)
        zeros = np.zeros(len(mapping))
        parts = dict.fromkeys(("labels", "edges", "nodes"), zeros)
        return MatchingResult(
            query.graph, self.target, mapping, parts, stats, complete=complete, count=count
        )

    def _note(self, stats: MatchingStats, held: Held, *, exact: bool = False) -> None:
        for phase, log in held.logs.items():
            if not exact or phase == "extension":
                name = "exact" if exact else phase
                stats.phases[name] = stats.phases.get(name, 0.0) + log.kernel_ms
            stats.launches += log.launches
        stats.device_bytes = max(stats.device_bytes, self.device.ledger.used_bytes)
