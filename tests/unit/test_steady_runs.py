"""What a run of a plan costs beside its kernel, in calls: wall clocks differ from host to host."""

import sys
from pathlib import Path

import numpy as np
import pytest

import clgraph as cg
from clgraph.device import waiting
from clgraph.device.native import KernelHandle
from clgraph.device.programs.kernel import Kernel

LIBRARY = str(Path(cg.__file__).parent)
PATH = cg.generate.path(10)
WEIGHED = cg.Graph(PATH.indptr, PATH.indices, np.ones(PATH.m, np.int32), directed=False)
# Functions of the library that a run enters, 51 and 70 once.
PLANS = {"bfs": (cg.BFS, PATH, 42), "sssp": (cg.SSSP, WEIGHED, 49)}


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


@pytest.mark.parametrize("name", PLANS)
def test_a_steady_run_enters_few_functions(name, pocl):
    make, graph, most = PLANS[name]
    plan = make(graph, device=pocl)
    for source in (1, 2, 1):
        plan.run(source)
    names = entered(lambda: plan.run(1))
    assert len(names) <= most, names


@pytest.mark.parametrize("name", PLANS)
def test_a_run_hands_over_only_what_has_changed(name, pocl, monkeypatch):
    """The source alone; and where the result before is alive, arrays for another one."""
    make, graph, _ = PLANS[name]
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
    make, graph, _ = PLANS[name]
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
