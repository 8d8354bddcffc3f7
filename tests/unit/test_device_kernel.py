"""Launching kernels: arguments, what is refused, and what a launch costs the host."""

import gc
import time

import numpy as np
import pytest

from clgraph.device import Memory, wait
from clgraph.device.lazy import cl
from clgraph.device.native import KernelHandle
from clgraph.device.programs.kernel import launch_by
from clgraph.device.programs.program import build
from clgraph.errors import ClgraphError, InvalidArgumentError

AFFINE = """
__kernel void affine(__global const uint *x, __global ulong *y, const uint a, const ulong b,
                     const float scale, __local uint *scratch) {
    const uint i = get_global_id(0);
    scratch[get_local_id(0)] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = (ulong)(scale * (scratch[get_local_id(0)] * a + b));
}
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(__global uint *out) {
    __local uint shared[100];
    shared[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared[3 - get_local_id(0)];
}
"""
U32, U64, F32 = np.uint32, np.uint64, np.float32


@pytest.fixture
def program(device):
    return build(device, AFFINE, label="affine.cl")


def test_arguments_of_every_kind(device, program):
    memory = Memory(device)
    x = memory.upload("x", np.arange(16, dtype=U32))
    y = memory.allocate("y", 16, U64)
    kernel = program.kernel("affine")
    for a, b, scale in ((2, 3, 1), (2, 4, 1), (5, 4, 2), (5, 4, 2), (2, 3, 1)):
        args = (U32(a), U64(b), F32(scale), cl.LocalMemory(16))
        wait(kernel.launch(16, 4, x, y, *args))
        assert y.read().tolist() == [scale * (i * a + b) for i in range(16)]
    wait(kernel.launch(16, 4, x.buffer, y.buffer, U32(9), *args[1:]))
    assert y.read().tolist() == [i * 9 + 3 for i in range(16)]


def test_equal_integers_are_not_handed_over_again(device, program, monkeypatch):
    """Other objects of the same value; of floats, whose zeros have two signs, all are."""
    memory = Memory(device)
    x, y = memory.upload("x", np.arange(4, dtype=U32)), memory.allocate("y", 4, U64)
    kernel = program.kernel("affine")
    scratch = cl.LocalMemory(16)
    wait(kernel.launch(4, 4, x, y, U32(2), U64(3), F32(0.0), scratch))
    handed = []
    original = KernelHandle.set_bytes

    def noted(handle, index, value):
        handed.append(index)
        original(handle, index, value)

    monkeypatch.setattr(KernelHandle, "set_bytes", noted)
    for a, b, scale, expected in (
        (2, 3, 0.0, [4]),
        (2, 4, 0.0, [3, 4]),
        (7, 4, -0.0, [2, 4]),
        (7, 4, 1.0, [4]),
    ):
        handed.clear()
        wait(kernel.launch(4, 4, x, y, U32(a), U64(b), F32(scale), scratch))
        assert handed == expected
        assert y.read().tolist() == [int(scale) * (i * a + b) for i in range(4)]
    with pytest.raises(ClgraphError):
        kernel.launch(4, 4, x, y, U64(7), U64(4), F32(1), scratch)


def test_arguments_change_with_the_memory_behind_them(device, program):
    """A new array may get the address of one that was freed."""
    memory = Memory(device)
    kernel = program.kernel("affine")
    scalars = (U32(1), U64(0), F32(1), cl.LocalMemory(16))
    for value in range(20):
        x = memory.upload("x", np.full(4, value, U32))
        y = memory.allocate("y", 4, U64)
        wait(kernel.launch(4, 4, x, y, *scalars))
        assert y.read().tolist() == [value] * 4
        del x, y
        gc.collect()


def test_kernels_of_one_program_have_arguments_of_their_own(device, program):
    memory = Memory(device)
    ones, twos = (memory.allocate(name, 4, U32) for name in ("ones", "twos"))
    first, second = program.kernel("fours"), program.kernel("fours")
    wait(first.launch(4, 4, ones))
    wait(second.launch(4, 4, twos))
    assert ones.read().tolist() == twos.read().tolist() == [1] * 4


