"""Searching an algorithm's configurations for the best on a graph and a device, and keeping it.

>>> import clgraph as cg
>>> found = cg.tune.run(cg.generate.grid2d(40, 40), "bfs", trials=2, store=False)
>>> found.best.time_ms <= found.auto.time_ms
True
"""

from clgraph.tune.database import Entry, entries, nearest
from clgraph.tune.problems import PROBLEMS
from clgraph.tune.result import Objective, Tuned
from clgraph.tune.tuning import run

__all__ = ["PROBLEMS", "Entry", "Objective", "Tuned", "entries", "nearest", "run"]
