"""Label propagation by Graphalytics' rule, against a loop over dictionaries and NumPy."""

from collections import Counter

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.communities.propagation import host_round
from clgraph.errors import InvalidArgumentError, VerificationError

everywhere = pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")


def by_dictionaries(graph, rounds):
    """The rule as the benchmark's specification writes it."""
    rows = [
        graph.indices[a:b].tolist() for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)
    ]
    neighbours = [list(row) for row in rows]
    if graph.directed:
        for u, row in enumerate(rows):
            for v in row:
                neighbours[v].append(u)
    labels = list(range(graph.n))
    for _ in range(rounds):
        before = list(labels)
        for v, row in enumerate(neighbours):
            counts = Counter(before[u] for u in row)
            if counts:
                labels[v] = min(counts, key=lambda label: (-counts[label], label))
    return labels


def shapes():
    rng = np.random.default_rng(2)
    ends = rng.integers(0, 120, (2, 700))
    return {
        "kron": cg.generate.kron(8, 8, seed=1),
        "directed": cg.from_edges(*ends, n=125),  # with loops, parallel and two-way edges
        "star": cg.generate.star(700),
        "grid": cg.generate.grid2d(9, 9),
        "edgeless": cg.from_edges([], [], n=3),
        "nothing": cg.from_edges([], [], n=0),
        "two-way": cg.from_edges([0, 1, 0, 2, 3], [1, 0, 2, 3, 0]),
    }


@everywhere
@pytest.mark.parametrize("name", shapes())
def test_labels_are_those_of_the_rule(device, name):
    graph = shapes()[name]
    plan = cg.LabelPropagation(graph, device=device)
    for rounds in (0, 1, 2, 10):
        result = plan.run(rounds, verify=True)
        assert result.labels.tolist() == by_dictionaries(graph, rounds)
        assert result.count == len(set(result.labels.tolist()))
        assert result.modularity is None
        assert len(result.stats.levels) <= rounds


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
def test_tables_in_global_memory_give_the_same(device):
    for name in ("kron", "directed"):
        graph = shapes()[name]
        found = cg.label_propagation(graph, 4, config="global", device=device)
        assert found.labels.tolist() == by_dictionaries(graph, 4)


def test_an_edge_both_ways_counts_twice(any_device):
    # Vertex 3 has label 5 by one edge each way, and label 0 by one edge.
    graph = cg.from_edges([3, 5, 0], [5, 3, 3], n=6)
    assert cg.label_propagation(graph, 1, device=any_device).labels[3] == 5


def test_rounds_end_where_nothing_changes(any_device):
    told = []
    graph = cg.from_edges([0, 1, 2], [1, 2, 0], symmetrize=True, directed=False)
    result = cg.label_propagation(
        graph, 50, device=any_device, progress=lambda *what: told.append(what)
    )
    assert [level["moves"] for level in result.stats.levels][-1] == 0
    assert len(result.stats.levels) < 50
    assert told[-1] == (50, 50, "rounds")
    assert result.stats.kernel_ms > 0


def test_what_is_refused(any_device):
    for rounds in (-1, 1.5, True):
        with pytest.raises(InvalidArgumentError, match="rounds"):
            cg.label_propagation(shapes()["grid"], rounds, device=any_device)


def test_a_wrong_round_is_seen(any_device, monkeypatch):
    plan = cg.LabelPropagation(shapes()["kron"], device=any_device)
    monkeypatch.setattr(
        "clgraph.algorithms.communities.propagation.host_round",
        lambda graph, labels: host_round(graph, labels) + np.uint32(1),
    )
    with pytest.raises(VerificationError, match="vertex 0 has label"):
        plan.run(3, verify=True)
