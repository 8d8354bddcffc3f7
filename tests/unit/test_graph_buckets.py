"""Edges that a processor's kernels sort, and those that are left to scipy."""

from functools import partial

import numpy as np
import pytest

import clgraph.graph as cgg
from clgraph.device.waiting import wait
from clgraph.errors import KernelBuildError
from clgraph.graph import buckets, csr
from clgraph.graph.formats import seam


@pytest.fixture
def sorter(pocl, monkeypatch):
    """Whatever the number of edges, and in more than one bucket."""
    monkeypatch.setattr(buckets, "LEAST_EDGES", 0)
    monkeypatch.setattr(buckets, "BUCKET_EDGES", 64)
    return partial(buckets.sorted_by, pocl)


def drawn(n, m, seed=1):
    return np.random.default_rng(seed).integers(0, n, (2, m)).astype(np.int32)


def hub(n, m):
    src, dst = drawn(n, m)
    src[::2] = n // 3
    dst[1::2] = n - 1
    return src, dst


def equal(found, n, src, dst):
    expected = csr.edges_to_csr(n, src, dst, None)
    for one, other in zip(found, expected[:2], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("n", "m"),
    [
        (1, 1),
        (1, 900),
        (2, 50),
        (3, 7),
        (256, 4000),
        (257, 4000),
        (1000, 1),
        (70_000, 30_000),
        (2**18, 9000),
        (2**19 + 1, 300_000),
    ],
)
def test_rows_are_those_of_scipy(sorter, n, m):
    for src, dst in (drawn(n, m), hub(n, m), np.sort(drawn(n, m))):
        equal(sorter(n, src, dst), n, src, dst)


def test_lists_of_any_length(sorter):
    """Shares of them too, which are not what loops are unrolled by."""
    for m in range(1, 80):
        src, dst = drawn(300, m, seed=m)
        equal(sorter(300, src, dst), 300, src, dst)


def test_vertices_too_many_for_keys(sorter):
    """Of a bucket's sources and all targets; more edges make more buckets."""
    n = 2**19
    assert sorter(n, *drawn(n, 1000)) is None
    src, dst = drawn(n, 5000)
    equal(sorter(n, src, dst), n, src, dst)


def test_edges_that_may_not_be_written(sorter):
    src, dst = drawn(500, 9000)
    for ends in (src, dst):
        ends.flags.writeable = False
    equal(sorter(500, src, dst), 500, src, dst)


def test_what_is_left_to_scipy(sorter, monkeypatch):
    src, dst = drawn(50, 900)
    assert sorter(50, src, dst) is not None
    assert sorter(50, src.astype(np.int64), dst) is None
    assert sorter(50, src, dst[::-1]) is None
    monkeypatch.setattr(buckets, "LEAST_EDGES", 901)
    assert sorter(50, src, dst) is None


@pytest.mark.parametrize("error", [KernelBuildError("no compiler today"), KeyboardInterrupt()])
def test_kernels_have_ended_before_arrays_are_let_go(sorter, monkeypatch, caplog, error):
    begun = []
    caplog.set_level("INFO", "clgraph")

    def interrupted(event):
        begun.append(event)
        raise error

    monkeypatch.setattr(buckets, "wait", interrupted)
    given = drawn(50, 1 << 20)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            sorter(50, *given)
    else:
        assert sorter(50, *given) is None
        assert "sorted without a kernel: no compiler today" in caplog.text
    assert [event.command_execution_status for event in begun] == [0]


def test_memory_that_nobody_wants_is_taken(sorter, monkeypatch):
    """But while somebody else may go on with it: then as it was."""
    given = drawn(500, 9000)
    src, dst = (ends.copy() for ends in given)
    equal(sorter(500, src, dst), 500, *given)
    np.testing.assert_array_equal(src, given[0])
    found = sorter(500, src, dst, spare=True)
    assert found[1] is src
    equal(found, 500, *given)
    src = given[0].copy()
    src.flags.writeable = False
    equal(sorter(500, src, dst, spare=True), 500, *given)

    def fails(event):
        wait(event)  # or the next kernel would write wherever counts that are not there yet say
        waited.append(event)
        if len(waited) == last:
            raise KernelBuildError("no more")

    src = given[0].copy()
    monkeypatch.setattr(buckets, "wait", fails)
    waited, last = [], 1
    assert sorter(500, src, dst, spare=True) is None
    np.testing.assert_array_equal(src, given[0])
    # What counts, its counts twice, what shares out, and then what sorts.
    waited, last = [], 5
    with pytest.raises(KernelBuildError):
        sorter(500, src, dst, spare=True)


def test_edges_of_a_caller_stay_as_they_are(sorter):
    given = drawn(3000, 20_000)
    src, dst = (ends.copy() for ends in given)
    found = csr.edges_to_csr(3000, src, dst, None, sorter=sorter)
    equal(found[:2], 3000, *given)
    np.testing.assert_array_equal((src, dst), given)


def test_files_in_no_order(sorter, pocl, tmp_path, monkeypatch):
    """With the processor open and without, and edges in order or with weights in neither case."""
    src, dst = drawn(3000, 20_000)
    path, asked = tmp_path / "graph.el", []

    def noted(*given, **named):
        asked.append(given)
        return sorter(*given[1:], **named)

    monkeypatch.setattr(buckets, "sorted_by", noted)
    path.write_bytes(b"".join(b"%d %d\n" % pair for pair in zip(src, dst, strict=True)))
    graphs = []
    for processor in (pocl, None):
        monkeypatch.setattr(seam, "open_processor", lambda found=processor: found)
        graphs.append(cgg.read(path))
    assert len(asked) == 1
    equal((graphs[0].indptr, graphs[0].indices), graphs[0].n, src, dst)
    equal((graphs[1].indptr, graphs[1].indices), graphs[0].n, src, dst)
    monkeypatch.setattr(seam, "open_processor", lambda: pocl)
    cgg.write(graphs[0], path)
    cgg.read(path)
    path.rename(tmp_path / "graph.wel")
    text = b"".join(b"%d %d 2\n" % pair for pair in zip(src, dst, strict=True))
    (tmp_path / "graph.wel").write_bytes(text)
    cgg.read(tmp_path / "graph.wel")
    assert len(asked) == 1
