"""A backend of networkx: ``nx.betweenness_centrality(G, backend="clgraph")`` runs on a device.

Networkx finds `backend` by the entry point "networkx.backends" of this package, and reads
``_clgraph_networkx_info`` to know of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.graph import Graph
from clgraph.interop.networkx.all_pairs import AllPairs
from clgraph.interop.networkx.betweenness import Betweenness
from clgraph.interop.networkx.breadth_first import BreadthFirst
from clgraph.interop.networkx.closeness import Closeness
from clgraph.interop.networkx.clustering import Clustering
from clgraph.interop.networkx.communities import Communities
from clgraph.interop.networkx.components import Components
from clgraph.interop.networkx.derived import Derived
from clgraph.interop.networkx.distance_measures import DistanceMeasures
from clgraph.interop.networkx.graph import NetworkxGraph
from clgraph.interop.networkx.ranking import Ranking
from clgraph.interop.networkx.reachability import Reachability
from clgraph.interop.networkx.shortest_paths import ShortestPaths
from clgraph.interop.networkx.structure import Structure
from clgraph.interop.networkx.suite import choose_tests

if TYPE_CHECKING:
    from clgraph.interop.networkx.serving import Served

__all__ = ["Backend", "NetworkxGraph", "backend"]


class Backend(
    BreadthFirst,
    ShortestPaths,
    AllPairs,
    Betweenness,
    Closeness,
    DistanceMeasures,
    Reachability,
    Components,
    Clustering,
    Ranking,
    Structure,
    Communities,
    Derived,
):
    """What networkx calls: one method for each of its functions that is served."""

    on_start_tests = staticmethod(choose_tests)

    @classmethod
    def served(cls) -> dict[str, Served]:
        """Functions by name, in the order of their groups."""
        found = {
            name: method.served
            for base in cls.__mro__
            for name, method in vars(base).items()
            if hasattr(method, "served")
        }
        groups = list(dict.fromkeys(served.group for served in found.values()))
        return dict(sorted(found.items(), key=lambda item: groups.index(item[1].group)))

    def convert_from_nx(
        self,
        graph: Any,
        *,
        edge_attrs: dict[Any, Any] | None = None,
        node_attrs: dict[Any, Any] | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str | None = None,
        graph_name: str | None = None,
    ) -> NetworkxGraph:
        """Convert a networkx graph; see `NetworkxGraph.of_networkx`.

        Raises
        ------
        NotImplementedError
            If a weight is no finite number.
        """
        return NetworkxGraph.of_networkx(graph, edge_attrs, node_attrs)

    def convert_to_nx(self, obj: Any, *, name: str | None = None) -> Any:
        """Give a networkx graph for one of ours, and anything else as it is."""
        return obj.to_networkx() if isinstance(obj, (NetworkxGraph, Graph)) else obj

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Say whether the backend computes this, or why it does not."""
        method = getattr(type(self), name, None)
        served: Served | None = getattr(method, "served", None)
        if served is None:
            return f"{name} is not a function of this backend"
        return served.why_not(args, kwargs) or True

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Say whether a call pays for its conversion, or why it does not."""
        served: Served = getattr(type(self), name).served
        return served.why_should_not(args, kwargs) or True


backend = Backend()
