"""Launching instrumented kernels in the stead of plain ones, and reading what they counted."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.device import load, resident_groups, wait
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.errors import ClgraphError, KernelTimeoutError
from clgraph.profile.criteria import USUAL_BANKS
from clgraph.profile.instrument.rewriting import flavour_of
from clgraph.profile.instrument.words import HEADER, LAST_BLOCK, Mask
from clgraph.profile.passes.counted import Counted
from clgraph.profile.passes.counters import decoded_counters
from clgraph.profile.passes.layout import Layout
from clgraph.profile.passes.tables import WORD_BYTES, Tables
from clgraph.profile.passes.timeline import place_of, stamps_ns
from clgraph.profile.passes.traces import decoded_trace
from clgraph.profile.passes.twins import TRACED, Twins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Device, Kernel
    from clgraph.device.memory.allocation import Allocation
    from clgraph.device.programs.kernel import Argument
    from clgraph.profile.instrument.words import Flavour
    from clgraph.profile.passes.timeline import Place
    from clgraph.profile.passes.twins import Twin

__all__ = ["Counting", "empty_barrier_cycles", "uses_counters"]

BARRIER_GROUP, BARRIER_ROUNDS = 256, 64
LOOK_S = 2.0  # for the counters of a kernel that is still running
SHOWN = 60  # letters of a line
ANSWER_S = 60.0  # a launch is bounded to a second of work, and counting may take fifty times that
BUILDING_S = 600.0  # of a first launch, where drivers of processors build what is launched


class _Begun(NamedTuple):
    """A launch that nobody has waited for."""

    event: cl.Event
    kernel: Kernel
    twin: Twin
    table: Allocation
    layout: Layout
    counted: Counted
    limit_s: float


class Counting:
    """Launches instrumented kernels in the place of plain ones, and reads what they counted.

    Parameters
    ----------
    mask : Mask
        What to count.
    device : Device, optional
        Whose launches; default all.
    lanes : int, optional
        Work-items that a trace takes for a SIMD group; default those of the device.
    flavour : {"counters", "trace"}, optional
        How to observe; default is what suits the device.

    Attributes
    ----------
    left_plain, run_stepped : dict of Place to str
        Kernels that were launched as they are, or stage by stage, and why.
    """

    def __init__(
        self,
        mask: Mask,
        device: Device | None = None,
        lanes: int | None = None,
        flavour: Flavour | None = None,
    ) -> None:
        self._mask = mask
        self._device = device
        self._lanes = lanes
        self._twins = Twins(mask, flavour)
        self._tables = Tables()
        self._begun: list[_Begun] = []
        self._launching = threading.Lock()
        self.left_plain: dict[Place, str] = {}
        self.run_stepped: dict[Place, str] = {}
        self._stepping: set[Place] = set()
        self._found: dict[Place, Counted] = {}

    @property
    def found(self) -> dict[Place, Counted]:
        """What was found by kernel, in all launches so far, once they have ended."""
        self.finish()
        return self._found

    def launch(
        self, kernel: Kernel, global_size: int, group_size: int, args: tuple[Argument, ...]
    ) -> cl.Event:
        """Launch what stands for it; what it counts is read before anything else is written there.

        Where it only notes times launches are waited for after the run, as those of plain kernels
        are: one that had to wait for the host would run as after a pause.
        """
        if self._is_foreign(kernel):
            return kernel.launch(global_size, group_size, *args, observed=False)
        with self._launching:
            return self._launch(kernel, global_size, group_size, args)

    def _launch(
        self, kernel: Kernel, global_size: int, group_size: int, args: tuple[Argument, ...]
    ) -> cl.Event:
        twin = self._twins.of(kernel)
        dynamic = sum(arg.size for arg in args if isinstance(arg, cl.LocalMemory))
        groups = global_size // group_size
        if twin.source.waits and place_of(kernel) not in self._stepping:
            resident = resident_groups(kernel.device, twin.kernel, group_size, dynamic)
            if resident < groups <= resident_groups(kernel.device, kernel, group_size, dynamic):
                # Its work-groups may wait for one another, and not all of them would be there.
                self.left_plain[place_of(kernel)] = (
                    f"an instrumented {kernel.name} has room for {resident} work-groups only"
                )
                return kernel.launch(global_size, group_size, *args, observed=False)
        counted = self._found.setdefault(place_of(kernel), Counted())
        layout = Layout.of(twin.source, self._mask, groups, group_size)
        table = self._tables.take(kernel.device, layout)
        if table is None:
            self.finish()
            table = self._tables.take(kernel.device, layout)
        assert table is not None  # noqa: S101 - where all others are free there is one
        event = twin.kernel.launch(global_size, group_size, *args, table, observed=False)
        limit_s = ANSWER_S if twin.launched or not kernel.device.traits.is_cpu else BUILDING_S
        twin.launched = True
        self._begun.append(_Begun(event, kernel, twin, table, layout, counted, limit_s))
        if self._mask & TRACED:
            self.finish()
        return event

    def copied(self, event: cl.Event, size_bytes: int) -> None:
        """Take no note: copies are those of the timeline."""

    def start_again(self) -> None:
        """Forget what was found, but not what was built for it; nobody waits for that."""
        self._begun.clear()
        self._tables.free()
        self._found.clear()

    def has_room(self, kernel: Kernel, groups: int, group_size: int) -> bool:
        """Report whether so many work-groups of the instrumented kernel are resident at once."""
        if self._is_foreign(kernel):
            return True
        twin = self._twins.of(kernel)
        resident = resident_groups(kernel.device, twin.kernel, group_size)
        plain = resident_groups(kernel.device, kernel, group_size)
        if not twin.source.waits or resident >= min(groups, plain):
            self._stepping.discard(place_of(kernel))
            return True
        self.run_stepped[place_of(kernel)] = (
            f"an instrumented {kernel.name} has room for {resident} of {groups} work-groups, so it "
            "was launched stage by stage"
        )
        return False

    def stepping(self, kernels: Sequence[Kernel]) -> None:
        """Launch them instrumented however many are resident."""
        self._stepping |= {place_of(kernel) for kernel in kernels}

    def gave_up(self, kernel: Kernel) -> None:
        """Forget what was counted of it, for its launches are run again stage by stage."""
        place = place_of(kernel)
        self.found.pop(place, None)
        self.run_stepped[place] = (
            f"work-groups of an instrumented {kernel.name} waited in vain for one another, so it "
            "was launched stage by stage"
        )

    def release(self) -> None:
        """Free the counters' memory."""
        self._begun.clear()
        self._tables.release()
        self._twins.forget()

    def twin_of(self, kernel: Kernel) -> Kernel:
        """Give the instrumented kernel that stands for a plain one."""
        return self._twins.of(kernel).kernel

    def _is_foreign(self, kernel: Kernel) -> bool:
        foreign = self._device is not None and kernel.device != self._device
        return foreign or kernel.program is None

    def finish(self) -> None:
        """Wait for the launches that were begun, and read what they counted."""
        while self._begun:
            one = self._begun[0]
            try:
                wait(one.event, one.limit_s)
            except KernelTimeoutError as error:
                self._begun.clear()
                self._tables.lose()
                raise KernelTimeoutError(
                    f"an instrumented {one.kernel.name} on {one.kernel.device.name} has not ended "
                    f"within {one.limit_s:g} s{_where_it_stands(one)}; profile without the pass "
                    "that counts, and please report this."
                ) from error
            del self._begun[0]
            _, begin_ns, end_ns = stamps_ns(one.event)
            one.counted.times_ns += end_ns - begin_ns
            self._read(one.twin, one.table, one.layout, one.counted)
        self._tables.free()

    def _read(self, twin: Twin, table: Allocation, layout: Layout, counted: Counted) -> None:
        words = table.read(layout.accesses_at)
        records = layout.records_in(words)
        if self._mask & (Mask.TIME | Mask.SYNC):
            missing = max(layout.groups * layout.per_group - layout.records, 0)
            counted.ran(records, layout.per_group, missing)
            if self._mask & Mask.SYNC and twin.source.flavour == "counters":
                at_sites = decoded_counters(
                    words[HEADER:], records, twin.source.sites, beside=False
                )
                counted.residency.barriers += float(at_sites.where("barrier")[:, 0].sum())
        if not self._mask & TRACED:
            return
        sites = twin.source.sites
        if twin.source.flavour == "counters":
            totals = decoded_counters(words[HEADER:], records, sites)
        else:
            counts = words[HEADER:][: layout.items * len(sites)].reshape(-1, len(sites))
            taken = min(int(words[3]), layout.accesses)
            entries = _read_from(twin.kernel.device, table, layout.accesses_at, 2 * taken).reshape(
                -1, 2
            )
            totals = decoded_trace(
                counts,
                entries,
                sites,
                group_size=layout.group_size,
                groups=layout.groups,
                lanes=self._lanes_of(twin.kernel, layout.group_size),
                banks=twin.kernel.device.traits.local_banks or USUAL_BANKS,
            )
        counted.add(totals)

    def _lanes_of(self, kernel: Kernel, group_size: int) -> int:
        """Say how many work-items count as a SIMD group: those of the device, else 32 at most."""
        own = kernel.device.traits.lanes
        return min(self._lanes or (own if own > 1 else 32), group_size)


