"""Subgraph matching on a real NVIDIA card: as the sequential form has it, and larger cases."""

import numpy as np
import pyopencl as cl
import pytest

import clgraph as cg
from bench.studies.matchers import sequential
from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.quality import planted_query
from clgraph.device import Kernel, Memory, wait
from clgraph.device.programs import program

pytestmark = pytest.mark.gpu


def random_graph(n, m, seed):
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m))
    return cg.from_edges(src, dst, n=n, symmetrize=True, dedup=True, self_loops=False)


@pytest.fixture(autouse=True)
def each_launch_alone(monkeypatch):
    """Wait after each launch, so that a kernel that leaves its memory is the one that is named."""
    launch = Kernel.launch_bound

    def waited(self, global_size, group_size, *args, **how):
        event = launch(self, global_size, group_size, *args, **how | {"seen": True})
        try:
            wait(event)
        except Exception as error:
            pytest.fail(f"{self.name} of {global_size} work-items ended with {error}")
        return event

    monkeypatch.setattr(Kernel, "launch_bound", waited)


@pytest.mark.parametrize("kind", ["uint", "ulong"])
def test_local_memory_is_aligned_by_the_type_of_the_argument(kind, gpu):
    """What the extension relies upon; no access is wider than the type that is declared."""
    source = f"""__kernel void f(__local {kind} *state, __global uint *out) {{
        state[get_local_id(0)] = get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_local_id(0)] = (uint)state[31u - get_local_id(0)];
        if (get_local_id(0) == 0) out[32] = (uint)(size_t)state;
    }}"""
    kernel = program.build(gpu, source, label="local.cl").kernel("f")
    out = Memory(gpu).allocate("out", 33, np.uint32)
    width = np.dtype({"uint": "u4", "ulong": "u8"}[kind]).itemsize
    wait(kernel.launch(32, 32, cl.LocalMemory(32 * width), out))
    found = out.read()
    assert found[:32].tolist() == list(range(31, -1, -1))
    assert found[32] % width == 0


@pytest.mark.parametrize("config", ["auto", "thesis"])
def test_state_in_global_memory_gives_the_same(config, gpu, monkeypatch):
    target, query = random_graph(200, 900, 1), random_graph(20, 40, 2)
    plan = cg.SubgraphMatching(target, config=config, device=gpu)
    monkeypatch.setattr("clgraph.algorithms.matching.phases.STATE_BYTES", 0)
    in_global = plan.run(query, k=60, seed=7).mapping
    monkeypatch.undo()
    np.testing.assert_array_equal(plan.run(query, k=60, seed=7).mapping, in_global)


@pytest.mark.parametrize("config", ["auto", "product", "thesis"])
@pytest.mark.parametrize("iterations", [None, 40])
def test_equals_the_sequential_form(config, iterations, gpu):
    rng = np.random.default_rng(11)
    target, query = random_graph(200, 900, 1), random_graph(20, 40, 2)
    labels = rng.integers(0, 3, 200), rng.integers(0, 3, 20)
    plan = cg.SubgraphMatching(target, labels=labels[0], config=config, device=gpu)
    result = plan.run(
        query, labels=labels[1], k=60, seed=7, sort=False, iterations=iterations, verify=True
    )
    weights = plan._scores(query, labels[1], None, {})[0]
    alike = (labels[1][:, None] == labels[0][None, :]) * np.uint32(ONE)
    for solution, pair in enumerate(sequential.draw_seeds(weights, 60, 7)):
        images, _ = sequential.extend(
            query,
            target,
            alike,
            pair,
            solution,
            seed=7,
            profile=plan.config.profile,
            order=plan.config.order,
            label_floor=round(plan.config.label_floor * ONE),
            scores=weights,
            iterations=iterations or 0,
        )
        assert result.mapping[solution].tolist() == images


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_both_ways_give_the_same_probabilities(depth, gpu):
    target, query = random_graph(3000, 12_000, 3), random_graph(50, 120, 4)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, 3000), rng.integers(0, 8, 50)
    found = []
    for config in ("thesis", "thesis-bfs"):
        plan = cg.SubgraphMatching(target, labels=labels[0], config=config, device=gpu)
        found.append(plan.probabilities(query, labels=labels[1], max_level=depth))
    np.testing.assert_array_equal(*found)
    small = random_graph(60, 150, 5), random_graph(6, 9, 6)
    own = rng.integers(0, 2, 60), rng.integers(0, 2, 6)
    plan = cg.SubgraphMatching(small[0], labels=own[0], device=gpu)
    wanted = sequential.brute_similarity(
        small[1], small[0], own[1][:, None] == own[0][None, :], depth
    )
    similarities = plan.neighbourhood_similarities(small[1], labels=own[1], max_level=depth)
    np.testing.assert_allclose(similarities, wanted, atol=1e-12)


def test_planted_queries_in_one_launch(gpu):
    target = random_graph(20_000, 80_000, 8)
    labels = np.random.default_rng(1).integers(0, 50, target.n)
    cut = [planted_query(target, size, seed=size) for size in (1, 2, 16, 32, 64, 254)]
    plan = cg.SubgraphMatching(target, labels=labels, device=gpu)
    results = plan.run(
        [query for query, _ in cut], labels=[labels[places] for _, places in cut], verify=True
    )
    assert all(result.cost.min() == 0 for result in results[:4])
    for (query, places), result in zip(cut[:4], results, strict=False):
        alone = plan.run(query, labels=labels[places])
        np.testing.assert_array_equal(alone.mapping, result.mapping)


def test_exact_matches(gpu):
    target = random_graph(5000, 40_000, 9)
    labels = np.random.default_rng(2).integers(0, 25, target.n)
    query, places = planted_query(target, 6, seed=3)
    found = [
        cg.subgraph_matching(
            target,
            query,
            labels=(labels, labels[places]),
            exact=True,
            k=100_000,
            device=gpu,
            verify=True,
        )
        for _ in range(2)
    ]
    assert found[0].complete
    assert places.tolist() in found[0].mapping.tolist()
    np.testing.assert_array_equal(found[0].mapping, found[1].mapping)
