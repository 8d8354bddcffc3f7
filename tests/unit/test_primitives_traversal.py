"""The traversal's building blocks alone: balancers, queue with overflow check, bitmaps."""

import dataclasses
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from graphs import SHAPES
from unit.primitives_reference import KERNELS

import clgraph as cg
from clgraph.device import Device, Memory, Program, load
from clgraph.engine.choose import resolve
from clgraph.engine.resolved import Resolved
from clgraph.engine.state import (
    CHUNK_WORDS,
    QUEUE_PAYLOAD,
    SLOT_WORDS,
    STATE_WORDS,
    initial_state,
    stage_fields,
)
from clgraph.engine.strategies.balance import BALANCERS

GROUPS = 3
OVERFLOWED = STATE_WORDS["OVERFLOWED"]
NEXT = STATE_WORDS["NEXT"]


def resolved(device: Device, **changes: Any) -> Resolved:
    traits = device.traits
    config = resolve(cg.BFSConfig(), traits, m=100, predecessors=True)
    config = dataclasses.replace(config, **changes)
    # What a configuration refuses: more work-items than there is room for what each says.
    assert not traits.emulated or config.group_size == traits.lanes
    return config


def built(device: Device, config: Resolved, name: str) -> Program:
    return load(
        device,
        f"{name}.cl",
        folders=(KERNELS,),
        config=config,
        problem=SimpleNamespace(predecessors=True),
        state_words=STATE_WORDS | CHUNK_WORDS,
        slot_words=SLOT_WORDS,
        stage_fields=stage_fields(QUEUE_PAYLOAD),
    )


def together(graphs: Iterable[cg.Graph]) -> cg.Graph:
    """Put graphs side by side in one, which spares most of the copying."""
    indptr, indices = [np.zeros(1, np.int64)], []
    n = m = 0
    for graph in graphs:
        indptr.append(graph.indptr[1:] + m)
        indices.append(graph.indices + n)
        n, m = n + graph.n, m + graph.m
    return cg.Graph(np.concatenate(indptr), np.concatenate(indices))


FRONTIERS = {
    "one vertex": SHAPES["one-vertex"],
    "no edges": SHAPES["no-edges"],
    "star": SHAPES["star"],
    "all shapes": together(SHAPES.values()),
}


def balanced(device: Device, balance: str, **changes: Any) -> Resolved:
    config = resolved(device, **changes)
    kind = BALANCERS[balance]
    asked = kind(unit_batch=3) if "unit_batch" in kind.parameters() else kind()
    chosen = asked.resolved(config.lanes, config.group_size)
    chunks = chosen.chunks(config.group_size, config.lanes)
    return dataclasses.replace(config, balance=chosen, chunks=chunks)


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("balance", BALANCERS)
def test_each_edge_is_visited_exactly_once(device: Device, balance: str) -> None:
    """load-balancing common 1: every balancer on a frontier of a graph, by a queue."""
    wide = 4 if balance == "warp_search" else 0
    traits = device.traits
    group_size = traits.lanes * (1 if traits.lanes == 1 or traits.emulated else 4)
    check_every_edge(device, balanced(device, balance, group_size=group_size, wide=wide))


@pytest.mark.parametrize("balance", BALANCERS)
def test_each_edge_is_visited_exactly_once_by_emulated_lanes(intel: Device, balance: str) -> None:
    device = intel.emulating(8)
    check_every_edge(device, balanced(device, balance))


@pytest.mark.parametrize("balance", ["vwarp", "cws", "direct", "two_phase"])
def test_each_edge_is_claimed_exactly_once(intel: Device, balance: str) -> None:
    config = balanced(intel, balance, group_size=32, distribution="claimed")
    check_every_edge(intel, config)


def check_every_edge(device: Device, config: Resolved) -> None:
    """bfs-helix 8: whatever the size of a chunk that was decided for the frontier."""
    for units in (1, 2, 4, 5) if config.balance.scope == "grid" else (1,):
        check_with_chunks(device, config, min(units * config.chunks.step, config.chunks.units))


