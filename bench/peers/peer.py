"""The same work by other libraries, in the same run, each result checked.

A peer converts the graph once, which is timed apart, and then does what is timed. What it takes to
turn its answer into an array is left out of its time, as the copy of ours is.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..runner.pinned import SEED
from ..runner.problem import differences
from ..runner.stats import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clgraph import Graph

    from ..runner.problem import Problem
    from ..runner.records import Record

__all__ = ["Peer", "compare", "version_of"]

INPUTS = 8
NOT_COMPARED = "is not compared on this problem"
CUDA_RELEASES = ("cu12", "cu13", "cuda11x", "cuda12x", "cuda13x")
BUDGET_S = 20.0  # per peer; a run that takes longer is the last


class Peer:
    """One library with a graph in its own form; `graph` may have weights.

    Attributes
    ----------
    package : str
        Distribution whose version is recorded.
    limit_edges : int
        Larger graphs are not given to it.
    remarks : dict
        What the record says besides the figures.
    n, given
        Vertices, and the graph itself.
    """

    package: ClassVar[str]
    limit_edges: ClassVar[int] = 1 << 31

    def __init__(self, graph: Graph) -> None:
        self.n, self.given = graph.n, graph
        self.remarks: dict[str, Any] = {}

    def run(self, given: int) -> Any:
        """Do what is timed."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back what is not memory."""

    def timed(self, given: int) -> tuple[Any, float]:
        """Answer and milliseconds of one run."""
        began = time.perf_counter()
        answer = self.run(given)
        return answer, 1e3 * (time.perf_counter() - began)

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002 (some need it)
        """Turn what `run` gave into what `Problem.values` gives."""
        return np.atleast_1d(answer)

    def complaint(self, answer: Any, given: int, wanted: Any, counts: Mapping[str, float]) -> str:
        """Say what is wrong with an answer by our own values and counts; empty if nothing is."""
        fault = self.fault(self.values(answer, given), wanted, counts)
        return f"run {given}: {fault}" if fault else ""

    def fault(self, found: Any, wanted: Any, counts: Mapping[str, float]) -> str:  # noqa: ARG002
        """Say what is wrong with its values; nothing if they are ours."""
        wrong = differences(found, wanted)
        return f"{wrong} values differ from ours" if wrong else ""


def version_of(package: str) -> str | None:
    """Installed version of a distribution, whatever CUDA release its name carries."""
    for name in (package, *(f"{package}-{release}" for release in CUDA_RELEASES)):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def compare(
    problem: Problem, inputs: Sequence[int], names: Sequence[str], peers: Mapping[str, Any]
) -> dict[str, Record]:
    """Time peers and our own runs in turn, input by input, in an order drawn anew for each.

    Parameters
    ----------
    problem : Problem
        Ours.
    inputs : sequence of int
        The first few are used.
    names : sequence of str
        Keys of `peers` that are wanted; those that are not in it are recorded as having none.
    peers : mapping of str to Peer class or factory
        What there is.

    Returns
    -------
    dict
        By peer: its version, the seconds of conversion, times, ratios to our wall clock with their
        spread; or the reason why there are none.
    """
    found: dict[str, Record] = {}
    ready: dict[str, Peer] = {}
    for name in names:
        if name not in peers:
            found[name] = {"status": "skipped", "reason": f"{name} {NOT_COMPARED}"}
            continue
        found[name], peer = _prepare(name, peers[name], problem.graph)
        if peer is not None:
            ready[name] = peer
    try:
        _take_turns(problem, inputs, ready, found)
    finally:
        for peer in ready.values():
            peer.close()
    return found


def _take_turns(
    problem: Problem, inputs: Sequence[int], ready: Mapping[str, Peer], found: dict[str, Record]
) -> None:
    rng = np.random.default_rng(SEED)
    times: dict[str, list[float]] = {name: [] for name in ready}
    ours: dict[str, list[float]] = {name: [] for name in ready}
    for given in inputs[:INPUTS]:
        result = problem.run(given)
        wanted, counts = problem.values(result), problem.count(result, given)
        del result
        for place in rng.permutation(len(ready)).tolist():
            name = list(ready)[place]
            if "reason" in found[name] or sum(times[name]) > BUDGET_S * 1e3:
                continue
            own_ms = statistics.median(problem.times(problem.run(given))[1] for _ in range(3))
            spent = _attempt(ready[name], given, wanted, counts)
            if isinstance(spent, str):
                found[name] |= {"status": "failed", "reason": spent}
            else:
                times[name].append(spent)
                ours[name].append(own_ms)
    for name, peer in ready.items():
        if "reason" not in found[name]:
            ratios = [theirs / own for theirs, own in zip(times[name], ours[name], strict=True)]
            found[name] |= {
                "status": "ok",
                "ms": summary(times[name]),
                "ours_ms": summary(ours[name]),
                "ratio": summary(ratios),
                **peer.remarks,
            }


def _prepare(name: str, kind: Any, graph: Graph) -> tuple[Record, Peer | None]:
    version = version_of(kind.package) if kind.package else kind.version
    if version is None:
        return {"status": "skipped", "reason": f"{kind.package} is not installed"}, None
    if graph.m > kind.limit_edges:
        reason = f"{graph.m:,} edges; {name} is given at most {kind.limit_edges:,}"
        return {"status": "skipped", "version": version, "reason": reason}, None
    began = time.perf_counter()
    peer, problem = _guarded(lambda: kind(graph))
    record: Record = {"version": version, "convert_s": time.perf_counter() - began}
    if problem:
        return record | {"status": "failed", "reason": problem}, None
    made: Peer = peer
    return record, made


def _attempt(peer: Peer, given: int, wanted: Any, counts: Mapping[str, float]) -> float | str:
    """Milliseconds of one run, or what was wrong with it."""
    timed, problem = _guarded(lambda: peer.timed(given))
    if problem:
        return problem
    answer, spent_ms = timed
    complaint, problem = _guarded(lambda: peer.complaint(answer, given, wanted, counts))
    if problem or complaint:
        return str(problem or complaint)
    return float(spent_ms)


def _guarded(action: Callable[[], Any]) -> tuple[Any, str]:
    """Run code of others: whatever it raises is reported and does not end the run."""
    try:
        return action(), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
