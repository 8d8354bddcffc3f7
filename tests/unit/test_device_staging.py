"""Large arrays go to a device through pinned memory, piece by piece."""

import gc
import threading
import time
from functools import partial

import numpy as np
import pyopencl as cl
import pytest
from clocks import happens
from interruption import interrupt, places

from clgraph.device import Memory, waiting
from clgraph.device.memory import allocation as memory
from clgraph.device.memory import staging
from clgraph.device.memory.staging import Staging
from clgraph.threads import at_work

COUNT = 100_003
SLOT = 4096


@pytest.fixture
def source():
    return np.random.default_rng(4).integers(0, 1 << 30, COUNT, dtype=np.int32)


def slots(through):
    """Count those that nobody has."""
    return through._free.qsize() + through._unmade.qsize()


def slots_of(threads):
    """Give how many there may be."""
    return staging.SLOTS_PER_THREAD * threads


@pytest.mark.parametrize("threads", [None, 0, 3])
def test_every_byte_arrives(pocl, source, threads):
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    told = []
    Staging(pocl, SLOT, threads).write(held.buffer, source.view(np.uint8), told.append)
    np.testing.assert_array_equal(held.read(), source)
    assert told == [min(end, source.nbytes) for end in range(SLOT, source.nbytes + SLOT, SLOT)]


def test_write_goes_through_it_where_there_is_one(pocl, source, monkeypatch):
    monkeypatch.setattr(pocl, "staging", Staging(pocl, SLOT))
    monkeypatch.setattr(memory, "PIECE_BYTES", 1 << 16)
    done = []
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    held.write(source, progress=lambda here, *_: done.append(here))
    np.testing.assert_array_equal(held.read(), source)
    assert done[-1] == source.nbytes
    assert len(done) > 2


@pytest.mark.parametrize("where", [0, 5])
def test_an_interrupt_leaves_no_thread_at_work(pocl, source, monkeypatch, where):
    calls = []
    real = staging.finish_copy

    def interrupted(*events):
        calls.append(None)
        if len(calls) == where + 1:
            raise KeyboardInterrupt
        real(*events)

    monkeypatch.setattr(staging, "finish_copy", interrupted)
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    through = Staging(pocl, SLOT)
    with pytest.raises(KeyboardInterrupt):
        through.write(held.buffer, source.view(np.uint8), int)
    monkeypatch.undo()
    # None is at work, and of what was dropped they find out when they are given a core.
    assert happens(through._jobs.empty)
    assert slots(through) == slots_of(through.threads)
    assert not waiting._sharing
    through.write(held.buffer, source.view(np.uint8), int)
    np.testing.assert_array_equal(held.read(), source)


@pytest.mark.parametrize("opcodes", [False, True])
def test_a_write_that_is_interrupted_anywhere(pocl, opcodes):
    """Also while its threads are started: the next write is whole, and no slot is lost."""
    source = np.arange(3 * SLOT, dtype=np.uint8)
    held = Memory(pocl).allocate("held", source.size, np.uint8)

    def write():
        through[:] = [Staging(pocl, SLOT, threads=2)]
        through[0].write(held.buffer, source, int)

    through = []
    write()
    for place in places(write, opcodes=opcodes):
        interrupt(write, place, opcodes=opcodes)
        assert not waiting._sharing
        through[0].write(held.buffer, source, int)
        np.testing.assert_array_equal(held.read(), source)
        assert slots(through[0]) == slots_of(through[0].threads)
    through.clear()
    gc.collect()
    assert happens(lambda: staging.THREAD not in at_work())


@pytest.mark.parametrize("opcodes", [False, True])
def test_what_is_left_unfinished_and_interrupted_then_is_forgotten(pocl, opcodes):
    """Waits do not leave the interpreter to threads for good: it is asked for by who is gone."""
    held = Memory(pocl).allocate("held", SLOT, np.uint8)

    def leave():
        with Staging(pocl, SLOT, threads=1).pieces(pocl.queue) as pieces:
            pieces.send(lambda part: part.fill(1), SLOT, held.buffer, 0)

    for place in places(leave, opcodes=opcodes):
        interrupt(leave, place, opcodes=opcodes)
        assert not waiting._sharing, place
    assert happens(lambda: staging.THREAD not in at_work())


def test_threads_are_kept_and_end_with_what_started_them(pocl, source):
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    gc.collect()
    assert happens(lambda: staging.THREAD not in at_work())  # those of tests before
    through = Staging(pocl, SLOT, threads=3)
    for _ in range(2):
        through.write(held.buffer, source.view(np.uint8), int)
        assert happens(lambda: at_work().count(staging.THREAD) == 3)
    del through
    gc.collect()
    assert happens(lambda: staging.THREAD not in at_work())


def test_what_fails_in_a_thread_is_raised_and_the_rest_dropped(pocl, monkeypatch):
    held = Memory(pocl).allocate("held", COUNT, np.int32)
    through = Staging(pocl, SLOT, 2)
    begun, dropped, drop = [], threading.Event(), staging.Job.drop

    def noted(job):
        outcome = drop(job)  # first the last one, which nobody begins meanwhile
        dropped.set()
        return outcome

    def fill(_, number):
        begun.append(number)
        if number == 1:
            raise OSError("unreadable")
        assert not number or dropped.wait(60)  # however long the caller takes to be given a core

    monkeypatch.setattr(staging.Job, "drop", noted)

    def send_all():
        with through.pieces(pocl.queue) as pieces:
            fills = [partial(fill, number=i) for i in range(90)]
            sent = [pieces.send(each, SLOT, held.buffer, 0) for each in fills]
            pieces.finish(*sent)

    with pytest.raises(OSError, match="unreadable"):
        send_all()
    assert len(begun) < 90
    assert slots(through) == 4  # every slot is back


