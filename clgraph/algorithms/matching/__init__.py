"""Approximate subgraph matching: where a small labelled graph occurs, or nearly so."""

from clgraph.algorithms.matching.config import MatchingConfig
from clgraph.algorithms.matching.plan import SubgraphMatching, subgraph_matching
from clgraph.algorithms.matching.result import MatchingResult, MatchingStats

__all__ = [
    "MatchingConfig",
    "MatchingResult",
    "MatchingStats",
    "SubgraphMatching",
    "subgraph_matching",
]
