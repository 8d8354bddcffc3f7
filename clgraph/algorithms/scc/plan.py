"""Strongly connected components: which vertices reach one another."""

from __future__ import annotations

import logging
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.algorithms.components.number import Numbering
from clgraph.algorithms.components.plan import ConnectedComponents, check_size, hooking
from clgraph.algorithms.components.result import ComponentsResult, ComponentStats
from clgraph.algorithms.components.verify import verify_components
from clgraph.algorithms.scc.config import SCCConfig
from clgraph.algorithms.scc.sequential import SequentialSearch
from clgraph.algorithms.scc.signatures import MOST_EDGES, Signatures
from clgraph.algorithms.scc.steps import MOST_VERTICES, Steps
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import DeviceMemoryError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, truth

if TYPE_CHECKING:
    from clgraph.algorithms.scc.stages import Record
    from clgraph.device import Allocation, Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.outcome import Outcome
    from clgraph.graph import Graph

__all__ = ["SCC", "SCCResult", "scc"]

log = logging.getLogger("clgraph")

STEPWISE = ("coloring", "forward-backward")  # finishes that the step kernel has
CPU_FINISH = "sequential"
LESS_MEMORY = SCCConfig(trim=1, forward_backward=1, finish="coloring")


class Done(NamedTuple):
    """What a run did, as kernels noted it.

    Attributes
    ----------
    records : tuple of Record
        Of kernels that run stage by stage.
    sequential : int
        Launches of the sequential search.
    """

    records: tuple[Record, ...] = ()
    sequential: int = 0

    def steps(self) -> list[dict[str, Any]]:
        """List all of it in order, see `ComponentStats`."""
        steps = [step for record in self.records for step in record.steps()]
        if self.sequential:
            how = {"phase": "sequential", "step": "sequential"}
            steps.append(how | {"rounds": self.sequential})
        return steps


class SCCResult(ComponentsResult):
    """Strong components of a graph; arrays are copied from the device on first access."""


@documented(Plan)
class SCC(Plan):
    """Strongly connected components, compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed, or undirected, whose strong components are its connected ones; weights are
        ignored.
    config : SCCConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Attributes
    ----------
    config : SCCConfig
        What was asked for.
    method : str
        What finds the components: `SCCConfig.finish` as decided, or "hooking" for an undirected
        graph.

    Raises
    ------
    InvalidGraphError
        If the graph has 2**31 - 1 vertices or more.
    InvalidArgumentError
        If the configuration is not legal, or not on this device.

    Notes
    -----
    Compiles and uploads once; `run` only launches. An undirected graph is left to
    `ConnectedComponents` where neither trimming, forward-backward steps nor a finish are asked for.
    On a CPU, "auto" is a depth-first search by one work-item, O(n + m), with 32 bytes per vertex
    beside the graph. On other devices it is the propagation of two-sided signatures, O((n + m)
    log n) expected where chains of signatures are short, with 56 bytes per vertex and 16 per edge;
    it needs the transpose, which is built once and kept with the graph. Every result that has not
    been read takes 4 bytes per vertex more, one at least. Vertices without edges in or out are left
    out of the signatures, and if that leaves out one edge in four, edges are trimmed as long as one
    in eight of those left goes: an acyclic graph is done then. Where edges do not fit the device,
    or are 2**32 - 64 or more, "auto" colours instead. A plan serves one thread at a time; others
    wait.

    References
    ----------
    .. [1] D. J. Pearce, "A space-efficient algorithm for finding strongly connected components",
           Information Processing Letters 116, 2016.
    .. [2] G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly
           connected components", SC 2023.
    .. [3] G. E. Blelloch, Y. Gu, J. Shun, Y. Sun, "Parallelism in randomized incremental
           algorithms", Journal of the ACM 67, 2020.
    """

    @asking
    def __init__(
        self,
        graph: Graph,
        *,
        config: SCCConfig | str | None = None,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        check_size(self.graph)
        asked = SCCConfig.on(config, "scc", self.graph, self.device)
        self.config = asked.completed(self.graph, self.device)
        stepwise = self.config.trim or self.config.forward_backward
        self.method = self.config.finish or (
            "hooking"
            if not (stepwise or self.graph.directed)
            else CPU_FINISH
            if self.device.traits.is_cpu
            else "signatures"
        )
        self._steps: Steps | None = None
        self._signatures: Signatures | None = None
        n, m = self.graph.n, self.graph.m
        if not n:
            return
        with self._counted():
            self._prepare(n, m, progress, stepwise=bool(stepwise))

    def _prepare(self, n: int, m: int, progress: Progress | None, *, stepwise: bool) -> None:
        """Compile and upload what the method needs."""
        if self.method == "hooking":
            self._weak = ConnectedComponents(self.graph, device=self.device, progress=progress)
            self.source_hash = self._weak.source_hash
            return
        held = resident(self.graph, self.device, progress)
        self._component = self._memory.allocate("component", n, np.uint32)
        stepwise = stepwise or self.method in STEPWISE
        if stepwise or self.method == "signatures":
            graphs = (held, resident(self.graph.transpose(), self.device, progress))
            where = (self.config, self.device, self._memory, graphs, n, m)
            if stepwise:
                self._steps = Steps(*where)
            if self.method == "signatures":
                self._signatures = self._signatures_or_none(*where)
            if self.method == "signatures" and self._signatures is None:
                self._steps = None  # gives its memory back before the next takes some
                self.config = self.config.filled(LESS_MEMORY)
                self.method = "coloring"
                self._steps = Steps(self.config, *where[1:])
        self._sequential = SequentialSearch(self.device, self._memory, held, n, m)
        self.source_hash = (self._signatures or self._steps or self._sequential).source_hash
        self._numbering = Numbering(self.device, self._memory, n, smallest=False)

    def _signatures_or_none(self, *where: Any) -> Signatures | None:
        """Give the signature kernel, or None where "auto" has no room for its edges."""
        may_colour = self.config.finish is None and self.graph.n < MOST_VERTICES
        if may_colour and self.graph.m >= MOST_EDGES:
            why = f"{self.graph.m} edges are more than signatures can list with 32 bits."
        else:
            try:
                return Signatures(*where)
            except DeviceMemoryError as error:
                if not may_colour:
                    raise
                why = str(error)  # the error itself would keep what has been allocated
        log.warning("%s Strong components are found by colouring instead.", why)
        return None

    @asking
    def run(self, *, verify: bool = False) -> SCCResult:
        """Find the components.

        Parameters
        ----------
        verify : bool
            Whether to check the result on the device, outside the times in its stats.

        Returns
        -------
        SCCResult
            ``labels`` int32 [n], 0 .. count - 1 by smallest member; ``count``; ``sizes`` int64
            [count]; ``stats``.

        Raises
        ------
        VerificationError
            If the result was to be checked and is wrong.
        KernelTimeoutError
            If the device does not finish.
        ClgraphError
            If the driver reports a failure.
        DeviceMemoryError
            If there is no room for the labels.
        """
        verify = verify is not False and truth("verify", verify)
        sweeps = SweepLog()
        labels, count, mode, done = None, 0, "stepped", Done()
        with Turn() as turn, self._lock:
            if self.graph.n:
                labels = self._result_memory.take("labels", self.graph.n, np.int32)
                if self.method == "hooking":
                    count = self._weak.label(sweeps, labels)
                else:
                    mode, done = self._decompose(sweeps, labels)
                    count = self._numbering.count()
        steps = done.steps
        if self.method == "hooking":
            steps = partial(hooking, sweeps, self.graph.n)
        how = {"mode": mode, "method": self.method, "config": self._decided}
        stats = self._stats_of(ComponentStats, sweeps, turn, steps=steps, **how)
        stats.vertices = self.graph.n
        stats.ran_on(self.device)
        result = SCCResult(labels, self.graph.n, count, stats, names=self.graph.labels)
        if verify:
            verify_components(self.graph, result, self.device, strong=True)
        return result

    @cached_property
    def _decided(self) -> dict[str, Any]:
        """What every run does, for its stats."""
        return self.config.decided() | {"finish": self.method}

    def _decompose(self, log: SweepLog, labels: Allocation) -> tuple[str, Done]:
        """Enqueue every step; give the mode and what was done."""
        component, mode, launches = self._component, "stepped", 0
        done: list[tuple[Steps | Signatures, Outcome]] = []
        left = True
        for part in (self._steps, self._signatures):
            if part is None or not left:
                continue
            if part is self._signatures and not done:
                self._sequential.clear(log, component)
            outcome = part.run(log, component)
            mode, left = outcome.mode, bool(outcome.depth)
            done.append((part, outcome))
        if left:
            launches = self._sequential.run(log, component, keep=bool(done))
        self._numbering.run(log, component, labels)
        return mode, Done(tuple(part.record(outcome) for part, outcome in done), launches)


@documented(SCC, SCC.run)
@flags
def scc(
    graph: Graph,
    *,
    config: SCCConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> SCCResult:
    """Find the sets of vertices that reach one another.

    Notes
    -----
    See `SCC` for cost and methods. Labels are deterministic.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2, 2], [1, 0, 1, 3], n=4)
    >>> cg.scc(graph).labels.tolist()
    [0, 0, 1, 2]
    """
    return SCC(graph, config=config, device=device, progress=progress).run(verify=verify)
