"""The rules that complete a configuration of searches by weight."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.buckets import (
    bucket_group,
    bucket_hops,
    bucket_part,
    settle_buckets,
)
from clgraph.algorithms.sssp.config import CLASSED_VERTICES
from clgraph.engine.choose import Resolved, resolve
from clgraph.engine.config import TraversalConfig
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
# Room for vertices that are queued as often as they fall.
DUPLICATES_PERCENT = 400
# Edges for each lane in a piece of a row.
ROW_PIECE = 8


@dataclass(frozen=True, slots=True)
class ResolvedPaths(Resolved):
    """A configuration with every dimension decided; what templates see as ``config``."""

    method: str = ""
    delta: float = 0.0
    claims: str = ""
    cache: str = "default"
    vertices_per_warp: int = 0
    edge_classes: tuple[str, ...] = ()
    heavy: str = ""
    row_limit: int = 0
    looks_per_edge: int = 4
    unordered: int = 16
    drift: int = 0
    drift_limit: int = 0
    buckets: int = 0
    reach: int = 0
    rings: int = 0
    hungry: int = 0
    naps: int = 0
    counts_every: int = 0
    credit: int = 0
    period: int = 0
    idle_least: int = 0
    idle_most: int = 0
    stretch: int = 0
    keep: int = 0
    ahead: int = 0
    turns: int = 0
    waits: int = 0
    looks: bool = False
    split_tile: int = 1024
    set_point: float = 0.0
    power_target: float | None = None
    controller: str = ""
    unit: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether a queue has each vertex at most once, not in pieces nor as often as it falls."""
        return not self.row_limit and self.claims != "none"


def resolve_paths(
    config: SSSPConfig, traits: DeviceTraits, graph: Graph, weights: Weights
) -> ResolvedPaths:
    """Complete a configuration for a graph, its weights and a device.

    Raises
    ------
    InvalidArgumentError
        If the weights or the device do not allow it.
    """
    config = settle_buckets(config, traits, graph, negative=weights.negative)
    base = resolve(
        _shared_part(config, traits),
        traits,
        m=graph.m,
        predecessors=True,
        max_degree=graph.max_degree,
    )
    method = _method(config, base, traits, graph, weights)
    _check(config, method, traits, graph, weights)
    alone = base.group_size == 1
    packs = weights.dtype.itemsize == 4 and traits.int64_atomics and not alone
    banded = method == "delta-stepping" and not alone
    drift = _drift(config, base, traits, graph) if method == "near-far" else 0
    narrow = SPARSE_NARROW if graph.mean_degree < SPARSE_DEGREE else NARROW
    hops = narrow if alone else DRIFTING if drift else BANDS if banded else WIDE
    own: dict[str, Any] = {}
    if method == "buckets":
        hops, own = bucket_hops(traits), bucket_part(config, base, traits)
    elif method == "self-tuning":
        own = _tuned_part(config, base, traits, graph, weights)
    elif banded:
        own = _banded_part(config, base, graph)
    elif config.claims == "none":
        own = {
            "queue_percent": config.queue_percent or DUPLICATES_PERCENT,
            "solo": False,
            "hub_degree": 0,
        }
    chosen = asdict(base)
    if traits.is_cpu:
        # Compilers for processors take seconds over each copy of the visit, and gain nothing.
        chosen |= {"wide_batch": 1, "scan_batch": 1, "wide": config.wide or 0}
    chosen |= {
        "direction": "push",
        "pull": False,
        "hub_degree": 0 if alone else base.hub_degree,  # one core would walk it alone anyway
        "solo_edges": _core_edges(config.groups or traits.compute_units)
        if alone and config.solo_edges is None
        else base.solo_edges,
        "method": method,
        "heavy": "push" if method == "delta-stepping" else "",
        "delta": weights.step(config.delta, hops) if method != "bellman-ford" else 0.0,
        "cache": config.cache or "default",
        "vertices_per_warp": config.vertices_per_warp or 0,
        "claims": config.claims or ("packed" if packs else "stamped"),
        "edge_classes": config.edge_classes or (),
        **own,
    }
    if drift:
        chosen |= {
            "drift": drift,
            "drift_limit": config.drift_limit or DRIFT_LIMIT,
            "claims": "stamped",
            "solo": False,
            "wide": config.wide or 0,  # without: no spills, and as fast
        }
    return ResolvedPaths(**chosen)


def _method(
    config: SSSPConfig, base: Resolved, traits: DeviceTraits, graph: Graph, weights: Weights
) -> str:
    """Give the method: by weights of edges where a GPU has many to a vertex, else near and far."""
    if config.method:
        return config.method
    if weights.negative:
        return "bellman-ford"
    many = graph.mean_degree > DRIFT_DEGREE or bool(base.hub_degree)
    bands = (
        many
        and traits.grid_barrier
        and base.group_size > 1
        and not base.wide_offsets
        and graph.n <= CLASSED_VERTICES
        and base.balance in ROW_BALANCERS
        and config.drift is None
    )
    return "delta-stepping" if bands else "near-far"


