"""A networkx graph in arrays, with what was compiled for it."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.graph import Graph, csr
from clgraph.interop.networkx.convert import (
    adjacency,
    edge_values,
    kind_of,
    multiplicities,
    names_and_numbers,
    to_networkx,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["NetworkxGraph"]


class NetworkxGraph:
    """What the backend computes on: nodes by number, neighbours in networkx's order.

    Made by `of_networkx` and `of_graph`; it has those methods of a networkx graph that only look.

    Attributes
    ----------
    names : list
        The nodes: vertex i is ``names[i]``.
    starts, edge_targets : int arrays [n + 1], [arcs]
        Neighbours of each vertex in networkx's order, each once.
    kept : dict
        Plans, by what they are for.
    """

    __networkx_backend__ = "clgraph"

    def __init__(
        self,
        names: list[Any],
        arrays: tuple[NDArray[Any], NDArray[Any]],
        *,
        directed: bool,
        copies: NDArray[np.int64] | None = None,
    ) -> None:
        self.names = names
        self.starts, self.edge_targets = arrays
        self.directed = directed
        self.copies = copies
        self.node_values: dict[Hashable, dict[Any, Any]] = {}
        self.graph: dict[str, Any] = {}
        self.kept: dict[Any, Any] = {}
        self.__networkx_cache__: dict[str, Any] = {}
        self._weights: dict[Hashable, NDArray[Any]] = {}
        self._original: Callable[[], Any] = _nothing
        self._weighted: dict[Hashable, Graph] = {}
        self._plain: Graph | None = None

    @classmethod
    def of_networkx(
        cls,
        nxg: Any,
        edge_attributes: Mapping[Hashable, Any] | None = None,
        node_attributes: Mapping[Hashable, Any] | None = None,
    ) -> NetworkxGraph:
        """Convert a networkx graph and the attributes that are asked for, each with a default."""
        rows = _rows(nxg)
        names, counted = names_and_numbers(rows)
        starts, edge_targets = adjacency(rows, names, counted=counted)
        multigraph = nxg.is_multigraph()
        copies = multiplicities(rows, edge_targets.size) if multigraph else None
        made = cls(names, (starts, edge_targets), directed=nxg.is_directed(), copies=copies)
        made._original = weakref.ref(nxg)
        made.counted = counted
        for attribute, default in (edge_attributes or {}).items():
            made._weights[attribute] = edge_values(rows, attribute, default, multigraph=multigraph)
        for attribute, default in (node_attributes or {}).items():
            made.node_values[attribute] = {
                node: data.get(attribute, default) for node, data in nxg.nodes.items()
            }
        return made

    @classmethod
    def of_graph(cls, graph: Graph) -> NetworkxGraph:
        """Look at a `clgraph.Graph` as networkx would; kept with the graph.

        Parallel edges are taken together, the lightest of them counts; weights are the attribute
        "weight".
        """
        made: NetworkxGraph | None = graph.kept.get(NetworkxGraph)
        if made is None:
            indptr, indices, weights = csr.drop_duplicates(
                graph.indptr, graph.indices, graph.weights
            )
            names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
            copies = None
            if indices.size != graph.m:
                edge_sources = csr.row_ids(graph.indptr, np.int64)
                _, copies = np.unique(edge_sources * graph.n + graph.indices, return_counts=True)
            made = cls(names, (indptr, indices), directed=graph.directed, copies=copies)
            made._complete = True
            if weights is not None:
                made._weights["weight"] = weights
            if indices.size == graph.m:
                made._plain = graph
            made._original = graph.to_networkx
            graph.kept[NetworkxGraph] = made
        return made

    counted = False  # whether each node is its own number
    _complete = False  # whether there are no attributes but those that are here

    def take_attributes(
        self,
        weights: dict[Hashable, NDArray[Any]],
        node_values: dict[Hashable, dict[Any, Any]],
    ) -> None:
        """Have the attributes of a graph that this is a copy of."""
        self._weights = dict(weights)
        self.node_values = dict(node_values)

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {name: vertex for vertex, name in enumerate(self.names)}

    @cached_property
    def objects(self) -> NDArray[np.object_]:
        """The nodes as an array, out of which many are taken at once."""
        return np.fromiter(self.names, object, len(self.names))

    def vertex(self, node: Any) -> int | None:
        """Give the number of a node, or None if it is not one."""
        if self.counted and type(node) is int:
            return node if 0 <= node < len(self.names) else None
        try:
            return self._number.get(node)
        except TypeError:  # not hashable
            return None

    def vertices(self, nodes: Iterable[Any]) -> NDArray[np.int64]:
        """Give the numbers of nodes that are known to be some."""
        return np.array([self.vertex(node) for node in nodes], np.int64)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @cached_property
    def edge_sources(self) -> NDArray[Any]:
        """Source of every arc."""
        return csr.row_ids(self.starts, self.edge_targets.dtype)

    @cached_property
    def loops(self) -> bool:
        """Whether an edge leads from a node to itself."""
        return bool((self.edge_sources == self.edge_targets).any())

    @property
    def plain(self) -> Graph:
        """The same without weights, rows sorted."""
        if self._plain is None:
            self._plain = self._sorted(None)
        return self._plain

    def weights(self, attribute: Hashable) -> NDArray[Any]:
        """Weight of every arc, in the order of `edge_targets`.

        Raises
        ------
        NotImplementedError
            If some are not finite numbers, or the graph was converted without them.
        """
        if attribute not in self._weights:
            self._weights[attribute] = self._late_weights(attribute)
        return self._weights[attribute]

    def _late_weights(self, attribute: Hashable) -> NDArray[Any]:
        if self._complete or attribute is None:
            return np.ones(self.edge_targets.size, np.int32)
        original = self._original()
        if original is None:
            raise NotImplementedError(f"the graph was converted without {attribute!r}")
        rows = _rows(original)
        return edge_values(rows, attribute, 1, multigraph=original.is_multigraph())

    def weighted(self, attribute: Hashable) -> Graph:
        """Give the same with weights, rows sorted."""
        if attribute not in self._weighted:
            self._weighted[attribute] = self._sorted(self.weights(attribute))
        return self._weighted[attribute]

    def _sorted(self, weights: NDArray[Any] | None) -> Graph:
        arrays: csr.CSR = (self.starts, self.edge_targets, weights)
        # A transposed row is sorted, and undirected graphs are their own transpose.
        arrays = csr.sorted_rows(*arrays) if self.directed else csr.transpose_csr(*arrays)
        return Graph.trusted(arrays, directed=self.directed)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Degree as networkx counts it: out and in, each parallel edge, self-loops twice."""
        ones = np.ones(self.edge_targets.size, np.int64) if self.copies is None else self.copies
        found = np.bincount(self.edge_sources, ones, minlength=self.n)
        if self.directed:
            found += np.bincount(self.edge_targets, ones, minlength=self.n)
        else:
            at = self.edge_sources == self.edge_targets
            found += np.bincount(self.edge_sources[at], ones[at], minlength=self.n)
        return found.astype(np.int64)

    def __getattr__(self, name: str) -> Any:
        """Let the networkx graph answer what is not here: networkx's code for what is refused."""
        if name.startswith("__") or "_original" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.to_networkx(), name)

    def to_networkx(self) -> Any:
        """Give the networkx graph it was made of, or one of its nodes, edges and weights."""
        original = self._original()
        if original is None:
            original = self._built()
            self._original = lambda: original  # of nobody else: kept here
        return original

    def _built(self) -> Any:
        once = slice(None) if self.directed else self.edge_sources <= self.edge_targets
        kind = kind_of(directed=self.directed, multigraph=self.is_multigraph())
        ends = (self.edge_sources[once], self.edge_targets[once])
        weights = {name: values[once] for name, values in self._weights.items()}
        return to_networkx(kind, self.names, ends, weights)

    def reverse(self, copy: bool = True) -> NetworkxGraph:
        """Graph with all edges the other way round, kept; an undirected graph is its own."""
        if not self.directed:
            return self
        made: NetworkxGraph | None = self.kept.get("reverse")
        if made is None:
            order = np.argsort(self.edge_targets, kind="stable")
            starts = np.zeros(self.n + 1, self.starts.dtype)
            np.cumsum(np.bincount(self.edge_targets, minlength=self.n), out=starts[1:])
            copies = None if self.copies is None else self.copies[order]
            made = NetworkxGraph(
                self.names, (starts, self.edge_sources[order]), directed=True, copies=copies
            )
            made.counted = self.counted
            made._weights = {name: values[order] for name, values in self._weights.items()}
            made.kept["reverse"] = self
            self.kept["reverse"] = made
        return made

    def is_directed(self) -> bool:
        """Whether edges go one way only."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether there may be parallel edges."""
        return self.copies is not None

    def order(self) -> int:
        """Count the nodes."""
        return self.n

    number_of_nodes = order

    def number_of_edges(self) -> int:
        """Count the edges, parallel ones too."""
        both = self.edge_targets.size if self.copies is None else int(self.copies.sum())
        if self.directed:
            return both
        at = self.edge_sources == self.edge_targets
        loops = int(at.sum()) if self.copies is None else int(self.copies[at].sum())
        return (both + loops) // 2

    def size(self) -> int:
        """Count the edges."""
        return self.number_of_edges()

    @property
    def nodes(self) -> list[Any]:
        """The nodes."""
        return self.names

    @cached_property
    def listed(self) -> NDArray[np.int64]:
        """Places of the arcs in the order and direction in which networkx lists edges."""
        if self.directed:
            return np.arange(self.edge_targets.size)
        return np.flatnonzero(self.edge_sources <= self.edge_targets)

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """Pairs of nodes, without parallel edges."""
        names = self.names
        edge_sources, edge_targets = (
            self.edge_sources[self.listed].tolist(),
            self.edge_targets[self.listed].tolist(),
        )
        return [(names[u], names[v]) for u, v in zip(edge_sources, edge_targets, strict=True)]

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Any]:
        """Nodes among those given: one, several, or all."""
        if nbunch is None:
            return iter(self.names)
        if nbunch in self:
            return iter([nbunch])
        try:
            return iter([node for node in nbunch if node in self])
        except TypeError:
            raise nx.NetworkXError(f"Node {nbunch} is not in the graph.") from None

    def __contains__(self, node: object) -> bool:
        """Whether something is a node."""
        return self.vertex(node) is not None

    def __iter__(self) -> Iterator[Any]:
        """Go through the nodes."""
        return iter(self.names)

    def __len__(self) -> int:
        """Count the nodes."""
        return self.n

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the arrays: networkx keeps conversions with its graphs."""
        arrays = (self.starts, self.edge_targets)
        of = (self.names, arrays, self.directed, self.copies, self._weights, self.node_values)
        return _restored, of

    def __repr__(self) -> str:
        """Sizes and kind in one line."""
        kind = "directed" if self.directed else "undirected"
        return f"NetworkxGraph({self.n} nodes, {self.number_of_edges()} edges, {kind})"


def _restored(
    names: list[Any],
    arrays: tuple[NDArray[Any], NDArray[Any]],
    directed: bool,
    copies: NDArray[np.int64] | None,
    weights: dict[Hashable, NDArray[Any]],
    node_values: dict[Hashable, dict[Any, Any]],
) -> NetworkxGraph:
    made = NetworkxGraph(names, arrays, directed=directed, copies=copies)
    made.take_attributes(weights, node_values)
    return made


def _rows(nxg: Any) -> Any:
    """Give neighbours by node; of views a copy, since rows of multigraphs miscount there."""
    rows = nxg._adj  # noqa: SLF001 - what every backend reads; views take ten times as long
    if type(nxg).__getitem__ is not nx.Graph.__getitem__:  # a class with neighbours of its own
        rows = nxg
    elif isinstance(rows, dict):
        return rows
    return {node: dict(rows[node]) for node in rows}


def _nothing() -> None:
    return None
