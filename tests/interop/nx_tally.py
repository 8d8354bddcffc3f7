"""A plugin of pytest: count how often the backend's functions compute something, and write it.

It can also leave all but a part of the files.
"""

import functools
import json
import os
from collections import Counter
from pathlib import Path

import networkx as nx

from clgraph.interop.networkx import Backend

CALLS: Counter[str] = Counter()


def counted(name, method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        found = method(self, *args, **kwargs)  # what it refuses is not counted
        CALLS[name] += 1
        return found

    return call


def pytest_configure():
    for name in Backend.served():
        setattr(Backend, name, counted(name, getattr(Backend, name)))
    device = os.environ.get("TALLY_DEVICE")
    if device:
        nx.config.backends.clgraph.device = device


def pytest_collection_modifyitems(config, items):
    """Leave all files but each so manieth one, where a part is asked for."""
    part, parts = map(int, os.environ.get("TALLY_PART", "0/1").split("/"))
    files = sorted({item.path for item in items})
    mine = set(files[part::parts])
    config.hook.pytest_deselected(items=[item for item in items if item.path not in mine])
    items[:] = [item for item in items if item.path in mine]


def pytest_sessionfinish():
    # With pytest-xdist each process has a file of its own.
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    Path(os.environ["TALLY_FOLDER"], f"{worker}.json").write_text(json.dumps(CALLS))
