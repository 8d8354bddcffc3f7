"""Networkx's own tests, with the backend computing what it serves."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import entry_points
import networkx as nx
import pytest
from runtimes import ROOT

from clgraph.interop.networkx import backend

HERE = Path(__file__).resolve().parent
NETWORKX = Path(nx.__file__).parent
FOLDERS = (
    *("shortest_paths", "components", "centrality", "traversal"),
    *("link_analysis", "coloring"),
)
FILES = (
    *("dag", "cluster", "distance_measures", "wiener", "efficiency", "voronoi", "tournament"),
    *("core", "mis", "distance_regular", "vitality", "hierarchy", "link_prediction"),
    *("simple_paths", "cycles", "graphical", "bridges", "isolate", "structuralholes"),
)
# What of all that is run by default, and the functions that it reaches completely.
SAMPLE = (
    "components/tests",
    "shortest_paths/tests/test_unweighted.py",
    "centrality/tests/test_closeness_centrality.py",
    "tests/test_core.py",
)
SAMPLED = "networkx.algorithms.components."
# What takes over six minutes in one.
PARTS = 4
# Which functions no test of these folders reaches; tests/interop/test_nx_functions.py does.
NOT_REACHED = {
    *("approximate_diameter", "faster_could_be_isomorphic", "fast_could_be_isomorphic"),
    "generic_bfs_edges",  # its tests say what neighbours are, which networkx alone can ask
    *("is_forest", "is_branching", "is_arborescence"),
    "kruskal_mst_edges",  # tested with partitions, or as what minimum_spanning_edges goes by
    *("bipartite_betweenness_centrality", "bipartite_closeness_centrality"),
    *("leiden_communities", "louvain_communities", "modularity", "jaccard_coefficient"),
}


def run(tmp_path, device, *tests, unset=False, timeout=280, part="0/1"):
    """Run tests of networkx in a process of its own; give its output and the calls by name."""
    paths = [entry_points.folder(), str(ROOT), str(HERE)]
    variables = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TALLY_FOLDER": str(tmp_path),
        "TALLY_PART": part,
        "TALLY_DEVICE": f"{device.index[0]}:{device.index[1]}",
    }
    if not unset:
        variables |= {"NETWORKX_TEST_BACKEND": "clgraph", "NETWORKX_FALLBACK_TO_NX": "1"}
    options = ("-q", "-p", "nx_tally", "-p", "no:cacheprovider", "--tb", "short")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *map(str, tests)],
        cwd=tmp_path,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    calls: Counter[str] = Counter()
    for found in tmp_path.glob("*.json"):
        calls.update(json.loads(found.read_text()))
    return done, calls


@pytest.mark.rest
@pytest.mark.timeout(300)
def test_networkx_passes_some_of_its_tests_on_the_backend(tmp_path, any_device):
    tests = [NETWORKX / "algorithms" / name for name in SAMPLE]
    done, calls = run(tmp_path, any_device, *(test for test in tests if test.exists()))
    assert done.returncode == 0, done.stdout[-4000:]
    group = {
        name
        for name in backend.served()
        if getattr(getattr(nx, name, None), "__module__", "").startswith(SAMPLED)
    }
    assert len(group) > 10
    assert group - set(calls) <= NOT_REACHED
    assert len(calls) > len(group)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_networkx_passes_its_tests_on_the_backend(tmp_path, any_device):
    """The folders that matter; every function that is declared has computed something."""
    algorithms = NETWORKX / "algorithms"
    tests = [algorithms / folder for folder in FOLDERS]
    tests += [algorithms / "tests" / f"test_{name}.py" for name in FILES]
    tests += [algorithms / "bipartite" / "tests" / "test_basic.py"]
    tests += [algorithms / "tree" / "tests" / "test_mst.py"]
    exist = (test for test in tests if test.exists())
    done, calls = run(tmp_path, any_device, *exist, timeout=580)
    assert done.returncode == 0, done.stdout[-4000:]
    assert set(backend.served()) - set(calls) <= NOT_REACHED


@pytest.mark.rest
@pytest.mark.timeout(120)
def test_networkx_is_as_before_where_the_backend_is_not_asked_for(tmp_path, any_device):
    tests = NETWORKX / "algorithms" / "components"
    done, calls = run(tmp_path, any_device, tests, unset=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert not calls


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_networkx_passes_all_its_tests_on_the_backend(part, tmp_path, any_device):
    """Every so manieth file in each part; which functions compute, the folders above have shown."""
    options = ("--pyargs", "networkx")
    done, calls = run(tmp_path, any_device, *options, timeout=880, part=f"{part}/{PARTS}")
    assert done.returncode == 0, done.stdout[-4000:]
    assert calls
