"""Presets of matching do what they say: a table of what each takes of the thesis.

As tests/algorithms/bfs/test_bfs_presets.py: each row says what a preset switches on and by what
that is switched off. The kernels that are rendered differ then, and so do the matches, which are
drawn by other probabilities or in another order; how the same ones are found shows in the kernels
that were launched.
"""

from dataclasses import replace

import numpy as np
import pytest

import clgraph as cg

TARGET = cg.generate.kron(7, edge_factor=6, seed=3)
QUERY = cg.generate.grid2d(3, 3)
LABELS = np.random.default_rng(4).integers(0, 2, TARGET.n), np.arange(9) % 2
K = 200

SUM = "the score of a seed is a sum"
ALL_PAIRS = "pairs that neither vertex is next to count"
ANY_ORDER = "any vertex of the query's frontier comes next"
COMMON = "pairs that both vertices are next to count"
SEARCHES = "similarities are found by a search from every vertex"
FLAT = "seeds are drawn out of all pairs"
# Preset, what it switches on, what switches that off.
ROWS = [
    ("thesis", SUM, {"scoring": "product"}),
    ("thesis", ALL_PAIRS, {"profile": "shared_ones"}),
    ("thesis", ANY_ORDER, {"order": "constrained"}),
    ("thesis-bfs", SUM, {"scoring": "product"}),
    ("thesis-bfs", ALL_PAIRS, {"profile": "shared_ones"}),
    ("thesis-bfs", ANY_ORDER, {"order": "constrained"}),
    ("thesis-bfs", SEARCHES, {"similarities": "bitset"}),
    ("thesis-bfs", FLAT, {"seeds": "rows"}),
    ("product", COMMON, {"profile": "lost_edges"}),
    ("product", ANY_ORDER, {"order": "constrained"}),
]


def test_every_preset_is_in_the_table():
    assert {preset for preset, _, _ in ROWS} == set(cg.MatchingConfig.presets()) - {"auto"}
    for preset in cg.MatchingConfig.presets():
        config, base = cg.MatchingConfig.preset(preset), cg.MatchingConfig()
        changed = {name for row in ROWS if row[0] == preset for name in row[2]}
        assert replace(config, **{name: getattr(base, name) for name in changed}) == base


@pytest.mark.parametrize(
    ("preset", "off"), [pytest.param(name, off, id=f"{name}: {what}") for name, what, off in ROWS]
)
def test_every_mechanism_is_there(preset, off, any_device):
    config = cg.MatchingConfig.preset(preset)
    found, built = [], []
    for each in (config, replace(config, **off)):
        plan = cg.SubgraphMatching(TARGET, labels=LABELS[0], config=each, device=any_device)
        result = plan.run(QUERY, labels=LABELS[1], k=K, seed=5, verify=True)
        found.append(result.mapping)
        kernels = plan._phases._kernels
        built.append({key[:2]: kernel.program.source_hash for key, kernel in kernels.items()})
    assert built[0] != built[1]
    if "similarities" in off:
        assert built[0].keys() != built[1].keys()
        np.testing.assert_array_equal(*found)
    else:
        assert not np.array_equal(*found)
