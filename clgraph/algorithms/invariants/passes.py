"""All passes over the rows of one kind, and those of another kind meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.algorithms.invariants.dictionary import batches, size
from clgraph.algorithms.invariants.expressions import BOOLEAN
from clgraph.algorithms.invariants.phases import mine_booleans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.chunks import Chunks
    from clgraph.algorithms.invariants.phases import Phase
    from clgraph.algorithms.invariants.result import MiningStats
    from clgraph.algorithms.invariants.sweep import Scratch
    from clgraph.algorithms.invariants.templates import Template

__all__ = ["Passes"]


class Passes:
    """A pass over the rows of one kind for each family of templates.

    Parameters
    ----------
    chunks : Chunks
        The rows.
    scratch : Scratch
        Device memory of the phases.
    phases : list of Phase
        Fewer variables first.
    inference : bool
        Whether Boolean tuples whose answer follows from facts are not mined.

    Attributes
    ----------
    found : dict
        Template to the tuples that satisfy it, once mined.
    """

    def __init__(
        self, chunks: Chunks, scratch: Scratch, phases: list[Phase], *, inference: bool
    ) -> None:
        self.found: dict[Template, NDArray[np.uint32]] = {}
        self._chunks = chunks
        self._scratch = scratch
        self._phases = phases
        self._inference = inference
        self._mined = False

    def mine_meanwhile(self, other: Passes) -> None:
        """Have others mined while these have copies under way.

        Either copies by a queue of its own, so none waits for copies of the other. Room is made for
        the others at once: making it later would wait for copies.
        """
        other._chunks.make_room()
        self._chunks.meanwhile = other.mine

    def mine(self) -> None:
        """Mine every family, unless that has been done."""
        if self._mined:
            return
        self._mined = True
        chunks, phases = self._chunks, self._phases
        if chunks.kind == BOOLEAN and self._inference:
            mine_booleans(phases, chunks.variables, self.found)
            return
        for phase in phases:
            self.found.update(phase.mine(batches(chunks.variables, phase.family)))

    def add_to(self, stats: MiningStats) -> None:
        """Note what was done."""
        for phase in self._phases:
            stats.add(phase, size(self._chunks.variables, phase.family))
        stats.copied_bytes += self._chunks.copied_bytes
        stats.read_bytes += self._chunks.read_bytes
        stats.kept = stats.kept and self._chunks.kept

    def close(self) -> None:
        """Free the device memory."""
        self._chunks.close()
        self._scratch.close()