def test_slots_are_made_when_none_is_free(any_device, monkeypatch):
    """Making one takes longer than sending a few pieces."""
    made, pinned = [], staging.Pinned

    def making(*given):
        made.append(given)
        return pinned(*given)

    monkeypatch.setattr(staging, "Pinned", making)
    held = Memory(any_device).allocate("held", COUNT, np.int32)
    through = Staging(any_device, SLOT, threads=2)
    data = np.arange(SLOT, dtype=np.uint8)
    for _ in range(9):
        through.write(held.buffer, data, int)
    assert len(made) == 1
    together = threading.Barrier(2, timeout=60)

    def fill(part):
        together.wait()
        part[:] = data

    queue = any_device.beside().queue
    with through.pieces(queue) as pieces:
        pieces.finish(*[pieces.send(fill, SLOT, held.buffer, SLOT * i) for i in range(2)])
    assert len(made) == 2
    gate = cl.UserEvent(any_device.context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    with through.pieces(queue) as pieces:  # copies do not end, so that all slots are made
        sent = [pieces.send(lambda _: None, SLOT, held.buffer, 0) for _ in range(7)]
        assert happens(lambda: len(made) == slots_of(2))
        time.sleep(0.05)
        assert len(made) == slots_of(2)
        gate.set_status(cl.command_execution_status.COMPLETE)
        pieces.finish(*sent)
    assert slots(through) == slots_of(2)


def test_a_slot_is_filled_anew_only_when_its_copy_has_ended(any_device):
    """Mining, checklist 21, with a queue that is held up."""
    queue = any_device.beside().queue
    target = Memory(any_device).allocate("target", 4 * SLOT, np.uint8)
    through = Staging(any_device, SLOT, threads=1)
    gate = cl.UserEvent(any_device.context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    filled = []

    def fill_with(value):
        def fill(part):
            filled.append(value)
            part[:] = value

        return fill

    with through.pieces(queue) as pieces:
        for value in range(4):
            pieces.send(fill_with(value), SLOT, target.buffer, SLOT * value)
        until = time.monotonic() + 60
        while len(filled) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)  # in which a third would be filled
        before = list(filled)
        gate.set_status(cl.command_execution_status.COMPLETE)
        pieces.finish(*list(pieces._begun))
    assert before == [0, 1]  # as many as there are slots
    assert filled == [0, 1, 2, 3]
    assert (target.read().reshape(4, -1) == np.arange(4)[:, None]).all()


def test_a_piece_sent_here_does_not_wait_for_threads(any_device):
    """Its copy is there while the only thread still fills a piece that was sent before."""
    queue = any_device.beside().queue
    target = Memory(any_device).allocate("target", 3 * SLOT, np.uint8)
    begun, go_on = threading.Event(), threading.Event()

    def slowly(part):
        begun.set()
        assert go_on.wait(60)
        part[:] = 1

    with Staging(any_device, SLOT, threads=1).pieces(queue) as pieces:
        slow = pieces.send(slowly, SLOT, target.buffer, 0)
        assert begun.wait(60)
        for number in (1, 2):  # the second fills the slot out of which the first was copied
            quick = pieces.send(
                lambda part: part.fill(2), SLOT, target.buffer, number * SLOT, here=True
            )
            pieces.finish(quick)
        assert (target.read()[SLOT:] == 2).all()
        assert slow._outcome is None
        go_on.set()
        pieces.finish(slow)
    assert (target.read()[:SLOT] == 1).all()


def test_the_interpreter_is_shared_while_pieces_are_on_their_way(any_device):
    queue = any_device.beside().queue
    target = Memory(any_device).allocate("target", 2 * SLOT, np.uint8)
    with Staging(any_device, SLOT, threads=1).pieces(queue) as pieces:
        assert not waiting._sharing
        sent = [
            pieces.send(lambda part: part.fill(1), SLOT, target.buffer, SLOT * i) for i in (0, 1)
        ]
        pieces.finish(sent[0])
        assert waiting._sharing
        pieces.finish(sent[1])
        assert not waiting._sharing
    assert (target.read() == 1).all()


def test_waits_leave_the_interpreter_to_threads_that_fill(any_device, monkeypatch):
    blocked = []
    block = waiting._block

    def noted(*about):
        blocked.append(None)
        timer.start()  # no sooner: the wait may come late to an event, which then has ended
        block(*about)

    monkeypatch.setattr(waiting, "_block", noted)
    monkeypatch.setattr(waiting, "SPIN_S", 0.0)
    queue = any_device.beside().queue
    monkeypatch.setattr(cl.device_type, "CPU", 0)  # as on a GPU
    for sharing in (False, True):
        gate = cl.UserEvent(any_device.context)
        event = cl.enqueue_barrier(queue, wait_for=[gate])
        timer = threading.Timer(0.05, gate.set_status, (cl.command_execution_status.COMPLETE,))
        if sharing:
            waiting.share_the_interpreter(timer)
            try:
                waiting.wait(event, 60.0)
            finally:
                waiting.keep_the_interpreter(timer)
        else:
            timer.start()
            waiting.wait(event)
        timer.join()
        assert bool(blocked) == sharing
