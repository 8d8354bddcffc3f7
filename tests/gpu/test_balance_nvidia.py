"""Load balancers on a real NVIDIA card: every unit once, and without registers in memory."""

import numpy as np
import pytest
from configs import expand_config
from searches import check_search

import clgraph as cg
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.primitives import Expand, expansion

pytestmark = pytest.mark.gpu

RNG = np.random.default_rng(3)
SIZES = {
    "regular": np.full(40_000, 8),
    "power law": (RNG.pareto(1.1, 30_000) * 4).astype(np.int64) % 200_000,
    "one hub": np.array([3] * 5000 + [1_000_000] + [1] * 5000),
    "many empties": np.array([3] * 10_000 + [0] * 100_000 + [2] * 10_000),
    "few": np.array([0, 5, 0, 7]),
}


def check(sizes: np.ndarray, gpu, **config) -> Expand:
    plan = Expand(sizes, config=expand_config(**config), counts=True, device=gpu)
    plan.run()
    assert (plan.visits() == 1).all()
    np.testing.assert_array_equal(plan.owners(), np.repeat(np.arange(sizes.size), sizes))
    first = np.cumsum(sizes) - sizes
    np.testing.assert_array_equal(plan.ranks(), np.arange(sizes.sum()) - np.repeat(first, sizes))
    return plan


@pytest.mark.parametrize("balance", BALANCERS)
def test_every_unit_exactly_once(gpu, balance):
    for sizes in SIZES.values():
        plan = check(sizes, gpu, balance=balance)
    # Without counters and ranks, as it is timed; registers of multi_phase do not suffice for 64-bit
    # sums or five iterations (64 to 96 bytes on an H200).
    fast = Expand(sizes, config=expand_config(balance=balance), ranks=False, device=gpu)
    fast.run()
    np.testing.assert_array_equal(fast.owners(), plan.owners())
    assert fast._expand.spill_bytes in (0, None)


@pytest.mark.parametrize("balance", ["cws", "multi_phase"])
def test_sums_of_64_bits(gpu, balance, monkeypatch):
    monkeypatch.setattr(expansion, "NARROW_UNITS", 2)
    for sizes in SIZES.values():
        assert check(sizes, gpu, balance=balance).config.wide_offsets


@pytest.mark.parametrize(("batch", "iterations"), [(5, 3), (8, 2)])
def test_lanes_write_in_order(gpu, iterations, batch):
    plan = check(
        SIZES["power law"], gpu, balance="multi_phase", iterations=iterations, unit_batch=batch
    )
    run = 4 if batch % 4 == 0 else 1
    units = SIZES["power law"].sum()
    np.testing.assert_array_equal(plan.writers() % 32, np.arange(units) // run % 32)


@pytest.mark.parametrize("config", [{"partition": "merge"}, {"search": "lanes"}])
def test_chunks(gpu, config):
    for sizes in SIZES.values():
        check(sizes, gpu, balance="two_phase", **config)


GRAPHS = {
    "kron": lambda: cg.generate.kron(14, seed=1),
    "grid": lambda: cg.generate.grid2d(150, 150),
    "star": lambda: cg.generate.star(100_000),
}
# Two renderings for all graphs: one group alone, edges and virtual groups; hubs and broadcasts.
KNOBS = {
    "alone, edges, virtual groups": {"k1": 4, "k2": 0, "k4": 2, "k5": 1},
    "hubs, all lanes, stores side by side": {"k1": 32, "k2": 0.001, "k4": 0, "k5": 0, "k7": 1},
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
