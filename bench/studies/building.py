"""Building one plan of each kind on a small graph, or running it as far as it comes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph as cg
from clgraph import primitives
from clgraph.algorithms.bfs.verify import verify_search
from clgraph.algorithms.centrality.ordered import OrderedBetweenness
from clgraph.algorithms.centrality.shared import SharedBetweenness
from clgraph.algorithms.communities.level import Levels
from clgraph.algorithms.multi_search.ms_bfs import BitParallel
from clgraph.algorithms.multi_search.state import library_snippets
from clgraph.algorithms.multi_search.weighted import WeightedSearcher
from clgraph.algorithms.ranking.placing import placed_rows
from clgraph.algorithms.sssp.verify import verify_paths
from clgraph.algorithms.sssp.weights import Weights
from clgraph.algorithms.truss.config import TrussConfig
from clgraph.algorithms.truss.incidence import Incidence
from clgraph.algorithms.truss.peeling import Peeling
from clgraph.algorithms.truss.tightening import Tightening
from clgraph.cluster.ranks.together import Together
from clgraph.device import Memory
from clgraph.engine.resident import resident
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import InvalidArgumentError
from clgraph.graph.buckets import bucket_kernels
from clgraph.graph.lines import lines_kernel
from clgraph.primitives.scanning import Compaction
from clgraph.profile.microbenchmarks import suite

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = [
    "SHAPES",
    "betweenness",
    "changing",
    "communities",
    "divided",
    "lengths",
    "lines",
    "microbenchmarks",
    "multi_search",
    "peel",
    "primitive",
    "ranking",
    "shape",
    "tighten",
    "totals",
    "verified",
    "vertices",
    "walks",
    "weighted",
    "weighted_as",
]


@functools.cache
def shape(name: str) -> Graph:
    """Give a small graph by name."""
    rng = np.random.default_rng(3)
    if name == "kron":
        return cg.generate.kron(9, seed=1)
    if name == "grid":
        return cg.generate.grid2d(40, 40)
    if name == "star":
        return cg.generate.star(5000)
    ends = rng.integers(0, 900, 3000), rng.integers(0, 900, 3000)
    return cg.from_edges(*ends, n=900)


MANY = 200_000  # elements of a scan by all groups
SHAPES = ("kron", "grid", "arrows", "star")


@functools.cache
def weighted(name: str, kind: str) -> Graph:
    """Give the same with weights of a type, equal ones on both ways of an edge."""
    graph = shape(name)
    pairs = graph.indices.astype(np.int64) + np.repeat(np.arange(graph.n), graph.degrees)
    weights = (1 + pairs % 97).astype(kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def multi_search(graph: Graph, preset: str, device: Device) -> object:
    """Build searches of many sources that write distances."""
    state = {"distances": cg.State(np.int32, fill=-1)}
    snippets = library_snippets("distances")
    return cg.MultiSearch(graph, state=state, **snippets, config=preset, device=device)


def lengths(graph: Graph, kind: str, device: Device) -> object:
    """Find lengths by weight from one vertex."""
    searcher = WeightedSearcher(weighted_as(graph, kind), device, "multi-search")
    return searcher.distances(np.array([0]))


def totals(graph: Graph, method: str, device: Device) -> object:
    """Build, or run, what adds up distances."""
    if method in {"targets", "sources", "marks"}:
        return BitParallel(graph, device, method, 64)
    return cg.harmonic_centrality(graph, method=method, device=device)


def betweenness(graph: Graph, method: str, device: Device) -> object:
    """Build, or run, one way to betweenness."""
    kind = np.float64 if device.traits.fp64 else np.float32
    if method == "ordered":
        return OrderedBetweenness(graph.symmetrized(), device, np.dtype(kind))
    if method == "shared":
        return SharedBetweenness(graph, device, np.dtype(kind))
    if method == "weighted":
        graph = weighted_as(graph, "int32")
        return cg.betweenness_centrality(graph, weighted=True, dtype=kind, device=device)
    return cg.betweenness_centrality(graph, method=method, dtype=kind, device=device)


def weighted_as(graph: Graph, kind: str) -> Graph:
    """Give a graph with weights of one, of a type."""
    weights = np.ones(graph.m, kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def divided(graph: Graph, preset: str, device: Device) -> object:
    """Build a search over two devices."""
    if preset == "paths":
        return cg.cluster.SSSP(weighted_as(graph, "int32"), Together([device, device]))
    if preset == "alone":
        ranks = Together([device, device])
        ranks.runs_on = True
        return cg.cluster.BFS(graph, ranks, predecessors=True, partition="block")
    if preset == "copies":
        devices = [device, device]
        return cg.DividedBFS(
            graph, devices, predecessors=True, partition="copies", transfers="mailboxes"
        )
    candidates = preset == "candidates"
    config = cg.BFSConfig(frontier=VertexQueue(visited="mask") if candidates else "status")
    if preset == "likely":
        config = cg.BFSConfig(frontier="status", pull=cg.pull.ByEdges(likely=1))
    transfers = "mailboxes" if preset in {"mailboxes", "likely"} else None
    return cg.DividedBFS(
        graph, [device, device], predecessors=True, config=config, transfers=transfers
    )


def communities(graph: Graph, preset: str, device: Device) -> object:
    """Find communities in every way, and score them."""
    both = graph if not graph.directed else graph.symmetrized()
    cg.louvain(weighted_as(both, "float32"), config=preset, device=device)
    found = cg.leiden(both, config=preset, device=device)
    cg.modularity(graph, found, device=device)
    levels = Levels(device, preset if preset in {"local", "global"} else "dense", wide=True)
    steps: list[tuple[str, int | str]] = [("CHOOSE", k) for k in range(len(levels.kinds))]
    steps += [("CHOOSE", "hubs"), ("SCORE", "hubs"), ("SETTLE", "hubs"), ("APPLY", "all")]
    for name in ("move_turns", "refine_turns"):
        levels.kernel(name)
        for only in steps if levels.tables != "dense" else ():
            levels.kernel(name, only=only)
    for name in ("parts_start", "pieces_join", "coarsen_rows"):
        levels.kernel(name)
    levels.kernel("coarsen_rows", key="ulong")
    return cg.label_propagation(graph, 2, config=preset, device=device)


def verified(graph: Graph, problem: str, device: Device) -> None:
    """Check a result that is wrong, as searches have theirs checked."""
    memory = Memory(device)
    if problem == "bfs":
        found = memory.upload("distances", np.zeros(graph.n, np.int32))
        verify_search(device, resident(graph, device), found, None, source=0, limit=9, unreached=-1)
        return
    weights = Weights(weighted_as(graph, "int32"))
    found = memory.upload("distances", np.zeros(graph.n, np.int32))
    source = np.zeros(1, np.uint32)
    verify_paths(device, resident(graph, device), weights, found, None, sources=source, limit=9)


def microbenchmarks(_: Graph, __: str, device: Device) -> object:
    """Run the microbenchmarks."""
    return suite.run(device=device, idle=1.0)


def primitive(graph: Graph, name: str, device: Device) -> object:
    """Build a balancer's expansion, or run another primitive."""
    if name in BALANCERS:
        return primitives.Expand(graph.degrees, config=name, device=device)
    keys = np.arange(4096, dtype=np.uint32)
    calls: dict[str, Callable[[], object]] = {
        "lanes": lambda: primitives.check_lanes(device),
        "compact": lambda: [compacted(graph.degrees, device, at_once) for at_once in (0, MANY)],
        "sort": lambda: primitives.sort_pairs(keys, keys, device=device),
        "merge": lambda: primitives.merge(keys, keys, device=device),
        # Sums of floating point are not swept.
        "segmented": lambda: [
            primitives.segmented_scan(keys.astype(kind), keys % 7 == 0, device=device)
            for kind in ("u4", "f4")
        ],
    }
    if name in calls:
        return calls[name]()
    kind, _, operator = name.partition(" ")
    # Few elements are scanned by one group.
    values = np.resize(graph.degrees, MANY) if operator else graph.degrees
    return primitives.exclusive_scan(values.astype(kind), operator=operator or "add", device=device)


