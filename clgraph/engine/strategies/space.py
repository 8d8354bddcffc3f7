"""Enumerating the configuration space: every legal combination of what has names."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from clgraph.engine.strategies.balance import FAMILY, Cws
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
from clgraph.engine.strategies.schedule import Persistent, Stepped
from clgraph.engine.strategies.strategy import Strategy
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.engine.strategies.config import TraversalConfig

__all__ = ["points"]

Config = TypeVar("Config", bound="TraversalConfig")
Kind = TypeVar("Kind", bound=Strategy)

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
FRONTIERS: dict[type[Frontier], dict[str, tuple[Any, ...]]] = {
    **dict.fromkeys(QUEUES, OF_QUEUES),
    StatusArray: OF_STATUS,
}
PULLS = (Never(), *(rule(beta=beta) for beta in (0, 2) for rule in (ByEdges, ByHubs)))
SCANS = tuple(Cws(group_scan=way) for way in ("ordered", "unordered"))
BALANCES = tuple(itertools.chain(*(SCANS if kind is Cws else (kind(),) for kind in FAMILY)))
SCHEDULES = tuple(
    kind(single_group=alone, distribution=share)
    for kind in (Persistent, Stepped)
    for alone in (False, True)
    for share in ("static", "claimed")
)


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

    for frontier, pull in itertools.product(_frontiers(), PULLS):
        if not (fits("frontier", frontier) and fits("pull", pull)) or _is_idle(frontier, pull):
            continue
        if _legal(kind, frontier=frontier, pull=pull) is None:
            continue
        # A status array has no balancer.
        balances = [None] if isinstance(frontier, StatusArray) else BALANCES
        for balance in filter(partial(fits, "balance"), balances):
            if _legal(kind, frontier=frontier, pull=pull, balance=balance) is None:
                continue
            for schedule in filter(partial(fits, "schedule"), SCHEDULES):
                chosen = {"frontier": frontier, "pull": pull, "balance": balance}
                if found := _legal(kind, **chosen, schedule=schedule):
                    yield found


def _legal(kind: type[Kind], **parameters: Any) -> Kind | None:
    try:
        return kind(**parameters)
    except InvalidArgumentError:
        return None


def _is_idle(frontier: Frontier, pull: Pull) -> bool:
    """Whether a cache of hubs is never looked at: the same without one is there too."""
    return (
        isinstance(frontier, StatusArray) and isinstance(pull, Never) and bool(frontier.hub_cache)
    )


def _frontiers() -> Iterator[Frontier]:
    for kind, values in FRONTIERS.items():
        has = {name: values[name] for name in values if name in kind.parameters()}
        for chosen in itertools.product(*has.values()):
            if found := _legal(kind, **dict(zip(has, chosen, strict=True))):
                yield found
