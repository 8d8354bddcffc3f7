"""What a change of a dynamic graph is made of: keys, rows and the launches of each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.sweeps import SweepLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Allocation

__all__ = ["Batch", "Rows", "Steps"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Edges as sorted keys, each once.

    Attributes
    ----------
    keys : Allocation
        uint64: the source above the target.
    order : Allocation or None
        uint32: which edge of those given a key is of; where edges have fields.
    count : int
        Keys.
    values : sequence of Allocation
        Of each field, by edge given.
    """

    keys: Allocation
    order: Allocation | None
    count: int
    values: Sequence[Allocation] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows, or those that a batch touches, and where their keys begin."""

    count: int
    first: Allocation
    listed: Allocation | None = None

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments that kernels about rows begin with."""
        count = np.uint32(self.count)
        return (count,) if self.listed is None else (self.listed, count)


@dataclass(slots=True)
class Steps:
    """What was launched for a batch, by step."""

    logs: dict[str, SweepLog] = field(default_factory=dict)

    def __getitem__(self, name: str) -> SweepLog:
        """Give the log of a step."""
        log = self.logs.get(name)
        if log is None:
            log = self.logs[name] = SweepLog()
        return log

    def wait(self) -> None:
        """Wait for all of it."""
        for log in self.logs.values():
            log.wait()
