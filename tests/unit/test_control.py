"""The controller of self-tuning searches, by itself and in whole searches in NumPy."""

import math

import numpy as np
import pytest
from graphs import SHAPES
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import expected_lengths, unreached, weighted
from tuning import TunedSearch, controller_of

import clgraph as cg
from clgraph.engine.control import DEGREE_FLOOR, STARTUP, AdaptiveModel, Controller, Counts


def printed_update(state, x, y):
    """Algorithm 1, as printed, on (p, g, v, h, tau)."""
    p, g, v, h, tau = state
    grad, curv = -2 * (y - p * x) * x, 2 * x * x
    g = (1 - 1 / tau) * g + grad / tau
    v = (1 - 1 / tau) * v + grad**2 / tau
    h = (1 - 1 / tau) * h + curv / tau
    mu = g**2 / (h * v)
    tau = (1 - g**2 / v) * tau + 1
    return p - mu * grad, g, v, h, tau


def test_updates_follow_algorithm_1():
    """sssp-self-tuning checklist 8: a series of observations, and the averages' limits."""
    rng = np.random.default_rng(1)
    model = AdaptiveModel(3.0)
    state = (3.0, 0.0, 1e-6, 1.0, 2 * (1 + 1e-6))
    for x in rng.integers(1, 5000, 300):
        y = x * rng.uniform(2.0, 4.0)
        model.update(float(x), float(y))
        state = printed_update(state, float(x), float(y))
        ours = (model.value, model.gradient, model.variance, model.curvature, model.memory)
        np.testing.assert_allclose(ours, state, rtol=1e-12)
        assert model.memory >= 1
        assert model.variance > 0
    assert 2.0 < model.value < 4.0


def test_no_gradient_changes_nothing():
    """sssp-self-tuning checklist 12: an observation that fits, and one of nothing."""
    model = AdaptiveModel(2.0)
    for x, y in ((3.0, 6.0), (0.0, 5.0)):
        model.update(x, y)
        assert (model.value, model.memory, model.variance) == (2.0, 2 * (1 + 1e-6), 1e-6)


def _follow(control, density, steps, seed=3):
    """Steps of a made-up search with `density` vertices per unit of distance; alpha after each."""
    rng = np.random.default_rng(seed)
    frontier, seen = 100, []
    for _ in range(steps):
        near = int(frontier * rng.uniform(0.9, 1.1))
        before = control.delta
        edges = 4 * frontier
        control.turn(Counts(frontier, edges, frontier, near, 10**6, 0, 0.0, 0.0, math.inf, 1e12))
        frontier = max(near + round(density * (control.delta - before)), 1)
        seen.append(control.density.value)
    return seen


def test_density_is_learned_with_the_minus_sign():
    """sssp-self-tuning checklist 9: a known density is found; its guard hardly ever acts."""
    control = Controller(4000.0, 4.0, 100.0, 1.0)
    seen = _follow(control, 2.5, 300)
    assert min(seen) > 0
    assert abs(np.median(seen[-100:]) - 2.5) < 0.5
    assert abs(control.degree.value - 4.0) < 0.5


def test_threshold_and_bound_by_hand():
    """sssp-self-tuning checklist 10: equations (3), (6) and (7) with round numbers."""
    control = Controller(100.0, 5.0, 40.0, 1.0)
    control.steps = STARTUP
    control.density.value = 0.5
    # 100 / 5 = 20 vertices are wanted and 12 are near: 8 more, at 0.5 per unit.
    control.turn(Counts(10, 50, 30, 12, 7, 0, 3.0, 41.0, math.inf, 1000.0))
    assert control.delta == 40 + 8 / 0.5
    assert control.bound == 40  # below + 100 / 0.5 is no less than it was
    assert (control.current, control.partitions) == (0, 2)
    # The current partition is empty: the next one, up to 40 + 100 / 0.5. Of 20 there are 26, so 12
    # units less; (5) sees 10 - 12 vertices for a rise by 16.
    control._change = 0.0
    control.turn(Counts(10, 50, 30, 26, 0, 9, 3.0, math.inf, 60.0, 1000.0))
    assert control.delta == 56 - 12
    assert control.advanced
    assert (control.current, control.below, control.bound) == (1, 40, 240)
    assert control.partitions == 3


