"""One pass finds what is wrong with a graph's arrays; the exact way only names the culprit."""

import itertools
import signal
import threading
import time

import numpy as np
import pytest
from interruption import interrupt, places

import clgraph as cg
from clgraph.errors import InvalidGraphError
from clgraph.graph import csr, sharing
from clgraph.graph import survey as surveying
from clgraph.graph.survey import survey
from clgraph.threads import at_work

WEIGHTS = (None, np.int32, np.int64, np.uint32, np.float32, np.float64)


def random_csr(rng, n, m, dtype, *, symmetric, weights=None):
    """Rows in random order, with parallel edges and self-loops."""
    src, dst = rng.integers(0, n, m), rng.integers(0, n, m)
    costs = rng.integers(0, 5, m)
    if symmetric:
        straight = src != dst
        src, dst = np.concatenate([src, dst[straight]]), np.concatenate([dst, src[straight]])
        costs = np.concatenate([costs, costs[straight]])
    order = rng.permutation(len(src))
    order = order[np.argsort(src[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))]).astype(dtype)
    chosen = None if weights is None else costs[order].astype(weights)
    return indptr, dst[order].astype(dtype), chosen


def exact(indptr, indices, weights):
    """What `survey` says, slowly."""
    back = csr.transpose_csr(indptr, indices, weights)
    ordered = csr.sorted_rows(indptr, indices, weights)
    return surveying.Survey(
        least=int(indices.min()) if len(indices) else 0,
        greatest=int(indices.max()) if len(indices) else -1,
        ascending=csr.first_unsorted(indptr, indices) is None,
        symmetric=csr.asymmetric_edge(ordered, back) is None,
    )


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 edges, in three threads from 32 edges on."""
    monkeypatch.setattr(surveying, "BLOCK", 16)
    monkeypatch.setattr(sharing, "EDGES_PER_THREAD", 32)
    monkeypatch.setattr(sharing, "processors", lambda: 3)


@pytest.mark.long
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_survey_agrees_with_the_exact_way(dtype, weights):
    rng = np.random.default_rng(8)
    for turn in range(60):
        n, m = int(rng.integers(1, 40)), int(rng.integers(0, 200))
        arrays = random_csr(rng, n, m, dtype, symmetric=bool(turn % 2), weights=weights)
        if turn % 3 == 0:
            arrays = csr.sorted_rows(*arrays)
        found = survey(*arrays, symmetry=True)
        assert found == exact(*arrays)
        assert found.symmetric or not turn % 2
        assert survey(*arrays, symmetry=False).symmetric is None


@pytest.mark.long
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("weights", WEIGHTS)
def test_one_changed_entry_is_found(weights):
    """A head, a weight, or both ends of an edge moved to other vertices."""
    rng = np.random.default_rng(9)
    seen = 0
    for _ in range(40):
        arrays = random_csr(rng, 30, 90, np.int32, symmetric=True, weights=weights)
        indptr, indices, costs = (None if array is None else array.copy() for array in arrays)
        assert survey(indptr, indices, costs, symmetry=True).symmetric
        place = int(rng.integers(len(indices)))
        if costs is not None and rng.random() < 0.5:
            costs[place] += 1
        else:
            indices[place] = (indices[place] + 1) % 30
        truth = exact(indptr, indices, costs)
        assert survey(indptr, indices, costs, symmetry=True) == truth
        seen += not truth.symmetric
    assert seen > 30  # a self-loop may change its weight, and become an edge of another self-loop


@pytest.mark.usefixtures("small_blocks")
def test_each_fall_is_found_wherever_blocks_and_rows_end():
    for length in (1, 2, 15, 16, 17, 33, 100):
        for begins in ([0, length], [0, 0, length, length], [0, length // 2, length]):
            indptr = np.array(begins)
            for fall in range(1, length):
                indices = np.arange(1, length + 1)
                indices[fall:] -= fall + 1
                ascending = fall in begins
                assert survey(indptr, indices, None, symmetry=False).ascending is ascending


def test_the_two_zeros_weigh_the_same():
    arrays = np.array([0, 1, 2]), np.array([1, 0])
    assert cg.Graph(*arrays, np.array([0.0, -0.0]), directed=False).m == 2
    with pytest.raises(InvalidGraphError, match="weighs something else"):
        cg.Graph(*arrays, np.array([0.0, 1e-300]), directed=False)


@pytest.mark.usefixtures("small_blocks")
def test_errors_name_the_culprit_as_before():
    graph = cg.generate.kron(8)
    indices = graph.indices.copy()
    indices[200] = graph.n
    with pytest.raises(InvalidGraphError, match=rf"indices\[200\] in row \d+ is {graph.n}"):
        cg.Graph(graph.indptr, indices)
    kept = np.ones(graph.m, bool)
    kept[200] = False
    row = int(np.searchsorted(graph.indptr, 200, side="right")) - 1
    indptr = graph.indptr - (np.arange(graph.n + 1) > row)
    edge = f"{graph.indices[200]} -> {row} has no reverse"
    with pytest.raises(InvalidGraphError, match=edge):
        cg.Graph(indptr, graph.indices[kept], directed=False)


def test_a_right_graph_needs_no_transpose(monkeypatch):
    def refuse(*_):
        raise AssertionError("the exact way was taken")

    graph = cg.generate.grid2d(9, 8, weights=(1, 9))
    for name in ("transpose_csr", "asymmetric_edge", "sorted_rows"):
        monkeypatch.setattr(csr, name, refuse)
    cg.Graph(graph.indptr, graph.indices, graph.weights, directed=False)


@pytest.mark.usefixtures("small_blocks")
def test_the_words_are_drawn_anew_for_every_graph(monkeypatch):
    """So that nobody can prepare a graph that only seems symmetric."""
    drawn = []
    monkeypatch.setattr(surveying.secrets, "randbits", lambda bits: drawn.append(bits) or 2**63 + 1)
    cg.Graph([0, 1, 2], [1, 0], directed=False)
    cg.Graph([0, 1, 2], [1, 0], directed=False)
    assert drawn == [64] * 12


@pytest.mark.usefixtures("small_blocks")
def test_a_failure_in_a_thread_is_the_callers(monkeypatch):
    main = threading.get_ident()

    def fail(_, begin):
        if threading.get_ident() != main or begin > 10_000:
            raise ZeroDivisionError(begin)
        time.sleep(0.001)

    monkeypatch.setattr(surveying._Part, "look_at", fail)
    graph = cg.generate.kron(10)
    with pytest.raises(ZeroDivisionError):
        cg.Graph(graph.indptr, graph.indices, directed=False)
    assert sharing.THREAD not in at_work()


@pytest.mark.usefixtures("small_blocks")
def test_ctrl_c_is_answered_and_leaves_no_thread(monkeypatch):
    look_at = surveying._Part.look_at
    turns, looked, pressed, answered = itertools.count(1), [], 0, threading.Event()
    main = threading.get_ident()

    def slowly(self, begin):
        turn = next(turns)
        looked.append(begin)
        if turn == pressed:
            signal.raise_signal(signal.SIGINT)
        elif 0 < pressed < turn and threading.get_ident() != main:
            answered.wait(60)  # however long the main thread takes to be given a processor
        time.sleep(0.005)
        look_at(self, begin)

    def press(*_):
        answered.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(surveying._Part, "look_at", slowly)
    graph = cg.generate.kron(10)
    looked.clear()
    cg.Graph(graph.indptr, graph.indices, directed=False)
    whole = len(looked)
    assert whole >= 20
    looked.clear()
    turns, pressed = itertools.count(1), 3
    handler = signal.signal(signal.SIGINT, press)
    try:
        with pytest.raises(KeyboardInterrupt):
            cg.Graph(graph.indptr, graph.indices, directed=False)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(looked) < whole  # the rest of the blocks is left
    assert sharing.THREAD not in at_work()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("opcodes", [False, True])
def test_ctrl_c_anywhere_in_sharing_blocks_out(opcodes):
    """Also while threads are started: what is raised is KeyboardInterrupt, and none stays."""

    def share_out():
        looked.clear()
        sharing.share_out([looked.append] * 3, list(range(6)))

    looked = []
    for place in places(share_out, opcodes=opcodes):
        interrupt(share_out, place, opcodes=opcodes)
        assert sharing.THREAD not in at_work()
    share_out()
    assert sorted(looked) == list(range(6))
