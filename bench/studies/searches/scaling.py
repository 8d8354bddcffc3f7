"""Strong and weak scaling of a search over several devices, with the bytes that are exchanged.

``python -m bench.studies.searches.scaling kron22 unif22 --parts 1,2,4`` searches each graph on one
device without dividing it, then in 1, 2 and 4 parts with either exchange; ``--grow edges`` and
``--grow vertices`` search Kronecker graphs whose edges or vertices grow with the parts (``kron16``:
scale 16 for one). Devices are all GPUs there are, or those of ``--devices``; parts beyond their
number share one, which is marked, since that shows what dividing costs and not what it gains.
Speeds are harmonic means over sources, by the host's clock.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import BFS, DividedBFS
from clgraph.cli.text import table

from ...runner.graphs import Places, find
from ...runner.problem import pick_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clgraph import BFSConfig, Device, Graph

__all__ = ["EXCHANGES", "main", "measure"]

EXCHANGES: dict[str, BFSConfig | str] = {
    "candidates": clgraph.BFSConfig(frontier="vertex"),
    "merrill": "merrill-two-phase",
    "bits": clgraph.BFSConfig(frontier="status", pull=clgraph.pull.ByEdges(beta=24)),
    "hubs": clgraph.BFSConfig(frontier="status"),
}
REPEATS = 3
GRAIN = {"edges": 16, "vertices": 16}  # edge factor of one part
COLUMNS = (
    *("graph", "exchange", "parts", "devices", "ms", "us/level", "GTEPS", "times", "bytes"),
    "a level",
)

Row = dict[str, Any]


def measure(
    graph: Graph,
    sources: Sequence[int],
    devices: Sequence[Device],
    config: BFSConfig | str,
    *,
    predecessors: bool = False,
) -> Row:
    """Measure one way to search a graph.

    Parameters
    ----------
    graph : Graph
        What is searched.
    sources : sequence of int
        Where searches begin; each is searched three times, and the best time counts.
    devices : sequence of Device
        One for each part.
    config : BFSConfig or str
        How.
    predecessors : bool
        Whether a tree is labelled, which candidates then carry.

    Returns
    -------
    dict
        ``ms`` (harmonic mean by TEPS), ``gteps``, ``bytes`` exchanged for one search in the mean,
        ``level_us`` and ``levels`` and ``edges`` likewise, ``level_bytes`` of the first source.
    """
    return _measured(DividedBFS(graph, devices, predecessors=predecessors, config=config), sources)


def _measured(plan: Any, sources: Sequence[int], **options: Any) -> Row:
    seconds, edges, sent, levels, counts = [], [], [], [], []
    for source in sources:
        plan.run(source, **options)
        runs = [plan.run(source, **options).stats for _ in range(REPEATS)]
        best = min(runs, key=_host_ms)
        seconds.append(_host_ms(best) / 1e3)
        edges.append(best.edges_traversed)
        exchanged = getattr(best, "exchanged_bytes", np.zeros(0, np.int64))
        sent.append(exchanged.sum())
        levels.append(exchanged.tolist())
        counts.append(best.levels)
    teps = len(sources) / sum(t / max(e, 1) for t, e in zip(seconds, edges, strict=True))
    return {
        "ms": 1e3 * float(np.mean(edges)) / teps,
        "gteps": teps / 1e9,
        "bytes": float(np.mean(sent)),
        "level_us": 1e6 * sum(seconds) / sum(counts),
        "levels": float(np.mean(counts)),
        "edges": float(np.mean(edges)),
        "level_bytes": levels[0],
    }


def _host_ms(stats: Any) -> float:
    """Give the time of a search by the host's clock, which is what ranks have as kernel time."""
    return float(stats.kernel_ms if hasattr(stats, "exchange") else stats.total_ms)


