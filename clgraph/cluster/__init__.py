"""Several devices working on one graph."""

from clgraph.cluster.bfs import DividedBFS, DividedResult, DividedStats

__all__ = ["DividedBFS", "DividedResult", "DividedStats"]
