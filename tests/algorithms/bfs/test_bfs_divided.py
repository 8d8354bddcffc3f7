"""A search over several devices: bfs-merrill 19 (candidates) and bfs-enterprise 22 (bits).

The devices are one runtime's processor as often as there are parts, and two runtimes together.
What they send each other (bfs-merrill 20, 21) is in tests/cluster/test_exchanges.py.
"""

import gc
import json
import pickle
import threading

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES, graphs
from hypothesis import given, settings
from runtimes import POCL, clean_environment, driver_library, run_python
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
    check_what_each_refuses,
    expected_distances,
)

import clgraph as cg
from clgraph.cluster import DividedBFS
from clgraph.cluster.parts.partition import Ownership
from clgraph.cluster.parts.share import rows_of
from clgraph.device import Allocation
from clgraph.engine.strategies.balance import BALANCERS

ONE_RUNTIME = pytest.mark.runtimes("intel")
SLOW = pytest.mark.slow
BITS = {"queue": "status", "gamma": 0}  # pulls from the second level on, where there are hubs
FORMS = {"candidates": "merrill-two-phase", "bits": bfs_config(queue="status"), "usual": None}


EXPANSIONS = {
    **{name: name for name in cg.BFSConfig.presets() if name not in {"helix", "enterprise"}},
    **{
        name: bfs_config(queue="vertex", balance=name)
        for name, kind in BALANCERS.items()
        if kind.SCOPE != "grid"
    },
}


def same(device, parts):
    return [device] * parts


@SLOW
@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("name", EXPANSIONS)
def test_every_preset_and_balancer(name, device):
    """A part is expanded by what one device has for it; Helix's rules may ask for other queues."""
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=EXPANSIONS[name])
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


