"""Potential speed-ups, shares of the time, bounds, and characterisation functions."""

from dataclasses import replace

import numpy as np
import pytest
from ceilings import CEILINGS

from clgraph.errors import InvalidArgumentError
from clgraph.profile.bounds import PARTS, Bounds, bounds_of, work_of
from clgraph.profile.characterise import (
    COMPONENTS,
    CharacterisationFunction,
    ceilings_of,
    costs_of,
    function_from,
    functions_of,
)
from clgraph.profile.instrument.sites import Site
from clgraph.profile.passes.counters import Chain, Totals
from clgraph.profile.prediction import corrected, potential_speedup, speedup, time_shares


@pytest.mark.parametrize("name", ["HSync", "TDiv", "LB_W", "LB_SM", "THR_OCC"])
def test_speedups_that_are_inverses(name):
    assert speedup(name, 0.25).reading == speedup(name, 0.25).printed == 4.0


def test_speedup_of_barriers():
    found = speedup("DSync", 0.6, inactive=0.5)
    assert found.printed == pytest.approx(0.2)  # a lost part
    assert found.reading == pytest.approx(1 / 0.8)


def test_speedup_of_memory_is_limited_by_its_share():
    found = speedup("Gran_L2", 0.25, share=0.5)
    assert found.printed == 2.0
    assert found.reading == pytest.approx(1 / (0.5 + 0.5 * 0.25))
    assert speedup("SMem_eff", 0.01, share=0.0).reading == 1.0


@pytest.mark.parametrize("name", ["DSync", "Gran_L1", "Gran_L2", "SMem_eff", "TDiv", "HSync"])
def test_speedups_are_at_least_one_and_capped(name):
    for value in np.linspace(0.0, 1.0, 11):
        for share in (0.0, 0.3, 1.0):
            found = speedup(name, float(value), share=share, inactive=share)
            assert 1.0 <= found.reading <= 1000.0
    worst = speedup("TDiv", 0.0)
    assert worst.reading == 1000.0
    assert worst.capped


@pytest.mark.parametrize(
    ("memory", "arith", "bound", "gain"),
    [(0.25, 0.1, "memory", 4.0), (0.1, 0.5, "compute", 2.0), (0.0, 0.0, "memory", 1000.0)],
)
def test_potential_speedup_is_the_inverse_of_what_binds(memory, arith, bound, gain):
    assert potential_speedup(memory, arith) == (bound, gain)


def test_time_shares_add_up_to_one_at_most():
    shares = time_shares({"DRAM": 3.0, "L2": 1.0, "arithmetic": 0.5}, 10.0, idle=2.0)
    assert shares["DRAM"] == 0.3
    assert shares["idle"] == 0.2
    overfull = time_shares({"DRAM": 30.0, "L2": 10.0}, 10.0, idle=10.0)
    assert sum(overfull.values()) == pytest.approx(1.0)
    assert min(overfull.values()) >= 0.0
    assert sum(time_shares({"DRAM": 0.0}, 0.0).values()) == 0.0


def totals(*rows, lanes=32, chain=None):
    """Counters of places: kind, weight, then the five numbers."""
    sites = tuple(Site(kind, 1, "", weight) for kind, weight, *_ in rows)
    counts = np.array([numbers for _, _, *numbers in rows], np.float64)
    return Totals(sites, counts, np.ones(1), np.ones(1), lanes, chain=chain or Chain())


def test_a_streaming_copy_is_near_its_ceiling_and_a_strided_one_is_not():
    # 64 MiB are read and written; the strided copy moves a sector for each word.
    requests, sectors = 2.0**19, 2.0**21
    streaming = totals(
        ("load", 0, requests, 2.0**24, 2.0**26, requests, sectors),
        ("store", 0, requests, 2.0**24, 2.0**26, requests, sectors),
    )
    work = work_of(streaming, 1, 1 << 27)
    time_s = 2.0**27 / CEILINGS.copy
    assert potential_speedup(work.sectors * 32 / time_s / CEILINGS.copy, 0.0)[1] <= 1.15
    assert bounds_of(work, CEILINGS).limiter == "stream"
    strided = totals(
        ("load", 0, requests, 2.0**24, 2.0**26, 2.0**24, 2.0**24),
        ("store", 0, requests, 2.0**24, 2.0**26, 2.0**24, 2.0**24),
    )
    scattered = work_of(strided, 1, 1 << 30)
    assert scattered.streamed_bytes == 0
    useful = 2.0**27  # of 2 ** 30 bytes that move
    assert speedup("Gran_L2", useful / (scattered.sectors * 32)).reading > 2
    assert bounds_of(scattered, CEILINGS).limiter == "random"


