"""Where the time of breadth-first searches goes: levels of the median and of the slowest sources.

``python -m bench.studies.searches.levels --device nvidia --graphs DIR --on kron20`` searches from
some sources, by turns with the same search whose every level pushes and with one whose every level
but the source's pulls. For each of the sources in the middle and of the slowest ones it prints what
a level had to do and what it took, pushed and pulled; for the slowest share of them all, what each
level took in the mean. All three must find the same. ``--output FILE`` keeps every level of every
source: models of what pushing and pulling cost are fitted to that.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import BFS, BFSConfig, pull
from clgraph import device as find_device
from clgraph.cli.text import table

from ...runner import machine
from ...runner.graphs import Places, find
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import BFSResult, Device, Graph

__all__ = ["fitted", "levels_of", "main"]

SEED = 20261127
# What is searched with: as chosen, and whose every level goes one way.
VARIANTS = {
    "auto": BFSConfig(),
    "push": BFSConfig(pull=pull.Never()),
    "pull": BFSConfig(pull=pull.ByEdges(alpha=2**30, floor=2**30, gain=0)),
}
HEAD = (
    *("level", "frontier", "edges", "longest row", "unvisited", "unexplored"),
    *("direction", "us", "us pushed", "us pulled"),
)


def levels_of(graph: Graph, result: BFSResult) -> list[dict[str, Any]]:
    """Give what each level of a search had before it, and what it took.

    ``unvisited`` are vertices with edges that the search had not reached when the level began, and
    ``unexplored`` the edges out of them. The source has edges.
    """
    found = result.distances
    unvisited, unexplored = int(np.count_nonzero(graph.degrees)), graph.m
    rows = []
    for level, row in enumerate(result.stats.per_level):
        unvisited -= int(row["frontier"])
        unexplored -= int(row["edges"])
        rows.append(
            {
                "level": level,
                "frontier": int(row["frontier"]),
                "edges": int(row["edges"]),
                "longest row": int(graph.degrees[found == level].max(initial=0)),
                "unvisited": unvisited,
                "unexplored": unexplored,
                "direction": str(row["direction"]),
                "us": float(row["microseconds"]),
            }
        )
    return rows


def searched(graph: Graph, device: Device, sources: Sequence[int], rounds: int) -> dict[str, Any]:
    """Search by turns; give times [variant][source] and levels [variant][source]."""
    plans = {name: BFS(graph, config=config, device=device) for name, config in VARIANTS.items()}
    taken: dict[str, list[list[float]]] = {name: [] for name in plans}
    levels: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in plans}
    for source in sources:
        results = {name: plan.run(source) for name, plan in plans.items()}
        for name, result in results.items():
            if (result.distances != results["auto"].distances).any():
                raise SystemExit(f"{name} finds something else from {source}")
            levels[name].append(levels_of(graph, result))
    for number in range(rounds):
        names = list(plans)[:: -1 if number % 2 else 1]
        for name in names:
            taken[name].append([plans[name].run(source).stats.kernel_ms for source in sources])
    return {
        "times": {name: np.median(times, axis=0) for name, times in taken.items()},
        "levels": levels,
    }


def fitted(levels: Mapping[str, list[list[dict[str, Any]]]]) -> dict[str, list[float]]:
    """Fit what pulling costs: microseconds of a level, of an unvisited vertex and of a try.

    A vertex tries ``unexplored / edges`` in-neighbours in the mean, as an unexplored edge leads to
    the frontier with the probability ``edges / unexplored``, and no more than it has. Least squares
    of relative errors; with them their quantiles, a tenth, a half and nine tenths.
    """
    rows = [row for search in levels["pull"] for row in search if row["direction"] == "pull"]
    rows = [row for row in rows if row["edges"] and row["us"] > 0]
    if len(rows) < 4:  # no clock in kernels
        return {}
    unvisited = np.array([row["unvisited"] for row in rows], float)
    unexplored = np.array([row["unexplored"] for row in rows], float)
    tries = unexplored / np.array([row["edges"] for row in rows])
    probes = np.minimum(unvisited * np.maximum(tries, 1.0), unexplored)
    us = np.array([row["us"] for row in rows])
    terms = np.stack([np.ones_like(us), unvisited, probes], axis=1)
    costs = np.linalg.lstsq(terms / us[:, None], np.ones_like(us), rcond=None)[0]
    errors = np.quantile(terms @ costs / us, (0.1, 0.5, 0.9))
    return {"us": costs.tolist(), "fit over measured": errors.tolist()}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = command(__doc__, graphs=None, sources=64)
    parser.add_argument("--on", nargs="+", default=["kron16"], help="graphs of the suites")
    parser.add_argument("--shown", type=int, default=3, help="searches in the middle, and slowest")
    parser.add_argument("--slowest", type=float, default=0.15, help="the share that is summed up")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(argv)
    device = find_device(given.device)
    record: dict[str, Any] = {**machine.head_of("levels", device), "graphs": {}}
    for name in given.on:
        graph = find(name, Places(graphs=given.graphs)).graph
        rng = np.random.default_rng(SEED)
        sources = rng.choice(np.flatnonzero(graph.degrees), given.sources).tolist()
        found = searched(graph, device, sources, given.rounds)
        times, levels = found["times"], found["levels"]
        order = np.argsort(times["auto"])
        _print_summary(name, times)
        middle = max((order.size - given.shown) // 2, 0)
        for places in (order[middle : middle + given.shown], order[-given.shown :]):
            for place in places:
                degree = int(graph.degrees[sources[place]])
                ms = times["auto"][place]
                print(f"\nfrom {sources[place]} with {degree} edges: {1e3 * ms:.1f} us")
                print(table(HEAD, list(_lines(levels, int(place)))))
        slow = order[-max(int(given.slowest * order.size), 1) :]
        _print_slowest(levels["auto"], slow)
        costs = fitted(levels)
        print("pulling costs, us a level, an unvisited vertex, a try:", costs)
        record["graphs"][name] = {
            "sources": sources,
            "kernel_ms": {variant: ms.tolist() for variant, ms in times.items()},
            "levels": levels,
            "pulling": costs,
        }
    keep(record, given.output, indent=None)
    return 0


def _lines(levels: Mapping[str, Any], place: int) -> Iterator[list[str]]:
    """Give the rows of one search's table."""
    ways = [levels[way][place] for way in ("push", "pull")]
    for row, pushed, pulled in zip(levels["auto"][place], *ways, strict=True):
        counts = [f"{row[key]:,}" for key in HEAD[:6]]
        yield [*counts, row["direction"], *(f"{way['us']:.2f}" for way in (row, pushed, pulled))]


def _print_summary(name: str, times: Mapping[str, NDArray[Any]]) -> None:
    lines = []
    for variant, ms in times.items():
        median, high = np.median(ms), np.quantile(ms, 0.9)
        lines.append(
            [
                variant,
                *(f"{value:.4f}" for value in (median, high, ms.max())),
                f"{high / median:.2f}",
            ]
        )
    print(f"\n{name}, {times['auto'].size} sources")
    print(table(("levels", "median ms", "p90 ms", "most ms", "p90 over median"), lines))


def _print_slowest(levels: Sequence[Sequence[Mapping[str, Any]]], slow: NDArray[np.int64]) -> None:
    """Print what levels of the slowest searches take in the mean."""
    depth = max(len(levels[place]) for place in slow)
    sums = np.zeros((depth, 2))
    for place in slow:
        for row in levels[place]:
            sums[row["level"], row["direction"] == "pull"] += row["us"] / slow.size
    print(f"\nthe slowest {slow.size}, microseconds of a level in the mean")
    lines = [[str(level), *(f"{us:.1f}" for us in both)] for level, both in enumerate(sums)]
    print(table(("level", "pushed", "pulled"), lines))


if __name__ == "__main__":
    sys.exit(main())
