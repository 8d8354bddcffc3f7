"""Many searches under Oclgrind, whose log must be empty, and interrupted by Ctrl-C."""

import json

import pytest
from runtimes import (
    OCLGRIND_CHECKS,
    POCL,
    clean_environment,
    driver_library,
    run_python,
    run_under_oclgrind,
)

SEARCHES = """
import json, math, sys
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from searches import expected_distances

case = json.loads(sys.argv[1])
rng = np.random.default_rng(2)
src = np.concatenate([rng.integers(0, 50, 150), np.zeros(40, np.int64), [7, 7]])
dst = np.concatenate([rng.integers(0, 50, 150), rng.integers(0, 57, 40), [7, 7]])
for both_ways in (False,) if case.get("bits") else (True, False):
    graph = cg.from_edges(src, dst, n=60, symmetrize=both_ways)
    sources = np.arange(0, 60, 7)
    expected = np.array([expected_distances(graph, int(s)) for s in sources])
    if case.pop("bits", False):
        found = cg.apsp(graph, sources, method="bit-parallel")
        far = cg.eccentricity(graph, sources, disconnected="ignore", method="bit-parallel")
        assert (far == expected.max(1)).all()
        cg.betweenness_centrality(graph, sources[:4], method="shared")
    else:
        plan = cg.MultiSearch(
            graph,
            state={"hops": cg.State("int32", fill=-1), "sizes": cg.State("float32")},
            init="if (lid == 0) hops[src] = 0;",
            visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
            back="if (hops[v] == (int)level + 1) SUM(sizes[v]);" if "method" not in case else None,
            back_vertex="sizes[u] = 1 + sum;" if "method" not in case else None,
            config=cg.MultiSearchConfig(**case),
        )
        found = plan.run(sources)["hops"]
    assert (found == expected).all()
"""
CASES = {
    "two-queues": {"threshold": 6},
    "all-edges": {"method": "all-edges"},
    "bits": {"bits": True},
}


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
@pytest.mark.parametrize(
    "name", ["two-queues", "bits", pytest.param("all-edges", marks=pytest.mark.slow)]
)
def test_no_stray_access_and_no_race(name, check, tmp_path):
    run_under_oclgrind(SEARCHES, json.dumps(CASES[name]), log_folder=tmp_path, checks=(check,))


PATHS = """
import numpy as np
import clgraph as cg

rng = np.random.default_rng(2)
src = np.concatenate([rng.integers(0, 30, 60), np.zeros(40, np.int64), [7, 7]])
dst = np.concatenate([rng.integers(0, 30, 60), rng.integers(0, 40, 40), [7, 7]])
alike = np.ones(src.size, np.int32)
graph = cg.from_edges(src, dst, alike, n=42, symmetrize=True, dedup=True)
sources = np.arange(0, 42, 5)
found = cg.betweenness_centrality(graph, sources, method="ordered")
weighted = cg.betweenness_centrality(graph, sources, weighted=True)
expected = cg.betweenness_centrality(graph, sources, method="multi-search")
assert np.allclose(found, expected) and np.allclose(weighted, expected)
"""


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
def test_no_stray_access_where_paths_are_counted(check, tmp_path):
    run_under_oclgrind(PATHS, log_folder=tmp_path, checks=(check,))


def test_no_stray_access_with_several_work_items(tmp_path):
    """A look at a visited mark before it is claimed is a race by design, so races are not asked."""
    case = {"group_size": 4, "threshold": 6}
    run_under_oclgrind(SEARCHES, json.dumps(case), log_folder=tmp_path, checks=("UNINITIALIZED",))


LENGTHS = """
import sys
import numpy as np
import clgraph as cg
from clgraph.algorithms.multi_search.weighted import WeightedSearcher

rng = np.random.default_rng(2)
ends = rng.integers(0, 40, (2, 160))
graph = cg.from_edges(*ends, rng.integers(0, 99, 160).astype(np.float32), n=44)
sources = np.arange(0, 44, 9)
config = cg.MultiSearchConfig(group_size=int(sys.argv[1]))
many, one = (
    WeightedSearcher(graph, cg.device(), method, config if method == "multi-search" else None)
    for method in ("multi-search", "single")
)
assert (many.distances(sources) == one.distances(sources)).all()
"""


@pytest.mark.parametrize(("items", "check"), [(1, "DATA_RACES"), (4, "UNINITIALIZED")])
def test_no_stray_access_where_vertices_are_set_aside(items, check, tmp_path):
    run_under_oclgrind(LENGTHS, str(items), log_folder=tmp_path, checks=(check,))


INTERRUPTED = """
import gc, json, os, signal, sys, threading
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from clocks import Work

device = cg.device("pocl")
graph = cg.generate.kron(13, seed=1)
plan = cg.MultiSearch(
    graph,
    state={"hops": cg.State("int32", per="group", fill=-1), "far": cg.State("int32", size=1)},
    init="if (lid == 0) hops[src] = 0;",
    visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
    finalize="if (lid == 0) far[0] = level - 1;",
    device=device,
)
few = plan.run(np.arange(100))["far"]
sent = []

def interrupt():
    sent.append(Work())
    os.kill(os.getpid(), signal.SIGINT)

delays = []
for _ in range(2):
    timer = threading.Timer(0.4, interrupt)
    timer.start()
    try:
        plan.run(np.full(300_000, np.argmax(graph.degrees)))
    except KeyboardInterrupt:
        delays.append(sent[-1].seconds())
    else:
        sys.exit("the searches ended too soon")
assert (plan.run(np.arange(100))["far"] == few).all()
print(json.dumps(delays))
"""


@pytest.mark.rest
@pytest.mark.optimised
def test_ctrl_c_is_answered_and_the_plan_goes_on():
    driver_library(*POCL)
    ran = run_python(INTERRUPTED, env=clean_environment())
    assert max(json.loads(ran.stdout)) < 0.5