def test_bounds_by_resource():
    counted = totals(
        ("block", 10, 100.0, 3200.0, 0.0, 0.0, 0.0),
        ("atomic", 0, 10.0, 320.0, 1280.0, 320.0, 320.0),
        ("local_load", 0, 10.0, 320.0, 1280.0, 40.0, 10.0),
    )
    work = work_of(counted, 3, 4_000_000)
    assert work.operations == 100 * 10 * 32
    assert work.atomics == 320
    assert work.local_bytes == 40 * 128
    bounds = bounds_of(work, CEILINGS)
    assert bounds.times["atomics"] == pytest.approx(320 / 100e9)
    assert bounds.times["launch"] == pytest.approx(6e-6)
    assert bounds.limiter == "launch"
    assert bounds.time_s() >= max(bounds.times.values())
    assert bounds.priced({"launch": 2.0}).times["launch"] == pytest.approx(12e-6)


def test_a_chain_comes_on_top_of_what_all_share():
    counted = totals(
        ("wait", 0, 264.0, 0.0, 0.0, 0.0, 0.0),
        ("block", 10, 1e6, 3.2e7, 0.0, 0.0, 0.0),
        chain=Chain(operations=29e6, requests=50.0, passes=100.0, barriers=2.0),
    )
    bounds = bounds_of(work_of(counted, 1, 4_000_000, groups=132), CEILINGS)
    assert set(bounds.parts) == set(PARTS)
    alone = 16 * 132 / 29e12  # a lane instruction of one SIMD group among none
    assert bounds.parts["operations"] == pytest.approx(29e6 * alone)
    assert bounds.parts["requests"] == pytest.approx(10e-6)
    assert bounds.parts["passes"] == pytest.approx(1e-6)
    assert bounds.parts["barriers"] == pytest.approx(320 * alone)
    assert bounds.parts["waiting"] == pytest.approx(2e-6)
    chain = sum(bounds.parts[name] for name in ("operations", "requests", "passes", "barriers"))
    assert bounds.times["latency"] == pytest.approx(chain)
    assert bounds.limiter == "latency"
    assert bounds.time_s() == pytest.approx(chain + 2e-6 + 2e-6 + bounds.parts["integer"])
    cheaper = bounds.priced({"operations": 0.5})
    assert bounds.time_s() - cheaper.time_s() == pytest.approx(bounds.parts["operations"] / 2)


def test_what_the_nearest_cache_holds_moves_no_further():
    rows = totals(
        ("load", 0, 100.0, 3200.0, 12800.0, 3200.0, 3200.0),
        ("load", 0, 10.0, 320.0, 1280.0, 40.0, 40.0),
        chain=Chain(requests=3.0, hits=50.0),
    )
    far = work_of(rows, 1, 4_000_000)
    assert (far.random_sectors, far.streamed_bytes, far.lines) == (3200, 40 * 32, 3240)
    rows.missed = np.array([1000.0, 8.0])
    near = work_of(rows, 1, 4_000_000)
    assert (near.random_sectors, near.streamed_bytes, near.lines) == (1000, 8 * 32, 3240)
    parts = bounds_of(near, CEILINGS).parts
    assert parts["random"] == pytest.approx(1000 / 160e9)
    assert parts["lines"] == pytest.approx(3240 * 128 / 33e12)
    assert parts["requests"] == pytest.approx(3 * 200e-9)
    assert parts["hits"] == pytest.approx(50 * 20e-9)


def test_atomics_at_one_address_come_one_after_the_other():
    rows = totals(("atomic", 0, 100.0, 3200.0, 12800.0, 100.0, 100.0))
    rows.contended = 3000.0
    bounds = bounds_of(work_of(rows, 1, 4_000_000), CEILINGS)
    assert bounds.parts["contention"] == pytest.approx(1.5e-6)
    assert bounds.parts["atomics"] == pytest.approx(3200 / 100e9)
    nobody = bounds_of(work_of(rows, 1, 4_000_000), replace(CEILINGS, contended=None))
    assert nobody.parts["contention"] == 0.0


def test_barriers_of_more_work_groups_take_longer():
    assert [CEILINGS.barrier_s(groups) for groups in (1, 132, 594, 5000)] == pytest.approx(
        [1e-6, 1e-6, 1.5e-6, 2e-6]
    )
    assert replace(CEILINGS, grid_barriers=()).barrier_s(132) == 0.0


def test_rates_of_random_accesses_between_measured_sizes():
    assert CEILINGS.random_rate(1.0) == pytest.approx(160e9)
    assert CEILINGS.random_rate(1e12) == pytest.approx(45e9)
    middle = CEILINGS.random_rate((4e6 * 1e9) ** 0.5)
    assert middle == pytest.approx((160e9 * 45e9) ** 0.5)


