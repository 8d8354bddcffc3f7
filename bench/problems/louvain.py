"""Louvain communities as the runner measures them."""

from __future__ import annotations

from clgraph import Louvain

from ..peers.communities import DETECTED
from .communities import Communities

__all__ = ["PROBLEM", "LouvainCommunities"]


class LouvainCommunities(Communities):
    """`clgraph.Louvain`."""

    kind = "louvain"
    plan_of = Louvain
    peers = DETECTED["louvain"]


PROBLEM = LouvainCommunities
