"""Shortest paths by buckets where groups come late, lose their processors and are watched.

No group waits for a certain other one, so nothing here may hang; a hang fails the test.
"""

import pytest
from runtimes import run_under_oclgrind, run_under_pocl_threads

SEARCHES = """
import dataclasses, sys, time
sys.path.insert(0, "tests")
import numpy as np
from configs import sssp_config
import clgraph as cg
from clgraph.algorithms.sssp import plan as sssp
from paths import check_paths, weighted

seconds, spec, sizes = float(sys.argv[1]), sys.argv[2], dict(eval(sys.argv[3]))
resolve = sssp.resolve_paths
limits = dict(iteration_limit=64, spin_rounds=16)
sssp.resolve_paths = lambda *args: dataclasses.replace(resolve(*args), **limits)
graphs = (
    weighted(cg.generate.kron(8, 8, seed=3), np.int32, 0, 30),
    weighted(cg.generate.grid2d(16, 12), np.int32, 0, 60),
    weighted(cg.generate.path(60)),
)
config = sssp_config(method="asynchronous", patience=0, **sizes)
plans = [cg.SSSP(graph, predecessors=True, config=config, device=spec) for graph in graphs]
until = time.monotonic() + seconds
while True:
    for plan in plans:
        for source in (0, plan.graph.n // 3):
            result = plan.run(source)
            assert result.stats.mode == "persistent", result.stats.mode
            check_paths(plan.graph, source, result)
    if time.monotonic() >= until:
        break
print("right")
"""


@pytest.mark.rest
@pytest.mark.parametrize("groups", [8, 24])
def test_groups_may_come_late_and_lose_their_processors(groups):
    run_under_pocl_threads(SEARCHES, "2", "pocl", f"dict(groups={groups})")


@pytest.mark.slow
def test_that_for_long():
    run_under_pocl_threads(SEARCHES, "60", "pocl", "dict(groups=16)")


@pytest.mark.rest
@pytest.mark.parametrize("sizes", ["group_size=1, groups=3", "group_size=2, groups=2"])
def test_nothing_is_out_of_bounds_or_uninitialised(sizes, tmp_path):
    run_under_oclgrind(
        SEARCHES, "0", "oclgrind", f"dict({sizes})", log_folder=tmp_path, checks=("UNINITIALIZED",)
    )
