"""The rules that complete a configuration of searches by weight."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.buckets import asynchronous_part, bucket_hops, settled_method
from clgraph.algorithms.sssp.config import CLASSED_VERTICES
from clgraph.algorithms.sssp.method import (
    Asynchronous,
    BellmanFord,
    DeltaStepping,
    Method,
    NearFar,
    SelfTuning,
)
from clgraph.engine.balance import WarpSearch
from clgraph.engine.choose import (
    USUAL,
    Mechanics,
    Resolved,
    decisions,
    distribution_of,
    group_size_of,
    hub_degree_of,
    usual_launch_work,
)
from clgraph.engine.config import TraversalConfig
from clgraph.engine.frontier import Buffer, Hubs, VertexQueue
from clgraph.engine.limits import Limits
from clgraph.engine.pull import Never
from clgraph.engine.schedule import Persistent, Schedule, Stepped
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["ResolvedPaths", "resolve_paths"]

# Edges per step that are worth the step, where nothing is known of the device.
FEWEST_EDGES = 1 << 14
RINGS = 4.0
# Edges per vertex that a rise of the bound should take in. Processor cores want little work done in
# vain: 4 were best on geometric and Kronecker graphs, 8 to 16 on roads and grids, whose frontiers
# are small. An H200 wants many vertices at once: where groups drift, 48 to 96 were best on a mesh
# and a road network; where not, 12 to 32 on kron20.
# Delta-stepping does less in vain than the latter: 6 took 0.50 ms there, 8 0.54, 12 0.60, 17 0.69.
NARROW, WIDE, DRIFTING, BANDS = 4.0, 32.0, 64.0, 6.0
SPARSE_DEGREE, SPARSE_NARROW = 5.0, 8.0
# Edges that are not worth the help of other cores, and how many more for each: two cores did best
# with 64 to 512; with 1,024 roads and grids took a fifth to a third longer. A core without others
# saves a fifth of the time by never leaving solo mode.
SOLO_EDGES, CORE_EDGES, ALL_EDGES = 400, 16, 1 << 26
# Meeting after 16 hops took 9.7 and 9.5 ms on those two, after 8 hops 9.8 and 10.7 to 11.8, after
# 40 11.8. On a Kronecker graph, of few and large frontiers, drifting took 2.2 ms instead of 1.7.
DRIFT, DRIFT_LIMIT, DRIFT_DEGREE = 16, 1 << 15, 16.0
# Balancers that have read all of LANES entries before they visit the first edge.
DRIFT_BALANCERS = ("warp_search", "item_thread")
# Balancers of single SIMD groups, whatever the whole list.
ROW_BALANCERS = ("warp_search", "warp_search_local", "item_thread", "vwarp")
# Room for vertices that are queued as often as they decrease.
DUPLICATES_PERCENT = 400
# Edges for each lane in a piece of a row.
ROW_PIECE = 8


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResolvedPaths(Resolved):
    """A configuration with everything decided; what templates see as ``config``.

    Attributes
    ----------
    method : Method
        The one that runs, with every number.
    delta : float
        How much its bound rises, in the unit of the weights; 0 without a bound.
    unit : float
        The weights' own step.
    claims, cache : str
        As decided.
    row_limit : int
        Edges of the pieces that rows are cut into; 0 for whole rows.
    drift : int
        How often SIMD groups go on by themselves; 0 for never.
    set_point : float
        Edges that each step of a search that tunes itself should look at, from the beginning.
    bucket_queues, period, ahead, iteration_limit, spin_rounds : int
        Of `Asynchronous`: queues of each bucket; buckets between two changes of their width, 0 for
        never; entries that a SIMD group collects; iterations after which a launch may pause, polls
        after which a group leaves.
    idle_least, idle_most : int
        Shares of idle SIMD groups, in percent, below which buckets become narrower and above which
        wider.
    """

    method: Method
    delta: float = 0.0
    unit: float = 1.0
    claims: str = ""
    cache: str = "default"
    row_limit: int = 0
    drift: int = 0
    set_point: float = 0.0
    bucket_queues: int = 0
    period: int = 0
    ahead: int = 0
    iteration_limit: int = 0
    spin_rounds: int = 0
    idle_least: int = 10
    idle_most: int = 50

    @property
    def exact(self) -> bool:
        """Whether a queue has each vertex at most once, not in pieces nor as often as it falls."""
        return not self.row_limit and self.claims != "none"


@dataclass(slots=True)
class _Plan:
    """What a method makes of the engine: parts of its configuration, mechanics and own numbers."""

    method: Method
    solo: bool | None = None
    stepped: bool = False
    hub_degree: int = 0
    group_size: int | None = None
    groups: int | None = None
    buffered: bool = False
    solo_edges: int | None = None
    queue_percent: int | None = None
    walks_wide_rows: bool = True
    mechanics: Mechanics = USUAL
    more: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Known:
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
    def alone(self) -> bool:
        """Whether one work-item is a group."""
        return self.group_size == 1

    @property
    def has_narrow_rows(self) -> bool:
        """Whether edges are numbered by 32 bits and vertices leave two bits free."""
        return self.graph.m < 2**32 and self.graph.n <= CLASSED_VERTICES


def resolve_paths(
    config: SSSPConfig, traits: DeviceTraits, graph: Graph, weights: Weights
) -> ResolvedPaths:
    """Complete a configuration for a graph, its weights and a device.

    Raises
    ------
    InvalidArgumentError
        If the weights or the device do not allow it.
    """
    known = _known(config, traits, graph, weights)
    method = _method(config, known)
    _check(method, known)
    plan = _plan(config, method, known)
    mechanics = plan.mechanics
    if traits.is_cpu:
        # Compilers for processors take seconds over each copy of the visit, and gain nothing.
        mechanics = replace(mechanics, batch=1, wide=mechanics.wide or 0)
    decided = decisions(
        _engine(known, plan),
        traits,
        m=graph.m,
        predecessors=True,
        max_degree=graph.max_degree,
        mean_degree=None,
        directed=graph.directed,
        mechanics=mechanics,
    )
    given = config.schedule.given() if config.schedule else {}
    asked = replace(
        config,
        method=method,
        balance=decided["asked"].balance,
        schedule=type(decided["asked"].schedule)(**given),
    )
    own = {
        "method": plan.method,
        "delta": plan.method.delta or 0.0,
        "cache": config.cache or "default",
        "claims": plan.method.claims or "stamped",
        **(plan.more or {}),
    }
    return ResolvedPaths(**decided | {"asked": asked} | own)


def _known(config: SSSPConfig, traits: DeviceTraits, graph: Graph, weights: Weights) -> _Known:
    """Decide what methods go by, as the engine does."""
    engine = TraversalConfig(
        # A search by weight claims no vertex for good.
        frontier=VertexQueue(
            visited="labels", update=config.update, hubs=Hubs(degree=config.hub_degree)
        ),
        balance=config.balance,
        pull=Never(),
        schedule=config.schedule,
        limits=replace(config.limits or Limits(), queue_percent=None),
        counts=config.counts,
    )
    group_size = group_size_of(engine, traits)
    return _Known(
        engine=engine,
        traits=traits,
        graph=graph,
        weights=weights,
        group_size=group_size,
        hub_degree=hub_degree_of(engine, traits, balance=None, max_degree=graph.max_degree),
        distribution=distribution_of(engine, group_size),
        balance=config.balance.name
        if config.balance
        else "item_thread"
        if traits.lanes == 1
        else "warp_search",
    )


def _engine(known: _Known, plan: _Plan) -> TraversalConfig:
    """Give the engine's configuration, as the method has it."""
    asked = known.engine.schedule or Schedule()
    given = asked.given()
    kind = type(asked)
    if plan.stepped and not isinstance(asked, Stepped):
        kind = Stepped
        given.pop("membership", None)
    given["distribution"] = known.distribution
    if plan.solo is not None:
        given["solo"] = plan.solo
    for name in ("group_size", "groups"):
        given[name] = given.get(name) or getattr(plan, name)
    frontier, limits = known.engine.frontier, known.engine.limits or Limits()
    balance = known.engine.balance
    if isinstance(balance, WarpSearch) and not plan.walks_wide_rows:
        balance = replace(balance, wide=None)
    return replace(
        known.engine,
        balance=balance,
        frontier=VertexQueue(
            visited="labels",
            update=Buffer() if plan.buffered or not frontier else frontier.update,
            hubs=Hubs(degree=plan.hub_degree),
        ),
        schedule=kind(**given),
        limits=replace(
            limits,
            solo_edges=plan.solo_edges if limits.solo_edges is None else limits.solo_edges,
            queue_percent=plan.queue_percent,
        ),
    )


