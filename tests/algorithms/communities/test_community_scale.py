"""Weights and gains of communities in whole numbers, which are the same on every device."""

import numpy as np
import pytest
from community_graphs import small_graphs

from clgraph.algorithms.communities.scale import Scale, whole_weights


@pytest.mark.parametrize("total", [2, 77, 2**31, 2**40 - 1])
@pytest.mark.parametrize("resolution", [0.0, 0.37, 1.0, 1.5, 1000.0, 1024.0])
def test_gains_in_whole_numbers_are_those_of_real_ones(total, resolution):
    scale = Scale.of(total, resolution)
    assert scale.factor < 2**64
    assert scale.down <= scale.shift + 3  # little more is rounded away than the least weight
    for strength, held in ((1, 1), (1, total - 1), (total // 2, total // 3 + 1), (total, total)):
        share = (((strength << scale.shift) << scale.up) % 2**64) * scale.factor >> 64
        found = (share * (held << scale.shift) >> 64) << scale.down
        wanted = resolution * strength * held / total * 2.0**scale.shift
        assert found < 2**62
        assert found == pytest.approx(wanted, rel=1e-6, abs=2.0 ** (scale.down + 1))


def test_weights_that_are_no_whole_numbers_are_rounded_finely():
    graph = small_graphs()["real"]
    whole, wide, unit = whole_weights(graph, weighted=True)
    assert wide
    np.testing.assert_allclose(whole * unit, graph.weights, atol=graph.weights.sum() * 2.0**-39)
