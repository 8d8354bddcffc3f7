"""Load balancing alone, on the degrees of a graph: every edge's owner and rank are written.

`bench.studies.balance` does the same on sizes of known distributions and tunes every balancer.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.strategies.balance import BALANCERS
from clgraph.primitives import Expand

from ..runner.problem import Least, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded
    from ..runner.records import Record

__all__ = ["PROBLEM", "Expansions"]


class Expansions(Problem):
    """`clgraph.primitives.Expand` of the degrees, owners alone; a preset is a balancer."""

    kind = "expansion"
    presets = tuple(BALANCERS)
    from_sources = False
    result = "owners"

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = Expand(loaded.graph.degrees, config=config, ranks=False, device=device)

    def run(self, given: int) -> Any:  # noqa: ARG002 (the whole list each time)
        """Expand the list once."""
        began = time.perf_counter()
        stats = self.plan.run()
        total_ms = 1e3 * (time.perf_counter() - began)
        return SimpleNamespace(stats=stats, total_ms=total_ms)

    def times(self, result: Any) -> tuple[float, float]:
        """Give milliseconds of all launches, and of the host."""
        return result.stats.kernel_ms, result.total_ms

    def count(self, result: Any, given: int) -> dict[str, float]:  # noqa: ARG002 (none needed)
        """Units that are written."""
        return {"edges": result.stats.units}

    def values(self, result: Any) -> NDArray[np.uint32]:  # noqa: ARG002 (they stay in the plan)
        """Give the owners of the last run."""
        return self.plan.owners()  # type: ignore[no-any-return]

    def check(self, givens: Sequence[int]) -> Record:
        """Compare owners with those of ``numpy.repeat``."""
        items = np.arange(self.graph.n, dtype=np.uint32)
        expected = np.repeat(items, self.graph.degrees)
        return self.compared(givens, expected, what="owners", against="numpy.repeat")

    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Count a prefix sum read per item, and an owner written per unit."""
        units = columns["edges"]
        return Least(bytes=4.0 * (self.graph.n + units), barriers=0.0 * units)


PROBLEM = Expansions
