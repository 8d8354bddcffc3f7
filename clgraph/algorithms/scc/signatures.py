"""Strong components by two-sided signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.scc.stages import Recorded, limit_scans, resolve_stages
from clgraph.device.hardware.measured import SIGNATURE_ROUNDS, TRIM_ENTRY, TRIM_WORTH
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.sweeps import Sweeper
from clgraph.engine.table import Table
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resident import ResidentGraph
    from clgraph.engine.sweeps import SweepLog

__all__ = ["MOST_EDGES", "Signatures"]

STAGES = ("PREPARE", "LIST", "TRIM", "PROPAGATE", "DETECT", "REMOVE", "INIT")
# Of a stage: which list, whether no signature changed; the repetition, how often its rounds were
# too few, whether SIMD groups go on from what changed, whether edges are linked, how many such
# relays were in vain of late, and the round.
PAYLOAD = {
    "queue": 1,
    "at_rest": 1,
    "length": 32,
    "repetition": 16,
    "stretch": 5,
    "relay": 1,
    "linked": 1,
    "vain": 3,
    "level": 32,
}
FACTORS = (0x9E3779B1, 0x85EBCA77)  # odd, with bits that look random
MOST_EDGES = 2**32 - QUEUE_SLACK  # fewer than which a list numbers with 32 bits
LIST_SPAN = 16  # neighbouring edges of one lane
HOPS = 8  # of a chain of signatures that one look follows
# Near repetitions: how often patience grows before, their rounds as parts of those of the first,
# and that one edge in so many must go for another of the same. 64 left so many cycles of a comb of
# a million vertices that 3,577 rounds followed, 256 so few that 1,262 did.
NEAR_FROM, NEAR_PARTS, NEAR_WORTH = 2, (4, 2, 1), 256
# They are for graphs of which one edge in so many begins where no greater priority has come to.
NEAR_ROOTS = 256
# Of relays: that no more than one edge in so many told of a change in the round before, signatures
# that wait in a work-group, turns of a SIMD group in a stage, as many on a processor, where few do
# the work of all, and how often they are halved where they ran out; edges of a vertex, stages from
# one round of all to the next, rounds before the first, and the fewest to come that edges are
# linked for.
RELAY_SHARE, RELAY_ROOM, RELAY_TURNS, CPU_TURNS, RELAY_VAIN = 4, 4096, 256, 1 << 16, 3
MOST_LINKS, RELAY_EVERY, RELAY_FROM, RELAY_LEAST = 32, 4, 2, 8


class Signatures(Recorded):
    """The signature kernel, compiled for one graph and device.

    Parameters
    ----------
    config : SCCConfig
        What was asked for.
    device : Device
        Where.
    memory : Memory
        What to allocate from; 24 bytes per vertex and 16 per edge.
    graphs : pair of ResidentGraph
        The graph and its transpose on that device.
    n, m : int
        Vertices, at least one, and edges.

    Raises
    ------
    InvalidArgumentError
        If there are `MOST_EDGES` or more.
    """

    def __init__(
        self,
        config: SCCConfig,
        device: Device,
        memory: Memory,
        graphs: tuple[ResidentGraph, ResidentGraph],
        n: int,
        m: int,
    ) -> None:
        if m >= MOST_EDGES:
            raise InvalidArgumentError(
                f"finish='signatures' lists edges with 32 bits, and this graph has {m}; use "
                "finish='coloring'."
            )
        traits = device.traits
        resolved = resolve_stages(config, traits, m, entry="row", visited="plain")
        held, back = graphs
        table = Table({"offset_t": (offsets_dtype(m), 1)})
        table.held("offset_t", "indptr", lambda: held.indptr, "[n + 1]")
        table.held("uint", "indices", lambda: held.indices, "[m]")
        table.held("offset_t", "in_indptr", lambda: back.indptr, "[n + 1] of the transpose")
        table.number("uint", "n", n)
        table.number("uint", "m", m)
        table.number("uint", "bits", (n - 1).bit_length(), "of a vertex number")
        limit_scans(table, config, traits, n, m)
        table.given("uint", "component", "[n] in/out", "write")
        table.array("uint", "forward", n, "[n]", "shared")
        table.array("uint", "backward", n, "[n]", "shared")
        table.array("uint", "region", n, "[n]")
        table.array("uint", "changed", n, "[n] 1 + the round of the last change", "shared")
        first = "[2 n] 1 + the edge that a vertex's list out, or in, begins with; 0 for none"
        table.array("uint", "first", 2 * n, first, "shared")
        table.array("uint2", "edges_even", m + QUEUE_SLACK, "[m + slack]")
        table.array("uint2", "edges_odd", m + QUEUE_SLACK, "[m + slack]")
        table.upload(
            "ulong",
            "pivot_key",
            lambda: np.zeros(1, np.uint64),
            "[1] degree product, then vertex; 0 on entry",
            "shared",
        )
        one_item = resolved.group_size == 1
        rounds = SIGNATURE_ROUNDS.on(traits)
        room = RELAY_ROOM
        while 3 * 4 * room > traits.local_bytes:
            room //= 2
        super().__init__(
            *(device, memory, "scc/signatures.cl", table, resolved),
            stages=STAGES,
            phases=("signatures", "relay"),
            first=STAGES[0],
            payload=PAYLOAD,
            factors=FACTORS,
            hops=HOPS,
            relay_share=RELAY_SHARE,
            relay_room=room * resolved.lanes // resolved.group_size,
            relay_turns=CPU_TURNS if traits.is_cpu else RELAY_TURNS,
            most_links=MOST_LINKS,
            relay_every=RELAY_EVERY * rounds,
            relay_from=RELAY_FROM,
            relay_least=RELAY_LEAST,
            relay_vain=RELAY_VAIN,
            near_roots=NEAR_ROOTS,
            rounds=rounds,
            near_from=NEAR_FROM,
            near_rounds=[max(rounds // part, 1) for part in NEAR_PARTS],
            near_worth=NEAR_WORTH,
            trim_entry=TRIM_ENTRY.on(traits),
            trim_worth=TRIM_WORTH.on(traits),
            full_every=rounds,
            list_span=4096 if one_item else LIST_SPAN,
            edge_tile=4096 if one_item else resolved.lanes,
        )
        self._resolve = self._stages.program.kernel("scc_resolve")
        self._sweeper = Sweeper(device, n, resolved.group_size)

    def run(self, log: SweepLog, component: Allocation) -> Outcome:
        """Find the components of vertices that have none.

        Returns
        -------
        Outcome
            With `depth` 1 if the budget of scans was spent before all were found.
        """
        outcome = self._ran(log, {"component": component})
        if not outcome.depth:
            self._sweeper.launch(log, self._resolve, self._stages.table["n"], component)
        return outcome
