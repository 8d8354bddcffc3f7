"""The peeling engine: removes items by levels of their counts, whatever items and counts are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.scc.stages import compile_stages, resolve_stages
from clgraph.algorithms.truss.shape import drift_of, shaped
from clgraph.device import Mirror
from clgraph.device.hardware.measured import ONE_GROUP_EDGES, PEELING_DRIFT, ROUND_EDGES
from clgraph.device.lazy import cl
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.sweeps import SweepLog
from clgraph.engine.table import Table
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.algorithms.truss.config import PeelingConfig
    from clgraph.algorithms.truss.incidence import Incidence
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress

__all__ = ["NO_LEVEL", "STATE_BYTES", "Following", "Peeled", "Peeling", "copy"]

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
    "REMOVALS": 12,
    "DRIFTED": 13,
    "DRIFTED_EDGES": 14,
}
CONTROL_WORDS = 16
# What a run finds there, and leaves so; it begins with the others itself.
INITIAL_CONTROL = np.zeros(CONTROL_WORDS, np.uint32)
INITIAL_CONTROL[CONTROL["LEAST"]] = 2**32 - 1
NO_LEVEL = 2**32 - 2  # above every level
HISTORY_CAPACITY = 1 << 14  # stages whose size and time are kept; 16 bytes each
# Device bytes of an item: its count, its number, its stamp, two queues and two lists.
STATE_BYTES = 4 + 4 + 1 + 4 * 4
FIND_AHEAD = 4  # items whose counts a lane asks for at once
ABREAST = {"neighbours": 4, "lists": 2}  # elements of rows that a lane that drifts asks for at once
# What a look at a row's element costs, in edges of a launch's budget.
EDGE_WORK = {"neighbours": 1, "lists": 2, "rows": 16}
# Of a stage: which queue; which list of those left; how much; the stamp that it gives, and whether
# a COUNT is to follow; the level. Those two share a field: with one more at hand, groups of 1,024
# have no register left for it, and rounds of a mesh took half as long again.
PAYLOAD = {"queue": 1, "list": 2, "length": 32, "stamp": 24, "level": 32}
RECOUNT = {"subtract": 0, "recount": 1, None: 2}


@dataclass(frozen=True)
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
    lost : int
        Stages that were too many to be kept.
    mode : str
        "persistent" or "stepped".
    """

    left: int
    level: int
    visited: int
    lost: int
    mode: str
    _noted: Callable[[], NDArray[np.uint32]]

    @cached_property
    def rounds(self) -> NDArray[Any]:
        """What is kept of rounds that removed items, a structured array.

        ``level``, ``removed`` and ``milliseconds`` since the one before (NaN where the device has
        no clock).
        """
        noted = self._noted().reshape(-1, 4)
        removing = np.flatnonzero(noted[1:, 1] > 0) + 1
        kind = [("level", np.uint32), ("removed", np.uint32), ("milliseconds", np.float64)]
        rounds = np.zeros(len(removing), kind)
        rounds["level"], rounds["removed"] = noted[removing, 0], noted[removing, 1]
        clock = noted[np.concatenate([[0], removing]), 3]
        took = np.diff(clock) / 1e6  # modulo 2**32 ns, as the clock is
        rounds["milliseconds"] = took if noted[1:, 3].any() else np.nan
        return rounds


class Following(NamedTuple):
    """What follows a run.

    Attributes
    ----------
    enqueue : callable
        Enqueues it in a log.
    wanted : callable
        Whether it is to, by `left` and `level` of what came of the run; on a card it is enqueued
        before that is known.
    """

    enqueue: Callable[[SweepLog], object]
    wanted: Callable[[int, int], bool]


class Look(Mirror):
    """Host copy of deciders' words, with the first of which in a run goes what is to follow it."""

    follow: Callable[[], object] | None = None

    def enqueue(self) -> cl.Event:
        """Copy the words, and then enqueue what follows, if that has not been done."""
        event = super().enqueue()
        follow, self.follow = self.follow, None
        if follow:
            follow()
        return event


