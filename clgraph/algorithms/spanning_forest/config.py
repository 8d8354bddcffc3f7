"""How a spanning forest is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from clgraph.engine.strategies.parameters import choice, number
from clgraph.engine.strategies.presets import Configuration

__all__ = ["SpanningForestConfig"]

MOST_BANDS = 16


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanningForestConfig(Configuration):
    """How a minimum spanning forest is found; changes speed and memory, never the forest.

    Parameters
    ----------
    bands : int, optional
        Into how many bands of weights edges are put, lightest first: edges that lie within a tree
        by the time that their band comes are never listed. None takes one where there are few edges
        to a vertex, else two. More take less memory.
    light : int, optional
        Edges per vertex in the first of several bands. None takes one where a vertex has many times
        as many neighbours as others, since soon most are in its tree, else four.
    minimum : {"packed", "stepwise"}, optional
        How a tree finds its least edge: by one 64-bit atomic over weight and place, or by two of 32
        bits one after the other. None packs where the device can.

    References
    ----------
    .. [1] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for
           GPUs", SC 2023.
    """

    bands: int | None = number(None, least=1, most=MOST_BANDS)
    light: int | None = number(None, least=1, most=1024)
    minimum: str | None = choice("packed", "stepwise")

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "boruvka": {"bands": 1},
        "filtered": {"bands": 2},
        "stepwise": {"minimum": "stepwise"},
    }
