"""Running the stages of a traversal: in one launch on the device, or launch by launch from here.

A persistent launch runs until the search is done or its budget of work is spent; then it is resumed.
Should a work-group wait in vain for another, the launch gives up by itself, and the search is run
again in stepped mode, where no group ever waits.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, resident_groups, wait
from clgraph.engine.choose import MAX_GROUPS
from clgraph.engine.state import (
    STATE_WORDS,
    STATUS_DONE,
    STATUS_PAUSED,
    initial_state,
)
from clgraph.errors import ClgraphError, KernelTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyopencl as cl

    from clgraph.device import Device, Kernel
    from clgraph.engine.choose import Resolved

__all__ = ["Driver", "Outcome"]

log = logging.getLogger("clgraph")

FLAG_STEPPED, FLAG_OPEN, FLAG_SOLO = 1, 2, 4
STEPS_AHEAD = 16  # stages enqueued between two looks at the state; an idle stage costs a launch

_STATUS = STATE_WORDS["STATUS"]
_ABORTED = STATE_WORDS["ABORTED"]
_SEEN = slice(_ABORTED, STATE_WORDS["EXPLORED"] + 2)  # the words a look at the state reads



@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    kernel_ms : float
        Device time from the first launch's start to the last one's end, in milliseconds.
    mode : {"persistent", "stepped"}
        How the stages were run in the end.
    launches : int
        Kernel launches.
    depth, reached : int
        Largest distance that was given out, and to how many vertices any was.
    """

    kernel_ms: float
    mode: str
    launches: int
    depth: int
    reached: int


class Driver:
    """Launches of one traversal kernel, whose last arguments are state and launch control.

    Parameters
    ----------
    device : Device
        Where it runs.
    kernel : Kernel
        Entry point; its arguments end with state, launch, flags, patience, spin_limit, budget.
    config : Resolved
        Group size, number of groups, synchronisation and limits.
    """

    def __init__(self, device: Device, kernel: Kernel, config: Resolved) -> None:
        self._device = device
        self._kernel = kernel
        self._config = config
        self._resident = resident_groups(device, kernel, config.group_size)
        self._state = Memory(device).upload("state", initial_state())
        self._seen = np.empty(_SEEN.stop - _SEEN.start, np.uint32)

    @property
    def resident(self) -> int:
        """Work-groups of the kernel that the device runs at once."""
        return self._resident

    @property
    def groups(self) -> int:
        """Work-groups that a persistent launch has."""
        return min(self._config.groups or self._resident, MAX_GROUPS)

    def run(self, *args: object) -> Outcome:
        """Run a traversal with these leading kernel arguments.

        Raises
        ------
        KernelTimeoutError
            If even the stepped form does not come to an end.
        ClgraphError
            If a queue overflowed or the driver reports a failure.
        """
        if self._config.synchronisation == "persistent":
            outcome = self._persistent(args)
            if outcome is not None:
                return outcome
            log.warning(
                "%s on %s: a work-group waited in vain for another of %d (%d are resident at once); "
                "running stepped instead",
                self._kernel.name,
                self._device.name,
                self.groups,
                self._resident,
            )
        return self._stepped(args)

    def _persistent(self, args: tuple[object, ...]) -> Outcome | None:
        config = self._config
        flags = FLAG_SOLO if config.solo else 0
        if config.membership == "open":
            flags |= FLAG_OPEN
        events = []
        launch = 0
        try:
            while True:
                event = self._launch(args, launch, flags)
                events.append(event)
                self._look(event)
                if self._word(_ABORTED):
                    self._reset()
                    return None
                status = self._word(_STATUS)
                if status == STATUS_DONE:
                    return self._outcome("persistent", events)
                if status != STATUS_PAUSED:
                    raise KernelTimeoutError(self._unfinished())
                launch += 1
        except BaseException:
            self._reset()
            raise

    def _stepped(self, args: tuple[object, ...]) -> Outcome:
        flags = FLAG_STEPPED | (FLAG_SOLO if self._config.solo else 0)
        events = []
        launch = 0
        try:
            while True:
                for _ in range(STEPS_AHEAD):
                    events.append(self._launch(args, launch, flags))
                    launch += 1
                self._look(events[-1])
                if self._word(_STATUS) == STATUS_DONE:
                    return self._outcome("stepped", events)
                del events[1:-1]  # the first and the last hold the times
        finally:
            self._reset()

    def _launch(self, args: tuple[object, ...], launch: int, flags: int) -> cl.Event:
        config = self._config
        groups = self.groups
        return self._kernel.launch(
            groups * config.group_size,
            config.group_size,
            *args,
            self._state,
            np.uint32(launch),
            np.uint32(flags),
            np.uint32(config.patience),
            np.uint32(config.spin_limit),
            np.uint64(config.launch_work),
        )

    def _look(self, event: cl.Event) -> None:
        """Wait for a launch, then read the words of the state that tell how far the search is.

        The read may block: the device is idle by then, and a driver that is asked to read
        asynchronously into ordinary memory blocks too, but for the whole launch.
        """
        wait(event)
        self._state.read_into(self._seen, _SEEN.start)

    def _word(self, index: int) -> int:
        return int(self._seen[index - _SEEN.start])

    def _reset(self) -> None:
        self._state.write(initial_state())

    def _unfinished(self) -> str:
        return (
            f"{self._kernel.name} on {self._device.name} ended without a result "
            f"(status {self._word(_STATUS)}); please report this with the output of `clgraph doctor`."
        )

    def _outcome(self, mode: str, events: list[cl.Event]) -> Outcome:
        if self._word(STATE_WORDS["OVERFLOWED"]):
            self._reset()
            raise ClgraphError(
                f"{self._kernel.name} found more than its queue of n vertices can hold, which a claim "
                "that is atomic cannot do; please report this with the output of `clgraph doctor`."
            )
        return Outcome(
            kernel_ms=(events[-1].profile.end - events[0].profile.start) / 1e6,
            mode=mode,
            launches=len(events),
            depth=self._word(STATE_WORDS["DEPTH"]),
            reached=self._word(STATE_WORDS["REACHED"]),
        )


