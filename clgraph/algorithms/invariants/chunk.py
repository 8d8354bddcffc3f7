"""A part of the rows of a trace: where it comes from, on its way, and on a device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device import Allocation
    from clgraph.device.lazy import cl
    from clgraph.device.memory.staging import Job, Pieces

__all__ = ["ELEMENT_BYTES", "MULTIPLE", "Chunk", "Sent", "Span", "Transit"]

ELEMENT_BYTES = 4
MULTIPLE = 64  # elements; a common multiple of all vector widths


@dataclass(frozen=True, slots=True)
class Span:
    """Elements [begin, end) of the rows of one of the traces."""

    trace: int
    begin: int
    end: int

    @property
    def padded(self) -> int:
        """Elements with those that repeat the last instant."""
        return -(-(self.end - self.begin) // MULTIPLE) * MULTIPLE


@dataclass(slots=True)
class Chunk:
    """Rows on the device.

    Attributes
    ----------
    buffer : Allocation or pyopencl.Buffer
        The rows one after the other; None while all are away.
    stride, first, elements : int
        Distance of rows, where each begins and how long each is, in elements; all are multiples of
        64.
    number : int
        Which part of the traces it is.
    copy_ahead : callable
        To be called when a kernel that reads the rows has been launched: enqueues copies of later
        parts, which run beside it.
    away : numpy.ndarray or None
        bool [variables], rows of which the ranges are known but that are not there; None is none.
    copy : callable
        Copies rows, bool [variables]; gives the buffer.
    """

    buffer: Any
    stride: int
    first: int
    elements: int
    number: int
    copy_ahead: Callable[[], object] = bool
    away: NDArray[np.bool_] | None = None
    copy: Callable[[NDArray[np.bool_]], Any] | None = None

    def lacks(self, variables: NDArray[np.uint32]) -> bool:
        """Whether a row of some variables is away."""
        return self.away is not None and bool(self.away[variables].any())

    def bring(self, variables: NDArray[np.uint32]) -> None:
        """Have the rows of some variables on the device, in this part and in those to come."""
        if self.away is None or self.copy is None:
            return
        rows = np.zeros_like(self.away)
        rows[variables] = True
        rows &= self.away
        if rows.any():
            self.buffer = self.copy(rows)
            self.away = self.away & ~rows


@dataclass(slots=True)
class Sent:
    """Copies on their way into a buffer: of which rows, enqueued or still to be staged.

    Rows that are `away` are only read; where all are, there is no buffer.
    """

    buffer: Allocation | None
    rows: NDArray[np.bool_]
    away: NDArray[np.bool_]
    events: list[cl.Event] = field(default_factory=list)
    staged: list[Job[cl.Event]] = field(default_factory=list)

    def join(self, more: Sent) -> None:
        """Take over copies of rows that were away."""
        self.buffer = more.buffer
        self.rows = self.rows | more.rows
        self.away = self.away & ~more.rows
        self.events += more.events
        self.staged += more.staged


@dataclass(slots=True)
class Transit:
    """What is on its way in one pass: parts by their numbers, and what takes them."""

    queue: cl.CommandQueue
    pieces: Pieces | None
    coming: dict[int, Sent] = field(default_factory=dict)
