"""What must hold of a graph's arrays, found out in one pass over them at the speed of memory."""

import secrets
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clgraph.apart import apart
from clgraph.graph.csr import Array
from clgraph.graph.sharing import FEW_THREADS, share_out, threads_for

__all__ = ["Survey", "survey"]

# Edges looked at together. What is worked out of a block stays in the cache of a core; but threads
# meet in the interpreter at every step, so where they are many, blocks are longer: 128 M edges took
# 0.67 s with 16 threads and blocks of 2**16, 0.16 with 2**19.
BLOCK, LONG_BLOCK = 1 << 17, 1 << 19

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found.

    Attributes
    ----------
    least, greatest : int
        Of the targets; 0 and -1 without edges.
    ascending : bool
        Whether no target is smaller than the one before it in its row.
    symmetric : bool or None
        Whether each edge has its reverse, of the same weight, as often; None where nobody asked.
    """

    least: int = 0
    greatest: int = -1
    ascending: bool = True
    symmetric: bool | None = None


def survey(indptr: Array, indices: Array, weights: Array | None, *, symmetry: bool) -> Survey:
    """Look at every edge once.

    Parameters
    ----------
    indptr : integer array [n + 1]
        Rises from 0 to m; the caller has checked that.
    indices : integer array [m]
        Targets, about which nothing is known.
    weights : array [m] or None
        Finite weights.
    symmetry : bool
        Whether to find out if the graph is symmetric.

    Returns
    -------
    Survey
        Exact but for ``symmetric``, see the notes.

    Notes
    -----
    O(n + m), in threads where there are many edges. A graph is symmetric if all (u, v, weight) are,
    in any order, all (v, u, weight). Each vertex v has a random word s(v), each weight w a random
    word t(w); the sum of s(u) s(v) (s(u) - s(v)) t(w) over the edges, modulo 2**64, is zero if the
    graph is symmetric, and otherwise only by a chance like that of two equal 64-bit hashes, which
    nobody can prepare: the words follow from numbers that are drawn for every call.
    """
    m = len(indices)
    if not m:
        return Survey(symmetric=True if symmetry else None)
    keys = Keys() if symmetry else None
    count = threads_for(m)
    block = BLOCK if count <= FEW_THREADS else LONG_BLOCK
    parts = [_Part(indptr, indices, weights, keys, block) for _ in range(count)]
    share_out([part.look_at for part in parts], list(range(0, m, block)))
    balance = sum(part.balance for part in parts) % 2**64
    return Survey(
        least=min(part.least for part in parts),
        greatest=max(part.greatest for part in parts),
        ascending=not any(part.falls for part in parts),
        symmetric=balance == 0 if symmetry else None,
    )


class Keys:
    """Odd random numbers that turn vertices and weights into random words, three for each."""

    def __init__(self) -> None:
        words = [secrets.randbits(64) | 1 for _ in range(6)]
        self.vertex = np.array(words[:3], np.uint64)
        self.weight = np.array(words[3:], np.uint64)


class _Part:
    """What one thread has seen."""

    def __init__(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        keys: Keys | None,
        block: int,
    ) -> None:
        self._arrays = indptr, indices, weights
        self._keys = keys
        self._block = block
        self._rooms = [np.empty(block + 1, np.uint64) for _ in range(3 if keys else 0)]
        self.least, self.greatest = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self.falls = 0
        self.balance = 0

    def look_at(self, begin: int) -> None:
        """Look at the block of edges that begins there."""
        indptr, indices, _ = self._arrays
        end = min(begin + self._block, len(indices))
        targets = indices[begin:end]
        self.least = min(self.least, int(targets.min()))
        self.greatest = max(self.greatest, int(targets.max()))
        # Of the same type, or all of indptr would be converted.
        places = np.array([begin, end], indptr.dtype)
        first = int(np.searchsorted(indptr, places[0], side="right")) - 1
        last = int(np.searchsorted(indptr, places[1]))  # the row after the block's last
        # Where the rows begin in the block; a row may have begun before it or end behind it.
        bounds = np.clip(indptr[first : last + 1], begin, end)
        self._look_for_falls(begin, end, first, bounds)
        if self._keys is not None:
            self._weigh(begin, end, first, bounds - begin)

    def _look_for_falls(self, begin: int, end: int, first: int, bounds: Array) -> None:
        """Count targets below the one before them, those aside with which a row begins."""
        indptr, indices, _ = self._arrays
        since = max(begin - 1, 0)
        block = indices[since:end]
        falls = int(np.count_nonzero(block[1:] < block[:-1]))
        if falls:
            starts = bounds[:-1][bounds[1:] > bounds[:-1]]  # of rows that are not empty
            if begin == 0 or indptr[first] != begin:
                starts = starts[1:]  # it has no edge before it, or began in another block
            falls -= int(np.count_nonzero(indices[starts] < indices[starts - 1]))
        self.falls += falls

    def _weigh(self, begin: int, end: int, first: int, bounds: Array) -> None:
        """Add up s(u)**2 s(v) t(w) - s(u) s(v)**2 t(w), from the sums over v within each row."""
        _, indices, weights = self._arrays
        count = end - begin
        keys = self._keys
        assert keys is not None  # noqa: S101 - for the type checker
        sums, words, room = (room[: count + 1] for room in self._rooms)
        sums[0] = 0
        word, squares = words[:count], room[:count]
        _scramble(indices[begin:end], keys.vertex, word, squares)
        rows = np.arange(first, first + len(bounds) - 1, dtype=np.uint64)
        _scramble(rows, keys.vertex, rows, np.empty_like(rows))
        cost = None
        if weights is not None:
            cost = np.empty_like(word)
            _scramble(_comparable(weights[begin:end]), keys.weight, cost, squares)
        np.multiply(word, word, out=squares)
        if cost is not None:
            word *= cost
            squares *= cost
        self.balance += apart(
            np.errstate(over="ignore")(_balance), rows, word, squares, sums, bounds
        )


def _balance(rows: Words, word: Words, squares: Words, sums: Words, bounds: Array) -> int:
    """Add up rows times what is asked of the words in them, modulo 2**64."""
    np.cumsum(word, out=sums[1:])
    one = np.diff(sums[bounds])
    np.cumsum(squares, out=sums[1:])
    other = np.diff(sums[bounds])
    return int((rows * (rows * one - other)).sum(dtype=np.uint64))


def _scramble(numbers: Array, keys: Words, words: Words, room: Words) -> None:
    """Give random words for integers; equal ones for equal ones, and none that is always zero."""
    np.add(numbers, keys[0], out=words, dtype=np.uint64, casting="unsafe")
    words *= keys[1]
    np.right_shift(words, np.uint64(32), out=room)
    words ^= room
    words *= keys[2]


def _comparable(weights: Array) -> Array:
    """Give an integer for each weight, equal where they are equal: the two zeros are."""
    if weights.dtype.kind != "f":
        return weights
    positive: Array = weights + weights.dtype.type(0)
    return positive.view(np.uint32) if positive.itemsize == 4 else positive.view(np.uint64)
