"""What plans are made of: the payload of a stage word, and the table of a kernel's arguments."""

import numpy as np
import pytest
from configs import bfs_config

import clgraph as cg
from clgraph.algorithms.scc import signatures, steps
from clgraph.algorithms.sssp.stages import stage_payload
from clgraph.device import Kernel, Memory
from clgraph.engine import state
from clgraph.engine.arguments import NO_LIMIT
from clgraph.engine.resident import resident
from clgraph.engine.state import QUEUE_PAYLOAD, check_hubs, stage_fields
from clgraph.engine.table import Table

PRESETS = cg.SSSPConfig.presets()


@pytest.mark.parametrize("payload", [QUEUE_PAYLOAD, steps.PAYLOAD, signatures.PAYLOAD])
def test_fields_of_a_stage_word_share_no_bit(payload):
    halves = stage_fields(payload)
    for fields in halves.values():
        bits = [place + k for _, place, width in fields for k in range(width)]
        assert len(set(bits)) == len(bits)
        assert max(bits, default=0) < 32
    assert {name for fields in halves.values() for name, _, _ in fields} >= payload.keys()


def test_a_payload_without_room_is_refused():
    with pytest.raises(ValueError, match="no room for 25 bits of 'hubs'"):
        stage_fields({"length": 32, "level": 32, "hubs": 25})


@pytest.mark.parametrize("preset", PRESETS)
def test_hubs_beyond_the_width_of_the_payload_are_refused(preset, intel):
    graph = cg.from_edges([0, 1, 2], [1, 2, 3], np.ones(3, np.float32))
    config = cg.SSSP(graph, config=preset, device=intel).config
    payload = stage_payload(config, predecessors=False)
    without = set() if config.row_limit else {"chain"}
    assert payload.keys() ^ stage_payload(config, predecessors=True).keys() == without
    check_hubs(payload, (1 << payload["hubs"]) - 1)
    with pytest.raises(cg.InvalidArgumentError, match="choose a larger hub_degree"):
        check_hubs(payload, 1 << payload["hubs"])


def test_a_table_allocates_binds_and_tells_what_it_declares(intel):
    table = Table({"pair_t": (np.uint32, 2)})
    table.number("uint", "n", 5)
    table.array("pair_t", "pairs", lambda: 3, "[3]")
    table.upload("ulong", "sums", lambda: np.arange(4, dtype=np.uint64), "[4]")
    table.held("pair_t", "same", lambda: table["pairs"], "[3] again")
    table.given("uint", "source")
    assert [row.name for row in table.rows] == ["n", "pairs", "sums", "same", "source"]
    table.allocate(Memory(intel))
    assert (table["pairs"].count, table["pairs"].dtype) == (6, np.uint32)
    assert table.sizes == {"pairs": 24, "sums": 32, "same": 24}
    bound = table.bind({"source": np.uint32(7), "n": np.uint32(6)})
    assert bound[0] == 6
    assert bound[1] is bound[3] is table["pairs"]
    assert bound[2].read().tolist() == [0, 1, 2, 3]
    assert bound[4] == 7
    assert table.bind({})[0] == np.uint32(5)


def test_counters_and_bins_leave_the_words_of_stages_alone():
    """What is counted grows with the library; the line behind it belongs to the next stage."""
    assert state.STATE_WORDS["NEXT"] >= state.BINS_AT + state.MOST_BINS


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_are_uploaded_from_the_memory_of_the_graph(device, monkeypatch, dtype):
    path = cg.generate.path(9)
    graph = cg.Graph(path.indptr.astype(dtype), path.indices.astype(dtype), directed=False)
    sent, upload = {}, Memory.upload

    def noted(self, name, array, **more):
        sent[name] = array
        return upload(self, name, array, **more)

    monkeypatch.setattr(Memory, "upload", noted)
    rows = resident(graph, device)
    assert rows.indices.read().tolist() == graph.indices.tolist()
    assert rows.indptr.read().tolist() == graph.indptr.tolist()
    assert rows.indptr.dtype == rows.indices.dtype == np.uint32
    for name in ("indptr", "indices"):
        held = getattr(graph, name)
        assert np.shares_memory(sent[name], held) == (held.itemsize == 4), name


