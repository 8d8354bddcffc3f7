"""The grid barrier: nobody passes early, and nobody waits for ever."""

import json

import numpy as np
import pytest
from runtimes import run_python, run_under_oclgrind, run_under_pocl_threads
from unit.primitives_reference import KERNELS

from clgraph.device import Memory, load, resident_groups, wait

BARRIER_WORDS = 96
ROUND, FAILED = 32, 64
MISSED = 2**31
LATE = 9  # groups, of which eight are resident
PATIENT = 2**28  # polls; some ten seconds on a CPU


def crossing(device, size, counted, ordered_slots=False):
    about = {"group_size": size, "ordered_slots": ordered_slots, "counted": counted}
    return load(device, "grid_check.cl", folders=(KERNELS,), **about)


def cross(device, groups, size, rounds, spin_limit, counted, ordered_slots=False, state=None):
    """Give rounds completed by each group, slots seen stale, and whether the barrier failed."""
    program = crossing(device, size, counted, ordered_slots)
    memory = Memory(device)
    if state is None:
        state = memory.upload("state", np.zeros(BARRIER_WORDS, np.uint32))
    slots = memory.upload("slots", np.zeros(groups * size, np.uint32))
    crossed = memory.upload("crossed", np.zeros(groups, np.uint32))
    stale = memory.upload("stale", np.zeros(groups, np.uint32))
    limits = (np.uint32(rounds), np.uint32(spin_limit))
    kernel = program.kernel("grid_check")
    wait(kernel.launch(groups * size, size, *limits, slots, state, crossed, stale))
    words = state.read()
    failed = int(words[FAILED])
    # The one that comes late learns that somebody gave up; if it begins then, it passes once, and
    # gives up in its next call, from when on the highest bit is clear again.
    if counted and failed and groups == LATE:
        assert words[ROUND] in {MISSED, MISSED + 1, 1}
    return crossed.read().tolist(), stale.read().tolist(), failed


either = pytest.mark.parametrize("counted", [False, True])


@either
@pytest.mark.parametrize("size", [1, 16])
def test_one_group_passes_alone(any_device, size, counted):
    assert cross(any_device, 1, size, 1000, 1, counted) == ([1000], [0], 0)


@either
def test_as_many_groups_as_compute_units_pass(pocl, counted):
    groups = pocl.traits.compute_units
    rounds = 100
    result = cross(pocl, groups, 16, rounds, PATIENT, counted)
    assert result == ([rounds] * groups, [0] * groups, 0)


@either
def test_a_second_launch_goes_on_with_the_same_state(pocl, counted):
    groups = pocl.traits.compute_units
    state = Memory(pocl).upload("state", np.zeros(BARRIER_WORDS, np.uint32))
    for rounds in (3, 4):
        result = cross(pocl, groups, 1, rounds, PATIENT, counted, state=state)
        assert result == ([rounds] * groups, [0] * groups, 0)


def test_a_failed_barrier_stays_failed(any_device):
    words = np.zeros(BARRIER_WORDS, np.uint32)
    words[FAILED] = 1
    state = Memory(any_device).upload("state", words)
    assert cross(any_device, 1, 1, 5, PATIENT, False, state=state) == ([0], [0], 1)


CROSS_HERE = """
import json, sys
sys.path.insert(0, "tests")
from clgraph.device import device as find_device
from unit import test_primitives_barrier as tests

groups, size, rounds, spin_limit, counted, ordered_slots = json.loads(sys.argv[1])
device = find_device()
print(json.dumps(tests.cross(device, groups, size, rounds, spin_limit, counted, ordered_slots)))
"""


def crossed_under(run, *case, **how):
    done = run(CROSS_HERE, json.dumps(case), **how)
    done = done[0] if isinstance(done, list) else done
    return json.loads(done.stdout)


# The former takes twice as long.
@either
@pytest.mark.parametrize(
    ("size", "rounds"), [pytest.param(1, 40, marks=pytest.mark.long), (16, 15)]
)
def test_eight_resident_groups_cross_many_times(size, rounds, counted):
    found = crossed_under(run_under_pocl_threads, 8, size, rounds, PATIENT, counted, False)
    assert found == [[rounds] * 8, [0] * 8, 0]


@either
@pytest.mark.parametrize("groups", [LATE, 64])
def test_an_oversubscribed_grid_gives_up_and_says_so(groups, counted):
    case = (groups, 1, 10, 20_000, counted, False)
    crossed, _, failed = crossed_under(run_under_pocl_threads, *case)
    assert failed == 1
    assert crossed == [0] * groups


def test_an_oversubscribed_grid_gives_up_on_another_device(intel):
    groups = 4 * intel.traits.compute_units
    script = CROSS_HERE.replace("find_device()", 'find_device("intel")')
    done = run_python(script, json.dumps([groups, 16, 10, 100_000, True, False]))
    crossed, _, failed = json.loads(done.stdout)
    assert failed == 1
    assert crossed == [0] * groups


@either
def test_crossing_races_with_nobody(tmp_path, counted):
    case = (4, 4, 3, 10_000, counted, True)
    found = crossed_under(run_under_oclgrind, *case, log_folder=tmp_path, threads=4)
    assert found == [[3] * 4, [0] * 4, 0]


@pytest.mark.gpu
@either
def test_a_full_gpu_crosses_many_times(gpu, counted):
    size = 256
    program = crossing(gpu, size, counted)
    groups = resident_groups(gpu, program.kernel("grid_check"), size)
    assert groups >= gpu.traits.compute_units
    assert cross(gpu, groups, size, 50, PATIENT, counted) == ([50] * groups, [0] * groups, 0)


@pytest.mark.gpu
@either
def test_an_oversubscribed_gpu_gives_up_and_says_so(gpu, counted):
    size = 256
    program = crossing(gpu, size, counted)
    groups = 2 * resident_groups(gpu, program.kernel("grid_check"), size)
    crossed, _, failed = cross(gpu, groups, size, 10, 1_000_000, counted)
    assert failed == 1
    assert crossed == [0] * groups
