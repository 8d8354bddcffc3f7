"""The levels of a search by devices of one process that read each other's finds themselves."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.exchange import BitExchange
from clgraph.cluster.parts.mailboxes import LEVELS_A_LAUNCH, MailboxPart
from clgraph.cluster.ranks.comm import AllGather
from clgraph.cluster.result import Level

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from clgraph.cluster.exchange import Levels

__all__ = ["MailboxExchange"]

log = logging.getLogger(__name__)

LAST_STAMP = 2**32 - 1  # they are words of 32 bits; after some four million searches


class MailboxExchange(BitExchange):
    """Everybody puts down a bit for each vertex, or a list, where the others' kernels read it.

    The host launches a search on each device and waits once. If a device waits for another in vain
    this search and all later ones are run level by level from the host.

    Parameters
    ----------
    share, partition_plan, device, config, predecessors
        As for `BitExchange`.

    Attributes
    ----------
    host_runs : bool
        Whether the host runs levels, since one has waited in vain.
    """

    PART = MailboxPart
    part: MailboxPart

    def __init__(self, *of: Any, **options: Any) -> None:
        super().__init__(*of, **options)
        self._stamp = 1
        self._broken_off = True  # barriers are not cleared yet
        self.host_runs = False

    def prepare(self) -> Generator[Any, Any, None]:
        """Learn where the others' mailboxes are."""
        addresses = yield AllGather.of(self.part.address)
        self.part.link(addresses[:, 0].tolist())

    def search(self, source: int, limit: int) -> Generator[Any, Any, Levels]:
        """Search as far as distance `limit`."""
        if not self.host_runs:
            found: Levels | None = yield from self._unattended(source, limit)
            if found is not None:
                return found
            self.host_runs = True
            log.warning(
                "rank %d on %s: devices did not meet in host memory; the host runs their levels.",
                self.part.rank,
                self.part.device.name,
            )
        return (yield from super().search(source, limit))

    def _unattended(self, source: int, limit: int) -> Generator[Any, Any, Levels | None]:
        """Search without a look at levels; give None if a device waited in vain."""
        part = self.part
        # An interrupted search may have ended before all had launched it.
        stamps = yield AllGather.of(self._stamp)
        self._stamp = int(stamps.max())
        begun = time.perf_counter()
        if self._broken_off:
            part.clear()
        self._broken_off = True
        noted: list[NDArray[np.int64]] = []
        first, launches, ended = 0, 0, False
        try:
            while not ended:
                past = min(first + LEVELS_A_LAUNCH, limit)
                if self._stamp + past - first > LAST_STAMP:
                    part.forget()
                    yield AllGather.of(0)  # nobody is launched before all have
                    self._stamp = 1
                # Whatever comes now, no later launch has these numbers.
                stamp, self._stamp = self._stamp, self._stamp + past - first + 1
                event = part.run_levels(source, first, past, stamp)
                launches += self._ranks
                missed = yield AllGather(lambda: np.array([part.missed], np.int64), [event])
                if missed.any():
                    return None
                part.check()
                last, nothing_new = part.decided
                ended = nothing_new or last >= limit
                noted.append(part.noted(first, last + ended).astype(np.int64))
                first = last
            self._broken_off = False
        finally:
            if self._broken_off:  # the kernel, whose waits are bounded, reads others' mailboxes
                part.device.queue.finish()
        seconds = time.perf_counter() - begun
        notes = np.concatenate(noted)
        put = yield AllGather(lambda: notes[:, 2])
        return self._levels(notes, put.sum(axis=0), seconds), launches, seconds

    def _levels(
        self, notes: NDArray[np.int64], put: NDArray[np.int64], seconds: float
    ) -> list[Level]:
        """Give levels by what was noted: vertices, whether it pulled, bytes, nanoseconds."""
        levels = [Level(int(vertices)) for vertices in notes[:, 0]]
        spent = np.diff(notes[:, 3]) % 2**32 / 1e3
        if not spent.any():  # the device has no clock
            spent = np.full(spent.size, 1e6 * seconds / max(spent.size, 1))
        for level, pulled, sent, us in zip(levels, notes[:, 1], put, spent, strict=False):
            level.direction = "pull" if pulled else "push"
            level.sent_bytes = (self._ranks - 1) * int(sent)
            level.microseconds = float(us)
        return levels
