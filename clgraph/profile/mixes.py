"""Kernels that do known amounts of every kind of work, for fitting prices: part of the corpus."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory, load, resident_groups, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clgraph.device import Device, Kernel
    from clgraph.device.programs.kernel import Argument

__all__ = ["MIXES", "Mix", "mixes"]

NAME = "mixes"
GROUP, SLOTS, WINDOW = 256, 1024, 1024
CONFLICTS = 32  # words from lane to lane: all of them meet on one bank
STATE_WORDS = 96
SPIN_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True)
class Mix:
    """What every work-item of a kernel does.

    `items`, `span` and `words` are powers of two: work-items, elements that are read, and addresses
    of atomics. With stages there are `per_unit` work-groups for each compute unit, of which `busy`
    work, 0 for all of them. With barriers there is nothing else.
    """

    items: int = 18
    span: int = 20
    words: int = 0
    reads: int = 0
    scattered: bool = True
    links: int = 0
    near: int = 0
    additions: int = 0
    passes: int = 0
    stride: int = 1
    atomics: int = 0
    barriers: int = 0
    active: int = 32
    stages: int = 0
    per_unit: int = 1
    busy: int = 0

    def numbers(self) -> tuple[np.uint32, ...]:
        """Give the arguments behind the arrays."""
        given = (
            *((1 << self.span) - 1, (1 << self.words) - 1, self.reads, int(self.scattered)),
            *(self.links, self.near, self.additions, self.passes, self.stride),
            *(self.atomics, self.active),
        )
        return tuple(np.uint32(number) for number in given)


# Of each kind what all SIMD groups share and what one does in a row; then some together, in stages.
MIXES = (
    Mix(items=8),
    Mix(items=20, additions=1),
    Mix(reads=16),
    Mix(items=20, span=22, reads=8),
    Mix(items=20, span=24, reads=8, scattered=False),
    Mix(span=16, reads=32),
    Mix(links=16),
    Mix(items=14, links=64),
    Mix(items=10, links=128),
    Mix(items=12, span=16, links=64),
    Mix(items=20, near=32),
    Mix(near=64),
    Mix(items=14, near=256),
    Mix(items=9, near=512),
    Mix(additions=512),
    Mix(items=13, additions=2048),
    Mix(items=8, additions=4096),
    Mix(passes=256),
    Mix(passes=64, stride=CONFLICTS),
    Mix(items=14, passes=256, stride=4),
    Mix(items=9, passes=512),
    Mix(words=20, atomics=4),
    Mix(words=10, atomics=2),
    Mix(items=16, words=4, atomics=4),
    Mix(items=16, atomics=1),
    Mix(items=16, atomics=4),
    Mix(items=18, atomics=1, active=1),
    Mix(items=12, atomics=4, active=1),
    Mix(items=10, words=16, atomics=64),
    Mix(barriers=64),
    Mix(items=12, barriers=256),
    Mix(reads=32, active=1),
    Mix(links=16, active=8),
    Mix(additions=512, active=4),
    Mix(reads=4, links=4, additions=32, atomics=1, active=16),
    Mix(reads=8, scattered=False, passes=32),
    Mix(reads=4, links=8, near=16, additions=64),
    Mix(words=16, atomics=2, reads=4, additions=16),
    Mix(items=14, links=16, near=64, passes=32),
    Mix(items=16, reads=8, near=32, atomics=1, active=4),
    Mix(stages=64),
    Mix(stages=32, per_unit=4),
    Mix(stages=32, busy=1, links=8),
    Mix(stages=32, busy=4, links=4, near=16),
    Mix(stages=16, reads=8),
    Mix(stages=16, per_unit=4, reads=4, additions=32),
    Mix(stages=16, links=4, atomics=1, active=1),
    Mix(stages=32, busy=1, passes=64),
    Mix(stages=16, per_unit=2, near=16, words=16, atomics=1),
    Mix(stages=8, per_unit=2, additions=256),
)


class _Bench:
    """A device with arrays that are large enough for every mix."""

    def __init__(self, device: Device, less: int) -> None:
        self.device, self._less = device, less
        self._size = device.traits.group_of(GROUP)
        # Programs of their own: what counts is kept to few registers where work-groups wait.
        self._at_once = self._kernel("mixes_at_once", staged=False)
        self._barriers = self._kernel("mixes_barriers", staged=False)
        self._in_stages: Kernel | None = None
        if device.traits.grid_barrier:
            self._in_stages = self._kernel("mixes_in_stages", staged=True)
        memory, most = Memory(device), 1 << (max(mix.span for mix in MIXES) - less)
        self._from = memory.upload("from", np.arange(most, dtype=np.uint32))
        self._counts = memory.upload("counts", np.zeros(most, np.uint32))
        self._to = memory.allocate("to", 1 << max(mix.items for mix in MIXES), np.uint32)
        self._state = memory.upload("state", np.zeros(STATE_WORDS, np.uint32))

    def _kernel(self, name: str, *, staged: bool) -> Kernel:
        size, file = self._size, "profile/mixes.cl"
        program = load(
            self.device, file, group_size=size, slots=SLOTS, window=WINDOW, staged=staged
        )
        return program.kernel(name)

    def runs(self, mix: Mix) -> bool:
        """Report whether the device has what it needs."""
        return not mix.stages or self._in_stages is not None

    def launch(self, mix: Mix) -> Any:
        """Launch it, and wait for its end."""
        smaller = self._smaller(mix)
        arrays: tuple[Argument, ...] = (self._from, self._counts, self._to)
        arguments = (*arrays, *smaller.numbers())
        items = max(1 << smaller.items, self._size)
        if mix.barriers:
            event = self._barriers.launch(items, self._size, self._to, np.uint32(mix.barriers))
        elif not mix.stages:
            event = self._at_once.launch(items, self._size, *arguments)
        else:
            kernel = self._in_stages
            assert kernel is not None  # noqa: S101 - asked of `runs`
            wanted = mix.per_unit * self.device.traits.compute_units
            groups = min(wanted, resident_groups(self.device, kernel, self._size))
            others = (np.uint32(n) for n in (SPIN_LIMIT, mix.stages, mix.busy or groups))
            event = kernel.launch(groups * self._size, self._size, *arguments, self._state, *others)
        wait(event)
        return event

    def _smaller(self, mix: Mix) -> Mix:
        least = max(mix.items - self._less, 0), max(mix.span - self._less, 0)
        return replace(mix, items=least[0], span=least[1], words=max(mix.words - self._less, 0))


def mixes(
    device: Device, less: int = 0
) -> Iterator[tuple[str, str, Callable[[], Callable[[], object]]]]:
    """Give, as `clgraph.profile.corpus.specimens` does, what runs each of `MIXES`.

    Parameters
    ----------
    device : Device
        Where they run; it may lack what some of them need, which are left out.
    less : int
        Powers of two by which sizes are smaller.
    """
    bench = _Bench(device, less)
    for number, mix in enumerate(MIXES):
        if bench.runs(mix):
            yield f"mix {number}", NAME, functools.partial(functools.partial, bench.launch, mix)
