"""Boxes in host memory that a kernel fills itself: words come, or the wait is left."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest

from clgraph.device import Posted, can_post
from clgraph.device.waiting import keep_the_interpreter, share_the_interpreter

posted = importlib.import_module("clgraph.device.memory.posted")
waiting = importlib.import_module("clgraph.device.waiting")


def test_whether_a_kernel_posts_is_a_trait_of_the_device(any_device):
    assert any_device.traits.memory_ops != "ptx"
    assert not can_post(any_device)


def test_nothing_is_posted_where_accesses_are_checked(monkeypatch):
    """Checks know the arrays of a kernel, and a box is none of them."""
    monkeypatch.setattr(posted, "checking", lambda: True)
    card = SimpleNamespace(traits=SimpleNamespace(memory_ops="ptx"))
    assert not can_post(card)
    monkeypatch.setattr(posted, "checking", lambda: False)
    assert can_post(card)


def test_the_last_word_says_that_all_are_there(any_device, monkeypatch):
    box = Posted(any_device, 3)
    assert box.words.tolist() == [0, 0, 0]
    assert int(box.address) == np.frombuffer(box.words, np.uint32).ctypes.data
    box.words[0] = 9
    monkeypatch.setattr(waiting, "BUSY_S", 0.01)
    assert not box.came(9)
    box.words[2] = 9
    assert box.came(9)


def test_a_wait_can_be_left(any_device, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(posted, "wait_for_word", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Posted(any_device, 3).came(1)


def test_the_interpreter_is_left_to_others(any_device):
    box = Posted(any_device, 3)
    box.words[2] = 5
    share_the_interpreter(box)
    try:
        assert not box.came(5)
    finally:
        keep_the_interpreter(box)
    assert box.came(5)
