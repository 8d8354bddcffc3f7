"""The configuration space of breadth-first search: presets, rules and what is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.algorithms.bfs.presets.bfs_4k import Knobs, knobs_of
from clgraph.algorithms.bfs.presets.helix import are_labels_random, helix_choice
from clgraph.engine.choose import usual_group_size
from clgraph.engine.config import TraversalConfig
from clgraph.engine.space import points
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.device import DeviceTraits
    from clgraph.graph import Graph

__all__ = ["BFSConfig"]

_MERRILL: dict[str, Any] = {
    "direction": "push",
    "visited": "mask",
    "duplicates": "lookup_lanes",
    "history": 1024,
    "balance": "cws",
}


class BFSConfig(TraversalConfig):
    """A configuration of breadth-first search; see `clgraph.engine.config.TraversalConfig`.

    References
    ----------
    .. [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012:
           the presets ``merrill-...``.
    .. [2] F. Busato, N. Bombieri, "BFS-4K: an efficient implementation of BFS for Kepler GPU
           architectures", TPDS 2015, and its successor Helix: ``helix``.
    .. [3] H. Liu, H. H. Huang, "Enterprise: breadth-first graph traversal on GPUs", SC 2015:
           ``enterprise``.
    """

    __slots__ = ()

    SCOPES = ("lanes", "group", "grid")
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "merrill-expand-contract": {**_MERRILL, "queue": "vertex"},
        "merrill-contract-expand": {**_MERRILL, "queue": "edge"},
        "merrill-two-phase": {**_MERRILL, "queue": "two_phase"},
        "merrill-hybrid": {**_MERRILL, "queue": "hybrid"},
        "bfs-4k": {"rules": "bfs-4k"},
        "helix": {"rules": "helix"},
        "enterprise": {
            "queue": "status",
            "generation": "recount",
            "classes": 4,
            "switching": "hubs",
            "gamma": 30,
            "hub_cache": 1024,
        },
    }

    @classmethod
    def space(cls, **fixed: Any) -> Iterator[BFSConfig]:
        """Enumerate the legal combinations of all dimensions that are not numbers.

        Parameters
        ----------
        **fixed
            Dimensions that have one value in all of them.

        Yields
        ------
        BFSConfig
            Every one that `validate` accepts; some are not for every device, which says so when a
            plan is made.
        """
        for chosen in points(cls.SCOPES, fixed):
            yield cls(**chosen)

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
            return self._filled(knobs_of(graph, {}).dimensions(graph, traits))
        if self.rules != "helix":
            return self
        group_size = self.group_size or usual_group_size(self, traits)
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
        wanted = choice.dimensions(lanes, wide, resident)
        return self._filled({**wanted, "group_size": group_size})

    def _filled(self, wanted: Mapping[str, Any]) -> BFSConfig:
        rest = {name: value for name, value in wanted.items() if getattr(self, name) is None}
        try:
            return replace(self, **rest)
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
            k1 to k7, see `clgraph.algorithms.bfs.presets.bfs_4k.Knobs`.

        Returns
        -------
        BFSConfig
            Every dimension that the knobs are about.

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
        return cls(rules="bfs-4k", **knobs_of(graph, knobs).dimensions(graph, traits))
