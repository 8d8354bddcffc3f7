"""How triangles are found: ways to intersect rows, and the order of the vertices."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from clgraph.engine.blocks import BlockRows
from clgraph.engine.resident import wide_offsets
from clgraph.engine.strategies.parameters import check_number
from clgraph.engine.strategies.presets import TUNED, Presets, check_origin
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of, truth
from clgraph.primitives import group_size

if TYPE_CHECKING:
    from clgraph.algorithms.triangles.orient import Stored
    from clgraph.device import DeviceTraits
    from clgraph.engine.blocks import Changing

__all__ = [
    "Bitmap",
    "Intersection",
    "Merge",
    "Path",
    "Resolved",
    "Search",
    "TrianglesConfig",
    "resolve",
]

Order = Literal["id", "degree"]
SKEWED_DEGREE = 64  # above it rows differ enough for renaming by degree to pay
# Work-items that share an intersection, by the least sum of the two lengths that asks for them:
# none walks more than `BOUND` steps, of rows of up to two million edges.
BINS = ((0, 1), (64, 8), (512, 32), (8192, 256), (65536, 2048), (524288, 16384))
BOUND = 256


class Intersection:
    """Base of the ways to intersect two rows."""

    __slots__ = ()
    way: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class Merge(Intersection):
    """One work-item walks both rows of an edge.

    Parameters
    ----------
    by : {"edge", "row"}
        Whether edges are listed and each is a work-item's (Leist et al.), or the few work-items of
        a row take its edges in turn, which needs no list; rows are then walked by number.
    span : int, optional
        Work-items of a row, 1 to 64, with "row".
    width : {1, 4}, optional
        Places that totals compare at a time, with "row"; supports of edges always take 4.
    tile : int, optional
        Elements of a row that a work-item keeps in registers for counts of vertices and supports of
        edges, 1 to 32, with "row"; 0 for none.
    slots : int, optional
        Slots of a hash table in local memory that it keeps them in instead, a power of two from 8
        to 256, with "row"; 0 for none.
    """

    by: Literal["edge", "row"] = "edge"
    span: int | None = None
    width: Literal[1, 4] | None = None
    tile: int | None = None
    slots: int | None = None
    way: ClassVar[str] = "merge"

    def __post_init__(self) -> None:
        """Refuse what is not legal."""
        if self.by not in {"edge", "row"}:
            raise InvalidArgumentError(f"Merge.by={self.by!r} is neither 'edge' nor 'row'.")
        check_number("Merge.span", self.span, 1, 64)
        if self.width not in {None, 1, 4}:
            raise InvalidArgumentError(f"Merge.width={self.width!r} is neither 1 nor 4.")
        check_number("Merge.tile", self.tile, 0, 32)
        check_number("Merge.slots", self.slots, 0, 256)
        if self.slots and (self.slots < 8 or self.slots & (self.slots - 1)):
            raise InvalidArgumentError(f"Merge.slots={self.slots} is not a power of two from 8.")
        given = (self.span, self.width, self.tile, self.slots)
        if self.by != "row" and given != (None,) * len(given):
            raise InvalidArgumentError("Merge.span, width, tile and slots are for by='row'.")

    @property
    def by_row(self) -> bool:
        """Whether the graph's own rows are walked."""
        return self.by == "row"


@dataclass(frozen=True, slots=True)
class Path(Intersection):
    """Several work-items cut the merge path of two rows among them (Green et al.).

    Parameters
    ----------
    parts : int, optional
        How many, 1 to 1024; default is by the lengths of the rows: 1, 8, 32, 256 or more, so that
        none walks more than 256 steps, and 1 where a device has one lane.
    """

    parts: int | None = None
    way: ClassVar[str] = "path"

    def __post_init__(self) -> None:
        """Refuse what is not legal."""
        check_number("Path.parts", self.parts, 1, 1024)


@dataclass(frozen=True, slots=True)
class Search(Intersection):
    """The elements of the shorter row are looked up in the longer one by binary search.

    Parameters
    ----------
    parts : int, optional
        Work-items that share them, 1 to 1024; default as for `Path`.
    """

    parts: int | None = None
    way: ClassVar[str] = "search"

    def __post_init__(self) -> None:
        """Refuse what is not legal."""
        check_number("Search.parts", self.parts, 1, 1024)


