"""A file is read as a graph or refused in a sentence, however it is damaged."""

import time
import warnings

import numpy as np
import pytest
from mutation import mutated, seeded

import clgraph as cg
from clgraph.graph.formats.registry import FORMATS

LEAST_ACCEPTED = 0.3
MANY = 2000
LONGEST_S = 5.0  # of one file of a hundred bytes, on a machine that others use
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


@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name, effort, tmp_path, record_property):
    rng = seeded(effort("seed"), name)
    path = tmp_path / f"graph{ENDINGS[name]}"
    accepted = 0
    slowest = 0.0
    count = effort("inputs")
    for turn in range(count):
        data = mutated(name, rng)
        path.write_bytes(data)
        options = rng.choice(OPTIONS) if rng.random() < 0.3 else {}
        begun, complaint = time.perf_counter(), f"{path}:"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                graph = cg.read(path, format=name, **options)
        except cg.GraphFormatError as error:
            complaint = str(error)
        except BaseException as error:
            error.add_note(f"input {turn} of {name}, options {options}: {data!r}")
            raise
        else:
            accepted += 1
            check(graph)
        assert complaint.startswith(f"{path}:")
        slowest = max(slowest, time.perf_counter() - begun)
    record_property("inputs", count)
    record_property("accepted", accepted / count)
    record_property("slowest_s", slowest)
    # Of so many that chance decides little; of fewer some must be.
    assert accepted >= (LEAST_ACCEPTED * count if count >= MANY else 1)
    assert slowest < LONGEST_S
