"""Truss numbers that follow a dynamic graph: equal to a recount after every batch."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from peeling import hub_and_cliques, truss_numbers_of, tube

import clgraph as cg
from clgraph import dynamic
from clgraph.dynamic.maintained import odds
from clgraph.dynamic.maintained.maintaining import FIRST_ORDER, MOST_STAMPS, Span
from clgraph.errors import InvalidArgumentError, VerificationError

on_both = pytest.mark.runtimes("pocl", "intel")


def start(device, n=60, m=500, seed=1):
    rng = np.random.default_rng(seed)
    return of_edges(rng.integers(0, n, m), rng.integers(0, n, m), n, device)


def of_edges(src, dst, n, device):
    whole = cg.from_edges(src, dst, n=n, directed=False, symmetrize=True, dedup=True)
    return dynamic.DynamicGraph(whole, device=device, block_edges=32)


def without_loops(graph):
    """The graph's edges that are no loops, and which stored ones these are."""
    held = graph.to_graph()
    sources, targets = arcs_of(graph)
    kept = sources != targets
    return cg.from_edges(sources[kept], targets[kept], n=held.n), kept


def arcs_of(graph):
    held = graph.to_graph()
    return np.repeat(np.arange(held.n), held.degrees), held.indices


def check(follower):
    """Numbers are the oracle's, and the order is one that peeling may take."""
    simple, kept = without_loops(follower.graph)
    numbers = follower.numbers
    expected = np.zeros(len(kept), np.uint32)
    expected[kept] = truss_numbers_of(simple)
    np.testing.assert_array_equal(numbers, expected)
    check_order(follower, simple)


def check_order(follower, simple):
    """What insertions rely on: of equal numbers, peeling in the order that is kept would work."""
    state, rows = follower.state, follower.graph.rows
    pointer, values = rows.pointer.read(rows.n), state.values.read()
    held = {}
    for u in range(simple.n):
        row = simple.indices[simple.indptr[u] : simple.indptr[u + 1]]
        stored = follower.graph.neighbors(u)
        keys = values[pointer[u] : pointer[u] + len(stored)][stored != u] if len(stored) else []
        held[u] = dict(zip(row.tolist(), map(int, keys), strict=True))
    for u in range(simple.n):
        for v, key in held[u].items():
            assert key == held[v][u]
            assert state.span.first <= key % 2**32 <= state.span.last
            both = held[u].keys() & held[v].keys()
            after = sum(held[u][x] >= key and held[v][x] >= key for x in both)
            assert after <= (key >> 32) - 2


