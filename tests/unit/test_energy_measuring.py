"""Windows and runs on meters that are made up and a clock that only moves when told."""

import logging
import math
import threading

import numpy as np
import pytest
from clocks import happens
from hypothesis import given
from hypothesis import strategies as st
from interruption import interrupt, places

from clgraph.energy import NoMeter, measure, measuring, per_run
from clgraph.energy.readings import MeterError, Reading
from clgraph.energy.trace import THREAD, RealTime, Trace, integrate_power, interpolate_counter
from clgraph.energy.window import Window
from clgraph.errors import InvalidArgumentError
from clgraph.threads import at_work


class VirtualTime:
    """A clock for one thread: actions happen when sleeping passes their moment."""

    def __init__(self):
        self.time = 100.0
        self.actions = []

    def now(self):
        return self.time

    def sleep(self, seconds):
        end = self.time + seconds
        while due := [entry for entry in self.actions if entry[0] <= end]:
            entry = min(due, key=lambda entry: entry[0])
            self.time = max(self.time, entry[0])
            entry[0] += entry[1]
            if not entry[2]():
                self.actions.remove(entry)
        self.time = end

    def every(self, period_s, action):
        entry = [self.time + period_s, period_s, action]
        if action():
            self.actions.append(entry)

        def stop():
            if entry in self.actions:
                self.actions.remove(entry)

        return stop


class FakeMeter:
    """Draws `watts`, a number or a function of time, and updates its figures every `update_s`."""

    source = "nvml-counter"
    note = "made up"
    poll_s = 0.01

    def __init__(self, clock, watts, *, update_s=0.1, counts=True, dies_at=math.inf):
        self.clock = clock
        self.watts = watts if callable(watts) else lambda _: watts
        self.update_s = update_s
        self.counts = counts
        self.dies_at = dies_at
        self.closed = False
        self._known = (0.0, 0.0)

    def read(self):
        now = self.clock.now()
        if now >= self.dies_at:
            raise MeterError("the meter was unplugged.")
        updated = math.floor(now / self.update_s + 1e-9) * self.update_s
        power = self.watts(updated)
        return Reading(self._integral(updated) if self.counts else None, power)

    def _integral(self, until):
        since, joules = self._known
        for t in np.arange(since, until - 1e-12, 0.001):
            joules += self.watts(t) * 0.001
        self._known = (max(until, since), joules)
        return joules

    def close(self):
        self.closed = True


@pytest.fixture
def clock():
    return VirtualTime()


def test_constant_power_is_exact(clock):
    """Multi-search checklist 22: joules come with watts and the number of samples."""
    meter = FakeMeter(clock, 80.0)
    with measure(meter=meter, timebase=clock) as e:
        clock.sleep(3.0)
    assert e.seconds == pytest.approx(3.0)
    assert e.joules == pytest.approx(240.0, rel=0.01)
    assert e.mean_watts == pytest.approx(80.0, rel=0.01)
    assert e.peak_watts == 80.0
    assert e.idle_watts == pytest.approx(80.0, rel=0.01)
    assert e.joules_above_idle == pytest.approx(0.0, abs=3.0)
    assert e.source == "nvml-counter"
    assert 28 <= e.samples <= 31
    assert meter.closed
    assert clock.actions == []


def test_load_in_the_window_only(clock):
    busy = []
    meter = FakeMeter(clock, lambda t: 400.0 if busy and t >= busy[0] else 100.0)
    with measure(meter=meter, timebase=clock) as e:
        busy.append(clock.now())
        clock.sleep(2.0)
    # The update that the start falls into mixes idle and load: at most one update of difference.
    assert e.joules == pytest.approx(800.0, abs=0.1 * 300.0)
    assert e.idle_watts == pytest.approx(100.0, rel=0.01)
    assert e.peak_watts == 400.0
    assert e.joules_above_idle == pytest.approx(600.0, abs=30.0)


def test_power_readings_are_integrated(clock):
    """Multi-search checklist 20: a ramp of power, whose integral is known."""
    meter = FakeMeter(clock, lambda t: 50.0 + 10.0 * (t - 100.0), update_s=0.01, counts=False)
    meter.source = "nvml-power"
    with measure(meter=meter, timebase=clock, idle_seconds=0) as e:
        start = clock.now()
        clock.sleep(2.0)
    expected = 2.0 * (50.0 + 10.0 * (start + 1.0 - 100.0))
    assert e.joules == pytest.approx(expected, rel=0.01)
    assert e.idle_watts is None
    assert e.joules_above_idle is None
    assert e.samples == pytest.approx(200, abs=3)


def test_a_window_that_the_meter_cannot_resolve_has_no_joules(clock):
    with measure(meter=FakeMeter(clock, 80.0), timebase=clock) as e:
        clock.sleep(0.15)
    assert e.joules is None
    assert e.mean_watts is None
    assert "too short" in e.note
    assert "0.2 s" in e.note