def compacted(values: NDArray[Any], device: Device, at_once: int) -> object:
    """Compact an array in three launches, or in one where lanes are several."""
    memory, stage = Memory(device), Compaction(device)
    stage.at_once = (at_once,) * 2 if device.traits.lanes > 1 else (0, 0)
    mask = memory.upload("mask", (values > 1).view(np.uint8))
    pair = memory.upload("values", values), memory.allocate("kept", values.size, values.dtype)
    return stage.enqueue(SweepLog(), mask, values.size, pair)


def vertices(graph: Graph, name: str, device: Device) -> object:
    """Find a set or a colouring."""
    graph = graph.symmetrized()
    if name == "set":
        return cg.maximal_independent_set(graph, device=device)
    orders = {"degree": "largest_first", "hash": "random_sequential"}
    order = orders.get(name, np.arange(graph.n))
    return cg.greedy_color(graph, order=order, device=device)


def walks(graph: Graph, name: str, device: Device) -> object:
    """Draw walks."""
    graph = weighted_as(graph, "float32") if name == "weighted" else graph
    q = 1.0 if name == "first" else 2.0
    return cg.random_walks(graph, np.arange(50), 10, q=q, device=device)


def ranking(graph: Graph, name: str, device: Device) -> object:
    """Rank vertices, or multiply."""
    if name == "spmv":
        return cg.spmv(graph, np.ones(graph.n), device=device)
    if name == "several":
        return cg.pagerank(graph, personalization=np.ones((3, graph.n)), device=device)
    if name == "placed":
        memory = Memory(device)
        rows = [memory.upload("rows", part) for part in (graph.indptr, graph.indices)]
        places = memory.upload("places", np.arange(graph.n, dtype=np.uint32))
        return placed_rows(device, memory, tuple(rows), places, graph.m)
    call = {"pagerank": cg.pagerank, "eigenvector": cg.eigenvector_centrality, "hits": cg.hits}
    return call[name](graph, device=device)


