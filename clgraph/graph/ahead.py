"""Work done ahead of its need in threads, its results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Ahead", "in_order"]

Given = TypeVar("Given")
Found = TypeVar("Found")


class Ahead(Generic[Found]):
    """A call made again and again in a thread, some results ahead of whoever takes them.

    Parameters
    ----------
    call : callable
        Without arguments. What it raises is raised where that result would have been taken.
    depth : int
        Most results that wait to be taken.
    """

    def __init__(self, call: Callable[[], Found], depth: int) -> None:
        self._call = call
        self._depth = depth
        self._waiting: deque[Future[Found]] = deque()
        self._pool = ThreadPoolExecutor(1, "clgraph-ahead")

    def take(self) -> Found:
        """Give the next result, once it is there."""
        while len(self._waiting) < self._depth:
            self._waiting.append(self._pool.submit(self._call))
        return self._waiting.popleft().result()

    def close(self) -> None:
        """Wait for the call that is being made; no other is."""
        self._pool.shutdown(cancel_futures=True)


def in_order(
    given: Iterable[Given], work: Callable[[Given], Found], threads: int
) -> Iterator[tuple[Given, Found]]:
    """Work on things in threads, and yield each with its result in the order they were given.

    Parameters
    ----------
    given : iterable
        Taken from in the caller's thread, at most twice as many ahead as there are threads.
    work : callable
        Called in the threads.
    threads : int
        How many.

    Yields
    ------
    thing, result
        What is raised where the next thing should have come is raised after these.
    """
    things = iter(given)
    with ThreadPoolExecutor(threads, "clgraph-parse") as pool:
        waiting: deque[tuple[Given, Future[Found]]] = deque()
        failure: Exception | None = None
        try:
            while failure is None:
                try:
                    thing = next(things)
                except StopIteration:
                    break
                except Exception as error:
                    failure = error
                    break
                waiting.append((thing, pool.submit(work, thing)))
                if len(waiting) > 2 * threads:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()
    if failure is not None:
        raise failure