@pytest.mark.parametrize("regime", ["rows", "rewrite"])
def test_random_batches_give_what_a_recount_gives(device, regime):
    graph = start(device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    check(follower)
    rng = np.random.default_rng(2)
    for size in (2, 3, 20, 60, 120):
        graph.insert_edges(*rng.integers(0, 66, (2, size)), regime=regime)
        check(follower)
        sources, targets, _ = graph.to_graph().listed_edges()
        gone = rng.choice(len(sources), size, replace=False)
        graph.delete_edges(sources[gone], targets[gone], regime=regime)
        check(follower)
    assert (follower.updates, follower.recounts) == (10, 1)


@on_both
def test_cliques_come_and_go(device):
    """All of a clique at once from nothing, one edge too few, and edge by edge."""
    graph = dynamic.DynamicGraph(n=20, directed=False, device=device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    assert follower.max_k == 0
    pairs = np.array(list(combinations(range(12), 2))).T
    graph.insert_edges(*pairs)
    check(follower)
    assert follower.max_k == 12
    assert follower.last.rounds <= 2
    graph.delete_edges(pairs[:1, 5], pairs[1:, 5])
    check(follower)
    assert follower.max_k == 11
    graph.insert_edges(pairs[1:, 5], pairs[:1, 5])
    check(follower)
    assert follower.max_k == 12
    graph.insert_edges([11, 11], [12, 13])
    graph.insert_edges([12], [13])
    check(follower)
    graph.delete_edges(*pairs)
    check(follower)
    assert follower.max_k == 3
    assert follower.recounts == 1


@on_both
def test_one_edge_changes_each_number_by_one_at_most(device):
    """Along a tube all edges change together: far from the edge that joins or leaves."""
    whole = tube(40)
    graph = dynamic.DynamicGraph(whole, device=device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    before = follower.numbers
    ring = ([0, 0], [2, 3])
    graph.insert_edges(*ring)
    check(follower)
    graph.delete_edges(*ring)
    check(follower)
    np.testing.assert_array_equal(follower.numbers, before)
    graph.delete_edges([0], [1])
    check(follower)
    hubs = dynamic.DynamicGraph(hub_and_cliques(), device=device)
    other = dynamic.TrussNumbers(hubs, share=100.0)
    held = dict(zip(zip(*arcs_of(hubs), strict=True), other.numbers, strict=True))
    hubs.delete_edges([40], [41])
    check(other)
    now = dict(zip(zip(*arcs_of(hubs), strict=True), other.numbers, strict=True))
    change = {int(held[edge]) - int(number) for edge, number in now.items()}
    assert change <= {0, 1}
    assert 1 in change


@on_both
def test_loops_repeats_new_vertices_and_what_is_not_there(device):
    graph = start(device, 30, 200)
    follower = dynamic.TrussNumbers(graph, share=100.0, verify=True)
    check(follower)
    graph.insert_edges([1, 2, 2, 3, 5, 5, 31, 32], [1, 3, 3, 2, 31, 32, 32, 32])
    check(follower)
    graph.delete_edges([1, 2, 29, 32], [1, 3, 0, 32])
    check(follower)
    list(graph.insert_vertices(3))
    check(follower)
    graph.compact()
    graph.delete_vertices([3])
    check(follower)


@on_both
def test_rows_that_are_written_elsewhere(device):
    """Numbers are kept by the places of edges, of which compacting says nothing."""
    graph = start(device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    rng = np.random.default_rng(3)
    for _ in range(2):
        graph.insert_edges(*rng.integers(0, 60, (2, 40)), regime="rows")
        check(follower)
        places = graph.rows.pointer.read(graph.n)
        graph.compact()
        assert (graph.rows.pointer.read(graph.n) != places).any()  # or this tests nothing
        check(follower)
    graph.delete_edges(*rng.integers(0, 60, (2, 40)))
    check(follower)


@on_both
def test_a_batch_that_changes_too_much_is_counted_anew(device):
    graph = start(device)
    follower = dynamic.TrussNumbers(graph, share=0.0)
    check(follower)
    sources, targets, _ = graph.to_graph().listed_edges()
    graph.delete_edges(sources[::9], targets[::9])
    assert not follower.last.complete
    assert graph.state_of(follower) is None
    check(follower)
    assert (follower.updates, follower.recounts) == (0, 2)
    graph.delete_edges(*graph.to_graph().listed_edges()[:2])
    assert follower.max_k == 0


@on_both
def test_a_batch_that_would_change_too_much_is_not_tried(device, monkeypatch):
    """Told by the rows of its edges where they join, by those that they set in motion elsewhere."""
    whole = cg.generate.complete(80)
    graph = dynamic.DynamicGraph(whole, device=device)
    follower = dynamic.TrussNumbers(graph, share=0.04)
    check(follower)
    monkeypatch.setattr(odds, "LEAST_WORK", 0)
    graph.delete_edges([0], [1])
    assert (follower.last.tried, follower.last.mode) == (False, "none")
    monkeypatch.setattr(odds, "REACH", 1)
    check(follower)
    graph.insert_edges([80], [81])
    assert (follower.last.tried, follower.last.complete) == (True, True)
    check(follower)
    graph.delete_edges([3], [4])
    assert (follower.last.tried, follower.last.mode) == (False, "none")
    assert follower.last.work > 0  # those of the batch are few; those they set in motion are not
    check(follower)
    assert follower.updates == 1


def test_odds_of_batches():
    """Rows of a batch foretell what is looked at; one that was too much is remembered a while."""
    tried = odds.Odds(0.1)
    work, joins = 1 << 30, True
    limit = tried.allowed(work) // odds.REACH
    assert not tried.hopeless(limit, work, joins=joins)
    assert tried.hopeless(limit + 1, work, joins=joins)
    tried.note(limit, work, joins=joins, complete=False)
    assert not tried.hopeless(limit // 2 - 1, work, joins=joins)
    assert not tried.hopeless(limit, work, joins=not joins)
    refused = 0
    while tried.hopeless(limit, work, joins=joins):
        refused += 1
    assert refused == 6  # 1.125 ** 6 > 2
    tried.note(limit, work, joins=joins, complete=True)
    assert not tried.hopeless(limit, work, joins=joins)
    assert not odds.Odds(100.0).hopeless(work, work, joins=joins)
    assert odds.Odds(float("inf")).allowed(work) == 1 << 63


@on_both
def test_what_a_launch_looks_at_stays_within_the_share(device):
    """What the next stage would look at counts before it is begun."""
    graph = start(device, 80, 1500)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    check(follower)
    sources, targets, _ = graph.to_graph().listed_edges()
    graph.delete_edges(sources[::40], targets[::40])
    whole = follower.last
    for part in (0.3, 0.6, 0.9):
        again = dynamic.DynamicGraph(
            of_edges(sources, targets, 80, device).to_graph(), device=device
        )
        share = part * whole.visited / (whole.work + odds.LEAST_WORK)
        other = dynamic.TrussNumbers(again, share=share)
        _ = other.state
        other._odds._most.clear()
        again.delete_edges(sources[::40], targets[::40])
        assert not other.last.complete
        assert other.last.visited <= part * whole.visited
        check(other)


@on_both
def test_numbers_are_found_without_the_host(device, monkeypatch):
    """What is found anew stays on the device, but for graphs with self-loops."""
    read = []
    monkeypatch.setattr(cg.Truss, "removals", lambda self: read.append(self) or found(self))
    graph = dynamic.DynamicGraph(cg.generate.complete(9), device=device)
    follower = dynamic.TrussNumbers(graph)
    check(follower)
    assert not read
    graph.insert_edges([3], [3])
    graph.keep_state(follower, None)
    check(follower)
    assert len(read) == 1


found = cg.Truss.removals


@on_both
def test_what_is_looked_at_depends_on_the_batch(device):
    """Edges far apart change what is near them, whatever else the graph has."""
    looked = []
    for copies in (4, 40):
        pairs = np.array(list(combinations(range(9), 2))).T
        ends = np.concatenate([pairs + 9 * i for i in range(copies)], axis=1)
        graph = of_edges(*ends, 9 * copies, device)
        follower = dynamic.TrussNumbers(graph, share=100.0)
        assert follower.max_k == 9
        graph.delete_edges([0, 9], [1, 10])
        check(follower)
        gone = follower.last.visited
        graph.insert_edges([0, 9], [1, 10])
        check(follower)
        looked.append((gone, follower.last.visited))
        assert follower.last.work > 10 * copies
    assert looked[0] == looked[1]


@on_both
def test_pauses_and_steps(device, monkeypatch):
    """Launches that pause, and one launch a step, give the same."""
    stepped = cg.TrussConfig(schedule="stepped")
    monkeypatch.setattr("clgraph.algorithms.scc.stages.CPU_LAUNCH_WORK", 1)
    for config in (None, stepped):
        graph = start(device, 40, 400)
        follower = dynamic.TrussNumbers(graph, share=100.0, config=config)
        check(follower)
        graph.insert_edges(np.arange(0, 20), np.arange(20, 40))
        check(follower)
        graph.delete_edges(np.arange(0, 20), np.arange(20, 40))
        check(follower)
        assert follower.last.mode == ("stepped" if config else follower.last.mode)
        assert follower.recounts == 1


@on_both
def test_a_launch_ends_before_its_stamps_come_round(device, monkeypatch):
    """A closed tube loses ring after ring, with a stamp for each: too many are given up."""
    whole = tube(40)
    ends = [0, 0, whole.n - 5, whole.n - 5], [2, 3, whole.n - 3, whole.n - 2]
    for most, complete in ((1000, True), (20, False)):
        monkeypatch.setattr("clgraph.dynamic.maintained.maintaining.MOST_STAMPS", most)
        graph = dynamic.DynamicGraph(whole, device=device)
        graph.insert_edges(*ends)
        follower = dynamic.TrussNumbers(graph, share=100.0)
        assert (follower.numbers == 4).all()
        graph.delete_edges([0], [2])
        assert follower.last.complete == complete
        check(follower)
        assert follower.max_k == 3


@on_both
def test_an_order_without_room_is_made_anew(device):
    graph = start(device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    state = follower.state
    used_up = Span(MOST_STAMPS, state.span.last)
    graph.keep_state(follower, replace(state, span=used_up))
    graph.insert_edges([0, 1], [7, 8])
    check(follower)
    assert follower.recounts == 2
    assert follower.state.span.first == FIRST_ORDER


@on_both
def test_a_failed_change_leaves_numbers_and_graph(device, monkeypatch):
    graph = start(device)
    follower = dynamic.TrussNumbers(graph, share=100.0)
    before = follower.numbers

    def fails(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(follower._maintenance, "_compiled", fails)
        with pytest.raises(KeyboardInterrupt):
            graph.insert_edges([0, 1, 2], [57, 58, 59])
    np.testing.assert_array_equal(follower.numbers, before)
    check(follower)
    graph.insert_edges([0, 1, 2], [57, 58, 59])
    check(follower)
    assert follower.recounts == 1


def test_a_wrong_number_is_found(pocl):
    graph = start(pocl)
    follower = dynamic.TrussNumbers(graph, verify=True)
    state = follower.state
    keys = state.values.read()
    keys[int(graph.rows.pointer.read(1)[0])] += np.uint64(1 << 32)
    state.values.write(keys)
    with pytest.raises(VerificationError, match="1 truss numbers are not those"):
        _ = follower.numbers


@pytest.mark.parametrize(
    ("options", "more", "message"),
    [
        ({"directed": True}, {}, "directed=False"),
        ({"directed": False, "sorted": False}, {}, "sorted=True"),
        ({"directed": False}, {"share": -1}, "at least 0"),
        ({"directed": False}, {"share": float("nan")}, "at least 0"),
    ],
)
def test_what_cannot_be_followed_is_refused(pocl, options, more, message):
    graph = dynamic.DynamicGraph(n=3, device=pocl, **options)
    with pytest.raises(InvalidArgumentError, match=message):
        dynamic.TrussNumbers(graph, **more)
