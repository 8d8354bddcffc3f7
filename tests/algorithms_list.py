"""Algorithms as tests of reliability see them: one line for each.

How a plan is made of a graph, how it is run from a vertex, and how what it found is read.
"""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.invariants.trace import Rows, Trace

SOURCES = (3, 700)
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}


@dataclass(frozen=True)
class Algorithm:
    """What is interrupted: `make(graph, device)`, `run(plan, source)`, `read(result)`."""

    make: Any
    run: Any
    read: Any
    directed: bool = True

    def outcome(self, plan, source):
        return np.array(self.read(self.run(plan, source)))


def plan(kind, **options):
    return lambda graph, device: kind(graph, device=device, **options)


def call(function, **options):
    """A function without a plan: making one is nothing, running it is all."""
    return lambda graph, device: partial(function, graph, device=device, **options)


def from_one(plan, source):
    return plan.run(source)


def whole(plan, _):
    return plan.run()


def called(function, source):
    return function([source])


def called_whole(function, _):
    return function()


def distances(result):
    return result.distances


def labels(result):
    return result.labels


def itself(result):
    return result


def simple(graph):
    """The graph without directions, self-loops and parallel edges."""
    src, dst = graph.listed_edges()[:2]
    return cg.from_edges(src, dst, n=graph.n, symmetrize=True, dedup=True, self_loops=False)


def batch(n, source):
    """Edges that come and go, some of which the graph has."""
    sources = np.arange(30) * 11 + source
    return sources % n, (sources * 7 + 1) % n


def changed(graph, source):
    """Change a dynamic graph, to the same one whatever of an earlier change was done."""
    for other in SOURCES:
        graph.delete_edges(*batch(graph.n, other))
    graph.insert_edges(*batch(graph.n, source))
    return graph.to_graph()


def followed(numbers, source):
    changed(numbers.graph, source)
    return numbers.numbers


def mined(miner, source):
    """Mine a log of four variables that hang together, whose numbers no device reads in place."""
    time = np.arange(40)
    log = {"a": time % 7, "b": time % 7 + source % 2, "c": time > 9, "d": 3 * (time % 7)}
    trace = Trace.of(log)
    numbers = Rows(trace.numeric.names, trace.numeric.values[:, : time.size].astype(np.float64))
    return miner.run(replace(trace, numeric=numbers))


