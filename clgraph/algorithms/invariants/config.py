"""How mining is spread over a device: a choice that changes speed and never results."""

from __future__ import annotations

from dataclasses import dataclass

from clgraph.engine.strategies.parameters import LARGEST, check_number
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of

__all__ = ["MiningConfig", "PerEntry", "SplitTrace", "Sweep", "Tiled"]

MOST_AHEAD = 16


@dataclass(frozen=True, slots=True)
class PerEntry:
    """A work-group for each tuple, over the whole trace, as published."""


@dataclass(frozen=True, slots=True)
class SplitTrace:
    """Several work-groups for each tuple, each with a segment of the trace.

    Attributes
    ----------
    segments : int, optional
        Of each tuple; default is what fills the device.
    """

    segments: int | None = None

    def __post_init__(self) -> None:
        """Check the number."""
        check_number("segments", self.segments, 1, LARGEST)


@dataclass(frozen=True, slots=True)
class Tiled:
    """A work-group for each slice of the trace, all tuples on it: a row is read from memory once.

    Attributes
    ----------
    vectors : int, optional
        Length of a slice in vectors (4 numbers or words on a GPU, 16 on a CPU); default is one for
        each work-item on a GPU, and what keeps the slice of all rows in cache on a CPU.
    groups_per_unit : int, optional
        Work-groups a compute unit works on at a time; default 8.
    """

    vectors: int | None = None
    groups_per_unit: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_number("vectors", self.vectors, 1, LARGEST)
        check_number("groups_per_unit", self.groups_per_unit, 1, LARGEST)


Sweep = PerEntry | SplitTrace | Tiled
NAMES: dict[str, Sweep | None] = {
    "auto": None,
    "per-entry": PerEntry(),
    "split-trace": SplitTrace(),
    "tiled": Tiled(),
}


@dataclass(frozen=True, slots=True)
class MiningConfig:
    """Configuration of mining.

    Attributes
    ----------
    sweep : PerEntry, SplitTrace, Tiled or None
        How the device is shared out; None chooses, see Notes.
    probe : int
        Instants of the first, short look that rids the dictionary of most tuples.
    chunk_bytes : int
        Bytes of a part of the trace that is copied while another is mined.
    ahead : int
        Parts on their way to the device while another is mined; with 0 nothing overlaps.
    ranges_on_host : bool
        Whether rows of which only the smallest and largest number are needed are read by threads of
        the host, instead of copied. Pinned rows are copied, as is what turns out to need more.

    Notes
    -----
    The choice is made for every part of the trace from the tuples that are still alive: split-trace
    for the first look, on GPUs, and where tuples are so few that tiles would reread less than two
    rows each; tiles on CPUs where more tuples share the rows.
    """

    sweep: Sweep | None = None
    probe: int = 4096
    chunk_bytes: int = 256 << 20
    ahead: int = 2
    ranges_on_host: bool = True

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_number("probe", self.probe, 1, LARGEST)
        check_number("chunk_bytes", self.chunk_bytes, 1, LARGEST)
        if not isinstance(self.ahead, int) or not 0 <= self.ahead <= MOST_AHEAD:
            raise InvalidArgumentError(
                f"ahead={self.ahead!r} must be a whole number, 0 to {MOST_AHEAD}."
            )
        if not isinstance(self.ranges_on_host, bool):
            raise InvalidArgumentError(
                f"ranges_on_host={self.ranges_on_host!r} must be True or False."
            )

    @classmethod
    def of(cls, given: MiningConfig | str | None) -> MiningConfig:
        """Give the configuration of a name, or the default."""
        if isinstance(given, cls):
            return given
        if given is None:
            return cls()
        one_of("config", given, NAMES)
        return cls(sweep=NAMES[str(given)])

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Names of the ways to share out the device."""
        return tuple(NAMES)
