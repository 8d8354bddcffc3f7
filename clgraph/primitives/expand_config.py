"""What a load-balanced expansion may do in more than one way, and what is decided for a device."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.engine.balancers import BALANCERS, Balance, balance_sizes, canonical
from clgraph.errors import InvalidArgumentError
from clgraph.primitives.sizes import LARGEST_SIZE

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits

__all__ = ["ExpandConfig", "ExpandSizes", "decide", "usual_balancer"]

GPU_GROUP_SIZE = 256
CPU_GROUP_LANES = 4  # SIMD groups in a work-group, where the lanes are a CPU's
SEARCHES = ("hybrid", "binary", "interpolation", "lanes")
PARTITIONS = ("units", "merge")
GROUP_SCANS = ("ordered", "unordered")
# On an H200 warp_search was the fastest on sizes like these, by up to a third, and multi_phase on
# all others or within a twentieth of it (docs/load-balancing.md).
EVEN_DEVIATION, EVEN_MEAN = 32.0, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandConfig:
    """A point in the configuration space of `expand`; None is decided from sizes and device.

    Parameters
    ----------
    balance : str, optional
        A name of ``clgraph.engine.balancers.BALANCERS`` or a synonym.
    group_size : int, optional
        Work-items in a work-group, a multiple of the device's lanes.
    virtual_warp : int, optional
        Lanes that share an item (``vwarp``), a power of two; default all of a SIMD group.
    min_virtual_warp : int, optional
        The fewest that do (``dyn_vwarp``), a power of two; default 4.
    discover : int, optional
        With fewer items than resident work-items over this, lanes search for units (``dyn_vwarp``);
        default 0, for never.
    extended : bool
        Whether a search is spared where a long item fills whole rounds (``warp_search``).
    dyn_threshold : int, optional
        Items of more units are cut in tiles, for a launch of their own (``dyn_vwarp``); default
        4096.
    tile_batch : int
        Units that each work-item takes of such a tile.
    group_threshold, lane_threshold : int, optional
        Items of more units are a work-group's, or a SIMD group's (``cws``); default as many as
        these have work-items.
    scratch : int, optional
        Places that small items are put in order in (``cws``); default one a work-item.
    group_scan : {"ordered", "unordered"}
        Whether they are put there in order, or by SIMD groups as these arrive.
    block_items : int, optional
        Items of each work-item that a work-group searches at once (``block_search``); default 1.
    unit_batch : int, optional
        Units in a row that a work-item finds by one search (``two_phase``, ``multi_phase``);
        default 8.
    iterations : int, optional
        Searches of each work-item for one chunk (``multi_phase``); default 2.
    partition : {"units", "merge"}
        What chunks are equal in (``two_phase``): units, or units and items together.
    search : {"hybrid", "binary", "interpolation", "lanes"}
        How the first item of a chunk is found; hybrid interpolates where sizes are alike and
        bisects where not; with lanes a whole SIMD group reads for one chunk, which is also the
        default where the balancer is left open.
    alike_deviation, alike_mean : float
        What alike means: the largest standard deviation and mean size for it.
    estimates : int
        Interpolations before a search bisects.
    grid_factor : int
        Launched work-groups over resident ones; 0 for one to every piece of work.
    read_only : bool
        Whether offsets are declared as never written, which lets them be read through another
        cache.
    """

    balance: str | None = None
    group_size: int | None = None
    virtual_warp: int | None = None
    min_virtual_warp: int | None = None
    discover: int | None = None
    extended: bool = False
    dyn_threshold: int | None = None
    tile_batch: int = 16
    group_threshold: int | None = None
    lane_threshold: int | None = None
    scratch: int | None = None
    group_scan: str = "ordered"
    block_items: int | None = None
    unit_batch: int | None = None
    iterations: int | None = None
    partition: str = "units"
    search: str = "hybrid"
    alike_deviation: float = 8.0
    alike_mean: float = 9.0
    estimates: int = 8
    grid_factor: int = 32
    read_only: bool = True

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        if isinstance(self.balance, str):
            object.__setattr__(self, "balance", canonical(self.balance))
        if self.balance is not None and self.balance not in BALANCERS:
            raise InvalidArgumentError(
                f"balance={self.balance!r} is not one of {', '.join(BALANCERS)}."
            )
        for name, choices in (
            ("search", SEARCHES),
            ("partition", PARTITIONS),
            ("group_scan", GROUP_SCANS),
        ):
            if getattr(self, name) not in choices:
                raise InvalidArgumentError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(choices)}."
                )
        if self.partition == "merge" and self.balance not in (None, "two_phase"):
            raise InvalidArgumentError(
                f"partition='merge' is a form of balance='two_phase', not of {self.balance!r}."
            )
        for field in fields(self):
            if field.type in ("int", "int | None"):
                self._check_integer(field.name, may_be_open=field.type != "int")
            elif field.type == "bool":
                self._check_switch(field.name)
            elif field.type == "float":
                self._check_limit(field.name)

    def _check_switch(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, (bool, np.bool_)):
            raise InvalidArgumentError(f"{name}={value!r} is neither True nor False.")
        object.__setattr__(self, name, bool(value))

    def _check_limit(self, name: str) -> None:
        value = getattr(self, name)
        is_number = isinstance(value, (int, float, np.integer, np.floating))
        if isinstance(value, bool) or not is_number or not value >= 0:
            raise InvalidArgumentError(f"{name}={value!r} is not a number of at least 0.")

    def _check_integer(self, name: str, *, may_be_open: bool) -> None:
        value = getattr(self, name)
        if value is None and may_be_open:
            return
        if isinstance(value, np.integer):
            value = int(value)
            object.__setattr__(self, name, value)
        least = 0 if name in {"grid_factor", "estimates", "dyn_threshold", "discover"} else 1
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            raise InvalidArgumentError(
                f"{name}={value!r} is out of range; it must be an integer of at least {least} and "
                "below 2**31."
            )

    def as_dict(self) -> dict[str, Any]:
        """Every dimension by name, for records."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandSizes(Balance):
    """What templates see as ``config``: see `Balance` and `ExpandConfig`."""

    lanes: int
    group_size: int
    tile: int
    tiles: bool
    wide_offsets: bool
    search: str
    estimates: int
    read_only: bool
    with_ranks: bool
    counts: bool
    bare: bool = True
    distribution: str = "static"
    wide: int = 0
    wide_batch: int = 1
    scan_batch: int = 1


