"""Several devices working on one graph: ranks of an MPI job, or of one process."""

from clgraph.cluster.bfs import BFS, DividedBFS
from clgraph.cluster.comm import Communicator, Together
from clgraph.cluster.multi_search import DividedSearches, DividedSearchesResult
from clgraph.cluster.over_mpi import OverMPI, world
from clgraph.cluster.result import DividedResult, DividedStats
from clgraph.cluster.slices import FileSlices, GraphSlices, Kronecker

__all__ = [
    "BFS",
    "Communicator",
    "DividedBFS",
    "DividedResult",
    "DividedSearches",
    "DividedSearchesResult",
    "DividedStats",
    "FileSlices",
    "GraphSlices",
    "Kronecker",
    "OverMPI",
    "Together",
    "world",
]
