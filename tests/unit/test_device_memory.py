"""The memory budget: who gets what, what is refused, and when it comes back."""

import gc
import re
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from clgraph.device import Memory, Mirror
from clgraph.device.lazy import cl
from clgraph.device.memory import allocation as memory_module
from clgraph.device.memory import allocator, budget
from clgraph.device.memory.budget import Ledger
from clgraph.device.memory.huge import LEAST_BYTES
from clgraph.errors import DeviceMemoryError, InvalidArgumentError


@pytest.fixture
def memory(any_device):
    gc.collect()
    return Memory(any_device)


def leave_free(monkeypatch, device, size_bytes):
    """Lower the budget so that so many bytes are free."""
    limit = device.ledger.used_bytes + size_bytes
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(limit))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float32, np.float64])
def test_what_is_uploaded_is_read_back(memory, dtype):
    array = np.arange(1001).astype(dtype)
    there = memory.upload("array", array)
    assert (there.count, there.dtype, there.name) == (1001, array.dtype, "array")
    assert there.size_bytes >= array.nbytes
    back = there.read()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(there.read(7), array[:7])
    assert there.read(0).size == 0


def test_upload_of_every_layout(memory):
    square = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert memory.upload("square", square).read().tolist() == list(range(12))
    assert memory.upload("turned", square.T).read().tolist() == square.T.ravel().tolist()
    assert memory.upload("striped", square[0, ::2]).read().tolist() == [0, 2]
    assert memory.upload("list", [1, 2, 3]).read().tolist() == [1, 2, 3]
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert memory.upload("frozen", frozen).read().tolist() == [0, 1, 2]


def test_write_replaces_the_first_elements(memory):
    there = memory.upload("array", np.arange(5, dtype=np.uint32))
    there.write(np.array([9, 8], np.uint32))
    assert there.read().tolist() == [9, 8, 2, 3, 4]
    there.write(np.array([], np.uint32))
    with pytest.raises(
        InvalidArgumentError, match="cannot write 6 elements to 'array', which has 5"
    ):
        there.write(np.zeros(6, np.uint32))
    with pytest.raises(TypeError):
        there.write(np.array([1.5]))


@pytest.mark.parametrize("count", [-1, 6])
def test_read_of_more_than_there_is(memory, count):
    there = memory.upload("array", np.arange(5, dtype=np.uint32))
    with pytest.raises(InvalidArgumentError, match=f"cannot read {count} elements from 'array'"):
        there.read(count)


def test_long_copies_go_in_pieces_and_tell_of_progress(memory, monkeypatch):
    monkeypatch.setattr(memory_module, "PIECE_BYTES", 4000)
    array = np.arange(2500, dtype=np.uint32)
    told = []
    there = memory.upload("array", array, progress=lambda *step: told.append(step))
    np.testing.assert_array_equal(there.read(), array)
    what = "copying array to the device"
    assert told == [(4000, 10000, what), (8000, 10000, what), (10000, 10000, what)]


def test_what_is_read_later_is_as_it_was(memory):
    """What is enqueued behind the copy does not change it."""
    held = memory.upload("held", np.arange(10, dtype=np.uint32))
    some, all_of_it = held.read_later(3), held.read_later(10)
    held.write(np.zeros(10, np.uint32))
    np.testing.assert_array_equal(some(), [0, 1, 2])
    np.testing.assert_array_equal(all_of_it(), np.arange(10))
    with pytest.raises(InvalidArgumentError, match="cannot read 11"):
        held.read_later(11)


def test_mirrors_are_refreshed_together(memory, any_device):
    held = memory.upload("held", np.arange(8, dtype=np.uint32))
    front, back = Mirror(any_device, held, 0, 3), Mirror(any_device, held, 6, 2)
    front.refresh(back)
    assert (front.words.tolist(), back.words.tolist()) == ([0, 1, 2], [6, 7])
    held.clear()
    front.refresh()
    assert (front.words.tolist(), back.words.tolist()) == ([0, 0, 0], [6, 7])


def test_what_was_launched_begins_before_a_look_is_enqueued(memory, any_device, monkeypatch):
    mirror = Mirror(any_device, memory.upload("held", np.arange(8, dtype=np.uint32)), 0, 3)
    queue, done = mirror._queue, []
    flush, enqueue = queue.flush, mirror._read.enqueue

    class Noted:
        def flush(self):
            done.append("flush")
            flush()

    monkeypatch.setattr(mirror, "_queue", Noted())
    monkeypatch.setattr(mirror._read, "enqueue", lambda: (done.append("look"), enqueue())[1])
    mirror.refresh()
    assert done[:2] == ["flush", "look"]
    assert mirror.words.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.float64])
