"""What the kernels that run stage by stage share: configuration, compilation and their log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from clgraph.device.hardware.measured import LAUNCH_EDGES, ROUND_EDGES, SCAN_BUDGET
from clgraph.engine.choose import resolve
from clgraph.engine.driver import Driver
from clgraph.engine.resolved import Mechanics
from clgraph.engine.state import SLOT_WORDS, STATE_WORDS, stage_fields
from clgraph.engine.strategies.config import TraversalConfig
from clgraph.engine.strategies.frontier import VertexQueue
from clgraph.engine.strategies.limits import Limits
from clgraph.engine.strategies.schedule import Schedule
from clgraph.engine.sweeps import COMPONENT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph.algorithms.scc.config import SCCConfig
    from clgraph.device import Device, DeviceTraits, Memory
    from clgraph.engine.outcome import Outcome
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.sweeps import SweepLog
    from clgraph.engine.table import Table

__all__ = ["Record", "Recorded", "compile_stages", "limit_scans", "resolve_stages"]

HISTORY_CAPACITY = 1 << 14  # stages whose size and time are kept; 16 bytes each
LEAST_SIZE = 1 << 16  # of a graph, as the budget counts it
# Of a launch on a CPU, as the budget counts it. Two cores that others wanted too did 18 to 40
# million in a second; the 200 million of a search left Ctrl-C unanswered for 2 to 9 s.
CPU_LAUNCH_WORK = 5_000_000


class Scheduled(Protocol):
    """A configuration that says how stages are launched."""

    @property
    def schedule(self) -> Schedule | None:
        """How, as far as it was asked for."""


def resolve_stages(
    config: Scheduled,
    traits: DeviceTraits,
    m: int,
    *,
    entry: str,
    visited: str | None = None,
    alone: bool = False,
) -> Resolved:
    """Complete a configuration for the stage machine, with room for rounds of one group if `alone`.

    Raises
    ------
    InvalidArgumentError
        If the device cannot run it.
    """
    asked = config.schedule or Schedule()
    wanted = TraversalConfig(
        frontier=VertexQueue(visited=visited),
        schedule=type(asked)(**asked.given() | {"single_group": False}),
        limits=Limits() if alone else Limits(single_group_capacity=traits.lanes),
    )
    work = LAUNCH_EDGES.on(traits)
    mechanics = Mechanics(
        entry=entry, launch_work=min(work, CPU_LAUNCH_WORK) if traits.is_cpu else work
    )
    return resolve(wanted, traits, m=m, predecessors=False, max_degree=0, mechanics=mechanics)


def limit_scans(table: Table, config: SCCConfig, traits: DeviceTraits, n: int, m: int) -> None:
    """Declare how much scans may cost before the sequential search takes over."""
    budget = config.scan_budget or SCAN_BUDGET.on(traits)
    limit = np.uint64(min(budget * (n + m + LEAST_SIZE), 2**63))
    table.number("ulong", "work_limit", limit, "edges and vertices after which the rest is left")


def compile_stages(
    device: Device,
    name: str,
    stages: Sequence[str],
    resolved: Resolved,
    table: Table,
    *,
    first: str,
    payload: dict[str, int],
    **params: Any,
) -> Driver:
    """Build a kernel file for stages of a payload, that of stage `first` first."""
    return Driver(
        device,
        name,
        name.removesuffix(".cl").replace("/", "_"),
        table=table,
        config=resolved,
        # Whatever begins a run must be in its first launch.
        stages=sorted(stages, key=lambda stage: stage != first),
        render=lambda names: {
            "config": resolved,
            "stages": tuple(stages),
            "rendered": tuple(stages) if resolved.kernels == "fused" else names,
            "state_words": STATE_WORDS,
            "stage_fields": stage_fields(payload),
            "slot_words": SLOT_WORDS,
            **params,
        },
    )


class Recorded:
    """A kernel of strong components that runs stage by stage, and notes each on the device.

    Parameters
    ----------
    device : Device
        Where.
    memory : Memory
        What to allocate from.
    name : str
        The kernel's file.
    table : Table
        Of its arguments, which the record ends.
    resolved : Resolved
        The configuration.
    stages, phases : sequence of str
        Names by stage mode, from 1 on, and by phase, from 0 on.
    first : str
        The stage that a run begins with.
    payload : dict
        Of the stage word.
    **params
        What else it is rendered with.
    """

    def __init__(  # noqa: PLR0913 - most by keyword
        self,
        device: Device,
        memory: Memory,
        name: str,
        table: Table,
        resolved: Resolved,
        *,
        stages: Sequence[str],
        phases: Sequence[str],
        first: str,
        payload: dict[str, int],
        **params: Any,
    ) -> None:
        note = "[1 + capacity] out: items, found, stage, clock"
        table.array("uint4", "history", 1 + HISTORY_CAPACITY, note)
        table.number("uint", "capacity", HISTORY_CAPACITY)
        self._stages = compile_stages(
            *(device, name, stages, resolved, table),
            first=first,
            payload=payload,
            COMPONENT_KNOWN=COMPONENT_KNOWN,
            round_work=ROUND_EDGES.on(device.traits),
            **params,
        )
        table.allocate(memory)
        self.resolved = resolved
        self.source_hash = self._stages.program.source_hash
        self._names = (tuple(phases), ("END", *stages))

    def _ran(self, log: SweepLog, given: Mapping[str, Any], **how: Any) -> Outcome:
        """Run all stages, as `Driver.run` does, and note their launches."""
        outcome = self._stages.run(given, **how)
        log.add(*outcome.events, outcome.launches)
        return outcome

    def record(self, outcome: Outcome) -> Record:
        """Copy what the last run noted to the host."""
        kept = min(outcome.reached, HISTORY_CAPACITY)
        noted = self._stages.table["history"].read(4 * (1 + kept)).reshape(-1, 4)
        return Record(*self._names, noted, outcome.reached - kept)


class Record(NamedTuple):
    """What a run noted of its stages, on the host.

    Attributes
    ----------
    phases, stages : tuple of str
        Names, by number.
    noted : uint32 [1 + stages, 4]
        Items, found, stage, clock; the first row is the beginning.
    lost : int
        Stages that there was no room for.
    """

    phases: tuple[str, ...]
    stages: tuple[str, ...]
    noted: NDArray[np.uint32]
    lost: int

    def steps(self) -> list[dict[str, Any]]:
        """Stages in order; equal neighbours become one step of several rounds.

        Returns
        -------
        list of dict
            ``phase``, ``step``, ``rounds``, ``items`` (of the first round), ``found`` (in all
            rounds) and ``milliseconds`` (NaN where the device has no clock). Rounds beyond those
            that are kept follow as one step, "not recorded".
        """
        rows, clock = self.noted[1:], self.noted[:, 3]
        took = np.full(len(rows), np.nan)
        if clock[1:].any():
            took = np.diff(clock) / 1e6  # modulo 2**32 ns, as the clock is
        steps: list[dict[str, Any]] = []
        for (items, found, mode, _), milliseconds in zip(rows.tolist(), took.tolist(), strict=True):
            phase, name = self.phases[mode >> 8], self.stages[mode & 7].lower()
            if steps and (steps[-1]["phase"], steps[-1]["step"]) == (phase, name):
                steps[-1]["rounds"] += 1
                steps[-1]["found"] += found
                steps[-1]["milliseconds"] += milliseconds
            else:
                steps.append(
                    {
                        "phase": phase,
                        "step": name,
                        "rounds": 1,
                        "items": items,
                        "found": found,
                        "milliseconds": milliseconds,
                    }
                )
        if self.lost > 0:
            more = {"step": "not recorded", "rounds": self.lost}
            steps.append({"phase": steps[-1]["phase"]} | more)
        return steps
