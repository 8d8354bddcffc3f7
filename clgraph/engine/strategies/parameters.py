"""Parameters of strategies: numbers, choices and switches that check and parse values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of, shown

__all__ = ["check_number", "choice", "number", "parameter", "real", "switch"]

LARGEST = 2**31 - 1


def check_number(name: str, value: Any, least: int, most: int) -> None:
    """Refuse a parameter that is neither None nor an integer in [least, most]."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgumentError(f"{name}={shown(value)} is not an integer.")
    if not least <= value <= most:
        top = "below 2**31" if most == LARGEST else f"at most {most}"
        raise InvalidArgumentError(
            f"{name}={value} is out of range; it must be at least {least} and {top}."
        )


@dataclass(frozen=True, slots=True)
class _Number:
    """An integer of a range, or one of a few."""

    least: int
    most: int
    among: tuple[int, ...] | None
    power: bool
    multiple: int

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, (np.integer, np.bool_)):
            value = value.item()
        if self.among is not None:
            # By type too: 2.0 and True equal numbers that are allowed, and arrays none or many.
            if type(value) is not int or value not in self.among:
                raise InvalidArgumentError(
                    f"{name}={shown(value)} is not one of {', '.join(map(str, self.among))}."
                )
            return value
        if value is None:
            raise InvalidArgumentError(f"{name}=None is not an integer.")
        check_number(name, value, self.least, self.most)
        if self.power and value and value & (value - 1):
            below = 1 << (value.bit_length() - 1)
            raise InvalidArgumentError(
                f"{name}={value} is not a power of two; choose {below} or {2 * below}."
            )
        if value % self.multiple:
            raise InvalidArgumentError(f"{name}={value} is not a multiple of {self.multiple}.")
        return value

    def parse(self, name: str, text: str) -> Any:
        if not (text.isascii() and text.isdigit()):
            raise InvalidArgumentError(f"{name}={text} must be a whole number, 0 or more.")
        return int(text)

    @property
    def values(self) -> str:
        return "|".join(map(str, self.among)) if self.among else "number"


@dataclass(frozen=True, slots=True)
class _Real:
    """A finite number, at least one or above it."""

    least: float
    above: float
    unit: str
    infinite: bool

    def check(self, name: str, value: Any) -> Any:
        kinds = (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise InvalidArgumentError(f"{name}={shown(value)} is not a number.")
        finite = math.isfinite(value) or (self.infinite and value > 0)
        if not (finite and value >= self.least and value > self.above):
            raise InvalidArgumentError(f"{name}={value} must be {self.unit}.")
        return value

    def parse(self, name: str, text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            raise InvalidArgumentError(f"{name}={text} must be a number.") from None

    @property
    def values(self) -> str:
        return "number"


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of a few names."""

    names: tuple[str, ...]

    def check(self, name: str, value: Any) -> Any:
        one_of(name, value, self.names)
        return value

    def parse(self, _: str, text: str) -> Any:
        return text

    @property
    def values(self) -> str:
        return "|".join(self.names)


@dataclass(frozen=True, slots=True)
class _Switch:
    """True or False."""

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, np.bool_):
            value = value.item()
        if not isinstance(value, bool):
            raise InvalidArgumentError(f"{name}={shown(value)} is neither True nor False.")
        return value

    def parse(self, name: str, text: str) -> Any:
        if text not in {"yes", "no"}:
            raise InvalidArgumentError(f"{name}={text} must be yes or no.")
        return text == "yes"

    @property
    def values(self) -> str:
        return "yes|no"


def number(
    default: int | None = None,
    *,
    usual: int | None = None,
    least: int = 0,
    most: int = LARGEST,
    among: tuple[int, ...] | None = None,
    power: bool = False,
    multiple: int = 1,
) -> Any:
    """Declare a parameter that is an integer."""
    return parameter(_Number(least, most, among, power, multiple), default, usual)


def real(
    default: float | None = None,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    unit: str = "finite",
    infinite: bool = False,
) -> Any:
    """Declare a parameter that is a number."""
    return parameter(_Real(least, above, unit, infinite), default)


def choice(*names: str, default: str | None = None, usual: str | None = None) -> Any:
    """Declare a parameter that is one of a few names."""
    return parameter(_Choice(names), default, usual)


def switch(default: bool | None = None, *, usual: bool | None = None) -> Any:
    """Declare a parameter that is True or False."""
    return parameter(_Switch(), default, usual)


def parameter(check: Any, default: Any = None, usual: Any = None) -> Any:
    """Declare a parameter with its own ``check(name, value)``, ``parse(name, text)`` and names.

    Where it is left open it is what is `usual` on any graph and device, if anything is.
    """
    about = {"check": check, "open": default is None, "usual": usual}
    return field(default=default, metadata=about)
