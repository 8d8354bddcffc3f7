"""NVML's performance metrics of a whole card, where it has them: a cross-check of the counters.

Two samples bracket a window in which the work is repeated. On Hopper cards no value of a window
below 100 ms is valid, so it is several times that. Containers can lose the right to them after
minutes and virtual GPUs never have it: every answer is probed and None comes with its reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.energy.nvml import NvmlMeter, card_address
from clgraph.energy.readings import MeterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clgraph.device import Device

__all__ = ["METRICS", "CardMetrics", "sampled"]

WINDOW_S = 0.3
METRICS = {
    "sm_utilisation": "NVML_GPM_METRIC_SM_UTIL",
    "occupancy": "NVML_GPM_METRIC_SM_OCCUPANCY",
    "integer": "NVML_GPM_METRIC_INTEGER_UTIL",
    "float": "NVML_GPM_METRIC_FP32_UTIL",
    "double": "NVML_GPM_METRIC_FP64_UTIL",
    "dram": "NVML_GPM_METRIC_DRAM_BW_UTIL",
}


@dataclass(frozen=True, slots=True)
class CardMetrics:
    """What the card says about a window.

    Attributes
    ----------
    values : dict of str to float or None
        By names of `METRICS`, from 0 to 1; None where the card gives no valid one.
    joules : float or None
        Of the same window, by the energy counter.
    seconds : float
        Length of the window.
    runs : int
        How often the work was done in it.
    reason : str
        Why something is None.
    """

    values: Mapping[str, float | None]
    joules: float | None
    seconds: float
    runs: int
    reason: str = ""

    def record(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {
            "values": dict(self.values),
            "joules": self.joules,
            "seconds": self.seconds,
            "runs": self.runs,
            "joules_per_run": None
            if self.joules is None or not self.runs
            else self.joules / self.runs,
            "reason": self.reason,
        }


def nothing(reason: str) -> CardMetrics:
    """Give what there is where nothing is known."""
    return CardMetrics(dict.fromkeys(METRICS), None, 0.0, 0, reason)


def sampled(
    run: Callable[[], object], device: Device, *, window_s: float = WINDOW_S, library: Any = None
) -> CardMetrics:
    """Repeat something for a window and ask the card about it.

    Parameters
    ----------
    run : callable
        What to repeat; it must have finished on the device when it returns.
    device : Device
        Whose card.
    window_s : float
        Length of the window, at least.
    library : module, optional
        A stand-in for ``pynvml``.

    Returns
    -------
    CardMetrics
        With None and the reason for what cannot be had.
    """
    if device.traits.compute_capability is None and library is None:
        return nothing("only NVIDIA's library has such metrics")
    try:
        meter = NvmlMeter(card_address(device.cl), library)
    except MeterError as error:
        return nothing(str(error))
    nvml, card = meter._nvml, meter._card  # noqa: SLF001 - one library, one card
    try:
        return _window(run, nvml, card, meter, window_s)
    except (nvml.NVMLError, AttributeError, OSError) as error:
        return nothing(f"NVML gives no performance metrics here: {error}")
    finally:
        meter.close()


def _window(
    run: Callable[[], object], nvml: Any, card: Any, meter: NvmlMeter, window_s: float
) -> CardMetrics:
    support = nvml.nvmlGpmQueryDeviceSupport(card)
    if not getattr(support, "isSupportedDevice", support):
        return nothing("this card has no performance metrics (they begin with Hopper)")
    before, after = nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()
    try:
        nvml.nvmlGpmSampleGet(card, before)
        energy, began, runs = meter.read().energy_j, time.perf_counter(), 0
        while not runs or time.perf_counter() - began < window_s:
            run()
            runs += 1
        seconds = time.perf_counter() - began
        nvml.nvmlGpmSampleGet(card, after)
        spent = meter.read().energy_j
        values, why = _metrics(nvml, before, after)
    finally:
        for sample in (before, after):
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlGpmSampleFree(sample)
    joules = None if energy is None or spent is None else spent - energy
    return CardMetrics(values, joules, seconds, runs, why)


def _metrics(nvml: Any, before: Any, after: Any) -> tuple[dict[str, float | None], str]:
    asked = nvml.c_nvmlGpmMetricsGet_t()
    asked.version = nvml.NVML_GPM_METRICS_GET_VERSION
    asked.numMetrics = len(METRICS)
    asked.sample1, asked.sample2 = before, after
    for place, name in enumerate(METRICS.values()):
        asked.metrics[place].metricId = getattr(nvml, name)
    nvml.nvmlGpmMetricsGet(asked)
    values: dict[str, float | None] = {}
    why = ""
    for place, name in enumerate(METRICS):
        metric = asked.metrics[place]
        status = getattr(metric, "nvmlReturn", 0)
        value = float(metric.value)
        if status != 0 or not 0.0 <= value <= 100.0:
            values[name] = None
            why = f"some metrics are not valid (status {ctypes.c_int(status).value})"
        else:
            values[name] = value / 100.0
    if values and all(value in {None, 0.0} for value in values.values()):
        return dict.fromkeys(METRICS), "the card answers with zeros only"
    return values, why
