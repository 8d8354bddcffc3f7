"""Batches in one launch: what they cost, and what happens when something is in the way."""

import copy
import dataclasses
import gc
import weakref

import numpy as np
import pytest
from dynamic.dynamic_reference import Reference, batch, check

import clgraph as cg
from clgraph.device import Allocation, Kernel, Memory, Mirror
from clgraph.dynamic import inplace
from clgraph.dynamic.inplace import SCATTER, STAGES, InPlace, Shape
from clgraph.dynamic.storage.freelists import (
    CONTROL_WORDS,
    FreeLists,
)
from clgraph.errors import DeviceMemoryError

RNG = np.random.default_rng(11)


def directed(n, degree, seed=1):
    held = cg.generate.random(n, degree, seed=seed)
    return cg.Graph(held.indptr, held.indices, directed=True)


def fresh_edges(graph, n, count):
    src, dst = np.unique(RNG.integers(0, n, (2, 2 * count)), axis=1)
    fresh = np.flatnonzero(~graph.has_edges(src, dst))
    chosen = RNG.permutation(fresh)[:count]
    return src[chosen], dst[chosen]


def on_device(graph, *ends):
    memory = Memory(graph.device)
    return [memory.upload("ends", ids.astype(np.uint32)) for ids in ends]


def arcs(graph):
    held = graph.to_graph()
    return held.indptr.tolist(), held.indices.tolist()


def test_scratch_memory_that_ran_out_half_way_is_taken_anew(any_device, monkeypatch):
    """For the batch before, too: what was replaced until then is not what it would clear."""
    held = InPlace(any_device, (), 1, np.uint32)
    assert held.ready(1000, 500, 4000).boxes < held.shape(4000, 500).boxes
    array = held.work.array

    def no_room(name, *of):
        if name == "row_places":
            raise DeviceMemoryError(name)
        return array(name, *of)

    with monkeypatch.context() as patch:
        patch.setattr(held.work, "array", no_room)
        with pytest.raises(DeviceMemoryError):
            held.ready(4000, 500, 4000)
    held.ready(1000, 500, 4000)
    _, (filled, *_) = held._scratch
    assert filled is held._filled


def test_a_batch_costs_what_it_is_and_not_what_the_graph_is(any_device):
    costs = {}
    for n in (1000, 16_000):
        graph = cg.DynamicGraph(directed(n, 8), device=any_device)
        src, dst = on_device(graph, *fresh_edges(graph, n, 200))
        graph.insert_edges(src, dst, regime="rows")  # after which there are blocks enough
        graph.delete_edges(src, dst, regime="rows")
        into = graph.insert_edges(src, dst, regime="rows")
        out = graph.delete_edges(src, dst, regime="rows")
        assert (into.new, out.gone) == (200, 200)
        launches = 1 if graph._updater.in_place.together else len(STAGES)
        assert (into.launches, out.launches) == (launches, launches)
        costs[n] = [into.moved, into.looked, out.moved, out.looked]
        assert into.moved + out.moved < 2 * 200 * (8 + 6 * np.sqrt(8))
        assert into.looked + out.looked < 2 * 200 * 6
    # Degrees are the same, so what is looked at and moved is; only rows with two edges differ.
    small, large = (np.array(costs[n]) for n in (1000, 16_000))
    assert (large < 1.25 * small + 50).all()


def test_a_batch_takes_no_memory_and_copies_its_counts_only(any_device, monkeypatch):
    graph = cg.DynamicGraph(directed(500, 8), device=any_device)
    ends = on_device(graph, *fresh_edges(graph, 500, 200))
    for call in (graph.insert_edges, graph.delete_edges) * 2:  # until there are blocks enough
        call(*ends, regime="rows")
    copies = []
    refresh = Mirror.refresh

    def counted(mirror):
        copies.append(mirror.words.nbytes)
        refresh(mirror)

    def refused(*_args, **_options):
        raise AssertionError("memory was taken, or read without pinned memory")

    monkeypatch.setattr(Mirror, "refresh", counted)
    for owner, name in ((Memory, "allocate"), (Allocation, "read"), (Allocation, "write")):
        monkeypatch.setattr(owner, name, refused)
    into, out = graph.insert_edges(*ends), graph.delete_edges(*ends)
    monkeypatch.undo()
    assert (into.new, out.gone) == (200, 200)
    assert copies == [4 * CONTROL_WORDS] * 2


