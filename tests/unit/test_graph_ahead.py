"""Work done ahead in threads: its bounds, its order, and what is raised in its turn."""

import threading
from contextlib import closing

import pytest
from clocks import happens
from interruption import interrupt, places

from clgraph.graph.ahead import THREAD, Ahead, in_order
from clgraph.threads import at_work


def test_results_come_in_order_with_what_they_are_of():
    assert list(in_order(range(100), lambda x: x * x, 3)) == [(x, x * x) for x in range(100)]
    assert list(in_order([], str, 2)) == []


def test_no_more_is_taken_than_twice_the_threads_ahead():
    taken = []
    found = in_order((taken.append(x) or x for x in range(50)), str, 2)
    for count in range(50):
        next(found)
        assert len(taken) <= count + 1 + 2 * 2
    found.close()


def test_an_error_of_the_source_comes_after_what_was_before_it():
    def things():
        yield from range(3)
        raise OSError("gone")

    found = in_order(things(), str, 2)
    assert [next(found)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OSError, match="gone"):
        next(found)


def test_an_error_of_the_work_comes_in_its_turn():
    found = in_order([2, 1, 0, 4], lambda x: 4 // x, 2)
    assert [next(found)[1] for _ in range(2)] == [2, 4]
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_ctrl_c_in_the_source_is_raised_at_once():
    def things():
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(in_order(things(), str, 2))


def test_things_are_worked_on_at_once():
    """Each waits for the other, which it would for ever in one thread."""
    together = threading.Barrier(2, timeout=60)
    assert len(list(in_order(range(8), lambda _: together.wait(), 2))) == 8


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


@pytest.mark.parametrize("opcodes", [False, True])
def test_no_thread_stays_where_taking_or_closing_is_interrupted(opcodes):
    def taken():
        with closing(Ahead(object, 2)) as ahead:
            ahead.take()

    def in_turn():
        assert len(list(in_order(range(3), str, 2))) == 3

    for call in taken, in_turn:
        for place in places(call, opcodes=opcodes):
            interrupt(call, place, opcodes=opcodes)
            assert happens(lambda: THREAD not in at_work()), (call, place)
