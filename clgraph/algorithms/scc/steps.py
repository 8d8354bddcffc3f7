"""Strong components in steps: trimming, forward-backward closures, colouring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.scc.stages import Recorded, limit_scans, resolve_stages
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.table import Table
from clgraph.errors import InvalidGraphError

if TYPE_CHECKING:
    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.device import Allocation, Device, Memory
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resident import ResidentGraph
    from clgraph.engine.sweeps import SweepLog

__all__ = ["MOST_VERTICES", "Steps"]

STAGES = ("TRIM", "PIVOT", "SEED", "SCAN", "FOLLOW", "UPDATE", "COLOR")
PHASES = ("trim", "forward-backward", "coloring")
MOST_VERTICES = 2**27  # ranges take 28 bits of a packed word and number twice as many
# Of a stage: which queue, whether any is over; the phase, its direction and iteration; who is left.
PAYLOAD = {
    "queue": 1,
    "begun": 1,
    "length": 32,
    "phase": 2,
    "backward": 1,
    "iteration": 21,
    "live": 32,
}
NO_LIMIT = 2**20  # iterations that the stage word can count
DEFAULT_VIRTUAL_WARP = 8
TRIM_WORTH = 32  # an adaptive trimming goes on while one in so many live vertices is removed
ANY_WORTH = 2**32 - 1
# One forward-backward iteration and nothing else, of ranges that are given: numbered 1, since
# iteration 0 takes all vertices for one range.
ONCE: dict[str, np.generic] = {
    **{name: np.uint32(0) for name in ("trim_limit", "color", "pair_lanes", "color_lanes")},
    **{name: np.uint32(1) for name in ("trim_size", "pair_first", "queued_closures")},
    "trim_worth": np.uint32(0),
    "pair_limit": np.uint32(2),
    "work_limit": np.uint64(2**63),
}


class Steps(Recorded):
    """The step kernel, compiled for one graph, configuration and device.

    Parameters
    ----------
    config : SCCConfig
        What was asked for.
    device : Device
        Where.
    memory : Memory
        What to allocate from; 28 bytes per vertex.
    graphs : pair of ResidentGraph
        The graph and its transpose on that device.
    n, m : int
        Vertices, at least one, and edges.

    Raises
    ------
    InvalidGraphError
        If there are 2**27 vertices or more.
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
        if n >= MOST_VERTICES:
            raise InvalidGraphError(
                f"the graph has {n} vertices, but trimming, forward-backward and colouring number "
                f"their ranges with 28 bits; use fewer than {MOST_VERTICES}, or "
                "finish='signatures' with trim=0 and forward_backward=0."
            )
        traits = device.traits
        resolved = resolve_stages(config, traits, m, entry="vertex")
        trimming = _parameters(config, resolved.lanes)
        table = Table(
            {
                "offset_t": (offsets_dtype(m), 1),
                "entry_t": (np.uint32, resolved.entry_words),
            }
        )
        held, back = graphs
        table.held("offset_t", "out_indptr", lambda: held.indptr, "[n + 1]")
        table.held("uint", "out_indices", lambda: held.indices, "[m]")
        table.held("offset_t", "in_indptr", lambda: back.indptr, "[n + 1] of the transpose")
        table.held("uint", "in_indices", lambda: back.indices, "[m]")
        table.number("uint", "n", n)
        table.number("ulong", "m", m)
        for name, (value, note) in trimming.items():
            table.number("uint", name, value, note)
        limit_scans(table, config, traits, n, m)
        table.array("uint", "packed", n, "[n] in/out", "shared")
        table.given("uint", "component", "[n] in/out", "shared")
        note = "[2 n + 1] in/out, by range: degrees, 1 + vertex"
        table.array("ulong", "pivots", 2 * n + 1, note, "shared")
        table.array("entry_t", "queue_even", n + QUEUE_SLACK, "[n + slack]")
        table.array("entry_t", "queue_odd", n + QUEUE_SLACK, "[n + slack]")
        trim, pairs = (trimming[name][0] for name in ("trim_limit", "pair_limit"))
        super().__init__(
            *(device, memory, "scc/steps.cl", table, resolved),
            stages=STAGES,
            phases=PHASES,
            first="TRIM" if trim else "PIVOT" if pairs else "COLOR",
            payload=PAYLOAD,
        )
        self._begin = self._stages.program.kernel("scc_begin")
        self._groups = max(min(-(-n // resolved.group_size), self._stages.groups), 1)
        self._whole = (memory.allocate("ranges", 1, np.uint32), np.uint32(0))

    def run(
        self, log: SweepLog, component: Allocation, ranges: Allocation | None = None
    ) -> Outcome:
        """Run the steps on a graph without components.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        component : Allocation
            uint32 [n], written.
        ranges : Allocation, optional
            uint32 [n] below n: sets of vertices that edges between are not followed from the
            beginning. Then the forward-backward step has one iteration, and nothing else is done;
            the configuration must begin with that step too.

        Returns
        -------
        Outcome
            With `depth` the number of vertices that are left.
        """
        self._prepare(log, component, ranges)
        given = {"component": component, **({} if ranges is None else ONCE)}
        return self._ran(log, given, restart=lambda: self._prepare(log, component, ranges))

    def _prepare(self, log: SweepLog, component: Allocation, ranges: Allocation | None) -> None:
        """Enqueue what makes every vertex live."""
        table = self._stages.table
        event = self._begin.launch(
            self._groups * self.resolved.group_size,
            self.resolved.group_size,
            table["n"],
            *(self._whole if ranges is None else (ranges, np.uint32(1))),
            table["packed"],
            component,
            table["pivots"],
        )
        log.add(event, event)


def _parameters(config: SCCConfig, lanes: int) -> dict[str, tuple[int, str]]:
    """Give the arguments of the kernel that say how often and how steps run, with notes."""
    done = config.decided()
    width = min(config.virtual_warp or DEFAULT_VIRTUAL_WARP, lanes)
    strategies = (done["fb_strategy"], done["coloring_strategy"])
    shifts = [width.bit_length() - 1 if strategy == "Q_VW" else 0 for strategy in strategies]
    trim = done["trim"]
    finish = config.finish
    pairs = NO_LIMIT if finish == "forward-backward" else done["forward_backward"]
    worth = TRIM_WORTH if trim == "adaptive" else ANY_WORTH
    queued = sum(1 << place for place, strategy in enumerate(strategies) if strategy == "L")
    return {
        "trim_limit": (NO_LIMIT if isinstance(trim, str) else trim, "iterations of trimming"),
        "trim_size": (done["trim_size"], "vertices of the largest component that it takes out"),
        "trim_worth": (worth, "one in so many live ones must go for another iteration"),
        "pair_first": (0, "number of the first forward-backward iteration"),
        "pair_limit": (pairs, "and the number that none may reach"),
        "color": (int(finish == "coloring"), "whether colouring follows"),
        "pair_lanes": (shifts[0], "log2 of the lanes of a vertex in scans"),
        "color_lanes": (shifts[1], ""),
        "queued_closures": (queued, "bit 0, 1: forward-backward, colouring by queue"),
    }
