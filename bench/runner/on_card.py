"""Kronecker graphs drawn by an NVIDIA card, in seconds where one thread of a host takes minutes.

They are of the kind of `clgraph.generate.kron`, not the same graphs, and the same on every card.
CuPy draws and sorts, so that nothing here shares code with what is measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clgraph import Graph

__all__ = ["kron"]

SOURCE = Path(__file__).with_name("on_card.cu")
EDGES_A_PIECE = 1 << 26  # sorted at a time
LAUNCH = ((2048,), (256,))
ROOM = 1.25  # for a piece, of what it has in the mean
LOW = np.uint64(32)


def kron(scale: int, edge_factor: int = 16, *, seed: int = 0) -> Graph:
    """Draw an undirected Kronecker graph of the Graph500 kind.

    Parameters
    ----------
    scale : int
        The graph has 2**scale vertices.
    edge_factor : int
        Edges drawn per vertex; self-loops and repeats are dropped.
    seed : int
        One seed gives one graph.

    Returns
    -------
    Graph
        Undirected and simple.

    Raises
    ------
    SystemExit
        If there is no CuPy.
    """
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415 - optional
    except ImportError:
        raise SystemExit("graphs are drawn on a card with CuPy; pip install cupy-cuda12x") from None
    module = cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"))
    n, count = 1 << scale, edge_factor << scale
    ends = cupy.empty(count, cupy.uint32), cupy.empty(count, cupy.uint32)
    module.get_function("draw")(
        *LAUNCH, (*ends, np.uint64(count), np.int32(scale), np.uint64(seed))
    )
    pieces = max(1, count // EDGES_A_PIECE)
    room = min(2 * count, int(2 * count // pieces * ROOM) + (1 << 22))
    indptr, indices, m = np.zeros(n + 1, np.int64), np.empty(2 * count, np.int32), 0
    for piece in range(pieces):
        first, past = n * piece // pieces, n * (piece + 1) // pieces
        keys = _picked(cupy, module, ends, (first, past), room)
        keys.sort()
        keep = cupy.ones(keys.size, bool)
        keep[1:] = keys[1:] != keys[:-1]
        keys = keys[keep]
        rows = cupy.arange(first + 1, past + 1, dtype=cupy.uint64) << LOW
        indptr[first + 1 : past + 1] = cupy.searchsorted(keys, rows).get() + m
        targets = (keys & np.uint64(2**32 - 1)).astype(cupy.int32)
        targets.get(out=indices[m : m + keys.size])
        m += int(keys.size)
        del keys, keep, rows, targets
    del ends
    cupy.get_default_memory_pool().free_all_blocks()
    return Graph.trusted((indptr, indices[:m], None), directed=False)


def _picked(cupy: Any, module: Any, ends: Any, bounds: tuple[int, int], room: int) -> Any:
    """Give both directions of edges whose sources are within bounds, as keys in no order."""
    keys, length = cupy.empty(room, cupy.uint64), cupy.zeros(1, cupy.uint64)
    module.get_function("pick")(
        *LAUNCH,
        (*ends, np.uint64(ends[0].size), *map(np.uint32, bounds), keys, length, np.uint64(room)),
    )
    size = int(length[0])
    if size > room:
        raise SystemExit(f"{size} edges of a piece have room for {room}")
    return keys[:size]