def _where_it_stands(begun: _Begun) -> str:
    """Say which lines SIMD groups entered last, read while the kernel runs; "" if unknown."""
    kernel, twin, table, layout = begun.kernel, begun.twin, begun.table, begun.layout
    device, sites = kernel.device, twin.source.sites
    if twin.source.flavour != "counters" or kernel.program is None:
        return ""
    words = np.zeros(layout.accesses_at, np.uint64)
    queue = cl.CommandQueue(table.buffer.context, device.cl)
    try:
        wait(cl.enqueue_copy(queue, words, table.buffer, is_blocking=False), LOOK_S)
    except ClgraphError:
        return ""
    records = layout.records_in(words)
    last = records[:, LAST_BLOCK].astype(np.int64) - 1
    known, groups = np.unique(last[(last >= 0) & (last < len(sites))], return_counts=True)
    lines = kernel.program.source.splitlines()
    counts = [
        f"{count} at {lines[sites[site].line - 1].strip()[:SHOWN]!r}"
        for site, count in zip(known, groups, strict=True)
    ]
    return "; SIMD groups stand behind " + ", ".join(counts) if counts else ""


@functools.cache
def empty_barrier_cycles(device: Device) -> float:
    """Measure what a barrier costs at which nobody waits, in cycles; 0 where there is no clock."""
    kernel = load(device, "profile/barriers.cl").kernel("barriers")
    watching = Counting(Mask.TIME | Mask.SYNC, device)
    size = device.traits.group_of(BARRIER_GROUP)
    event = watching.launch(kernel, size, size, (np.uint32(BARRIER_ROUNDS),))
    wait(event)
    (found,) = watching.found.values()
    watching.release()
    residency = found.residency
    return residency.waited / residency.barriers if residency.barriers else 0.0


def _read_from(device: Device, table: Allocation, first: int, count: int) -> Any:
    """Copy words from the middle of a table."""
    words = np.empty(count, np.uint64)
    if count:
        offset = WORD_BYTES * first
        finish_copy(
            cl.enqueue_copy(device.queue, words, table.buffer, src_offset=offset, is_blocking=False)
        )
    return words


def uses_counters(device: Device) -> bool:
    """Report whether lanes are counted while they run."""
    return flavour_of(device.traits) == "counters"