def lines(_: Graph, name: str, device: Device) -> object:
    """Build what reads lines of numbers, of which forms differ."""
    form = {
        "ids": (2, None, False),
        "marked": (3, 2, False),
    }.get(name, (4, 2, device.traits.fp64))
    marker = ord("a") if name == "marked" else 0
    return lines_kernel(device, *form, marker=marker, wide=name == "wide")


def bucketed(_: Graph, __: str, device: Device) -> object:
    """Build what sorts edges by buckets, of processors only."""
    if not device.traits.is_cpu:
        raise InvalidArgumentError(
            "edges are sorted by buckets on processors only; others use keys."
        )
    return bucket_kernels(device)


def recorded(graph: Graph, ends: tuple[Any, Any], device: Device) -> object:
    """Insert edges with records of properties, from host memory and from the device."""
    kinds = {"a": "f4", "b": "u4", "c": "u2", "d": "i1", "e": "u1", "f": "f4"}
    changing = cg.DynamicGraph(graph, properties=kinds, device=device)
    values: dict[str, Any] = {name: np.ones(64, kind) for name, kind in kinds.items()}
    changing.insert_edges(*ends, properties=values)
    values["a"] = Memory(device).upload("a", values["a"])
    for regime in ("rows", "rewrite"):
        changing.insert_edges(*ends, properties=values, regime=regime)
    return changing.update_values(*ends, properties=values)


def peel(graph: Graph, incidence: str, device: Device) -> object:
    """Build what peels edges: a run would end before, at supports that no kernel counted."""
    edges, memory = graph.m // 2, Memory(device)
    kind, _, ordered = incidence.partition("-")
    whole = Incidence(kind, (), 6 * edges)
    return Peeling(TrussConfig(), device, memory, edges, whole, 2, ordered=bool(ordered))


def tighten(graph: Graph, bound: str, device: Device) -> object:  # noqa: ARG001 (the one there is)
    """Build what tightens bounds of truss numbers."""
    return Tightening(device, Memory(device), graph.m // 2)


def changing(graph: Graph, what: str, device: Device) -> object:
    """Build or change a dynamic graph, or what follows it."""
    ends = np.arange(64) % graph.n, np.arange(1, 65) % graph.n
    if what == "edges":
        return cg.from_edges(*ends, n=graph.n, symmetrize=True, dedup=True, device=device)
    changing = cg.DynamicGraph(graph, device=device)
    if what == "rewrite":  # so many edges that all rows are written anew
        many = np.arange(64 * graph.m)
        ends = many % graph.n, (many + many // graph.n) % graph.n
    if what in {"insert", "rewrite", "records"}:
        records = what == "records"
        return recorded(graph, ends, device) if records else changing.insert_edges(*ends)
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
            cg.spmv(changing, np.ones(graph.n)),
            *((cg.Triangles(changing).run("vertex"),) if not graph.directed else ()),
        ]
    if what == "supports":
        supports = cg.dynamic.EdgeSupports(changing)
        for name in ("supports_count", "batch_pack"):
            supports._supports.launch(SweepLog(), name, graph.n)  # noqa: SLF001 (as after a batch)
        return supports
    if what == "trusses":
        trusses = cg.dynamic.TrussNumbers(changing)
        trusses._maintenance._compiled()  # noqa: SLF001
        return trusses
    following = cg.dynamic.BFS(changing, 0)
    following.kernels.launch(SweepLog(), "follow_spread", graph.n)  # as after a batch
    return following
