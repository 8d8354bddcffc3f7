"""What a load balancer is: the base of all of them, and the pieces that it cuts lists in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from clgraph.engine.strategies.strategy import Strategy
from clgraph.errors import InvalidArgumentError

__all__ = ["BALANCER_COUNTERS", "USUAL_BATCH", "Balancer", "Chunks", "Scope"]

Scope = Literal["lanes", "group", "grid"]

# What renderings that count tell of a balancer: see tally() of /balance/shared/items.mako.
BALANCER_COUNTERS = (
    "SEARCHES",
    "PROBES",
    "MISFITS",
    "GROUP_ROWS",
    "LANE_ROWS",
    "SCAN_ROUNDS",
    "BROADCASTS",
    "TILES",
)

# Entries of a local array: more than any device has room for, few enough that no compiler's sum of
# bytes wraps, as Intel's does, to one that seems to fit.
MOST_LOCAL = 1 << 24
USUAL_BATCH = 8  # units in a row that a work-item finds by one search


@dataclass(frozen=True, slots=True)
class Chunks:
    """The pieces that a whole list is cut in, by balancers of the whole grid.

    Attributes
    ----------
    units : int
        Of a chunk; in searches the most.
    step : int
        Work-items that share a chunk.
    run : int
        Units in a row that a work-item finds by one search.
    slice : int
        Prefix sums of a chunk that local memory holds.
    """

    units: int
    step: int
    run: int
    slice: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Balancer(Strategy):
    """Base of the load balancers; what an instance says of a list of items with units (edges)."""

    # In which control flow its loops run: see /balance/advance.mako.
    SCOPE: ClassVar[Scope] = "lanes"
    # What only `clgraph.primitives.expand` has.
    FOR_EXPAND: ClassVar[tuple[str, ...]] = ()

    @property
    def scope(self) -> Scope:
        """In which control flow its loops run."""
        return self.SCOPE

    @property
    def extended(self) -> bool | None:
        """Whether a search is spared where a long row fills whole rounds."""
        return False

    @property
    def group_scan(self) -> str | None:
        """Whether the small items of a work-group are put in a row in their order."""
        return "ordered"

    @property
    def block_items(self) -> int:
        """Items of each work-item that a work-group takes at once."""
        return 1

    @property
    def partition(self) -> str:
        """What chunks are equal in."""
        return "units"

    @property
    def leaves(self) -> str:
        """What becomes of vertices whose only edge leads back."""
        return "keep"

    def resolved(self, lanes: int, group_size: int) -> Self:  # noqa: ARG002 - most have no sizes
        """Give the same with every size decided.

        Raises
        ------
        InvalidArgumentError
            If sizes are more than a work-item's registers or any local memory holds.
        """
        return self.with_usual()

    def chunks(self, group_size: int, lanes: int) -> Chunks:  # noqa: ARG002 - as `direct` has it
        """How the whole list is cut."""
        return self._cut(group_size, USUAL_BATCH, 1)

    def _cut(self, group_size: int, run: int, iterations: int) -> Chunks:
        return Chunks(group_size * run * iterations, group_size, run, group_size * run + 3)

    def _check_local(self, name: str, value: int, entries: int) -> None:
        if entries > MOST_LOCAL:
            raise InvalidArgumentError(
                f"{name}={value} takes {entries} entries of local memory, which no device has; "
                "choose a smaller one."
            )
