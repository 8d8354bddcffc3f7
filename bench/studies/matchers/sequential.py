"""Subgraph matching by one processor: the same algorithm and random numbers, a test's oracle.

Plain loops, one solution after the other, written to look like the equations
and not for speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["brute_similarity", "draw_seeds", "extend", "philox"]

MASK = 0xFFFFFFFF
ONE = 1 << 20
NONE = -1


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Philox4x32-10 of Salmon et al., by its definition."""
    a, b, c, d = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (
            (second >> 32) ^ b ^ k0,
            second & MASK,
            (first >> 32) ^ d ^ k1,
            first & MASK,
        )
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return a, b, c, d


def _key(seed: int) -> tuple[int, int]:
    return seed & MASK, seed >> 32


def _rows(graph: Any) -> list[list[int]]:
    ends = graph.indptr.tolist()
    indices = graph.indices.tolist()
    return [indices[ends[u] : ends[u + 1]] for u in range(graph.n)]


def _arcs(rows: list[list[int]], root: int, levels: int) -> list[list[tuple[int, int]]]:
    """Arcs by level: those that leave vertices at distance level - 1."""
    seen, frontier, found = {root}, [root], []
    for _ in range(levels):
        found.append([(u, v) for u in frontier for v in rows[u]])
        frontier = sorted({v for u in frontier for v in rows[u]} - seen)
        seen |= set(frontier)
    return found


def brute_similarity(
    query: Any, target: Any, alike: NDArray[Any], levels: int, *, degree_test: bool = True
) -> NDArray[np.float64]:
    """Equation 10.2 by comparing all arcs with all arcs, float64 [|V|, n]."""
    of_query, of_target = _rows(query), _rows(target)
    result = np.zeros((query.n, target.n))

    def fits(u: int, x: int) -> bool:
        return bool(alike[u, x]) and (not degree_test or len(of_query[u]) <= len(of_target[x]))

    for q in range(query.n):
        wanted = _arcs(of_query, q, levels)
        total = sum((level + 1) * len(arcs) for level, arcs in enumerate(wanted))
        for t in range(target.n):
            there = _arcs(of_target, t, levels)
            matched = sum(
                (level + 1)
                * sum(any(fits(u, x) and fits(v, y) for x, y in there[level]) for u, v in arcs)
                for level, arcs in enumerate(wanted)
            )
            result[q, t] = matched / total if total else 0.0
    return result


def _pick(weights: list[int], draw: int) -> int:
    total = sum(weights)
    left = draw * total >> 64
    for place, weight in enumerate(weights):
        if left < weight:
            return place
        left -= weight
    return NONE


def draw_seeds(weights: NDArray[np.uint32], k: int, seed: int) -> list[tuple[int, int]]:
    """Draw k seed pairs: a row that has a weight, and then one of its entries."""
    live = [row for row in range(len(weights)) if weights[row].any()]
    pairs = []
    for solution in range(k):
        words = philox((solution, 0, 0, 0), _key(seed))
        if not live:
            pairs.append((words[2] * len(weights) >> 32, words[3] * weights.shape[1] >> 32))
            continue
        row = live[words[2] * len(live) >> 32]
        pairs.append((row, _pick(weights[row].tolist(), words[0] << 32 | words[1])))
    return pairs


def extend(  # noqa: C901, PLR0913, PLR0915 - one plain loop, as the oracle should be
    query: Any,
    target: Any,
    alike: NDArray[np.uint32],
    pair: tuple[int, int],
    solution: int,
    *,
    seed: int,
    profile: str,
    order: str,
    label_floor: int,
    scores: NDArray[np.uint32] | None = None,
    iterations: int = 0,
) -> tuple[list[int], tuple[int, int, int]]:
    """Extend one seed pair: the map, and what it loses in labels (fixed point), edges and nodes."""
    of_query, of_target = _rows(query), _rows(target)
    around_query, around_target = [set(row) for row in of_query], [set(row) for row in of_target]
    images = [NONE] * query.n
    listed: list[int] = []
    best: tuple[int, list[int], tuple[int, int, int]] | None = None

    def losses() -> tuple[int, int, int]:
        labels = sum(ONE - int(alike[u, t]) for u, t in enumerate(images) if t != NONE)
        edges = sum(
            images[u] == NONE or images[v] == NONE or images[v] not in around_target[images[u]]
            for u in range(query.n)
            for v in of_query[u]
            if u < v
        )
        return labels, edges, images.count(NONE)

    def place(u: int, t: int) -> None:
        images[u] = t
        known = set(listed)
        listed.extend(y for y in of_target[t] if y not in known)

    def entries(q: int, stage: int) -> list[tuple[int, int]]:
        used = set(images)
        near = [images[v] for v in of_query[q] if images[v] != NONE]
        matched = [(u, t) for u, t in enumerate(images) if t != NONE]
        if profile == "equal_bits":
            pairs = []
            for y in listed:
                if y in used or not any(t in around_target[y] for _, t in matched):
                    continue
                equal = sum((u in around_query[q]) == (t in around_target[y]) for u, t in matched)
                s = int(alike[q, y]) or label_floor
                pairs.append((y, (s * equal, equal, 1)[stage]))
            return pairs
        sources = [t for _, t in matched] if stage == 2 else near
        pairs = []
        for y in (y for t in sources for y in of_target[t] if y not in used):
            weight = (int(alike[q, y]) or label_floor) if stage == 0 else 1
            if stage == 0 and profile == "lost_edges" and weight:
                assert scores is not None  # noqa: S101 - that profile needs them
                likeness = min(int(scores[q, y]) * ONE // weight, ONE)
                for _ in range(4):
                    likeness = likeness * likeness // ONE
                weight *= likeness + 64
                weight >>= min(4 * sum(t not in around_target[y] for t in near), 63)
            pairs.append((y, weight))
        return pairs

    place(*pair)
    for step in range(1, iterations or query.n):
        words = philox((solution, step, 0, 0), _key(seed))
        counts = [sum(images[v] != NONE for v in row) for row in of_query]
        most = max((count for u, count in enumerate(counts) if images[u] == NONE), default=0)
        redraw = most == 0
        if redraw and not iterations:
            break
        least = min(most, 1) if order == "uniform" else most
        eligible = [
            u for u in range(query.n) if (images[u] != NONE) == redraw and counts[u] >= least
        ]
        q = eligible[words[2] * len(eligible) >> 32]
        old = images[q]
        if redraw:
            if best is None:
                best = (_total(losses()), images.copy(), losses())
            images[q] = NONE
        t = NONE
        for stage in range(3):
            options = entries(q, stage)
            if sum(weight for _, weight in options):
                chosen = _pick([weight for _, weight in options], words[0] << 32 | words[1])
                t = options[chosen][0]
                break
        if t == NONE and redraw:
            t = old
        if t == NONE:
            if not iterations:
                break
            continue
        place(q, t)
        if best is not None and _total(losses()) < best[0]:
            best = (_total(losses()), images.copy(), losses())
    return (best[1], best[2]) if best is not None else (images, losses())


def _total(parts: tuple[int, int, int]) -> int:
    return parts[0] + ONE * (parts[1] + parts[2])
