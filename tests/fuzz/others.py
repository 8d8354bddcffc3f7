"""What other libraries do with what clgraph is tried with: ``python tests/fuzz/others.py``.

Each question is put to each library in a process of its own, which may crash, hang or eat memory.
It prints a table as docs/reliability.md shows it; libraries that are not installed are left out.
"""

import importlib
import importlib.metadata
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

LIBRARIES = {
    "clgraph": "clgraph",
    "igraph": "igraph",
    "SciPy": "scipy",
    "GraphBLAS": "python-graphblas",
}
FILES, SEED, FILE_LIMIT_S = 300, 1, 10
LIMIT_S = 120.0
SIGNAL_AFTER_S = 0.5
ROOM_BYTES = 2 << 30
N = 20_000
ENDED = "the call ended first"


def library(name):
    return importlib.import_module(name)


def long_call(name):
    """Give a call that takes seconds."""
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, N, (2, 20 * N))
    if name == "clgraph":
        cg = library("clgraph")
        graph = cg.from_edges(src, dst, n=N)
        return lambda: cg.apsp(graph, range(4000), device="pocl")
    if name == "igraph":
        graph = library("igraph").Graph(n=N, edges=np.stack([src, dst], 1), directed=True)
        return graph.betweenness
    if name == "SciPy":
        sparse, csgraph = library("scipy.sparse"), library("scipy.sparse.csgraph")
        matrix = sparse.csr_array((np.ones(len(src)), (src, dst)), shape=(N, N))
        return lambda: csgraph.dijkstra(matrix, indices=range(4000))
    gb = library("graphblas")
    matrix = gb.Matrix.from_coo(src, dst, 1.0, nrows=N, ncols=N)
    return lambda: matrix.mxm(matrix, "plus_times").new().mxm(matrix, "plus_times").new()


def interrupted(name):
    """Say how long after a signal a long call ends."""
    call = long_call(name)
    sent = []

    def press(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, press)
    try:
        sent.append(time.perf_counter() + SIGNAL_AFTER_S)
        signal.setitimer(signal.ITIMER_REAL, SIGNAL_AFTER_S)
        call()
    except BaseException as error:
        return f"{type(error).__name__} after {time.perf_counter() - sent[0]:.2g} s"
    return ENDED


def damaged(form, read):
    """Count what becomes of mutated files."""
    files = importlib.import_module("mutation").Files(form, SEED)
    path = Path(f"/proc/self/fd/{os.memfd_create('graph')}")
    ends = Counter()
    for _ in range(FILES):
        path.write_bytes(files.next())
        ends[apart(lambda: "read" if read(str(path)) is not None else "nothing")] += 1
    return ", ".join(f"{count} {what}" for what, count in ends.most_common())


def apart(call):
    """Say what a call gives or raises in a process forked for it, or what ends that."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(FILE_LIMIT_S)
        os.write(writing, said(call).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return answer if status == 0 else signal.Signals(os.WTERMSIG(status)).name


def matrix_files(name):
    if name == "igraph":
        return "no reader"
    read = {
        "clgraph": lambda path: library("clgraph").read(path, format="mtx"),
        "SciPy": lambda path: library("scipy.io").mmread(path),
        "GraphBLAS": lambda path: library("graphblas").io.mmread(path, dup_op="plus"),
    }
    return damaged("mtx", read[name])


def edge_lists(name):
    if name in ("SciPy", "GraphBLAS"):
        return "no reader"
    read = {
        "clgraph": lambda path: library("clgraph").read(path, format="el"),
        "igraph": lambda path: library("igraph").Graph.Read_Edgelist(path, directed=True),
    }
    return damaged("el", read[name])


def said(call):
    """Say what a call gives or raises."""
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


def graph_of(name, src, dst, weights, n=3):
    """Make a directed graph of a library's own."""
    if name == "clgraph":
        return library("clgraph").from_edges(src, dst, weights, n=n)
    if name == "igraph":
        edges = list(zip(src, dst, strict=True))
        return library("igraph").Graph(
            n=n, edges=edges, directed=True, edge_attrs={"weight": list(weights)}
        )
    if name == "SciPy":
        return library("scipy.sparse").coo_array((weights, (src, dst)), shape=(n, n)).tocsr()
    return library("graphblas").Matrix.from_coo(src, dst, weights, nrows=n, ncols=n)


def out_of_range(name):
    """An edge to a vertex that is not there."""
    return said(lambda: f"a graph: {graph_of(name, [0, 1], [1, 7], [1.0, 1.0])}")


