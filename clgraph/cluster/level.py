"""What the devices of a divided search did together for one level."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Level"]


@dataclass(frozen=True, slots=True)
class Level:
    """One step of all devices.

    Attributes
    ----------
    found : int
        Vertices that were reached.
    sent_bytes : int
        Bytes that devices sent each other; what a device keeps for itself is not among them.
    direction : {"push", "pull"}
        Whether frontiers were expanded or unvisited vertices looked for a parent.
    over : bool
        Whether devices had nothing left to tell each other.
    """

    found: int
    sent_bytes: int
    direction: str
    over: bool
