"""The load balancers: strategies that share out the edges of a frontier.

Every name is a file of ``templates/balance/``; docs/load-balancing.md compares
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from clgraph.documented import documented
from clgraph.engine.strategies.balancer import USUAL_BATCH, Balancer, Chunks
from clgraph.engine.strategies.parameters import choice, number, switch
from clgraph.errors import InvalidArgumentError

__all__ = [
    "BALANCERS",
    "Balancer",
    "BlockSearch",
    "Cws",
    "Direct",
    "DynVwarp",
    "ItemThread",
    "MultiPhase",
    "TwoPhase",
    "Vwarp",
    "WarpSearch",
    "WarpSearchLocal",
]

MOST_UNITS = 256  # that a work-item keeps in registers (multi_phase), each with code of its own
DIRECT_ROUNDS = 16  # units that a lane looks up one by one before its SIMD group takes new ones


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemThread(Balancer):
    """An item for each work-item."""

    NAME = "item_thread"
    SYNONYMS = ("item_per_vertex",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Vwarp(Balancer):
    """Some lanes share an item.

    Parameters
    ----------
    width : int, optional
        How many, a power of two; default all of a SIMD group, which is also the most.
    shuffle : bool
        Whether the lanes of a SIMD group load as many items at once, side by side, and pass them
        on, instead of all that share an item reading the same one.
    gather : int
        Rows of this many edges and above are first walked by the whole SIMD group; 0 for none.
    """

    NAME = "vwarp"
    SYNONYMS = ("lanes_per_vertex",)

    width: int | None = number(least=1, power=True)
    shuffle: bool = switch(default=False)
    gather: int = number(0)

    def resolved(self, lanes: int, group_size: int) -> Self:  # noqa: ARG002 - as `Balancer` has it
        """Give the same with every size decided, no wider than a SIMD group."""
        return replace(self, width=min(self.width or lanes, lanes))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DynVwarp(Balancer):
    """As many lanes share an item as there are for each item of a list.

    Parameters
    ----------
    width : int, optional
        The fewest, a power of two; default 4.
    discover : int, optional
        With fewer items than the resident work-items over this, lanes look for edges instead of
        sharing rows; default 0, for never.
    extended : bool, optional
        Whether lanes that look for edges take whole rounds of a long row without looking.
    vertices : int, optional
        Items that such lanes take one after another at most, where there are enough; for searches
        by weight.
    threshold : int, optional
        Items of more units are cut in tiles for a launch of their own, default 4096; for `expand`.
    tile_batch : int, optional
        Units that each work-item takes of such a tile, default 16; for `expand`.
    """

    NAME = "dyn_vwarp"
    FOR_EXPAND = ("threshold", "tile_batch")

    width: int | None = number(least=1, power=True)
    discover: int | None = number(usual=0)
    extended: bool | None = switch(usual=False)
    vertices: int | None = number(least=1, most=2**16)
    threshold: int | None = number(usual=4096)
    tile_batch: int | None = number(usual=16, least=1)

    def resolved(self, lanes: int, group_size: int) -> Self:  # noqa: ARG002 - as `Balancer` has it
        """Give the same with every size decided, no wider than a SIMD group."""
        return replace(self.with_usual(), width=min(self.width or 4, lanes))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WarpSearch(Balancer):
    """Lanes of a SIMD group look for the owner of each edge in a prefix sum in registers.

    Parameters
    ----------
    wide : int, optional
        Rows of this many edges and above are walked by the whole SIMD group; 0 for none.
    extended : bool, optional
        Whether lanes take whole rounds of a long row without looking.
    """

    NAME = "warp_search"
    SYNONYMS = ("lane_scan",)

    wide: int | None = number()
    extended: bool | None = switch(usual=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WarpSearchLocal(Balancer):
    """As `WarpSearch`, in local memory."""

    NAME = "warp_search_local"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cws(Balancer):
    """Long items by a work-group, others by a SIMD group, the rest put in a row.

    Parameters
    ----------
    group_threshold, lane_threshold : int, optional
        Items of more units are a work-group's, or a SIMD group's; default as many as these have
        work-items.
    group_scan : {"ordered", "unordered"}, optional
        Whether the smallest are put side by side in order, by a scan, or SIMD group by SIMD group
        as they arrive, by an atomic each.
    scratch : int, optional
        Places that they are put in, default one for each work-item; for `expand`.
    """

    NAME = "cws"
    SCOPE = "group"
    FOR_EXPAND = ("scratch",)

    group_threshold: int | None = number(least=1)
    lane_threshold: int | None = number(least=1)
    group_scan: str | None = choice("ordered", "unordered", usual="ordered")
    scratch: int | None = number(least=1)

    def resolved(self, lanes: int, group_size: int) -> Self:
        """Give the same with every size decided."""
        scratch = self.scratch or group_size
        self._check_local("scratch", scratch, scratch)
        return replace(
            self.with_usual(),
            group_threshold=self.group_threshold or group_size,
            lane_threshold=self.lane_threshold or lanes,
            scratch=scratch,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BlockSearch(Balancer):
    """The work-items of a group look for the owner of each edge in a prefix sum in local memory.

    Parameters
    ----------
    block_items : int
        Items of each work-item that a work-group searches at once; more than 1 for `expand`.
    """

    NAME = "block_search"
    SCOPE = "group"
    # Whoever holds one item a work-item, as searches do, would leave out all the others.
    FOR_EXPAND = ("block_items",)

    block_items: int = number(1, least=1)

    def resolved(self, lanes: int, group_size: int) -> Self:  # noqa: ARG002 - as `Balancer` has it
        """Check that the block fits."""
        self._check_local("block_items", self.block_items, group_size * self.block_items)
        return self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Direct(Balancer):
    """Every work-item looks for the owner of each edge of its own in the prefix sum of all.

    Parameters
    ----------
    leaves : {"keep", "discard"}
        Whether vertices whose only edge leads back are left out of what is shared out, in
        undirected graphs.
    """

    NAME = "direct"
    SCOPE = "grid"

    leaves: str = choice("keep", "discard", default="keep")

    def chunks(self, group_size: int, lanes: int) -> Chunks:
        """How the whole list is cut."""
        usual = self._cut(group_size, USUAL_BATCH, 1)
        return replace(usual, units=lanes * DIRECT_ROUNDS, step=lanes)


@documented(Direct)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TwoPhase(Balancer):
    """A search finds where each chunk begins, work-groups share out their chunks.

    Parameters
    ----------
    unit_batch : int
        Edges in a row that a work-item finds by one search.
    partition : {"units", "merge"}
        What chunks are equal in: units, or units and items together; the latter for `expand`.
    """

    NAME = "two_phase"
    SCOPE = "grid"
    FOR_EXPAND = ("partition",)

    unit_batch: int = number(USUAL_BATCH, least=1)
    leaves: str = choice("keep", "discard", default="keep")
    partition: str = choice("units", "merge", default="units")

    def resolved(self, lanes: int, group_size: int) -> Self:  # noqa: ARG002 - as `Balancer` has it
        """Check that a chunk fits."""
        self._check_local("unit_batch", self.unit_batch, group_size * self.unit_batch)
        return self

    def chunks(self, group_size: int, lanes: int) -> Chunks:  # noqa: ARG002 - as `Balancer` has it
        """How the whole list is cut."""
        return self._cut(group_size, self.unit_batch, 1)


@documented(Direct)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MultiPhase(Balancer):
    """As `TwoPhase`, with the owners of several runs of edges kept in registers.

    Parameters
    ----------
    unit_batch : int
        Edges in a row that a work-item finds by one search.
    iterations : int
        How often it does so for one chunk.
    """

    NAME = "multi_phase"
    SCOPE = "grid"

    unit_batch: int = number(USUAL_BATCH, least=1)
    iterations: int = number(2, least=1)
    leaves: str = choice("keep", "discard", default="keep")

    def validate(self) -> None:
        """Refuse more units than registers hold."""
        most = self.unit_batch * self.iterations
        if most > MOST_UNITS:
            raise InvalidArgumentError(
                f"unit_batch={self.unit_batch} times iterations={self.iterations} are {most} units "
                f"in the registers of a work-item of balance='multi_phase'; choose at most "
                f"{MOST_UNITS}."
            )

    def chunks(self, group_size: int, lanes: int) -> Chunks:  # noqa: ARG002 - as `Balancer` has it
        """How the whole list is cut."""
        return self._cut(group_size, self.unit_batch, self.iterations)


FAMILY: tuple[type[Balancer], ...] = (
    ItemThread,
    Vwarp,
    DynVwarp,
    WarpSearch,
    WarpSearchLocal,
    Cws,
    BlockSearch,
    Direct,
    TwoPhase,
    MultiPhase,
)
BALANCERS: dict[str, type[Balancer]] = {kind.NAME: kind for kind in FAMILY}
