"""A batch that is interrupted or gets no memory leaves the graph as it was."""

import numpy as np
import pytest
from interruption import interrupt, places, some

import clgraph as cg
from clgraph.device import Memory
from clgraph.dynamic.contents import WIDE_FROM
from clgraph.dynamic.storage import store
from clgraph.dynamic.updating import NOWHERE
from clgraph.errors import DeviceMemoryError

RNG = np.random.default_rng(7)
SRC, DST = RNG.integers(0, 60, (2, 80))


def fresh(device, ordered=True):
    start = cg.generate.random(50, 300, seed=4)
    return cg.DynamicGraph(start, sorted=ordered, weights="f4", device=device, block_edges=16)


UPDATES = {
    "insert": lambda g, how: g.insert_edges(SRC, DST, SRC, regime=how),
    "delete": lambda g, how: g.delete_edges(DST, SRC, regime=how),
    "update": lambda g, _: g.update_values(DST, SRC, SRC),
    "vertices": lambda g, _: g.delete_vertices([1, 5, 7]),
    "grow": lambda g, _: g.insert_vertices(100),
    "compact": lambda g, _: g.compact(),
}


def contents(graph):
    held = graph.to_graph()
    return held.n, held.indptr.tolist(), held.indices.tolist(), held.weights.tolist()


def refused_at_each(update, make, state, monkeypatch):
    """Refuse memory at one allocation after the other: nothing changes, and it works afterwards."""
    before, done = state(make()), make()
    update(done)
    after = state(done)
    allocate, failed = Memory.allocate, 0
    for turn in range(90):
        given = make()
        asked = []

        def refusing(self, what, count, dtype, asked=asked, turn=turn):
            asked.append(what)
            if len(asked) == turn + 1:
                raise DeviceMemoryError(f"{what} refused")
            return allocate(self, what, count, dtype)

        monkeypatch.setattr(Memory, "allocate", refusing)
        try:
            update(given)
        except DeviceMemoryError:
            failed += 1
        else:
            break
        finally:
            monkeypatch.setattr(Memory, "allocate", allocate)
        assert state(given) == before, asked[-1]
        update(given)
        assert state(given) == after, asked[-1]
    else:
        pytest.fail("it never succeeded")
    assert failed


ONE_WAY = [(name, "rows", True) for name in UPDATES]
OTHERS = [(name, "rewrite", ordered) for name in ("insert", "delete") for ordered in (True, False)]


@pytest.mark.parametrize(
    ("name", "how", "ordered"),
    [
        *ONE_WAY,
        OTHERS[0],
        OTHERS[3],
        *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS[1:3]),
        *(
            pytest.param(name, "rows", False, marks=pytest.mark.slow)
            for name in ("insert", "delete", "update")
        ),
    ],
)
def test_no_memory_at_any_allocation(any_device, name, how, ordered, monkeypatch):
    refused_at_each(
        lambda graph: UPDATES[name](graph, how),
        lambda: fresh(any_device, ordered),
        contents,
        monkeypatch,
    )


@pytest.mark.parametrize("how", ["auto", "rows", "rewrite"])
@pytest.mark.parametrize("way", ["insert", "delete"])
def test_no_memory_for_what_follows(pocl, way, how, monkeypatch):
    """What is kept up to date is that of the graph before, or of the graph after."""

    def make():
        graph = cg.DynamicGraph(cg.generate.kron(6, seed=1), device=pocl)
        followers = (
            cg.dynamic.TriangleCounter(graph),
            cg.dynamic.BFS(graph, 0),
            cg.dynamic.ConnectedComponents(graph),
        )
        values(graph, followers)
        return graph, followers

    def values(graph, followers):
        triangles, hops, parts = followers
        return triangles.count, hops.distances.tolist(), parts.labels.tolist(), graph.m

    def state(given):
        found, rows = values(*given), given[0].to_graph()
        assert found[1] == cg.bfs(rows, 0).distances.tolist()
        assert found[0] == cg.triangle_count(rows, clean=True)
        return found, rows.indices.tolist()

    src, dst, _ = cg.generate.kron(6, seed=1).listed_edges()
    ends = (src[::20], (dst[::20] + 1) % 64) if way == "insert" else (src[::15], dst[::15])
    refused_at_each(
        lambda given: getattr(given[0], f"{way}_edges")(*ends, regime=how), make, state, monkeypatch
    )


WAYS = [("insert", "rows"), ("delete", "rewrite"), ("update", "rows")]


@pytest.mark.parametrize(("name", "how"), WAYS)
def test_ctrl_c_at_some_lines(any_device, name, how):
    ctrl_c(any_device, name, how, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"), [*WAYS, ("insert", "rewrite"), ("delete", "rows"), ("vertices", "rows")]
)
def test_ctrl_c_at_many_lines(any_device, name, how):
    ctrl_c(any_device, name, how, 150)


def ctrl_c(any_device, name, how, count):
    """Interrupt an update at some lines: it happens whole or not at all, and works afterwards."""
    update = UPDATES[name]
    before, done = contents(fresh(any_device)), fresh(any_device)
    update(done, how)
    after = contents(done)
    found = places(lambda: update(fresh(any_device), how))
    chosen = some(found, count, np.random.default_rng(1))
    for place in chosen:
        graph = fresh(any_device)
        interrupt(lambda graph=graph: update(graph, how), place)
        now = contents(graph)
        assert now in (before, after)
        update(graph, how)
        assert contents(graph) == after


@pytest.mark.parametrize("regime", ["rows", "rewrite"])
@pytest.mark.parametrize("allocator", ["device", "host"])
def test_places_beyond_their_type_are_refused(any_device, regime, allocator, monkeypatch):
    """DH-18's 64 bits: where places have 32, a graph that outgrows these says so and is whole."""
    graph = cg.DynamicGraph(n=50, weights="f4", device=any_device, block_edges=16,
                            allocator=allocator)  # fmt: skip
    every = np.arange(50)
    graph.insert_edges(every, every, every, regime=regime)
    before = graph.version, contents(graph)
    monkeypatch.setattr(store, "MOST_NARROW", graph.rows.entries)
    src, dst = np.repeat(every, 20), np.tile(np.arange(20), 50)
    with pytest.raises(cg.InvalidGraphError, match="beyond what 32 bits"):
        graph.insert_edges(src, dst, src, regime=regime)
    assert (graph.version, contents(graph)) == before
    monkeypatch.undo()
    assert graph.insert_edges(src, dst, src, regime=regime).present == 20


def test_places_of_32_bits_tell_all_entries_apart():
    """One number is no place; a graph that begins with them has room for twice its edges."""
    assert max(map(int, NOWHERE.values())) == 2**64 - 1
    assert store.MOST_NARROW <= NOWHERE[4] == 2**32 - 1
    assert 2 * WIDE_FROM <= store.MOST_NARROW
