"""Power held at a target, on a made-up device whose power follows a knob."""

import itertools
import math

import numpy as np
import pytest

import clgraph as cg
from clgraph.energy import NoMeter, target
from clgraph.energy.readings import MeterError, Reading
from clgraph.energy.target import PowerTarget


class Clock:
    """Moves only when told; `after` is called with the seconds that went by."""

    def __init__(self):
        self.time = 100.0
        self.after, self.actions = [], []

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds
        for follow in self.after:
            follow(seconds)
        self.actions = [action for action in self.actions if action()]

    def every(self, _period_s, action):
        self.actions.append(action)


class FakeMeter:
    """Counts the joules of what `draws` says, and shows them every 0.1 s."""

    source = "nvml-counter"
    note = "made up"
    poll_s, update_s = 0.01, 0.1

    def __init__(self, clock, draws, counts=True):
        self.clock, self.draws, self.counts = clock, draws, counts
        self.joules, self.shown, self.until = 0.0, 0.0, clock.now()
        clock.after.append(self._pass)

    def _pass(self, seconds):
        self.joules += self.draws() * seconds
        if self.clock.now() >= self.until:
            self.shown, self.until = self.joules, self.clock.now() + self.update_s

    def read(self):
        return Reading(self.shown, None) if self.counts else Reading(None, self.draws())

    def close(self):
        pass


@pytest.fixture(autouse=True)
def _idle(monkeypatch):
    monkeypatch.setattr(target, "idle_watts", lambda *_: 80.0)


def _settle(watts, plant, *, search_s=0.02, seconds=20.0, knob=1000.0, **meter):
    """Run searches of a made-up device for a while; give mean power of the second half."""
    clock = Clock()
    state = {"knob": None}

    def draws():
        return 80.0 if state["knob"] is None else plant(state["knob"])

    device_meter = FakeMeter(clock, draws, **meter)
    power = PowerTarget(watts, None, knob, 10.0, 1e7, meter=device_meter, timebase=clock)
    begun = clock.now()
    seen = []
    while clock.now() < begun + seconds:
        state["knob"] = power.look()
        clock.sleep(search_s)
        seen.append(plant(state["knob"]))
    return sum(seen) / len(seen), power


@pytest.mark.parametrize("watts", [150.0, 220.0, 330.0])
@pytest.mark.parametrize("slope", [12.0, 40.0])
def test_mean_power_settles(watts, slope):
    """sssp-self-tuning checklist 23: three targets, devices of unlike slope, over 20 s."""
    mean, power = _settle(watts, lambda p: min(max(60 + slope * math.log(p), 90), 450))
    reachable = 60 + slope * math.log(1e7)
    if reachable > watts:
        assert abs(mean - watts) < 0.1 * watts
        assert len(power.history) > 20
    else:
        assert power.knob == 1e7


def test_a_device_that_saturates():
    """More work than the device has room for changes nothing; it still comes back down."""
    mean, power = _settle(240.0, lambda p: 120 + 200 * p / (p + 3e4))
    assert abs(mean - 240) < 24
    assert power.knob < 2e5


def test_slow_searches_and_meters_of_power_alone():
    mean, _ = _settle(200.0, lambda p: 60 + 20 * math.log(p), search_s=0.4, seconds=40)
    assert abs(mean - 200) < 20
    mean, _ = _settle(200.0, lambda p: 60 + 20 * math.log(p), counts=False)
    assert abs(mean - 200) < 20


def test_targets_below_idle_are_refused():
    """sssp-self-tuning checklist 23: the device draws more at rest than is asked for."""
    clock = Clock()
    meter = FakeMeter(clock, lambda: 80.0)
    with pytest.raises(cg.InvalidArgumentError, match="80 W that the device draws at rest"):
        PowerTarget(70.0, None, 100, 1, 1e6, meter=meter, timebase=clock)


def test_no_meter_is_an_error(monkeypatch):
    monkeypatch.setattr(target, "open_meter", lambda _device, _meter: (NoMeter("unplugged"), None))
    with pytest.raises(cg.InvalidArgumentError, match="use set_point instead: unplugged"):
        PowerTarget(70.0, None, 100, 1, 1e6)


