"""Triangles on a real NVIDIA card: presets against each other and against known numbers."""

import numpy as np
import pytest

import clgraph as cg

pytestmark = pytest.mark.gpu

GRAPHS = {
    "kron": lambda: cg.generate.kron(17, seed=3),
    "rgg": lambda: cg.generate.geometric(100_000, seed=3),
    "mesh": lambda: cg.generate.mesh(300, 300, seed=3),
    "complete": lambda: cg.generate.complete(700),
}
PRESETS = [name for name in cg.TrianglesConfig.presets() if name != "binary-search"]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_preset_counts_the_same(name, gpu):
    """TC-02, TC-03, TC-24: totals, vertices and edges, turned anew each time."""
    simple = cg.Triangles(GRAPHS[name](), device=gpu, clean=True).simple
    reference = cg.Triangles(simple, config="binary-search", device=gpu)
    expected = {per: reference.run(per) for per in ("total", "vertex", "edge")}
    for preset in PRESETS:
        plan = cg.Triangles(simple, config=preset, device=gpu)
        for per in ("total", "vertex") if plan.config.cover else ("total", "vertex", "edge"):
            for _ in range(2):
                found = plan.run(per, prepare=True)
                assert found.count == expected[per].count
                if per != "total":
                    np.testing.assert_array_equal(found.values, expected[per].values)


def test_lists_and_blocks(gpu):
    graph = cg.generate.kron(13, seed=3)
    plan = cg.Triangles(graph, config="bitmap", device=gpu, clean=True)
    listed = plan.run("list").values
    assert len(np.unique(listed, axis=0)) == plan.run().count == len(listed)
    blocks = np.concatenate(list(plan.blocks(10_000)))
    np.testing.assert_array_equal(blocks[np.lexsort(blocks.T[::-1])], listed)


@pytest.mark.parametrize("preset", cg.TrianglesConfig.presets())
def test_a_total_beyond_32_bits(preset, gpu):
    """TC-12."""
    n = 3000
    indices = np.arange(n * (n - 1)).reshape(n, n - 1) % (n - 1)
    indices += indices >= np.arange(n)[:, None]
    graph = cg.Graph(np.arange(n + 1) * (n - 1), indices.ravel(), directed=False)
    assert cg.Triangles(graph, config=preset, device=gpu).run().count == 4_495_501_000
