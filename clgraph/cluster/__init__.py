"""Several devices working on one graph: ranks of an MPI job, or of one process."""

from clgraph.cluster.bfs import BFS, DividedBFS
from clgraph.cluster.components import ConnectedComponents
from clgraph.cluster.multi_search import DividedSearches, DividedSearchesResult
from clgraph.cluster.pagerank import PageRank
from clgraph.cluster.parts.slices import FileSlices, GraphSlices, Kronecker
from clgraph.cluster.ranked import Ranked
from clgraph.cluster.ranks.comm import Communicator
from clgraph.cluster.ranks.over_mpi import OverMPI, world
from clgraph.cluster.ranks.together import Together
from clgraph.cluster.result import DividedResult, DividedStats
from clgraph.cluster.searches import Searches
from clgraph.cluster.sssp import SSSP

__all__ = [
    "BFS",
    "SSSP",
    "Communicator",
    "ConnectedComponents",
    "DividedBFS",
    "DividedResult",
    "DividedSearches",
    "DividedSearchesResult",
    "DividedStats",
    "FileSlices",
    "GraphSlices",
    "Kronecker",
    "OverMPI",
    "PageRank",
    "Ranked",
    "Searches",
    "Together",
    "world",
]
