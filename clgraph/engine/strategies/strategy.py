"""Strategies: what configurations are trees of, and how these are checked, merged and shown.

A strategy is a frozen dataclass of few parameters, each declared by `number`, `real`, `choice`,
`switch` or `slot`. A slot holds another strategy, for which the name of one stands with its
defaults; None, where a parameter may be that, is decided from the graph and the device.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

from clgraph.engine.strategies.parameters import parameter
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "Slot",
    "Strategy",
    "parsed",
    "paths",
    "slot",
]

Kind = TypeVar("Kind", bound="Strategy")


class Slot(Protocol[Kind]):
    """Type of a parameter that is a strategy, and for which the name of one may be given."""

    def __get__(self, owner: Any, kind: Any) -> Kind | None:
        """Give the strategy, or None where it is open."""

    def __set__(self, owner: Any, value: Kind | str | None) -> None:
        """Take a strategy, or the name of one."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A strategy of a family, by itself or by its name."""

    family: tuple[type[Strategy], ...]

    def named(self) -> dict[str, type[Strategy]]:
        return {kind.NAME: kind for kind in self.family if kind.NAME}

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            for kind in self.family:
                if value in (kind.NAME, *kind.SYNONYMS) and value:
                    return kind()
        if type(value) in self.family:
            return value
        raise InvalidArgumentError(
            f"{name}={shown(value)} is not one of {', '.join(self.named())}, nor such a strategy."
        )

    def parse(self, _: str, text: str) -> Any:
        return text

    @property
    def values(self) -> str:
        return "|".join(self.named())

    def opened(self, name: str, now: Strategy | None, inner: Mapping[str, Any]) -> Strategy:
        """Give the strategy that parameters named `inner` are set in."""
        heads = {path.partition(".")[0] for path in inner}
        able = [kind for kind in self.family if heads <= set(kind.parameters())]
        if now is not None and type(now) in able:
            return now
        # One of the kind that is there, which says more; or whatever is meant where none is.
        closer = [kind for kind in able if issubclass(kind, type(now))] if now else able
        if now is None and self.family[0] in able:
            closer = [self.family[0]]
        if len(closer) == 1:
            return closer[0](**now.given() if now else {})
        what = ", ".join(sorted(heads))
        if not able:
            raise InvalidArgumentError(f"no {name} has {what}; --help lists what each has.")
        owners = ", ".join(kind.NAME for kind in able if kind.NAME)
        state = f"is {now.NAME or type(now).__name__!r}" if now else "is open"
        raise InvalidArgumentError(
            f"{name}.{what} is of {owners}, and {name} {state}; set {name} too, as in "
            f"{name}={able[-1].NAME}."
        )


def slot(*family: type[Strategy], default: Strategy | None = None) -> Any:
    """Declare a parameter that is a strategy; the first of its family is meant by its numbers."""
    return parameter(_Slot(family), default)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Strategy:
    """Base of strategies: parameters are checked as soon as they are written down."""

    NAME: ClassVar[str] = ""
    SYNONYMS: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """Which of its family it is."""
        return self.NAME

    def __post_init__(self) -> None:
        """Refuse what is not legal, and put strategies where their names stand."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.metadata["open"]:
                continue
            checked = each.metadata["check"].check(each.name, value)
            if checked is not value:
                object.__setattr__(self, each.name, checked)
        self.validate()

    def validate(self) -> None:
        """Check how parameters go together.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first thing that is not legal.
        """

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """How each parameter is checked, by its name."""
        return {each.name: each.metadata["check"] for each in fields(cls)}

    def given(self) -> dict[str, Any]:
        """Parameters that differ from their defaults, by name."""
        return {
            each.name: value
            for each in fields(self)
            if (value := getattr(self, each.name)) != each.default
        }

    def __repr__(self) -> str:
        """Show the call that makes it: what differs from the defaults."""
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in self.given().items())
        return f"{type(self).__name__}({shown})"

    def as_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults by dotted names, for records: see `with_values`."""
        record: dict[str, Any] = {}
        for name, value in self.given().items():
            if not isinstance(value, Strategy):
                record[name] = value
                continue
            if value.NAME:
                record[name] = value.NAME
            record |= {f"{name}.{inner}": each for inner, each in value.as_dict().items()}
        return record

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """Give the same with some parameters set.

        Parameters
        ----------
        values : mapping
            By dotted names, such as ``balance.unit_batch``; a strategy that is not there yet is
            the one that such a number is of, if there is only one, or the first of its family.

        Raises
        ------
        InvalidArgumentError
            If there is no such parameter, or the result is not legal.
        """
        known = self.parameters()
        changes: dict[str, Any] = {}
        below: dict[str, dict[str, Any]] = {}
        for path, value in values.items():
            head, _, rest = path.partition(".")
            if head not in known or (rest and not isinstance(known[head], _Slot)):
                raise InvalidArgumentError(
                    f"{path} is no parameter of {type(self).__name__}; choose among "
                    f"{', '.join(known)}."
                )
            if rest:
                below.setdefault(head, {})[rest] = value
            else:
                changes[head] = value
        for head, inner in below.items():
            now = changes.get(head, getattr(self, head))
            now = None if now is None else known[head].check(head, now)
            changes[head] = known[head].opened(head, now, inner).with_values(inner)
        return replace(self, **changes)

    def with_usual(self) -> Self:
        """Give the same with what is open as it usually is, where that is up to nothing else."""
        left = [each for each in fields(self) if getattr(self, each.name) is None]
        return replace(self, **{each.name: each.metadata["usual"] for each in left})

    def filled(self, wanted: Strategy) -> Self:
        """Give the same with what is open taken from another, as far as that has such parameters.

        Parameters
        ----------
        wanted : Strategy
            Of the same kind, or of another that has some of the parameters too.
        """
        changes: dict[str, Any] = {}
        for name in self.parameters().keys() & wanted.parameters().keys():
            mine, other = getattr(self, name), getattr(wanted, name)
            if mine is None:
                changes[name] = other
            elif isinstance(mine, Strategy) and other is not None:
                # As the closer kind of the two: a persistent schedule is a schedule.
                closer = type(other) if isinstance(other, type(mine)) else type(mine)
                changes[name] = closer(**mine.given()).filled(other)
        return replace(self, **changes)


def _shown(value: Any) -> str:
    if isinstance(value, Strategy) and value.NAME and not value.given():
        return repr(value.NAME)
    return repr(value)


def paths(kind: type[Strategy], prefix: str = "") -> Iterator[tuple[str, str, Any]]:
    """Give every parameter by its dotted name, whose it is, and how it is checked."""
    for name, check in kind.parameters().items():
        yield prefix + name, kind.NAME, check
        if isinstance(check, _Slot):
            for each in check.family:
                yield from paths(each, f"{prefix}{name}.")


def parsed(kind: type[Strategy], text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE`` as a parameter by its dotted name, and its value.

    Raises
    ------
    InvalidArgumentError
        If there is no such parameter, or it cannot have such a value.
    """
    name, is_given, value = text.partition("=")
    known: dict[str, Callable[[str, str], Any]] = {
        path: check.parse for path, _, check in paths(kind)
    }
    if not is_given or name not in known:
        raise InvalidArgumentError(
            f"{text!r} is not a parameter and its value, as in frontier=edge; parameters are "
            f"{', '.join(known)}."
        )
    return name, known[name](name, value)
