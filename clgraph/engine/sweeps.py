"""Launches over all vertices, one after the other without a look from the host."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from clgraph.device import load, wait
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyopencl as cl

    from clgraph.device import Device, Kernel, Program
    from clgraph.device.programs.kernel import Argument

__all__ = ["COMPONENT_KNOWN", "LazyKernels", "SweepLog", "Sweeper"]

# Set in a vertex's component word once the rest of it names a member of the component.
COMPONENT_KNOWN = 1 << 31
CPU_GROUPS_PER_UNIT = 16  # shares small enough that a thread which finishes early takes another
RESIDENT_GROUPS_PER_UNIT = 4


class SweepLog:
    """What was launched for one result.

    Parameters
    ----------
    named : bool
        Whether to keep the events of launches that have a name, for `parts`.

    Attributes
    ----------
    launches : int
        Kernel launches.
    """

    def __init__(self, named: bool = False) -> None:
        self.launches = 0
        self._first: cl.Event | None = None
        self._last: cl.Event | None = None
        self._known_ms = 0.0  # where there are no events
        self._named: list[tuple[str, cl.Event]] | None = [] if named else None
        self._known_parts: dict[str, float] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the times that the events give, and not these."""
        known = {"_known_ms": self.kernel_ms, "_known_parts": self.parts}
        return self.__dict__ | {"_first": None, "_last": None, "_named": None} | known

    def add(
        self, first: cl.Event, last: cl.Event | None = None, launches: int = 1, name: str = ""
    ) -> None:
        """Note launches, the first and the last of which have these events; one has but one."""
        self._first = self._first or first
        self._last = last or first
        self.launches += launches
        if name and self._named is not None:
            self._named.append((name, first))

    def note(self, ms: float) -> None:
        """Note a launch that took so long by another clock than the events'."""
        self._known_ms += ms
        self.launches += 1

    def launch(
        self,
        kernel: Kernel,
        global_size: int,
        group_size: int,
        args: Sequence[Argument],
        bound: tuple[Iterable[int], object] | None,
        *,
        followed: bool = False,
    ) -> None:
        """Enqueue a kernel and note it; parameters as of `Kernel.launch` and `Sweeper.launch`."""
        places, stamp = bound or ((), None)
        seen = not followed or self._first is None or self._named is not None
        event = kernel.launch_bound(global_size, group_size, args, places, stamp, seen=seen)
        if event is None:
            self.launches += 1
        else:
            self.add(event, event, name=kernel.name)

    def add_all(self, other: SweepLog) -> None:
        """Note the launches of another log."""
        if other._first is not None and other._last is not None:
            self.add(other._first, other._last, other.launches)
        if self._named is not None:
            self._named += other._named or []

    def wait(self) -> None:
        """Wait for the last launch.

        Raises
        ------
        ClgraphError
            If the driver reports a failure.
        """
        if self._last is not None:
            wait(self._last)

    @property
    def kernel_ms(self) -> float:
        """Device time from the start of the first launch to the end of the last, milliseconds."""
        if self._first is None or self._last is None:
            return self._known_ms
        self.wait()  # what it wrote may have been there before its end
        return float(self._last.profile.end - self._first.profile.start) / 1e6

    @property
    def parts(self) -> dict[str, float]:
        """Device milliseconds of the named launches, by name, in the order of their first."""
        if self._named is None:
            return self._known_parts
        parts: dict[str, float] = {}
        for name, event in self._named:
            spent_ms = float(event.profile.end - event.profile.start) / 1e6
            parts[name] = parts.get(name, 0.0) + spent_ms
        return parts


class Sweeper:
    """How launches over n items are cut into work-groups on a device.

    Parameters
    ----------
    device : Device
        Where.
    n : int
        Items.
    size : int, optional
        Work-items in a group, where the kernel wants another number than most.

    Attributes
    ----------
    group_size, groups : int
        Work-items in a group, and groups of a launch.
    chunk : int
        Items of a group where each owns a range.
    """

    def __init__(self, device: Device, n: int, size: int | None = None) -> None:
        traits = device.traits
        self.group_size = size or group_size(traits)
        per_unit = CPU_GROUPS_PER_UNIT
        if not traits.is_cpu:
            per_unit = traits.threads_per_unit // self.group_size or RESIDENT_GROUPS_PER_UNIT
        tiles = max(-(-n // self.group_size), 1)
        tiles_per_group = -(-tiles // (traits.compute_units * per_unit))
        self.chunk = tiles_per_group * self.group_size
        self.groups = -(-tiles // tiles_per_group)

    def launch(
        self,
        log: SweepLog,
        kernel: Kernel,
        *args: Argument,
        groups: int | None = None,
        bound: tuple[Iterable[int], object] | None = None,
        followed: bool = False,
    ) -> None:
        """Enqueue a kernel over all items, or in a number of groups; `bound` as `Kernel.launch`.

        Where it is `followed` by another launch of the log, with no look in between, it has no
        event, unless the log wants one.
        """
        size = (self.groups if groups is None else groups) * self.group_size
        log.launch(kernel, size, self.group_size, args, bound, followed=followed)


class LazyKernels:
    """Kernels over items, each built when it is first launched.

    Parameters
    ----------
    device : Device
        Where.
    files : mapping of str to (str, mapping)
        By what names of kernels begin with, up to "_": their file, and what it is rendered with.
    wide : bool
        Whether places in rows are numbered by 64 bits.
    """

    def __init__(
        self,
        device: Device,
        files: Mapping[str, tuple[str, Mapping[str, Any]]],
        *,
        wide: bool = False,
    ) -> None:
        self.device = device
        self._files = files
        sizes = Sweeper(device, 1)
        self._config = SimpleNamespace(
            group_size=sizes.group_size, lanes=device.traits.lanes, wide_offsets=wide
        )
        self._programs: dict[Any, Program] = {}
        self._kernels: dict[Any, Kernel] = {}

    def launch(self, log: SweepLog, name: str, items: int, *args: Any, **params: Any) -> None:
        """Enqueue a kernel over so many items; `params` change what its file is rendered with."""
        key = (name, tuple(params.items()))
        kernel = self._kernels.get(key)
        if kernel is None:
            start = name.partition("_")[0]
            file, known = self._files[start]
            if (start, key[1]) not in self._programs:
                about = {"config": self._config, **known, **params}
                self._programs[start, key[1]] = load(self.device, file, **about)
            kernel = self._kernels[key] = self._programs[start, key[1]].kernel(name)
        Sweeper(self.device, items).launch(log, kernel, *args)
