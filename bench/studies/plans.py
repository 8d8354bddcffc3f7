"""What the library builds: every algorithm with every preset, on small graphs of several shapes.

One line of `ALGORITHMS` stands for an algorithm. `bench.studies.renderings` renders what it builds,
and tests/offline compiles that for devices that are not here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph as cg
from clgraph import primitives
from clgraph.algorithms.bfs.verify import verify_search
from clgraph.algorithms.centrality.ordered import OrderedBetweenness
from clgraph.algorithms.centrality.shared import SharedBetweenness
from clgraph.algorithms.communities.config import CommunitiesConfig
from clgraph.algorithms.communities.level import Levels
from clgraph.algorithms.matching.config import MatchingConfig
from clgraph.algorithms.multi_search.ms_bfs import BitParallel
from clgraph.algorithms.multi_search.state import library_snippets
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.algorithms.sssp.verify import verify_paths
from clgraph.algorithms.sssp.weights import Weights
from clgraph.algorithms.triangles.config import Merge
from clgraph.algorithms.truss.config import CoresConfig, TrussConfig
from clgraph.cluster.ranks.comm import Together
from clgraph.device import Memory
from clgraph.engine.resident import resident
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.sweeps import SweepLog
from clgraph.profile.microbenchmarks import suite as microbenchmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clgraph import Device, Graph

    Make = Callable[[Graph, str, Device], object]

__all__ = ["ALGORITHMS", "SHAPES", "Algorithm", "Plan", "plans"]


@functools.cache
def _shape(name: str) -> Graph:
    rng = np.random.default_rng(3)
    if name == "kron":
        return cg.generate.kron(9, seed=1)
    if name == "grid":
        return cg.generate.grid2d(40, 40)
    if name == "star":
        return cg.generate.star(5000)
    ends = rng.integers(0, 900, 3000), rng.integers(0, 900, 3000)
    return cg.from_edges(*ends, n=900)


SHAPES = ("kron", "grid", "arrows", "star")


@functools.cache
def _weighted(name: str, kind: str) -> Graph:
    graph = _shape(name)
    pairs = graph.indices.astype(np.int64) + np.repeat(np.arange(graph.n), graph.degrees)
    weights = (1 + pairs % 97).astype(kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def _multi_search(graph: Graph, preset: str, device: Device) -> object:
    state = {"distances": cg.State(np.int32, fill=-1)}
    snippets = library_snippets("distances")
    return cg.MultiSearch(graph, state=state, **snippets, config=preset, device=device)


def _lengths(graph: Graph, kind: str, device: Device) -> object:
    searcher = WeightedSearcher(_weighted_as(graph, kind), device, "multi-search")
    return searcher.distances(np.array([0]))


def _totals(graph: Graph, method: str, device: Device) -> object:
    if method in {"targets", "sources", "marks"}:
        return BitParallel(graph, device, method, 64)
    return cg.harmonic_centrality(graph, method=method, device=device)


def _betweenness(graph: Graph, method: str, device: Device) -> object:
    kind = np.float64 if device.traits.fp64 else np.float32
    if method == "ordered":
        return OrderedBetweenness(graph.symmetrized(), device, np.dtype(kind))
    if method == "shared":
        return SharedBetweenness(graph, device, np.dtype(kind))
    if method == "weighted":
        graph = _weighted_as(graph, "int32")
        return cg.betweenness_centrality(graph, weighted=True, dtype=kind, device=device)
    return cg.betweenness_centrality(graph, method=method, dtype=kind, device=device)


def _weighted_as(graph: Graph, kind: str) -> Graph:
    weights = np.ones(graph.m, kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def _divided(graph: Graph, preset: str, device: Device) -> object:
    if preset == "paths":
        return cg.cluster.SSSP(_weighted_as(graph, "int32"), Together([device, device]))
    config = cg.BFSConfig(frontier="status" if preset == "bits" else VertexQueue(visited="mask"))
    return cg.DividedBFS(graph, [device, device], predecessors=True, config=config)


def _communities(graph: Graph, preset: str, device: Device) -> object:
    both = graph if not graph.directed else graph.symmetrized()
    cg.louvain(_weighted_as(both, "float32"), config=preset, device=device)
    found = cg.leiden(both, config=preset, device=device)
    cg.modularity(graph, found, device=device)
    levels = Levels(device, preset if preset in {"local", "global"} else "dense", wide=True)
    for name in ("move_choose", "refine_choose"):
        for kind in range(len(levels.tallies.kinds)):
            levels.kernel(name, kind)
    return cg.label_propagation(graph, 2, config=preset, device=device)


def _similarity(graph: Graph, preset: str, device: Device) -> object:
    return cg.jaccard(graph, [[0, 1]], config=preset, device=device)


def _verified(graph: Graph, problem: str, device: Device) -> None:
    memory = Memory(device)
    if problem == "bfs":
        found = memory.upload("distances", np.zeros(graph.n, np.int32))
        verify_search(device, resident(graph, device), found, None, source=0, limit=9, unreached=-1)
        return
    weights = Weights(_weighted_as(graph, "int32"))
    found = memory.upload("distances", np.zeros(graph.n, np.int32))
    source = np.zeros(1, np.uint32)
    verify_paths(device, resident(graph, device), weights, found, None, sources=source, limit=9)


def _microbenchmarks(_: Graph, __: str, device: Device) -> object:
    return microbenchmarks.run(device=device, idle=1.0)


def _primitive(graph: Graph, name: str, device: Device) -> object:
    if name in BALANCERS:
        return primitives.Expand(graph.degrees, config=name, device=device)
    keys = np.arange(4096, dtype=np.uint32)
    calls: dict[str, Callable[[], object]] = {
        "lanes": lambda: primitives.check_lanes(device),
        "compact": lambda: primitives.compact(graph.degrees, graph.degrees > 1, device=device),
        "sort": lambda: primitives.sort_pairs(keys, keys, device=device),
        "merge": lambda: primitives.merge(keys, keys, device=device),
        "segmented": lambda: primitives.segmented_scan(keys, keys % 7 == 0, device=device),
    }
    if name in calls:
        return calls[name]()
    kind, _, operator = name.partition(" ")
    return primitives.exclusive_scan(
        graph.degrees.astype(kind), operator=operator or "add", device=device
    )


def _vertices(graph: Graph, name: str, device: Device) -> object:
    graph = graph.symmetrized()
    if name == "set":
        return cg.maximal_independent_set(graph, device=device)
    orders = {"degree": "largest_first", "hash": "random_sequential"}
    order = orders.get(name, np.arange(graph.n))
    return cg.greedy_color(graph, order=order, device=device)


def _walks(graph: Graph, name: str, device: Device) -> object:
    graph = _weighted_as(graph, "float32") if name == "weighted" else graph
    q = 1.0 if name == "first" else 2.0
    return cg.random_walks(graph, np.arange(50), 10, q=q, device=device)


def _ranking(graph: Graph, name: str, device: Device) -> object:
    if name == "spmv":
        return cg.spmv(graph, np.ones(graph.n), device=device)
    if name == "several":
        return cg.pagerank(graph, personalization=np.ones((3, graph.n)), device=device)
    call = {"pagerank": cg.pagerank, "eigenvector": cg.eigenvector_centrality, "hits": cg.hits}
    return call[name](graph, device=device)


def _recorded(graph: Graph, ends: tuple[Any, Any], device: Device) -> object:
    """Insert edges with records of properties, from host memory and from the device."""
    kinds = {"a": "f4", "b": "u4", "c": "u2", "d": "i1", "e": "u1", "f": "f4"}
    changing = cg.DynamicGraph(graph, properties=kinds, device=device)
    values: dict[str, Any] = {name: np.ones(64, kind) for name, kind in kinds.items()}
    changing.insert_edges(*ends, properties=values)
    values["a"] = Memory(device).upload("a", values["a"])
    for regime in ("rows", "rewrite"):
        changing.insert_edges(*ends, properties=values, regime=regime)
    return changing.update_values(*ends, properties=values)


def _changing(graph: Graph, what: str, device: Device) -> object:
    ends = np.arange(64) % graph.n, np.arange(1, 65) % graph.n
    if what == "edges":
        return cg.from_edges(*ends, n=graph.n, symmetrize=True, dedup=True, device=device)
    changing = cg.DynamicGraph(graph, device=device)
    if what in {"insert", "records"}:
        return changing.insert_edges(*ends) if what == "insert" else _recorded(graph, ends, device)
    if what == "rows":  # read in their blocks
        searches = [cg.BFS(changing, config=config) for config in ("auto", "enterprise")]
        weighted = cg.DynamicGraph(graph, weights="f4", device=device)
        hops = {"hops": cg.State("int32", fill=-1)}
        visit = "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }"
        return [
            *searches,
            cg.ConnectedComponents(changing),
            cg.SSSP(weighted, predecessors=True),
            cg.MultiSearch(changing, state=hops, visit=visit),
            *((cg.Triangles(changing).run("vertex"),) if not graph.directed else ()),
        ]
    if what == "supports":
        supports = cg.dynamic.EdgeSupports(changing)
        for name in ("supports_count", "batch_pack"):
            supports._start(SweepLog(), name, graph.n)  # noqa: SLF001 (as after a batch)
        return supports
    if what == "trusses":
        trusses = cg.dynamic.TrussNumbers(changing)
        trusses._maintenance._compiled()  # noqa: SLF001
        return trusses
    following = cg.dynamic.BFS(changing, 0)
    following.launch(SweepLog(), "follow_spread", graph.n)  # as after a batch
    return following


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One line of the list.

    Attributes
    ----------
    name : str
        What the library calls it.
    presets : sequence of str
        Names of its configurations, or of its methods.
    make : callable
        Builds the plan of a graph, a preset and a device, or runs the function as far as it comes
        without results.
    shapes : sequence of str
        Graphs whose rules choose different kernels.
    weights : sequence of str
        Types of the weights; none for graphs without.
    """

    name: str
    presets: Sequence[str]
    make: Make
    shapes: Sequence[str] = SHAPES
    weights: Sequence[str] = ()

    def plans(self) -> Iterator[Plan]:
        """Give every preset on every shape."""
        for shape in self.shapes:
            for kind in self.weights or ("",):
                for preset in self.presets:
                    yield Plan(self, preset, shape, kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """An algorithm with a preset, on a graph."""

    algorithm: Algorithm
    preset: str
    shape: str
    weights: str

    @property
    def name(self) -> str:
        """Algorithm, preset, shape and type of weights."""
        return " ".join(filter(None, (self.algorithm.name, self.preset, self.shape, self.weights)))

    def build(self, device: Device) -> object:
        """Build it, whatever others that have the same graph prepared for it."""
        graph = _weighted(self.shape, self.weights) if self.weights else _shape(self.shape)
        graph.kept.clear()
        return self.algorithm.make(graph, self.preset, device)


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "bfs",
        cg.BFSConfig.presets(),
        lambda graph, preset, device: cg.BFS(graph, config=preset, device=device),
    ),
    Algorithm(
        "bfs-tree",
        cg.BFSConfig.presets(),
        lambda graph, preset, device: cg.BFS(
            graph, predecessors=True, config=preset, device=device
        ),
    ),
    Algorithm(
        "bfs-balance",
        tuple(BALANCERS),
        lambda graph, name, device: cg.BFS(graph, config=cg.BFSConfig(balance=name), device=device),
        ("kron",),
    ),
    Algorithm("bfs-divided", ("candidates", "bits", "paths"), _divided, ("kron",)),
    Algorithm(
        "sssp",
        cg.SSSPConfig.presets(),
        lambda graph, preset, device: cg.SSSP(
            graph, predecessors=True, config=preset, device=device
        ),
        weights=("uint32", "float32", "int64"),
    ),
    Algorithm(
        "scc",
        cg.SCCConfig.presets(),
        lambda graph, preset, device: cg.SCC(graph, config=preset, device=device),
    ),
    Algorithm(
        "components",
        ("auto",),
        lambda graph, _, device: cg.ConnectedComponents(graph, device=device),
    ),
    Algorithm("multi-search", cg.MultiSearchConfig.presets(), _multi_search, ("kron", "arrows")),
    Algorithm("lengths", ("uint32", "float64"), _lengths, ("kron", "arrows")),
    Algorithm(
        "all-pairs",
        ("multi-search", "bit-parallel", "single"),
        lambda graph, method, device: cg.apsp(graph, method=method, device=device),
        ("kron", "arrows"),
    ),
    Algorithm(
        "totals", ("multi-search", "targets", "sources", "marks"), _totals, ("kron", "arrows")
    ),
    Algorithm(
        "betweenness",
        ("multi-search", "ordered", "shared", "weighted"),
        _betweenness,
        ("kron", "arrows"),
    ),
    Algorithm(
        "triangles",
        cg.TrianglesConfig.presets(),
        lambda graph, preset, device: cg.triangle_count(
            graph, clean=True, config=preset, device=device
        ),
        ("kron", "star", "grid"),
    ),
    Algorithm(
        "triangles-of",
        ("vertex", "edge", "edge by tables"),
        lambda graph, per, device: cg.triangles(
            graph,
            per="edge" if per.startswith("edge") else "vertex",
            clean=True,
            config=cg.TrianglesConfig(intersect=Merge("row", tile=0, slots=32))
            if per.endswith("tables")
            else None,
            device=device,
        ),
        ("kron", "grid"),
    ),
    Algorithm(
        "truss",
        TrussConfig.presets(),
        lambda graph, preset, device: cg.Truss(
            graph, clean=True, config=preset, device=device
        ).run(),
        ("kron", "grid"),
    ),
    Algorithm(
        "cores",
        CoresConfig.presets(),
        lambda graph, preset, device: cg.Cores(
            graph, clean=True, config=preset, device=device
        ).run(),
        ("kron",),
    ),
    Algorithm("ranking", ("pagerank", "several", "eigenvector", "hits", "spmv"), _ranking),
    Algorithm(
        "spanning-forest",
        cg.SpanningForestConfig.presets(),
        lambda graph, preset, device: cg.minimum_spanning_forest(
            _weighted_as(graph, "int32"), config=preset, device=device
        ),
        ("kron", "arrows"),
    ),
    Algorithm("vertices", ("set", "degree", "hash", "given"), _vertices, ("kron", "star")),
    Algorithm("walks", ("first", "second", "weighted"), _walks, ("kron", "arrows")),
    Algorithm("communities", (*CommunitiesConfig.presets()[:1], "local", "global"), _communities),
    Algorithm("similarity", ("merge", "search", "path"), _similarity, ("kron",)),
    Algorithm(
        "dynamic",
        ("edges", "insert", "records", "rows", "distances", "supports", "trusses"),
        _changing,
        ("kron",),
    ),
    Algorithm(
        "matching",
        MatchingConfig.presets(),
        lambda graph, preset, device: cg.subgraph_matching(
            graph, cg.generate.path(5), k=8, config=preset, device=device
        ),
        ("grid",),
    ),
    Algorithm(
        "matching-exact",
        ("auto",),
        lambda graph, _, device: cg.subgraph_matching(
            graph, cg.generate.path(4), exact=True, device=device
        ),
        ("grid",),
    ),
    Algorithm(
        "invariants",
        ("auto",),
        lambda graph, _, device: cg.mine_invariants(
            graph.degrees[:400].reshape(50, 8).astype(np.float64), device=device
        ),
        ("kron",),
    ),
    Algorithm("microbenchmarks", ("auto",), _microbenchmarks, ("kron",)),
    Algorithm("verify", ("bfs", "sssp"), _verified, ("kron",)),
    Algorithm(
        "primitives",
        (
            *("lanes", "compact", "sort", "merge", "segmented"),
            *(*BALANCERS, "uint32", "float64 max", "int64 min"),
        ),
        _primitive,
        ("kron",),
    ),
)


def plans(names: Sequence[str] | None = None) -> Iterator[Plan]:
    """Give the plans of the algorithms with these names, or of all."""
    for algorithm in ALGORITHMS:
        if names is None or algorithm.name in names:
            yield from algorithm.plans()
