"""What can be tuned: of each algorithm its plan, its answer, and the points that may be tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module
from clgraph.seeded import seeded
from clgraph.tune.features import mean_weight
from clgraph.tune.space import Branch, Space

if TYPE_CHECKING:
    from clgraph.device import Device, DeviceTraits
    from clgraph.graph import Graph
    from clgraph.tune.space import Values

__all__ = ["PROBLEMS", "Problem", "problem_of"]

SOURCES, TRIED_SOURCES = 3, 12
DELTA = "method.delta"


@dataclass(frozen=True, slots=True)
class Problem:
    """An algorithm as the search sees it.

    Attributes
    ----------
    name : str
        As commands call it.
    """

    name: str
    home: ClassVar[str] = ""
    plan_name: ClassVar[str] = ""
    searches: ClassVar[bool] = False  # from a source
    weighted: ClassVar[bool] = False

    def config(self, values: Values, graph: Graph) -> Any:
        """Make a configuration of a point.

        Raises
        ------
        InvalidArgumentError
            If it is none.
        """
        del graph
        return self.scaled(values)

    def scaled(self, values: Values) -> Any:
        """Make a configuration for a graph whose figures are those that points are given in."""
        return self.kind().with_values(values)

    def kind(self) -> Any:
        """Give the default configuration."""
        raise NotImplementedError

    def prepare(self, graph: Graph) -> Graph:
        """Refuse a graph that the algorithm does not take, or give it as it is taken."""
        return graph

    def plan(self, graph: Graph, config: Any, device: Device) -> Any:
        """Compile."""
        return getattr(module(self.home), self.plan_name)(graph, config=config, device=device)

    def run(self, plan: Any, source: int) -> Any:
        """Run a plan once."""
        return plan.run(source) if self.searches else plan.run()

    def answer(self, result: Any) -> Any:
        """Give what must be the same whatever the configuration."""
        return np.asarray(result.labels)

    def branches(self, traits: DeviceTraits) -> tuple[Branch, ...]:
        """Give what may be tried on a device."""
        raise NotImplementedError

    def presets(self, graph: Graph) -> list[dict[str, Any]]:
        """Give the published configurations as points; they need not be in the space."""
        del graph
        kind = type(self.kind())
        return [kind.preset(name).as_dict() for name in kind.presets()]

    def space(self, traits: DeviceTraits) -> Space:
        """Enumerate what may be tried."""
        return Space(self.branches(traits), self.scaled)

    def sources(self, graph: Graph, device: Device, seed: int) -> list[int]:
        """Choose where searches begin: of some vertices those from where most is reached."""
        if not self.searches:
            return [0]
        able = np.flatnonzero(graph.degrees)
        if not able.size:
            return [0]
        drawn = seeded(seed).choice(able, min(TRIED_SOURCES, able.size), replace=False)
        plan = module("clgraph").BFS(graph, device=device)
        reached = [(plan.run(int(source)).reached, int(source)) for source in drawn]
        most = max(count for count, _ in reached)
        return [source for count, source in reached if 2 * count >= most][:SOURCES]


def _group_sizes(traits: DeviceTraits) -> tuple[int | None, ...]:
    if traits.emulated:
        return (None,)
    if traits.lanes == 1:
        return (None, 1, 16, 64)
    sizes = (2, 4, 8, 16, 32)
    return (None, *(k * traits.lanes for k in sizes if k * traits.lanes <= traits.max_group_size))


def _groups(traits: DeviceTraits) -> tuple[int | None, ...]:
    """How many work-groups: fewer take longer and draw less power."""
    units = traits.compute_units
    if traits.is_cpu:
        return (None, *sorted({max(units // 2, 1), units}))
    return (None, *sorted({max(units // 4, 1), max(units // 2, 1), units, 2 * units}))


@dataclass(frozen=True, slots=True)
class Hops(Problem):
    """Breadth-first search."""

    home: ClassVar[str] = "clgraph.algorithms.bfs.plan"
    plan_name: ClassVar[str] = "BFS"
    searches: ClassVar[bool] = True

    def kind(self) -> Any:
        """Give the default configuration."""
        return module("clgraph.algorithms.bfs.config").BFSConfig()

    def answer(self, result: Any) -> Any:
        """Give the distances."""
        return np.asarray(result.distances)

    def branches(self, traits: DeviceTraits) -> tuple[Branch, ...]:
        """Give forms of the frontier, each with what goes with it."""
        balancers = tuple(module("clgraph.engine.strategies.balance").BALANCERS)
        launched: dict[str, tuple[Any, ...]] = {
            "schedule": (None, "persistent", "stepped"),
            "schedule.group_size": _group_sizes(traits),
            "schedule.groups": _groups(traits),
        }
        shared = {"schedule.distribution": (None, "static", "claimed")}
        queue = {"balance": (None, *balancers), **launched, **shared}
        single_group = {"schedule.single_group": (None, False)}
        return (
            Branch({"frontier": "vertex", "pull": "never"}, {**queue, **single_group}),
            Branch(
                {"frontier": "vertex", "pull": "edges"},
                {"pull.alpha": (None, 4, 8, 14, 28, 56), **queue},
            ),
            *(
                Branch(
                    {"frontier": form, "pull": "never"},
                    {"frontier.duplicates": (None, "lookup_lanes", "lookup_group"), **queue},
                )
                for form in ("edge", "two_phase", "hybrid")
            ),
            Branch(
                {"frontier": "status"},
                {
                    "pull": (None, "never", "edges", "hubs"),
                    "frontier.classes": (None, 1, 4),
                    "frontier.generation": (None, "recount", "bins", "none"),
                    **launched,
                },
            ),
        )


@dataclass(frozen=True, slots=True)
class Paths(Problem):
    """Shortest paths; a delta is given in mean weights."""

    home: ClassVar[str] = "clgraph.algorithms.sssp.plan"
    plan_name: ClassVar[str] = "SSSP"
    searches: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    def kind(self) -> Any:
        """Give the default configuration."""
        return module("clgraph.algorithms.sssp.config").SSSPConfig()

    def config(self, values: Values, graph: Graph) -> Any:
        """Make a configuration of a point, with its delta in the unit of the weights."""
        scaled = dict(values)
        if DELTA in scaled:
            scaled[DELTA] = scaled[DELTA] * mean_weight(graph)
        return self.scaled(scaled)

    def prepare(self, graph: Graph) -> Graph:
        """Refuse a graph without weights."""
        if graph.weights is None:
            raise InvalidArgumentError("shortest paths need weights, which the graph has not.")
        return graph

    def answer(self, result: Any) -> Any:
        """Give the distances."""
        return np.asarray(result.distances)

    def branches(self, traits: DeviceTraits) -> tuple[Branch, ...]:
        """Give the methods, each with what goes with it."""
        deltas = (None, *(2.0**k for k in range(-4, 7)))
        shared = {
            "schedule.group_size": _group_sizes(traits),
            "schedule.groups": _groups(traits),
        }
        balancers = (None, "item_thread", "vwarp", "warp_search", "warp_search_local")
        return (
            Branch(
                {"method": "near-far"},
                {DELTA: deltas, "method.drift": (None, 0, 4, 16), "balance": balancers, **shared},
            ),
            Branch(
                {"method": "asynchronous"},
                {DELTA: deltas, "method.adapt": (None, True), **shared},
            ),
            Branch(
                {"method": "delta-stepping"},
                {DELTA: deltas, "method.heavy": (None, "push", "switching"), **shared},
            ),
            Branch({"method": "bellman-ford"}, {"balance": balancers, **shared}),
            Branch({"method": "self-tuning"}, {DELTA: deltas, **shared}),
        )


@dataclass(frozen=True, slots=True)
class StrongComponents(Problem):
    """Strongly connected components."""

    home: ClassVar[str] = "clgraph.algorithms.scc.plan"
    plan_name: ClassVar[str] = "SCC"

    def kind(self) -> Any:
        """Give the default configuration."""
        return module("clgraph.algorithms.scc.config").SCCConfig()

    def branches(self, traits: DeviceTraits) -> tuple[Branch, ...]:
        """Give what finishes the rest, each with what comes before."""
        launched: dict[str, tuple[Any, ...]] = {
            "schedule": (None, "persistent", "stepped"),
            "schedule.group_size": _group_sizes(traits),
        }
        before = {"trim": (0, 1, 3, "adaptive", "full"), "trim_size": (None, 2, 3)}
        forward = {"forward_backward": (0, 1, 2), "fb_strategy": ("L", "Q", "Q_VW")}
        return (
            Branch({"finish": "signatures"}, {**before, "forward_backward": (0, 1), **launched}),
            Branch(
                {"finish": "coloring"},
                {**before, **forward, "coloring_strategy": ("L", "Q", "Q_VW"), **launched},
            ),
            Branch({"finish": "sequential"}, {**before, "forward_backward": (0, 1)}),
        )


@dataclass(frozen=True, slots=True)
class Counting(Problem):
    """Triangles."""

    home: ClassVar[str] = "clgraph.algorithms.triangles.plan"
    plan_name: ClassVar[str] = "Triangles"

    def kind(self) -> Any:
        """Give the default configuration."""
        return module("clgraph.algorithms.triangles.config").TrianglesConfig()

    def scaled(self, values: Values) -> Any:
        """Make a configuration of a point, whose way to intersect has parameters of its own."""
        known = module("clgraph.algorithms.triangles.config")
        given = {name: value for name, value in values.items() if "." not in name}
        inner = {name.partition(".")[2]: value for name, value in values.items() if "." in name}
        if inner:
            way = values.get("intersect")
            if way not in known.WAYS:
                raise InvalidArgumentError(f"{', '.join(inner)} is of no way to intersect.")
            try:
                given["intersect"] = known.WAYS[way](**inner)
            except TypeError as error:
                raise InvalidArgumentError(f"intersect={way!r}: {error}.") from None
        try:
            return known.TrianglesConfig(**given)
        except TypeError as error:
            raise InvalidArgumentError(f"this is no configuration of triangles: {error}.") from None

    def prepare(self, graph: Graph) -> Graph:
        """Take any graph as undirected, without self-loops and parallel edges."""
        statistics = graph.statistics()
        if not (graph.directed or statistics.self_loops or statistics.parallel_edges):
            return graph
        found: Graph = module("clgraph.algorithms.triangles.simple").cleaned(graph)
        return found

    def run(self, plan: Any, source: int) -> Any:
        """Count, with edges turned anew: who counts once pays for that."""
        del source
        return plan.run(prepare=True)

    def answer(self, result: Any) -> Any:
        """Give their number."""
        return np.int64(result.count)

    def presets(self, graph: Graph) -> list[dict[str, Any]]:
        """Give the published configurations as points."""
        del graph
        kind = type(self.kind())
        return [dict(values) for values in kind.PRESETS.values()]

    def branches(self, traits: DeviceTraits) -> tuple[Branch, ...]:
        """Give the ways to intersect, each with its numbers."""
        sizes: dict[str, tuple[Any, ...]] = {"group_size": _group_sizes(traits)}
        parts = (1, 2, 4) if traits.lanes == 1 else (1, 4, 8, 16, 32, 256)
        by = {"intersect.parts": (None, *parts), "order": ("degree", "id"), **sizes}
        bits = tuple(1 << k for k in range(12, 19) if 1 << k <= 8 * (traits.local_bytes - 4096))
        return (
            Branch(
                {"intersect": "bitmap", "order": "degree"},
                {
                    "intersect.bits": (None, *bits),
                    "intersect.pieces": (None, 1, 4, 16, 64),
                    **sizes,
                },
            ),
            Branch({"intersect": "merge"}, {"intersect.by": ("row",), "order": ("id",), **sizes}),
            Branch({"intersect": "search"}, by),
            Branch({"intersect": "path"}, by),
            Branch({"intersect": "merge"}, {"order": ("degree", "id"), **sizes}),
        )


PROBLEMS: dict[str, Problem] = {
    known.name: known
    for known in (
        Hops("bfs"),
        Paths("sssp"),
        StrongComponents("scc"),
        Counting("triangles"),
    )
}


def problem_of(algorithm: str) -> Problem:
    """Give what is known of an algorithm.

    Raises
    ------
    InvalidArgumentError
        If it is not one that can be tuned.
    """
    if algorithm not in PROBLEMS:
        raise InvalidArgumentError(
            f"algorithm={algorithm!r} cannot be tuned; choose one of {', '.join(PROBLEMS)}."
        )
    return PROBLEMS[algorithm]
