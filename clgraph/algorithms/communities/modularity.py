"""Modularity: how much more edges there are within communities than expected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.communities.result import CommunitiesResult
from clgraph.algorithms.communities.scale import MOST_RESOLUTION, whole_weights
from clgraph.algorithms.communities.tallies import Tallies
from clgraph.algorithms.communities.verify import host_modularity
from clgraph.device import load
from clgraph.documented import documented
from clgraph.engine.arguments import only_auto
from clgraph.engine.plan import Plan
from clgraph.engine.resident import resident, wide_offsets
from clgraph.engine.sweeps import Sweeper, SweepLog
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags, real
from clgraph.graph.arrays import argument_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["Modularity", "community_numbers", "modularity"]

TOLERANCE = 1e-6  # weights that are not whole numbers are rounded to 2**-40 of their total
LONG_ROW = 32


@documented(Plan)
class Modularity(Plan):
    """Modularity of communities of one graph, compiled for a device.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected.
    weights : bool
        Whether weights count; they are from 0 on.

    Raises
    ------
    InvalidGraphError
        If a weight is negative or not finite.

    Notes
    -----
    O(n + m) work in one launch, two for a directed graph, of which the transposed one is kept too.
    Deterministic: sums are of whole numbers.
    """

    @flags
    def __init__(
        self,
        graph: Graph,
        *,
        weights: bool = True,
        device: Device | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(as_graph(graph, weighted=True), device)
        self._weighted = weights and self.graph.weights is not None
        directions = [self.graph]
        if self.graph.directed:
            directions.append(self.graph.transpose())
        self.log = SweepLog()
        self._rows: list[tuple[Any, ...]] = []
        traits = self.device.traits
        tallies = Tallies(self.device, "global", wide=True)
        size, lanes = tallies.group_size, traits.lanes
        program = load(
            self.device,
            "communities/modularity.cl",
            config=SimpleNamespace(
                group_size=size, lanes=lanes, wide_offsets=wide_offsets(self.graph.m)
            ),
            tally=tallies.parameters(tallies.kinds[0]),
            weighted=self._weighted,
            classes=1,
            long_row=LONG_ROW,
        )
        self.source_hash = program.source_hash
        self._kernel = program.kernel("modularity_rows")
        self._sweeper = Sweeper(self.device, self.graph.n * lanes, size)
        with self._counted():
            units = self._sweeper.groups * size // lanes
            self._inside = self._memory.allocate("inside", units, np.uint64)
            self._labels = self._memory.allocate("labels", self.graph.n, np.uint32)
            for one in directions:
                held = resident(one, self.device, progress)
                rows: tuple[Any, ...] = (held.indptr, held.indices)
                whole, _, self._unit = whole_weights(one, weighted=self._weighted)
                if self._weighted:
                    if whole is None:
                        whole = np.ones(one.m, np.uint32)
                    given = whole.astype(np.uint64)
                    rows += (self._memory.upload("whole_weights", given, progress=progress),)
                self._rows.append(rows)

    @flags
    def run(
        self,
        labels: ArrayLike | CommunitiesResult,
        *,
        resolution: float = 1.0,
        verify: bool = False,
    ) -> float:
        """Compute the modularity of communities.

        Parameters
        ----------
        labels : array_like [n], or result
            Of each vertex the community that it is in, as whole numbers.
        resolution : float
            What expected edges are multiplied by, from 0 on.
        verify : bool
            Whether to compute it by NumPy too and compare.

        Returns
        -------
        float
            At most 1; 0 of a graph without edges.

        Raises
        ------
        InvalidArgumentError
            If there are more or fewer labels than vertices, or `resolution` is out of its range.
        VerificationError
            If the result was to be checked and is wrong.
        """
        gamma = real("resolution", resolution, 0, MOST_RESOLUTION)
        numbers, count = community_numbers(labels, self.graph.n)
        if not self.graph.m:
            return 0.0
        with self._lock:
            log = SweepLog()
            self._labels.write(numbers)
            totals = self._memory.allocate("community_totals", count, np.uint64)
            shares = []
            inside = 0
            for rows in self._rows:
                totals.clear()
                words = (np.uint32(self.graph.n), np.uint32(not self.graph.directed))
                args = (*rows, *words, self._labels, totals, self._inside)
                self._sweeper.launch(log, self._kernel, *args)
                shares.append(totals.read().astype(np.float64))
                inside = int(self._inside.read().sum(dtype=np.uint64))
            self.log = log
        total = float(shares[0].sum())
        if not total:
            return 0.0
        expected = float(np.dot(shares[0] / total, shares[-1] / total))
        found = inside / total - gamma * expected
        if verify:
            wanted = host_modularity(self.graph, numbers, gamma, weighted=self._weighted)
            if not abs(found - wanted) <= TOLERANCE * max(1.0, gamma):
                raise VerificationError(f"the modularity is {wanted:.12g}, not {found:.12g}.")
        return found


def community_numbers(labels: Any, n: int) -> tuple[NDArray[np.uint32], int]:
    """Give labels as numbers 0 .. count - 1.

    Raises
    ------
    InvalidArgumentError
        If there are more or fewer than vertices, or they are not whole numbers.
    """
    given = labels.labels if isinstance(labels, CommunitiesResult) else labels
    given = argument_array("labels", given)
    if given.shape != (n,) or (n and given.dtype.kind not in "iub"):
        raise InvalidArgumentError(
            f"labels are whole numbers, one for each of {n} vertices; got {given.dtype} of shape "
            f"{given.shape}."
        )
    if n and given.min() >= 0 and given.max() < 2 * n:
        return given.astype(np.uint32), int(given.max()) + 1
    names, numbers = np.unique(given, return_inverse=True)
    return numbers.astype(np.uint32), len(names)


@documented(Modularity, Modularity.run, only_auto)
@flags
def modularity(
    graph: Graph,
    labels: ArrayLike | CommunitiesResult,
    *,
    resolution: float = 1.0,
    weights: bool = True,
    config: str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> float:
    """Compute the modularity of communities.

    Parameters
    ----------
    labels : array_like [n], or result of `louvain`, `leiden` or `label_propagation`
        Of each vertex the community that it is in, as whole numbers.

    Returns
    -------
    float
        The share of edges within communities, less `resolution` times that which is expected if
        ends were joined at random; 0 of a graph without edges. A self-loop of an undirected graph
        has two ends. Of a directed graph ends are joined from out-degrees to in-degrees.

    Notes
    -----
    O(n + m) work; deterministic.

    References
    ----------
    .. [1] M. E. J. Newman, "Modularity and community structure in networks", PNAS 103, 2006.
    .. [2] E. A. Leicht, M. E. J. Newman, "Community structure in directed networks", Physical
           Review Letters 100, 2008.

    Examples
    --------
    >>> import clgraph as cg
    >>> graph = cg.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], symmetrize=True)
    >>> round(cg.modularity(graph, [0, 0, 0, 1, 1, 1]), 3)
    0.357
    """
    only_auto(config)
    plan = Modularity(graph, weights=weights, device=device, progress=progress)
    return plan.run(labels, resolution=resolution, verify=verify)
