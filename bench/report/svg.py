"""Plots as inline SVG: axes, points, lines and ranges, coloured by the page's style sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Axis", "Plot", "Range", "ranges"]

LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 44
LABEL_ASCENT, LABEL_DESCENT, LABEL_WIDTH_PER_LETTER = 10.0, 3.0, 6.6
DOT = 3.5

Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values to pixels.

    Attributes
    ----------
    low, high : float
        Range of values; positive on a logarithmic scale.
    name : str
        What stands beside the axis.
    log : bool
        Whether equal steps are equal factors.
    """

    low: float
    high: float
    name: str
    log: bool = True

    @classmethod
    def around(cls, values: Sequence[float], name: str, *, log: bool = True) -> Axis:
        """Give an axis with room for all values that it can show; others are ignored."""
        fit = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = (min(fit), max(fit)) if fit else (1.0, 10.0)
        if log:
            return cls(low / 1.6, high * 1.6, name)
        return cls(min(low, 0.0), high * 1.05 if high > 0 else 1.0, name, log=False)

    def place(self, value: float) -> float:
        """Position between 0 and 1; values beyond the range stop at its ends."""
        if self.log:
            value = max(value, self.low)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Round values within the range."""
        if not self.log:
            step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
            step *= next(k for k in (1, 2, 5, 10) if (self.high - self.low) / (step * k) <= 6)
            first = math.ceil(self.low / step)
            return [step * k for k in range(first, math.floor(self.high / step) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1,), (1, 3), (1, 2, 5)):
            every = max(1, len(powers) // 8) if factors == (1,) else 1
            marks = [k * 10.0**power for power in powers[::every] for k in factors]
            inside = [mark for mark in marks if self.low <= mark <= self.high]
            if len(inside) >= 3:
                break
        return inside


def _around(across: float, up: float, wide: float) -> Iterator[tuple[float, float]]:
    """Left ends and base lines of a label, those near its point first."""
    for shift in (4.0, -6.0, 14.0, -18.0, 26.0, -30.0, 38.0):
        yield across + 6, up + shift
        yield across - 6 - wide, up + shift


def _meets(box: Box, others: Sequence[Box]) -> bool:
    left, right, top, bottom = box
    return any(
        left < other[1] and other[0] < right and top < other[3] and other[2] < bottom
        for other in others
    )


def label(value: float) -> str:
    """Short text of a tick."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:,.10g}"


