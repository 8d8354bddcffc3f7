"""Work done ahead of its need in threads, its results in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar
from weakref import ref

from clgraph.threads import Worker

__all__ = ["Ahead", "Threads", "in_order"]

Given = TypeVar("Given")
Found = TypeVar("Found")
THREAD = "clgraph-ahead"


class Result(Generic[Found]):
    """What a call will have given."""

    def __init__(self, call: Callable[[], Found]) -> None:
        self._call = call
        self._outcome: SimpleQueue[tuple[list[Found], BaseException | None]] = SimpleQueue()

    def make(self) -> None:
        """Make the call."""
        try:
            self._outcome.put(([self._call()], None))
        except BaseException as error:
            self._outcome.put(([], error))

    def take(self) -> Found:
        """Wait for the call, and give what it gave or raise what it raised."""
        found, error = self._outcome.get()
        if error is not None:
            raise error
        return found[0]


class _Calls:
    """Calls that wait to be made, which is all that threads know of whoever asked for them."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Result[Any] | ref[Any] | None] = SimpleQueue()
        self.closed = False

    def make(self, _: ref[Any]) -> None:
        """Make one after the other until the end, which is whatever is no call."""
        while isinstance(result := self.asked.get(), Result) and not self.closed:
            result.make()


class Threads:
    """A few threads that make calls.

    Parameters
    ----------
    count : int
        How many at most; each is started when there is a call for it.

    Notes
    -----
    Results come through a queue that is written in C: Ctrl-C within the locks of `threading`, on
    which ``concurrent.futures`` stands, comes out as "release unlocked lock". Where Ctrl-C comes
    within `close`, threads end all the same once nobody holds this object: what tells them is a
    weak reference whose callback is written in C, too, and so is never interrupted.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._calls = _Calls()
        self._workers: list[Worker] = []

    def ask(self, call: Callable[[], Found]) -> Result[Found]:
        """Have a call made as soon as a thread is free."""
        result = Result(call)
        self._calls.asked.put(result)
        if len(self._workers) < self._count:
            gone = ref(self, self._calls.asked.put)  # of each its own: an end ends one thread
            worker = Worker(THREAD, partial(self._calls.make, gone))
            self._workers.append(worker)  # first: whether it was begun or not, it can be ended
            worker.start()
        return result

    def close(self) -> None:
        """Wait for the calls that are being made; no other is."""
        self._calls.closed = True
        for _ in self._workers:
            self._calls.asked.put(None)
        for worker in self._workers:
            worker.end()


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
        self._waiting: deque[Result[Found]] = deque()
        self._threads = Threads(1)

    def take(self) -> Found:
        """Give the next result, once it is there."""
        while len(self._waiting) < self._depth:
            self._waiting.append(self._threads.ask(self._call))
        return self._waiting.popleft().take()

    def close(self) -> None:
        """Wait for the call that is being made; no other is."""
        self._threads.close()


def in_order(
    given: Iterable[Given], work: Callable[[Given], Found], threads: int
) -> Generator[tuple[Given, Found], None, None]:
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
    waiting: deque[tuple[Given, Result[Found]]] = deque()
    failure: Exception | None = None
    with closing(Threads(threads)) as pool:
        while failure is None:
            try:
                thing = next(things)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            waiting.append((thing, pool.ask(partial(work, thing))))
            if len(waiting) > 2 * threads:
                first, result = waiting.popleft()
                yield first, result.take()
        while waiting:
            first, result = waiting.popleft()
            yield first, result.take()
    if failure is not None:
        raise failure
