"""What tests of searches share: an independent oracle, checks of whole results, a mixed graph."""

import gc
from functools import lru_cache

import numpy as np
import pytest
from scipy.sparse.csgraph import breadth_first_order

import clgraph as cg
from clgraph import verify
from clgraph.device import Memory

SEARCH_RUNTIMES = ("pocl", "intel")
# PoCL compiles a search with emulated lanes for half a minute: these run one configuration only.
EMULATED_RUNTIMES = ("pocl+lanes8", "pocl+lanes32")


def expected_distances(graph, source):
    """Hop distances out of scipy's order of discovery, int32 with -1 where there is no path."""
    order, tree = breadth_first_order(graph.to_scipy(), source, directed=True)
    places = np.empty(graph.n, np.int64)
    places[order] = np.arange(order.size)
    parents = places[tree[order[1:]]]  # ascending: vertices are found in the order of their parents
    distances = np.full(graph.n, -1, np.int32)
    begin, end, depth = 0, 1, 0
    while begin < end:
        distances[order[begin:end]] = depth
        begin, end = end, 1 + int(np.searchsorted(parents, end))
        depth += 1
    return distances


def check_search(graph, source, result, max_depth=None):
    """Compare a whole result with the oracle, and its tree with the Graph500 rules."""
    expected = _expected(graph, source)
    if max_depth is not None:
        expected = np.where(expected > max_depth, -1, expected)
    np.testing.assert_array_equal(result.distances, expected)
    assert result.distances.dtype == np.int32
    assert result.depth == expected.max()
    assert result.reached == np.count_nonzero(expected >= 0)
    verify.distances(graph, source, result, max_depth=max_depth)
    if result.predecessors is not None:
        assert result.predecessors.dtype == np.int32
        verify.shortest_path_tree(graph, source, result, max_depth=max_depth)


def check_what_each_refuses(graph, devices, monkeypatch):
    """Search on several what none holds: each may take seven tenths of the bytes of all targets."""
    gc.collect()
    # Of one limit for all: what tests before have left on one device is taken on the others, too.
    left = [device.ledger.used_bytes for device in devices]
    _even = [
        Memory(device).allocate("taken elsewhere", max(left) - mine + 1, np.uint8)
        for device, mine in zip(devices, left, strict=True)
    ]
    used = max(device.ledger.used_bytes for device in devices)
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(used + 7 * graph.indices.nbytes // 10))
    for device in devices:
        with pytest.raises(cg.DeviceMemoryError):
            cg.BFS(graph, device=device, memory="device")
    result = cg.DividedBFS(graph, devices).run(int(graph.degrees.argmax()), verify=True)
    assert result.stats.levels > 3


@lru_cache(maxsize=256)
def _expected(graph, source):
    distances = expected_distances(graph, source)
    distances.flags.writeable = False
    return distances


def _mixed(seed, *, directed):
    """A dense core, a hub, a long path, a clique apart, loops, repeats and lone vertices."""
    rng = np.random.default_rng(seed)
    core = (rng.random((2, 3000)) ** 3 * 400).astype(np.int64)
    leaves = np.arange(400, 1300)
    path = np.arange(1300, 1450)
    apart = np.array(np.nonzero(np.ones((25, 25)))) + 1450
    src = np.concatenate([core[0], np.zeros(900, np.int64), [7], path[:-1], apart[0]])
    dst = np.concatenate([core[1], leaves, path[:1], path[1:], apart[1]])
    names = rng.permutation(MIXED_SIZE)
    graph = cg.from_edges(names[src], names[dst], n=MIXED_SIZE, symmetrize=not directed)
    return graph, names


MIXED_SIZE = 1500
MIXED, _names = _mixed(3, directed=False)
MIXED_ONE_WAY, _one_way_names = _mixed(4, directed=True)
# The hub, a vertex of the core, a leaf, the far end of the path, one of the clique, a lone vertex.
MIXED_PLACES = (0, 30, 500, 1449, 1460, 1499)
MIXED_SOURCES = tuple(int(_names[place]) for place in MIXED_PLACES)
MIXED_ONE_WAY_SOURCES = tuple(int(_one_way_names[place]) for place in MIXED_PLACES)