def _method(config: SSSPConfig, known: _Known) -> Method:
    """Give the method: by weights of edges where a GPU has many to a vertex, else near and far."""
    traits, graph = known.traits, known.graph
    settled = settled_method(config, traits, graph, negative=known.weights.negative)
    if settled is not None:
        return settled
    if known.weights.negative:
        return BellmanFord()
    many = graph.mean_degree > DRIFT_DEGREE or bool(known.hub_degree)
    bands = (
        many
        and traits.grid_barrier
        and not known.alone
        and known.has_narrow_rows
        and known.balance in ROW_BALANCERS
    )
    return DeltaStepping() if bands else NearFar()


def _check(method: Method, known: _Known) -> None:
    traits, weights, claims = known.traits, known.weights, method.claims
    if weights.negative and not isinstance(method, BellmanFord):
        tail, head, weight = weights.least_edge
        raise InvalidArgumentError(
            f"method={method.name!r} needs weights that are not negative, but edge {tail} -> "
            f"{head} has {weight}; use config='h-bf' or method='bellman-ford'."
        )
    if not traits.int64_atomics and (weights.dtype.itemsize == 8 or claims == "packed"):
        raise InvalidArgumentError(
            f"weights of type {weights.dtype} and claims={claims!r} need 64-bit atomics, "
            "which this device does not have; use 32-bit weights and claims='stamped'."
        )
    if weights.dtype == "float64" and not traits.fp64:
        raise InvalidArgumentError(
            "weights are float64, but this device has no double precision; convert them to float32."
        )
    if claims == "packed" and weights.dtype.itemsize == 8:
        raise InvalidArgumentError(
            f"claims='packed' puts a distance into half a word of 64 bits, which {weights.dtype} "
            "does not fit; use 'stamped'."
        )
    if method.edge_classes and known.graph.n > CLASSED_VERTICES:
        raise InvalidArgumentError(
            f"edge_classes are kept in the two highest bits of a vertex number, so they need at "
            f"most {CLASSED_VERTICES} vertices and there are {known.graph.n}; leave them out."
        )


