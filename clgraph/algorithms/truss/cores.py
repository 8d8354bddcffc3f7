"""Cores of undirected graphs: the core number of every vertex, one k-core, and the greatest k."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.triangles.plan import Triangles
from clgraph.algorithms.triangles.simple import simple_graph
from clgraph.algorithms.truss.config import CoresConfig
from clgraph.algorithms.truss.incidence import Incidence
from clgraph.algorithms.truss.peeling import NO_LEVEL, Peeled, Peeling
from clgraph.algorithms.truss.result import CoresResult, PeelingStats
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.engine.resident import resident
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, whole
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Cores", "core_order"]

# Vertices with at most k - 1 neighbours are not in the k-core: level 0 is k = 1.
ABOVE = 1


def core_order(k: Any) -> int:
    """Check which core is asked for; there need not be one.

    Raises
    ------
    InvalidArgumentError
        If it is not an integer of at least 0.
    """
    return whole("k", k, 0, None)


@documented(Triangles)
class Cores(Plan):
    """Cores, compiled for one graph, configuration and device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Undirected, without self-loops and parallel edges; weights are ignored.
    config : CoresConfig or str, optional
        A configuration or the name of a preset; default "auto".

    Notes
    -----
    The k-core is the largest subgraph in which every vertex has k neighbours at least; a vertex's
    core number is the greatest k whose core it is in. O(n + m) work, and a scan of the vertices
    that are left for every k that a core ends at; 29 bytes a vertex beside the graph. Numbers are
    deterministic. A plan serves one thread at a time; others wait.

    References
    ----------
    .. [1] S. B. Seidman, "Network structure and minimum degree", Social Networks 1983.
    """

    @flags
    def __init__(
        self,
        graph: Graph,
        *,
        config: CoresConfig | str | None = None,
        device: Device | str | None = None,
        clean: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph), device)
        self.config = CoresConfig.of(config)
        with self._counted():
            simple = simple_graph(self.graph, self.device, clean=clean, progress=progress)
            self.simple = simple
            if simple.n:
                held = resident(simple, self.device, progress)
                self._degrees = self._memory.upload("degrees", simple.degrees.astype(np.uint32))
                incidence = Incidence(
                    "neighbours",
                    (held.indptr, held.indices),
                    simple.m,
                    max_degree=simple.max_degree,
                )
                self._peeling = Peeling(
                    self.config, self.device, self._memory, simple.n, incidence, ABOVE - 1
                )
                self.source_hash = self._peeling.source_hash

    @flags
    def run(
        self, k: int | None = None, *, progress: Progress | None = None, verify: bool = False
    ) -> CoresResult:
        """Find all core numbers, or one core.

        Parameters
        ----------
        k : int, optional
            Which core is wanted, at least 0; default are the numbers of all vertices.
        progress : callable or True, optional
            Called with how many vertices have been removed, wherever the device pauses.
        verify : bool
            Whether to find the same in another way and compare.

        Returns
        -------
        CoresResult
            ``numbers`` uint32 [n], or ``mask`` bool [n]; ``k``, ``max_k``, ``count``, ``stats``.

        Raises
        ------
        InvalidArgumentError
            If `k` is negative.
        VerificationError
            If the result was to be checked and is wrong.
        KernelTimeoutError
            If the device does not finish.
        DeviceMemoryError
            If there is no room for the result.
        """
        if k is not None:
            k = core_order(k)
        log = SweepLog()
        peeled: list[Peeled] = []
        with Turn() as turn, self._lock:
            read, max_k, left = self._run(log, k, peeled, progress)
            log.wait()
        report_progress(progress, 1, 1, "peeling")
        stats = PeelingStats(
            log,
            {},
            turn.total_ms,
            peeled=peeled,
            above=ABOVE,
            method="neighbours",
            config=self.config.as_dict(),
            device_bytes=self.device_bytes,
        )
        result = CoresResult(read, k=k, max_k=max_k, count=left, stats=stats)
        if verify:
            self._verify(result, k)
        return result

    def _run(
        self, log: SweepLog, k: int | None, peeled: list[Peeled], progress: Progress | None
    ) -> tuple[Any, int | None, int]:
        """Give what reads numbers or mask, the greatest k, and how many are left."""
        n = self.simple.n
        max_k, left = (0, n) if k is None else (None, n)
        read: Any = partial(np.zeros, n, np.uint32 if k is None else np.bool_)
        if n and k is not None and k > self.simple.max_degree:
            left = 0
        elif n:
            peeling = self._peeling
            if k == 0:
                peeling.begin(log, self._degrees)
            else:
                peeled.append(
                    peeling.run(
                        log,
                        self._degrees,
                        left=n,
                        levels=(0, NO_LEVEL) if k is None else (k - ABOVE, k - ABOVE),
                        progress=progress,
                    )
                )
                max_k, left = (peeled[-1].level, n) if k is None else (None, peeled[-1].left)
            if k is None:
                numbers = peeling.numbers.read()
                read = partial(np.asarray, numbers)
            else:
                read = partial(np.asarray, peeling.status.read() == 0)
        return read, max_k, left

    def _verify(self, result: CoresResult, k: int | None) -> None:
        """Find the same by counting degrees anew, or by subtraction where that was done.

        Raises
        ------
        VerificationError
            If that gives something else.
        """
        removal = "subtract" if self.config.removal == "recount" else "recount"
        plan = Cores(self.simple, config=CoresConfig(removal=removal), device=self.device)
        if not result.same(plan.run(k)):
            raise VerificationError("the cores are not those that are found in another way.")
