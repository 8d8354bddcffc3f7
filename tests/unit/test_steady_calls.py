"""What a run of a plan asks of the driver, in calls: each costs a GPU's host some microseconds."""

import gc
import importlib
import re
import weakref

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.components import number
from clgraph.device import Mirror, native
from clgraph.device.memory.posted import PostedMirror
from clgraph.device.observing import observed_by
from clgraph.profile.passes.timeline import Timeline

driver = importlib.import_module("clgraph.engine.driver")
outcome = importlib.import_module("clgraph.engine.outcome")
posted = importlib.import_module("clgraph.device.memory.posted")
waiting = importlib.import_module("clgraph.device.waiting")
PATH = cg.generate.path(40)
WEIGHED = cg.Graph(PATH.indptr, PATH.indices, np.ones(PATH.m, np.int32), directed=False)
SEEN, UNSEEN, COPY = "enqueue", "enqueue_unseen", "copy"
SEARCHES = {"bfs": (cg.BFS, PATH), "sssp": (cg.SSSP, WEIGHED)}


def enqueued(monkeypatch):
    """List what is enqueued from now on, and poll for as long as a busy machine takes."""
    monkeypatch.setattr(waiting, "BUSY_S", 60.0)
    calls = []
    for owner, name, call in (
        (native.KernelHandle, "enqueue", SEEN),
        (native.KernelHandle, "enqueue_unseen", UNSEEN),
        (native.ReadHandle, "enqueue", COPY),
    ):
        real = getattr(owner, name)

        def noted(*args, real=real, call=call):
            calls.append(call)
            return real(*args)

        monkeypatch.setattr(owner, name, noted)
    return calls


@pytest.mark.parametrize("kind", [PostedMirror, Mirror])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_steady_search_is_a_launch_and_a_look(name, kind, any_device, monkeypatch):
    make, graph = SEARCHES[name]
    monkeypatch.setattr(driver, "mirror", kind)
    plan = make(graph, device=any_device)
    if plan.run(3).stats.mode != "persistent":
        pytest.skip("the stages of a search are launched one by one here")
    plan.run(3)
    calls = enqueued(monkeypatch)
    found = [plan.run(source) for source in (3, 30, 0)]
    assert calls == [SEEN, UNSEEN if kind is PostedMirror else COPY] * 3
    for result, source in zip(found, (3, 30, 0), strict=True):
        np.testing.assert_array_equal(result.distances, np.abs(np.arange(40) - source))
        assert result.stats.kernel_ms > 0


@pytest.mark.parametrize("kind", [PostedMirror, Mirror])
def test_components_have_two_events_and_a_look(kind, any_device, monkeypatch):
    """Of the first launch and of the last; those in between are of no interest by themselves."""
    monkeypatch.setattr(number, "ONE_ITEM_VERTICES", 0)
    monkeypatch.setattr(number, "mirror", kind)
    graph = cg.from_edges([0, 2, 5, 8], [1, 3, 6, 9], n=10, symmetrize=True)
    plan = cg.ConnectedComponents(graph, device=any_device)
    wanted = [0, 0, 1, 1, 2, 3, 3, 4, 5, 5]
    assert plan.run().labels.tolist() == wanted
    calls = enqueued(monkeypatch)
    found = plan.run()
    between = found.stats.launches - 2
    assert between >= 4
    assert calls == [SEEN, *[UNSEEN] * between, SEEN, UNSEEN if kind is PostedMirror else COPY]
    assert found.stats.kernel_ms > 0
    assert (found.labels.tolist(), found.count) == (wanted, 6)


def test_who_watches_sees_launches_that_have_no_event(any_device, monkeypatch):
    monkeypatch.setattr(number, "ONE_ITEM_VERTICES", 0)
    plan = cg.ConnectedComponents(PATH, device=any_device)
    launches = plan.run().stats.launches
    watching = Timeline()
    with observed_by(watching):
        plan.run()
    assert len(watching.launches()) == launches


