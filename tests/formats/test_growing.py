"""Columns put together part by part are those that are joined in the end."""

import tracemalloc

import numpy as np
import pytest

from clgraph.graph.growing import GrowingColumns

SIZES = [[3, 0, 5], [0, 0], [1] * 40, [100, 1, 700], []]


def parts_of(sizes, *, weighted):
    rng = np.random.default_rng(len(sizes))
    ids = [rng.integers(0, 99, (2, size), np.int32) for size in sizes]
    # Integers, until a part has decimals.
    kinds = [np.float64 if place > 1 else np.int64 for place in range(len(sizes))]
    weights = [
        rng.integers(0, 9, size).astype(kind) for size, kind in zip(sizes, kinds, strict=True)
    ]
    return [(*pair, costs if weighted else None) for pair, costs in zip(ids, weights, strict=True)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", ["right", "too little is left", "nobody knows"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_all_rows_are_there_in_order(sizes, share, weighted):
    parts, found = parts_of(sizes, weighted=weighted), GrowingColumns()
    shares = np.cumsum(sizes) / max(sum(sizes), 1)
    if share != "right":
        shares = np.full(len(sizes), 0.9 if share == "too little is left" else 7.0)
    for part, so_far in zip(parts, shares, strict=True):
        found.append(part, so_far or 0.1)
    assert found.rows == sum(sizes)
    columns = found.columns()
    assert (columns[2] is not None) == (weighted and found.rows > 0)
    for place in range(2 + (columns[2] is not None)):
        joined = np.concatenate([part[place] for part in parts] or [np.empty(0, np.int32)])
        np.testing.assert_array_equal(columns[place], joined)
        assert columns[place].dtype == joined.dtype


def test_rows_that_come_as_expected_are_moved_once():
    """Room is taken at the first part: no part is copied again because another one follows it."""
    found, ids = GrowingColumns(), np.arange(10_000, dtype=np.int32)
    found.append((ids, ids, None), 0.01)
    tracemalloc.start()
    try:
        for part in range(2, 101):
            found.append((ids, ids, None), part / 100)
        assert tracemalloc.get_traced_memory()[1] < ids.nbytes
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found.columns()[1], np.tile(ids, 100))