def test_nothing_takes_the_room_of_one(memory, dtype):
    ledger = memory.device.ledger
    before = ledger.used_bytes
    there = memory.allocate("nothing", 0, dtype)
    assert there.count == 0
    assert there.size_bytes == max(np.dtype(dtype).itemsize, 4)
    assert there.read().shape == (0,)
    assert memory.upload("nothing", np.empty(0, dtype)).count == 0
    assert ledger.used_bytes == before + there.size_bytes


def test_sizes_that_make_no_sense(memory):
    with pytest.raises(InvalidArgumentError, match="'array' cannot have -1 elements"):
        memory.allocate("array", -1, np.uint32)
    with pytest.raises(TypeError):
        memory.allocate("array", 1.5, np.uint32)


def test_free_bytes_follow_allocations(memory, any_device, monkeypatch):
    leave_free(monkeypatch, any_device, 10_000)
    assert memory.free_bytes == 10_000
    first = memory.allocate("first", 1000, np.uint32)
    assert memory.free_bytes == 6_000
    second = Memory(any_device).allocate("second", 500, np.uint64)
    assert memory.free_bytes == 2_000
    first.release()
    first.release()
    assert memory.free_bytes == 6_000
    del second
    gc.collect()
    assert memory.free_bytes == 10_000


def test_spent_budget_names_array_bytes_asked_and_free(memory, any_device, monkeypatch):
    leave_free(monkeypatch, any_device, 5_000)
    with pytest.raises(
        DeviceMemoryError,
        match=rf"^'indices' needs 8000 bytes on {re.escape(any_device.name)}, where 5000 are",
    ) as caught:
        memory.allocate("indices", 2000, np.uint32)
    assert isinstance(caught.value, MemoryError)
    assert memory.allocate("small", 1250, np.uint32).size_bytes == 5_000


def test_one_allocation_too_large_is_refused(memory, any_device):
    count = any_device.traits.max_alloc_bytes // 4 + 1
    with pytest.raises(
        DeviceMemoryError,
        match=rf"^'indices' needs {4 * count} bytes .*one allocation there may have \d+ bytes",
    ):
        memory.allocate("indices", count, np.uint32)
    with pytest.raises(DeviceMemoryError, match="'indices' needs"):
        memory.allocate("indices", 10**30, np.uint32)


def test_memory_in_reference_cycles_is_found(memory, any_device, monkeypatch):
    class Plan:
        pass

    leave_free(monkeypatch, any_device, 5_000)
    gc.disable()
    try:
        plan = Plan()
        plan.array, plan.itself = memory.allocate("old", 1000, np.uint32), plan
        del plan
        assert memory.free_bytes == 1_000
        assert memory.allocate("new", 1000, np.uint32).count == 1000
    finally:
        gc.enable()


def test_release_frees_the_device(memory, monkeypatch, any_device):
    leave_free(monkeypatch, any_device, 5_000)
    there = memory.allocate("array", 1000, np.uint32)
    buffer = there.buffer
    gone = weakref.ref(there)
    del there
    assert gone() is None
    assert sys.getrefcount(buffer) == 2, "somebody else keeps the device memory"
    released = memory.allocate("array", 1000, np.uint32)
    released.release()
    for use in (
        released.read,
        lambda: released.write(np.zeros(1, np.uint32)),
        lambda: released.buffer,
    ):
        with pytest.raises(InvalidArgumentError, match="'array' has been released"):
            use()


class Refusal:
    """A driver that has no room, at once or when the memory is first touched."""

    def __init__(self, code):
        self.error = cl.MemoryError(cl._cl._ErrorRecord(msg="", code=code, routine="clCreate"))

    def __call__(self, *_, **__):
        raise self.error


@pytest.mark.parametrize("call", ["Buffer", "enqueue_fill_buffer"])
@pytest.mark.parametrize("code", [-4, -5, -6])
def test_driver_without_room(memory, any_device, monkeypatch, call, code):
    leave_free(monkeypatch, any_device, 5_000)
    with monkeypatch.context() as patch:
        patch.setattr(memory_module.cl, call, Refusal(code))
        with pytest.raises(
            DeviceMemoryError, match=r"'array' needs 4000 bytes.*driver has no room"
        ):
            memory.allocate("array", 1000, np.uint32)
    assert memory.free_bytes == 5_000
    assert memory.allocate("array", 1000, np.uint32).count == 1000


