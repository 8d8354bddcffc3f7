"""Strong and weak scaling of a search over several devices, with the bytes that are exchanged.

``python -m bench.studies.searches.scaling kron22 unif22 --parts 1,2,4`` searches each graph on one
device without dividing it and in 1, 2 and 4 parts with either exchange, all in turn, and compares
their distances; ``--grow edges`` and ``--grow vertices`` search Kronecker graphs whose edges or
vertices grow with the parts (``kron16``: scale 16 for one). With ``--draw`` kronN is drawn instead
of looked for; with ``--on-card`` by an NVIDIA card, which takes seconds where a host takes minutes;
it is another graph of the kind. Under mpiexec ``--ranks`` searches with the ranks of the job.
Devices are all GPUs there are, or those of ``--devices``; parts beyond their number share one,
which is marked, since that shows what dividing costs and not what it gains. Times are medians, by
the host's clock; speeds are harmonic means over sources.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import BFS, DividedBFS
from clgraph.cli.text import table

from ...runner import on_card
from ...runner.graphs import Places, find
from ...runner.machine import head_of
from ...runner.problem import pick_sources
from ..command import keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clgraph import BFSConfig, Device, Graph

__all__ = ["EXCHANGES", "main", "measure", "scale_of"]

EXCHANGES: dict[str, BFSConfig | str] = {
    "auto": "auto",
    "candidates": clgraph.BFSConfig(frontier="vertex"),
    "merrill": "merrill-two-phase",
    "bits": clgraph.BFSConfig(frontier="status", pull=clgraph.pull.ByEdges(beta=24)),
    "hubs": clgraph.BFSConfig(frontier="status"),
}
REPEATS = 5
GRAIN = {"edges": 16, "vertices": 16}  # edge factor of one part
COLUMNS = (
    *("graph", "exchange", "parts", "devices", "ms", "spread", "us/level", "GTEPS", "times"),
    *("bytes", "a level"),
)

Row = dict[str, Any]


def measure(plans: Sequence[Any], sources: Sequence[int], **options: Any) -> list[Row]:
    """Measure several ways to search a graph, in turn.

    Parameters
    ----------
    plans : sequence of BFS or DividedBFS
        The ways.
    sources : sequence of int
        Where searches begin; each is searched once and then five times.
    options : dict
        For the searches.

    Returns
    -------
    list of dict
        Of each: ``ms`` (harmonic mean by TEPS of the medians), ``spread`` (the widest range over
        its median), ``gteps``, ``bytes`` exchanged for one search in the mean, ``level_us`` and
        ``levels`` and ``edges`` likewise; ``level_bytes`` and ``levels_us`` of the first source;
        ``device_ms`` by the device's clock, where there is one device.

    Raises
    ------
    SystemExit
        If two disagree on a distance.
    """
    taken: list[list[tuple[list[Any], list[float]]]] = [[] for _ in plans]
    for source in sources:
        first: NDArray[np.int32] | None = None
        for plan in plans:
            distances = plan.run(source, **options).distances
            first = distances if first is None else first
            if distances is not None and not np.array_equal(first, distances):
                raise SystemExit(f"distances from {source} differ")
        found: list[list[Any]] = [[] for _ in plans]
        for _ in range(REPEATS):
            for place, plan in enumerate(plans):
                stats = plan.run(source, **options).stats
                # What is kept is copied from the device.
                found[place].append((_host_ms(stats), None if found[place] else stats))
        for place, runs in enumerate(found):
            taken[place].append(([runs[0][1]], [ms for ms, _ in runs]))
    return [_row(of_sources) for of_sources in taken]


def _row(of_sources: Sequence[tuple[list[Any], list[float]]]) -> Row:
    stats = [kept for ((kept,), _) in of_sources]
    seconds = [statistics.median(times) / 1e3 for _, times in of_sources]
    edges = [one.edges_traversed for one in stats]
    levels = [one.levels for one in stats]
    sent = [np.asarray(getattr(one, "exchanged_bytes", np.zeros(0, np.int64))) for one in stats]
    teps = len(stats) / sum(t / max(e, 1) for t, e in zip(seconds, edges, strict=True))
    row = {
        "ms": 1e3 * float(np.mean(edges)) / teps,
        "spread": max((max(ms) - min(ms)) / statistics.median(ms) for _, ms in of_sources),
        "gteps": teps / 1e9,
        "bytes": float(np.mean([array.sum() for array in sent])),
        "level_us": 1e6 * sum(seconds) / sum(levels),
        "levels": float(np.mean(levels)),
        "edges": float(np.mean(edges)),
        "level_bytes": sent[0].tolist(),
    }
    if hasattr(stats[0], "exchange"):
        row["levels_us"] = np.round(stats[0].per_level["microseconds"], 1).tolist()
    else:
        row["device_ms"] = float(np.mean([one.kernel_ms for one in stats]))
    return row


def _host_ms(stats: Any) -> float:
    """Give the time of a search by the host's clock, which is what ranks have as kernel time."""
    return float(stats.kernel_ms if hasattr(stats, "exchange") else stats.total_ms)


