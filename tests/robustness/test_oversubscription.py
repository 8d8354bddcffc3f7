"""Work-groups that cannot all be resident never hang a search; PoCL with eight threads shows it."""

import json

import pytest
from runtimes import run_under_pocl_threads

# A search that hangs fails the test. Eight groups polling on two cores take 10 ms a level and more.
SEARCH = """
import json
import logging
import sys
sys.path.insert(0, "tests")
from configs import bfs_config
import clgraph as cg
from searches import check_search

class Kept(logging.Handler):
    def emit(self, record):
        kept.append(record.getMessage())

kept = []
log = logging.getLogger("clgraph")
log.addHandler(Kept(logging.WARNING))
log.propagate = False
case = json.loads(sys.argv[1])
graph = {
    "path": lambda: cg.generate.path(50),
    "grid": lambda: cg.generate.grid2d(20, 20),
    "kron": lambda: cg.generate.kron(11, 8, seed=5),
}[case["graph"]]()
plan = cg.BFS(graph, predecessors=True, config=bfs_config(**case["config"]))
modes, warnings = [], []
for source in (0, graph.n // 2, graph.n - 1, 0):
    kept.clear()
    result = plan.run(source)
    check_search(graph, source, result)
    modes.append(result.stats.mode)
    warnings.append(list(kept))
print(json.dumps({"modes": modes, "warnings": warnings}))
"""


def search_with_eight_threads(graph, **config):
    case = json.dumps({"graph": graph, "config": config})
    ran = run_under_pocl_threads(SEARCH, case, threads=8)
    found = json.loads(ran.stdout)
    return found["modes"], found["warnings"]


@pytest.mark.parametrize("graph", ["path", "grid"])
def test_too_many_groups_give_up_and_the_search_is_run_stepped(graph):
    """Each run of the plan gives up inside its kernel, says so once, and is right."""
    modes, warnings = search_with_eight_threads(
        graph, membership="fixed", groups=64, spin_limit=20_000, single_group=False
    )
    assert modes == ["stepped"] * 4
    for said in warnings:
        assert len(said) == 1
        assert "waited in vain for another of 64 (8 are resident at once)" in said[0]
        assert "running stepped instead" in said[0]


@pytest.mark.parametrize("graph", ["path", "kron"])
@pytest.mark.parametrize("single_group", [True, False])
def test_as_many_groups_as_are_resident_meet(graph, single_group):
    modes, warnings = search_with_eight_threads(
        graph, membership="fixed", groups=8, single_group=single_group
    )
    assert modes == ["persistent"] * 4
    assert warnings == [[]] * 4


@pytest.mark.parametrize("graph", ["path", "kron"])
@pytest.mark.parametrize("single_group", [True, False])
def test_open_membership_needs_no_group_to_be_resident(graph, single_group):
    modes, warnings = search_with_eight_threads(
        graph, membership="open", groups=64, single_group=single_group
    )
    assert modes == ["persistent"] * 4
    assert warnings == [[]] * 4
