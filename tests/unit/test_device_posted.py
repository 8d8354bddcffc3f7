"""Words that a kernel puts down in host memory: they come, or are copied, or the wait is left."""

import gc
import importlib

import numpy as np
import pyopencl as cl
import pytest

from clgraph.device import Memory, Mirror, mirror, wait
from clgraph.device.memory.posted import Posted
from clgraph.device.waiting import keep_the_interpreter, share_the_interpreter, wait_for_word

posted = importlib.import_module("clgraph.device.memory.posted")
waiting = importlib.import_module("clgraph.device.waiting")


@pytest.fixture
def held(any_device):
    return Memory(any_device).upload("held", np.arange(600, dtype=np.uint32))


class Ended:
    """An event whose command has ended, or has so after some questions."""

    def __init__(self, after=0, status=0):
        self.asked, self.after, self.status = 0, after, status

    @property
    def command_execution_status(self):
        self.asked += 1
        return self.status if self.asked > self.after else 1


def no_copies(monkeypatch):
    def refused(*_):
        raise AssertionError("the words were copied")

    monkeypatch.setattr(Mirror, "enqueue", refused)


def test_words_come_after_all_that_was_enqueued(held, any_device, monkeypatch):
    no_copies(monkeypatch)
    seen = Posted(any_device, held, 2, 500)
    for value in range(50):
        held.write_later(np.full(3, value, np.uint32))
        seen.refresh()
        assert seen.words[0] == value
        assert seen.words[1:].tolist() == list(range(3, 502))


def test_the_stamp_begins_anew(held, any_device, monkeypatch):
    no_copies(monkeypatch)
    seen = Posted(any_device, held, 0, 3)
    seen._stamp = 2**32 - 2
    for value in (7, 8, 9):
        held.write(np.full(1, value, np.uint32))
        seen.refresh()
        assert seen.words.tolist() == [value, 1, 2]


def test_it_holds_what_it_looks_at(held, any_device):
    seen = Posted(any_device, held, 2, 3)
    held.release()
    gc.collect()
    seen.refresh()
    assert seen.words.tolist() == [2, 3, 4]


def test_words_that_do_not_come_are_copied(held, any_device, monkeypatch):
    seen = Posted(any_device, held, 1, 3)
    seen.refresh()
    held.clear().wait()
    launched = []

    def nothing(*_, **__):
        launched.append(1)
        return cl.enqueue_marker(any_device.queue)

    monkeypatch.setattr(seen._kernel, "launch", nothing)
    seen.refresh()
    assert (launched, seen.words.tolist()) == ([1], [0, 0, 0])


def test_two_mirrors_are_still_refreshed_together(held, any_device):
    front, back = Posted(any_device, held, 0, 3), Mirror(any_device, held, 6, 2)
    front.refresh(back)
    assert (front.words.tolist(), back.words.tolist()) == ([0, 1, 2], [6, 7])


def test_whether_a_kernel_posts_is_a_trait_of_the_device(held, any_device):
    assert any_device.traits.memory_ops != "ptx"
    assert type(mirror(any_device, held, 0, 3)) is Mirror


def test_a_word_that_is_there_is_not_asked_about():
    event = Ended()
    assert wait_for_word(memoryview(np.array([1, 5], np.uint32)), 1, 5, event)
    assert event.asked == 0


def test_a_word_may_come_with_the_end():
    words = np.zeros(2, np.uint32)

    class Writing(Ended):
        @property
        def command_execution_status(self):
            words[1] = 5
            return 0

    assert wait_for_word(memoryview(words), 1, 5, Writing())
    words[:] = 0
    assert not wait_for_word(memoryview(words), 1, 5, Ended(after=3))


def test_a_command_that_failed_is_said():
    words = memoryview(np.zeros(2, np.uint32))
    with pytest.raises(waiting.ClgraphError, match="OpenCL error -5"):
        wait_for_word(words, 1, 5, Ended(after=2, status=-5))


def test_a_wait_can_be_left(held, any_device, monkeypatch):
    seen = Posted(any_device, held, 0, 3)
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
    class Blind:
        """Words that nobody may look at before the launch has ended."""

        def __getitem__(self, place):
            assert event.asked > 0
            return 5

    event, own = Ended(), object()
    share_the_interpreter(own)
    try:
        assert wait_for_word(Blind(), 1, 5, event)
    finally:
        keep_the_interpreter(own)
    seen = Posted(any_device, held, 0, 3)
    seen.refresh()
    wait(cl.enqueue_marker(any_device.queue))
    assert seen.words.tolist() == [0, 1, 2]