def _graphs(
    args: argparse.Namespace,
) -> Iterator[tuple[str, Graph, Sequence[int]]]:
    """Give graphs, each with the numbers of parts that it is divided into."""
    places = Places(args.graph_folder, args.data)
    draw = on_card.kron if args.on_card else clgraph.generate.kron
    for name in args.graphs:
        if args.grow is None:
            drawn = (args.on_card or args.draw) and name.startswith("kron")
            graph = draw(scale_of(name), seed=1) if drawn else find(name, places).graph
            yield name, graph, args.parts
            continue
        for parts in args.parts:
            factor = GRAIN[args.grow] * (parts if args.grow == "edges" else 1)
            scale = scale_of(name) + ((parts - 1).bit_length() if args.grow == "vertices" else 0)
            yield f"kron{scale}x{factor}", draw(scale, factor, seed=1), [parts]


def scale_of(name: str) -> int:
    """Give the scale that a name such as kron20 says."""
    return int(re.sub(r"\D", "", name))


def _devices(given: str | None) -> list[Device]:
    if given:
        return [clgraph.device(spec) for spec in given.split(",")]
    gpus = [device for device in clgraph.devices() if device.is_gpu]
    return gpus or [clgraph.device()]


def _rows(args: argparse.Namespace, devices: Sequence[Device]) -> Iterator[Row]:
    for name, graph, counts in _graphs(args):
        sources = pick_sources(graph.degrees, args.sources, name)
        ways: list[tuple[str, int]] = [("undivided", 1)]
        plans: list[Any] = [BFS(graph, predecessors=args.predecessors, device=devices[0])]
        for parts in counts:
            chosen = [devices[place % len(devices)] for place in range(parts)]
            for exchange in args.exchanges:
                ways.append((exchange, parts))
                plans.append(
                    DividedBFS(
                        graph,
                        chosen,
                        predecessors=args.predecessors,
                        config=EXCHANGES[exchange],
                        transfers=args.transfers,
                    )
                )
        rows = measure(plans, sources)
        size = {"n": graph.n, "m": graph.m, "drawn": "on card" if args.on_card else "on host"}
        for (exchange, parts), row in zip(ways, rows, strict=True):
            held = min(parts, len(devices))
            shape = {"graph": name, "exchange": exchange, "parts": parts, "devices": held}
            yield {**shape, **size, **row, "times": row["gteps"] / rows[0]["gteps"]}


def _ranked(args: argparse.Namespace, comm: clgraph.cluster.Communicator) -> Iterator[Row]:
    """Rows of a job of ranks, on the first of them."""
    for name in args.graphs:
        drawn = clgraph.cluster.Kronecker(scale_of(name), seed=1)
        for exchange in args.exchanges:
            plan = clgraph.cluster.BFS(
                drawn, comm, predecessors=args.predecessors, config=EXCHANGES[exchange]
            )
            sources = plan.facts.top_vertices[: args.sources].tolist()
            (row,) = measure([plan], sources, gather=False)
            if comm.ranks[0] == 0:
                shape = {"graph": name, "exchange": exchange, "parts": comm.size}
                size = {"devices": comm.size, "n": plan.facts.n, "m": plan.facts.m}
                yield {**shape, **size, "drawn": "by ranks", **row}


def _line(row: Row) -> list[str]:
    shared = " shared" if row["devices"] < row["parts"] else ""
    times = f"{row['times']:.2f}" if "times" in row else "1"
    peak = max(row["level_bytes"], default=0)
    return [
        *(row["graph"], row["exchange"], str(row["parts"]), f"{row['devices']}{shared}"),
        *(f"{row['ms']:.3f}", f"{100 * row['spread']:.0f} %", f"{row['level_us']:.0f}"),
        *(f"{row['gteps']:.2f}", times),
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "graphs", nargs="+", help="names of bench/runner/graphs.py, or kronN that is drawn"
    )
    parser.add_argument("--grow", choices=tuple(GRAIN), help="weak scaling instead of strong")
    parser.add_argument("--parts", default="1,2,4", help="how many, separated by commas")
    parser.add_argument("--exchanges", default=",".join(EXCHANGES))
    parser.add_argument("--devices", help="separated by commas; default is all GPUs")
    parser.add_argument("--draw", action="store_true", help="draw kronN on the host")
    parser.add_argument("--on-card", action="store_true", help="draw kronN there, with CuPy")
    parser.add_argument("--transfers", choices=("direct", "host", "mailboxes"))
    parser.add_argument("--ranks", action="store_true", help="under mpiexec: the ranks of the job")
    parser.add_argument("--predecessors", action="store_true", help="label trees too")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--graphs", dest="graph_folder", type=Path, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args(argv)
    args.parts = [int(parts) for parts in args.parts.split(",")]
    args.exchanges = args.exchanges.split(",")
    if args.ranks:
        comm = clgraph.cluster.world(args.devices)
        devices = comm.usual_devices * comm.size  # each rank has one, and the first says its own
        measured = _ranked(args, comm)
    else:
        devices = tuple(_devices(args.devices))
        measured = _rows(args, devices)
    rows = []
    for row in measured:
        rows.append(row)
        print("  ".join(_line(row)), file=sys.stderr, flush=True)
    if not rows:
        return 0
    print(table(list(COLUMNS), [_line(row) for row in rows]))
    about = {
        **head_of("scaling", devices[0]),
        "devices": [device.name for device in devices],
        "transfers": "mpi" if args.ranks else args.transfers,
        "rows": rows,
    }
    keep(about, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