def copy(log: SweepLog, device: Device, source: Allocation, target: Allocation) -> None:
    """Enqueue a copy of a whole array on the device."""
    event = cl.enqueue_copy(
        device.queue,
        target.buffer,
        source.buffer,
        byte_count=min(source.size_bytes, target.size_bytes),
    )
    log.add(event)


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
    ordered : bool
        Whether `removals` is to give a place of each in an order in which they may be removed one
        by one. That of a round's items differs from run to run.
    """

    def __init__(
        self,
        config: PeelingConfig,
        device: Device,
        memory: Memory,
        items: int,
        incidence: Incidence,
        offset: int,
        *,
        ordered: bool = False,
    ) -> None:
        self.items, self._offset = items, offset
        self.device, self.incidence = device, incidence
        traits = device.traits
        # Places in an order are drawn round by round: nothing keeps what drifts from being early.
        may_drift = not ordered and (incidence.kind != "lists" or incidence.claimed)
        drift = drift_of(config, traits, incidence.kind, incidence.max_degree) if may_drift else 0
        resolved = resolve_stages(
            shaped(config, traits, incidence.kind, drift),
            traits,
            incidence.total,
            entry="vertex",
            alone=True,
        )
        # Where a group has several SIMD groups and there is one kernel, a group alone does rounds,
        # unless SIMD groups go on without waiting for the rest of theirs either.
        several = resolved.group_size > resolved.lanes and resolved.kernels == "fused"
        single_group = several and not drift
        table = self._table(incidence, items, offset, RECOUNT[config.removal])
        claiming = drift > 0 and incidence.kind == "lists"
        if claiming:
            words = -(-max(incidence.total, 1) // 32)
            table.array("uint", "claims", words, "in/out: a bit for each triangle", "shared")
            table.number("uint", "claim_words", words)
        if ordered:
            table.array("uint", "removals", items, "[n] out, where removed: in which order")
        self._stages = compile_stages(
            device,
            "truss/peel.cl",
            STAGES,
            resolved,
            table,
            first=STAGES[0],
            payload=PAYLOAD,
            incident=incidence.kind,
            ordered=ordered,
            single_group=single_group,
            few_edges=ONE_GROUP_EDGES.on(traits),
            drift=drift,
            drift_items=PEELING_DRIFT.on(traits)[1],
            claiming=claiming,
            wide=ABREAST.get(incidence.kind, 1) if traits.lanes > 1 else 1,
            find_ahead=1 if traits.lanes == 1 else FIND_AHEAD,
            STAMPS=STAMPS,
            control=CONTROL,
            row_type=incidence.row_type,
            round_work=ROUND_EDGES.on(traits),
            edge_work=EDGE_WORK[incidence.kind],
        )
        self.source_hash: str = self._stages.program.source_hash
        table.allocate(memory)
        self.counts, self.status = table["counts"], table["status"]
        self.numbers = table["numbers"]
        self.removals: Allocation | None = table["removals"] if ordered else None
        self.drift = drift
        self._control, self._history = table["control"], table["history"]
        self._deciders = Look(device, self._control, 0, CONTROL_WORDS)
        self.ahead = not traits.is_cpu  # where work that was in vain costs less than a wait
        self._claims: Allocation | None = table["claims"] if claiming else None
        self._settled = False  # whether deciders' words are as a run begins with

    @staticmethod
    def _table(incidence: Incidence, items: int, offset: int, recounting: int) -> Table:
        """Declare what the kernel takes."""
        table = Table()
        for row in incidence.rows:
            table.given(*row)
        table.number("uint", "n", items, "items")
        note = "items with counts up to a level are below it"
        table.given("uint", "initial", "[n] counts, where all items begin anew", "read")
        table.given("uint", "anew", "whether they do")
        table.given("uint", "all_items", "that are there at first")
        table.given("ulong", "all_edges", "lengths of all rows together")
        table.given("uint", "first_level", note)
        table.given("uint", "last_level")
        table.number("uint", "offset", offset, "of an item's number from the level it goes at")
        table.given("uint", "quorum", "with fewer items left nothing will be left")
        table.number("uint", "recounting", recounting, "0 never, 1 always, 2 where it is cheaper")
        note = "2: rows may be dropped; 1: only what another run left, at first"
        table.given("uint", "dropping", note)
        table.array("uint", "counts", items, "[n] in/out")
        table.array("uchar", "status", items, "[n] in/out")
        table.array("uint", "numbers", items, "[n] out, where removed")
        for name in ("queue_even", "queue_odd", "left_even", "left_odd"):
            table.array("uint", name, items + QUEUE_SLACK, "[n + slack]")
        table.array("uint", "control", CONTROL_WORDS, "what deciders keep, see clgraph", "shared")
        note = "[1 + capacity] out: level, removed, stage, clock"
        table.array("uint4", "history", 1 + HISTORY_CAPACITY, note)
        table.number("uint", "capacity", HISTORY_CAPACITY)
        return table

    def begin(self, log: SweepLog, counts: Allocation) -> None:
        """Enqueue what puts all items back, with such counts, for whoever does not run."""
        copy(log, self.device, counts, self.counts)
        for array in (self.status, self.numbers):
            log.add(array.clear())
        if self.incidence.reset:
            self.incidence.reset(log)

    def run(
        self,
        log: SweepLog,
        initial: Allocation | Callable[[], object],
        *,
        left: int,
        levels: tuple[int, int] = (0, NO_LEVEL),
        quorum: int = 0,
        resumed: bool = False,
        progress: Progress | None = None,
        then: Following | None = None,
    ) -> Peeled:
        """Remove items, level by level.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        initial : Allocation or callable
            Counts that all items begin anew with; or what enqueues that counts and status are put
            where the run begins, which is called first, and again should it begin anew.
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
            Called with how many items have gone, between launches.
        then : Following, optional
            What follows, enqueued before the host asks for rounds.
        """

        def prepare() -> None:
            if callable(initial):
                initial()
                if self._claims is not None:  # a run that begins anew forgets them by itself
                    log.add(self._claims.clear())
            elif self.incidence.reset:
                self.incidence.reset(log)
            if not self._settled:
                self._control.write(INITIAL_CONTROL)
            self._settled = False

        def between() -> None:
            now = int(self._deciders.words[CONTROL["LEFT_ITEMS"]])
            report_progress(progress, self.items - now, self.items, "peeling")

        prepare()
        follows = SweepLog()
        self._deciders.follow = partial(then.enqueue, follows) if then and self.ahead else None
        first, last = levels
        outcome = self._stages.run(
            {
                **self.incidence.bound,
                "initial": self.counts if callable(initial) else initial,
                "anew": np.uint32(not callable(initial)),
                "all_items": np.uint32(left),
                "all_edges": np.uint64(self.incidence.total),
                "first_level": np.uint32(first),
                "last_level": np.uint32(last),
                "quorum": np.uint32(quorum),
                "dropping": np.uint32(1 if resumed else 2),
            },
            between=between if progress else None,
            restart=prepare,
            beside=self._deciders,
        )
        self._settled = True
        log.add(*outcome.events, outcome.launches)
        control = self._deciders.words.copy()
        stages = int(control[CONTROL["ROUNDS"]])
        stay = int(control[CONTROL["LEFT_ITEMS"]])
        left, level = 0 if stay < quorum else stay, int(control[CONTROL["LAST_LEVEL"]])
        if outcome.launches == 1 and then and self.ahead:
            log.add_all(follows)
        elif then and then.wanted(left, level):
            then.enqueue(log)
        return Peeled(
            left=left,
            level=level,
            visited=int(control[CONTROL["VISITED"] :][:2].view(np.uint64)[0]),
            lost=max(stages - HISTORY_CAPACITY, 0),
            mode=outcome.mode,
            _noted=self._history.read_later(4 * (1 + min(stages, HISTORY_CAPACITY))),
        )

    def removed_at(self, level: int, found: Peeled) -> int:
        """Count the items that went at a level of the last run."""
        if found.lost:  # not all rounds are kept
            return int(np.count_nonzero(self.numbers.read() == level + self._offset))
        return int(found.rounds["removed"][found.rounds["level"] == level].sum())
