"""The list of mutants fits the code; ``make mutants`` tries them."""

import importlib.util
import re
import subprocess
import sys
import tomllib

import pytest
from runtimes import ROOT

spec = importlib.util.spec_from_file_location("mutants", ROOT / "tests" / "mutants" / "run.py")
mutants = importlib.util.module_from_spec(spec)
sys.modules["mutants"] = mutants
spec.loader.exec_module(mutants)
LISTED = mutants.listed()


@pytest.mark.parametrize("mutant", LISTED, ids=lambda mutant: mutant.name)
def test_what_a_mutant_breaks_is_there(mutant):
    """Its text stands once in its file, and its tests exist."""
    assert mutants.mutated(mutant) != (ROOT / mutant.file).read_text("utf-8")
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists()
        if name:
            name = name.partition("[")[0]
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


def test_there_are_enough():
    assert len(LISTED) >= 60
    assert len({mutant.name for mutant in LISTED}) == len(LISTED)
    assert sum(bool(mutant.survives) for mutant in LISTED) <= 0.05 * len(LISTED)
    folders = {mutant.file.partition("/")[0] for mutant in LISTED}
    assert folders == {"bench", "clgraph", "kernels_cl", "templates"}


def test_sums_are_judged(capsys):
    """Wrong are survivors without a reason, untrue reasons, and tests that did not run."""
    common = {"file": "a", "old": "b", "new": "c", "tests": []}
    good, bad, known = (
        mutants.Mutant(name=name, survives=why, **common)
        for name, why in (("good", ""), ("bad", ""), ("known", "equal"))
    )
    assert not mutants.judged([(good, "killed")] * 30 + [(good, "crashed"), (known, "survived")])
    assert mutants.judged([(good, "killed")] * 30 + [(bad, "survived")])
    assert mutants.judged([(good, "killed")] * 30 + [(known, "killed")])
    assert mutants.judged([(good, "killed")] * 30 + [(good, "no test ran")])
    assert mutants.judged([(good, "killed")] * 3 + [(known, "survived")])
    assert not mutants.judged([(good, "not tried")])
    assert "no test notices: bad" in capsys.readouterr().out


def test_each_mutant_has_its_turn():
    """A share of them is another one with each commit, and large enough to count."""
    turns = [mutants.some(LISTED, 60, f"commit {turn}") for turn in range(120)]
    assert all(len({one.name for one in turn}) == 60 for turn in turns)
    assert turns[0] != turns[1]
    assert turns[0] == mutants.some(LISTED, 60, "commit 0")
    assert {one.name for turn in turns for one in turn} == {one.name for one in LISTED}
    assert len(mutants.some(LISTED[:3], 60, "")) == 3
    assert re.fullmatch("[0-9a-f]{40}|", mutants.commit())


def test_what_kills_must_pass_without_a_mutant(monkeypatch):
    """Only what killed is run again, in as many processes; a test that fails by itself ends all."""
    common = {"file": "a", "old": "b", "new": "c", "survives": ""}
    made = [mutants.Mutant(name=name, tests=[name], **common) for name in ("one", "two", "lives")]
    monkeypatch.setattr(mutants, "copy_of_the_checkout", lambda folder: folder)
    outcomes = {"one": "killed", "two": "crashed", "lives": "survived"}
    again = []

    def tried(mutant, tests, _):
        if mutant is None:
            again.extend(tests)
            failed = [test for test in tests if test == failing]
            return ("killed" if failed else "survived"), "", failed
        return outcomes[mutant.name], "", [f"{mutant.name}[case]"]

    monkeypatch.setattr(mutants, "tried", tried)
    failing = None
    results = mutants.run(made, 2, float("inf"))
    assert {mutant.name: outcome for mutant, outcome in results} == outcomes
    assert sorted(again) == ["one[case]", "two[case]"]
    failing = "two[case]"
    with pytest.raises(SystemExit, match=r"without a mutant: killed.*two"):
        mutants.run(made, 2, float("inf"))


BROKEN = """
import pytest
from made import right

@pytest.mark.parametrize("case", ["first", "second of them"])
def test_made(case):
    assert right or case == "first"
"""


def test_cases_that_fail_are_told_by_name(tmp_path):
    """And the mutant is gone afterwards, also from what Python compiled."""
    (tmp_path / "made.py").write_text("right = True")
    (tmp_path / "test_made.py").write_text(BROKEN)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    common = {"file": "made.py", "old": "True", "tests": ["test_made.py"]}
    broken = mutants.Mutant(name="broken", new="None", **common)
    outcome, said, failed = mutants.tried(broken, broken.tests, tmp_path)
    assert (outcome, list(failed)) == ("killed", ["test_made.py::test_made[second of them]"]), said
    assert mutants.tried(None, failed, tmp_path)[0] == "survived"


CRASHING = """
import os, signal

def test_first():
    os.kill(os.getpid(), signal.SIGSEGV)

def test_second():
    pass
"""


def test_a_crash_fails_its_test_and_nothing_else(tmp_path):
    """As a kernel that leaves its arrays may: the worker is replaced, and the others go on."""
    (tmp_path / "test_crash.py").write_text(CRASHING)
    options = ["-p", "no:cacheprovider", "--numprocesses", "1", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "crashed while running 'test_crash.py::test_first'" in done.stdout


def test_the_lists_are_toml_of_mutants():
    for path in (ROOT / "tests" / "mutants").glob("*.toml"):
        assert set(tomllib.loads(path.read_text("utf-8"))) == {"mutant"}
