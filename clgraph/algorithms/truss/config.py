"""How items are peeled off: what rounds do, how triangles are known, how k is searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from clgraph.engine.strategies.parameters import choice, number
from clgraph.engine.strategies.presets import Configuration
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped, check_groups_only
from clgraph.engine.strategies.strategy import Slot, slot
from clgraph.errors import InvalidArgumentError

__all__ = ["CoresConfig", "PeelingConfig", "TrussConfig"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeelingConfig(Configuration):
    """Base of what trusses and cores have in common."""

    removal: str | None = choice("subtract", "recount")
    drift: int | None = number()
    schedule: Slot[Schedule] = slot(Schedule, Persistent, Stepped)

    def validate(self) -> None:
        """Refuse modes that the stages do not have."""
        check_groups_only(self.schedule)
        if self.drift and self.removal == "recount":
            raise InvalidArgumentError(
                f"drift={self.drift} needs removal='subtract' or none: where counts are made anew "
                "nobody finds what goes next on its own."
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrussConfig(PeelingConfig):
    """How truss numbers are found; a configuration changes speed and memory, never results.

    Parameters
    ----------
    removal : {"subtract", "recount"}, optional
        What follows the removal of a batch of edges: the triangles that it destroyed are taken from
        the supports of the others, or all supports are counted anew. None does whatever looks at
        fewer triangles, batch by batch.
    drift : int, optional
        How many rounds in a row a SIMD group goes on by itself with the edges whose removal it has
        brought about, where few go in a round and triangles are listed; 0 for none. How many
        rounds there are then differs from run to run.
    schedule : {"persistent", "stepped"} or Schedule, optional
        All rounds in one launch, or one launch per step, with how many work-items and work-groups;
        see `clgraph.schedule`.
    triangles : {"lists", "rows"}, optional
        Whether every edge has a list of its triangles, which takes 24 bytes for each triangle of
        the graph (36 where SIMD groups drift), or they are looked up in rows, which edges that have
        gone are dropped from. None takes lists where they fit the device.
    search : {"bisection", "bottom-up"}, optional
        How the greatest k is found where it alone is wanted: by halving the range that it may be
        in, or by raising k from 3 until nothing is left. None guesses a k from the supports, and
        raises it in the small part of the graph that edges of so many triangles are; where there is
        no such part, or rows are searched, it bisects if there are so many triangles that it takes
        less time, and else raises it from a bound or, where that has no truss, from three quarters
        of it, and so on; in rows from 3.

    References
    ----------
    .. [1] O. Green, J. Fox, E. Kim, F. Busato, N. Bombieri, K. Lakhotia, S. Zhou, S. Singapura,
           H. Zeng, R. Kannan, V. Prasanna, D. Bader, "Quickly finding a truss in a haystack",
           HPEC 2017.
    """

    triangles: str | None = choice("lists", "rows")
    search: str | None = choice("bisection", "bottom-up")

    def validate(self) -> None:
        """Refuse modes that the stages do not have, and that rows do not."""
        PeelingConfig.validate(self)
        if self.drift and self.triangles == "rows":
            raise InvalidArgumentError(
                f"drift={self.drift} needs triangles='lists' or none: a triangle that is looked up "
                "in rows has no place of its own."
            )

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "delta": {"removal": "subtract", "triangles": "rows", "search": "bottom-up"},
        "iterative": {"removal": "recount", "triangles": "rows", "search": "bottom-up"},
        "lists": {"removal": "subtract", "triangles": "lists"},
        "rows": {"triangles": "rows"},
    }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CoresConfig(PeelingConfig):
    """How core numbers are found; a configuration changes speed, never results.

    Parameters
    ----------
    removal : {"subtract", "recount"}, optional
        What follows the removal of a batch of vertices: their edges are taken from the degrees of
        the others, or all degrees are counted anew. None does whatever looks at fewer edges.
    drift : int, optional
        As in `TrussConfig`, with vertices.
    schedule : {"persistent", "stepped"} or Schedule, optional
        As in `TrussConfig`.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "subtract": {"removal": "subtract"},
        "recount": {"removal": "recount"},
    }