def test_a_search_is_timed_after_its_end(monkeypatch):
    """What it found may be there before the driver says that the launch has ended."""
    waited = []

    class Launch:
        @property
        def profile(self):
            assert waited == [self]
            return type("Times", (), {"start": 1_000_000, "end": 3_000_000})

    monkeypatch.setattr(outcome, "wait", waited.append)
    launch, ended = Launch(), outcome.Outcome()
    ended.ended("persistent", (launch, launch), 1, 1, np.zeros(60, np.uint32).data, ())
    assert ended.kernel_ms == 2.0


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_can_be_left_while_its_words_are_awaited(name, any_device, monkeypatch):
    make, graph = SEARCHES[name]
    monkeypatch.setattr(driver, "mirror", PostedMirror)
    plan = make(graph, device=any_device)
    plan.run(3)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(posted, "wait_for_word", interrupted)
        with pytest.raises(KeyboardInterrupt):
            plan.run(20)
    for source in (30, 0):
        found = plan.run(source)
        np.testing.assert_array_equal(found.distances, np.abs(np.arange(40) - source))


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_left_keeps_no_memory(name, any_device, monkeypatch):
    """Although whoever looks at the exception holds what was to be its result."""
    make, graph = SEARCHES[name]
    plan = make(graph, device=any_device)
    plan.run(3)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(driver.Driver, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt) as left:
            plan.run(20)
    found = plan.run(30)
    assert len(plan._pool._all) == 1
    assert "found" in left.traceback[-2].frame.f_locals  # or this tests nothing
    np.testing.assert_array_equal(found.distances, np.abs(np.arange(40) - 30))


@pytest.mark.parametrize("name", SEARCHES)
def test_words_of_a_search_that_do_not_come_are_copied(name, any_device, monkeypatch):
    """As where a search takes longer than the host polls."""
    make, graph = SEARCHES[name]
    monkeypatch.setattr(driver, "mirror", PostedMirror)
    plan = make(graph, device=any_device)
    plan.run(3)
    with monkeypatch.context() as patch:
        patch.setattr(posted, "wait_for_word", lambda *_: False)
        calls = enqueued(patch)
        found = plan.run(30)
        assert calls[-2:] == [UNSEEN, COPY]
        np.testing.assert_array_equal(found.distances, np.abs(np.arange(40) - 30))
    assert plan.run(0).distances[39] == 39


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_takes_long_is_rehearsed_and_found_as_without(name, any_device, monkeypatch):
    """What keeps a run in the caches launches nothing, takes nothing and leaves nothing."""
    make, graph = SEARCHES[name]
    monkeypatch.setattr(driver, "mirror", PostedMirror)
    plan = make(graph, device=any_device)
    if plan.run(3).stats.mode != "persistent":
        pytest.skip("the stages of a search are launched one by one here")
    before = plan.run(3)
    calls, rehearsed, wait_for_word = enqueued(monkeypatch), [], posted.wait_for_word

    def long(words, place, value, queue, meanwhile):
        rehearsed.extend(meanwhile().stats.mode for _ in range(3))
        return wait_for_word(words, place, value, queue)

    monkeypatch.setattr(posted, "wait_for_word", long)
    found = [plan.run(source) for source in (30, 0)]
    assert rehearsed == ["persistent"] * 6
    assert calls == [SEEN, UNSEEN] * 2
    for result, source in zip([before, *found], (3, 30, 0), strict=True):
        np.testing.assert_array_equal(result.distances, np.abs(np.arange(40) - source))
        assert result.stats.kernel_ms > 0
    assert len(plan._pool._all) == 3


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_can_be_left_in_a_rehearsal(name, any_device, monkeypatch):
    make, graph = SEARCHES[name]
    monkeypatch.setattr(driver, "mirror", PostedMirror)
    plan = make(graph, device=any_device)
    plan.run(3)

    def interrupted(*_):
        raise KeyboardInterrupt

    def long(*about):
        with monkeypatch.context() as patch:
            patch.setattr(plan._pool, "take", interrupted)
            about[-1]()

    with monkeypatch.context() as patch:
        patch.setattr(posted, "wait_for_word", long)
        with pytest.raises(KeyboardInterrupt):
            plan.run(20)
    for source in (30, 0):
        found = plan.run(source)
        np.testing.assert_array_equal(found.distances, np.abs(np.arange(40) - source))


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_rehearsed_is_gone_with_its_plan(name, any_device):
    """Without the collector: device memory is free when nobody has the plan any more."""
    make, graph = SEARCHES[name]
    plan = make(graph, device=any_device)
    plan.run(3)
    held = weakref.ref(plan._stages._mirror)
    gc.disable()
    try:
        del plan
        assert held() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("config", ["auto", "near-far", "delta-stepping"])
def test_searches_by_weight_take_no_array_that_they_do_not_name(config, predecessors, any_device):
    """Each costs a launch on a GPU up to a microsecond."""
    plan = cg.SSSP(WEIGHED, predecessors, config, any_device)
    text = plan._stages.program.source.partition("__kernel")[2].partition("{")[2]
    arrays = [row.name for row in plan._stages.table.rows if row.access != "value"]
    unused = {name for name in arrays if not re.search(rf"\b{name}\b", text)}
    assert unused <= {"indices"}  # which a lone work-item has beside the weights
