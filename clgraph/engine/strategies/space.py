"""Enumerating the configuration space: every legal combination of what has names."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar

from clgraph.engine.strategies.balance import FAMILY, Balancer, Cws
from clgraph.engine.strategies.frontier import (
    FILTERS,
    Ballot,
    Buffer,
    EdgeQueue,
    Frontier,
    HybridQueue,
    Registers,
    StatusArray,
    TwoPhaseQueue,
    VertexQueue,
)
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Never, Pull
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.engine.strategies.config import TraversalConfig

__all__ = ["points"]

Config = TypeVar("Config", bound="TraversalConfig")

QUEUES: tuple[type[Frontier], ...] = (VertexQueue, EdgeQueue, TwoPhaseQueue, HybridQueue)
OF_QUEUES: dict[str, tuple[Any, ...]] = {
    "visited": ("bitmap", "labels", "mask", "plain"),
    "duplicates": ("keep", *FILTERS),
    "history": (0, 64),
    "update": (Buffer(), Ballot(), Registers()),
    "rows": ("csr", "pairs"),
}
OF_STATUS: dict[str, tuple[Any, ...]] = {
    "generation": ("recount", "bins", "none"),
    "bits": (8, 32),
    "classes": (1, 4),
    "hub_cache": (0, 16),
}
OF_SCHEDULES: dict[str, tuple[Any, ...]] = {
    "single_group": (False, True),
    "distribution": ("static", "claimed"),
}


def points(kind: type[Config], fixed: Mapping[str, Any]) -> Iterator[Config]:
    """Enumerate the legal combinations of all that is not a number.

    Parameters
    ----------
    kind : type
        Of the configurations.
    fixed : mapping
        Strategies, or names of them, that are the same in all.

    Yields
    ------
    TraversalConfig
        With every strategy that matters in the combination.
    """
    wanted = {
        name: value
        if not isinstance(value, str)
        else type(kind.parameters()[name].check(name, value))
        for name, value in fixed.items()
    }

    def fits(name: str, strategy: Any) -> bool:
        want = wanted.get(name)
        return want is None or (
            isinstance(strategy, want) if isinstance(want, type) else strategy == want
        )

    for frontier, pull in itertools.product(_frontiers(), _pulls()):
        if not (fits("frontier", frontier) and fits("pull", pull)) or _is_idle(frontier, pull):
            continue
        if _legal(kind, frontier=frontier, pull=pull) is None:
            continue
        # A status array has no balancer.
        balances = [None] if isinstance(frontier, StatusArray) else _balancers()
        for balance in balances:
            if (balance and not fits("balance", balance)) or (
                balance is None and "balance" in fixed
            ):
                continue
            if _legal(kind, frontier=frontier, pull=pull, balance=balance) is None:
                continue
            for schedule in _schedules():
                found = fits("schedule", schedule) and _legal(
                    kind, frontier=frontier, pull=pull, balance=balance, schedule=schedule
                )
                if found:
                    yield found


def _legal(kind: type[Config], **strategies: Any) -> Config | None:
    try:
        return kind(**strategies)
    except InvalidArgumentError:
        return None


def _is_idle(frontier: Frontier, pull: Pull) -> bool:
    """Whether a cache of hubs is never looked at: the same without one is there too."""
    return (
        isinstance(frontier, StatusArray) and isinstance(pull, Never) and bool(frontier.hub_cache)
    )


def _frontiers() -> Iterator[Frontier]:
    for kind in QUEUES:
        has = {name: values for name, values in OF_QUEUES.items() if name in kind.parameters()}
        yield from _each(kind, has)
    yield from _each(StatusArray, OF_STATUS)


def _each(kind: type[Frontier], values: Mapping[str, tuple[Any, ...]]) -> Iterator[Frontier]:
    for chosen in itertools.product(*values.values()):
        try:
            yield kind(**dict(zip(values, chosen, strict=True)))
        except InvalidArgumentError:
            continue


def _pulls() -> Iterator[Pull]:
    yield Never()
    for beta in (0, 2):
        yield ByEdges(beta=beta)
        yield ByHubs(beta=beta)


def _balancers() -> Iterator[Balancer]:
    for kind in FAMILY:
        if kind is Cws:
            yield from (Cws(group_scan="ordered"), Cws(group_scan="unordered"))
        else:
            yield kind()


def _schedules() -> Iterator[Schedule]:
    for kind in (Persistent, Stepped):
        for chosen in itertools.product(*OF_SCHEDULES.values()):
            yield kind(**dict(zip(OF_SCHEDULES, chosen, strict=True)))
