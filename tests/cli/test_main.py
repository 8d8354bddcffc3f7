"""What holds for every subcommand: exit status, one-line complaints, JSON, signals and pipes."""

import argparse
import json
import logging
import os
import signal
import subprocess
import sys

import numpy as np
import pyopencl as cl
import pytest

from clgraph import BFSConfig, errors
from clgraph.cli import main as cli
from clgraph.cli.command import Command
from clgraph.cli.progress import Progress
from clgraph.cli.text import as_json, count_bytes, pairs, plain, table
from clgraph.engine.strategies.strategy import paths


def run(capsys, *argv):
    status = cli.main([str(word) for word in argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def one_line(text):
    return text.startswith("clgraph: ") and text.count("\n") == 1 and text.endswith("\n")


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["fly"],
        ["devices", "--fast"],
        ["bfs"],
        ["bfs", "x.mtx", "--source", "zero"],
        ["bfs", "x.mtx", "--repeat", "0"],
        ["bfs", "x.mtx", "--directed", "--undirected"],
        ["generate"],
        ["generate", "torus", "x.mtx"],
        ["generate", "kron", "x.mtx"],
        ["info", "x.mtx", "--format", "doc"],
    ],
)
def test_bad_arguments_take_one_line(capsys, argv):
    status, out, err = run(capsys, *argv)
    assert status == 2
    assert out == ""
    assert one_line(err)
    assert "--help" in err


@pytest.mark.parametrize("argv", [["--help"], ["bfs", "--help"], ["generate", "kron", "--help"]])
def test_help(capsys, argv):
    status, out, err = run(capsys, *argv)
    assert (status, err) == (0, "")
    assert "usage: clgraph" in out


def test_help_lists_every_dimension(capsys):
    """bfs-helix 25: each with its values, names or a number."""
    _, out, _ = run(capsys, "bfs", "--help")
    for name, _, check in paths(BFSConfig):
        assert f"\n  {name} " in out or not check.values
    assert "\n  balance.unit_batch          number  (two_phase, multi_phase)\n" in out
    assert " vertex|edge|two_phase|hybrid|status\n" in out
    assert " yes|no\n" in out


def test_version(capsys):
    status, out, _ = run(capsys, "--version")
    assert status == 0
    assert out.startswith("clgraph 0.")


def command_that(monkeypatch, action):
    command = Command("act", "Act", lambda _: None, action, str)
    monkeypatch.setattr(cli, "COMMANDS", (command,))


