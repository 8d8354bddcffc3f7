"""CLGRAPH_CHECK=1 on a real card, which has no other sanitizer for OpenCL; run by hand."""

import numpy as np
import pytest
from searches import MIXED, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.device import Memory, load, wait
from clgraph.errors import OutOfBoundsError

pytestmark = pytest.mark.gpu

LEAVE = """
static void store(__global uint *to, const int at) { to[at] = 1; }
__kernel void leave(__global uint *values, __global ulong *other, const int place, const int way)
{
    __local uint few[4];
    if (way == 0) values[place] = 1;
    if (way == 1) atomic_inc(values + place);
    if (way == 2) ((__global uchar *)values)[4 * place] = 1;
    if (way == 3) store(values, place);
    if (way == 4) values[other[place]] = 1;
    if (way == 5) { few[place] = 1; values[0] = few[0]; }
}
"""
LINES = {0: 6, 1: 7, 2: 8, 3: 2, 4: 10, 5: 11}


@pytest.fixture(autouse=True)
def _checks(monkeypatch):
    monkeypatch.setenv("CLGRAPH_CHECK", "1")


def test_accesses_beyond_an_array_are_reported_and_not_made(gpu, tmp_path):
    (tmp_path / "leave.cl").write_text(LEAVE)
    kernel = load(gpu, "leave.cl", folders=(tmp_path,)).kernel("leave")
    memory = Memory(gpu)
    values = memory.upload("values", np.zeros(8, np.uint32))
    other = memory.upload("other", np.arange(16, dtype=np.uint64))
    for way, line in LINES.items():
        with pytest.raises(OutOfBoundsError) as caught:
            wait(kernel.launch(64, 32, values, other, np.int32(12), np.int32(way)))
        assert caught.value.line == line
        assert caught.value.array == (None if way == 5 else "values")
        if way != 5:
            wait(kernel.launch(64, 32, values, other, np.int32(way + 1), np.int32(way)))
    expected = np.zeros(8, np.uint32)
    expected[:6] = 1  # the first by the local array, whose bad place was led to its first
    expected[2] = 64
    np.testing.assert_array_equal(values.read(), expected)


@pytest.mark.parametrize("preset", ["auto", "merrill-hybrid"])
def test_a_search_stays_within_its_arrays(preset, gpu):
    plan = cg.BFS(MIXED, predecessors=True, config=preset, device=gpu)
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


def test_shortest_paths_and_components_stay_within_their_arrays(gpu):
    graph = cg.generate.kron(10, weights=(1, 50))
    assert (
        cg.sssp(
            graph, int(graph.degrees.argmax()), predecessors=True, device=gpu, verify=True
        ).reached
        > 1
    )
    assert cg.scc(graph, device=gpu, verify=True).count >= 1
