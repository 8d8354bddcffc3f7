"""Results come back from workers: copied and pickled they are what they were, without a device."""

import copy
import pickle

import numpy as np
import pytest
from searches import MIXED_ONE_WAY

import clgraph as cg

WEIGHTED = cg.Graph(
    MIXED_ONE_WAY.indptr, MIXED_ONE_WAY.indices, np.arange(MIXED_ONE_WAY.m, dtype=np.int32)
)
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
RESULTS = {
    "bfs": lambda d: cg.bfs(WEIGHTED, 3, predecessors=True, device=d),
    "sssp": lambda d: cg.sssp(WEIGHTED, 3, predecessors=True, device=d),
    "self-tuning": lambda d: cg.sssp(WEIGHTED, 3, config="self-tuning", device=d),
    "scc": lambda d: cg.scc(WEIGHTED, device=d),
    "components": lambda d: cg.connected_components(WEIGHTED, device=d),
    "multi-search": lambda d: cg.MultiSearch(WEIGHTED, device=d, **HOPS).run([3, 4]),
    "divided": lambda d: cg.DividedBFS(WEIGHTED, [d, d], predecessors=True).run(3),
    "condensation": lambda d: cg.condensation(WEIGHTED, device=d),
}
ARRAYS = ("distances", "predecessors", "labels", "sizes", "indices", "membership")
FIGURES = ("kernel_ms", "total_ms", "launches", "mode", "config", "teps", "edges_traversed")


def facts(result):
    """What anybody can ask of a result."""
    found = {name: getattr(result, name) for name in ARRAYS if hasattr(result, name)}
    stats = getattr(result, "stats", None)
    found |= {name: getattr(stats, name) for name in FIGURES if hasattr(stats, name)}
    if hasattr(stats, "per_level"):
        found["per_level"] = stats.per_level.tobytes()
    if hasattr(result, "sources"):
        found |= {name: result[name] for name in result}
    return found


def sent(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301 - our own


@pytest.mark.parametrize("how", [copy.deepcopy, copy.copy, sent])
@pytest.mark.parametrize("name", RESULTS)
def test_a_copy_is_what_it_is_a_copy_of(name, how, any_device):
    result = RESULTS[name](any_device)
    again = how(result)
    before, after = facts(result), facts(again)
    assert before.keys() == after.keys()
    for key, value in before.items():
        np.testing.assert_equal(after[key], value)


def test_a_pickled_result_has_no_graph(any_device):
    """It is as large as what it holds."""
    result = cg.bfs(WEIGHTED, 3, device=any_device)
    assert len(pickle.dumps(result)) < 8 * WEIGHTED.n + 30_000
