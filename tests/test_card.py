"""The lock by which tests have the graphics card together or alone."""

import threading

import card


def test_who_has_the_card_alone_has_it_alone_and_is_not_kept_waiting(tmp_path):
    """Two have it together; one waits to be alone; who comes after that comes after that."""
    order, inside, go_on = [], threading.Barrier(3, timeout=60), threading.Event()

    def together():
        with card.held(tmp_path, alone=False):
            inside.wait()  # both are in, or this fails
            assert go_on.wait(60)
            order.append("together")

    def alone():
        with card.held(tmp_path, alone=True):
            order.append("alone")

    def late():
        with card.held(tmp_path, alone=False):
            order.append("late")

    first = [threading.Thread(target=together) for _ in range(2)]
    for thread in first:
        thread.start()
    inside.wait()
    others = [threading.Thread(target=alone)]
    others[0].start()
    while not _taken(tmp_path / "clgraph-door"):
        threading.Event().wait(0.001)
    others.append(threading.Thread(target=late))
    others[1].start()
    assert order == []
    go_on.set()
    for thread in first + others:
        thread.join(60)
    assert order == ["together", "together", "alone", "late"]


def _taken(path):
    """Whether somebody holds the lock of a file."""
    with path.open("a") as file:
        try:
            card.fcntl.flock(file, card.fcntl.LOCK_EX | card.fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