@dataclass(frozen=True, slots=True)
class Bitmap(Intersection):
    """The middle vertex of a triangle marks its row in local memory; other rows are tested by it.

    Parameters
    ----------
    bits : int, optional
        Bits of a work-group's table, a power of two from 1,024 to 262,144.
    pieces : int, optional
        Parts that the work of each of the greatest hubs is cut in, 1 to 64.
    packed : bool, optional
        Whether totals stream rows of 16-bit ranks and of bits; default is on devices with lanes.
    byte_ranks : int, optional
        Owners before this rank have a byte for each rank in their table, a power of two up to
        65,536 or 0; those after them a bit.
    stream : int, optional
        Work-items that walk one row side by side, a power of two up to 8.
    """

    bits: int | None = None
    pieces: int | None = None
    packed: bool | None = None
    byte_ranks: int | None = None
    stream: int | None = None
    way: ClassVar[str] = "bitmap"

    def __post_init__(self) -> None:
        """Refuse what is not legal."""
        check_number("Bitmap.bits", self.bits, 1024, 262144)
        check_number("Bitmap.pieces", self.pieces, 1, 64)
        check_number("Bitmap.byte_ranks", self.byte_ranks, 0, 65536)
        check_number("Bitmap.stream", self.stream, 1, 8)
        if self.byte_ranks and self.byte_ranks < 1024:
            raise InvalidArgumentError(
                f"Bitmap.byte_ranks={self.byte_ranks} is neither 0 nor at least 1,024."
            )
        for name in ("bits", "byte_ranks", "stream"):
            value = getattr(self, name)
            if value and value & (value - 1):
                raise InvalidArgumentError(f"Bitmap.{name}={value} is not a power of two.")


