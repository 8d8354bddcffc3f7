"""Ctrl-C during a long search is answered at once and leaves a plan that works."""

import dataclasses
import gc
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from clocks import Work, alarms
from digraphs import chain_of_cycles
from runtimes import LIMIT_S, POCL, ROOT, clean_environment, driver_library, run_python
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.matching.plan import MOST_KEPT_BYTES
from clgraph.primitives import Expand

ANSWER_LIMIT_S = 0.5  # of processor time
SEARCH = """
import dataclasses, gc, json, os, signal, sys, threading, time
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from clgraph.algorithms.bfs import plan as bfs_module
from clocks import Work
from configs import bfs_config

resolve = bfs_module.resolve
options = json.loads(sys.argv[1])
budget = {"launch_work": options.pop("launch_work")} if "launch_work" in options else {}
bfs_module.resolve = lambda *args, **more: dataclasses.replace(resolve(*args, **more), **budget)
device = cg.device("pocl")
n = 10_000_000
graph = cg.generate.path(n)
config = bfs_config(**options)
cg.BFS(cg.generate.path(10), config=config, device=device).run(0)
gc.collect()
used_before = device.ledger.used_bytes
plan = cg.BFS(graph, config=config, device=device)
sent = []

def interrupt():
    sent.append(Work())
    os.kill(os.getpid(), signal.SIGINT)

delays = []
for _ in range(3):
    timer = threading.Timer(0.1, interrupt)
    start = time.perf_counter()
    timer.start()
    try:
        plan.run(0)
    except KeyboardInterrupt:
        delays.append(sent[-1].seconds())
    else:
        print("the search took only", time.perf_counter() - start, file=sys.stderr)
        timer.cancel()
        sys.exit(1)
result = plan.run(0)
assert np.array_equal(result.distances, np.arange(n, dtype=np.int32))
assert result.stats.mode == "persistent"
launches = result.stats.launches
del result, plan, graph
gc.collect()
print(json.dumps({
    "delays": delays, "launches": launches, "left_bytes": device.ledger.used_bytes - used_before
}))
"""


@pytest.mark.rest
@pytest.mark.optimised
@pytest.mark.parametrize(
    "options",
    [{}, {"launch_work": 1_000_000}, {"single_group": False, "groups": 1}],
    ids=["default", "short-launches", "a-stage-per-level"],
)
def test_a_search_of_ten_million_levels(options):
    """A launch is bounded, so what is interrupted is over soon after, its memory free again."""
    driver_library(*POCL)
    ran = run_python(SEARCH, json.dumps(options), env=clean_environment())
    found = json.loads(ran.stdout)
    assert max(found["delays"]) < ANSWER_LIMIT_S
    assert found["launches"] > 1
    assert found["left_bytes"] == 0


@pytest.mark.rest
@pytest.mark.optimised
@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("preset", ["signatures", "devshatwar"])
def test_scans_of_a_deep_graph(preset, device):
    """Rounds over all edges, seconds of them: a launch has few enough to answer between two."""
    config = dataclasses.replace(cg.SCCConfig.preset(preset), scan_budget=10_000)
    cg.scc(chain_of_cycles(5, 2), config=config, device=device)  # compiles
    plan = cg.SCC(chain_of_cycles(50_000, 2), config=config, device=device)
    sent = []

    def interrupt(*_):
        sent.append(Work())
        raise KeyboardInterrupt

    def run():
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        plan.run()

    with alarms(interrupt):
        with pytest.raises(KeyboardInterrupt):
            run()
        assert sent[0].seconds() < ANSWER_LIMIT_S


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_many_matches(any_device):
    """A launch of the extension has few enough solutions; the next run is as if nothing was."""
    gc.collect()
    before_all = any_device.ledger.used_bytes
    target = cg.generate.kron(10, seed=1)
    query = cg.generate.grid2d(5, 5)
    plan = cg.SubgraphMatching(target, device=any_device)
    expected = plan.run(query, k=40, seed=5).mapping
    held = any_device.ledger.used_bytes
    sent = []

    def interrupt(*_):
        sent.append(Work())
        raise KeyboardInterrupt

    def run_for(seconds, plan):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        plan.run(query, k=1_000_000)

    with alarms(interrupt):
        for after in (0.02, 0.4):
            with pytest.raises(KeyboardInterrupt):
                run_for(after, plan)
            assert sent[-1].seconds() < ANSWER_LIMIT_S
            # Nor does the device go on for long with what was given up: seeds take it a minute.
            np.testing.assert_array_equal(plan.run(query, k=40, seed=5).mapping, expected)
            assert sent[-1].seconds() < 20 * ANSWER_LIMIT_S
            # A plan keeps arrays for the next run, those of a larger one among them.
            assert any_device.ledger.used_bytes <= held + MOST_KEPT_BYTES
    del plan, target
    gc.collect()
    assert any_device.ledger.used_bytes == before_all


HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
WEIGHTED = cg.Graph(
    MIXED_ONE_WAY.indptr, MIXED_ONE_WAY.indices, np.arange(MIXED_ONE_WAY.m, dtype=np.int32)
)
PLANS = {
    "bfs": lambda d: (cg.BFS(WEIGHTED, device=d), lambda plan: plan.run(0).distances),
    "sssp": lambda d: (cg.SSSP(WEIGHTED, device=d), lambda plan: plan.run(0).distances),
    "self-tuning": lambda d: (
        cg.SSSP(WEIGHTED, config="self-tuning", device=d),
        lambda plan: plan.run(0).distances,
    ),
    "scc": lambda d: (
        cg.SCC(WEIGHTED, config="multistep", device=d),
        lambda plan: plan.run().labels,
    ),
    "components": lambda d: (
        cg.ConnectedComponents(WEIGHTED, device=d),
        lambda plan: plan.run().labels,
    ),
    "matching": lambda d: (
        cg.SubgraphMatching(MIXED, device=d),
        lambda plan: plan.run(cg.generate.path(6), k=20, iterations=12).mapping,
    ),
    "multi": lambda d: (
        cg.MultiSearch(WEIGHTED, device=d, **HOPS),
        lambda plan: plan.run(range(20))["hops"],
    ),
    "expand": lambda d: (
        Expand(WEIGHTED.degrees, device=d),
        lambda plan: np.array([plan.run().units]),
    ),
}


# An alarm may fall into a finalizer or beside a file that is just being opened.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", PLANS)
def test_any_plan_works_after_interrupts_at_random_moments(name, any_device):
    """An alarm stands for Ctrl-C, since it can come at a chosen time."""
    plan, run = PLANS[name](any_device)
    expected = run(plan)
    takes = np.inf
    for _ in range(3):
        start = time.perf_counter()
        run(plan)
        takes = min(takes, time.perf_counter() - start)
    rng = np.random.default_rng(7)

    def interrupt(*_):
        raise KeyboardInterrupt

    interrupts = 0
    with alarms(interrupt):
        for _ in range(10):  # tests/fuzz has all algorithms, on one device
            try:
                signal.setitimer(signal.ITIMER_REAL, max(takes * rng.random(), 1e-5))
                run(plan)
                signal.setitimer(signal.ITIMER_REAL, 0)
                takes /= 2  # others used the machine when it was measured
            except KeyboardInterrupt:
                interrupts += 1
            np.testing.assert_array_equal(run(plan), expected)
    assert interrupts


# An interruption stands at the import of whatever comes while the command loads.
LOADING = """
import sys

import runpy

wanted = sys.argv.pop()

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
sys.argv.append("devices")
runpy.run_module("clgraph", run_name="__main__")
"""


@pytest.mark.parametrize("name", ["clgraph.cli.main", "argparse", "numpy", "pyopencl"])
def test_while_the_command_is_loading(name):
    """One line and the status of other interruptions, not a traceback."""
    done = subprocess.run(
        [sys.executable, "-c", LOADING, name],
        env=clean_environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "clgraph: interrupted\n")
