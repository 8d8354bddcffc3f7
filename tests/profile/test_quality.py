"""The quality metric: published weights, what is missing, several kernels, and fitting."""

import math

import numpy as np
import pytest

from clgraph.errors import InvalidArgumentError
from clgraph.profile.quality import (
    PUBLISHED,
    Specimen,
    Weights,
    aggregated,
    calibrated,
    quality,
)

ONES = dict.fromkeys(PUBLISHED.values, 1.0)


def test_the_published_weights():
    assert dict(PUBLISHED.values) == {
        "OCC": 30,
        "HSync": 40,
        "DSync": 15,
        "TDiv": 40,
        "Gran_L1": 100,
        "Gran_L2": 100,
        "LB_W": 50,
        "LB_SM": 30,
        "SMem_eff": 30,
        "CI": 100,
        "DT": 50,
    }
    assert sum(PUBLISHED.values.values()) == 585


def test_quality_of_ones_and_of_one_zero():
    assert quality(ONES) == 1.0
    assert quality(ONES | {"OCC": 0.0}) == pytest.approx(1 - 30 / 585)
    assert quality(ONES | {"CI": 0.0}) == pytest.approx(1 - 100 / 585)


def test_what_is_none_is_dropped_or_counts_as_one():
    values = ONES | {"CI": None, "OCC": 0.0}
    assert quality(values) == pytest.approx(1 - 30 / 485)
    assert quality(values, na_policy="one") == pytest.approx(1 - 30 / 585)
    assert quality({}) is None


def test_kernels_count_by_their_time_and_the_runs_own_criteria_once():
    kernels = [(3.0, {"TDiv": 1.0, "OCC": None}), (1.0, {"TDiv": 0.0, "OCC": 0.5})]
    found = aggregated(kernels, {"HSync": 0.25, "DT": None})
    assert found["TDiv"] == 0.75
    assert found["OCC"] == 0.5  # of the only kernel that has one
    assert (found["HSync"], found["DT"]) == (0.25, None)
    assert found["CI"] is None


def test_weights_of_ones_own_and_from_a_file(tmp_path):
    own = Weights({"TDiv": 3.0, "OCC": 1.0})
    assert quality({"TDiv": 1.0, "OCC": 0.0, "CI": 0.0}, own) == 0.75
    own.save(tmp_path / "weights.json")
    assert Weights.load(tmp_path / "weights.json") == own


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "of another"}', '{"schema": 3}'])
def test_a_file_without_weights_is_refused(tmp_path, text):
    (tmp_path / "weights.json").write_text(text)
    with pytest.raises(InvalidArgumentError, match="holds no weights"):
        Weights.load(tmp_path / "weights.json")


@pytest.mark.parametrize("values", [{"speed": 1.0}, {"OCC": -1.0}, {"OCC": math.inf}])
def test_weights_that_are_none_are_refused(values):
    with pytest.raises(InvalidArgumentError):
        Weights(values)


def corpus(weights, primitives=6, implementations=6):
    """Implementations whose speed is exactly what the weights say of their criteria."""
    rng = np.random.default_rng(1)
    names, whole = list(weights), sum(weights.values())
    found = []
    for primitive in range(primitives):
        for implementation in range(implementations):
            values = rng.random(len(names)) if implementation else np.ones(len(names))
            score = sum(w * v for w, v in zip(weights.values(), values, strict=True)) / whole
            criteria = dict(zip(names, values.tolist(), strict=True))
            found.append(Specimen(f"p{primitive}", f"i{implementation}", criteria, 1 / score))
    return found


def test_synthetic_weights_are_recovered_within_one_per_cent():
    fit = calibrated(corpus(PUBLISHED.values), device="a device")
    for name, weight in PUBLISHED.values.items():
        assert fit.weights.values[name] == pytest.approx(weight, rel=0.01)
    assert sum(fit.weights.values.values()) == pytest.approx(585)
    assert fit.weights.origin == "calibrated"
    assert fit.error < 0.01
    assert fit.left_out_error < 0.01
    assert min(fit.pearson.values()) > 0.99
    assert min(fit.spearman.values()) > 0.99


def test_no_weight_is_negative_and_constant_criteria_have_none():
    weights = dict(PUBLISHED.values)
    specimens = [
        Specimen(s.primitive, s.implementation, {**s.criteria, "DT": 0.3}, s.time_s)
        for s in corpus({**weights, "DT": 0.0})
    ]
    fit = calibrated(specimens)
    assert fit.weights.values["DT"] == 0.0
    assert min(fit.weights.values.values()) >= 0.0


def test_a_metric_that_says_nothing_has_a_low_correlation():
    rng = np.random.default_rng(3)
    shuffled = [
        Specimen(s.primitive, s.implementation, s.criteria, float(rng.random() + 0.1))
        for s in corpus(PUBLISHED.values)
    ]
    fit = calibrated(shuffled)
    assert np.mean(list(fit.pearson.values())) < 0.9
    assert fit.left_out_error > 0.1
    assert fit.left_out_error > 1.1 * fit.error  # of primitives that the weights do not know


def test_ranks_are_correlated_beside_values():
    """Times that fall with the sixth power of a criterion are in its order, not in proportion."""
    specimens = [
        Specimen("p", f"i{place}", {"OCC": value}, value**-6.0)
        for place, value in enumerate(np.linspace(0.2, 1, 9).tolist())
    ]
    fit = calibrated(specimens)
    assert fit.spearman["p"] == pytest.approx(1)
    assert fit.pearson["p"] < 0.95


def test_a_corpus_without_two_implementations_is_refused():
    with pytest.raises(InvalidArgumentError, match="two implementations"):
        calibrated([Specimen("a", "b", {}, 1.0)])
    with pytest.raises(InvalidArgumentError, match="took no time"):
        calibrated([Specimen("a", "b", {}, 0.0)])
