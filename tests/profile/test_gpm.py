"""The card's own metrics, with a stand-in for NVML: what is valid, and why the rest is None."""

# ruff: noqa: N802, ARG002 (the names and arguments are NVML's)

from types import SimpleNamespace

import pytest

from clgraph.profile import gpm


class Nvml:
    """NVML of one Hopper card, as far as the meter and the metrics ask for it."""

    NVML_SUCCESS = 0
    NVML_FI_DEV_POWER_INSTANT = 1
    NVML_GPM_METRICS_GET_VERSION = 1

    class NVMLError(Exception):
        """As pynvml's."""

    def __init__(self, values, supported=1):
        self.values, self.supported = values, supported
        self.energy, self.freed, self.taken, self.open = 0, 0, [], 0
        for place, name in enumerate(gpm.METRICS.values()):
            setattr(self, name, place)

    def nvmlInit(self):
        self.open += 1

    def nvmlShutdown(self):
        self.open -= 1

    def nvmlDeviceGetCount(self):
        return 1

    def nvmlDeviceGetHandleByIndex(self, index):
        return "card"

    def nvmlDeviceGetUUID(self, card):
        return "GPU-1"

    def nvmlDeviceGetTotalEnergyConsumption(self, card):
        self.energy += 2000
        return self.energy

    def nvmlDeviceGetFieldValues(self, card, fields):
        raise self.NVMLError("no power")

    def nvmlDeviceGetPowerUsage(self, card):
        raise self.NVMLError("no power")

    def nvmlGpmQueryDeviceSupport(self, card):
        return SimpleNamespace(isSupportedDevice=self.supported)

    def nvmlGpmSampleAlloc(self):
        return object()

    def nvmlGpmSampleGet(self, card, sample):
        self.taken.append(sample)

    def nvmlGpmSampleFree(self, sample):
        self.freed += 1

    def c_nvmlGpmMetricsGet_t(self):
        metrics = [SimpleNamespace(nvmlReturn=0, value=0.0) for _ in gpm.METRICS]
        return SimpleNamespace(metrics=metrics)

    def nvmlGpmMetricsGet(self, asked):
        for metric in asked.metrics[: asked.numMetrics]:
            value = self.values[list(gpm.METRICS)[metric.metricId]]
            metric.nvmlReturn, metric.value = (0, value) if value is not None else (3, 0.0)


@pytest.fixture(autouse=True)
def _an_address(monkeypatch):
    monkeypatch.setattr(gpm, "card_address", lambda _: SimpleNamespace(pci=None, uuid="GPU-1"))


def sampled(nvml, pocl, window_s=0.01):
    runs = []
    found = gpm.sampled(lambda: runs.append(1), pocl, window_s=window_s, library=nvml)
    return found, len(runs)


def test_metrics_and_joules_of_one_window(pocl):
    nvml = Nvml(dict(zip(gpm.METRICS, (95.0, 50.0, 20.0, 0.0, 0.0, 80.0), strict=True)))
    found, runs = sampled(nvml, pocl)
    assert found.values["dram"] == 0.8
    assert found.values["occupancy"] == 0.5
    assert found.runs == runs > 0
    assert found.seconds >= 0.01
    assert found.joules == 2.0
    assert found.record()["joules_per_run"] == 2.0 / runs
    assert found.reason == ""
    assert (nvml.freed, len(nvml.taken), nvml.open) == (2, 2, 0)


def test_a_metric_that_is_not_valid_is_none_with_the_reason(pocl):
    values = dict(zip(gpm.METRICS, (95.0, None, 20.0, 0.0, 0.0, 80.0), strict=True))
    found, _ = sampled(Nvml(values), pocl)
    assert found.values["occupancy"] is None
    assert found.values["integer"] == 0.2
    assert "not valid" in found.reason


def test_a_card_that_answers_with_zeros_has_nothing_to_say(pocl):
    found, _ = sampled(Nvml(dict.fromkeys(gpm.METRICS, 0.0)), pocl)
    assert set(found.values.values()) == {None}
    assert "zeros" in found.reason


def test_a_card_without_metrics(pocl):
    nvml = Nvml(dict.fromkeys(gpm.METRICS, 1.0), supported=0)
    found, runs = sampled(nvml, pocl)
    assert set(found.values.values()) == {None}
    assert "Hopper" in found.reason
    assert (runs, nvml.open) == (0, 0)


def test_rights_that_were_lost_are_the_reason(pocl):
    nvml = Nvml(dict.fromkeys(gpm.METRICS, 1.0))

    def refuse(*_):
        raise nvml.NVMLError("Insufficient Permissions")

    nvml.nvmlGpmSampleGet = refuse
    found, _ = sampled(nvml, pocl)
    assert "Insufficient Permissions" in found.reason
    assert (nvml.freed, nvml.open) == (2, 0)


def test_another_vendor_s_device_has_no_metrics(pocl):
    found = gpm.sampled(lambda: None, pocl)
    assert set(found.values.values()) == {None}
    assert "NVIDIA" in found.reason
