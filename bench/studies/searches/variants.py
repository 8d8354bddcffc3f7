"""What each feature of the published searches is worth: variants of a search in turn.

``python -m bench.studies.searches.variants --device nvidia --graphs DIR --study enterprise`` prints
a table for each graph: medians over the sources of the time, its ratio to the first variant,
millions of edges a second, joules, the redundant expansion factor, and how sources were pulled.
``--json FILE`` keeps them. Every result is compared with the first variant's.
"""

from __future__ import annotations

import itertools
import statistics
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph import BFS, SSSP, BFSConfig, SSSPConfig, energy
from clgraph import device as find_device
from clgraph.errors import ClgraphError

from ...runner import machine
from ...runner.graphs import Places, find
from ..command import command, keep
from .edge_parallel import EdgeParallel
from .features import STUDIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = [
    "LEVELS",
    "PATHS",
    "STUDIES",
    "Search",
    "frontiers",
    "main",
    "measure",
    "search_of",
    "split",
]

SEED = 12345


@dataclass(frozen=True, slots=True)
class Search:
    """What the variants of a study are of.

    Attributes
    ----------
    plan : BFS or SSSP
        The class.
    config : BFSConfig or SSSPConfig
        That of its configurations.
    account : callable
        Given a result and a graph: edges expanded, edges to expand, levels that pulled, levels.
    """

    plan: Any
    config: Any
    account: Callable[[Any, Graph], tuple[int, int, int, int]]


def _levels(result: Any, _graph: Graph) -> tuple[int, int, int, int]:
    stats = result.stats
    directions = stats.per_level["direction"]
    return (
        int(stats.expanded_edges.sum()),
        stats.edges_traversed,
        int(np.count_nonzero(directions == "pull")),
        int(directions.size),
    )


def _paths(result: Any, graph: Graph) -> tuple[int, int, int, int]:
    reached = result.distances != np.iinfo(result.distances.dtype).max
    return (result.stats.relaxations, int(graph.degrees[reached].sum()), 0, result.stats.levels)


@dataclass(frozen=True, slots=True)
class _Variant:
    """A plan, and the numbers that it has for the vertices."""

    plan: Any
    graph: Graph  # as it is searched
    numbers: NDArray[Any] | None  # of the vertices of the graph as given; None for the same
    prepared_s: float  # what renumbering took on the host

    def run(self, source: int) -> Any:
        return self.plan.run(source if self.numbers is None else int(self.numbers[source]))

    def distances(self, result: Any) -> NDArray[Any]:
        """Distances of a result, by the vertices of the graph as given."""
        found: NDArray[Any] = result.distances
        return found if self.numbers is None else found[self.numbers]


def split(dimensions: Mapping[str, Any], search: Search) -> tuple[str | None, Any]:
    """Give the order of the vertices that a variant asks for, or None, and its configuration."""
    rest = {name: value for name, value in dimensions.items() if name != "plan"}
    return rest.pop("order", None), search.config().with_values(rest)


def _variant(
    graph: Graph, dimensions: Mapping[str, Any], search: Search, **options: Any
) -> _Variant:
    order, config = split(dimensions, search)
    if dimensions.get("plan") == "edge-parallel":
        return _Variant(EdgeParallel(graph, **options), graph, None, 0.0)
    if order is None:
        return _Variant(search.plan(graph, config=config, **options), graph, None, 0.0)
    began = time.perf_counter()
    graph = graph.reordered(order)
    prepared_s = time.perf_counter() - began
    plan = search.plan(graph, config=config, **options)
    return _Variant(plan, graph, np.argsort(np.asarray(graph.permutation)), prepared_s)


LEVELS = Search(BFS, BFSConfig, _levels)
PATHS = Search(SSSP, SSSPConfig, _paths)


def search_of(study: str) -> Search:
    """Report what a study is about."""
    return PATHS if study == "h-bf" else LEVELS