BFS, SSSP = cg.BFSConfig, cg.SSSPConfig
HOST = cg.method.SelfTuning(controller="host")
ALGORITHMS = {
    "bfs": Algorithm(plan(cg.BFS), from_one, distances),
    "bfs-stepped": Algorithm(plan(cg.BFS, config=BFS(schedule="stepped")), from_one, distances),
    "bfs-status": Algorithm(plan(cg.BFS, config="enterprise"), from_one, distances),
    "sssp": Algorithm(plan(cg.SSSP), from_one, distances),
    "sssp-delta": Algorithm(
        plan(cg.SSSP, config=SSSP(method="delta-stepping", schedule="stepped")),
        from_one,
        distances,
    ),
    "sssp-buckets": Algorithm(
        plan(cg.SSSP, config=SSSP(method="asynchronous")), from_one, distances
    ),
    "sssp-self-tuning": Algorithm(plan(cg.SSSP, config="self-tuning"), from_one, distances),
    "sssp-host": Algorithm(plan(cg.SSSP, config=SSSP(method=HOST)), from_one, distances),
    "scc": Algorithm(plan(cg.SCC), whole, labels),
    "scc-steps": Algorithm(plan(cg.SCC, config="multistep"), whole, labels),
    "scc-signatures": Algorithm(plan(cg.SCC, config="signatures"), whole, labels),
    "components": Algorithm(plan(cg.ConnectedComponents), whole, labels),
    "multi-search": Algorithm(
        plan(cg.MultiSearch, **HOPS), lambda p, v: p.run([v, 0]), lambda r: r["hops"]
    ),
    "divided-searches": Algorithm(
        lambda graph, device: cg.DividedSearches(graph, [device, device], **HOPS),
        lambda p, source: p.run([source, 0]),
        lambda r: r["hops"],
    ),
    "divided-bfs": Algorithm(
        lambda graph, device: cg.DividedBFS(graph, [device, device]), from_one, distances
    ),
    "betweenness": Algorithm(call(cg.betweenness_centrality), called, itself),
    "closeness": Algorithm(call(cg.closeness_centrality), called, itself),
    "apsp-shared": Algorithm(call(cg.apsp, method="bit-parallel"), called, itself),
    "diameter": Algorithm(call(cg.diameter, disconnected="ignore"), called_whole, itself),
    "triangles": Algorithm(
        plan(cg.Triangles, clean=True), lambda p, _: p.run("vertex"), lambda r: r.values
    ),
    "spmv": Algorithm(
        plan(cg.SpMV),
        lambda p, source: p.run(np.arange(p.n) % 7 + source % 2),
        lambda r: r.values,
    ),
    "truss": Algorithm(plan(cg.Truss, clean=True), whole, lambda r: r.numbers),
    "truss-rows": Algorithm(
        plan(cg.Truss, clean=True, config="rows"),
        lambda p, _: p.run(greatest=True),
        lambda r: r.mask,
    ),
    "pagerank": Algorithm(plan(cg.PageRank), whole, lambda r: r.ranks),
    "hits": Algorithm(
        plan(cg.Hits, weights=False), lambda p, _: p.run(tol=1e-3), lambda r: r.authorities
    ),
    "eigenvector": Algorithm(
        plan(cg.EigenvectorCentrality), lambda p, _: p.run(tol=1e-3), lambda r: r.ranks
    ),
    "katz": Algorithm(
        plan(cg.KatzCentrality, weights=False),
        lambda p, source: p.run(alpha=1e-3, beta=1.0 + np.arange(p.graph.n) % (2 + source % 2)),
        lambda r: r.ranks,
    ),
    "spanning-forest": Algorithm(plan(cg.SpanningForest), whole, lambda r: r.edges),
    "independent-set": Algorithm(
        lambda graph, device: cg.IndependentSet(graph.symmetrized(), device=device),
        lambda p, source: p.run(source),
        lambda r: r.mask,
    ),
    "coloring": Algorithm(
        lambda graph, device: cg.Coloring(graph.symmetrized(), device=device),
        lambda p, source: p.run(source),
        lambda r: r.colors,
    ),
    "walks": Algorithm(
        plan(cg.RandomWalks),
        lambda p, source: p.run(np.arange(source, p.graph.n), 30, p=0.5, q=2.0, seed=source),
        lambda r: r.walks,
    ),
    "cores": Algorithm(plan(cg.Cores, clean=True), whole, lambda r: r.numbers),
    "matching": Algorithm(
        lambda graph, device: cg.SubgraphMatching(graph.symmetrized(), device=device),
        lambda p, source: p.run(cg.generate.path(2 + source % 2), k=20),
        lambda r: r.mapping,
    ),
    "leiden": Algorithm(
        lambda graph, device: cg.Leiden(graph.symmetrized(), device=device),
        lambda p, source: p.run(seed=source % 2, iterations=1),
        labels,
    ),
    "propagation": Algorithm(
        plan(cg.LabelPropagation), lambda p, source: p.run(1 + source % 2), labels
    ),
    "modularity": Algorithm(
        plan(cg.Modularity),
        lambda p, source: p.run(np.arange(p.graph.n) % (2 + source % 2)),
        itself,
    ),
    "similarity": Algorithm(
        lambda graph, device: cg.Similarity(graph.symmetrized(), device=device),
        lambda p, source: p.run([[source, 0], [1, source]]),
        lambda r: r.values,
    ),
    "dynamic": Algorithm(
        plan(cg.DynamicGraph, weights=False),
        changed,
        lambda graph: np.concatenate([graph.indptr, graph.indices]),
    ),
    "dynamic-truss": Algorithm(
        lambda graph, device: cg.dynamic.TrussNumbers(
            cg.DynamicGraph(simple(graph), directed=False, device=device)
        ),
        followed,
        itself,
    ),
    "cluster-components": Algorithm(
        lambda graph, device: cg.cluster.ConnectedComponents(
            graph, cg.cluster.Together([device, device])
        ),
        whole,
        labels,
    ),
    "mining": Algorithm(
        lambda graph, device: cg.InvariantMiner("I", device=device),  # noqa: ARG005
        mined,
        lambda r: np.frombuffer(r.text().encode(), np.uint8),
    ),
    "condensation": Algorithm(call(cg.condensation), called_whole, lambda r: r.indices),
}

# Plans that differ from one above in a flag of the same class.
SAME = {"Louvain": "Leiden"}


def fresh_graph():
    """A graph of its own, so that nothing of it is on a device."""
    rng = np.random.default_rng(5)
    chosen = GRAPHS[using]
    weights = rng.integers(1, 100, chosen.m).astype(np.int32)
    return cg.Graph(chosen.indptr, chosen.indices, weights)


def small_graph():
    """Sixty vertices in several levels and components, for what is tried at every place of a call.

    The last of them has the number that `SOURCES` ask for; those between have no edges.
    """
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, 50, (2, 120))
    path = np.r_[np.arange(59, 49, -1), SOURCES[0]]
    src, dst = np.r_[src, path[:-1]], np.r_[dst, path[1:]]
    return cg.from_edges(*(np.where(ends == 59, SOURCES[1], ends) for ends in (src, dst)))


def least_graph():
    """A triangle with a way to it and one from it, for what takes long on a small graph too."""
    src, dst = np.array([SOURCES[1], 0, 1, 2, 2]), np.array([0, 1, 2, 0, SOURCES[0]])
    return cg.from_edges(src, dst)


GRAPHS = {"usual": MIXED_ONE_WAY, "small": small_graph(), "least": least_graph()}
using = "usual"  # tests/fuzz/conftest.py has an option for it


def tiny_graph():
    """A triangle and a tail: calls take as long as they must, to repeat them often.

    What a call does for each plan, run, launch or array it does for this graph as for a large one.
    """
    src, dst = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3])
    return cg.from_edges(src, dst, np.arange(1, 5, dtype=np.int32), n=4)


@cache
def expected(name, device):
    """What fresh plans find from each source."""
    algorithm = ALGORITHMS[name]
    return [algorithm.outcome(algorithm.make(fresh_graph(), device), source) for source in SOURCES]


def check(name, device, plan, turn):
    source = turn % len(SOURCES)
    found = ALGORITHMS[name].outcome(plan, SOURCES[source])
    np.testing.assert_allclose(found, expected(name, device)[source], rtol=1e-6, atol=0)
