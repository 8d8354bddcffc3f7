"""Checks of numbers, and of their types, that callers pass."""

import functools
import inspect
import math
import operator
import reprlib
from collections.abc import Callable, Collection
from numbers import Number, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.progress import check_progress

__all__ = ["among", "element", "flags", "one_of", "real", "shown", "truth", "whole"]

P = ParamSpec("P")
R = TypeVar("R")
MAYBE = (bool | None, "bool | None")
TRUTHS = (bool, "bool", *MAYBE)
NUMBERS = (Number, np.generic)

_short = reprlib.Repr()
_short.maxother = _short.maxstring = _short.maxlong = 80


def shown(value: Any) -> str:
    """Give what was passed on one line, in the middle of which much is left out."""
    return " ".join(_short.repr(value).split())


def whole(name: str, value: Any, least: int = 1, most: int | None = 1 << 40) -> int:
    """Argument ``name`` as an integer within limits, or InvalidArgumentError."""
    try:
        index: Any = None if isinstance(value, bool) else value
        number = operator.index(index)
    except TypeError:
        raise InvalidArgumentError(f"{name}={shown(value)} is not an integer.") from None
    if number < least or (most is not None and number > most):
        upper = "" if most is None else f" and at most {most}"
        raise InvalidArgumentError(f"{name}={number} must be at least {least}{upper}.")
    return number


def real(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Argument ``name`` as a finite number within limits, or InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidArgumentError(f"{name}={shown(value)} is not a number.")
    number = float(value)
    if not math.isfinite(number):
        raise InvalidArgumentError(f"{name}={number} is not finite.")
    if not least <= number <= most:
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise InvalidArgumentError(f"{name}={value} must be at least {least:g}{upper}.")
    return number


def element(value: Any, *known: str) -> np.dtype[Any]:
    """Argument ``dtype`` as one of a few types, or InvalidArgumentError."""
    try:
        found: np.dtype[Any] = np.dtype(value)
    except (TypeError, ValueError):
        found = np.dtype(object)
    if found not in map(np.dtype, known):
        given = shown(value if found.kind == "O" else found.name)
        raise InvalidArgumentError(f"dtype={given} is neither {' nor '.join(known)}.")
    return found


def among(value: Any, known: Collection[str]) -> bool:
    """Report whether this is one of a few words, which an array is not asked."""
    return isinstance(value, str) and value in known


def truth(name: str, value: Any) -> bool:
    """Argument ``name`` as True or False, or InvalidArgumentError.

    Words and configurations are true for Python, and a configuration in the place of a flag would
    be left out without a word; arrays say no one thing.
    """
    if value is None or isinstance(value, NUMBERS) or getattr(value, "shape", None) == ():
        return bool(value)
    hint = ""
    if name.startswith("weight"):
        hint = "; numbers of edges belong to the graph"
    elif name == "predecessors":
        hint = "; a configuration is given as config="
    raise InvalidArgumentError(f"{name}={shown(value)} is neither True nor False{hint}.")


def flags(call: Callable[P, R]) -> Callable[P, R]:
    """Have what is true or false be a bool, and check ``progress``, before a call does anything.

    Parameters
    ----------
    call : callable
        A function or method; of its arguments those are meant that are annotated as ``bool``, or
        as ``bool | None``, of which None stays what it is.

    Returns
    -------
    callable
        The same, which raises InvalidArgumentError where such an argument is neither. Runs of some
        20 us take `truth` themselves where there is something to look at, which costs no call.
    """
    taken = list(inspect.signature(call).parameters.values())
    optional = {each.name: each.annotation in MAYBE for each in taken if each.annotation in TRUTHS}
    placed = {
        place: each.name
        for place, each in enumerate(taken)
        if each.name in optional and each.kind is each.POSITIONAL_OR_KEYWORD
    }
    first = min(placed, default=len(taken))

    @functools.wraps(call)
    def checked(*args: Any, **given: Any) -> Any:
        for name, value in given.items():
            if name in optional and not isinstance(value, bool):
                given[name] = None if value is None and optional[name] else truth(name, value)
            elif name == "progress":
                check_progress(value)
        if len(args) > first:
            args = tuple(
                truth(placed[place], value) if place in placed else value
                for place, value in enumerate(args)
            )
        return call(*args, **given)

    return checked


def one_of(name: str, value: Any, known: Collection[str]) -> None:
    """Refuse argument ``name`` if it is none of a few words."""
    if not among(value, known):
        raise InvalidArgumentError(f"{name}={shown(value)} is not one of {', '.join(known)}.")
