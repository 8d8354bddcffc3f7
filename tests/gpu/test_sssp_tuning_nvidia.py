"""Searches that tune themselves, on an NVIDIA card: traces against the oracle, and control."""

import numpy as np
import pytest
from configs import sssp_config
from paths import weighted
from tuning import TunedSearch

import clgraph as cg

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def card():
    return cg.device("nvidia")


@pytest.mark.parametrize("form", ["device", "host"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_traces_agree(form, dtype, card):
    """sssp-self-tuning checklist 7: each count of each step, in both forms, with doubles of PTX."""
    graph = weighted(cg.generate.kron(14, 8, seed=3), dtype, 0 if dtype == np.float32 else 1, 100)
    grid = weighted(cg.generate.grid2d(150, 150), dtype, 1, 90)
    for case, set_point in ((graph, 3000), (grid, 700)):
        source = int(case.degrees.argmax())
        oracle = TunedSearch(case, source, set_point)
        config = sssp_config(method="self-tuning", set_point=set_point, controller=form)
        plan = cg.SSSP(case, predecessors=True, config=config, device=card)
        for _ in range(3):
            result = plan.run(source, verify=True)
            np.testing.assert_array_equal(result.distances, oracle.distances)
            trace = result.stats.per_level
            assert len(trace) == len(oracle.trace)
            for name, column in oracle.table.items():
                if name in ("delta", "d", "alpha"):
                    np.testing.assert_allclose(trace[name], column, rtol=1e-9, err_msg=name)
                else:
                    np.testing.assert_array_equal(trace[name], column, name)
        assert result.stats.mode == ("persistent" if form == "device" else "stepped")


def test_work_stays_near_the_set_point(card):
    """sssp-self-tuning checklist 18: a grid of a million vertices, no host round trip per step."""
    graph = weighted(cg.generate.grid2d(1000, 1000), np.int32, 1, 1000)
    plan = cg.SSSP(graph, config=sssp_config(method="self-tuning"), device=card)
    for set_point in (2000, 5000, 10000):
        plan.set_point = set_point
        result = plan.run(500_500, verify=True)
        edges = result.stats.per_level["X2"][10:]
        assert abs(np.median(edges) - set_point) < 0.1 * set_point
        assert result.stats.launches < 20
