"""Device memory of results: whose it is, and when another result may have it."""

import copy
import gc

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import Memory, Mirror
from clgraph.device.memory import allocator, results
from clgraph.device.memory.results import ResultMemory
from clgraph.errors import DeviceMemoryError

PATH = cg.generate.path(40)
WAYS = cg.from_edges([0, 1, 2, 3, 3], [1, 2, 0, 4, 1], n=40)


@pytest.fixture
def kept(any_device):
    gc.collect()
    return ResultMemory(Memory(any_device))


def searches(graph, device):
    return cg.MultiSearch(
        graph,
        state={"hops": cg.State("int32", fill=-1)},
        init="if (lid == 0) hops[src] = 0;",
        visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
        device=device,
    )


PLANS = {
    "components": (cg.ConnectedComponents, PATH, (), lambda found: found.labels),
    "scc": (cg.SCC, WAYS, (), lambda found: found.labels),
    "forest": (cg.SpanningForest, PATH, (), lambda found: found.labels),
    "multi-search": (searches, PATH, ([0, 3],), lambda found: found["hops"]),
}


def test_the_array_of_a_result_that_is_gone_is_used_again(kept):
    first = kept.take("labels", 10, np.int32)
    second = kept.take("labels", 10, np.int32)
    tokens = {first.token, second.token}
    assert len(tokens) == 2
    first.write(np.arange(10, dtype=np.int32))
    second.write(np.zeros(10, np.int32))
    assert first.read().tolist() == list(range(10))
    del first
    third = kept.take("labels", 10, np.int32)
    assert third.token in tokens  # kernels that had it need not be given it again
    assert third.token is not second.token
    assert second.read().tolist() == [0] * 10


def test_no_more_is_kept_than_two_results_in_turn_need(any_device):
    """However many were alive at once; nor what is of another size than what is wanted."""
    gc.collect()
    ledger, kept = any_device.ledger, ResultMemory(Memory(any_device))
    before = ledger.used_bytes
    many = [kept.take("labels", 1000, np.int32) for _ in range(5)]
    assert ledger.used_bytes == before + 5 * 4000
    many.clear()
    last = kept.take("labels", 1000, np.int32)
    assert ledger.used_bytes == before + 4000
    other = kept.take("labels", 500, np.int32)
    del last
    assert kept.spare("labels", 1000, np.int64) is None
    assert ledger.used_bytes == before + 2000
    assert other.size_bytes == 2000
    del kept
    assert ledger.used_bytes == before + 2000  # a result needs no plan
    other.read()
    del other
    assert ledger.used_bytes == before


def test_what_is_large_goes_with_its_result(kept, any_device, monkeypatch):
    monkeypatch.setattr(results, "MOST_BYTES", 4000)
    before = any_device.ledger.used_bytes
    small, large = kept.take("a", 1000, np.int32), kept.take("b", 1001, np.int32)
    assert small.count < large.count
    del small, large
    assert any_device.ledger.used_bytes == before + 4000


@pytest.mark.parametrize("name", PLANS)
def test_steady_runs_allocate_nothing(name, any_device, monkeypatch):
    """Each result is held until there is the next, as by a name that stands for either."""
    make, graph, args, values = PLANS[name]
    plan = make(graph, any_device) if make is searches else make(graph, device=any_device)
    wanted = values(plan.run(*args)).copy()
    held = plan.run(*args)
    held = plan.run(*args)
    names, allocate = [], allocator.Memory.allocate

    def noted(memory, name, count, dtype):
        names.append(name)
        return allocate(memory, name, count, dtype)

    monkeypatch.setattr(allocator.Memory, "allocate", noted)
    for _ in range(3):
        held = plan.run(*args)
        assert not names
    np.testing.assert_array_equal(values(held), wanted)


@pytest.mark.parametrize("name", PLANS)
def test_results_that_are_held_stay_as_they_are(name, any_device):
    make, graph, args, values = PLANS[name]
    plan = make(graph, any_device) if make is searches else make(graph, device=any_device)
    found = [plan.run(*args) for _ in range(4)]
    copied = copy.deepcopy(found[0])
    wanted = values(found[1]).copy()
    found.append(plan.run(*args))
    del plan
    for each in (copied, *found):
        np.testing.assert_array_equal(values(each), wanted)


def test_searches_of_other_numbers_of_sources_take_what_they_need(any_device):
    plan = searches(PATH, any_device)
    for sources in ([0, 3, 5], [7], [1, 2], [2, 1], [9]):
        found = plan.run(sources)["hops"]
        np.testing.assert_array_equal(found, np.abs(np.arange(40) - np.array(sources)[:, None]))


@pytest.mark.parametrize("sources", [[0, 3], [3]], ids=["two", "one"])
def test_what_a_result_before_had_counts_as_room(sources, any_device, monkeypatch):
    """There is none for a second array of that size, and need not be; nor for another group."""
    gc.collect()
    plan = searches(PATH, any_device)
    wanted = plan.run(sources)["hops"].copy()
    limit = any_device.ledger.used_bytes
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit + 8))
    found = plan.run(sources)
    np.testing.assert_array_equal(found["hops"], wanted)
    with pytest.raises(DeviceMemoryError, match=f"hops of {len(sources)} searches need"):
        plan.run(sources)


def test_a_mirror_holds_what_it_looks_at(any_device):
    """Its copies are enqueued by address."""
    held = Memory(any_device).upload("held", np.arange(8, dtype=np.uint32))
    mirror = Mirror(any_device, held, 2, 3)
    held.release()
    del held
    gc.collect()
    mirror.refresh()
    assert mirror.words.tolist() == [2, 3, 4]
