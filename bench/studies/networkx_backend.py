"""What the networkx backend gains, call by call, and cuRnet's sweep against igraph.

``python -m bench.studies.networkx_backend --device pocl --json F`` prints, for each function,
networkx's seconds, those of the first call on the backend (conversion, compiling and all), of one
on a graph that is not converted yet where kernels are built, and of a second on the same graph.
Where networkx would take minutes it computes for a sample of the sources; its time is that of the
sample, times all over the sample. ``--what sweep`` measures searches from ever more sources of a
network of proteins' size, in turn with igraph, which searches from a sample where sources are
many: it takes them one after the other; also strong components, the building of the graphs, and
joules where the device has a meter. ``--what conversion`` measures conversions of a million
edges in seconds of the processor. Results are compared.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

import clgraph as cg
from clgraph import energy
from clgraph.graph.modules import module
from clgraph.interop.networkx import NetworkxGraph

from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CALLS", "conversions", "measure", "sweep"]

SCHEMA = "clgraph-networkx/1"
REPEATS = 3  # of what takes little time
SAMPLE = 40  # sources that networkx or igraph search from where all would take minutes
BUILDING_COUNTS = 10.0  # seconds of a second call; of less, a first is made again, kernels built
PARTS = ("functions", "sweep", "conversion")
# Functions with a bar: 20 times networkx on two cores with PoCL.
BARS = (
    "betweenness_centrality",
    "closeness_centrality",
    "diameter",
    "all_pairs_shortest_path_length",
    "strongly_connected_components",
)
FEWEST = 10  # sources
SHARES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
VERTICES = 15_000
DENSITIES = (11, 5, 2)  # edges drawn for a vertex: all interactions, likely ones, the surest
TURNED = 0.3  # of the edges of a directed network, that lead to a later vertex


def _sampled(graph: Any, chosen: list[Any]) -> dict[Any, Any]:
    return {node: nx.single_source_shortest_path_length(graph, node) for node in chosen}


# name -> (whether of a directed graph, the call, how networkx computes a share of it or None)
Call = tuple[bool, "Callable[[Any], Any]", "Callable[[Any, list[Any]], Any] | None"]
CALLS: dict[str, Call] = {
    "betweenness_centrality": (
        False,
        nx.betweenness_centrality,
        lambda g, part: nx.betweenness_centrality_subset(g, part, list(g)),
    ),
    "closeness_centrality": (False, nx.closeness_centrality, _sampled),
    "diameter": (False, nx.diameter, _sampled),
    "all_pairs_shortest_path_length": (
        False,
        lambda g: sum(len(row) for _, row in nx.all_pairs_shortest_path_length(g)),
        _sampled,
    ),
    "strongly_connected_components": (
        True,
        lambda g: len(list(nx.strongly_connected_components(g))),
        None,
    ),
    "connected_components": (False, lambda g: len(list(nx.connected_components(g))), None),
    "triangles": (False, nx.triangles, None),
    "single_source_shortest_path_length": (
        False,
        lambda g: nx.single_source_shortest_path_length(g, 0),
        None,
    ),
    "single_source_dijkstra_path_length": (
        False,
        lambda g: nx.single_source_dijkstra_path_length(g, 0),
        None,
    ),
}


def graph_of(scale: int, *, directed: bool) -> Any:
    """Build a Kronecker graph in networkx, undirected its largest component."""
    kind = nx.DiGraph if directed else nx.Graph
    drawn = cg.generate.kron(scale, 8, seed=1)
    sources, targets, _ = drawn.listed_edges()
    made = kind()
    made.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    if not directed:
        made = made.subgraph(max(nx.connected_components(made), key=len)).copy()
        made = nx.convert_node_labels_to_integers(made)
    return made


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call, and its result."""
    begin = time.perf_counter()
    found = call()
    return time.perf_counter() - begin, found


