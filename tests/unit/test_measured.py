"""The table of measured constants: where each is from, who asks for it, what others get."""

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import clgraph as cg
from bench.studies.recorded import H200, RECORDED
from clgraph.algorithms.multi_search.config import auto_threshold
from clgraph.device.hardware import measured
from clgraph.device.hardware.measured import DEVICES, TABLE, Constant, device_of
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.usual import usual_balance

ROOT = Path(__file__).resolve().parents[2]
RULES = [
    path
    for room in ("engine", "algorithms", "primitives", "dynamic")
    for path in (ROOT / "clgraph" / room).rglob("*.py")
]
UNKNOWN = [name for name in RECORDED if name != "h200"]


@pytest.mark.parametrize("name", TABLE)
def test_every_constant_says_what_it_is_and_where_it_is_from(name):
    constant = TABLE[name]
    assert len(constant.means) > 20
    assert len(constant.means) + len(constant.record) < 200
    sources = re.findall(r"\b[0-9a-f]{7}\b|[\w-]+\.json", constant.record)
    assert sources
    for source in sources:
        if source.endswith(".json"):
            assert (ROOT / "bench" / "results" / source).exists()
        elif shutil.which("git") and (ROOT / ".git").exists():
            asked = ["git", "-C", str(ROOT), "cat-file", "-e", f"{source}^{{commit}}"]
            shallow = ["git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"]
            if subprocess.run(shallow, capture_output=True, check=False).stdout == b"false\n":
                assert subprocess.run(asked, check=False).returncode == 0, source


@pytest.mark.parametrize("name", TABLE)
def test_every_constant_is_asked_for(name):
    users = [path for path in RULES if re.search(rf"\b{name}\b", path.read_text())]
    assert users


@pytest.mark.parametrize("name", TABLE)
def test_a_device_without_an_entry_gets_neutral_numbers(name):
    constant = TABLE[name]
    for other in UNKNOWN:
        assert constant.on(RECORDED[other]) == constant.neutral
    other_card = dataclasses.replace(H200, compute_capability=(8, 0))
    assert constant.on(other_card) == constant.neutral


def test_devices_with_entries_get_their_own(pocl):
    assert {device_of(H200), device_of(pocl.traits)} == set(DEVICES)
    assert device_of(pocl.emulating(32).traits) == "cpu"
    some = Constant("a number", "nowhere", neutral=True, h200=False)
    assert (some.on(H200), some.on(pocl.traits)) == (False, True)
    assert {field.name for field in dataclasses.fields(Constant)} >= set(DEVICES)


def test_rules_name_no_card_beside_their_code():
    """What was measured on one belongs into the table, or rules would be tuned to it unseen."""
    named = [path.name for path in RULES if re.search(r"\b(H200|A100|MI\d{3})\b", path.read_text())]
    assert named == []


def test_rules_follow_the_table(monkeypatch):
    """Of an AMD card: nothing that was only seen to pay on another."""
    graph = cg.generate.grid2d(30, 30)
    for name in UNKNOWN:
        traits = RECORDED[name]
        assert usual_balance(traits, VertexQueue(), 4, 3.9).name == "warp_search"
        assert measured.LAUNCH_EDGES.on(traits) == 1_000_000_000
    assert usual_balance(H200, VertexQueue(), 4, 3.9).name == "warp_search_local"
    monkeypatch.setitem(measured.__dict__, "TABLE", {})
    assert auto_threshold(graph.degrees, H200) >= 0
