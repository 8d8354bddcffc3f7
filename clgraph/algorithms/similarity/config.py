"""How rows are intersected where similarities are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.engine.strategies.parameters import choice
from clgraph.engine.strategies.presets import Configuration

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["SimilarityConfig"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimilarityConfig(Configuration):
    """How rows are intersected; a configuration changes speed, never results.

    Parameters
    ----------
    intersect : {"merge", "search", "path"}, optional
        Rows are walked by one lane, looked up in one another, or walked in as many stretches as
        there are lanes. None merges where work-items are threads of a processor, else searches.
        Rows of very different lengths are searched anyway.
    edges : {"pairs", "triangles"}, optional
        Whether the common neighbours of all edges are found edge by edge, or as the triangles that
        edges are in, for which a graph is undirected, without self-loops and parallel edges. None
        takes triangles of such graphs.
    """

    intersect: str | None = choice("merge", "search", "path")
    edges: str | None = choice("pairs", "triangles")

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "merge": {"intersect": "merge", "edges": "pairs"},
        "search": {"intersect": "search", "edges": "pairs"},
        "path": {"intersect": "path", "edges": "pairs"},
        "triangles": {"edges": "triangles"},
    }

    def way_on(self, device: Device) -> str:
        """Give how rows of about the same length are intersected."""
        return self.intersect or ("merge" if device.traits.lanes == 1 else "search")
