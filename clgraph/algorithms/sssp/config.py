"""How shortest paths may be searched: the methods and their dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from clgraph.algorithms.sssp.buckets import validate_buckets
from clgraph.engine.config import TraversalConfig, check_number
from clgraph.errors import InvalidArgumentError

__all__ = ["CLASSED_VERTICES", "EDGE_CLASSES", "METHODS", "SSSPConfig"]

METHODS = ("bellman-ford", "near-far", "delta-stepping", "buckets", "self-tuning")
CONTROLLERS = ("device", "host")
CLAIMS = ("packed", "stamped", "none")
CACHES = ("default", "streaming")
NUMBERS = (int, float, np.integer, np.floating)
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
        *("spin_limit", "patience", "queue_percent"),
    }
)


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
    claims : {"packed", "stamped", "none"}, optional
        Whether a vertex and the stage of its last fall share one 64-bit word, or have a word each,
        by which it is queued once a stage; packing needs weights of 32 bits. With "none", for
        ``bellman-ford``, it is queued as often as it falls.
    queue_percent : int, optional
        Room of a queue in percent of the vertices, where claims="none".
    cache : {"default", "streaming"}, optional
        Whether edges and their weights pass by the cache that is nearest to the lanes.
    vertices_per_warp : int, optional
        How many vertices a virtual SIMD group expands one after another at most, where there are
        enough; for ``balance="dyn_vwarp"``.
    edge_classes : tuple of {"self", "in-degree-1", "leaf", "source"}, optional
        Edges that are treated apart, for ``bellman-ford``: self-loops are skipped; what only one
        edge leads to, or the only source, is stored without atomics; what nothing leads on from is
        left to the end.
    heavy : {"push", "switching"}, optional
        Whether edges that lead out of a band are always followed from its vertices, which is the
        default for directed graphs, or also looked along from whoever lies beyond, which needs the
        transpose; for ``delta-stepping`` on SIMD groups.
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
        Vertices that a SIMD group keeps for itself while others have nothing to do; default is
        a quarter of its lanes.
    adapt : bool, optional
        Whether buckets become wider where most SIMD groups idle and narrower where few do, while a
        search runs, for ``buckets`` where groups meet on a device; default is a fixed width.
    set_point : float, optional
        Edges that each step should look at, for ``self-tuning``; default is as many as the device
        runs work-items at once, but no more than a graph of long distances can be expected to have.
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
    cache: str | None = None
    vertices_per_warp: int | None = None
    edge_classes: tuple[str, ...] | None = None
    heavy: str | None = None
    drift: int | None = None
    drift_limit: int | None = None
    buckets: int | None = None
    reach: int | None = None
    keep: int | None = None
    adapt: bool | None = None
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
            "vertices_per_warp": 32,
            "cache": "streaming",
            "hub_degree": 4096,
        },
        "near-far": {"method": "near-far", "drift": 0},
        "delta-stepping": {"method": "delta-stepping"},
        "asynchronous": {"method": "buckets", "adapt": True},
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
            ("cache", CACHES),
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
        self._validate_basic()
        validate_buckets(self)
        self._validate_classes()
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

    def _validate_classes(self) -> None:
        if not isinstance(self.edge_classes, tuple | list | None):
            raise InvalidArgumentError(
                f"edge_classes={self.edge_classes!r} is not a tuple of names from "
                f"{', '.join(EDGE_CLASSES)}."
            )
        for name in self.edge_classes or ():
            if name not in EDGE_CLASSES:
                raise InvalidArgumentError(
                    f"edge_classes has {name!r}, which is not one of {', '.join(EDGE_CLASSES)}."
                )
        if self.edge_classes and self.method != "bellman-ford":
            raise InvalidArgumentError(
                "edge_classes need method='bellman-ford': the other methods tell vertices apart "
                "by their distance."
            )

    def _validate_delta(self) -> None:
        if self.delta is None:
            return
        if isinstance(self.delta, bool) or not isinstance(self.delta, NUMBERS):
            raise InvalidArgumentError(f"delta={self.delta!r} is not a number.")
        if not (math.isfinite(self.delta) and self.delta > 0):
            raise InvalidArgumentError(f"delta={self.delta} must be positive and finite.")
        if self.method == "bellman-ford":
            raise InvalidArgumentError(
                "delta is what a bound rises by, and method='bellman-ford' has no bound; leave one "
                "of them out."
            )

    def _validate_basic(self) -> None:
        check_number("vertices_per_warp", self.vertices_per_warp, 1, 2**16)
        if self.vertices_per_warp and self.balance != "dyn_vwarp":
            raise InvalidArgumentError(
                f"vertices_per_warp={self.vertices_per_warp} needs balance='dyn_vwarp'; the others "
                "decide for themselves how many vertices a SIMD group takes."
            )
        if self.claims == "none" and (self.method != "bellman-ford" or self.hub_degree):
            raise InvalidArgumentError(
                "claims='none' needs method='bellman-ford' without hub_degree: lists of what is "
                "put aside have room for each vertex once."
            )
        if self.queue_percent and self.claims != "none":
            raise InvalidArgumentError(
                f"queue_percent={self.queue_percent} is for claims='none': otherwise a queue has "
                "each vertex once; leave it out."
            )

    def _validate_tuning(self) -> None:
        for name, least in (("set_point", 1.0), ("power_target", 0.0)):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, NUMBERS):
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