def check_with_chunks(device: Device, config: Resolved, chunk: int) -> None:
    if config.distribution != "claimed":
        config = dataclasses.replace(config, distribution="static")
    program = built(device, config, "advance_check")
    memory = Memory(device)
    for name, graph in FRONTIERS.items():
        vertices = np.flatnonzero(np.arange(graph.n) % 3 != 1).astype(np.uint32)
        expected = np.zeros(graph.m, np.uint32)
        for v in vertices:
            expected[graph.indptr[v] : graph.indptr[v + 1]] = 1
        indptr = memory.upload("indptr", graph.indptr.astype(np.uint32))
        indices = memory.upload("indices", graph.indices.astype(np.uint32))
        asked = memory.upload("vertices", vertices)
        entry_words = {"vertex": 1, "row": 2, "full": 4}[config.entry]
        entries = memory.allocate("entries", (vertices.size + 64) * entry_words, np.uint32)
        count = np.uint32(vertices.size)
        degrees = graph.degrees[vertices].astype(np.uint32)
        prefix = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32)
        firsts = np.arange(0, prefix[-1] + chunk, chunk)
        starts = np.searchsorted(prefix[1:], np.minimum(firsts, max(prefix[-1], 1) - 1), "right")
        sums = memory.upload("prefix", prefix)
        chunk_items = memory.upload("chunk_items", starts.astype(np.uint32))
        words = initial_state()
        words[CHUNK_WORDS["LEVEL_CHUNK"]] = chunk
        program.kernel("make_entries").launch(64, 1, indptr, asked, count, entries)
        for as_hubs, tile in ((0, 1), (0, config.lanes), (1, 1)):
            if as_hubs and not vertices.size:
                continue
            visits = memory.upload("visits", np.zeros(graph.m, np.uint32))
            mistakes = memory.upload("mistakes", np.zeros(1, np.uint32))
            program.kernel("check_advance").launch(
                GROUPS * config.group_size,
                config.group_size,
                *(indptr, indices, asked, count, np.uint32(as_hubs), np.uint32(tile), entries),
                *(sums, chunk_items),
                *(visits, mistakes, memory.upload("state", words)),
            )
            where = f"{name}, as_hubs={as_hubs}, tile={tile}, chunk={chunk}"
            np.testing.assert_array_equal(visits.read() & 0xFFFF, expected, err_msg=where)
            assert mistakes.read()[0] == 0, where


def edges_by_group(
    device: Device, config: Resolved, graph: cg.Graph, vertices: np.ndarray, *, as_hubs: bool
) -> np.ndarray:
    """How many edges of the vertices each work-group visits."""
    program, memory = built(device, config, "advance_check"), Memory(device)
    indptr = memory.upload("indptr", graph.indptr.astype(np.uint32))
    indices = memory.upload("indices", graph.indices.astype(np.uint32))
    asked = memory.upload("vertices", vertices.astype(np.uint32))
    entry_words = {"vertex": 1, "row": 2, "full": 4}[config.entry]
    entries = memory.allocate("entries", (vertices.size + 64) * entry_words, np.uint32)
    count, nothing = np.uint32(vertices.size), memory.upload("none", np.zeros(2, np.uint32))
    program.kernel("make_entries").launch(64, 1, indptr, asked, count, entries)
    visits = memory.upload("visits", np.zeros(graph.m, np.uint32))
    state = memory.upload("state", initial_state())
    program.kernel("check_advance").launch(
        GROUPS * config.group_size,
        config.group_size,
        *(indptr, indices, asked, count, np.uint32(as_hubs), np.uint32(config.lanes), entries),
        *(nothing, nothing, visits, nothing, state),
    )
    found = visits.read()
    return np.bincount(found[found > 0] >> 16, minlength=GROUPS)


