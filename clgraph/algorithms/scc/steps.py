"""Strong components in steps: trimming, forward-backward closures, colouring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.scc.stages import (
    ROUND_WORK,
    StageLog,
    compile_stages,
    resolve_stages,
    scan_limit,
)
from clgraph.engine.choose import QUEUE_SLACK
from clgraph.engine.sweeps import COMPONENT_KNOWN
from clgraph.errors import InvalidGraphError

if TYPE_CHECKING:
    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.kernel import Argument
    from clgraph.engine.driver import Outcome
    from clgraph.engine.resident import ResidentGraph
    from clgraph.engine.sweeps import SweepLog

__all__ = ["MOST_VERTICES", "Steps"]

STAGES = ("TRIM", "PIVOT", "SEED", "SCAN", "FOLLOW", "UPDATE", "COLOR")
PHASES = ("trim", "forward-backward", "coloring")
MOST_VERTICES = 2**27  # ranges take 28 bits of a packed word and number twice as many
NO_LIMIT = 2**20  # iterations that the stage word can count
DEFAULT_VIRTUAL_WARP = 8
TRIM_WORTH = 32  # an adaptive trimming goes on while one in so many live vertices is removed
ANY_WORTH = 2**32 - 1


class Steps:
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
        parameters = _parameters(config, resolved.lanes)
        trim, pairs = parameters[0], parameters[4]
        self._driver, program = compile_stages(
            device,
            "scc/steps.cl",
            STAGES,
            resolved,
            "TRIM" if trim else "PIVOT" if pairs else "COLOR",
            COMPONENT_KNOWN=COMPONENT_KNOWN,
            round_work=ROUND_WORK[traits.is_cpu],
        )
        self.source_hash = program.source_hash
        self.resolved = resolved
        self._begin = program.kernel("scc_begin")
        self._group_size = resolved.group_size
        self._groups = max(min(-(-n // resolved.group_size), self._driver.groups), 1)
        held, back = graphs
        self._log = StageLog(memory, STAGES, PHASES)
        self._n = np.uint32(n)
        self._whole = (memory.allocate("ranges", 1, np.uint32), np.uint32(0))
        self._graph: tuple[Argument, ...] = (
            *(held.indptr, held.indices, back.indptr, back.indices),
            *(self._n, np.uint64(m)),
            *parameters,
            scan_limit(config, traits, n, m),
        )
        # Numbered 1, since iteration 0 takes all vertices for one range.
        once = tuple(map(np.uint32, (0, 1, 0, 1, 2, 0, 0, 0, 1)))
        self._once = (*self._graph[:6], *once, np.uint64(2**63))
        self._packed = memory.allocate("packed", n, np.uint32)
        self._pivots = memory.allocate("pivots", 2 * n + 1, np.uint64)
        self._queues = (
            memory.allocate("queue_even", n + QUEUE_SLACK, np.uint32),
            memory.allocate("queue_odd", n + QUEUE_SLACK, np.uint32),
        )

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
        outcome = self._driver.run(
            *(self._graph if ranges is None else self._once),
            self._packed,
            component,
            self._pivots,
            *self._queues,
            *self._log.arguments,
            restart=lambda: self._prepare(log, component, ranges),
        )
        log.add(*outcome.events, outcome.launches)
        return outcome

    def _prepare(self, log: SweepLog, component: Allocation, ranges: Allocation | None) -> None:
        """Enqueue what makes every vertex live."""
        event = self._begin.launch(
            self._groups * self._group_size,
            self._group_size,
            self._n,
            *(self._whole if ranges is None else (ranges, np.uint32(1))),
            self._packed,
            component,
            self._pivots,
        )
        log.add(event, event)

    def steps(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Tell what the last run did, see `StageLog.steps`."""
        return self._log.steps(outcome)


def _parameters(config: SCCConfig, lanes: int) -> tuple[np.uint32, ...]:
    """Give the arguments of the kernel that say how often and how steps run."""
    done = config.decided()
    trim = NO_LIMIT if isinstance(done["trim"], str) else done["trim"]
    worth = TRIM_WORTH if done["trim"] == "adaptive" else ANY_WORTH
    pairs = NO_LIMIT if config.finish == "forward-backward" else done["forward_backward"]
    strategies = (done["fb_strategy"], done["coloring_strategy"])
    width = min(config.virtual_warp or DEFAULT_VIRTUAL_WARP, lanes)
    shifts = [width.bit_length() - 1 if strategy == "Q_VW" else 0 for strategy in strategies]
    queued = sum(1 << place for place, strategy in enumerate(strategies) if strategy == "L")
    color = config.finish == "coloring"
    trimming = (trim, done["trim_size"], worth)
    return tuple(map(np.uint32, (*trimming, 0, pairs, color, *shifts, queued)))