def test_a_counter_that_stands_still_has_no_joules(clock):
    with measure(meter=FakeMeter(clock, 0.0), timebase=clock) as e:
        clock.sleep(2.0)
    assert e.joules is None
    assert "not updated" in e.note


def test_a_lost_meter_is_one_log_line_and_no_exception(clock, caplog):
    meter = FakeMeter(clock, 80.0, dies_at=102.0)
    with caplog.at_level(logging.WARNING, "clgraph"), measure(meter=meter, timebase=clock) as e:
        clock.sleep(3.0)
    assert e.joules is None
    assert e.seconds == pytest.approx(3.0)
    assert e.note == "the meter was unplugged."
    assert [record.getMessage() for record in caplog.records] == [
        "energy is not known: the meter was unplugged."
    ]


def test_a_meter_that_misbehaves_does_not_disturb_the_block(clock):
    meter = FakeMeter(clock, 80.0)
    meter.read = lambda: 1 // 0
    with measure(meter=meter, timebase=clock) as e:
        clock.sleep(1.0)
    assert e.joules is None
    assert "ZeroDivisionError" in e.note


def test_a_counter_that_runs_backwards_is_a_lost_meter(clock):
    meter = FakeMeter(clock, lambda t: 80.0 if t < 101.5 else -80.0)
    with measure(meter=meter, timebase=clock, idle_seconds=0) as e:
        clock.sleep(3.0)
    assert e.joules is None
    assert "backwards" in e.note


def test_an_exception_in_the_block_passes_through_and_ends_the_sampling(clock):
    meter = FakeMeter(clock, 80.0)

    def fail():
        with measure(meter=meter, timebase=clock) as e:
            found.append(e)
            clock.sleep(1.0)
            raise ValueError("mine")

    found = []
    with pytest.raises(ValueError, match="mine"):
        fail()
    assert found[0].joules == pytest.approx(80.0, rel=0.01)
    assert meter.closed
    assert clock.actions == []


@pytest.fixture
def meterless(monkeypatch):
    class Some:
        name = "Example CPU"

    reason = NoMeter("there is no counter here.")
    monkeypatch.setattr(measuring, "_warned", set())
    monkeypatch.setattr(measuring, "choose_device", lambda _: Some())
    monkeypatch.setattr(measuring, "find_meter", lambda _: reason)


@pytest.mark.usefixtures("meterless")
def test_no_meter_gives_none_and_says_so_once(caplog):
    """Multi-search checklist 21: a device without a meter."""
    calls = []
    with caplog.at_level(logging.WARNING, "clgraph"):
        for _ in range(2):
            with measure() as e:
                pass
            assert e.joules is None
            assert e.mean_watts is None
            assert e.source == "none"
            assert e.note == "there is no counter here."
        energy = per_run(lambda: calls.append(1))
    assert energy.joules_per_run is None
    assert energy.spread is None
    assert energy.runs == len(calls) == 1
    assert len(caplog.records) == 1
    assert "Example CPU" in caplog.text


def test_idle_power_is_kept_for_a_while(clock, monkeypatch):
    device = type("Some", (), {"name": "Example GPU"})()
    level = [100.0]
    monkeypatch.setattr(measuring, "_idle", {})
    monkeypatch.setattr(measuring, "choose_device", lambda _: device)
    monkeypatch.setattr(measuring, "find_meter", lambda _: FakeMeter(clock, lambda _: level[0]))

    def idle():
        before = clock.now()
        with measure(timebase=clock) as e:
            clock.sleep(1.0)
        return e.idle_watts, clock.now() - before

    first, took_first = idle()
    level[0] = 300.0
    second, took_second = idle()
    assert first == second == pytest.approx(100.0, rel=0.01)
    assert took_second < took_first
    clock.sleep(measuring.IDLE_KEPT_S)
    assert idle()[0] == pytest.approx(300.0, rel=0.01)


def test_per_run_shares_out_a_window_of_at_least_two_seconds(clock):
    calls = []

    def run():
        calls.append(clock.now())
        clock.sleep(0.013)

    energy = per_run(run, meter=FakeMeter(clock, 200.0), timebase=clock)
    assert 2.0 <= energy.seconds <= 2.0 + 0.014
    assert energy.runs == len(calls) - 1  # one warm-up
    assert energy.seconds_per_run == pytest.approx(0.013)
    assert energy.joules_per_run == pytest.approx(200.0 * 0.013, rel=0.01)
    assert energy.mean_watts == pytest.approx(200.0, rel=0.01)
    assert energy.spread == pytest.approx(0.0, abs=0.05)
    assert energy.idle_watts == pytest.approx(200.0, rel=0.01)


def test_per_run_shows_how_unsteady_the_cost_is(clock):
    meter = FakeMeter(clock, lambda t: 100.0 + 50.0 * (t > 102.0))
    energy = per_run(lambda: clock.sleep(0.05), meter=meter, timebase=clock, min_seconds=4.0)
    assert energy.spread == pytest.approx(50.0 / 140.0, rel=0.25)


