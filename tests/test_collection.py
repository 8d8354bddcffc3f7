"""What every process of a run must agree on: names and shares of tests, how kernels are built."""

import gzip
import os
import re
import stat
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import caches
import pytest
import runtimes
import shares
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


BUILT = """
import os
import pytest

SLOW = [pytest.param(size, marks=pytest.mark.slow) for size in range(8)]

@pytest.mark.parametrize("size", [*SLOW, 8, 9])
def test_how(size, pocl):
    print(f"size {size} without optimising: {os.environ['CLGRAPH_NO_OPTIMISING']}.")

@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 11])
def test_only_slow(size, pocl):
    test_how(size, pocl)
"""


@pytest.mark.parametrize("own", ["0", "1"], ids=["optimised", "plain"])
def test_one_case_of_each_test_may_have_optimised_kernels(own, tmp_path, monkeypatch):
    """And it is none of the slow ones, which would take still longer; however this one has them."""
    monkeypatch.setenv("CLGRAPH_NO_OPTIMISING", own)
    (tmp_path / "test_made.py").write_text(BUILT)
    options = ("-s", "--run-slow", "--optimised-cases", "1")
    said = pytest_of(tmp_path, *options, seed=1)
    built = dict(re.findall(r"size (\d+) without optimising: (\d)\.", said))
    assert sorted((built.pop("8"), built.pop("9"))) == ["0", "1"]
    assert built == dict.fromkeys(map(str, (*range(8), 10, 11)), "1")


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


MADE = {
    "test_devices.py": """
import pytest

@pytest.mark.parametrize("graph", ["star", "path", "kron"])
def test_graphs(graph, device): ...

@pytest.mark.parametrize("spec", ["pocl", "intel"])
def test_by_name(spec): ...

@pytest.mark.parametrize("size", range(9))
def test_without_a_device(size): ...

@pytest.mark.slow
@pytest.mark.parametrize("size", range(3))
def test_slow(size, pocl): ...

@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.slow), 3])
def test_partly_slow(size, any_device): ...
""",
    "test_children.py": """
import pytest
from runtimes import run_python

@pytest.mark.parametrize("size", range(4))
def test_in_a_process(size): ...
""",
}


def pytest_of(folder, *options, seed, passes=True):
    """Run pytest on made-up tests with this suite's options, in another process."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-q", *options]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": paths, "PYTEST_ADDOPTS": ""}
    env.pop("CLGRAPH_NO_OPTIMISING", None)  # this test may be the case that has optimised kernels
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)
    assert done.returncode == (0 if passes else 1), done.stderr
    return done.stdout


def collected(folder, *options, seed):
    """Names of the made-up tests that this suite's options leave, as another process sees them."""
    said = pytest_of(folder, "--collect-only", *options, seed=seed)
    return [line for line in said.splitlines() if "::" in line]


def test_a_share_and_the_others_are_everything(tmp_path):
    """Every function is in the share, each case in one of both, whatever process divides them."""
    for name, text in MADE.items():
        (tmp_path / name).write_text(text)
    everything = collected(tmp_path, seed=1)
    share = collected(tmp_path, "--cases", "1", seed=2)
    others = collected(tmp_path, "--other-cases", "1", seed=3)
    anywhere = 3 + shares.runtimes.is_installed("pocl") * shares.runtimes.is_installed("intel")
    assert len(everything) == len(set(everything)) == 12 + 2 + 9 + 3 + anywhere + 4
    assert sorted(share + others) == sorted(everything)
    functions = Counter(name.partition("[")[0].partition("::")[2] for name in share)
    assert functions.pop("test_without_a_device") == 9
    assert functions == dict.fromkeys(
        ["test_graphs", "test_by_name", "test_slow", "test_partly_slow", "test_in_a_process"], 1
    )
    skipped = ("lanes8", "-2]")
    assert not any(word in name for name in share for word in skipped)


