"""Parts of the published BFS-4K alone: its table of duplicates, its registers and their stores."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from configs import bfs_config
from unit.primitives_reference import KERNELS

import clgraph as cg
from clgraph.algorithms.bfs.presets.bfs_4k import hash_entries
from clgraph.device import Device, Memory, load
from clgraph.engine.choose import resolve
from clgraph.engine.state import (
    QUEUE_PAYLOAD,
    SLOT_WORDS,
    STATE_WORDS,
    initial_state,
    stage_fields,
)

NEXT = STATE_WORDS["NEXT"]


def kept(device: Device, vertices: np.ndarray, **config: Any) -> np.ndarray:
    """Let lanes drop duplicates of what they hold together, [rounds, work-items]."""
    rounds, items = vertices.shape
    resolved = resolve(bfs_config(**config), device.traits, m=1, predecessors=False)
    resolved = dataclasses.replace(resolved, group_size=items)
    program = load(device, "duplicates_check.cl", folders=(KERNELS,), config=resolved)
    memory = Memory(device)
    out = memory.allocate("kept", vertices.size, np.uint32)
    program.kernel("check_duplicates").launch(
        items, items, memory.upload("vertices", vertices.ravel()), np.uint32(rounds), out
    )
    return out.read().reshape(vertices.shape).astype(bool)


@pytest.mark.parametrize("size", [1, 16, 256, 4096])
@pytest.mark.parametrize("scope", ["lookup_lanes", "lookup_group"])
def test_the_table_of_duplicates(intel: Device, scope: str, size: int) -> None:
    """bfs-4k F9, in lockstep: duplicates go, no vertex is lost, larger tables find more."""
    device = intel.emulating(32)
    vertices = np.random.default_rng(1).integers(0, 40, (50, 32), dtype=np.uint32)
    alive = kept(device, vertices, duplicates=scope, visited="mask", hash_size=size, hash_rounds=1)
    missed = 0
    for held, stay in zip(vertices, alive, strict=True):
        assert set(held[stay]) == set(held)
        missed += int(stay.sum()) - np.unique(held).size
    detected = int((~alive).sum())
    assert detected + missed == sum(32 - np.unique(held).size for held in vertices)
    assert detected > 0
    if size == 4096:
        assert missed == 0


@pytest.mark.parametrize("scope", ["lookup_lanes", "lookup_group"])
def test_each_round_hashes_in_another_way(intel: Device, scope: str) -> None:
    """bfs-helix 16: what shared a slot in one round need not in the next, so more is found."""
    device = intel.emulating(32)
    vertices = np.random.default_rng(2).integers(0, 24, (50, 32), dtype=np.uint32)
    left = []
    for rounds in (1, 2, 3, 4):
        config = {"duplicates": scope, "visited": "mask", "hash_size": 8, "hash_rounds": rounds}
        alive = kept(device, vertices, **config)
        for held, stay in zip(vertices, alive, strict=True):
            assert set(held[stay]) == set(held)
        left.append(int(alive.sum()))
    assert left[0] > left[1] > left[2] > left[3]


def test_one_slot_for_all_vertices_loses_none(intel: Device) -> None:
    """bfs-4k F9: with H = 1 all vertices collide, and all are kept."""
    vertices = np.arange(32, dtype=np.uint32).reshape(1, 32)
    config = {"duplicates": "lookup_group", "visited": "mask", "hash_size": 1}
    assert kept(intel.emulating(32), vertices, **config).all()


@pytest.mark.parametrize("places", [1, 2, 8])
def test_a_history_has_so_many_places(pocl: Device, places: int) -> None:
    """bfs-merrill 10: what passed goes until another vertex takes its place, by one work-item."""
    vertices = np.array([1, 1, 2, 1, 3, 2, 9, 1, 4, 4, 9, 3], np.uint32)
    config = {"duplicates": "keep", "visited": "plain", "history": places}
    alive = kept(pocl, vertices.reshape(-1, 1), **config).ravel()
    remembered: dict[int, int] = {}
    for v, stays in zip(vertices.tolist(), alive.tolist(), strict=True):
        assert stays == (remembered.get(v % places) != v)
        remembered[v % places] = v
    assert np.count_nonzero(~alive) == {1: 2, 2: 4, 8: 5}[places]


def test_the_size_of_the_table() -> None:
    """bfs-4k F7: 32 KB beside two queues of 4 KB, 2 KB for each group of 128 where 2,048 fit."""
    kib48 = 48 << 10
    assert hash_entries(kib48, 1024, 1024, queue_bytes=4096) * 8 == 32 << 10
    assert hash_entries(kib48, 128, 2048) * 8 == 2 << 10
    with pytest.raises(cg.InvalidArgumentError, match="hash_size=100 is not a power of two"):
        bfs_config(hash_size=100)


def pushed(device: Device, lengths: np.ndarray, **config: Any) -> np.ndarray:
    """Let each work-item push `lengths` entries; give what is in the queue, lane * 256 + rank."""
    wanted = bfs_config(update="registers", register_queue=5, **config)
    resolved = resolve(wanted, device.traits, m=1, predecessors=True)
    resolved = dataclasses.replace(resolved, group_size=device.traits.lanes, distribution="static")
    program = load(
        device,
        "traversal_check.cl",
        folders=(KERNELS,),
        config=resolved,
        problem=SimpleNamespace(predecessors=True),
        state_words=STATE_WORDS,
        slot_words=SLOT_WORDS,
        stage_fields=stage_fields(QUEUE_PAYLOAD),
    )
    memory = Memory(device)
    total = int(lengths.sum())
    words = {"vertex": 1, "row": 2, "full": 4}[resolved.entry]
    queue = memory.upload("queue", np.full((total + 1) * words, 2**32 - 1, np.uint32))
    state = memory.upload("state", initial_state())
    program.kernel("check_registers").launch(
        lengths.size,
        device.traits.lanes,
        *(memory.upload("indptr", np.zeros(1, np.uint32)), memory.upload("lengths", lengths)),
        *(np.uint32(lengths.max()), np.uint32(total), queue, state),
    )
    assert state.read()[NEXT] == total
    return queue.read().reshape(-1, words)[:total, -1]


@pytest.mark.parametrize("scan", ["shuffle", "binary"])
@pytest.mark.parametrize("induced", [0, 3])
def test_registers_fill_the_queue_without_gaps(intel: Device, scan: str, induced: int) -> None:
    """bfs-4k F2, F3 and F8: offsets are dense; either scan and either way to store give all."""
    lanes = intel.traits.lanes
    random = np.random.default_rng(2)
    for lengths in (
        random.integers(0, 2, lanes),  # at most one a lane: where the binary scan is taken
        random.integers(0, 15, lanes),
        random.integers(0, 90, lanes),  # some flushes on the way
        np.full(lanes, 7),
    ):
        queue = pushed(intel, lengths.astype(np.uint32), scan=scan, induced=induced)
        wanted = [lane * 256 + rank for lane, n in enumerate(lengths) for rank in range(n)]
        np.testing.assert_array_equal(np.sort(queue), wanted)


def test_one_entry_a_lane_is_stored_in_the_order_of_lanes(intel: Device) -> None:
    """bfs-4k F3: the scan by ballots numbers as the general one does."""
    lengths = np.array([1, 0, 1, 1] * (intel.traits.lanes // 4), np.uint32)
    for scan in ("shuffle", "binary"):
        np.testing.assert_array_equal(
            pushed(intel, lengths, scan=scan), 256 * np.flatnonzero(lengths)
        )


def test_stores_side_by_side(intel: Device) -> None:
    """bfs-4k F8: what all lanes have is written by consecutive lanes to consecutive places."""
    lanes = intel.traits.lanes
    lengths = np.array([5] * (lanes - 1) + [3], np.uint32)
    queue = pushed(intel, lengths, induced=3)
    lane, rank = queue // 256, queue % 256
    common = 3 * lanes
    np.testing.assert_array_equal(lane[:common], np.arange(common) % lanes)
    np.testing.assert_array_equal(rank[:common], np.arange(common) // lanes)
    # Below the limit every lane writes its own in a row.
    short = pushed(intel, np.full(lanes, 2, np.uint32), induced=3)
    np.testing.assert_array_equal(short // 256, np.repeat(np.arange(lanes), 2))
