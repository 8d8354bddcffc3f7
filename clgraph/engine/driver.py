"""Running the stages of a traversal: in one launch on the device, or launch by launch from here.

A persistent launch runs until the search is done or its budget of work is spent; then it is
resumed. Should a work-group wait in vain for another, the launch gives up by itself, and the search
is run again in stepped mode, where no group ever waits.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from clgraph.device import Memory, load, mirror, resident_groups, wait
from clgraph.device.observing import observer
from clgraph.engine.resolved import MAX_GROUPS
from clgraph.engine.state import (
    COUNTERS,
    COUNTERS_AT,
    STATE_WORDS,
    STATUS_DONE,
    STATUS_PAUSED,
    initial_state,
)
from clgraph.engine.strategies.cores import Cores
from clgraph.errors import InvalidArgumentError, KernelTimeoutError, QueueOverflowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyopencl as cl

    from clgraph.device import Device, Kernel, Mirror
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.plan import Table
    from clgraph.engine.resolved import Resolved

__all__ = ["GAVE_UP", "Driver", "Outcome"]

log = logging.getLogger("clgraph")

FLAG_STEPPED, FLAG_OPEN, FLAG_SINGLE_GROUP, FLAG_ALONE = 1, 2, 4, 8
GAVE_UP = -1  # how a launch ended in which somebody waited in vain
STEPS_AHEAD = 16  # stages enqueued between two looks at the state; an idle stage costs a launch

NOTHING_COUNTED = (0,) * len(COUNTERS)

# The words that a look at the state reads, and places among these.
_SEEN = slice(STATE_WORDS["ABORTED"], COUNTERS_AT + len(COUNTERS))
_ABORTED, _STATUS, _OVERFLOWED, _DEPTH, _REACHED, _EXPLORED, _STATUS_FLAGS = (
    STATE_WORDS[name] - _SEEN.start
    for name in (
        *("ABORTED", "STATUS", "OVERFLOWED"),
        *("DEPTH", "REACHED", "EXPLORED", "STATUS_FLAGS"),
    )
)


class Outcome:
    """What a run left behind.

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

    def __init__(
        self,
        mode: str,
        events: tuple[Any, Any],
        launches: int,
        groups: int,
        words: memoryview[int],
        counts: Sequence[int],
    ) -> None:
        self.mode = mode
        self.launches = launches
        self.groups = groups
        self.depth = words[_DEPTH]
        self.reached = words[_REACHED]
        self.explored = words[_EXPLORED] | words[_EXPLORED + 1] << 32
        self.status_flags = words[_STATUS_FLAGS]
        self._counts = counts
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


class Driver:
    """The kernels of a plan's stages, all in one or one each where that is too much, and launches.

    Parameters
    ----------
    device : Device
        Where it runs.
    file : str
        Of the kernel, below ``kernels_cl/``.
    entry : str
        Its entry point, whose arguments are those of `table`, then state, launch, flags, patience,
        spin_limit, budget.
    table : Table
        What it takes.
    config : Resolved
        Whether stages share a kernel, group size, number of groups, synchronisation and limits.
    stages : sequence of str
        Their names, whatever begins a run first. Only a kernel of all can run persistently.
    render : callable
        From the stages of a kernel to what it is rendered with.
    timed : bool
        Whether a processor's plan finds out how many cores pay: what runs explore are edges then.

    Attributes
    ----------
    program : Program
        Of the first kernel.
    places : dict of str to int
        Which kernel has a stage.
    groups : int
        Work-groups that a persistent launch has, or at most has.
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
        fused = config.kernels == "fused"
        together = [tuple(stages)] if fused else [(stage,) for stage in stages]
        programs = [load(device, file, arguments=table.rows, **render(names)) for names in together]
        kernels = [program.kernel(entry) for program in programs]
        self.program = programs[0]
        self.places = {name: place for place, names in enumerate(together) for name in names}
        self._device = device
        self._kernels = kernels
        self._kernel = kernels[0]
        self._config = config
        self._resident = resident_groups(device, kernels[0], config.group_size)
        if not self._resident:
            raise InvalidArgumentError(
                f"group_size={config.group_size} does not fit {device.name}: {kernels[0].name} "
                f"would take {kernels[0].local_bytes} bytes of local memory of "
                f"{device.traits.local_bytes}; choose a smaller one."
            )
        self.groups = min(config.groups or self._resident, MAX_GROUPS)
        self._sizes = self.groups * config.group_size, config.group_size
        self._state = Memory(device).upload("state", initial_state())
        self._is_initial = True  # whether the state is known to be as a search begins
        self._is_left_initial = not config.counts  # whether a persistent search leaves it so
        self._mirror = mirror(device, self._state, _SEEN.start, _SEEN.stop - _SEEN.start)
        self._words: memoryview[int] = self._mirror.words.data  # of which few are looked at
        self._counted: Sequence[int] = NOTHING_COUNTED
        if config.counts:
            self._counted = self._words[COUNTERS_AT - _SEEN.start :]
        single_group = FLAG_SINGLE_GROUP if config.single_group else 0
        is_open = FLAG_OPEN if config.membership == "open" else 0
        self._shared_flags = self._persistent_flags = np.uint32(single_group | is_open)
        self._alone_flags = np.uint32(single_group | is_open | FLAG_ALONE)
        self._stepped_flags = np.uint32(single_group | FLAG_STEPPED)
        self._cores: Cores | None = None
        if (
            timed
            and device.traits.is_cpu
            and is_open
            and config.synchronisation == "persistent"
            and config.groups is None
            and self.groups > 1
        ):
            self._cores = Cores(self.groups)
        self._is_persistent = config.synchronisation == "persistent"
        # What follows the table's arguments: the state, number and flags of a launch, and limits;
        # the same objects in every first launch, so that they are handed over once.
        self._first = np.uint32(0)
        self._own: tuple[Argument, ...] = (
            *(self._state, self._first, self._shared_flags),
            *(np.uint32(config.limits.patience or 0), np.uint32(config.limits.spin or 0)),
            np.uint64(config.launch_work),
        )
        self.follow(table)

    def follow(self, table: Table) -> None:
        """Take arguments from a table with the same rows from now on."""
        self.table = table
        self._number = len(table.rows) + 1  # where that of a launch is among the arguments
        table.change((self._number, self._number + 1))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """What is launched."""
        return tuple(self._kernels)

    @property
    def resident(self) -> int:
        """Work-groups of the kernel that the device runs at once."""
        return self._resident

    def run(
        self,
        given: Mapping[str, Argument],
        *,
        order: Iterable[int] = (),
        between: Callable[[], object] | None = None,
        restart: Callable[[], object] | None = None,
        beside: Mirror | None = None,
    ) -> Outcome:
        """Run all stages.

        Parameters
        ----------
        given : dict
            Arguments of this run, by name.
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

        Raises
        ------
        KernelTimeoutError
            If even the stepped form does not come to an end.
        QueueOverflowError
            If a queue overflowed.
        ClgraphError
            If the driver reports a failure.
        """
        args = self.table.bind(given)
        args += self._own
        self._begin()
        watching = observer()
        cores = None if watching else self._cores  # who watches sees all groups
        if self._cores:
            groups = cores.groups if cores else self.groups
            if self._sizes[0] != groups * self._sizes[1]:
                self._take(groups)
        if self._is_persistent and (
            watching is None or watching.has_room(self._kernel, self.groups, self._sizes[1])
        ):
            outcome = self._persistent(args, between, beside)
            if outcome is not None:
                if cores:
                    cores.saw(outcome)
                return outcome
            self.warn()
            if watching is not None:
                watching.gave_up(self._kernel)
            if restart is not None:
                restart()
            self._begin()
        if watching is not None:
            watching.stepping(self._kernels)
        return self._stepped(args, order, between, beside)

    def prepare(self, given: Mapping[str, Argument]) -> list[Argument]:
        """Have ready what `run` would launch persistently, so that `start` takes little time.

        Parameters
        ----------
        given : dict
            Arguments of this run, by name.

        Returns
        -------
        list
            All arguments, for `start` and `again_stepped`.
        """
        args = self.table.bind(given)
        args += self._own
        self._begin()
        self._take(self.groups)
        args[self._number + 1] = self._persistent_flags
        self._kernel.hand_over(args, self.table.changing, self.table.stamp)
        return args

    def start(self, args: list[Argument], launch: int) -> None:
        """Launch what was prepared, or has paused, and do not wait: `ask` and then `ended` do."""
        self._launch(args, launch, self._persistent_flags, seen=False)

    def ask(self) -> Any:
        """Have what was started tell how it ended; `ended` waits for it."""
        return self._mirror.ask()

    def ended(self, asked: Any) -> int:
        """Wait for what was started and asked for; tell how it ended, see `_ending`."""
        self._mirror.came(asked)
        return self._ending()

    def outcome(self, launches: int) -> Outcome:
        """Give what a search left behind that is done after so many launches.

        Raises
        ------
        As `run` does.
        """
        outcome = self._outcome("persistent", (None, None), launches)
        self._is_initial = self._is_left_initial
        return outcome

    def again_stepped(self, args: list[Argument]) -> Outcome:
        """Run from the beginning, in stepped mode, what was prepared and has ended in any way.

        Raises
        ------
        As `run` does.
        """
        self._begin()
        return self._stepped(args, (), None, None)

    def warn(self) -> None:
        """Say that a persistent launch gave up."""
        log.warning(
            "%s on %s: a work-group waited in vain for another of %d (%d are resident at once);"
            " running stepped instead",
            self._kernel.name,
            self._device.name,
            self.groups,
            self._resident,
        )

    def _take(self, groups: int) -> None:
        """Launch so many groups from now on, of which a single one knows that it is."""
        self._sizes = groups * self._sizes[1], self._sizes[1]
        self._persistent_flags = self._alone_flags if groups == 1 else self._shared_flags

    def _persistent(
        self,
        args: list[Argument],
        between: Callable[[], object] | None,
        beside: Mirror | None,
    ) -> Outcome | None:
        """Launch until the search is done; None if it gave up."""
        flags, launches = self._persistent_flags, 1
        first = last = self._launch(args, 0, flags)
        self._mirror.refresh(beside)
        while True:
            ending = self._ending()
            if ending == GAVE_UP:
                return None
            if ending == STATUS_DONE:
                outcome = self._outcome("persistent", (first, last), launches)
                self._is_initial = self._is_left_initial
                return outcome
            if between:
                between()
            last = self._launch(args, launches, flags)
            launches += 1
            self._mirror.refresh(beside)

    def _ending(self) -> int:
        """Tell how the last persistent launch ended: STATUS_DONE, STATUS_PAUSED or GAVE_UP."""
        if self._words[_ABORTED]:
            return GAVE_UP
        status = self._words[_STATUS]
        if status not in {STATUS_DONE, STATUS_PAUSED}:
            self._raise_unfinished()
        return status

    def _stepped(
        self,
        args: list[Argument],
        order: Iterable[int],
        between: Callable[[], object] | None,
        beside: Mirror | None,
    ) -> Outcome:
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
            if self._words[_STATUS] == STATUS_DONE:
                return self._outcome("stepped", (first, last), launches)
            if between:
                between()

    def _launch(
        self,
        args: list[Argument],
        launch: int,
        flags: np.uint32,
        kernel: Kernel | None = None,
        *,
        seen: bool = True,
    ) -> Any:
        number = self._number
        args[number] = np.uint32(launch) if launch else self._first
        args[number + 1] = flags
        table, (items, size) = self.table, self._sizes
        return (kernel or self._kernel).launch_bound(
            items, size, args, table.changing, table.stamp, seen=seen
        )

    def _begin(self) -> None:
        """Write the initial state, unless the search before ended where it is just that."""
        if not self._is_initial:
            self._state.write(initial_state())
        self._is_initial = False

    def _raise_unfinished(self) -> NoReturn:
        raise KernelTimeoutError(
            f"{self._kernel.name} on {self._device.name} ended without a result "
            f"(status {self._words[_STATUS]}); please report this with the output of `clgraph "
            "doctor`."
        )

    def _outcome(self, mode: str, events: tuple[Any, Any], launches: int) -> Outcome:
        if self._words[_OVERFLOWED]:
            raise QueueOverflowError(
                f"{self._kernel.name} found more than its queues of "
                f"{self._config.limits.queue_percent} percent can hold; choose a larger "
                "queue_percent, or visited='bitmap' (by weight: other claims), by which each "
                "vertex is queued once and 100 percent suffice."
            )
        groups = self._sizes[0] // self._sizes[1]
        return Outcome(mode, events, launches, groups, self._words, tuple(self._counted))
