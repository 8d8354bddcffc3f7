"""Rows of a name, a dot within its range, and words at the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.pages.pictures import Picture

__all__ = ["Range", "ranges"]


@dataclass(frozen=True, slots=True)
class Range:
    """One row.

    Attributes
    ----------
    name : str
        At the left.
    value : float
        Where the dot is.
    span : (low, high)
        Ends of the bar.
    text : str
        At the right.
    colour : str
        Of dot and bar.
    """

    name: str
    value: float
    span: tuple[float, float]
    text: str
    colour: str


def ranges(
    picture: Picture, rows: Sequence[Range], name: str, shown: Sequence[float] = ()
) -> Picture:
    """Draw a row per name.

    Parameters
    ----------
    picture : Picture
        Empty.
    rows : sequence of Range
        From top to bottom.
    name : str
        Of the scale.
    shown : sequence of float
        What the scale shows besides.

    Returns
    -------
    Picture
        The same.
    """
    ends = (end for row in rows for end in (row.value, *row.span))
    picture.scale("x", [*shown, *ends], name)
    axes = picture.axes
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.grid(visible=False, axis="y")
    axes.spines[:].set_visible(False)
    for place, row in enumerate(rows):
        picture.whisker(row.span, place, row.colour)
        picture.dot(row.value, place, row.colour, f"{row.name}: {row.text}")
        picture.beside(place, row.text)
    return picture
