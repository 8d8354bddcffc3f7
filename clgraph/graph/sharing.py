"""Blocks of edges handed out to threads."""

import os
from collections.abc import Callable
from functools import partial

from clgraph.threads import Worker

__all__ = ["FEW_THREADS", "processors", "share_out", "threads_for"]

FEW_THREADS = 4  # that meet in the interpreter for short steps and still get on
# One more thread for so many edges: starting it takes as long as looking at some 10,000.
EDGES_PER_THREAD = 1 << 20
MOST_THREADS = 16
THREAD = "clgraph-share"


def threads_for(m: int) -> int:
    """How many threads are to look at so many edges, the caller's own among them."""
    return min(processors(), MOST_THREADS, m // EDGES_PER_THREAD + 1)


def processors() -> int:
    """Count the processors that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def share_out(works: list[Callable[[int], None]], blocks: list[int]) -> None:
    """Hand out blocks to threads until all are done; the first is the caller's own."""
    failures: list[BaseException] = []

    def work(look_at: Callable[[int], None]) -> None:
        try:
            while not failures and (block := _taken(blocks)) is not None:
                look_at(block)
        except BaseException as error:  # Ctrl-C as well: the others stop after their block
            failures.append(error)

    workers = [Worker(THREAD, partial(work, look_at)) for look_at in works[1:]]
    try:
        for worker in workers:
            worker.start()
        work(works[0])
        for worker in workers:
            worker.wait()
    except BaseException as error:
        failures.append(error)
        raise
    finally:
        for worker in workers:
            worker.end()
    if failures:
        raise failures[0]


def _taken(blocks: list[int]) -> int | None:
    try:
        return blocks.pop()  # one step to other threads
    except IndexError:
        return None
