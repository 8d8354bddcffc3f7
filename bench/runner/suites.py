"""What is measured: cases by suite."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from clgraph.errors import InvalidArgumentError

from .pinned import GRAPHS, SEED, SELF_TUNING

if TYPE_CHECKING:
    from collections.abc import Collection

    from .pinned import Pinned

__all__ = ["SUITES", "Case", "cases_of", "listed"]


@dataclass(frozen=True, slots=True)
class Case:
    """One algorithm on one graph.

    Attributes
    ----------
    algorithm : str
        Name of the function that is measured.
    graph : str
        Name in `graphs.GRAPHS`.
    shows : str
        Why the case is there.
    metric : str
        What the headline figure counts.
    presets : tuple of str
        Configurations that are measured in turn, unless the run names others; "all" for every one.
    """

    algorithm: str
    graph: str
    shows: str
    metric: str = "edges/s"
    presets: tuple[str, ...] = ("auto",)

    def key(self, preset: str) -> str:
        """Name under which runs with one preset are compared and resumed."""
        return f"{self.algorithm}/{self.graph}/{preset}"


QUICK = (
    Case("bfs", "kron16", shows="skewed degrees: balance of advance, direction switching"),
    Case("bfs", "unif17", shows="even degrees, few levels: bandwidth of random reads"),
    Case("bfs", "rgg16", shows="local edges, many levels of middling size"),
    Case("bfs", "grid500", shows="long diameter: cost of a level"),
    Case("bfs", "road500", shows="long diameter and degree two: cost of a level"),
    Case("sssp", "kron16", shows="skewed degrees, weights from 1 to 100"),
    Case("sssp", "road500", shows="long diameter: cost of a round"),
    Case("scc", "rmat14", shows="one large component and many of one vertex"),
    Case("components", "road500", shows="long diameter, one component"),
    Case("multi-search", "rmat14", shows="256 searches of a directed graph"),
    Case("triangles", "kron16", shows="skewed degrees: tables of bits"),
    Case("truss", "rgg16", shows="local edges: few triangles an edge, few rounds"),
    Case("cores", "kron16", shows="skewed degrees: peeling by degree"),
    Case("pagerank", "kron16", shows="skewed degrees: rows of all lengths summed"),
    Case("eigenvector", "kron16", shows="skewed degrees: hubs decide in a few iterations"),
    Case("hits", "kron16", shows="the same by two products an iteration"),
    Case("katz", "road500", shows="degree two: a step counts much"),
    Case("walks", "kron16", shows="skewed degrees: hubs are met often"),
    Case("spanning-forest", "road500", shows="degree two: long chains joined"),
)

ORDERS = ("auto", "node2vec")

# Sizes that a processor searches in milliseconds, beside the libraries that people use there.
PROCESSORS = (
    Case("bfs", "kron18", shows="skewed degrees: balance of advance, direction switching"),
    Case("bfs", "rgg18", shows="local edges, many levels of middling size"),
    Case("bfs", "grid1000", shows="long diameter: cost of a level"),
    Case("bfs", "road1000", shows="long diameter and degree two: cost of a level"),
    Case("bfs", "usa-road-d-ny", shows="real roads, New York"),
    Case("sssp", "kron18", shows="skewed degrees, weights from 1 to 100"),
    Case("sssp", "rgg18", shows="local edges, wide frontiers"),
    Case("sssp", "grid1000", shows="long diameter: cost of a round"),
    Case("sssp", "road1000", shows="long diameter and degree two: cost of a round"),
    Case("sssp", "usa-road-d-ny", shows="real roads with real lengths, New York"),
    Case("scc", "web-notredame", shows="real web graph"),
    Case("scc", "soc-slashdot0902", shows="real social graph, one large component"),
    Case("components", "kron18", shows="skewed degrees, one large component"),
    Case("components", "road1000", shows="long diameter, one component"),
    Case("triangles", "kron18", shows="skewed degrees: tables of bits"),
    Case("triangles", "rgg18", shows="local edges: rows of middling length merged"),
    Case("triangles", "road1000", shows="degree two: rows merged as they are stored"),
    Case("truss", "email-enron", shows="real messages: hundreds of rounds"),
    Case("truss", "rgg18", shows="local edges: few triangles an edge, few rounds"),
    Case("cores", "kron18", shows="skewed degrees: peeling by degree"),
    Case("cores", "road1000", shows="degree two: chains are peeled vertex by vertex"),
    Case("pagerank", "kron18", shows="skewed degrees: rows of all lengths summed"),
    Case("pagerank", "road1000", shows="degree two: short rows"),
    Case("spanning-forest", "kron18", shows="skewed degrees: most edges within a tree early"),
    Case("spanning-forest", "road1000", shows="degree two: long chains joined"),
    Case("independent-set", "kron18", shows="skewed degrees: hubs are out at once"),
    Case("independent-set", "road1000", shows="degree two: few rounds"),
    Case("coloring", "kron18", shows="skewed degrees: as many rounds as colours, about"),
    Case("coloring", "road1000", shows="degree two: few colours"),
    Case("eigenvector", "kron18", shows="skewed degrees: hubs decide in a few iterations"),
    Case("hits", "kron18", shows="the same by two products an iteration"),
    Case("katz", "kron18", shows="skewed degrees: a step counts little"),
    Case("katz", "road1000", shows="degree two: a step counts much"),
    Case("walks", "kron18", shows="skewed degrees: hubs are met often", presets=ORDERS),
    Case("walks", "road1000", shows="degree two: short rows", presets=ORDERS),
)

ALL = ("all",)
# All but the sequential search, which one work-item does.
DECOMPOSING = ("auto", "forward-backward", "coloring", "multistep", "signatures", "devshatwar")
BATCHES = ("auto", "bit-parallel")

_MEASURED = (
    Case("bfs", "kron20", shows="skewed degrees, state within the cache"),
    Case("bfs", "kron22", shows="skewed degrees, state beyond the cache: the Graph500 shape"),
    Case("bfs", "kron20x64", shows="dense and skewed: how much a pull level skips"),
    Case("bfs", "unif22", shows="even degrees, few levels: bandwidth of random reads"),
    Case("bfs", "rgg", shows="local edges, many levels of middling size"),
    Case("bfs", "mesh", shows="planar mesh, long diameter: cost of a level"),
    Case("bfs", "grid3d", shows="wide frontiers over hundreds of levels"),
    Case("bfs", "grid2d", shows="long diameter: cost of a level"),
    Case("bfs", "road", shows="long diameter and degree two: cost of a level"),
    Case("bfs", "usa-road-d-ny", shows="real roads, New York"),
    Case("bfs", "usa-road-bay", shows="real roads, San Francisco Bay"),
    Case("bfs", "usa-road-col", shows="real roads, Colorado"),
    Case("bfs", "usa-road-fla", shows="real roads, Florida"),
    Case("bfs", "usa-road-nw", shows="real roads, the Northwest"),
    Case("bfs", "soc-slashdot0902", shows="real social graph, directed"),
    Case("bfs", "web-notredame", shows="real web graph, directed, skewed in-degrees"),
    Case("sssp", "kron20", shows="skewed degrees: much work that is done again"),
    Case("sssp", "mesh", shows="planar mesh, long diameter"),
    Case("sssp", "road", shows="long diameter and degree two: cost of a round"),
    Case("sssp", "rgg", shows="local edges, wide frontiers"),
    Case("sssp", "usa-road-d-ny", shows="real roads with real lengths, New York"),
    Case("scc", "dgrid", shows="deep, components of all sizes"),
    Case("scc", "plaw20", shows="half a million components in an acyclic order"),
    Case("scc", "web-notredame", shows="real web graph"),
    Case("scc", "soc-slashdot0902", shows="real social graph, one large component"),
    Case("components", "kron20", shows="skewed degrees, one large component"),
    Case("components", "road", shows="long diameter, one component"),
    Case("components", "dblp-2010", shows="real co-authors, many components"),
    Case("multi-search", "kron20", shows="skewed degrees, few levels", presets=BATCHES),
    Case("multi-search", "road", shows="long diameter: a level costs a group"),
    Case("triangles", "kron20", shows="skewed degrees: tables of bits"),
    Case("triangles", "rgg", shows="local edges: rows of middling length merged"),
    Case("triangles", "mesh", shows="planar mesh without triangles"),
    Case("triangles", "road", shows="degree two: rows merged as they are stored"),
    Case("truss", "kron20", shows="skewed degrees: thousands of rounds"),
    Case("truss", "rgg", shows="local edges: few triangles an edge, few rounds"),
    Case("truss", "mesh", shows="planar mesh: peeled from its rim"),
    Case("truss", "soc-slashdot0902", shows="real social graph"),
    Case("truss", "dblp-2010", shows="real co-authors: large cliques"),
    Case("truss", "email-enron", shows="real messages: hundreds of rounds"),
    Case("pagerank", "kron20", shows="skewed degrees: rows of all lengths summed"),
    Case("pagerank", "kron22", shows="the same, ranks beyond the cache"),
    Case("pagerank", "road", shows="degree two: short rows"),
    Case("spanning-forest", "kron20", shows="skewed degrees: most edges within a tree early"),
    Case("spanning-forest", "road", shows="degree two: long chains joined"),
    Case("spanning-forest", "rgg", shows="local edges, even degrees"),
    Case("cores", "kron20", shows="skewed degrees: peeling by degree"),
    Case("cores", "rgg", shows="local edges: even degrees"),
    Case("cores", "road", shows="degree two: chains are peeled vertex by vertex"),
    Case("independent-set", "kron20", shows="skewed degrees: hubs are out at once"),
    Case("independent-set", "road", shows="degree two: few rounds"),
    Case("coloring", "kron20", shows="skewed degrees: as many rounds as colours, about"),
    Case("coloring", "road", shows="degree two: few colours"),
    Case("eigenvector", "kron20", shows="skewed degrees: hubs decide in a few iterations"),
    Case("hits", "web-notredame", shows="real web graph, directed"),
    Case("katz", "kron20", shows="skewed degrees: a step counts little"),
    Case("katz", "road", shows="degree two: a step counts much"),
    Case("walks", "kron20", shows="skewed degrees: hubs are met often", presets=ORDERS),
    Case("walks", "road", shows="degree two: short rows", presets=ORDERS),
)


def _of_papers() -> tuple[Case, ...]:
    """Graphs that the papers use and that are not among those above, by the papers' algorithms."""
    there = {case.graph for case in _MEASURED}
    return tuple(
        Case(
            "sssp" if known.papers == (SELF_TUNING,) else "bfs",
            name,
            shows=f"used by {', '.join(known.papers)}",
        )
        for name, known in GRAPHS.items()
        if known.papers and name not in there
    )


