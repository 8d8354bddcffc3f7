"""Who is timed beside whom on a processor: ours, libraries and native codes, by problem."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph

from .communities import DETECTED, PROPAGATED
from .libraries import IgraphPeer
from .ranking import ALPHA, RanksNetworkit, RanksScipy
from .spanning_forest import FORESTS
from .structure import COLORINGS, INDEPENDENT_SETS
from .truss import CORES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clgraph import Device, Graph

    from .external import Code
    from .peer import Peer

__all__ = ["FIELDS", "ITERATIONS", "OURS", "Contestant", "Field"]

ITERATIONS = 20
# Iterations; networkit's Leiden has three by itself, and finds 0.0001 of modularity more on roads
# than as many of ours do, where four find as much.
OFTEN = {"leiden": 4, "louvain": 2}
SAME = 1e-3  # of single-precision ranks, relatively
OURS = "clgraph"


@dataclass(frozen=True)
class Contestant:
    """Somebody who does the work: `run` gives milliseconds and the answer.

    Attributes
    ----------
    run : callable
        Gives milliseconds and an answer.
    told : callable
        Gives what the record says of an answer, and ``wrong`` where it is.
    beside : str
        Which of ours it is compared with.
    close : callable
        Gives back what is not memory.
    """

    run: Callable[[], tuple[float, Any]]
    told: Callable[[Any], dict[str, Any]] = lambda _: {}
    beside: str = OURS
    close: Callable[[], None] = lambda: None


Field = dict[str, Contestant]


def ours(plan: Any, **options: Any) -> Callable[[], tuple[float, Any]]:
    """Give what runs a plan."""

    def run() -> tuple[float, Any]:
        result = plan.run(**options)
        return result.stats.total_ms, result

    return run


def theirs(peer: Peer) -> Callable[[], tuple[float, Any]]:
    """Give what runs a peer."""

    def run() -> tuple[float, Any]:
        answer, spent_ms = peer.timed(0)
        return spent_ms, answer

    return run


def library(peer: Peer, told: Callable[[Any], dict[str, Any]], beside: str = OURS) -> Contestant:
    """Give a peer, of whose values something is told."""
    return Contestant(theirs(peer), lambda answer: told(peer.values(answer, 0)), beside)


class IteratedNetworkit(RanksNetworkit):
    """Networkit's ranks after so many iterations."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Iterate."""
        centrality = self.networkit.centrality
        done = centrality.PageRank(
            self.graph,
            damp=ALPHA,
            tol=0.0,
            distributeSinks=centrality.SinkHandling.DistributeSinks,
        )
        done.maxIterations = ITERATIONS
        return done.run()


class IteratedScipy(RanksScipy):
    """Products with scipy's matrix."""

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole graph each time)
        """Iterate."""
        x = np.full(self.n, 1 / self.n)
        for _ in range(ITERATIONS):
            flow = self.pulled @ (x * self.share)
            x = ALPHA * (flow + x[self.share == 0].sum() / self.n) + (1 - ALPHA) / self.n
        return x


