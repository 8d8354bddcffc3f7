"""Many searches by several ranks: each has the graph and its share of the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.algorithms.multi_search.state import as_sources
from clgraph.cluster.bfs import communicator
from clgraph.cluster.multi_search import DividedSearches, dealt
from clgraph.cluster.ranks.comm import Program, Swap, run
from clgraph.device.staying import StaysHere
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from clgraph.graph import Graph

__all__ = ["Searches", "SearchesResult"]


class Searches(StaysHere):
    """Independent searches over one graph, the sources shared out among the ranks of a job.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        What is searched; every rank has it.
    comm : Communicator or mpi4py communicator, optional
        Default is all ranks of the MPI job.
    totals : dict of str to numpy.ufunc, optional
        As for `clgraph.DividedSearches`, which is what each process runs on its devices.
    **declared
        State, snippets and whatever else `clgraph.MultiSearch` takes, but for ``device``.

    Raises
    ------
    InvalidArgumentError, DeviceMemoryError, KernelBuildError
        As `clgraph.DividedSearches`.
    ClusterError
        If ranks have different graphs, or one has failed.
    """

    def __init__(
        self,
        graph: Graph,
        comm: Any = None,
        *,
        totals: Mapping[str, np.ufunc] | None = None,
        **declared: Any,
    ) -> None:
        self.comm = communicator(comm)
        self._totals = dict(totals or {})
        with self.comm.agreeing():
            self.graph = as_graph(graph)
        self.comm.check_alike({"n": self.graph.n, "m": self.graph.m, "state": declared})
        with self.comm.agreeing():
            devices = self.comm.usual_devices
            self._searches = DividedSearches(self.graph, devices, totals=totals, **declared)

    @flags
    def run(
        self,
        sources: ArrayLike | Sequence[int],
        *,
        arguments: Mapping[str, Any] | None = None,
        gather: bool = True,
    ) -> SearchesResult:
        """Run one search from every source.

        Parameters
        ----------
        sources, arguments
            As for `clgraph.MultiSearch.run`; the same on all ranks.
        gather : bool
            Over MPI, whether rank 0 gets all arrays; every rank has those of its sources.

        Returns
        -------
        SearchesResult
            An array for each state.
        """
        comm = self.comm
        with comm.agreeing():
            chosen = as_sources(sources, self.graph.n)
        comm.check_alike({"sources": chosen.size, "sum": int(chosen.sum()), "gather": gather})
        first = comm.ranks[0] if len(comm.ranks) < comm.size else 0
        step = comm.size if len(comm.ranks) < comm.size else 1
        with comm.guarded():
            found = self._searches.run(chosen[first::step], arguments=arguments)
            own = {name: found[name] for name in found}
        whole = own
        if step > 1:
            whole = run(comm, [self._gathered(own, chosen)])[0] if gather else {}
        return SearchesResult(chosen[first::step], own, whole)

    def _gathered(self, own: dict[str, NDArray[Any]], chosen: NDArray[np.int64]) -> Program:
        ranks, whole = self.comm.size, {}
        for name, array in own.items():
            flat = array.ravel()
            received = yield Swap([flat if peer == 0 else flat[:0] for peer in range(ranks)])
            if self.comm.ranks[0]:
                continue
            shares = [part.reshape(-1, *array.shape[1:]) for part in received]
            whole[name] = dealt(shares, chosen.size, self._totals.get(name))
        return whole


class SearchesResult:
    """Arrays of searches, by name.

    Attributes
    ----------
    sources : int64 array
        Those of this process.
    own : dict of str to array
        What its searches have.
    """

    def __init__(
        self,
        sources: NDArray[np.int64],
        own: dict[str, NDArray[Any]],
        whole: dict[str, NDArray[Any]],
    ) -> None:
        self.sources, self.own, self._whole = sources, own, whole

    def __getitem__(self, name: str) -> NDArray[Any] | None:
        """Give an array of all searches; None where it is not here."""
        return self._whole.get(name)
