"""Host memory of a GPU's results: pinned, used again, readable by a child."""

import gc
import os

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory

pytestmark = pytest.mark.gpu


def test_results_come_in_pinned_memory_that_is_used_again(gpu):
    gc.collect()  # memory of results that tests before left in circles is not to come back between
    graph = cg.generate.kron(16, 8, seed=1)
    plan = cg.BFS(graph, device=gpu)
    expected = plan.run(0).distances
    again = plan.run(0)
    assert again.distances.base is not None
    np.testing.assert_array_equal(again.distances, expected)
    place = again.distances.ctypes.data
    del again
    assert plan.run(0).distances.ctypes.data == place
    np.testing.assert_array_equal(plan.run(0).distances_device.get(), expected)


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_may_read_a_result(gpu):
    plan = cg.BFS(cg.generate.kron(16, 8, seed=1), device=gpu)
    plan.run(0).distances.sum()
    found = plan.run(0).distances
    child = os.fork()
    if child == 0:
        os._exit(int(found.max()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == found.max()


def test_a_large_array_arrives(gpu):
    assert gpu.staging is not None
    source = np.random.default_rng(3).integers(0, 1 << 30, 40_000_001, dtype=np.int32)
    held = Memory(gpu).upload("large", source)
    np.testing.assert_array_equal(held.read(), source)