def test_slow_cases_join_the_share(tmp_path):
    """So many of every second function that has some; nothing slow of others, nor unbuilt tests."""
    for name, text in MADE.items():
        (tmp_path / name).write_text(text)
    share = collected(tmp_path, "--cases", "1", seed=1)
    slow = collected(tmp_path, "--cases", "1", "--run-slow", "--slow-cases", "2", seed=2)
    building = {name for name in share if not re.search("test_slow|without_a_device", name)}
    assert building < set(slow)
    added = Counter(name.partition("[")[0].partition("::")[2] for name in set(slow) - building)
    most = {"test_graphs": 2, "test_slow": 2, "test_partly_slow": 1}
    assert len(added) == 2
    assert all(most[name] == count for name, count in added.items())
    first = slow[: added.total()]
    assert building.isdisjoint(first)  # what is slow begins first


LIMITED = """
import pytest

@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_limit(size, request):
    marker = request.node.get_closest_marker("timeout")
    print(f"size {size} may take {marker.args[0] if marker else 'as usual'}.")
"""


def test_slow_cases_may_take_longer_than_others(tmp_path):
    """Building for many emulated lanes beside other work, unless the command says how long."""
    (tmp_path / "test_made.py").write_text(LIMITED)
    said = pytest_of(tmp_path, "-s", "--run-slow", seed=1)
    assert "size 1 may take as usual." in said
    assert "size 2 may take 1800." in said
    said = pytest_of(tmp_path, "-s", "--run-slow", "--timeout", "0", seed=1)
    assert said.count("may take as usual.") == 2


HANGING = """
import signal
import time

def test_before():
    pass

def test_hanging():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})  # as if in a driver for good
    time.sleep(300)

def test_after():
    pass
"""


def test_what_no_signal_ends_takes_its_process_with_it(tmp_path):
    (tmp_path / "test_made.py").write_text(HANGING)
    said = pytest_of(tmp_path, "--timeout", "2", "-n", "1", "-v", seed=1, passes=False)
    assert "worker 'gw0' crashed while running 'test_made.py::test_hanging'" in said
    assert "1 failed, 2 passed" in said


def test_each_slow_case_has_its_turn():
    """The commit decides which of them it is; what is skipped has none while others are there."""
    cases = [Case("test_made", str(size), marks=("slow",)) for size in range(20)]
    cases += [Case("test_made", "quick"), Case("test_made", "off", marks=("slow", "skip"))]
    turns = [shares.slow_ones(cases, 2, f"commit {turn}") for turn in range(100)]
    assert all(len(turn) == 2 for turn in turns)
    assert {case for turn in turns for case in turn} == set(cases[:20])
    assert turns[0] == shares.slow_ones(cases[::-1], 2, "commit 0")
    other = Case("test_other", "1", marks=("slow",))
    assert any(other in shares.slow_ones([*cases, other], 1, str(turn)) for turn in range(9))


def test_each_function_has_its_turn_within_a_few_commits():
    """Every second one in each of them, of those with slow cases and of those marked rest."""
    slow = [Case(f"test_{at}", str(size), marks=("slow",)) for at in range(20) for size in (1, 2)]
    rest = [Case(f"test_rest_{at}", marks=("rest",)) for at in range(20)]
    none = {"device": "csv", "fixtures": ("tmp_path",)}
    others = [Case("test_others", "1"), Case("test_others", "2")]
    quick = [Case("test_quick", **none), Case("test_quick_rest", marks=("rest",), **none)]
    items = [*others, *quick, *rest, *slow]
    seen = Counter()
    for commit in range(12):
        kept, left = shares.turn(items, 1, f"commit {commit}")
        assert Counter(kept) + Counter(left) == Counter(items)
        assert set(others) < set(kept)
        assert set(quick) < set(left)  # make test and make test-rest have what builds nothing
        assert all(case in slow for case in kept[:10])
        assert len({shares.function_of(case) for case in kept[:10]}) == 10
        assert len(kept) == 10 + len(others) + sum(case in rest for case in kept)
        assert abs(sum(case in rest for case in kept) - 10) <= 1
        seen.update(kept)
    assert {shares.function_of(case) for case in seen} == {
        shares.function_of(case) for case in (*others, *rest, *slow)
    }


