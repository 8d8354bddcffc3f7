"""Results that are checked by rules, and what the rules find."""

import gc

import numpy as np
import pytest
from digraphs import SMALL, check_components, random_digraph, small
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.components.verify import verify_components
from clgraph.algorithms.scc import plan as module
from clgraph.algorithms.scc import signatures as scc_signatures
from clgraph.algorithms.scc import stages as scc_stages
from clgraph.algorithms.scc import steps as scc_steps

on_both = pytest.mark.runtimes("pocl", "intel")


@on_both
def test_right_results_pass(device):
    for name in SMALL:
        check_components(small(name), cg.scc(small(name), device=device, verify=True))
        found = cg.connected_components(small(name), device=device, verify=True)
        check_components(small(name), found, "weak")


class Found:
    def __init__(self, labels):
        self.labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        self.count = int(self.labels.max()) + 1


def canonical(labels):
    first = np.unique(labels, return_index=True)[1]
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[np.unique(labels, return_inverse=True)[1]]


@pytest.mark.parametrize("strong", [True, False])
def test_wrong_results_do_not(strong, any_device):
    graph = MIXED_ONE_WAY if strong else MIXED
    right = (cg.scc if strong else cg.connected_components)(graph, device=any_device).labels
    big = np.bincount(right).argmax()
    inside = np.flatnonzero(right == big)
    split = right.copy()
    split[inside[1]] = right.max() + 1
    merged = right.copy()
    other = 1 if big == 0 else 0
    merged[right == other] = big
    renamed = right.copy()
    renamed[right == 0], renamed[right == 1] = 1, 0
    outside = right.copy()
    outside[5] = -1
    for labels, said in (
        (canonical(split), "which are one|so they are one"),
        (canonical(merged), "do not reach each other"),
        (renamed, "smallest member"),
        (outside, "labels are from"),
    ):
        found = Found(right)
        found.labels, found.count = labels, int(labels.max()) + 1
        with pytest.raises(cg.VerificationError, match=said):
            verify_components(graph, found, any_device, strong=strong)


def test_closures_run_on_emulated_lanes(intel):
    """They begin with another stage than the kernels' first."""
    graph, device = small("mixed-one-way"), intel.emulating(8)
    right = cg.scc(graph, config="sequential", device=device, verify=True)
    found = Found(right.labels)
    found.labels = np.zeros(graph.n, np.int32)
    found.count = 1
    with pytest.raises(cg.VerificationError, match="do not reach each other"):
        verify_components(graph, found, device, strong=True)


def test_auto_takes_less_where_edges_do_not_fit(any_device, monkeypatch, caplog):
    """A GPU without room for a list of edges finds components by colouring."""

    def full(*_):
        raise cg.DeviceMemoryError("'edges_even' needs 1 bytes, where 0 are free.")

    monkeypatch.setattr(module, "Signatures", full)
    monkeypatch.setattr(module, "CPU_FINISH", "signatures")
    result = cg.scc(MIXED_ONE_WAY, device=any_device)
    check_components(MIXED_ONE_WAY, result)
    assert result.stats.method == "coloring"
    assert "by colouring instead" in caplog.text
    with pytest.raises(cg.DeviceMemoryError):
        cg.scc(MIXED_ONE_WAY, config="signatures", device=any_device)


def test_auto_keeps_what_was_given_where_edges_do_not_fit(any_device, monkeypatch):
    """Colouring takes the memory of the first kernel for steps, and no dimension is overridden."""
    monkeypatch.setattr(module, "CPU_FINISH", "signatures")
    graph = random_digraph(2_000, 20, 3)
    check_components(graph, cg.scc(graph, config="multistep", device=any_device))
    # The graph is there, so what may be taken is the state: 60 bytes a vertex without lists of
    # edges, which would take 16 an edge.
    gc.collect()
    room = any_device.ledger.used_bytes + 70 * graph.n + 16 * scc_stages.HISTORY_CAPACITY + 4096
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(room))
    config = cg.SCCConfig(trim=2, forward_backward=0)
    result = cg.scc(graph, config=config, device=any_device)
    check_components(graph, result)
    ran = result.stats.config
    assert (ran["trim"], ran["forward_backward"], ran["finish"]) == (2, 0, "coloring")


def test_auto_colours_where_edges_are_more_than_can_be_listed(any_device, monkeypatch, caplog):
    monkeypatch.setattr(module, "CPU_FINISH", "signatures")
    for place in (module, scc_signatures):
        monkeypatch.setattr(place, "MOST_EDGES", MIXED_ONE_WAY.m)
    result = cg.scc(MIXED_ONE_WAY, device=any_device)
    check_components(MIXED_ONE_WAY, result)
    assert result.stats.method == "coloring"
    assert f"{MIXED_ONE_WAY.m} edges are more than" in caplog.text
    with pytest.raises(cg.InvalidArgumentError, match="use finish='coloring'"):
        cg.scc(MIXED_ONE_WAY, config="signatures", device=any_device)


def test_auto_does_not_colour_what_has_too_many_vertices_for_it(any_device, monkeypatch):
    """Colouring would send to signatures, which is where there was no room."""

    def full(*_):
        raise cg.DeviceMemoryError("'edges_even' needs 1 bytes, where 0 are free.")

    monkeypatch.setattr(module, "Signatures", full)
    monkeypatch.setattr(module, "CPU_FINISH", "signatures")
    for place in (module, scc_steps):
        monkeypatch.setattr(place, "MOST_VERTICES", MIXED_ONE_WAY.n)
    with pytest.raises(cg.DeviceMemoryError, match="edges_even"):
        cg.scc(MIXED_ONE_WAY, device=any_device)
