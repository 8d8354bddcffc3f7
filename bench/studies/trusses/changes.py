"""Truss numbers that follow batches of changes, beside finding them anew.

``python -m bench.studies.trusses.changes --device nvidia --output record.json``; ``--scale 12``
makes the graph small enough for a CPU. First a graph of `CHECKED_SCALE` goes through batches of
every kind and its numbers are compared with those found anew after each; if they differ, nothing is
timed. Then batches go in and out of a Kronecker graph: random pairs, pairs drawn as the graph's
edges were, and edges that it has, which change most of its numbers. Milliseconds of the device are
of following alone, without the change of the graph itself; after the last batch of each kind
numbers are compared. A batch that is not tried is followed by finding anew, whose wall clock is
``found_ms``; ``--share 1e9`` tries all. ``--affected`` counts what each kind of batch truly
changes: edges whose numbers are others than before, and their share of the edges of all triangles,
which is the least for whoever looks at all triangles of such edges once.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import Graph, Truss, generate
from clgraph.cli.text import table
from clgraph.dynamic import DynamicGraph, TrussNumbers

from ...runner import machine
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device

__all__ = ["main"]

SEED = 20261122
CHECKED_SCALE = 11
KINDS = ("uniform", "rmat", "existing")
# Of the time of finding anew, by issue: bar and aim.
BAR, AIM = 0.10, 0.05


def drawn(kind: str, graph: Graph, scale: int, count: int, rng: Any) -> tuple[Any, Any]:
    """Draw edges that are to join and leave."""
    if kind == "uniform":
        return rng.integers(0, graph.n, count), rng.integers(0, graph.n, count)
    if kind == "existing":
        sources, targets, _ = graph.listed_edges()
        chosen = rng.choice(len(sources), min(count, len(sources)), replace=False)
        return sources[chosen], targets[chosen]
    sources, targets = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(scale):
        part = np.searchsorted((0.57, 0.76, 0.95), rng.random(count, np.float32))
        sources, targets = 2 * sources + part // 2, 2 * targets + part % 2
    # The least vertices of a draw have the most edges: so have those of the graph, in its order.
    order = np.argsort(-graph.degrees, kind="stable")
    return order[np.minimum(sources, graph.n - 1)], order[np.minimum(targets, graph.n - 1)]


def anew(graph: DynamicGraph) -> Any:
    """Find the numbers of a dynamic graph."""
    plan = Truss(graph.to_graph(), device=graph.device, clean=True)
    return np.asarray(plan.run().numbers)


def wrong(device: Device) -> list[str]:
    """Name the batches after which numbers are not those that are found anew."""
    simple = Truss(generate.kron(CHECKED_SCALE, seed=SEED), device=device, clean=True).simple
    rng = np.random.default_rng(1)
    found = []
    for kind in KINDS:
        graph = DynamicGraph(simple, device=device)
        follower = TrussNumbers(graph, share=1000.0)
        if not np.array_equal(follower.numbers, anew(graph)):
            found.append(f"{kind}: to begin with")
        for turn in range(3):
            ends = drawn(kind, simple, CHECKED_SCALE, 150, rng)
            for name in ("delete", "insert") if kind == "existing" else ("insert", "delete"):
                getattr(graph, f"{name}_edges")(*ends)
                if not np.array_equal(follower.numbers, anew(graph)):
                    found.append(f"{kind}: {name} {turn}")
        if follower.recounts != 1:
            found.append(f"{kind}: recounted")
    return found


def affected(kind: str, simple: Graph, scale: int, count: int, device: Device) -> dict[str, float]:
    """Report which share of the edges that stay change their numbers when a batch joins."""
    graph = DynamicGraph(simple, device=device)
    src, dst = drawn(kind, simple, scale, count, np.random.default_rng(3))
    different = src != dst
    known: list[tuple[Any, Any, Any]] = []
    for _ in range(2):
        now = graph.to_graph()
        supports = np.asarray(clgraph.triangles(now, "edge", device=device), np.int64)
        keys = np.repeat(np.arange(now.n, dtype=np.int64), now.degrees) * now.n + now.indices
        known.append((keys, anew(graph), supports))
        if kind == "existing":
            graph.delete_edges(src[different], dst[different])
        else:
            graph.insert_edges(src[different], dst[different])
    (fewer, old, _), (more, new, supports) = known if kind != "existing" else known[::-1]
    changed = new[np.searchsorted(more, fewer)] != old
    lost = np.zeros(len(more), np.bool_)
    lost[np.searchsorted(more, fewer)] = changed
    return {
        "edges_share": float(changed.mean()),
        "triangles_share": float(supports[lost].sum() / max(supports.sum(), 1)),
    }


def times(
    kind: str,
    simple: Graph,
    scale: int,
    count: int,
    device: Device,
    repeats: int,
    until: float,
    share: float | None,
) -> dict[str, Any]:
    """Time batches of one kind that join and leave, and compare numbers after the last.

    Two turns are made in any case, others only before `until`. What each batch took is reported at
    once, so that a run that is stopped says where it was.
    """
    graph = DynamicGraph(simple, device=device)
    follower = TrussNumbers(graph) if share is None else TrussNumbers(graph, share=share)
    rng = np.random.default_rng(3)
    ends = drawn(kind, simple, scale, count, rng)
    found: dict[str, Any] = {"changes": count}
    for turn in range(repeats + 1):
        if turn > 1 and time.perf_counter() > until:
            break
        for name in ("delete", "insert") if kind == "existing" else ("insert", "delete"):
            start = time.perf_counter()
            _ = follower.state  # found anew, where the last batch changed too much
            found_ms = 1e3 * (time.perf_counter() - start)
            result = getattr(graph, f"{name}_edges")(*ends)
            last = follower.last
            spent = f"state {found_ms:.0f} ms, batch {result.total_ms:.0f} ms"
            print(f"{kind} {turn} {name}: {spent}, {last}", file=sys.stderr, flush=True)
            if not turn or last is None:
                continue
            each = found.setdefault(name, {"kernel_ms": [], "found_ms": [], "update_ms": []})
            each["kernel_ms"].append(result.steps.get("trusses", 0.0))
            each["found_ms"].append(found_ms)
            each["update_ms"].append(result.total_ms)
            each |= {
                "complete": last.complete,
                "tried": last.tried,
                "edges": last.edges,
                "lowered": last.lowered,
                "raised": last.raised,
                "rounds": last.rounds,
                "stages": last.stages,
                "visited_share": last.visited / max(last.work, 1),
                "mode": last.mode,
            }
    found["right"] = bool(np.array_equal(follower.numbers, anew(graph)))
    follower.close()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a number is wrong."""
    parser = command(__doc__, scale=20, repeats=3, seconds=40.0)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--share", type=float, help="that may be looked at; default the follower's")
    parser.add_argument("--affected", action="store_true", help="count what changes, once a kind")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    began = time.perf_counter()
    record: dict[str, Any] = machine.head_of("truss-changes", device) | {
        "scale": args.scale,
        "seed": SEED,
        "bar": BAR,
        "aim": AIM,
        "wrong": wrong(device),
        "kinds": {},
    }
    if record["wrong"]:
        print("WRONG:", ", ".join(record["wrong"]))
        return 1
    plan = Truss(generate.kron(args.scale, seed=SEED), device=device, clean=True)
    plan.run()
    stats = [plan.run(prepare=True).stats for _ in range(args.repeats)]
    record["anew_ms"] = statistics.median(each.kernel_ms for each in stats)
    record["anew_host_ms"] = statistics.median(each.total_ms for each in stats)
    simple = plan.simple
    del plan
    rows = []
    for kind in args.kinds.split(","):
        if time.perf_counter() - began > args.seconds:
            record["kinds_left_out"] = [*record.get("kinds_left_out", []), kind]
            continue
        until = began + args.seconds
        batch = (kind, simple, args.scale, args.changes, device)
        found = times(*batch, args.repeats, until, args.share)
        if args.affected:
            found["affected"] = affected(*batch)
            print(kind, found["affected"])
        record["kinds"][kind] = found
        for name in ("insert", "delete"):
            one = found[name]
            one["ratio"] = statistics.median(one["kernel_ms"]) / record["anew_ms"]
            rows.append(
                [
                    kind,
                    name,
                    f"{statistics.median(one['kernel_ms']):.2f}",
                    f"{statistics.median(one['found_ms']):.2f}",
                    f"{100 * one['ratio']:.1f} %",
                    f"{100 * one['visited_share']:.2f} %",
                    str(one["stages"]),
                    f"{one['raised']}/{one['lowered']}",
                    "" if one["complete"] else "given up" if one["tried"] else "not tried",
                    "" if found["right"] else "WRONG",
                ]
            )
        record["seconds"] = time.perf_counter() - began
        keep(record, args.output)
    print(f"anew: {record['anew_ms']:.2f} ms of the device, {record['anew_host_ms']:.2f} in all")
    columns = ["batch", "what", "ms", "found ms", "of anew", "looked at", "stages"]
    print(table([*columns, "up/down", "", ""], rows))
    return int(not all(found["right"] for found in record["kinds"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
