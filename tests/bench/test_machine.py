"""What is recorded of the machine, with a management library that is made up."""

from types import SimpleNamespace

import pytest

import clgraph as cg
from bench.runner import machine


class FakeNvml:
    """Answers what the real library would, and refuses one question."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2

    class NVMLError(Exception):
        pass

    def __init__(self):
        self.shut = 0

    def __getattr__(self, name):
        assert not name.startswith("nvmlDeviceSet")
        answers = {
            "nvmlInit": None,
            "nvmlDeviceGetHandleByUUID": "card",
            "nvmlDeviceGetClockInfo": 1980,
            "nvmlDeviceGetMaxClockInfo": 1980,
            "nvmlDeviceGetTemperature": 41,
            "nvmlDeviceGetEnforcedPowerLimit": 700_000,
            "nvmlDeviceGetCurrentClocksThrottleReasons": 0,
        }

        def ask(*_arguments):
            if name not in answers:
                raise self.NVMLError(name)
            return answers[name]

        return ask

    def nvmlShutdown(self):  # noqa: N802
        self.shut += 1


def test_card_state_is_read_and_what_is_refused_is_unknown(monkeypatch):
    nvml = FakeNvml()
    monkeypatch.setattr(machine, "module", lambda _name: nvml)
    monkeypatch.setattr(machine, "card_address", lambda _cl: SimpleNamespace(uuid="GPU-1"))
    card = SimpleNamespace(is_gpu=True, vendor="NVIDIA Corporation", cl=None)
    state = machine.card_state(card)
    assert (state["sm_mhz"], state["temperature_c"], state["power_limit_w"]) == (1980, 41, 700.0)
    assert state["persistence"] is None
    assert nvml.shut == 1


def test_other_devices_have_no_card_state():
    cpu = SimpleNamespace(is_gpu=False, vendor="NVIDIA Corporation", cl=None)
    assert machine.card_state(cpu) is None
    gpu = SimpleNamespace(is_gpu=True, vendor="Example", cl=None)
    assert machine.card_state(gpu) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [(None, ("abc", True)), ("abc", ("abc", True)), ("other", ("other", None))],
)
def test_changes_are_those_of_the_commit_that_is_named(monkeypatch, asked, told):
    """What a checkout says of its files is about no other commit."""
    monkeypatch.setattr(machine, "commit_of_checkout", lambda: ("abc", True))
    monkeypatch.setattr(machine, "copy_bandwidth", lambda _device: 1.0)
    found = machine.describe(cg.device("pocl"), asked)
    assert (found["commit"], found["dirty"]) == told
