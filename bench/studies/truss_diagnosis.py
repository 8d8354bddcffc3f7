"""Where truss numbers that follow batches go wrong on a device, within half a minute.

``python -m bench.studies.truss_diagnosis --device nvidia`` takes the same batches through a small
graph in several ways, each of which leaves one suspect out, and examines everything that a batch
goes through: the edges that the graph has then, the numbers that are found anew, those that are
kept, and the order that is kept with them. The first way in which something is wrong, and the ways
in which nothing is, tell which part to look at:

- "edges": the update or the sort of the batch, not trusses at all;
- "anew": static trusses, or how results come to the host;
- "kept" or "order", but not "stepped": what groups of one launch see of each other;
- not with "host blocks" or "read first": the batch in one launch before anything was followed;
- not with "moved rows": writing all rows anew;
- all ways but different edges when repeated: a race; the same edges: no race.

``order before`` says that the order was wrong when the batch came, so that the one before, or
finding it anew, is to blame.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import Truss, TrussConfig, generate
from clgraph.dynamic import DynamicGraph, TrussNumbers
from clgraph.engine.strategies.schedule import Persistent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clgraph import Device, Graph

__all__ = ["main", "wrong_orders"]

SEED = 3
SIZES = (1, 30, 200)
CANDIDATE = np.uint64(1 << 63)
# Ways to go through the batches: of the graph, of what follows it, of each change; and whether
# numbers are read before the first change.
WAYS: dict[str, tuple[dict[str, Any], Any, dict[str, Any], bool]] = {
    "as it is": ({}, None, {}, False),
    "again": ({}, None, {}, False),
    "read first": ({}, None, {}, True),
    "host blocks": ({"allocator": "host"}, None, {}, False),
    "moved rows": ({}, None, {"regime": "rows"}, True),
    "stepped": ({}, "stepped", {}, True),
    "one group": ({}, Persistent(groups=1), {}, True),
}


def _stored(graph: Graph) -> tuple[Any, Any]:
    """Give both ends of each stored edge."""
    return np.repeat(np.arange(graph.n), graph.degrees), np.asarray(graph.indices, np.int64)


def wrong_orders(graph: DynamicGraph, follower: TrussNumbers) -> str:
    """Say what is wrong with the keys that are kept; nothing if they are what batches rely on.

    Every edge has one key at both of its places, with no mark of a trial, and no more triangles of
    edges with such or greater keys than its number less two.
    """
    state, store = graph.state_of(follower), graph.rows
    if state is None:
        return "no state"
    held = graph.to_graph()
    tails, heads = _stored(held)
    nth = np.arange(held.m) - np.repeat(held.indptr[:-1], held.degrees)
    keys = state.values.read()[store.pointer.read(store.n).astype(np.int64)[tails] + nth]
    if (keys & CANDIDATE).any():
        return f"{np.count_nonzero(keys & CANDIDATE)} keys are on trial still"
    key_of = {
        (u, v): key for u, v, key in zip(tails.tolist(), heads.tolist(), keys.tolist(), strict=True)
    }
    begins = held.indptr.tolist()
    rows = [set(held.indices[a:b].tolist()) for a, b in pairwise(begins)]
    wrong = []
    for (u, v), key in key_of.items():
        if u >= v:
            continue
        if key != key_of[v, u]:
            wrong.append(f"{u}-{v} has keys {key:#x} and {key_of[v, u]:#x}")
            continue
        others = (rows[u] & rows[v]) - {u, v}
        later = sum(key_of[u, w] >= key and key_of[v, w] >= key for w in others)
        if later > (key >> 32) - 2:
            wrong.append(f"{u}-{v} of {key >> 32} has {later} triangles from {key:#x} on")
    return f"{len(wrong)}: {'; '.join(wrong[:3])}" if wrong else ""


def _batches(simple: Graph) -> Iterator[tuple[str, Any, Any]]:
    """Give random edges that join, then edges that leave and join again; alike in all ways."""
    rng = np.random.default_rng(5)
    tails, heads, _ = simple.listed_edges()
    for size in SIZES:
        joining = rng.integers(0, simple.n, (2, size))
        chosen = rng.choice(len(tails), min(size, len(tails)), replace=False)
        yield "insert", *joining
        yield "delete", tails[chosen], heads[chosen]
        yield "insert", tails[chosen], heads[chosen]


def _edges_of(src: Any, dst: Any) -> set[tuple[int, int]]:
    return {(min(e), max(e)) for e in zip(src.tolist(), dst.tolist(), strict=True)}


def _anew(graph: Graph, device: Device, config: Any) -> Any:
    return np.asarray(Truss(graph, config=config, device=device, clean=True).run().numbers)


def examined(name: str, simple: Graph, device: Device) -> str:
    """Go through the batches in one way; say what went wrong first, or nothing."""
    of_graph, schedule, of_change, reads = WAYS[name]
    graph = DynamicGraph(simple, device=device, **of_graph)
    config = None if schedule is None else TrussConfig(schedule=schedule)
    follower = TrussNumbers(graph, share=1000.0, config=config)
    if reads:
        _ = follower.numbers
    known = _edges_of(*simple.listed_edges()[:2])
    order = wrong_orders(graph, follower) if reads else ""
    for number, (what, src, dst) in enumerate(_batches(simple)):
        before = f"order before {order}; " if order else ""
        result = getattr(graph, f"{what}_edges")(src, dst, **of_change)
        known = known | _edges_of(src, dst) if what == "insert" else known - _edges_of(src, dst)
        at = f"batch {number}, {what} {len(src)} ({result.regime}): {before}"
        now = graph.to_graph()
        tails, heads = _stored(now)
        there = _edges_of(tails, heads)
        if there != known:
            return f"{at}edges differ by {len(there ^ known)}"
        fresh = _anew(now, device, None)
        other = _anew(now, device, TrussConfig(triangles="rows", schedule="stepped"))
        if not np.array_equal(fresh, other):
            return f"{at}anew differs in two ways at {np.count_nonzero(fresh != other)} edges"
        kept = follower.numbers
        bad = np.flatnonzero(kept != fresh).tolist()
        if bad:
            some = [f"{tails[e]}-{heads[e]} {kept[e]} not {fresh[e]}" for e in bad[:4]]
            return f"{at}kept {len(bad)}: {'; '.join(some)}; {follower.last}"
        if follower.recounts != 1:
            return f"{at}{follower.recounts} recounts; {follower.last}"
        order = wrong_orders(graph, follower)
        if order:
            return f"{at}numbers are right, order {order}; {follower.last}"
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Go through all ways; 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--scale", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=25.0, help="after which none is begun")
    parser.add_argument("--ways", default=",".join(WAYS))
    args = parser.parse_args(argv)
    device, began, wrong = clgraph.device(args.device), time.perf_counter(), 0
    simple = Truss(generate.kron(args.scale, seed=SEED), device=device, clean=True).simple
    print(f"{device.name}: {simple.n} vertices, {simple.m} arcs", flush=True)
    for name in args.ways.split(","):
        start = time.perf_counter()
        if start - began > args.seconds:
            print(f"{name:12} left out")
            continue
        try:
            told = examined(name, simple, device)
        except clgraph.ClgraphError as error:
            told = f"{type(error).__name__}: {error}"
        wrong += bool(told)
        print(f"{name:12} {time.perf_counter() - start:5.1f} s  {told or 'right'}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
