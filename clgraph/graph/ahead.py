"""Calls made ahead of their need, in a thread."""

from _thread import start_new_thread
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

__all__ = ["Ahead"]

Found = TypeVar("Found")


class Ahead(Generic[Found]):
    """A call made again and again in a thread, some results ahead of whoever takes them.

    Parameters
    ----------
    call : callable
        Without arguments. What it raises is raised where that result would have been taken.
    depth : int
        Most results that wait to be taken.

    Notes
    -----
    Locks and queues are those written in C. Ctrl-C within the ones of `threading`, on which
    ``concurrent.futures`` stands, comes out as "release unlocked lock".
    """

    def __init__(self, call: Callable[[], Found], depth: int) -> None:
        self._call = call
        self._depth = depth
        self._asked: SimpleQueue[bool] = SimpleQueue()  # True for a call, False at the end
        self._results: SimpleQueue[tuple[list[Found], BaseException | None]] = SimpleQueue()
        self._waiting = 0
        self._started = False
        self._closed = False
        self._here: list[None] = []  # filled when the thread begins
        self._gone: SimpleQueue[None] = SimpleQueue()

    def take(self) -> Found:
        """Give the next result, once it is there."""
        while self._waiting < self._depth:
            self._waiting += 1
            self._asked.put(True)
        if not self._started:
            self._started = True
            start_new_thread(self._work, ())
        found, error = self._results.get()
        self._waiting -= 1
        if error is not None:
            raise error
        return found[0]

    def _work(self) -> None:
        self._here.append(None)
        while self._asked.get() and not self._closed:
            try:
                self._results.put(([self._call()], None))
            except BaseException as error:
                self._results.put(([], error))
        self._gone.put(None)

    def close(self) -> None:
        """Wait for the call that is being made; no other is."""
        self._closed = True  # a thread that has not begun yet sees that, and makes no call
        self._asked.put(False)
        if self._here:
            self._gone.get()
