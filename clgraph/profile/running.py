"""Taking a profile: a callable is run in several passes, and what they found is put together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from clgraph.device import device as find_device
from clgraph.device.observing import observed_by
from clgraph.device.programs.program import refuse_checking
from clgraph.errors import InvalidArgumentError
from clgraph.profile.assess import kernel_report, run_criteria, run_prediction
from clgraph.profile.characterise import QUICK, ceilings_of, characterise, functions_of
from clgraph.profile.criteria import Criterion
from clgraph.profile.evidence import Evidence
from clgraph.profile.gpm import CardMetrics, sampled
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes.timeline import Timeline
from clgraph.profile.passes.watching import Counting, empty_barrier_cycles, uses_counters
from clgraph.profile.prediction import speedups
from clgraph.profile.pricing import device_prices
from clgraph.profile.quality import PUBLISHED, Weights, aggregated, device_weights, quality
from clgraph.profile.report import KernelReport, QualityReport, kernel_criteria
from clgraph.profile.static import static_facts
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clgraph.device import Device
    from clgraph.profile.passes.timeline import Launch, Place
    from clgraph.progress import Progress

__all__ = ["PASSES", "profile", "runnable"]

Target: TypeAlias = Callable[[], Any] | Any
# What each pass is for; "time" and "sync" are apart so that neither disturbs the other.
PASSES = ("plain", "time", "sync", "counters", "card")
_MASKS = {
    "time": Mask.TIME,
    "sync": Mask.TIME | Mask.SYNC,
    "counters": Mask.DIV | Mask.GMEM | Mask.LMEM,
}
# A first run brings programs to the device, and its times would tell of that.
TAKEN_TWICE = frozenset({"time", "sync"})
REPEATS = 5
CARD_S = 0.35


def runnable(target: Target) -> Callable[[], Any]:
    """Make something that can be called without arguments of a callable or a plan.

    Raises
    ------
    InvalidArgumentError
        If it is neither, or a plan whose ``run`` needs more than a source.
    """
    run = getattr(target, "run", None)
    if run is None:
        if callable(target):
            call: Callable[[], Any] = target
            return call
        raise InvalidArgumentError(
            f"profile takes a callable or a plan, not {type(target).__name__}; wrap the call in a "
            "lambda."
        )
    needed = [
        parameter
        for parameter in inspect.signature(run).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY}
    ]
    if not needed:
        return run  # type: ignore[no-any-return]
    graph = getattr(target, "graph", None)
    if len(needed) > 1 or needed[0].name not in {"source", "sources"} or graph is None:
        names = ", ".join(parameter.name for parameter in needed)
        raise InvalidArgumentError(
            f"{type(target).__name__}.run needs {names}; profile a callable instead, for example "
            "profile(lambda: plan.run(...))."
        )
    source = int(np.argmax(graph.degrees)) if graph.n else 0
    return lambda: run(source if needed[0].name == "source" else [source])


def profile(
    target: Target,
    *,
    passes: Iterable[str] | str = "all",
    device: Device | str | None = None,
    weights: Weights | Literal["calibrated"] | None = None,
    lanes: int | None = None,
    repeats: int = REPEATS,
    progress: Progress | None = None,
) -> QualityReport:
    """See `clgraph.profile`, which calls this."""
    refuse_checking("a profile")
    chosen = _chosen(passes)
    if repeats < 1:
        raise InvalidArgumentError(f"repeats is {repeats}; it must be 1 or more.")
    if lanes is not None and not 1 <= lanes <= 64:
        raise InvalidArgumentError(f"lanes is {lanes}; it must be from 1 to 64.")
    where = None if device is None else find_device(device)
    call, callback = runnable(target), progress
    first = Timeline(where)
    with observed_by(first):
        call()
    if not first.kernels:
        raise _nothing_launched(where, "; profile something that runs kernels.")
    where = where or next(iter(first.kernels.values())).device
    weighed = _weights(weights, where)
    timelines = []
    for done in range(repeats):
        report_progress(callback, done, repeats + len(chosen), "profiling")
        timeline = Timeline(where)
        with observed_by(timeline):
            call()
        timelines.append(timeline)
    if not timelines[-1].kernels:
        raise _nothing_launched(where, " again; profile what makes a plan and runs it.")
    found: dict[str, Counting] = {}
    try:
        for number, name in enumerate(chosen):
            report_progress(callback, repeats + number, repeats + len(chosen), "profiling")
            if name in _MASKS and not (name == "sync" and not uses_counters(where)):
                found[name] = Counting(_MASKS[name], where, lanes)
                with observed_by(found[name]):
                    call()
                    if name in TAKEN_TWICE:
                        found[name].start_again()
                        call()
                found[name].finish()
        card = sampled(call, where, window_s=CARD_S) if "card" in chosen else None
    finally:
        for counting in found.values():
            counting.release()
    report_progress(callback, repeats + len(chosen), repeats + len(chosen), "profiling")
    return _report(timelines, found, where, weighed, card)


def _nothing_launched(device: Device | None, ending: str) -> InvalidArgumentError:
    on = "" if device is None else f" on {device.name}"
    return InvalidArgumentError(f"nothing was launched{on} while it ran{ending}")


def _weights(asked: Weights | str | None, device: Device) -> Weights:
    if asked is None or isinstance(asked, Weights):
        return asked or PUBLISHED
    kept = device_weights(device) if asked == "calibrated" else None
    if kept is None:
        raise InvalidArgumentError(
            f"there are no {asked} weights for {device.name}; run "
            "clgraph.profile.corpus.calibrate() once, or give Weights."
        )
    return kept


def _chosen(passes: Iterable[str] | str) -> tuple[str, ...]:
    names = PASSES if passes == "all" else (passes,) if isinstance(passes, str) else tuple(passes)
    if unknown := set(names) - set(PASSES):
        raise InvalidArgumentError(
            f"there is no pass {', '.join(sorted(unknown))}; use {', '.join(PASSES)} or 'all'."
        )
    return tuple(name for name in PASSES if name in names)


def _report(
    timelines: list[Timeline],
    found: Mapping[str, Counting],
    device: Device,
    weights: Weights,
    card: CardMetrics | None,
) -> QualityReport:
    record = characterise(device, QUICK) if "counters" in found else None
    ceilings = None if record is None else ceilings_of(record)
    functions = {} if record is None else functions_of(record)
    prices = None if ceilings is None else device_prices(device)
    runs = [timeline.launches() for timeline in timelines]
    kernels = [
        kernel_report(evidence, device, ceilings, functions, weights, prices)
        for evidence in _evidence(timelines[-1], runs, found, device)
    ]
    kernels.sort(key=lambda kernel: -kernel.time_s)
    time_s = sum(kernel.time_s for kernel in kernels)
    own = run_criteria(runs, timelines[-1].copies(), timelines[-1].allocated_bytes)
    prediction = run_prediction(kernels, time_s)
    whole = _whole(kernels, own, prediction.shares)
    values = {name: criterion.value for name, criterion in whole.items()}
    reasons = [f"{name}: {c.reason}" for name, c in whole.items() if c.reason]
    for counting in found.values():
        given = [*counting.left_plain.values(), *counting.run_stepped.values()]
        reasons += [why for why in given if why not in reasons]
    if card is not None and card.reason:
        reasons.append(f"card: {card.reason}")
    return QualityReport(
        device.name,
        device.driver,
        kernels,
        whole,
        quality(values, weights),
        prediction,
        weights,
        time_s,
        ceilings,
        card,
        _overheads(found, time_s),
        tuple(reasons),
        prices,
    )


def _evidence(
    timeline: Timeline,
    runs: list[list[Launch]],
    found: Mapping[str, Counting],
    device: Device,
) -> list[Evidence]:
    def counted(name: str, place: Place) -> Any:
        return found[name].found.get(place) if name in found else None

    gathered = []
    for place, kernel in timeline.kernels.items():
        own = [[launch for launch in run if launch.place == place] for run in runs]
        own = [run for run in own if run]
        timed, waited, totals = (counted(name, place) for name in _MASKS)
        gathered.append(
            Evidence(
                place,
                kernel,
                own,
                timeline.arguments[place],
                static_facts(kernel),
                None if timed is None else timed.residency,
                None if waited is None else waited.residency,
                None if totals is None else totals.totals,
                uses_counters(device),
                empty_barrier_cycles(device) if waited is not None else 0.0,
            )
        )
    return gathered


def _whole(
    kernels: list[KernelReport], own: Mapping[str, Criterion], shares: Mapping[str, float]
) -> dict[str, Criterion]:
    """Bring the criteria of kernels together, in the order of the published weights."""
    means = aggregated(
        [(kernel.time_s, kernel_criteria(kernel.criteria)) for kernel in kernels],
        {name: criterion.value for name, criterion in own.items()},
    )
    whole, gains = {}, speedups(means, shares, _inactive(kernels))
    for name in PUBLISHED.values:
        if name in own:
            whole[name] = own[name]
            continue
        value = means[name]
        reason = kernels[0].criteria[name].reason
        gain = gains.get(name)
        speedup = None if gain is None else gain.reading
        whole[name] = Criterion(name, value, reason, kernels[0].criteria[name].inputs, speedup)
    return whole


def _inactive(kernels: list[KernelReport]) -> float:
    """Give the inactivity of the longest kernel that knows its own; 1 where none does."""
    known = (kernel.criteria["DSync"].inputs.get("inactivity") for kernel in kernels)
    return next((float(value) for value in known if value is not None), 1.0)


def _overheads(found: Mapping[str, Counting], time_s: float) -> dict[str, float]:
    if not time_s:
        return {}
    return {
        name: sum(each.times_ns for each in counting.found.values()) * 1e-9 / time_s - 1.0
        for name, counting in found.items()
    }
