"""Processes of an MPI job: they wait for each other with a limit, and end together."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import ClusterError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from numpy.typing import NDArray

__all__ = ["Job", "checked_timeout"]

TIMEOUT_S = 300.0  # others may be building kernels or reading a graph
SPIN_S = 2e-3
PAUSE_SHARE, LONGEST_PAUSE_S = 1 / 16, 1e-3
ASKS_AFTER_S = 0.05  # whether somebody has left
LEFT_TAG = 26
INTERRUPTED = 130


class _LeftError(ClusterError):
    """A rank has ended its program, and others wait for it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Job:
    """What a rank waits with, and what ends all of them if it cannot go on.

    An exception that nobody catches ends the job, since MPI would have the others wait for ever. A
    rank that ends its program otherwise says so, and how often it has talked with the others; who
    then waits for more ends the job. The status of `sys.exit` goes with it.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The job's ranks; it is duplicated, so that messages of others do not get between.
    timeout_s : float
        After so long without an answer of the others the job is ended.

    Attributes
    ----------
    comm : mpi4py.MPI.Comm
        The duplicate.
    rank, size : int
        This rank, and how many there are.
    timeout_s : float
        As given.
    spins : bool
        Whether to poll for a while before sleeping.
    """

    def __init__(self, comm: Any, timeout_s: float) -> None:
        self.comm, self.timeout_s, self.spins = comm, timeout_s, False
        self.rank, self.size = int(comm.rank), int(comm.size)
        self._talks = self._status = 0
        # From each of the others how often it had talked when it left, and its status.
        self._farewells: list[tuple[int, NDArray[np.int64], Any]] = []
        if self.size > 1:
            self._note_exits()
        with self.guarded():
            self.comm, request = comm.Idup()
            self.wait([request], "that they begin")
        if self.size > 1:
            for peer in self.others():
                words = np.zeros(2, np.int64)
                request = self.comm.Irecv(words, source=peer, tag=LEFT_TAG)
                self._farewells.append((peer, words, request))
            atexit.register(self._leave)

    def others(self) -> list[int]:
        """Give the other ranks, each rank beginning with its neighbour."""
        return [(self.rank + step) % self.size for step in range(1, self.size)]

    def _note_exits(self) -> None:
        excepthook, leave = sys.excepthook, sys.exit

        def hook(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            excepthook(kind, error, trace)
            self.end(error, trace=False)

        def noted(status: Any = None, /) -> None:
            # No handler at exit can ask for it.
            self._status = _exit_status(status)
            leave(status)

        sys.excepthook = hook
        sys.exit = noted  # type: ignore[assignment]

    def _leave(self) -> None:
        """Say that this rank has ended its program, and wait until all have, as MPI does."""
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI

        if MPI.Is_finalized():
            return
        words = np.array([self._talks, self._status], np.int64)
        requests = [self.comm.Isend(words, dest=peer, tag=LEFT_TAG) for peer in self.others()]
        requests += [request for *_, request in self._farewells]
        while not MPI.Request.Testall(requests):
            time.sleep(LONGEST_PAUSE_S)

    def _check_all_are_there(self, what: str) -> None:
        """Complain if a rank that is waited for has ended its program.

        Raises
        ------
        ClusterError
            If so; `end` then ends the job with its status.
        """
        for peer, (talks, status), request in self._farewells:
            if request.Test() and talks < self._talks:
                raise _LeftError(
                    f"rank {peer} has left with status {status}, and others wait for it ({what}).",
                    int(status) or 1,
                )

    def end(self, error: BaseException, *, trace: bool = True) -> None:
        """End the job of all ranks with the message of this one's error."""
        if trace and os.environ.get("CLGRAPH_DEBUG"):
            traceback.print_exception(error)
        kind = type(error).__name__.lstrip("_")
        sys.stderr.write(
            f"clgraph: rank {self.rank} of {self.size} ends the job: {kind}: {error}\n"
        )
        sys.stderr.flush()
        status = 1
        if isinstance(error, KeyboardInterrupt):
            status = INTERRUPTED
        elif isinstance(error, SystemExit):
            status = _exit_status(error.code) or 1  # the others cannot do their part
        elif isinstance(error, _LeftError):
            status = error.status
        self.comm.Abort(status)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """End the job if this rank raises while others wait for it."""
        try:
            yield
        except BaseException as error:
            if self.size > 1:
                self.end(error)
            raise

    def talk(self, requests: list[Any], what: str) -> None:
        """Wait for messages of something that all ranks do; see `wait`."""
        self._talks += 1
        self.wait(requests, what)

    def wait(self, requests: list[Any], what: str) -> None:
        """Wait for messages, answering Ctrl-C meanwhile.

        Raises
        ------
        ClusterError
            If the others do not answer in time, or one has left.
        """
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI

        start = time.perf_counter()
        spin_s = SPIN_S if self.spins else 0.0
        while not MPI.Request.Testall(requests):
            waited = time.perf_counter() - start
            if waited > self.timeout_s:
                raise ClusterError(
                    f"the other ranks did not answer within {self.timeout_s:g} s ({what}); set "
                    "CLGRAPH_CLUSTER_TIMEOUT to wait longer."
                )
            if waited >= ASKS_AFTER_S:
                self._check_all_are_there(what)
            if waited >= spin_s:
                time.sleep(min(max(waited * PAUSE_SHARE, 2e-5), LONGEST_PAUSE_S))


def _exit_status(code: Any) -> int:
    """Give what a process ends with if it exits so."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def checked_timeout(given: float | None) -> float:
    """Give the time-out that was asked for, here or in ``CLGRAPH_CLUSTER_TIMEOUT``, or the usual.

    Raises
    ------
    InvalidArgumentError
        If it is no positive number of seconds.
    """
    text = os.environ.get("CLGRAPH_CLUSTER_TIMEOUT") if given is None else str(given)
    if not text:
        return TIMEOUT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InvalidArgumentError(
            f"a time-out of {text!r} is not a positive number of seconds; see "
            "CLGRAPH_CLUSTER_TIMEOUT."
        )
    return seconds
