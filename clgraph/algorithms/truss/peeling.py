"""The peeling engine: removes items by levels of their counts, whatever items and counts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.scc.stages import ROUND_WORK, compile_stages, resolve_stages
from clgraph.device.lazy import cl
from clgraph.engine.choose import QUEUE_SLACK
from clgraph.progress import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.truss.config import PeelingConfig
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.kernel import Argument
    from clgraph.device.memory import Progress
    from clgraph.engine.sweeps import SweepLog

__all__ = ["NO_LEVEL", "STATE_BYTES", "Incidence", "Peeled", "Peeling", "copy"]

STAGES = ("FIND", "PEEL", "CLEAR", "COUNT", "COMPACT", "WRAP", "ROWS")
STAMPS = 250  # rounds that a byte tells apart, beside alive and gone; even
# What deciders keep between stages, in words; pairs are of 64 bits.
CONTROL = {
    "LEFT_ITEMS": 0,
    "LISTED": 1,
    "FRONTIER": 2,
    "ROUNDS": 3,
    "LEAST": 4,
    "LAST_LEVEL": 5,
    "LEFT_EDGES": 6,
    "PENDING_EDGES": 8,
    "VISITED": 10,
}
CONTROL_WORDS = 12
NO_LEVEL = 2**32 - 2  # above every level
HISTORY_CAPACITY = 1 << 14  # stages whose size and time are kept; 16 bytes each
# Device bytes of an item: its count, its number, its stamp, two queues and two lists.
STATE_BYTES = 4 + 4 + 1 + 4 * 4
# What a look at a row's element costs, in edges of a launch's budget.
EDGE_WORK = {"neighbours": 1, "lists": 2, "rows": 16}
# Rounds that look at so few elements are one group's; not measured yet.
FEW_EDGES = 4096
RECOUNT = {"subtract": 0, "recount": 1, None: 2}


@dataclass(frozen=True, slots=True)
class Incidence:
    """What items are part of, as the kernel is rendered for and given it.

    Attributes
    ----------
    kind : {"neighbours", "lists", "rows"}
        See ``kernels_cl/truss/incidence.mako``.
    arguments : tuple
        The kernel's first.
    total : int
        Lengths of the rows of all items together.
    reset : callable, optional
        Enqueues what undoes a run's changes of these arrays.
    row_type : str
        What rows are numbered by.
    """

    kind: str
    arguments: tuple[Argument, ...]
    total: int
    reset: Callable[[SweepLog], object] | None = None
    row_type: str = "uint"


@dataclass(frozen=True, slots=True)
class Peeled:
    """What a run of the engine left behind.

    Attributes
    ----------
    left : int
        Items that were not removed; 0 where that was known before the last went.
    level : int
        At which the last stage was.
    visited : int
        Elements of rows that rounds looked at.
    rounds : structured array
        For each round that removed items, as far as they are kept: ``level``, ``removed`` and
        ``milliseconds`` since the one before (NaN where the device has no clock).
    lost : int
        Stages that were too many to be kept.
    mode : str
        "persistent" or "stepped".
    """

    left: int
    level: int
    visited: int
    rounds: NDArray[Any]
    lost: int
    mode: str


def copy(log: SweepLog, device: Device, source: Allocation, target: Allocation) -> None:
    """Enqueue a copy of a whole array on the device."""
    event = cl.enqueue_copy(
        device.queue,
        target.buffer,
        source.buffer,
        byte_count=min(source.size_bytes, target.size_bytes),
    )
    log.add(event, event)


class Peeling:
    """The peeling kernel, compiled for one incidence and device.

    Parameters
    ----------
    config : PeelingConfig
        What was asked for.
    device : Device
        Where.
    memory : Memory
        What to allocate from; `STATE_BYTES` per item.
    items : int
        How many, at least one.
    incidence : Incidence
        What they are part of; another of the same kind and sizes may take its place.
    offset : int
        Of an item's number from the level at which it goes.
    """

    def __init__(
        self,
        config: PeelingConfig,
        device: Device,
        memory: Memory,
        items: int,
        incidence: Incidence,
        offset: int,
    ) -> None:
        self.items = items
        self._device, self.incidence = device, incidence
        traits = device.traits
        resolved = resolve_stages(config, traits, incidence.total, entry="vertex", alone=True)
        # Where a group has several SIMD groups and there is one kernel, a group alone does rounds.
        single_group = resolved.group_size > resolved.lanes and resolved.kernels == "fused"
        self._driver, program = compile_stages(
            device,
            "truss/peel.cl",
            STAGES,
            resolved,
            STAGES[0],
            incident=incidence.kind,
            single_group=single_group,
            few_edges=FEW_EDGES,
            STAMPS=STAMPS,
            control=CONTROL,
            row_type=incidence.row_type,
            round_work=ROUND_WORK[traits.is_cpu],
            edge_work=EDGE_WORK[incidence.kind],
        )
        self.source_hash = program.source_hash
        self._recount = np.uint32(RECOUNT[config.removal])
        self._offset = np.uint32(offset)
        self.counts = memory.allocate("counts", items, np.uint32)
        self.status = memory.allocate("status", items, np.uint8)
        self.numbers = memory.allocate("numbers", items, np.uint32)
        room = items + QUEUE_SLACK
        names = ("queue_even", "queue_odd", "left_even", "left_odd")
        self._queues = tuple(memory.allocate(name, room, np.uint32) for name in names)
        self._control = memory.allocate("peeling_control", CONTROL_WORDS, np.uint32)
        self._history = memory.allocate("peeling_rounds", 4 * (1 + HISTORY_CAPACITY), np.uint32)

    def begin(self, log: SweepLog, counts: Allocation) -> None:
        """Enqueue what puts all items back."""
        copy(log, self._device, counts, self.counts)
        for array in (self.status, self.numbers):
            event = array.clear()
            log.add(event, event)
        if self.incidence.reset:
            self.incidence.reset(log)

    def run(
        self,
        log: SweepLog,
        restore: Callable[[], object],
        *,
        left: int,
        levels: tuple[int, int] = (0, NO_LEVEL),
        quorum: int = 0,
        resumed: bool = False,
        progress: Progress | None = None,
    ) -> Peeled:
        """Remove items, level by level.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        restore : callable
            Enqueues what puts counts and status where the run begins; called first, and again
            should it begin anew.
        left : int
            Items that are there then.
        levels : (int, int)
            The first and the last.
        quorum : int
            With fewer items left, none would be left in the end: the run ends.
        resumed : bool
            Whether what another run left is restored, and will be again: rows then lose only what
            that run removed.
        progress : callable or True, optional
            Told how many items have gone, between launches.
        """

        def prepare() -> None:
            restore()
            control = np.zeros(CONTROL_WORDS, np.uint32)
            control[CONTROL["LEFT_ITEMS"]] = left
            control[CONTROL["LISTED"]] = self.items
            control[CONTROL["LEAST"]] = 2**32 - 1
            total = np.array([self.incidence.total], np.uint64).view(np.uint32)
            control[CONTROL["LEFT_EDGES"] :][:2] = total
            self._control.write(control)

        def between() -> None:
            now = int(self._control.read(1)[0])
            tell(progress, self.items - now, self.items, "peeling")

        prepare()
        outcome = self._driver.run(
            *self.incidence.arguments,
            np.uint32(self.items),
            *map(np.uint32, levels),
            self._offset,
            np.uint32(quorum),
            self._recount,
            np.uint32(1 if resumed else 2),
            *(self.counts, self.status, self.numbers, *self._queues, self._control),
            *(self._history, np.uint32(HISTORY_CAPACITY)),
            between=between if progress else None,
            restart=prepare,
        )
        log.add(*outcome.events, outcome.launches)
        control = self._control.read()
        stages = int(control[CONTROL["ROUNDS"]])
        visited = int(control[CONTROL["VISITED"] :][:2].view(np.uint64)[0])
        stay = int(control[CONTROL["LEFT_ITEMS"]])
        return Peeled(
            left=0 if stay < quorum else stay,
            level=int(control[CONTROL["LAST_LEVEL"]]),
            visited=visited,
            rounds=self._rounds(stages),
            lost=max(stages - HISTORY_CAPACITY, 0),
            mode=outcome.mode,
        )

    def _rounds(self, stages: int) -> NDArray[Any]:
        """Read what the kernel noted of its rounds."""
        kept = min(stages, HISTORY_CAPACITY)
        noted = self._history.read(4 * (1 + kept)).reshape(-1, 4)
        removing = np.flatnonzero(noted[1:, 1] > 0) + 1
        kind = [("level", np.uint32), ("removed", np.uint32), ("milliseconds", np.float64)]
        rounds = np.zeros(len(removing), kind)
        rounds["level"], rounds["removed"] = noted[removing, 0], noted[removing, 1]
        clock = noted[np.concatenate([[0], removing]), 3]
        took = np.diff(clock) / 1e6  # modulo 2**32 ns, as the clock is
        rounds["milliseconds"] = took if noted[1:, 3].any() else np.nan
        return rounds