PAPERS = (*_MEASURED, *_of_papers())

FULL = (
    *PAPERS,
    Case("bfs", "luxembourg-osm", shows="real roads, degree two: the deepest for its size"),
    Case("bfs", "delaunay-n16", shows="triangulation of random points"),
    Case("bfs", "dblp-2010", shows="real co-authors, many components"),
    Case("bfs", "email-enron", shows="real e-mail, skewed and small"),
    Case("bfs", "cit-hepph", shows="real citations, directed"),
    Case("bfs", "as-caida20071105", shows="real internet, small: a search that is all launch"),
    Case("bfs", "ego-facebook", shows="real social circles, small and dense"),
)

# The published systems as presets of one engine; other problems on a graph of each kind.
PRESETS = (
    Case("bfs", "kron20", shows="skewed degrees", presets=ALL),
    Case("bfs", "kron22", shows="skewed degrees, state beyond the cache", presets=ALL),
    Case("bfs", "kron20x64", shows="dense and skewed", presets=ALL),
    Case("bfs", "unif22", shows="even degrees, few levels", presets=ALL),
    Case("bfs", "rgg", shows="local edges, many levels of middling size", presets=ALL),
    Case("bfs", "mesh", shows="planar mesh, long diameter", presets=ALL),
    Case("bfs", "grid3d", shows="wide frontiers over hundreds of levels", presets=ALL),
    Case("bfs", "grid2d", shows="long diameter: cost of a level", presets=ALL),
    Case("bfs", "road", shows="long diameter: cost of a level", presets=ALL),
    Case("bfs", "usa-road-d-ny", shows="real roads, New York", presets=ALL),
    Case("bfs", "web-notredame", shows="real web graph, directed", presets=ALL),
    Case("sssp", "kron20", shows="skewed degrees", presets=ALL),
    Case("sssp", "road", shows="long diameter", presets=ALL),
    Case("scc", "dgrid", shows="deep, components of all sizes", presets=DECOMPOSING),
    Case("scc", "web-notredame", shows="real web graph", presets=DECOMPOSING),
    Case("multi-search", "kron20", shows="skewed degrees, few levels", presets=ALL),
    Case("expansion", "kron20", shows="sizes far apart", metric="units/s", presets=ALL),
    Case("expansion", "road", shows="two units an item", metric="units/s", presets=ALL),
    Case("expansion", "unif22", shows="sizes alike", metric="units/s", presets=ALL),
)

