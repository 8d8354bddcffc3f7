"""What a run of a plan's stages leaves behind: how it was run, and a few words of its state."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from clgraph.device import wait
from clgraph.engine.state import COUNTERS, COUNTERS_AT, STATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyopencl as cl

__all__ = ["ABORTED", "LOOKED_AT", "NOTHING_COUNTED", "OVERFLOWED", "STATUS", "Outcome"]

NOTHING_COUNTED = (0,) * len(COUNTERS)

# The words that a look at the state reads, and places among these.
LOOKED_AT = slice(STATE_WORDS["ABORTED"], COUNTERS_AT + len(COUNTERS))
ABORTED, STATUS, OVERFLOWED, DEPTH, REACHED, EXPLORED, STATUS_FLAGS = (
    STATE_WORDS[name] - LOOKED_AT.start
    for name in (
        *("ABORTED", "STATUS", "OVERFLOWED"),
        *("DEPTH", "REACHED", "EXPLORED", "STATUS_FLAGS"),
    )
)


class Outcome:
    """What a run has left behind, once it has ended; made before, so that results may refer to it.

    Attributes
    ----------
    mode : {"persistent", "stepped"}
        How the stages were run in the end.
    launches : int
        Kernel launches.
    groups : int
        Work-groups of each.
    depth, reached : int
        Largest distance that was given out, and to how many vertices any was.
    explored : int
        Edges that were looked at, or counted as done, as the kernel has it.
    status_flags : int
        What the kernel has to report beside its result; 0 is nothing.
    """

    mode = ""
    launches = groups = depth = reached = explored = status_flags = 0
    _counts: Sequence[int] = NOTHING_COUNTED
    _events: tuple[Any, Any] = (None, None)

    def ended(
        self,
        mode: str,
        events: tuple[Any, Any],
        launches: int,
        groups: int,
        words: memoryview[int],
        counts: Sequence[int],
    ) -> None:
        """Note how a run went, of which `words` and `counts` will be those of another."""
        self.__dict__.pop("kernel_ms", None)  # of an attempt before, which somebody has asked for
        self.mode = mode
        self.launches = launches
        self.groups = groups
        self.depth = words[DEPTH]
        self.reached = words[REACHED]
        self.explored = words[EXPLORED] | words[EXPLORED + 1] << 32
        self.status_flags = words[STATUS_FLAGS]
        self._counts = tuple(counts)
        self._events = events

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the time that the events give, and not these."""
        return self.__dict__ | {"_events": None, "kernel_ms": self.kernel_ms}

    @property
    def counters(self) -> dict[str, int]:
        """Events by the names of `COUNTERS`; all 0 where the kernel does not count."""
        return dict(zip(COUNTERS, self._counts, strict=True))

    @property
    def events(self) -> tuple[cl.Event, cl.Event]:
        """Of the first launch and of the last; None for one that was started apart."""
        return self._events

    @cached_property
    def kernel_ms(self) -> float:
        """Device time from the first launch's start to the last one's end, in milliseconds."""
        first, last = self._events
        if first is None or last is None:
            return float("nan")
        wait(last)  # what it wrote may have been there before its end
        return float(last.profile.end - first.profile.start) / 1e6
