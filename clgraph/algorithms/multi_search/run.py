"""Memory and launches of a batch of searches."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Mirror, wait
from clgraph.device.lazy import cl
from clgraph.device.memory.results import ResultMemory
from clgraph.errors import ClgraphError, DeviceMemoryError
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.multi_search.state import State
    from clgraph.device import Allocation, Device, Kernel, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["STATUS_WORDS", "Batch", "Scratch", "fill"]

log = logging.getLogger("clgraph")

# What a launch leaves behind; the counter has a cache line of its own.
STATUS_WORDS = {
    "taken": 0,
    "overflowed": 32,
    "enqueued_twice": 33,
    "no_vertex": 34,
    "cut_short": 35,
}
STATUS_COUNT = 36
LAUNCH_S = 0.25
# Edges and vertices of a first launch, before the device's speed is known.
FIRST_LAUNCH_CPU, FIRST_LAUNCH_GPU = 2e7, 1e10
SHARE_OF_FREE = 0.9  # of the memory that groups may take

COMPLAINTS = {
    "overflowed": "put more vertices into a frontier, or aside, than the {capacity} it can hold; "
    "claim each vertex once, for example with FIRST(v), or raise capacity",
    "enqueued_twice": "used ENQ or ASIDE twice in one visit, of which only one can count; "
    "leave one out",
    "no_vertex": "enqueued a number that is no vertex; enqueue v",
}


class Scratch:
    """What work-groups need for one search after the other, kept between batches.

    Parameters
    ----------
    memory : Memory
        Where to allocate.
    states : dict of str to State
        Those per group are here.
    graph : Graph
        For its size.
    queue_entries : int, optional
        Vertices that the queues of a group hold together; without, states are all there is.
    keep_levels, visited, stamps : bool
        Which further arrays there are.
    aside_entries : int
        Vertices that a group may set aside, in both arrays for them.

    Attributes
    ----------
    results : ResultMemory
        Where what the searches keep is.
    status : Allocation
        What a launch leaves behind, see `STATUS_WORDS`.
    seen : Mirror
        Of it.
    """

    def __init__(
        self,
        memory: Memory,
        states: Mapping[str, State],
        graph: Graph,
        *,
        queue_entries: int | None = None,
        keep_levels: bool = False,
        visited: bool = False,
        stamps: bool = False,
        aside_entries: int = 0,
    ) -> None:
        self.memory = memory
        self.results = ResultMemory(memory)
        self.states = states
        self.n, self.m = graph.n, graph.m
        n = graph.n
        self._words: dict[str, int] = {}
        if queue_entries is not None:
            self._words = {
                "queues": queue_entries,
                "level offsets": 2 * n + 4 if keep_levels else 0,
                "visited": (n >> 5) + 1 if visited else 0,
                "stamps": n if stamps else 0,
            }
            if aside_entries:
                self._words["aside"] = aside_entries
        self.groups = 0
        self._shared: list[Allocation] = []
        self._own: dict[str, Allocation] = {}
        self.status = memory.allocate("status", STATUS_COUNT, np.uint32)
        self.seen = Mirror(memory.device, self.status, 0, STATUS_COUNT)
        self._sources = memory.allocate("sources", 1, np.uint32)

    def place(self, sources: NDArray[np.int64]) -> Allocation:
        """Give where those are on the device that the next searches begin at."""
        if self._sources.count < sources.size:
            self._sources = self.memory.allocate("sources", sources.size, np.uint32)
        self._sources.write(sources.astype(np.uint32))
        return self._sources

    def clear_status(self) -> None:
        """Enqueue what leaves no search taken, and nothing to complain of."""
        if self.memory.device.is_simulator:  # see `fill`
            self.status.write(np.zeros(STATUS_COUNT, np.uint32))
        else:
            self.status.clear()

    def _each(self) -> list[tuple[str, int, np.dtype[Any]]]:
        """Every array with what one group has of it."""
        words = [(name, count, np.dtype(np.uint32)) for name, count in self._words.items()]
        return words + [
            (name, state.count(self.n, self.m), np.dtype(state.dtype))
            for name, state in self.states.items()
            if state.per == "group"
        ]

    def groups_that_fit(self, wanted: int, kept_bytes: int) -> int:
        """Report how many groups there is room for beside what the searches keep."""
        sizes = [count * dtype.itemsize for _, count, dtype in self._each()]
        largest, together = max([*sizes, 1]), max(sum(sizes), 1)
        held = self.groups * together
        free = self.memory.free_bytes + held - kept_bytes
        by_memory = int(SHARE_OF_FREE * max(free, 0)) // together
        if free >= held:  # those that are there need no more
            by_memory = max(by_memory, self.groups)
        by_allocation = self.memory.device.traits.max_alloc_bytes // largest
        fitting = min(wanted, by_memory, by_allocation)
        if fitting < 1:
            raise DeviceMemoryError(
                f"the queues and arrays of one work-group need {together} bytes on "
                f"{self.memory.device.name}, where {max(free, 0)} are free: release plans and "
                "graphs or use a smaller graph."
            )
        if fitting < wanted:
            log.info(
                "%d searches at a time instead of %d: each needs %d bytes of %d that are free",
                *(fitting, wanted, together, free),
            )
        return fitting

    def prepare(self, groups: int) -> None:
        """Have arrays for so many groups."""
        if groups <= self.groups:
            return
        self.groups, self._shared, self._own = 0, [], {}
        for name, count, dtype in self._each():
            allocation = self.memory.allocate(name, groups * count, dtype)
            if name in self._words:
                self._shared.append(allocation)
            else:
                self._own[name] = allocation
        self.groups = groups

    @property
    def shared(self) -> Sequence[Allocation]:
        """What groups share no part of, in the order of the kernel's arguments."""
        return self._shared

    def own(self, name: str) -> Allocation:
        """Give a state that is per group."""
        return self._own[name]


