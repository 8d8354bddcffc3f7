"""Which combinations of a configuration's dimensions are legal, and why the others are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.engine.balancers import BALANCERS
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CANDIDATES", "EXACT", "FILTERS", "check_combination", "objection"]

EXACT = ("bitmap", "labels")  # values of `visited` by which a vertex is claimed once
CANDIDATES = ("edge", "two_phase", "hybrid")  # values of `queue` with a queue of candidates
WITHOUT_BITMAP = ("mask", "plain")
FILTERS = ("load_lanes", "load_group", "lookup_lanes", "lookup_group")
WHOLE_GRID = tuple(name for name, scope in BALANCERS.items() if scope == "grid")
NOT_PIECEWISE = ("dyn_vwarp", *WHOLE_GRID)  # they must know how much there is in all
SOME = "some"  # any number but 0
ANY = "any"
STATUS_ONLY = ("generation", "classes", "gamma", "beta", "hub_cache", "hub_floor", "status_bits")


@dataclass(frozen=True, slots=True)
class Rule:
    """A combination that is not legal: every named dimension has one of the values given."""

    values: Mapping[str, tuple[Any, ...]]
    why: str

    def forbids(self, chosen: Mapping[str, Any]) -> bool:
        """Whether all dimensions are chosen so; one that is left open never is."""
        return all(_among(chosen.get(name), values) for name, values in self.values.items())


def _among(value: Any, values: tuple[Any, ...]) -> bool:
    if value is None:
        return False
    return (
        ANY in values
        or value in values
        or (SOME in values and not isinstance(value, str) and bool(value))
    )


RULES = (
    Rule(
        {"synchronisation": ("stepped",), "membership": ("open",)},
        "membership='open' is about work-groups that wait for each other, which those of "
        "synchronisation='stepped' never do; leave one of them out.",
    ),
    Rule(
        {"synchronisation": ("persistent",), "kernels": ("split",)},
        "kernels='split' has a launch for every stage, so synchronisation='persistent' needs "
        "kernels='fused'.",
    ),
    Rule(
        {"kernels": ("split",), "membership": ("open",)},
        "membership='open' is about work-groups that wait for each other, which those of "
        "kernels='split' never do; leave one of them out.",
    ),
    Rule(
        {"queue": CANDIDATES, "direction": ("switching",)},
        "direction='switching' pulls into a queue of vertices, but queue={queue!r} passes "
        "candidates on; choose direction='push' or queue='vertex'.",
    ),
    Rule(
        {"queue": ("vertex",), "visited": WITHOUT_BITMAP, "direction": ("switching",)},
        "direction='switching' reads a bitmap that is exact, which visited={visited!r} does not "
        "keep; choose direction='push' or visited='bitmap'.",
    ),
    # Where `visited` is left open these would choose a mask.
    Rule(
        {"queue": ("vertex",), "duplicates": FILTERS, "direction": ("switching",)},
        "direction='switching' reads a bitmap that is exact, where duplicates={duplicates!r} finds "
        "nothing; choose direction='push' or duplicates='keep'.",
    ),
    Rule(
        {"queue": ("vertex",), "history": (SOME,), "direction": ("switching",)},
        "direction='switching' reads a bitmap that is exact, where history={history} remembers "
        "nothing of use; choose direction='push' or history=0.",
    ),
    Rule(
        {"queue": (*CANDIDATES, "status"), "solo": (True,)},
        "solo=True runs levels out of a queue of vertices in local memory; choose queue='vertex' "
        "or leave solo out.",
    ),
    Rule(
        {"queue": ("vertex",), "visited": EXACT, "duplicates": FILTERS},
        "duplicates={duplicates!r} finds nothing where visited={visited!r} lets each vertex be "
        "claimed once; choose visited='mask' or duplicates='keep'.",
    ),
    Rule(
        {"visited": EXACT, "history": (SOME,)},
        "history={history} remembers nothing of use where visited={visited!r} lets each vertex be "
        "claimed once; choose visited='mask' or history=0.",
    ),
    Rule(
        {"queue": ("status",), "visited": ("bitmap", "labels", "mask")},
        "queue='status' looks vertices up in the status array itself; choose visited='plain', not "
        "{visited!r}.",
    ),
    Rule(
        {"queue": ("status",), "duplicates": FILTERS},
        "duplicates={duplicates!r} finds nothing in a status array, which holds each vertex once; "
        "choose duplicates='keep'.",
    ),
    Rule(
        {"queue": ("status",), "history": (SOME,)},
        "history={history} finds nothing in a status array, which holds each vertex once; choose "
        "history=0.",
    ),
    Rule(
        {"queue": ("edge", "status"), "update": ("ballot", "registers")},
        "update={update!r} is about appending single vertices to a queue, which queue={queue!r} "
        "never does; leave it out.",
    ),
    Rule(
        {"queue": (*CANDIDATES, "status"), "hub_degree": (SOME,)},
        "hub_degree={hub_degree} needs a queue of hubs beside that of vertices, which "
        "queue={queue!r} does not have; choose hub_degree=0 or queue='vertex'.",
    ),
    Rule(
        {"hub_bins": (True,), "queue": (*CANDIDATES, "status")},
        "hub_bins=True is about hubs beside a queue of vertices, which queue={queue!r} does not "
        "have; choose queue='vertex' or leave hub_bins out.",
    ),
    Rule(
        {"hub_bins": (True,), "solo": (True,)},
        "hub_bins=True keeps hubs in several queues, but solo=True hands them on in one; leave one "
        "of them out.",
    ),
    Rule(
        {"distribution": ("claimed",), "hub_degree": (SOME,)},
        "hub_degree={hub_degree} spreads hubs by position, so distribution='claimed' cannot serve "
        "them; choose distribution='static' or hub_degree=0.",
    ),
    Rule(
        {"queue": CANDIDATES, "balance": NOT_PIECEWISE},
        "balance={balance!r} shares out a whole queue of vertices, but queue={queue!r} hands out a "
        "few at a time; choose queue='vertex', or balance='warp_search' here.",
    ),
    Rule(
        {"duplicates": ("load_lanes", "load_group"), "balance": NOT_PIECEWISE},
        "balance={balance!r} shares out a whole queue, but duplicates={duplicates!r} drops "
        "vertices while they are shared out; choose 'lookup_group', or balance='warp_search'.",
    ),
    Rule(
        {
            "induced_by": ("width",),
            "balance": tuple(name for name in BALANCERS if name != "dyn_vwarp"),
        },
        "induced_by='width' is about the width that balance='dyn_vwarp' gives a level, not "
        "{balance!r}; choose that or induced_by='length'.",
    ),
    Rule(
        {
            "leaves": ("discard",),
            "balance": tuple(name for name in BALANCERS if name not in WHOLE_GRID),
        },
        "leaves='discard' is about what is shared out over the whole grid, which balance="
        "{balance!r} does not; choose 'two_phase' or leave leaves out.",
    ),
    Rule(
        {"group_scan": (ANY,), "balance": tuple(name for name in BALANCERS if name != "cws")},
        "group_scan={group_scan!r} is about how balance='cws' puts rows side by side, not "
        "{balance!r}; choose that or leave group_scan out.",
    ),
    Rule(
        {"balance": WHOLE_GRID, "hub_degree": (SOME,)},
        "hub_degree={hub_degree} sets vertices apart that balance={balance!r} spreads over the "
        "whole grid anyway; choose hub_degree=0 or another balancer.",
    ),
    Rule(
        {"queue": ("vertex", "edge", "two_phase", "status"), "hybrid_limit": (ANY,)},
        "hybrid_limit={hybrid_limit} is for queue='hybrid'; choose that or leave it out.",
    ),
    *(
        Rule(
            {"queue": ("vertex", *CANDIDATES), name: (ANY,)},
            f"{name}={{{name}!r}} is about queue='status'; choose that or leave it out.",
        )
        for name in STATUS_ONLY
    ),
    Rule(
        {"queue": ("vertex", *CANDIDATES), "switching": ("hubs",)},
        "switching='hubs' counts the hubs that a status array's levels find; choose "
        "queue='status' or switching='edges'.",
    ),
    Rule(
        {"queue": ("status",), "rows": ("pairs",)},
        "rows='pairs' is for queues of vertices and candidates; choose rows='csr' with "
        "queue='status'.",
    ),
    Rule(
        {"queue": ("status",), "balance": (ANY,)},
        "balance={balance!r} shares edges of a queue among lanes, which queue='status' does by "
        "classes; choose classes, or another queue.",
    ),
    Rule(
        {"generation": ("none",), "classes": (4,)},
        "classes=4 parts queues by degree, and generation='none' has no queues; choose classes=1.",
    ),
)


def objection(chosen: Mapping[str, Any]) -> str | None:
    """Give one sentence on why dimensions cannot be combined as chosen, None if they can.

    Parameters
    ----------
    chosen : mapping
        Dimensions by name; None or absent where they are left open.
    """
    chosen = {**chosen, "queue": chosen.get("queue") or "vertex"}
    for rule in RULES:
        if rule.forbids(chosen):
            return rule.why.format(**chosen)
    return None


def check_combination(chosen: Mapping[str, Any]) -> None:
    """Refuse dimensions that cannot be combined.

    Raises
    ------
    InvalidArgumentError
        One sentence on the first combination that is not legal.
    """
    complaint = objection(chosen)
    if complaint is not None:
        raise InvalidArgumentError(complaint)
