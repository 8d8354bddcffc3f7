"""Clocks for how soon something happens, which other work on the machine does not disturb."""

import contextlib
import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path


class Work:
    """What this process has done since an object of this class was made.

    A wall clock also counts what other processes took of the processors in the meantime. This one
    counts what the busiest thread used of them, which is what a wall clock would show on an idle
    machine unless all threads slept; how long waiting sleeps is tested on its own.
    """

    def __init__(self) -> None:
        self._before = _threads()

    def seconds(self) -> float:
        """Processor time of the thread that used most of it, to 10 ms on Linux."""
        return max(used - self._before.get(name, 0.0) for name, used in _threads().items())


def _threads() -> dict[str, float]:
    used = {}
    for path in Path("/proc/self/task").glob("*/stat"):
        try:
            text = path.read_text("ascii", "replace")
        except OSError:  # it has just ended
            continue
        # The name of a thread, in parentheses, may hold blanks; ticks of 10 ms in user and system
        # mode are fields 14 and 15 of all.
        fields = text.rpartition(")")[2].split()
        used[path.parent.name] = (int(fields[11]) + int(fields[12])) / 100
    return used or {"all threads": time.process_time()}


@contextlib.contextmanager
def alarms(answer: Callable[..., object]) -> Generator[None]:
    """Have an alarm, which stands for Ctrl-C, answered so; it is set where its answer is caught.

    pytest-timeout has the same timer to end what hangs, and gets it back. Meanwhile Python does as
    much: it shows where all threads are, and ends the process.
    """
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    until = time.monotonic() + left
    before = signal.signal(signal.SIGALRM, answer)
    if left:
        faulthandler.dump_traceback_later(left, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, max(until - time.monotonic(), 1e-3))


def happens(condition: Callable[[], bool], within_s: float = 60) -> bool:
    """Wait until something is so, or so long that it will not be; give whether it is."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(1e-3)
    return True