def test_one_run_longer_than_the_window_has_no_spread(clock):
    energy = per_run(lambda: clock.sleep(5.0), meter=FakeMeter(clock, 90.0), timebase=clock)
    assert energy.runs == 1
    assert energy.spread is None
    assert energy.joules_per_run == pytest.approx(450.0, rel=0.01)


def test_per_run_loses_its_meter(clock):
    meter = FakeMeter(clock, 90.0, dies_at=102.0)
    energy = per_run(lambda: clock.sleep(0.1), meter=meter, timebase=clock)
    assert energy.joules_per_run is None
    assert energy.spread is None
    assert energy.runs >= 20


def test_per_run_passes_an_exception_through(clock):
    def run():
        clock.sleep(0.1)
        if clock.now() > 102.0:
            raise KeyboardInterrupt

    meter = FakeMeter(clock, 90.0)
    with pytest.raises(KeyboardInterrupt):
        per_run(run, meter=meter, timebase=clock)
    assert meter.closed
    assert clock.actions == []


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_a_window_must_have_a_length(seconds):
    with pytest.raises(InvalidArgumentError, match="min_seconds"):
        per_run(int, min_seconds=seconds)


def test_idle_seconds_are_checked(clock):
    with (
        pytest.raises(InvalidArgumentError, match="idle_seconds"),
        measure(idle_seconds=-1, meter=FakeMeter(clock, 1.0)),
    ):
        pass


def test_the_thread_samples_in_real_time_and_ends():
    """Multi-search checklist 20: beside whatever runs in the block."""

    class Quick:
        source, note, update_s, poll_s = "rapl", "made up", 0.02, 0.005
        looks = 0

        def read(self):
            self.looks += 1
            return Reading(self.looks * 1.0, None)

        def close(self):
            pass

    meter = Quick()
    with measure(meter=meter, idle_seconds=0) as e:
        while e.note != "done" and meter.looks < 30:
            threading.Event().wait(0.005)
    assert e.joules > 10.0
    assert e.peak_watts >= e.mean_watts * 0.9
    assert THREAD not in at_work()


@pytest.mark.parametrize("opcodes", [False, True])
def test_ctrl_c_anywhere_leaves_no_thread_that_samples(opcodes):
    """Also while it is started, or before anybody knows how to stop it."""

    class Quick:
        source, note, update_s, poll_s = "rapl", "made up", 1e-4, 1e-4
        looks = 0

        def read(self):
            self.looks += 1
            return Reading(self.looks * 1.0, None)

    def sample():
        window = Window(Quick(), RealTime())
        try:
            window.open()
        finally:
            window.close()

    sample()
    sites = {}
    for place in places(sample, opcodes=opcodes):
        sites.setdefault(place[0], place)  # it sleeps until there is a reading: turns differ
    for place in sites.values():
        interrupt(sample, place, opcodes=opcodes)
        assert happens(lambda: THREAD not in at_work())


def test_interpolate_counter_knows_no_more_than_it_saw():
    times, joules = np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 30.0])
    assert interpolate_counter(times, joules, 1.5) == 15.0
    assert interpolate_counter(times, joules, 3.0) == 25.0
    assert interpolate_counter(times, joules, 0.9) is None
    assert interpolate_counter(times, joules, 4.1) is None
    assert interpolate_counter(np.array([]), np.array([]), 1.0) is None


@pytest.mark.parametrize(
    ("start", "end", "joules"),
    [
        (0.0, 2.0, 20.0),  # a triangle of 2 s and 20 W
        (0.5, 1.5, 15.0),
        (-1.0, 3.0, 20.0),  # first and last sample hold, and are 0 here
        (0.25, 0.25, 0.0),
    ],
)
def test_integrate_power_of_a_triangle(start, end, joules):
    """Multi-search checklist 20: the rule itself, with the ends cut."""
    times, watts = np.array([0.0, 1.0, 2.0]), np.array([0.0, 20.0, 0.0])
    assert integrate_power(times, watts, start, end) == pytest.approx(joules)


def test_integrate_power_of_nothing():
    assert integrate_power(np.array([]), np.array([]), 0.0, 1.0) is None


@given(
    watts=st.lists(st.floats(0, 1000), min_size=4, max_size=30),
    counts=st.booleans(),
    cut=st.floats(0.0, 1.0),
)
def test_parts_of_a_window_add_up(watts, counts, cut):
    trace, total = Trace(), 0.0
    for step, power in enumerate(watts):
        total += power + 1e-3  # a counter that stands still is a case of its own
        trace.add(float(step), Reading(total, None) if counts else Reading(None, power))
    start, end = 1.0, float(len(watts) - 1)
    middle = start + cut * (end - start)
    whole, left, right = (
        trace.joules(a, b) for a, b in ((start, end), (start, middle), (middle, end))
    )
    assert left + right == pytest.approx(whole, rel=1e-9, abs=1e-9)
    if counts:
        assert whole == pytest.approx(sum(watts[2:]) + 1e-3 * len(watts[2:]))
