"""Who has the graphics card: several tests at a time, or one that reads its clock by itself."""

import contextlib
import fcntl
from collections.abc import Generator
from pathlib import Path


@contextlib.contextmanager
def held(folder: Path, *, alone: bool) -> Generator[None]:
    """Hold the card together with others, or alone; who waits to be alone lets nobody past.

    Locks are files', so that they hold between processes and end with them.
    """
    with (folder / "clgraph-door").open("a") as door, (folder / "clgraph-card").open("a") as card:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(card, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield
