"""Ranks of one process on all NVIDIA devices there are, and rows that stay in host memory."""

import numpy as np
import pytest
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.algorithms.bfs.streaming import Streamed

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def devices(gpu):
    """Every NVIDIA device, or the only one twice."""
    found = [device for device in cg.devices() if device.vendor == gpu.vendor and device.is_gpu]
    return found if len(found) > 1 else [gpu, gpu]


@pytest.mark.parametrize("partition", ["block", "cyclic", "2d", "1.5d"])
def test_partitions(partition, devices):
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.DividedBFS(graph, devices * 2, predecessors=True, partition=partition)
        for source in sources:
            check_search(graph, source, plan.run(source, verify=True))


def test_paths_components_and_ranks(devices):
    graph = cg.generate.kron(14, seed=3, weights=(1, 50))
    comm = cg.cluster.Together(devices)
    source = int(np.argmax(graph.degrees))
    result = cg.cluster.SSSP(graph, comm, predecessors=True).run(source, verify=True)
    expected = cg.sssp(graph, source, device=devices[0]).distances
    np.testing.assert_array_equal(result.distances, expected)
    labels = cg.cluster.ConnectedComponents(graph, comm).run(verify=True).labels
    np.testing.assert_array_equal(labels, cg.connected_components(graph, device=devices[0]).labels)
    ranks = cg.cluster.PageRank(graph, comm).run().ranks
    np.testing.assert_allclose(ranks, cg.pagerank(graph, device=devices[0]).ranks, rtol=1e-9)


@pytest.mark.parametrize("chunk_bytes", [2000, 1 << 20, None])
def test_rows_in_host_memory(chunk_bytes, devices):
    """Copied in chunks while the other is looked at."""
    graph = cg.generate.kron(16, seed=3)
    for one in (graph, MIXED_ONE_WAY):
        plan = Streamed(one, devices[0], predecessors=True, chunk_bytes=chunk_bytes, way="copied")
        for source in (int(np.argmax(one.degrees)), 5):
            check_search(one, source, plan.search(source, one.n))


@pytest.mark.parametrize("tree", [True, False])
def test_rows_are_read_over_the_bus(tree, devices):
    """In place: what is on the device does not grow with the edges."""
    for one in (cg.generate.kron(16, seed=3), cg.generate.star(100_000), MIXED_ONE_WAY):
        used = devices[0].ledger.used_bytes
        for pulls in (None, False):
            plan = Streamed(one, devices[0], predecessors=tree, way="in place", pulls=pulls)
            assert devices[0].ledger.used_bytes - used < 64 * one.n + (1 << 20)
            for source in (int(np.argmax(one.degrees)), 5):
                check_search(one, source, plan.search(source, one.n))
            del plan
