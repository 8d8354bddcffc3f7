"""What some devices forgive: alignment, bounds and races of matching; and its memory budget."""

import dataclasses
import gc

import numpy as np
import pytest
from runtimes import device_or_skip, run_under_oclgrind

import clgraph as cg
from clgraph.device import Memory
from clgraph.device.hardware.traits import QUIET
from clgraph.device.programs import program
from clgraph.errors import DeviceMemoryError

SMALL = """
    import numpy as np
    import clgraph as cg
    from clgraph.algorithms.matching import phases

    rng = np.random.default_rng(5)
    target = cg.from_edges(*rng.integers(0, 14, (2, 25)), n=14, symmetrize=True, dedup=True,
                           self_loops=False)
    query = cg.from_edges([0, 1, 2, 0], [1, 2, 0, 3], symmetrize=True)
    device = cg.device()
    for lanes in (0, 4):
        on = device.emulating(lanes) if lanes else device
        for config, state_bytes in (("auto", 1 << 14), ("thesis-bfs", 0), ("thesis", 1 << 14)):
            phases.STATE_BYTES = state_bytes
            plan = cg.SubgraphMatching(target, labels=[0, 1] * 7, config=config, device=on)
            plan.run(query, labels=[0, 1, 0, 1], k=3, max_level=3, iterations=6, verify=True)
"""


@pytest.mark.parametrize("state_space", ["__local", "__global"])
@pytest.mark.parametrize("preset", ["auto", "thesis"])
def test_no_pointer_becomes_one_to_wider_words(preset, state_space, tmp_path, monkeypatch):
    """Local memory is aligned by the type that a kernel declares: uint does not give 8 bytes."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(program, "_programs", {})
    device = device_or_skip("intel").beside()
    usual = [option for option in device.traits.build_options if option != QUIET]
    options = (*usual, "-Wcast-align", "-Werror=cast-align")
    device.__dict__["traits"] = dataclasses.replace(device.traits, build_options=options)
    plan = cg.SubgraphMatching(cg.generate.grid2d(3, 3), config=preset, device=device)
    plan._phases.kernel("extend", "matching_extend", state_space=state_space)


@pytest.mark.slow
@pytest.mark.parametrize("preset", cg.MatchingConfig.presets())
def test_arrays_are_not_left(preset, device, monkeypatch):
    """By kernels that check every access, on every runtime, for queries of several words."""
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    rng = np.random.default_rng(8)
    target, query = (
        cg.from_edges(
            *rng.integers(0, n, (2, 2 * n)), n=n, symmetrize=True, dedup=True, self_loops=False
        )
        for n in (70, 37)
    )
    plan = cg.SubgraphMatching(target, config=preset, device=device)
    plan.run(query, k=20, max_level=3, iterations=50, verify=True)


@pytest.mark.slow
def test_under_a_simulator(tmp_path):
    """Neither races nor words that nobody wrote, one lane and four."""
    run_under_oclgrind(SMALL, log_folder=tmp_path)


def test_the_budget_is_respected(any_device, monkeypatch):
    """What does not fit is refused in a sentence, and everything taken is given back."""
    graph = cg.generate.grid2d(30, 30)
    wanted = cg.subgraph_matching(graph, graph, k=2, max_level=1, device=any_device).mapping
    plan = cg.SubgraphMatching(graph, device=any_device)
    ledger = any_device.ledger
    gc.collect()
    before = ledger.used_bytes
    for room in (0, 1 << 16, 3 << 20):
        monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(before + room))
        with pytest.raises(DeviceMemoryError):
            plan.run(graph, k=2, max_level=1)
        gc.collect()
        assert ledger.used_bytes == before
    monkeypatch.undo()
    np.testing.assert_array_equal(plan.run(graph, k=2, max_level=1).mapping, wanted)


def test_the_peak_of_a_run_is_reported(any_device, monkeypatch):
    """Checklist 29: the most that was held of the device while it ran."""
    graph = cg.generate.grid2d(20, 20)
    plan = cg.SubgraphMatching(graph, device=any_device)
    held, allocate = [], Memory.allocate

    def counted(self, name, count, dtype):
        made = allocate(self, name, count, dtype)
        held.append(any_device.ledger.used_bytes)
        return made

    monkeypatch.setattr(Memory, "allocate", counted)
    gc.collect()
    stats = plan.run(graph, k=2, max_level=1).stats
    assert stats.device_bytes == max(held)
    assert max(held) - min(held) > 4 * graph.n**2


def test_arrays_are_taken_once_and_make_way(any_device, monkeypatch):
    """A second run takes none; one that does not fit beside what is kept runs all the same."""
    graph = cg.generate.grid2d(20, 20)
    plan = cg.SubgraphMatching(graph, device=any_device)
    first = plan.run(graph, k=2, max_level=1)
    taken = []
    allocate = Memory.allocate

    def counted(self, name, count, dtype):
        taken.append(name)
        return allocate(self, name, count, dtype)

    monkeypatch.setattr(Memory, "allocate", counted)
    query = cg.generate.path(5).symmetrized()
    small = plan.run(query, k=2, max_level=1)
    again = plan.run(graph, k=2, max_level=1)
    assert taken == []
    np.testing.assert_array_equal(again.mapping, first.mapping)
    gc.collect()
    kept = plan._phases.work.size_bytes
    limit = any_device.ledger.used_bytes + 1000
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))
    plan.run(query, k=3000, max_level=1)  # whose arrays of solutions are larger
    assert "mapping" in taken
    assert plan._phases.work.size_bytes < kept
    np.testing.assert_array_equal(plan.run(query, k=2, max_level=1).mapping, small.mapping)
    monkeypatch.undo()
    monkeypatch.setattr("clgraph.algorithms.matching.plan.MOST_KEPT_BYTES", kept - 1)
    plan.run(graph, k=2, max_level=1)
    assert plan._phases.work.size_bytes == 0
