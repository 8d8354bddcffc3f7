"""How the fields of edges lie in pools: each an array, or properties together in records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from clgraph.dynamic.storage.store import Field
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LAYOUTS", "Columns", "Place"]

LAYOUTS = ("auto", "arrays", "records")
RECORD_BYTES = (2, 4, 8, 16)  # that one load takes
RECORDS = "records"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field of edges is.

    Attributes
    ----------
    column : int
        Which pool has it.
    stride, offset : int
        From one edge's value to the next, and of the first, in values.
    """

    column: int
    stride: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Columns:
    """What the pools of a graph hold beside targets.

    Attributes
    ----------
    fields : tuple of Field
        What edges have, as users name it.
    stored : tuple of Field
        Pools: one for each field, or one for the weights and one for records of all others.
    places : dict of str to Place
        Where each field is.
    """

    fields: tuple[Field, ...] = ()
    stored: tuple[Field, ...] = ()
    places: dict[str, Place] = field(default_factory=dict)

    @classmethod
    def of(cls, fields: tuple[Field, ...], layout: str = "auto") -> Columns:
        """Choose where fields are.

        Records are of two properties or more that one load takes together. Weights are not in them,
        since algorithms read these alone.

        Raises
        ------
        InvalidArgumentError
            If the layout is unknown, or records are asked for that no load takes.
        """
        one_of("layout", layout, LAYOUTS)
        apart = tuple(one for one in fields if one.name == "weights")
        # Sizes are powers of two, so that the largest first leaves no gaps.
        together = sorted(
            (one for one in fields if one.name != "weights"), key=lambda one: -one.dtype.itemsize
        )
        size = sum(one.dtype.itemsize for one in together)
        fits = len(together) > 1 and size in RECORD_BYTES
        if layout == "records" and not fits:
            raise InvalidArgumentError(
                f"the properties of an edge take {size} bytes; records are of two properties or "
                "more that take 2, 4, 8 or 16 together: leave out layout, or add one."
            )
        if layout == "arrays" or not fits:
            places = {one.name: Place(at) for at, one in enumerate(fields, 1)}
            return cls(fields, fields, places)
        record = np.dtype([(one.name, one.dtype) for one in together])
        places = {one.name: Place(1) for one in apart}
        column, begin = 1 + len(apart), 0
        for one in together:
            each = one.dtype.itemsize
            places[one.name] = Place(column, size // each, begin // each)
            begin += each
        return cls(fields, (*apart, Field(RECORDS, record)), places)

    def members(self, column: int) -> Iterator[tuple[Field, Place]]:
        """Give the fields of a pool, and where in it they are."""
        for one in self.fields:
            if self.places[one.name].column == column:
                yield one, self.places[one.name]