def parallel(name):
    """Strong components of two edges between the same vertices whose weights differ."""
    arguments = [0, 0], [1, 1], np.array([1.5, 2.5])
    if name == "clgraph":
        cg = library("clgraph")
        return said(lambda: f"{cg.scc(graph_of(name, *arguments), device='pocl').count} found")
    if name == "igraph":
        return said(lambda: f"{len(graph_of(name, *arguments).connected_components())} found")
    if name == "SciPy":
        sparse, csgraph = library("scipy.sparse"), library("scipy.sparse.csgraph")
        kept = sparse.csr_array((arguments[2], [1, 1], [0, 2, 2, 2]), shape=(3, 3))
        return said(lambda: f"{csgraph.connected_components(kept, connection='strong')[0]} found")
    return said(lambda: graph_of(name, *arguments))


def not_a_number(name):
    """Shortest paths over an edge whose weight is not a number."""
    arguments = [0, 1, 0], [1, 2, 2], np.array([1.0, np.nan, 5.0])
    if name == "clgraph":
        cg = library("clgraph")
        call = lambda: cg.sssp(graph_of(name, *arguments), 0, device="pocl").distances  # noqa: E731
    elif name == "igraph":
        call = lambda: graph_of(name, *arguments).distances(0, weights="weight")  # noqa: E731
    elif name == "SciPy":
        csgraph = library("scipy.sparse.csgraph")
        call = lambda: csgraph.dijkstra(graph_of(name, *arguments), indices=0)  # noqa: E731
    else:
        return "no such search"
    return said(call)


def small_call(name):
    if name == "clgraph":
        cg = library("clgraph")
        return cg.bfs(cg.generate.path(5), 0, device="pocl").distances.max()
    if name == "igraph":
        return library("igraph").Graph.Ring(5, circular=False).diameter()
    matrix = graph_of(name, [0, 1, 2], [1, 2, 0], np.ones(3))
    if name == "SciPy":
        return library("scipy.sparse.csgraph").dijkstra(matrix).max()
    return matrix.mxm(matrix, "plus_times").new().nvals


def forked(name):
    """A small call in a process that was forked after such a call."""
    small_call(name)
    answer = multiprocessing.get_context("fork").Queue()
    child = multiprocessing.get_context("fork").Process(
        target=lambda: answer.put(said(lambda: f"right: {small_call(name)}"))
    )
    child.start()
    child.join(10)
    if child.is_alive():
        child.kill()
        return "hangs"
    return answer.get() if child.exitcode == 0 else f"ends with {child.exitcode}"


def starved(name):
    """A graph that needs more memory than there is."""
    count = 100_000_000
    library(LIBRARIES[name].rpartition("-")[2])
    small_call(name)
    ends = np.arange(count, dtype=np.int32)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096
    room = used + (ROOM_BYTES >> 3)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    ones = np.broadcast_to(np.float64(1), count)
    if name == "igraph":
        return said(lambda: f"a graph: {library('igraph').Graph(n=count).vcount()}")
    return said(lambda: f"a graph: {type(graph_of(name, ends, ends, ones, n=count))}")


QUESTIONS = {
    "Ctrl-C during a long call": interrupted,
    f"{FILES:,} mutated Matrix Market files": matrix_files,
    f"{FILES:,} mutated edge lists": edge_lists,
    "An edge to a vertex that is not there": out_of_range,
    "Strong components, parallel edges of two weights": parallel,
    "Shortest paths, a weight that is not a number": not_a_number,
    "A call after a fork": forked,
    "A graph larger than memory": starved,
}


def asked(question, name):
    """Put a question in a process of its own."""
    command = [sys.executable, __file__, question, name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {LIMIT_S:.0f} s"
    if done.returncode:
        return f"the process ends with {done.returncode}"
    return done.stdout.strip().replace("\n", " ")


def main():
    """Print the table."""
    there = {}
    for name, package in LIBRARIES.items():
        try:
            there[name] = importlib.metadata.version(package) if name != "clgraph" else ""
        except importlib.metadata.PackageNotFoundError:
            continue
    lines = [
        "| | " + " | ".join(f"{name} {version}".strip() for name, version in there.items()) + " |",
        "|---" * (len(there) + 1) + "|",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    for question in QUESTIONS:
        answers = " | ".join(asked(question, name) for name in there)
        sys.stdout.write(f"| {question} | {answers} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.stdout.write(QUESTIONS[sys.argv[1]](sys.argv[2]))
    else:
        main()
