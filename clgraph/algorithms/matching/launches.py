"""A target on a device, batches of queries beside it, and how kernels are launched over both."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.queries import BLOCK
from clgraph.device import load
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import SweepLog
from clgraph.engine.workspace import Workspace
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.matching.config import MatchingConfig
    from clgraph.algorithms.matching.queries import QueryBatch
    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument, Kernel
    from clgraph.graph import Graph

__all__ = ["LEAST_LIKENESS", "LIKENESS_SQUARINGS", "LOST_EDGE_BITS", "PHASES", "SCRATCH_BYTES",
           "Held", "Launches"]  # fmt: skip

PHASES = ("probabilities", "seeds", "extension")
CPU_GROUPS_PER_UNIT = 16  # shares small enough that a thread which finishes early takes another
GPU_GROUPS_PER_UNIT = 32  # the most work-groups that a compute unit holds
SCRATCH_BYTES = 1 << 28  # of all work-groups together
# What profile "lost_edges" draws with. On the HPRD network with its labels and k = 1000, a match
# of cost 0 was found for queries of 32 vertices cut from it in 12 of 20 runs by the 4th power of
# likeness and in 15 of 15 by the 16th.
LIKENESS_SQUARINGS = 4
LEAST_LIKENESS = 64  # of 2^20, so that whoever is alike can still be drawn
LOST_EDGE_BITS = 4


@dataclass(slots=True)
class Held:
    """Arrays of a batch on the device."""

    batch: QueryBatch
    arrays: dict[str, Allocation]
    alike: tuple[Allocation, ...]
    by_labels: bool
    levels: int
    masks: int  # words of the masks of arcs at each level around each row
    logs: dict[str, SweepLog] = field(default_factory=lambda: {name: SweepLog() for name in PHASES})


class Launches:
    """Launches over one target.

    Parameters
    ----------
    graph : Graph
        The target, simple and undirected, of at least one vertex.
    codes : numpy.ndarray
        uint32 [n], its labels.
    config : MatchingConfig
        What is launched.
    device, memory : Device, Memory
        Where.
    progress : callable or True, optional
        For the upload.
    """

    def __init__(
        self,
        graph: Graph,
        codes: NDArray[np.uint32],
        config: MatchingConfig,
        memory: Memory,
        progress: Progress | None = None,
    ) -> None:
        self.graph, self.config, self.memory = graph, config, memory
        self.device: Device = memory.device
        traits = self.device.traits
        self.n = np.uint32(graph.n)
        self.blocks = -(-graph.n // BLOCK)
        self._graph = resident(graph, self.device, progress)
        self.rows = (self._graph.indptr, self._graph.indices, self.n)
        self._codes = memory.upload("target_labels", codes)
        self._lanes = traits.lanes
        per_unit = CPU_GROUPS_PER_UNIT
        if not traits.is_cpu:
            resident_groups = traits.threads_per_unit // traits.lanes or GPU_GROUPS_PER_UNIT
            per_unit = min(resident_groups, GPU_GROUPS_PER_UNIT)
        self.groups = traits.compute_units * per_unit
        # A processor's cache holds counts over the target, and a search costs it branches.
        self._lost_edges_by = "counts" if traits.is_cpu else "searches"
        self._likeness = "stored" if traits.is_cpu else "computed"
        self.work = Workspace(self.device)  # arrays of a batch, for the next one to use again
        self._kernels: dict[tuple[Any, ...], Kernel] = {}

    @property
    def _counts_common(self) -> bool:
        by = {"equal_bits": True, "lost_edges": self._lost_edges_by == "counts"}
        return by.get(self.config.profile, False)

    def kernel(self, file: str, name: str, **params: object) -> Kernel:
        """Give a kernel, built on first use."""
        key = (file, name, *sorted(params.items()))
        if key not in self._kernels:
            wide = group_size(self.device.traits) if file == "candidates" else self._lanes
            known: dict[str, Any] = {
                "group_size": wide,
                "one": ONE,
                "block": BLOCK,
                "wide_offsets": wide_offsets(self.graph.m),
                "by_arcs": False,
                "exact": False,
                "by_labels": True,
                "state_space": "__local",
                "likeness_squarings": LIKENESS_SQUARINGS,
                "least_likeness": LEAST_LIKENESS,
                "lost_edge_bits": LOST_EDGE_BITS,
                "lost_edges_by": self._lost_edges_by,
                "counts_common": self._counts_common,
                "likeness": self._likeness,
            }
            known |= asdict(self.config) | params
            program = load(self.device, f"matching/{file}.cl", **known)
            self._kernels[key] = program.kernel(name)
        return self._kernels[key]

    def hold(self, batch: QueryBatch, levels: int = 0) -> Held:
        """Bring a batch onto the device, whose neighbourhoods are so many levels deep."""
        values: dict[str, NDArray[Any]]
        values = {name: array.astype(np.uint32) for name, array in batch.arrays.items()}
        values["mask_first"], masks = batch.mask_first(levels)
        by_labels = batch.queries[0].similarities is None
        alike = "labels" if by_labels else "similarities"
        parts = [query.codes if by_labels else query.similarities for query in batch.queries]
        values[alike] = np.concatenate([part for part in parts if part is not None])
        arrays = self.work.upload_all(values)
        sides = (arrays[alike], self._codes) if by_labels else (arrays[alike],)
        return Held(batch, arrays, sides, by_labels, levels, masks)

    def items(self, log: SweepLog, count: int, kernel: Kernel, *args: Argument) -> None:
        """Launch over so many items, in work-groups of the usual size."""
        size = group_size(self.device.traits)
        per_unit = max(self.groups * self._lanes // size, 1)
        groups = min(max(-(-count // size), 1), per_unit)
        event = kernel.launch(groups * size, size, *args)
        log.add(event, event)

    def each(self, log: SweepLog, count: int, kernel: Kernel, *args: Argument) -> None:
        """Launch over so many parts, one SIMD group for each at a time."""
        groups = min(max(count, 1), self.groups)
        event = kernel.launch(groups * self._lanes, self._lanes, *args)
        log.add(event, event)
