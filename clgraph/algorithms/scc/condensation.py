"""The condensation of a graph: one vertex for every strongly connected component."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clgraph.algorithms.scc.plan import scc
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.arguments import vertex_number
from clgraph.graph import Graph, as_graph, from_edges
from clgraph.graph.arguments import flags
from clgraph.graph.csr import row_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["Condensation", "condensation"]


class Condensation(Graph):
    """Acyclic graph of the components of another graph; made by `condensation`.

    Attributes
    ----------
    membership : int32 array [vertices of the original graph]
        The component that each vertex lies in: a vertex of this graph.
    """

    membership: NDArray[np.int32]

    def members(self, component: int) -> NDArray[np.int64]:
        """Vertices of the original graph that lie in a component, ascending.

        Raises
        ------
        InvalidArgumentError
            If there is no such component.
        """
        component = vertex_number(component, self.n, "component")
        return np.flatnonzero(self.membership == component)

    @classmethod
    def of(cls, arrays: tuple[Any, Any, Any], membership: NDArray[np.int32]) -> Condensation:
        """Condensation of CSR arrays that are known to be right."""
        made = cast("Condensation", cls.trusted(arrays, directed=True))
        made.membership = membership
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the host arrays; device copies stay behind."""
        rebuild = partial(Condensation.of, membership=self.membership)
        return rebuild, ((self.indptr, self.indices, None),)


@documented(scc)
@flags
@asking
def condensation(
    graph: Graph,
    *,
    config: SCCConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> Condensation:
    """Contract every strongly connected component to one vertex.

    Parameters
    ----------
    verify : bool
        Whether to check the components on the device; if they are right, so is the condensation.

    Returns
    -------
    Condensation
        A directed acyclic `Graph` without loops or parallel edges: an edge from component a to
        component b where some edge of `graph` leads from a to b. Its vertices are numbered as the
        labels of `scc`; ``membership`` int32 [n] reports where each vertex lies.

    Notes
    -----
    Components are found on the device; the contracted edges are sorted on the host, O(n + m).

    Examples
    --------
    >>> import clgraph as cg
    >>> dag = cg.condensation(cg.from_edges([0, 1, 1, 2], [1, 0, 2, 3], n=4))
    >>> dag.membership.tolist(), dag.indices.tolist()
    ([0, 0, 1, 2], [1, 2])
    """
    graph = as_graph(graph)
    found = scc(graph, config=config, device=device, progress=progress, verify=verify)
    membership = found.labels
    sources, targets = membership[row_ids(graph.indptr)], membership[graph.indices]
    between = sources != targets
    contracted = from_edges(sources[between], targets[between], n=found.count, dedup=True)
    return Condensation.of((contracted.indptr, contracted.indices, None), membership)
