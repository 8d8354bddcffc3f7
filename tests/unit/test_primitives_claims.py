"""Who has been reached, and whose a vertex is that is found: each way to look that up, alone."""

import dataclasses

import numpy as np
import pytest
from configs import bfs_config
from unit.primitives_reference import KERNELS

from clgraph.device import Device, Memory, Program, load
from clgraph.engine.choose import resolve

pytestmark = pytest.mark.runtimes("pocl", "intel")

N, LEVEL = 64, 7
REACHED, LOST, FREE = 5, 14, 29  # with its bit; whose bit got lost; neither
FOUND = np.array([REACHED, LOST, FREE], np.uint32)


def built(device: Device, visited: str) -> tuple[Program, type[np.unsignedinteger]]:
    config = bfs_config(queue="vertex", visited=visited)
    resolved = resolve(config, device.traits, m=1, predecessors=False)
    resolved = dataclasses.replace(resolved, group_size=resolved.lanes)
    word = {32: np.uint32, 64: np.uint64}[resolved.word_bits]
    return load(device, "claims_check.cl", folders=(KERNELS,), config=resolved), word


def claimed(device: Device, visited: str) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Let each of the three be found; give whose it was, the labels and the bits afterwards."""
    program, word = built(device, visited)
    labels = np.full(N, -1, np.int32)
    labels[[REACHED, LOST]] = 3
    bits = np.zeros(N, bool)
    bits[REACHED] = True
    memory = Memory(device)
    distances = memory.upload("labels", labels)
    words = memory.upload("words", np.packbits(bits, bitorder="little").view(word))
    found = []
    for k in range(FOUND.size):
        lanes = device.traits.lanes
        vertices = memory.upload("vertices", np.full(lanes, FOUND[k]))
        claims = memory.allocate("claims", lanes, np.uint32)
        program.kernel("check_claims").launch(
            lanes, lanes, vertices, np.int32(LEVEL), distances, words, claims
        )
        found.append(int(claims.read().sum()))
    after = np.unpackbits(words.read().view(np.uint8), bitorder="little")[:N]
    return found, distances.read(), np.flatnonzero(after)


@pytest.mark.parametrize("visited", ["labels", "bitmap", "mask", "plain"])
def test_who_may_have_a_vertex(visited: str, device: Device) -> None:
    """bfs-merrill 8, bfs-helix 17 and 18: nobody what was reached, one lane what was not.

    Behind a mask whose bit got lost the label decides, and the bit is set again. A bitmap is exact:
    its bits do not get lost, and what they say holds.
    """
    found, labels, bits = claimed(device, visited)
    lanes = device.traits.lanes
    expected = np.full(N, -1)
    expected[FOUND] = 3, 3, LEVEL
    if visited == "bitmap":
        assert found == [0, 1, 1]
        expected[LOST] = LEVEL
    else:
        assert found[:2] == [0, 0]
        assert 1 <= found[2] <= (1 if visited == "labels" else lanes)
    np.testing.assert_array_equal(labels, expected)
    kept = {"bitmap": FOUND, "mask": FOUND, "labels": [REACHED], "plain": [REACHED]}[visited]
    assert sorted(bits.tolist()) == sorted(np.asarray(kept).tolist())


@pytest.mark.parametrize(
    ("visited", "word"),
    [
        ("labels", "atomic_cmpxchg(&labels[v0], UNREACHED, level) == UNREACHED"),
        ("bitmap", "WORD_OR(&the_visited[v0 >> WORD_SHIFT], WORD_BIT(v0))"),
        ("mask", None),
        ("plain", None),
    ],
)
def test_exact_claims_are_one_atomic_and_others_none(
    visited: str, word: str | None, device: Device
) -> None:
    """bfs-merrill 8, bfs-helix 17, in the text: races of two finders are rare."""
    source = built(device, visited)[0].source
    kernel = source[source.index("check_claims(") :]
    assert (word or "labels") in kernel
    atomics = kernel.count("atomic_") + kernel.count("WORD_OR(")
    assert atomics == (word is not None)
