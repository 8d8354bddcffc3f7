"""The kernels of a plan's stages, and the arguments that all of them take behind the plan's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, resident_groups
from clgraph.engine.resolved import MAX_GROUPS
from clgraph.engine.state import initial_state
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph.device import Device, Kernel
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.resolved import Resolved
    from clgraph.engine.table import Table

__all__ = ["Launcher"]

FLAG_STEPPED, FLAG_OPEN, FLAG_SINGLE_GROUP, FLAG_ALONE = 1, 2, 4, 8


class Launcher:
    """The kernels of a plan's stages, all in one or one each where that is too much, and launches.

    Parameters
    ----------
    device : Device
        Where it runs.
    file : str
        Of the kernel, below ``kernels_cl/``.
    entry : str
        Its entry point, whose arguments are those of `table`, then state, launch, flags, patience,
        spin_limit, budget.
    table : Table
        What it takes.
    config : Resolved
        Whether stages share a kernel, group size, number of groups, synchronisation and limits.
    stages : sequence of str
        Their names, whatever begins a run first. Only a kernel of all can run persistently.
    render : callable
        From the stages of a kernel to what it is rendered with.

    Attributes
    ----------
    program : Program
        Of the first kernel.
    places : dict of str to int
        Which kernel has a stage.
    groups : int
        Work-groups that a persistent launch has, or at most has.
    """

    def __init__(
        self,
        device: Device,
        file: str,
        entry: str,
        *,
        table: Table,
        config: Resolved,
        stages: Sequence[str],
        render: Callable[[tuple[str, ...]], dict[str, Any]],
    ) -> None:
        fused = config.kernels == "fused"
        together = [tuple(stages)] if fused else [(stage,) for stage in stages]
        programs = [load(device, file, arguments=table.rows, **render(names)) for names in together]
        kernels = [program.kernel(entry) for program in programs]
        self.program = programs[0]
        self.places = {name: place for place, names in enumerate(together) for name in names}
        self._device = device
        self._kernels = kernels
        self._kernel = kernels[0]
        self._resident = resident_groups(device, kernels[0], config.group_size)
        if not self._resident:
            raise InvalidArgumentError(
                f"group_size={config.group_size} does not fit {device.name}: {kernels[0].name} "
                f"would take {kernels[0].local_bytes} bytes of local memory of "
                f"{device.traits.local_bytes}; choose a smaller one."
            )
        self.groups = min(config.groups or self._resident, MAX_GROUPS)
        self._sizes = self.groups * config.group_size, config.group_size
        single_group = FLAG_SINGLE_GROUP if config.single_group else 0
        is_open = FLAG_OPEN if config.membership == "open" else 0
        self._shared_flags = self._persistent_flags = np.uint32(single_group | is_open)
        self._alone_flags = np.uint32(single_group | is_open | FLAG_ALONE)
        self._stepped_flags = np.uint32(single_group | FLAG_STEPPED)
        self._state = Memory(device).upload("state", initial_state())
        # What follows the table's arguments: the state, number and flags of a launch, and limits;
        # the same objects in every first launch, so that they are handed over once.
        self._first = np.uint32(0)
        self._own: tuple[Argument, ...] = (
            *(self._state, self._first, self._shared_flags),
            *(np.uint32(config.limits.patience or 0), np.uint32(config.limits.spin or 0)),
            np.uint64(config.launch_work),
        )
        self.follow(table)

    def follow(self, table: Table) -> None:
        """Take arguments from a table with the same rows from now on."""
        self.table = table
        self._number = len(table.rows) + 1  # where that of a launch is among the arguments
        table.change((self._number, self._number + 1))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """What is launched."""
        return tuple(self._kernels)

    @property
    def resident(self) -> int:
        """Work-groups of the kernel that the device runs at once."""
        return self._resident

    def _take(self, groups: int) -> None:
        """Launch so many groups from now on, of which a single one knows that it is."""
        self._sizes = groups * self._sizes[1], self._sizes[1]
        self._persistent_flags = self._alone_flags if groups == 1 else self._shared_flags
        self._own = (*self._own[:2], self._persistent_flags, *self._own[3:])

    def _launch(
        self,
        args: list[Argument],
        launch: int,
        flags: np.uint32,
        kernel: Kernel | None = None,
        *,
        seen: bool = True,
    ) -> Any:
        """Launch a kernel with the table's arguments and `_own`, but for its number and flags."""
        number = self._number
        args[number] = np.uint32(launch) if launch else self._first
        args[number + 1] = flags
        table, (items, size) = self.table, self._sizes
        launch_bound = (kernel or self._kernel).launch_bound
        return launch_bound(items, size, args, table.changing, table.stamp, seen=seen)
