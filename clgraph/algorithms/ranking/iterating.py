"""Repeated products until they change little: the state, and how the host looks after it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.sweeps import Sweeper
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog

__all__ = ["CONVERGED", "Columns", "Iteration"]

CONVERGED = np.uint32(1 << 31)
# The host looks after so many iterations, twice as many each time: launches beyond the last needed
# iteration return at once, and Ctrl-C is answered between looks.
FIRST_LOOK, MOST_UNSEEN = 4, 64


@dataclass(frozen=True, slots=True)
class Columns:
    """Fixed points of one run.

    Attributes
    ----------
    x : real array [n, k]
        The last iterates.
    iterations : int64 array [k]
        How many it took.
    errors : float64 array [k]
        What the last one changed, summed over vertices.
    converged : bool array [k]
        Whether that was below the tolerance.
    """

    x: NDArray[Any]
    iterations: NDArray[np.int64]
    errors: NDArray[np.float64]
    converged: NDArray[np.bool_]


class Iteration:
    """What both kinds have: state, totals, and how the host looks."""

    def __init__(
        self, device: Device, memory: Memory, n: int, columns: int, real: np.dtype[Any]
    ) -> None:
        self.device, self.memory, self.n, self.columns, self.real = device, memory, n, columns, real
        self.lock = threading.Lock()
        self.sweeper = Sweeper(device, n)
        self.state = memory.allocate("state", columns, np.uint32)
        self.error = memory.allocate("error", columns, real)

    def iterate(self, log: SweepLog, max_iter: int, progress: Progress | None) -> NDArray[Any]:
        """Launch iterations until all columns have converged or there were so many."""
        self.state.write(np.zeros(self.columns, np.uint32))
        self.error.write(np.zeros(self.columns, self.real))
        done, ahead = 0, FIRST_LOOK
        state = np.zeros(self.columns, np.uint32)
        while done < max_iter:
            for step in range(done, min(done + ahead, max_iter)):
                self._enqueue(log, even=step % 2 == 0)
            log.wait()
            done = min(done + ahead, max_iter)
            ahead = min(2 * ahead, MOST_UNSEEN)
            state = self.state.read()
            if (state & CONVERGED).all():
                report_progress(progress, max_iter, max_iter, "iterations")
                break
            report_progress(progress, done, max_iter, "iterations")
        return state

    def _enqueue(self, log: SweepLog, *, even: bool) -> None:
        raise NotImplementedError

    def _columns(self, x: NDArray[Any], state: NDArray[Any], count: int) -> Columns:
        return Columns(
            x.reshape(self.n, self.columns)[:, :count],
            (state & ~CONVERGED).astype(np.int64)[:count],
            self.error.read().astype(np.float64)[:count],
            (state & CONVERGED).astype(bool)[:count],
        )
