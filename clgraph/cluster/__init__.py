"""Several devices working on one graph."""

from clgraph.cluster.bfs import DividedBFS
from clgraph.cluster.multi_search import DividedSearches, DividedSearchesResult
from clgraph.cluster.result import DividedResult, DividedStats

__all__ = [
    "DividedBFS",
    "DividedResult",
    "DividedSearches",
    "DividedSearchesResult",
    "DividedStats",
]
