"""Checking a breadth-first search where its result is: on the device, by the rules of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load
from clgraph.errors import VerificationError

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.engine.resident import ResidentGraph

__all__ = ["verify_search"]

RULES = {
    "source": "has a distance that cannot be: only the source is at 0, none is beyond the limit",
    "edge": "has an out-edge to a vertex that is unreached or more than one hop farther",
    "support": "has a distance, but no edge leads to it from a vertex one hop nearer",
    "tree": "has a predecessor that is not one hop nearer along an edge",
}
NO_VERTEX = np.uint32(0xFFFFFFFF)
ITEMS_PER_UNIT = 1024


def verify_search(
    device: Device,
    graph: ResidentGraph,
    distances: Allocation,
    predecessors: Allocation | None,
    *,
    source: int,
    limit: int,
    unreached: int,
) -> None:
    """Check distances, and a tree if there is one, of a search on `device`.

    Parameters
    ----------
    device : Device
        Where everything is.
    graph : ResidentGraph
        What was searched.
    distances : Allocation
        int32 [n], in hops.
    predecessors : Allocation or None
        int32 [n].
    source, limit : int
        Where the search began, and the largest distance it was asked for.
    unreached : int
        What stands for no distance.

    Raises
    ------
    VerificationError
        With the smallest vertex that breaks a rule, and the rule.
    DeviceMemoryError
        If 4 bytes per vertex more do not fit.

    Notes
    -----
    O(n + m) and a binary search per vertex of the tree; independent of how the result was found.
    """
    memory = Memory(device)
    n = distances.count
    program = load(
        device,
        "bfs/verify.cl",
        UNREACHED=unreached,
        wide_offsets=graph.indptr.dtype.itemsize == 8,
        rules={name: index for index, name in enumerate(RULES)},
    )
    supported = memory.upload("supported", np.zeros(n, np.uint32))
    broken = memory.upload("broken", np.full(len(RULES), NO_VERTEX, np.uint32))
    size = device.traits.compute_units * ITEMS_PER_UNIT
    group = min(64, device.traits.max_group_size)
    program.kernel("bfs_verify_edges").launch(
        size,
        group,
        graph.indptr,
        graph.indices,
        np.uint32(n),
        np.uint32(source),
        np.uint32(limit),
        np.uint32(predecessors is not None),
        distances,
        predecessors or distances,
        supported,
        broken,
    )
    program.kernel("bfs_verify_support").launch(
        size, group, np.uint32(n), distances, supported, broken
    )
    for rule, vertex in zip(RULES.values(), broken.read(), strict=True):
        if vertex != NO_VERTEX:
            raise VerificationError(f"the search from {source} is wrong: vertex {vertex} {rule}.")
