"""Which of networkx's own tests say something about a backend."""

from __future__ import annotations

from typing import Any

__all__ = ["choose_tests"]

# One file asks for distances from every node of hundreds of graphs: half a million searches.
MANY = "test_distance_measures.py"
ONE_IN = 40

SEEDS = "the same seed gives another independent set"
CYCLES = "of several shortest paths another leads to another basis of cycles"
EXPECTED = {
    ("TestMinimumCycleBasis", "test_unweighted_diamond"): CYCLES,
    ("TestMinimumCycleBasis", "test_weighted_diamond"): CYCLES,
    ("TestMinimumCycleBasis", "test_petersen_graph"): CYCLES,
    ("TestMinimumCycleBasis", "test_gh6787_and_edge_attribute_names"): CYCLES,
    ("TestBellmanFordAndGoldbergRadzik", "test_find_negative_cycle_longer_cycle"): (
        "the same cycle may begin at another node"
    ),
    ("", "test_random_seed"): SEEDS,
    ("TestDAG", "test_topological_sort6"): (
        "a converted graph does not change while its nodes are gone through"
    ),
}


def choose_tests(items: list[Any]) -> None:
    """Skip or expect to fail what cannot tell right from wrong; networkx calls it.

    Parameters
    ----------
    items : list of pytest.Item
        The tests collected.
    """
    import pytest  # noqa: PLC0415 - networkx's test runs have it

    cases = 0
    for item in items:
        if item.path.name == MANY and hasattr(item, "callspec"):
            cases += 1
            if cases % ONE_IN:
                item.add_marker(pytest.mark.skip(reason=f"one in {ONE_IN} of these cases is run"))
        home = getattr(item.cls, "__name__", "")
        reason = EXPECTED.get((home, item.name))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
