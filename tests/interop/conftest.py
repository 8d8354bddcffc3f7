"""The backend of networkx on the devices of the tests."""

import sys
from pathlib import Path

import networkx as nx
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture
def on_any_device(any_device):
    """Let the backend use the CPU runtime that every test may use."""
    before = nx.config.backends.clgraph.device
    nx.config.backends.clgraph.device = f"{any_device.index[0]}:{any_device.index[1]}"
    yield any_device
    nx.config.backends.clgraph.device = before


@pytest.fixture(autouse=True)
def _quiet_cache():
    """Networkx warns of every conversion that it uses again."""
    nx.config.warnings_to_ignore.add("cache")
