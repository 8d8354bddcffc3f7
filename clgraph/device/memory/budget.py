"""What a process may hold of a device's memory, and what it holds."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections import deque
from pathlib import Path

from clgraph.errors import InvalidArgumentError

__all__ = ["Booking", "Ledger", "host_available_bytes"]

# What the driver, the kernels and the display need; a share of small devices, a fixed amount of
# large.
RESERVE_SHARE, RESERVE_LIMIT_BYTES = 1 / 32, 512 << 20


class Booking:
    """Bytes of a device that somebody holds; they are free again when this is gone."""

    __slots__ = ("__weakref__",)


class Ledger:
    """The bytes that this process holds on one device.

    Parameters
    ----------
    global_bytes : int
        Memory of the device.
    shared_with_host : bool
        Whether the device takes its memory from the host's.
    """

    def __init__(self, global_bytes: int, *, shared_with_host: bool) -> None:
        self.global_bytes = global_bytes
        self._shared_with_host = shared_with_host
        self._lock = threading.RLock()  # reentrant: a collection may end up here again
        # Bookings end by a callback that is not Python: in one that is, Ctrl-C would get lost. They
        # are the truth; their sum is kept, and made anew where an exception came in between.
        self._booked: dict[weakref.ref[Booking], int] = {}
        self._ended: deque[weakref.ref[Booking]] = deque()
        self._sum: int | None = 0

    @property
    def used_bytes(self) -> int:
        """Bytes that are taken."""
        with self._lock:
            while self._ended:
                ended = self._ended[0]
                self._change(ended, -self._booked.get(ended, 0))
                self._ended.popleft()
            if self._sum is None:
                self._sum = sum(self._booked.values())
            return self._sum

    def _change(self, booking: weakref.ref[Booking], size_bytes: int) -> None:
        known, self._sum = self._sum, None
        if size_bytes > 0:
            self._booked[booking] = size_bytes
        else:
            self._booked.pop(booking, None)
        self._sum = None if known is None else known + size_bytes

    @property
    def free_bytes(self) -> int:
        """Bytes that may still be taken."""
        reserve = min(int(self.global_bytes * RESERVE_SHARE), RESERVE_LIMIT_BYTES)
        free = self.global_bytes - reserve - self.used_bytes
        limit = _limit_bytes()
        if limit is not None:
            free = min(free, limit - self.used_bytes)
        if self._shared_with_host:
            available = host_available_bytes()
            if available is not None:
                free = min(free, available - reserve)
        return max(free, 0)

    def take(self, size_bytes: int) -> Booking | None:
        """Book bytes for as long as what this gives is alive; None if they are not free."""
        with self._lock:
            if size_bytes > self.free_bytes:
                return None
            booking = Booking()
            self._change(weakref.ref(booking, self._ended.append), size_bytes)
            return booking


def _limit_bytes() -> int | None:
    text = os.environ.get("CLGRAPH_MEMORY_LIMIT")
    if not text:
        return None
    if not text.isascii() or not text.isdigit():
        raise InvalidArgumentError(
            f"CLGRAPH_MEMORY_LIMIT is {text!r}; it must be a number of bytes, digits only."
        )
    return int(text)


def host_available_bytes() -> int | None:
    """Bytes of the host's memory that programs may still take; None where nothing says so."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) << 10 if found else None
