"""A file is read as a graph or refused in a sentence, however it is damaged."""

import io
import os
import random
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from mutation import Files, of_archive

import clgraph as cg
from clgraph.graph.formats.registry import FORMATS

CORPUS = Path(__file__).resolve().parent / "corpus"
LEAST_ACCEPTED = 0.3
MANY = 2000
LONGEST_S = 5.0  # of the thread that reads one file of a hundred bytes
ENDINGS = {name: entry.extensions[0] for name, entry in FORMATS.items()}
OPTIONS = ({}, {"directed": True}, {"directed": False}, {"weighted": False}, {"weighted": True})


def check(graph):
    """Build it again with every check, and see that nothing can be out of place."""
    again = cg.Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)
    assert (again.n, again.m) == (graph.n, graph.m)
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == graph.m == len(graph.indices)
    assert graph.weights is None or np.isfinite(graph.weights).all()
    assert graph.labels is None or len(graph.labels) == graph.n


@pytest.fixture
def file(tmp_path):
    """A file to write to again and again: in memory where the system has such."""
    if not hasattr(os, "memfd_create"):
        yield tmp_path / "graph"
        return
    descriptor = os.memfd_create("graph")
    yield Path(f"/proc/self/fd/{descriptor}")
    os.close(descriptor)


def read_or_refuse(file, name, options):
    """Give the graph of a file, None if it is refused as it should be; anything else is raised."""
    complaint = f"{file}:"
    try:
        graph = cg.read(file, format=name, **options)
    except cg.GraphFormatError as error:
        graph, complaint = None, str(error)
    assert complaint.startswith(f"{file}:")
    if graph is not None:
        check(graph)
    return graph


@pytest.mark.parametrize("name", FORMATS)
def test_finds_of_guided_fuzzing(name, file, record_property):
    """What guided.py kept: the fewest files that reach what it has reached of a reader."""
    lines = (CORPUS / f"{name}.txt").read_text(encoding="ascii").split()
    accepted = 0
    for line in lines:
        file.write_bytes(bytes.fromhex(line))
        accepted += read_or_refuse(file, name, {}) is not None
    record_property("inputs", len(lines))
    assert 0 < accepted < len(lines)


def test_archives_of_what_is_no_array_are_damaged_further():
    """NumPy gives a member whose first bytes are not an array's as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("indptr.npy", b"no array")
    data = buffer.getvalue()
    rng = random.Random(1)  # noqa: S311 - no secret
    assert all(of_archive(data, rng) != data for _ in range(20))


@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name, effort, turns, file, monkeypatch, record_property):
    # Threads for a hundred bytes cost scipy's reader of numbers a hundred times what they save.
    monkeypatch.setattr("scipy.io._fast_matrix_market.PARALLELISM", 1, raising=False)
    files = Files(name, effort("seed"))
    rng = files.rng
    accepted = 0
    slowest = 0.0
    turn = -1
    for turn in turns(effort("inputs")):
        data = files.next()
        file.write_bytes(data)
        options = rng.choice(OPTIONS) if rng.random() < 0.3 else {}
        begun = time.thread_time()
        try:
            graph = read_or_refuse(file, name, options)
        except BaseException as error:
            error.add_note(f"input {turn} of {name}, options {options}: {data!r}")
            raise
        if graph is not None:
            accepted += 1
            files.accepted(data)
        slowest = max(slowest, time.thread_time() - begun)
    count = turn + 1
    record_property("inputs", count)
    record_property("accepted", accepted / max(count, 1))
    record_property("slowest_s", slowest)
    # Of so many that chance decides little; of fewer some must be.
    assert accepted >= (LEAST_ACCEPTED * count if count >= MANY else min(count, 1))
    assert slowest < LONGEST_S
