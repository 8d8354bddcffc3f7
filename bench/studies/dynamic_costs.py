"""What changing graphs costs: joules of a million updates, and what follows batches.

``python -m bench.studies.dynamic_costs --device nvidia --output record.json``; ``--scale 12`` makes
graphs small enough for a CPU. Joules are of inserting a million edges and deleting them again, by
the meter of the device, for the graphs of `dynamic`. What follows is timed after batches of each
decade into and out of the undirected Kronecker graph: in milliseconds of host wall clock, the batch
with what follows it, and what follows alone; beside it the same found anew. Every answer is
compared with that, and the study ends where they differ.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.cli.reporting import energy_of
from clgraph.cli.text import table
from clgraph.device import Memory

from ..runner import machine
from .command import command, keep
from .dynamic import batches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, DynamicGraph, Graph
    from clgraph.dynamic.maintained.following import Follower

__all__ = ["main"]

REPEATS = 5
MILLION = 10**6
DECADES = (0, 2, 3, 4, 5)
TRIANGLES_MS = 2.0  # after a batch of 10^4, by issue


def joules(graph: Graph, draw: Any, device: Device, updates: int) -> dict[str, Any]:
    """Meter inserting so many new edges and deleting them, as often as the meter needs."""
    rows = clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=True)
    dynamic = clgraph.DynamicGraph(rows, device=device)
    src, dst = draw(updates, np.random.default_rng(1))
    fresh = ~dynamic.has_edges(src, dst)
    memory = Memory(device)
    ends = [memory.upload("ends", ids[fresh].astype(np.uint32)) for ids in (src, dst)]

    def there_and_back() -> None:
        dynamic.insert_edges(*ends)
        dynamic.delete_edges(*ends)

    there_and_back()
    figures = energy_of(there_and_back, device)
    spent = figures["joules_per_run"]
    changed = 2 * int(fresh.sum())
    each = None if spent is None else spent * MILLION / changed
    return figures | {"updates": changed, "joules_per_million": each}


def followers(dynamic: DynamicGraph) -> dict[str, tuple[Follower, Callable[[], Any]]]:
    """Make what follows a graph, each idle as yet, with what gives its answer."""
    counter = clgraph.dynamic.TriangleCounter
    total, each = counter(dynamic, per_vertex=False), counter(dynamic)
    sums = counter(dynamic, per_vertex=False, method="inclusion-exclusion")
    search = clgraph.dynamic.BFS(dynamic, int(np.argmax(dynamic.degrees)))
    parts = clgraph.dynamic.ConnectedComponents(dynamic)
    made: dict[str, tuple[Follower, Callable[[], Any]]] = {
        "triangles": (total, lambda: total.count),
        "triangles of vertices": (each, lambda: hash(each.per_vertex.tobytes())),
        "triangles by inclusion-exclusion": (sums, lambda: sums.count),
        "distances": (search, lambda: hash(search.distances.tobytes())),
        "components": (parts, lambda: hash(parts.labels.tobytes())),
    }
    for one, _ in made.values():
        one.close()
    return made


def follow(dynamic: DynamicGraph, draw: Any, most: int) -> dict[str, Any]:
    """Time what follows batches of each decade; medians, milliseconds."""
    rng = np.random.default_rng(2)
    memory, found = Memory(dynamic.device), {}
    for name, (one, answer) in followers(dynamic).items():
        figures: dict[str, Any] = {}
        dynamic.follow(one)
        began = time.perf_counter()
        answer()
        figures["first_ms"] = 1e3 * (time.perf_counter() - began)
        for decade in (d for d in DECADES if d <= most):
            src, dst = draw(10**decade, rng)
            fresh = ~dynamic.has_edges(src, dst) & (src != dst)
            ends = [memory.upload("ends", ids[fresh].astype(np.uint32)) for ids in (src, dst)]
            times: dict[str, list[float]] = {}
            before, state = one.updates, answer()
            for turn in range(REPEATS + 1):
                for way, call in (("in", dynamic.insert_edges), ("out", dynamic.delete_edges)):
                    began = time.perf_counter()
                    result = call(*ends)
                    held = answer()
                    if turn:
                        spent = 1e3 * (time.perf_counter() - began)
                        times.setdefault(f"{way}_ms", []).append(spent)
                        times.setdefault(f"{way}_follow_ms", []).append(one.last_ms)
                        times.setdefault(f"{way}_kernel_ms", []).append(result.kernel_ms)
                if held != state:
                    raise SystemExit(f"WRONG {name} after a batch of 10^{decade} in and out")
            figures[str(decade)] = {key: statistics.median(ms) for key, ms in times.items()}
            # Twice a turn, of the graph with the batch and without; other times it was found anew.
            figures[str(decade)]["followed"] = (one.updates - before) / (2 * (REPEATS + 1))
            dynamic.insert_edges(*ends)
            held = answer()
            dynamic.keep_state(one, None)
            began = time.perf_counter()
            if answer() != held:
                raise SystemExit(f"WRONG {name} with a batch of 10^{decade}")
            figures[str(decade)]["anew_ms"] = 1e3 * (time.perf_counter() - began)
            dynamic.delete_edges(*ends)
            print(name, decade, json.dumps(figures[str(decade)]), flush=True)
        one.close()
        found[name] = figures
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, scale=20)
    parser.add_argument("--most", type=int, default=5, help="decade of the largest batch followed")
    parser.add_argument("--updates", type=int, default=MILLION, help="of which joules are metered")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    record: dict[str, Any] = machine.head_of("dynamic-costs", device) | {
        "scale": args.scale,
        "repeats": REPEATS,
        "bar_ms": TRIANGLES_MS,
    }

    made = batches(args.scale)
    kron, draw = made["kron uniform"]
    record["following"] = follow(clgraph.DynamicGraph(kron, device=device), draw, args.most)
    keep(record, args.output)
    record["energy"] = {
        name: joules(graph, draw, device, args.updates) for name, (graph, draw) in made.items()
    }
    keep(record, args.output)
    rows = [
        [name, key, *(f"{one[column]:.3f}" for column in COLUMNS)]
        for name, figures in record["following"].items()
        for key, one in figures.items()
        if isinstance(one, dict)
    ]
    print(table(["what", "batch", *COLUMNS], rows))
    rows = [
        [name, "none" if (each := one["joules_per_million"]) is None else f"{each:.3f}"]
        for name, one in record["energy"].items()
    ]
    print(table(["graph", "joules per million updates"], rows))
    return 0


COLUMNS = (
    *(f"{way}_{what}" for way in ("in", "out") for what in ("ms", "follow_ms", "kernel_ms")),
    "followed",
    "anew_ms",
)


if __name__ == "__main__":
    raise SystemExit(main())
