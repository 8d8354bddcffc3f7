"""Blocks, block arrays and their trees of bits: DH-01 to DH-10, DH-26 and DH-27 on the host."""

import numpy as np
import pytest

from clgraph.dynamic.storage.blocks import Blocks, NoRoomError
from clgraph.dynamic.storage.sizes import CLASSES, Sizes
from clgraph.dynamic.storage.vectree import WORD_BITS, VecTrees
from clgraph.errors import ClgraphError


def check_tree(trees):
    """Every inner bit is the OR of its children, and the counts are right (DH-05, DH-08)."""
    for below, level in zip(trees.levels, trees.levels[1:], strict=False):
        for array in range(len(level)):
            for j in range(below.shape[1]):
                bit = int(level[array, j // WORD_BITS]) >> (j % WORD_BITS) & 1
                assert bit == (below[array, j] != 0)
    ones = [sum(int(word).bit_count() for word in row) for row in trees.levels[0]]
    assert ones == trees.free.tolist()


def test_dh01_block_sizes():
    assert [Sizes(2**31).room(d) for d in range(10)] == [0, 1, 2, 4, 4, 8, 8, 8, 8, 16]
    assert [Sizes(2**31, 8).room(d) for d in range(1, 9)] == [8] * 8
    degrees = np.array([0, 1, 2, 3, 4, 5, 8, 9, 2**31, 2**31 + 1], np.uint32)
    assert Sizes(2**31).numbers(degrees).tolist() == [-1, 0, 1, 2, 2, 3, 3, 4, 31, 32]
    assert Sizes(2**31, 8).numbers(degrees[:4]).tolist() == [-1, 3, 3, 3]


@pytest.mark.parametrize("block_edges", [1, 2, 16, 2**16, 2**31])
def test_dh03_sizes_beyond_a_block_array(block_edges):
    """Whole block arrays, four sizes to a power of two; a row gets the least that it fits."""
    sizes = Sizes(block_edges)
    rooms = [sizes.entries(k) for k in range(CLASSES - 1)]
    over = np.array([room for room in rooms if room > block_edges][:12]) // block_edges
    assert over.tolist() == [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20]
    rng = np.random.default_rng(3)
    lengths = np.concatenate([np.arange(1, 3000), rng.integers(1, 2**32, 3000), 2 ** np.arange(33)])
    lengths = np.concatenate([lengths, np.minimum(np.array(rooms[:60]) + 1, 2**32)])
    found = sizes.numbers(lengths)
    np.testing.assert_array_equal(found, np.searchsorted(rooms, lengths.astype(float)))
    assert found.max() < CLASSES - 1
    assert all(rooms[k] < 2 * d for k, d in zip(found.tolist(), lengths.tolist(), strict=True))


def test_dh02_block_arrays_are_cut_equally():
    blocks, bases = Blocks.laid_out(16, [20, 3, 5])
    assert bases.tolist() == [0, 32, 48]
    assert blocks.block_arrays == 2 + 1 + 2
    assert blocks.take(2, 1).tolist() == [48 + 16 + 4]  # the second block of its second array


def test_dh03_long_lists_have_block_arrays_of_their_own():
    blocks, bases = Blocks.laid_out(16, [1, 0, 0, 0, 0, 0, 0, 2])
    assert bases[7] == 16
    assert blocks.slots == 1 + 2 * 4
    assert blocks.free_blocks()[7].tolist() == [0, 0]
    blocks.give_back(np.array([16 + 64]))
    assert blocks.take(7, 1).tolist() == [16 + 64]


@pytest.mark.parametrize("leaves", [1, 2, 64, 65, 100, 4096, 65536])
def test_dh04_the_lowest_free_block_is_taken(leaves):
    trees = VecTrees(leaves, 1)
    for wanted in range(min(leaves, 130)):
        assert trees.alloc(0) == wanted
    trees.release(0, 0)
    assert trees.alloc(0) == 0
    trees.alloc_many(int(trees.free[0]))
    assert trees.alloc(0) is None
    trees.release(0, leaves - 1)
    with pytest.raises(ClgraphError, match="twice"):
        trees.release(0, leaves - 1)
    check_tree(trees)


def test_dh04_bulk_release_detects_what_is_free():
    trees = VecTrees(100, 2)
    arrays, taken = trees.alloc_many(5)
    with pytest.raises(ClgraphError, match="twice"):
        trees.copy().release_many(np.array([0, 0]), np.array([1, 1]))
    with pytest.raises(ClgraphError, match="twice"):
        trees.copy().release_many(np.array([1]), np.array([7]))
    trees.release_many(arrays, taken)
    assert trees.free.tolist() == [100, 100]


def test_dh05_bits_after_any_sequence():
    rng = np.random.default_rng(1)
    trees = VecTrees(300, 1)
    held = []
    for _ in range(600):
        if held and rng.random() < 0.45:
            trees.release(0, held.pop(int(rng.integers(len(held)))))
        else:
            block = trees.alloc(0)
            assert (block is None) == (len(held) == 300)
            held += [] if block is None else [block]
    check_tree(trees)
    bits = sum(level.shape[1] for level in VecTrees(65536, 1).levels) * WORD_BITS
    assert bits <= 2 * 65536 - 1


def test_dh06_finding_reads_a_word_per_level():
    for leaves, levels in ((1, 1), (64, 1), (65, 2), (4096, 2), (4097, 3)):
        trees = VecTrees(leaves, 1)
        trees.find(0)
        assert trees.words_read == levels


def test_dh07_dh08_dh09_and_dh10_bulk_calls_equal_single_ones():
    rng = np.random.default_rng(2)
    one, many = Blocks(16, 400), Blocks(16, 400)
    held: list[tuple[int, int]] = []
    for _ in range(60):
        number, count = int(rng.integers(0, 8)), int(rng.integers(1, 12))
        before = many.block_arrays
        free = int(many.free_blocks().get(number, np.zeros(1)).sum())
        single = [int(one.take(number, 1)[0]) for _ in range(count)]
        bulk = many.take(number, count)
        # Fewer block arrays than needed would make room for, and none while one has room.
        assert (many.block_arrays > before) == (free < count)
        assert sorted(single) == sorted(bulk.tolist())
        held += [(number, place) for place in single]
        rng.shuffle(held)
        back, held = held[: len(held) // 2], held[len(held) // 2 :]
        for _, place in back:
            one.give_back(np.array([place]))
        many.give_back(np.array([place for _, place in back], np.int64))
        for number, counts in one.free_blocks().items():
            np.testing.assert_array_equal(counts, many.free_blocks()[number])
        assert one.used_entries == many.used_entries == sum(one.sizes.entries(k) for k, _ in held)


def test_dh09_the_fullest_block_array_is_drained_last():
    blocks = Blocks(8, 10)
    places = blocks.take(0, 24)
    blocks.give_back(places[[0, 8, 9, 16, 17, 18]])
    assert blocks.free_blocks()[0].tolist() == [1, 2, 3]
    assert blocks.take(0, 4).tolist() == [*places[[0, 8, 9, 16]]]


def test_dh26_and_dh27_memory_comes_back():
    blocks = Blocks(8, 4)
    for _ in range(100):
        blocks.give_back(blocks.take(1, 8))
    assert blocks.block_arrays == 2
    held = blocks.take(0, 16)
    with pytest.raises(NoRoomError):
        blocks.take(2, 1)
    assert blocks.drop_empty() == 2
    assert blocks.take(2, 4).tolist() == [0, 4, 8, 12]
    blocks.give_back(held)
    assert blocks.used_entries == 16


def test_forks_leave_each_other_alone():
    blocks, _ = Blocks.laid_out(8, [3, 2], spare_slots=2)
    fork = blocks.fork()
    fork.take(0, 4)
    fork.take(2, 1)
    fork.give_back(np.array([8]))
    assert blocks.used_entries == 3 + 4
    assert fork.used_entries == 7 + 2 + 4
    assert blocks.block_arrays == 2


def test_dh12_the_papers_example():
    """Degrees 2, 2, 3, 2, 1, 2, 2 in block arrays of 8; then the first and the fourth grow."""
    blocks, bases = Blocks.laid_out(8, [1, 5, 1], spare_slots=1)
    assert [blocks.free_blocks()[k].tolist() for k in range(3)] == [[7], [0, 3], [1]]
    new = blocks.take(2, 2)
    blocks.give_back(bases[1] + 2 * np.array([0, 2]))  # of 1 and 4, which are first and third
    assert [blocks.free_blocks()[k].tolist() for k in range(3)] == [[7], [2, 3], [0, 1]]
    assert new.tolist() == [bases[2] + 4, bases[2] + 8]