def test_what_a_kernel_says_about_itself(device, program):
    kernel = program.kernel("fours")
    assert kernel.name == "fours"
    assert kernel.local_bytes >= 400
    assert kernel.max_group_size >= 4
    if device.traits.compute_capability is None:
        assert kernel.registers is None
        assert kernel.spill_bytes is None
    assert program.kernel("affine").max_group_size <= device.traits.max_group_size


def test_number_of_arguments(device, program):
    out = Memory(device).allocate("out", 4, U32)
    with pytest.raises(InvalidArgumentError, match="fours takes 1 arguments; 2 were given"):
        program.kernel("fours").launch(4, 4, out, U32(1))


@pytest.mark.parametrize("wrong", [1, 1.5, None, "x", np.zeros(4, U32), [1]])
def test_argument_of_a_wrong_kind(program, wrong):
    with pytest.raises(InvalidArgumentError, match="argument 0 of fours is"):
        program.kernel("fours").launch(4, 4, wrong)


def test_scalar_of_a_wrong_width(device, program):
    memory = Memory(device)
    x, y = memory.allocate("x", 4, U32), memory.allocate("y", 4, U64)
    kernel = program.kernel("affine")
    with pytest.raises(ClgraphError, match=r"affine could not be launched .*INVALID_ARG_SIZE"):
        kernel.launch(4, 4, x, y, U64(1), U64(1), F32(1), cl.LocalMemory(16))


class Handed:
    """Notes the places of arguments that a kernel is given."""

    def __init__(self, kernel, monkeypatch):
        self.places = []
        give = kernel._handle.set_bytes

        def noted(place, value):
            self.places.append(place)
            give(place, value)

        monkeypatch.setattr(kernel._handle, "set_bytes", noted)

    def taken(self):
        places, self.places = self.places, []
        return places


@pytest.fixture
def bound(device, program, monkeypatch):
    """A kernel with five arguments, arrays, what it makes of them, and what it is given."""
    memory = Memory(device)
    kernel = program.kernel("affine")
    x, y = memory.upload("x", np.arange(4, dtype=U32)), memory.allocate("y", 4, U64)
    args = [x, y, U32(2), U64(3), F32(1), cl.LocalMemory(16)]
    return kernel, args, Handed(kernel, monkeypatch)


def test_bound_arguments_are_handed_over_where_they_change(bound):
    kernel, args, handed = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert handed.taken() == [0, 1, 2, 3, 4]
    for a in (5, 7):
        args[2] = U32(a)
        wait(kernel.launch_bound(4, 4, args, (2,), stamp))
        assert handed.taken() == [2]
        assert args[1].read().tolist() == [i * a + 3 for i in range(4)]
    args[3] = U64(9)
    wait(kernel.launch_bound(4, 4, args, (2,), object()))
    assert handed.taken() == [3]
    assert args[1].read().tolist() == [i * 7 + 9 for i in range(4)]


def test_arguments_that_were_handed_over_ahead_are_not_at_the_launch(bound):
    kernel, args, handed = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    handed.taken()
    args[2] = U32(6)
    kernel.hand_over(args, (2,), stamp)
    assert handed.taken() == [2]
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert handed.taken() == []
    assert args[1].read().tolist() == [i * 6 + 3 for i in range(4)]
    # Under another stamp all are looked at.
    args[3] = U64(5)
    kernel.hand_over(args, (2,), object())
    assert handed.taken() == [3]
    wait(kernel.launch(4, 4, *args))
    assert args[1].read().tolist() == [i * 6 + 5 for i in range(4)]


def test_nothing_is_handed_over_ahead_while_somebody_watches(bound):
    """Whoever launches instead may give the kernel others, and looks at all at the launch."""
    kernel, args, handed = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    handed.taken()
    args[2] = U32(6)
    launch_by(lambda observed, *_: cl.enqueue_marker(observed.device.queue))
    try:
        kernel.hand_over(args, (2,), stamp)
        assert handed.taken() == []
    finally:
        launch_by(None)
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert args[1].read().tolist() == [i * 6 + 3 for i in range(4)]


