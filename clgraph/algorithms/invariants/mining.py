"""Mining likely invariants: templates that hold at every instant of the traces of a system."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.invariants.chunks import Chunks, fit_together
from clgraph.algorithms.invariants.config import MiningConfig
from clgraph.algorithms.invariants.dictionary import size
from clgraph.algorithms.invariants.expressions import KINDS, NUMERIC
from clgraph.algorithms.invariants.passes import Passes
from clgraph.algorithms.invariants.phases import Phase
from clgraph.algorithms.invariants.ranges import RangeFinder
from clgraph.algorithms.invariants.reading import KnownRanges, Reading
from clgraph.algorithms.invariants.result import MiningResult, MiningStats
from clgraph.algorithms.invariants.sweep import Scratch, Sweeper
from clgraph.algorithms.invariants.templates import Template, families_of, templates_of
from clgraph.algorithms.invariants.trace import Trace
from clgraph.device.memory.staging import Staging
from clgraph.device.programs.asked import asking
from clgraph.documented import documented
from clgraph.engine.plan import Plan, Turn
from clgraph.errors import InvalidArgumentError, VerificationError
from clgraph.graph.arguments import flags, whole
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.templates import Family
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress

__all__ = ["InvariantMiner", "mine_invariants"]

MOST_TUPLES = 1 << 33
MOST_TOLERANCE = 1 << 20


@documented(Plan)
class InvariantMiner(Plan):
    """Mining, compiled for templates and a device.

    Parameters
    ----------
    templates : {"I", "II"} or sequence of str
        A published set, or conditions in Python's notation; see `mine_invariants`.
    arity : {1, 2, 3}
        Templates of more variables are left out.
    tolerance : int
        Units in the last place within which numbers are equal.
    inference : bool
        Whether tuples whose answer follows from facts are not mined: constants and equal or
        opposite variables for Booleans, ranges of values for numbers.
    config : MiningConfig or str, optional
        How the device is shared out; default "auto".

    Raises
    ------
    InvalidArgumentError
        If a template is none, or an argument is out of range.

    Notes
    -----
    Builds one program for each family of templates that share their tuples; `run` only copies and
    launches. A plan serves one thread at a time; others wait.

    References
    ----------
    .. [1] N. Bombieri, F. Busato, A. Danese, L. Piccolboni, G. Pravadelli, "Mangrove: an
           inference-based dynamic invariant mining for GPU architectures", IEEE Transactions on
           Computers 69(4), 2020.
    """

    @flags
    @asking
    def __init__(
        self,
        templates: str | Sequence[str | Template] = "I",
        *,
        arity: int = 3,
        tolerance: int = 0,
        inference: bool = True,
        config: MiningConfig | str | None = None,
        device: Device | str | None = None,
    ) -> None:
        super().__init__(None, device)
        self.templates = templates_of(templates, arity)
        tolerance = whole("tolerance", tolerance, 0, MOST_TOLERANCE)
        self.tolerance = tolerance
        self.inference = inference
        self.config = MiningConfig.of(config)
        self.families = families_of(self.templates, tolerance)
        # A simulator crashes where another thread maps memory.
        threads = 0 if self.device.is_simulator else None
        self._staging = self.device.staging or Staging(self.device, threads=threads)
        self._sweepers = [
            Sweeper(self.device, family, tolerance, self.config) for family in self.families
        ]
        self._finder = None
        if inference and any(family.kind == NUMERIC for family in self.families):
            self._finder = RangeFinder(self.device, self._sweepers[0].width)

    @flags
    @asking
    def run(
        self,
        trace: Any,
        *,
        names: Sequence[str] | None = None,
        progress: Progress | None = None,
        verify: bool = False,
    ) -> MiningResult:
        """Mine a trace, or several.

        Parameters
        ----------
        trace : array_like, Trace, DataFrame, dict, path, or list of them
            See `mine_invariants`.
        names : sequence of str, optional
            Of the variables.
        progress : callable or True, optional
            Called with instants looked at, instants in all, and what is mined.
        verify : bool
            Whether to mine again, each tuple by itself and without inference, and compare.

        Returns
        -------
        MiningResult
            What holds at every instant.

        Raises
        ------
        InvalidArgumentError
            If the trace is none, is empty, or several have different variables.
        DeviceMemoryError
            If not even a few instants of it fit the device.
        VerificationError
            If the result was to be checked and differs.
        """
        with Turn() as turn, self._lock:
            traces = _traces(trace, names)
            self._check_sizes(traces[0])
            found: dict[Template, NDArray[np.uint32]] = {}
            stats = MiningStats(traces, self.config)
            self._mine(traces, found, stats, progress)
        stats.total_ms = turn.total_ms
        result = MiningResult(self.templates, found, traces[0], stats)
        if verify:
            self._verify(traces, result)
        return result

    def _mine(
        self,
        traces: list[Trace],
        found: dict[Template, NDArray[np.uint32]],
        stats: MiningStats,
        progress: Progress | None,
    ) -> None:
        """Mine numbers, and Booleans while copies of numbers are under way, if both fit."""
        together = fit_together(self.device, traces)
        with ExitStack() as held:
            passes: list[Passes] = []
            for kind in KINDS:
                families = [f for f in self.families if f.kind == kind]
                chosen = [f for f in families if f.arity <= traces[0].count(kind)]
                if not chosen:
                    continue
                if not together:  # what the first kind held is free again
                    held.close()
                passes.append(held.enter_context(closing(self._passes(chosen, traces, progress))))
                if not together:
                    passes[-1].mine()
            if together and len(passes) == len(KINDS):
                passes[0].mine_meanwhile(passes[1])
            for each in passes:
                each.mine()
        for each in passes:
            found.update(each.found)
            each.add_to(stats)

    def _passes(
        self, families: list[Family], traces: list[Trace], progress: Progress | None
    ) -> Passes:
        kind = families[0].kind
        known = reading = None
        if kind == NUMERIC and self._finder is not None:
            known = KnownRanges(self._finder, traces[0].count(kind), self.tolerance)
            if self.config.ranges_on_host:
                reading = Reading(traces, known, self._staging)
        chunks = Chunks(self.device, traces, kind, self.config, self._staging, reading)
        scratch = Scratch(self.device)
        instants = sum(trace.length for trace in traces)
        phases = []
        for family in families:

            def report(done: int, family: Family = family) -> None:
                what = f"mining {family.kind} templates of {family.arity} variables"
                report_progress(progress, min(done, instants), instants, what)

            sweeper = self._sweepers[self.families.index(family)]
            phases.append(Phase(family, sweeper, chunks, report, scratch, known))
        return Passes(chunks, scratch, phases, inference=self.inference)

    def _check_sizes(self, trace: Trace) -> None:
        for family in self.families:
            count = size(trace.count(family.kind), family)
            if count > MOST_TUPLES:
                raise InvalidArgumentError(
                    f"{trace.count(family.kind)} {family.kind} variables make {count} tuples for "
                    f"template '{family.templates[0]}'; choose fewer variables or a lower arity."
                )

    def _verify(self, traces: list[Trace], result: MiningResult) -> None:
        plan = InvariantMiner(
            self.templates,
            tolerance=self.tolerance,
            inference=False,
            config="per-entry",
            device=self.device,
        )
        other = plan.run(traces)
        for template in self.templates:
            ours, theirs = (
                {tuple(row) for row in r.tuples(template).tolist()} for r in (result, other)
            )
            for row in sorted(ours ^ theirs):
                claimed = "was reported" if row in ours else "was not reported"
                raise VerificationError(
                    f"{result.written(template, row)} {claimed}, but mining the tuple by itself "
                    "says otherwise."
                )


def _traces(given: Any, names: Sequence[str] | None) -> list[Trace]:
    several = isinstance(given, list | tuple) and not _is_matrix(given)
    traces = [Trace.of(item, names) for item in (given if several else [given])]
    if not traces:
        raise InvalidArgumentError("there is no trace in the list; give at least one.")
    first = traces[0]
    for trace in traces[1:]:
        for ours, theirs in ((first.numeric, trace.numeric), (first.boolean, trace.boolean)):
            if ours.names != theirs.names:
                raise InvalidArgumentError(
                    "several traces need the same variables in the same order; got "
                    f"{', '.join(ours.names[:5])} ... and {', '.join(theirs.names[:5])} ..."
                )
    return traces


def _is_matrix(given: Any) -> bool:
    """Whether a list is one trace written as nested lists of numbers."""
    return all(
        isinstance(row, list | tuple) and all(isinstance(x, int | float) for x in row)
        for row in given
    )


@documented(InvariantMiner, InvariantMiner.run)
@flags
def mine_invariants(  # noqa: PLR0913 (each is a choice of its own)
    trace: Any,
    *,
    templates: str | Sequence[str | Template] = "I",
    arity: int = 3,
    tolerance: int = 0,
    inference: bool = True,
    names: Sequence[str] | None = None,
    config: MiningConfig | str | None = None,
    device: Device | str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> MiningResult:
    """Find the conditions between variables that hold at every instant of the traces of a system.

    Parameters
    ----------
    trace : array_like, DataFrame, dict, path, Trace, or list of them
        Numbers or booleans [variables, instants]; a pandas frame whose columns are the variables;
        a dict of one array for each; a CSV, VCD, Parquet, npy or npz file; what
        `invariants.generate_trace` makes. Of several traces with the same variables what holds in
        all of them is found. Numbers are compared as float32.
    templates : {"I", "II"} or sequence of str
        One of the two published sets, or conditions on up to three variables in Python's notation,
        for example ``["a <= b + c", "a == (b and c)"]``: numbers, + - * / **, sqrt, log, exp, abs,
        min, max, comparisons, and, or, not, ^.
    tolerance : int
        Units in the last place within which two numbers are equal for ``==`` and ``!=``; 0 is
        exact. sqrt, log, exp, / and ** are rounded differently by different devices: use 4 for the
        first four and 16 for ** to find equalities with them.
    names : sequence of str, optional
        Of the variables, numeric ones first; default is what the trace calls them, or v0, v1, ...
    config : MiningConfig or str, optional
        "auto", "per-entry", "split-trace" or "tiled".

    Returns
    -------
    MiningResult
        ``invariants``, ``counts``, ``to_frame()``, ``text()``, ``to_smt()``, ``stats``.

    Notes
    -----
    An instant at which an operand is NaN or outside a function's domain falsifies a template; only
    ``!=`` holds there. Work is at most O(tuples x instants x templates), far less where templates
    are falsified early. Deterministic, and the same on every device unless a template computes with
    sqrt, log, exp, / or **. A trace that does not fit the device, or the host (a memory-mapped npy
    file), goes through it in parts, once for each arity.

    References
    ----------
    .. [1] N. Bombieri, F. Busato, A. Danese, L. Piccolboni, G. Pravadelli, "Mangrove: an
           inference-based dynamic invariant mining for GPU architectures", IEEE Transactions on
           Computers 69(4), 2020.

    Examples
    --------
    >>> import clgraph as cg
    >>> trace = {"low": [1, 2, 3], "high": [4, 4, 9]}
    >>> print(cg.mine_invariants(trace).text())
    low != high
    low < high
    low <= high
    """
    plan = InvariantMiner(
        templates,
        arity=arity,
        tolerance=tolerance,
        inference=inference,
        config=config,
        device=device,
    )
    return plan.run(trace, names=names, progress=progress, verify=verify)
