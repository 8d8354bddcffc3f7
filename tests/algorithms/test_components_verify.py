"""Results that are checked by rules, and what the rules find."""

import numpy as np
import pytest
from digraphs import SMALL, check_components, small
from searches import MIXED, MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms import scc as module
from clgraph.algorithms.components_verify import verify_components

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
