"""What a run of a plan costs beside its kernel, in calls: wall clocks differ from host to host."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import clgraph as cg
from clgraph import dynamic
from clgraph.algorithms.components import number
from clgraph.device import waiting
from clgraph.device.native import KernelHandle
from clgraph.device.programs.kernel import Kernel

LIBRARY = str(Path(cg.__file__).parent)
PATH = cg.generate.path(10)
WEIGHED = cg.Graph(PATH.indptr, PATH.indices, np.ones(PATH.m, np.int32), directed=False)
WAYS = cg.from_edges([0, 1, 2, 3, 4, 5, 6, 7, 8, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], n=10)
PLANS = {"bfs": (cg.BFS, PATH), "sssp": (cg.SSSP, WEIGHED)}


def searches(graph, device):
    """Make a plan of searches of the user's own."""
    return cg.MultiSearch(
        graph,
        state={"hops": cg.State("int32", fill=-1)},
        init="if (lid == 0) hops[src] = 0;",
        visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
        device=device,
    )


# What a run takes; functions it enters; copies that it waits for, each as long as a launch on a
# GPU; arguments that it hands over, which are the same arrays and numbers as in the run before.
ALL = {
    "bfs": (cg.BFS, PATH, (1,), 30, 1, 0),
    "sssp": (cg.SSSP, WEIGHED, (1,), 34, 1, 0),
    "components": (cg.ConnectedComponents, PATH, (), 72, 1, 0),
    # Its history, and whether it is done; of the CPU's depth-first search the latter alone.
    "scc": (partial(cg.SCC, config="signatures"), WAYS, (), 94, 3, 0),
    "multi-search": (searches, PATH, ([0, 3],), 73, 2, 0),
}


def entered(call):
    """List the functions of the library that a call enters, but those that wait."""
    names = []

    def note(frame, event, _):
        code = frame.f_code
        inside = code.co_filename.startswith(LIBRARY) and code.co_filename != waiting.__file__
        if event == "call" and inside:
            names.append(code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize("name", ALL)
def test_a_steady_run_does_little(name, pocl, monkeypatch):
    make, graph, args, most, waits, handed = ALL[name]
    plan = make(graph, device=pocl)
    for _ in range(3):
        plan.run(*args)
    given, set_bytes = [], KernelHandle.set_bytes

    def noted(handle, index, value):
        given.append(index)
        set_bytes(handle, index, value)

    monkeypatch.setattr(KernelHandle, "set_bytes", noted)
    names = entered(lambda: plan.run(*args))
    assert names.count("finish_copy") == waits
    assert len(given) == handed
    assert len(names) <= most, names


@pytest.mark.parametrize("name", PLANS)
def test_results_are_made_while_the_device_is_at_work(name, pocl):
    """After the wait they are told how it went, and who counts on cores is, and nothing else."""
    make, graph = PLANS[name]
    plan = make(graph, device=pocl)
    for _ in range(3):
        plan.run(1)
    names = entered(lambda: plan.run(1))
    waited = len(names) - names[::-1].index("finish_copy")
    assert names[waited] == "ended"
    assert set(names[waited:]) <= {"ended", "saw"}


@pytest.mark.parametrize("name", PLANS)
def test_a_run_hands_over_only_what_has_changed(name, pocl, monkeypatch):
    """The source alone; and where the result before is alive, arrays for another one."""
    make, graph = PLANS[name]
    plan = make(graph, device=pocl)
    kept = [plan.run(1), plan.run(1)]
    kept.clear()
    plan.run(1)
    handed = []
    set_bytes = KernelHandle.set_bytes

    def noted(handle, index, value):
        handed.append(index)
        set_bytes(handle, index, value)

    monkeypatch.setattr(KernelHandle, "set_bytes", noted)
    plan.run(1)
    assert not handed
    kept.append(plan.run(2))
    assert len(handed) == 1
    handed.clear()
    found = plan.run(2)
    assert len(handed) == {"bfs": 2, "sssp": 3}[name]  # cells are distances where that will do
    np.testing.assert_array_equal(found.distances, kept[0].distances)
    np.testing.assert_array_equal(plan.run(1).distances, np.abs(np.arange(10) - 1))


@pytest.mark.parametrize(("name", "most"), [("bfs", 6), ("sssp", 6)])
def test_a_run_looks_at_few_arguments(name, most, pocl, monkeypatch):
    """Those of its own, and the launch's two; what callers seldom choose is the plan's."""
    make, graph = PLANS[name]
    plan = make(graph, device=pocl)
    plan.run(1)
    looked, look = [], Kernel._set_arguments

    def noted(kernel, args, places):
        looked.extend(places)
        look(kernel, args, places)

    monkeypatch.setattr(Kernel, "_set_arguments", noted)
    plan.run(2)
    assert len(looked) <= most


def test_what_one_search_by_weight_is_asked_for_is_not_kept(pocl):
    """Target, limit and several sources are those of one run; the next has the usual ones."""
    plan = cg.SSSP(WEIGHED, device=pocl)
    wanted = plan.run(1).distances
    several = plan.run([1, 9]).distances
    np.testing.assert_array_equal(several, np.minimum(wanted, 9 - np.arange(10)))
    near = plan.run(1, max_distance=2).distances
    np.testing.assert_array_equal(near, np.where(wanted <= 2, wanted, plan.unreached))
    for asked in ({"target": 2}, {"max_distance": 2}, {}):
        assert plan.run(1, **asked).distances[2] == 1
        np.testing.assert_array_equal(plan.run(1).distances, wanted)
    plan.run([1, 9])
    np.testing.assert_array_equal(plan.run(1).distances, wanted)


@pytest.mark.parametrize(("make", "graph"), [(cg.ConnectedComponents, PATH), (cg.SCC, WAYS)])
def test_labels_of_one_run_are_not_those_of_the_next(make, graph, pocl, monkeypatch):
    """By launches whose other arguments are known to be the same."""
    monkeypatch.setattr(number, "ONE_ITEM_VERTICES", 0)
    plan = make(graph, device=pocl)
    first, second = plan.run(), plan.run()
    wanted = make(graph, device=pocl).run().labels
    np.testing.assert_array_equal(second.labels, wanted)
    np.testing.assert_array_equal(first.labels, wanted)


def test_components_take_rows_that_have_moved(pocl, monkeypatch):
    given, set_bytes = set(), KernelHandle.set_bytes

    def noted(handle, index, value):
        given.add(value)
        set_bytes(handle, index, value)

    monkeypatch.setattr(KernelHandle, "set_bytes", noted)
    graph = dynamic.DynamicGraph(n=40, device=pocl)
    plan = cg.ConnectedComponents(graph, device=pocl)
    plan.run()
    moved = 0
    for last in (3, 39):
        before = graph.rows.pools[0]
        graph.insert_edges(range(last), range(1, last + 1))
        moved += graph.rows.pools[0] is not before
        given.clear()
        found = plan.run()
        assert graph.rows.pools[0] is before or graph.rows.pools[0].address in given
        np.testing.assert_array_equal(found.labels, np.maximum(np.arange(40) - last, 0))
    assert moved
