"""What every process of a run must agree on: the names of tests, how kernels are built and kept."""

import gzip
import os
import stat
import subprocess
import sys
import time

import caches
import pytest
from runtimes import ROOT

TIMED = gzip.compress(b"a file packed now")


@pytest.mark.parametrize("packed", [TIMED, b"", None])
def test_names_of_tests_do_not_hold_bytes(request, packed):
    names = set(request.node.callspec.id.split("-"))  # beside the count of --repeat
    assert names & ({"None"} if packed is None else {"packed0", "packed1"})
    assert len(request.node.name) < 80


def test_orders_and_repetitions_can_be_chosen():
    """As CONTRIBUTING.md looks for tests that depend on either."""
    options = ["--collect-only", "-q", "--repeat", "3", "--shuffle", "any text", __file__]
    command = [sys.executable, "-m", "pytest", *options]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    names = [line.partition("[")[0] for line in said.splitlines() if "::" in line]
    places = [place for place, name in enumerate(names) if name.endswith("can_be_chosen")]
    assert len(places) == 3
    assert places[2] - places[0] > 2  # side by side where nobody shuffles


@pytest.mark.parametrize(("options", "how"), [([], "without optimising"), (["--optimised"], "as")])
def test_kernels_are_built_without_optimising(options, how, monkeypatch):
    monkeypatch.delenv("CLGRAPH_NO_OPTIMISING")
    command = [sys.executable, "-m", "pytest", "--collect-only", *options, __file__]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert f"kernels: built {how}" in said


@pytest.mark.optimised
def test_unless_a_test_asks_for_what_users_have():
    assert os.environ["CLGRAPH_NO_OPTIMISING"] == "0"


@pytest.fixture
def nothing_chosen(tmp_path, monkeypatch):
    """The environment of a user who set no cache folder, whose own is empty."""
    for variable in caches.FOLDERS:
        monkeypatch.setenv(variable, "")  # so that it is restored
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "clgraph"


def test_kernels_are_kept_for_other_checkouts(nothing_chosen, pytestconfig):
    caches.use(pytestconfig)
    for variable, name in caches.FOLDERS.items():
        folder = nothing_chosen / "tests" / name
        assert os.environ[variable] == str(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_folders_that_are_chosen_stay(nothing_chosen, pytestconfig, monkeypatch, tmp_path):
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "mine"))
    caches.use(pytestconfig)
    assert os.environ["POCL_CACHE_DIR"] == str(tmp_path / "mine")
    assert os.environ["CLGRAPH_CACHE_DIR"] == str(nothing_chosen / "tests" / "clgraph")


@pytest.mark.parametrize("below", ["", "tests", "tests/pocl"])
def test_folders_that_others_can_write_to_are_not_believed(nothing_chosen, pytestconfig, below):
    shared = nothing_chosen / below
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    caches.use(pytestconfig)
    used = os.environ.get("POCL_CACHE_DIR", "no cache")  # none where pytest itself has none
    assert str(nothing_chosen) not in used
    assert used in "".join(caches.described())


def test_programs_that_nothing_uses_are_forgotten(tmp_path):
    for name, days in (("old", 20), ("new", 1)):
        folder = tmp_path / "AB" / name
        folder.mkdir(parents=True)
        (folder / "program.bc").write_text("built")
        (folder / "last_accessed").write_text("")
        os.utime(folder / "last_accessed", (0, time.time() - 86400 * days))
    caches.forget_unused(tmp_path)
    assert [path.name for path in tmp_path.glob("AB/*")] == ["new"]
