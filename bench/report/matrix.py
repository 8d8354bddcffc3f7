"""Tables preset by graph: time, rate, joules and time over the floor of one algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import figure, graph_of, headline, markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..runner.records import Record

__all__ = ["Matrix", "matrices"]

Row = list[str]
Shown = dict[str, dict[str, dict[str, "Any"]]]


class Matrix:
    """What presets took on graphs, for cases of one algorithm that were measured.

    Parameters
    ----------
    cases : sequence of dict
        Of one algorithm, in the order in which graphs and presets are shown.
    device : str
        Name of the device.

    Attributes
    ----------
    graphs, presets : list of str
        In the order of the cases.
    """

    def __init__(self, cases: Sequence[Record], device: str) -> None:
        self.graphs = list(dict.fromkeys(graph_of(case) for case in cases))
        self.presets = list(dict.fromkeys(str(case["preset"]) for case in cases))
        self._shown: Shown = {preset: {} for preset in self.presets}
        for case in cases:
            self._shown[str(case["preset"])][graph_of(case)] = headline(case, device)

    def ms(self, preset: str, graph: str) -> float | None:
        """Median milliseconds of a preset on a graph, None where it was not measured."""
        shown = self._shown.get(preset, {}).get(graph)
        return None if shown is None else float(shown["median_ms"])

    def best(self, presets: Sequence[str], graph: str) -> float | None:
        """Fastest of some presets on a graph."""
        times = [self.ms(preset, graph) for preset in presets]
        return min((ms for ms in times if ms is not None), default=None)

    def table(self, what: str, value: Callable[[dict[str, Any]], float | None], sign: int) -> str:
        """Markdown: a row for each preset, a column for each graph, the best of each column bold.

        Parameters
        ----------
        what : str
            What the numbers are; stands above the presets.
        value : callable
            The number of a case, out of `clgraph`'s headline of it.
        sign : {1, -1}
            1 where small is good.
        """
        numbers = {
            preset: [
                value(shown) if (shown := self._shown[preset].get(graph)) else None
                for graph in self.graphs
            ]
            for preset in self.presets
        }
        columns = zip(*numbers.values(), strict=True)
        good = [
            min((sign * number for number in column if number is not None), default=None)
            for column in columns
        ]
        rows = [
            [preset, *(_bold(n, sign, b) for n, b in zip(row, good, strict=True))]
            for preset, row in numbers.items()
        ]
        return markdown([what, *self.graphs], rows, {what})


def _bold(number: float | None, sign: int, good: float | None) -> str:
    text = figure(number)
    return f"**{text}**" if number is not None and sign * number == good else text


def matrices(cases: Sequence[Record], device: str) -> str:
    """Markdown of all tables of an algorithm; nothing where there is one preset or one graph."""
    matrix = Matrix(cases, device)
    if len(matrix.graphs) < 2 or len(matrix.presets) < 2:
        return ""
    tables = [
        matrix.table("median ms", lambda shown: shown["median_ms"], 1),
        matrix.table("MTEPS", lambda shown: _mteps(shown["gteps"]), -1),
        matrix.table("joules per run", lambda shown: shown["joules"], 1),
        matrix.table(
            "relaxations per edge", lambda shown: shown["counts"].get("relaxations_per_edge"), 1
        ),
        matrix.table("time over floor", lambda shown: shown["over_floor"], 1),
    ]
    tables = [table for table in tables if any(mark.isdigit() for mark in _numbers(table))]
    return "Preset by graph, the best of each graph bold:\n\n" + "\n".join(tables)


def _numbers(table: str) -> str:
    """Give what stands beside the presets."""
    rows = table.splitlines()[2:]
    return "".join(cell for row in rows for cell in row.split("|")[2:])


def _mteps(gteps: float | None) -> float | None:
    return None if gteps is None else 1e3 * gteps
