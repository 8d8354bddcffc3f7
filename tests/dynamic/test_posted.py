"""Batches whose counts a kernel posts, beside the same by copies and by rewriting."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from dynamic.dynamic_reference import Reference, check

import clgraph as cg
from clgraph.device import Memory, Mirror
from clgraph.device.memory.posted import Posted
from clgraph.engine import sweeps
from clgraph.engine.sweeps import SweepLog

freelists = importlib.import_module("clgraph.dynamic.storage.freelists")
waiting = importlib.import_module("clgraph.device.waiting")
COUNTS = ("given", "repeated", "new", "present", "gone", "absent")


def counted(result):
    return {name: getattr(result, name) for name in COUNTS}


def odd_batches(rng, n):
    """Batches that are everything but usual, of ids that may be beyond the vertices."""
    loops = np.arange(n)
    hub = np.full(3 * n, 2), np.arange(3 * n) % n
    yield loops, loops
    yield np.full(40, 1), np.full(40, 5)  # one edge forty times
    yield hub  # a row of everything, three times each: blocks of every size
    yield hub[::-1]
    yield np.array([n - 1]), np.array([0])
    yield rng.integers(0, n, 400), np.zeros(400, int)
    yield np.array([n + 2, 0]), np.array([1, n + 2])
    yield np.zeros(0, int), np.zeros(0, int)
    for count in (3, 30, 300, 900):
        yield rng.integers(0, n, count), rng.integers(0, n, count)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("on_device", [True, False])
def test_three_ways_hold_the_same(any_device, directed, on_device, monkeypatch):
    rng = np.random.default_rng(5)
    n = 60
    memory = Memory(any_device)
    ways = {"posted": (Posted, "rows"), "copied": (Mirror, "rows"), "rewritten": (None, "rewrite")}
    graphs = {
        name: cg.DynamicGraph(n=n, directed=directed, weights="f4", device=any_device)
        for name in ways
    }
    reference = Reference(n, directed)

    def all_do(call, src, dst, *values):
        """Have all of them bring in a batch, and compare what they count and hold."""
        wanted = getattr(reference, call)(src, dst, *values)
        ends = (src, dst)
        if on_device and len(src):
            ends = tuple(memory.upload("ends", ids.astype(np.uint32)) for ids in ends)
        for name, (kind, regime) in ways.items():
            monkeypatch.setattr(freelists, "mirror", kind)
            graph = graphs[name]
            found = counted(getattr(graph, f"{call}_edges")(*ends, *values, regime=regime))
            assert {count: found[count] for count in wanted} == wanted, name
            check(graph, reference)

    for _ in range(2):
        for src, dst in odd_batches(rng, n):
            all_do("insert", src, dst, rng.integers(1, 99, len(src)).astype(np.float32))
            some = rng.permutation(len(src))[: len(src) // 2 + 1]
            all_do("delete", np.append(src[some], n + 9), np.append(dst[some], 0))
    assert type(graphs["posted"]._store.blocks.mirror) is Posted
    assert type(graphs["copied"]._store.blocks.mirror) is Mirror


def test_a_steady_batch_is_two_launches_and_no_copy(any_device, monkeypatch):
    monkeypatch.setattr(freelists, "mirror", Posted)
    native = importlib.import_module("clgraph.device.native")
    held = cg.generate.random(500, 8, seed=1)
    graph = cg.DynamicGraph(cg.Graph(held.indptr, held.indices, directed=True), device=any_device)
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 500, (2, 200))
    fresh = ~graph.has_edges(src, dst)
    ends = [Memory(any_device).upload("ends", x[fresh].astype(np.uint32)) for x in (src, dst)]
    for call in (graph.insert_edges, graph.delete_edges) * 2:  # until there are blocks enough
        call(*ends, regime="rows")
    monkeypatch.setattr(waiting, "BUSY_S", 60.0)  # however busy the machine is
    enqueued = []
    for kind, name in (
        ("KernelHandle", "enqueue"),
        ("KernelHandle", "enqueue_unseen"),
        ("ReadHandle", "enqueue"),
    ):
        owner = getattr(native, kind)
        real = getattr(owner, name)

        def noted(*args, real=real, call=(kind, name)):
            enqueued.append(call)
            return real(*args)

        monkeypatch.setattr(owner, name, noted)
    assert graph.insert_edges(*ends, regime="rows").new > 0
    stages = 1 if graph._updater.in_place.together else 3
    launches = [("KernelHandle", "enqueue")] * stages
    assert enqueued == [*launches, ("KernelHandle", "enqueue_unseen")]


def test_times_wait_for_the_end(monkeypatch):
    """Counts may be there before the driver says that the launch has ended."""
    waited = []

    class Launch:
        @property
        def profile(self):
            assert waited == [self]
            return SimpleNamespace(start=1_000_000, end=3_000_000)

    log, launch = SweepLog(), Launch()
    log.add(launch, launch)
    monkeypatch.setattr(sweeps, "wait", waited.append)
    assert log.kernel_ms == 2.0
