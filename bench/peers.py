"""The same searches by other Python libraries, in the same run, each result checked.

A peer converts the graph once, which is timed apart, and then gives distances of every vertex. What
it takes to turn its answer into an array is left out of its time, as the copy of ours is.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import statistics
import time
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from clgraph.graph.modules import module

from .graphs import SEED
from .reference import depths_of_tree, scipy_matrix
from .stats import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from clgraph import BFS, Graph

    from .records import Record

__all__ = ["PEERS", "available", "compare"]

SOURCES = 8
BUDGET_S = 20.0  # per peer; a search that takes longer is the last


class Peer(Protocol):
    """One library with a graph in its own form."""

    limit_edges: int
    package: str

    def __init__(self, graph: Graph) -> None: ...

    def search(self, source: int) -> Any:
        """Do what is timed."""

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Turn what `search` gave into hop distances, -1 where there is no path."""


class Scipy:
    """``scipy.sparse.csgraph.breadth_first_order``, on float64 entries, which it converts to."""

    limit_edges = 1 << 31
    package = "scipy"

    def __init__(self, graph: Graph) -> None:
        self._matrix = scipy_matrix(graph)
        self._search = module("scipy.sparse.csgraph").breadth_first_order

    def search(self, source: int) -> Any:
        """Order and predecessors."""
        return self._search(self._matrix, source, directed=True)

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Follow the tree."""
        order, parents = answer
        return depths_of_tree(order, parents, source)


class Networkx:
    """``networkx.single_source_shortest_path_length``."""

    limit_edges = 2_000_000
    package = "networkx"

    def __init__(self, graph: Graph) -> None:
        self._n = graph.n
        networkx = module("networkx")
        self._search = networkx.single_source_shortest_path_length
        self._graph = (networkx.DiGraph if graph.directed else networkx.Graph)()
        self._graph.add_nodes_from(range(graph.n))
        tails, heads, _ = graph.listed_edges()
        self._graph.add_edges_from(zip(tails.tolist(), heads.tolist(), strict=True))

    def search(self, source: int) -> Any:
        """Lengths by vertex."""
        return self._search(self._graph, source)

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Spread the dictionary out."""
        found = np.full(self._n, -1, np.int32)
        found[list(answer)] = list(answer.values())
        found[source] = 0
        return found


class Igraph:
    """``igraph.Graph.bfs``: vertices in order, and where each level starts."""

    limit_edges = 50_000_000
    package = "igraph"

    def __init__(self, graph: Graph) -> None:
        self._n = graph.n
        tails, heads, _ = graph.listed_edges()
        edges = np.column_stack([tails, heads])
        self._graph = module("igraph").Graph(n=graph.n, edges=edges, directed=graph.directed)

    def search(self, source: int) -> Any:
        """Vertices, starts of levels and parents."""
        return self._graph.bfs(source, mode="out")

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Give each level its number."""
        vertices, starts, _ = answer
        found = np.full(self._n, -1, np.int32)
        found[vertices] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        found[source] = 0
        return found


class Networkit:
    """``networkit.distance.BFS`` without paths."""

    limit_edges = 1 << 31
    package = "networkit"

    def __init__(self, graph: Graph) -> None:
        networkit = module("networkit")
        tails, heads, _ = graph.listed_edges()
        ends = (tails.astype(np.uint64), heads.astype(np.uint64))
        self._graph = networkit.GraphFromCoo(ends, n=graph.n, directed=graph.directed)
        self._search = networkit.distance.BFS

    def search(self, source: int) -> Any:
        """Run it; distances stay inside."""
        return self._search(self._graph, source, storePaths=False).run()

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Copy them; the largest double means no path."""
        found = np.asarray(answer.getDistances())
        reached = found < np.finfo(np.float64).max
        reached[source] = True
        return np.where(reached, found, -1).astype(np.int32)


