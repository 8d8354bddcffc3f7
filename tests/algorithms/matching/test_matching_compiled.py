"""The form that one core runs compiled finds what a device finds, for the same random numbers."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.matching.inputs import ONE
from clgraph.algorithms.matching.quality import planted_query


@pytest.mark.slow
@pytest.mark.parametrize("labels", [1, 5])
def test_same_matches(labels, any_device):
    pytest.importorskip("numba")
    from bench.studies.matchers.one_core import match  # noqa: PLC0415 - needs numba

    rng = np.random.default_rng(labels)
    ends = rng.integers(0, 90, (2, 400))
    target = cg.from_edges(*ends, n=90, symmetrize=True, dedup=True, self_loops=False)
    codes = rng.integers(0, labels, 90)
    plan = cg.SubgraphMatching(target, labels=codes, device=any_device)
    for size, seed in ((1, 0), (6, 1), (40, 2**33 + 5)):
        query, vertices = planted_query(target, size, seed=size)
        own = codes[vertices]
        result = plan.run(query, labels=own, k=50, seed=seed, sort=False)
        mapping, losses, _ = match(target, query, codes, own, k=50, seed=seed)
        np.testing.assert_array_equal(result.mapping, mapping)
        parts = np.stack([result.cost_parts[name] for name in ("labels", "edges", "nodes")], axis=1)
        np.testing.assert_array_equal(parts * [ONE, 1, 1], losses)
