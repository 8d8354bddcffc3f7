"""Graphs of nearly 2**32 edges need 64-bit row offsets: the same kernels, rendered for those."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES, reference_distances

import clgraph as cg
from clgraph.algorithms.bfs import plan as module
from clgraph.device import Device
from clgraph.engine import resident
from clgraph.engine.choose import resolve
from clgraph.engine.resident import FEWEST_WIDE
from clgraph.engine.resolved import MAX_GROUPS, Resolved


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plan as for a graph of more than 2**32 edges."""

    def as_if_huge(*args: Any, **kwargs: Any) -> Resolved:
        huge = resolve(*args, **{**kwargs, "m": 2**33})
        assert huge.wide_offsets
        return huge

    monkeypatch.setattr(module, "resolve", as_if_huge)
    monkeypatch.setattr(resident, "offsets_dtype", lambda _m: np.dtype(np.uint64))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("direction", ["push", "switching"])
@pytest.mark.runtimes("pocl", "intel")
def test_wide_offsets_change_nothing(device: Device, direction: str) -> None:
    config = bfs_config(direction=direction, alpha=1000, pull_floor=10**6)
    for name, graph in SHAPES.items():
        # A copy of its own, so that other tests' resident arrays are not found.
        mine = cg.Graph(graph.indptr.copy(), graph.indices.copy(), directed=graph.directed)
        plan = cg.BFS(mine, predecessors=True, config=config, device=device)
        for source in {0, graph.n // 2, graph.n - 1}:
            result = plan.run(source, verify=True)
            expected = reference_distances(graph, source)
            np.testing.assert_array_equal(result.distances, expected, err_msg=name)


def test_edges_decide_the_width(pocl: Device) -> None:
    for m, wide in ((FEWEST_WIDE - 1, False), (FEWEST_WIDE, True), (2**32, True)):
        config = resolve(cg.BFSConfig(), pocl.traits, m=m, predecessors=False)
        assert config.wide_offsets is wide
        assert dataclasses.asdict(config)["wide_offsets"] is wide
        assert resident.offsets_dtype(m) == (np.uint64 if wide else np.uint32)


def test_what_loops_step_to_behind_the_last_edge_has_a_place() -> None:
    """In 32 bits it would be one of the first edges, and the loop would go on from there."""
    assert 2**32 - FEWEST_WIDE >= 4 * MAX_GROUPS * 1024


def test_the_width_is_decided_in_one_place() -> None:
    decides = re.compile(r"\bm\s*(>=|<)\s*(2\*\*32|1 << 32)\b(?! -)")
    assert decides.search("wide = graph.m >= 2**32")
    modules = Path(cg.__file__).parent.rglob("*.py")
    assert [path.name for path in modules if decides.search(path.read_text("utf-8"))] == []
