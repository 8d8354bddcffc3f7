"""How shortest paths may be searched: the methods, their dimensions, and what decides them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.algorithms.sssp_buckets import bucket_group, bucket_hops, bucket_part, validate_buckets
from clgraph.engine.choose import Resolved, resolve
from clgraph.engine.config import TraversalConfig, check_number
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp_weights import Weights
    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["EDGE_CLASSES", "METHODS", "ResolvedPaths", "SSSPConfig", "resolve_paths"]

METHODS = ("bellman-ford", "near-far", "delta-stepping", "buckets", "self-tuning")
CONTROLLERS = ("device", "host")
CLAIMS = ("packed", "stamped")
HEAVY = ("push", "switching")
# Codes in the two highest bits of a head; "source" is known when a search begins.
EDGE_CLASSES = {"self": 1, "in-degree-1": 2, "leaf": 3, "source": 0}
CLASSED_VERTICES = 1 << 30
# Dimensions of the engine that make a difference here.
SHARED = frozenset(
    {
        *("balance", "virtual_warp", "min_virtual_warp", "wide", "hub_degree", "update"),
        *("register_queue", "synchronisation", "membership", "solo", "solo_capacity"),
        *("solo_edges", "distribution", "kernels", "group_size", "groups", "eager_limit"),
        *("spin_limit", "patience"),
    }
)

# Edges per step that are worth the step, where nothing is known of the device.
FEWEST_EDGES = 1 << 14
# Edges per vertex that a rise of the bound should take in. A processor core wants little work done
# in vain: 4 to 8 were best on five kinds of graph. An H200 wants many vertices at once: where
# groups drift, 48 to 96 were best on a mesh and a road network; where not, 12 to 32 on kron20.
NARROW, WIDE, DRIFTING = 4.0, 32.0, 64.0
# Meeting after 16 hops took 9.7 and 9.5 ms on those two, after 8 hops 9.8 and 10.7 to 11.8, after
# 40 11.8. On a Kronecker graph, of few and large frontiers, drifting took 2.2 ms instead of 1.7.
DRIFT, DRIFT_LIMIT, DRIFT_DEGREE = 16, 1 << 15, 16.0
# Balancers that have read all of LANES entries before they visit the first edge.
DRIFT_BALANCERS = ("warp_search", "item_thread")


@dataclass(frozen=True, slots=True, kw_only=True)
class SSSPConfig(TraversalConfig):
    """A configuration of a search for shortest paths; speed changes with it, results do not.

    Every dimension defaults to ``None``: chosen from the graph and the device. Those of
    `clgraph.engine.config.TraversalConfig` apply, but for what concerns pulling.

    Parameters
    ----------
    method : {"bellman-ford", "near-far", "delta-stepping", "buckets", "self-tuning"}, optional
        Expand whoever fell; or only those below a bound that rises; or of these the edges up to
        `delta` at once, the heavier ones when the bound is about to rise; or, without steps, who is
        in the lowest of many buckets as wide as `delta`; or those below a bound that is moved so
        that every step does the same work.
    delta : float, optional
        How much the bound rises, in the unit of the weights; for ``self-tuning`` the first bound.
    claims : {"packed", "stamped"}, optional
        Whether a vertex and the stage of its last fall share one 64-bit word, or have a word each.
        Packing needs weights of 32 bits.
    edge_classes : tuple of {"self", "in-degree-1", "leaf", "source"}, optional
        Edges that are treated apart, for ``bellman-ford``: self-loops are skipped; what only one
        edge leads to, or the only source, is stored without atomics; what nothing leads on from is
        left to the end.
    heavy : {"push", "switching"}, optional
        Whether a band's heavy edges are always followed from its vertices, which is the default,
        or also looked along from whoever lies beyond, which needs the transpose; for
        ``delta-stepping`` on SIMD groups.
    drift : int, optional
        How many times in a row a SIMD group expands what it has just found before it meets the
        others, for ``near-far``; 0 for never.
    drift_limit : int, optional
        Largest frontier, in vertices, that is expanded so.
    buckets : int, optional
        How many buckets there are at once, for ``buckets``; a power of two.
    reach : int, optional
        How many buckets above the lowest a SIMD group may work on.
    keep : int, optional
        Vertices that a SIMD group keeps for itself while another has nothing to do.
    set_point : float, optional
        Edges that each step should look at, for ``self-tuning``; default is as many as the device
        runs work-items at once.
    power_target : float, optional
        Watts that the device should draw, for ``self-tuning``: the set-point follows from what is
        measured.
    controller : {"device", "host"}, optional
        Where ``self-tuning`` moves its bound. On the host every step waits for a read; on the
        device, which needs double precision, none does.
    """

    method: str | None = None
    delta: float | None = None
    claims: str | None = None
    edge_classes: tuple[str, ...] | None = None
    heavy: str | None = None
    drift: int | None = None
    drift_limit: int | None = None
    buckets: int | None = None
    reach: int | None = None
    keep: int | None = None
    set_point: float | None = None
    power_target: float | None = None
    controller: str | None = None

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "h-bf": {
            "method": "bellman-ford",
            "edge_classes": tuple(EDGE_CLASSES),
            "balance": "dyn_vwarp",
            "min_virtual_warp": 4,
            "hub_degree": 4096,
        },
        "near-far": {"method": "near-far", "drift": 0},
        "delta-stepping": {"method": "delta-stepping"},
        "asynchronous": {"method": "near-far", "drift": 16},
        "self-tuning": {"method": "self-tuning"},
    }

    def validate(self) -> None:
        """Check every dimension and their combination.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first thing that is not legal.
        """
        TraversalConfig.validate(self)
        check_number("drift", self.drift, 0, 2**31 - 1)
        check_number("drift_limit", self.drift_limit, 1, 2**31 - 1)
        for name, choices in (
            ("method", METHODS),
            ("claims", CLAIMS),
            ("heavy", HEAVY),
            ("controller", CONTROLLERS),
        ):
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise InvalidArgumentError(f"{name}={value!r} is not one of {', '.join(choices)}.")
        for name in {field.name for field in fields(TraversalConfig)} - SHARED:
            if getattr(self, name) is not None:
                raise InvalidArgumentError(
                    f"{name}={getattr(self, name)!r} is about searches in hops; leave it out here."
                )
        self._validate_delta()
        self._validate_tuning()
        validate_buckets(self)
        for name in self.edge_classes or ():
            if name not in EDGE_CLASSES:
                raise InvalidArgumentError(
                    f"edge_classes has {name!r}, which is not one of {', '.join(EDGE_CLASSES)}."
                )
        if self.drift and (self.method not in (None, "near-far") or self.claims == "packed"):
            raise InvalidArgumentError(
                f"drift={self.drift} needs method='near-far' and claims='stamped': what a SIMD "
                "group finds on its own way has no stage."
            )
        if self.heavy and self.method != "delta-stepping":
            raise InvalidArgumentError(
                f"heavy={self.heavy!r} needs method='delta-stepping': no other tells edges apart "
                "by weight."
            )
        if self.edge_classes and self.method != "bellman-ford":
            raise InvalidArgumentError(
                "edge_classes need method='bellman-ford': the other methods tell vertices apart "
                "by their distance."
            )

    def _validate_delta(self) -> None:
        if self.delta is None:
            return
        if isinstance(self.delta, bool) or not isinstance(self.delta, int | float):
            raise InvalidArgumentError(f"delta={self.delta!r} is not a number.")
        if not (math.isfinite(self.delta) and self.delta > 0):
            raise InvalidArgumentError(f"delta={self.delta} must be positive and finite.")
        if self.method == "bellman-ford":
            raise InvalidArgumentError(
                "delta is what a bound rises by, and method='bellman-ford' has no bound; leave one "
                "of them out."
            )

    def _validate_tuning(self) -> None:
        for name, least in (("set_point", 1.0), ("power_target", 0.0)):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidArgumentError(f"{name}={value!r} is not a number.")
            if not (math.isfinite(value) and value >= least and value > 0):
                raise InvalidArgumentError(
                    f"{name}={value} must be finite and "
                    f"{'at least 1 edge per step' if least else 'more than 0 watts'}."
                )
        for name in ("set_point", "power_target", "controller"):
            if getattr(self, name) is not None and self.method != "self-tuning":
                raise InvalidArgumentError(
                    f"{name}={getattr(self, name)!r} is for method='self-tuning'; set that too, or "
                    "leave it out."
                )
        if self.power_target is not None and self.set_point is not None:
            raise InvalidArgumentError(
                "set_point follows from power_target; leave one of them out."
            )


@dataclass(frozen=True, slots=True)
class ResolvedPaths(Resolved):
    """A configuration with every dimension decided; what templates see as ``config``."""

    method: str = ""
    delta: float = 0.0
    claims: str = ""
    edge_classes: tuple[str, ...] = ()
    heavy: str = ""
    look_cost: int = 1
    drift: int = 0
    drift_limit: int = 0
    buckets: int = 0
    reach: int = 0
    rings: int = 0
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


def resolve_paths(
    config: SSSPConfig, traits: DeviceTraits, graph: Graph, weights: Weights
) -> ResolvedPaths:
    """Complete a configuration for a graph, its weights and a device.

    Raises
    ------
    InvalidArgumentError
        If the weights or the device do not allow it.
    """
    method = config.method or ("bellman-ford" if weights.negative else "near-far")
    _check_weights(config, method, traits, weights)
    base = resolve(
        _shared_part(config, method, traits),
        traits,
        m=graph.m,
        predecessors=True,
        max_degree=graph.max_degree,
    )
    if base.wide_offsets and base.group_size > 1 and method == "delta-stepping":
        raise InvalidArgumentError(
            f"method='delta-stepping' counts edges with 32 bits here, but the graph has {graph.m}; "
            "use near-far."
        )
    if config.claims == "packed" and weights.dtype.itemsize == 8:
        raise InvalidArgumentError(
            f"claims='packed' puts a distance into half a word of 64 bits, which {weights.dtype} "
            "does not fit; use 'stamped'."
        )
    alone = base.group_size == 1
    packs = weights.dtype.itemsize == 4 and traits.int64_atomics and not alone
    classes = config.edge_classes or ()
    if classes and graph.n > CLASSED_VERTICES:
        raise InvalidArgumentError(
            f"edge_classes are kept in the two highest bits of a vertex number, so they need at "
            f"most {CLASSED_VERTICES} vertices and there are {graph.n}; leave them out."
        )
    heavy = "push" if method == "delta-stepping" else ""
    if heavy and not alone and base.balance in DRIFT_BALANCERS:
        heavy = config.heavy or heavy
    drift = _drift(config, base, traits, graph) if method == "near-far" else 0
    hops = NARROW if alone else DRIFTING if drift else WIDE
    own: dict[str, Any] = {}
    if method == "buckets":
        hops, own = bucket_hops(traits), bucket_part(config, base, traits)
    elif method == "self-tuning":
        own = _tuned_part(config, base, traits, weights)
    chosen = asdict(base)
    if traits.is_cpu:
        # Compilers for processors take seconds over each copy of the visit, and gain nothing.
        chosen |= {"wide_batch": 1, "scan_batch": 1, "wide": config.wide or 0}
    chosen |= {
        "direction": "push",
        "pull": False,
        "hub_degree": 0 if alone else base.hub_degree,  # one core would walk it alone anyway
        "solo_edges": base.solo_edges if config.solo_edges is not None else _solo_edges(base),
        "method": method,
        "heavy": heavy,
        "delta": weights.step(config.delta, hops) if method != "bellman-ford" else 0.0,
        "claims": config.claims or ("packed" if packs else "stamped"),
        "edge_classes": classes,
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


def _check_weights(config: SSSPConfig, method: str, traits: DeviceTraits, weights: Weights) -> None:
    """Refuse weights that the method or the device cannot do."""
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


def _shared_part(config: SSSPConfig, method: str, traits: DeviceTraits) -> TraversalConfig:
    """Give the dimensions that all searches have, of one that claims no vertex for good."""
    shared = {field.name: getattr(config, field.name) for field in fields(TraversalConfig)}
    shared |= {"direction": "push", "visited": "labels", "held": False}
    if method == "buckets":
        shared |= bucket_group(config, traits)
    return TraversalConfig(**shared)


def _solo_edges(base: Resolved) -> int:
    return 1 << 12 if base.group_size == 1 else base.solo_edges


def _tuned_part(
    config: SSSPConfig, base: Resolved, traits: DeviceTraits, weights: Weights
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
    return {
        "controller": controller,
        "unit": unit,
        "delta": float(max(config.delta or weights.mean, unit)),
        "set_point": float(config.set_point or max(resident, FEWEST_EDGES)),
        "power_target": config.power_target,
        # Power is looked at where a launch pauses: some ten times a second.
        "launch_work": base.launch_work // (8 if config.power_target else 1),
        "solo": False,
        **({"synchronisation": "stepped"} if controller == "host" else {}),
    }
