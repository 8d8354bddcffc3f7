"""Load balancers on a real NVIDIA card: every unit once, and without registers in memory."""

import numpy as np
import pytest
from searches import check_search

import clgraph as cg
from clgraph.engine.balancers import BALANCERS
from clgraph.primitives import Expand, ExpandConfig, expansion

pytestmark = pytest.mark.gpu

RNG = np.random.default_rng(3)
SIZES = {
    "regular": np.full(200_000, 8),
    "power law": (RNG.pareto(1.1, 100_000) * 4).astype(np.int64) % 1_000_000,
    "one hub": np.array([3] * 5000 + [4_000_000] + [1] * 5000),
    "many empties": np.array([3] * 30_000 + [0] * 300_000 + [2] * 30_000),
    "few": np.array([0, 5, 0, 7]),
}


def check(sizes: np.ndarray, gpu, **config) -> Expand:
    plan = Expand(sizes, config=ExpandConfig(**config), counts=True, device=gpu)
    plan.run()
    assert (plan.visits() == 1).all()
    np.testing.assert_array_equal(plan.owners(), np.repeat(np.arange(sizes.size), sizes))
    first = np.cumsum(sizes) - sizes
    np.testing.assert_array_equal(plan.ranks(), np.arange(sizes.sum()) - np.repeat(first, sizes))
    fast = Expand(sizes, config=ExpandConfig(**config), ranks=False, device=gpu)
    fast.run()
    np.testing.assert_array_equal(fast.owners(), plan.owners())
    # Registers of multi_phase do not suffice for 64-bit sums or five iterations: 64 to 96 bytes
    # on an H200.
    if not plan.config.wide_offsets and plan.config.iterations < 5:
        assert fast._expand.spill_bytes in (0, None)
    return plan


@pytest.mark.parametrize("group_size", [32, 256, 1024])
@pytest.mark.parametrize("balance", BALANCERS)
def test_every_unit_exactly_once(gpu, balance, group_size):
    for sizes in SIZES.values():
        check(sizes, gpu, balance=balance, group_size=group_size, unit_batch=4)


@pytest.mark.parametrize("balance", BALANCERS)
def test_sums_of_64_bits(gpu, balance, monkeypatch):
    monkeypatch.setattr(expansion, "NARROW_UNITS", 2)
    for sizes in SIZES.values():
        assert check(sizes, gpu, balance=balance).config.wide_offsets


@pytest.mark.parametrize("iterations", [1, 3, 5])
@pytest.mark.parametrize("batch", [5, 8])
def test_lanes_write_in_order(gpu, iterations, batch):
    plan = check(
        SIZES["power law"], gpu, balance="multi_phase", iterations=iterations, unit_batch=batch
    )
    run = 4 if batch % 4 == 0 else 1
    units = SIZES["power law"].sum()
    np.testing.assert_array_equal(plan.writers() % 32, np.arange(units) // run % 32)


def test_chunks_of_items_and_units(gpu):
    for sizes in SIZES.values():
        check(sizes, gpu, balance="two_phase", partition="merge")


GRAPHS = {
    "kron-15": lambda: cg.generate.kron(15, seed=1),
    "grid": lambda: cg.generate.grid2d(200, 200),
    "path": lambda: cg.generate.path(20_000),
    "star": lambda: cg.generate.star(100_000),
    "random-directed": lambda: cg.generate.random(50_000, 8, directed=True, seed=5),
}
KNOBS = {
    "usual": {},
    "no single group": {"k5": 0},
    "virtual groups only": {"k4": 0, "k5": 0, "k1": 1},
    "all lanes": {"k1": 32, "k4": 0, "k5": 0, "k7": 1},
    "edges": {"k4": 1, "k5": 0},
    "many hubs": {"k2": 0.02, "k3": 4},
}


@pytest.mark.parametrize("name", KNOBS)
def test_bfs_4k(gpu, name):
    for graph in (make() for make in GRAPHS.values()):
        config = cg.BFSConfig.bfs_4k(graph, gpu.traits, **KNOBS[name])
        plan = cg.BFS(graph, predecessors=True, config=config, device=gpu)
        for source in (0, graph.n // 2, graph.n - 1):
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.mode == "persistent"


@pytest.mark.parametrize("name", BALANCERS)
def test_searches(gpu, name):
    for graph in (make() for make in GRAPHS.values()):
        plan = cg.BFS(
            graph, predecessors=True, config=cg.BFSConfig(balance=name, solo=False), device=gpu
        )
        for source in (0, graph.n // 2):
            check_search(graph, source, plan.run(source))
