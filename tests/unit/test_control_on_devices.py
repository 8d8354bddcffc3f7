"""The controller of self-tuning searches on a device: the host's numbers, to the last bit."""

import math

import numpy as np
import pytest
from unit.primitives_reference import KERNELS

from clgraph.algorithms.sssp.stages import CONTROL_BLOCK_COUNT, CONTROL_START, CONTROL_WORDS
from clgraph.device import Device, Memory, Program, load
from clgraph.engine.control import DEGREE_FLOOR, VARIANCE_FLOOR, AdaptiveModel, Controller, Counts

pytestmark = pytest.mark.runtimes("pocl", "intel")


def built(device: Device) -> Program:
    return load(
        device,
        "control_check.cl",
        folders=(KERNELS,),
        block_words=CONTROL_BLOCK_COUNT,
        control_words=CONTROL_WORDS,
        control_start=CONTROL_START,
    )


def numbers(model: AdaptiveModel) -> list[float]:
    return [model.value, model.gradient, model.variance, model.curvature, model.memory]


def turned(begin: np.ndarray, series: np.ndarray) -> list[list[float]]:
    """What the host's controller is after each step; how many improved it does not look at."""
    set_point, degree, delta, unit = begin.tolist()
    control = Controller(set_point, degree, delta, unit)
    rows = []
    for x1, x2, near, far, beyond, *lengths in series.tolist():
        control.turn(
            Counts(int(x1), int(x2), int(near), int(near), int(far), int(beyond), *lengths)
        )
        rows.append(
            [
                float(control.advanced),
                *(control.delta, control.bound, control.below, float(control.steps)),
                *(float(control._near), control._change),
                *(*numbers(control.degree), *numbers(control.density)),
            ]
        )
    return rows


def made_up(seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and distances of all sizes, mostly of one kind for a while, as searches have them."""
    rng = np.random.default_rng(seed)
    most = 2.0 ** rng.integers(1, 40, 5)
    counts = np.floor(rng.random((rounds, 5)) * most) * (rng.random((rounds, 5)) < 0.8)
    longest = 10.0 ** rng.choice([0, 3, 9, 300])
    nearest = np.sort(rng.random((rounds, 3)), axis=1) * longest
    nearest[counts[:, [2, 3, 4]] == 0] = math.inf  # nobody is near, waits, or waits beyond
    largest = np.maximum.accumulate(rng.random((rounds, 1)) * longest, axis=0)
    unit = 10.0 ** rng.choice([-300, -9, 0, 5])
    begin = np.array([10.0 ** rng.integers(0, 9), 4.0, 3 * unit, unit])
    return begin, np.hstack([counts, nearest, largest])


def test_every_number_is_the_hosts(device: Device) -> None:
    """sssp-self-tuning checklist 8 to 13: steps of any kind, and many without an edge."""
    rounds = 60
    cases = [made_up(seed, rounds) for seed in range(40)]
    idle = np.tile([1e6, 0, 1, 5, 0, 1.0, 41.0, math.inf, 1e6], (rounds, 1))
    cases.append((np.array([100.0, 5.0, 40.0, 1.0]), idle))
    begins, series = (np.array(part) for part in zip(*cases, strict=True))
    memory = Memory(device)
    found = memory.allocate("found", len(cases) * rounds * 17, np.float64)
    built(device).kernel("check_control").launch(
        len(cases),
        1,
        np.uint32(rounds),
        memory.upload("begins", begins.ravel()),
        memory.upload("counts", series.ravel()),
        memory.allocate("blocks", len(cases) * CONTROL_BLOCK_COUNT, np.uint32),
        found,
    )
    expected = np.array([turned(*case) for case in cases])
    assert np.isfinite(expected[..., 7:]).all()
    assert expected[-1, -1, 7] == DEGREE_FLOOR
    np.testing.assert_array_equal(found.read().reshape(expected.shape), expected)


# p and its averages, and x and y, where a guard acts.
GUARDED = {
    "averages over no less than one": ([3.0, 1.0, 0.5, 1.0, 2.0], [1.0, 2.5]),
    "no variance": ([0.0, 0.0, 0.0, 1.0, 2.0], [1.0, 1e-200]),
    "no gradient": ([2.0, 0.0, 1e-6, 1.0, 2.0], [3.0, 6.0]),
    "beyond all numbers": ([2.0, 0.0, 1e-6, 1.0, 2.0], [1e200, 1e300]),
    "a curvature beyond them": ([2.0, 0.0, 1e-6, 1.0, 2.0], [1e160, 2e160 + 1e145]),
}


def updated(before: list[float], seen: list[float]) -> AdaptiveModel:
    model = AdaptiveModel(before[0])
    model.gradient, model.variance, model.curvature, model.memory = before[1:]
    model.update(*seen)
    return model


def test_guards_of_a_model(device: Device) -> None:
    """sssp-self-tuning checklist 8 and 12: tau, v and what is no number, here and there."""
    memory = Memory(device)
    models_before, observations = (np.array(part) for part in zip(*GUARDED.values(), strict=True))
    models = memory.upload("models", models_before.ravel())
    seen = memory.upload("seen", observations.ravel())
    built(device).kernel("check_model").launch(len(GUARDED), 1, seen, models)
    expected = {name: updated(*case) for name, case in GUARDED.items()}
    assert expected["averages over no less than one"].memory == 1
    assert expected["no variance"].variance == VARIANCE_FLOOR
    for name in list(GUARDED)[2:]:
        assert numbers(expected[name]) == GUARDED[name][0]
    np.testing.assert_array_equal(
        models.read().reshape(-1, 5), [numbers(model) for model in expected.values()]
    )
