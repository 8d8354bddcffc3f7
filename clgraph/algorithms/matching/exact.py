"""Exact matches: all labels and all edges kept, counted or listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.algorithms.matching.launches import Held
    from clgraph.algorithms.matching.phases import Phases
    from clgraph.device.memory.allocation import Progress
    from clgraph.graph import Graph

__all__ = ["exact_matches"]

NONE = IDLE = 2**32 - 1
STEPS = 1 << 12  # of a work-item in the first launch; later ones follow the time it took
MOST_STEPS = 1 << 16
ITEMS_PER_UNIT = 1024  # where units hold so many at once
CPU_ITEMS_PER_UNIT = 16


def search_order(
    query: Graph, candidates: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Order the vertices of a query for the search: each next to as many before it as there can be.

    Parameters
    ----------
    query : Graph
        Simple and undirected.
    candidates : numpy.ndarray
        How many target vertices each vertex can be mapped to; few come first.

    Returns
    -------
    order, parents, check_indptr, checks : numpy.ndarray
        As the kernel takes them.
    """
    depth = np.full(query.n, -1)
    order, parents, check_indptr, checks = [], [], [0], []
    around = np.zeros(query.n, np.int64)
    for place in range(query.n):
        key = np.where(depth < 0, around * (candidates.max(initial=0) + 1) - candidates, -(2**62))
        u = int(np.argmax(key))
        neighbours = query.indices[query.indptr[u] : query.indptr[u + 1]]
        before = sorted(int(depth[v]) for v in neighbours if depth[v] >= 0)
        order.append(u)
        parents.append(before[0] if before else NONE)
        checks.extend(before[1:])
        check_indptr.append(len(checks))
        depth[u] = place
        around[neighbours] += 1
    arrays = (order, parents, check_indptr, checks or [0])
    return tuple(np.array(array, np.uint32) for array in arrays)  # type: ignore[return-value]


def exact_matches(
    phases: Phases, held: Held, listed: int, limit: int, progress: Progress | None = None
) -> tuple[NDArray[np.int32], int, bool]:
    """Search for all exact matches of the only query of a batch.

    Parameters
    ----------
    phases, held : Phases, Held
        The target, and the query on its device.
    listed, limit : int
        How many matches to keep, and after how many to stop.
    progress : callable or True, optional
        Called with how many images of the first vertex have been taken up.

    Returns
    -------
    mapping : numpy.ndarray
        int32 [at most `listed`, |V|], in ascending order if there is room for all.
    count : int
        How many were found, `limit` at most.
    complete : bool
        Whether there are no others.
    """
    query, work, device = held.batch.queries[0].graph, phases.work, phases.device
    log, n = held.logs["extension"], phases.graph.n
    candidates = phases.candidates(held, log, exact=True)
    log.wait()
    words = candidates.read(held.batch.node_words * n).reshape(-1, n)
    sizes = np.array([(words[u // 32] >> np.uint32(u % 32) & 1).sum() for u in range(query.n)])
    plan = [
        work.upload(name, array)
        for name, array in zip(
            ("search_order", "parents", "check_indptr", "checks"),
            search_order(query, sizes.astype(np.int64)),
            strict=True,
        )
    ]
    traits = device.traits
    lanes, unit = traits.lanes, CPU_ITEMS_PER_UNIT if traits.is_cpu else ITEMS_PER_UNIT
    groups = max(min(traits.compute_units * unit // lanes, -(-n // lanes)), 1)
    items = groups * lanes
    positions = work.array("search_positions", query.n * items, np.uint64)
    images = work.array("search_images", query.n * items, np.uint32)
    depths = work.upload("search_depths", np.full(items, IDLE, np.uint32))
    counters = work.upload("search_counters", np.zeros(3, np.uint32))
    listed = min(listed, limit)
    mapping = work.array("exact_mapping", listed * query.n, np.int32)
    kernel = phases.kernel("exact", "matching_exact")
    steps, found, going = STEPS, 0, True
    while going and found <= limit and sizes.min() > 0:
        event = kernel.launch(
            items,
            lanes,
            *phases.rows,
            candidates,
            *plan,
            np.uint32(query.n),
            np.uint32(steps),
            np.uint32(listed),
            np.uint32(limit),
            positions,
            images,
            depths,
            counters,
            mapping,
        )
        log.add(event, event)
        log.wait()
        root, found, active = (int(word) for word in counters.read(3))
        going = active > 0 or root < n
        counters.write(np.array([min(root, n), found, 0], np.uint32))
        steps = min(2 * steps, MOST_STEPS)
        report_progress(progress, min(root, n) if going else n, n, "searching for exact matches")
    rows = mapping.read(min(found, listed) * query.n).reshape(-1, query.n)
    return rows[np.lexsort(rows.T[::-1])], min(found, limit), found <= limit
