"""Times and watts of one microbenchmark."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import wait
from clgraph.device.programs.program import refuse_checking
from clgraph.energy.steady import WINDOW_S, SteadyPower, steady_power
from clgraph.profile.microbenchmarks.catalogue import Entry, specification
from clgraph.profile.microbenchmarks.purity import assembler_text, purity
from clgraph.profile.microbenchmarks.quantities import Result
from clgraph.profile.microbenchmarks.work import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clgraph.device import Device
    from clgraph.profile.microbenchmarks.work import Prepared

__all__ = [
    "Protocol",
    "covered",
    "enough_for_purity",
    "judged",
    "measure_entry",
    "timed",
    "with_power",
]

MOST_ROUNDS = 1 << 24
LEAST_DUTY = 0.5  # of a window whose watts are those of the work
MOST_DOUBLINGS = 4  # of the rounds for the sake of purity: launches stay below some 0.2 s
ABOVE_SPECIFICATION = 1.05
LEAST_PURITY = 0.99  # of a looped body; straight lines of 4,096 reach 0.999
DOUBLING = 0.02
SPREAD = 0.05  # of launches of the same work, as clocks that move make it
# Launches that are doubled: how many, and how long on a processor and on a GPU, where one begins
# within some 5 us.
DOUBLED_TIMES, DOUBLED_S = 9, {False: 0.002, True: 0.0005}


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a microbenchmark is measured.

    Attributes
    ----------
    launch_s : float
        What a launch is made to take, by the number of its rounds.
    ramp_s : float
        Load before the first timed launch, in which clocks rise.
    repeats : int
        Launches that are timed.
    window_s, warm_up_s, idle_s : float
        Window of the meter, load before it, and rest before and after; a window of 0 leaves the
        meter alone.
    seed : int
        Of the phases at which windows begin.
    """

    launch_s: float = 0.02
    ramp_s: float = 0.1
    repeats: int = 5
    window_s: float = WINDOW_S
    warm_up_s: float = 0.5
    idle_s: float = 0.0
    seed: int = 1


def timed(prepared: Prepared, rounds: int) -> float:
    """Seconds that a launch takes on the device."""
    event = prepared.launch(rounds)
    wait(event)
    return float(event.profile.end - event.profile.start) * 1e-9


def _rounds_for(prepared: Prepared, seconds: float) -> int:
    """Find how many rounds take about so long."""
    rounds = 1
    took = timed(prepared, rounds)
    while took < seconds / 4 and rounds < MOST_ROUNDS:
        rounds = min(max(2 * rounds, int(rounds * seconds / max(took, 1e-6) / 2)), MOST_ROUNDS)
        took = timed(prepared, rounds)
    return max(1, min(MOST_ROUNDS, round(rounds * seconds / max(took, 1e-9))))


def measure_entry(
    entry: Entry,
    device: Device,
    *,
    scale: Scale | None = None,
    protocol: Protocol | None = None,
    idle_watts: float | None = None,
) -> Result:
    """Measure a microbenchmark: its time, its purity, and its power where there is a meter.

    Parameters
    ----------
    entry : Entry
        Of the catalogue; `Work.missing` must have nothing to say.
    device : Device
        What to run on.
    scale : Scale, optional
        Default is what suits the device.
    protocol : Protocol, optional
        How.
    idle_watts : float, optional
        The device at rest, where `protocol` does not ask for that to be measured.

    Returns
    -------
    Result
        With None for whatever could not be measured.
    """
    refuse_checking("a microbenchmark")
    protocol = protocol or Protocol()
    prepared = entry.work.prepare(device, scale or Scale.of(device))
    try:
        result = _timed_result(entry, prepared, device, protocol)
        if protocol.window_s > 0:

            def launch() -> Callable[[], float]:
                event = prepared.launch(result.rounds)

                def finish() -> float:
                    wait(event)
                    return float(event.profile.end - event.profile.start) * 1e-9

                return finish

            power = steady_power(
                launch,
                device=device,
                min_seconds=protocol.window_s,
                warm_up_seconds=protocol.warm_up_s,
                idle_seconds=protocol.idle_s,
                seed=protocol.seed + sum(entry.name.encode()),
            )
            result = with_power(result, power, idle_watts)
        return judged(result, device)
    finally:
        prepared.release()


def _doubling(prepared: Prepared, rounds: int, time_s: float) -> float:
    """Find how nearly twice the rounds take twice as long: least times of short launches.

    Launches of two milliseconds and more at the full rate of a card make it lower its clocks at
    moments of its own, by several percent: that is no matter of rounds.
    """
    short_s = DOUBLED_S[prepared.plan.device.is_gpu]
    few = max(1, round(rounds * min(1.0, short_s / time_s)))
    once, twice = [], []
    for _ in range(DOUBLED_TIMES):
        twice.append(timed(prepared, 2 * few))
        once.append(timed(prepared, few))
    return min(twice) / min(once) / 2


