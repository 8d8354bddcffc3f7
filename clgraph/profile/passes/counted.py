"""What a pass found about one kernel, in all of its launches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clgraph.profile.instrument.words import MOST_RECORDS
from clgraph.profile.passes.residency import Residency

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.profile.passes.counters import Totals

__all__ = ["Counted"]

MOST_PARTS = 256  # launches whose counters are kept apart


@dataclass(slots=True)
class Counted:
    """What a pass found about one kernel."""

    times_ns: int = 0
    parts: list[Totals] = field(default_factory=list)
    _ran: Residency = field(default_factory=Residency)
    _records: list[tuple[NDArray[np.uint64], int, int]] = field(default_factory=list)
    _kept: int = 0

    @property
    def residency(self) -> Residency:
        """Where and when SIMD groups ran in all launches so far."""
        for records in self._records:
            self._ran.add(*records)
        self._records.clear()
        self._kept = 0
        return self._ran

    def ran(self, records: NDArray[np.uint64], per_group: int, missing: int) -> None:
        """Keep the records of a launch, to be read after the run, not between launches."""
        self._records.append((records, per_group, missing))
        self._kept += len(records)
        if self._kept > MOST_RECORDS:
            _ = self.residency

    @property
    def totals(self) -> Totals | None:
        """Counters of all launches so far; None where nothing counted."""
        self._join()
        return self.parts[0] if self.parts else None

    def _join(self) -> None:
        if len(self.parts) > 1:
            first, *others = self.parts
            first.add(*others)
            self.parts[:] = [first]

    def add(self, totals: Totals) -> None:
        """Add those of a launch; not one by one, for a search may have thousands."""
        self.parts.append(totals)
        if len(self.parts) > MOST_PARTS:
            self._join()
