"""How a batch of searches is run: every dimension, and the rules that decide what is left open."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.engine.balancers import canonical
from clgraph.engine.presets import Presets
from clgraph.engine.resident import offsets_dtype
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["MultiSearchConfig", "ResolvedSearch", "auto_threshold", "resolve_search"]

# Those that a SIMD group runs by itself; the others share out a whole grid or need its size.
BALANCES = ("item_thread", "vwarp", "warp_search", "warp_search_local")
METHODS = ("frontier", "all-edges")
CANDIDATES = (0, 4, 8, 16, 32, 64)
GROUP_SIZE = 1024  # half a multiprocessor of the large cards
# What a vertex costs in rounds of a SIMD group beside those that walk its row, against one that is
# fetched alone, and what a round costs that reads from as many rows as there are lanes: fitted to
# 1,024 searches of eleven graphs on an H200 (bench/results, search-table), where they tell the four
# methods' times to a fifth. For two queues the row of every vertex found is looked up first.
SHORT_ONLY, BOTH_QUEUES = 0.25, 0.65
SCATTER = 1.1
# Rows so short and so even that lanes with a row each are not idle: share of them that is busy. At
# 8, 26 and 48 edges these took 0.65, 0.91 and 1.15 times as long as lanes that search for owners.
EVEN_ROW, EVEN_SHARE = 32, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiSearchConfig(Presets):
    """How a `MultiSearch` maps its searches to the device; changes speed, never results.

    Parameters
    ----------
    method : {"frontier", "all-edges"}, optional
        Walk the edges of the frontier, or look at every edge in every level.
    threshold : int, inf or "auto", optional
        Out-degree from which a vertex of the frontier is given a whole SIMD group, where others
        share one; 0 for all, ``math.inf`` for none, "auto" for what fits the degrees. Default none,
        with ``warp_search`` as the balance.
    balance : {"item_thread", "vwarp", "warp_search", "warp_search_local"}, optional
        How a SIMD group shares the edges of the vertices below the threshold.
    group_size : int, optional
        Work-items that run one search; a multiple of the device's lanes.
    groups : int, optional
        Searches that run at the same time.

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

    method: str | None = None
    threshold: int | float | str | None = None
    balance: str | None = None
    group_size: int | None = None
    groups: int | None = None

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "edge-parallel": {"method": "all-edges"},
        "work-efficient": {"threshold": math.inf, "balance": "item_thread"},
        "warp-based": {"threshold": 0},
        "hybrid": {"threshold": 16, "balance": "item_thread"},
    }

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        for name, choices in (("method", METHODS), ("balance", BALANCES)):
            value = getattr(self, name)
            value = canonical(value) if name == "balance" and isinstance(value, str) else value
            if value is not None and value not in choices:
                raise InvalidArgumentError(f"{name}={value!r} is not one of {', '.join(choices)}.")
        for name in ("group_size", "groups"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1, 1 << 20)
        if self.threshold not in (None, "auto", math.inf):
            whole("threshold", self.threshold, 0, 2**32 - 1)
        if self.method == "all-edges" and (self.threshold is not None or self.balance is not None):
            raise InvalidArgumentError(
                "method='all-edges' has no frontier to share out; leave threshold and balance out."
            )

    def as_dict(self) -> dict[str, Any]:
        """Every dimension by name, for records."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class ResolvedSearch:
    """A configuration with every dimension decided; what templates see as ``config``."""

    lanes: int
    group_size: int
    groups: int | None
    queued: bool
    long_rows: bool
    short_rows: bool
    keep_levels: bool
    balance: str
    virtual_warp: int
    threshold: float
    wide: int
    wide_batch: int
    scan_batch: int
    wide_offsets: bool
    entry: str = "vertex"
    scope: str = "lanes"
    rows: str = "csr"

    @property
    def alone(self) -> bool:
        """Whether one work-item has a search to itself."""
        return self.group_size == 1

    def as_dict(self) -> dict[str, Any]:
        """Every decision by name, for records."""
        return asdict(self)


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
    small_groups = traits.is_cpu or traits.emulated or lanes == 1
    group_size = config.group_size or (lanes if small_groups else traits.group_of(GROUP_SIZE))
    if group_size % lanes or group_size > traits.max_group_size:
        raise InvalidArgumentError(
            f"group_size={group_size} must be a multiple of the {lanes} lanes of this device and "
            f"at most {traits.max_group_size}."
        )
    if traits.emulated and group_size != lanes:
        raise InvalidArgumentError(
            f"group_size={group_size} is not possible with emulated lanes; it must be {lanes}."
        )
    queued = config.method != "all-edges"
    if keep_levels and not queued:
        raise InvalidArgumentError(
            "method='all-edges' keeps no frontiers, which keep_levels and back need; choose "
            "another configuration."
        )
    # A SIMD group that searches for the owners of its edges is even at any degree: on an H200 it
    # took 53 ms for 256 searches of a scale-20 Kronecker graph, the best of two queues 62 ms. Only
    # on lattices a row for each lane was faster, 6.5 ms against 8.7 (1,024 searches, 2^16 places).
    open_choice = config.threshold is None and config.balance is None
    search = open_choice and lanes > 1 and not even_rows(graph.degrees, lanes)
    threshold: float = math.inf
    if config.threshold not in (None, "auto"):
        threshold = float(config.threshold)
    elif config.threshold == "auto" and queued and lanes > 1:
        threshold = auto_threshold(graph.degrees, lanes)
    emulated = traits.emulated
    return ResolvedSearch(
        lanes=lanes,
        group_size=group_size,
        groups=config.groups,
        queued=queued,
        long_rows=queued and not math.isinf(threshold),
        short_rows=queued and threshold > 0,
        keep_levels=keep_levels,
        balance=canonical(config.balance or ("warp_search" if search else "item_thread")),
        virtual_warp=lanes,
        threshold=threshold,
        wide=0 if emulated else 2 * lanes,
        wide_batch=1 if emulated else 2,
        scan_batch=1 if emulated else 2,
        wide_offsets=offsets_dtype(graph.m) == np.dtype(np.uint64),
    )


def auto_threshold(degrees: NDArray[Any], lanes: int) -> float:
    """Choose the out-degree from which a row is worth all lanes, by the degree histogram.

    Parameters
    ----------
    degrees : integer array [n]
        Out-degrees.
    lanes : int
        Lanes of a SIMD group.

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
    counts = np.bincount(np.minimum(degrees, 1 << 16)).astype(np.float64)
    counts[:1] = 0
    if not counts.any():
        return math.inf
    values = np.arange(counts.size)
    alone = counts * (1 + -(-values // lanes))
    costs = {}
    for threshold in (*CANDIDATES, math.inf):
        short = counts[values < threshold]
        total = short.sum()
        rounds = (
            SCATTER * total / lanes * longest_of(short, lanes) + alone[values >= threshold].sum()
        )
        queues = 0.0 if not total else SHORT_ONLY if total == counts.sum() else BOTH_QUEUES
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


def even_rows(degrees: NDArray[Any], lanes: int) -> bool:
    """Tell whether rows are short and alike, so that lanes with a row each have enough to do."""
    if not degrees.size or degrees.max() > EVEN_ROW:
        return False
    counts = np.bincount(degrees).astype(np.float64)
    counts[:1] = 0
    total = counts.sum()
    mean = (counts * np.arange(counts.size)).sum() / max(total, 1)
    return bool(mean >= EVEN_SHARE * longest_of(counts, lanes))