# The GAP benchmark suite: its six kernels on its kinds of graphs, as far as they are at hand. 64
# searches, 16 trials of the others, betweenness from four sources a trial, every result checked.
GAP_GRAPHS = (
    ("kron20", "skewed degrees"),
    ("unif22", "even degrees, few levels"),
    ("road", "long diameter and degree two"),
    ("web-notredame", "real web graph, directed"),
)
GAP = tuple(
    Case(kind, graph, shows=shows, presets=presets)
    for kind, presets in (
        ("bfs", ("auto",)),
        ("sssp", ("auto",)),
        ("pagerank", ("gap",)),
        ("components", ("auto",)),
        ("betweenness", ("auto",)),
        ("triangles", ("auto",)),
    )
    for graph, shows in GAP_GRAPHS
)

# LDBC Graphalytics: its six algorithms, with its numbers of iterations. `graphalytics` writes and
# matches results as its reference data has them.
GRAPHALYTICS = tuple(
    Case(kind, graph, shows=shows, presets=presets)
    for kind, presets in (
        ("bfs", ("auto",)),
        ("pagerank", ("graphalytics",)),
        ("components", ("auto",)),
        ("propagation", ("auto",)),
        ("clustering", ("auto",)),
        ("sssp", ("auto",)),
    )
    for graph, shows in (
        ("kron20", "the benchmark's own kind, Graph500's generator"),
        ("rgg", "local edges and many triangles, as among acquaintances"),
        ("dblp-2010", "real co-authors"),
    )
)

