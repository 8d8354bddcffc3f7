"""Keeps the work of each step near a set-point by moving a threshold, learning online what it does.

The arithmetic is in double precision and in an order that ``templates/control`` repeats operation
by operation, so that both give the same numbers to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "DEGREE_FACTOR",
    "DEGREE_FLOOR",
    "DENSITY_FACTOR",
    "EPSILON",
    "FALL",
    "INFORMATIVE",
    "JUMP",
    "STARTUP",
    "VARIANCE_FLOOR",
    "AdaptiveModel",
    "Controller",
    "Counts",
]

EPSILON = 1e-6  # of the models' first averages; from 1e-6 to 1 makes no difference that is seen
VARIANCE_FLOOR = 1e-30  # below it a model would divide by zero
DEGREE_FLOOR = 1e-3
# Where edges per vertex and vertices per distance change by orders of magnitude within a search, a
# model that follows slowly is always behind: one that an informative step shows to be off by such a
# factor has not settled and begins anew from what was seen. A step is informative if its edges, or
# the vertices that a move of the threshold brought, are this share of what is wanted. Otherwise one
# step raises a model by the factor JUMP at most. None lowers it by more than FALL: what lies ahead
# is denser than what was seen last, and too small a model makes the threshold leap (with 4, one
# search in six had a step of 12 million edges for a set-point of 300,000).
DEGREE_FACTOR, DENSITY_FACTOR, INFORMATIVE, JUMP, FALL = 1.05, 1.5, 0.25, 4.0, 1.5
STARTUP = 5  # steps whose density is taken from counts, until the model of it has settled


class AdaptiveModel:
    """One factor p of y = p x, fitted by gradient descent at a rate that follows its own success.

    Parameters
    ----------
    value : float
        p to begin with.

    Attributes
    ----------
    value : float
        p.
    gradient, variance, curvature : float
        Running averages of the gradient, of its square, and of the second derivative.
    memory : float
        Over how many updates they are taken; at least 1.

    References
    ----------
    .. [1] S. Karamati, J. Young, R. Vuduc, "An energy-efficient single-source shortest path
           algorithm", IPDPS 2018, algorithm 1.
    .. [2] T. Schaul, S. Zhang, Y. LeCun, "No more pesky learning rates", ICML 2013.
    """

    __slots__ = ("curvature", "gradient", "memory", "value", "variance")

    def __init__(self, value: float) -> None:
        self.begin(value)

    def begin(self, value: float) -> None:
        """Forget everything but this value."""
        self.value = value
        self.gradient, self.variance, self.curvature = 0.0, EPSILON, 1.0
        self.memory = 2.0 * (1.0 + EPSILON)

    def update(self, x: float, y: float) -> None:
        """Learn from one observation; one that leaves the range of numbers is not learned from."""
        error = y - self.value * x
        gradient = -2.0 * error * x
        if gradient == 0.0:
            return
        rate = 1.0 / self.memory
        keep = 1.0 - rate
        mean = keep * self.gradient + rate * gradient
        variance = max(keep * self.variance + rate * (gradient * gradient), VARIANCE_FLOOR)
        curvature = keep * self.curvature + rate * (2.0 * x * x)
        square = mean * mean
        divisor = curvature * variance
        step = square / divisor if divisor > 0.0 else math.nan
        # Rounding may take the square of the mean beyond the mean of the squares.
        memory = max((1.0 - square / variance) * self.memory + 1.0, 1.0)
        value = self.value - step * gradient
        if all(map(math.isfinite, (value, mean, variance, curvature, memory))):
            self.value, self.memory = value, memory
            self.gradient, self.variance, self.curvature = mean, variance, curvature


def _learn(model: AdaptiveModel, x: float, y: float, factor: float) -> None:
    """Update a model, or begin anew where y / x is off by more than `factor`, if that is not 0."""
    before, seen = model.value, y / x
    if factor and seen > 0.0 and (seen > before * factor or seen * factor < before):
        if seen < math.inf:
            model.begin(max(seen, before / FALL))
        return
    model.update(x, y)
    if model.value > 0.0:
        model.value = max(min(model.value, before * JUMP), before / FALL)


@dataclass(slots=True)
class Counts:
    """What one step was seen to do.

    Parameters
    ----------
    frontier : int
        Vertices that were expanded (X1).
    edges : int
        Edges out of them (X2).
    improved : int
        Vertices whose distance decreased (X3).
    near : int
        Of those, how many lie at or below the threshold (X4).
    far, beyond : int
        Vertices that wait in the current partition, and in the one after it.
    nearest, nearest_far, nearest_beyond : float
        A distance that none of those near, waiting, or waiting beyond is below; infinity for none.
    largest : float
        The largest distance that any vertex was given so far.
    """

    frontier: int = 0
    edges: int = 0
    improved: int = 0
    near: int = 0
    far: int = 0
    beyond: int = 0
    nearest: float = math.inf
    nearest_far: float = math.inf
    nearest_beyond: float = math.inf
    largest: float = 0.0


class Controller:
    """Chooses the threshold between near and far so that a step visits about `set_point` edges.

    What waits beyond the threshold is kept in partitions by distance, of which two are in use at a
    time: the current one, up to `bound`, and the one after it. Bounds only ever decrease, so that a
    vertex is never in a later partition than its distance belongs to.

    Parameters
    ----------
    set_point : float
        Edges per step that are wanted (P), at least 1.
    degree : float
        Edges per vertex to begin with.
    delta : float
        First threshold and first bound, in the unit of distances; positive.
    unit : float
        The least difference of distances that counts: 1 for integers.

    Attributes
    ----------
    delta : float
        The threshold.
    degree, density : AdaptiveModel
        Edges per vertex of a frontier (d), and vertices per unit of distance around the threshold
        (alpha).
    current, partitions : int
        The partition that is current, and how many there have been.
    below, bound : float
        Between which distances the current one lies; infinity for the last.
    advanced : bool
        Whether the last `turn` left a partition behind.
    steps : int
        Steps with a frontier so far.

    Notes
    -----
    Equation numbers are those of Karamati et al., IPDPS 2018. Where the paper leaves a case open or
    prints a sign that cannot be meant (5), this follows what reproduces its results.
    """

    def __init__(self, set_point: float, degree: float, delta: float, unit: float) -> None:
        self.set_point = float(set_point)
        self.degree = AdaptiveModel(max(float(degree), DEGREE_FLOOR))
        self.density = AdaptiveModel(1.0 / unit)
        self.unit = unit
        self.delta = self.bound = float(delta)
        self.below = 0.0
        self.current, self.partitions, self.steps = 0, 2, 0
        self.advanced = False
        self._near, self._change = 0, 0.0

    def turn(self, counts: Counts) -> None:
        """Learn from a step and choose the next threshold and bound."""
        wanted = self.set_point / self.degree.value
        if counts.frontier:
            self.steps += 1
            edges = float(counts.edges)
            informs = edges >= INFORMATIVE * self.set_point
            _learn(self.degree, float(counts.frontier), edges, DEGREE_FACTOR if informs else 0.0)
            self.degree.value = max(self.degree.value, DEGREE_FLOOR)
        far, nearest_far = counts.far, counts.nearest_far
        self.advanced = not far and self.bound < math.inf
        if self.advanced:
            self.current += 1
            # What is left behind is empty: it ends at the threshold, however far it was to reach.
            self.below, self.bound = min(self.bound, self.delta), math.inf
            far, nearest_far = counts.beyond, counts.nearest_beyond
        if self._change != 0.0:
            before = self.density.value
            # (5), with the sign that (4) implies.
            brought = float(counts.frontier) - float(self._near)
            informs = abs(brought) >= INFORMATIVE * wanted
            _learn(self.density, self._change, brought, DENSITY_FACTOR if informs else 0.0)
            if self.density.value <= 0.0:
                self.density.value = before
        want = self.set_point / self.degree.value  # (3)
        if self.steps <= STARTUP:
            self._start_up(counts, far, want)
        density = self.density.value
        delta = self.delta + (want - float(counts.near)) / density  # (6)
        # No further than there is anything: while less is there than is wanted, a threshold that
        # went on rising would teach the model that raising it gains nothing.
        delta = max(min(delta, max(self.delta, counts.largest)), 0.0)
        bound = max(self.below + self.set_point / density, self.delta + self.unit)  # (7)
        if bound < self.bound:
            self.partitions += self.bound == math.inf
            self.bound = bound
        # Someone is always taken.
        if counts.near:
            delta = max(delta, counts.nearest)
        elif far:
            delta = max(delta, nearest_far)
        self._near, self._change = counts.near, delta - self.delta
        self.delta = delta

    def _start_up(self, counts: Counts, far: int, want: float) -> None:
        """Take the density from counts (8)."""
        density = 0.0
        if float(counts.near) >= want:
            density = float(counts.near) / max(self.delta, self.unit)
        elif far:
            end = self.bound if self.bound < math.inf else counts.largest
            density = float(far) / max(end - self.delta, self.unit)
        if 0.0 < density < math.inf:
            self.density.value = density
