"""Random walks: step by step by the same random numbers in Python, and by their frequencies."""

from functools import cache

import numpy as np
import pytest
from graphs import SHAPES

import clgraph as cg
from bench.studies.matchers.sequential import philox
from clgraph.algorithms.walks import plan as module
from clgraph.algorithms.walks.plan import SHARE_BITS, TRIES, _verify
from clgraph.algorithms.walks.result import WalksResult
from clgraph.algorithms.walks.sums import row_sums

on_both = pytest.mark.runtimes("pocl", "intel")
MASK = 2**32 - 1


def walk_slowly(graph, number, start, length, *, p=1.0, q=1.0, seed=0, weights=True):
    """One walk, by the numbers that the kernel draws."""
    sums = row_sums(graph) if weights and graph.weights is not None else None
    wanted = np.array([1 / p, 1, 1 / q])
    shares = np.maximum(np.rint(wanted / wanted.max() * 2**SHARE_BITS), 1).astype(int).tolist()
    first_order = len(set(shares)) == 1
    key = (seed & MASK, seed >> 32)

    def row(v):
        return graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist()

    def share(t, u):
        return shares[0] if u == t else shares[1] if u in row(t) else shares[2]

    def through(t, targets, upto):
        parts = np.diff([0, *upto])
        each = [int(w) * share(t, u) for w, u in zip(parts, targets, strict=True)]
        words = philox((number & MASK, number >> 32, step, MASK), key)
        left = (words[0] << 32 | words[1]) * sum(each) >> 64
        return targets[int(np.searchsorted(np.cumsum(each), left, side="right"))]

    walk, t = [start], None
    for step in range(length):
        targets = row(walk[-1])
        upto = list(range(1, len(targets) + 1))
        if sums is not None:
            upto = sums[graph.indptr[walk[-1]] : graph.indptr[walk[-1] + 1]].tolist()
        if not targets or not upto[-1]:
            return walk + [-1] * (length - step)
        found = None
        for attempt in range(max(TRIES, len(targets))):
            words = philox((number & MASK, number >> 32, step, attempt), key)
            drawn = words[0] * upto[-1] >> 32
            u = targets[next(k for k, sum_ in enumerate(upto) if sum_ > drawn)]
            if first_order or t is None or words[1] >> (32 - SHARE_BITS) < share(t, u):
                found = u
                break
        before, t = t, walk[-1]
        walk.append(through(before, targets, upto) if found is None else found)
    return walk


@cache
def weighted_graph(kind):
    rng = np.random.default_rng(6)
    src, dst = rng.integers(0, 40, (2, 260))
    weights = rng.integers(0, 9, 260)
    if kind == "float64":
        weights = weights * 0.1
    elif kind == "int64":
        weights = weights * 2**58
    return cg.from_edges(src, dst, weights.astype(kind), n=43, dedup=True)


@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (3, 0.5)])
def test_every_step_is_the_one_that_the_numbers_say(p, q, device):
    seed = 7 << 33 | 5
    for kind in ("int32", "float64", "int64"):
        graph = weighted_graph(kind)
        starts = np.arange(43)
        options = {"p": p, "q": q, "seed": seed}
        found = cg.random_walks(graph, starts, 12, device=device, verify=True, **options)
        assert found.walks.dtype == np.int32
        for number in range(0, 43, 3):
            expected = walk_slowly(graph, number, number, 12, **options)
            assert found.walks[number].tolist() == expected
    plain = cg.random_walks(graph, starts, 12, weights=False, device=device, verify=True, **options)
    for number in range(0, 43, 9):
        expected = walk_slowly(graph, number, number, 12, weights=False, **options)
        assert plain.walks[number].tolist() == expected


@on_both
def test_refused_draws_end_in_going_through_the_row(device):
    """From a leaf of a star there is only the way back, which p makes next to impossible."""
    graph = cg.generate.star(40)
    options = {"p": 1e5, "q": 1.0, "seed": 2}
    found = cg.random_walks(graph, [1, 2, 3], 6, device=device, verify=True, **options)
    for number, start in enumerate((1, 2, 3)):
        assert found.walks[number].tolist() == walk_slowly(graph, number, start, 6, **options)
    # A leaf's only edge has a share of 2^-17 in each of 64 draws: most steps there go through.
    assert (found.walks >= 0).all()


@on_both
def test_long_rows_are_drawn_from_as_often_as_they_have_edges(device):
    """Of 400 edges of a hub one leads back, and all others are taken once in 300 draws."""
    graph, options = cg.generate.star(401), {"q": 300.0, "seed": 5}
    found = cg.random_walks(graph, np.arange(1, 41), 2, device=device, **options)
    for number in range(40):
        expected = walk_slowly(graph, number, number + 1, 2, **options)
        assert found.walks[number].tolist() == expected


@on_both
def test_first_steps_are_in_proportion_to_weights(device):
    graph = cg.from_edges([0, 0, 0, 0], [1, 2, 3, 4], [1.0, 0.0, 2.5, 0.5], n=5)
    walks = cg.random_walks(graph, np.zeros(40000, int), 2, seed=3, device=device).walks
    counts = np.bincount(walks[:, 1], minlength=5)[1:]
    expected = np.array([0.25, 0, 0.625, 0.125]) * 40000
    assert counts[1] == 0
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected) + 1e-9).all()
    assert (walks[:, 2] == -1).all()


