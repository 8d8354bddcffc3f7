"""What results have in common: tables by the names of vertices, pictures, a line for notebooks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from clgraph.graph.modules import module

if TYPE_CHECKING:
    from pyopencl.array import Array as DeviceArray

    from clgraph.engine.findings import Findings
    from clgraph.graph.csr import Array

__all__ = ["NamedResult", "SearchResult", "name_index"]


def name_index(names: Array | None, n: int) -> Any:
    """Give the names of vertices as a pandas index; their numbers if they have none."""
    pandas = module("pandas", needed_for="names of vertices")
    # Tuples are names too, and no levels of an index.
    return pandas.RangeIndex(n) if names is None else pandas.Index(names, tupleize_cols=False)


class NamedResult:
    """Mixin of results that have a value for every vertex.

    A class of it says which arrays those are (`columns`, the most important first), and how it is
    drawn (`plot_kind`).

    Attributes
    ----------
    names : numpy.ndarray or None
        What the vertices are called [n]; None if their numbers are their names.
    """

    plot_kind = "histogram"
    names: Array | None

    def columns(self) -> dict[str, Any]:
        """Arrays [n] by name."""
        raise NotImplementedError

    def to_series(self) -> Any:
        """Give the distances, or the labels, by the names of vertices.

        Returns
        -------
        pandas.Series
            [n], in the order of the graph's vertices.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        name, values = next(iter(self.columns().items()))
        pandas = module("pandas", needed_for="to_series")
        return pandas.Series(values, index=name_index(self.names, len(values)), name=name)

    def to_frame(self) -> Any:
        """Give all that is known of vertices, a row each, by their names.

        Returns
        -------
        pandas.DataFrame
            [n] rows.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = module("pandas", needed_for="to_frame")
        columns = self.columns()
        n = len(next(iter(columns.values())))
        return pandas.DataFrame(columns, index=name_index(self.names, n))

    def plot(self, *, ax: Any = None) -> Any:
        """Draw it with matplotlib: vertices by level or distance, or components by size.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; default a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return module("clgraph.interop.drawing").plot(self, ax=ax)

    def _repr_html_(self) -> str:
        return str(module("clgraph.interop.html").of_result(self))


class SearchResult(NamedResult):
    """Base of what searches give back: arrays are copied from the device on first access."""

    _found: Findings

    @cached_property
    def names(self) -> Array | None:  # type: ignore[override]
        """What the vertices are called; None if their numbers are their names."""
        return self._found.names

    @property
    def distances_device(self) -> DeviceArray:
        """The distances as a pyopencl array, copied on the device and not to the host."""
        return self._found.distances_device

    def detach(self) -> None:
        """Copy everything to the host and give the device buffers back to the plan."""
        self._found.detach()
