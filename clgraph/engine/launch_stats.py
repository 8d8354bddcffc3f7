"""What runs report: how stats print, and those of a sequence of launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.documented import documented

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clgraph.engine.sweeps import SweepLog

__all__ = ["LaunchStats", "RoundStats", "Shown"]

# Attributes that are known without a look at the device, or by one at what was noted of levels.
_SHOWN = ("kernel_ms", "total_ms", "levels", "launches", "mode", "method", "config")


class Shown:
    """Base of stats that print as their times, counts and configuration, where they have them."""

    def __repr__(self) -> str:
        """Return a line such as ``RankStats(kernel_ms=1.28, total_ms=1.9, ...)``."""
        shown = []
        for name in _SHOWN:
            value = getattr(self, name, None)
            if isinstance(value, float):
                shown.append(f"{name}={value:.4g}")
            # Levels may be a table, and some have no configuration.
            elif isinstance(value, int | str) or (name == "config" and value is not None):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


class LaunchStats(Shown):
    """Times, counts and configuration of one run.

    Attributes
    ----------
    kernel_ms : float
        Device time from the start of the first launch to the end of the last.
    total_ms : float
        Host wall clock of ``run``.
    launches : int
        Kernel launches, those that found nothing left to do among them.
    edges_traversed : int
        Edges of the graph, or whatever the run walked along.
    mode : str
        "launches": a sequence of kernels, of which the host looks at some.
    config : dict
        What ran.
    device_bytes : int
        Device memory of the plan.
    energy : object or None
        Filled in by whoever measured the run.
    """

    mode = "launches"

    def __init__(
        self,
        log: SweepLog,
        total_ms: float,
        *,
        edges: int,
        config: Mapping[str, Any],
        device_bytes: int,
    ) -> None:
        self.kernel_ms = log.kernel_ms
        self.total_ms = total_ms
        self.launches = log.launches
        self.edges_traversed = edges
        self.config = dict(config)
        self.device_bytes = device_bytes
        self.energy: Any = None


@documented(LaunchStats)
class RoundStats(LaunchStats):
    """Stats of a run that goes on in rounds.

    Attributes
    ----------
    rounds : list of int
        In order, the items that each round had.
    """

    def __init__(
        self, log: SweepLog, total_ms: float, *, rounds: Sequence[int], **about: Any
    ) -> None:
        super().__init__(log, total_ms, **about)
        self.rounds = [int(count) for count in rounds]

    @property
    def levels(self) -> int:
        """Rounds that had something to do."""
        return len(self.rounds)
