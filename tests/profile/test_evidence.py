"""What passes found, made up as a card would give it, and what criteria and shares follow from it.

Formulas by themselves are in test_criteria; a processor's passes find half of their inputs only.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from ceilings import CEILINGS
from unit.microbench_offline import HOPPER

from clgraph.profile.assess import kernel_report, run_criteria, run_prediction
from clgraph.profile.evidence import Evidence
from clgraph.profile.instrument.sites import Site
from clgraph.profile.passes.counters import Totals
from clgraph.profile.passes.residency import Residency
from clgraph.profile.passes.timeline import Launch, Place
from clgraph.profile.static import StaticFacts

CARD = SimpleNamespace(traits=HOPPER)  # 132 units for 64 SIMD groups each
PLACE = Place("made.cl", "made", "0")
MS = 1_000_000  # nanoseconds


def launch(start, end, groups=10_000):
    return Launch(PLACE, 256 * groups, 256, 0, start, start, end)


def report(launches=None, mix=None, **found):
    """Judge a kernel of one block, a load and a barrier, of which this was found."""
    sites = (Site("block", 1, "", 5), Site("load", 2), Site("barrier", 3))
    counts = np.zeros((3, 5))
    counts[0, :2] = 40, 40 * 32
    counts[1] = 1e6, 32e6, 128e6, 3e6, 9e6
    evidence = Evidence(
        PLACE,
        SimpleNamespace(registers=64, local_bytes=0),
        [launches or [launch(0, MS)]],
        1 << 30,
        StaticFacts(64, 0, 0, mix),
        totals=Totals(sites, counts, np.ones(1), np.ones(1), 32),
        counts_lanes=True,
        **found,
    )
    return kernel_report(evidence, CARD, CEILINGS, {})


def test_only_waits_beyond_an_empty_barrier_are_stalls():
    """Of cycles in which nothing was issued; in the older model inactive groups weigh them."""
    waiting = Residency(active=1000, waited=300, barriers=10)  # 40 * 5 instructions were issued
    here = Residency(active=0.25 * 132 * 64 * 100, busy={0: 100}, cycles=100, records=1)
    found = report(waiting=waiting, residency=here, barrier_cycles=10.0).criteria["DSync"]
    assert found.inputs["stall_sync"] == pytest.approx((300 - 100) / (1000 - 200))
    assert found.value == pytest.approx(1 - 0.25)
    assert found.inputs["inactivity"] == pytest.approx(0.75)
    assert found.inputs["pro++"] == pytest.approx(1 - 0.25 * 0.75)


def test_balance_is_of_all_units_and_of_the_groups_that_share_one():
    """Units without a record have cycles of 0."""
    here = Residency(active=1200, busy={0: 100, 7: 50}, cycles=100, groups_per_unit=2, records=9)
    found = report(residency=here).criteria
    assert found["LB_SM"].value == pytest.approx((100 + 50) / 132 / 100)
    assert found["LB_W"].value == pytest.approx(1200 / (150 * 2 * 8))


def test_intensity_is_of_lane_instructions_and_of_requests_to_memory():
    mix = {0: {"integer": 2e6, "float": 1e6, "special": 1e6, "memory": 3, "atomic": 1, "local": 2}}
    mix[0]["control"] = 1e9
    here = Residency(active=1, busy={0: 1}, cycles=2, records=1)
    found = report(residency=here, mix=mix).criteria["CI"]
    alu, memory = 40 * 4e6 * 32 / 1e-3 / CEILINGS.integer, 40 * 6 / (2 * 132)
    assert 0 < alu < 1
    assert found.inputs["alu_utilisation"] == pytest.approx(alu)
    assert found.inputs["ldst_utilisation"] == pytest.approx(memory)
    assert found.value == pytest.approx((alu + memory) / 2)


def test_occupancy_is_the_mean_of_launches_by_time():
    """Half by registers for three milliseconds, a quarter by the grid for one."""
    found = report([launch(0, 3 * MS), launch(3 * MS, 4 * MS, groups=132 * 2)])
    assert found.criteria["OCC"].value == pytest.approx((3 * 0.5 + 0.25) / 4)
    assert found.criteria["OCC"].inputs["limiter"] == "registers"


def test_shares_of_the_time():
    """What is idle by the units' cycles; what the nearest cache and the next one move."""
    here = Residency(active=1, busy={0: 297, 1: 99}, cycles=4, records=1)
    shares = report(residency=here).prediction.shares
    assert shares["idle"] == pytest.approx(1 - 396 / (4 * 132))
    assert shares["L1"] == pytest.approx(3e6 * 128 / CEILINGS.local / 1e-3)
    assert shares["L2"] == pytest.approx(9e6 * 32 / CEILINGS.cache / 1e-3)
    assert shares["DRAM"] > 0
    assert sum(shares.values()) <= 1


def test_kernels_of_a_run_and_copies_beside_them():
    """HSync by the median of runs; of a copy, what lies beside a kernel counts as overlapping."""
    alone, near, far = ([launch(0, 10)], [launch(0, 10), launch(20, 30)],
                        [launch(0, 10), launch(70, 80)])  # fmt: skip
    found = run_criteria([far, alone, near], [], 0)
    assert found["HSync"].value == pytest.approx(2 / 3)
    assert found["HSync"].potential_speedup == pytest.approx(1.5)
    found = run_criteria([[launch(0, 100)]], [(70, 50, 150), (30, 200, 300)], 100)["DT"]
    assert found.inputs == {"allocated_bytes": 100, "copied_bytes": 100, "beside_bytes": 35}
    assert found.value == pytest.approx(1 + (35 - 100) / 200)


def test_potentials_are_limited_by_the_shares_of_their_memories():
    """Nearest cache, next one and local memory gain in their own part of the time only."""
    here = Residency(active=100, busy={0: 99, 1: 33}, cycles=4, groups_per_unit=1, records=1)
    found = report(residency=here)
    shares = found.prediction.shares
    assert shares["L1"] != shares["L2"]
    for name, share in (("Gran_L1", shares["L1"]), ("Gran_L2", shares["L2"])):
        criterion = found.criteria[name]
        gain = 1 / ((1 - share) + share * criterion.value)
        assert criterion.potential_speedup == pytest.approx(gain)
        assert gain > 1
    balance = found.criteria["LB_SM"]
    assert balance.potential_speedup == pytest.approx(1 / balance.value)
    assert found.criteria["OCC"].potential_speedup is None


def test_a_run_is_what_its_kernels_are_by_time():
    """Times and bounds add up; throughputs and shares are means by time."""
    long, short = report([launch(0, 3 * MS)]), report([launch(0, MS)])
    found = run_prediction([long, short], 4e-3)
    one, other = long.prediction, short.prediction
    assert one.mem_thr < other.mem_thr  # as much is moved in less time
    assert found.time_s == pytest.approx(one.time_s + other.time_s)
    assert found.mem_thr == pytest.approx((3 * one.mem_thr + other.mem_thr) / 4)
    assert found.arith_thr == pytest.approx((3 * one.arith_thr + other.arith_thr) / 4)
    assert found.bounds["launch"] == pytest.approx(2 * CEILINGS.launch_s)
    assert found.shares["L2"] == pytest.approx((3 * one.shares["L2"] + other.shares["L2"]) / 4)
    assert found.bound == "memory"
    assert found.potential_speedup == pytest.approx(min(1 / found.mem_thr, 1000))
    assert found.limiter == max(found.bounds, key=found.bounds.get)
