"""Portable graph analytics on GPUs through OpenCL, with the joules it cost.

>>> import clgraph as cg
>>> graph = cg.generate.grid2d(100, 100)
>>> result = cg.bfs(graph, 0)
>>> int(result.distances.max())
198
"""

import logging
from typing import TYPE_CHECKING

from clgraph.device.choosing import device
from clgraph.errors import (
    ClgraphError,
    ClusterError,
    DeviceMemoryError,
    DeviceNotFoundError,
    DistanceOverflowError,
    GraphFormatError,
    InvalidArgumentError,
    InvalidGraphError,
    KernelBuildError,
    KernelTimeoutError,
    NegativeCycleError,
    OutOfBoundsError,
    QueueOverflowError,
    VerificationError,
)
from clgraph.names import on_first_use
from clgraph.profile import profile

if TYPE_CHECKING:
    from clgraph import cluster, dynamic, energy, verify
    from clgraph.algorithms import invariants
    from clgraph.algorithms.bfs.plan import BFS, BFSConfig, BFSResult, bfs
    from clgraph.algorithms.centrality.betweenness import (
        betweenness_centrality,
        edge_betweenness_centrality,
    )
    from clgraph.algorithms.centrality.closeness import closeness_centrality, harmonic_centrality
    from clgraph.algorithms.coloring.plan import Coloring, greedy_color
    from clgraph.algorithms.coloring.result import ColoringResult
    from clgraph.algorithms.communities.calls import leiden, louvain
    from clgraph.algorithms.communities.config import CommunitiesConfig
    from clgraph.algorithms.communities.detection import Leiden, Louvain
    from clgraph.algorithms.communities.modularity import Modularity, modularity
    from clgraph.algorithms.communities.propagation import LabelPropagation, label_propagation
    from clgraph.algorithms.communities.result import CommunitiesResult
    from clgraph.algorithms.components.plan import ConnectedComponents, connected_components
    from clgraph.algorithms.components.result import ComponentsResult
    from clgraph.algorithms.independent_set.plan import IndependentSet, maximal_independent_set
    from clgraph.algorithms.independent_set.result import IndependentSetResult
    from clgraph.algorithms.invariants.mining import InvariantMiner, mine_invariants
    from clgraph.algorithms.invariants.result import MiningResult
    from clgraph.algorithms.matching.calls import subgraph_matching
    from clgraph.algorithms.matching.config import MatchingConfig
    from clgraph.algorithms.matching.plan import SubgraphMatching
    from clgraph.algorithms.matching.result import MatchingResult
    from clgraph.algorithms.multi_search.apsp import apsp, apsp_blocks, average_shortest_path_length
    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.algorithms.multi_search.eccentricity import diameter, eccentricity
    from clgraph.algorithms.multi_search.plan import MultiSearch, MultiSearchResult
    from clgraph.algorithms.multi_search.reachable import reachable
    from clgraph.algorithms.multi_search.state import State
    from clgraph.algorithms.ranking.eigenvector import (
        EigenvectorCentrality,
        eigenvector_centrality,
    )
    from clgraph.algorithms.ranking.hits import Hits, hits
    from clgraph.algorithms.ranking.katz import KatzCentrality, katz_centrality
    from clgraph.algorithms.ranking.pagerank import PageRank, pagerank
    from clgraph.algorithms.ranking.result import HitsResult, RankResult
    from clgraph.algorithms.scc.condensation import Condensation, condensation
    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.algorithms.scc.plan import SCC, SCCResult, scc
    from clgraph.algorithms.similarity.config import SimilarityConfig
    from clgraph.algorithms.similarity.plan import Similarity, jaccard, overlap
    from clgraph.algorithms.similarity.result import SimilarityResult
    from clgraph.algorithms.spanning_forest.config import SpanningForestConfig
    from clgraph.algorithms.spanning_forest.plan import SpanningForest, minimum_spanning_forest
    from clgraph.algorithms.spanning_forest.result import SpanningForestResult
    from clgraph.algorithms.spmv.plan import SpMV, SpMVResult, spmv
    from clgraph.algorithms.sssp import method
    from clgraph.algorithms.sssp.calls import sssp
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.plan import SSSP
    from clgraph.algorithms.sssp.result import SSSPResult
    from clgraph.algorithms.triangles.calls import triangle_blocks, triangle_count, triangles
    from clgraph.algorithms.triangles.clustering import (
        average_clustering,
        local_clustering,
        transitivity,
    )
    from clgraph.algorithms.triangles.config import TrianglesConfig
    from clgraph.algorithms.triangles.plan import Triangles
    from clgraph.algorithms.triangles.result import TrianglesResult
    from clgraph.algorithms.truss.calls import (
        core_numbers,
        k_core,
        k_truss,
        max_truss,
        truss_numbers,
    )
    from clgraph.algorithms.truss.config import CoresConfig, TrussConfig
    from clgraph.algorithms.truss.cores import Cores
    from clgraph.algorithms.truss.plan import Truss
    from clgraph.algorithms.truss.result import (
        CoresResult,
        DenseSubgraph,
        TrussNumbers,
        TrussResult,
    )
    from clgraph.algorithms.walks.plan import RandomWalks, random_walks
    from clgraph.algorithms.walks.result import WalksResult
    from clgraph.cluster import DividedBFS, DividedSearches
    from clgraph.device import Device, devices
    from clgraph.dynamic.graph import DynamicGraph
    from clgraph.engine.strategies import balance, frontier, limits, pull, schedule
    from clgraph.graph import (
        Graph,
        from_edges,
        from_networkx,
        from_pandas,
        from_scipy,
        generate,
        read,
        write,
    )
    from clgraph.interop.tables.building import from_csv, from_igraph
    from clgraph.interop.tables.frames import NamedPaths
    from clgraph.version import __version__ as __version__

