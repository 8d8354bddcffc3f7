"""How a batch of searches is run: every dimension, and the rules that decide what is left open."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.device.hardware.measured import EVEN_SHARE, ROW_ROUNDS, SCATTER
from clgraph.engine.blocks import rows_in_blocks, wide_places
from clgraph.engine.strategies.balance import (
    Balancer,
    ItemThread,
    Vwarp,
    WarpSearch,
    WarpSearchLocal,
)
from clgraph.engine.strategies.parameters import choice, number, parameter
from clgraph.engine.strategies.presets import Configuration
from clgraph.engine.strategies.schedule import check_group_size
from clgraph.engine.strategies.strategy import Slot, slot
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["MultiSearchConfig", "ResolvedSearch", "auto_threshold", "resolve_search"]

METHODS = ("frontier", "all-edges")
CANDIDATES = (0, 4, 8, 16, 32, 64)
GROUP_SIZE = 1024  # at most: half a multiprocessor of the large cards
EVEN_ROW = 32  # edges of the longest row up to which lanes may have a row each


@dataclass(frozen=True, slots=True)
class _Threshold:
    """Checks a degree, infinity, or "auto"."""

    def check(self, name: str, value: Any) -> Any:
        if (isinstance(value, str) and value == "auto") or (
            isinstance(value, float) and value == math.inf
        ):
            return value
        return whole(name, value, 0, 2**32 - 1)

    def parse(self, name: str, text: str) -> Any:
        return self.check(
            name, math.inf if text == "inf" else text if text == "auto" else int(text)
        )

    @property
    def values(self) -> str:
        return "number|inf|auto"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MultiSearchConfig(Configuration):
    """How a `MultiSearch` maps its searches to the device; changes speed, never results.

    Parameters
    ----------
    method : {"frontier", "all-edges"}, optional
        Walk the edges of the frontier, or look at every edge in every level.
    threshold : int, inf or "auto", optional
        Out-degree from which a vertex of the frontier is given a whole SIMD group, where others
        share one; 0 for all, ``math.inf`` for none, "auto" for what fits the degrees. Default none,
        with ``warp_search`` as the balance.
    balance : {"item_thread", "vwarp", "warp_search", "warp_search_local"} or Balancer, optional
        How a SIMD group shares the edges of the vertices below the threshold.
    group_size : int, optional
        Work-items that run one search; a multiple of the device's lanes.
    groups : int, optional
        Searches that run at the same time.
    cache : {"default", "streaming", "read-only"}, optional
        Whether neighbours pass by the cache that is nearest to the lanes, or are read by the path
        that is not coherent, where a device has either.

    Notes
    -----
    The presets are what the paper compares: "edge-parallel", "work-efficient" (threshold inf),
    "warp-based" (0) and "hybrid" (16); "auto" is the default. Its oracle is the better of the
    first two, chosen after the fact.

    References
    ----------
    .. [1] A. McLaughlin, J. Riedy, D. A. Bader, "A fast, energy-efficient abstraction for
           simultaneous breadth-first searches", HPEC 2015.
    """

    method: str | None = choice(*METHODS)
    threshold: int | float | str | None = parameter(_Threshold())
    balance: Slot[Balancer] = slot(ItemThread, Vwarp, WarpSearch, WarpSearchLocal)
    group_size: int | None = number(least=1, most=1 << 20)
    groups: int | None = number(least=1, most=1 << 20)
    cache: str | None = choice("default", "streaming", "read-only")

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "edge-parallel": {"method": "all-edges"},
        "work-efficient": {"threshold": math.inf, "balance": "item_thread"},
        "warp-based": {"threshold": 0},
        "hybrid": {"threshold": 16, "balance": "item_thread"},
    }

    def validate(self) -> None:
        """Refuse what shares out a frontier where there is none."""
        if self.method == "all-edges" and (self.threshold is not None or self.balance is not None):
            raise InvalidArgumentError(
                "method='all-edges' has no frontier to share out; leave threshold and balance out."
            )
        if isinstance(self.balance, Vwarp) and self.balance.width is not None:
            raise InvalidArgumentError(
                f"width={self.balance.width} of balance='vwarp' is for single searches; leave it "
                "out here."
            )


@dataclass(frozen=True, slots=True, repr=False)
class ResolvedSearch:
    """A configuration with everything decided; what templates see as ``config``."""

    asked: MultiSearchConfig
    lanes: int
    group_size: int
    groups: int | None
    queued: bool
    long_rows: bool
    short_rows: bool
    keep_levels: bool
    balance: Balancer
    threshold: float
    wide: int
    wide_batch: int
    scan_batch: int
    wide_offsets: bool
    cache: str = "default"
    entry: str = "vertex"
    rows: str = "csr"

    def __repr__(self) -> str:
        """Show the call that makes it: what was asked for, and the balancer that was chosen."""
        return repr(self.asked)

    @property
    def one_item(self) -> bool:
        """Whether one work-item has a search to itself."""
        return self.group_size == 1

    def as_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults, by name, for records."""
        return self.asked.as_dict()


