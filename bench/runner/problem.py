"""What the runner asks of an algorithm: one class in a module named after it.

``bench/problems/bfs.py`` is the example. A case of kind ``"multi-search"`` is measured by the class
``PROBLEM`` of ``bench/problems/multi_search.py``, or of a module of that name in another of
`FOLDERS`, a subclass of `Problem` that

* compiles in ``__init__(loaded, device, config)`` and sets ``plan`` (anything with ``config`` and
  ``source_hash``; override `describe` where a plan has neither);
* names its ``presets``, if there is more than "auto";
* runs once in ``run(given)``, where `given` is one entry of ``inputs(count)``: a source by
  default, the number of the repeat if ``from_sources`` is False;
* gives deterministic figures of a run in ``count(result, given)``: ``edges``, the work that
  throughput is made of, and whatever else tables and floors want (``levels``, ``reached``,
  ``relaxations``, ``components``, ``rounds``, ...), each an int or a float;
* compares whole results with another's in ``check(givens)`` and raises VerificationError;
* says in ``least(columns)`` which bytes must move and which barriers must happen.

The rest has defaults: ``times(result)`` reads ``result.stats.kernel_ms`` and ``total_ms``,
``profile(given)``, ``histogram(given)`` and ``peers`` are empty. The runner does the warm-up,
interleaved passes, statistics, energy, peers, records, tables and plots.
"""

from __future__ import annotations

import importlib
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clgraph.errors import InvalidArgumentError, VerificationError

from .pinned import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device

    from ..peers.peer import Peer
    from .graphs import Loaded
    from .records import Record

__all__ = [
    "Least",
    "Problem",
    "differences",
    "histogram_of",
    "pick_sources",
    "problem_of",
    "refuse_differences",
]

FOLDERS = ("problems", "problems.centrality")
REPEATS = 16  # of a pass, where runs do not differ
DRAWN = 8  # sources that are drawn for each that is wanted, where some do not reach far enough


@dataclass(frozen=True, slots=True)
class Least:
    """What no run can do without.

    Attributes
    ----------
    bytes : float array [runs]
        Read or written at least once.
    barriers : float array [runs]
        Times that the whole device must wait for itself.
    bytes_plain : float array [runs], optional
        The same for the plain method, that reads every edge of what it reaches.
    """

    bytes: NDArray[np.float64]
    barriers: NDArray[np.float64]
    bytes_plain: NDArray[np.float64] | None = None


