"""Many searches at once on several devices: each has the graph and its share of the sources."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.plan import MultiSearch
from clgraph.algorithms.multi_search.state import as_sources
from clgraph.cluster.devices import checked_devices
from clgraph.device.staying import StaysHere
from clgraph.errors import InvalidArgumentError
from clgraph.graph import as_graph
from clgraph.progress import report_progress
from clgraph.threads import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from clgraph.algorithms.multi_search.plan import MultiSearchResult, MultiSearchStats
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["DividedSearches", "DividedSearchesResult", "dealt"]

THREAD = "clgraph-searches"
LOOK_S = 0.05  # between two looks at how far the devices are


class DividedSearches(StaysHere):
    """Independent searches over one graph, the sources shared out among several devices.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        What is searched; every device has a copy.
    devices : sequence of Device or str
        Which; one that is named several times does its shares one after the other.
    totals : dict of str to numpy.ufunc, optional
        How what the devices have is put together where an array is the run's (``per="run"``), by
        its name: ``numpy.add``, ``numpy.maximum`` and the like. Needed for every such array.
    **declared
        State, snippets and whatever else `clgraph.MultiSearch` takes, but for ``device``.

    Attributes
    ----------
    graph : Graph
        The graph that is searched.
    plans : tuple of MultiSearch
        One for each device.

    Raises
    ------
    InvalidArgumentError
        If there are no devices, an array of the run has no total, or as `clgraph.MultiSearch`.
    DeviceMemoryError
        If the graph does not fit a device.
    KernelBuildError
        If a snippet does not compile on a device.

    Notes
    -----
    Of p devices, device j has the sources j, j + p, ...; in snippets ``i`` and ``k`` number and
    count those of the device. Nothing is exchanged while they search, and each has a thread of its
    own, so speed grows with the devices where each has sources enough for its work-groups.

    Examples
    --------
    >>> import clgraph as cg
    >>> searches = cg.DividedSearches(
    ...     cg.generate.path(5),
    ...     [cg.device(), cg.device()],
    ...     state={"hops": cg.State("int32", fill=-1)},
    ...     init="if (lid == 0) hops[src] = 0;",
    ...     visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    ... )
    >>> searches.run([0, 3])["hops"].tolist()
    [[0, 1, 2, 3, 4], [3, 2, 1, 0, 1]]
    """

    def __init__(
        self,
        graph: Graph,
        devices: Sequence[Device | str],
        *,
        totals: Mapping[str, np.ufunc] | None = None,
        **declared: Any,
    ) -> None:
        self.graph = as_graph(graph)
        if "device" in declared:
            raise InvalidArgumentError("device is one of devices here; leave it out.")
        self._totals = dict(totals or {})
        for name, state in declared.get("state", {}).items():
            if getattr(state, "per", None) == "run" and name not in self._totals:
                raise InvalidArgumentError(
                    f"state {name!r} is the run's, and every device has one; say by totals how to "
                    "put them together, for example numpy.add."
                )
        self.plans = tuple(
            MultiSearch(self.graph, device=device, **declared)
            for device in checked_devices(devices)
        )
        self._lock = threading.Lock()

    def run(
        self,
        sources: ArrayLike | Sequence[int],
        *,
        arguments: Mapping[str, Any] | None = None,
        progress: Progress | bool | None = None,
    ) -> DividedSearchesResult:
        """Run one search from every source.

        Parameters
        ----------
        sources, arguments, progress
            As for `clgraph.MultiSearch.run`.

        Returns
        -------
        DividedSearchesResult
            An array for each state, in the order of `sources`.

        Raises
        ------
        InvalidArgumentError, DeviceMemoryError, ClgraphError
            As `clgraph.MultiSearch.run`, from whichever device was first.
        """
        start = time.perf_counter()
        chosen = as_sources(sources, self.graph.n)
        step = len(self.plans)
        with self._lock:
            shares = [
                _Share(plan, chosen[place::step], arguments)
                for place, plan in enumerate(self.plans)
            ]
            _finish(shares, int(chosen.size), progress)
        total_ms = 1e3 * (time.perf_counter() - start)
        results = [share.result for share in shares if share.result is not None]
        return DividedSearchesResult(results, chosen, self._totals, total_ms)


class _Share:
    """The searches of one device, in a thread of their own."""

    def __init__(
        self, plan: MultiSearch, sources: NDArray[np.int64], arguments: Mapping[str, Any] | None
    ) -> None:
        self._plan, self._sources, self._arguments = plan, sources, arguments
        self._stopped = False
        self.done = 0
        self.result: MultiSearchResult | None = None
        self.error: BaseException | None = None
        self.worker = Worker(THREAD, self._search)

    def _search(self) -> None:
        """Search; what goes wrong is kept for whoever waits."""
        try:
            self.result = self._plan.run(
                self._sources, arguments=self._arguments, progress=self._go_on
            )
        except BaseException as error:  # raised again by the thread that waits
            self.error = error

    def _go_on(self, done: int, _total: int, _what: str) -> None:
        if self._stopped:
            raise InterruptedError("another device's searches failed, or Ctrl-C was pressed")
        self.done = done  # last: whoever sees that all is done may stop those that are

    def stop(self) -> None:
        """Have it end after the launch that is running, a quarter of a second or so."""
        self._stopped = True


def _finish(shares: Sequence[_Share], total: int, progress: Progress | bool | None) -> None:
    """Run all shares to their end; the first error of any ends them all."""
    try:
        for share in shares:
            share.worker.start()
        reported = -1
        while reported < total:
            running = any(not share.worker.has_ended for share in shares)
            for share in shares:
                share.worker.wait(LOOK_S / len(shares))
            for error in _taken_errors(shares):
                raise error
            done = sum(share.done for share in shares) if running else total
            if done != reported:
                report_progress(progress, done, total, "searches")
                reported = done
    finally:
        for share in shares:
            share.stop()
        for share in shares:
            share.worker.end()
        errors = _taken_errors(shares)
    for error in errors:
        raise error


def _taken_errors(shares: Sequence[_Share]) -> list[BaseException]:
    """Take the errors out of the shares: kept there, they would keep their frames and these arrays.

    An error's frames know the share, so until somebody looks for cycles all would stay in memory.
    """
    errors = [share.error for share in shares if share.error is not None]
    for share in shares:
        share.error = None
    return errors


def dealt(shares: Sequence[NDArray[Any]], count: int, total: np.ufunc | None) -> NDArray[Any]:
    """Put the arrays of searches together that were dealt out in turns, or add them up."""
    if total is not None:
        whole: NDArray[Any] = total.reduce(shares, dtype=shares[0].dtype)
        return whole
    whole = np.empty((count, *shares[0].shape[1:]), shares[0].dtype)
    for place, share in enumerate(shares):
        whole[place :: len(shares)] = share
    return whole


class DividedSearchesResult:
    """Arrays of searches on several devices, by name, put together on first access.

    Attributes
    ----------
    sources : numpy.ndarray
        int64 [k], where the searches began.
    stats : tuple of MultiSearchStats
        What each device did.
    total_ms : float
        Host wall clock of ``run``.
    """

    def __init__(
        self,
        results: Sequence[MultiSearchResult],
        sources: NDArray[np.int64],
        totals: Mapping[str, np.ufunc],
        total_ms: float,
    ) -> None:
        self._results = list(results)
        self._totals = dict(totals)
        self._arrays: dict[str, NDArray[Any]] = {}
        self.sources = sources
        self.stats: tuple[MultiSearchStats, ...] = tuple(result.stats for result in results)
        self.total_ms = total_ms

    def __repr__(self) -> str:
        """Report how many searches there were, and which arrays they have."""
        return f"DividedSearchesResult(searches={self.sources.size}, arrays={list(self)})"

    def __iter__(self) -> Iterator[str]:
        """Names of the arrays."""
        return iter(self._results[0])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Give an array: [k, size] where every search has one, [size] where they share it."""
        if name not in self._arrays:
            shares = [result[name] for result in self._results]
            self._arrays[name] = dealt(shares, self.sources.size, self._totals.get(name))
        return self._arrays[name]
