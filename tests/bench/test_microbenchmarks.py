"""The study of what operations cost: two occasions, a model, and kernels it has not seen."""

import copy
import json
import math

import pytest

from bench.report.docs import RESULTS
from clgraph.cli.tools.bench import load_runner
from clgraph.profile import microbenchmarks

RECORDS = "h200-20261122-microbenchmarks*.json"


@pytest.fixture(scope="module")
def study():
    return load_runner("studies.profiling.microbenchmarks")


@pytest.fixture(scope="module")
def record(study, any_device, tmp_path_factory):
    """What the study writes where there is no meter, in little time."""
    file = tmp_path_factory.mktemp("study") / "record.json"
    words = ["launch.empty", "--device", ":".join(map(str, any_device.index)), "--seconds", "3"]
    assert study.main([*words, "--json", str(file)]) == 0
    return json.loads(file.read_text())


@pytest.mark.rest
def test_without_a_meter_there_are_times_and_no_model(record, study):
    assert "no metered microbenchmarks" in record["model"]["none"]
    assert record["repeatability"] == {}
    assert "no energy model" in study._render(record)
    assert microbenchmarks.validated(record) is record


def test_kernels_that_no_model_has_seen_are_counted(study, any_device):
    found = study.unseen(any_device, scale=6, window_s=0.1, until=math.inf)
    assert {"bfs auto kron", "bfs auto grid", "sssp kron", "components kron"} <= {
        case["name"] for case in found
    }
    for case in found:
        assert case["seconds"] > 0
        assert case["counts"]["seconds"] >= case["counts"]["unit_seconds"] / 1e4
        assert case["counts"]["memory_bytes"] > 0


def test_two_occasions_and_a_model_are_shown(record, study):
    """Bar: nJ per operation on two occasions; mean absolute error on what was not in the fit."""
    metered = copy.deepcopy(record)
    metered["idle_watts"] = 75.0
    told = metered["results"][0]
    metered["results"] = []
    for place, watts in enumerate((200.0, 202.0, 300.0, 300.0)):
        more = {**told, "name": f"x{place // 2}", "mean_watts": watts, "time_s": 1.0}
        more |= {"operations": 1e9, "occasion": place % 2, "nj_per_operation": watts}
        more |= {"compute_units": 100, "counts": {"memory_bytes": 1e10 * (place // 2)}}
        metered["results"].append(more)
    metered["unseen"] = [{"name": "y", "joules": 150.0, "counts": {"seconds": 1.8}}]
    metered["repeatability"] = study.repeatability(metered)
    metered["model"] = study._modelled(metered)
    assert metered["repeatability"] == {"x0": pytest.approx(2 / 201), "x1": 0.0}
    assert metered["model"]["prices"]["seconds"] == pytest.approx(75.0, rel=0.05)
    assert metered["model"]["unseen_errors"]["y"] == pytest.approx(135 / 150 - 1, rel=0.05)
    shown = study._render(metered)
    assert "1.00%" in shown
    assert "on kernels not seen" in shown


def test_the_second_occasion_begins_with_one_of_every_family(study):
    entries = microbenchmarks.choose(["important"])
    again = study._in_turn(entries, 1)
    assert study._in_turn(entries, 0) == entries
    assert set(again) == set(entries)
    families = {entry.family for entry in entries}
    assert {entry.family for entry in again[: len(families)]} == families


@pytest.fixture(scope="module")
def recorded():
    """The last results of each entry on an H200 by name and occasion, and how far those differ."""
    records = [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob(RECORDS))]
    results, repeated = {}, {}
    for told in sorted(records, key=lambda record: record["when"]):
        assert microbenchmarks.validated(told) is told
        for row, result in zip(told["results"], microbenchmarks.results_of(told), strict=True):
            results[row["name"], row["occasion"]] = result  # none is invalid
        repeated |= told["repeatability"]
    return results, repeated


def test_recorded_throughputs_come_near_the_specification(recorded):
    """Checklist: at most 1.05 of it, simple instructions at least 75 %, special ones 90 %."""
    results, _ = recorded
    reached = {
        name: result.throughput / result.throughput_spec
        for (name, _), result in results.items()
        if result.throughput_spec and result.throughput
    }
    assert len(reached) > 25
    assert max(reached.values()) <= 1.05
    simple = [share for name, share in reached.items() if "_simple." in name]
    special = [share for name, share in reached.items() if "special." in name or "popc." in name]
    assert len(simple) >= 9
    assert len(special) >= 6
    assert min(simple) >= 0.75
    assert min(special) >= 0.9


def test_recorded_windows_are_whole_and_agree_with_the_counter(recorded):
    """Checklist: twenty updates, counter and power within 5 %, E = P t, nJ alike on two occasions.

    An empty launch is the host's more than the card's.
    """
    results, repeated = recorded
    metered = [result for result in results.values() if result.mean_watts is not None]
    assert len(metered) > 60
    for result in metered:
        assert result.window["samples"] >= 19
        assert result.window["integrated_watts"] == pytest.approx(result.mean_watts, rel=0.05)
        assert result.energy_j == pytest.approx(result.mean_watts * result.time_s, rel=0.01)
        nanojoules = result.nj_per_operation * result.operations
        assert nanojoules == pytest.approx(result.energy_j * 1e9)
        assert None not in (result.idle_watts, result.window["temperature_c"])
        assert result.window["duty"] > (0.95 if result.name != "launch.empty" else 0)
    assert len(repeated) > 40
    assert max(far for name, far in repeated.items() if name != "launch.empty") < 0.05


def test_recorded_sweeps_follow_what_they_vary(recorded):
    """Checklist: units that took part; conflicts cost time in proportion; lanes that part do.

    Of 32 ways one after the other the sheet expects 16 to 34 times the time. The card took 34.2.
    """
    results, _ = recorded
    first = {name: result for (name, occasion), result in results.items() if occasion == 0}
    units = [result for name, result in first.items() if name.startswith("sm_occupancy=")]
    assert len(units) == 9
    assert all(result.compute_units == result.value for result in units)
    parted = first["divergence=32"].rate / first["divergence=1"].rate
    assert 16 <= parted < 34.3
    alone, all_meet = first["bank_conflict=1"].rate, first["bank_conflict=32"].rate
    assert 16 <= alone / all_meet <= 34