def resolve_search(
    config: MultiSearchConfig, traits: DeviceTraits, graph: Graph, *, keep_levels: bool
) -> ResolvedSearch:
    """Complete a configuration for a graph and a device.

    Raises
    ------
    InvalidArgumentError
        If the device cannot run the configuration, or it keeps no levels where some are asked for.
    """
    lanes = traits.lanes
    group_size = config.group_size or traits.usual_group(GROUP_SIZE)
    check_group_size(group_size, traits)
    queued = config.method != "all-edges"
    if keep_levels and not queued:
        raise InvalidArgumentError(
            "method='all-edges' keeps no frontiers, which keep_levels and back need; choose "
            "another configuration."
        )
    # A SIMD group that searches for the owners of its edges is even at any degree; only on lattices
    # a row for each lane is faster.
    open_choice = config.threshold is None and config.balance is None
    search = open_choice and lanes > 1 and not even_rows(graph.degrees, traits)
    threshold: float = math.inf
    if config.threshold not in (None, "auto"):
        threshold = float(config.threshold)
    elif config.threshold == "auto" and queued and lanes > 1:
        threshold = auto_threshold(graph.degrees, traits)
    emulated = traits.emulated
    usual_wide = 0 if emulated else 2 * lanes
    wide = config.balance.wide if isinstance(config.balance, WarpSearch) else None
    balance = config.balance or (WarpSearch() if search else ItemThread())
    return ResolvedSearch(
        asked=replace(config, balance=balance if queued else None),
        lanes=lanes,
        group_size=group_size,
        groups=config.groups,
        queued=queued,
        long_rows=queued and not math.isinf(threshold),
        short_rows=queued and threshold > 0,
        keep_levels=keep_levels,
        balance=balance.resolved(lanes, group_size),
        threshold=threshold,
        wide=usual_wide if wide is None else wide,
        wide_batch=1 if emulated else 2,
        scan_batch=1 if emulated else 2,
        wide_offsets=wide_places(graph),
        cache=config.cache or "default",
        rows="blocks" if rows_in_blocks(graph) else "csr",
    )


def auto_threshold(degrees: NDArray[Any], traits: DeviceTraits) -> float:
    """Choose the out-degree from which a row is worth all lanes, by the degree histogram.

    Parameters
    ----------
    degrees : integer array [n]
        Out-degrees.
    traits : DeviceTraits
        Of the device, whose SIMD groups' rounds are counted.

    Returns
    -------
    float
        One of 0, 4, 8, 16, 32, 64 or inf.

    Notes
    -----
    Rounds of a SIMD group are counted. `lanes` rows that share a group take as many as the longest
    of them has edges, and each of them reads from `lanes` places; a row on its own takes its edges
    over `lanes`, rounded up, and one more for being fetched. Two queues cost more than one.
    """
    lanes = traits.lanes
    scatter, (short_only, both_queues) = SCATTER.on(traits), ROW_ROUNDS.on(traits)
    counts = np.bincount(np.minimum(degrees, 1 << 16)).astype(np.float64)
    counts[:1] = 0
    if not counts.any():
        return math.inf
    values = np.arange(counts.size)
    by_itself = counts * (1 + -(-values // lanes))
    costs = {}
    for threshold in (*CANDIDATES, math.inf):
        short = counts[values < threshold]
        total = short.sum()
        rounds = (
            scatter * total / lanes * longest_of(short, lanes)
            + by_itself[values >= threshold].sum()
        )
        queues = 0.0 if not total else short_only if total == counts.sum() else both_queues
        costs[threshold] = rounds + queues * counts.sum()
    best = min(costs, key=lambda threshold: costs[threshold])
    # Where no vertex is on the other side, the code for it need not be there.
    if not counts[values >= best].any():
        return math.inf
    return float(best) if counts[values < best].any() else 0.0


def longest_of(counts: NDArray[np.float64], lanes: int) -> float:
    """Give the degree that the largest of `lanes` vertices has on average, by a histogram.

    That is the sum over x of 1 - P(degree <= x) ** `lanes`.
    """
    total = counts.sum()
    return float((1 - (np.cumsum(counts) / total) ** lanes).sum()) if total else 0.0


def even_rows(degrees: NDArray[Any], traits: DeviceTraits) -> bool:
    """Report whether rows are short and alike, so that lanes with a row each have enough to do."""
    if not degrees.size or degrees.max() > EVEN_ROW:
        return False
    counts = np.bincount(degrees).astype(np.float64)
    counts[:1] = 0
    total = counts.sum()
    mean = (counts * np.arange(counts.size)).sum() / max(total, 1)
    return bool(mean >= EVEN_SHARE.on(traits) * longest_of(counts, traits.lanes))