def test_a_launch_between_ends_what_is_bound(bound):
    kernel, args, _ = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (), stamp))
    wait(kernel.launch(4, 4, *args[:2], U32(1), *args[3:]))
    wait(kernel.launch_bound(4, 4, args, (), stamp))
    assert args[1].read().tolist() == [i * 2 + 3 for i in range(4)]


def test_bound_arguments_after_somebody_watched(bound):
    kernel, args, _ = bound
    stamp, seen = object(), []

    def another(observed, *_):
        """Launch another kernel instead, as a profile does: this one is given nothing."""
        seen.append(observed)
        return cl.enqueue_marker(observed.device.queue)

    launch_by(another)
    try:
        wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    finally:
        launch_by(None)
    assert seen == [kernel]
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert args[1].read().tolist() == [i * 2 + 3 for i in range(4)]


def test_a_bound_launch_that_fails_leaves_nothing_out(bound, monkeypatch):
    kernel, args, handed = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    handed.taken()
    args[2] = U32(8)
    with monkeypatch.context() as patch:
        patch.setattr(
            kernel._handle, "enqueue", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            kernel.launch_bound(4, 4, args, (2,), stamp)
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert args[1].read().tolist() == [i * 8 + 3 for i in range(4)]


def test_what_an_exception_cut_off_is_not_taken_for_handed_over(bound, monkeypatch):
    kernel, args, _ = bound
    stamp = object()
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    give = kernel._handle.set_bytes

    def refusing(place, value):
        if place == 4:
            raise KeyboardInterrupt
        give(place, value)

    others = [*args[:2], U32(2), U64(50), F32(3), args[5]]
    with monkeypatch.context() as patch:
        patch.setattr(kernel._handle, "set_bytes", refusing)
        with pytest.raises(KeyboardInterrupt):
            kernel.launch_bound(4, 4, others, (2,), object())
    wait(kernel.launch_bound(4, 4, args, (2,), stamp))
    assert args[1].read().tolist() == [i * 2 + 3 for i in range(4)]


def test_released_array_is_refused(device, program):
    out = Memory(device).allocate("out", 4, U32)
    kernel = program.kernel("fours")
    wait(kernel.launch(4, 4, out))
    out.release()
    with pytest.raises(InvalidArgumentError, match="'out' has been released"):
        kernel.launch(4, 4, out)


def test_more_local_memory_than_there_is(device, program):
    memory = Memory(device)
    x, y = memory.allocate("x", 4, U32), memory.allocate("y", 4, U64)
    kernel = program.kernel("affine")
    wanted = device.traits.local_bytes + 4
    total = wanted + kernel.local_bytes
    with pytest.raises(InvalidArgumentError, match=f"affine would take {total} bytes of local"):
        kernel.launch(4, 4, x, y, U32(1), U64(1), F32(1), cl.LocalMemory(wanted))
    wait(kernel.launch(4, 4, x, y, U32(1), U64(1), F32(1), cl.LocalMemory(16)))


@pytest.mark.parametrize(("global_size", "group_size"), [(8, 8), (6, 4), (4, 0), (0, 4), (-4, 4)])
def test_sizes_that_do_not_fit(device, program, global_size, group_size):
    out = Memory(device).allocate("out", 8, U32)
    with pytest.raises(ClgraphError, match=f"with {global_size} work-items in groups of"):
        program.kernel("fours").launch(global_size, group_size, out)


@pytest.mark.runtimes("pocl", "intel")
def test_launching_costs_the_host_little(device, program):
    """Some 6 us of the processor where nothing changed."""
    out = Memory(device).allocate("out", 4, U32)
    kernel = program.kernel("fours")
    times = []
    for _ in range(200):
        start = time.thread_time()
        event = kernel.launch(4, 4, out)
        times.append(time.thread_time() - start)
        wait(event)
    assert sorted(times)[len(times) // 4] < 60e-6
