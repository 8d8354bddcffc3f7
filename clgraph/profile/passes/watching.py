"""Launching instrumented kernels in the stead of plain ones, and reading what they counted."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, resident_groups, wait
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.errors import ClgraphError, KernelTimeoutError
from clgraph.profile.criteria import USUAL_BANKS
from clgraph.profile.instrument import (
    HEADER,
    LAST_BLOCK,
    MOST_RECORDS,
    Mask,
    flavour_of,
)
from clgraph.profile.passes.counters import Totals, decoded_counters
from clgraph.profile.passes.layout import Layout
from clgraph.profile.passes.residency import Residency
from clgraph.profile.passes.timeline import place_of, stamps_ns
from clgraph.profile.passes.traces import decoded_trace
from clgraph.profile.passes.twins import TRACED, Twins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.device import Device, Kernel
    from clgraph.device.memory.allocation import Allocation
    from clgraph.device.programs.kernel import Argument
    from clgraph.profile.instrument import Flavour
    from clgraph.profile.passes.timeline import Place
    from clgraph.profile.passes.twins import Twin

__all__ = ["Counting", "empty_barrier_cycles", "uses_counters"]

WORD_BYTES = 8
BARRIER_GROUP, BARRIER_ROUNDS = 256, 64
LOOK_S = 2.0  # for the counters of a kernel that is still running
SHOWN = 60  # letters of a line
MOST_PARTS = 256  # launches whose counters are kept apart
ANSWER_S = 60.0  # a launch is bounded to a second of work, and counting may take fifty times that
BUILDING_S = 600.0  # of a first launch, where drivers of processors build what is launched


@dataclass(slots=True)
class Counted:
    """What a pass found about one kernel."""

    times_ns: int = 0
    parts: list[Totals] = field(default_factory=list)
    _ran: Residency = field(default_factory=Residency)
    _records: list[tuple[NDArray[np.uint64], int, int]] = field(default_factory=list)
    _kept: int = 0

    @property
    def residency(self) -> Residency:
        """Where and when SIMD groups ran in all launches so far."""
        for records in self._records:
            self._ran.add(*records)
        self._records.clear()
        self._kept = 0
        return self._ran

    def ran(self, records: NDArray[np.uint64], per_group: int, missing: int) -> None:
        """Keep the records of a launch, to be read after the run, not between launches."""
        self._records.append((records, per_group, missing))
        self._kept += len(records)
        if self._kept > MOST_RECORDS:
            _ = self.residency

    @property
    def totals(self) -> Totals | None:
        """Counters of all launches so far; None where nothing counted."""
        self._join()
        return self.parts[0] if self.parts else None

    def _join(self) -> None:
        if len(self.parts) > 1:
            first, *others = self.parts
            first.add(*others)
            self.parts[:] = [first]

    def add(self, totals: Totals) -> None:
        """Add those of a launch; not one by one, for a search may have thousands."""
        self.parts.append(totals)
        if len(self.parts) > MOST_PARTS:
            self._join()


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
    found : dict of Place to Counted
        By kernel.
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
        # By queue, grown where a launch needs more: each is read before the next is written to, so
        # that one thread launches at a time.
        self._tables: dict[int, Allocation] = {}
        self._launching = threading.Lock()
        self.left_plain: dict[Place, str] = {}
        self.run_stepped: dict[Place, str] = {}
        self._stepping: set[Place] = set()
        self.found: dict[Place, Counted] = {}

    def launch(
        self, kernel: Kernel, global_size: int, group_size: int, args: tuple[Argument, ...]
    ) -> cl.Event:
        """Launch what stands for it, and read its counters."""
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
        counted = self.found.setdefault(place_of(kernel), Counted())
        layout = Layout.of(twin.source, self._mask, groups, group_size)
        table = self._table(kernel.device, layout)
        event = twin.kernel.launch(global_size, group_size, *args, table, observed=False)
        is_built = twin.launched or not kernel.device.traits.is_cpu
        limit_s = ANSWER_S if is_built else max(ANSWER_S, BUILDING_S)
        try:
            wait(event, limit_s)
        except KernelTimeoutError as error:
            # It is written to until the process ends.
            del self._tables[kernel.device.queue.int_ptr]
            raise KernelTimeoutError(
                f"an instrumented {kernel.name} on {kernel.device.name} has not ended within "
                f"{limit_s:g} s{_where_it_stands(kernel, twin, table, layout)}; profile without "
                "the pass that counts, and please report this."
            ) from error
        twin.launched = True
        _, begin_ns, end_ns = stamps_ns(event)
        counted.times_ns += end_ns - begin_ns
        self._read(twin, table, layout, counted)
        return event

    def copied(self, event: cl.Event, size_bytes: int) -> None:
        """Take no note: copies are those of the timeline."""

    def start_again(self) -> None:
        """Forget what was found, but not what was built for it."""
        self.found.clear()

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
        for table in self._tables.values():
            table.release()
        self._tables.clear()
        self._twins.forget()

    def twin_of(self, kernel: Kernel) -> Kernel:
        """Give the instrumented kernel that stands for a plain one."""
        return self._twins.of(kernel).kernel

    def _is_foreign(self, kernel: Kernel) -> bool:
        foreign = self._device is not None and kernel.device != self._device
        return foreign or kernel.program is None

    def _table(self, device: Device, layout: Layout) -> Allocation:
        key = device.queue.int_ptr
        table = self._tables.get(key)
        if table is None or table.count < layout.words:
            if table is not None:
                table.release()
            table = Memory(device).allocate("counters", layout.words, np.uint64)
            self._tables[key] = table
        # What comes after the counters and records is only read where it was written. Nobody waits:
        # a kernel that follows at once runs like one among others.
        zero = np.zeros(1, np.uint32)
        cl.enqueue_fill_buffer(device.queue, table.buffer, zero, 0, WORD_BYTES * layout.zeroed)
        if layout.has_header:
            table.write(layout.header())
        return table

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


def _where_it_stands(kernel: Kernel, twin: Twin, table: Allocation, layout: Layout) -> str:
    """Say which lines SIMD groups entered last, read while the kernel runs; "" if unknown."""
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
