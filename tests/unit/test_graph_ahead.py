"""Calls made ahead in a thread: how far, in what order, and what is raised in its turn."""

import threading

import pytest

from clgraph.graph.ahead import Ahead


def test_calls_are_made_ahead_so_far_and_no_further():
    made = []
    ahead = Ahead(lambda: made.append(1) or len(made), 4)
    assert [ahead.take() for _ in range(3)] == [1, 2, 3]
    ahead.close()
    assert len(made) <= 3 + 4


def test_what_a_call_raises_is_raised_where_it_is_taken():
    numbers = iter([4, 0, 2])
    ahead = Ahead(lambda: 8 // next(numbers), 3)
    assert ahead.take() == 2
    with pytest.raises(ZeroDivisionError):
        ahead.take()
    assert ahead.take() == 4
    ahead.close()


def test_a_call_that_nobody_takes_is_waited_for_and_no_other_is_made():
    begun, going = threading.Event(), threading.Event()
    made = []

    def call():
        made.append(1)
        if len(made) == 2:
            begun.set()
            going.wait(60)
        return len(made)

    ahead = Ahead(call, 4)
    assert ahead.take() == 1
    assert begun.wait(60)
    threading.Timer(0.05, going.set).start()
    ahead.close()
    assert going.is_set()
    assert len(made) == 2


def test_nothing_is_started_before_the_first_is_taken():
    made = []
    Ahead(lambda: made.append(1), 4).close()
    assert not made
