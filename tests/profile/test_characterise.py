"""What is measured of a device is kept and found again."""

import copy
import importlib
import json

import pytest

from clgraph.profile import microbenchmarks
from clgraph.profile.characterise import QUICK, ceilings_of, characterise

# `clgraph.profile` is a function too, so a dotted name does not lead here.
module = importlib.import_module("clgraph.profile.characterise")


@pytest.fixture
def nothing_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "_known", {})
    return tmp_path


def test_a_device_is_measured_once(nothing_kept, pocl, monkeypatch):
    runs = []
    real = microbenchmarks.run

    def run(*args, **how):
        runs.append(copy.deepcopy(runs[0]) if runs else real(*args, **how))
        return copy.deepcopy(runs[-1])

    monkeypatch.setattr(microbenchmarks, "run", run)
    words = ("access_size=4", "random.load_cached")
    first = characterise(pocl, words)
    assert characterise(pocl, words) is first
    monkeypatch.setattr(module, "_known", {})
    assert characterise(pocl, words)["results"] == json.loads(json.dumps(first["results"]))
    assert len(runs) == 1
    characterise(pocl, words, again=True)
    assert len(runs) == 2
    (kept,) = nothing_kept.rglob("*-ceilings.json")
    kept.write_text("not JSON")
    monkeypatch.setattr(module, "_known", {})
    characterise(pocl, words)
    assert len(runs) == 3


@pytest.mark.rest
def test_the_quick_list_gives_every_ceiling(pocl):
    found = ceilings_of(characterise(pocl, QUICK))
    assert found.copy > 1e8
    assert found.integer > 1e6
    assert len(found.random_reads) == len(found.atomics) == 2
    assert found.launch_s > 0
