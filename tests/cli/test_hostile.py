"""What files and their names hold does nothing to a terminal, a spreadsheet or another file."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import LIMIT_S, ROOT, clean_environment

import clgraph as cg
from clgraph.cli.main import main
from clgraph.cli.searching import write_columns
from clgraph.cli.text import printable

ESCAPE = "\x1b]0;owned\x07\x1b[2J"


def test_controls_are_shown():
    assert printable(ESCAPE) == r"\x1b]0;owned\x07\x1b[2J"
    assert printable("a\tb\nc é \u202e\u2066") == "a\tb\nc é \\u202e\\u2066"


def test_a_name_of_a_file_moves_no_cursor(tmp_path, capsys):
    path = tmp_path / f"a{ESCAPE}.mtx"
    path.write_text("nothing\n")
    assert main(["info", str(path)]) == 2
    assert "\x1b" not in capsys.readouterr().err
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    assert main(["info", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_cells_are_no_formulas(tmp_path):
    labels = ["=1+2", "+1", "-1", "@SUM(1)", "plain", "a,b"]
    graph = cg.Graph([0] * 7, [], labels=labels)
    write_columns(str(tmp_path / "a.csv"), graph, {"x": graph.degrees - 1}, ["x"])
    rows = (tmp_path / "a.csv").read_text().splitlines()[1:]
    assert rows == ["'=1+2,-1", "'+1,-1", "'-1,-1", "'@SUM(1),-1", "plain,-1", '"a,b",-1']


# What each command reads beside READ, which the target of its option must not be.
READ, OTHER = "read.csv", "other.csv"
WRITING = {
    **{
        name: [name, READ, "--output"]
        for name in ("bfs", "sssp", "scc", "components", "centrality", "similarity", "communities")
    },
    **{name: [name, READ, "--output"] for name in ("ktruss", "rank", "core", "mst", "color")},
    **{name: [name, READ, "--output"] for name in ("walk", "mine")},
    "convert": ["convert", READ],
    "triangles": ["triangles", READ, "--per", "vertex", "--output"],
    "match": ["match", OTHER, READ, "--output"],
    "mine-several": ["mine", OTHER, READ, "--output"],
    "bench": ["bench", "compare", OTHER, READ, "--json"],
    "profile": ["profile", "bfs", READ, "--html"],
    "tune": ["tune", READ, "--svg"],
}
DRAWING = ("profile", "tune")
NOTHING_TO_READ = {"generate", "microbench"}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("link", [False, True])
def test_what_is_read_is_not_written_over(tmp_path, monkeypatch, capsys, name, link):
    if name in DRAWING:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for file in (READ, OTHER):
        Path(file).write_text("0,1\n1,2\n")
    target = READ
    if link:
        target = "link.csv"
        Path(target).symlink_to(READ)
    assert main([*WRITING[name], target]) == 2
    assert "write to another one" in capsys.readouterr().err
    assert Path(READ).read_text() == "0,1\n1,2\n"
    assert Path(target).is_symlink() == link


def test_every_command_that_writes_is_tried_above(capsys):
    """So that a new one cannot be forgotten."""
    assert main(["--help"]) == 0
    commands = re.findall(r"^    ([a-z]+)(?: |$)", capsys.readouterr().out, re.MULTILINE)
    assert set(WRITING) - {"mine-several"} <= set(commands)
    for name in commands:
        assert main([name, "--help"]) == 0
        text = capsys.readouterr().out
        writes = re.search(r"--(?:output|html|svg) (?:FILE|PATH)", text)
        assert not writes or name in WRITING or name in NOTHING_TO_READ, name


def test_a_terminal_without_these_letters(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("0,1\n", encoding="utf-8")
    named = tmp_path / "gé.csv"
    path.rename(named)
    done = subprocess.run(
        [sys.executable, "-m", "clgraph", "info", str(named)],
        env=clean_environment(LC_ALL="C.UTF-8", PYTHONIOENCODING="ascii", PYTHONUTF8="0"),
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert b"g\\xe9.csv" in done.stdout


def test_pipes_and_standard_input():
    command = [sys.executable, "-m", "clgraph", "info", "-", "--format", "csv"]
    done = subprocess.run(
        command,
        input=b"0,1\n1,2\n",
        env=clean_environment(),
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert b"3" in done.stdout
    reading, writing = os.pipe()
    os.write(writing, b"0,1\n1,2\n")
    os.close(writing)
    assert cg.read(f"/dev/fd/{reading}", format="csv").n == 3
    os.close(reading)


@pytest.mark.parametrize("name", ["a\0.mtx", "a\ud800.mtx", ""])
def test_what_is_no_name(name):
    with pytest.raises(cg.InvalidArgumentError, match="is not the name of a file"):
        cg.read(name)


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"clgraph {cg.__version__}\n"
