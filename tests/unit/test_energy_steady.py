"""Windows of steady power, on meters that are made up and a clock that only moves when told."""

import pytest
from unit.test_energy_measuring import FakeMeter, VirtualTime

from clgraph.energy import idle_baseline, steady_power
from clgraph.energy.readings import Conditions
from clgraph.errors import InvalidArgumentError


class Card(FakeMeter):
    """A meter with clocks and temperature."""

    def __init__(self, clock, watts, *, mhz=(1980,), slowed=0, off=1.0, **more):
        super().__init__(clock, watts, **more)
        self.mhz = list(mhz)
        self.slowed = slowed
        self.off = off

    def read(self):
        reading = super().read()
        return reading._replace(power_w=reading.power_w * self.off)

    def conditions(self):
        mhz = self.mhz.pop(0) if len(self.mhz) > 1 else self.mhz[0]
        return Conditions(mhz, 2619, 41, 700.0, self.slowed)


@pytest.fixture
def clock():
    return VirtualTime()


def load(clock, *, takes=0.02, computes=1.0):
    """Launches that take so long, of which the device computes a part."""

    def launch():
        def finish():
            clock.sleep(takes)
            return takes * computes

        return finish

    return launch


def test_the_window_holds_the_steady_state_alone(clock):
    """Checklist: windows start and end at counter updates and hold at least 20 of them."""
    began = clock.now()
    meter = Card(clock, lambda t: 500.0 if t < began + 0.4 else 300.0)
    power = steady_power(load(clock), meter=meter, timebase=clock, warm_up_seconds=0.5)
    assert power.mean_watts == pytest.approx(300.0, rel=0.01)
    assert power.integrated_watts == pytest.approx(300.0, rel=0.01)
    assert power.seconds >= 2.0
    assert power.samples >= 19
    assert power.duty > 0.95
    assert power.flags == ()
    assert power.sm_clock_mhz == (1980, 1980, 1980)
    assert power.temperature_c == (41, 41)
    assert power.power_limit_w == 700.0
    assert meter.closed
    assert clock.actions == []
    # However short a window may be.
    power = steady_power(load(clock), meter=Card(clock, 300.0), timebase=clock, min_seconds=0.1)
    assert power.samples >= 19


def test_the_device_at_rest_is_watched_before_and_after(clock):
    """Checklist: idle baseline recorded with each result."""
    busy = []
    meter = Card(clock, lambda t: 300.0 if busy and t >= busy[0] and t <= busy[-1] else 80.0)

    def launch():
        busy.append(clock.now())
        return load(clock)()

    power = steady_power(launch, meter=meter, timebase=clock, idle_seconds=1.0)
    assert power.idle_watts_before == pytest.approx(80.0, rel=0.02)
    assert power.idle_watts_after < 120.0
    assert idle_baseline(meter=Card(clock, 80.0), timebase=clock) == pytest.approx(80.0, rel=0.01)


def test_windows_begin_at_different_phases(clock):
    starts = set()
    for seed in range(4):
        before = clock.now()
        waits = []

        def launch(before=before, waits=waits):
            waits.append(clock.now() - before)
            return load(clock)()

        steady_power(launch, meter=Card(clock, 100.0), timebase=clock, seed=seed, min_seconds=0.1)
        starts.add(round(waits[0], 4))
    assert len(starts) == 4
    assert max(starts) <= 0.1


@pytest.mark.parametrize(
    ("card", "computes", "said"),
    [
        ({"off": 1.2}, 1.0, "readings of power"),
        ({"mhz": (1980, 1700, 1980)}, 1.0, "the clock went from 1700 to 1980 MHz"),
        *(({"slowed": reason}, 1.0, "held down") for reason in (0x4, 0x8, 0x20, 0x40, 0x80)),
        ({}, 0.5, "computed only"),
        # Just beyond what is allowed.
        ({"off": 1.06}, 1.0, "readings of power"),
        ({"off": 0.94}, 1.0, "readings of power"),
        ({"mhz": (1980, 1939, 1980)}, 1.0, "the clock went from 1939 to 1980 MHz"),
        ({}, 0.94, "computed only"),
    ],
)
def test_doubtful_windows_are_flagged(clock, card, computes, said):
    """Checklist: counter and power agree within 5 %; caps and drift of clocks are flagged."""
    power = steady_power(
        load(clock, computes=computes), meter=Card(clock, 200.0, **card), timebase=clock
    )
    assert any(said in flag for flag in power.flags)


