"""Batches of searches do what the paper's presets say: by whom the edges of a row are visited.

As tests/algorithms/bfs/test_bfs_presets.py: each row says what a preset switches on, by what that
is switched off, and a figure that differs then; the kernels that are rendered differ too.
"""

import math

import numpy as np
import pytest
from searches import expected_distances

import clgraph as cg

# Snippets note who finds a vertex, a work-item of the group that runs the search.
FINDER = {
    "state": {"hops": cg.State("int32", fill=-1), "finder": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; finder[v] = lid; ENQ(v); }",
}
LEAVES = 300
HUB = cg.generate.star(LEAVES + 1)
# Every row has twelve edges, which is below the threshold of hybrids.
NARROW = cg.generate.star(13)

# Preset and mechanism: what switches it off, on which graph, and how many work-items, of as many
# lanes and such a group, share the hub's row while it is on.
ROWS = {
    ("edge-parallel", "the whole group looks at every edge"): (
        {"method": "frontier"}, HUB, lambda _, group: group,
    ),
    ("work-efficient", "a row is one work-item's, however long"): (
        {"threshold": 0}, HUB, lambda *_: 1,
    ),
    ("warp-based", "a row is a SIMD group's, however short"): (
        {"threshold": math.inf, "balance": "item_thread"}, NARROW, lambda lanes, _: min(lanes, 12),
    ),
    ("hybrid", "a long row is a SIMD group's"): (
        {"threshold": math.inf}, HUB, lambda lanes, _: lanes,
    ),
    ("hybrid", "a short row is one work-item's"): ({"threshold": 0}, NARROW, lambda *_: 1),
}  # fmt: skip


def test_every_published_preset_is_in_the_table():
    assert {preset for preset, _ in ROWS} == set(cg.MultiSearchConfig.presets()) - {"auto"}


@pytest.mark.parametrize(
    ("preset", "mechanism"), [pytest.param(*row, id=": ".join(row)) for row in ROWS]
)
def test_every_mechanism_is_there(preset, mechanism, intel):
    """By the source that is rendered, and by how many work-items share the hub's row."""
    off, graph, on = ROWS[preset, mechanism]
    lanes = intel.traits.lanes
    config = cg.MultiSearchConfig.preset(preset).with_values({"group_size": 4 * lanes})
    sharers, hashes = [], set()
    for each in (config, config.with_values(off)):
        plan = cg.MultiSearch(graph, config=each, device=intel, **FINDER)
        result = plan.run([0])
        np.testing.assert_array_equal(result["hops"][0], expected_distances(graph, 0))
        finders = result["finder"][0, 1:]
        assert (finders >= 0).all()
        sharers.append(len(set(finders.tolist())))
        hashes.add(plan.source_hash)
    assert len(hashes) == 2
    assert sharers[0] == on(lanes, 4 * lanes) != sharers[1]
