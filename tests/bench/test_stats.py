"""Statistics against values worked out by hand, and floors and published figures."""

import numpy as np
import pytest

from bench.report import published
from bench.runner import floors, stats
from bench.runner.pinned import GRAPHS
from bench.runner.problem import Least
from bench.runner.suites import SUITES


def test_harmonic_mean_is_the_mean_of_rates_over_equal_work():
    assert stats.harmonic_mean([1.0, 4.0, 4.0]) == pytest.approx(2.0)
    assert stats.harmonic_mean([7.0]) == pytest.approx(7.0)
    assert stats.harmonic_mean([]) is None
    assert stats.harmonic_mean([3.0, 0.0]) is None


def test_summary_of_known_values():
    found = stats.summary([5.0, 1.0, 2.0, 4.0, 3.0])
    assert found["count"] == 5
    assert found["median"] == 3.0
    assert found["quartiles"] == [2.0, 4.0]
    assert (found["min"], found["max"], found["mean"]) == (1.0, 5.0, 3.0)
    low, high = found["interval"]
    assert 1.0 <= low <= 3.0 <= high <= 5.0
    assert stats.summary([]) is None


def test_bootstrap_interval_is_repeatable_and_covers_what_it_promises():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(100):
        drawn = rng.normal(10.0, 1.0, 60).tolist()
        low, high = stats.bootstrap_interval(drawn)
        assert (low, high) == stats.bootstrap_interval(drawn)
        covered += low <= 10.0 <= high
    assert 88 <= covered <= 100
    assert stats.bootstrap_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
    assert stats.bootstrap_interval([]) is None


def test_relative_width_is_that_of_the_interval_over_the_median():
    assert stats.relative_width([9.0, 10.0, 11.0]) == pytest.approx(0.2)
    assert stats.relative_width([4.0] * 5) == 0
    assert stats.relative_width([5.0]) is None
    assert stats.relative_width([0.0, 0.0]) is None


def test_floor_counts_bytes_and_barriers():
    machine = {"device": {"name": "NVIDIA H200"}, "copy_gb_per_s": 1.0}
    least = Least(np.array([8e6]), np.array([100.0]), np.array([4e6 + 2e6 + 16e6]))
    found = floors.floor(machine, least, [0.5])
    assert found["bytes"] == 8e6
    assert found["floor_ms"] == pytest.approx(8e6 / 4270e6 + 0.09)
    assert found["push_floor_ms"] == pytest.approx((4e6 + 2e6 + 16e6) / 4270e6 + 0.09)
    assert found["ratio"] == pytest.approx(0.5 / found["floor_ms"])


def test_floor_elsewhere_uses_the_copy_of_the_run_or_is_unknown():
    least = Least(np.array([40_008.0]), np.array([9.0]))
    machine = {"device": {"name": "some CPU"}, "copy_gb_per_s": 10.0}
    found = floors.floor(machine, least, [1.0])
    assert found["floor_ms"] == pytest.approx(40_008 / 10e6)
    assert found["push_floor_ms"] is None
    assert floors.floor(machine | {"copy_gb_per_s": None}, least, [1.0]) is None


def test_published_figures_hold_for_their_card_only():
    assert published.best("bfs", "kron22", "NVIDIA H200") == ("BLEST", 0.29)
    assert published.best("bfs", "kron20x64", "NVIDIA H200") == ("GSWITCH", 0.41)
    assert published.known_ms("bfs", "mesh")["Gunrock 1"] == 312
    assert published.best("sssp", "mesh", "NVIDIA H200") == ("ADDS", 14.4)
    assert published.best("scc", "mesh", "NVIDIA H200") is None
    assert published.best("bfs", "kron22", "pthread-AMD EPYC") is None
    assert published.best("bfs", "usa-road-nw", "NVIDIA H200") is None


def test_every_case_names_a_pinned_graph_and_appears_once():
    for cases in SUITES.values():
        assert all(case.graph in GRAPHS for case in cases)
        keys = [case.key("auto") for case in cases]
        assert len(keys) == len(set(keys))