@ONE_RUNTIME
@pytest.mark.parametrize("parts", [pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3, 4])
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_parts_equal_one_device(form, parts, device):
    """bfs-merrill 19 and bfs-enterprise 22: levels and trees as of one device."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = DividedBFS(graph, same(device, parts), predecessors=True, config=FORMS[form])
        for source in sources:
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.frontiers.sum() == result.reached
            assert result.stats.levels == result.depth + 1


@pytest.mark.parametrize("form", FORMS)
def test_devices_of_two_platforms(form, pocl, intel):
    """bfs-merrill 19: what each finds passes through the host, whatever the devices are."""
    plan = DividedBFS(MIXED, [pocl, intel], predecessors=True, config=FORMS[form])
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


@pytest.mark.runtimes("intel", "pocl")
def test_bits_of_levels_that_only_push(device):
    """Ranks know their frontier's edges also where queues are of vertices and none pulls."""
    config = cg.BFSConfig(frontier="status", pull=cg.pull.Never())
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=config)
    for source in MIXED_SOURCES[:2]:
        check_search(MIXED, source, plan.run(source))


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_more_parts_than_vertices(form, device):
    """bfs-merrill 19 (p > n) and bfs-enterprise 22 (an empty part, p not dividing n)."""
    for name in ("one-vertex", "one-edge", "no-edges", "self-loops", "star", "path"):
        graph = SHAPES[name]
        plan = DividedBFS(graph, same(device, 4), predecessors=True, config=FORMS[form])
        for source in {0, graph.n // 2, graph.n - 1}:
            check_search(graph, source, plan.run(source))


def test_vertices_dealt_out_in_turns():
    """bfs-merrill 19: vertex v is number v div p of device v mod p; every row is somewhere."""
    for count in (1, 2, 3, 7):
        parts = Ownership.in_turns(MIXED.n, count)
        for place, part in enumerate(parts):
            vertices = np.arange(MIXED.n)[part.vertices]
            np.testing.assert_array_equal(vertices % count, place)
            np.testing.assert_array_equal(vertices // count, np.arange(part.count))
        check_rows(MIXED, parts)


def test_vertices_in_ranges():
    """bfs-enterprise 22: a range each, alike in size but for the grain of a bitmap."""
    for count in (1, 2, 7, 60):
        parts = Ownership.in_ranges(MIXED.n, count)
        sizes = [part.count for part in parts]
        assert max(sizes) - min(sizes) <= 2 * 64
        vertices = np.arange(MIXED.n)
        np.testing.assert_array_equal(
            np.concatenate([vertices[part.vertices] for part in parts]), vertices
        )
        assert all(part.first % 64 == 0 for part in parts if part.count)
        check_rows(MIXED, parts)


def check_rows(graph, parts):
    numbers = np.arange(graph.n)
    edges = 0
    for part in parts:
        indptr, indices, _ = rows_of(graph, part)
        edges += indices.size
        for local, v in enumerate(numbers[part.vertices]):
            assert part.number(int(v)) == local
            np.testing.assert_array_equal(
                indices[indptr[local] : indptr[local + 1]],
                graph.indices[graph.indptr[v] : graph.indptr[v + 1]],
            )
        others = np.delete(numbers, numbers[part.vertices])
        assert all(part.number(int(v)) == part.count for v in others[::97])
    assert edges == graph.m


@ONE_RUNTIME
@pytest.mark.parametrize("switching", ["hubs", pytest.param("edges", marks=SLOW)])
def test_all_devices_turn_at_once(switching, device):
    """bfs-enterprise 22: by counts of all together, so at the level at which one device does."""
    graph = cg.generate.kron(10, seed=5)
    numbers = {"gamma": 30} if switching == "hubs" else {}
    config = bfs_config(queue="status", switching=switching, **numbers)
    source = int(np.argmax(graph.degrees))
    alone = cg.bfs(graph, source, config=config, device=device)
    result = DividedBFS(graph, same(device, 3), config=config).run(source)
    check_search(graph, source, result)
    ways = list(alone.stats.per_level["direction"][: alone.depth])
    assert list(result.stats.directions[: alone.depth]) == ways
    assert "pull" in ways


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_a_graph_without_vertices(form, device):
    plan = DividedBFS(cg.from_edges([], [], n=0), same(device, 2), config=FORMS[form])
    with pytest.raises(cg.InvalidArgumentError, match="not a vertex of this graph"):
        plan.run(0)


@ONE_RUNTIME
def test_results_outlive_the_next_search_and_the_plan(device):
    """One that nobody has read is copied before its memory is used again; then all is freed."""
    gc.collect()
    before = device.ledger.used_bytes
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True)
    results = [(source, plan.run(source)) for source in MIXED_SOURCES]
    del plan
    for source, result in results:
        check_search(MIXED, source, result)
    del result, results
    gc.collect()
    assert device.ledger.used_bytes == before


def test_what_a_process_owns_is_known_after_the_next_search(pocl):
    plan = DividedBFS(MIXED, same(pocl, 2), predecessors=True)
    results = [plan.run(source) for source in MIXED_SOURCES[:2]]
    for result in (results[0], pickle.loads(pickle.dumps(results[1]))):  # noqa: S301 - our own
        np.testing.assert_array_equal(result.vertices, np.arange(MIXED.n))
        np.testing.assert_array_equal(result.own_distances, result.distances)
        np.testing.assert_array_equal(result.own_predecessors, result.predecessors)


def test_a_search_does_not_overtake_who_reads_the_result_before(pocl, monkeypatch):
    """Parts are read one after the other, and another thread wants their memory in between."""
    plan = DividedBFS(MIXED, same(pocl, 2))
    source, other = MIXED_SOURCES[:2]
    result, read, threads, reads = plan.run(source), Allocation.read, [], []

    def meanwhile(self, *of, **how):
        if threading.current_thread() is threading.main_thread():
            reads.append(self)
            if len(reads) == 2:
                threads.append(threading.Thread(target=lambda: plan.run(other)))
                threads[0].start()
                threads[0].join(timeout=0.5)  # when it has long ended, if it need not wait
        return read(self, *of, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Allocation, "read", meanwhile)
        found = result.distances
    threads[0].join()
    np.testing.assert_array_equal(found, expected_distances(MIXED, source))
    check_search(MIXED, source, result)


INTERRUPTED = """
import json, os, signal, sys, threading
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from clocks import Work

config = json.loads(sys.argv[1])
config = cg.BFSConfig(frontier="status") if config == "status" else config
n = 60_000
graph = cg.generate.path(n)
plan = cg.DividedBFS(graph, ["pocl", "pocl"], predecessors=True, config=config)
plan.run(0, max_depth=10)
sent, delays = [], []

def interrupt():
    sent.append(Work())
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(3):
    timer = threading.Timer(0.1, interrupt)
    timer.start()
    try:
        plan.run(0)
    except KeyboardInterrupt:
        delays.append(sent[-1].seconds())
    else:
        sys.exit("the search was over too soon")
result = plan.run(n - 200, max_depth=300)
expected = abs(np.arange(n) - (n - 200))
assert np.array_equal(result.distances, np.where(expected > 300, -1, expected))
print(json.dumps(delays))
"""


@pytest.mark.rest
@pytest.mark.optimised
@pytest.mark.parametrize("config", ["merrill-two-phase", "status"])
def test_an_interrupted_search(config):
    """Ctrl-C is answered at once and leaves a plan that works."""
    driver_library(*POCL)
    ran = run_python(INTERRUPTED, json.dumps(config), env=clean_environment())
    assert max(json.loads(ran.stdout)) < 0.5


@SLOW
@pytest.mark.parametrize("config", [{"queue": "vertex"}, BITS], ids=["candidates", "bits"])
@pytest.mark.runtimes("pocl+lanes8")
def test_emulated_lanes(config, device):
    """The collectives of bins and bitmaps, checked lane by lane."""
    plan = DividedBFS(SHAPES["power-law"], same(device, 2), config=bfs_config(**config))
    check_search(SHAPES["power-law"], 0, plan.run(0))


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_depth_is_limited(form, device):
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=FORMS[form])
    for limit in (0, 1, 3):
        source = MIXED_SOURCES[3]
        check_search(MIXED, source, plan.run(source, max_depth=limit), max_depth=limit)
    assert plan.run(MIXED_SOURCES[3]).depth > 100


