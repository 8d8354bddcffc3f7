"""Running the stages of a traversal: in one launch on the device, or launch by launch from here.

A persistent launch runs until the search is done or its budget of work is spent; then it is
resumed. Should a work-group wait in vain for another, the launch gives up by itself, and the search
is run again in stepped mode, where no group ever waits.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.device import mirror
from clgraph.device.observing import observer
from clgraph.engine.launcher import Launcher
from clgraph.engine.outcome import (
    ABORTED,
    LOOKED_AT,
    NOTHING_COUNTED,
    OVERFLOWED,
    STATUS,
    Outcome,
)
from clgraph.engine.state import COUNTERS_AT, STATUS_DONE, STATUS_PAUSED, initial_state
from clgraph.engine.strategies.cores import Cores
from clgraph.errors import KernelTimeoutError, QueueOverflowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clgraph.device import Device, Mirror
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.table import Table

    # Arguments, the first launch's event, what was asked for behind it, and who learns from it.
    Started: TypeAlias = tuple[list[Argument], Any, Any, Cores | None]

__all__ = ["Driver"]

log = logging.getLogger("clgraph")

STEPS_AHEAD = 16  # stages enqueued between two looks at the state; an idle stage costs a launch


class Driver(Launcher):
    """What runs the stages of a plan, one run at a time.

    Parameters
    ----------
    device, file, entry, table, config, stages, render
        As for `Launcher`.
    timed : bool
        Whether a processor's plan finds out how many cores pay: what runs explore are edges then.
    """

    def __init__(
        self,
        device: Device,
        file: str,
        entry: str,
        *,
        table: Table,
        config: Resolved,
        stages: Sequence[str],
        render: Callable[[tuple[str, ...]], dict[str, Any]],
        timed: bool = False,
    ) -> None:
        super().__init__(
            device, file, entry, table=table, config=config, stages=stages, render=render
        )
        self._queue_percent = config.limits.queue_percent
        self._is_initial = True  # whether the state is known to be as a search begins
        self._is_left_initial = not config.counts  # whether a persistent search leaves it so
        begin, end = LOOKED_AT.start, LOOKED_AT.stop
        self._mirror = mirror(device, self._state, begin, end - begin)
        self._words: memoryview[int] = self._mirror.words.data  # of which few are looked at
        self._counted: Sequence[int] = NOTHING_COUNTED
        if config.counts:
            self._counted = self._words[COUNTERS_AT - begin :]
        self._is_persistent = config.synchronisation == "persistent"
        self._cores: Cores | None = None
        if (
            timed
            and device.traits.is_cpu
            and config.membership == "open"
            and self._is_persistent
            and config.groups is None
            and self.groups > 1
        ):
            self._cores = Cores(self.groups)

    def meanwhile(self, call: Callable[[], object]) -> None:
        """Call this now and then while a launch is waited for, where the device leaves time to."""
        self._mirror.meanwhile = call

    def run(
        self,
        given: Mapping[str, Argument],
        *,
        between: Callable[[], object] | None = None,
        restart: Callable[[], object] | None = None,
        beside: Mirror | None = None,
    ) -> Outcome:
        """Run all stages.

        Parameters
        ----------
        given : dict
            Arguments of this run, by name.
        between, restart, beside
            As for `finish`.

        Raises
        ------
        As `finish` does.
        """
        outcome = Outcome()
        started = self.start(given, beside)
        self.finish(started, outcome, between=between, restart=restart, beside=beside)
        return outcome

    def start(self, given: Mapping[str, Argument], beside: Mirror | None = None) -> Started:
        """Launch what is to run persistently, and do not wait: `finish` does, for what this gives.

        Whatever can be made meanwhile costs no time.

        Parameters
        ----------
        given : dict
            Arguments of this run, by name.
        beside : Mirror, optional
            As for `finish`.

        Raises
        ------
        ClgraphError
            If the driver refuses the launch.
        """
        args = self.table.bind(given)
        if not self._is_persistent:
            return args, None, None, None
        watching = observer()
        cores = self._cores if watching is None else None  # who watches sees all groups
        if self._cores:
            groups = cores.groups if cores else self.groups
            if self._sizes[0] != groups * self._sizes[1]:
                self._take(groups)
        items, size = self._sizes
        if watching is not None and not watching.has_room(self._kernel, self.groups, size):
            return args, None, None, None
        if not self._is_initial:
            self._state.write(initial_state())
        self._is_initial = False  # until it is known how this run has ended
        args += self._own
        table, launch = self.table, self._kernel.launch_bound
        first = launch(items, size, args, table.changing, table.stamp)
        return args, first, self._mirror.ask(beside), cores

    def finish(
        self,
        started: Started,
        outcome: Outcome,
        *,
        order: Iterable[int] = (),
        between: Callable[[], object] | None = None,
        restart: Callable[[], object] | None = None,
        beside: Mirror | None = None,
    ) -> None:
        """Wait for what was started, and go on until the run is done.

        Parameters
        ----------
        started : tuple
            What `start` gave.
        outcome : Outcome
            What notes how it went.
        order : iterable of int
            For a stepped run: which kernel is launched second, third, and so on as far as whoever
            iterates knows, who may look at device memory in between.
        between : callable, optional
            Called whenever a launch has paused, before the next.
        restart : callable, optional
            Called before a search that gave up is run again, to prepare what the first stage does
            not.
        beside : Mirror, optional
            Of what else is to be known after each pause and in the end: no other wait is needed.
            `start` has the same one.

        Raises
        ------
        KernelTimeoutError
            If a launch ended without a result.
        QueueOverflowError
            If a queue overflowed.
        ClgraphError
            If the driver reports a failure.
        """
        args, first, asked, cores = started
        if asked is None:
            args += self._own
            self._stepped(args, outcome, order, between, beside)
        elif not self._persistent(args, first, asked, outcome, between, beside):
            cores = None
            self.give_up()
            if restart is not None:
                restart()
            self._stepped(args, outcome, order, between, beside)
        if self._words[OVERFLOWED]:
            raise self._overflowed()
        if cores:
            cores.saw(outcome)

    def give_up(self) -> None:
        """Say that a persistent launch gave up."""
        log.warning(
            "%s on %s: a work-group waited in vain for another of %d (%d are resident at once);"
            " running stepped instead",
            self._kernel.name,
            self._device.name,
            self.groups,
            self._resident,
        )
        watching = observer()
        if watching is not None:
            watching.gave_up(self._kernel)

    def _persistent(
        self,
        args: list[Argument],
        first: Any,
        asked: Any,
        outcome: Outcome,
        between: Callable[[], object] | None,
        beside: Mirror | None,
    ) -> bool:
        """Wait for the first launch, and launch again until the search is done; or it gives up."""
        words, launches, last = self._words, 1, first
        self._mirror.came(asked)
        while not words[ABORTED]:
            status = words[STATUS]
            if status == STATUS_DONE:
                groups = self._sizes[0] // self._sizes[1]
                outcome.ended("persistent", (first, last), launches, groups, words, self._counted)
                self._is_initial = self._is_left_initial
                return True
            if status != STATUS_PAUSED:
                raise self._without_result(status)
            if between:
                between()
            last = self._launch(args, launches, self._persistent_flags)
            launches += 1
            self._mirror.refresh(beside)
        return False

    def _without_result(self, status: int) -> KernelTimeoutError:
        return KernelTimeoutError(
            f"{self._kernel.name} on {self._device.name} ended without a result "
            f"(status {status}); please report this with the output of `clgraph doctor`."
        )

    def _overflowed(self) -> QueueOverflowError:
        self._is_initial = False
        return QueueOverflowError(
            f"{self._kernel.name} found more than its queues of "
            f"{self._queue_percent} percent can hold; choose a larger "
            "queue_percent, or visited='bitmap' (by weight: other claims), by which each "
            "vertex is queued once and 100 percent suffice."
        )

    def _stepped(
        self,
        args: list[Argument],
        outcome: Outcome,
        order: Iterable[int],
        between: Callable[[], object] | None,
        beside: Mirror | None,
    ) -> None:
        """Launch stage by stage until the search is done."""
        watching = observer()
        if watching is not None:
            watching.stepping(self._kernels)
        if not self._is_initial:
            self._state.write(initial_state())
        self._is_initial = False
        flags = self._stepped_flags
        launches = 1
        first = self._launch(args, 0, flags)
        for place in order:
            self._launch(args, launches, flags, self._kernels[place])
            launches += 1
        while True:
            for _ in range(STEPS_AHEAD):
                for kernel in self._kernels:
                    last = self._launch(args, launches, flags, kernel)
                    launches += 1
            self._mirror.refresh(beside)
            if self._words[STATUS] == STATUS_DONE:
                groups, events = self._sizes[0] // self._sizes[1], (first, last)
                outcome.ended("stepped", events, launches, groups, self._words, self._counted)
                return
            if between:
                between()