def _graphs(args: argparse.Namespace, parts: int) -> Iterator[tuple[str, Graph]]:
    places = Places(args.graph_folder, args.data)
    for name in args.graphs:
        if args.grow is None:
            yield name, find(name, places).graph
            continue
        scale = int(re.sub(r"\D", "", name))
        factor = GRAIN[args.grow] * (parts if args.grow == "edges" else 1)
        scale += (parts - 1).bit_length() if args.grow == "vertices" else 0
        yield f"kron{scale}x{factor}", clgraph.generate.kron(scale, factor, seed=1)


def _devices(given: str | None) -> list[Device]:
    if given:
        return [clgraph.device(spec) for spec in given.split(",")]
    gpus = [device for device in clgraph.devices() if device.is_gpu]
    return gpus or [clgraph.device()]


def _rows(args: argparse.Namespace, devices: Sequence[Device]) -> Iterator[Row]:
    alone: dict[str, float] = {}
    for parts in args.parts:
        for name, graph in _graphs(args, parts):
            sources = pick_sources(graph.degrees, args.sources, name)
            if name not in alone or args.grow:
                row = _measured(
                    BFS(graph, predecessors=args.predecessors, device=devices[0]), sources
                )
                alone[name] = row["gteps"]
                yield {"graph": name, "exchange": "undivided", "parts": 1, "devices": 1, **row}
            chosen = [devices[place % len(devices)] for place in range(parts)]
            for exchange in args.exchanges:
                row = measure(
                    graph,
                    sources,
                    chosen,
                    EXCHANGES[exchange],
                    predecessors=args.predecessors,
                )
                held = min(parts, len(devices))
                shape = {"graph": name, "exchange": exchange, "parts": parts, "devices": held}
                yield {**shape, **row, "times": row["gteps"] / alone[name]}


def _ranked(args: argparse.Namespace) -> Iterator[Row]:
    """Rows of a job of ranks, on the first of them."""
    comm = clgraph.cluster.world(args.devices)
    for name in args.graphs:
        drawn = clgraph.cluster.Kronecker(int(re.sub(r"\D", "", name)), seed=1)
        for exchange in args.exchanges:
            plan = clgraph.cluster.BFS(
                drawn, comm, predecessors=args.predecessors, config=EXCHANGES[exchange]
            )
            sources = plan.facts.top_vertices[: args.sources].tolist()
            row = _measured(plan, sources, gather=False)
            if comm.ranks[0] == 0:
                shape = {"graph": name, "exchange": exchange, "parts": comm.size}
                yield {**shape, "devices": comm.size, **row}


def _line(row: Row) -> list[str]:
    shared = " shared" if row["devices"] < row["parts"] else ""
    times = f"{row['times']:.2f}" if "times" in row else "1"
    peak = max(row["level_bytes"], default=0)
    return [
        *(row["graph"], row["exchange"], str(row["parts"]), f"{row['devices']}{shared}"),
        *(f"{row['ms']:.3f}", f"{row['level_us']:.0f}", f"{row['gteps']:.2f}", times),
        *(f"{row['bytes']:.0f}", str(peak)),
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "graphs", nargs="+", help="names of bench/runner/graphs.py, or kronN with --grow"
    )
    parser.add_argument("--grow", choices=tuple(GRAIN), help="weak scaling instead of strong")
    parser.add_argument("--parts", default="1,2,4", help="how many, separated by commas")
    parser.add_argument("--exchanges", default=",".join(EXCHANGES))
    parser.add_argument("--devices", help="separated by commas; default is all GPUs")
    parser.add_argument("--ranks", action="store_true", help="under mpiexec: the ranks of the job")
    parser.add_argument("--predecessors", action="store_true", help="label trees too")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--graphs", dest="graph_folder", type=Path, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(argv)
    args.parts = [int(parts) for parts in args.parts.split(",")]
    args.exchanges = args.exchanges.split(",")
    devices = [] if args.ranks else _devices(args.devices)
    rows = []
    for row in _ranked(args) if args.ranks else _rows(args, devices):
        rows.append(row)
        print("  ".join(_line(row)), file=sys.stderr, flush=True)
    if not rows:
        return 0
    print(table(list(COLUMNS), [_line(row) for row in rows]))
    if args.json:
        about = {"devices": [device.name for device in devices], "rows": rows}
        Path(args.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