def decide(
    config: ExpandConfig,
    traits: DeviceTraits,
    *,
    balance: str,
    search: str,
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
    balance : str
        The balancer, where `config` does not say.
    search : {"binary", "interpolation", "lanes"}
        What the rules came to.
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
    group_size = config.group_size or _group_size(traits)
    if group_size % lanes or group_size > traits.max_group_size:
        raise InvalidArgumentError(
            f"group_size={group_size} is not possible on this device; it must be a multiple of its "
            f"{lanes} lanes and at most {traits.max_group_size}."
        )
    if traits.emulated and group_size != lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not possible with emulated lanes; it must be {lanes}."
        )
    if group_size * config.tile_batch >= LARGEST_SIZE:
        raise InvalidArgumentError(
            f"tile_batch={config.tile_batch} of group_size={group_size} are more units than an "
            "item may have; choose a smaller one."
        )
    name = config.balance or balance
    sizes = balance_sizes(name, lanes, group_size, config.as_dict())
    if name == "two_phase":
        sizes["partition"] = config.partition
    return ExpandSizes(
        **sizes,
        lanes=lanes,
        group_size=group_size,
        tile=lanes // sizes["virtual_warp"] if name == "vwarp" else lanes,
        tiles=name == "dyn_vwarp",
        wide_offsets=wide_offsets,
        search=search,
        estimates=config.estimates,
        read_only=config.read_only,
        with_ranks=with_ranks,
        counts=counts,
        scan_batch=2 if traits.lane_ops == "ptx" else 1,
    )


def usual_balancer(mean: float, deviation: float, traits: DeviceTraits) -> str:
    """Choose a balancer by mean and deviation of the sizes."""
    if traits.lanes == 1 or (traits.is_cpu and deviation <= mean):
        return "item_thread"
    if traits.is_cpu or (deviation <= EVEN_DEVIATION and mean >= EVEN_MEAN):
        return "warp_search"
    return "multi_phase"


def _group_size(traits: DeviceTraits) -> int:
    if traits.lanes == 1 or traits.emulated:
        return traits.lanes
    wanted = CPU_GROUP_LANES * traits.lanes if traits.is_cpu else GPU_GROUP_SIZE
    return traits.group_of(wanted)
