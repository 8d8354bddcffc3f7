"""Pictures by matplotlib: levels, distances and components; small graphs with their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.modules import module
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph

__all__ = ["draw", "layout", "plot"]

MOST_DRAWN = 1000  # vertices; a picture of more is a blot, and a layout takes O(n^2)
STEPS = 60
NAMED = 50  # vertices that are few enough for their names


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return module("matplotlib.pyplot", needed_for="drawing", install="matplotlib").subplots()[1]


def plot(result: Any, *, ax: Any = None) -> Any:
    """Draw a result; see `NamedResult.plot`."""
    axes = _axes(ax)
    name, values = next(iter(result.columns().items()))
    if result.plot_kind == "sizes":
        sizes = np.sort(result.sizes)[::-1]
        axes.loglog(np.arange(1, sizes.size + 1), sizes, marker=".", linestyle="none")
        axes.set(xlabel="component, by size", ylabel="vertices")
    elif result.plot_kind == "levels":
        counts = np.bincount(values[values >= 0])
        axes.bar(np.arange(counts.size), counts)
        axes.set(xlabel="distance in hops", ylabel="vertices")
    else:
        axes.hist(values[np.isfinite(values)], bins=40)
        axes.set(xlabel=name, ylabel="vertices")
    return axes


def draw(graph: Graph, *, result: Any = None, ax: Any = None, seed: int = 0) -> Any:
    """Draw a small graph, vertices coloured by a result.

    Parameters
    ----------
    graph : Graph
        Of at most 1,000 vertices.
    result : result of an algorithm, or array [n], optional
        What colours mean; vertices that are not reached are grey.
    ax : matplotlib.axes.Axes, optional
        Where; default a new figure.
    seed : int
        Of the layout.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidArgumentError
        If the graph is too large, or there is not one colour for each vertex.
    ImportError
        If matplotlib is not installed.
    """
    if graph.n > MOST_DRAWN:
        raise InvalidArgumentError(
            f"a graph of {graph.n} vertices is too large to draw; pass one of at most {MOST_DRAWN},"
            " such as graph.subgraph(...)."
        )
    colours = np.zeros(graph.n)
    if result is not None:
        given = result if isinstance(result, np.ndarray) else next(iter(result.columns().values()))
        colours = np.asarray(given, np.float64)
    if colours.shape != (graph.n,):
        raise InvalidArgumentError(f"result has shape {colours.shape}; it needs ({graph.n},).")
    axes, places = _axes(ax), layout(graph, seed)
    lines = module("matplotlib.collections", needed_for="drawing", install="matplotlib")
    sources, targets, _ = graph.listed_edges()
    ends = np.stack([places[sources], places[targets]], axis=1)
    axes.add_collection(lines.LineCollection(ends, colors="0.8", linewidths=0.8, zorder=1))
    known = np.isfinite(colours) & (colours >= 0) if result is not None else colours == 0
    axes.scatter(*places[~known].T, c="0.6", s=30, zorder=2)
    axes.scatter(*places[known].T, c=colours[known], s=30, zorder=3)
    if graph.n <= NAMED:
        for name, (x, y) in zip(graph.vertices, places, strict=True):
            axes.annotate(str(name), (x, y), textcoords="offset points", xytext=(4, 4))
    axes.set_axis_off()
    return axes


def layout(graph: Graph, seed: int = 0) -> NDArray[np.float64]:
    """Places [n, 2] of vertices: edges pull, all vertices push.

    References
    ----------
    .. [1] T. Fruchterman, E. Reingold, "Graph drawing by force-directed placement", Software:
           Practice and Experience 21 (1991).
    """
    places: NDArray[np.float64] = seeded(seed).random((graph.n, 2))
    sources, targets, _ = graph.symmetrized().listed_edges()
    spacing = 1 / max(graph.n, 1) ** 0.5
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        length = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        moves = (apart * (spacing**2 / length**2)[..., None]).sum(axis=1)
        along = places[sources] - places[targets]
        pull = along * np.linalg.norm(along, axis=1)[:, None] / spacing
        np.add.at(moves, sources, -pull)
        np.add.at(moves, targets, pull)
        size = np.maximum(np.linalg.norm(moves, axis=1), 1e-9)[:, None]
        places += moves / size * np.minimum(size, 0.1 * (1 - step / STEPS))
    return places
