"""What a run of a search for shortest paths is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clgraph.engine.arguments import vertex_number, vertex_numbers

if TYPE_CHECKING:
    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.algorithms.sssp.result import PathFindings
    from clgraph.algorithms.sssp.weights import Weights
    from clgraph.engine.table import Table

__all__ = ["Wish", "declare_wishes"]


class Wish(NamedTuple):
    """What a run is asked for.

    Attributes
    ----------
    sources : tuple of int
        Where paths begin.
    source : int or tuple of int
        The same as it was given.
    target : int or None
        Whose distance is enough.
    last : int
        Key of the largest distance that is wanted.
    """

    sources: tuple[int, ...]
    source: int | tuple[int, ...]
    target: int | None
    last: int

    @classmethod
    def of(cls, n: int, weights: Weights, source: Any, target: Any, max_distance: Any) -> Wish:
        """Check what was asked for."""
        end = None if target is None else vertex_number(target, n, "target")
        last = weights.last_key if max_distance is None else weights.limit_key(max_distance)
        return cls(*vertex_numbers(source, n), end, last)

    def arguments(self, weights: Weights) -> dict[str, Any]:
        """Give what kernels take that is not as in most runs, but for several sources.

        By negative weights, whatever is farther than a target may still lead to it, and a sum that
        is not worth keeping to one that is.
        """
        given: dict[str, Any] = {"source": np.uint32(self.sources[0])}
        if self.last != weights.last_key:
            given["last_key"] = np.uint64(self.last)
            if not weights.negative:
                given["limit"] = given["last_key"]
        if self.target is not None and not weights.negative:
            given["target"], given["finish"] = np.uint32(self.target), np.uint32(1)
        return given

    def reach(self, found: PathFindings, weights: Weights) -> int:
        """Key of the largest distance that the search was to give."""
        if self.target is None or weights.negative or not found.is_reached[self.target]:
            return self.last
        return min(self.last, weights.key(found.distances[self.target]))


def declare_wishes(
    table: Table, n: int, weights: Weights, config: ResolvedPaths, *, finish: bool
) -> None:
    """Declare what a run is asked for, with what it is where all distances from one source are."""
    most, method = weights.keys.none - 1, config.method.name
    high = most if method == "bellman-ford" else weights.limit_key(config.delta)
    delta = 0 if method == "self-tuning" else config.delta
    table.given("uint", "source", "the only one")
    table.array("uint", "sources", 1, "[source_count], where there are several", "read")
    table.number("uint", "source_count", 1)
    table.number("uint", "target", n, "stop when it is settled; n for none")
    table.number("ulong", "limit", most, "largest key that is wanted")
    table.number("ulong", "last_key", most, "largest key that is kept in the end")
    table.number("ulong", "first_high", high, "the bound to begin with")
    table.number("weight_t", "delta", delta, "what it is raised by")
    note = "more relax stages than this prove nothing but a cycle"
    table.number("uint", "max_rounds", 2**32 - 1, note)
    table.number("uint", "finish", finish, "whether a FINISH stage is wanted")
