"""Batches whose counts a kernel posts, beside the same by copies and by rewriting."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from dynamic.dynamic_reference import Reference, check

import clgraph as cg
from clgraph.device import Memory, Mirror, Posted
from clgraph.dynamic import inplace
from clgraph.dynamic.storage import freelists
from clgraph.engine import sweeps
from clgraph.engine.sweeps import SweepLog
from clgraph.errors import ClgraphError

native = importlib.import_module("clgraph.device.native")
waiting = importlib.import_module("clgraph.device.waiting")
COUNTS = ("given", "repeated", "new", "present", "gone", "absent")


def have_posted(monkeypatch, yes=True):
    for module in (inplace, freelists):
        monkeypatch.setattr(module, "can_post", lambda _: yes)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """On a busy machine work-groups and counts may be long in coming; nothing here tests that."""
    monkeypatch.setattr(inplace, "SPIN_LIMIT", 1 << 31)
    monkeypatch.setattr(waiting, "BUSY_S", 60.0)


def together(graph):
    """Have all stages in one launch, of as many work-groups as run at once."""
    graph._updater.in_place.together = True
    return graph


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


# Where no row is long, some are, and all that have two entries: moved by all work-groups.
@pytest.mark.rest
@pytest.mark.parametrize("long_row", [2048, 20, 1])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("on_device", [True, False])
def test_three_ways_hold_the_same(pocl, directed, on_device, long_row, monkeypatch):
    monkeypatch.setattr(inplace, "LONG_ROW", long_row)
    monkeypatch.setattr(inplace, "PIECE", max(long_row // 3, 1))
    rng = np.random.default_rng(5)
    n = 60
    memory = Memory(pocl)
    ways = {"posted": (True, "rows"), "copied": (False, "rows"), "rewritten": (False, "rewrite")}
    graphs = {}
    for name, (posts, _) in ways.items():
        have_posted(monkeypatch, posts)
        graphs[name] = cg.DynamicGraph(n=n, directed=directed, weights="f4", device=pocl)
    together(graphs["posted"])
    reference = Reference(n, directed)

    def all_do(call, src, dst, *values):
        """Have all of them bring in a batch, and compare what they count and hold."""
        wanted = getattr(reference, call)(src, dst, *values)
        ends = (src, dst)
        if on_device and len(src):
            ends = tuple(memory.upload("ends", ids.astype(np.uint32)) for ids in ends)
        for name, (posts, regime) in ways.items():
            have_posted(monkeypatch, posts)
            graph = graphs[name]
            found = counted(getattr(graph, f"{call}_edges")(*ends, *values, regime=regime))
            assert {count: found[count] for count in wanted} == wanted, name
            check(graph, reference)

    for _ in range(2):
        for src, dst in odd_batches(rng, n):
            all_do("insert", src, dst, rng.integers(1, 99, len(src)).astype(np.float32))
            some = rng.permutation(len(src))[: len(src) // 2 + 1]
            all_do("delete", np.append(src[some], n + 9), np.append(dst[some], 0))
    assert graphs["posted"]._updater.in_place.together
    assert type(graphs["posted"]._store.blocks.posted) is Posted
    assert graphs["copied"]._store.blocks.posted is None


@pytest.fixture
def steady(pocl, monkeypatch):
    """A graph that posts, with blocks enough, and a batch that it has not, on the device."""
    have_posted(monkeypatch)
    held = cg.generate.random(500, 8, seed=1)
    graph = cg.DynamicGraph(cg.Graph(held.indptr, held.indices, directed=True), device=pocl)
    together(graph)
    src, dst = np.unique(np.random.default_rng(3).integers(0, 500, (2, 200)), axis=1)
    fresh = ~graph.has_edges(src, dst)
    ends = [Memory(pocl).upload("ends", x[fresh].astype(np.uint32)) for x in (src, dst)]
    for call in (graph.insert_edges, graph.delete_edges) * 2:
        call(*ends, regime="rows")
    return graph, ends


def test_a_steady_batch_is_two_calls_of_the_driver(steady, monkeypatch):
    """One sets the word that says what to do, one launches: no event, no copy, no flush."""
    graph, ends = steady
    called, function = [], native._function

    def noting(name, *types, **options):
        real = function(name, *types, **options)

        def noted(*args):
            called.append(name)
            return real(*args)

        return noted

    handle = graph._updater.in_place._kernel._handle
    monkeypatch.setattr(handle, "_enqueue", noting("clEnqueueNDRangeKernel"))
    monkeypatch.setattr(handle, "_set", noting("clSetKernelArg"))
    pyopencls = [(native, "_function"), (Mirror, "refresh"), (Memory, "allocate")]
    pyopencls += [(native.KernelHandle, "enqueue"), (native.KernelHandle, "set_bytes")]

    def refused(*_args, **_options):
        raise AssertionError("the driver was called otherwise")

    for owner, name in pyopencls:
        monkeypatch.setattr(owner, name, refused)
    count = ends[0].count
    assert graph.insert_edges(*ends, regime="rows").new == count
    assert called == ["clSetKernelArg", "clEnqueueNDRangeKernel"]
    assert graph.delete_edges(*ends, regime="rows").gone == count
    assert called == ["clSetKernelArg", "clEnqueueNDRangeKernel"] * 2


def test_other_arrays_of_a_steady_batch_are_handed_over(steady, monkeypatch):
    graph, ends = steady
    # The other direction of most of these edges is not there.
    others = [Memory(graph.device).upload("others", x.read()) for x in reversed(ends)]
    handed = []
    real = native.KernelHandle.set_bytes
    monkeypatch.setattr(
        native.KernelHandle, "set_bytes", lambda *args: handed.append(args[1]) or real(*args)
    )
    wanted = int((~graph.has_edges(*others)).sum())
    handed.clear()
    assert graph.insert_edges(*others, regime="rows").new == wanted > 0
    assert handed == [inplace.ENDS_AT, inplace.ENDS_AT + 1]
    assert graph.has_edges(*others).all()
    assert not graph.has_edges(*ends).all()


def test_a_launch_of_somebody_else_takes_nothing_from_a_steady_batch(steady):
    """Arguments are handed over anew where the kernel was launched otherwise meanwhile."""
    graph, ends = steady
    held = graph._updater.in_place._kernel
    held._stamp = None
    assert graph.insert_edges(*ends, regime="rows").new == ends[0].count
    assert held._stamp is not None
    assert graph.delete_edges(*ends, regime="rows").gone == ends[0].count


def test_who_watches_launches_sees_those_of_steady_batches(steady, monkeypatch):
    graph, ends = steady
    seen = []

    def watched(kernel, size, group, args):
        seen.append(kernel.name)
        return kernel.launch(size, group, *args, observed=False)

    kernels = importlib.import_module("clgraph.device.programs.kernel")
    monkeypatch.setattr(kernels, "_instead", watched)
    assert graph.insert_edges(*ends, regime="rows").new == ends[0].count
    assert seen == ["update_rows"]


def test_a_driver_that_refuses_a_steady_batch(steady, monkeypatch):
    graph, ends = steady
    m, handle = graph.m, graph._updater.in_place._kernel._handle
    with monkeypatch.context() as patch:
        patch.setattr(handle, "_enqueue", lambda *_: -5)
        patch.setattr(waiting, "BUSY_S", 0.01)
        with pytest.raises(ClgraphError, match="could not be launched again"):
            graph.insert_edges(*ends, regime="rows")
        assert graph.m == m
    assert graph.insert_edges(*ends, regime="rows").new == ends[0].count


def test_counts_that_do_not_come_are_copied(steady, monkeypatch):
    graph, ends = steady
    monkeypatch.setattr(Posted, "came", lambda *_: False)
    into = graph.insert_edges(*ends, regime="rows")
    assert (into.new, into.launches) == (ends[0].count, 1)
    again = graph.insert_edges(*ends, regime="rows")
    assert (again.new, again.present) == (0, ends[0].count)
    assert graph.delete_edges(*ends, regime="rows").gone == ends[0].count


def test_interrupted_while_counts_are_waited_for(steady, monkeypatch):
    graph, ends = steady
    version, m = graph.version, graph.m

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Posted, "came", interrupted)
        with pytest.raises(KeyboardInterrupt):
            graph.insert_edges(*ends, regime="rows")
    assert (graph.version, graph.m) == (version + 1, m + ends[0].count)
    assert graph.delete_edges(*ends, regime="rows").gone == ends[0].count


def test_what_a_result_says_is_found_when_it_is_asked(steady, monkeypatch):
    graph, ends = steady
    changing = importlib.import_module("clgraph.dynamic.changing")
    asked, report = [], changing._report
    monkeypatch.setattr(changing, "_report", lambda *args: asked.append(1) or report(*args))
    into, again = (graph.insert_edges(*ends, regime="rows") for _ in range(2))
    assert asked == []
    assert (into.new, again.present, into.total_ms > 0) == (ends[0].count,) * 2 + (True,)
    assert (into.regime, again.regime, into.launches) == ("rows", "none", 1)
    assert list(into.steps) == ["update"]
    assert asked == [1, 1]
    with pytest.raises(AttributeError):
        into.nothing_of_that_name  # noqa: B018 (that it is looked for is what is tested)


def test_times_are_those_of_the_device_s_clock():
    outcome = freelists.Outcome([], b"")
    outcome.times = (freelists.CLOCK - 1_000_000, 2_000_000)  # the clock begins anew
    assert outcome.device_ms == 3.0


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
