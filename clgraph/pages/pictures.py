"""Pictures for pages by matplotlib: SVG in the colours of its page, with hints on its dots."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["COLOURS", "Picture", "label", "room"]

# Colours by name. In a page each is a variable of its style sheet, which has others in the dark.
COLOURS = {
    "ink": "#1c2126",
    "faint": "#d9dee3",
    "more": "#6b7480",
    "c0": "#2266aa",
    "c1": "#c2571a",
    "c2": "#2f8f5b",
    "c3": "#a03a8c",
    "c4": "#8a7a10",
    "c5": "#c0394b",
    "c6": "#2a8a9c",
    "c7": "#6a59c8",
}
SVG = "http://www.w3.org/2000/svg"
PIXELS = 72.0  # an inch, in SVG
LETTERS, DOT = 11.0, 3.5
FEW_TICKS = 6
# Where words go beside their dot, nearest first: pixels to the right and upwards.
PLACES = [(x, y) for y in (0, 10, -10, 22, -22, 34, -34) for x in (6, -6)]


def label(value: float, _place: int | None = None) -> str:
    """Short text of a tick."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:,.10g}"


def room(values: Sequence[float], *, log: bool = True) -> tuple[float, float]:
    """Give ends of an axis with room for all values that it can show; others are ignored."""
    fit = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(fit), max(fit)) if fit else (1.0, 10.0)
    if log:
        return low / 1.6, high * 1.6
    return min(low, 0.0), high * 1.05 if high > 0 else 1.0


