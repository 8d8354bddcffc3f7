"""The rules that complete a configuration of searches by weight."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.buckets import settled_method
from clgraph.algorithms.sssp.config import CLASSED_VERTICES
from clgraph.algorithms.sssp.method import (
    BellmanFord,
    DeltaStepping,
    Method,
    NearFar,
)
from clgraph.algorithms.sssp.method_plans import (
    DRIFT_DEGREE,
    ROW_BALANCERS,
    Known,
    MethodPlan,
    plan_of,
)
from clgraph.algorithms.sssp.resolved import ResolvedPaths
from clgraph.device.hardware.measured import BANDS_PAY
from clgraph.engine.blocks import rows_in_blocks
from clgraph.engine.choose import resolve
from clgraph.engine.strategies.balance import WarpSearch
from clgraph.engine.strategies.config import TraversalConfig
from clgraph.engine.strategies.frontier import Buffer, Hubs, VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.pull import Never
from clgraph.engine.strategies.schedule import Schedule, Stepped
from clgraph.engine.usual import distribution_of, group_size_of, hub_degree_of
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.config import SSSPConfig
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["resolve_paths"]


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
    plan = plan_of(config, method, known)
    mechanics = plan.mechanics
    if traits.is_cpu:
        # Compilers for processors take seconds over each copy of the visit, and gain nothing.
        mechanics = replace(mechanics, batch=1, wide=mechanics.wide or 0)
    resolved = resolve(
        _engine(known, plan),
        traits,
        m=graph.m,
        predecessors=True,
        max_degree=graph.max_degree,
        directed=graph.directed,
        mechanics=mechanics,
        blocks=rows_in_blocks(graph),
    )
    given = config.schedule.given() if config.schedule else {}
    chosen: Any = resolved.asked  # the engine's configuration
    asked = replace(
        config,
        method=method,
        balance=chosen.balance,
        schedule=type(chosen.schedule)(**given),
    )
    own = {
        "method": plan.method,
        "delta": plan.method.delta or 0.0,
        "cache": config.cache or plan.cache,
        "claims": plan.method.claims or "stamped",
        **(plan.more or {}),
    }
    decided = {field.name: getattr(resolved, field.name) for field in fields(resolved)}
    return ResolvedPaths(**decided | {"asked": asked} | own)


def _known(config: SSSPConfig, traits: DeviceTraits, graph: Graph, weights: Weights) -> Known:
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
    return Known(
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


def _engine(known: Known, plan: MethodPlan) -> TraversalConfig:
    """Give the engine's configuration, as the method has it."""
    asked = known.engine.schedule or Schedule()
    given = asked.given()
    kind = type(asked)
    if plan.stepped and not isinstance(asked, Stepped):
        kind = Stepped
        given.pop("membership", None)
    given["distribution"] = known.distribution
    if plan.single_group is not None:
        given["single_group"] = plan.single_group
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
            single_group_edges=plan.single_group_edges
            if limits.single_group_edges is None
            else limits.single_group_edges,
            queue_percent=plan.queue_percent,
        ),
    )


def _method(config: SSSPConfig, known: Known) -> Method:
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
        and not rows_in_blocks(graph)  # whose edges nobody orders by weight
        and BANDS_PAY.on(traits)
        and traits.grid_barrier
        and not known.one_item
        and known.has_narrow_rows
        and known.balance in ROW_BALANCERS
    )
    return DeltaStepping() if bands else NearFar()


def _check(method: Method, known: Known) -> None:
    traits, weights, claims = known.traits, known.weights, method.claims
    if weights.negative and not isinstance(method, BellmanFord):
        source, target, weight = weights.least_edge
        raise InvalidArgumentError(
            f"method={method.name!r} needs weights that are not negative, but edge {source} -> "
            f"{target} has {weight}; use config='h-bf' or method='bellman-ford'."
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
