"""Rounds over a list that shrinks, launched some ahead of a look from the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.errors import KernelTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clgraph.device import Memory
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Rounds"]

SLOTS = 256
FIRST_AHEAD, MOST_AHEAD = 4, 32


class Rounds:
    """Lengths of the lists of rounds, and the loop that launches them until one is empty.

    Parameters
    ----------
    memory : Memory
        What to allocate from.
    ahead : int
        Rounds before the host looks for the first time; once it knows, as many as were needed.

    Attributes
    ----------
    lengths : Allocation
        uint32: a round counts in its slot what it leaves to the next, which reads the slot before.
    """

    def __init__(self, memory: Memory, ahead: int = FIRST_AHEAD) -> None:
        self._first_ahead = ahead
        self._needed: dict[int, int] = {}
        self.lengths = memory.allocate("list_lengths", SLOTS, np.uint32)

    def run(
        self,
        log: SweepLog,
        enqueue: Callable[[int, np.uint32], None],
        look: Callable[[int], None] | None = None,
        *,
        behind: Callable[[], None] | None = None,
        part: int = 0,
    ) -> list[int]:
        """Launch rounds until one leaves nothing.

        Parameters
        ----------
        log : SweepLog
            Where launches are noted.
        enqueue : callable
            Enqueues a round: called with its number from 0 on, and its slot. The list of every
            round is shorter than that of the one before.
        look : callable, optional
            Called with the length of the last list whenever the host has looked.
        behind : callable, optional
            Enqueues what follows the last round. It is called whenever rounds have been enqueued,
            before the host looks whether they were the last, and must do no harm if they were not.
        part : int
            Which of the loops that take these slots in turn: each needs rounds of its own.

        Returns
        -------
        list of int
            What each round left to the next, but for the last one's 0.

        Raises
        ------
        KernelTimeoutError
            If lists do not get shorter.
        ClgraphError
            If the driver reports a failure.
        """
        left: list[int] = []
        self.lengths.clear()
        number = slot = 0
        ahead = self._needed.get(part, self._first_ahead)
        while not left or left[-1]:
            first = slot
            for slot in range(first, min(first + ahead, SLOTS)):
                enqueue(number, np.uint32(slot))
                number += 1
            if behind is not None:
                behind()
            log.wait()
            before = left[-1] if left else None
            left += self.lengths.read(slot + 1)[first:].tolist()
            if look is not None:
                look(left[-1])
            if left[-1] and left[-1] == before:
                raise KernelTimeoutError(
                    f"{slot + 1 - first} rounds have left {before} items as they were; the device "
                    "has lost writes, or the graph changed meanwhile."
                )
            slot += 1
            if slot == SLOTS:
                self.lengths.write(np.array([left[-1], *[0] * (SLOTS - 1)], np.uint32))
                slot = 1
            ahead = min(2 * ahead, MOST_AHEAD)
        needed = min(left.index(0) + 1, SLOTS - 1)
        self._needed[part] = max(needed, self._needed.get(part, 0))
        return [count for count in left if count]
