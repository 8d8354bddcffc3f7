"""The meter of a real NVIDIA card; run by hand with ``-m energy``."""

import pytest

from clgraph import energy
from clgraph.device import Memory, devices, wait
from clgraph.device.lazy import cl
from clgraph.energy.nvml import card_address

pytestmark = [pytest.mark.gpu(alone=True), pytest.mark.energy]


@pytest.fixture(scope="module")
def card():
    found = [d for d in devices() if d.is_gpu and "nvidia" in d.vendor.casefold()]
    if not found:
        pytest.skip("no NVIDIA card here")
    return found[0]


@pytest.fixture(scope="module")
def copy_for(card):
    """A function that copies within device memory for about a tenth of a second."""
    memory = Memory(card)
    count = 1 << 27
    there, here = (memory.allocate(name, count, "uint32") for name in ("there", "here"))

    def copy():
        for _ in range(300):
            done = cl.enqueue_copy(card.queue, there.buffer, here.buffer, byte_count=4 * count)
        wait(done)

    copy()
    return copy


def test_the_card_is_matched_by_address(card):
    address = card_address(card.cl)
    assert address.pci is not None
    meter = energy.find_meter(card)
    assert meter.source in {"nvml-counter", "nvml-power"}
    assert meter.read().power_w > 5.0
    meter.close()


def test_idle_is_less_than_load(card, copy_for):
    with energy.measure(card) as e:
        for _ in range(20):
            copy_for()
    assert e.seconds > 1.0
    assert e.joules == pytest.approx(e.mean_watts * e.seconds)
    assert e.idle_watts < e.mean_watts <= e.peak_watts * 1.05
    assert e.joules_above_idle > 0


def test_joules_per_run_are_reproducible(card, copy_for):
    first, second = (energy.per_run(copy_for, device=card) for _ in range(2))
    assert first.seconds >= 2.0
    assert second.joules_per_run == pytest.approx(first.joules_per_run, rel=0.15)
    assert first.spread < 0.5
