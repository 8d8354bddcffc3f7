"""Microbenchmarks on a real card: pure kernels, plausible rates, power with one definition.

Run by hand, with ``-m "gpu and not energy"`` for the times alone (about half a minute).
"""

import numpy as np
import pytest

from clgraph.profile import microbenchmarks
from clgraph.profile.microbenchmarks import Protocol, choose, measure_entry

pytestmark = pytest.mark.gpu(alone=True)  # they read clocks and meters

TIMES = Protocol(launch_s=0.01, repeats=5, window_s=0.0)
NATIVE = ("int32_complex.mul_int", "fp32_simple.fma_float", "int32_popc.popcount", "fp64_simple")


def named(*words):
    return pytest.mark.parametrize("entry", choose(words), ids=lambda entry: entry.name)


@named("important")
def test_static_entries_are_pure_and_within_the_specification(gpu, entry):
    """Checklist: PTX has U targets in sequence, purity >= 99 %, throughput <= 1.05 of the spec."""
    result = measure_entry(entry, gpu, protocol=TIMES)
    assert result.invalid == ()
    assert result.time_s > 0
    if entry.opcode is not None:
        assert result.longest_run >= result.wanted_run > 0
        assert result.ptx_purity >= 0.99


@named(*NATIVE)
def test_native_instructions_come_near_the_specification(gpu, entry):
    """Checklist: simple >= 75 % of the specification, special ones >= 90 %."""
    result = measure_entry(entry, gpu, protocol=TIMES)
    least = 0.9 if entry.rate == "special" else 0.75
    assert result.throughput >= least * result.throughput_spec
    assert result.doubling == pytest.approx(1.0, abs=0.02)


def test_as_many_units_compute_as_were_asked_for(gpu):
    """Checklist: distinct units that computed equal the parameter (the entry's own check)."""
    for entry in choose(["sm_occupancy"], gpu.traits):
        assert measure_entry(entry, gpu, protocol=TIMES).compute_units == entry.value


def test_parted_lanes_take_turns(gpu):
    """Checklist: time ratio group 1 to group 32 between 16 and 34."""
    rates = {
        entry.value: measure_entry(entry, gpu, protocol=TIMES).rate
        for entry in choose(["divergence"])
    }
    assert 16 <= rates[32] / rates[1] <= 34


def test_more_conflicts_take_longer(gpu):
    times = [measure_entry(e, gpu, protocol=TIMES).rate for e in choose(["bank_conflict"])]
    assert np.corrcoef(np.arange(1, 33), 1 / np.array(times))[0, 1] > 0.95


@pytest.mark.energy
def test_power_is_reported_by_one_definition(gpu):
    """Checklist: E = P t, nJ per operation times operations = E; counter and power agree."""
    entry = choose(["fp32_simple.fma_float"])[0]
    first, second = (
        measure_entry(entry, gpu, protocol=Protocol(window_s=2.0), idle_watts=70.0)
        for _ in range(2)
    )
    assert first.energy_j == pytest.approx(first.mean_watts * first.time_s, rel=0.01)
    assert first.nj_per_operation * first.operations == pytest.approx(first.energy_j * 1e9)
    assert second.nj_per_operation == pytest.approx(first.nj_per_operation, rel=0.05)
    window = first.window
    assert window["duty"] > 0.95
    assert window["samples"] >= 18
    assert window["integrated_watts"] == pytest.approx(first.mean_watts, rel=0.05)
    assert window["sm_clock_mhz"] is not None


def test_the_suite_gives_a_record(gpu):
    record = microbenchmarks.run(["int32_simple.add_int"], device=gpu, protocol=TIMES)
    assert record["results"][0]["cycles"] > 0
    assert record["driver"] == gpu.driver
