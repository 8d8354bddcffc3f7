"""Running the stages of a traversal whose kernels wait for those of other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.engine.driver import Driver
from clgraph.engine.outcome import ABORTED, OVERFLOWED, STATUS
from clgraph.engine.state import STATUS_DONE, STATUS_PAUSED, initial_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.outcome import Outcome

__all__ = ["GAVE_UP", "LinkedDriver"]

GAVE_UP = -1  # how a launch ended in which somebody waited in vain


class LinkedDriver(Driver):
    """A driver of one of several devices, which does what `run` does in several calls.

    All devices are prepared, then launched, then asked, then waited for (`ended`), and all go on
    alike: with another launch, or to the end by `done` or `again_stepped`.
    """

    def prepare(self, given: Mapping[str, Argument]) -> list[Argument]:
        """Have ready what `launch` launches, which takes little time then.

        Parameters
        ----------
        given : dict
            Arguments of this run, by name.

        Returns
        -------
        list
            All arguments, for `launch` and `again_stepped`.
        """
        if not self._is_initial:
            self._state.write(initial_state())
        self._is_initial = False
        self._take(self.groups)
        args = [*self.table.bind(given), *self._own]
        self._kernel.hand_over(args, self.table.changing, self.table.stamp)
        return args

    def launch(self, args: list[Argument], launch: int) -> None:
        """Launch what was prepared, or has paused, with no event: the call takes half as long."""
        self._launch(args, launch, self._persistent_flags, seen=False)

    def ask(self) -> Any:
        """Have what was launched report how it ended; `ended` waits, for what this gives."""
        return self._mirror.ask()

    def ended(self, asked: Any) -> int:
        """Wait for what was launched and asked for: STATUS_DONE, STATUS_PAUSED or GAVE_UP."""
        self._mirror.came(asked)
        if self._words[ABORTED]:
            return GAVE_UP
        status = self._words[STATUS]
        if status not in {STATUS_DONE, STATUS_PAUSED}:
            raise self._without_result(status)
        return status

    def done(self, outcome: Outcome, launches: int) -> None:
        """Note how a run went that is done after so many launches.

        Raises
        ------
        QueueOverflowError
            If a queue overflowed.
        """
        groups = self._sizes[0] // self._sizes[1]
        outcome.ended("persistent", (None, None), launches, groups, self._words, self._counted)
        self._is_initial = self._is_left_initial
        if self._words[OVERFLOWED]:
            raise self._overflowed()

    def again_stepped(self, args: list[Argument], outcome: Outcome) -> None:
        """Run from the beginning, in stepped mode, what was prepared and has ended in any way.

        Raises
        ------
        As `finish` does.
        """
        self._stepped(args, outcome, (), None, None)
        if self._words[OVERFLOWED]:
            raise self._overflowed()
