"""Scans, sorting, merging and load balancing on a device, and a check of the words they use."""

from clgraph.primitives.expand_config import ExpandConfig
from clgraph.primitives.expand_results import ExpandStats, Expansion
from clgraph.primitives.expansion import Expand, expand
from clgraph.primitives.lanes import check_lanes
from clgraph.primitives.launches import group_size
from clgraph.primitives.scans import OPERATORS, compact, exclusive_scan, reduce
from clgraph.primitives.sorting import merge, merge_pairs, segmented_scan, sort, sort_pairs

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
    "merge",
    "merge_pairs",
    "reduce",
    "segmented_scan",
    "sort",
    "sort_pairs",
]
