"""Searches of graphs whose rows stay in host memory, beside what the bus to the device carries.

``python -m bench.studies.searches.streaming kron24 --share 0.25 --on-card`` leaves the search a
quarter of the memory that the graph would take, and compares distances with a search of the whole
graph on the device. ``--ways`` says how rows get there: read in place, in place by levels that all
push ("pushed"), copied, or as is chosen. Speeds are of the rows of reached vertices, 4 bytes an
edge, over the time of the search, however many pass the bus: more are copied, fewer where levels
pull. "sent" is what passed: copies as counted, and in place the edges of levels that pushed; what
those that pulled looked at comes on top. Times are medians, by the host's clock.
"""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

import clgraph
from clgraph.algorithms.bfs.streaming import Streamed
from clgraph.cli.text import table
from clgraph.device import Pinned

from ...runner import on_card
from ...runner.graphs import Places, find
from ...runner.machine import head_of
from ...runner.problem import pick_sources
from ..command import command, keep
from .scaling import scale_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from clgraph import Device, Graph

__all__ = ["bus_gb_per_s", "main", "measure"]

LIMIT = "CLGRAPH_MEMORY_LIMIT"
REPEATS = 5
COPY_BYTES = 256 << 20
# How rows get there, and whether levels may pull.
WAYS = {
    "chosen": (None, None),
    "in-place": ("in place", None),
    "pushed": ("in place", False),
    "copied": ("copied", None),
}
_COLUMNS = ("graph", "way", "pulls", "tree", "source", "levels", "ms", "spread", "GB", "sent")
COLUMNS = (*_COLUMNS, "GB/s", "of the bus")

Row = dict[str, Any]


def bus_gb_per_s(device: Device) -> float:
    """Give the speed of a copy from pinned memory to the device, the best of five."""
    size_bytes = COPY_BYTES
    pinned = Pinned(device, size_bytes, np.uint8)
    buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size_bytes)
    taken = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        cl.enqueue_copy(device.queue, buffer, pinned.array, is_blocking=False)
        device.queue.finish()
        taken.append(time.perf_counter() - begun)
    return size_bytes / min(taken) / 1e9


def measure(graph: Graph, plan: Streamed, source: int, expected: Any) -> Row:
    """Measure a search.

    Parameters
    ----------
    graph : Graph
        What is searched.
    plan : Streamed
        How.
    source : int
        From where, once and five times more.
    expected : int32 array
        Distances.

    Returns
    -------
    dict
        ``ms``, ``spread``, ``edge_gb``, ``sent_gb``, ``gb_per_s``; and vertices, edges, directions
        and microseconds of levels.

    Raises
    ------
    SystemExit
        If a distance is wrong.
    """
    plan.search(source, graph.n)
    times = [plan.search(source, graph.n).stats.kernel_ms for _ in range(REPEATS - 1)]
    last = plan.search(source, graph.n)
    if not np.array_equal(last.distances, expected):
        raise SystemExit(f"distances from {source} are wrong")
    times.append(last.stats.kernel_ms)
    levels = last.stats.per_level
    edges = 4 * int(levels["edges"].sum())
    pushed = 4 * int(levels["edges"][levels["direction"] == "push"].sum())
    sent = pushed if plan.way == "in place" else int(levels["sent_bytes"].sum())
    ms = statistics.median(times)
    return {
        "levels": len(levels),
        "ms": ms,
        "spread": (max(times) - min(times)) / ms,
        "edge_gb": edges / 1e9,
        "sent_gb": sent / 1e9,
        "gb_per_s": edges / ms / 1e6,
        "frontier": levels["frontier"].tolist(),
        "level_edges": levels["edges"].tolist(),
        "directions": levels["direction"].tolist(),
        "levels_us": np.round(levels["microseconds"], 1).tolist(),
    }


@contextlib.contextmanager
def _allowed(size_bytes: int) -> Iterator[None]:
    """Allow so many bytes of the device's memory, and afterwards what was allowed before."""
    before = os.environ.get(LIMIT)
    os.environ[LIMIT] = str(size_bytes)
    try:
        yield
    finally:
        del os.environ[LIMIT]
        if before is not None:
            os.environ[LIMIT] = before


def _rows(args: argparse.Namespace, device: Device, bus: float) -> list[Row]:
    rows = []
    for name in args.graphs:
        drawn = args.on_card and name.startswith("kron")
        graph = on_card.kron(scale_of(name), seed=1) if drawn else find(name, Places()).graph
        sources = pick_sources(graph.degrees, args.sources, name)
        whole = clgraph.BFS(graph, device=device)
        expected = {source: whole.run(source).distances for source in sources}
        del whole
        gc.collect()
        size = 4 * graph.m + 8 * (graph.n + 1)
        with _allowed(device.ledger.used_bytes + int(args.share * size)):
            for way in args.ways.split(","):
                for tree in (False, True) if args.predecessors else (False,):
                    how, pulls = WAYS[way]
                    plan = Streamed(graph, device, predecessors=tree, way=how, pulls=pulls)
                    for source in sources:
                        row = measure(graph, plan, source, expected[source])
                        shape = {"graph": name, "n": graph.n, "m": graph.m, "way": plan.way}
                        shape |= {"chosen": way == "chosen", "tree": tree, "source": int(source)}
                        shape |= {"pulls": plan.config.pull is not None}
                        rows.append({**shape, **row, "of_bus": row["gb_per_s"] / bus})
                        print("  ".join(_line(rows[-1])), file=sys.stderr, flush=True)
                    del plan
                    gc.collect()
    return rows


def _line(row: Row) -> list[str]:
    return [
        *(row["graph"], row["way"], *("yes" if row[name] else "no" for name in ("pulls", "tree"))),
        *(
            str(row["source"]),
            str(row["levels"]),
            f"{row['ms']:.1f}",
            f"{100 * row['spread']:.0f} %",
        ),
        *(f"{row['edge_gb']:.3f}", f"{row['sent_gb']:.3f}"),
        *(f"{row['gb_per_s']:.1f}", f"{100 * row['of_bus']:.0f} %"),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; default is those of the process.

    Returns
    -------
    int
        0.
    """
    parser = command(__doc__, "--json", sources=4)
    parser.add_argument("graphs", nargs="+", help="names of bench/runner/graphs.py, or kronN")
    parser.add_argument("--share", type=float, default=0.25, help="of the graph's bytes")
    parser.add_argument("--ways", default="chosen", help=", ".join(WAYS))
    parser.add_argument("--on-card", action="store_true", help="draw kronN there, with CuPy")
    parser.add_argument("--predecessors", action="store_true", help="label trees too")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    bus = bus_gb_per_s(device)
    rows = _rows(args, device, bus)
    print(f"the bus carries {bus:.1f} GB/s from pinned memory")
    print(table(list(COLUMNS), [_line(row) for row in rows]))
    about = {**head_of("streaming", device), "share": args.share, "bus_gb_per_s": bus}
    keep({**about, "rows": rows}, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