__all__ = [
    "BFS",
    "SCC",
    "SSSP",
    "BFSConfig",
    "BFSResult",
    "ClgraphError",
    "ClusterError",
    "Coloring",
    "ColoringResult",
    "CommunitiesConfig",
    "CommunitiesResult",
    "ComponentsResult",
    "Condensation",
    "ConnectedComponents",
    "Cores",
    "CoresConfig",
    "CoresResult",
    "DenseSubgraph",
    "Device",
    "DeviceMemoryError",
    "DeviceNotFoundError",
    "DistanceOverflowError",
    "DividedBFS",
    "DividedSearches",
    "DynamicGraph",
    "EigenvectorCentrality",
    "Graph",
    "GraphFormatError",
    "Hits",
    "HitsResult",
    "IndependentSet",
    "IndependentSetResult",
    "InvalidArgumentError",
    "InvalidGraphError",
    "InvariantMiner",
    "KatzCentrality",
    "KernelBuildError",
    "KernelTimeoutError",
    "LabelPropagation",
    "Leiden",
    "Louvain",
    "MatchingConfig",
    "MatchingResult",
    "MiningResult",
    "Modularity",
    "MultiSearch",
    "MultiSearchConfig",
    "MultiSearchResult",
    "NamedPaths",
    "NegativeCycleError",
    "OutOfBoundsError",
    "PageRank",
    "QueueOverflowError",
    "RandomWalks",
    "RankResult",
    "SCCConfig",
    "SCCResult",
    "SSSPConfig",
    "SSSPResult",
    "Similarity",
    "SimilarityConfig",
    "SimilarityResult",
    "SpMV",
    "SpMVResult",
    "SpanningForest",
    "SpanningForestConfig",
    "SpanningForestResult",
    "State",
    "SubgraphMatching",
    "Triangles",
    "TrianglesConfig",
    "TrianglesResult",
    "Truss",
    "TrussConfig",
    "TrussNumbers",
    "TrussResult",
    "VerificationError",
    "WalksResult",
    "apsp",
    "apsp_blocks",
    "average_clustering",
    "average_shortest_path_length",
    "balance",
    "betweenness_centrality",
    "bfs",
    "closeness_centrality",
    "cluster",
    "condensation",
    "connected_components",
    "core_numbers",
    "device",
    "devices",
    "diameter",
    "dynamic",
    "eccentricity",
    "edge_betweenness_centrality",
    "eigenvector_centrality",
    "energy",
    "from_csv",
    "from_edges",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_scipy",
    "frontier",
    "generate",
    "greedy_color",
    "harmonic_centrality",
    "hits",
    "invariants",
    "jaccard",
    "k_core",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden",
    "limits",
    "local_clustering",
    "louvain",
    "max_truss",
    "maximal_independent_set",
    "method",
    "mine_invariants",
    "minimum_spanning_forest",
    "modularity",
    "overlap",
    "pagerank",
    "profile",
    "pull",
    "random_walks",
    "reachable",
    "read",
    "scc",
    "schedule",
    "spmv",
    "sssp",
    "subgraph_matching",
    "transitivity",
    "triangle_blocks",
    "triangle_count",
    "triangles",
    "truss_numbers",
    "verify",
    "write",
]