def test_a_steady_batch_looks_at_the_arguments_that_change(any_device, monkeypatch):
    graph = cg.DynamicGraph(directed(500, 8), weights="f4", device=any_device)
    src, dst = fresh_edges(graph, 500, 200)
    ends = on_device(graph, src, dst)
    costs = Memory(graph.device).upload("costs", np.arange(200, dtype=np.float32))
    for _ in range(2):  # until there are blocks enough
        graph.insert_edges(*ends, costs, regime="rows")
        graph.delete_edges(*ends, regime="rows")
    looked, look = [], Kernel._set_arguments

    def noted(kernel, args, places):
        looked.append(len(places))
        look(kernel, args, places)

    monkeypatch.setattr(Kernel, "_set_arguments", noted)
    graph.insert_edges(*ends, costs, regime="rows")
    graph.delete_edges(*ends, regime="rows")
    launches = 1 if graph._updater.in_place.together else len(STAGES)
    assert looked == [4] * (2 * launches)
    monkeypatch.undo()
    # Other values, in other memory, of the same number.
    dearer = Memory(graph.device).upload("costs", np.arange(200, dtype=np.float32) + 1000)
    assert graph.insert_edges(*ends, dearer, regime="rows").new == 200
    held = dict(zip(graph.neighbors(int(src[7])), graph.edge_values(int(src[7])), strict=True))
    assert held[dst[7]] == 1007


def test_rows_that_were_replaced_leave_memory(any_device):
    graph = cg.DynamicGraph(directed(500, 8), device=any_device)
    graph.insert_edges(*on_device(graph, *fresh_edges(graph, 500, 200)), regime="rows")
    graph.insert_edges(*on_device(graph, *fresh_edges(graph, 500, 200)), regime="rows")
    before = weakref.ref(graph._held.store.pointer)
    assert graph.insert_vertices(5) == range(500, 505)
    gc.collect()
    assert before() is None


def test_arguments_follow_the_rows(any_device, monkeypatch):
    graph = cg.DynamicGraph(directed(500, 8), device=any_device)
    seen, launch = [], InPlace.launch

    def noted(in_place, steps, batch, *stages):
        seen.append(batch)
        launch(in_place, steps, batch, *stages)

    monkeypatch.setattr(InPlace, "launch", noted)
    graph.insert_edges(*on_device(graph, *fresh_edges(graph, 500, 200)), regime="rows")
    in_place, held = graph._updater.in_place, seen[-1]
    _, stamp = in_place._arguments(held)
    assert in_place._arguments(held)[1] is stamp
    array = Memory(graph.device).allocate("another", 500, np.uint32)
    for name, value in (("pointer", array), ("used", array), ("pools", (array,))):
        other = dataclasses.replace(held, store=dataclasses.replace(held.store, **{name: value}))
        args, fresh = in_place._arguments(other)
        assert fresh is not stamp, name
        assert array in args, name
        stamp = in_place._arguments(held)[1]


def test_arrays_of_a_batch_are_their_owner_s(any_device):
    graph = cg.DynamicGraph(directed(500, 8), device=any_device)
    src, dst = on_device(graph, *fresh_edges(graph, 500, 200))
    graph.insert_edges(src, dst, regime="rows")
    left = weakref.ref(src)
    del src, dst
    gc.collect()
    assert left() is None


def test_times_of_a_batch_are_kept_when_it_is_copied(any_device):
    graph = cg.DynamicGraph(n=10, device=any_device)
    result = graph.insert_edges([1, 2], [3, 4])
    again = copy.deepcopy(result)
    assert again == result
    assert (again.steps, again.launches) == (result.steps, result.launches)
    assert result.kernel_ms == sum(result.steps.values()) > 0
    assert cg.dynamic.UpdateResult(0).kernel_ms == cg.dynamic.UpdateResult(0).launches == 0


