"""What plans are made of: the payload of a stage word, and the table of a kernel's arguments."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.scc import signatures, steps
from clgraph.algorithms.sssp.stages import stage_payload
from clgraph.device import Memory
from clgraph.engine import state
from clgraph.engine.plan import Table
from clgraph.engine.resident import resident
from clgraph.engine.state import QUEUE_PAYLOAD, check_hubs, stage_fields

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
    payload = stage_payload(cg.SSSP(graph, config=preset, device=intel).config)
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