class Picture:
    """Axes of matplotlib, drawn into piece by piece, and what pages want of them.

    Parameters
    ----------
    title : str
        Read by screen readers; it is not drawn.
    width, height : int
        Pixels.
    ink, faint : str
        Colours of words and of the lines behind everything.

    Attributes
    ----------
    axes : matplotlib.axes.Axes
        For what has no method here. Colours of `COLOURS` are the page's.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """

    def __init__(
        self,
        title: str,
        width: int = 600,
        height: int = 360,
        *,
        ink: str = COLOURS["ink"],
        faint: str = COLOURS["faint"],
    ) -> None:
        self.title = title
        self._settings = {
            "font.size": LETTERS,
            "font.sans-serif": ["DejaVu Sans"],
            "text.color": ink,
            "text.parse_math": False,
            "axes.labelcolor": ink,
            "axes.edgecolor": faint,
            "axes.axisbelow": True,
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "grid.color": faint,
            "svg.fonttype": "none",
            "svg.hashsalt": "clgraph",
            "xtick.labelcolor": ink,
            "ytick.labelcolor": ink,
        }
        self._hints: list[str] = []
        self._dots: list[tuple[float, float]] = []
        self._words: list[Annotation] = []
        size = (width / PIXELS, height / PIXELS)
        matplotlib = module("matplotlib", needed_for="drawing", install="matplotlib")
        with matplotlib.rc_context(self._settings):
            figure = module("matplotlib.figure").Figure
            self._figure = figure(figsize=size, dpi=PIXELS, layout="constrained")
            self.axes: Axes = self._figure.subplots()
        self.axes.tick_params(which="both", length=0)

    def scale(
        self, which: str, values: Sequence[float], name: str, *, log: bool = True
    ) -> tuple[float, float]:
        """Give an axis, "x" or "y", room for values, a name and a few round ticks.

        Parameters
        ----------
        which : {"x", "y"}
            The axis.
        values : sequence of float
            What it must show.
        name : str
            What stands beside it.
        log : bool
            Whether equal steps are equal factors.

        Returns
        -------
        low, high : float
            Its ends.
        """
        ticker = module("matplotlib.ticker")
        low, high = room(values, log=log)
        self.axes.set(
            **{f"{which}scale": "log" if log else "linear", f"{which}label": name},
            **{f"{which}lim": (low, high)},
        )
        axis = getattr(self.axes, f"{which}axis")
        if log:
            decades = math.log10(high / low)
            factors = (1, 2, 5) if decades < 2 else (1, 3) if decades < 4 else (1,)
            axis.set_major_locator(ticker.LogLocator(subs=factors))
        else:
            axis.set_major_locator(ticker.MaxNLocator(FEW_TICKS, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_major_formatter(label)
        return low, high

    def line(self, x: Sequence[float], y: Sequence[float], colour: str) -> None:
        """Join points within the axes; those that are not finite leave a gap."""
        x, y = self._within(x, self.axes.get_xlim()), self._within(y, self.axes.get_ylim())
        self.axes.plot(x, y, color=COLOURS.get(colour, colour), linewidth=1.5, gid="line")

    def whisker(self, x: tuple[float, float], y: float, colour: str) -> None:
        """Draw a bar across, behind the dot that lies in it."""
        across = self._within(x, self.axes.get_xlim())
        self.axes.plot(
            across,
            (y, y),
            color=COLOURS.get(colour, colour),
            linewidth=5,
            alpha=0.4,
            solid_capstyle="round",
            gid="whisker",
        )

    def dot(self, x: float, y: float, colour: str, hint: str, words: str = "") -> None:
        """Draw a dot that shows `hint` under the pointer, and words beside it if there is room."""
        (across,) = self._within((x,), self.axes.get_xlim())
        (up,) = self._within((y,), self.axes.get_ylim())
        self.axes.scatter(
            across,
            up,
            s=(2 * DOT) ** 2,
            color=COLOURS.get(colour, colour),
            linewidths=0,
            zorder=3,
            gid=f"dot {len(self._hints)}",
        )
        self._hints.append(hint)
        self._dots.append((across, up))
        if words:
            self.words(across, up, words)

    def words(self, x: float, y: float, words: str) -> None:
        """Write words beside a point if there is room."""
        note = self.axes.annotate(
            words,
            (x, y),
            xytext=PLACES[0],
            textcoords="offset pixels",
            va="center",
            fontsize=LETTERS,
            color=self._settings["text.color"],
        )
        note.set_in_layout(False)
        self._words.append(note)

    def beside(self, y: float, words: str) -> None:
        """Write words at the right of the axes."""
        self.axes.text(
            1.01,
            y,
            words,
            transform=self.axes.get_yaxis_transform(),
            va="center",
            fontsize=LETTERS,
            color=self._settings["text.color"],
        )

    @staticmethod
    def _within(values: Sequence[float], ends: tuple[float, float]) -> list[float]:
        """Values beyond an end stop there; NaN stays."""
        low, high = sorted(map(float, ends))
        return [min(max(float(value), low), high) for value in values]

    def _place_words(self) -> None:
        """Put words where neither dots nor words are, or leave them out."""
        self._figure.draw_without_rendering()
        transforms = module("matplotlib.transforms")
        dots = self.axes.transData.transform(self._dots) if self._dots else ()
        taken = [transforms.Bbox.from_bounds(x - DOT, y - DOT, 2 * DOT, 2 * DOT) for x, y in dots]
        inside = self.axes.bbox
        for note in self._words:
            for across, up in PLACES:
                note.set(position=(across, up), ha="left" if across > 0 else "right")
                box = note.get_window_extent()
                fits = inside.contains(*box.min) and inside.contains(*box.max)
                if fits and not box.count_overlaps(taken):
                    taken.append(box)
                    break
            else:
                note.remove()
        self._words.clear()

    def svg(self, *, file: bool = False) -> str:
        """Give the finished picture.

        Parameters
        ----------
        file : bool
            Whether it is to be a file of its own, and not a part of a page.

        Returns
        -------
        str
            An SVG element; the same whenever the same is drawn by the same matplotlib.
        """
        self._place_words()
        drawn = io.BytesIO()
        with module("matplotlib").rc_context(self._settings):
            self._figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
        text = self._tidied(drawn.getvalue(), file=file)
        if not file:
            for name, colour in COLOURS.items():
                text = text.replace(colour, f"var(--{name}, {colour})")
        return text

    def _tidied(self, drawn: bytes, *, file: bool) -> str:
        """Leave out names that would meet those of other pictures, and put in title and hints."""
        root = ET.fromstring(drawn)  # noqa: S314 - what matplotlib wrote just now
        for element in list(root.iter()):
            element.tag = element.tag.rpartition("}")[2]
            element.attrib.pop("clip-path", None)  # nothing is drawn beyond the axes
            if element.get("transform", "").startswith("rotate(-0 "):
                del element.attrib["transform"]
            kind, _, number = element.attrib.pop("id", "").partition(" ")
            if kind == "dot":
                self._circle(element, self._hints[int(number)])
            elif kind in {"line", "whisker"}:
                element.set("class", kind)
        for unwanted in [child for child in root if child.tag in {"defs", "metadata"}]:
            root.remove(unwanted)
        width, height = root.get("viewBox", "").split()[2:]
        root.attrib |= {"width": width, "height": height, "role": "img"}
        root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
        if file:
            root.set("xmlns", SVG)
        title = ET.Element("title")
        title.text = self.title
        root.insert(0, title)
        return ET.tostring(root, encoding="unicode") + "\n"

    @staticmethod
    def _circle(dot: ET.Element, hint: str) -> None:
        """Say a dot as what it is, instead of as curves that have a name and are used."""
        (used,) = dot.iter(f"{{{SVG}}}use")
        circle = ET.Element("circle", cx=used.get("x", ""), cy=used.get("y", ""), r=str(DOT))
        circle.set("style", used.get("style", ""))
        title = ET.SubElement(circle, "title")
        title.text = hint
        dot[:] = [circle]