def timed_again(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of several calls, their median, and the result of the last."""
    times, found = zip(*(timed(call) for _ in range(REPEATS)), strict=True)
    return statistics.median(times), found[-1]


def unconverted(graph: Any) -> Any:
    """Have a networkx graph forget its conversion."""
    graph.__networkx_cache__.clear()
    return graph


def measure(name: str, scale: int) -> dict[str, Any]:
    """Time a function on networkx and twice on the backend."""
    directed, call, part = CALLS[name]
    graph = graph_of(scale, directed=directed)
    rng = np.random.default_rng(0)
    if part is None:
        theirs_s, theirs = timed_again(lambda: call(graph))
        sampled = 1.0
    else:
        chosen = rng.choice(len(graph), min(SAMPLE, len(graph)), replace=False).tolist()
        sampled = len(graph) / len(chosen)
        own_s, _ = timed(lambda: part(graph, chosen))
        theirs_s, theirs = own_s * sampled, None
    before = list(nx.config.backend_priority.algos)
    asked = nx.utils.backends._load_backend("clgraph")  # noqa: SLF001 - no size is too small here
    ask, asked.should_run = asked.should_run, lambda *_: True
    try:
        nx.config.backend_priority.algos = ["clgraph"]
        conversion_s, _ = timed(lambda: NetworkxGraph.of_networkx(graph).plain)
        first_s, ours = timed(lambda: call(graph))
        second_s, _ = timed(lambda: call(graph))
        fresh_s = first_s
        if second_s < BUILDING_COUNTS:
            fresh_s, _ = timed_again(lambda: call(unconverted(graph)))
    finally:
        nx.config.backend_priority.algos = before
        asked.should_run = ask
    if theirs is not None and theirs != ours:
        raise SystemExit(f"{name}: results differ")
    return {
        "function": name,
        "nodes": len(graph),
        "edges": graph.number_of_edges(),
        "networkx_s": theirs_s,
        "networkx_sampled": sampled > 1,
        "conversion_s": conversion_s,
        "first_s": first_s,
        "fresh_s": fresh_s,
        "second_s": second_s,
    }


def network(vertices: int, per_vertex: int) -> Any:
    """Draw an interaction network in igraph: weighted, a few hubs, many vertices of low degree."""
    peer = module("igraph", needed_for="the sweep").Graph.Barabasi(vertices, per_vertex)
    peer.es["weight"] = np.random.default_rng(2).random(peer.ecount()).tolist()
    return peer


def sweep(device: str, scale: float, most: float) -> Iterator[dict[str, Any]]:
    """Time searches from ever more sources against igraph, in turn, at three densities.

    Also strong components, and the building of both graphs from arrays of edges, apart from that.
    """
    for per_vertex in DENSITIES:
        peer = network(int(VERTICES * scale), per_vertex)
        yield from _built(peer, per_vertex)
        yield from _searched(peer, device, most, per_vertex)
        yield from _components(peer, device, per_vertex)


def _row(kind: str, per_vertex: int, sources: int, **measured: Any) -> dict[str, Any]:
    return {"kind": kind, "edges_per_vertex": per_vertex, "sources": sources} | measured


def _built(peer: Any, per_vertex: int) -> Iterator[dict[str, Any]]:
    ends = np.array(peer.get_edgelist())
    weights = np.array(peer.es["weight"])
    times = []
    for _ in range(REPEATS):
        graph_of: Callable[..., Any] = type(peer)
        made = partial(graph_of, peer.vcount(), ends.tolist(), edge_attrs={"weight": weights})
        peer_s, _ = timed(made)
        src, dst = ends.T
        own = partial(cg.from_edges, src, dst, weights, n=peer.vcount(), directed=False)
        own_s, _ = timed(own)
        times.append((peer_s, own_s))
    peer_s, own_s = _medians(times)
    yield _row("construction", per_vertex, 0, igraph_s=peer_s, clgraph_s=own_s)


def _searched(peer: Any, device: str, most: float, per_vertex: int) -> Iterator[dict[str, Any]]:
    n, ours = peer.vcount(), cg.from_igraph(peer)
    rng = np.random.default_rng(3)
    for method in (ours.bfs, ours.sssp_distances):
        for first in ([0], list(range(SAMPLE))):  # builds the kernels of either way
            method(first, device=device, as_numpy=True)
    shares = [share for share in SHARES if share <= most]
    for share in (FEWEST / n, *shares):
        sources = rng.choice(n, max(round(share * n), 1), replace=False).tolist()
        for kind, weight in (("bfs", None), ("sssp", "weight")):
            method = ours.bfs if kind == "bfs" else ours.sssp_distances
            run = partial(method, sources, device=device, as_numpy=True)
            sample = sources[:SAMPLE]
            peers = partial(peer.distances, sample, weights=weight)
            times = []
            if kind == "bfs":
                run()  # more searches in a pass have wider rows, and kernels for these are built
            for _ in range(REPEATS if len(sources) < 200 else 1):
                peer_s, theirs = timed(peers)
                own_s, found = timed(run)
                times.append((peer_s * len(sources) / len(sample), own_s))
            if not np.allclose(np.array(theirs), np.where(found < 0, np.inf, found)[: len(sample)]):
                raise SystemExit(f"{kind}: distances differ")
            peer_s, own_s = _medians(times)
            joules = None
            if share == SHARES[-1]:
                with energy.measure(device) as window:
                    run()
                joules = window.joules
            yield _row(
                kind,
                per_vertex,
                len(sources),
                igraph_s=peer_s,
                igraph_sampled=len(sample) < len(sources),
                clgraph_s=own_s,
                joules=joules,
            )


def _components(peer: Any, device: str, per_vertex: int) -> Iterator[dict[str, Any]]:
    """Of the same network with each edge one way, as the best hits of one genome in another are."""
    ends = np.array(peer.get_edgelist())
    turned = np.random.default_rng(4).random(len(ends)) < TURNED
    ends[turned] = ends[turned, ::-1]
    one_way = type(peer)(peer.vcount(), ends.tolist(), directed=True)
    ours = cg.from_igraph(one_way)
    ours.scc(device=device)
    times = []
    for _ in range(REPEATS):
        peer_s, theirs = timed(lambda: one_way.connected_components(mode="strong"))
        own_s, found = timed(lambda: ours.scc(device=device))
        times.append((peer_s, own_s))
    if len(theirs) != found.attrs["n_components"]:
        raise SystemExit("scc: components differ")
    peer_s, own_s = _medians(times)
    yield _row("scc", per_vertex, 0, igraph_s=peer_s, clgraph_s=own_s)


def _medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    theirs, ours = zip(*times, strict=True)
    return statistics.median(theirs), statistics.median(ours)


def conversions(edges: int) -> Iterator[dict[str, Any]]:
    """Time conversions in seconds of this process's processor time, which is of one core."""
    drawn = np.random.default_rng(0).integers(0, edges // 10, (edges, 2)).tolist()
    whole: Any = nx.Graph()
    whole.add_nodes_from(range(edges // 10))
    whole.add_edges_from(drawn)
    names = [f"n{node}" for node in whole]
    texts = nx.relabel_nodes(whole, dict(enumerate(names)))
    asked_for: tuple[tuple[str, Any, dict[Any, Any] | None], ...] = (
        ("integers", whole, None),
        ("texts", texts, None),
        ("integers, by weight", whole, {"weight": 1}),
    )
    for kind, graph, attributes in asked_for:
        taken = []
        for _ in range(REPEATS):
            begin = time.process_time()
            made = NetworkxGraph.of_networkx(graph, attributes)
            _ = made.weighted("weight") if attributes else made.plain
            taken.append(time.process_time() - begin)
        nx.number_connected_components(graph, backend="clgraph")
        begin = time.process_time()
        asked = nx.number_connected_components(graph, backend="clgraph")
        again = time.process_time() - begin
        yield {
            "nodes": kind,
            "edges": graph.number_of_edges(),
            "first_s": statistics.median(taken),
            "least_s": min(taken),
            "second_s": again,
            "components": asked,
        }


def main() -> None:
    """Print a table, and write records if asked to."""
    parser = command(__doc__, "--json", device="pocl", scale=14, commit=None)
    parser.add_argument("--only", nargs="*", choices=CALLS, default=BARS, help="these functions")
    parser.add_argument("--what", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--share", type=float, default=1.0, help="size of the sweep's network")
    parser.add_argument("--most", type=float, default=0.2, help="of the vertices as sources")
    parser.add_argument("--edges", type=int, default=1_000_000, help="of what is converted")
    options = parser.parse_args()
    device = cg.device(options.device)
    nx.config.backends.clgraph.device = options.device
    nx.config.warnings_to_ignore.add("cache")
    record: dict[str, Any] = {"schema": SCHEMA, "machine": machine.describe(device, options.commit)}
    if "functions" in options.what:
        record["functions"] = []
        for name in options.only:
            row = measure(name, options.scale)
            record["functions"].append(row)
            about = "about" if row["networkx_sampled"] else ""
            print(
                f"{name:32} {row['nodes']:7} {row['edges']:8}  networkx {about} "
                f"{row['networkx_s']:8.3f} s, first {row['first_s']:7.3f} s, with kernels built "
                f"{row['fresh_s']:7.3f} s ({row['networkx_s'] / row['fresh_s']:.1f} times), "
                f"second {row['second_s']:7.3f} s, converting {row['conversion_s']:7.3f} s",
                flush=True,
            )
    if "sweep" in options.what:
        record["sweep"] = []
        for row in sweep(options.device, options.share, options.most):
            record["sweep"].append(row)
            ratio = row["igraph_s"] / row["clgraph_s"]
            print(
                f"{row['kind']:12} {row['edges_per_vertex']:3} edges a vertex {row['sources']:6} "
                f"sources: igraph {row['igraph_s']:8.3f} s, clgraph {row['clgraph_s']:8.3f} s, "
                f"{ratio:6.1f} times",
                flush=True,
            )
    if "conversion" in options.what:
        record["conversion"] = []
        for row in conversions(options.edges):
            record["conversion"].append(row)
            print(
                f"{row['nodes']:22} {row['edges']:9} edges: {row['first_s']:.3f} s, at least "
                f"{row['least_s']:.3f} s; the second call {row['second_s']:.4f} s",
                flush=True,
            )
    keep(record, options.json)


if __name__ == "__main__":
    main()