def test_scratch_memory_is_the_batch_s(pocl):
    sizes = []
    for n in (1000, 64_000):
        graph = cg.DynamicGraph(directed(n, 2), device=pocl)
        graph.insert_edges(*fresh_edges(graph, n, 300), regime="rows")
        sizes.append(graph._updater.in_place.size_bytes)
    assert sizes[1] < 1.1 * sizes[0]  # which lists rows that are long in the larger pool


@pytest.mark.parametrize("allocator", ["device", "host"])
def test_both_allocators_hold_the_same(any_device, allocator):
    graph = cg.DynamicGraph(
        n=60, weights="f4", block_edges=16, allocator=allocator, device=any_device
    )
    reference = Reference(60, True)
    rng = np.random.default_rng(3)
    for turn in range(3):
        src, dst, values = batch(rng, 60 + turn, 300)
        graph.insert_edges(src, dst, values, regime="rows")
        reference.insert(src, dst, values)
        src, dst, _ = batch(rng, 60, 300)
        graph.delete_edges(src, dst, regime="rows")
        reference.delete(src, dst)
        check(graph, reference)
    assert isinstance(graph.rows.blocks, FreeLists) == (allocator == "device")


def test_allocators_take_turns(any_device):
    """DH-10: lists and trees of bits tell of the same blocks, whoever had them before."""
    graph = cg.DynamicGraph(directed(50, 6), block_edges=16, device=any_device)
    reference = Reference(50, True)
    sources = np.repeat(np.arange(50), graph.degrees)
    reference.insert(sources, graph.to_graph().indices, sources)
    rng = np.random.default_rng(5)
    for turn in range(6):
        graph.allocator = ("device", "host", "device")[turn % 3]
        src, dst, values = batch(rng, 50, 80)
        graph.insert_edges(src, dst, regime="rows")
        reference.insert(src, dst, values)
        check(graph, reference)
        graph.delete_edges(dst, src, regime="rows")
        reference.delete(dst, src)
        check(graph, reference)
    arrays = graph.memory_usage().block_arrays
    graph.trim()
    assert graph.memory_usage().block_arrays <= arrays
    check(graph, reference)


def test_both_directions_count_whoever_has_them(any_device, monkeypatch):
    """The other directions of a batch' edges may be all that a work-group has."""
    monkeypatch.setattr(inplace, "KEYS_AIMED_AT", 1)
    graph, reference = (
        cg.DynamicGraph(n=64, directed=False, device=any_device),
        Reference(64, False),
    )
    ends = RNG.integers(0, 64, (2, 300))
    graph.insert_edges(*ends, regime="rewrite")
    reference.insert(*ends, np.zeros(300))
    for src, dst in (([60], [3]), ([5, 40, 61], [62, 41, 7]), ([1, 2, 3, 4], [63, 62, 61, 60])):
        ends = np.array(src), np.array(dst)
        assert graph._updater.in_place.shape(2 * len(src), 64).boxes > len(src)
        for change in ("insert", "delete", "insert"):
            done = getattr(graph, f"{change}_edges")(*ends, regime="rows")
            if change == "insert":
                assert done.new == reference.insert(*ends, np.zeros(len(src)))["new"]
            else:
                assert done.gone == reference.delete(*ends)["gone"] == len(src)
            check(graph, reference)


def test_work_groups_that_wait_for_each_other(pocl, monkeypatch):
    """All stages in one launch, of as many work-groups as the device has threads."""
    monkeypatch.setattr(inplace, "SPIN_LIMIT", 1 << 31)  # one may be long in coming
    graph = cg.DynamicGraph(directed(300, 6), device=pocl)
    other = cg.DynamicGraph(directed(300, 6), device=pocl, allocator="host")
    graph._updater.in_place.together = True
    for turn in range(3):
        src, dst = np.random.default_rng(turn).integers(0, 300, (2, 200))
        one = graph.insert_edges(src, dst, regime="rows")
        two = other.insert_edges(src, dst, regime="rows")
        assert (one.new, one.present, one.repeated) == (two.new, two.present, two.repeated)
        if turn:
            assert one.launches <= 3  # where blocks were lacking, a copy and once more
        one, two = (held.delete_edges(dst, src, regime="rows") for held in (graph, other))
        assert (one.gone, one.absent) == (two.gone, two.absent)
        assert arcs(graph) == arcs(other)
    assert graph._updater.in_place.together


