"""The study of what operations cost: two occasions, a model, and kernels it has not seen."""

import copy
import json
import math

import pytest

from clgraph.cli.tools.bench import load_runner
from clgraph.profile import microbenchmarks


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
