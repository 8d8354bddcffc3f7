"""The rule that chooses a balancer by criteria, and the corpus that weights are fitted on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import clgraph as cg
from bench.studies.profiling import balancer_choice
from bench.studies.profiling.balancer_choice import DISTRIBUTED
from clgraph.profile import corpus, mixes
from clgraph.profile.bounds import Bounds
from clgraph.profile.choose import suggested_balancer
from clgraph.profile.criteria import Criterion
from clgraph.profile.pricing import device_prices, fitted
from clgraph.profile.quality import PUBLISHED, device_weights


def criteria(divergence, balance):
    return {"TDiv": Criterion("TDiv", divergence, "why"), "LB_W": Criterion("LB_W", balance)}


@pytest.mark.parametrize(
    ("divergence", "balance", "balancer"),
    [
        (1.0, 1.0, "item_thread"),
        (0.7, 1.0, "warp_search"),
        (0.4, 1.0, "warp_search"),
        (0.3, 0.5, "cws"),
        (0.1, None, "cws"),
        (None, 0.5, None),
    ],
)
def test_which_balancer_criteria_point_to(divergence, balance, balancer):
    found = suggested_balancer(criteria(divergence, balance))
    assert found.balancer == balancer
    assert found.reason


@pytest.mark.runtimes("pocl+lanes32")
def test_choices_against_the_recorded_best(device):
    times = balancer_choice.recorded_times(json.loads(balancer_choice.RECORD.read_text()))
    assert min(len(found) for found in times.values()) == 10
    graph = cg.generate.kron(10, seed=1)
    (row,) = balancer_choice.choices(
        {"kron20": times["kron20"]}, lambda _: np.asarray(graph.degrees, np.uint32), device
    )
    assert row["lane_use"] < 0.35
    assert row["chosen"] == row["best"] == "cws"
    assert row["item_thread_slower"] > 10 * row["slower"]


def test_the_record_of_choices():
    """On graphs that its borders were set on the rule is right, on others it is judged.

    There the best single balancer is ahead of it, which the page says too.
    """
    record = json.loads(
        (balancer_choice.RESULTS / "pocl-20261127-balancer-choice.json").read_text()
    )
    assert record["machine"]["dirty"] is False
    for name, path in (("graphs", balancer_choice.RECORD), ("distributions", DISTRIBUTED)):
        times = balancer_choice.recorded_times(json.loads(path.read_text()))
        rows = record[name]["rows"]
        assert [row["sizes"] for row in rows] == list(times)
        for row in rows:
            best = min(times[row["sizes"]].values())
            assert row["slower"] == pytest.approx(times[row["sizes"]][row["chosen"]] / best)
        assert record[name]["judged"] == pytest.approx(balancer_choice.judged(rows))
    assert record["graphs"]["judged"]["slower largest"] == 1.0
    assert record["distributions"]["judged"]["slower median"] < 1.5
    assert record["distributions"]["judged"]["slower largest"] < 2.0


@pytest.mark.rest
def test_calibration_runs_the_corpus_and_keeps_the_weights(pocl, tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(corpus, "BALANCERS", ("item_thread", "multi_phase"))
    monkeypatch.setattr(corpus, "PRESETS", ())
    monkeypatch.setattr(mixes, "MIXES", mixes.MIXES[:2])
    for given, name in (("_plans", "components"), ("_primitives", "reduce")):
        every = getattr(corpus, given)
        monkeypatch.setattr(
            corpus, given, lambda *a, every=every, name=name: {name: every(*a)[name]}
        )
    kernels = []

    def noting(given, **others):
        kernels.extend(given)
        return fitted(given, **others)

    monkeypatch.setattr(corpus, "fitted", noting)
    monkeypatch.setattr(corpus, "_SHAPES", ("even", "one large"))
    assert device_weights(pocl) is None
    told = []
    found = corpus.calibrate(pocl, scale=8, seconds=600.0, progress=lambda *what: told.append(what))
    assert sum(found.weights.values.values()) == pytest.approx(585)
    assert min(found.weights.values.values()) >= 0
    assert set(found.weights.values) == set(PUBLISHED.values)
    assert found.left_out_error >= 0
    assert set(found.spearman) == {"expansion of even items", "expansion of one large items"}
    assert device_weights(pocl) == found.weights
    assert device_prices(pocl) == found.prices
    assert {one.name for one in kernels} == {"mixes", "reduce", "components", *corpus.BALANCERS}
    assert found.record()["price_left_out_error"] == found.prices.left_out_error
    # Profiles of the device take these prices from now on.
    plan = cg.ConnectedComponents(cg.generate.kron(8, seed=1), device=pocl)
    report = cg.profile(plan, passes=("counters",), device=pocl, repeats=1)
    assert report.prices == found.prices
    for kernel in report.kernels:
        bounds = Bounds(kernel.prediction.parts).priced(found.prices.values)
        assert kernel.prediction.time_s == pytest.approx(bounds.time_s())
        assert kernel.prediction.bounds == pytest.approx(bounds.times)
    assert told[-1][0] == told[-1][1]


def test_calibration_begins_nothing_that_would_end_too_late(pocl, monkeypatch, tmp_path):
    """By a clock that goes on when something is profiled, each as long as the longest before."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    now, lengths = [0.0], iter([3.0, 1.0, 6.0, 1.0, 1.0, 4.0, 2.0, 5.0, 7.0, 9.0])

    def took(*_, **__):
        now[0] += next(lengths)
        raise cg.ClgraphError("not today")

    def given(*_):
        return ((str(i), "one", lambda: None) for i in range(99))

    monkeypatch.setattr(corpus, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    for name, value in (("profile", took), ("others", given), ("specimens", given)):
        monkeypatch.setattr(corpus, name, value)
    monkeypatch.setattr(corpus, "characterise", lambda *_: now.__setitem__(0, 4.0))
    with pytest.raises(cg.InvalidArgumentError, match="not today"):
        corpus.calibrate(pocl, seconds=40.0)
    # Half of them for others: behind 15 one of 6 might not end in time. Then up to 38: 2 are kept.
    assert now[0] == 14.0 + 1.0 + 1.0 + 4.0 + 2.0 + 5.0 + 7.0
    assert now[0] <= 40.0