def test_what_is_slow_comes_once():
    """Where one is drawn, none is taken beside it; what is not slow is taken as ever."""
    cases = [Case("test_made", str(size), marks=("slow",)) for size in range(5)]
    files = [
        Case("test_files", str(size), device="csv", fixtures=("tmp_path",)) for size in range(2)
    ]
    slow = Case("test_files", "slow", device="csv", fixtures=("tmp_path",), marks=("slow",))
    quick = Case("test_made", "quick")
    for drawn in cases:
        assert shares.divided(cases, 1, [drawn])[0] == [drawn]
        assert shares.divided([*cases, quick], 1, [drawn])[0] == [drawn, quick]
    assert shares.divided([*files, slow], 1)[0] == [*files, slow]
    assert shares.divided([*files, slow, *cases], 1, cases[:1])[0] == [*files, slow, cases[0]]


@pytest.mark.parametrize(
    "options",
    [
        ["--cases", "0"],
        ["--cases", "1", "--other-cases", "1"],
        ["--slow-cases", "1", "--run-slow"],
        ["--slow-cases", "1", "--cases", "1"],
    ],
)
def test_shares_that_mean_nothing_are_refused(options):
    command = [sys.executable, "-m", "pytest", "--collect-only", *options, __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--cases" in done.stderr


class Case:
    """What dividing looks at of a case that pytest collected."""

    def __init__(self, function, *params, device="pocl", fixtures=("device",), marks=()):
        self.nodeid = f"tests/test_made.py::{function}[{'-'.join([device, *params])}]"
        self.callspec = SimpleNamespace(params={fixtures[0]: device})
        self.fixturenames = fixtures
        self.module = pytest
        self.marks = marks

    def get_closest_marker(self, name):
        return self if name in self.marks else None


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(runtimes, "is_installed", lambda _: True)


@pytest.mark.usefixtures("all_installed")
def test_emulated_lanes_are_left_to_the_others_by_most_functions():
    """Three of four have a case on the runtime beside it; of the fourth, none is preferred."""
    specs = (shares.LAST, "intel")
    cases = [Case(f"test_{at}", "star", device=spec) for at in range(1000) for spec in specs]
    share, _ = shares.divided(cases, 1)
    count = Counter(case.callspec.params["device"] for case in share)
    assert sum(count.values()) == 1000
    assert abs(count[shares.LAST] - 125) < 4 * 125**0.5


def test_what_takes_longest_is_left_to_the_others():
    """Every case of a function marked rest, but where slow cases are asked for."""
    cases = [Case("test_made", str(size)) for size in range(3)]
    longest = [Case("test_long", str(size), marks=("rest",)) for size in range(3)]
    share, others = shares.divided([*cases, *longest], 1, rest=False)
    assert [shares.function_of(case) for case in share] == ["tests/test_made.py::test_made"]
    assert len(others) == 5
    assert set(longest) < set(others)
    share, _ = shares.divided([*cases, *longest], 1)
    assert len(share) == 2


def test_graphs_come_alike_often_and_every_runtime_in_some_functions():
    graphs = ("star", "path", "kron", "road", "loops")
    cases = [
        Case(f"test_{number}", graph, device=device)
        for number in range(1000)
        for device in runtimes.RUNTIMES
        for graph in graphs
    ]
    share, others = shares.divided(cases, 1)
    assert len(share) == 1000
    assert len(share) + len(others) == len(cases)
    often = {name: 1 / len(graphs) for name in graphs}
    # Three functions of four have a case on PoCL; of the fourth, no runtime is preferred.
    often |= {
        spec: (spec == "pocl") * 3 / 4 + 1 / 4 / len(runtimes.RUNTIMES)
        for spec in runtimes.RUNTIMES
    }
    names = [case.nodeid.partition("[")[2][:-1].rsplit("-", 1) for case in share]
    count = Counter(name for pair in names for name in pair)
    assert set(count) == set(often)
    for name, part in often.items():
        # Four standard deviations of as many draws.
        assert abs(count[name] - 1000 * part) < 4 * (1000 * part) ** 0.5, count
    reversed_share, _ = shares.divided(cases[::-1], 1)
    assert set(reversed_share) == set(share)
    three, _ = shares.divided(cases, 3)
    assert set(share) < set(three)
    assert set(Counter(map(shares.function_of, three)).values()) == {3}


def test_what_must_hold_anywhere_runs_on_the_first_runtime_and_once_on_another():
    """Every case on Intel's, one of each function on PoCL, which is the one in the share."""
    fixtures = ("any_device",)
    cases = [
        Case(f"test_{number}", graph, device=spec, fixtures=fixtures)
        for number in range(20)
        for graph in ("star", "path", "kron")
        for spec in runtimes.ANYWHERE
    ]
    kept, left = shares.settled(cases)
    assert Counter(shares.spec_of(case) for case in kept) == {"intel": 60, "pocl": 20}
    assert {shares.spec_of(case) for case in left} == {"pocl"}
    share, others = shares.divided(kept, 1)
    assert set(map(shares.function_of, share)) == set(map(shares.function_of, cases))
    assert {shares.spec_of(case) for case in share} == {"pocl"}
    assert len(others) == 60
    # Where there is one runtime, and with other fixtures, nothing is left out.
    only = [case for case in cases if shares.spec_of(case) == "pocl"]
    assert shares.settled(only) == (only, [])
    on_each = [Case("test_each", device=spec) for spec in runtimes.RUNTIMES]
    assert shares.settled(on_each) == (on_each, [])


def test_every_fixture_that_gives_a_device_is_known():
    """A function with another would count as quick, and all its cases be in the share."""
    fixture = re.compile(r"@pytest\.fixture[^\n]*\ndef (\w+)\([^)]*\) -> Device:")
    found = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in fixture.findall(path.read_text("utf-8"))
    }
    assert found == shares.DEVICES


