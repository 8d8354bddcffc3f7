"""The configuration space of breadth-first search: presets, rules and what is in it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.algorithms.bfs.presets.bfs_4k import Knobs, knobs_of
from clgraph.algorithms.bfs.presets.helix import are_labels_random, helix_choice
from clgraph.engine.strategies.balance import Cws
from clgraph.engine.strategies.config import TraversalConfig
from clgraph.engine.strategies.frontier import (
    EdgeQueue,
    HybridQueue,
    StatusArray,
    TwoPhaseQueue,
    VertexQueue,
)
from clgraph.engine.strategies.presets import TUNED
from clgraph.engine.strategies.pull import ByEdges, ByHubs, Never
from clgraph.engine.strategies.space import points
from clgraph.engine.usual import usual_group_size
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["BFSConfig"]

log = logging.getLogger("clgraph")

_MERRILL: dict[str, Any] = {"visited": "mask", "duplicates": "lookup_lanes", "history": 1024}


# So that errors name it; by partial, as mypy takes slots for no descriptors in a plain subclass.
@partial(dataclass, frozen=True, slots=True, kw_only=True, repr=False)
class BFSConfig(TraversalConfig):
    """A configuration of breadth-first search; speed changes with it, results do not.

    Parameters
    ----------
    frontier, balance, pull, schedule, limits
        Strategies, their names, or None where they are chosen; see
        `clgraph.engine.strategies.config.TraversalConfig`.
    rules, counts
        As there.

    References
    ----------
    .. [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012:
           the presets ``merrill-...``.
    .. [2] F. Busato, N. Bombieri, "BFS-4K: an efficient implementation of BFS for Kepler GPU
           architectures", TPDS 2015, and its successor Helix: ``helix``.
    .. [3] H. Liu, H. H. Huang, "Enterprise: breadth-first graph traversal on GPUs", SC 2015:
           ``enterprise``.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.BFSConfig(frontier="edge", balance=cg.balance.Cws(group_threshold=512))
    BFSConfig(frontier='edge', balance=Cws(group_threshold=512))
    """

    SCOPES: ClassVar[tuple[str, ...]] = ("lanes", "group", "grid")
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "auto": {},
        **{
            f"merrill-{name}": {"frontier": kind(**_MERRILL), "balance": Cws(), "pull": Never()}
            for name, kind in (
                ("expand-contract", VertexQueue),
                ("contract-expand", EdgeQueue),
                ("two-phase", TwoPhaseQueue),
                ("hybrid", HybridQueue),
            )
        },
        "bfs-4k": {"rules": "bfs-4k"},
        "helix": {"rules": "helix"},
        "enterprise": {
            "frontier": StatusArray(generation="recount", classes=4, hub_cache=1024),
            "pull": ByHubs(gamma=30),
        },
    }

    @classmethod
    def space(cls, **fixed: Any) -> Iterator[BFSConfig]:
        """Enumerate the legal combinations of all that is not a number.

        Parameters
        ----------
        **fixed
            Strategies that are the same in all of them, or names of their kinds.

        Yields
        ------
        BFSConfig
            Every one that `validate` accepts; some are not for every device, which says so when a
            plan is made.
        """
        yield from points(cls, fixed)

    def completed(self, graph: Graph, traits: DeviceTraits) -> BFSConfig:
        """Fill in what is left open by the rules that are named, where those know of graphs.

        Parameters
        ----------
        graph : Graph
            What will be searched.
        traits : DeviceTraits
            Where.

        Returns
        -------
        BFSConfig
            Itself for ``rules="auto"``, which decides later.

        Raises
        ------
        InvalidArgumentError
            If what the rules choose for this graph cannot be combined with what was given.
        """
        if self.rules == "bfs-4k":
            return self._filled(knobs_of(graph, {}).strategies(graph, traits))
        if self.rules != "helix":
            return self
        asked = self.schedule.group_size if self.schedule else None
        group_size = asked or usual_group_size(self, traits)
        # A processor has neither lanes nor resident work-items to speak of: the table's own then.
        lanes, wide, resident = 32, 256, 32768
        if not traits.is_cpu:
            lanes, wide = traits.lanes, group_size
            resident = traits.compute_units * max(traits.threads_per_unit, group_size)
        statistics = graph.statistics()
        choice = helix_choice(
            statistics.mean_degree,
            statistics.gini,
            statistics.max_degree,
            random_labels=are_labels_random(graph),
            lanes=lanes,
            group_size=wide,
            resident=resident,
        )
        return self._filled(choice.strategies(lanes, wide, resident, group_size))

    @classmethod
    def needs_packed(cls, config: BFSConfig | str | None, *, directed: bool) -> str:
        """Say what a configuration needs packed rows for; "" where rows in blocks will do.

        Parameters
        ----------
        config : BFSConfig or str, optional
            As it was given.
        directed : bool
            Whether edges may lack their reverses.
        """
        if isinstance(config, str) and config.partition(":")[0] == TUNED:
            return f"config={config!r} looks for a graph with statistics like theirs"
        asked = cls.of(config)
        if asked.rules != "auto":
            return f"rules={asked.rules!r} looks at their statistics"
        if asked.frontier and "rows" in asked.frontier.given():
            return f"rows={asked.frontier.rows!r} is a layout of packed ones"
        if directed and isinstance(asked.pull, (ByEdges, ByHubs)):
            return f"pull={asked.pull.name!r} reads the transpose of a directed graph"
        return ""

    def on_blocks(self, *, directed: bool) -> BFSConfig:
        """Give the same for rows in blocks: levels of a directed graph, without transpose, push."""
        return self.filled(BFSConfig(pull=Never())) if directed else self

    def _filled(self, wanted: Mapping[str, Any]) -> BFSConfig:
        try:
            return self.filled(BFSConfig(**wanted))
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"with what rules={self.rules!r} chose for this graph, {error}"
            ) from None

    @classmethod
    def bfs_4k(cls, graph: Graph, traits: DeviceTraits, **knobs: Any) -> BFSConfig:
        """Configure BFS-4K by its knobs.

        Parameters
        ----------
        graph : Graph
            What will be searched; its degrees decide the knobs that are not given.
        traits : DeviceTraits
            Where.
        **knobs
            k1 to k7, see `clgraph.algorithms.bfs.presets.bfs_4k.Knobs`. On a device with one lane
            k1 and k7 have no meaning, which is logged where they are given.

        Returns
        -------
        BFSConfig
            Every strategy that the knobs are about.

        Raises
        ------
        InvalidArgumentError
            If a knob is unknown or out of range.
        """
        unknown = sorted(set(knobs) - set(Knobs.__slots__))
        if unknown:
            raise InvalidArgumentError(
                f"{unknown[0]!r} is not a knob; choose among {', '.join(Knobs.__slots__)}."
            )
        idle = sorted({"k1", "k7"} & knobs.keys()) if traits.lanes == 1 else ()
        if idle:
            log.info("%s say what lanes do together, and this device has one", " and ".join(idle))
        return cls(rules="bfs-4k", **knobs_of(graph, knobs).strategies(graph, traits))
