"""The criteria by their formulas: every numeric line of the specification, exactly."""

import pytest

from clgraph.errors import InvalidArgumentError
from clgraph.profile import criteria

HOPPER = {"capability": (9, 0), "units": 132}


def occupancy(group_size, registers, groups=1_000_000, local_bytes=0):
    return criteria.occupancy(
        **HOPPER,
        group_size=group_size,
        groups=groups,
        registers=registers,
        local_bytes=local_bytes,
    )


@pytest.mark.parametrize(
    ("group_size", "registers", "value"),
    [(256, 32, 1.0), (256, 64, 0.5), (96, 32, 63 / 64)],
)
def test_occupancy_of_hopper(group_size, registers, value):
    assert occupancy(group_size, registers).value == value


@pytest.mark.parametrize(
    ("asked", "limiter"),
    [
        ({"group_size": 256, "registers": 64}, "registers"),
        ({"group_size": 256, "registers": 16, "local_bytes": 48 << 10}, "local memory"),
        ({"group_size": 32, "registers": 16}, "slots"),
        ({"group_size": 1024, "registers": 16}, "threads"),
        ({"group_size": 256, "registers": 32, "groups": 8}, "grid"),
    ],
)
def test_occupancy_names_its_limiter(asked, limiter):
    assert occupancy(**asked).limiter == limiter


def test_occupancy_of_a_grid_that_fills_half_of_the_device():
    half = occupancy(256, 32, groups=132 * 8 // 2)
    assert half.value == 0.5
    assert (half.grid, half.unit, half.limiter) == (0.5, 1.0, "grid")


def test_occupancy_without_registers_has_no_such_limit():
    assert occupancy(256, None).value == 1.0


def test_host_synchronisation():
    assert criteria.host_synchronisation([(0, 10), (20, 10)]) == pytest.approx(2 / 3)
    assert criteria.host_synchronisation([(5, 10)]) == 1.0
    assert criteria.host_synchronisation([]) is None
    # Kernels of several queues: what they cover together counts.
    assert criteria.host_synchronisation([(0, 10), (5, 10)]) == 1.0


def test_device_synchronisation_in_both_models():
    assert criteria.inactivity(32.0 * 100, 64, 100) == 0.5
    assert criteria.device_synchronisation(0.4, 0.5, model="pro++") == 0.8
    assert criteria.device_synchronisation(0.4, 0.5, model="fine") == 0.6


def test_divergence_gives_the_mean_of_groups_and_the_weighted_ratio():
    assert criteria.divergence([16, 16], [32, 32]) == (0.5, 0.5)
    mean, weighted = criteria.divergence([32, 16], [32, 320])
    assert mean == pytest.approx((1 + 0.05) / 2)
    assert weighted == pytest.approx(48 / 352)
    assert criteria.divergence([], []) is None


def test_warp_balance_of_one_busy_group_in_eight():
    busy, others = 1_000_000.0, 7 * 10.0
    value = criteria.warp_balance(busy + others, busy, 256, 1, 32)
    assert value == pytest.approx(1 / 8, rel=1e-3)
    assert criteria.warp_balance(1.0, 0.0, 256, 1, 32) is None


def test_warp_balance_rounds_group_sizes_up():
    assert criteria.warp_balance(200.0, 100.0, 40, 1, 32) == 1.0


def test_unit_balance():
    assert criteria.unit_balance([100, 100, 50, 50]) == 0.75
    assert criteria.unit_balance([100, 0]) == 0.5
    assert criteria.unit_balance([]) is None


def test_granularity_of_a_stride_of_a_line():
    # A request of 32 lanes, 4 bytes each, 128 bytes apart: 32 lines and 32 sectors.
    assert criteria.granularity({4: 32}, 32, 128) == 1 / 32
    assert criteria.granularity({4: 32}, 32, 32) == 1 / 8


def test_granularity_of_unit_stride_and_of_a_broadcast():
    assert criteria.granularity({4: 32}, 1, 128) == 1.0
    assert criteria.granularity({4: 32}, 4, 32) == 1.0
    assert criteria.granularity({4: 32}, 1, 32) == 1.0  # 128 bytes asked for, 32 moved
    assert criteria.granularity({}, 0, 128) is None


def test_granularity_counts_each_size():
    sizes = dict.fromkeys((1, 2, 4, 8, 16), 32.0)
    assert criteria.granularity(sizes, 31, 128) == 32 * 31 / (31 * 128)


@pytest.mark.parametrize(("best", "passes", "value"), [(1, 2, 1 / 2), (1, 32, 1 / 32), (4, 4, 1)])
def test_local_efficiency(best, passes, value):
    assert criteria.local_efficiency(best, passes) == value


def test_local_efficiency_without_accesses():
    assert criteria.local_efficiency(0, 0) is None


def test_local_bandwidth_efficiency_of_kepler():
    assert criteria.local_bandwidth_efficiency(31, 8, 4) == pytest.approx(0.0625)


def test_computation_intensity_is_a_mean_of_utilisations():
    assert criteria.computation_intensity(0.5, 1.0) == 0.75
    with pytest.raises(InvalidArgumentError, match="utilisation alu"):
        criteria.computation_intensity(1.5, 0.0)


@pytest.mark.parametrize(
    ("overlapping", "offset", "value"), [(0, 1.0, 0.5), (0, 0.5, 0.0), (7, 1.0, 1.0), (7, 0.5, 0.5)]
)
def test_data_transfer_of_as_much_as_was_allocated(overlapping, offset, value):
    assert criteria.data_transfer(7, 7, overlapping, offset=offset) == value


def test_data_transfer_without_copies_or_memory():
    assert criteria.data_transfer(10, 0) == 1.0
    assert criteria.data_transfer(0, 0) is None


@pytest.mark.parametrize(("form", "value"), [("printed", 0.8), ("reading", 0.7)])
def test_throughput_occupancy(form, value):
    assert criteria.throughput_occupancy(0.5, 0.4, form=form) == pytest.approx(value)
    assert criteria.throughput_occupancy(0.1, 0.97, form=form) == 1.0
    assert criteria.throughput_occupancy(0.1, 0.94, form=form) < 1.0


def test_every_criterion_has_a_hint():
    for name in criteria.HINTS:
        assert criteria.Criterion(name, 0.1).hint