@settings(max_examples=15)
@given(graph=graphs(max_vertices=20, max_edges=60))
def test_any_graph(any_device, graph):
    for form in ("candidates", "bits"):
        plan = DividedBFS(graph, same(any_device, 3), predecessors=True, config=FORMS[form])
        check_search(graph, 0, plan.run(0))


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"devices": []}, "not a sequence of devices; pass at least one"),
        ({"devices": "intel"}, "not a sequence of devices"),
        ({"devices": None}, "not a sequence of devices"),
        ({"devices": ["intel"] * 65}, "at most 64"),
        ({"transfers": "pigeon"}, "not one of direct, host"),
        ({"devices": ["intel", "pocl"], "transfers": "direct"}, "devices of one OpenCL context"),
        ({"config": bfs_config(balance="direct")}, "needs prefix sums of a frontier"),
        ({"config": "enterprise"}, r"frontier\.classes is about the status array of one device"),
        (
            {"config": bfs_config(queue="status", generation="bins")},
            r"frontier\.generation is about",
        ),
        (
            {"config": bfs_config(queue="status", status_bits=8)},
            r"frontier\.bits is about the status",
        ),
        (
            {"config": bfs_config(visited="plain", duplicates="load_lanes")},
            "in which parts of a graph have each once",
        ),
    ],
)
def test_what_is_refused(arguments, complaint, device):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        DividedBFS(MIXED, **{"devices": same(device, 2), **arguments})
    plan = DividedBFS(MIXED, same(device, 2))
    with pytest.raises(cg.InvalidArgumentError, match="not a vertex of this graph"):
        plan.run(MIXED.n)


def test_two_devices_hold_what_neither_does(pocl, intel, monkeypatch):
    check_what_each_refuses(cg.generate.kron(14, 16), [pocl, intel], monkeypatch)
