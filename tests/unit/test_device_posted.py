"""Words that a kernel puts down in host memory: they come, or are copied, or the wait is left."""

import gc
import importlib

import numpy as np
import pyopencl as cl
import pytest

from clgraph.device import Memory, Mirror, mirror
from clgraph.device.memory.posted import PostedMirror
from clgraph.device.waiting import keep_the_interpreter, share_the_interpreter, wait_for_word

posted = importlib.import_module("clgraph.device.memory.posted")
waiting = importlib.import_module("clgraph.device.waiting")


@pytest.fixture
def held(any_device):
    return Memory(any_device).upload("held", np.arange(600, dtype=np.uint32))


def put_later(device, held, value):
    """Enqueue three words, which nobody waits for."""
    words = np.full(3, value, np.uint32)
    cl.enqueue_copy(device.queue, held.buffer, words, is_blocking=False)


def no_copies(monkeypatch):
    def refused(*_):
        raise AssertionError("the words were copied")

    monkeypatch.setattr(Mirror, "enqueue", refused)
    monkeypatch.setattr(waiting, "BUSY_S", 60.0)  # however busy the machine is


def test_words_come_after_all_that_was_enqueued(held, any_device, monkeypatch):
    no_copies(monkeypatch)
    seen = PostedMirror(any_device, held, 2, 500)
    for value in range(50):
        put_later(any_device, held, value)
        seen.refresh()
        assert seen.words[0] == value
        assert seen.words[1:].tolist() == list(range(3, 502))


def test_the_stamp_begins_anew(held, any_device, monkeypatch):
    no_copies(monkeypatch)
    seen = PostedMirror(any_device, held, 0, 3)
    seen._stamp = 2**32 - 2
    seen._posts.write(np.full(1, seen._stamp, np.uint32))
    for value in (7, 8, 9):
        held.write(np.full(1, value, np.uint32))
        seen.refresh()
        assert seen.words.tolist() == [value, 1, 2]


def test_it_holds_what_it_looks_at(held, any_device):
    seen = PostedMirror(any_device, held, 2, 3)
    held.release()
    gc.collect()
    seen.refresh()
    assert seen.words.tolist() == [2, 3, 4]


def test_words_that_do_not_come_are_copied(held, any_device, monkeypatch):
    """And how many posts there were is found out from what the device says."""
    seen = PostedMirror(any_device, held, 1, 3)
    seen.refresh()
    held.clear().wait()
    asked = []
    with monkeypatch.context() as patch:
        patch.setattr(waiting, "BUSY_S", 0.01)
        patch.setattr(seen._kernel, "again", lambda: asked.append(1))
        seen.refresh()
    assert (asked, seen.words.tolist()) == ([1], [0, 0, 0])
    no_copies(monkeypatch)
    held.write(np.arange(600, dtype=np.uint32))
    seen.refresh()
    assert seen.words.tolist() == [1, 2, 3]


def test_two_mirrors_are_still_refreshed_together(held, any_device):
    front, back = PostedMirror(any_device, held, 0, 3), Mirror(any_device, held, 6, 2)
    front.refresh(back)
    assert (front.words.tolist(), back.words.tolist()) == ([0, 1, 2], [6, 7])


def test_posts_follow_what_is_on_the_device_s_own_queue(held, any_device, monkeypatch):
    """Although programs are shared with whoever has another queue there."""
    no_copies(monkeypatch)
    PostedMirror(any_device, held, 2, 3)
    beside = any_device.beside()
    held = Memory(beside).upload("held", np.arange(600, dtype=np.uint32))
    seen = PostedMirror(beside, held, 2, 3)
    assert seen._kernel.device is beside
    put_later(beside, held, 7)
    seen.refresh()
    assert seen.words.tolist() == [7, 3, 4]


def test_whether_a_kernel_posts_is_a_trait_of_the_device(held, any_device):
    assert any_device.traits.memory_ops != "ptx"
    assert type(mirror(any_device, held, 0, 3)) is Mirror


class Queue:
    """A queue whose kernels get on when it is flushed."""

    def __init__(self, flushed=lambda: None):
        self.flushes, self.flushed = 0, flushed

    def flush(self):
        self.flushes += 1
        self.flushed()


def test_a_word_that_is_there_needs_no_driver():
    queue = Queue()
    assert wait_for_word(np.array([1, 5], np.uint32).data, 1, 5, queue)
    assert queue.flushes == 0


def test_a_driver_may_have_to_be_told():
    words = np.zeros(2, np.uint32)
    queue = Queue(lambda: words.fill(5))
    assert wait_for_word(words.data, 1, 5, queue)
    assert queue.flushes == 1


def test_a_word_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(waiting, "BUSY_S", 0.01)
    assert not wait_for_word(np.zeros(2, np.uint32).data, 1, 5, Queue())


def test_a_wait_can_be_left(held, any_device, monkeypatch):
    seen = PostedMirror(any_device, held, 0, 3)
    seen.refresh()
    held.write(np.full(1, 77, np.uint32))

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(posted, "wait_for_word", interrupted)
        with pytest.raises(KeyboardInterrupt):
            seen.refresh()
    no_copies(monkeypatch)
    held.write(np.full(1, 78, np.uint32))
    seen.refresh()
    assert seen.words.tolist() == [78, 1, 2]


def test_the_interpreter_is_left_to_others(held, any_device):
    seen = PostedMirror(any_device, held, 0, 3)
    held.write(np.full(1, 9, np.uint32))
    share_the_interpreter(seen)
    try:
        assert not wait_for_word(np.full(2, 5, np.uint32).data, 1, 5, Queue())
        seen.refresh()
    finally:
        keep_the_interpreter(seen)
    assert seen.words.tolist() == [9, 1, 2]
    for value in (10, 11):
        held.write(np.full(1, value, np.uint32))
        seen.refresh()
        assert seen.words.tolist() == [value, 1, 2]
