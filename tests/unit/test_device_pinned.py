"""Arrays that results are copied into: memory that is used again, and never twice at once."""

import gc
import pickle
import threading

import numpy as np
import pytest

import clgraph as cg
from clgraph.device.memory import pinned
from clgraph.device.memory.pinned import HostArrays
from clgraph.errors import InvalidArgumentError

COUNT = 100_000


@pytest.fixture
def arrays(device):
    return HostArrays(device)


def address(array):
    return array.__array_interface__["data"][0]


def test_the_first_of_a_size_is_an_ordinary_array(arrays):
    assert arrays.empty(COUNT, np.int32).base is None
    assert arrays.kept_bytes == 0


def test_memory_comes_back_when_the_last_view_is_gone(arrays):
    arrays.empty(COUNT, np.int32)
    first = arrays.empty(COUNT, np.int32)
    place = address(first)
    view = first[10:].reshape(-1, 2)
    del first
    other = arrays.empty(COUNT, np.int32)
    assert address(other) != place
    assert arrays.kept_bytes >= 2 * 4 * COUNT
    del view
    gc.collect()
    assert address(arrays.empty(COUNT, np.int32)) == place


def test_living_arrays_never_share_memory(arrays):
    held = [arrays.empty(COUNT, np.int32) for _ in range(8)]
    for number, array in enumerate(held):
        array[:] = number
    for number, array in enumerate(held):
        assert (array == number).all()


def test_a_block_serves_other_types_and_smaller_sizes(arrays):
    arrays.empty(COUNT, np.float64)
    place = address(arrays.empty(COUNT, np.float64))
    smaller = arrays.empty(COUNT - 100, np.uint64)
    assert address(smaller) == place
    assert smaller.dtype == np.uint64
    assert len(smaller) == COUNT - 100


def test_what_is_kept_is_bounded(arrays, monkeypatch):
    monkeypatch.setattr(pinned, "MOST_BYTES", 3 * 4 * COUNT)
    held = [arrays.empty(COUNT, np.int32) for _ in range(6)]
    assert arrays.kept_bytes <= 3 * 4 * COUNT
    assert held[-1].base is None
    held.clear()
    arrays.empty(2 * COUNT, np.int32)
    larger = arrays.empty(2 * COUNT, np.int32)  # memory of other sizes makes room
    assert larger.base is not None
    assert arrays.kept_bytes <= 3 * 4 * COUNT


def test_threads_have_arrays_of_their_own(arrays):
    wrong = []

    def work(number):
        for _ in range(200):
            array = arrays.empty(COUNT // 4, np.int32)
            array[:] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_of_one_plan_use_the_same_memory_again(device):
    graph = cg.generate.kron(15, 8, seed=1)
    plan = cg.BFS(graph, device=device)
    expected = plan.run(0).distances.copy()
    place = address(plan.run(0).distances)
    gc.collect()
    again = plan.run(0)
    assert address(again.distances) == place
    other = plan.run(1).distances
    assert address(other) != place
    assert (again.distances == expected).all()
    copied = pickle.loads(pickle.dumps(again))  # noqa: S301 - our own
    assert (copied.distances == expected).all()


@pytest.mark.parametrize("make", [cg.BFS, cg.SSSP])
def test_out_is_written_and_is_the_distances(make, device):
    graph = cg.generate.grid2d(40, 50, weights=(1, 9))
    plan = make(graph, device=device)
    expected = plan.run(3).distances
    out = np.empty_like(expected)
    result = plan.run(3, out=out)
    assert result.distances is out
    assert (out == expected).all()
    for wrong in (out[:-1], out[::2], out.astype(np.float16), out.tolist()):
        with pytest.raises(InvalidArgumentError, match="out must be"):
            plan.run(3, out=wrong)
    out.flags.writeable = False
    with pytest.raises(InvalidArgumentError, match="out must be"):
        plan.run(3, out=out)


@pytest.mark.parametrize("make", [cg.BFS, cg.SSSP])
def test_distances_can_stay_on_the_device(make, device):
    graph = cg.generate.grid2d(40, 50, weights=(1, 9))
    plan = make(graph, device=device)
    first = plan.run(3)
    on_device = first.distances_device
    plan.run(7)
    assert (on_device.get() == first.distances).all()
    first.stats._findings.detach()
    with pytest.raises(InvalidArgumentError, match="have left the device"):
        _ = first.distances_device


def test_memory_that_another_size_left_serves_one_array_not_the_next(arrays):
    """The next array of a size is no ordinary one, whoever's memory the first of it was given."""
    larger = COUNT + COUNT // 2
    arrays.empty(larger, np.int32)
    place = address(arrays.empty(larger, np.int32))
    gc.collect()
    first, second = (arrays.empty(COUNT, np.int32) for _ in range(2))
    assert address(first) == place
    assert second.base is not None