def _check(
    config: SSSPConfig, method: str, traits: DeviceTraits, graph: Graph, weights: Weights
) -> None:
    if weights.negative and method != "bellman-ford":
        tail, head, weight = weights.least_edge
        raise InvalidArgumentError(
            f"method={method!r} needs weights that are not negative, but edge {tail} -> {head} has "
            f"{weight}; use config='h-bf' or method='bellman-ford'."
        )
    if not traits.int64_atomics and (weights.dtype.itemsize == 8 or config.claims == "packed"):
        raise InvalidArgumentError(
            f"weights of type {weights.dtype} and claims={config.claims!r} need 64-bit atomics, "
            "which this device does not have; use 32-bit weights and claims='stamped'."
        )
    if weights.dtype == "float64" and not traits.fp64:
        raise InvalidArgumentError(
            "weights are float64, but this device has no double precision; convert them to float32."
        )
    if config.claims == "packed" and weights.dtype.itemsize == 8:
        raise InvalidArgumentError(
            f"claims='packed' puts a distance into half a word of 64 bits, which {weights.dtype} "
            "does not fit; use 'stamped'."
        )
    if config.edge_classes and graph.n > CLASSED_VERTICES:
        raise InvalidArgumentError(
            f"edge_classes are kept in the two highest bits of a vertex number, so they need at "
            f"most {CLASSED_VERTICES} vertices and there are {graph.n}; leave them out."
        )


def _banded_part(config: SSSPConfig, base: Resolved, graph: Graph) -> dict[str, Any]:
    """Give what delta-stepping by SIMD groups decides."""
    if base.wide_offsets or graph.n > CLASSED_VERTICES:
        raise InvalidArgumentError(
            f"method='delta-stepping' takes fewer than 2**32 edges and at most {CLASSED_VERTICES} "
            f"vertices here, but the graph has {graph.m} and {graph.n}; use near-far."
        )
    if base.balance not in ROW_BALANCERS:
        raise InvalidArgumentError(
            f"method='delta-stepping' needs balance to be one of {', '.join(ROW_BALANCERS)} "
            f"here, not {base.balance!r}: each SIMD group cuts rows for itself."
        )
    return {
        "heavy": config.heavy or ("push" if graph.directed else "switching"),
        "row_limit": config.hub_degree or ROW_PIECE * base.lanes,
        "hub_degree": 0,
        "solo": False,
        "wide": 0,
        "buffer": base.lanes + base.lanes // 4,
    }


def _drift(config: SSSPConfig, base: Resolved, traits: DeviceTraits, graph: Graph) -> int:
    """How often SIMD groups go on by themselves; 0 where they cannot, or where it does not pay."""
    can_drift = (
        base.group_size > 1
        and not base.wide_offsets
        and base.distribution == "static"
        and base.balance in DRIFT_BALANCERS
        and base.update == "buffer"
    )
    if not can_drift:
        return 0
    if config.drift is not None:
        return config.drift
    pays = not base.hub_degree and graph.mean_degree <= DRIFT_DEGREE
    return DRIFT if traits.grid_barrier and pays else 0


def _shared_part(config: SSSPConfig, traits: DeviceTraits) -> TraversalConfig:
    """Give the dimensions that all searches have, of one that claims no vertex for good."""
    shared = {field.name: getattr(config, field.name) for field in fields(TraversalConfig)}
    shared |= {"direction": "push", "visited": "labels", "held": False, "queue_percent": None}
    if config.method == "buckets":
        shared |= bucket_group(config, traits)
    return TraversalConfig(**shared)


def _core_edges(cores: int) -> int:
    return SOLO_EDGES + CORE_EDGES * cores if cores > 1 else ALL_EDGES


def _tuned_part(
    config: SSSPConfig, base: Resolved, traits: DeviceTraits, graph: Graph, weights: Weights
) -> dict[str, Any]:
    """Give what only searches that tune themselves decide."""
    controller = config.controller
    if controller is None:
        controller = "device" if traits.fp64 and config.synchronisation != "stepped" else "host"
    if controller == "device" and not traits.fp64:
        raise InvalidArgumentError(
            "controller='device' needs double precision, which this device does not have; use "
            "'host'."
        )
    if controller == "host" and config.synchronisation == "persistent":
        raise InvalidArgumentError(
            "controller='host' waits for the host in every step, so the search cannot be "
            "persistent; leave synchronisation or controller out."
        )
    unit = weights.unit
    resident = traits.compute_units * traits.threads_per_unit
    # A ring around the source has some square roots of n vertices where distances are long; what no
    # step can have makes the bound useless: 270,000 on a road network took 55 relaxations an edge.
    sustained = RINGS * graph.mean_degree * math.sqrt(graph.n)
    usual = max(min(resident, sustained), FEWEST_EDGES)
    return {
        "controller": controller,
        "unit": unit,
        "delta": float(max(config.delta or weights.mean, unit)),
        "set_point": float(config.set_point or usual),
        "power_target": config.power_target,
        # Power is looked at where a launch pauses: some ten times a second.
        "launch_work": base.launch_work // (8 if config.power_target else 1),
        "solo": False,
        **({"synchronisation": "stepped"} if controller == "host" else {}),
    }
