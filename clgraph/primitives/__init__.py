"""Scans, compaction and load balancing on a device, and a check of the words they are made of."""

from clgraph.primitives.expand_config import ExpandConfig
from clgraph.primitives.expand_results import ExpandStats, Expansion
from clgraph.primitives.expansion import Expand, expand
from clgraph.primitives.lanes import check_lanes
from clgraph.primitives.launches import group_size
from clgraph.primitives.scans import OPERATORS, compact, exclusive_scan, reduce

__all__ = [
    "OPERATORS",
    "Expand",
    "ExpandConfig",
    "ExpandStats",
    "Expansion",
    "check_lanes",
    "compact",
    "exclusive_scan",
    "expand",
    "group_size",
    "reduce",
]
