"""Prices of bounds: fitting them, judging them by what was left out, and keeping them."""

import math
import string

import numpy as np
import pytest

from clgraph.errors import InvalidArgumentError
from clgraph.profile.bounds import PARTS, Bounds
from clgraph.profile.pricing import Prices, Timed, fitted, left_out_errors

PRICES = {"stream": 1.5, "integer": 0.4, "requests": 0.8, "waiting": 0.5, "launch": 1.2}


def corpus(rng, names=string.ascii_lowercase, each=16):
    """Kernels whose times are exactly what prices say, each name with a mix of its own."""
    found = []
    for name in names:
        mix = rng.random(len(PARTS)) ** 9  # so that each part is the longest somewhere
        for _ in range(each):
            seconds = 1e-4 * mix * 10.0 ** rng.uniform(-1, 1, len(PARTS))
            parts = dict(zip(PARTS, seconds.tolist(), strict=True))
            found.append(Timed(name, parts, Bounds(parts).priced(PRICES).time_s()))
    return found


def test_prices_of_synthetic_times_are_found():
    found = fitted(corpus(np.random.default_rng(1)), device="a device")
    for name in PARTS:
        assert found.values[name] == pytest.approx(PRICES.get(name, 1.0), rel=0.1)
    assert found.error < 0.01
    assert found.left_out_error < 0.02
    assert found.device == "a device"


def test_what_nobody_does_keeps_its_price():
    kernels = [Timed(f"k{t}", {"launch": 1e-6 * t}, 2e-6 * t) for t in range(1, 99)]
    found = fitted(kernels)
    assert found.values["launch"] == pytest.approx(2.0, rel=0.01)
    assert found.values["random"] == pytest.approx(1.0)


def test_a_name_is_judged_by_prices_that_never_saw_it():
    """Only `odd` knows what a request costs, and whoever foretells it may not ask it."""
    usual = [Timed(f"k{t}", {"launch": 1e-6 * t}, 1e-6 * t) for t in (1, 2, 4)]
    odd = [Timed("odd", {"requests": 1e-6}, 5e-6)]
    assert left_out_errors(usual + odd)[-1] == pytest.approx(1 / 5 - 1)
    assert left_out_errors(odd, usual + odd) == pytest.approx([1 / 5 - 1])
    found = left_out_errors([odd[0]._replace(name="another")], usual + 9 * odd)
    assert abs(found[0]) < 0.05
    assert left_out_errors(odd).size == left_out_errors([]).size == 0


def test_one_kernel_that_does_what_nobody_counts_moves_little():
    rng = np.random.default_rng(2)
    kernels = corpus(rng)
    strange = kernels[0]._replace(name="strange", time_s=50 * kernels[0].time_s)
    assert fitted([*kernels, strange]).error < 0.05


def test_prices_are_kept_and_read(tmp_path):
    path = tmp_path / "prices.json"
    Prices(PRICES, "a device", 0.1, None).save(path)
    assert Prices.load(path) == Prices(PRICES, "a device", 0.1, None)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "of another"}', '{"schema": 3}'])
def test_a_file_without_prices_is_refused(tmp_path, text):
    (tmp_path / "prices.json").write_text(text)
    with pytest.raises(InvalidArgumentError, match="holds no prices"):
        Prices.load(tmp_path / "prices.json")


@pytest.mark.parametrize("values", [{"speed": 1.0}, {"launch": 0.0}, {"launch": math.inf}])
def test_prices_that_are_none_are_refused(values):
    with pytest.raises(InvalidArgumentError):
        Prices(values)


@pytest.mark.parametrize("kernels", [[], [Timed("a", {"launch": 1.0}, 0.0)]])
def test_a_corpus_that_says_nothing_is_refused(kernels):
    with pytest.raises(InvalidArgumentError):
        fitted(kernels)
