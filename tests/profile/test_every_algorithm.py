"""Every algorithm can be profiled: its kernels are counted, and what it finds stays the same."""

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SOURCES, fresh_graph

import clgraph as cg

# Their queues keep no times, and a profile says so.
DIVIDED = ("divided-bfs",)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in DIVIDED])
def test_every_kernel_is_counted_and_results_stay(name, pocl):
    algorithm = ALGORITHMS[name]
    plan = algorithm.make(fresh_graph(), pocl)
    wanted, seen = algorithm.outcome(plan, SOURCES[0]), []
    report = cg.profile(
        lambda: seen.append(algorithm.outcome(plan, SOURCES[0])),
        device=pocl,
        passes=("counters",),
        repeats=1,
    )
    assert len(seen) == 3
    for found in seen:
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    for kernel in report.kernels:
        assert kernel.totals is not None
        assert kernel.totals.where("block")[:, 0].sum() > 0
        for criterion in kernel.criteria.values():
            assert criterion.reason if criterion.value is None else 0.0 <= criterion.value <= 1.0
