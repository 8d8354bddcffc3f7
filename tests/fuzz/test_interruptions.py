"""Wherever an interruption comes, what follows it gives what a fresh plan gives.

An algorithm is one line in `ALGORITHMS`: how a plan is made of a graph, how it is run from a
vertex, and how what it found is read.
"""

import gc
import signal
import threading
import time
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from interruption import interrupt, places, some
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph.device import waiting

SOURCES = (3, 700)
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}


@dataclass(frozen=True)
class Algorithm:
    """What is interrupted: `make(graph, device)`, `run(plan, source)`, `read(result)`."""

    make: Any
    run: Any
    read: Any
    directed: bool = True

    def outcome(self, plan, source):
        return np.array(self.read(self.run(plan, source)))


def plan(kind, **options):
    return lambda graph, device: kind(graph, device=device, **options)


def call(function, **options):
    """A function without a plan: making one is nothing, running it is all."""
    return lambda graph, device: partial(function, graph, device=device, **options)


def from_one(plan, source):
    return plan.run(source)


def whole(plan, _):
    return plan.run()


def called(function, source):
    return function([source])


def called_whole(function, _):
    return function()


def distances(result):
    return result.distances


def labels(result):
    return result.labels


def itself(result):
    return result


BFS, SSSP = cg.BFSConfig, cg.SSSPConfig
ALGORITHMS = {
    "bfs": Algorithm(plan(cg.BFS), from_one, distances),
    "bfs-stepped": Algorithm(
        plan(cg.BFS, config=BFS(synchronisation="stepped")), from_one, distances
    ),
    "bfs-status": Algorithm(plan(cg.BFS, config="enterprise"), from_one, distances),
    "sssp": Algorithm(plan(cg.SSSP), from_one, distances),
    "sssp-delta": Algorithm(
        plan(cg.SSSP, config=SSSP(method="delta-stepping", synchronisation="stepped")),
        from_one,
        distances,
    ),
    "sssp-buckets": Algorithm(plan(cg.SSSP, config=SSSP(method="buckets")), from_one, distances),
    "sssp-self-tuning": Algorithm(plan(cg.SSSP, config="self-tuning"), from_one, distances),
    "sssp-host": Algorithm(
        plan(cg.SSSP, config=SSSP(method="self-tuning", controller="host")), from_one, distances
    ),
    "scc": Algorithm(plan(cg.SCC), whole, labels),
    "scc-steps": Algorithm(plan(cg.SCC, config="multistep"), whole, labels),
    "scc-signatures": Algorithm(plan(cg.SCC, config="signatures"), whole, labels),
    "components": Algorithm(plan(cg.ConnectedComponents), whole, labels),
    "multi-search": Algorithm(
        plan(cg.MultiSearch, **HOPS), lambda p, v: p.run([v, 0]), lambda r: r["hops"]
    ),
    "divided-bfs": Algorithm(
        lambda graph, device: cg.DividedBFS(graph, [device, device]), from_one, distances
    ),
    "betweenness": Algorithm(call(cg.betweenness_centrality), called, itself),
    "closeness": Algorithm(call(cg.closeness_centrality), called, itself),
    "apsp-shared": Algorithm(call(cg.apsp, method="bit-parallel"), called, itself),
    "diameter": Algorithm(call(cg.diameter, disconnected="ignore"), called_whole, itself),
    "condensation": Algorithm(call(cg.condensation), called_whole, lambda r: r.indices),
}


def fresh_graph():
    """A graph of its own, so that nothing of it is on a device."""
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 100, MIXED_ONE_WAY.m).astype(np.int32)
    return cg.Graph(MIXED_ONE_WAY.indptr, MIXED_ONE_WAY.indices, weights)


@cache
def expected(name, device):
    """What fresh plans find from each source."""
    algorithm = ALGORITHMS[name]
    return [algorithm.outcome(algorithm.make(fresh_graph(), device), source) for source in SOURCES]


def check(name, device, plan, turn):
    source = turn % len(SOURCES)
    found = ALGORITHMS[name].outcome(plan, SOURCES[source])
    np.testing.assert_allclose(found, expected(name, device)[source], rtol=1e-6, atol=0)