@dataclass(slots=True)
class Plot:
    """An SVG that is drawn into piece by piece.

    Attributes
    ----------
    title : str
        Read by screen readers too.
    x, y : Axis
        The scales.
    width, height : int
        Pixels.
    """

    title: str
    x: Axis
    y: Axis
    width: int = 600
    height: int = 360
    _parts: list[str] = field(default_factory=list)
    _points: list[tuple[float, float]] = field(default_factory=list)
    _wanted: list[tuple[float, float, str]] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Pixel of a point."""
        across = LEFT + self.x.place(x) * (self.width - LEFT - RIGHT)
        up = self.height - BOTTOM - self.y.place(y) * (self.height - TOP - BOTTOM)
        return round(across, 1), round(up, 1)

    def line(self, points: Sequence[tuple[float, float]], style: str) -> None:
        """Join points; those that are not finite leave a gap."""
        runs: list[list[str]] = [[]]
        for x, y in points:
            if math.isfinite(x) and math.isfinite(y):
                runs[-1].append("{:g},{:g}".format(*self.at(x, y)))
            else:
                runs.append([])
        for run in runs:
            if run:
                self._parts.append(f'<polyline class="{style}" points="{" ".join(run)}"/>')

    def point(self, x: float, y: float, style: str, hint: str, text: str = "") -> None:
        """Draw a dot that tells `hint` under the pointer, and `text` beside it if there is room."""
        across, up = self.at(x, y)
        self._parts.append(
            f'<circle class="{style}" cx="{across:g}" cy="{up:g}" r="{DOT}">'
            f"<title>{escape(hint)}</title></circle>"
        )
        self._points.append((across, up))
        if text:
            self._wanted.append((across, up, text))

    def _labels(self) -> str:
        """Labels on that side of their points where neither point nor label is; else none."""
        taken = [(x - DOT, x + DOT, y - DOT, y + DOT) for x, y in self._points]
        parts = []
        for across, up, text in self._wanted:
            wide = LABEL_WIDTH_PER_LETTER * len(text)
            for left, base in _around(across, up, wide):
                box = (left, left + wide, base - LABEL_ASCENT, base + LABEL_DESCENT)
                inside = box[0] >= LEFT and box[1] <= self.width and box[2] >= TOP
                if inside and box[3] <= self.height - BOTTOM and not _meets(box, taken):
                    taken.append(box)
                    parts.append(f'<text x="{left:g}" y="{base:g}">{escape(text)}</text>')
                    break
        return "".join(parts)

    def svg(self) -> str:
        """Give the finished picture."""
        inside = self._axes() + "".join(self._parts) + self._labels()
        return _frame(self.title, self.width, self.height, inside)

    def _axes(self) -> str:
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        parts = [f'<path class="axis" d="M{LEFT},{TOP}V{bottom}H{right}"/>']
        for value in self.x.ticks():
            across, _ = self.at(value, self.y.low)
            parts.append(
                f'<path class="grid" d="M{across:g},{TOP}V{bottom}"/>'
                f'<text class="middle" x="{across:g}" y="{bottom + 16}">{label(value)}</text>'
            )
        for value in self.y.ticks():
            _, up = self.at(self.x.low, value)
            parts.append(
                f'<path class="grid" d="M{LEFT},{up:g}H{right}"/>'
                f'<text class="end" x="{LEFT - 6}" y="{up + 4:g}">{label(value)}</text>'
            )
        parts.append(
            f'<text class="middle" x="{(LEFT + right) / 2:g}" y="{self.height - 8}">'
            f"{escape(self.x.name)}</text>"
            f'<text x="4" y="{TOP - 12}">{escape(self.y.name)}</text>'
        )
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Range:
    """One row of `ranges`: a dot within its range.

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
    style : str
        Class of dot and bar.
    """

    name: str
    value: float
    span: tuple[float, float]
    text: str
    style: str


def ranges(
    title: str, rows: Sequence[Range], axis: Axis, *, width: int = 600, right: int = 70
) -> str:
    """Draw a row per name.

    Parameters
    ----------
    title : str
        Read by screen readers too.
    rows : sequence of Range
        From top to bottom.
    axis : Axis
        The scale.
    width, right : int
        Pixels of the picture, and of the texts at its right.

    Returns
    -------
    str
        An SVG element.
    """
    longest = max((len(row.name) for row in rows), default=0)
    left, step = max(150, round(longest * LABEL_WIDTH_PER_LETTER) + 16), 22
    height = TOP + step * len(rows) + BOTTOM

    def across(value: float) -> float:
        return left + axis.place(value) * (width - left - right)

    bottom = height - BOTTOM
    parts = [
        f'<path class="grid" d="M{across(value):.1f},{TOP - 8}V{bottom}"/>'
        f'<text class="middle" x="{across(value):.1f}" y="{bottom + 16}">{label(value)}</text>'
        for value in axis.ticks()
    ]
    for place, row in enumerate(rows):
        middle = TOP + step * place + step // 2
        low, high = row.span
        parts.append(
            f'<text class="end" x="{left - 8}" y="{middle + 4}">{escape(row.name)}</text>'
            f'<g class="{row.style}">'
            f'<path class="whisker" d="M{across(low):.1f},{middle}H{across(high):.1f}"/>'
            f'<circle cx="{across(row.value):.1f}" cy="{middle}" r="5">'
            f"<title>{escape(row.name + ': ' + row.text)}</title></circle></g>"
            f'<text x="{width - right + 8}" y="{middle + 4}">{escape(row.text)}</text>'
        )
    parts.append(
        f'<text class="middle" x="{(left + width - right) / 2:g}" y="{height - 8}">'
        f"{escape(axis.name)}</text>"
    )
    return _frame(title, width, height, "".join(parts))


def _frame(title: str, width: int, height: int, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><title>{escape(title)}</title>{inside}</svg>'
    )