WAYS: dict[str, type[Intersection]] = {
    "merge": Merge,
    "path": Path,
    "search": Search,
    "bitmap": Bitmap,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrianglesConfig(Presets):
    """How triangles are found; results do not depend on it.

    Parameters
    ----------
    intersect : Intersection or str, optional
        `Merge`, `Path`, `Search` or `Bitmap`, or the name of one with its defaults; None chooses.
    order : {"degree", "id"}, optional
        What turns edges from one end to the other: by falling degree, which renames and sorts all
        rows first, or by the numbers of the vertices, which prepares nothing. None chooses by the
        greatest degree.
    cover : bool
        Whether only edges between two vertices of a vertex cover are intersected, by whole rows;
        for totals and counts of vertices, by number.
    counters : bool
        Whether the steps of each work-item are counted (``stats.longest``), or with bitmaps what is
        looked up (``stats.probes``), which costs time.
    group_size : int, optional
        Work-items in a work-group.
    origin : str, optional
        Where it is from, as ``config="tuned"`` says it; changes nothing.
    """

    intersect: Intersection | None = None
    order: Order | None = None
    cover: bool = False
    counters: bool = False
    group_size: int | None = None
    origin: str | None = None

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "thread-per-intersection": {"intersect": "merge", "order": "id"},
        "intersect-path": {"intersect": "path", "order": "id"},
        "binary-search": {"intersect": "search", "order": "degree"},
        "bitmap": {"intersect": "bitmap", "order": "degree"},
        "vertex-cover": {"intersect": "path", "order": "id", "cover": True},
    }

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        name: object = self.intersect
        if isinstance(name, str):
            if name not in WAYS:
                raise InvalidArgumentError(f"intersect={name!r} is not one of {', '.join(WAYS)}.")
            object.__setattr__(self, "intersect", WAYS[name]())
        elif self.intersect is not None and not isinstance(self.intersect, Intersection):
            raise InvalidArgumentError(
                f"intersect is a {type(self.intersect).__name__}; pass Merge, Path, Search, Bitmap "
                "or the name of one."
            )
        if self.order is not None:
            one_of("order", self.order, ("id", "degree"))
        for name in ("cover", "counters"):
            object.__setattr__(self, name, truth(name, getattr(self, name)))
        check_number("group_size", self.group_size, 1, 1024)
        check_origin(self.origin)
        if self.cover and (self.order == "degree" or isinstance(self.intersect, Bitmap)):
            raise InvalidArgumentError(
                "cover=True intersects whole rows as the graph stores them; leave out "
                "order='degree' and the bitmap."
            )
        by_row = isinstance(self.intersect, Merge) and self.intersect.by_row
        if by_row and (self.cover or self.order == "degree"):
            raise InvalidArgumentError(
                "Merge(by='row') takes rows as the graph stores them; leave out cover and "
                "order='degree'."
            )
        if self.counters and by_row:
            raise InvalidArgumentError(
                "counters=True is for edges and bitmaps; leave it out with Merge(by='row')."
            )

    def __repr__(self) -> str:
        """Give the call that makes it, without what is default."""
        given = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"TrianglesConfig({', '.join(given)})"

    @classmethod
    def needs_packed(
        cls, config: TrianglesConfig | str | None, graph: Changing, *, clean: bool
    ) -> str:
        """Say what packed rows of a dynamic graph are needed for; "" where rows in blocks will do.

        Parameters
        ----------
        config : TrianglesConfig or str, optional
            As it was given.
        graph : DynamicGraph
            Whose rows they are.
        clean : bool
            Whether self-loops and parallel edges are to be left out.
        """
        if clean:
            return "clean=True makes others of them"
        if not graph.sorted:
            return "they do not ascend"
        if graph.rows.pointer.dtype.itemsize == 8:
            return "places of 64 bits are not for triangles"
        if isinstance(config, str) and config.partition(":")[0] == TUNED:
            return f"config={config!r} looks for a graph with statistics like theirs"
        if cls.of(config).cover:
            return "cover=True chooses vertices by them"
        return ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration as decided for a graph and a device; what kernels are rendered with."""

    intersect: Intersection
    order: Order
    cover: bool
    counts: bool
    group_size: int
    lanes: int
    wide_offsets: bool
    max_degree: int
    rows: str = "csr"

    @property
    def renamed(self) -> bool:
        """Whether ranks are not the vertices' numbers."""
        return self.order == "degree"

    @property
    def way(self) -> str:
        """Name of the way to intersect."""
        return self.intersect.way

    @property
    def binned(self) -> tuple[tuple[int, int], ...]:
        """Least work of each bin, and work-items that share an intersection there."""
        parts = getattr(self.intersect, "parts", 1)
        if parts is not None:
            return ((0, parts),)
        if self.lanes == 1:
            return BINS[:1]
        return tuple(each for each in BINS if each[0] <= 2 * self.max_degree)

    def __str__(self) -> str:
        """Report the choice in a line."""
        said = f"{self.intersect!r}, order={self.order!r}"
        return said + (", cover=True" if self.cover else "")


def resolve(config: TrianglesConfig, traits: DeviceTraits, graph: Stored) -> Resolved:
    """Fill what is open, from the graph and the device.

    Parameters
    ----------
    config : TrianglesConfig
        What was asked for.
    traits : DeviceTraits
        Facts of the device.
    graph : Graph, BlockRows or HeldRows
        Whose triangles are to be counted.

    Returns
    -------
    Resolved

    Raises
    ------
    InvalidArgumentError
        If the group size is not one of the device.
    """
    order: Order = config.order or _order(config, graph.max_degree)
    chosen = config.intersect
    if chosen is None and order == "degree":
        chosen = Bitmap()
    elif chosen is None:
        chosen = Path() if config.cover or config.counters else Merge("row")
    size = config.group_size or group_size(traits)
    if size % traits.lanes or size > traits.max_group_size:
        raise InvalidArgumentError(
            f"group_size={size} is not a multiple of {traits.lanes} up to {traits.max_group_size}."
        )
    if traits.emulated and size != traits.lanes:
        raise InvalidArgumentError(
            f"group_size={size} does not fit emulated lanes, whose groups have {traits.lanes}."
        )
    shape = (size, traits.lanes, wide_offsets(graph.m), graph.max_degree)
    rows = "blocks" if isinstance(graph, BlockRows) else "csr"
    return Resolved(chosen, order, config.cover, config.counters, *shape, rows)


def _order(config: TrianglesConfig, max_degree: int) -> Order:
    way = config.intersect
    by_id = config.cover or (isinstance(way, Merge) and way.by_row)
    flat = max_degree <= SKEWED_DEGREE and not isinstance(way, Bitmap)
    return "id" if by_id or flat else "degree"
