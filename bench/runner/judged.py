"""Problems that have many right answers, which are judged by what is right of any."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.simple import cleaned
from clgraph.errors import VerificationError

from .problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from .graphs import Loaded
    from .records import Record

__all__ = ["Judged", "Seeded"]


class Judged(Problem):
    """A problem whose results are each looked at, whatever another right one would be."""

    from_sources = False

    @abstractmethod
    def fault(self, values: NDArray[Any]) -> str:
        """Say what is wrong with a result; nothing if it is right."""

    def check(self, givens: Sequence[int]) -> Record:
        """Judge whole results.

        Raises
        ------
        VerificationError
            If one is wrong.
        """
        for given in givens:
            fault = self.fault(np.asarray(self.values(self.run(given))))
            if fault:
                raise VerificationError(f"not what {self.kind} asks for: {fault}.")
        return {"against": "its definition"}

    def describe(self) -> Record:
        """Give the configuration as decided, and the hash of what computes."""
        return {"config": self.plan.config, "source_hash": self.plan.source_hash}


class Seeded(Judged):
    """A plan of the graph without directions, whose runs have the number of the repeat as seed."""

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.graph = cleaned(loaded.graph)

    def run(self, given: int) -> Any:
        """Run with a seed."""
        return self.plan.run(given)
