"""A picture of a match beside its query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.graph.modules import module

if TYPE_CHECKING:
    from pathlib import Path

    from clgraph.algorithms.matching.result import MatchingResult

__all__ = ["draw_match"]

KEPT, LOST, MATCHED, UNMATCHED = "#2b6cb0", "#c53030", "#bee3f8", "#fed7d7"
SIZE_INCHES = (10.0, 5.0)


def draw_match(result: MatchingResult, path: str | Path, match: int | None = None) -> None:
    """Draw a query, and beside it what it was mapped to, with lost edges dashed.

    Parameters
    ----------
    result : MatchingResult
        With at least one match.
    path : str or Path
        Where to; its extension names the format, for instance .svg or .png.
    match : int, optional
        Which match; default is the cheapest.

    Raises
    ------
    ImportError
        If networkx or matplotlib is not installed.
    """
    networkx = module("networkx", needed_for="drawing a match")
    figures = module("matplotlib.figure", needed_for="drawing a match", install="matplotlib")
    graph = result.to_networkx(match)
    places = networkx.spring_layout(graph, seed=0)
    figure: Any = figures.Figure(figsize=SIZE_INCHES)
    left, right = figure.subplots(1, 2)
    kept = [(u, v) for u, v, stays in graph.edges(data="kept") if stays]
    lost = [(u, v) for u, v, stays in graph.edges(data="kept") if not stays]
    colours = [MATCHED if image is not None else UNMATCHED for _, image in graph.nodes("image")]
    networkx.draw_networkx(graph, places, ax=left, node_color=MATCHED, edge_color=KEPT)
    names = {u: "" if image is None else str(image) for u, image in graph.nodes("image")}
    networkx.draw_networkx(
        graph, places, ax=right, edgelist=kept, labels=names, node_color=colours, edge_color=KEPT
    )
    networkx.draw_networkx_edges(
        graph, places, ax=right, edgelist=lost, edge_color=LOST, style="dashed"
    )
    left.set_title("query")
    place = int(result.cost.argmin()) if match is None else match
    right.set_title(f"match of cost {result.cost[place]:.3g}; dashed edges are lost")
    for part in (left, right):
        part.set_axis_off()
    figure.savefig(path)