class Batch:
    """One search from each of some sources.

    Parameters
    ----------
    kernel : Kernel
        ``multi_search``, rendered for the states.
    scratch : Scratch
        Memory of the groups.
    sources : int64 [k]
        Where searches begin.
    group_size, most_groups : int
        Work-items of a group, and groups that are resident together.

    Attributes
    ----------
    arrays : dict
        What is kept: allocation and shape by name.
    kernel_ms : float
        Device time of the launches.
    launches, groups : int
        How many there were, and how many groups each had.
    """

    def __init__(
        self,
        kernel: Kernel,
        scratch: Scratch,
        sources: NDArray[np.int64],
        *,
        group_size: int,
        most_groups: int,
    ) -> None:
        self._kernel = kernel
        self._scratch = scratch
        self._group_size = group_size
        self._sources = sources
        self.arrays: dict[str, tuple[Allocation, tuple[int, ...]]] = {}
        self.launches, self.kernel_ms = 0, 0.0
        kept, states, results = self._shapes(), scratch.states, scratch.results
        # Before room is looked for: what a result that is gone had needs none, or gives some.
        held = {
            name: results.spare(name, math.prod(shape), states[name].dtype)
            for name, shape in kept.items()
        }
        missing = {name: shape for name, shape in kept.items() if held[name] is None}
        needed = sum(
            math.prod(shape) * np.dtype(states[name].dtype).itemsize
            for name, shape in missing.items()
        )
        if missing:
            self._refuse_too_much(missing, needed)
        self.groups = scratch.groups_that_fit(min(most_groups, max(sources.size, 1)), needed)
        scratch.prepare(self.groups)
        for name, shape in kept.items():
            state = states[name]
            allocation = held[name] or results.take(name, math.prod(shape), state.dtype)
            self.arrays[name] = allocation, shape
            if state.per == "run":
                fill(scratch.memory.device, allocation, state.fill_scalar())

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        scratch, k = self._scratch, self._sources.size
        sizes = {
            name: (state.per, state.count(scratch.n, scratch.m))
            for name, state in scratch.states.items()
        }
        return {
            name: (k, size) if per == "search" else (size,)
            for name, (per, size) in sizes.items()
            if per != "group"
        }

    def _refuse_too_much(self, kept: Mapping[str, tuple[int, ...]], needed: int) -> None:
        device, memory = self._scratch.memory.device, self._scratch.memory
        free = memory.free_bytes
        largest = max(
            math.prod(shape) * np.dtype(self._scratch.states[name].dtype).itemsize
            for name, shape in kept.items()
        )
        if needed > free or largest > device.traits.max_alloc_bytes:
            raise DeviceMemoryError(
                f"{', '.join(kept)} of {self._sources.size} searches need {needed} bytes on "
                f"{device.name}, where {free} are free and one array may have "
                f"{device.traits.max_alloc_bytes}: run fewer sources at a time, or declare arrays "
                "per='group' and keep what finalize makes of them."
            )

    def run(
        self,
        graph_args: tuple[Any, ...],
        given: Sequence[Any],
        progress: Progress | None,
        *,
        limits: tuple[np.uint32, ...] = (),
        capacity: int = 0,
        must_end: int | None = None,
    ) -> None:
        """Launch until every search is done; see `MultiSearch.run`.

        Parameters
        ----------
        graph_args, given : sequence
            First and last arguments of the kernel.
        progress : callable or None
            Called after every launch.
        limits : tuple
            Arguments after those that say which searches are run.
        capacity : int
            What a queue holds, for complaints.
        must_end : int, optional
            Levels after which a search that is cut short is an error.
        """
        scratch, memory, sources = self._scratch, self._scratch.memory, self._sources
        k = int(sources.size)
        if not k:
            return
        states: list[Any] = []
        for name, state in scratch.states.items():
            on_device = scratch.own(name) if state.per == "group" else self.arrays[name][0]
            size = np.uint64(state.count(scratch.n, scratch.m))
            states += [on_device, size, state.fill_scalar()]
        scratch.clear_status()
        front = (*graph_args, scratch.place(sources))
        sizes = (np.uint32(scratch.n), np.uint64(scratch.m), np.uint32(k))
        is_cpu = memory.device.traits.is_cpu
        first_launch = FIRST_LAUNCH_CPU if is_cpu else FIRST_LAUNCH_GPU
        done, ahead = 0, max(int(first_launch / (scratch.n + scratch.m)), 1)
        while done < k:
            end = min(k, done + max(ahead, self.groups))
            if done:
                scratch.status.write(np.zeros(1, np.uint32))
            event = self._kernel.launch(
                self.groups * self._group_size,
                self._group_size,
                *front,
                *sizes,
                np.uint32(done),
                np.uint32(end),
                *limits,
                *scratch.shared,
                *states,
                *given,
                scratch.status,
            )
            scratch.seen.refresh()
            self.launches += 1
            seconds = max((event.profile.end - event.profile.start) * 1e-9, 1e-6)
            self.kernel_ms += 1e3 * seconds
            self._complain(scratch.seen.words, capacity, must_end)
            ahead = int((end - done) * LAUNCH_S / seconds)
            done = end
            report_progress(progress, done, k, "searches")

    def _complain(self, words: NDArray[np.uint32], capacity: int, must_end: int | None) -> None:
        for name, complaint in COMPLAINTS.items():
            if words[STATUS_WORDS[name]]:
                raise ClgraphError(
                    f"a snippet of the searches {complaint.format(capacity=capacity)}."
                )
        if must_end is not None and words[STATUS_WORDS["cut_short"]]:
            raise ClgraphError(
                f"a search went on after {must_end} levels on a graph of {self._scratch.n} "
                "vertices: it enqueues vertices again and again; claim each once, for example "
                "with FIRST(v), or set max_levels."
            )


def fill(device: Device, allocation: Allocation, value: np.generic) -> None:
    """Fill an array on the device.

    Parameters
    ----------
    device : Device
        Where it is.
    allocation : Allocation
        The array.
    value : NumPy scalar
        Of its type, or zero of any.
    """
    size_bytes = allocation.count * allocation.dtype.itemsize
    if not size_bytes:
        return
    if device.is_simulator:  # which takes what was filled for what was never written
        allocation.write(np.full(allocation.count, value, allocation.dtype))
        return
    pattern = np.array([value])
    wait(cl.enqueue_fill_buffer(device.queue, allocation.buffer, pattern, 0, size_bytes))
