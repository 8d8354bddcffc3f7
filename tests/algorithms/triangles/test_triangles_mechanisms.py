"""Presets of triangles do what they say: a table of their mechanisms.

As tests/algorithms/bfs/test_bfs_presets.py: each row says what a preset switches on, by what that
is switched off, and a figure that differs then; the kernels differ too.
"""

from dataclasses import replace

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.triangles.config import Merge, Path, Search

# Rows of up to hundreds of edges, whose longest do not belong to the vertices with low numbers.
GRAPH = cg.generate.kron(9, edge_factor=12, seed=6)
ONE = {"intersect": Merge()}
ALL = {"intersect": Path(parts=1)}


def longest(stats):
    """Most steps of one work-item."""
    return stats.longest


def looked_up(stats):
    """Elements that were looked up in tables of bits; None where there are none."""
    return stats.probes


def pairs(stats):
    """Pairs of rows that were intersected."""
    return stats.intersections


# Preset and mechanism: what switches it off, the figure, whether that is less while it is on.
ROWS = {
    ("thread-per-intersection", "one work-item walks both rows"): (
        {"intersect": Path(parts=8)}, longest, False,
    ),
    ("thread-per-intersection", "edges go to higher numbers"): ({"order": "degree"}, longest, None),
    ("intersect-path", "work-items cut a merge path among them"): (ALL, longest, True),
    ("intersect-path", "edges go to higher numbers"): ({"order": "degree"}, longest, None),
    ("binary-search", "the shorter row is looked up in the longer"): (ONE, longest, True),
    ("binary-search", "a short row is one work-item's"): (
        {"intersect": Search(parts=16)}, longest, False,
    ),
    ("binary-search", "edges go to lower degrees"): ({"order": "id"}, longest, True),
    ("bitmap", "a row is marked in a table of bits"): (ONE, looked_up, None),
    ("bitmap", "edges go to lower degrees"): ({"order": "id"}, looked_up, None),
    ("vertex-cover", "edges within a cover alone are intersected"): ({"cover": False}, pairs, True),
    ("vertex-cover", "work-items cut a merge path among them"): (ALL, longest, True),
}  # fmt: skip


def test_every_published_preset_is_in_the_table():
    assert {preset for preset, _ in ROWS} == set(cg.TrianglesConfig.presets()) - {"auto"}


@pytest.mark.parametrize(
    ("preset", "mechanism"), [pytest.param(*row, id=": ".join(row)) for row in ROWS]
)
def test_every_mechanism_is_there(preset, mechanism, intel):
    """By the source that is rendered, and by a figure that differs when it is off."""
    off, figure, is_less = ROWS[preset, mechanism]
    config = replace(cg.TrianglesConfig.preset(preset), counters=True)
    expected = cg.Triangles(GRAPH, device=intel).run("vertex").values
    figures, hashes = [], set()
    for each in (config, replace(config, **off)):
        plan = cg.Triangles(GRAPH, config=each, device=intel)
        result = plan.run("vertex" if figure is not looked_up else "total")
        if figure is not looked_up:
            np.testing.assert_array_equal(result.values, expected)
        assert result.count == expected.sum() // 3
        figures.append(figure(result.stats))
        hashes.add(plan.source_hash)
    assert len(hashes) == 2
    assert figures[0] != figures[1]
    if is_less is not None:
        assert (figures[0] < figures[1]) == is_less
