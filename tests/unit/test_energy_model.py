"""Prices from samples, and the one definition of what a microbenchmark reports."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clgraph import energy
from clgraph.energy.estimating import estimate, fit_record, sample_of, traversal_counts
from clgraph.energy.model import FEATURES, EnergyModel, Sample, fit, validate
from clgraph.errors import InvalidArgumentError
from clgraph.profile import microbenchmarks
from clgraph.profile.microbenchmarks import Protocol, Result, Scale
from clgraph.profile.microbenchmarks.measuring import with_power

TRUE = {"seconds": 75.0, "unit_seconds": 0.8, "memory_bytes": 5e-11, "integer_operations": 1e-11}


def made_up(count, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    samples = []
    for k in range(count):
        seconds = 10.0 ** rng.uniform(-3, 0)
        counts = {
            "seconds": seconds,
            "unit_seconds": seconds * rng.integers(1, 133),
            "memory_bytes": seconds * rng.choice([0.0, 4e12]) * rng.random(),
            "integer_operations": seconds * rng.choice([0.0, 1.5e13]) * rng.random(),
        }
        joules = sum(TRUE[name] * value for name, value in counts.items())
        samples.append(Sample(f"s{k}", counts, joules * (1 + noise * rng.standard_normal())))
    return samples


def test_exact_prices_are_found_again():
    found = fit(made_up(24))
    for name, price in TRUE.items():
        assert found.model.prices[name] == pytest.approx(price, rel=1e-6)
    assert found.largest_error < 1e-6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_prices_are_never_negative_and_noise_stays_noise(seed):
    found = fit(made_up(40, seed, noise=0.05))
    assert min(found.model.prices.values()) >= 0
    assert found.mean_error < 0.12
    other = validate(found.model, made_up(40, seed + 1))
    assert other.mean_error < 0.2


def test_what_has_no_price_is_not_guessed():
    model = EnergyModel({"seconds": 70.0})
    assert model.joules({"seconds": 2.0}) == 140.0
    assert model.joules({"seconds": 2.0, "atomics": 0.0}) == 140.0
    assert model.joules({"seconds": 2.0, "atomics": 5.0}) is None
    with pytest.raises(InvalidArgumentError, match="knows no 'miles'"):
        model.joules({"miles": 1.0})
    with pytest.raises(InvalidArgumentError, match="0 or more"):
        model.joules({"seconds": -1.0})


def test_too_few_samples_are_refused():
    with pytest.raises(InvalidArgumentError, match="cannot separate"):
        fit(made_up(2))
    with pytest.raises(InvalidArgumentError, match="no joules"):
        fit([dataclasses.replace(sample, joules=0.0) for sample in made_up(8)])


def a_result(**changes):
    given = {
        "name": "x",
        "unit": "operation",
        "value": None,
        "operations": 2.0e12,
        "bytes_moved": 4.0e9,
        "counts": {"integer_operations": 2.0e12},
        "compute_units": 132,
        "time_s": 0.02,
        "spread": 0.0,
        "repeats": 5,
        "rounds": 10,
        "cycles": 3.0e7,
    }
    return Result(**{**given, **changes})


def test_one_definition_of_every_quantity():
    """Checklist: time, throughput, P, E, E_dyn, efficiency, nJ/op by the formulas of spec 3.6."""
    busy = {"seconds": 2.0, "kernel_seconds": 1.98, "source": "nvml-counter"}
    power = energy.SteadyPower(mean_watts=300.0, peak_watts=320.0, **busy)
    result = with_power(a_result(), power, idle_watts=80.0)
    assert result.throughput == pytest.approx(2.0e12 / 132 / 3.0e7)
    assert result.energy_j == pytest.approx(6.0)  # P t
    assert result.dynamic_energy_j == pytest.approx(4.4)
    assert result.nj_per_operation * result.operations == pytest.approx(result.energy_j * 1e9)
    assert result.dynamic_nj_per_operation == pytest.approx(2.2e-3)
    assert result.nj_per_byte == pytest.approx(1.5)
    assert result.efficiency == pytest.approx(2.0e12 / 0.02 / 300.0 / 1e6)
    assert result.energy_per_unit_j == pytest.approx(6.0 / 132)


def test_a_device_that_waits_for_its_host_has_no_watts():
    power = energy.SteadyPower(
        mean_watts=120.0,
        peak_watts=122.0,
        seconds=2.0,
        kernel_seconds=0.4,
        source="nvml-counter",
        flags=("the device computed only 20% of the window",),
    )
    result = with_power(a_result(), power, idle_watts=80.0)
    assert result.mean_watts is None
    assert result.nj_per_operation is None
    assert "the device computed only 20% of the window" in result.flags


# Published: time in ms, mean watts, printed MIPS/W, and operations that its normalisation counts;
# cells that the specification calls garbled are left out.
PUBLISHED = {
    "GTX 660 shift": (34.3, 52.5, 597.0, 2**30),
    "GTX 660 fp64": (137.0, 53.3, 146.9, 2**30),
    "TK1 popc": (489.9, 3.2, 688.3, 2**30),
    "GTX 980 popc": (29.6, 69.4, 8370.0, 16 * 2**30),
    "GTX 980 fp64": (223.9, 76.8, 999.0, 16 * 2**30),
    "GTX 980 rem": (965.2, 100.2, 178.0, 16 * 2**30),
    "GTX 660 DRAM": (1170.0, 92.1, 10.0, 2**30),
    "GTX 660 shared": (220.2, 59.2, 82.4, 2**30),
    "GTX 980 IEEE division": (276.0, 100.8, 617.0, 16 * 2**30),
}


@pytest.mark.parametrize("cell", PUBLISHED)
def test_published_tables_follow_from_the_definition(cell):
    """Checklist: published efficiencies come out within 2 % with each table's normalisation."""
    milliseconds, watts, printed, operations = PUBLISHED[cell]
    result = a_result(operations=float(operations), time_s=milliseconds * 1e-3, mean_watts=watts)
    assert result.efficiency == pytest.approx(printed, rel=0.02)


