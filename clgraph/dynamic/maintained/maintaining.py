"""Truss numbers brought from one version of a dynamic graph to the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.scc.stages import compile_stages, resolve_stages
from clgraph.device import Memory
from clgraph.device.hardware.measured import ROUND_EDGES
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.sweeps import LazyKernels
from clgraph.engine.table import Table
from clgraph.engine.workspace import Workspace
from clgraph.primitives.scanning import Scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.truss.config import PeelingConfig
    from clgraph.device import Allocation, Device
    from clgraph.dynamic.maintained.following import Change
    from clgraph.dynamic.maintained.odds import Odds
    from clgraph.dynamic.storage.store import Store
    from clgraph.engine.driver import Driver
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Followed", "Keys", "Maintenance", "Span"]

STAGES = ("COUNT", "LOWER", "SPREAD", "TEST", "RAISE", "COLLECT")
PHASES = {"FALL": 0, "BISECT": 1, "SETTLE": 2, "TOUCH": 3, "FLOOD": 4, "DROP": 5}
PAYLOAD = {"queue": 1, "listed": 1, "phase": 3, "length": 32, "stamp": 24, "base": 32}
# What deciders keep between stages, in words; pairs are of 64 bits.
CONTROL = {
    "CANDIDATES": 0,
    "ROUNDS": 1,
    "RAISED": 2,
    "LOWERED": 3,
    "STAGES": 4,
    "GAVE_UP": 5,
    "PENDING": 6,
    "OF_CANDIDATES": 8,
    "VISITED": 10,
    "LAST_STAMP": 12,
}
CONTROL_WORDS = 14
EDGE_WORK = 16  # of looking a neighbour up, in edges of a launch's budget; as a peeling's
MOST_STAMPS = 1 << PAYLOAD["stamp"]
FIRST_ORDER = 1 << 30  # of a graph whose numbers were found anew; up to 2**31 edges follow
WIDE = 1 << 32  # sums of the lengths of rows are counted with 64 bits


@dataclass(frozen=True, slots=True)
class Span:
    """An order before, and one after, those of all edges; kernels count on from either."""

    first: int
    last: int

    @classmethod
    def of_removals(cls, edges: int) -> Span:
        """Leave room on both sides of the numbers of as many removals."""
        return cls(FIRST_ORDER, FIRST_ORDER + edges + 1)

    def wider(self, stamps: int) -> Span:
        """Give what follows a run of so many stamps."""
        return Span(self.first - stamps - 1, self.last + stamps + 1)

    @property
    def roomy(self) -> bool:
        """Whether there is room for one more run, whatever it does."""
        return self.first > MOST_STAMPS and self.last < (1 << 32) - 2 - MOST_STAMPS


@dataclass(frozen=True, slots=True)
class Keys:
    """What is kept of each edge: see ``kernels_cl/truss/maintain.mako``.

    Attributes
    ----------
    values : Allocation
        uint64, by place in the pool.
    span : Span
        Between which orders those in use are.
    n : int
        Vertices of the graph.
    work : int
        Elements of the shorter rows of all edges.
    """

    values: Allocation
    span: Span
    n: int
    work: int


@dataclass(frozen=True, slots=True)
class Followed:
    """What a batch did to truss numbers.

    Attributes
    ----------
    span : Span
        What orders edges may have now.
    complete : bool
        Whether the numbers are those of the graph; if not, too much would have been looked at.
    tried : bool
        Whether the batch was followed at all; if not, it was to be seen before that it would be
        too much.
    edges : int
        Edges that the batch set in motion, its own among them where they join.
    lowered, raised : int
        How often an edge gave up a number, and how often one got one that it kept.
    rounds : int
        How often candidates were raised.
    stages : int
        Steps on the device.
    visited : int
        Elements of rows that were looked at.
    work : int
        Elements of the shorter rows of all edges, which a recount looks at several times.
    mode : str
        "persistent" or "stepped"; "none" where nothing was set in motion.
    """

    span: Span
    complete: bool = True
    tried: bool = True
    edges: int = 0
    lowered: int = 0
    raised: int = 0
    rounds: int = 0
    stages: int = 0
    visited: int = 0
    work: int = 0
    mode: str = "none"


class Maintenance:
    """Kernels and scratch memory that follow the truss numbers of one graph.

    Parameters
    ----------
    device : Device
        Where.
    config : PeelingConfig
        Of whom the schedule counts.
    """

    def __init__(self, device: Device, config: PeelingConfig) -> None:
        self._device, self._config = device, config
        self._memory = Memory(device)
        self._work = Workspace(device, growing=True)
        self._scan = Scan(device, np.uint32)
        self._kernels = LazyKernels(device, {"batch": ("truss/batch.cl", {})})
        self._resolved = resolve_stages(config, device.traits, WIDE, entry="vertex")
        self._table = self._declared()
        self._stages: Driver | None = None

    @staticmethod
    def _declared() -> Table:
        """Declare what the kernel takes."""
        table = Table()
        table.given("uint", "pointer", "[vertices] where rows begin", "read")
        table.given("uint", "used", "[vertices] lengths of rows", "read")
        table.given("uint", "indices", "by place, ascending in each row", "read")
        table.given("uint", "sources", "by place: whose row it is in", "read")
        table.given("ulong", "keys", "by place, in/out", "write")
        table.given("uint", "marks", "by place, in/out: stamps", "write")
        table.given("uint", "counts", "by place, in/out, 0 between rounds", "write")
        for name in ("queue_even", "queue_odd", "candidates"):
            table.given("uint", name, "[n + slack] places of edges", "write")
        table.given("uint", "n", "room of lists")
        table.given("uint", "listed", "edges to begin with")
        table.given("uint", "first_phase")
        table.given("uint", "first_order", "before that of all edges")
        table.given("uint", "last_order", "after it")
        table.given("ulong", "most_visited", "elements of rows, before it gives up")
        table.array("uint", "control", CONTROL_WORDS, "what deciders keep, see clgraph", "shared")
        return table

    def _sums(self, log: SweepLog, name: str, items: int, *args: Any) -> Allocation:
        """Launch what writes lengths; give their exclusive sums."""
        sums = self._work.array(name, items + 1, np.uint32)
        self._kernels.launch(log, name, items + 1, *args, sums)
        self._scan.enqueue(log, sums, items + 1, sums)
        return sums

    def _word(self, log: SweepLog, name: str) -> Allocation:
        """Give a word of 64 bits that is 0."""
        word = self._work.array(name, 1, np.uint64)
        event = word.clear()
        log.add(event, event)
        return word

    def _arrays(self, names: Sequence[str], count: int) -> dict[str, Allocation]:
        return {name: self._work.array(name, count, np.uint32) for name in names}

    def rows(self, log: SweepLog, store: Store) -> tuple[Any, ...]:
        """Give the arguments that kernels about all rows begin with."""
        n = np.uint32(store.n)
        return self._sums(log, "batch_rows", store.n, store.used, n), n, np.uint32(store.m)

    def packed(self, log: SweepLog, store: Store, keys: Allocation) -> Allocation:
        """Copy the numbers of keys by place to an array row after row."""
        target = self._work.array("packed", max(store.m, 1), np.uint32)
        args = (*self.rows(log, store), store.pointer, keys, target)
        self._kernels.launch(log, "batch_pack", store.m, *args)
        return target

    def unpacked(
        self,
        log: SweepLog,
        store: Store,
        numbers: Allocation,
        removals: Allocation,
        values: Allocation,
    ) -> Keys:
        """Write keys by place from numbers and an order row after row."""
        span, work = Span.of_removals(store.m // 2), self._word(log, "work")
        now = (store.pointer, store.used, store.pools[0])
        held = (numbers, removals, np.uint32(span.first + 1), values, work)
        self._kernels.launch(log, "batch_unpack", store.m, *self.rows(log, store), *now, *held)
        log.wait()
        return Keys(values, span, store.n, int(work.read()[0]))

    def follow(
        self, log: SweepLog, change: Change, old: Keys, keys: Allocation, odds: Odds
    ) -> Followed:
        """Find the truss numbers after a batch.

        Parameters
        ----------
        log : SweepLog
            Notes the launches.
        change : Change
            The batch, and the graph before and after it.
        old : Keys
            Those of the graph before.
        keys : Allocation
            uint64, by place: those after, to be written.
        odds : Odds
            How much may be looked at, and whether to try.
        """
        before, after, joins = change.before, change.after, change.joins
        pending = self._word(log, "pending")
        given = (*change.keys, after.used if joins else before.used, pending)
        sums = self._sums(log, "batch_lengths", change.batch.count, *given)
        own = int(pending.read()[0])
        refused = Followed(old.span, complete=False, tried=False, work=old.work)
        if own >= WIDE or odds.hopeless(own, old.work, joins=joins):
            return refused
        edges = max(after.m // 2, 1)
        scratch = self._arrays(("sources", "marks", "counts"), after.entries)
        lists = self._arrays(("queue_even", "queue_odd", "candidates"), edges + QUEUE_SLACK)
        listed = self._work.array("listed", 1, np.uint32)
        rows = self.rows(log, after)
        now = (after.pointer, after.used, after.pools[0])
        then = (before.pointer, before.used, before.pools[0], old.values)

        def prepare() -> Allocation:
            event = listed.clear()
            log.add(event, event)
            work = self._word(log, "work")
            made = (keys, scratch["sources"], scratch["marks"], scratch["counts"], work)
            self._kernels.launch(
                log, "batch_carry", after.m, *rows, *then, np.uint32(before.n), *now, *made
            )
            if joins:
                tried = (keys, scratch["marks"], lists["candidates"], lists["queue_even"], listed)
                about = (*change.keys, np.uint32(old.span.first))
                self._kernels.launch(log, "batch_join", change.batch.count, *about, *now, *tried)
            elif own:
                lost = (*change.keys, sums, np.uint32(own))
                ends = (scratch["marks"], lists["queue_even"], listed, self._word(log, "pending"))
                self._kernels.launch(log, "batch_leave", own, *lost, *then, *now, *ends)
            return work

        whole = int(prepare().read()[0])
        count, first = int(listed.read()[0]), own if joins else int(pending.read()[0])
        if not count:
            return Followed(span=old.span, work=whole)
        if first > odds.allowed(whole):
            return replace(refused, work=whole)
        if self._stages is None:
            self._stages = self._compiled()
        control = self._table["control"]

        def begin() -> None:
            words = np.zeros(CONTROL_WORDS, np.uint32)
            words[CONTROL["CANDIDATES"]] = count if joins else 0
            words[CONTROL["PENDING"] :][:2] = np.array([first], np.uint64).view(np.uint32)
            control.write(words)

        def again() -> None:
            prepare()
            begin()

        begin()
        outcome = self._stages.run(
            {
                **dict(zip(("pointer", "used", "indices"), now, strict=True)),
                **scratch,
                **lists,
                "keys": keys,
                "n": np.uint32(edges),
                "listed": np.uint32(count),
                "first_phase": np.uint32(PHASES["BISECT" if joins else "FALL"]),
                "first_order": np.uint32(old.span.first),
                "last_order": np.uint32(old.span.last),
                "most_visited": np.uint64(odds.allowed(whole)),
            },
            restart=again,
        )
        log.add(*outcome.events, outcome.launches)
        words = control.read()
        odds.note(own, whole, joins=joins, complete=not words[CONTROL["GAVE_UP"]])
        return Followed(
            complete=not words[CONTROL["GAVE_UP"]],
            span=old.span.wider(int(words[CONTROL["LAST_STAMP"]])),
            edges=count,
            lowered=int(words[CONTROL["LOWERED"]]),
            raised=int(words[CONTROL["RAISED"]]),
            rounds=int(words[CONTROL["ROUNDS"]]),
            stages=int(words[CONTROL["STAGES"]]),
            visited=int(words[CONTROL["VISITED"] :][:2].view(np.uint64)[0]),
            work=whole,
            mode=outcome.mode,
        )

    def _compiled(self) -> Driver:
        traits = self._device.traits
        stages = compile_stages(
            self._device,
            "truss/follow.cl",
            STAGES,
            self._resolved,
            self._table,
            first=STAGES[0],
            payload=PAYLOAD,
            phases=PHASES,
            control=CONTROL,
            most_stamps=MOST_STAMPS,
            round_work=ROUND_EDGES.on(traits),
            edge_work=EDGE_WORK,
        )
        self._table.allocate(self._memory)
        return stages

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory."""
        return self._work.size_bytes + self._scan.size_bytes

    def release(self) -> None:
        """Let go of scratch memory."""
        self._work.release()
        self._scan.release()