class Cugraph:
    """``cugraph.bfs`` on the same card, from a data frame of edges."""

    limit_edges = 1 << 31
    package = "cugraph"

    def __init__(self, graph: Graph) -> None:
        self._n = graph.n
        cudf, cugraph = module("cudf"), module("cugraph")
        tails = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
        frame = cudf.DataFrame({"source": tails, "target": graph.indices})
        self._graph = cugraph.Graph(directed=True)
        self._graph.from_cudf_edgelist(frame, "source", "target", renumber=False)
        self._search = cugraph.bfs

    def search(self, source: int) -> Any:
        """Give a data frame of distances and predecessors."""
        return self._search(self._graph, source)

    def distances(self, answer: Any, source: int) -> NDArray[Any]:
        """Sort by vertex; the largest integer means no path."""
        found = np.full(self._n, -1, np.int64)
        found[answer["vertex"].to_numpy()] = answer["distance"].to_numpy()
        found[found > self._n] = -1
        found[source] = 0
        return found


PEERS: dict[str, type[Peer]] = {
    "scipy": Scipy,
    "networkx": Networkx,
    "igraph": Igraph,
    "networkit": Networkit,
    "cugraph": Cugraph,
}


def available() -> tuple[str, ...]:
    """Names of the peers that are installed."""
    return tuple(name for name, peer in PEERS.items() if _version(peer.package) is not None)


def _version(package: str) -> str | None:
    for name in (package, f"{package}-cu13", f"{package}-cu12"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def compare(plan: BFS, sources: Sequence[int], names: Sequence[str]) -> dict[str, Record]:
    """Time peers and our own search in turn, source by source.

    Parameters
    ----------
    plan : BFS
        Ours.
    sources : sequence of int
        The first few are used.
    names : sequence of str
        Keys of `PEERS`.

    Returns
    -------
    dict
        By peer: its version, the seconds of conversion, times, ratios to our wall clock with their
        spread; or the reason why there are none.
    """
    found: dict[str, Record] = {}
    ready: dict[str, Peer] = {}
    for name in names:
        found[name], peer = _prepare(name, plan.graph)
        if peer is not None:
            ready[name] = peer
    rng = np.random.default_rng(SEED)
    times: dict[str, list[float]] = {name: [] for name in ready}
    ours: dict[str, list[float]] = {name: [] for name in ready}
    for source in sources[:SOURCES]:
        wanted = plan.run(source).distances
        for place in rng.permutation(len(ready)).tolist():
            name = list(ready)[place]
            if "reason" in found[name] or sum(times[name]) > BUDGET_S * 1e3:
                continue
            own_ms = statistics.median(plan.run(source).stats.total_ms for _ in range(3))
            spent = _attempt(ready[name], source, wanted)
            if isinstance(spent, str):
                found[name] |= {"status": "failed", "reason": spent}
            else:
                times[name].append(spent)
                ours[name].append(own_ms)
    for name in ready:
        if "reason" not in found[name]:
            ratios = [theirs / own for theirs, own in zip(times[name], ours[name], strict=True)]
            found[name] |= {
                "status": "ok",
                "ms": summary(times[name]),
                "ours_ms": summary(ours[name]),
                "ratio": summary(ratios),
            }
    return found


def _prepare(name: str, graph: Graph) -> tuple[Record, Peer | None]:
    kind = PEERS[name]
    version = _version(kind.package)
    if version is None:
        return {"status": "skipped", "reason": f"{kind.package} is not installed"}, None
    if graph.m > kind.limit_edges:
        reason = f"{graph.m:,} edges; {name} is given at most {kind.limit_edges:,}"
        return {"status": "skipped", "version": version, "reason": reason}, None
    began = time.perf_counter()
    peer, problem = _guarded(lambda: kind(graph))
    record: Record = {"version": version, "convert_s": time.perf_counter() - began}
    if problem:
        return record | {"status": "failed", "reason": problem}, None
    made: Peer = peer
    return record, made


def _attempt(peer: Peer, source: int, wanted: NDArray[Any]) -> float | str:
    """Milliseconds of one search, or what was wrong with it."""
    began = time.perf_counter()
    answer, problem = _guarded(lambda: peer.search(source))
    spent_ms = 1e3 * (time.perf_counter() - began)
    if problem:
        return problem
    found, problem = _guarded(lambda: peer.distances(answer, source))
    if problem:
        return problem
    wrong = int(np.count_nonzero(found != wanted))
    return f"{wrong} distances from source {source} differ from ours" if wrong else spent_ms


def _guarded(action: Callable[[], Any]) -> tuple[Any, str]:
    """Run code of others: whatever it raises is told and does not end the run."""
    try:
        return action(), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