def pagerank(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:
    """Rank by 20 iterations, in single precision beside native codes, else in double."""
    options: dict[str, Any] = {"tol": 0.0, "max_iter": ITERATIONS}
    single = clgraph.PageRank(graph, dtype="float32", device=device)
    double = clgraph.PageRank(graph, dtype="float64", device=device)
    known = double.run(**options).ranks * graph.n
    found = single.run(convention="gap", **options).ranks

    def differ(values: Any) -> dict[str, Any]:
        worst = float(np.abs(values - known).max())
        return {"differs_by": worst, "wrong": not worst < SAME * float(known.max())}

    def top(output: str) -> dict[str, Any]:
        said = re.search(r"^(\d+):([\d.e+-]+)$", output, re.MULTILINE)
        if said is None:
            return {"wrong": True}
        off = abs(float(said[2]) - float(found.max())) / float(found.max())
        return {"differs_by": off, "wrong": not off < 10 * SAME}

    field: Field = {
        f"{OURS}, single": Contestant(ours(single, convention="gap", **options)),
        f"{OURS}, double": Contestant(ours(double, **options)),
    }
    kinds: dict[str, type[Peer]] = {"networkit": IteratedNetworkit, "scipy": IteratedScipy}
    for name, kind in kinds.items():
        field[name] = library(kind(graph), differ, f"{OURS}, double")
    for name, code in codes.items():
        started = code(graph)
        field[name] = Contestant(theirs(started), top, f"{OURS}, single", started.close)
    return field


def detected(method: str) -> Callable[[Graph, Device, Mapping[str, Code]], Field]:
    """Give the field of Leiden or Louvain."""

    def field_of(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
        plan = {"leiden": clgraph.Leiden, "louvain": clgraph.Louvain}[method](graph, device=device)

        def told(labels: Any) -> dict[str, Any]:
            found = float(clgraph.modularity(graph, labels, device=device))
            return {"modularity": found, "count": len(np.unique(labels))}

        run = ours(plan, iterations=OFTEN[method])
        field: Field = {OURS: Contestant(run, lambda result: told(result.labels))}
        for name in ("networkit", "igraph"):
            field[name] = library(DETECTED[method][name](graph), told)
        return field

    return field_of


def propagation(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
    """Propagate labels for ten rounds; networkit's rule is another."""
    plan = clgraph.LabelPropagation(graph, device=device)

    def told(labels: Any) -> dict[str, Any]:
        return {"modularity": float(clgraph.modularity(graph, labels, device=device))}

    return {
        OURS: Contestant(ours(plan), lambda result: told(result.labels)),
        "networkit": library(
            PROPAGATED["networkit"](graph),
            lambda labels: told(np.unique(labels, return_inverse=True)[1]),
        ),
    }


def cores(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
    """Find the core number of every vertex."""
    plan = clgraph.Cores(graph, device=device, clean=True)
    known = np.asarray(plan.run().numbers)
    field: Field = {OURS: Contestant(ours(plan))}
    for name in ("igraph", "networkit"):
        field[name] = library(
            CORES[name](plan.simple), lambda values: {"wrong": not np.array_equal(values, known)}
        )
    return field


def triangles(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:
    """Count all triangles, rows turned anew each time; igraph's is the transitivity."""
    plan = clgraph.Triangles(graph, device=device, clean=True)
    known = plan.run().count
    degrees = plan.simple.degrees.astype(np.int64)
    pairs = int((degrees * (degrees - 1) // 2).sum())
    peer = IgraphPeer(plan.simple)

    def transitivity() -> tuple[float, Any]:
        began = time.perf_counter()
        share = peer.graph.transitivity_undirected(mode="zero")
        return 1e3 * (time.perf_counter() - began), share

    field: Field = {
        OURS: Contestant(ours(plan, prepare=True), lambda result: {"wrong": result.count != known}),
        "igraph": Contestant(
            transitivity, lambda share: {"wrong": round(share * pairs / 3) != known}
        ),
    }
    for name, code in codes.items():
        field[name] = counted(code(plan.simple), known)
    return field


def counted(started: Any, known: int) -> Contestant:
    """Give a native code that counts triangles."""

    def told(output: str) -> dict[str, Any]:
        return {"wrong": bool(started.complaint(output, 0, None, {"triangles": known}))}

    return Contestant(theirs(started), told, close=started.close)


def forest(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
    """Find a minimum spanning forest; weights of all must be the same."""
    plan = clgraph.SpanningForest(graph, device=device)
    known = plan.run().weight
    field: Field = {OURS: Contestant(ours(plan))}
    for name in ("scipy", "igraph", "networkit"):
        field[name] = library(
            FORESTS[name](graph), lambda values: {"wrong": float(values[0]) != known}
        )
    return field


def independent(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
    """Find a maximal independent set; networkit's is Luby's."""
    plan = clgraph.IndependentSet(graph, device=device)
    peer = INDEPENDENT_SETS["networkit"](graph)
    return {
        OURS: Contestant(ours(plan), lambda result: {"count": int(result.count)}),
        "networkit": Contestant(theirs(peer), lambda found: {"count": int(np.sum(found))}),
    }


def coloring(graph: Graph, device: Device, codes: Mapping[str, Code]) -> Field:  # noqa: ARG001
    """Colour the vertices; igraph's is greedy, by coloured neighbours."""
    plan = clgraph.Coloring(graph, device=device)
    peer = COLORINGS["igraph"](graph)
    return {
        OURS: Contestant(ours(plan), lambda result: {"count": int(result.count)}),
        "igraph": Contestant(theirs(peer), lambda found: {"count": max(found) + 1}),
    }


FIELDS: dict[str, Callable[[Graph, Device, Mapping[str, Code]], Field]] = {
    "pagerank": pagerank,
    "leiden": detected("leiden"),
    "louvain": detected("louvain"),
    "propagation": propagation,
    "cores": cores,
    "triangles": triangles,
    "forest": forest,
    "independent": independent,
    "coloring": coloring,
}
