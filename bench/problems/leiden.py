"""Leiden communities as the runner measures them."""

from __future__ import annotations

from clgraph import Leiden

from ..peers.communities import DETECTED
from .communities import Communities

__all__ = ["PROBLEM", "LeidenCommunities"]


class LeidenCommunities(Communities):
    """`clgraph.Leiden`."""

    kind = "leiden"
    plan_of = Leiden
    peers = DETECTED["leiden"]


PROBLEM = LeidenCommunities
