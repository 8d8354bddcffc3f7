"""What each method makes of the engine: its numbers, and what its kernels need."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.buckets import asynchronous_part
from clgraph.algorithms.sssp.config import CLASSED_VERTICES
from clgraph.algorithms.sssp.method import (
    Asynchronous,
    BellmanFord,
    DeltaStepping,
    Method,
    NearFar,
    SelfTuning,
)
from clgraph.device.hardware.measured import (
    BAND_CACHE,
    BAND_HOPS,
    BUCKET_HOPS,
    CORE_HOPS,
    CORE_SINGLE_GROUP_EDGES,
    DRIFT_HOPS,
    DRIFTING_HOPS,
    LAUNCH_EDGES,
    NEAR_HOPS,
    SPARSE_CORE_HOPS,
)
from clgraph.engine.resident import FEWEST_WIDE, wide_offsets
from clgraph.engine.resolved import USUAL, Mechanics
from clgraph.engine.strategies.frontier import Buffer
from clgraph.engine.strategies.schedule import Persistent, Stepped
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import DeviceTraits
    from clgraph.engine.strategies.config import TraversalConfig
    from clgraph.graph import Graph

__all__ = ["DRIFT_DEGREE", "ROW_BALANCERS", "Known", "MethodPlan", "core_hops", "plan_of"]

# Edges per step that are worth the step, where nothing is known of the device.
FEWEST_EDGES = 1 << 14
FRONTIER_ROOTS = 4.0
# Mean out-degree of graphs whose frontiers are small, so that cores take more edges together.
SPARSE_DEGREE = 5.0
ALL_EDGES = (
    1 << 26
)  # a core without others saves a fifth of the time by never leaving single-group mode
# On graphs of more edges a vertex, of few and large frontiers, drifting takes longer.
DRIFT_LIMIT, DRIFT_DEGREE = 1 << 15, 16.0
# Balancers that have read all of LANES entries before they visit the first edge.
DRIFT_BALANCERS = ("warp_search", "item_thread")
# Balancers of single SIMD groups, whatever the whole list.
ROW_BALANCERS = ("warp_search", "warp_search_local", "item_thread", "vwarp")
# Room for vertices that are queued as often as they decrease.
DUPLICATES_PERCENT = 400
# Edges for each lane in a piece of a row.
ROW_PIECE = 8


@dataclass(slots=True)
class MethodPlan:
    """What a method makes of the engine: parts of its configuration, mechanics and own numbers."""

    method: Method
    single_group: bool | None = None
    stepped: bool = False
    hub_degree: int = 0
    group_size: int | None = None
    groups: int | None = None
    buffered: bool = False
    single_group_edges: int | None = None
    queue_percent: int | None = None
    walks_wide_rows: bool = True
    mechanics: Mechanics = USUAL
    cache: str = "default"
    more: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is decided before the method is: of the engine, the graph and its weights."""

    engine: TraversalConfig
    traits: DeviceTraits
    graph: Graph
    weights: Weights
    group_size: int
    hub_degree: int
    distribution: str
    balance: str

    @property
    def one_item(self) -> bool:
        """Whether one work-item is a group."""
        return self.group_size == 1

    @property
    def has_narrow_rows(self) -> bool:
        """Whether edges are numbered by 32 bits and vertices leave two bits free."""
        return not wide_offsets(self.graph.m) and self.graph.n <= CLASSED_VERTICES


def core_hops(graph: Graph, traits: DeviceTraits) -> float:
    """Edges per vertex that a rise of near-far's bound takes in, for one work-item alone."""
    sparse = graph.mean_degree < SPARSE_DEGREE
    return (SPARSE_CORE_HOPS if sparse else CORE_HOPS).on(traits)


def plan_of(config: SSSPConfig, method: Method, known: Known) -> MethodPlan:
    """Decide every number of a method, and what it needs of the engine."""
    traits, graph, weights, one_item = known.traits, known.graph, known.weights, known.one_item
    packs = weights.dtype.itemsize == 4 and traits.int64_atomics and not one_item
    claims = method.claims or ("packed" if packs else "stamped")
    # One core would walk a hub alone anyway.
    hub_degree = 0 if one_item else known.hub_degree
    cores = (config.schedule and config.schedule.groups) or traits.compute_units
    common: dict[str, Any] = {
        "hub_degree": hub_degree,
        "single_group_edges": _core_edges(cores, traits) if one_item else None,
    }
    if isinstance(method, BellmanFord):
        if claims == "none":
            asked = config.limits.queue_percent if config.limits else None
            room = asked or DUPLICATES_PERCENT
            common |= {"hub_degree": 0, "single_group": False, "queue_percent": room}
        return MethodPlan(replace(method, claims=claims), **common)
    narrow = core_hops(graph, traits)
    if isinstance(method, Asynchronous):
        width = weights.step(method.delta, BUCKET_HOPS.on(traits))
        return _asynchronous(replace(method, delta=width), known, common)
    if isinstance(method, SelfTuning):
        return _tuned(config, replace(method, claims=claims), known, common)
    if isinstance(method, DeltaStepping):
        delta = weights.step(method.delta, narrow if one_item else BAND_HOPS.on(traits))
        bands = replace(method, delta=delta, claims=claims)
        if not one_item:
            return _banded(config, bands, known, common)
        return MethodPlan(replace(bands, heavy="push"), **common)
    if not isinstance(method, NearFar):
        raise TypeError(f"{method!r} is no method of this module")
    return _drifting(method, known, common, claims, narrow)


