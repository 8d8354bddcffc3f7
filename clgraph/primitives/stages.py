"""Primitives on arrays that are on a device already: enqueued, and waited for by the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from clgraph.device import load, wait
from clgraph.device.hardware.measured import SWEEP_SHAPES
from clgraph.engine.workspace import Workspace
from clgraph.primitives.launches import TYPES, Run, group_size

if TYPE_CHECKING:
    from clgraph.device import Device, DeviceTraits
    from clgraph.device.lazy import cl
    from clgraph.device.programs.kernel import Argument

__all__ = ["Last", "Log", "Shape", "Stage", "Sweep"]

CPU_ITEMS, EMULATED_ITEMS = 16, 4  # of a work-item in a tile
POLL_LIMIT = 1 << 14  # of a word that another work-group is about to write
STATE_HEAD = 16  # words in front of those of the tiles: a line of their own
WORDS = 2  # of a tile, at most
LAST_STAMP = 2**31 - 1


class Shape(NamedTuple):
    """How a sweep cuts elements into tiles.

    Attributes
    ----------
    size, items : int
        Work-items of a group, and elements of each.
    looks : int
        Tiles that a lane looks back at at once.
    ahead : int
        Tiles that are fetched before; 0 for none.
    """

    size: int
    items: int
    looks: int = 1
    ahead: int = 0


def sweep_shape(traits: DeviceTraits, name: str, size_bytes: int) -> Shape:
    """Give the shape of a sweep on a device, of elements of so many bytes."""
    if traits.is_cpu or traits.emulated:
        return Shape(group_size(traits), EMULATED_ITEMS if traits.emulated else CPU_ITEMS)
    size, items, ahead = SWEEP_SHAPES.on(traits)[name, size_bytes]
    return Shape(traits.group_of(size), items, ahead=ahead)


class Log(Protocol):
    """What notes launches, `clgraph.engine.sweeps.SweepLog` for one."""

    def add(self, first: cl.Event, last: cl.Event, launches: int = 1, name: str = "") -> None:
        """Note launches, the first and the last of which have these events; one may have a name."""


class Last:
    """The last of what was enqueued."""

    def __init__(self) -> None:
        self._event: cl.Event | None = None

    def add(
        self,
        first: cl.Event,  # noqa: ARG002
        last: cl.Event,
        launches: int = 1,  # noqa: ARG002
        name: str = "",  # noqa: ARG002
    ) -> None:
        """Note launches."""
        self._event = last

    def wait(self) -> None:
        """Wait for it."""
        if self._event is not None:
            wait(self._event)


class Stage(Workspace):
    """Kernels and scratch arrays that fit any number of elements up to the largest seen."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.device = device
        self._kernels: dict[Any, Any] = {}

    def launch(
        self,
        log: Log,
        run: Run,
        source: str,
        name: str,
        *args: Any,
        groups: int | None = None,
        **params: Any,
    ) -> None:
        """Enqueue a kernel of a file of ``kernels_cl/primitives``, built at its first use."""
        key = (source, name, run.items, run.index, tuple(params.items()))
        kernel = self._kernels.get(key)
        if kernel is None:
            program = load(
                self.device,
                f"primitives/{source}.cl",
                index=TYPES[np.dtype(run.index)],
                group_size=run.group_size,
                items=run.items,
                **params,
            )
            kernel = self._kernels[key] = program.kernel(name)
        count = run.groups if groups is None else groups
        event = kernel.launch(count * run.group_size, run.group_size, *args)
        log.add(event, event, name=name)


class Sweep(Stage):
    """A stage of one launch, in which the work-group of a tile looks back at those before it."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.poll_limit = POLL_LIMIT
        self._stamp = 0
        self._taken: int | None = None  # tiles by all launches; unknown once one was broken off

    def sweep(
        self,
        log: Log,
        name: str,
        n: int,
        inputs: tuple[Argument, ...],
        outputs: tuple[Argument, ...],
        size_bytes: int,
        **params: Any,
    ) -> None:
        """Enqueue a kernel over n elements, of the file of its name.

        Parameters
        ----------
        log : Log
            Notes the launch.
        name : str
            The kernel.
        n : int
            Elements.
        inputs, outputs : tuple
            Arguments before n, and behind those of the sweep.
        size_bytes : {4, 8}
            Of an element.
        """
        shape = sweep_shape(self.device.traits, name, size_bytes)
        run = Run(self.device, n, shape.items, shape.size)
        tiles = max(-(-n // (run.group_size * run.items)), 1)
        held = self._arrays.get("tile_words")
        state = self.array("tile_words", STATE_HEAD + tiles * WORDS, np.uint64)
        taken, self._taken = self._taken, None
        if taken is None or state is not held or self._stamp == LAST_STAMP:
            event = state.clear()
            log.add(event, event)
            self._stamp = taken = 0
        self._stamp += 1
        about = (state, np.uint32(self._stamp), np.uint32(taken), np.uint32(self.poll_limit))
        args = (*inputs, run.index(n), *about, *outputs)
        params |= {"looks": shape.looks, "ahead": shape.ahead, "state_head": STATE_HEAD}
        self.launch(log, run, name, name, *args, groups=tiles, **params)
        self._taken = (taken + tiles) % 2**32
