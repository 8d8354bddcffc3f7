"""What the library builds: every algorithm with every preset, on small graphs of several shapes.

One line of `ALGORITHMS` stands for an algorithm. `bench.studies.renderings` renders what it builds,
and tests/offline compiles that for devices that are not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import clgraph as cg
from clgraph.algorithms.bfs.streaming import Streamed
from clgraph.algorithms.communities.config import CommunitiesConfig
from clgraph.algorithms.matching.config import MatchingConfig
from clgraph.algorithms.triangles.config import Merge
from clgraph.algorithms.truss.config import CoresConfig, TrussConfig
from clgraph.engine.strategies.balance import BALANCERS

from . import building

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clgraph import Device, Graph

    Make = Callable[[Graph, str, Device], object]

__all__ = ["ALGORITHMS", "Algorithm", "Plan", "plans"]


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
    shapes: Sequence[str] = building.SHAPES
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
        graph = building.shape(self.shape)
        if self.weights:
            graph = building.weighted(self.shape, self.weights)
        graph.kept.clear()
        return self.algorithm.make(graph, self.preset, device)


def _by_preset(call: Callable[..., object], *given: object, **options: object) -> Make:
    return lambda graph, preset, device: call(
        graph, *given, config=preset, device=device, **options
    )


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm("bfs", cg.BFSConfig.presets(), _by_preset(cg.BFS)),
    Algorithm("bfs-tree", cg.BFSConfig.presets(), _by_preset(cg.BFS, predecessors=True)),
    Algorithm(
        "bfs-balance",
        tuple(BALANCERS),
        lambda graph, name, device: cg.BFS(graph, config=cg.BFSConfig(balance=name), device=device),
        ("kron",),
    ),
    Algorithm(
        "bfs-pull",
        ("1", "2", "4"),
        lambda graph, likely, device: cg.BFS(
            graph,
            config=cg.BFSConfig(pull=cg.pull.ByEdges(gain=6, looks=1, likely=int(likely))),
            device=device,
        ),
        ("kron",),
    ),
    Algorithm(
        "bfs-divided",
        ("candidates", "bits", "alone", "mailboxes", "likely", "copies", "paths"),
        building.divided,
        ("kron",),
    ),
    Algorithm(
        "bfs-streamed",
        ("in place", "copied"),
        lambda graph, way, device: Streamed(graph, device, predecessors=True, way=way),
        ("kron",),
    ),
    Algorithm(
        "sssp",
        cg.SSSPConfig.presets(),
        _by_preset(cg.SSSP, predecessors=True),
        weights=("uint32", "float32", "int64"),
    ),
    Algorithm("scc", cg.SCCConfig.presets(), _by_preset(cg.SCC)),
    Algorithm(
        "components",
        ("auto",),
        lambda graph, _, device: cg.ConnectedComponents(graph, device=device),
    ),
    Algorithm(
        "multi-search", cg.MultiSearchConfig.presets(), building.multi_search, ("kron", "arrows")
    ),
    Algorithm("lengths", ("uint32", "float64"), building.lengths, ("kron", "arrows")),
    Algorithm(
        "all-pairs",
        ("multi-search", "bit-parallel", "single"),
        lambda graph, method, device: cg.apsp(graph, method=method, device=device),
        ("kron", "arrows"),
    ),
    Algorithm(
        "totals",
        ("multi-search", "targets", "sources", "marks"),
        building.totals,
        ("kron", "arrows"),
    ),
    Algorithm(
        "betweenness",
        ("multi-search", "ordered", "shared", "weighted"),
        building.betweenness,
        ("kron", "arrows"),
    ),
    Algorithm(
        "triangles",
        cg.TrianglesConfig.presets(),
        _by_preset(cg.triangle_count, clean=True),
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
        "truss", TrussConfig.presets(), _by_preset(cg.truss_numbers, clean=True), ("kron", "grid")
    ),
    Algorithm("truss-peel", ("rows", "lists", "rows-ordered"), building.peel, ("kron",)),
    Algorithm("truss-bounds", ("h-index",), building.tighten, ("kron",)),
    Algorithm("cores", CoresConfig.presets(), _by_preset(cg.core_numbers, clean=True), ("kron",)),
    Algorithm(
        "ranking",
        ("pagerank", "several", "placed", "eigenvector", "hits", "spmv"),
        building.ranking,
    ),
    Algorithm(
        "spanning-forest",
        cg.SpanningForestConfig.presets(),
        lambda graph, preset, device: cg.minimum_spanning_forest(
            building.weighted_as(graph, "int32"), config=preset, device=device
        ),
        ("kron", "arrows"),
    ),
    Algorithm("vertices", ("set", "degree", "hash", "given"), building.vertices, ("kron", "star")),
    Algorithm("walks", ("first", "second", "weighted"), building.walks, ("kron", "arrows")),
    Algorithm(
        "communities", (*CommunitiesConfig.presets()[:1], "local", "global"), building.communities
    ),
    Algorithm(
        "similarity", ("merge", "search", "path"), _by_preset(cg.jaccard, [[0, 1]]), ("kron",)
    ),
    Algorithm(
        "dynamic",
        ("edges", "insert", "rewrite", "records", "rows", "distances", "supports", "trusses"),
        building.changing,
        ("kron",),
    ),
    Algorithm(
        "matching",
        MatchingConfig.presets(),
        _by_preset(cg.subgraph_matching, cg.generate.path(5), k=8),
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
    Algorithm("lines", ("ids", "marked", "wide"), building.lines, ("kron",)),
    Algorithm("buckets", ("auto",), building.bucketed, ("kron",)),
    Algorithm("microbenchmarks", ("auto",), building.microbenchmarks, ("kron",)),
    Algorithm("verify", ("bfs", "sssp"), building.verified, ("kron",)),
    Algorithm(
        "primitives",
        (
            *("lanes", "compact", "sort", "merge", "segmented"),
            *(*BALANCERS, "uint32", "uint32 add", "float32 add", "float64 max", "int64 min"),
        ),
        building.primitive,
        ("kron",),
    ),
)


def plans(names: Sequence[str] | None = None) -> Iterator[Plan]:
    """Give the plans of the algorithms with these names, or of all."""
    for algorithm in ALGORITHMS:
        if names is None or algorithm.name in names:
            yield from algorithm.plans()