def _plan(config: SSSPConfig, method: Method, known: _Known) -> _Plan:
    """Decide every number of a method, and what it needs of the engine."""
    traits, graph, weights, alone = known.traits, known.graph, known.weights, known.alone
    packs = weights.dtype.itemsize == 4 and traits.int64_atomics and not alone
    claims = method.claims or ("packed" if packs else "stamped")
    # One core would walk a hub alone anyway.
    hub_degree = 0 if alone else known.hub_degree
    cores = (config.schedule and config.schedule.groups) or traits.compute_units
    common: dict[str, Any] = {
        "hub_degree": hub_degree,
        "solo_edges": _core_edges(cores) if alone else None,
    }
    if isinstance(method, BellmanFord):
        if claims == "none":
            asked = config.limits.queue_percent if config.limits else None
            room = asked or DUPLICATES_PERCENT
            common |= {"hub_degree": 0, "solo": False, "queue_percent": room}
        return _Plan(replace(method, claims=claims), **common)
    narrow = SPARSE_NARROW if graph.mean_degree < SPARSE_DEGREE else NARROW
    if isinstance(method, Asynchronous):
        width = weights.step(method.delta, bucket_hops(traits))
        return _asynchronous(replace(method, delta=width), known, common)
    if isinstance(method, SelfTuning):
        return _tuned(config, replace(method, claims=claims), known, common)
    if isinstance(method, DeltaStepping):
        delta = weights.step(method.delta, narrow if alone else BANDS)
        bands = replace(method, delta=delta, claims=claims)
        if not alone:
            return _banded(config, bands, known, common)
        return _Plan(replace(bands, heavy="push"), **common)
    if not isinstance(method, NearFar):
        raise TypeError(f"{method!r} is no method of this module")
    return _drifting(method, known, common, claims, narrow)


