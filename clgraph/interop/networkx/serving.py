"""How a function is declared: what it is about, what it refuses, and when it pays."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

from clgraph.graph import Graph
from clgraph.interop.networkx.graph import NetworkxGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LEAST_WORK", "Served", "as_networkx_has_it", "serves"]

# Nodes and edges, times the searches where there are many, from which on a call pays for its
# conversion. Measured on two cores with PoCL, networkx 3.6: bench/studies/networkx_backend.py.
LEAST_WORK: dict[str, float] = {
    "one search": float("inf"),  # converting takes longer than networkx's own search
    "one search by weight": 500_000,
    "sweep": 200_000,
    "all pairs": 2_000_000,
    "all pairs by weight": 500_000,
    "betweenness": 1_000_000,
    "triangles": 200_000,
}
# The same where the graph is converted already.
LEAST_WORK_CONVERTED = 20_000.0


@dataclass(frozen=True)
class Served:
    """What is known of a function of the backend.

    Attributes
    ----------
    name, group : str
        Networkx's name for it, and where the documentation lists it.
    work : str
        A key of `LEAST_WORK`.
    refuses : dict of str to str
        Arguments that only networkx takes, with the reason.
    directed, undirected, multigraph : bool
        Which graphs it takes.
    weighted : bool
        Whether it takes an edge attribute.
    note : str
        What users should know.
    later : dict of str to object
        Parameters that networkx has since 3.7, with the value that means what is computed here.
    """

    name: str
    group: str
    work: str
    refuses: Mapping[str, str] = field(default_factory=dict)
    directed: bool = True
    undirected: bool = True
    multigraph: bool = True
    weighted: bool = True
    note: str = ""
    later: Mapping[str, Any] = field(default_factory=dict)
    signature: inspect.Signature | None = None

    def why_not(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Say what of a call the function cannot do; None if nothing."""
        given = self._arguments(args, kwargs)
        if given is None:
            return "the arguments are not those of networkx"
        for name in ("weight", "distance"):
            if callable(given.get(name)):
                return f"{name} is a function, which only networkx can call"
            if not self.weighted and given.get(name) is not None:
                return f"by {name} networkx computes it"
        for name, reason in self.refuses.items():
            if given.get(name) is not self._default(name):
                return f"{name}: {reason}"
        return self._kind(given)

    def _kind(self, given: Mapping[str, Any]) -> str | None:
        for name in ("G", "G1", "G2"):
            graph = given.get(name)
            if graph is None:
                continue
            if graph.is_directed():
                if not self.directed:
                    return "the graph is directed"
            elif not self.undirected:
                return "the graph is undirected"
            if not self.multigraph and graph.is_multigraph():
                return "the graph is a multigraph"
        return None

    def why_should_not(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Say why a call does not pay; None if it does."""
        given = self._arguments(args, kwargs) or {}
        graph = given.get("G", given.get("G1"))
        if graph is None:
            return "there is no graph to compute on"
        weighted = given.get("weight", given.get("distance")) is not None
        work = self.work
        if weighted and f"{work} by weight" in LEAST_WORK:
            work = f"{work} by weight"
        size = len(graph) + graph.number_of_edges()
        if work.startswith(("all pairs", "betweenness")):
            size *= self._searches(given, len(graph))
        least = LEAST_WORK[work]
        cache = getattr(graph, "__networkx_cache__", None) or {}
        if cache.get("backends", {}).get("clgraph"):
            least = min(least, LEAST_WORK_CONVERTED)
        if size >= least:
            return None
        if least == float("inf"):
            return "one search takes less than converting the graph for it"
        return f"{size:,} edges and nodes to look at are less than the {least:,.0f} that pay"

    def _searches(self, given: Mapping[str, Any], n: int) -> int:
        count = given.get("k")
        if isinstance(count, int):
            return count
        for name in ("v", "u", "nodes", "nbunch", "sources"):
            chosen = given.get(name)
            if isinstance(chosen, (list, set, frozenset, dict)):
                return len(chosen)
            if chosen is not None:
                return 1
        return n

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        if self.signature is None:
            return None
        try:
            bound = self.signature.bind(*args, **self.understood(kwargs))
        except TypeError:
            return None
        bound.apply_defaults()
        return dict(bound.arguments)

    def understood(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out `later` parameters that ask for what is computed here."""
        return {
            name: value
            for name, value in kwargs.items()
            if name not in self.later or self.later[name] != value
        }

    def _default(self, name: str) -> Any:
        if self.signature is None:
            return None
        return self.signature.parameters[name].default


def serves(group: str, work: str, **declared: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a method of the backend as networkx's function of the same name.

    Parameters
    ----------
    group, work, **declared
        As the attributes of `Served`.

    Returns
    -------
    callable
        A decorator. The method takes what networkx's function takes; a `clgraph.Graph` among the
        graphs becomes a `NetworkxGraph`.
    """
    if work not in LEAST_WORK:
        raise AssertionError(work)

    def decorate(function: Callable[..., Any]) -> Any:
        full = inspect.signature(function)
        own = full.replace(parameters=list(full.parameters.values())[1:])
        served = Served(function.__name__, group, work, signature=own, **declared)

        @wraps(function)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            kwargs.pop("backend", None)
            kwargs = served.understood(kwargs)
            return function(
                self,
                *(_converted(value) for value in args),
                **{name: _converted(value) for name, value in kwargs.items()},
            )

        call.served = served  # type: ignore[attr-defined]
        return call

    return decorate


def as_networkx_has_it(name: str, group: str, work: str, **declared: Any) -> Any:
    """Serve a function that networkx writes in terms of others: its own text, on our graph.

    What it calls is then dispatched to the backend, since the graph is the backend's.
    """

    def function(_self: Any, *args: Any, **kwargs: Any) -> Any:
        return original().orig_func(*args, **kwargs)

    def original() -> Any:
        from networkx.utils.backends import _registered_algorithms  # noqa: PLC0415

        return _registered_algorithms[name]

    function.__name__ = name
    function.__doc__ = f"As networkx writes `{name}`, in terms of functions of this backend."
    theirs = inspect.signature(original())
    parameters = [p for p in theirs.parameters.values() if p.name not in ("backend",)]
    parameters = [p for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    function.__signature__ = inspect.Signature([this, *parameters])  # type: ignore[attr-defined]
    return serves(group, work, **declared)(function)


def _converted(value: Any) -> Any:
    return NetworkxGraph.of_graph(value) if isinstance(value, Graph) else value
