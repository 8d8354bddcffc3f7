"""Methods of a graph that speak of vertices by name, in tables of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.graph.arguments import flags
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["NamedSearches"]

FRAMES = "clgraph.interop.tables.frames"


class NamedSearches:
    """Searches from many vertices at once; rows are sources, columns vertices."""

    @property
    def vertices(self) -> Any:
        """Names of the vertices, a pandas index: the columns of every table."""
        return module(FRAMES).named_vertices(self)

    @flags
    def bfs(
        self,
        sources: Any,
        *,
        batch: str = "auto",
        as_numpy: bool = False,
        out: NDArray[np.int32] | None = None,
        device: Any = None,
    ) -> Any:
        """Hop distances from several vertices.

        Parameters
        ----------
        sources : name, or names
            Where to begin; a name that comes twice has two rows.
        batch : {"auto", "per_source", "per_group"}
            Whether one search after the other has the whole device, or each a work-group; "auto"
            also lets searches share a traversal, and decides by what was measured.
        as_numpy : bool
            Whether to give an array instead of a table.
        out : int32 array [k, n], optional
            Where to put the distances.
        device : Device or str, optional
            Default is ``clgraph.device()``.

        Returns
        -------
        pandas.DataFrame
            int32 [k, n], -1 where there is no path.

        Raises
        ------
        KeyError
            If a source is not a vertex.
        InvalidArgumentError
            If there is no such batch, or `out` has another shape or type.
        DeviceMemoryError
            If not even one search fits the device.

        Notes
        -----
        O(k (n + m)) work. Searches whose distances do not fit the device together are run in
        blocks; `bfs_blocks` is for tables that do not fit the host.
        """
        frames = module(FRAMES)
        return frames.hops(self, sources, batch=batch, as_numpy=as_numpy, out=out, device=device)

    def bfs_blocks(
        self, sources: Any, *, block: int | None = None, batch: str = "auto", device: Any = None
    ) -> Iterator[Any]:
        """Tables as of `bfs`, some sources at a time.

        Parameters
        ----------
        sources, batch, device
            As for `bfs`.
        block : int, optional
            Sources of a table; default what fits the device.

        Yields
        ------
        pandas.DataFrame
            int32 [b, n].
        """
        frames = module(FRAMES)
        yield from frames.hop_blocks(self, sources, block=block, batch=batch, device=device)

    def sssp(self, sources: Any, *, batch: str = "auto", device: Any = None) -> Any:
        """Shortest paths by weight from several vertices.

        Parameters
        ----------
        sources : name, or names
            Where to begin.
        batch : {"auto", "per_source", "per_group"}
            Whether one search after the other has the whole device, or each a work-group; "auto"
            decides by what was measured.
        device : Device or str, optional
            Default is ``clgraph.device()``.

        Returns
        -------
        NamedPaths
            ``distances`` and ``predecessors``, tables [k, n]; ``path(source, target)``.

        Raises
        ------
        KeyError
            If a source is not a vertex.
        InvalidArgumentError
            If the graph has no weights, there is no such batch, or "per_group" is asked for where
            weights are negative or lengths might not fit their type.
        NegativeCycleError
            If a source leads to a cycle of negative weight.

        Notes
        -----
        Both ways give the same distances. Predecessors are the same on every device: the least
        vertex among those on a shortest path with the fewest edges.
        """
        return module(FRAMES).paths(self, sources, batch=batch, device=device)

    @flags
    def sssp_distances(
        self, sources: Any, *, batch: str = "auto", as_numpy: bool = False, device: Any = None
    ) -> Any:
        """Distances as of `sssp`, without predecessors.

        Parameters
        ----------
        sources, batch, device
            As for `sssp`.
        as_numpy : bool
            Whether to give an array instead of a table.

        Returns
        -------
        pandas.DataFrame
            In the type of the weights if that is of floating point, else float64 [k, n]; infinite
            where there is no path.
        """
        frames = module(FRAMES)
        return frames.lengths(self, sources, batch=batch, as_numpy=as_numpy, device=device)

    def sssp_distance_blocks(
        self, sources: Any, *, block: int | None = None, batch: str = "auto", device: Any = None
    ) -> Iterator[Any]:
        """Tables as of `sssp_distances`, some sources at a time."""
        frames = module(FRAMES)
        yield from frames.length_blocks(self, sources, block=block, batch=batch, device=device)

    def scc(self, *, device: Any = None) -> Any:
        """Strongly connected component of every vertex.

        Returns
        -------
        pandas.Series
            int32 [n] by name, 0 .. k - 1; ``attrs["n_components"]`` is k.
        """
        return module(FRAMES).strong(self, device=device)

    def component_of(self, vertex: Any, *, device: Any = None) -> Any:
        """Names of the vertices that reach a vertex and are reached by it.

        Raises
        ------
        KeyError
            If there is no such vertex.
        """
        _, (number,) = module(FRAMES).numbers_of(self, [vertex])
        labels = self.scc(device=device)
        return labels.index[labels.to_numpy() == labels.iloc[number]]

    def subgraph(self, vertices: Any) -> Any:
        """Graph of some vertices and the edges between them; they keep their names.

        Parameters
        ----------
        vertices : names
            Each once; those of the graph made are in this order.

        Raises
        ------
        KeyError
            If one is not a vertex.
        """
        _, numbers = module(FRAMES).numbers_of(self, vertices)
        return module("clgraph.interop.tables.building").subgraph(self, numbers)

    def mean_distance(self, sources: Any = None, *, device: Any = None) -> float:
        """Mean distance from some vertices, or all, to all that they reach; NaN if there are none.

        By weight where the graph has weights, else in hops; a vertex and itself are no pair.
        """
        found: float = module(FRAMES).mean_distance(self, sources, device=device)
        return found

    def draw(self, *, result: Any = None, ax: Any = None, seed: int = 0) -> Any:
        """Draw a small graph with matplotlib; see `clgraph.interop.drawing.draw`."""
        return module("clgraph.interop.drawing").draw(self, result=result, ax=ax, seed=seed)

    def _repr_html_(self) -> str:
        return str(module("clgraph.interop.html").of_graph(self))