def test_a_meter_that_stops_answering_is_one_line_in_the_log(caplog):
    class Dying(FakeMeter):
        def read(self):
            if self.clock.now() > 105:
                raise MeterError("unplugged.")
            return super().read()

    clock = Clock()
    power = PowerTarget(200.0, None, 500, 1, 1e6, meter=Dying(clock, lambda: 150.0), timebase=clock)
    seen = []
    with caplog.at_level("WARNING", "clgraph"):
        for _ in range(500):
            clock.sleep(0.02)
            seen.append(power.look())
    assert caplog.messages == ["power is not held any more: unplugged."]
    assert len(set(seen[:250])) > 2
    assert len(set(seen[260:])) == 1


def test_the_meter_is_read_beside_the_searches_and_only_while_somebody_looks():
    """A reading takes milliseconds, in which the device of a thread that searches would rest."""
    clock = Clock()
    meter = FakeMeter(clock, lambda: 150.0)
    reads, read = [], meter.read

    def reading():
        reads.append(clock.now())
        return read()

    meter.read = reading
    power = PowerTarget(200.0, None, 500, 1, 1e6, meter=meter, timebase=clock)
    power.look()
    assert not reads
    for _ in range(100):
        clock.sleep(0.02)
        power.look()
    assert len(reads) == 100
    begun = clock.now()
    for _ in range(200):
        clock.sleep(0.02)
    assert max(reads) < begun + 2
    assert not clock.actions
    knob = power.knob
    for _ in range(5):  # what passed meanwhile was another load
        power.look()
        clock.sleep(0.02)
    assert power.knob == knob
    assert len(clock.actions) == 1
    del power
    clock.sleep(0.02)
    assert not clock.actions


def test_the_meter_is_read_again_after_an_interruption(monkeypatch):
    """Ctrl-C while its thread is begun, or whatever ends that: the next look begins another."""
    clock = Clock()
    meter = FakeMeter(clock, lambda: 150.0)
    power = PowerTarget(200.0, None, 500, 1, 1e6, meter=meter, timebase=clock)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(clock, "every", interrupted)
        with pytest.raises(KeyboardInterrupt):
            power.look()
    power.look()
    assert len(clock.actions) == 1
    read, meter.read = meter.read, interrupted
    with pytest.raises(KeyboardInterrupt):
        clock.sleep(0.02)
    meter.read = read
    clock.actions.clear()
    power.look()
    assert len(clock.actions) == 1


def test_chance_turns_no_knob():
    """What a card shows in turn at the same knob: a fifth more and less, 0.45 s each."""
    clock = Clock()

    def draws():
        return (157.0, 194.0)[int(clock.now() / 0.45) % 2] * (state["knob"] / 1000) ** 0.2

    state = {"knob": 700.0}
    meter = FakeMeter(clock, draws)
    power = PowerTarget(175.5, None, 700.0, 10.0, 1e7, meter=meter, timebase=clock)
    knobs = []
    for _ in range(1500):
        state["knob"] = power.look()
        clock.sleep(0.02)
        knobs.append(state["knob"])
    late = knobs[500:]
    assert sum(a != b for a, b in itertools.pairwise(late)) <= 2
    means = np.array(late) / 1000
    assert abs(175.5 * means**0.2 / 175.5 - 1).max() < 0.05


@pytest.mark.parametrize("watts", [185.0, 193.0, 201.0])
def test_a_target_is_come_to_where_power_hardly_depends_on_the_knob(watts):
    """As an H100 has it: doubling the set-point adds a twentieth of what it draws above idle."""
    places, powers = [1e3, 8e3, 64e3, 1e6], [177.8, 183.1, 190.5, 208.5]

    def plant(knob):
        return float(np.interp(math.log(knob), np.log(places), powers))

    _, power = _settle(watts, plant, seconds=12.0, knob=59_462.0)
    assert abs(plant(power.knob) / watts - 1) < 0.02
