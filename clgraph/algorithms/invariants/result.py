"""What mining found: templates filled with variables, in several forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.expressions import BOOLEAN, NUMERIC
from clgraph.algorithms.invariants.smt import smt_script
from clgraph.algorithms.invariants.templates import FORMAL_NAMES
from clgraph.engine.launch_stats import Shown
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.config import MiningConfig
    from clgraph.algorithms.invariants.phases import Phase
    from clgraph.algorithms.invariants.templates import Template
    from clgraph.algorithms.invariants.trace import Trace

__all__ = ["Invariant", "MiningResult", "MiningStats"]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A template filled with variables; ``str()`` writes it.

    Attributes
    ----------
    template : str
        With the formal variables v1, v2, v3.
    variables : tuple of str
        That take their places.
    text : str
        With these put in.
    """

    template: str
    variables: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        """Write it with its variables."""
        return self.text


class MiningStats(Shown):
    """Times and counts of one run.

    Attributes
    ----------
    total_ms : float
        Host wall clock of ``run``, with all copies.
    phases : list of dict
        In order: ``kind``, ``arity``, ``templates``, ``dictionary`` (tuples that there are),
        ``mined`` (that were looked at; the others were inferred), ``survivors``, ``instants`` (that
        were looked at before nothing was left), ``launches``, ``kernel_ms`` and ``asked_bytes``
        (what all tuples together had looked at, each row counted for each).
    copied_bytes : int
        Of rows, to the device.
    read_bytes : int
        Of rows, by the host for their ranges alone, instead of copying them.
    kept : bool
        Whether the device held the whole trace, so that it was copied once.
    variables, instants : int
        Of the traces, all together.
    trace_bytes : int
        Of their rows on the device.
    energy : object or None
        Filled in by whoever measured the run.
    """

    def __init__(self, traces: Sequence[Trace], config: MiningConfig) -> None:
        self.total_ms = 0.0
        self.phases: list[dict[str, Any]] = []
        self.copied_bytes = self.read_bytes = 0
        self.kept = True
        self.instants = sum(trace.length for trace in traces)
        self.variables = len(traces[0].names)
        self.trace_bytes = 4 * sum(
            trace.elements(kind) * trace.count(kind)
            for trace in traces
            for kind in (NUMERIC, BOOLEAN)
        )
        self.energy: Any = None
        self._config = config

    def add(self, phase: Phase, dictionary: int) -> None:
        """Note what a phase did."""
        self.phases.append(
            {
                "kind": phase.family.kind,
                "arity": phase.family.arity,
                "templates": [str(template) for template in phase.family.templates],
                "dictionary": dictionary,
                "mined": phase.mined,
                "survivors": phase.survivors,
                "instants": phase.instants,
                "launches": phase.work.launches,
                "kernel_ms": phase.work.kernel_ms,
                "asked_bytes": phase.work.asked_bytes,
            }
        )

    @property
    def launches(self) -> int:
        """Kernel launches."""
        return sum(phase["launches"] for phase in self.phases)

    @property
    def kernel_ms(self) -> float:
        """Device time of all launches, without copies, milliseconds."""
        return math.fsum(phase["kernel_ms"] for phase in self.phases)

    @property
    def effective_gb_s(self) -> float:
        """Bytes of rows that all tuples looked at, over the time of the kernels."""
        asked = sum(phase["asked_bytes"] for phase in self.phases)
        return asked / (self.kernel_ms * 1e6) if self.kernel_ms > 0 else 0.0

    @property
    def config(self) -> str:
        """The configuration that ran."""
        return repr(self._config)


class MiningResult:
    """The invariants of a trace, ordered by template and then by variables.

    Attributes
    ----------
    stats : MiningStats
        Times and counts.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        found: dict[Template, NDArray[np.uint32]],
        trace: Trace,
        stats: MiningStats,
    ) -> None:
        self._found = {}
        for template in templates:
            rows = found.get(template, np.empty((0, template.arity), np.uint32))
            self._found[template] = rows[np.lexsort(rows.T[::-1])]
        self._names = {NUMERIC: trace.numeric.names, BOOLEAN: trace.boolean.names}
        self.stats = stats

    def __repr__(self) -> str:
        """Report how many invariants there are."""
        return f"{type(self).__name__}(invariants={len(self)})"

    def __len__(self) -> int:
        """How many invariants there are."""
        return sum(len(rows) for rows in self._found.values())

    def tuples(self, template: Template) -> NDArray[np.uint32]:
        """Variables that satisfy a template, uint32 [count, arity], by place among their kind."""
        return self._found[template]

    def written(self, template: Template, row: Sequence[int]) -> str:
        """Write a template with variables put in."""
        return template.node.text([self._names[template.kind][place] for place in row])

    @cached_property
    def invariants(self) -> list[Invariant]:
        """All of them."""
        found = []
        for template, rows in self._found.items():
            names, formal = self._names[template.kind], str(template)
            for row in rows.tolist():
                variables = tuple(names[place] for place in row)
                found.append(Invariant(formal, variables, template.node.text(variables)))
        return found

    @property
    def counts(self) -> dict[str, int]:
        """Invariants of each template; one for both kinds of variables counts both."""
        table: dict[str, int] = {}
        for template, rows in self._found.items():
            table[str(template)] = table.get(str(template), 0) + len(rows)
        return table

    def text(self) -> str:
        """All of them, one a line."""
        return "\n".join(invariant.text for invariant in self.invariants)

    def to_frame(self) -> Any:
        """Give a pandas frame with the columns template, v1, v2, v3, and None where there is none.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = module("pandas", needed_for="to_frame()")
        rows = [
            (i.template, *i.variables, *(None,) * (3 - len(i.variables))) for i in self.invariants
        ]
        return pandas.DataFrame(rows, columns=["template", *FORMAL_NAMES])

    def to_smt(self) -> str:
        """Give an SMT-LIB script that declares the variables and asserts each invariant.

        Notes
        -----
        Numbers are declared as Real, so solvers reason about them without rounding.
        """
        pairs = [
            (template.node, [self._names[template.kind][place] for place in row])
            for template, rows in self._found.items()
            for row in rows.tolist()
        ]
        return smt_script(pairs)
