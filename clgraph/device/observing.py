"""Somebody who watches what is launched and copied: the one place where a profiler looks in."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from clgraph.device.memory.copying import report_copies_to
from clgraph.device.programs.kernel import launch_by
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clgraph.device.lazy import cl
    from clgraph.device.programs.kernel import Argument, Kernel

__all__ = ["Observer", "observed_by", "observer"]


class Observer(Protocol):
    """What is called for every launch and every copy while it watches."""

    def launch(
        self, kernel: Kernel, global_size: int, group_size: int, args: tuple[Argument, ...]
    ) -> cl.Event:
        """Launch a kernel, or what stands for it, by `Kernel.launch`, not observed."""

    def copied(self, event: cl.Event, size_bytes: int) -> None:
        """Take note of a copy between host and device that was enqueued."""

    def has_room(self, kernel: Kernel, groups: int, group_size: int) -> bool:
        """Report whether so many work-groups of what would be launched are resident at once."""

    def stepping(self, kernels: Sequence[Kernel]) -> None:
        """Learn that no work-group of what is launched next waits for another."""

    def gave_up(self, kernel: Kernel) -> None:
        """Forget what was seen of a kernel: its work-groups waited in vain, and it runs again."""


# Under its one key who is watching, in a list by which each call knows what it put there.
_watching: dict[str, list[Observer]] = {}
ONE = "one"


def observer() -> Observer | None:
    """Give who is watching, None where nobody is."""
    watching = _watching.get(ONE)
    return watching[0] if watching else None


@contextlib.contextmanager
def observed_by(watching: Observer) -> Iterator[None]:
    """Have every launch and copy of this process observed.

    Raises
    ------
    ClgraphError
        If somebody is watching already.
    """
    own = [watching]
    try:
        if _watching.setdefault(ONE, own) is not own:
            raise ClgraphError("a profile is being taken already; wait until it has ended.")
        launch_by(watching.launch)
        report_copies_to(watching.copied)
        yield
    finally:
        try:
            _end(own)
        except BaseException:  # Ctrl-C may come before any of its calls
            _end(own)
            raise


def _end(own: list[Observer]) -> None:
    if _watching.get(ONE) is own:
        report_copies_to(None)
        launch_by(None)
        del _watching[ONE]