def a_record(results):
    told = [result.record() for result in results]
    return {"device": "d", "driver": "1", "idle_watts": 75.0, "results": told}


def metered(count):
    found = []
    for sample in made_up(count):
        seconds = sample.counts["seconds"]
        work = {k: v for k, v in sample.counts.items() if k not in {"seconds", "unit_seconds"}}
        units = round(sample.counts["unit_seconds"] / seconds)
        found.append(
            a_result(
                name=sample.name,
                counts=work,
                time_s=seconds,
                compute_units=units,
                mean_watts=sample.joules / seconds,
            )
        )
    return found


def test_a_record_gives_a_model():
    found = fit_record(a_record(metered(24)))
    assert found.model.prices["seconds"] == pytest.approx(75.0, rel=1e-3)
    assert found.largest_error < 1e-3
    assert found.model.record()["units"]["seconds"] == FEATURES["seconds"]


def test_invalid_and_unmetered_results_are_no_samples():
    assert sample_of(a_result()) is None
    assert sample_of(a_result(mean_watts=100.0, invalid=("removed",))) is None
    assert sample_of(a_result(mean_watts=100.0)).joules == pytest.approx(2.0)
    with pytest.raises(InvalidArgumentError, match="no metered microbenchmarks"):
        fit_record({**a_record([a_result()]), "idle_watts": None})


def test_a_device_without_measurements_has_no_model(intel, tmp_path, monkeypatch):
    """Acceptance: energies are None on devices with time only, never invented."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "mine"))
    energy.estimating._model_of.cache_clear()
    with pytest.raises(InvalidArgumentError, match="clgraph microbench --store"):
        energy.model(intel)
    counts = traversal_counts(
        intel, seconds=1.0, kernel_seconds=0.5, vertices=10, edges=100, state_bytes=40
    )
    assert estimate(intel, counts) is None
    energy.estimating._model_of.cache_clear()


def test_a_stored_characterisation_is_the_model_of_its_device(intel, tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "mine"))
    energy.estimating._model_of.cache_clear()
    scale = Scale(16, Scale.of(intel).group_size, 1 << 20)
    quick = Protocol(launch_s=0.001, ramp_s=0.0, repeats=2, window_s=0.0)
    record = microbenchmarks.run(["launch.empty"], device=intel, scale=scale, protocol=quick)
    record.update(a_record(metered(24)))
    microbenchmarks.store(record, intel)
    assert energy.model(intel).prices["unit_seconds"] == pytest.approx(0.8, rel=1e-2)
    assert estimate(intel, {"seconds": 2.0}) == pytest.approx(150.0, rel=1e-2)
    energy.estimating._model_of.cache_clear()
