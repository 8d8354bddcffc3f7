"""How shortest paths may be searched."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.algorithms.sssp.method import (
    EDGE_CLASSES,
    METHODS,
    Asynchronous,
    BellmanFord,
    DeltaStepping,
    Method,
    NearFar,
    SelfTuning,
)
from clgraph.algorithms.sssp.weights import OPENCL_TYPES
from clgraph.engine.strategies.balance import FAMILY, Balancer, DynVwarp
from clgraph.engine.strategies.config import check_balance
from clgraph.engine.strategies.frontier import Ballot, Buffer, Registers, Update
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.parameters import choice, number, switch
from clgraph.engine.strategies.presets import TUNED, Configuration
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped
from clgraph.engine.strategies.strategy import Slot, slot
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

__all__ = ["CLASSED_VERTICES", "SSSPConfig"]

CLASSED_VERTICES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SSSPConfig(Configuration):
    """A configuration of a search for shortest paths; speed changes with it, results do not.

    What is None is chosen from the graph and the device.

    Parameters
    ----------
    method : str or Method, optional
        "bellman-ford", "near-far", "delta-stepping", "asynchronous" or "self-tuning"; see
        `clgraph.method`.
    balance : str or Balancer, optional
        How SIMD groups share out the edges of a frontier; see `clgraph.balance`.
    update : {"buffer", "ballot", "registers"} or Update, optional
        Where vertices wait for a place in the queue; see `clgraph.frontier`.
    hub_degree : int, optional
        Vertices of this degree and above are spread over the whole grid, or cut into pieces of so
        many edges by delta-stepping; 0 for none.
    cache : {"default", "streaming", "read-only"}, optional
        Whether edges and their weights pass by the cache that is nearest to the lanes, or are read
        by the path that is not coherent, where a device has either.
    schedule : {"persistent", "stepped"} or Schedule, optional
        See `clgraph.schedule`.
    limits : Limits, optional
        See `clgraph.limits`; `queue_percent`, in percent of the vertices, is for ``claims="none"``.
    counts : bool
        Whether searches count what they do (``stats.counters``), which slows them down.
    delta, set_point, power_target : float, optional
        Of the method, where it is named; by themselves they mean near-far, and self-tuning.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.SSSPConfig(method=cg.method.NearFar(delta=16), balance="warp_search")
    SSSPConfig(method=NearFar(delta=16), balance='warp_search')
    """

    delta: InitVar[float | None] = None
    set_point: InitVar[float | None] = None
    power_target: InitVar[float | None] = None
    method: Slot[Method] = slot(*METHODS)
    balance: Slot[Balancer] = slot(*FAMILY)
    update: Slot[Update] = slot(Buffer, Ballot, Registers)
    hub_degree: int | None = number()
    cache: str | None = choice("default", "streaming", "read-only")
    schedule: Slot[Schedule] = slot(Schedule, Persistent, Stepped)
    limits: Slot[Limits] = slot(Limits)
    counts: bool = switch(default=False)

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "auto": {},
        "h-bf": {
            "method": BellmanFord(edge_classes=tuple(EDGE_CLASSES)),
            "balance": DynVwarp(width=4, vertices=32),
            "cache": "streaming",
            "hub_degree": 4096,
        },
        "near-far": {"method": NearFar(drift=0)},
        "delta-stepping": {"method": DeltaStepping()},
        "asynchronous": {"method": Asynchronous(adapt=True)},
        "self-tuning": {"method": SelfTuning()},
    }

    @classmethod
    def needs_packed(cls, config: SSSPConfig | str | None, weights: np.dtype[Any] | None) -> str:
        """Say what packed rows are needed for; "" where rows in blocks will do.

        Parameters
        ----------
        config : SSSPConfig or str, optional
            As it was given.
        weights : dtype, optional
            Of the edges, if they have any.
        """
        if weights is None:
            return "they have no weights"
        if weights.name not in OPENCL_TYPES:
            return f"weights of type {weights} are converted"
        if isinstance(config, str) and config.partition(":")[0] == TUNED:
            return f"config={config!r} looks for a graph with statistics like theirs"
        method = cls.of(config).method
        if isinstance(method, DeltaStepping):
            return "method='delta-stepping' orders edges by weight"
        if method is not None and method.edge_classes:
            return "edge_classes are noted with the targets"
        return ""

    def __post_init__(
        self, delta: float | None, set_point: float | None, power_target: float | None
    ) -> None:
        """Refuse what is not legal, and put strategies where their names stand."""
        given = {"delta": delta, "set_point": set_point, "power_target": power_target}
        given = {name: value for name, value in given.items() if value is not None}
        if given:
            check = self.parameters()["method"]
            asked: Any = self.method
            now = None if asked is None else check.check("method", asked)
            method = check.opened("method", now, given).with_values(given)
            object.__setattr__(self, "method", method)
        Configuration.__post_init__(self)

    def validate(self) -> None:
        """Check how strategies go together.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first combination that is not legal.
        """
        check_balance(self.balance, ("lanes",), type(self).__name__)
        if isinstance(self.schedule, Persistent) and self.schedule.group_resident is not None:
            raise InvalidArgumentError(
                f"schedule.group_resident={self.schedule.group_resident} is about searches in "
                "hops; leave it out here."
            )
        for name in set(self.update.given() if self.update else ()) - {"size"}:
            raise InvalidArgumentError(
                f"update.{name}={getattr(self.update, name)!r} is about searches in hops; leave it "
                "out here."
            )
        unclaimed = self.method is not None and self.method.claims == "none"
        if unclaimed and self.hub_degree:
            raise InvalidArgumentError(
                "claims='none' goes without hub_degree: lists of what is put aside have room for "
                "each vertex once."
            )
        percent = self.limits.queue_percent if self.limits else None
        if percent and not unclaimed:
            raise InvalidArgumentError(
                f"queue_percent={percent} is for claims='none': otherwise a queue has each vertex "
                "once; leave it out."
            )
