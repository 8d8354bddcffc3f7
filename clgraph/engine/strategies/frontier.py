"""What passes from level to level: queues of vertices or candidates, or a status array.

Each has its own way to look up who was reached, to drop duplicates and to be filled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from clgraph.documented import documented
from clgraph.engine.strategies.parameters import choice, number, switch
from clgraph.engine.strategies.strategy import Strategy, slot
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits

__all__ = [
    "CANDIDATES",
    "EXACT",
    "FILTERS",
    "Ballot",
    "Buffer",
    "EdgeQueue",
    "Frontier",
    "Hubs",
    "HybridQueue",
    "Registers",
    "StatusArray",
    "TwoPhaseQueue",
    "Update",
    "VertexQueue",
]

EXACT = ("bitmap", "labels")  # values of `visited` by which a vertex is claimed once
# Edges of a vertex, in the mean, from which on a work-item alone looks at bits, which fit its
# caches, before labels. By PoCL: of 13 edges that loses a tenth or two, of 16 it gains a fifth.
DENSE = 15
CANDIDATES = ("edge", "two_phase", "hybrid")  # names of queues of candidates
FILTERS = ("load_lanes", "load_group", "lookup_lanes", "lookup_group")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Update(Strategy):
    """Where found vertices wait for a place in a queue."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Buffer(Update):
    """In local memory."""

    NAME = "buffer"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ballot(Update):
    """Nowhere: lanes that found one at the same time reserve together."""

    NAME = "ballot"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Registers(Update):
    """In registers.

    Parameters
    ----------
    size : int, optional
        Vertices that a lane keeps; default 4.
    scan : {"shuffle", "binary"}, optional
        How lanes number them: by a scan, or by a ballot where no lane has more than one.
    induced : int, optional
        With so many vertices a lane they are stored side by side; default 0, for never.
    induced_by : {"length", "width"}, optional
        Whether that number is of vertices a lane, at least, or of lanes a vertex, at most
        (``dyn_vwarp``).
    """

    NAME = "registers"

    size: int | None = number(usual=4, least=1, most=16)
    scan: str | None = choice("shuffle", "binary", usual="shuffle")
    induced: int | None = number(usual=0)
    induced_by: str | None = choice("length", "width", usual="length")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hubs(Strategy):
    """Vertices of so many edges that they are queued apart and spread over the whole grid.

    Parameters
    ----------
    degree : int, optional
        The least of theirs; 0 for none.
    bins : bool, optional
        Whether they are kept in a queue for each power of two of their degree and get as many
        work-items each, `degree` rounded up to such a power, instead of two edges a lane.
    batch : int, optional
        Edges of a hub that each lane of a SIMD group takes at a time, rounded up to an even number.
    """

    degree: int | None = number()
    bins: bool | None = switch()
    batch: int | None = number(least=1)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Frontier(Strategy):
    """Base of the forms of a frontier; what all of them answer."""

    # The smallest there is, in entries a vertex: see `entry`.
    HAS_CANDIDATES: ClassVar[bool] = False

    @property
    def visited(self) -> str | None:
        """Where a stage looks up who has been reached."""
        return "plain"

    @property
    def duplicates(self) -> str | None:
        """Where duplicates are dropped, and among whom."""
        return "keep"

    @property
    def history(self) -> int | None:
        """Vertices that a work-group remembers having found."""
        return 0

    @property
    def rows(self) -> str | None:
        """Whether rows have offsets, or begin and end side by side."""
        return "csr"

    @property
    def update(self) -> Update | None:
        """Where found vertices wait for a place."""
        return Buffer()

    @property
    def hubs(self) -> Hubs | None:
        """Vertices that are set apart."""
        return None

    @property
    def exact(self) -> bool:
        """Whether a vertex enters a queue at most once."""
        return self.visited in EXACT

    @property
    def filtered(self) -> bool:
        """Whether duplicates are dropped."""
        return self.duplicates in FILTERS or bool(self.history)

    def resolved(
        self, traits: DeviceTraits, group_size: int, mean_degree: float | None = None
    ) -> Self:
        """Give the same with everything decided."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Queue(Frontier):
    """What queues have in common.

    Parameters
    ----------
    visited : {"bitmap", "labels", "mask", "plain"}, optional
        Where a stage looks up who has been reached. Bits and labels are claimed by atomics; a mask
        of bytes before the labels, and the labels themselves, may be claimed by several at once.
    duplicates : {"keep", "load_lanes", "load_group", "lookup_lanes", "lookup_group"}, optional
        Where duplicates are dropped, as entries are taken from a queue or as neighbours are
        found, and among whom.
    hash_rounds, hash_size : int, optional
        Hash functions tried in turn, and slots of each table that drops duplicates.
    history : int, optional
        Vertices that a work-group remembers having found, to drop them; 0 for none.
    rows : {"csr", "pairs"}, optional
        Offsets of rows, or begin and end of each row side by side.
    """

    visited: str | None = choice("bitmap", "labels", "mask", "plain")
    duplicates: str | None = choice("keep", *FILTERS, usual="keep")
    hash_rounds: int | None = number(least=1, most=4)
    hash_size: int | None = number(least=1, most=4096, power=True)
    history: int | None = number(usual=0, most=8192, power=True)
    rows: str | None = choice("csr", "pairs", usual="csr")

    def validate(self) -> None:
        """Refuse filters where nothing is to be found."""
        if self.visited in EXACT and self.history:
            raise InvalidArgumentError(
                f"history={self.history} remembers nothing of use where visited={self.visited!r} "
                "lets each vertex be claimed once; choose visited='mask' or history=0."
            )

    @property
    def _takes_mask(self) -> bool:
        return bool(self.history)

    def resolved(
        self,
        traits: DeviceTraits,  # noqa: ARG002
        group_size: int,
        mean_degree: float | None = None,
    ) -> Self:
        """Give the same with everything decided."""
        sparse = mean_degree is not None and mean_degree < DENSE
        exact = "labels" if group_size == 1 and sparse else "bitmap"
        by_group = (self.duplicates or "").endswith("group")
        decided: dict[str, Any] = {
            "visited": self.visited or ("mask" if self._takes_mask else exact),
            "hash_rounds": self.hash_rounds or (2 if by_group else 1),
            "hash_size": self.hash_size or (1024 if by_group else 128),
        }
        if "update" in self.parameters():
            decided["update"] = (self.update or Buffer()).with_usual()
        return replace(self.with_usual(), **decided)


@documented(_Queue)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VertexQueue(_Queue):
    """Vertices, each to be expanded.

    Parameters
    ----------
    update : {"buffer", "ballot", "registers"} or Update, optional
        Where found vertices wait for a place in the queue.
    hubs : Hubs, optional
        Which of them are queued apart.
    """

    NAME = "vertex"

    update: Update | None = slot(Buffer, Ballot, Registers)
    hubs: Hubs | None = slot(Hubs)

    def validate(self) -> None:
        """Refuse filters where nothing is to be found."""
        if self.visited in EXACT and self.duplicates in FILTERS:
            raise InvalidArgumentError(
                f"duplicates={self.duplicates!r} finds nothing where visited={self.visited!r} lets "
                "each vertex be claimed once; choose visited='mask' or duplicates='keep'."
            )
        _Queue.validate(self)

    @property
    def _takes_mask(self) -> bool:
        return self.filtered


@documented(_Queue)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EdgeQueue(_Queue):
    """Candidates, the targets of the frontier's edges: contracted and expanded by one kernel."""

    NAME = "edge"
    HAS_CANDIDATES = True