@pytest.fixture(params=[False, True], ids=["lines", "opcodes"])
def opcodes(request):
    return request.param


@pytest.fixture
def chosen(effort):
    """Choose the places of a call that are tried."""
    rng = np.random.default_rng(effort("seed"))

    def choose(call, opcodes):
        call()  # what is done once a process
        return some(places(call, opcodes=opcodes), effort("interruptions"), rng)

    return choose


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_that_is_interrupted(name, pocl, chosen, opcodes):
    """A plan finds what a fresh one finds, from another vertex and from the same one."""
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), pocl)
    for place in chosen(lambda: algorithm.outcome(plan, SOURCES[0]), opcodes):
        interrupt(lambda: algorithm.outcome(plan, SOURCES[0]), place, opcodes=opcodes)
        check(name, pocl, plan, 1)
        check(name, pocl, plan, 0)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_making_a_plan_that_is_interrupted(name, pocl, chosen, opcodes):
    """Uploads and plans begin anew, on the same graph, and nothing stays on the device."""
    algorithm = ALGORITHMS[name]
    expected(name, pocl)
    gc.collect()
    used = pocl.ledger.used_bytes
    for place in chosen(lambda: algorithm.make(fresh_graph(), pocl), opcodes):
        graph = fresh_graph()
        interrupt(lambda g=graph: algorithm.make(g, pocl), place, opcodes=opcodes)
        check(name, pocl, algorithm.make(graph, pocl), 1)
        del graph
        gc.collect()
        assert pocl.ledger.used_bytes == used, place


@pytest.mark.parametrize("name", ALGORITHMS)
def test_reading_that_is_interrupted(name, pocl, chosen, opcodes):
    """A result is copied back whole at the second attempt."""
    algorithm = ALGORITHMS[name]
    if algorithm.read is itself:
        pytest.skip("its results are on the host already")
    plan = algorithm.make(fresh_graph(), pocl)
    for place in chosen(lambda: algorithm.read(algorithm.run(plan, SOURCES[1])), opcodes):
        result = algorithm.run(plan, SOURCES[1])
        interrupt(lambda r=result: algorithm.read(r), place, opcodes=opcodes)
        found = np.array(algorithm.read(result))
        np.testing.assert_array_equal(found, expected(name, pocl)[1])


@pytest.mark.parametrize("name", ["bfs", "sssp", "components"])
def test_interrupted_for_want_of_memory(name, pocl, chosen, opcodes, monkeypatch):
    """Results that give way to a search are read whole, and no two share a buffer."""
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), pocl)
    algorithm.outcome(plan, SOURCES[0])
    kept = []
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(pocl.ledger.used_bytes + 10_000))

    def run():
        kept[:] = [algorithm.run(plan, SOURCES[0])]
        kept.append(algorithm.run(plan, SOURCES[1]))

    for place in chosen(run, opcodes):
        interrupt(run, place, opcodes=opcodes)
        for turn, result in enumerate(kept):
            np.testing.assert_array_equal(algorithm.read(result), expected(name, pocl)[turn])


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_interruptions_at_random_moments(name, pocl, effort, record_property):
    """Signals, as Ctrl-C sends them: answered soon, and no thread stays behind."""
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), pocl)
    check(name, pocl, plan, 0)
    start = time.perf_counter()
    algorithm.outcome(plan, SOURCES[0])
    takes = time.perf_counter() - start
    rng = np.random.default_rng(effort("seed"))
    sent, delays = [0.0], []

    def press(*_):
        sent[0] = time.perf_counter()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    try:
        for turn in range(effort("moments")):
            try:
                signal.setitimer(signal.ITIMER_REAL, max(takes * rng.random(), 1e-5))
                algorithm.outcome(plan, SOURCES[turn % 2])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                delays.append(time.perf_counter() - sent[0])
            check(name, pocl, plan, turn + 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    gc.collect()
    record_property("interruptions", len(delays))
    if delays:
        record_property("worst_ms", 1e3 * max(delays))
        record_property("median_ms", 1e3 * float(np.median(delays)))
    helpers = [thread for thread in threading.enumerate() if thread.name == waiting.THREAD]
    assert len(helpers) <= 1
