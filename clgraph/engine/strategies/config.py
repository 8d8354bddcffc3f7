"""The configuration of a traversal: a small tree of strategies, and how these go together.

A configuration changes speed, never results.  ``None`` leaves a strategy, or a parameter of one, to
:mod:`clgraph.engine.choose`, which knows the graph and the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from clgraph.engine.strategies.balance import BALANCERS, FAMILY, Balancer
from clgraph.engine.strategies.frontier import (
    FILTERS,
    EdgeQueue,
    Frontier,
    HybridQueue,
    Registers,
    StatusArray,
    TwoPhaseQueue,
    VertexQueue,
)
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.parameters import choice, switch
from clgraph.engine.strategies.presets import Configuration
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Never, Pull
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped
from clgraph.engine.strategies.strategy import Slot, slot
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Rule: TypeAlias = tuple[bool, str]

__all__ = ["TraversalConfig", "check_balance"]

WHOLE_GRID = tuple(name for name, kind in BALANCERS.items() if kind.SCOPE == "grid")
NOT_PIECEWISE = ("dyn_vwarp", *WHOLE_GRID)  # they must know how much there is in all


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TraversalConfig(Configuration):
    """A point in the configuration space of the traversal engine.

    Parameters
    ----------
    frontier : {"vertex", "edge", "two_phase", "hybrid", "status"} or Frontier, optional
        What passes from level to level: vertices, candidates (the targets of their edges), both in
        turn, whichever of these suits a level, or nothing but the status array; see
        `clgraph.frontier`.
    balance : str or Balancer, optional
        How the edges of a frontier are shared out: "item_thread", "vwarp", "dyn_vwarp",
        "warp_search", "warp_search_local", "cws", "block_search", "direct", "two_phase" or
        "multi_phase"; see `clgraph.balance`.
    pull : {"never", "edges", "hubs"} or Pull, optional
        Whether and when levels pull from unvisited vertices; see `clgraph.pull`.
    schedule : {"persistent", "stepped"} or Schedule, optional
        All levels in one launch, or one launch per stage, and which work-groups take part; see
        `clgraph.schedule`.
    limits : Limits, optional
        Numbers at which a traversal does otherwise, or gives up; see `clgraph.limits`.
    rules : {"auto", "helix", "bfs-4k"}
        Which rules complete what is left open.
    counts : bool
        Whether searches count what balancer, queues and filters do (``stats.counters``), which
        costs them time.
    """

    frontier: Slot[Frontier] = slot(VertexQueue, EdgeQueue, TwoPhaseQueue, HybridQueue, StatusArray)
    balance: Slot[Balancer] = slot(*FAMILY)
    pull: Slot[Pull] = slot(ByEdges, ByHubs, Never)
    schedule: Slot[Schedule] = slot(Schedule, Persistent, Stepped)
    limits: Slot[Limits] = slot(Limits)
    rules: str = choice("auto", "helix", "bfs-4k", default="auto")
    counts: bool = switch(default=False)

    # Which balancers an algorithm's kernels can take; see /balance/advance.mako.
    SCOPES: ClassVar[tuple[str, ...]] = ("lanes",)

    def validate(self) -> None:
        """Check how strategies go together.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first combination that is not legal.
        """
        check_balance(self.balance, self.SCOPES, type(self).__name__)
        for is_broken, why in _rules(self):
            if is_broken:
                raise InvalidArgumentError(why)


def check_balance(balance: Balancer | None, scopes: tuple[str, ...], owner: str) -> None:
    """Refuse a balancer, or a parameter of one, that kernels are not made for.

    Raises
    ------
    InvalidArgumentError
        With those that they are made for.
    """
    if balance is None:
        return
    if balance.scope not in scopes:
        able = [name for name, kind in BALANCERS.items() if kind.SCOPE in scopes]
        raise InvalidArgumentError(
            f"balance={balance.name!r} shares out a whole {balance.scope}'s work at once, which "
            f"kernels of {owner} are not made for; choose one of {', '.join(able)}."
        )
    for name in set(balance.given()) & set(balance.FOR_EXPAND):
        raise InvalidArgumentError(
            f"{name}={getattr(balance, name)!r} of balance={balance.name!r} is for "
            "clgraph.primitives.expand; leave it out here."
        )


def _rules(config: TraversalConfig) -> Iterator[Rule]:
    """Give whether a combination is there that is not legal, and why it is not."""
    frontier = config.frontier or VertexQueue()
    balance, schedule = config.balance, config.schedule or Schedule()
    yield from _pull_rules(frontier, config.pull)
    yield (
        bool(schedule.single_group) and frontier.name != "vertex",
        "single_group=True runs levels out of a queue of vertices in local memory; choose "
        "frontier='vertex' or leave single_group out.",
    )
    hubs = frontier.hubs
    if hubs is not None:
        yield (
            bool(hubs.bins and schedule.single_group),
            "hubs.bins=True keeps hubs in several queues, but single_group=True hands them on in "
            "one; "
            "leave one of them out.",
        )
        yield (
            bool(hubs.degree) and schedule.distribution == "claimed",
            f"hubs.degree={hubs.degree} spreads hubs by position, so distribution='claimed' cannot "
            "serve them; choose distribution='static' or hubs.degree=0.",
        )
    if balance is not None:
        yield from _balance_rules(frontier, balance)


def _pull_rules(frontier: Frontier, pull: Pull | None) -> Iterator[Rule]:
    if pull is None or isinstance(pull, Never):
        return
    status = isinstance(frontier, StatusArray)
    shown: Any = pull.name
    yield (
        frontier.HAS_CANDIDATES,
        f"pull={shown!r} pulls into a queue of vertices, but frontier={frontier.name!r} passes "
        "candidates on; choose pull='never' or frontier='vertex'.",
    )
    yield (
        isinstance(pull, ByHubs) and not status,
        "pull='hubs' counts the hubs that a status array's levels find; choose frontier='status' "
        "or pull='edges'.",
    )
    if status:
        return
    yield (
        frontier.visited in {"mask", "plain"},
        f"pull={shown!r} reads a bitmap that is exact, which visited={frontier.visited!r} does "
        "not keep; choose pull='never' or visited='bitmap'.",
    )
    # Where `visited` is left open these would choose a mask.
    yield (
        frontier.duplicates in FILTERS,
        f"pull={shown!r} reads a bitmap that is exact, where duplicates={frontier.duplicates!r} "
        "finds nothing; choose pull='never' or duplicates='keep'.",
    )
    yield (
        bool(frontier.history),
        f"pull={shown!r} reads a bitmap that is exact, where history={frontier.history} remembers "
        "nothing of use; choose pull='never' or history=0.",
    )
    yield (
        isinstance(pull, ByEdges) and pull.beta > 0,
        f"beta={getattr(pull, 'beta', 0)} is about frontier='status', whose levels pull until it "
        "says otherwise; choose that or leave it out.",
    )


def _balance_rules(frontier: Frontier, balance: Balancer) -> Iterator[Rule]:
    name = balance.name
    yield (
        isinstance(frontier, StatusArray),
        f"balance={name!r} shares edges of a queue among lanes, which frontier='status' does by "
        "classes; choose classes, or another frontier.",
    )
    yield (
        frontier.HAS_CANDIDATES and name in NOT_PIECEWISE,
        f"balance={name!r} shares out a whole queue of vertices, but frontier={frontier.name!r} "
        "hands out a few at a time; choose frontier='vertex', or balance='warp_search' here.",
    )
    yield (
        frontier.duplicates in {"load_lanes", "load_group"} and name in NOT_PIECEWISE,
        f"balance={name!r} shares out a whole queue, but duplicates={frontier.duplicates!r} drops "
        "vertices while they are shared out; choose 'lookup_group', or balance='warp_search'.",
    )
    update, hubs = frontier.update, frontier.hubs
    yield (
        isinstance(update, Registers) and update.induced_by == "width" and name != "dyn_vwarp",
        "induced_by='width' is about the width that balance='dyn_vwarp' gives a level, not "
        f"{name!r}; choose that or induced_by='length'.",
    )
    yield (
        name in WHOLE_GRID and hubs is not None and bool(hubs.degree),
        f"hubs.degree={hubs.degree if hubs else 0} sets vertices apart that balance={name!r} "
        "spreads over the whole grid anyway; choose hubs.degree=0 or another balancer.",
    )
