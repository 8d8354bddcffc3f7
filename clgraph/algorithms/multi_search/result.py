"""What a batch of searches gives back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from clgraph.device import Allocation

__all__ = ["MultiSearchResult", "MultiSearchStats", "Totals", "sample_of"]

SAMPLE = 4  # searches that are done again where results are checked


def sample_of(count: int) -> list[int]:
    """Give a few places of so many, evenly spaced, the first and the last among them."""
    if not count:
        return []
    return sorted(set(np.linspace(0, count - 1, SAMPLE).astype(np.int64).tolist()))


@dataclass(frozen=True, slots=True)
class MultiSearchStats:
    """What a batch of searches took.

    Attributes
    ----------
    searches : int
        How many.
    kernel_ms : float
        Device time from the start of the first launch to the end of the last.
    total_ms : float
        Host wall clock of ``run``.
    launches, groups : int
        Kernel launches, and work-groups of each, which run a search at a time.
    config : dict
        Every dimension of the configuration as decided.
    """

    searches: int
    kernel_ms: float
    total_ms: float
    launches: int
    groups: int
    config: dict[str, Any]


class MultiSearchResult:
    """Arrays of a batch of searches by name, copied from the device on first access.

    Attributes
    ----------
    sources : numpy.ndarray
        int64 [k], where the searches began.
    stats : MultiSearchStats
        Times and counts.
    """

    def __init__(
        self,
        arrays: Mapping[str, tuple[Allocation, tuple[int, ...]]],
        sources: NDArray[np.int64],
        stats: MultiSearchStats,
    ) -> None:
        self._on_device: dict[str, tuple[Allocation, tuple[int, ...]] | None] = dict(arrays)
        self._arrays: dict[str, NDArray[Any]] = {}
        self.sources = sources
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many searches there were, and which arrays they have."""
        return f"MultiSearchResult(searches={self.sources.size}, arrays={list(self)})"

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the arrays, and not the device's memory."""
        return self.__dict__ | {
            "_arrays": {name: self[name] for name in self},
            "_on_device": dict.fromkeys(self),
        }

    def __iter__(self) -> Iterator[str]:
        """Names of the arrays."""
        return iter(self._on_device)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Give an array: [k, size] where every search has one, [size] where they share it."""
        if name not in self._arrays:
            _, shape = self._on_device[name] or (None, ())
            self._arrays[name] = self.allocation(name).read(math.prod(shape)).reshape(shape)
        return self._arrays[name]

    def allocation(self, name: str) -> Allocation:
        """Give an array where it is, in device memory."""
        held = self._on_device[name]
        if held is None:
            raise InvalidArgumentError(
                f"this result is a copy, of which {name!r} is in host memory only; read it there."
            )
        return held[0]


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of each of k searches, or of what k targets are reached by.

    Attributes
    ----------
    reached : int64 [k]
        Distances that there are, that of 0 to the vertex itself among them.
    total, farthest : int64 or, by weight, float64 [k]
        Sum of the distances, and the largest of them.
    harmonic : float64 [k]
        Sum of the reciprocals of the distances above 0.
    """

    reached: NDArray[np.int64]
    total: NDArray[Any]
    farthest: NDArray[Any]
    harmonic: NDArray[np.float64]
