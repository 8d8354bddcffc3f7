"""The configuration space of breadth-first search."""

from __future__ import annotations

from clgraph.engine.config import TraversalConfig

__all__ = ["BFSConfig"]


class BFSConfig(TraversalConfig):
    """A configuration of breadth-first search; see `clgraph.engine.config.TraversalConfig`."""

    __slots__ = ()

    SCOPES = ("lanes", "group")