def test_work_groups_that_wait_in_vain(pocl, monkeypatch, caplog):
    """More of them than run at once: the batch is brought in stage after stage instead."""
    graph = cg.DynamicGraph(directed(300, 6), device=pocl)
    in_place = graph._updater.in_place
    in_place.together = True
    in_place._groups = 4 * in_place.groups
    monkeypatch.setattr(inplace, "SPIN_LIMIT", 100)
    src, dst = fresh_edges(graph, 300, 50)
    assert graph.insert_edges(src, dst, regime="rows").new == 50
    assert graph.has_edges(src, dst).all()
    assert not in_place.together
    assert "in vain" in caplog.text
    assert graph.delete_edges(src, dst, regime="rows").gone == 50


def test_interrupted_while_the_device_is_at_it(any_device, monkeypatch):
    """The graph is then what the device made of it, whoever asks first."""
    graph = cg.DynamicGraph(directed(100, 4), device=any_device)
    graph.insert_edges(*fresh_edges(graph, 100, 30), regime="rows")
    src, dst = fresh_edges(graph, 100, 20)
    graph.insert_edges(src, dst, regime="rows")
    graph.delete_edges(src, dst, regime="rows")
    version, m, real = graph.version, graph.m, FreeLists.outcome

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FreeLists, "outcome", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph.insert_edges(src, dst, regime="rows")
    monkeypatch.setattr(FreeLists, "outcome", real)
    assert (graph.version, graph.m) == (version + 1, m + 20)
    assert graph.has_edges(src, dst).all()
    assert graph.delete_edges(src, dst, regime="rows").gone == 20


def test_interrupted_before_the_device_begins(any_device, monkeypatch):
    graph = cg.DynamicGraph(directed(100, 4), device=any_device)
    src, dst = fresh_edges(graph, 100, 20)
    before, real = arcs(graph), InPlace.launch

    def interrupted(self, steps, one):
        real(self, steps, one, (SCATTER,))
        raise KeyboardInterrupt

    monkeypatch.setattr(InPlace, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph.insert_edges(src, dst, regime="rows")
    monkeypatch.setattr(InPlace, "launch", real)
    assert arcs(graph) == before
    assert graph.insert_edges(src, dst, regime="rows").new == 20
    assert graph.has_edges(src, dst).all()


def test_crowded_boxes_are_left_to_another_way(any_device):
    """A batch of one row has more keys than a work-group sorts."""
    n = 3 * inplace.BOX
    graph = cg.DynamicGraph(n=n, device=any_device)
    targets = np.arange(n)
    graph.insert_edges(targets, (targets + 1) % n)
    into = graph.insert_edges(0 * targets, targets, regime="rows")
    assert (into.new, into.present) == (n - 1, 1)
    assert graph.degrees[0] == n
    np.testing.assert_array_equal(graph.neighbors(0), targets)
    out = graph.delete_edges(0 * targets, targets, regime="rows")
    assert out.gone == n
    assert graph.insert_edges([5], [77], regime="rows").moved == 1


def test_shapes_hold_their_keys():
    for n, keys, groups in ((1, 1, 528), (1 << 20, 10**4, 528), (4_000_000, 10**6, 528)):
        shape = Shape.of(keys, n, groups, inplace.BOX)
        assert shape.boxes * shape.span >= n
        assert (shape.boxes - 1) * shape.span < n
        assert shape.stride <= inplace.BOX
        assert shape.stride * shape.boxes >= 2 * keys
        assert (1 << shape.place_bits) >= keys
        assert (1 << shape.bits) >= n
    assert Shape.of(10**8, 1 << 20, 528, inplace.BOX) is None  # too many keys a box
    assert Shape.of(10**6, 1 << 30, 1, inplace.BOX) is None  # too many bits
