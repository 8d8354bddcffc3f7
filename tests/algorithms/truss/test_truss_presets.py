"""Presets of trusses do what they say: a table of their mechanisms.

As tests/algorithms/bfs/test_bfs_presets.py: each row says what a preset switches on, by what that
is switched off, and a figure that differs then. Where triangles are kept decides the kernels too;
what follows a removal is told to them as an argument, and how k is searched for is the host's.
"""

import numpy as np
import pytest

import clgraph as cg

GRAPH = cg.generate.kron(9, edge_factor=8, seed=4)


def method(result):
    return result.stats.method


def visited(result):
    """Triangles, or elements of rows, that were looked at."""
    return result.stats.visited


def tried(result):
    """How many k were tried by themselves."""
    return len(result.stats.probes)


SUBTRACT, RECOUNT = {"removal": "subtract"}, {"removal": "recount"}
LISTS, ROWS_ = {"triangles": "lists"}, {"triangles": "rows"}
BISECT, RAISE = {"search": "bisection"}, {"search": "bottom-up"}
# Preset and mechanism: what switches it off, the figure, and what it is while it is on.
ROWS = {
    ("delta", "triangles that a batch destroyed are subtracted"): (RECOUNT, visited, min),
    ("delta", "triangles are looked up in rows"): (LISTS, method, "rows"),
    ("delta", "k is raised until nothing is left"): (BISECT, tried, min),
    ("iterative", "supports are counted anew"): (SUBTRACT, visited, max),
    ("iterative", "triangles are looked up in rows"): (LISTS, method, "rows"),
    ("iterative", "k is raised until nothing is left"): (BISECT, tried, min),
    ("lists", "every edge has a list of its triangles"): (ROWS_, method, "lists"),
    ("lists", "triangles that a batch destroyed are subtracted"): (RECOUNT, visited, min),
    ("rows", "triangles are looked up in rows"): (LISTS, method, "rows"),
}


def test_every_preset_is_in_the_table():
    assert {preset for preset, _ in ROWS} == set(cg.TrussConfig.presets()) - {"auto"}


@pytest.mark.rest
@pytest.mark.parametrize(
    ("preset", "mechanism"), [pytest.param(*row, id=": ".join(row)) for row in ROWS]
)
def test_every_mechanism_is_there(preset, mechanism, intel):
    """By the source that is rendered, and by a figure that differs when it is off."""
    off, figure, on = ROWS[preset, mechanism]
    config = cg.TrussConfig.preset(preset)
    expected = cg.Truss(GRAPH, device=intel).run().numbers
    figures, hashes = [], set()
    for each in (config, config.with_values(off)):
        plan = cg.Truss(GRAPH, config=each, device=intel)
        result = plan.run(greatest=figure is tried)
        if figure is tried:
            np.testing.assert_array_equal(result.mask, expected == expected.max())
        else:
            np.testing.assert_array_equal(result.numbers, expected)
        figures.append(figure(result))
        hashes.add(plan.source_hash)
    assert len(hashes) == 1 + (figure is method)
    assert figures[0] != figures[1]
    assert figures[0] == (on if figure is method else on(figures))