def raising(error):
    def act(_: argparse.Namespace):
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidArgumentError("source is -1;\n it must be a vertex."), 2),
        (errors.InvalidGraphError("no."), 2),
        (errors.GraphFormatError("x.mtx:3: what is this."), 2),
        (FileNotFoundError(2, "No such file or directory", "x.mtx"), 2),
        (IsADirectoryError(21, "Is a directory", "data"), 2),
        (ImportError("zstandard is missing."), 2),
        (MemoryError(), 2),
        (OSError(28, "No space left on device"), 2),
        (errors.DeviceNotFoundError("no GPU;\nthere is: PoCL"), 3),
        (errors.DeviceMemoryError("asked for 5, free 4."), 3),
        (errors.KernelTimeoutError("gave up."), 3),
        (errors.OutOfBoundsError("left an array."), 3),
        (errors.ClgraphError("the device gave up on a command."), 3),
        (cl.LogicError("clBuildProgram failed: OUT_OF_RESOURCES"), 3),
        (RuntimeError("a bug"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_failure_takes_one_line_and_has_its_status(capsys, monkeypatch, error, status):
    command_that(monkeypatch, raising(error))
    found, out, err = run(capsys, "act", "--json")
    assert found == status
    assert out == ""
    assert one_line(err)
    assert "Traceback" not in err


def test_a_file_that_is_missing_is_called_by_its_name(capsys, monkeypatch):
    command_that(monkeypatch, raising(FileNotFoundError(2, "No such file or directory", "x.mtx")))
    assert run(capsys, "act")[2] == "clgraph: x.mtx: No such file or directory\n"


def test_a_build_error_keeps_its_lines(capsys, monkeypatch):
    command_that(monkeypatch, raising(errors.KernelBuildError("bfs.cl: no.\n> 14 | oops")))
    status, _, err = run(capsys, "act")
    assert status == 3
    assert err == "clgraph: bfs.cl: no.\n> 14 | oops\n"


def test_verbose_shows_where_a_fault_of_clgraph_is(monkeypatch):
    command_that(monkeypatch, raising(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["act", "--verbose"])


def test_warnings_of_the_library_are_shown_and_details_only_on_request(capsys, monkeypatch):
    log = logging.getLogger("clgraph")

    def act(_):
        log.warning("runs stepped")
        log.debug("a detail")
        return {}

    command_that(monkeypatch, act)
    handlers, level = list(log.handlers), log.level
    assert run(capsys, "act")[2] == "clgraph: runs stepped\n"
    assert "a detail" in run(capsys, "act", "-v")[2]
    assert (log.handlers, log.level) == (handlers, level)


def test_json_is_one_object_without_foreign_numbers(capsys, monkeypatch):
    record = {
        "nan": float("nan"),
        "inf": np.float64(np.inf),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "rows": np.arange(2),
        "pair": (1, "x"),
        7: None,
    }
    command_that(monkeypatch, lambda _: record)
    status, out, err = run(capsys, "act", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "nan": None,
        "inf": None,
        "count": 3,
        "flag": True,
        "rows": [0, 1],
        "pair": [1, "x"],
        "7": None,
    }


def script(text, *, closed_output=False, **options):
    process = subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    if closed_output:
        process.stdout.close()
    return process


def test_a_reader_that_goes_away_is_no_failure_to_report():
    process = script(
        "import sys, time\n"
        "from clgraph.cli import main as cli\n"
        "from clgraph.cli.command import Command\n"
        "run, render = lambda _: {'x': 1}, lambda _: 'x\\n' * 10**6\n"
        "command = Command('act', '', lambda _: None, run, render)\n"
        "cli.COMMANDS = (command,)\n"
        "sys.exit(cli.main(['act']))\n",
        closed_output=True,
    )
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert err == ""


@pytest.mark.parametrize(("stream", "status"), [("stdout", 0), ("stderr", 2)])
def test_streams_that_were_closed_before_are_not_written_to(monkeypatch, stream, status):
    refuse = raising(errors.InvalidGraphError("no."))
    command_that(monkeypatch, refuse if status else lambda _: {})
    monkeypatch.setattr(sys, stream, None)
    assert cli.main(["act"]) == status


def test_ctrl_c_ends_with_one_line():
    process = script(
        "import sys, time\n"
        "from clgraph.cli import main as cli\n"
        "from clgraph.cli.command import Command\n"
        "def act(_):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "cli.COMMANDS = (Command('act', 'Act', lambda _: None, act, str),)\n"
        "sys.exit(cli.main(['act']))\n"
    )
    with process:
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGINT)
        assert process.stderr.read() == "clgraph: interrupted\n"
        assert process.wait(60) == 130


def test_help_loads_no_opencl():
    process = script(
        "import sys\n"
        "from clgraph.cli.main import main\n"
        "assert main(['--help']) == 0\n"
        "print('pyopencl' in sys.modules, 'scipy.sparse' in sys.modules)\n"
    )
    with process:
        assert process.stdout.read().endswith("False False\n")
        assert process.wait(60) == 0


def test_python_dash_m():
    done = subprocess.run(
        [sys.executable, "-m", "clgraph", "fly"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert one_line(done.stderr)


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_drawn_on_a_terminal_only(monkeypatch, capsys):
    with Progress() as progress:
        assert progress.callback is None
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr", Terminal())
    with Progress() as progress:
        assert progress.callback is not None


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_draws_what_takes_long_and_leaves_a_clean_line(monkeypatch, has_tqdm):
    terminal, clock = Terminal(), [0.0]

    def missing(_):
        raise ImportError

    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("clgraph.cli.progress.time.monotonic", lambda: clock[0])
    if not has_tqdm:
        monkeypatch.setattr("clgraph.cli.progress.module", missing)
    with Progress() as progress:
        for step in range(1, 10):
            clock[0] += 0.2
            progress.callback(step * 100, 1000, "read x.mtx")
            if step == 2:
                assert terminal.text == ""
    assert "read x.mtx" in terminal.text
    assert " 90%" in terminal.text or " 90 %" in terminal.text
    assert terminal.text.rstrip(" ").endswith("\r")


def test_a_step_that_cannot_tell_how_far_it_is_is_named_at_once(monkeypatch, capsys):
    with Progress("building kernels"):
        pass
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress("building kernels") as progress:
        assert terminal.text == "\rbuilding kernels ..."
        progress.callback(1, 2, "upload")
        assert terminal.text.endswith("\r")
    assert terminal.text.rstrip(" ").endswith("\r")


def test_text_helpers():
    assert pairs([("a", "1"), ("long", "")]) == "a     1\nlong"
    assert table(["n", "what"], [["1,000", "x"]]) == "    n  what\n1,000     x"
    assert [count_bytes(n) for n in (0, 1023, 1024, 3 << 29, 1 << 50)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.5 GiB",
        "1024 TiB",
    ]
    assert plain({"a": [np.float32(0.5), (np.nan,)], "b": argparse}) == {
        "a": [0.5, [None]],
        "b": str(argparse),
    }
    assert as_json({}) == "{}"
