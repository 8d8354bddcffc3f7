"""Louvain communities as the runner measures them."""

from __future__ import annotations

from clgraph import Louvain

from ..peers.communities import DETECTED
from .leiden import LeidenCommunities

__all__ = ["PROBLEM", "LouvainCommunities"]


class LouvainCommunities(LeidenCommunities):
    """`clgraph.Louvain`."""

    kind = "louvain"
    plan_of = Louvain
    peers = DETECTED["louvain"]


PROBLEM = LouvainCommunities