def test_the_limiter_is_the_largest_bound():
    assert Bounds({"stream": 1.0, "random": 2.0, "launch": 0.5}).limiter == "random"


SAMPLES = {1 / 32: 5.0, 0.25: 20.0, 0.5: 30.0, 1.0: 40.0}


def test_a_function_reproduces_its_samples():
    function = function_from("divergence", SAMPLES)
    for x, rate in SAMPLES.items():
        assert x * function(x) == pytest.approx(rate / 40.0)
    assert [x for x, _ in function.samples] == sorted(SAMPLES)


def test_a_quantised_function_reproduces_them_too_and_keeps_the_order():
    function = function_from("divergence", SAMPLES).quantised(32)
    assert len(function.samples) >= 32
    for x, rate in SAMPLES.items():
        assert x * function(x) == pytest.approx(rate / 40.0)
    values = [value for _, value in function.samples]
    assert values == sorted(values)


def test_a_function_is_clamped_outside_of_its_samples():
    function = function_from("shmem", {0.5: 1.0, 1.0: 2.0})
    assert function.performance(0.1) == 0.5
    assert function(0.1) == function(0.5)
    assert function(2.0) == function(1.0) == 1.0


@pytest.mark.parametrize("points", [{1.0: 1.0}, {0.0: 1.0, 1.0: 2.0}, {0.5: 1.0, 2.0: 1.0}])
def test_points_that_make_no_function_are_refused(points):
    with pytest.raises(InvalidArgumentError):
        function_from("arith", points)


def test_corrected_criteria_beside_the_raw_ones():
    functions = {
        "divergence": function_from("divergence", {0.5: 3.0, 1.0: 4.0}),
        "shmem": function_from("shmem", {0.5: 1.0, 1.0: 2.0}),
        "dram": CharacterisationFunction("dram", ((0.1, 0.1), (1.0, 0.8))),
    }
    assert corrected("DIVERGENCE", 0.5, functions) == pytest.approx(0.75)
    assert corrected("SHMEMEFFICIENCY", 0.5, functions) == pytest.approx(0.5)
    assert corrected("MEMTHR", 0.4, functions) == pytest.approx(0.5)
    assert corrected("ARITHTHR", 0.4, functions) is None


def record(**rates):
    """A record of microbenchmarks with these results, one operation each."""
    results = [
        {
            "name": name,
            "family": name.partition("=")[0],
            "unit": "",
            "value": float(name.partition("=")[2]) if "=" in name else None,
            "operations": rate,
            "bytes_moved": rate * 4,
            "counts": {},
            "compute_units": 1,
            "time_s": 1.0,
            "spread": 0.0,
            "repeats": 1,
            "rounds": 1,
        }
        for name, rate in rates.items()
    ]
    return {"results": results, "skipped": [], "cache_bytes": 1 << 20}


def test_the_four_functions_of_a_record():
    sweeps = {f"divergence={k}": k for k in (1, 8, 32)}
    sweeps |= {f"coalescence={k}": 2 * k for k in (1, 32)}
    sweeps |= {f"ilp={k}": k for k in (1, 2, 4)}
    sweeps |= {f"bank_conflict={k}": 32 / k for k in (1, 2, 32)}
    functions = functions_of(record(**sweeps))
    assert set(functions) == {"divergence", "dram", "arith", "shmem"}
    assert functions["shmem"].samples[0] == (1 / 32, 1 / 32)
    assert functions["arith"].samples[0] == (0.25, 0.25)
    for function in functions.values():
        assert function.samples[-1] == (1.0, 1.0)
        assert list(function.samples) == sorted(function.samples)


def test_twelve_costs_eight_of_memory_and_four_of_arithmetic():
    assert len(COMPONENTS) == 12
    assert sum(way in {"load", "store"} for _, way in COMPONENTS) == 8
    found = costs_of(record(**{"latency.dram": 2.0, "dram.store": 4.0}))
    assert len(found) == 12
    assert found["DRAM load"] == 0.5
    assert found["float operation"] is None


def test_ceilings_of_a_record():
    found = ceilings_of(
        record(
            **{
                "access_size=4": 10.0,
                "access_size=16": 30.0,
                "random_footprint=65536": 9.0,
                "random_footprint=1048576": 3.0,
                "random.atomic_cached": 2.0,
                "random.atomic": 1.0,
                "int32_simple.add_int": 7.0,
            }
        )
    )
    assert found.copy == 120.0
    assert found.random_reads == ((65536.0, 9.0), (1048576.0, 3.0))
    assert [rate for _, rate in found.atomics] == [2.0, 1.0]
    assert (found.integer, found.launch_s, found.local) == (7.0, 0.0, None)
    assert ceilings_of(record()) is None
