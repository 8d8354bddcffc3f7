"""Kernels that sum along the edges into every vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.ranking.arranged import Arranged
from clgraph.algorithms.ranking.columns import REALS
from clgraph.algorithms.ranking.placing import placed_rows
from clgraph.algorithms.ranking.row_shares import RowShares
from clgraph.device import load
from clgraph.engine.resident import resident, wide_offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device, Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.sweeps import SweepLog
    from clgraph.graph import Graph

__all__ = ["Pulling"]


class Pulling:
    """Kernels that pull along the edges into every vertex.

    Parameters
    ----------
    graph : Graph or Arranged
        With vertices; its rows are pulled along: for edges into a vertex, the transposed graph.
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    real : numpy.dtype
        What is computed in.
    weighted : bool
        Whether weights count.
    columns : int
        Rankings at once.
    piece : int, optional
        Edges at which rows are cut; see `RowShares`.
    places : uint32 array [n], optional
        Where what is pulled from each vertex is found; default is in the order of vertices.
    progress : callable or True, optional
        Called with bytes uploaded, bytes in all, and what is uploaded.
    **rendered
        What the kernels are rendered with beside that.
    """

    def __init__(  # noqa: PLR0913 - all but four by keyword
        self,
        graph: Graph | Arranged,
        device: Device,
        memory: Memory,
        real: np.dtype[Any],
        *,
        weighted: bool,
        columns: int = 1,
        piece: int | None = None,
        places: NDArray[np.uint32] | None = None,
        progress: Progress | None = None,
        **rendered: Any,
    ) -> None:
        weights = np.asarray(graph.weights).astype(real, copy=False) if weighted else None
        self.rows: tuple[Allocation, ...]
        if isinstance(graph, Arranged):
            self.rows = (
                memory.upload("arranged_indptr", graph.indptr, progress=progress),
                memory.upload("arranged_indices", graph.indices, progress=progress),
            )
        else:
            held = resident(graph, device, progress)
            self.rows = (held.indptr, held.indices)
        if weights is not None:
            self.rows += (memory.upload("weights", weights, progress=progress),)
        self.shares = RowShares(
            device, memory, graph.indptr, columns=columns, real=real, piece=piece
        )
        self.groups = self.shares.groups + self.shares.pieced_groups
        options = {
            "affine": False,
            "given": False,
            "dangling": None,
            "mirrored": False,
            "shifted": False,
            **rendered,
        }
        self.program = load(
            device,
            "ranking/power.cl",
            shares=self.shares.parameters,
            groups=self.shares.groups,
            real=REALS[real],
            weighted=weighted,
            placed=places is not None,
            wide_offsets=wide_offsets(graph.m),
            **options,
        )
        self.places = None if places is None else memory.upload("places", places)
        if self.places is not None:
            self.rows = placed_rows(device, memory, self.rows, self.places, graph.m)
        self._pull = self.program.kernel("power_pull")
        self._pieces = (
            self.program.kernel("power_pull_pieces") if self.shares.pieced_groups else None
        )

    def launch(self, log: SweepLog, state: Allocation, source: Allocation, *others: Any) -> None:
        """Sum over the rows, and over those that were cut."""
        size = self.shares.group_size
        arguments = (*self.rows, state, source, *self.shares.arguments, *others)
        event = self._pull.launch(self.shares.groups * size, size, *arguments)
        log.add(event, event)
        if self._pieces is not None:
            event = self._pieces.launch(self.shares.pieced_groups * size, size, *arguments)
            log.add(event, event)