def measure(
    graph: Graph,
    variants: Mapping[str, Mapping[str, Any]],
    device: Device,
    *,
    search: Search = LEVELS,
    sources: int = 16,
    passes: int = 3,
    predecessors: bool = False,
    energy_s: float = 0.0,
) -> dict[str, dict[str, Any]]:
    """Search with every variant in turn.

    Parameters
    ----------
    graph : Graph
        What is searched, from `sources` seeded vertices that have edges; with weights if it is
        searched for shortest paths.
    variants : mapping
        Dimensions of configurations by name.
    device : Device
        Where.
    search : Search
        `LEVELS` or `PATHS`.
    sources, passes : int
        The time of a source is its median over the passes.
    predecessors : bool
        Whether trees are labelled.
    energy_s : float
        Seconds of the window in which joules are measured; 0 for none.

    Returns
    -------
    dict
        By variant, or the reason why it did not run: ``ms`` and ``quartiles`` over the sources,
        ``mteps`` (their harmonic mean), ``redundancy`` (edges expanded over edges to expand),
        ``pulled`` (levels that pulled, of all), ``joules`` and ``watts``, and ``prepared_s``, what
        renumbering took.
    """
    able = np.flatnonzero(graph.degrees > 0)
    rng = np.random.default_rng(SEED)
    chosen = rng.choice(able, min(sources, able.size), replace=False).tolist()
    plans: dict[str, _Variant] = {}
    found: dict[str, dict[str, Any]] = {}
    for name, dimensions in variants.items():
        try:
            plans[name] = _variant(
                graph, dimensions, search, predecessors=predecessors, device=device
            )
        except ClgraphError as reason:
            found[name] = {"reason": str(reason)}
    times: dict[str, list[list[float]]] = {name: [[] for _ in chosen] for name in plans}
    accounts: dict[str, list[Any]] = {name: [] for name in plans}
    for turn in range(passes + 1):  # the first one warms up and is checked
        for place, source in enumerate(chosen):
            first = None
            for name, plan in plans.items():
                result = plan.run(source)
                if turn:
                    times[name][place].append(result.stats.kernel_ms)
                    continue
                accounts[name].append(search.account(result, plan.graph))
                distances = plan.distances(result)
                first = distances if first is None else first
                if not np.array_equal(distances, first):
                    raise ClgraphError(f"{name} from {source} differs from {next(iter(plans))}.")
    for name, plan in plans.items():
        medians = [statistics.median(each) for each in times[name]]
        edges, needed, pulled, levels = np.sum(accounts[name], axis=0)
        taken = None
        if energy_s:
            taken = energy.per_run(
                partial(_next_search, plan, itertools.cycle(chosen)),
                min_seconds=energy_s,
                device=device,
            )
        found[name] = {
            "ms": statistics.median(medians),
            "quartiles": np.quantile(medians, [0.25, 0.75]).tolist(),
            "mteps": 1e-3
            / np.mean(
                [ms / max(row[1], 1) for ms, row in zip(medians, accounts[name], strict=True)]
            ),
            "redundancy": float(edges / max(needed, 1)),
            "pulled": f"{int(pulled)} of {int(levels)}",
            "joules": taken.joules_per_run if taken else None,
            "watts": taken.mean_watts if taken else None,
            "prepared_s": plan.prepared_s,
        }
    return found


def _next_search(plan: _Variant, sources: Iterator[int]) -> None:
    plan.run(next(sources))


def frontiers(graph: Graph, source: int, device: Device) -> list[tuple[int, int, int]]:
    """Sizes of the frontiers of each level: edges, different vertices among these, new vertices."""
    distances = BFS(graph, device=device).run(source).distances
    rows = np.repeat(distances, graph.degrees)
    sizes = []
    for level in range(int(distances.max()) + 1):
        edge_targets = graph.indices[rows == level]
        sizes.append(
            (
                edge_targets.size,
                np.unique(edge_targets).size,
                int(np.count_nonzero(distances == level + 1)),
            )
        )
    return sizes


def _table(found: Mapping[str, Mapping[str, Any]]) -> str:
    head = (
        "variant",
        "ms",
        "quartiles",
        "over the first",
        "MTEPS",
        "redundancy",
        "pulled",
        "J",
        "W",
        "prepared s",
    )
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    base = next((row["ms"] for row in found.values() if "ms" in row), None)
    for name, row in found.items():
        if "reason" in row:
            lines.append(f"| {name} | {row['reason']} |")
            continue
        low, high = row["quartiles"]
        joules = "-" if row["joules"] is None else f"{row['joules']:.3g}"
        watts = "-" if row["watts"] is None else f"{row['watts']:.0f}"
        lines.append(
            f"| {name} | {row['ms']:.3g} | {low:.3g}-{high:.3g} | {row['ms'] / base:.3g} | "
            f"{row['mteps']:,.0f} | {row['redundancy']:.3f} | {row['pulled']} | {joules} | "
            f"{watts} | {row['prepared_s']:.2g} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure studies on graphs and print a table of each."""
    parser = command(__doc__, "--json", graphs=None, data=None, sources=16)
    parser.add_argument("--on", default="kron16,rgg16", help="names of graphs")
    parser.add_argument("--study", default=",".join(STUDIES), help="names of studies")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--predecessors", action="store_true")
    parser.add_argument("--energy-seconds", type=float, default=0.0)
    given = parser.parse_args(argv)
    device = find_device(given.device)
    kept = machine.head_of("variants", device) | {"studies": {}}
    places = Places(graphs=given.graphs, data=given.data)
    for name, study in itertools.product(given.on.split(","), given.study.split(",")):
        search = search_of(study)
        graph = find(name, places, weighted=search is PATHS).graph
        found = measure(
            graph,
            STUDIES[study],
            device,
            search=search,
            sources=given.sources,
            passes=given.passes,
            predecessors=given.predecessors,
            energy_s=given.energy_seconds,
        )
        kept["studies"].setdefault(study, {})[name] = found
        print(f"\n{study} on {name}, {device.name}:\n\n{_table(found)}", flush=True)
        keep(kept, given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
