"""When levels of a search pull: look from unvisited vertices for a neighbour in the frontier."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clgraph.engine.strategies.parameters import number
from clgraph.engine.strategies.strategy import Strategy

__all__ = ["LOOKED_FLOOR", "ByEdges", "ByHubs", "Never", "Pull"]

# Of the rule by edges: a frontier is large from a fourteenth of the unexplored edges and a
# sixteenth of the vertices on; see ByEdges.
ALPHA, FLOOR, GAIN = 14, 16, 4
# Where prices are weighed, one edge in so many vertices is that of the bitmap.
LOOKED_FLOOR = 64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pull(Strategy):
    """Base of the rules."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ByEdges(Pull):
    """Levels pull where that reads fewer edges.

    Parameters
    ----------
    alpha, floor : int, optional
        A level pulls when the frontier's edges exceed ``unexplored / alpha + n / floor``; default
        14 and 16.
    gain : int, optional
        It also has to be worth its tries: those expected of the unvisited vertices must be fewer
        than the frontier's edges times this; 0 for no such rule, which is the default where
        `alpha` or `floor` is given, else 4. For queues of vertices.
    looks : int, optional
        Unvisited vertices that are looked at for the price of one edge pushed, as `gain` tries are:
        a level pulls when both together cost less than the frontier's edges, whatever `alpha`; 0
        for no such rule. For queues of vertices on SIMD groups; by default as measured on the
        device, where vertices have hubs or many edges and `alpha`, `floor` and `gain` are left out.
    probes : int
        In-neighbours that a lane tries before its SIMD group helps; a multiple of 4.
    beta : int
        Levels push again below ``n / beta`` found vertices, 0 for never; for status arrays, others
        decide for each level.
    likely : {0, 1, 2, 4}, optional
        Of so many in-neighbours of each vertex, those with the most edges, a list is made once a
        graph; these are tried first, before a look at the vertex's row. For queues of vertices on
        SIMD groups; by default where vertices have hubs or many edges.
    """

    NAME = "edges"

    alpha: int | None = number(usual=ALPHA, least=1)
    floor: int | None = number(usual=FLOOR, least=1)
    gain: int | None = number()
    looks: int | None = number(usual=0)
    probes: int = number(16, least=4, multiple=4)
    beta: int = number(0)
    likely: int | None = number(among=(0, 1, 2, 4))

    def resolved(self) -> ByEdges:
        """Give the same with every number decided but `likely`, which is up to the graph."""
        usual = 0 if self.alpha or self.floor else GAIN
        return replace(self.with_usual(), gain=usual if self.gain is None else self.gain)

    def reads_fewer(self, edges: int, unexplored: int, n: int) -> bool:
        """Whether pulling reads fewer edges than a frontier has, as kernels compute it."""
        return edges > unexplored // (self.alpha or ALPHA) + n // (self.floor or FLOOR)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ByHubs(Pull):
    """Levels of a status array pull where the frontier holds many of all hubs.

    Parameters
    ----------
    gamma : int
        From more than so many percent of the hubs on.
    beta : int
        Levels push again below ``n / beta`` found vertices; 0 for never.
    """

    NAME = "hubs"

    gamma: int = number(30, most=100)
    beta: int = number(0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Never(Pull):
    """Every level pushes."""

    NAME = "never"