def test_edges_of_groups_are_even(intel: Device) -> None:
    """sssp-self-tuning 2: at most twice as many edges in one group as in another, star and path.

    By what the preset resolves to where work-items are lanes: the hub is the whole grid's, and all
    others are dealt out in tiles.
    """
    leaves, path = 5000, 4000
    ends = np.r_[np.zeros(leaves, int), leaves + np.arange(path)]
    graph = cg.from_edges(
        ends, np.r_[1 + np.arange(leaves), leaves + 1 + np.arange(path)], symmetrize=True
    )
    weights = np.ones(graph.m, np.int32)
    costly = cg.Graph(graph.indptr, graph.indices, weights, directed=False)
    plan = cg.SSSP(costly, config="self-tuning", device=intel)
    hubs = graph.degrees >= plan.config.hub_degree
    assert plan.config.hub_degree > 0
    assert hubs.sum() == 1
    config = balanced(intel, plan.config.balance.name, distribution="static")
    total = np.zeros(GROUPS, np.int64)
    for vertices, as_hubs in ((np.flatnonzero(hubs), True), (np.flatnonzero(~hubs), False)):
        shares = edges_by_group(intel, config, graph, vertices, as_hubs=as_hubs)
        assert shares.sum() == graph.degrees[vertices].sum()
        assert shares.max() <= 2 * shares.min()
        total += shares
    assert total.max() <= 2 * total.min()


def gathered(
    device: Device, config: Resolved, added: np.ndarray, room: int, *, small: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Push the vertices whose bits are new; give how often each was seen, the queue, the state."""
    memory = Memory(device)
    kind = np.uint64 if config.word_bits == 64 else np.uint32
    bits = np.packbits(added, bitorder="little")
    words = np.zeros(-(-bits.size // np.dtype(kind).itemsize), kind)
    words.view(np.uint8)[: bits.size] = bits
    rng = np.random.default_rng(5)
    before = rng.integers(0, 2**31, words.size).astype(kind) & ~words
    entry_words = {"vertex": 1, "row": 2, "full": 4}[config.entry]
    seen = memory.upload("seen", np.zeros(words.size * config.word_bits, np.uint32))
    guard = 64
    queue = memory.upload("queue", np.full((room + guard) * entry_words, 0xABCD, np.uint32))
    state = memory.upload("state", initial_state())
    built(device, config, "traversal_check").kernel("check_gather").launch(
        GROUPS * config.group_size,
        config.group_size,
        *(memory.upload("before", before), memory.upload("after", before | words)),
        *(np.uint32(words.size), np.uint32(room), np.uint32(small), seen, queue, state),
    )
    entries = queue.read().reshape(-1, entry_words)
    assert (entries[room:] == 0xABCD).all(), "written beyond the queue's end"
    return seen.read()[: added.size], entries[:room, -1], state.read()


@pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 1.0])
def test_each_added_bit_is_gathered_and_queued_once(
    device: Device, density: float, small: bool
) -> None:
    config = resolved(device)
    added = np.random.default_rng(2).random(9000) < density
    seen, queue, state = gathered(device, config, added, added.size, small=small)
    np.testing.assert_array_equal(seen, added)
    assert state[NEXT] == added.sum()
    assert not state[OVERFLOWED]
    np.testing.assert_array_equal(np.sort(queue[: state[NEXT]]), np.flatnonzero(added))


@pytest.mark.parametrize("groups", [2, 4])
def test_what_simd_groups_have_left_is_put_together(intel: Device, groups: int) -> None:
    """One reservation for the work-group, whose SIMD groups run one after another on a processor.

    Between barriers, that is: without the first, the one that reserves runs before the others have
    said how much they have; without the second, others store before it has said where.
    """
    config = resolved(intel, group_size=groups * intel.traits.lanes)
    assert config.lanes > 1
    added = np.ones(9000, bool)
    seen, queue, state = gathered(intel, config, added, added.size, small=False)
    np.testing.assert_array_equal(seen, added)
    assert state[NEXT] == added.sum()
    np.testing.assert_array_equal(np.sort(queue), np.arange(9000))


@pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("room", [1, 100, 2999])
def test_a_full_queue_is_noticed_and_never_overrun(device: Device, room: int, small: bool) -> None:
    """Reservations beyond the queue's end raise OVERFLOWED and write nothing there.

    bfs-helix 22, bfs-merrill 16; and 20: unordered places over the device are dense (bfs-4k F2).
    """
    config = resolved(device)
    added = np.zeros(9000, bool)
    added[::3] = True
    _, _, state = gathered(device, config, added, room, small=small)
    assert state[OVERFLOWED] == 1
