"""From the start of a process to distances in NumPy: what a user waits for, stage by stage.

``python -m bench.studies.searches.first_answer --device nvidia --scales 20,22 --json out.json``
searches Kronecker graphs in processes of their own. The first of them finds no program and no
rendering of clgraph's own in its caches, the others do; medians are over those. Distances are
compared with those of scipy before anything is reported. What the compilers write to standard error
during the first shortest-path plan is shown as it is.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.cli.text import table
from clgraph.graph.modules import module

from ...runner import machine
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph import Graph

__all__ = ["main", "measure"]

STEADY_RUNS = 50
# What one process does. It imports nothing of this package, as a user's program does not.
SEARCH = """
import json, sys, time
began = time.perf_counter()
marks = {}
def mark(name):
    global began
    now = time.perf_counter()
    marks[name] = 1e3 * (now - began)
    began = now
import numpy as np
import clgraph as cg
mark("import_ms")
folder, device, source, runs = sys.argv[1:]
indptr, indices = (np.load(f"{folder}/{name}.npy") for name in ("indptr", "indices"))
began = time.perf_counter()  # reading the arrays is the user's
graph = cg.Graph(indptr, indices, directed=False)
mark("graph_ms")
found = cg.device(device)
mark("device_ms")
plan = cg.BFS(graph, device=found)
mark("plan_ms")
result = plan.run(int(source))
distances = result.distances
mark("first_ms")
np.save(f"{folder}/distances.npy", distances)
marks["kernel_ms"] = result.stats.kernel_ms
steady, beyond = [], []
for _ in range(int(runs)):
    began = time.perf_counter()
    result = plan.run(int(source))
    done = time.perf_counter()
    result.distances
    steady.append(1e3 * (time.perf_counter() - began))
    beyond.append(1e3 * (done - began) - result.stats.kernel_ms)
marks["steady_ms"] = float(np.median(steady))
marks["beyond_kernel_ms"] = float(np.median(beyond))
began = time.perf_counter()
cg.BFS(graph, device=found)
mark("second_plan_ms")
print(json.dumps(marks))
"""
SHORTEST_PATHS = """
import sys
import clgraph as cg
cg.SSSP(cg.generate.grid2d(30, 40, weights=(1, 9)), device=sys.argv[1])
"""


def measure(graph: Graph, source: int, device: str, *, processes: int) -> dict[str, Any]:
    """Search a graph in processes of their own.

    Parameters
    ----------
    graph : Graph
        Undirected.
    source : int
        Vertex.
    device : str
        As `clgraph.device` takes it.
    processes : int
        How many after the first, which finds clgraph's caches empty.

    Returns
    -------
    dict
        Milliseconds of the first process under "cold", and medians of the others under "warm";
        "process_ms" is from the start of the process to its end.

    Raises
    ------
    ValueError
        If distances are not scipy's.
    """
    expected = _distances(graph, source)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/indptr.npy", graph.indptr)
        np.save(f"{folder}/indices.npy", graph.indices)
        environment = {**os.environ, "CLGRAPH_CACHE_DIR": f"{folder}/cache"}
        runs = []
        for number in range(1 + processes):
            # Steady runs only in the last, so that they are not in the time of the others.
            last = number == processes
            command = (folder, device, str(source), str(STEADY_RUNS if last else 1))
            began = time.perf_counter()
            said = _python(SEARCH, *command, environment=environment).stdout
            runs.append({"process_ms": 1e3 * (time.perf_counter() - began), **json.loads(said)})
            if not np.array_equal(np.load(f"{folder}/distances.npy"), expected):
                raise ValueError(f"the distances of process {number} are not scipy's")
    warm = {name: statistics.median(run[name] for run in runs[1:]) for name in runs[0]}
    steady = {name: runs[-1][name] for name in ("steady_ms", "beyond_kernel_ms")}
    warm["process_ms"] = statistics.median(run["process_ms"] for run in runs[1:-1] or runs[1:])
    return {"cold": runs[0], "warm": warm | steady}


def _distances(graph: Graph, source: int) -> NDArray[Any]:
    order, before = module("scipy.sparse.csgraph").breadth_first_order(graph.to_scipy(), source)
    distances = np.full(graph.n, -1, np.int32)
    distances[source] = 0
    for vertex in order[1:].tolist():
        distances[vertex] = distances[before[vertex]] + 1
    return distances


def _python(
    script: str, *arguments: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True)


def said_while_building(device: str) -> str:
    """Give what a process writes to standard error that makes its first shortest-path plan."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CLGRAPH_CACHE_DIR": folder, "CUDA_CACHE_DISABLE": "1"}
        return _python(SHORTEST_PATHS, device, environment=environment).stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, and write records."""
    parser = command(__doc__, "--json", commit=None)
    parser.add_argument("--scales", default="18", help="of Kronecker graphs, with commas")
    parser.add_argument("--seed", type=int, default=0, help="of the graphs")
    parser.add_argument("--processes", type=int, default=5, help="warm ones")
    given = parser.parse_args(arguments)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    device = clgraph.device(given.device)
    spec = f"{device.index[0]}:{device.index[1]}"
    print("standard error of the first shortest-path plan:", repr(said_while_building(spec)))
    records = []
    for scale in map(int, given.scales.split(",")):
        graph = clgraph.generate.kron(scale, seed=given.seed)
        source = int(graph.degrees.argmax())
        found = measure(graph, source, spec, processes=given.processes)
        records.append({"graph": f"kron{scale}", "n": graph.n, "m": graph.m, **found})
        if given.json:
            record = {
                "study": "first_answer",
                "started": started,
                "machine": machine.describe(device, given.commit),
                "records": records,
            }
            keep(record, given.json)
    print(_shown(records))
    return 0


def _shown(records: Sequence[dict[str, Any]]) -> str:
    rows = [
        [record["graph"], caches, *(f"{value:.2f}" for value in record[caches].values())]
        for record in records
        for caches in ("cold", "warm")
    ]
    return table(["graph", "caches", *records[0]["warm"]], rows)


if __name__ == "__main__":
    raise SystemExit(main())
