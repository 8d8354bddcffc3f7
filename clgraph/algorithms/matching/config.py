"""How a match is scored, and in which of several ways its phases are computed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from clgraph.engine.strategies.presets import Presets
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown

__all__ = ["MatchingConfig"]

CHOICES: dict[str, tuple[Any, ...]] = {
    "scoring": ("product", "thesis"),
    "profile": ("lost_edges", "shared_ones", "equal_bits"),
    "order": ("constrained", "uniform"),
    "similarities": ("bitset", "bfs"),
    "seeds": ("rows", "flat"),
    "arc_degree_test": (True, False),
}
LABEL_FLOORS = {"product": 0.005, "thesis": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingConfig(Presets):
    """What subgraph matching draws in proportion to, and how it finds that out.

    The first three and the last change results; the other two only say how the same probabilities
    are computed and drawn from.

    Parameters
    ----------
    scoring : {"product", "thesis"}
        Score of a seed pair: label similarity times neighbourhood similarity where the degree
        suffices, which is far from flat; or the sum of the three, as Equation 10.3 has it.
    profile : {"lost_edges", "shared_ones", "equal_bits"}
        What draws a pair into a match beside similarity: few query edges lost, by a factor for
        each, and neighbourhoods that are much alike; how many matched pairs both vertices are next
        to; or also those that neither is next to, as Equation 10.5 has it.
    order : {"constrained", "uniform"}
        Which vertex of the query's frontier comes next: one of those with most matched neighbours,
        or any.
    similarities : {"bitset", "bfs"}
        Neighbourhood similarities by bit sets of query arcs, one step of which is a union over
        neighbours; or by comparing arcs within a breadth-first search from every vertex.
    seeds : {"rows", "flat"}
        A query vertex and then one of its row, or a pair out of all, rows normalised.
    arc_degree_test : bool
        Whether an arc can stand for another only if its ends have at least the same degrees.

    Raises
    ------
    InvalidArgumentError
        If a value is none of those listed.
    """

    scoring: str = "product"
    profile: str = "lost_edges"
    order: str = "constrained"
    similarities: str = "bitset"
    seeds: str = "rows"
    arc_degree_test: bool = True

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "thesis": {"scoring": "thesis", "profile": "equal_bits", "order": "uniform"},
        "thesis-bfs": {
            "scoring": "thesis",
            "profile": "equal_bits",
            "order": "uniform",
            "similarities": "bfs",
            "seeds": "flat",
        },
        "product": {"profile": "shared_ones", "order": "uniform"},
    }

    def __post_init__(self) -> None:
        """Refuse what is not a choice as soon as it is written down."""
        for field in fields(self):
            value, choices = getattr(self, field.name), CHOICES[field.name]
            if not isinstance(value, type(choices[0])) or value not in choices:
                raise InvalidArgumentError(
                    f"{field.name}={shown(value)} is not a choice; use one of "
                    f"{', '.join(map(repr, choices))}."
                )
        if self.profile == "lost_edges" and self.scoring != "product":
            raise InvalidArgumentError(
                "profile='lost_edges' needs scoring='product', whose factors it takes apart; use "
                "profile='shared_ones'."
            )

    @property
    def label_floor(self) -> float:
        """What stands for a similarity of 0 while drawing, where nothing else was asked for."""
        return LABEL_FLOORS[self.scoring]