@on_both
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25)])
def test_second_steps_have_the_frequencies_of_node2vec(p, q, device):
    """From 0 to 1, whose neighbours are 0 itself, 2 next to 0, and 3 and 4 far from it."""
    graph = cg.from_edges([0, 0, 1, 1, 1], [1, 2, 2, 3, 4], symmetrize=True)
    walks = cg.random_walks(graph, np.zeros(60000, int), 2, p=p, q=q, seed=4, device=device).walks
    second = walks[walks[:, 1] == 1, 2]
    shares = np.array([1 / p, 0, 1, 1 / q, 1 / q])
    expected = shares / shares.sum() * second.size
    counts = np.bincount(second, minlength=5)
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected) + 1e-9).all()


def test_blocks_and_pieces_change_nothing(any_device, monkeypatch):
    graph = SHAPES["power-law"]
    starts = np.arange(300) % graph.n
    plan = cg.RandomWalks(graph, device=any_device)
    told = []
    whole = plan.run(starts, 50, q=2.0, seed=9)
    small = {"TOGETHER": 3000, "STEPS_TOGETHER": 16, "LAUNCH_STEPS": 500, "CPU_LAUNCH_STEPS": 500}
    for name, value in small.items():
        monkeypatch.setattr(module, name, value)
    pieces = plan.run(starts, 50, q=2.0, seed=9, progress=lambda *what: told.append(what))
    np.testing.assert_array_equal(whole.walks, pieces.walks)
    assert len(pieces.stats.rounds) > 1
    assert sum(pieces.stats.rounds) == 300
    assert pieces.stats.launches > 10 * whole.stats.launches
    assert [done for done, *_ in told[:-1]] == sorted(done for done, *_ in told[:-1])
    assert told[-1] == (1, 1, "walking")
    some = plan.run(starts[:7], 20, q=2.0, seed=9).walks
    np.testing.assert_array_equal(some, whole.walks[:7, :21])
    assert plan.run(starts, 50, q=2.0, seed=10).walks.tolist() != whole.walks.tolist()
    assert whole.stats.edges_traversed == whole.lengths.sum() == 300 * 50 - (whole.walks < 0).sum()


def test_walks_are_read_into_memory_that_is_used_again(any_device):
    graph, starts = cg.generate.path(300), np.arange(300)
    plan = cg.RandomWalks(graph, device=any_device)
    plan.run(starts, 100)  # the first of its size is in memory of its own
    first = plan.run(starts, 100).walks
    place, kept = first.ctypes.data, first.copy()
    assert plan.run(starts, 100, seed=1).walks.ctypes.data != place
    np.testing.assert_array_equal(first, kept)
    del first
    assert plan.run(starts, 100).walks.ctypes.data == place


def test_sums_are_exact_or_close():
    graph = weighted_graph("int32")
    sums, ends = row_sums(graph).astype(np.int64), graph.indptr[1:][graph.degrees > 0]
    parts = np.diff(np.concatenate([[0], sums]))
    begins = graph.indptr[:-1][graph.degrees > 0]
    parts[begins] = sums[begins]
    np.testing.assert_array_equal(parts, graph.weights)
    close = row_sums(weighted_graph("float64")).astype(np.int64)
    shares = np.abs(close[ends - 1] - 2**31) <= graph.max_degree
    assert (shares | (sums[ends - 1] == 0)).all()
    tiny = cg.from_edges([0, 0, 0], [0, 1, 2], [1e-300, 1e300, 0.0], n=3)
    assert row_sums(tiny).tolist() == [1, 2**31 + 1, 2**31 + 1]


def test_verification_finds_what_is_wrong(any_device):
    path = cg.from_edges([0, 1], [1, 2], [1.0, 0.0])
    starts = np.array([0, 2], np.uint32)
    result = cg.random_walks(path, starts, 2, device=any_device, verify=True)
    assert result.walks.tolist() == [[0, 1, -1], [2, -1, -1]]
    assert str(result) == "WalksResult(walks=2, length=2)"
    assert result.walks.flags.c_contiguous
    assert result.lengths.tolist() == [1, 0]
    for wrong in ([[0, 2, -1], [2, -1, -1]], [[0, 1, 2], [2, -1, -1]], [[0, -1, -1], [2, -1, -1]],
                  [[1, -1, -1], [2, -1, -1]], [[0, 1, -1], [2, -1, 1]]):  # fmt: skip
        result = WalksResult(np.array(wrong, np.int32), result.stats)
        with pytest.raises(cg.VerificationError, match="walk"):
            _verify(path, result, starts, weighted=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"starts": [5]}, "starts"),
        ({"starts": [-1]}, "starts"),
        ({"starts": [0.5]}, "starts"),
        ({"starts": 0}, "starts"),
        ({"length": -1}, "length"),
        ({"p": 0}, "p=0"),
        ({"q": np.inf}, "q="),
        ({"seed": 2**64}, "seed"),
    ],
)
def test_what_is_refused(given, words, any_device):
    plan = cg.RandomWalks(cg.generate.path(5), device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match=words):
        plan.run(**{"starts": [0], "length": 2, **given})


def test_negative_weights_are_refused(any_device):
    graph = cg.from_edges([0, 1], [1, 0], [1.0, -2.0])
    with pytest.raises(cg.InvalidGraphError, match="weights=False"):
        cg.random_walks(graph, [0], 2, device=any_device)
    assert cg.random_walks(graph, [0], 2, weights=False, device=any_device).walks.tolist() == [
        [0, 1, 0]
    ]


def test_no_walks_no_steps_no_edges(any_device):
    for n in (0, 1, 5):
        graph = cg.Graph(np.zeros(n + 1, int), [], directed=False)
        found = cg.random_walks(graph, np.arange(n), 3, device=any_device, verify=True)
        assert found.walks.shape == (n, 4)
        assert found.lengths.tolist() == [0] * n
        assert cg.random_walks(graph, np.arange(n), 0, device=any_device).walks.shape == (n, 1)
