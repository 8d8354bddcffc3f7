"""Subgraph matching by one processor core, in loops that Numba compiles.

The algorithm and random numbers of preset "auto", with arrays laid out as suits one core.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from clgraph.algorithms.matching.config import LABEL_FLOORS
from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.launches import (
    LEAST_LIKENESS,
    LIKENESS_SQUARINGS,
    LOST_EDGE_BITS,
)

try:
    import numba
except ImportError as missing:
    raise ImportError("needs numba; pip install 'clgraph[compiled]'.") from missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["match"]

LEVELS = 2
NONE = -1
U64, U32 = np.uint64, np.uint32
F = TypeVar("F", bound="Callable[..., Any]")


def compiled(function: F) -> F:
    """Have Numba compile a function when it is first called."""
    return cast("F", numba.njit(function))


@compiled
def _philox(solution: Any, step: Any, low: Any, high: Any) -> Any:
    a, b, c, d = U64(solution), U64(step), U64(0), U64(0)
    key_a, key_b, mask = U64(low), U64(high), U64(0xFFFFFFFF)
    for _ in range(10):
        first, second = U64(0xD2511F53) * a, U64(0xCD9E8D57) * c
        a, b = (second >> U64(32)) ^ b ^ key_a, second & mask
        c, d = (first >> U64(32)) ^ d ^ key_b, first & mask
        key_a, key_b = (key_a + U64(0x9E3779B9)) & mask, (key_b + U64(0xBB67AE85)) & mask
    return a, b, c, d


@compiled
def _below(high: Any, low: Any, count: Any) -> Any:
    """Give the high half of the product of the 64 bits of two words and a count."""
    mask = U64(0xFFFFFFFF)
    high, low, top, bottom = U64(high), U64(low), U64(count) >> U64(32), U64(count) & mask
    middle = high * bottom + ((low * bottom) >> U64(32))
    across = low * top + (middle & mask)
    return high * top + (middle >> U64(32)) + (across >> U64(32))


@compiled
def _ones(word: Any) -> Any:
    word = word - ((word >> U64(1)) & U64(0x5555555555555555))
    word = (word & U64(0x3333333333333333)) + ((word >> U64(2)) & U64(0x3333333333333333))
    word = (word + (word >> U64(4))) & U64(0x0F0F0F0F0F0F0F0F)
    return (word * U64(0x0101010101010101)) >> U64(56)


@compiled
def _adjacent(indptr: Any, indices: Any, u: Any, v: Any) -> Any:
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    low, high = indptr[u], indptr[u + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < end and indices[low] == v


@compiled
def _masks(q_indptr: Any, q_indices: Any, words: Any) -> Any:
    """Bits of the arcs at each level around each query vertex, and how many, by their level."""
    rows = len(q_indptr) - 1
    masks, weighted = np.zeros((rows, LEVELS, words), U64), np.zeros(rows, U32)
    for row in range(rows):
        level_of = np.full(rows, LEVELS + 1)
        level_of[row] = 0
        for level in range(1, LEVELS + 1):
            for u in range(rows):
                if level_of[u] != level - 1:
                    continue
                for e in range(q_indptr[u], q_indptr[u + 1]):
                    masks[row, level - 1, e >> 6] |= U64(1) << U64(e & 63)
                    level_of[q_indices[e]] = min(level_of[q_indices[e]], level)
                    weighted[row] += U32(level)
    return masks, weighted


@compiled
def _found_arcs(  # noqa: C901, PLR0912 - one plain loop for each step
    indptr: Any, indices: Any, codes: Any, q_indptr: Any, q_indices: Any, q_codes: Any, words: Any
) -> Any:
    """Bits of the query arcs that arcs at each level around each target vertex can stand for."""
    rows, n = len(q_codes), len(codes)
    node_words = (rows + 63) >> 6
    own, around = np.zeros((n, node_words), U64), np.zeros((n, node_words), U64)
    found = np.zeros((LEVELS, n, words), U64)
    for t in range(n):
        degree = indptr[t + 1] - indptr[t]
        for u in range(rows):
            if q_codes[u] == codes[t] and q_indptr[u + 1] - q_indptr[u] <= degree:
                own[t, u >> 6] |= U64(1) << U64(u & 63)
    for t in range(n):
        for e in range(indptr[t], indptr[t + 1]):
            for w in range(node_words):
                around[t, w] |= own[indices[e], w]
    for t in range(n):
        for u in range(rows):
            if own[t, u >> 6] >> U64(u & 63) & U64(1):
                for e in range(q_indptr[u], q_indptr[u + 1]):
                    v = q_indices[e]
                    bit = around[t, v >> 6] >> U64(v & 63) & U64(1)
                    found[0, t, e >> 6] |= bit << U64(e & 63)
    for t in range(n):
        for e in range(indptr[t], indptr[t + 1]):
            for w in range(words):
                found[1, t, w] |= found[0, indices[e], w]
    return found


@compiled
def _scores(
    indptr: Any, codes: Any, q_indptr: Any, q_codes: Any, found: Any, masks: Any, weighted: Any,
    floor: Any,
) -> Any:  # fmt: skip
    rows, n, words = len(q_codes), len(codes), found.shape[2]
    scores = np.zeros((rows, n), U32)
    for row in range(rows):
        degree = q_indptr[row + 1] - q_indptr[row]
        for t in range(n):
            if degree > indptr[t + 1] - indptr[t]:
                continue
            matched = U64(0)
            for w in range(words):
                matched += _ones(masks[row, 0, w] & found[0, t, w])
                matched += U64(2) * _ones(masks[row, 1, w] & found[1, t, w])
            weight = U64(ONE) if q_codes[row] == codes[t] else U64(floor)
            if weighted[row]:
                weight = matched * weight // U64(weighted[row])
            scores[row, t] = weight
    return scores


@compiled
def _seeds(scores: Any, k: Any, low: Any, high: Any) -> Any:
    """Draw a row that has a weight, and then one of its entries by a search of its running sum."""
    rows, n = scores.shape
    sums, live = np.zeros((rows, n), U64), np.zeros(rows, np.int64)
    count = 0
    for row in range(rows):
        total = U64(0)
        for t in range(n):
            total += U64(scores[row, t])
            sums[row, t] = total
        if total:
            live[count] = row
            count += 1
    seeds = np.zeros((k, 2), np.int64)
    for solution in range(k):
        a, b, c, d = _philox(solution, 0, low, high)
        if not count:
            seeds[solution, 0] = (c * U64(rows)) >> U64(32)
            seeds[solution, 1] = (d * U64(n)) >> U64(32)
            continue
        row = live[(c * U64(count)) >> U64(32)]
        seeds[solution, 0] = row
        left = _below(a, b, sums[row, n - 1])
        seeds[solution, 1] = np.searchsorted(sums[row], left, side="right")
    return seeds


@compiled
def _weight(alike_by_label: Any, score: Any, around: Any, common: Any, floor: Any) -> Any:
    weight = U64(ONE) if alike_by_label else U64(floor)
    if not weight:
        return weight
    alike = min(U64(score) * U64(ONE) // weight, U64(ONE))
    for _ in range(LIKENESS_SQUARINGS):
        alike = alike * alike // U64(ONE)
    weight *= alike + U64(LEAST_LIKENESS)
    return weight >> U64(min((around - common) * LOST_EDGE_BITS, 63))


@compiled
def _extend(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - as the kernel takes it
    indptr: Any, indices: Any, codes: Any, q_indptr: Any, q_indices: Any, q_codes: Any,
    scores: Any, seeds: Any, low: Any, high: Any, floor: Any,
) -> Any:  # fmt: skip
    k, rows = len(seeds), len(q_codes)
    mapping = np.full((k, rows), np.int32(NONE), np.int32)
    losses = np.zeros((k, 3), np.int64)
    used = np.zeros(len(codes), np.bool_)
    common = np.zeros(len(codes), U32)
    weights = np.zeros(len(indices) + 1, U64)
    for solution in range(k):
        images, around = mapping[solution], np.zeros(rows, np.int64)
        row, t = seeds[solution, 0], seeds[solution, 1]
        labels, edges, nodes = 0, len(q_indices) // 2, rows
        for step in range(rows):
            if step:
                a, b, c, _ = _philox(solution, step, low, high)
                most = 0
                for u in range(rows):
                    if images[u] == NONE:
                        most = max(most, around[u])
                if not most:
                    break
                count = 0
                for u in range(rows):
                    count += images[u] == NONE and around[u] == most
                wanted = np.int64((c * U64(count)) >> U64(32))
                for u in range(rows):
                    if images[u] == NONE and around[u] == most:
                        if not wanted:
                            row = u
                            break
                        wanted -= 1
                t = NONE
                for arc in range(q_indptr[row], q_indptr[row + 1]):
                    image = images[q_indices[arc]]
                    if image != NONE:
                        for e in range(indptr[image], indptr[image + 1]):
                            common[indices[e]] += 1
                for stage in range(3):
                    entry_rows = rows if stage == 2 else q_indptr[row + 1] - q_indptr[row]
                    total, listed = U64(0), 0
                    for r in range(entry_rows):
                        image = images[r if stage == 2 else q_indices[q_indptr[row] + r]]
                        if image == NONE:
                            continue
                        for e in range(indptr[image], indptr[image + 1]):
                            y = indices[e]
                            weight = U64(0)
                            if not used[y]:
                                weight = U64(1)
                                if not stage:
                                    weight = _weight(
                                        q_codes[row] == codes[y], scores[row, y], around[row],
                                        common[y], floor,
                                    )  # fmt: skip
                            if listed == len(weights):
                                weights = np.concatenate((weights, weights))
                            total += weight
                            weights[listed] = total
                            listed += 1
                    if not total:
                        continue
                    left = _below(a, b, total)
                    place = np.searchsorted(weights[:listed], left, side="right")
                    for r in range(entry_rows):
                        image = images[r if stage == 2 else q_indices[q_indptr[row] + r]]
                        if image == NONE:
                            continue
                        length = indptr[image + 1] - indptr[image]
                        if place < length:
                            t = indices[indptr[image] + place]
                            break
                        place -= length
                    break
                for arc in range(q_indptr[row], q_indptr[row + 1]):
                    image = images[q_indices[arc]]
                    if image != NONE:
                        for e in range(indptr[image], indptr[image + 1]):
                            common[indices[e]] = 0
                if t == NONE:
                    break
            for arc in range(q_indptr[row], q_indptr[row + 1]):
                v = q_indices[arc]
                around[v] += 1
                if images[v] != NONE and _adjacent(indptr, indices, t, images[v]):
                    edges -= 1
            nodes -= 1
            labels += 0 if q_codes[row] == codes[t] else ONE
            images[row] = t
            used[t] = True
        for u in range(rows):
            if images[u] != NONE:
                used[images[u]] = False
        losses[solution] = labels, edges, nodes
    return mapping, losses


def match(
    target: Graph,
    query: Graph,
    codes: NDArray[Any],
    query_codes: NDArray[Any],
    *,
    k: int,
    seed: int = 0,
) -> tuple[NDArray[np.int32], NDArray[np.int64], dict[str, float]]:
    """Match one query on one core.

    Parameters
    ----------
    target, query : Graph
        Simple and undirected.
    codes, query_codes : numpy.ndarray
        Labels as whole numbers.
    k, seed : int
        As for `clgraph.SubgraphMatching.run`.

    Returns
    -------
    mapping : numpy.ndarray
        int32 [k, |V|] in the order of drawing, -1 where unmatched.
    losses : numpy.ndarray
        int64 [k, 3]: labels in fixed point, edges, vertices.
    times : dict
        Milliseconds of the phases.
    """
    clock = time.perf_counter
    rows = (target.indptr.astype(np.int64), target.indices.astype(np.int64), codes.astype(np.int64))
    own = (query.indptr.astype(np.int64), query.indices.astype(np.int64))
    own_codes = query_codes.astype(np.int64)
    floor = round(LABEL_FLOORS["product"] * ONE)
    key = seed & 0xFFFFFFFF, seed >> 32
    began = clock()
    words = max(-(-query.m // 64), 1)
    masks, weighted = _masks(*own, words)
    found = _found_arcs(*rows, *own, own_codes, words)
    scores = _scores(rows[0], rows[2], own[0], own_codes, found, masks, weighted, floor)
    scored = clock()
    seeds = _seeds(scores, k, *key)
    drawn = clock()
    mapping, losses = _extend(*rows, *own, own_codes, scores, seeds, *key, floor)
    ended = clock()
    marks = {
        "probabilities": (began, scored),
        "seeds": (scored, drawn),
        "extension": (drawn, ended),
    }
    return mapping, losses, {name: 1e3 * (end - start) for name, (start, end) in marks.items()}