# Without a handler Python writes warnings of any logger to standard error.
logging.getLogger("clgraph").addHandler(logging.NullHandler())

# Where the names are that are imported when they are first used: programs use few of them, and all
# together take longer than NumPy does. `device` alone is here from the start: it has the name of a
# package, which would take its place.
_HOMES = {
    "clgraph.algorithms.matching.calls": ("subgraph_matching",),
    "clgraph.algorithms.matching.config": ("MatchingConfig",),
    "clgraph.algorithms.matching.plan": ("SubgraphMatching",),
    "clgraph.algorithms.matching.result": ("MatchingResult",),
    "clgraph.algorithms.independent_set.plan": ("IndependentSet", "maximal_independent_set"),
    "clgraph.algorithms.independent_set.result": ("IndependentSetResult",),
    "clgraph.algorithms.invariants.mining": ("InvariantMiner", "mine_invariants"),
    "clgraph.algorithms.invariants.result": ("MiningResult",),
    "clgraph.algorithms.multi_search.apsp": ("apsp", "apsp_blocks", "average_shortest_path_length"),
    "clgraph.algorithms.bfs.plan": ("BFS", "BFSConfig", "BFSResult", "bfs"),
    "clgraph.algorithms.centrality.betweenness": (
        "betweenness_centrality",
        "edge_betweenness_centrality",
    ),
    "clgraph.algorithms.centrality.closeness": ("closeness_centrality", "harmonic_centrality"),
    "clgraph.algorithms.coloring.plan": ("Coloring", "greedy_color"),
    "clgraph.algorithms.coloring.result": ("ColoringResult",),
    "clgraph.algorithms.communities.calls": ("leiden", "louvain"),
    "clgraph.algorithms.communities.config": ("CommunitiesConfig",),
    "clgraph.algorithms.communities.detection": ("Leiden", "Louvain"),
    "clgraph.algorithms.communities.modularity": ("Modularity", "modularity"),
    "clgraph.algorithms.communities.propagation": ("LabelPropagation", "label_propagation"),
    "clgraph.algorithms.communities.result": ("CommunitiesResult",),
    "clgraph.algorithms.components.plan": ("ConnectedComponents", "connected_components"),
    "clgraph.algorithms.components.result": ("ComponentsResult",),
    "clgraph.algorithms.multi_search.eccentricity": ("diameter", "eccentricity"),
    "clgraph.algorithms.multi_search.plan": ("MultiSearch", "MultiSearchResult"),
    "clgraph.algorithms.multi_search.config": ("MultiSearchConfig",),
    "clgraph.algorithms.multi_search.state": ("State",),
    "clgraph.algorithms.multi_search.reachable": ("reachable",),
    "clgraph.algorithms.ranking.eigenvector": ("EigenvectorCentrality", "eigenvector_centrality"),
    "clgraph.algorithms.ranking.hits": ("Hits", "hits"),
    "clgraph.algorithms.ranking.katz": ("KatzCentrality", "katz_centrality"),
    "clgraph.algorithms.ranking.pagerank": ("PageRank", "pagerank"),
    "clgraph.algorithms.ranking.result": ("HitsResult", "RankResult"),
    "clgraph.algorithms.scc.plan": ("SCC", "SCCResult", "scc"),
    "clgraph.algorithms.scc.condensation": ("Condensation", "condensation"),
    "clgraph.algorithms.scc.config": ("SCCConfig",),
    "clgraph.algorithms.spanning_forest.config": ("SpanningForestConfig",),
    "clgraph.algorithms.spanning_forest.plan": ("SpanningForest", "minimum_spanning_forest"),
    "clgraph.algorithms.spanning_forest.result": ("SpanningForestResult",),
    "clgraph.algorithms.similarity.config": ("SimilarityConfig",),
    "clgraph.algorithms.similarity.plan": ("Similarity", "jaccard", "overlap"),
    "clgraph.algorithms.similarity.result": ("SimilarityResult",),
    "clgraph.algorithms.spmv.plan": ("SpMV", "SpMVResult", "spmv"),
    "clgraph.algorithms.sssp.calls": ("sssp",),
    "clgraph.algorithms.sssp.config": ("SSSPConfig",),
    "clgraph.algorithms.sssp.plan": ("SSSP",),
    "clgraph.algorithms.sssp.result": ("SSSPResult",),
    "clgraph.algorithms.triangles.clustering": (
        "average_clustering",
        "local_clustering",
        "transitivity",
    ),
    "clgraph.algorithms.triangles.config": ("TrianglesConfig",),
    "clgraph.algorithms.triangles.calls": ("triangle_blocks", "triangle_count", "triangles"),
    "clgraph.algorithms.triangles.plan": ("Triangles",),
    "clgraph.algorithms.triangles.result": ("TrianglesResult",),
    "clgraph.algorithms.truss.calls": (
        "core_numbers",
        "k_core",
        "k_truss",
        "max_truss",
        "truss_numbers",
    ),
    "clgraph.algorithms.truss.config": ("CoresConfig", "TrussConfig"),
    "clgraph.algorithms.truss.cores": ("Cores",),
    "clgraph.algorithms.truss.plan": ("Truss",),
    "clgraph.algorithms.truss.result": (
        "CoresResult",
        "DenseSubgraph",
        "TrussNumbers",
        "TrussResult",
    ),
    "clgraph.algorithms.walks.plan": ("RandomWalks", "random_walks"),
    "clgraph.algorithms.walks.result": ("WalksResult",),
    "clgraph.cluster": ("DividedBFS", "DividedSearches"),
    "clgraph.interop.tables.building": ("from_csv", "from_igraph"),
    "clgraph.interop.tables.frames": ("NamedPaths",),
    "clgraph.device.discovery": ("Device", "devices"),
    "clgraph.graph.build": ("from_edges", "from_networkx", "from_pandas", "from_scipy"),
    "clgraph.graph.formats.registry": ("read", "write"),
    "clgraph.graph.graph": ("Graph",),
    "clgraph.version": ("__version__",),
    "clgraph.dynamic.graph": ("DynamicGraph",),
}
# Modules that are imported when they are first used: strategies by family among them.
_MODULES = {
    "cluster": "clgraph.cluster",
    "dynamic": "clgraph.dynamic",
    "energy": "clgraph.energy",
    "tune": "clgraph.tune",
    "generate": "clgraph.graph.generate",
    "invariants": "clgraph.algorithms.invariants",
    "verify": "clgraph.verify",
    "method": "clgraph.algorithms.sssp.method",
    **{
        name: f"clgraph.engine.strategies.{name}"
        for name in ("balance", "frontier", "limits", "pull", "schedule")
    },
}

__getattr__, __dir__ = on_first_use(__name__, _HOMES, _MODULES)
