"""In which order a search for shortest paths expands what it finds: the methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clgraph.engine.strategies.parameters import choice, number, parameter, real, switch
from clgraph.engine.strategies.strategy import Strategy
from clgraph.errors import InvalidArgumentError

__all__ = [
    "EDGE_CLASSES",
    "METHODS",
    "Asynchronous",
    "BellmanFord",
    "DeltaStepping",
    "Method",
    "NearFar",
    "SelfTuning",
]

# Codes in the two highest bits of an edge's target; "source" is known when a search begins.
EDGE_CLASSES = {"self": 1, "in-degree-1": 2, "leaf": 3, "source": 0}


def _positive() -> Any:
    return real(above=0, unit="positive and finite")


@dataclass(frozen=True, slots=True)
class _Classes:
    """Checks names of classes of edges."""

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, (tuple, list)):
            raise InvalidArgumentError(
                f"{name}={value!r} is not a tuple of names from {', '.join(EDGE_CLASSES)}."
            )
        for each in value:
            if each not in EDGE_CLASSES:
                raise InvalidArgumentError(
                    f"{name} has {each!r}, which is not one of {', '.join(EDGE_CLASSES)}."
                )
        return tuple(value)

    def parse(self, name: str, text: str) -> Any:
        return self.check(name, text.split(","))

    @property
    def values(self) -> str:
        return "|".join(EDGE_CLASSES) + " with commas"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Method(Strategy):
    """Base of the methods; what all of them answer."""

    @property
    def delta(self) -> float | None:
        """How much the bound rises."""
        return None

    @property
    def claims(self) -> str | None:
        """How a vertex is queued once a stage."""
        return None

    @property
    def edge_classes(self) -> tuple[str, ...]:
        """Edges that are treated apart."""
        return ()

    @property
    def heavy(self) -> str | None:
        """From where edges out of a band are looked along."""
        return ""

    @property
    def controller(self) -> str | None:
        """Where a bound is moved that tunes itself."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BellmanFord(Method):
    """Expand whoever's distance decreased.

    Parameters
    ----------
    claims : {"packed", "stamped", "none"}, optional
        Whether a vertex and the stage of its last decrease share one 64-bit word, or have a word
        each, by which it is queued once a stage; packing needs weights of 32 bits. With "none" it
        is queued as often as it decreases.
    edge_classes : tuple of {"self", "in-degree-1", "leaf", "source"}
        Edges that are treated apart: self-loops are skipped; what only one edge leads to, or the
        only source, is stored without atomics; what nothing leads on from is left to the end.
    """

    NAME = "bellman-ford"

    claims: str | None = choice("packed", "stamped", "none")
    edge_classes: tuple[str, ...] = parameter(_Classes(), ())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NearFar(Method):
    """Expand only who is below a bound that rises.

    Parameters
    ----------
    delta : float, optional
        How much it rises, in the unit of the weights.
    claims : {"packed", "stamped"}, optional
        As for `BellmanFord`.
    drift : int, optional
        How many times in a row a SIMD group expands what it has just found before it meets the
        others; 0 for never.
    drift_limit : int, optional
        Largest frontier, in vertices, that is expanded so.
    """

    NAME = "near-far"

    delta: float | None = _positive()
    claims: str | None = choice("packed", "stamped")
    drift: int | None = number()
    drift_limit: int | None = number(least=1)

    def validate(self) -> None:
        """Refuse stages that drifting does not have."""
        if self.drift and self.claims == "packed":
            raise InvalidArgumentError(
                f"drift={self.drift} needs claims='stamped': what a SIMD group finds on its own "
                "way has no stage."
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeltaStepping(Method):
    """Of who is below a bound, follow edges up to `delta` at once, heavier ones before it rises.

    Parameters
    ----------
    delta : float, optional
        How much the bound rises, in the unit of the weights.
    claims : {"packed", "stamped"}, optional
        As for `BellmanFord`.
    heavy : {"push", "switching"}, optional
        Whether edges that lead out of a band are always followed from its vertices, which is the
        default for directed graphs, or also looked along from whoever lies beyond, which needs the
        transpose; on SIMD groups.
    """

    NAME = "delta-stepping"

    delta: float | None = _positive()
    claims: str | None = choice("packed", "stamped")
    heavy: str | None = choice("push", "switching")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Asynchronous(Method):
    """Without steps, expand who is in the lowest of many buckets as wide as `delta`.

    Parameters
    ----------
    delta : float, optional
        Their width, in the unit of the weights.
    buckets : int, optional
        How many there are at once; a power of two.
    reach : int, optional
        How many buckets above the lowest a SIMD group may work on.
    keep : int, optional
        Vertices that a SIMD group keeps for itself while others have nothing to do; default is
        a quarter of its lanes.
    adapt : bool, optional
        Whether buckets become wider where most SIMD groups idle and narrower where few do, while a
        search runs, where groups meet on a device; default is a fixed width.
    """

    NAME = "asynchronous"

    delta: float | None = _positive()
    buckets: int | None = number(least=4, most=64, power=True)
    reach: int | None = number(most=31)
    keep: int | None = number(least=1)
    adapt: bool | None = switch()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SelfTuning(Method):
    """Expand who is below a bound that is moved so that every step does the same work.

    Parameters
    ----------
    delta : float, optional
        The first bound, in the unit of the weights.
    claims : {"packed", "stamped"}, optional
        As for `BellmanFord`.
    set_point : float, optional
        Edges that each step should look at; default is as many as the device runs work-items at
        once, but no more than a graph of long distances can be expected to have.
    power_target : float, optional
        Watts that the device should draw: the set-point follows from what is measured.
    controller : {"device", "host"}, optional
        Where the bound is moved. On the host every step waits for a read; on the device, which
        needs double precision, none does.
    """

    NAME = "self-tuning"

    delta: float | None = _positive()
    claims: str | None = choice("packed", "stamped")
    set_point: float | None = real(least=1, unit="finite and at least 1 edge per step")
    power_target: float | None = real(above=0, unit="finite and more than 0 watts")
    controller: str | None = choice("device", "host")

    def validate(self) -> None:
        """Refuse a set-point that would be moved."""
        if self.power_target is not None and self.set_point is not None:
            raise InvalidArgumentError(
                "set_point follows from power_target; leave one of them out."
            )


METHODS: tuple[type[Method], ...] = (
    NearFar,
    BellmanFord,
    DeltaStepping,
    Asynchronous,
    SelfTuning,
)
