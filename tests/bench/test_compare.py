"""Regressions are told from noise."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import case, record, skipped

from bench.runner import compare
from clgraph.cli.main import main
from clgraph.errors import InvalidArgumentError

BASE = np.random.default_rng(5).uniform(0.5, 2.0, 64)


def verdict(factor: np.ndarray | float) -> dict:
    found = compare.compare(
        record(case("g", BASE.tolist())), record(case("g", (BASE * factor).tolist()))
    )
    return found["cases"][0]


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 0.05, len(BASE))


def test_ten_percent_is_seen_although_sources_differ_by_far_more():
    assert verdict(1.1 * noise(1))["verdict"] == "slower"
    assert verdict(0.9 * noise(2))["verdict"] == "faster"


def test_noise_is_no_change():
    assert [verdict(noise(seed))["verdict"] for seed in range(20)] == ["same"] * 20
    assert verdict(1.0)["ratio"] == 1.0


def test_other_sources_are_compared_by_the_intervals_of_medians():
    other = case("g", (1.1 * BASE).tolist())
    other["searches"]["source"] = list(range(100, 164))
    found = compare.compare(record(case("g", BASE.tolist())), record(other))
    assert found["cases"][0]["verdict"] == "same"
    other = case("g", (4 * BASE).tolist())
    other["searches"]["source"] = list(range(100, 164))
    found = compare.compare(record(case("g", BASE.tolist())), record(other))
    assert found["cases"][0]["verdict"] == "slower"


def test_what_no_longer_runs_is_a_regression():
    ok = case("g", [1.0, 1.1])
    broken = skipped("g") | {"status": "failed", "reason": "wrong"}
    for after, expected in ((broken, "broken"), (skipped("g"), "gone")):
        found = compare.compare(record(ok), record(after))
        assert found["cases"][0]["verdict"] == expected
        assert found["regressions"] == 1
    found = compare.compare(record(broken), record(broken))
    assert found["regressions"] == 0
    found = compare.compare(record(skipped("g")), record(ok, case("h", [1.0])))
    assert [row["verdict"] for row in found["cases"]] == ["new", "new"]
    found = compare.compare(record(ok, case("h", [1.0])), record(ok))
    assert sorted(row["verdict"] for row in found["cases"]) == ["gone", "same"]


def test_another_graph_or_machine_is_told():
    other = case("g", [1.0])
    other["graph"]["checksum"] = "1" * 16
    found = compare.compare(record(case("g", [1.0])), record(other, device="another GPU"))
    assert found["cases"][0]["verdict"] == "another graph"
    assert found["notes"] == ["device: NVIDIA H200 before, another GPU after"]
    shown = compare.render(found)
    assert "another graph" in shown
    assert shown.endswith("0 regressions")


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40),
    st.lists(st.floats(0.2, 5.0), min_size=1, max_size=40),
)
@settings(max_examples=40, deadline=None)
def test_a_comparison_the_other_way_round_says_the_opposite(before, factors):
    count = min(len(before), len(factors))
    before, factors = before[:count], factors[:count]
    after = [ms * factor for ms, factor in zip(before, factors, strict=True)]
    old, new = record(case("g", before)), record(case("g", after))
    there, back = (compare.compare(*pair)["cases"][0] for pair in ((old, new), (new, old)))
    assert there["interval"][0] <= there["ratio"] <= there["interval"][1]
    if there["verdict"] != "same" and back["verdict"] != "same":  # 1.02 is not 1 / 0.98
        assert {there["verdict"], back["verdict"]} == {"slower", "faster"}


def test_records_without_a_common_case_are_refused():
    with pytest.raises(InvalidArgumentError, match="no case in common"):
        compare.compare(record(case("a", [1.0])), record(case("b", [1.0])))


VALUES = (None, True, -1, 0, 1e400, "x", [], {}, [[]], float("nan"), 10**400)


def mutated(value, rng):
    """The same with something in it gone, or replaced by something of another type."""
    inner = isinstance(value, dict | list) and len(value) and rng.random() < 0.9
    if not inner:
        return VALUES[rng.integers(len(VALUES))]
    key = list(value)[rng.integers(len(value))] if isinstance(value, dict) else None
    place = int(rng.integers(len(value))) if key is None else key
    changed = value.copy()
    if rng.random() < 0.2:
        del changed[place]
    else:
        changed[place] = mutated(value[place], rng)
    return changed


@pytest.mark.rest
def test_mutated_records_are_compared_or_refused_in_a_sentence(tmp_path, capsys):
    """Whatever a file holds that calls itself a record."""
    rng = np.random.default_rng(7)
    whole = record(case("g", [1.0, 1.1, 1.2]), case("h", [2.0]), skipped("i"))
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(whole))
    refused = 0
    for _ in range(300):
        other = mutated(whole, rng)
        after.write_text(json.dumps(other))
        files = [before, after] if rng.random() < 0.5 else [after, before]
        status = main(["bench", "compare", *map(str, files)])
        said = capsys.readouterr()
        assert status in {0, 1, 2}, other
        assert "internal error" not in said.err, (other, said.err)
        refused += status == 2
    assert 30 < refused < 290


def test_a_single_search_has_no_interval():
    one, other = case("g", [1.0]), case("g", [3.0])
    other["searches"]["source"] = [9]
    for each in (one, other):
        each["summary"]["kernel_ms"]["interval"] = None
    assert compare.compare(record(one), record(other))["cases"][0]["verdict"] == "slower"


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5])
def test_lists_within_lists(text, tmp_path, capsys):
    path = tmp_path / "deep.json"
    path.write_text(text)
    assert main(["bench", "compare", str(path), str(path)]) == 2
    assert "is not JSON" in capsys.readouterr().err
