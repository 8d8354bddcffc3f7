"""Limiters by removal: what is left out of a mix, and who is right."""

import pytest

from bench.studies.profiling import limiters
from bench.studies.profiling.limiters import MIXES, Mix, judged, removals


def test_every_part_of_a_mix_is_left_out_once():
    mix = Mix(reads=4, scattered=True, additions=8, passes=2, stride=32, atomics=1)
    found = removals(mix)
    assert list(found) == ["random", "integer", "local", "atomics"]
    assert found["random"] == Mix(reads=4, additions=8, passes=2, stride=32, atomics=1)
    assert found["local"].stride == 1
    assert found["local"].passes == 2
    assert removals(Mix(reads=4, passes=3)) == {"stream": Mix(passes=3), "local": Mix(reads=4)}


@pytest.mark.parametrize(
    ("limiter", "without", "wanted"),
    [
        ("random", {"random": 0.3, "integer": 0.9}, ("random", True)),
        ("integer", {"random": 0.3, "integer": 0.9}, ("random", False)),
        ("integer", {"random": 0.50, "integer": 0.52}, ("random", True)),
        ("latency", {"random": 0.3}, ("random", False)),
        (None, {"random": 0.3}, ("random", False)),
        ("random", {"random": 0.95}, ("random", None)),
    ],
)
def test_the_right_limiter_saves_most(limiter, without, wanted):
    assert judged(limiter, 1.0, without) == wanted


def test_the_study_runs_small(pocl, monkeypatch):
    monkeypatch.setattr(limiters, "MIXES", (MIXES[3], MIXES[-1]))
    rows = limiters.studied(pocl, less=12, repeats=1)
    assert [row["right"] in row["without_s"] for row in rows] == [True, True]
    assert rows[0]["kinds"]["load"][1] == MIXES[3].reads << MIXES[3].items - 12
    assert "limiters are right" in limiters.summary(rows)