def _timed_result(entry: Entry, prepared: Prepared, device: Device, protocol: Protocol) -> Result:
    launches = entry.name == "launch.empty"
    rounds = 1 if launches else _rounds_for(prepared, protocol.launch_s)
    rounds = enough_for_purity(entry, prepared, rounds)
    loaded_s = timed(prepared, rounds)
    while loaded_s < protocol.ramp_s and not launches:
        loaded_s += timed(prepared, rounds)
    times = [timed(prepared, rounds) for _ in range(protocol.repeats)]
    time_s = statistics.median(times)
    if prepared.check is not None:
        prepared.check(rounds)
    cycles = None if prepared.spans is None else covered(prepared.spans.read())
    doubling = None if launches else _doubling(prepared, rounds, time_s)
    result = Result(
        name=entry.name,
        unit=entry.unit,
        value=entry.value,
        operations=prepared.operations * rounds,
        bytes_moved=prepared.bytes_moved * rounds,
        counts={name: count * rounds for name, count in prepared.counts.items()},
        compute_units=prepared.units,
        time_s=time_s,
        spread=(max(times) - min(times)) / time_s,
        repeats=protocol.repeats,
        rounds=rounds,
        doubling=doubling,
        cycles=cycles,
        throughput_spec=specification(device.traits, entry.rate),
    )
    return _with_purity(result, entry, prepared)


def enough_for_purity(entry: Entry, prepared: Prepared, rounds: int) -> int:
    """Raise a number of rounds until what comes before and after them does not count."""
    text = assembler_text(prepared.plan.program.binary()) if entry.opcode is not None else None
    if text is None or entry.opcode is None or entry.value is not None:
        return rounds
    for _ in range(MOST_DOUBLINGS):
        if purity(text, prepared.plan.kernel.name, entry.opcode, rounds).share >= LEAST_PURITY:
            break
        rounds *= 2
    return rounds


def covered(spans: NDArray[np.uint64]) -> float | None:
    """Cycles from the first start to the last end on a compute unit, the most of all units.

    Parameters
    ----------
    spans : ndarray of uint64, shape (3 * SIMD groups,)
        Start, end and 1 + unit of each; all 0 for those that did not take part.

    Returns
    -------
    float or None
        None where no cycles are counted. Groups that are resident together get unequal shares of
        a unit, so what one of them takes says little; counters of two units need not agree.
    """
    start, end, unit = spans.reshape(-1, 3).T
    spent = [
        float(end[unit == which].max() - start[unit == which].min())
        for which in np.unique(unit[unit > 0])
    ]
    return max(spent, default=0.0) or None


def _with_purity(result: Result, entry: Entry, prepared: Prepared) -> Result:
    text = assembler_text(prepared.plan.program.binary()) if entry.opcode is not None else None
    if text is None or entry.opcode is None:
        return result
    found = purity(text, prepared.plan.kernel.name, entry.opcode, result.rounds)
    return replace(
        result,
        ptx_purity=found.share,
        longest_run=found.longest,
        wanted_run=prepared.body if entry.family not in {"device_sync", "divergence"} else None,
    )


def judged(result: Result, device: Device) -> Result:
    """Add why a result must not be used or deserves doubt; its clock is the window's by then."""
    invalid, flags = list(result.invalid), list(result.flags)
    swept = result.value is not None
    if result.ptx_purity is not None and result.ptx_purity < LEAST_PURITY and not swept:
        invalid.append(f"only {result.ptx_purity:.2%} of the instructions are the target's")
    if result.wanted_run and (result.longest_run or 0) < result.wanted_run:
        invalid.append(f"{result.longest_run} instructions in a row, not {result.wanted_run}")
    stated, reached = result.throughput_spec, result.throughput
    if stated and reached and reached > ABOVE_SPECIFICATION * stated:
        invalid.append(
            f"{reached:.1f} operations per cycle where {stated:g} are stated: some were removed"
        )
    if result.doubling is not None and abs(result.doubling - 1) > DOUBLING:
        flags.append(f"twice the rounds take {2 * result.doubling:.2f} times as long")
    if result.spread > SPREAD:
        flags.append(f"launches of the same work differ by {result.spread:.0%}")
    if device.traits.memory_ops != "ptx":
        flags.append("a compiler chose the instructions: indicative")
    return replace(result, invalid=tuple(invalid), flags=tuple(flags))


def with_power(result: Result, power: SteadyPower, idle_watts: float | None) -> Result:
    """Add what a window says of the power of the same launches.

    Parameters
    ----------
    result : Result
        Of the times.
    power : SteadyPower
        Of the same launches, one after the other.
    idle_watts : float or None
        The device at rest, unless the window reports itself.

    Returns
    -------
    Result
        Watts None if there is no meter, it did not resolve the window, or the device computed for
        less than half of it, as with launches that do nothing.
    """
    if power.source != "none" and power.duty < LEAST_DUTY:
        # The watts are mostly those of a device that waits for its host.
        power = replace(power, mean_watts=None, peak_watts=None)
    rests = [
        watts for watts in (power.idle_watts_before, power.idle_watts_after) if watts is not None
    ]
    window: dict[str, Any] = {**dataclasses.asdict(power), "duty": power.duty}
    return replace(
        result,
        mean_watts=power.mean_watts,
        peak_watts=power.peak_watts,
        clock_hz=power.sm_clock_mhz[1] * 1e6 if power.sm_clock_mhz else None,
        idle_watts=None if power.mean_watts is None else min(rests, default=idle_watts),
        window=window if power.source != "none" else None,
        # That there is no meter says the record once.
        flags=(*result.flags, *(power.flags if power.source != "none" else ())),
    )