def examined(monkeypatch):
    """Places of the arguments that are looked at when kernels are launched."""
    places, look = [], Kernel._set_arguments

    def noted(kernel, args, looked_at):
        places.append(list(looked_at))
        look(kernel, args, looked_at)

    monkeypatch.setattr(Kernel, "_set_arguments", noted)
    return places


def test_a_steady_search_looks_at_the_arguments_that_change(device, monkeypatch):
    graph = cg.generate.kron(7, seed=1)
    plan = cg.BFS(graph, device=device, config=bfs_config(synchronisation="persistent"))
    wanted = plan.run(3).distances
    places = examined(monkeypatch)
    held = [plan.run(source) for source in (1, 2, 3)]  # each in buffers of its own
    rows = [row.name for row in plan._stages.table.rows]
    given = [rows.index(name) for name in ("source", "max_level", "distances", "levels")]
    number = len(rows) + 1
    assert [sorted(looked) for looked in places] == [sorted([*given, number, number + 1])] * 3
    np.testing.assert_array_equal(held[2].distances, wanted)


def test_what_one_run_gives_is_the_table_s_again_in_the_next(device):
    plan = cg.BFS(cg.generate.path(20), device=device)
    assert plan.run(0).depth == 19
    stages, buffers = plan._stages, plan._pool.take()
    given = {"source": np.uint32(0), "max_level": NO_LIMIT, **buffers.arguments}
    buffers.levels.write(np.zeros(buffers.levels.count, np.uint32))
    longer = stages.run(given | {"level_capacity": np.uint32(3)})
    assert longer.depth == 19
    assert buffers.levels.read().reshape(-1, 4)[:20, 0].tolist() == [1] * 3 + [0] * 17
    stages.run(given)
    assert (buffers.levels.read().reshape(-1, 4)[:20, 0] == 1).all()


def test_a_table_with_another_array_has_another_stamp(device):
    table = Table()
    table.array("uint", "found", 4)
    table.given("uint", "source")
    before = table.stamp
    table.allocate(Memory(device))
    made = table.stamp
    assert made is not before
    table.bind({"source": np.uint32(0)})
    assert table.changing == (1,)
    table["found"] = Memory(device).allocate("found", 8, np.uint32)
    assert table.stamp is not made


def test_a_run_after_an_array_was_replaced_reads_the_new_one(device):
    """What kernels were handed before is not what they work on."""
    plan = cg.BFS(cg.generate.path(20), device=device)
    assert plan.run(0).depth == 19
    table = plan._stages.table
    for name in ("indptr", "indices"):
        before = table[name]
        fresh = Memory(device).upload(name, before.read())
        for row in table.rows:  # stages that pull know the same by other names
            if table[row.name] is before:
                table[row.name] = fresh
        before.clear()
    assert plan.run(0).distances.tolist() == list(range(20))


def test_what_some_launch_was_given_may_change_in_all_later_ones():
    """A kernel's arguments are looked at there: the table may have another value, or the next."""
    table = Table()
    table.given("uint", "first")
    table.number("uint", "n", 7)
    table.given("uint", "last")
    table.allocate(Memory)
    assert set(table.changing) == set()
    assert table.bind({"last": np.uint32(3)}) == [None, 7, 3]
    assert set(table.changing) == {2}
    assert table.bind({}) == [None, 7, None]
    assert set(table.changing) == {2}
    assert table.bind({"n": np.uint32(9), "last": np.uint32(3)}) == [None, 9, 3]
    assert set(table.changing) == {1, 2}
    stamp = table.stamp
    table["n"] = np.uint32(8)
    assert table.stamp is not stamp
    assert set(table.changing) == {1, 2}
