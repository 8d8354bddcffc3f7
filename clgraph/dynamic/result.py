"""What an update did, and what a dynamic graph takes of memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.dynamic.parts import Steps

__all__ = ["MemoryUsage", "UpdateResult", "filled"]

_set = object.__setattr__  # of results, which are frozen


class _Later:
    """What may have its fields filled when one of them is first asked for."""

    __slots__ = ("_report",)
    _report: Callable[[], dict[str, Any]]

    def __getattr__(self, name: str) -> Any:
        """Fill the fields that nobody has asked for yet; only those that are empty come here."""
        if name.startswith("_"):  # there is nothing to fill them with
            raise AttributeError(name)
        filled(self, **self._report())
        return object.__getattribute__(self, name)


@dataclass(frozen=True, slots=True)
class UpdateResult(_Later):
    """Outcome of one batch; an edge of an undirected graph counts once.

    Attributes
    ----------
    given : int
        Edges of the batch.
    repeated : int
        Those that the batch has before already; of an update of values, after.
    new, gone, updated : int
        Edges that were inserted, deleted, or got another value.
    present, absent : int
        Edges that were to be inserted and were there; that were to be deleted, or to get a value,
        and were not.
    regime : {"rows", "rewrite", "none"}
        Whether the rows that the batch touches moved, all rows were written anew, or nothing
        changed.
    moved, looked : int
        Of rows changed in place: entries that went to other blocks, and entries looked at to find
        the edges.
    total_ms : float
        Host wall clock of the call.
    logs : Steps or None
        The launches, whose times are asked for when somebody wants to know them.
    """

    given: int
    repeated: int = 0
    new: int = 0
    present: int = 0
    gone: int = 0
    absent: int = 0
    updated: int = 0
    regime: str = "none"
    moved: int = 0
    looked: int = 0
    total_ms: float = 0.0
    logs: Steps | None = field(default=None, repr=False, compare=False)

    @classmethod
    def later(cls, report: Callable[[], dict[str, Any]], began: float) -> UpdateResult:
        """Give a result of a batch that began then and has ended, whose fields `report` gives.

        To fill them takes a tenth of the host's part of a small batch.
        """
        result: UpdateResult = object.__new__(cls)
        _set(result, "_report", report)
        _set(result, "total_ms", 1e3 * (time.perf_counter() - began))
        return result

    @property
    def steps(self) -> dict[str, float]:
        """Device milliseconds of each step.

        These are update, where rows change in place, or boxes, rows and commit, where each is a
        launch; else keys, sort, check, rows, place, copy.
        """
        logs = {} if self.logs is None else self.logs.logs
        return {name: log.kernel_ms for name, log in logs.items() if log.launches}

    @property
    def kernel_ms(self) -> float:
        """Device time of all steps, milliseconds."""
        return sum(self.steps.values())

    @property
    def launches(self) -> int:
        """Kernel launches."""
        return 0 if self.logs is None else sum(log.launches for log in self.logs.logs.values())

    @property
    def edges_per_s(self) -> float:
        """Edges of the batch per second of host wall clock."""
        return self.given / (self.total_ms * 1e-3) if self.total_ms > 0 else 0.0


def filled(result: _Later, **counts: object) -> None:
    """Fill fields of a result that were not known when it was made.

    To make one takes several times as long, and so does replace().
    """
    for name, value in counts.items():
        _set(result, name, value)


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """Bytes of a dynamic graph on its device, and how well they are used.

    Attributes
    ----------
    block_bytes : int
        Of all block arrays.
    vertex_bytes : int
        Lengths and places of rows, of the vertices there are.
    reserved_bytes : int
        Of pools and vertex arrays beyond these, for graphs that grow.
    spare_bytes : int
        Of the arrays that the next update writes to.
    workspace_bytes : int
        Of scratch arrays.
    block_arrays : int
        How many there are.
    block_utilisation : float
        Edges over the room in the blocks in use.
    array_utilisation : float
        Room in the blocks in use over that of all block arrays.
    csr_bytes, coo_bytes : int
        What the same edges take in compressed sparse rows, and as a list.
    """

    block_bytes: int
    vertex_bytes: int
    reserved_bytes: int
    spare_bytes: int
    workspace_bytes: int
    block_arrays: int
    block_utilisation: float
    array_utilisation: float
    csr_bytes: int
    coo_bytes: int

    @property
    def structure_bytes(self) -> int:
        """Bytes that hold the graph: block arrays and vertices."""
        return self.block_bytes + self.vertex_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all arrays."""
        return self.structure_bytes + self.reserved_bytes + self.spare_bytes + self.workspace_bytes

    @property
    def over_csr(self) -> float:
        """Bytes that hold the graph over those of compressed sparse rows."""
        return self.structure_bytes / self.csr_bytes
