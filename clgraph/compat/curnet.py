"""The five functions of cuRnet, an R package, by their names and in their shapes.

Rows are source vertices, columns the vertices of the network. See `clgraph.Graph` for the methods
that these call.

References
----------
.. [1] V. Bonnici, F. Busato, S. Aldegheri, M. Akhmedov, L. Cascione, A. A. Carmena, F. Bertoni,
       N. Bombieri, I. Kwee, R. Giugno, "cuRnet: an R package for graph traversing on GPU", BMC
       Bioinformatics 19 (2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.errors import InvalidArgumentError
from clgraph.graph.build import from_pandas
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from clgraph.graph import Graph

__all__ = ["cuRnet_bfs", "cuRnet_graph", "cuRnet_scc", "cuRnet_sssp", "cuRnet_sssp_dists"]


def cuRnet_graph(x: Any) -> Graph:  # noqa: N802 - their names
    """Graph of a table of two or three columns: from, to and, if there is one, weight.

    Parameters
    ----------
    x : pandas.DataFrame
        Names of vertices as texts; edges go one way.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than two or more than three columns.
    """
    columns = list(x.columns)
    if not 2 <= len(columns) <= 3:
        raise InvalidArgumentError(f"the table has {len(columns)} columns; it needs 2 or 3.")
    named = x.astype({columns[0]: str, columns[1]: str})
    return from_pandas(named, *columns)


def cuRnet_bfs(g: Graph, sources: Any) -> Any:  # noqa: N802
    """Depths of all vertices from some: a table int32 [sources, vertices], -1 unreached."""
    return g.bfs(sources)


def cuRnet_sssp(g: Graph, sources: Any) -> dict[str, Any]:  # noqa: N802
    """Tables of "distances" and "predecessors" [sources, vertices]."""
    found = g.sssp(sources)
    return {"distances": found.distances, "predecessors": found.predecessors}


def cuRnet_sssp_dists(g: Graph, sources: Any) -> Any:  # noqa: N802
    """Distances of all vertices from some: a table [sources, vertices]."""
    return g.sssp_distances(sources)


def cuRnet_scc(g: Graph) -> Any:  # noqa: N802
    """Strongly connected component of each vertex: a table [1, vertices]."""
    labels = g.scc()
    return module("pandas").DataFrame([labels.to_numpy()], columns=labels.index)
