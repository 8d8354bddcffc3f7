"""Checks of numbers that callers pass."""

import math
import operator
from typing import Any

from clgraph.errors import InvalidArgumentError

__all__ = ["real", "whole"]


def whole(name: str, value: Any, least: int = 1, most: int | None = 1 << 40) -> int:
    """Argument ``name`` as an integer within limits, or InvalidArgumentError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{name}={value!r} is not an integer") from None
    if number < least or (most is not None and number > most):
        upper = "" if most is None else f" and at most {most}"
        raise InvalidArgumentError(f"{name}={number} must be at least {least}{upper}")
    return number


def real(name: str, value: Any) -> float:
    """Argument ``name`` as a finite number, or InvalidArgumentError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{name}={value!r} is not a number") from None
    if not math.isfinite(number):
        raise InvalidArgumentError(f"{name}={number} is not finite")
    return number
