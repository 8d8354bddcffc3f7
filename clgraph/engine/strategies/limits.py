"""Where the modes of a traversal end, and how long and how much it may take."""

from __future__ import annotations

from dataclasses import dataclass

from clgraph.engine.strategies.parameters import number
from clgraph.engine.strategies.strategy import Strategy

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Limits(Strategy):
    """Numbers at which a traversal does otherwise, or gives up.

    Parameters
    ----------
    single_group_capacity : int, optional
        Largest frontier, in vertices, that one work-group runs alone.
    single_group_edges : int, optional
        Largest number of edges out of such a frontier.
    eager : int, optional
        Frontiers up to this size fetch neighbours' rows before they know they are new.
    spin : int, optional
        Polls before a waiting work-group gives up.
    patience : int, optional
        Polls for which the first of work-groups that join waits for the others.
    queue_percent : int, optional
        Room in queues, in percent of what they can need where each vertex is queued once.
    """

    single_group_capacity: int | None = number(least=1)
    single_group_edges: int | None = number()
    eager: int | None = number()
    spin: int | None = number(least=64)
    patience: int | None = number()
    queue_percent: int | None = number(least=1)
