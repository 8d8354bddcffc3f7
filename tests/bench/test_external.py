"""Native codes beside ours, played by a small program that reads Matrix Market files."""

import contextlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from graphs import reference_distances

import clgraph as cg
from bench.peers import external
from bench.report import text
from bench.runner import graphs, machine, runner, suites
from bench.runner.measure import Settings
from bench.runner.pinned import Pinned
from bench.runner.suites import Case
from clgraph.cli.main import main
from clgraph.errors import InvalidArgumentError

PROGRAM = """
import sys
from collections import deque

path, source, output = sys.argv[1], int(sys.argv[2]) - 1, sys.argv[3]
lines = [line.split() for line in open(path) if not line.startswith("%")]
symmetric = "symmetric" in open(path).readline()
n = int(lines[0][0])
edges = [[] for _ in range(n)]
for u, v, *_ in lines[1:]:
    edges[int(u) - 1].append(int(v) - 1)
    if symmetric:
        edges[int(v) - 1].append(int(u) - 1)
distances = [None] * n
distances[source], waiting = 0, deque([source])
while waiting:
    u = waiting.popleft()
    for v in edges[u]:
        if distances[v] is None:
            distances[v] = distances[u] + 1
            waiting.append(v)
with open(output, "w") as file:
    for v, d in enumerate(distances):
        print(v, "inf" if d is None else d + WRONG, file=file)
print("visited", sum(d is not None for d in distances), "elapsed: 2.5 us", "{not replaced}")
sys.exit(STATUS)
"""


def described(tmp_path, *, wrong=0, status=0, **changes):
    """Write the program and a file that describes it; give the file."""
    program = tmp_path / f"search{wrong}{status}.py"
    program.write_text(f"WRONG, STATUS = {wrong}, {status}\n{PROGRAM}")
    lines = {
        "command": [sys.executable, str(program), "{graph}", "{source}", "{output}", "{kept}"],
        "time": r"elapsed: ([\d.]+) us",
        "unit": "us",
        "first_vertex": 1,
        "version": "0.3",
    } | changes
    text = "\n".join(f"{name} = {toml(value)}" for name, value in lines.items())
    (tmp_path / "codes.toml").write_text(f"[searcher]\n{text}\n")
    return tmp_path / "codes.toml"


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else repr(value)


OUTPUT = {"unreached": ["inf"]}


@pytest.fixture
def measured(monkeypatch, pocl):
    """Give a function that measures a small graph beside the codes of a file."""
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned("rmat", (6, 4)))
    monkeypatch.setitem(suites.SUITES, "made-up", (Case("bfs", "tiny", shows="nothing"),))
    monkeypatch.setattr(machine, "COPY_BYTES", 1 << 16)

    def measure(file):
        settings = Settings(sources=2, passes=1, validate=1, external=file)
        found = runner.run("made-up", settings, device=pocl)
        return found, found["cases"][0]["peers"]["searcher"]

    return measure


def test_a_code_is_timed_by_what_it_tells_and_checked(measured, tmp_path):
    file = described(tmp_path, output=OUTPUT, checks={"reached": r"visited (\d+)"})
    record, found = measured(file)
    assert found["status"] == "ok"
    assert found["version"] == "0.3"
    assert found["ms"]["median"] == pytest.approx(0.0025)
    assert found["convert_s"] > 0
    assert found["checked"] is True
    assert "searcher 0.3" in text.render(record)
    assert "unchecked" not in text.render(record)


def test_a_code_that_cannot_be_checked_is_marked(measured, tmp_path):
    record, found = measured(described(tmp_path))
    assert found["checked"] is False
    assert "unchecked" in text.render(record)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"wrong": 1, "output": OUTPUT}, "values differ from ours"),
        ({"status": 3}, "exits with 3"),
        ({"time": "took ([0-9]+)"}, "no time"),
        ({"checks": {"reached": r"(\d) us"}}, "as reached of run"),
        ({"checks": {"reached": r"seen (\d+)"}}, "reports no reached"),
        ({"checks": {"colours": r"visited (\d+)"}}, "none of levels, reached, edges"),
        ({"command": ["/no/such/program"]}, "FileNotFoundError"),
        ({"timeout_s": 0.001}, "TimeoutExpired"),
        ({"format": "tarot"}, "tarot"),
    ],
)
def test_what_goes_wrong_is_recorded_and_ends_nothing(measured, tmp_path, changes, problem):
    record, found = measured(described(tmp_path, **changes))
    assert found["status"] == "failed"
    assert problem in found["reason"]
    assert record["cases"][0]["status"] == "ok"


def test_words_reach_the_program_as_they_are():
    code = external.Code("echo", ("printf", "%s|", "{source}; rm -rf", "$HOME", "{x}"), "(.*)")
    with (
        contextlib.closing(code(cg.generate.path(3))) as peer,
        pytest.raises(ValueError, match=r"4; rm -rf\|\$HOME\|\{x\}\|"),
    ):
        peer.timed(4)


def test_codes_are_for_the_algorithms_they_name(tmp_path):
    file = described(tmp_path, algorithms=["sssp", "scc"])
    assert external.peers_of(file, SimpleNamespace(kind="bfs")) == {}
    assert list(external.peers_of(file, SimpleNamespace(kind="scc"))) == ["searcher"]


def test_values_are_the_last_column(tmp_path):
    code = next(iter(external.load(described(tmp_path, output=OUTPUT)).values()))
    graph = cg.generate.rmat(5, 3, seed=4)
    with contextlib.closing(code(graph)) as peer:
        answer, _ = peer.timed(1)
        found = peer.values(answer, 1)
    np.testing.assert_array_equal(found, reference_distances(graph, 1))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[a", "not TOML"),
        ("a = 1", "outside of a table"),
        ("[a]\ntime = '(.)'", "command is missing"),
        ("[a]\ncommand = 'ls -l'\ntime = '(.)'", "command must be a list"),
        ("[a]\ncommand = ['x']", "is no expression"),
        ("[a]\ncommand = ['x']\ntime = '('", "is no expression"),
        ("[a]\ncommand = ['x']\ntime = 'ms'", "has no group"),
        ("[a]\ncommand = ['x']\ntime = '(.)'\nunit = 'h'", "unit must be one of s, ms, us"),
        ("[a]\ncommand = ['x']\ntime = '(.)'\nshell = true", "shell is none of"),
        ("[a]\ncommand = ['x']\ntime = '(.)'\nchecks = {reached = 'x'}", "has no group"),
    ],
)
def test_a_bad_file_is_one_line_and_status_2(tmp_path, content, problem, capsys):
    file = tmp_path / "codes.toml"
    file.write_text(content)
    with pytest.raises(InvalidArgumentError, match=problem):
        external.load(file)
    assert main(["bench", "--external", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


WRONG = (True, -1, 0, 1.5, "nan", [], [1], {}, {"a": 1}, {"a": [1]}, 10**30)


@pytest.mark.parametrize("key", external.TYPES)
def test_values_of_wrong_types(key, tmp_path):
    """They are taken for what they are or refused with the name of the key, and never converted."""
    complaints = []
    for value in WRONG:
        try:
            external.load(described(tmp_path, **{key: value}))
        except InvalidArgumentError as error:
            complaints.append((repr(value), str(error)))
    assert len(complaints) >= 6
    assert all(key in said or value in said for value, said in complaints)


def test_tables_within_tables(tmp_path):
    path = tmp_path / "codes.toml"
    path.write_text("a = " + "[" * 10**5)
    with pytest.raises(InvalidArgumentError, match="is not TOML"):
        external.load(path)
