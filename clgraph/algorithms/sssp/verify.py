"""Checking shortest paths where they are: on the device, by the rules of their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load
from clgraph.errors import VerificationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import Allocation, Device
    from clgraph.engine.resident import ResidentGraph

__all__ = ["verify_paths"]

RULES = {
    "source": "has a distance that cannot be: beyond the limit, or a source's above zero",
    "edge": "has an out-edge to a vertex that could be nearer",
    "support": "has a distance that no edge gives it",
    "tree": "has a predecessor that does not give it its distance",
    "cycle": "has predecessors that never come to a source",
}
NO_VERTEX = np.uint32(0xFFFFFFFF)
ITEMS_PER_UNIT = 1024


def verify_paths(
    device: Device,
    graph: ResidentGraph,
    weights: Weights,
    distances: Allocation,
    predecessors: Allocation | None,
    *,
    sources: NDArray[np.uint32],
    limit: int,
) -> None:
    """Check distances, and a tree if there is one, of a search on `device`.

    Parameters
    ----------
    device : Device
        Where everything is.
    graph : ResidentGraph
        What was searched.
    weights : Weights
        Of its edges.
    distances : Allocation
        Weights' type [n].
    predecessors : Allocation or None
        int32 [n].
    sources : uint32 array
        Where the search began.
    limit : int
        Key of the largest distance that was asked for.

    Raises
    ------
    VerificationError
        With the smallest vertex that breaks a rule, and the rule.
    DeviceMemoryError
        If the weights once more and 12 bytes per vertex do not fit.

    Notes
    -----
    O(m + n log n), and independent of how the result was found. Without a tree, vertices that give
    each other distances around a cycle of weight zero are believed.
    """
    memory = Memory(device)
    n = distances.count
    program = load(
        device,
        "sssp/verify.cl",
        keys=weights.keys,
        wide_offsets=graph.indptr.dtype.itemsize == 8,
        rules={name: index for index, name in enumerate(RULES)},
    )
    marks = np.zeros(n, np.uint32)
    marks[sources] = 1
    marked = memory.upload("marks", marks)
    broken = memory.upload("broken", np.full(len(RULES), NO_VERTEX, np.uint32))
    edges = (graph.indptr, graph.indices, memory.upload("weights", weights.values), np.uint32(n))
    size = device.traits.compute_units * ITEMS_PER_UNIT
    group = min(64, device.traits.max_group_size)
    tree = predecessors is not None
    ancestors = memory.allocate("ancestors", n if tree else 1, np.uint32)
    program.kernel("sssp_verify_edges").launch(
        size, group, *edges, np.uint64(limit), distances, marked, broken
    )
    program.kernel("sssp_verify_vertices").launch(
        size,
        group,
        *edges,
        np.uint32(tree),
        distances,
        predecessors or marked,
        marked,
        ancestors,
        broken,
    )
    if predecessors is not None:
        farther = memory.allocate("farther", n, np.uint32)
        double = program.kernel("sssp_verify_double")
        for _ in range(n.bit_length()):
            double.launch(size, group, np.uint32(n), ancestors, farther)
            ancestors, farther = farther, ancestors
        program.kernel("sssp_verify_roots").launch(
            size, group, np.uint32(n), predecessors, ancestors, broken
        )
    for rule, vertex in zip(RULES.values(), broken.read(), strict=True):
        if vertex != NO_VERTEX:
            begun = ", ".join(map(str, sources[:4])) + (", ..." if sources.size > 4 else "")
            raise VerificationError(f"the search from {begun} is wrong: vertex {vertex} {rule}.")
