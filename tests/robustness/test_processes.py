"""Workers of every kind: processes forked before and after, spawned ones, threads, tasks."""

import asyncio
import concurrent.futures
import multiprocessing
import sys

import numpy as np
import pytest
from runtimes import POCL, clean_environment, driver_library, run_python

import clgraph as cg

# Processes build kernels that no cache may have, beside other work: less than a test may take.
ANSWER_S = "240"
FORKED = """
import multiprocessing, sys, warnings
import clgraph as cg

def search(source):
    try:
        return cg.bfs(GRAPH, source, device="pocl").distances.tolist()
    except cg.ClgraphError as error:
        return f"{type(error).__name__}: {error}"

def read(_):
    try:
        return RESULT.distances.tolist()
    except cg.ClgraphError as error:
        return f"{type(error).__name__}: {error}"

GRAPH = cg.generate.path(4)
if sys.argv[1] == "after":
    RESULT = cg.BFS(GRAPH, device="pocl").run(0)
warnings.simplefilter("ignore")
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(search, [0, 3]).get(timeout=float(sys.argv[2])))
    if sys.argv[1] == "after":
        print(pool.map_async(read, [0]).get(timeout=float(sys.argv[2])))
if sys.argv[1] == "after":
    print(RESULT.distances.tolist())
"""


def search(graph, source, device):
    return cg.bfs(graph, source, device=device)


@pytest.fixture
def graph():
    return cg.generate.path(4)


EXPECTED = [[0, 1, 2, 3], [3, 2, 1, 0]]


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_forked_before_anything_is_used():
    driver_library(*POCL)
    ran = run_python(FORKED, "before", ANSWER_S, env=clean_environment())
    assert ran.stdout == f"{EXPECTED}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_forked_after_use_is_refused():
    """Drivers have threads that a child has not: what waits for them never ends."""
    driver_library(*POCL)
    told = run_python(FORKED, "after", ANSWER_S, env=clean_environment()).stdout.splitlines()
    assert told[0].count("DeviceNotFoundError: this process was forked") == 2
    assert told[1].count("spawn") == 1
    assert told[2] == str(EXPECTED[0]), "the parent goes on"


def test_spawned(graph, pocl):
    name = f"{pocl.index[0]}:{pocl.index[1]}"
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        jobs = [pool.submit(search, graph, source, name) for source in (0, 3)]
        found = [job.result(timeout=float(ANSWER_S)).distances.tolist() for job in jobs]
    assert found == EXPECTED


def test_threads(graph, any_device):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(search, graph, source % 2 * 3, any_device) for source in range(40)]
        for turn, job in enumerate(jobs):
            assert job.result(timeout=float(ANSWER_S)).distances.tolist() == EXPECTED[turn % 2]


def test_tasks(graph, any_device):
    plan = cg.BFS(graph, device=any_device)

    async def both():
        jobs = (asyncio.to_thread(plan.run, source) for source in (0, 3))
        return await asyncio.gather(*jobs)

    for result, expected in zip(asyncio.run(both()), EXPECTED, strict=True):
        np.testing.assert_array_equal(result.distances, expected)
