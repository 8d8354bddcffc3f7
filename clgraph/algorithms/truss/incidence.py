"""What items of a peeling are part of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Incidence"]

ROWS_TYPE = "row_type"  # whatever rows are numbered by
CLAIMED = ("uint", "places", "[indptr[n]] by which of them each triangle is claimed", "read")
ROWS = {
    "rows": (
        (ROWS_TYPE, "begins", "[vertices + 1]", "read"),
        ("uint", "lengths", "[vertices] in/out: of rows", "write"),
        ("uint", "indices", "[m] in/out, ascending in each row", "write"),
        ("uint", "edges", "[m] in/out: numbers of the edges there", "write"),
        ("uint2", "ends", "[n]", "read"),
        ("uint", "vertices", "", "value"),
    ),
    "lists": (
        ("offset_t", "indptr", "[n + 1]", "read"),
        ("uint2", "sides", "[indptr[n]] the other two edges of each triangle", "read"),
    ),
    "neighbours": (
        ("offset_t", "indptr", "[n + 1]", "read"),
        ("uint", "indices", "[m]", "read"),
    ),
}


@dataclass(frozen=True, slots=True)
class Incidence:
    """What items are part of, as the kernel is rendered for and given it.

    Attributes
    ----------
    kind : {"neighbours", "lists", "rows"}
        See ``kernels_cl/truss/incidence.mako``.
    arguments : tuple
        The kernel's first.
    total : int
        Lengths of the rows of all items together.
    reset : callable, optional
        Enqueues what undoes a run's changes of these arrays.
    row_type : str
        What rows are numbered by.
    max_degree : int
        Of the graph.
    claimed : bool
        Of lists, whether it is known where each triangle is claimed.
    """

    kind: str
    arguments: tuple[Argument, ...]
    total: int
    reset: Callable[[SweepLog], object] | None = None
    row_type: str = "uint"
    max_degree: int = 0
    claimed: bool = False

    @property
    def rows(self) -> tuple[tuple[str, str, str, str], ...]:
        """The kernel's first arguments: type, name, note and access of each."""
        named = [
            (self.row_type if kind == ROWS_TYPE else kind, *others)
            for kind, *others in self._declared
        ]
        return tuple(named)  # type: ignore[arg-type]

    @property
    def _declared(self) -> tuple[tuple[str, str, str, str], ...]:
        return (*ROWS[self.kind], CLAIMED) if self.claimed else ROWS[self.kind]

    @property
    def bound(self) -> dict[str, Argument]:
        """The same by name."""
        names = (name for _, name, *_ in self._declared)
        return dict(zip(names, self.arguments, strict=True))
