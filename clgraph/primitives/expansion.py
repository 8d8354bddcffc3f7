"""Load balancing by itself: work-items of any sizes, expanded into their work-units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Memory, load, resident_groups, wait
from clgraph.device import device as find_device
from clgraph.device.staying import StaysHere
from clgraph.engine.strategies.balance import DynVwarp
from clgraph.engine.strategies.balancer import BALANCER_COUNTERS
from clgraph.errors import InvalidArgumentError
from clgraph.primitives.expand_config import ExpandConfig, decide
from clgraph.primitives.expand_results import ExpandStats, Expansion
from clgraph.primitives.sizes import checked_sizes, size_moments

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import ArrayLike, NDArray

    from clgraph.device import Allocation, Device, Kernel

__all__ = ["COUNTERS", "Expand", "expand"]

COUNTERS = BALANCER_COUNTERS
NARROW_UNITS = 2**31  # fewer items and units are numbered with 32 bits, with room for a last chunk


class Expand(StaysHere):
    """A load-balanced expansion compiled for one list of sizes, configuration and device.

    Parameters
    ----------
    sizes : array_like
        [items] of integers, the units of each item; 0 is allowed.
    config : ExpandConfig or str, optional
        A configuration or the name of a balancer.
    ranks : bool
        Whether the places in the items are written too.
    counts : bool
        Whether to count events, and who handled each unit and how often; slow, for study.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Attributes
    ----------
    device : Device
        Where.
    config : ExpandSizes
        Every size as decided.
    source_hash : str
        Of the rendered kernels; empty where there is nothing to expand.

    Raises
    ------
    InvalidArgumentError
        If sizes are not integers in [0, 2**32 - 2**16), or the configuration is not legal.
    DeviceMemoryError
        If prefix sums and results do not fit the device.

    Notes
    -----
    Prefix sums are made here, on the host: they are the balancers' input. Uses 4 bytes an item and
    4 or 8 bytes a unit of device memory, and what the balancer says (docs/load-balancing.md).
    """

    def __init__(
        self,
        sizes: ArrayLike,
        *,
        config: ExpandConfig | str | None = None,
        ranks: bool = True,
        counts: bool = False,
        device: Device | str | None = None,
    ) -> None:
        wanted = ExpandConfig(balance=config) if isinstance(config, str) else config
        if wanted is None:
            wanted = ExpandConfig()
        elif not isinstance(wanted, ExpandConfig):
            raise InvalidArgumentError(
                f"config is a {type(wanted).__name__}; pass an ExpandConfig, the name of a "
                "balancer or None."
            )
        array = checked_sizes(sizes)
        prefix = np.zeros(array.size + 1, np.uint64)
        np.cumsum(array, dtype=np.uint64, out=prefix[1:])
        self.device = find_device(device)
        self.items, self.units = array.size, int(prefix[-1])
        self.mean, self.deviation = size_moments(array)
        self.config = decide(
            wanted,
            self.device.traits,
            mean=self.mean,
            deviation=self.deviation,
            wide_offsets=self.items + self.units >= NARROW_UNITS,
            with_ranks=ranks,
            counts=counts,
        )
        self._grid_factor = wanted.grid_factor
        self.source_hash = ""
        if self.units:
            self._program = load(
                self.device, "primitives/expand.cl", config=self.config, counters=COUNTERS
            )
            self.source_hash = self._program.source_hash
            self._expand = self._program.kernel("expand")
            self._resident = resident_groups(self.device, self._expand, self.config.group_size)
            if not self._resident:
                raise InvalidArgumentError(
                    f"group_size={self.config.group_size} with these sizes takes "
                    f"{self._expand.local_bytes} bytes of local memory of "
                    f"{self.device.traits.local_bytes} on {self.device.name}; choose smaller ones."
                )
            self._allocate(array, prefix)

    def _allocate(self, sizes: NDArray[np.uint32], prefix: NDArray[np.uint64]) -> None:
        config, memory = self.config, Memory(self.device)
        # Arguments of every kernel, of meaning to one balancer.
        tiling = config.balance if isinstance(config.balance, DynVwarp) else DynVwarp()
        tiling = tiling.resolved(config.lanes, config.group_size)
        threshold = tiling.threshold or 0
        self._dyn_threshold = np.uint32(threshold)
        self._tile_units = np.uint32(config.group_size * (tiling.tile_batch or 0))
        large = sizes[sizes > threshold].astype(np.int64) if config.tiles else sizes[:0]
        self._tiles = int((-(-large // int(self._tile_units))).sum())
        total = self.units + (self.items if config.balance.partition == "merge" else 0)
        self._chunks = -(-total // config.chunks.units) if config.balance.scope == "grid" else 0
        searched = config.balance.name in {"two_phase", "multi_phase"}
        counted = self.units if config.counts else 1
        offsets = np.uint64 if config.wide_offsets else np.uint32
        self._indptr = memory.upload("prefix sums", prefix.astype(offsets))
        self._chunk_items = memory.allocate(
            "chunk_items", self._chunks + 1 if searched else 1, np.uint32
        )
        self._tile_list = memory.allocate("tiles", 2 * max(self._tiles, 1), np.uint32)
        self._tile_count = memory.upload("tile_count", np.zeros(1, np.uint32))
        self._owners = memory.allocate("owners", self.units, np.uint32)
        self._ranks = memory.allocate("ranks", self.units if config.with_ranks else 1, np.uint32)
        self._visits = memory.upload("visits", np.zeros(counted, np.uint32))
        self._writers = memory.allocate("writers", counted, np.uint32)
        self._counters, self._partition_counters = (
            memory.upload(name, np.zeros(len(COUNTERS), np.uint32))
            for name in ("counters", "partition counters")
        )
        self._kernels: dict[str, Kernel] = {}
        if searched:
            self._kernels["expand_partition"] = self._program.kernel("expand_partition")
        if config.tiles:
            self._kernels["expand_tiles"] = self._program.kernel("expand_tiles")

    @property
    def extra_bytes(self) -> int:
        """Device memory that the balancer needs beside prefix sums and results."""
        if not self.units:
            return 0
        extra = self._chunk_items.count * (self._chunks > 0) + self._tile_list.count * (
            self._tiles > 0
        )
        return 4 * extra

    @property
    def resident_items(self) -> int:
        """Work-items that the device holds at once."""
        return self._resident * self.config.group_size if self.units else 0

    def run(self) -> ExpandStats:
        """Expand, and wait for it.

        Returns
        -------
        ExpandStats
            Of this run; results stay on the device until `owners` and `ranks` read them.
        """
        if not self.units:
            return self._stats([], 0.0, 0.0)
        config = self.config
        if config.counts:
            for counters in (self._counters, self._partition_counters):
                counters.write(np.zeros(len(COUNTERS), np.uint32))
            self._visits.write(np.zeros(self.units, np.uint32))
        if config.tiles:
            self._tile_count.write(np.zeros(1, np.uint32))
        events = self._launched()
        wait(events)
        partition = _milliseconds(events[:1]) if "expand_partition" in self._kernels else 0.0
        return self._stats(events, partition, _milliseconds(events[-1:]) if config.tiles else 0.0)

    def enqueue(self) -> list[cl.Event]:
        """Launch without waiting, so that several runs are in flight; later ones overwrite.

        Returns
        -------
        list of pyopencl.Event
            Of everything that was launched; to be waited for by `clgraph.device.wait`.
        """
        if not self.units:
            return []
        return [*([self._tile_count.clear()] if self.config.tiles else []), *self._launched()]

    def _launched(self) -> list[cl.Event]:
        events = [self._partition()] if "expand_partition" in self._kernels else []
        events.append(self._main())
        if self.config.tiles:
            events.append(self._large_items())
        return events

    def _results(self) -> tuple[Allocation, ...]:
        return (self._owners, self._ranks, self._visits, self._writers, self._counters)

    def _partition(self) -> cl.Event:
        size = self.config.group_size
        searchers = size // self.config.lanes if self.config.search == "lanes" else size
        groups = min(self._chunks // searchers + 1, 4096)
        return self._kernels["expand_partition"].launch(
            groups * size,
            size,
            *(self._indptr, np.uint32(self.items), np.uint32(self._chunks)),
            *(self._chunk_items, self._partition_counters),
        )

    def _main(self) -> cl.Event:
        config = self.config
        size, simd_groups = config.group_size, config.group_size // config.lanes
        if config.balance.scope == "grid":
            pieces = (
                self._chunks if config.balance.name != "direct" else -(-self._chunks // simd_groups)
            )
        elif config.balance.scope == "group":
            pieces = -(-self.items // (size * config.balance.block_items))
        else:
            tile = 1 if config.balance.name == "dyn_vwarp" else config.tile
            pieces = -(-self.items // (tile * simd_groups))
        most = self._resident * self._grid_factor if self._grid_factor else pieces
        return self._expand.launch(
            min(pieces, most, 2**22) * size,
            size,
            *(self._indptr, np.uint32(self.items), np.uint32(self.resident_items)),
            *(self._chunk_items, self._dyn_threshold, self._tile_units),
            *(self._tile_list, self._tile_count, *self._results()),
        )

    def _large_items(self) -> cl.Event:
        size = self.config.group_size
        most = self._resident * self._grid_factor if self._grid_factor else 2**22
        return self._kernels["expand_tiles"].launch(
            min(max(self._tiles, 1), most) * size,
            size,
            *(self._indptr, self._tile_units, self._tile_list, self._tile_count),
            *self._results(),
        )

    def _stats(self, events: list[cl.Event], partition_ms: float, tiles_ms: float) -> ExpandStats:
        return ExpandStats(
            items=self.items,
            units=self.units,
            mean=self.mean,
            deviation=self.deviation,
            kernel_ms=_milliseconds(events),
            partition_ms=partition_ms,
            tiles_ms=tiles_ms,
            launches=len(events),
            chunks=self._chunks if self.units else 0,
            tiles=int(self._tile_count.read()[0]) if events and self.config.tiles else 0,
            config=self.config,
            counts=self._counts() if events and self.config.counts else {},
        )

    def _counts(self) -> dict[str, int]:
        found = dict(zip(COUNTERS, self._counters.read().tolist(), strict=True))
        values = self._partition_counters.read().tolist()
        before = {f"PARTITION_{name}": n for name, n in zip(COUNTERS, values, strict=True) if n}
        return found | before

    def owners(self) -> NDArray[np.uint32]:
        """Read the item of each unit, uint32 [units]."""
        return self._owners.read() if self.units else np.empty(0, np.uint32)

    def ranks(self) -> NDArray[np.uint32] | None:
        """Read the place of each unit in its item, uint32 [units]; None if not written."""
        if not self.config.with_ranks:
            return None
        return self._ranks.read() if self.units else np.empty(0, np.uint32)

    def visits(self) -> NDArray[np.uint32]:
        """Read how often each unit was handed out, uint32 [units]; only where events count."""
        return self._visits.read() if self.units else np.empty(0, np.uint32)

    def writers(self) -> NDArray[np.uint32]:
        """Read which work-item got each unit, by its global id; only where events count."""
        return self._writers.read() if self.units else np.empty(0, np.uint32)

    def chunk_items(self) -> NDArray[np.uint32]:
        """Read the first item of each chunk, uint32 [chunks + 1]."""
        return self._chunk_items.read() if self.units else np.empty(0, np.uint32)


def expand(
    sizes: ArrayLike,
    *,
    balance: str | None = None,
    config: ExpandConfig | None = None,
    ranks: bool = True,
    device: Device | str | None = None,
) -> Expansion:
    """Give the units of items of any sizes: which item each belongs to, and its place there.

    Parameters
    ----------
    sizes : array_like
        [items] of integers, the units of each item; 0 is allowed.
    balance : str, optional
        Name of the load balancer; see ``clgraph.balance``. Default is one that
        suits mean and deviation of the sizes.
    config : ExpandConfig, optional
        Instead of `balance`, where its sizes matter too.
    ranks : bool
        Whether the places in the items are wanted.
    device : Device or str, optional
        Default is ``clgraph.device()``.

    Returns
    -------
    Expansion
        ``owners`` and ``ranks``, uint32 [units], and ``stats``: equal to
        ``numpy.repeat(numpy.arange(items), sizes)`` and the place of each among its equals.

    Raises
    ------
    InvalidArgumentError
        If sizes are not integers in [0, 2**32 - 2**16), the configuration is not legal, or both
        `balance` and `config` are given.
    DeviceMemoryError
        If prefix sums and results do not fit the device.

    Notes
    -----
    O(items + units) work, with a logarithmic factor where a balancer searches for every unit. The
    result does not depend on the configuration, only the time does; `Expand` keeps what is compiled
    for several runs.

    References
    ----------
    .. [1] F. Busato, N. Bombieri, "A dynamic approach for workload partitioning on GPU
           architectures", IEEE TPDS 28(6), 2017.
    """
    if balance is not None and config is not None:
        raise InvalidArgumentError(
            "balance and config were both given; name the balancer in the config."
        )
    chosen = ExpandConfig(balance=balance) if config is None else config
    plan = Expand(sizes, config=chosen, ranks=ranks, device=device)
    stats = plan.run()
    return Expansion(plan.owners(), plan.ranks(), stats)


def _milliseconds(events: list[cl.Event]) -> float:
    return float(sum(event.profile.end - event.profile.start for event in events)) / 1e6
