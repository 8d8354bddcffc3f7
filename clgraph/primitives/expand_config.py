"""What a load-balanced expansion may do in more than one way, and what is decided for a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clgraph.device.hardware.measured import EVEN_SIZES, LANES_CUT
from clgraph.engine.strategies.balance import (
    FAMILY,
    Balancer,
    DynVwarp,
    ItemThread,
    MultiPhase,
    Vwarp,
    WarpSearch,
)
from clgraph.engine.strategies.parameters import choice, number, real, switch
from clgraph.engine.strategies.schedule import check_group_size
from clgraph.engine.strategies.strategy import Slot, Strategy, slot
from clgraph.errors import InvalidArgumentError
from clgraph.primitives.sizes import LARGEST_SIZE

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.engine.strategies.balancer import Chunks

__all__ = [
    "BinarySearch",
    "ChunkSearch",
    "ExpandConfig",
    "ExpandSizes",
    "HybridSearch",
    "InterpolationSearch",
    "LaneSearch",
    "decide",
    "usual_balancer",
]

GPU_GROUP_SIZE = 256
CPU_GROUP_LANES = 4  # SIMD groups in a work-group, where the lanes are a CPU's
ESTIMATES = 8


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChunkSearch(Strategy):
    """Base of how the first item of a chunk is found."""

    @property
    def estimates(self) -> int:
        """Interpolations before a search bisects."""
        return ESTIMATES


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BinarySearch(ChunkSearch):
    """By bisection."""

    NAME = "binary"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LaneSearch(ChunkSearch):
    """A whole SIMD group reads for one chunk."""

    NAME = "lanes"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterpolationSearch(ChunkSearch):
    """By interpolation.

    Parameters
    ----------
    estimates : int
        Interpolations before a search bisects.
    """

    NAME = "interpolation"

    estimates: int = number(ESTIMATES)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HybridSearch(ChunkSearch):
    """By interpolation where sizes are alike, by bisection where not.

    Parameters
    ----------
    deviation, mean : float
        What alike means: the largest standard deviation and mean size for it.
    estimates : int
        Interpolations before a search bisects.
    """

    NAME = "hybrid"

    deviation: float = real(8.0, least=0, unit="at least 0", infinite=True)
    mean: float = real(9.0, least=0, unit="at least 0", infinite=True)
    estimates: int = number(ESTIMATES)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpandConfig(Strategy):
    """A point in the configuration space of `expand`; None is decided from sizes and device.

    Parameters
    ----------
    balance : str or Balancer, optional
        See `clgraph.balance`.
    search : {"hybrid", "binary", "interpolation", "lanes"} or ChunkSearch, optional
        How the first item of a chunk is found; default is by lanes where the balancer is left open
        and there are several, else hybrid.
    group_size : int, optional
        Work-items in a work-group, a multiple of the device's lanes.
    grid_factor : int
        Launched work-groups over resident ones; 0 for one to every piece of work.
    read_only : bool
        Whether offsets are declared as never written, which lets them be read through another
        cache.
    cache : {"default", "read-only"}, optional
        How offsets are loaded: as the compiler likes, which is the default, or by the load that
        need not be coherent where the device has one; offsets of 64 bits always by the former.
    """

    balance: Slot[Balancer] = slot(*FAMILY)
    search: Slot[ChunkSearch] = slot(HybridSearch, BinarySearch, InterpolationSearch, LaneSearch)
    group_size: int | None = number(least=1)
    grid_factor: int = number(32)
    read_only: bool = switch(default=True)
    cache: str | None = choice("default", "read-only")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpandSizes:
    """What templates see as ``config``: see `Balancer`, `Chunks` and `ExpandConfig`."""

    asked: ExpandConfig
    balance: Balancer
    chunks: Chunks
    lanes: int
    group_size: int
    tile: int
    tiles: bool
    wide_offsets: bool
    search: str
    estimates: int
    read_only: bool
    cache: str
    with_ranks: bool
    counts: bool
    wide: int
    bare: bool = True
    distribution: str = "static"
    wide_batch: int = 1
    scan_batch: int = 1

    def __repr__(self) -> str:
        """Show the call that makes it: what was asked for, and the balancer that was chosen."""
        return repr(self.asked)

    def as_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults, by dotted names, for records."""
        return self.asked.as_dict()


def decide(
    config: ExpandConfig,
    traits: DeviceTraits,
    *,
    mean: float,
    deviation: float,
    wide_offsets: bool,
    with_ranks: bool,
    counts: bool,
) -> ExpandSizes:
    """Complete a configuration for a device.

    Parameters
    ----------
    config : ExpandConfig
        What was asked for.
    traits : DeviceTraits
        Of the device.
    mean, deviation : float
        Of the sizes.
    wide_offsets : bool
        Whether sums of sizes need 64 bits.
    with_ranks, counts : bool
        Whether ranks are written, and events counted.

    Returns
    -------
    ExpandSizes

    Raises
    ------
    InvalidArgumentError
        If the device cannot run it.
    """
    lanes = traits.lanes
    group_size = check_group_size(config.group_size or _group_size(traits), traits)
    asked = config.balance or usual_balancer(mean, deviation, traits)
    balance = asked.resolved(lanes, group_size)
    if isinstance(balance, DynVwarp) and group_size * (balance.tile_batch or 0) >= LARGEST_SIZE:
        raise InvalidArgumentError(
            f"tile_batch={balance.tile_batch} of group_size={group_size} are more units than an "
            "item may have; choose a smaller one."
        )
    search = config.search
    if search is None:
        cut = config.balance is None and lanes > 1 and LANES_CUT.on(traits)
        search = LaneSearch() if cut else HybridSearch()
    return ExpandSizes(
        asked=replace(config, balance=asked),
        balance=balance,
        chunks=balance.chunks(group_size, lanes),
        lanes=lanes,
        group_size=group_size,
        tile=lanes // (balance.width or 1) if isinstance(balance, Vwarp) else lanes,
        tiles=isinstance(balance, DynVwarp),
        wide_offsets=wide_offsets,
        search=_search(search, mean, deviation, lanes),
        estimates=search.estimates,
        read_only=config.read_only,
        cache="default" if wide_offsets else config.cache or "default",
        with_ranks=with_ranks,
        counts=counts,
        wide=(balance.wide or 0) if isinstance(balance, WarpSearch) else 0,
        scan_batch=2 if traits.lane_ops == "ptx" else 1,
    )


def _search(search: ChunkSearch, mean: float, deviation: float, lanes: int) -> str:
    """Name the search that is run; a lane alone has nobody to cut an interval with."""
    if isinstance(search, LaneSearch) and lanes == 1:
        return "binary"
    if not isinstance(search, HybridSearch):
        return search.NAME
    alike = deviation <= search.deviation and mean <= search.mean
    return "interpolation" if alike else "binary"


def usual_balancer(mean: float, deviation: float, traits: DeviceTraits) -> Balancer:
    """Choose a balancer by mean and deviation of the sizes."""
    if traits.lanes == 1 or (traits.is_cpu and deviation <= mean):
        return ItemThread()
    even_deviation, even_mean = EVEN_SIZES.on(traits)
    if traits.is_cpu or (deviation <= even_deviation and mean >= even_mean):
        return WarpSearch()
    return MultiPhase()


def _group_size(traits: DeviceTraits) -> int:
    if traits.lanes == 1 or traits.emulated:
        return traits.lanes
    wanted = CPU_GROUP_LANES * traits.lanes if traits.is_cpu else GPU_GROUP_SIZE
    return traits.group_of(wanted)
