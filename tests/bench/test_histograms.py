"""What records hold of truss and core numbers."""

import numpy as np
import pytest
from peeling import core_numbers_of, hub_and_cliques, truss_numbers_of

from bench.runner.graphs import Loaded
from bench.runner.problem import problem_of


@pytest.mark.parametrize(
    ("kind", "numbers"), [("truss", truss_numbers_of), ("cores", core_numbers_of)]
)
def test_histograms_count_every_number(kind, numbers, pocl):
    graph = hub_and_cliques()
    found = problem_of(kind)(loaded(graph), pocl, "auto").histogram(0)
    values, counts = np.unique(numbers(graph), return_counts=True)
    assert found["values"] == values.tolist()
    assert found["counts"] == counts.tolist()
    assert kind.removesuffix("s") in found["what"]


def loaded(graph):
    held = object.__new__(Loaded)
    object.__setattr__(held, "graph", graph)
    return held
