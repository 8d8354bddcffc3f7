"""Watching launches as they are: what was launched, how large, when, and what was copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.device import wait
from clgraph.device.lazy import cl
from clgraph.device.memory.allocation import Allocation
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Device, Kernel
    from clgraph.device.programs.kernel import Argument

__all__ = ["Launch", "Place", "Timeline", "place_of", "stamps_ns"]


@dataclass(frozen=True, slots=True)
class Place:
    """A kernel: its file, its name, and the beginning of its source's hash."""

    label: str
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch as it was: sizes, and nanoseconds on the device's clock."""

    place: Place
    global_size: int
    group_size: int
    dynamic_bytes: int
    queued: int
    start: int
    end: int


def place_of(kernel: Kernel) -> Place:
    """Say which kernel this is."""
    program = kernel.program
    return (
        Place(program.label, kernel.name, program.source_hash[:8])
        if program
        else Place("", kernel.name, "")
    )


def stamps_ns(event: cl.Event) -> tuple[int, int, int]:
    """Give when a launch was enqueued, began and ended.

    Raises
    ------
    ClgraphError
        If its queue keeps no times.
    """
    try:
        times = event.profile
        return int(times.queued), int(times.start), int(times.end)
    except cl.RuntimeError as error:
        raise ClgraphError(
            "a kernel was launched on a queue that keeps no times, as plans have that are divided "
            "among devices; profile a plan of one device."
        ) from error


class Timeline:
    """Watches launches and copies and changes nothing.

    Parameters
    ----------
    device : Device, optional
        Whose launches count; default all.

    Attributes
    ----------
    kernels : dict of Place to Kernel
        What was launched.
    arguments : dict of Place to int
        Bytes of the buffers that each kernel was last given.
    """

    def __init__(self, device: Device | None = None) -> None:
        self._device = device
        self.kernels: dict[Place, Kernel] = {}
        self.arguments: dict[Place, int] = {}
        self._buffers: dict[int, int] = {}
        self._launches: list[tuple[Place, int, int, int, cl.Event]] = []
        self._copies: list[tuple[int, cl.Event]] = []
        # A queue that is gone before its events makes them unreadable in some drivers.
        self._queues: list[cl.CommandQueue] = []

    def launch(
        self, kernel: Kernel, global_size: int, group_size: int, args: tuple[Argument, ...]
    ) -> cl.Event:
        """Launch it, and take note."""
        event = kernel.launch(global_size, group_size, *args, observed=False)
        if self._device is not None and kernel.device != self._device:
            return event
        place = place_of(kernel)
        self.kernels[place] = kernel
        sizes = {id(arg.token): arg.size_bytes for arg in args if isinstance(arg, Allocation)}
        self._buffers.update(sizes)
        self.arguments[place] = max(sum(sizes.values()), self.arguments.get(place, 0))
        dynamic = sum(arg.size for arg in args if isinstance(arg, cl.LocalMemory))
        self._launches.append((place, global_size, group_size, dynamic, event))
        return event

    def copied(self, event: cl.Event, size_bytes: int) -> None:
        """Take note."""
        self._copies.append((size_bytes, event))
        queue = event.command_queue
        if queue not in self._queues:
            self._queues.append(queue)

    def has_room(self, kernel: Kernel, groups: int, group_size: int) -> bool:
        """Report whether they are resident at once: what is launched is what would be anyway."""
        del kernel, groups, group_size
        return True

    def stepping(self, kernels: Sequence[Kernel]) -> None:
        """Take no note: it shows in the launches."""
        del kernels

    def gave_up(self, kernel: Kernel) -> None:
        """Keep what was seen: it took its time."""
        del kernel

    def launches(self) -> list[Launch]:
        """Give the launches in the order of their starts, after they have ended."""
        wait(event for *_, event in self._launches)
        return sorted(
            (
                Launch(
                    *(place, items, size, dynamic),
                    *stamps_ns(event),
                )
                for place, items, size, dynamic, event in self._launches
            ),
            key=lambda launch: launch.start,
        )

    def copies(self) -> list[tuple[int, int, int]]:
        """Give bytes, start and end of the copies, after they have ended."""
        wait(event for _, event in self._copies)
        return [(size, event.profile.start, event.profile.end) for size, event in self._copies]

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all buffers that kernels were given."""
        return sum(self._buffers.values())
