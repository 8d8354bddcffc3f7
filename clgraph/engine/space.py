"""Enumerating the configuration space: every legal combination of the dimensions with names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.engine.balancers import BALANCERS, canonical
from clgraph.engine.legal import EXACT, objection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["DIMENSIONS", "points"]

# Values of each dimension, and None where it may be of no matter; those that rule out most first.
DIMENSIONS: dict[str, tuple[Any, ...]] = {
    "queue": ("vertex", "edge", "two_phase", "hybrid", "status"),
    "visited": ("bitmap", "labels", "mask", "plain"),
    "direction": ("push", "switching"),
    "balance": (*BALANCERS, None),
    "group_scan": ("ordered", "unordered", None),
    "duplicates": ("keep", "load_lanes", "load_group", "lookup_lanes", "lookup_group"),
    "history": (0, 64),
    "update": ("buffer", "ballot", "registers"),
    "rows": ("csr", "pairs"),
    "generation": ("recount", "bins", "none", None),
    "status_bits": (8, 32, None),
    "classes": (1, 4, None),
    "switching": ("edges", "hubs"),
    "hub_cache": (0, 16, None),
    "beta": (0, 2, None),
    "solo": (False, True),
    "distribution": ("static", "claimed"),
    "synchronisation": ("persistent", "stepped"),
}


def points(scopes: Sequence[str], fixed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Enumerate the legal combinations of `DIMENSIONS`.

    Parameters
    ----------
    scopes : sequence of str
        Scopes of the balancers that kernels can take.
    fixed : mapping
        Dimensions that have one value only.

    Yields
    ------
    dict
        A value for every dimension that matters in the combination.
    """
    values = {**DIMENSIONS, **{name: (value,) for name, value in fixed.items()}}
    if isinstance(fixed.get("balance"), str):
        values["balance"] = (canonical(fixed["balance"]),)
    names = list(values)

    def extend(chosen: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
        if index == len(names):
            yield {name: value for name, value in chosen.items() if value is not None}
            return
        name = names[index]
        legal = [v for v in values[name] if _fits(chosen, name, v, scopes)]
        # What has a value here needs no place without one.
        for value in [v for v in legal if v is not None] or legal:
            yield from extend({**chosen, name: value}, index + 1)

    yield from extend({}, 0)


def _fits(chosen: Mapping[str, Any], name: str, value: Any, scopes: Sequence[str]) -> bool:
    if name == "balance" and value in BALANCERS and BALANCERS[value] not in scopes:
        return False
    # Switching by edges or hubs is a choice of a status array; elsewhere there is one way.
    candidate = {**chosen, name: value}
    return objection(candidate) is None and not _is_idle(candidate, name)


def _is_idle(chosen: Mapping[str, Any], name: str) -> bool:
    """Whether a value has no effect that another combination does not have."""
    value = chosen[name]
    status = chosen["queue"] == "status"
    never_pulls = chosen.get("direction") == "push"
    if name in {"update", "rows"} and status:
        return value not in {"buffer", "csr"}
    if name == "group_scan":
        return value is not None and chosen.get("balance") != "cws"
    if name == "switching":
        return value == "hubs" and never_pulls
    if name in {"hub_cache", "beta"} and status and never_pulls:
        return value not in {0, None}
    if name == "visited" and not status:
        return False
    return name == "history" and value != 0 and chosen.get("visited") in EXACT
