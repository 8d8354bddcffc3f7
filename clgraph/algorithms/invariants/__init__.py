"""Likely invariants of a system, mined from traces of its variables."""

from clgraph.algorithms.invariants.config import MiningConfig, PerEntry, SplitTrace, Tiled
from clgraph.algorithms.invariants.generate import generate_trace, published_trace
from clgraph.algorithms.invariants.mining import InvariantMiner, mine_invariants
from clgraph.algorithms.invariants.reference import mine_sequentially
from clgraph.algorithms.invariants.result import Invariant, MiningResult, MiningStats
from clgraph.algorithms.invariants.templates import Template
from clgraph.algorithms.invariants.trace import Trace

__all__ = [
    "Invariant",
    "InvariantMiner",
    "MiningConfig",
    "MiningResult",
    "MiningStats",
    "PerEntry",
    "SplitTrace",
    "Template",
    "Tiled",
    "Trace",
    "generate_trace",
    "mine_invariants",
    "mine_sequentially",
    "published_trace",
]
