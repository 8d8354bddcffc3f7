"""Scores that their definition judges: what the problems of three such centralities share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...peers.libraries import scipy_matrix
from ...runner.judged import Judged
from .iterated import Iterated

if TYPE_CHECKING:
    from clgraph import Device

    from ...runner.graphs import Loaded

__all__ = ["Scored"]


class Scored(Iterated, Judged):
    """`plan_of`, whose scores `fault` judges by `matrix`, the graph's."""

    plan_of: ClassVar[Any]
    result = "ranks"

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = self.plan_of(self.graph, device=device)
        self.matrix = scipy_matrix(self.graph)
