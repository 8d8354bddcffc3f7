"""Ranks, communities, triangles and the like on a processor, in turn with others.

``python -m bench.studies.processors --problems pagerank,cores --output record.json``; ``--scale
10`` makes small graphs, and ``--codes FILE`` adds native codes that rank or count triangles, as
`bench.peers.external` says. A record that is there already is continued where it is of the same
commit, so that problems can be measured in calls of their own. ``--page RECORD`` measures nothing:
it prints a record as the tables of the pages.

Each turn runs everybody once, ours in two precisions where others have two; the first turn warms
up and is not kept, and short ones are repeated. Times are wall clock of a call, ours too: its plan
is there, as a peer's graph is, and the answer is not turned into an array on either side. PageRank
is 20 iterations, whatever they change, by the GAP suite's convention beside native codes and by
networkx's beside libraries. Who takes longer than `LONG_S` counts once a seed. Answers are compared
with ours: ranks, core numbers and weights of forests must be the same, and communities are told by
their modularity.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import generate
from clgraph.cli.text import table
from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module

from ..peers.contestants import FIELDS, ITERATIONS, OURS
from ..peers.external import load as load_codes
from ..peers.peer import version_of
from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clgraph import Device, Graph

    from ..peers.contestants import Field

__all__ = ["main", "page", "ratios"]

SEEDS = (20261123, 1, 2)
TURNS, LONG_S = 6, 1.0
MOST_TURNS, ENOUGH_S = 30, 20.0  # where turns are short, which one late answer changes
WEIGHTS = (1, 1_000_000)


def makers(scale: int) -> dict[str, Callable[[int], Graph]]:
    """Graphs by name; "kron" has ``2**scale`` vertices, the others twice or four times as many."""
    side = round(2 ** ((scale + 2) / 2))
    return {
        f"kron{scale}": lambda seed: generate.kron(scale, seed=seed, weights=WEIGHTS),
        f"kron{scale + 2}": lambda seed: generate.kron(scale + 2, seed=seed, weights=WEIGHTS),
        "uniform": lambda seed: generate.random(1 << (scale + 1), seed=seed, weights=WEIGHTS),
        "rgg": lambda seed: generate.geometric(1 << (scale + 2), seed=seed, weights=WEIGHTS),
        "mesh": lambda seed: generate.mesh(side, side, seed=seed, weights=WEIGHTS),
        "road": lambda seed: generate.road(side, side, seed=seed, weights=WEIGHTS),
    }


def raced(field: Field) -> dict[str, dict[str, Any]]:
    """Let everybody run in turn; give times in milliseconds and what is said of the last answer."""
    spent: dict[str, list[float]] = {name: [] for name in field}
    told: dict[str, dict[str, Any]] = {}
    turn, began = 0, time.perf_counter()
    while turn <= TURNS or (turn <= MOST_TURNS and time.perf_counter() - began < ENOUGH_S):
        for name, each in field.items():
            if turn > 1 and spent[name][0] > 1e3 * LONG_S:
                continue
            ms, answer = each.run()
            if turn:  # the one before loads kernels, and meets memory for the first time
                spent[name].append(ms)
            if turn == 1:
                told[name] = each.told(answer)
        turn += 1
    for each in field.values():
        each.close()
    return {
        name: {
            "ms": statistics.median(times),
            "least": min(times),
            "most": max(times),
            "turns": len(times),
            "beside": field[name].beside,
            **told[name],
        }
        for name, times in spent.items()
    }


def ratios(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, list[float]]]:
    """Give of a record by problem, graph and peer its time over ours, of each seed."""
    by: dict[tuple[str, str, str], list[float]] = {}
    for key, rows in found.items():
        problem, graph, _ = key.split("/")
        for name, row in rows.items():
            if not name.startswith(OURS):
                ratio = row["ms"] / rows[row["beside"]]["ms"]
                by.setdefault((problem, graph, name), []).append(ratio)
    for (problem, graph, name), each in by.items():
        yield problem, graph, name, each


def page(record: Mapping[str, Any], problem: str) -> str:
    """Give the table of a problem: median milliseconds of the seeds, and the least ratio."""
    keys = [key for key in record["found"] if key.startswith(f"{problem}/")]
    names = list(dict.fromkeys(name for key in keys for name in record["found"][key]))
    least = {
        (graph, name): min(each)
        for kind, graph, name, each in ratios(record["found"])
        if kind == problem
    }
    lines = [f"| graph | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
    for graph in dict.fromkeys(key.split("/")[1] for key in keys):
        cells = []
        for name in names:
            rows = [record["found"][key].get(name) for key in keys if key.split("/")[1] == graph]
            times = [row["ms"] for row in rows if row]
            shown = f"{statistics.median(times):,.1f}" if times else ""
            good = [row["modularity"] for row in rows if row and "modularity" in row]
            shown += f", {statistics.median(good):.4f}" if good else ""
            if (graph, name) in least:
                shown += f" ({least[graph, name]:.2f})"
            cells.append(shown)
        lines.append(f"| {graph} | {' | '.join(cells)} |")
    return "\n".join(lines)


def begun(output: Path | None, device: Device, scale: int) -> dict[str, Any]:
    """Give the record to write to: the one that is there, or a new one.

    Raises
    ------
    InvalidArgumentError
        If the one that is there is of another commit or scale.
    """
    record: dict[str, Any] = machine.head_of("processors", device) | {
        "scale": scale,
        "iterations": ITERATIONS,
        "versions": {name: version_of(name) for name in ("networkit", "igraph", "scipy")},
        "codes": {},
        "seconds": 0.0,
        "found": {},
    }
    if output is None or not output.exists():
        return record
    before: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    for name in ("commit", "dirty", "scale", "device"):
        if before[name] != record[name]:
            raise InvalidArgumentError(
                f"{output} is of {name} {before[name]}, not {record[name]}; give another --output."
            )
    return before


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = command(__doc__, scale=16, seconds=90.0)
    parser.add_argument("--problems", default=",".join(FIELDS), help="default all")
    parser.add_argument("--graphs", help="names; default all")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--codes", type=Path, help="native codes to time beside ours")
    parser.add_argument("--page", type=Path, help="print a record's tables, and measure nothing")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if an answer is wrong."""
    args = parsed(argv)
    if args.page is not None:
        record = json.loads(args.page.read_text(encoding="utf-8"))
        for problem in dict.fromkeys(key.split("/")[0] for key in record["found"]):
            print(f"{problem}\n\n{page(record, problem)}\n")
        return 0
    device = clgraph.device(args.device)
    module("networkit").setNumberOfThreads(device.traits.compute_units)
    codes = load_codes(args.codes) if args.codes else {}
    began = time.perf_counter()
    record = begun(args.output, device, args.scale)
    before_s = record["seconds"]
    record["codes"] |= {name: code.version for name, code in codes.items()}
    wanted = makers(args.scale)
    wrong = []
    for seed in map(int, args.seeds.split(",")):
        for name in args.graphs.split(",") if args.graphs else wanted:
            graph = wanted[name](seed)
            plain = clgraph.Graph.trusted((graph.indptr, graph.indices, None), directed=False)
            for problem in args.problems.split(","):
                key = f"{problem}/{name}/{seed}"
                if time.perf_counter() - began > args.seconds:
                    print("no time for", key)
                    continue
                given = graph if problem == "forest" else plain
                mine = {who: code for who, code in codes.items() if problem in code.algorithms}
                rows = raced(FIELDS[problem](given, device, mine))
                record["found"][key] = rows
                wrong += [f"{key} {who}" for who, row in rows.items() if row.get("wrong")]
                record["seconds"] = before_s + time.perf_counter() - began
                keep(record, args.output)
    shown = [
        [problem, graph, name, ", ".join(f"{ratio:.2f}" for ratio in each)]
        for problem, graph, name, each in ratios(record["found"])
    ]
    print(table(["problem", "graph", "beside", "its time over ours, by seed"], shown))
    if wrong:
        print("WRONG:", ", ".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