COMMUNITIES = tuple(
    Case(kind, graph, shows=shows, presets=presets)
    for kind, presets in (
        ("leiden", ("auto",)),
        ("louvain", ("auto",)),
        ("propagation", ("auto",)),
        ("similarity", ("auto",)),
        ("modularity", ("auto",)),
    )
    for graph, shows in (
        ("kron16", "skewed degrees, hardly any communities"),
        ("kron18", "the same, beyond the cache of a processor"),
        ("road500", "long diameter: communities are regions"),
        ("rgg16", "local edges"),
    )
)

SUITES: dict[str, tuple[Case, ...]] = {
    "quick": QUICK,
    "processors": PROCESSORS,
    "papers": PAPERS,
    "presets": PRESETS,
    "full": FULL,
    "gap": GAP,
    "graphalytics": GRAPHALYTICS,
    "communities": COMMUNITIES,
}


def cases_of(suite: str, only: Collection[str] = ()) -> list[Case]:
    """Give the cases of a suite, or those of them that are named.

    Parameters
    ----------
    suite : str
        Key of `SUITES`.
    only : collection of str
        Graphs, algorithms or ``algorithm/graph``; nothing for all cases.

    Returns
    -------
    list of Case
        In the order of the suite.

    Raises
    ------
    InvalidArgumentError
        If there is no such suite, or something named is not in it.
    """
    if suite not in SUITES:
        raise InvalidArgumentError(f"suite={suite!r} is not one of {', '.join(SUITES)}.")
    names = {
        case: {case.graph, case.algorithm, f"{case.algorithm}/{case.graph}"}
        for case in SUITES[suite]
    }
    unknown = set(only).difference(*names.values())
    if unknown:
        graphs = sorted({case.graph for case in names})
        kinds = sorted({case.algorithm for case in names})
        raise InvalidArgumentError(
            f"{', '.join(sorted(unknown))} is not in suite {suite}; it has the graphs "
            f"{', '.join(graphs)} and the algorithms {', '.join(kinds)}."
        )
    return [case for case, known in names.items() if not only or not known.isdisjoint(only)]


def listed(suite: str, only: Collection[str] = ()) -> dict[str, Any]:
    """Report what a suite measures, and where each graph would be from.

    Parameters
    ----------
    suite, only
        As in `cases_of`.

    Returns
    -------
    dict
        ``listed``, the suite's name, and ``cases``: one dictionary each.

    Raises
    ------
    InvalidArgumentError
        As in `cases_of`.
    """
    cases = [
        {
            **asdict(case),
            "presets": list(case.presets),
            "origin": _origin(known := GRAPHS[case.graph]),
            "stand_in": known.stand_in,
            "papers": list(known.papers),
        }
        for case in cases_of(suite, only)
    ]
    return {"listed": suite, "cases": cases}


def _origin(known: Pinned) -> str:
    """Say where a graph is from, if it is in no folder."""
    if known.generator is not None:
        arguments = ", ".join(map(str, known.arguments))
        return f"generate.{known.generator}({arguments}, seed={SEED})"
    if known.url:
        return known.url
    return f"given, generated as {known.spec}" if known.spec else "given"