def test_failure_that_comes_with_the_touch(memory, any_device, monkeypatch):
    """The command is accepted and fails later, as a driver does that commits lazily."""
    leave_free(monkeypatch, any_device, 5_000)

    class FailedEvent:
        class command_queue:  # noqa: N801
            flush = staticmethod(lambda: None)

        command_execution_status = -4

    with monkeypatch.context() as patch:
        patch.setattr(memory_module.cl, "Event", FailedEvent)
        patch.setattr(memory_module.cl, "enqueue_fill_buffer", lambda *_: FailedEvent())
        with pytest.raises(DeviceMemoryError, match=r"'array' needs 4000 bytes.*error -4"):
            memory.allocate("array", 1000, np.uint32)
    assert memory.free_bytes == 5_000


def test_first_word_is_zero(memory):
    for _ in range(3):
        there = memory.allocate("array", 100, np.uint32)
        assert there.read(1)[0] == 0
        there.write(np.full(100, 7, np.uint32))


@pytest.mark.parametrize("text", ["many", "-1", "1e9", "1 GB", "٣"])
def test_malformed_limit(memory, monkeypatch, text):
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", text)
    with pytest.raises(InvalidArgumentError, match="CLGRAPH_MEMORY_LIMIT is"):
        memory.allocate("array", 1, np.uint32)


def test_budget_keeps_a_reserve():
    small = Ledger(1 << 30, shared_with_host=False)
    assert small.free_bytes == (1 << 30) - (1 << 25)
    large = Ledger(150 << 30, shared_with_host=False)
    assert large.free_bytes == (150 << 30) - (512 << 20)
    booking = large.take(100 << 30)
    assert large.take(50 << 30) is None
    assert large.used_bytes == 100 << 30
    del booking
    assert large.used_bytes == 0
    assert large.take(149 << 30)


def test_host_memory_bounds_devices_that_share_it(monkeypatch):
    monkeypatch.setattr(budget, "host_available_bytes", lambda: 3 << 30)
    assert Ledger(64 << 30, shared_with_host=True).free_bytes == (3 << 30) - (512 << 20)
    assert Ledger(64 << 30, shared_with_host=False).free_bytes > 60 << 30
    monkeypatch.setattr(budget, "host_available_bytes", lambda: None)
    assert Ledger(64 << 30, shared_with_host=True).free_bytes > 60 << 30


def test_available_host_memory_is_known_here():
    available = budget.host_available_bytes()
    assert available is not None
    assert available > 1 << 20


def test_fresh_memory_is_poisoned_but_for_its_first_word(memory, monkeypatch):
    monkeypatch.setenv("CLGRAPH_POISON", "0xA5A5A5A5")
    there = memory.allocate("array", 1001, np.uint32).read()
    assert there[0] == 0
    assert (there[1:] == 0xA5A5A5A5).all()
    assert memory.upload("array", [1, 2, 3]).read().tolist() == [1, 2, 3]


@pytest.mark.parametrize("text", ["poison", "-1", str(2**32), "0x"])
def test_poison_is_a_number_of_32_bits(memory, monkeypatch, text):
    monkeypatch.setenv("CLGRAPH_POISON", text)
    with pytest.raises(InvalidArgumentError, match=f"CLGRAPH_POISON is '{text}'"):
        memory.allocate("array", 1, np.uint32)


def _region_of(address):
    """What the system says of the memory at an address: its flags, of two letters each."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if bounds:
            inside = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return line.split()[1:]
    return []


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="there are no large pages"
)
@pytest.mark.parametrize("runtime", ["pocl", "intel"])
def test_large_arrays_of_processors_ask_for_large_pages(runtime, request):
    """From 4 MiB on, all of an array."""
    device = request.getfixturevalue(runtime)
    values = np.arange(2 * LEAST_BYTES // 4, dtype=np.uint32)
    large = Memory(device).upload("large", values)
    mapped, _ = cl.enqueue_map_buffer(
        device.queue, large.buffer, cl.map_flags.READ, 0, (values.size,), values.dtype
    )
    try:
        for place in (0, mapped.nbytes // 2, mapped.nbytes - 1):
            assert "hg" in _region_of(mapped.ctypes.data + place)
    finally:
        mapped.base.release(device.queue)
    np.testing.assert_array_equal(large.read(), values)


def test_small_arrays_ask_for_nothing(pocl, monkeypatch):
    asked = []
    monkeypatch.setattr(allocator, "advise_huge_pages", lambda *given: asked.append(given[2]))
    memory = Memory(pocl)
    memory.allocate("small", LEAST_BYTES - 4, np.uint8)
    memory.allocate("large", LEAST_BYTES, np.uint8)
    assert asked == [LEAST_BYTES]