@documented(_Queue)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TwoPhaseQueue(_Queue):
    """Candidates and vertices in turn: one kernel contracts, another expands.

    Parameters
    ----------
    update : {"buffer", "ballot", "registers"} or Update, optional
        Where vertices wait for a place in their queue.
    """

    NAME = "two_phase"
    HAS_CANDIDATES = True

    update: Update | None = slot(Buffer, Ballot, Registers)


@documented(_Queue)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HybridQueue(_Queue):
    """Whichever of an edge queue and two phases suits a level.

    Parameters
    ----------
    update : {"buffer", "ballot", "registers"} or Update, optional
        Where vertices wait for a place in their queue.
    limit : int, optional
        Candidates above which a level has two phases; default is the resident work-items.
    """

    NAME = "hybrid"
    HAS_CANDIDATES = True

    update: Update | None = slot(Buffer, Ballot, Registers)
    limit: int | None = number()

    def resolved(
        self, traits: DeviceTraits, group_size: int, mean_degree: float | None = None
    ) -> Self:
        """Give the same with everything decided."""
        resident = traits.compute_units * max(traits.threads_per_unit, group_size)
        decided = _Queue.resolved(self, traits, group_size, mean_degree)
        return replace(decided, limit=resident if self.limit is None else self.limit)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StatusArray(Frontier):
    """Nothing but the status of every vertex, out of which queues are made for each level.

    Parameters
    ----------
    generation : {"recount", "bins", "none"}
        How queues come out of it: by looking twice, through bins, or not at all.
    bits : {8, 32}
        Of a vertex: 32 for the distances themselves, 8 for bytes beside them, without which a
        search of more than 254 levels is repeated.
    classes : {1, 4}, optional
        Classes by degree, each with a number of work-items a vertex, of queues; default 4, or 1
        where there are none.
    hub_cache : int, optional
        Hubs of the level before that a work-group keeps in local memory where it pulls; 0 for none.
    hub_floor : int, optional
        Out-degree above which a vertex is a hub; default is that of the vertices with a tenth of
        the edges.
    """

    NAME = "status"

    generation: str = choice("recount", "bins", "none", default="recount")
    bits: int = number(32, among=(8, 32))
    classes: int | None = number(among=(1, 4))
    hub_cache: int | None = number(most=4096, power=True)
    hub_floor: int | None = number()

    @property
    def exact(self) -> bool:
        """A status array has each vertex once."""
        return True

    def validate(self) -> None:
        """Refuse classes of queues where there are none."""
        if self.generation == "none" and self.classes == 4:
            raise InvalidArgumentError(
                "classes=4 parts queues by degree, and generation='none' has no queues; choose "
                "classes=1."
            )

    def resolved(
        self,
        traits: DeviceTraits,
        group_size: int,  # noqa: ARG002
        mean_degree: float | None = None,  # noqa: ARG002
    ) -> Self:
        """Give the same with everything decided."""
        # A processor's local memory is no faster than the rest.
        usual = 0 if traits.is_cpu else 1024
        return replace(
            self,
            classes=self.classes or (1 if self.generation == "none" else 4),
            hub_cache=usual if self.hub_cache is None else self.hub_cache,
        )
