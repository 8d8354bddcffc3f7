"""What each phase of subgraph matching costs in joules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.matching.launches import PHASES
from clgraph.energy.runs import per_run

if TYPE_CHECKING:
    from clgraph.algorithms.matching.plan import SubgraphMatching
    from clgraph.energy.runs import RunEnergy

__all__ = ["PhaseJoules", "joules_by_phase"]


@dataclass(frozen=True, slots=True)
class PhaseJoules:
    """Joules of one run by phase.

    Attributes
    ----------
    joules : dict of str to float, or None
        Of ``transfers`` (the upload of the query), ``probabilities``, ``seeds`` and ``extension``
        (with its results brought back); idle power is included, and they add up to those of a run.
        A phase that costs less than its window resolves may come out below 0. None without a meter.
    windows : dict of str to RunEnergy
        Of the runs up to the end of each phase, of which these are the differences.
    """

    joules: dict[str, float] | None
    windows: dict[str, RunEnergy]


def joules_by_phase(
    plan: SubgraphMatching,
    query: Any,
    *,
    labels: Any = None,
    similarity: Any = None,
    k: int = 1000,
    min_seconds: float = 2.0,
) -> PhaseJoules:
    """Measure the joules of each phase.

    Parameters
    ----------
    plan : SubgraphMatching
        What runs.
    query, labels, similarity, k
        As for its `run`, of one query.
    min_seconds : float
        Shortest window of each of the four measurements, in seconds.

    Returns
    -------
    PhaseJoules
        Differences of windows of repeated runs that end after one phase, two phases and so on.

    Notes
    -----
    A phase takes a few milliseconds and a meter is updated every tenth of a second at best, so no
    phase can be metered within one run.
    """
    windows = {}
    for phase in ("transfers", *PHASES):
        run = partial(plan.run_until, phase, query, labels=labels, similarity=similarity, k=k)
        windows[phase] = per_run(run, min_seconds=min_seconds, device=plan.device)
    joules: dict[str, float] = {}
    before = 0.0
    for phase, window in windows.items():
        if window.joules_per_run is None:
            return PhaseJoules(None, windows)
        joules[phase] = window.joules_per_run - before
        before = window.joules_per_run
    return PhaseJoules(joules, windows)
