"""Which vertices can be reached from which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.apsp import apsp
from clgraph.algorithms.multi_search.state import as_sources
from clgraph.algorithms.multi_search.totals import Searcher
from clgraph.algorithms.multi_search.verify import check_rows
from clgraph.device import device as find_device
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.graph import as_graph
from clgraph.graph.arguments import flags
from clgraph.progress import part_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clgraph.algorithms.multi_search.config import MultiSearchConfig
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["reachable"]


@documented(apsp)
@flags
@asking
def reachable(
    graph: Graph,
    sources: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    method: str = "auto",
    config: MultiSearchConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> NDArray[np.bool_]:
    """Report which vertices each source reaches.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Directed or undirected; weights are ignored.
    sources : integers [k]
        Where to begin.
    targets : integers [t], optional
        Vertices that are asked for; default every vertex.

    Returns
    -------
    numpy.ndarray
        bool [k, t]; a vertex reaches itself.

    Raises
    ------
    InvalidArgumentError
        If a source or a target is not a vertex.
    DeviceMemoryError
        If not even one search fits the device.

    Notes
    -----
    O(k (n + m)) work, n bytes of device memory per source at a time.
    """
    graph = as_graph(graph)
    chosen = as_sources(sources, graph.n)
    wanted: Any = slice(None) if targets is None else as_sources(targets, graph.n, "targets")
    width = graph.n if targets is None else wanted.size
    searcher = Searcher(graph, find_device(device), method, config)
    result = np.empty((chosen.size, width), bool)
    done = 0
    for block in searcher.blocks(chosen, 1):
        part = part_of(progress, done, 1, chosen.size)
        result[done : done + block.size] = searcher.marks(block, part)[:, wanted]
        done += block.size
    if verify:
        check_rows(graph, chosen, result, lambda _, reached: reached[wanted], searcher.device)
    return result
