"""A test that leaves something behind fails itself, and not those that come after it."""

import os
import subprocess
import sys

from runtimes import ROOT

MADE = """
import gc
import logging
import os
import signal
import sys

import numpy as np
import pytest

from clgraph.device import waiting
from clgraph.device.memory import copying, staging
from clgraph.device.programs import asked, kernel
from clgraph.threads import Latch, Worker

ended = Latch()
ME, YOU = Worker("me", ended.wait), Worker("you", ended.wait)  # which nobody starts
LEFT = {
    "variable": lambda: os.environ.update(CLGRAPH_MEMORY_LIMIT="1"),
    "folder": lambda: os.chdir("/"),
    "handler": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "garbage": lambda: gc.disable(),
    "profile": lambda: sys.setprofile(lambda *_: None),
    "logger": lambda: logging.getLogger("clgraph").setLevel(1),
    "errors": lambda: np.seterr(over="raise"),
    "sharing": lambda: waiting.share_the_interpreter(ME),
    "launches": lambda: kernel.launch_by(lambda *_: None),
    "copies": lambda: copying.report_copies_to(lambda *_: None),
    "context": lambda: asked._asked.set(("a config",)),
}

@pytest.mark.parametrize("what", LEFT)
def test_that_leaves(what):
    LEFT[what]()

def test_that_comes_after_it():
    assert os.environ["CLGRAPH_MEMORY_LIMIT"] == "1"

@pytest.fixture
def later(monkeypatch):
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", "2")
    yield
    waiting.keep_the_interpreter(YOU)

def test_that_tidies_up(later, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    waiting.share_the_interpreter(YOU)
    Worker("ends later", lambda: ended.wait(0.2)).start()

def test_whose_device_keeps_a_thread():
    Worker(staging.THREAD, lambda: Latch().wait(300)).start()
"""


def test_what_is_left_behind_is_told(tmp_path):
    (tmp_path / "test_made.py").write_text(MADE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-rE", "--tb=line"]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": paths, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("ERROR ")]
    assert len(told) == MADE.count(": lambda:"), done.stdout
    assert all("left behind" in line for line in told)
    assert "14 passed, 11 errors" in done.stdout
