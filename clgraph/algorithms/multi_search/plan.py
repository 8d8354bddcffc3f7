"""Many searches at once, each by a work-group of its own, with what they do left to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.config import MultiSearchConfig, resolve_search
from clgraph.algorithms.multi_search.declared import KERNEL, Declared
from clgraph.algorithms.multi_search.result import MultiSearchResult, MultiSearchStats, sample_of
from clgraph.algorithms.multi_search.run import Batch, Scratch
from clgraph.algorithms.multi_search.state import as_sources
from clgraph.apart import apart
from clgraph.device import resident_groups
from clgraph.device.programs.asked import asking
from clgraph.device.programs.program import build
from clgraph.documented import documented
from clgraph.engine.blocks import BlockRows, rows_of
from clgraph.engine.plan import FollowingPlan, Plan, Turn
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph.arguments import flags, truth, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from clgraph.algorithms.multi_search.config import ResolvedSearch
    from clgraph.algorithms.multi_search.state import State
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.graph import Graph

__all__ = ["MultiSearch", "MultiSearchResult", "MultiSearchStats"]

# Levels for each vertex, where some are set aside: in turns that give it back it is in one level at
# least, one gives none of the rest, and the first may have been left behind.
TURNS = 4


@documented(Plan)
class MultiSearch(FollowingPlan):
    """Independent searches over one graph, as many at a time as the device has work-groups for.

    The snippets say what a search does; queues, balance, barriers and memory are the library's.

    Parameters
    ----------
    graph : Graph, DynamicGraph or scipy.sparse matrix
        What is searched; weights are ignored, unless `arguments` hands them over. Of a dynamic
        graph every run searches what it holds then, in the blocks where its rows are, but packed
        where snippets number edges or ``method="all-edges"``.
    state : dict of str to State
        The arrays that snippets read and write, by the name they have there.
    arguments : dict, optional
        Numbers and arrays that snippets only read.
    init : str, optional
        OpenCL C that all work-items of the group run once per search, before its first level.
    prior, post : str, optional
        Run before and after each level. In `post`, ``level`` is the distance of the vertices just
        found, ``frontier_size`` their number.
    where : str, optional
        An expression without side effects; edges for which it is false are not visited.
    visit : str, optional
        Run by one work-item for each edge ``e`` from ``u``, in the frontier at distance ``level``,
        to ``v``. ``ENQ(v)`` puts a vertex into the next frontier; visit it once: ``FIRST(v)`` is
        true for exactly one caller per search, and never for its source.
    exhausted, again : str, optional
        What becomes of vertices that `visit` has put aside by ``ASIDE(v)``: when the frontier is
        empty, the group runs `exhausted`, and then one work-item for each of them `again`, where
        ``ENQ(v)`` puts it into the next frontier, ``ASIDE(v)`` leaves it aside, and nothing forgets
        it. Such a turn counts as a level.
    back, back_vertex : str, optional
        A sweep from the last level to the first: `back` may ``SUM(x)`` at every edge out of ``u``,
        then `back_vertex` has the total in ``sum``. They keep the levels.
    finalize : str, optional
        Run once per search after everything else; ``level`` is then its number of levels.
    keep_levels : bool
        Whether `finalize` may ask for ``LEVEL_SIZE(l)`` and ``LEVEL_VERTEX(l, j)``, with l below
        ``levels``.
    max_levels : int, optional
        Levels that are expanded at most; the search then ends as it is.
    capacity : int, optional
        Vertices that a frontier can hold, or the whole search where levels are kept; default n.
    config : MultiSearchConfig or str, optional
        How searches are run: a configuration or the name of a preset; default "auto".

    Attributes
    ----------
    config : ResolvedSearch
        Every dimension as decided.

    Raises
    ------
    InvalidArgumentError
        If a name, a snippet or the configuration cannot be.
    KernelBuildError
        If a snippet does not compile; the message shows the line of the snippet.

    Notes
    -----
    In scope everywhere: ``i`` (which search), ``src``, ``level``, ``lid`` and ``WG`` (the work-item
    and the size of its group), ``n``, ``m``, ``k`` (number of searches), ``indptr``, ``indices``,
    and every state and argument by its name: a pointer to what this search has of it. Work-items
    that visit edges to one vertex at the same time need ``FIRST``, ``CLAIM(array, index, from,
    to)``, ``ADD(array, index, x)`` or ``DECREASE(array, index, x)``; docs/multi-search.md shows
    how. Compiles and uploads once; `run` only launches. A plan serves one thread at a time; others
    wait.

    References
    ----------
    .. [1] A. McLaughlin, J. Riedy, D. A. Bader, "A fast, energy-efficient abstraction for
           simultaneous breadth-first searches", HPEC 2015.

    Examples
    --------
    >>> import clgraph as cg
    >>> plan = cg.MultiSearch(
    ...     cg.generate.path(5),
    ...     state={"hops": cg.State("int32", fill=-1)},
    ...     init="if (lid == 0) hops[src] = 0;",
    ...     visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    ... )
    >>> plan.run([0, 3])["hops"].tolist()
    [[0, 1, 2, 3, 4], [3, 2, 1, 0, 1]]
    """

    HELD = ("_scratch",)

    @flags
    @asking
    def __init__(  # noqa: PLR0913 - one argument a snippet
        self,
        graph: Graph | DynamicGraph,
        *,
        state: Mapping[str, State],
        arguments: Mapping[str, Any] | None = None,
        init: str | None = None,
        prior: str | None = None,
        where: str | None = None,
        visit: str | None = None,
        post: str | None = None,
        exhausted: str | None = None,
        again: str | None = None,
        back: str | None = None,
        back_vertex: str | None = None,
        finalize: str | None = None,
        keep_levels: bool = False,
        max_levels: int | None = None,
        capacity: int | None = None,
        config: MultiSearchConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._declared = Declared(
            state,
            arguments or {},
            {
                "init": init,
                "prior": prior,
                "where": where,
                "visit": visit,
                "post": post,
                "exhausted": exhausted,
                "again": again,
                "back": back,
                "back_vertex": back_vertex,
                "finalize": finalize,
            },
            keep_levels=keep_levels,
        )
        self._max_levels = None if max_levels is None else whole("max_levels", max_levels, 0)
        self._most_queued = None if capacity is None else whole("capacity", capacity, 1, 2**32 - 1)
        self._wanted = MultiSearchConfig.of(config)
        needs = self._declared.needs_packed(self._wanted.method)
        super().__init__(graph, device, needs, progress=progress)

    def _prepare(self, progress: Progress | None) -> None:
        """Build the kernel, and take memory for the rows that there are now."""
        n = max(self.graph.n, 1)
        self._capacity = n if self._most_queued is None else self._most_queued
        self.config = resolve_search(
            self._wanted, self.device.traits, self.graph, keep_levels=self._declared.keeps_levels
        )
        self._decided = self.config.as_dict()
        if self._declared.sets_aside and (self.config.keep_levels or not self.config.queued):
            raise InvalidArgumentError(
                "again needs a frontier and keeps no levels; leave keep_levels, back and "
                "method='all-edges' out."
            )
        if self.config != getattr(self, "_built_for", None):
            # An exception may come before there is another kernel than the one before.
            self._built_for: ResolvedSearch | None = None
            self._compile()
            self._built_for = self.config
        with self._counted():
            self._upload(progress)

    def _compile(self) -> None:
        config = self.config
        source = self._declared.source(config, self.device)
        program = build(self.device, source, label=KERNEL)
        self.source_hash = program.source_hash
        self._source = program.source
        self._kernel = program.kernel("multi_search")
        resident = resident_groups(self.device, self._kernel, config.group_size)
        if not resident:
            raise InvalidArgumentError(
                f"group_size={config.group_size} does not fit {self.device.name} with these "
                "snippets; choose a smaller one."
            )
        self._groups = config.groups or resident

    def _upload(self, progress: Progress | None) -> None:
        graph, memory = self.graph, self._memory
        out = rows_of(graph, self.device, progress)
        lengths = (graph.store.used,) if isinstance(graph, BlockRows) else ()
        edge_sources = np.zeros(1, np.uint32)
        if not self.config.queued:
            edge_sources = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.degrees)
        edge_sources_there = memory.upload("edge_sources", edge_sources)
        self._graph_args = (out.indptr, *lengths, out.indices, edge_sources_there)
        self._given: list[Allocation | np.generic] = [
            memory.upload(given.name, given.value) if given.is_array else given.value
            for given in self._declared.arguments
        ]
        self._scratch = Scratch(
            memory,
            self._declared.states,
            graph,
            queue_entries=self._capacity * (1 if self.config.keep_levels else 2)
            if self.config.queued
            else 0,
            keep_levels=self.config.keep_levels,
            visited=self._declared.visited,
            stamps=not self.config.queued,
            aside_entries=2 * self._capacity if self._declared.sets_aside else 0,
        )

    @asking
    def run(
        self,
        sources: ArrayLike | Sequence[int],
        *,
        arguments: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        verify: bool = False,
    ) -> MultiSearchResult:
        """Run one search from every source.

        Parameters
        ----------
        sources : integers [k]
            Vertices in [0, n); repeats are allowed, each has its own result.
        arguments : dict, optional
            What snippets read in this run instead of what the plan was given by the same names:
            numbers for numbers and arrays for arrays, of the same types, of any size.
        progress : callable or True, optional
            Called with searches done, searches in all, and what is done, after every launch.
        verify : bool
            Whether to check a sample: up to 4 of the searches are run again, each in a launch of
            its own, and must give the same arrays, real numbers but for rounding. This finds
            searches that disturb one another, and it is for those whose arrays do not depend on
            the order in which work-items come; what snippets mean only their author knows.

        Returns
        -------
        MultiSearchResult
            An array for each state: [k, size] if it is per search, [size] if per run.

        Raises
        ------
        InvalidArgumentError
            If a source is not a vertex, or an argument another than the plan has.
        DeviceMemoryError
            If what the searches keep does not fit; the message says how many bytes are needed.
        ClgraphError
            If the snippets enqueue more than the queue holds, something that is no vertex, twice
            in one visit, or without end.
        VerificationError
            If the result was to be checked, and a search by itself gives something else.

        Notes
        -----
        A launch takes about a quarter of a second; between two of them Ctrl-C is answered and
        progress is reported.
        """
        verify = verify is not False and truth("verify", verify)
        with self._searched.alone:
            with Turn() as turn, self._lock:
                if self._searched.changed:
                    self._follow()
                chosen = as_sources(sources, self.graph.n)
                batch = Batch(
                    self._kernel,
                    self._scratch,
                    chosen,
                    group_size=self.config.group_size,
                    most_groups=self._groups,
                )
                most = min(self.graph.n * (TURNS if self._declared.sets_aside else 1), 2**32 - 1)
                levels = most if self._max_levels is None else self._max_levels
                batch.run(
                    self._graph_args,
                    self._given_now(arguments or {}),
                    progress,
                    limits=(
                        np.uint32(min(self.config.threshold, 2**32 - 1)),
                        np.uint32(self._capacity),
                        np.uint32(min(levels, most)),
                    ),
                    capacity=self._capacity,
                    must_end=most if self._max_levels is None or levels > most else None,
                )
            stats = MultiSearchStats(
                searches=int(chosen.size),
                kernel_ms=batch.kernel_ms,
                total_ms=turn.total_ms,
                launches=batch.launches,
                groups=batch.groups,
                config=self._decided.copy(),
            )
            result = MultiSearchResult(batch.arrays, chosen, stats)
            if verify:
                self._check(result, arguments)
        return result

    def _check(self, result: MultiSearchResult, arguments: Mapping[str, Any] | None) -> None:
        """Run a few searches again, each by itself, and compare what is kept of each."""
        names = [name for name, state in self._scratch.states.items() if state.per == "search"]
        sources = result.sources
        for place in sample_of(sources.size) if names else []:
            alone = self.run(sources[place : place + 1], arguments=arguments)
            for name in names:
                mine, other = result[name][place], alone[name][0]
                differ = np.flatnonzero(~_same(mine, other))
                if differ.size:
                    first = int(differ[0])
                    raise VerificationError(
                        f"{name}[{first}] of the search from vertex {sources[place]} is "
                        f"{mine[first]}, but {other[first]} when it is run by itself."
                    )

    def _given_now(self, arguments: Mapping[str, Any]) -> list[Allocation | np.generic]:
        """Give the kernel's last arguments, those of a run in place of the plan's."""
        given = list(self._given)
        for place, now in self._declared.instead(arguments):
            given[place] = self._memory.upload(now.name, now.value) if now.is_array else now.value
        return given


def _same(mine: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Report which elements are equal, or nearly where they are rounded."""
    if not np.issubdtype(mine.dtype, np.floating):
        same: NDArray[np.bool_] = mine == other
        return same
    return apart(lambda: np.isclose(mine, other, rtol=1e-4, equal_nan=True))