def _drifting(
    method: NearFar, known: Known, common: dict[str, Any], claims: str, narrow: float
) -> MethodPlan:
    """Give what near and far decide, in steps or by SIMD groups that go on by themselves."""
    drift = _drift(method, known)
    wide = DRIFTING_HOPS if drift else NEAR_HOPS
    hops = narrow if known.one_item else wide.on(known.traits)
    delta = known.weights.step(method.delta, hops)
    if not drift:
        return MethodPlan(replace(method, delta=delta, claims=claims, drift=0), **common)
    return MethodPlan(
        replace(
            method,
            delta=delta,
            claims="stamped",
            drift=drift,
            drift_limit=method.drift_limit or DRIFT_LIMIT,
        ),
        **common,
        single_group=False,
        mechanics=Mechanics(wide=0),  # without: no spills, and as fast
        more={"drift": drift},
    )


def _banded(
    config: SSSPConfig, method: DeltaStepping, known: Known, common: dict[str, Any]
) -> MethodPlan:
    """Give what delta-stepping by SIMD groups decides."""
    graph, lanes = known.graph, known.traits.lanes
    if not known.has_narrow_rows:
        raise InvalidArgumentError(
            f"method='delta-stepping' takes fewer than {FEWEST_WIDE} edges and at most "
            f"{CLASSED_VERTICES} vertices here, but the graph has {graph.m} and {graph.n}; use "
            "near-far."
        )
    if known.balance not in ROW_BALANCERS:
        raise InvalidArgumentError(
            f"method='delta-stepping' needs balance to be one of {', '.join(ROW_BALANCERS)} "
            f"here, not {known.balance!r}: each SIMD group cuts rows for itself."
        )
    heavy = method.heavy or ("push" if graph.directed else "switching")
    # Of rows that wait; with keys of 64 bits more would not leave 48 KiB for what else is local.
    spare = lanes // 8 if known.weights.dtype.itemsize == 8 else lanes // 4
    return MethodPlan(
        replace(method, heavy=heavy),
        **common | {"hub_degree": 0},
        single_group=False,
        walks_wide_rows=False,
        mechanics=Mechanics(wide=0, buffer=lanes + spare),
        cache=BAND_CACHE.on(known.traits),
        more={"row_limit": config.hub_degree or ROW_PIECE * lanes},
    )


def _drift(method: NearFar, known: Known) -> int:
    """How often SIMD groups go on by themselves; 0 where they cannot, or where it does not pay."""
    update = known.engine.frontier.update if known.engine.frontier else None
    can_drift = (
        not known.one_item
        and not wide_offsets(known.graph.m)
        and known.distribution == "static"
        and known.balance in DRIFT_BALANCERS
        and (update is None or isinstance(update, Buffer))
    )
    if not can_drift:
        return 0
    if method.drift is not None:
        return method.drift
    pays = not known.hub_degree and known.graph.mean_degree <= DRIFT_DEGREE
    return DRIFT_HOPS.on(known.traits) if known.traits.grid_barrier and pays else 0


def _core_edges(cores: int, traits: DeviceTraits) -> int:
    first, more = CORE_SINGLE_GROUP_EDGES.on(traits)
    return first + more * cores if cores > 1 else ALL_EDGES


def _asynchronous(method: Asynchronous, known: Known, common: dict[str, Any]) -> MethodPlan:
    """Give what searches without steps decide."""
    part = asynchronous_part(method, known.engine, known.balance, known.traits)
    return MethodPlan(
        part.method,
        **common | {"hub_degree": 0},
        single_group=False,
        group_size=part.group_size,
        groups=part.groups,
        buffered=True,
        mechanics=part.mechanics,
        more=part.more,
    )


def _tuned(
    config: SSSPConfig, method: SelfTuning, known: Known, common: dict[str, Any]
) -> MethodPlan:
    """Give what only searches that tune themselves decide."""
    traits, graph, weights = known.traits, known.graph, known.weights
    controller = method.controller
    if controller is None:
        stepped = isinstance(config.schedule, Stepped)
        controller = "device" if traits.fp64 and not stepped else "host"
    if controller == "device" and not traits.fp64:
        raise InvalidArgumentError(
            "controller='device' needs double precision, which this device does not have; use "
            "'host'."
        )
    if controller == "host" and isinstance(config.schedule, Persistent):
        raise InvalidArgumentError(
            "controller='host' waits for the host in every step, so the search cannot be "
            "persistent; leave schedule or controller out."
        )
    unit = weights.unit
    resident = traits.compute_units * traits.threads_per_unit
    # A frontier has some square roots of n vertices where distances are long; what no
    # step can have makes the bound useless: 270,000 on a road network took 55 relaxations an edge.
    sustained = FRONTIER_ROOTS * graph.mean_degree * math.sqrt(graph.n)
    usual = max(min(resident, sustained), FEWEST_EDGES)
    return MethodPlan(
        replace(
            method,
            controller=controller,
            delta=float(max(method.delta or weights.mean, unit)),
            set_point=None if method.power_target else float(method.set_point or usual),
        ),
        **common,
        single_group=False,
        stepped=controller == "host",
        # Power is looked at where a launch pauses: some ten times a second.
        mechanics=Mechanics(
            launch_work=LAUNCH_EDGES.on(traits) // (8 if method.power_target else 1)
        ),
        more={"unit": unit, "set_point": float(method.set_point or usual)},
    )
