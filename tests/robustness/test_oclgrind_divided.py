"""A search over several devices under Oclgrind, whose log must be empty.

Out-of-bounds accesses are looked for always, races with one group in a launch: the look at a bit
before it is claimed is a race by design (see test_oclgrind_bfs.py), as are the plain stores of a
mask. What the host copies to the middle of a buffer Oclgrind takes for uninitialised, so that is
looked for where each inbox is written from its beginning: two parts, or one that pulls.
"""

import json

import pytest
from runtimes import run_under_oclgrind

SEARCHES = """
import json, sys
sys.path.insert(0, "tests")
import numpy as np
from configs import bfs_config
import clgraph as cg
from searches import check_search

case = json.loads(sys.argv[1])
transfers, parts = case.pop("transfers", None), case.pop("parts")
rng = np.random.default_rng(2)
hub, loops = np.zeros(40, np.int64), [7, 7]
src = np.concatenate([rng.integers(0, 130, 300), hub, loops])
dst = np.concatenate([rng.integers(0, 130, 300), rng.integers(0, 137, 40), loops])
for both_ways in (True, False):
    graph = cg.from_edges(src, dst, n=140, symmetrize=both_ways)
    for predecessors in (True, False):
        plan = cg.DividedBFS(
            graph,
            ["oclgrind"] * parts,
            predecessors=predecessors,
            config=bfs_config(**case),
            transfers=transfers,
        )
        for source in (0, 30, 139):
            check_search(graph, source, plan.run(source))
"""
PULLS = {"queue": "status", "gamma": 0}
CASES = {
    "candidates": {"queue": "vertex"},
    "masked": {"queue": "vertex", "visited": "mask", "history": 16},
    "plain": {"queue": "vertex", "visited": "plain", "transfers": "host"},
    "hubs": {"queue": "vertex", "hub_degree": 8},
    "bits": PULLS,
    "bits-through-the-host": {**PULLS, "transfers": "host"},
}
NAMES = [
    name if name in {"candidates", "hubs", "bits"} else pytest.param(name, marks=pytest.mark.slow)
    for name in CASES
]


@pytest.mark.parametrize("name", NAMES)
def test_no_access_goes_astray(name, tmp_path):
    case = json.dumps({**CASES[name], "groups": 1, "parts": 3})
    run_under_oclgrind(SEARCHES, case, log_folder=tmp_path, checks=("DATA_RACES",))


@pytest.mark.parametrize("name", NAMES)
def test_only_what_was_written_is_used(name, tmp_path):
    parts = 1 if name.startswith("bits") else 2
    case = json.dumps({**CASES[name], "groups": 3, "parts": parts})
    run_under_oclgrind(SEARCHES, case, log_folder=tmp_path, checks=("UNINITIALIZED",), threads=2)
