"""What edges and vertices of a dynamic graph carry: fields, their arrays, and blocks for rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.dynamic.storage.store import Field
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from clgraph.device import Memory
    from clgraph.graph import Graph

__all__ = ["fields_of", "usual_block_array", "vertex_arrays"]

LEAST_ARRAY, MOST_ARRAY = 2**4, 2**16
ARRAYS_AIMED_AT = 2**17
FIELD_BYTES = (1, 2, 4, 8)


def usual_block_array(m: int) -> int:
    """Give the edges of a block array of a graph with `m` edges.

    Few, since what sizes leave of their last block array, and long rows of theirs, is lost.
    """
    wanted = 1 << max(m // ARRAYS_AIMED_AT, 1).bit_length()
    return min(max(wanted, LEAST_ARRAY), MOST_ARRAY)


def fields_of(
    start: Graph | None, weights: DTypeLike | bool | None, properties: Any
) -> tuple[Field, ...]:
    """Give what each edge carries, the weights first.

    Raises
    ------
    InvalidArgumentError
        If two have one name, or a type is not of 1 to 8 bytes.
    """
    made = []
    held = None if start is None else start.weights
    if weights is True or (weights is None and held is not None):
        made.append(Field("weights", np.dtype(np.float32) if held is None else held.dtype))
    elif weights is not None and weights is not False:
        made.append(Field("weights", _type_of("weights", weights)))
    for name, dtype in _named(properties).items():
        made.append(Field(name, _type_of(name, dtype)))
    names = [field.name for field in made]
    if len(set(names)) != len(names):
        raise InvalidArgumentError('a property named "weights" is the weights; pass weights=.')
    for field in made:
        if field.dtype.itemsize not in FIELD_BYTES or field.dtype.kind not in "iufb":
            raise InvalidArgumentError(
                f"{field.name!r} cannot be {field.dtype}; use numbers of 1, 2, 4 or 8 bytes."
            )
    return tuple(made)


def vertex_arrays(memory: Memory, properties: Any, n: int) -> dict[str, Any]:
    """Give an array of zeros for each property of vertices."""
    return {
        name: memory.upload(name, np.zeros(n, _type_of(name, dtype)))
        for name, dtype in _named(properties).items()
    }


def _named(properties: Any) -> Mapping[str, Any]:
    if properties is None:
        return {}
    if not isinstance(properties, Mapping):
        raise InvalidArgumentError(
            f'properties are types by name, such as {{"time": "int32"}}; got {shown(properties)}.'
        )
    return properties


def _type_of(name: str, given: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(given)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"{name!r} cannot be {shown(given)}; use numbers of 1, 2, 4 or 8 bytes."
        ) from None
    return found
