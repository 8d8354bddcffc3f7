"""Searches shared out among devices: multi-search checklist 24, the split of the sources."""

import os
import signal
import threading

import numpy as np
import pytest
from clocks import Work, happens
from interruption import interrupt, places
from searches import MIXED, MIXED_ONE_WAY, MIXED_SOURCES, expected_distances

import clgraph as cg
from clgraph.cluster import multi_search
from clgraph.threads import at_work

HOPS = {
    "state": {
        "hops": cg.State("int32", fill=-1),
        "reached": cg.State("uint32", per="run"),
        "farthest": cg.State("uint32", size=1, per="run"),
    },
    "init": "if (lid == 0) { hops[src] = 0; ADD(reached, src, 1u); }",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ADD(reached, v, 1u); ENQ(v); }",
    "finalize": "if (lid == 0) atomic_max(farthest, level - 1u);",
}
TOTALS = {"reached": np.add, "farthest": np.maximum}


@pytest.mark.parametrize("graph", [MIXED, MIXED_ONE_WAY], ids=["both-ways", "one-way"])
def test_checklist_24_the_sources_are_split(graph, pocl, intel):
    """Arrays of searches are in the order of the sources, those of the run put together."""
    plan = cg.DividedSearches(graph, [pocl, intel, intel], totals=TOTALS, **HOPS)
    for sources in ([*MIXED_SOURCES, 7, 7], [3], []):
        result = plan.run(sources)
        assert sorted(result) == ["farthest", "hops", "reached"]
        assert result["hops"].shape == (len(sources), graph.n)
        expected = [expected_distances(graph, source) for source in sources]
        for row, hops in zip(result["hops"], expected, strict=True):
            np.testing.assert_array_equal(row, hops)
        found = sum((hops >= 0 for hops in expected), np.zeros(graph.n, int))
        np.testing.assert_array_equal(result["reached"], found)
        assert result["farthest"][0] == max((hops.max() for hops in expected), default=0)
        assert [stats.searches for stats in result.stats] == [
            len(sources[place::3]) for place in range(3)
        ]
        assert result.total_ms > 0


def test_progress_is_told_by_the_caller(any_device):
    told = []
    threads = set()

    def progress(done, total, what):
        told.append((done, total, what))
        threads.add(threading.current_thread())

    plan = cg.DividedSearches(MIXED, [any_device] * 2, totals=TOTALS, **HOPS)
    plan.run(np.arange(40), progress=progress)
    assert told[-1] == (40, 40, "searches")
    assert threads == {threading.current_thread()}


def test_an_error_of_one_device_ends_all(any_device):
    endless = {**HOPS, "visit": "ENQ(v);"}
    plan = cg.DividedSearches(cg.generate.path(50), [any_device] * 2, totals=TOTALS, **endless)
    with pytest.raises(cg.ClgraphError):
        plan.run([0, 1, 2, 3])


@pytest.mark.rest
def test_an_interrupt_ends_all(pocl):
    """Ctrl-C reaches the thread that waits; the others end with the launch they are in."""
    graph = cg.generate.grid2d(300, 300)
    plan = cg.DividedSearches(graph, [pocl, pocl], totals=TOTALS, **HOPS)
    plan.run([0, 1])
    pressed = []

    def press(_done, _total, _what):
        pressed.append(Work())
        os.kill(os.getpid(), signal.SIGINT)

    for _ in range(3):  # what one leaves behind would not leave room for the third
        with pytest.raises(KeyboardInterrupt):
            plan.run(np.arange(2000), progress=press)
        assert pressed[-1].seconds() < 5
    assert len(pressed) == 3
    np.testing.assert_array_equal(plan.run([5, 6])["hops"][1], expected_distances(graph, 6))


@pytest.mark.parametrize("opcodes", [False, True])
def test_ctrl_c_anywhere_while_shares_are_started_and_waited_for(opcodes):
    """What is raised is KeyboardInterrupt, and no share is left at work."""

    class Plan:
        def run(self, sources, *, arguments, progress):
            assert arguments is None
            for done in range(len(sources)):
                progress(done + 1, len(sources), "searches")
            return done

    def run():
        shares = [multi_search._Share(Plan(), np.arange(2), None) for _ in range(2)]
        multi_search._finish(shares, 4, None)
        results[:] = [share.result for share in shares]

    results = []
    for place in places(run, opcodes=opcodes):
        interrupt(run, place, opcodes=opcodes)
        assert happens(lambda: multi_search.THREAD not in at_work())
    run()
    assert results == [1, 1]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"devices": []}, "pass at least one"),
        ({"device": "cpu"}, "device is one of devices here"),
        ({"totals": {"reached": np.add}}, "'farthest' is the run's"),
    ],
)
def test_what_is_refused(changes, complaint, any_device):
    given = {"devices": [any_device], "totals": TOTALS, **HOPS, **changes}
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        cg.DividedSearches(MIXED, **given)
