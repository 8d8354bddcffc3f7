"""What a traversal may do in more than one way: every dimension, and which combinations are legal.

A configuration changes speed, never results.  ``None`` leaves a dimension to
:mod:`clgraph.engine.choose`, which knows the graph and the device.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from clgraph.engine.balancers import BALANCERS, canonical
from clgraph.engine.legal import check_combination
from clgraph.engine.presets import Presets
from clgraph.errors import InvalidArgumentError

__all__ = ["BALANCERS", "TraversalConfig", "check_number", "parsed_dimension", "values_of"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "balance": tuple(BALANCERS),
    "direction": ("push", "switching"),
    "synchronisation": ("persistent", "stepped"),
    "membership": ("fixed", "open"),
    "visited": ("bitmap", "labels", "mask", "plain"),
    "distribution": ("static", "claimed"),
    "kernels": ("fused", "split"),
    "queue": ("vertex", "edge", "two_phase", "hybrid", "status"),
    "duplicates": ("keep", "load_lanes", "load_group", "lookup_lanes", "lookup_group"),
    "update": ("buffer", "ballot", "registers"),
    "rows": ("csr", "pairs"),
    "generation": ("recount", "bins", "none"),
    "switching": ("edges", "hubs"),
    "scan": ("shuffle", "binary"),
    "group_scan": ("ordered", "unordered"),
    "leaves": ("keep", "discard"),
    "induced_by": ("length", "width"),
    "rules": ("auto", "helix", "bfs-4k"),
}
_POWERS_OF_TWO = ("hash_size", "history", "hub_cache", "virtual_warp", "min_virtual_warp")
_SWITCHES = ("solo", "held", "extended", "counts", "hub_bins")

# Smallest legal value of each dimension that is a number.
_AT_LEAST = {
    "group_size": 1,
    "groups": 1,
    "hub_degree": 0,
    "wide": 0,
    "alpha": 1,
    "pull_floor": 1,
    "pull_gain": 0,
    "pull_probes": 4,
    "solo_capacity": 1,
    "solo_edges": 0,
    "eager_limit": 0,
    "spin_limit": 64,
    "patience": 0,
    "hash_rounds": 1,
    "hash_size": 1,
    "history": 0,
    "register_queue": 1,
    "queue_percent": 1,
    "hybrid_limit": 0,
    "virtual_warp": 1,
    "min_virtual_warp": 1,
    "group_threshold": 1,
    "lane_threshold": 1,
    "unit_batch": 1,
    "iterations": 1,
    "discover": 0,
    "hub_batch": 1,
    "induced": 0,
    "classes": 1,
    "gamma": 0,
    "beta": 0,
    "hub_cache": 0,
    "hub_floor": 0,
}
_AT_MOST = {
    "hash_rounds": 4,
    "hash_size": 4096,
    "history": 8192,
    "register_queue": 16,
    "classes": 4,
    "gamma": 100,
    "hub_cache": 4096,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TraversalConfig(Presets):
    """A point in the configuration space of the traversal engine.

    Every dimension defaults to ``None``: chosen from the graph and the device.

    Parameters
    ----------
    balance : str, optional
        How the edges of a frontier are shared out: "item_thread", "vwarp", "dyn_vwarp",
        "warp_search", "warp_search_local", "cws", "block_search", "direct", "two_phase" or
        "multi_phase"; "item_per_vertex", "lanes_per_vertex" and "lane_scan" are other names of the
        first, second and fourth.
    direction : {"push", "switching"}, optional
        Whether stages may pull from unvisited vertices where that reads fewer edges.
    synchronisation : {"persistent", "stepped"}, optional
        All levels in one launch, or one launch per stage.
    membership : {"fixed", "open"}, optional
        Whether all work-groups of a persistent launch take part from the start, which needs
        them resident together, or join as they start.
    solo : bool, optional
        Whether one work-group runs small frontiers alone; never with split kernels.
    held : bool, optional
        Whether work-groups keep the vertices they find while frontiers are of middling size, so
        that levels have one meeting and no queue; where `solo` is not refused and all groups are
        there from the start.
    visited : {"bitmap", "labels", "mask", "plain"}, optional
        Where a stage looks up who has been reached. Bits and labels are claimed by atomics; a mask
        of bytes before the labels, and the labels themselves, may be claimed by several at once.
    distribution : {"static", "claimed"}, optional
        Whether work is shared by position or taken from a counter.
    kernels : {"fused", "split"}, optional
        One kernel for all stages, or one each, launched stage by stage, for compilers that large
        kernels overwhelm.
    group_size : int, optional
        Work-items in a work-group; a multiple of the device's lanes.
    groups : int, optional
        Work-groups in a launch.
    hub_degree : int, optional
        Vertices of this degree and above are spread over the whole grid; 0 for none.
    hub_bins : bool, optional
        Whether they are kept in a queue for each power of two of their degree and get as many
        work-items each, the degree above rounded up to such a power, instead of two edges a lane.
    wide : int, optional
        Rows of this many edges and above are walked by a whole SIMD group (``warp_search``); 0
        for none.
    virtual_warp, min_virtual_warp : int, optional
        Lanes that share a row (``vwarp``), or the fewest that do (``dyn_vwarp``); powers of two.
    discover : int, optional
        With fewer entries than the resident work-items over this, lanes look for edges instead of
        sharing rows (``dyn_vwarp``); 0 for never.
    extended : bool, optional
        Whether lanes that look for edges (``warp_search``) take whole rounds of a long row
        without looking.
    hub_batch : int, optional
        Edges of a hub that each lane of a SIMD group takes at a time; an even number.
    group_threshold, lane_threshold : int, optional
        Rows of more edges are walked by a work-group, or a SIMD group (``cws``).
    group_scan : {"ordered", "unordered"}, optional
        Whether a work-group puts its smallest rows side by side in order, by a scan, or SIMD group
        by SIMD group as they arrive, by an atomic each (``cws``).
    leaves : {"keep", "discard"}, optional
        Whether vertices whose only edge leads back are left out of what is shared out over the
        whole grid (``direct``, ``two_phase``, ``multi_phase``), in undirected graphs.
    unit_batch, iterations : int, optional
        Edges in a row that a work-item finds by one search (``two_phase``, ``multi_phase``), and
        how often it does so for one chunk (``multi_phase``).
    alpha, pull_floor : int, optional
        A stage pulls when the frontier's edges exceed ``unexplored / alpha + n / pull_floor``.
    pull_gain : int, optional
        It also has to be worth its tries: those expected of the unvisited vertices must be fewer
        than the frontier's edges times this; 0 for no such rule, the default where one of the two
        is given.
    pull_probes : int, optional
        In-neighbours that a lane tries before its SIMD group helps; a multiple of 4.
    solo_capacity : int, optional
        Largest frontier, in vertices, that one work-group runs alone.
    solo_edges : int, optional
        Largest number of edges out of such a frontier.
    eager_limit : int, optional
        Frontiers up to this size fetch neighbours' rows before they know they are new.
    spin_limit : int, optional
        Polls before a waiting work-group gives up.
    patience : int, optional
        Polls for which the first of an open membership waits for the others.
    queue : {"vertex", "edge", "two_phase", "hybrid", "status"}, optional
        What passes from level to level: vertices, candidates (the heads of their edges), both in
        turn, whichever of these suits a level, or nothing but the status array.
    hybrid_limit : int, optional
        Candidates above which a hybrid level has two phases; default is the resident work-items.
    duplicates : {"keep", "load_lanes", "load_group", "lookup_lanes", "lookup_group"}, optional
        Where duplicates are dropped, as entries are taken from a queue or as neighbours are
        found, and among whom.
    hash_rounds, hash_size : int, optional
        Hash functions tried in turn, and slots of each table that drops duplicates.
    history : int, optional
        Vertices that a work-group remembers having found, to drop them; 0 for none.
    update : {"buffer", "ballot", "registers"}, optional
        Whether found vertices wait in local memory, nowhere or in registers for a place in a queue.
    register_queue : int, optional
        Vertices that a lane keeps in registers.
    scan : {"shuffle", "binary"}, optional
        How lanes number the vertices in their registers: by a scan, or by a ballot where no lane
        has more than one.
    induced : int, optional
        With so many vertices a lane, registers are stored side by side; 0 for never.
    induced_by : {"length", "width"}, optional
        Whether that number is of vertices a lane, at least, or of lanes a vertex, at most
        (``dyn_vwarp``).
    rows : {"csr", "pairs"}, optional
        Offsets of rows, or begin and end of each row side by side.
    queue_percent : int, optional
        Room in queues, in percent of what they can need where claims are exact.
    generation : {"recount", "bins", "none"}, optional
        How queues come out of a status array: by looking twice, through bins, or not at all.
    status_bits : {8, 32}, optional
        Bits of a vertex in a status array: 32 for the distances themselves, 8 for bytes beside
        them, without which a search of more than 254 levels is repeated.
    classes : {1, 4}, optional
        Classes by degree, each with a number of work-items a vertex, of queues out of a status
        array.
    switching : {"edges", "hubs"}, optional
        What a status array's levels switch to pulling by: as ``alpha`` and ``pull_floor`` say, or
        where the frontier holds more than ``gamma`` percent of all hubs.
    gamma : int, optional
        Percent of the hubs.
    beta : int, optional
        Levels push again below ``n / beta`` found vertices; 0 for never.
    hub_cache : int, optional
        Hubs of the level before that a work-group keeps in local memory; 0 for none.
    hub_floor : int, optional
        Out-degree above which a vertex is a hub; default is that of the vertices with a tenth of
        the edges.
    rules : {"auto", "helix", "bfs-4k"}, optional
        Which rules complete the configuration.
    counts : bool, optional
        Whether a breadth-first search counts what its balancer, queues and filters do
        (``stats.counters``), which costs it time.
    """

    balance: str | None = None
    direction: str | None = None
    synchronisation: str | None = None
    membership: str | None = None
    solo: bool | None = None
    held: bool | None = None
    visited: str | None = None
    distribution: str | None = None
    kernels: str | None = None
    group_size: int | None = None
    groups: int | None = None
    hub_degree: int | None = None
    hub_bins: bool | None = None
    wide: int | None = None
    alpha: int | None = None
    pull_floor: int | None = None
    pull_gain: int | None = None
    pull_probes: int | None = None
    solo_capacity: int | None = None
    solo_edges: int | None = None
    eager_limit: int | None = None
    spin_limit: int | None = None
    patience: int | None = None
    queue: str | None = None
    hybrid_limit: int | None = None
    duplicates: str | None = None
    hash_rounds: int | None = None
    hash_size: int | None = None
    history: int | None = None
    update: str | None = None
    register_queue: int | None = None
    rows: str | None = None
    queue_percent: int | None = None
    generation: str | None = None
    status_bits: int | None = None
    classes: int | None = None
    switching: str | None = None
    gamma: int | None = None
    beta: int | None = None
    hub_cache: int | None = None
    hub_floor: int | None = None
    rules: str | None = None
    virtual_warp: int | None = None
    min_virtual_warp: int | None = None
    group_threshold: int | None = None
    lane_threshold: int | None = None
    group_scan: str | None = None
    leaves: str | None = None
    unit_batch: int | None = None
    iterations: int | None = None
    discover: int | None = None
    extended: bool | None = None
    hub_batch: int | None = None
    scan: str | None = None
    induced: int | None = None
    induced_by: str | None = None
    counts: bool | None = None

    # Which balancers an algorithm's kernels can take; see /balance/advance.mako.
    SCOPES: ClassVar[tuple[str, ...]] = ("lanes",)
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"auto": {}}

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        if isinstance(self.balance, str):
            object.__setattr__(self, "balance", canonical(self.balance))
        for name in (*_AT_LEAST, "status_bits", *_SWITCHES):
            value = getattr(self, name)
            if isinstance(value, (np.integer, np.bool_)):
                object.__setattr__(self, name, value.item())
        self.validate()

    def validate(self) -> None:
        """Check every dimension and their combination.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first thing that is not legal.
        """
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value in choices):
                raise InvalidArgumentError(f"{name}={value!r} is not one of {', '.join(choices)}.")
        for name, least in _AT_LEAST.items():
            check_number(name, getattr(self, name), least, _AT_MOST.get(name, 2**31 - 1))
        for name in _POWERS_OF_TWO:
            value = getattr(self, name)
            if value and value & (value - 1):
                below = 1 << (value.bit_length() - 1)
                raise InvalidArgumentError(
                    f"{name}={value} is not a power of two; choose {below} or {2 * below}."
                )
        check_number("status_bits", self.status_bits, 8, 32)
        if self.classes not in {None, 1, 4}:
            raise InvalidArgumentError(f"classes={self.classes} is neither 1 nor 4.")
        if self.status_bits not in {None, 8, 32}:
            raise InvalidArgumentError(f"status_bits={self.status_bits} is neither 8 nor 32.")
        for name in _SWITCHES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, bool):
                raise InvalidArgumentError(f"{name}={value!r} is neither True nor False.")
        self._validate_combination()

    def _validate_combination(self) -> None:
        if self.balance is not None and BALANCERS[self.balance] not in self.SCOPES:
            able = [name for name, scope in BALANCERS.items() if scope in self.SCOPES]
            raise InvalidArgumentError(
                f"balance={self.balance!r} shares out a whole {BALANCERS[self.balance]}'s work at "
                f"once, which kernels of {type(self).__name__} are not made for; choose one of "
                f"{', '.join(able)}."
            )
        if self.pull_probes is not None and self.pull_probes % 4:
            raise InvalidArgumentError(
                f"pull_probes={self.pull_probes} is not a multiple of 4, and lanes probe four "
                "neighbours at a time."
            )
        check_combination(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Every dimension by name, for records."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def check_number(name: str, value: Any, least: int, most: int) -> None:
    """Refuse a dimension that is neither None nor an integer in [least, most]."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgumentError(f"{name}={value!r} is not an integer.")
    if not least <= value <= most:
        top = "below 2**31" if most == 2**31 - 1 else f"at most {most}"
        raise InvalidArgumentError(
            f"{name}={value} is out of range; it must be at least {least} and {top}."
        )


def values_of(name: str) -> str:
    """Say what a dimension may be: names or "yes" and "no" with bars between, or "number"."""
    return "|".join(_CHOICES.get(name, ("yes", "no") if name in _SWITCHES else ("number",)))


def parsed_dimension(text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE`` as a dimension of `TraversalConfig` and its value.

    Raises
    ------
    InvalidArgumentError
        If there is no such dimension, or no such value of it.
    """
    name, is_given, value = text.partition("=")
    known = [field.name for field in fields(TraversalConfig)]
    if not is_given or name not in known:
        raise InvalidArgumentError(
            f"{text!r} is not a dimension and its value, as in queue=edge; dimensions are "
            f"{', '.join(known)}."
        )
    if name in _CHOICES:
        return name, value
    if name in _SWITCHES and value in {"yes", "no"}:
        return name, value == "yes"
    if name not in _SWITCHES and value.isascii() and value.isdigit():
        return name, int(value)
    needed = "yes or no" if name in _SWITCHES else "a whole number that is not negative"
    raise InvalidArgumentError(f"{name}={value} must be {needed}.")