@pytest.mark.parametrize(
    ("near", "far", "bound", "expected"),
    [
        (50, 9, 90.0, 50 / 40),  # more than wanted: shrink
        (5, 30, 100.0, 30 / 60),
        (5, 30, math.inf, 30 / 160),  # the last partition ends at the largest distance
        (5, 0, math.inf, 0.25),  # nothing waits: as it was
        (5, 30, 40.25, 30.0),  # a partition narrower than a unit
    ],
)
def test_start_up_density(near, far, bound, expected):
    """sssp-self-tuning checklist 11: both branches of (8), and what it leaves open."""
    control = Controller(100.0, 5.0, 40.0, 1.0)
    control.density.value = 0.25
    control.bound = bound
    if not far:
        control.bound = math.inf
    control.turn(Counts(10, 50, 60, near, far, 0, 3.0, 41.0, math.inf, 200.0))
    assert control.density.value == expected


def test_start_up_density_at_a_threshold_of_nothing():
    """sssp-self-tuning checklist 11: S_i = 0 is taken for one unit of distance."""
    control = Controller(100.0, 5.0, 40.0, 4.0)
    control.delta = 0.0
    control.turn(Counts(10, 50, 60, 50, 9, 0, 0.0, 41.0, math.inf, 200.0))
    assert control.density.value == 50 / 4


def test_guards():
    """sssp-self-tuning checklist 12: d stays positive, a density that would not is kept."""
    control = Controller(100.0, 5.0, 40.0, 1.0)
    for _ in range(50):
        control.turn(Counts(10**6, 0, 0, 1, 5, 0, 1.0, 41.0, math.inf, 1e6))
    assert control.degree.value >= 1e-3
    assert Controller(100.0, 0.0, 40.0, 1.0).degree.value == DEGREE_FLOOR  # no edges at all
    control = Controller(100.0, 5.0, 40.0, 1.0)
    control.steps = STARTUP
    control.density.value = 2.0
    control._near, control._change = 10**6, 5.0
    control.turn(Counts(10, 50, 60, 20, 5, 0, 1.0, 41.0, math.inf, 1e6))
    assert control.density.value == 2.0


numbers = st.integers(0, 2**40)
lengths = st.floats(0, 1e300)


@given(
    st.lists(st.tuples(numbers, numbers, numbers, numbers, numbers, lengths, lengths), max_size=30),
    st.sampled_from((1.0, 1e3, 1e9)),
    st.sampled_from((1e-300, 1e-9, 1.0, 1e9)),
)
@settings(max_examples=80, deadline=None)
def test_nothing_drives_it_out_of_numbers(series, set_point, unit):
    """sssp-self-tuning checklist 12, 13: any counts; bounds of a partition only fall."""
    control = Controller(set_point, 4.0, 3 * unit, unit)
    for x1, x2, x4, far, beyond, length, spread in series:
        largest = length + spread
        partition, bound, last = control.current, control.bound, control.partitions
        control.turn(Counts(x1, x2, x4, x4, far, beyond, length, length, largest, largest))
        values = control.delta, control.degree.value, control.density.value
        assert all(map(math.isfinite, values))
        assert control.density.value > 0
        assert 0 <= control.delta <= max(largest, 3 * unit, 1e301)
        if control.current == partition:
            assert control.bound <= bound
        # A partition is added just when the last one is bounded.
        assert control.partitions - last == (
            control.bound < math.inf and (bound == math.inf or control.advanced)
        )
        assert control.current < control.partitions


def test_threshold_stops_at_the_largest_distance():
    """sssp-self-tuning checklist 12: a path and a set-point that it can never reach."""
    graph = weighted(cg.generate.path(400), np.int32, 1, 100)
    search = TunedSearch(graph, 0, 10**6)
    largest = expected_lengths(graph, 0).max()
    assert search.table["delta"].max() <= largest
    assert len(search.trace) <= 2 * graph.n