@pytest.mark.usefixtures("all_installed")
def test_what_would_be_skipped_is_no_case():
    for number in range(50):
        cases = [
            Case(f"test_{number}", device="pocl", marks=("skip",)),
            Case(f"test_{number}", device="intel"),
            Case(f"test_{number}", device="pocl+lanes8", marks=("skip",)),
        ]
        assert shares.divided(cases, 1) == ([cases[1]], [cases[0], cases[2]])
    only = [Case("test_on_a_gpu", device="gpu", marks=("skip",))]
    assert shares.divided(only, 1) == (only, [])


@pytest.mark.usefixtures("all_installed")
def test_long_cases_are_left_to_the_others():
    for number in range(50):
        cases = [
            Case(f"test_{number}", "kron", device="pocl", marks=("long",)),
            Case(f"test_{number}", "star", device="intel"),
            Case(f"test_{number}", "path", device="intel", marks=("skip",)),
        ]
        assert shares.divided(cases, 1) == ([cases[1]], [cases[0], cases[2]])


def test_nor_is_what_runs_on_a_runtime_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(runtimes, "is_installed", lambda spec: spec != "intel")
    for number in range(50):
        cases = [Case(f"test_{number}", device=spec) for spec in ("intel", "pocl")]
        assert shares.divided(cases, 1) == ([cases[1]], [cases[0]])


def test_all_cases_are_in_the_share_where_no_kernels_are_built():
    none = {"device": "csv", "fixtures": ("tmp_path",)}
    cases = [Case("test_a_format", str(number), **none) for number in range(50)]
    assert shares.divided(cases, 1) == (cases, [])
    cases = [Case("test_long", str(number), marks=("long",), **none) for number in range(50)]
    share, others = shares.divided(cases, 1)
    assert (len(share), len(others)) == (1, 49)
