"""Threads that Ctrl-C leaves whole, or never begun, wherever it comes.

``threading.Thread.start`` waits under the lock of a Condition until its thread says that it runs.
Ctrl-C in there comes out as a RuntimeError of that lock, or leaves a thread that runs and cannot be
joined; ``threading.Event`` has the same lock. What is here is made of single calls into the
interpreter, each of which Ctrl-C finds done or not begun. Only the main thread is interrupted.
"""

from __future__ import annotations

import _thread
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST_DEAFNESS_S", "Latch", "Worker", "at_work"]

LONGEST_DEAFNESS_S = 0.1

# Names of those that run, by the thread's number: each writes its own entry.
_at_work: dict[int, str] = {}


def at_work() -> list[str]:
    """Names of the workers that run now."""
    return list(_at_work.values())


class Latch:
    """Is set once, and waited for by any number of threads.

    Attributes
    ----------
    is_set : bool
        Whether it is.
    """

    __slots__ = ("_lock", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def set(self) -> None:
        """Let go all that wait; to be called once."""
        self.is_set = True  # first: Ctrl-C before the next line leaves the lock closed
        self._lock.release()

    def wait(self, limit_s: float | None = None) -> bool:
        """Wait until it is set, or so many seconds.

        Returns
        -------
        bool
            Whether it is set.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C.
        """
        deadline = None if limit_s is None else time.perf_counter() + limit_s
        while not self.is_set:
            left = LONGEST_DEAFNESS_S if deadline is None else deadline - time.perf_counter()
            # Not every system interrupts a lock that is waited for without a limit.
            if self._lock.acquire(timeout=max(0.0, min(left, LONGEST_DEAFNESS_S))):
                self._lock.release()
            elif left <= 0:
                break
        return self.is_set


class Worker:
    """A thread that carries out one call, and that does not outlive the process.

    Parameters
    ----------
    name : str
        For `at_work`.
    call : callable
        What to carry out; it keeps its own errors.

    Notes
    -----
    Whoever calls `start` cannot know after Ctrl-C whether the thread was begun. So the first of two
    claims the call: the thread, to carry it out, or `end`, to have it never carried out.
    """

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self._name = name
        self._call: Callable[[], object] | None = call
        self._claim = _thread.allocate_lock()
        self._ended = Latch()

    def start(self) -> None:
        """Begin; to be called once.

        Raises
        ------
        RuntimeError
            If the system has no thread left.
        """
        _thread.start_new_thread(self._carry_out, ())

    @property
    def has_ended(self) -> bool:
        """Whether the call is over, or will never be carried out."""
        return self._ended.is_set

    def wait(self, limit_s: float | None = None) -> bool:
        """Wait for the end of what was started, or so many seconds; give whether it has ended."""
        return self._ended.wait(limit_s)

    def end(self) -> None:
        """Wait for the end of the call, or have it never begin."""
        if self._claim.acquire(blocking=False):
            self._call = None
            self._ended.set()
        self._ended.wait()

    def _carry_out(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        own = _thread.get_ident()
        _at_work[own] = self._name
        try:
            if self._call is not None:
                self._call()
        finally:
            self._call = None  # it may hold what is to be let go
            del _at_work[own]
            self._ended.set()