@pytest.mark.parametrize(
    ("card", "computes"),
    [({"off": 1.04}, 1.0), ({"off": 0.96}, 1.0), ({"mhz": (1980, 1945, 1980)}, 1.0), ({}, 0.97)],
)
def test_windows_within_what_is_allowed_are_not_flagged(clock, card, computes):
    """Checklist: 5 % between counter and power, 2 % of clocks, 5 % of the window at rest."""
    power = steady_power(
        load(clock, computes=computes), meter=Card(clock, 200.0, **card), timebase=clock
    )
    assert power.flags == ()


@pytest.mark.parametrize("slowed", [0x0, 0x1, 0x2])
def test_a_chosen_clock_is_no_cap(clock, slowed):
    power = steady_power(load(clock), meter=Card(clock, 200.0, slowed=slowed), timebase=clock)
    assert power.flags == ()


def test_a_meter_that_dies_costs_the_watts_only(clock):
    meter = Card(clock, 200.0, dies_at=clock.now() + 1.0)
    power = steady_power(load(clock), meter=meter, timebase=clock)
    assert power.mean_watts is None
    assert any("unplugged" in flag for flag in power.flags)


def test_a_counter_that_stands_still_does_not_hang(clock):
    power = steady_power(
        load(clock), meter=Card(clock, 0.0), timebase=clock, min_seconds=0.5, warm_up_seconds=0.0
    )
    assert power.seconds >= 0.5


class LateTime(VirtualTime):
    """A clock whose actions first happen on a thread, a moment after they were asked for."""

    def every(self, period_s, action):
        entry = [self.time + 0.004, period_s, action]
        self.actions.append(entry)

        def stop():
            if entry in self.actions:
                self.actions.remove(entry)

        return stop


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("takes", [0.002, 0.02, 0.12])
def test_the_window_waits_for_the_first_look_and_for_two_updates(seed, takes):
    """An H200: the counter steps every 0.1 s, by power that was looked at a quarter of the time.

    Before its first look a sampling thread does not know whether there is a counter; a window that
    began then lay before the first update, and had no joules.
    """
    clock = LateTime()

    def watts(t):  # what the card saw of a load whose power sways is seen 25 ms in every 100
        return 300.0 + (20.0 if t % 0.1 < 0.025 else 0.0)

    meter = Card(clock, watts)
    power = steady_power(load(clock, takes=takes), meter=meter, timebase=clock, seed=seed)
    assert power.mean_watts == pytest.approx(305.0, rel=0.02)
    assert power.samples >= 19
    assert not any("not updated around the window" in flag for flag in power.flags)
    assert clock.actions == []


def test_the_clock_is_a_median(clock):
    mhz = (1980, 1980, 1980, 1950, 1980, 1980, 1980, 1980, 1980)
    power = steady_power(load(clock), meter=Card(clock, 200.0, mhz=mhz), timebase=clock)
    assert power.sm_clock_mhz == (1950, 1980, 1980)


def test_an_error_of_the_load_ends_the_sampling(clock):
    def launch():
        raise RuntimeError("the kernel failed")

    with pytest.raises(RuntimeError, match="the kernel failed"):
        steady_power(launch, meter=Card(clock, 100.0), timebase=clock)
    assert clock.actions == []


def test_no_meter_no_watts(pocl):
    """Checklist: without a meter energies are None, never invented."""
    runs = []

    def launch():
        runs.append(1)
        return lambda: 0.001

    power = steady_power(launch, device=pocl)
    if power.source == "none":
        assert len(runs) == 1
        assert power.mean_watts is None
        assert power.peak_watts is None
        assert "no meter" in power.flags[0]


def test_lengths_of_time_are_checked(clock):
    with pytest.raises(InvalidArgumentError, match="min_seconds"):
        steady_power(load(clock), meter=Card(clock, 1.0), timebase=clock, min_seconds=-1.0)