def _drifting(
    method: NearFar, known: _Known, common: dict[str, Any], claims: str, narrow: float
) -> _Plan:
    """Give what near and far decide, in steps or by SIMD groups that go on by themselves."""
    drift = _drift(method, known)
    hops = narrow if known.alone else DRIFTING if drift else WIDE
    delta = known.weights.step(method.delta, hops)
    if not drift:
        return _Plan(replace(method, delta=delta, claims=claims, drift=0), **common)
    return _Plan(
        replace(
            method,
            delta=delta,
            claims="stamped",
            drift=drift,
            drift_limit=method.drift_limit or DRIFT_LIMIT,
        ),
        **common,
        solo=False,
        mechanics=Mechanics(wide=0),  # without: no spills, and as fast
        more={"drift": drift},
    )


def _banded(
    config: SSSPConfig, method: DeltaStepping, known: _Known, common: dict[str, Any]
) -> _Plan:
    """Give what delta-stepping by SIMD groups decides."""
    graph, lanes = known.graph, known.traits.lanes
    if not known.has_narrow_rows:
        raise InvalidArgumentError(
            f"method='delta-stepping' takes fewer than 2**32 edges and at most {CLASSED_VERTICES} "
            f"vertices here, but the graph has {graph.m} and {graph.n}; use near-far."
        )
    if known.balance not in ROW_BALANCERS:
        raise InvalidArgumentError(
            f"method='delta-stepping' needs balance to be one of {', '.join(ROW_BALANCERS)} "
            f"here, not {known.balance!r}: each SIMD group cuts rows for itself."
        )
    heavy = method.heavy or ("push" if graph.directed else "switching")
    return _Plan(
        replace(method, heavy=heavy),
        **common | {"hub_degree": 0},
        solo=False,
        walks_wide_rows=False,
        mechanics=Mechanics(wide=0, buffer=lanes + lanes // 4),
        more={"row_limit": config.hub_degree or ROW_PIECE * lanes},
    )


def _drift(method: NearFar, known: _Known) -> int:
    """How often SIMD groups go on by themselves; 0 where they cannot, or where it does not pay."""
    update = known.engine.frontier.update if known.engine.frontier else None
    can_drift = (
        not known.alone
        and known.graph.m < 2**32
        and known.distribution == "static"
        and known.balance in DRIFT_BALANCERS
        and (update is None or isinstance(update, Buffer))
    )
    if not can_drift:
        return 0
    if method.drift is not None:
        return method.drift
    pays = not known.hub_degree and known.graph.mean_degree <= DRIFT_DEGREE
    return DRIFT if known.traits.grid_barrier and pays else 0


def _core_edges(cores: int) -> int:
    return SOLO_EDGES + CORE_EDGES * cores if cores > 1 else ALL_EDGES


def _asynchronous(method: Asynchronous, known: _Known, common: dict[str, Any]) -> _Plan:
    """Give what searches without steps decide."""
    part = asynchronous_part(method, known.engine, known.balance, known.traits)
    return _Plan(
        part.method,
        **common | {"hub_degree": 0},
        solo=False,
        group_size=part.group_size,
        groups=part.groups,
        buffered=True,
        mechanics=part.mechanics,
        more=part.more,
    )


def _tuned(config: SSSPConfig, method: SelfTuning, known: _Known, common: dict[str, Any]) -> _Plan:
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
    # A ring around the source has some square roots of n vertices where distances are long; what no
    # step can have makes the bound useless: 270,000 on a road network took 55 relaxations an edge.
    sustained = RINGS * graph.mean_degree * math.sqrt(graph.n)
    usual = max(min(resident, sustained), FEWEST_EDGES)
    return _Plan(
        replace(
            method,
            controller=controller,
            delta=float(max(method.delta or weights.mean, unit)),
            set_point=None if method.power_target else float(method.set_point or usual),
        ),
        **common,
        solo=False,
        stepped=controller == "host",
        # Power is looked at where a launch pauses: some ten times a second.
        mechanics=Mechanics(
            launch_work=usual_launch_work(traits) // (8 if method.power_target else 1)
        ),
        more={"unit": unit, "set_point": float(method.set_point or usual)},
    )