@pytest.mark.rest
@pytest.mark.parametrize("set_point", [1, 60, 10**9])
def test_awkward_shapes(set_point):
    """sssp-self-tuning checklist 4, 6, 14, 16, 17: whole searches end, and are right."""
    for k, shape in enumerate(SHAPES.values()):
        for low, high in ((1, 90), (0, 1 + k % 3)):
            graph = weighted(shape, np.int32, low, high)
            search = TunedSearch(graph, graph.n // 2, set_point)
            _check(graph, graph.n // 2, search)


def _check(graph, source, search):
    found = np.where(search.distances == unreached(graph.weights.dtype), np.inf, search.distances)
    np.testing.assert_allclose(found, expected_lengths(graph, source), rtol=1e-5)
    for (threshold, taken, aside), row in zip(search.rises, search.table["delta"], strict=False):
        # Up moves those that wait below the new threshold, down those that were near above it.
        assert not (taken.size and threshold < row)
        assert not (aside.size and threshold > row)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 40))
    size = draw(st.integers(0, 120))
    ends = st.lists(st.integers(0, n - 1), min_size=size, max_size=size)
    dtype = draw(st.sampled_from((np.int32, np.int64, np.float32, np.float64)))
    high = draw(st.sampled_from((1, 3, 1000)))
    graph = cg.from_edges(draw(ends), draw(ends), n=n, directed=draw(st.booleans()))
    if not graph.directed:
        graph = graph.symmetrized()
    return weighted(graph, dtype, 0, high + 1, 1)


@given(cases(), st.sampled_from((1, 7, 50, 10**9)), st.data())
@settings(max_examples=80, deadline=None)
def test_random_graphs(graph, set_point, data):
    """sssp-self-tuning checklist 3, 6, 16, 17: distances whatever the controller does."""
    source = data.draw(st.integers(0, graph.n - 1))
    _check(graph, source, TunedSearch(graph, source, set_point))


def test_empty_bands_are_skipped():
    """sssp-self-tuning checklist 5: distances far apart take few steps."""
    graph = cg.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 2**29, 3], np.int32))
    search = TunedSearch(graph, 0, 1)
    assert search.distances.tolist() == [0, 1, 2**29 + 1, 2**29 + 4]
    assert len(search.trace) < 12


def test_only_partitions_in_reach_are_scanned():
    """sssp-self-tuning checklist 15: far less is looked at than waits."""
    graph = _road(150)
    search = TunedSearch(graph, graph.n // 2 + 75, 600)
    table = search.table
    assert table["partitions"][-1] > 10
    assert table["scanned"].sum() < 1.5 * table["X2"].sum()
    assert (table["scanned"] == 0).any()


def _road(side):
    rng = np.random.default_rng(8)
    grid = cg.generate.grid2d(side, side)
    tails = np.repeat(np.arange(grid.n), grid.degrees)
    low, high = np.minimum(tails, grid.indices), np.maximum(tails, grid.indices)
    kept = rng.random(grid.n * 2)[(low * 2 + (high - low > 1))] > 0.15
    pruned = cg.from_edges(tails[kept], grid.indices[kept], n=grid.n, directed=False)
    return weighted(pruned, np.int32, 100, 2000)


def test_work_stays_near_the_set_point():
    """sssp-self-tuning checklist 18: on a road-like graph, against a fixed threshold's spread."""
    graph = _road(420)
    source = graph.n // 2 + 210
    tuned = TunedSearch(graph, source, 2000).table["X2"][10:]
    assert tuned.size >= 400
    assert abs(np.median(tuned) - 2000) < 200
    fixed = TunedSearch(graph, source, 1, FixedSteps(controller_of(graph, 1), 16000)).table["X2"]
    assert np.median(fixed) < np.median(tuned) * 2
    spread, fixed_spread = (x.std() / x.mean() for x in (tuned, fixed[10:]))
    assert spread <= 0.6 * fixed_spread


class FixedSteps:
    """Near and far by steps of one size, behind a controller's face."""

    def __init__(self, control, step):
        self.degree, self.density = control.degree, control.density
        self.step = self.delta = float(step)
        self.current, self.partitions, self.bound, self.advanced = 0, 1, math.inf, False

    def turn(self, counts):
        if not counts.near:
            self.delta = max(self.delta + self.step, counts.nearest_far)