class Problem(ABC):
    """One algorithm with one preset on one graph, compiled and ready to run.

    Parameters
    ----------
    loaded : Loaded
        The graph.
    device : Device
        Where.
    config : str
        Preset.

    Attributes
    ----------
    kind : str
        What cases call it.
    presets : tuple of str
        Names of the configurations there are.
    weighted, from_sources : bool
        Whether the graph must have weights; whether a run starts from a source.
    result : str
        What `check` and peers compare: "distances", "labels", ...
    peers : mapping of str to Peer
        The same by other libraries; see `peer.Peer`.
    """

    kind: ClassVar[str]
    presets: ClassVar[tuple[str, ...]] = ("auto",)
    weighted: ClassVar[bool] = False
    from_sources: ClassVar[bool] = True
    result: ClassVar[str] = "distances"
    peers: ClassVar[Mapping[str, type[Peer]]] = {}

    plan: Any

    @abstractmethod
    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        self.loaded = loaded
        self.graph = loaded.graph
        self.device = device

    def run(self, given: int) -> Any:
        """Do what is measured, once: from a source, or the whole graph each time."""
        return self.plan.run(given) if self.from_sources else self.plan.run()

    @abstractmethod
    def count(self, result: Any, given: int) -> dict[str, float]:
        """Deterministic figures of a run: ``edges`` and others; not timed."""

    @abstractmethod
    def check(self, givens: Sequence[int]) -> Record:
        """Check whole results of these runs and say against what.

        Raises
        ------
        VerificationError
            If one is wrong.
        """

    def compared(
        self, givens: Sequence[int], expected: Any, *, what: str, against: str, at: Any = ...
    ) -> Record:
        """Do for `check` what it is for, where every run should give the same.

        Parameters
        ----------
        givens : sequence of int
            What runs are given.
        expected : array
            Their values.
        what, against : str
            What values are called, and who else computed them.
        at : index, optional
            Which values are compared; default is all.
        """
        for given in givens:
            found = np.asarray(self.values(self.run(given)))[at]
            refuse_differences(found, expected, what=what, against=against)
        return {"against": against}

    @abstractmethod
    def least(self, columns: Mapping[str, NDArray[np.float64]]) -> Least:
        """Say what no run can do without, by the figures of `count`."""

    def inputs(self, count: int) -> list[int]:
        """Give what the runs of one pass start from; nothing if the graph offers nothing."""
        if not self.from_sources:
            return list(range(min(count, REPEATS)))
        return pick_sources(self.graph.degrees, count, self.loaded.name)

    def far_inputs(self, count: int, reach: int) -> list[int]:
        """Give sources that reach so many vertices; fewer than `count` if few of many drawn do."""
        if not self.from_sources:
            return self.inputs(count)
        found: list[int] = []
        for given in self.inputs(DRAWN * count):
            if self.count(self.run(given), given)["reached"] >= reach:
                found.append(given)
            if len(found) == count:
                break
        return found

    def times(self, result: Any) -> tuple[float, float]:
        """Device and host milliseconds of a run."""
        return result.stats.kernel_ms, result.stats.total_ms

    def decided(self) -> Record:
        """Give the configuration as decided."""
        config = self.plan.config
        return config if isinstance(config, dict) else config.as_dict()

    def describe(self) -> Record:
        """Give the configuration as decided and the hash of the rendered source."""
        if not self.plan.source_hash:  # of plans that build what a run wants
            self.run(0)
        return {"config": self.decided(), "source_hash": self.plan.source_hash}

    def mode(self, result: Any) -> str | None:
        """How the device was driven, where a run reports."""
        return getattr(result.stats, "mode", None)

    def profile(self, given: int) -> Record | None:  # noqa: ARG002 (for subclasses)
        """Level by level account of one run, for problems that have levels."""
        return None

    def histogram(self, given: int) -> Record | None:  # noqa: ARG002 (for subclasses)
        """How often each number of one run's result is there, for problems that give such.

        Returns
        -------
        Record or None
            ``what`` is numbered, and the numbers' ``values`` and ``counts``.
        """
        return None

    def values(self, result: Any) -> Any:
        """Give what peers are compared with."""
        return getattr(result, self.result)


def histogram_of(what: str, numbers: Any) -> Record:
    """Count how often each number is there, for `Problem.histogram`."""
    values, counts = np.unique(np.asarray(numbers), return_counts=True)
    return {"what": what, "values": values.tolist(), "counts": counts.tolist()}


def differences(found: Any, expected: Any) -> int:
    """Count values that differ: exactly for integers, by more than rounding for floats."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return max(int(found.size), int(expected.size))
    if found.dtype.kind == "f" or expected.dtype.kind == "f":
        return int(np.count_nonzero(~np.isclose(found, expected, rtol=1e-5, atol=1e-6)))
    return int(np.count_nonzero(found != expected))


def refuse_differences(found: Any, expected: Any, *, what: str, against: str) -> None:
    """Raise VerificationError, which names the first difference, if there is one."""
    if not differences(found, expected):
        return
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        found_instead = f"{found.shape} values instead of {expected.shape}"
    else:
        wrong = np.flatnonzero(~np.isclose(found, expected, rtol=1e-5, atol=1e-6))
        first = int(wrong[0])
        found_instead = (
            f"{wrong.size} {what} differ; the first is that of vertex {first}: {found[first]} "
            f"instead of {expected[first]}"
        )
    raise VerificationError(f"not what {against} gives: {found_instead}.")


def pick_sources(degrees: NDArray[Any], count: int, name: str) -> list[int]:
    """Draw distinct vertices that have edges; one name and count gives one choice."""
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    able = np.flatnonzero(degrees)
    drawn = rng.choice(able, min(count, len(able)), replace=False)
    return [int(vertex) for vertex in drawn]


def problem_of(kind: str) -> type[Problem]:
    """Class that measures cases of a kind.

    Raises
    ------
    InvalidArgumentError
        If there is no module of that name with a ``PROBLEM``.
    """
    name = kind.replace("-", "_")
    for folder in FOLDERS:
        try:
            found: type[Problem] = importlib.import_module(
                f"..{folder}.{name}", __package__
            ).PROBLEM
        except (ModuleNotFoundError, AttributeError):
            continue
        return found
    raise InvalidArgumentError(
        f"bench/problems/{name}.py has no PROBLEM to measure {kind!r}, nor has a folder there."
    )
