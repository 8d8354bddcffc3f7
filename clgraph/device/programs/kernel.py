"""Kernels: what they take, and launching them with little overhead."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from clgraph.device.forks import check_process
from clgraph.device.hardware.nvidia import largest_group
from clgraph.device.lazy import cl
from clgraph.device.memory.allocation import Allocation, address_of
from clgraph.device.native import KernelHandle, NativeError
from clgraph.errors import ClgraphError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clgraph.device.discovery import Device
    from clgraph.device.hardware.nvidia import KernelUse
    from clgraph.device.programs.checks import Checks

    Argument: TypeAlias = Allocation | np.generic | cl.Buffer | cl.LocalMemory

__all__ = ["Kernel", "Sourced", "launch_by"]

UNSET = object()  # an argument that the driver has not been given for certain
# What launches go to while a profile is taken, see `clgraph.device.observing`.
_instead: Callable[[Kernel, int, int, tuple[Argument, ...]], cl.Event] | None = None


def launch_by(instead: Callable[[Kernel, int, int, tuple[Argument, ...]], cl.Event] | None) -> None:
    """Have every launch of this process done by somebody else, or by kernels themselves again."""
    global _instead  # noqa: PLW0603 - the process has one
    _instead = instead


class Sourced(Protocol):
    """What a kernel knows of the program that it is an entry point of."""

    label: str
    source: str
    source_hash: str


class Kernel:
    """An entry point of a program, with arguments of its own; made by `Program.kernel`.

    Attributes
    ----------
    name : str
        Name of the function.
    device : Device
        What it was built for.
    use : KernelUse or None
        What the compiler says that it takes, where it says so.
    registers, spill_bytes : int or None
        Registers of a work-item, and bytes it spills, from the same.
    local_bytes : int
        Local memory that the kernel itself declares, per work-group.
    max_group_size : int
        Largest work-group that it can be launched with, by what the driver or the registers say.
    checks : Checks or None
        Bounds of its arrays, where its program is a checked one: each launch is then waited for.
    program : Sourced or None
        What it is an entry point of.
    """

    def __init__(self, device: Device, program: int, name: str, use: KernelUse | None) -> None:
        handle = KernelHandle(program, name, device.queue.int_ptr)
        self.name = name
        self.device = device
        self.checks: Checks | None = None
        self.program: Sourced | None = None
        self.use = use
        self.registers = use.registers if use else None
        self.spill_bytes = use.spill_bytes if use else None
        self.local_bytes = max(handle.local_bytes(device.cl), use.local_bytes if use else 0)
        self.max_group_size = self._largest_group(handle)
        self._handle = handle
        self._arguments = handle.argument_count()
        # Tokens of allocations, which it does not keep from being given back, and scalars.
        self._last: list[object] = [UNSET] * self._arguments
        self._stamp: object = None  # of the arguments that it has
        self._dynamic_bytes: dict[int, int] = {}
        self._lock = threading.Lock()

    def launch(
        self,
        global_size: int,
        group_size: int,
        *args: Argument,
        observed: bool = True,
    ) -> cl.Event:
        """Enqueue the kernel on the device's queue.

        Parameters
        ----------
        global_size : int
            Work-items in all, a multiple of `group_size`.
        group_size : int
            Work-items per work-group.
        *args : Allocation, numpy scalar, pyopencl.Buffer or pyopencl.LocalMemory
            One for each parameter of the kernel; scalars of exactly its width.
        observed : bool
            Whether it is left to who is watching, if somebody is.

        Returns
        -------
        pyopencl.Event
            Give it to `wait`.

        Raises
        ------
        InvalidArgumentError
            If the sizes, the number of arguments, a kind of argument or the local memory does not
            fit.
        ClgraphError
            If the driver refuses the launch.
        OutOfBoundsError
            If the program is a checked one and left an array.

        Notes
        -----
        Some 3 us on a CPU runtime and 14 us or more on an H200. An argument that is the
        same object, or an equal integer, as in the launch before is not handed over again.
        """
        event: cl.Event
        event = self.launch_bound(global_size, group_size, args, (), None, observed=observed)
        return event

    def launch_bound(
        self,
        global_size: int,
        group_size: int,
        args: Sequence[Argument],
        places: Iterable[int],
        stamp: object,
        *,
        observed: bool = True,
        seen: bool = True,
    ) -> Any:
        """Enqueue the kernel with arguments most of which are those of the launch before.

        Parameters, Returns, Raises
            As of `launch`, whose arguments by position are `args`, and beside these:
        places : iterable of int
            Places of arguments that may be others than in the launch before with the same `stamp`.
            Only these are looked at; to look at some thirty takes as long as half of the rest.
        stamp : object
            Stands for all other arguments: who has it holds these arrays, and makes another one if
            it lets go of any. None is never the same.
        seen : bool
            Whether to give an event. Without, the call takes half the time, and gives None.
        """
        instead = _instead
        if observed and instead is not None:
            return instead(self, global_size, group_size, tuple(args))
        if group_size < 1 or global_size < 1 or global_size % group_size:
            raise InvalidArgumentError(
                f"{self.name} cannot be launched with {global_size} work-items in groups of "
                f"{group_size}; the first must be a multiple of the second, and both positive."
            )
        check_process()
        checks = self.checks
        if checks is not None:
            checks.prepare(args)
            args = (*args, checks.table)
        if len(args) != self._arguments:
            raise InvalidArgumentError(
                f"{self.name} takes {self._arguments} arguments; {len(args)} were given."
            )
        event = None
        with self._lock:
            if stamp is None or stamp is not self._stamp:
                places = self._unlike(args)
            self._stamp = None  # an exception may come before the driver has all of them
            try:
                self._set_arguments(args, places)
                if seen or checks is not None:
                    event = self._handle.enqueue(global_size, group_size)
                else:
                    self._handle.enqueue_unseen(global_size, group_size)
            except NativeError as error:
                raise ClgraphError(
                    f"{self.name} could not be launched on {self.device.name} with {global_size} "
                    f"work-items in groups of {group_size}: {error}"
                ) from error
            self._stamp = stamp
        if checks is not None and event is not None:
            checks.examine(event)
        return event

    def hand_over(self, args: Sequence[Argument], places: Iterable[int], stamp: object) -> None:
        """Hand arguments over ahead of the launch that has them, which then finds none to set.

        Parameters, Raises
            As of `launch_bound`, by which the launch is to come. While launches are watched or
            checked it does nothing: the launch hands over then.
        """
        if _instead is None and self.checks is None:
            check_process()
            with self._lock:
                if stamp is None or stamp is not self._stamp:
                    places = self._unlike(args)
                self._stamp = None
                try:
                    self._set_arguments(args, places)
                except NativeError as error:
                    raise ClgraphError(
                        f"{self.name} could not be prepared on {self.device.name}: {error}"
                    ) from error
                self._stamp = stamp

    def again(self) -> None:
        """Enqueue the kernel as it was launched last, with the same arguments and no event.

        That takes half the time. Nobody who watches launches hears of it.

        Raises
        ------
        ClgraphError
            If the driver refuses.
        """
        with self._lock:
            try:
                self._handle.enqueue_unseen()
            except NativeError as error:
                raise self._not_again(error) from error

    def again_with(
        self, stamp: object, word: int, changing: Iterable[tuple[int, Allocation]]
    ) -> bool:
        """Enqueue the kernel as it was launched last, but for some arguments, without an event.

        That takes half the time.

        Parameters
        ----------
        stamp : object
            With which it was launched, see `launch_bound`.
        word : int
            The first argument, of 32 bits.
        changing : iterable of int and Allocation
            Places of arguments that may be others than before, and these.

        Returns
        -------
        bool
            False, and nothing was enqueued, if it was not launched with that stamp last, or if
            launches are watched or checked.

        Raises
        ------
        ClgraphError
            If the driver refuses.
        """
        if _instead is not None or self.checks is not None:
            return False
        check_process()
        with self._lock:
            if stamp is not self._stamp:
                return False
            self._stamp = None  # until the driver has all of them
            last = self._last
            last[0] = UNSET
            try:
                for index, arg in changing:
                    if arg.token is not last[index]:
                        last[index] = UNSET
                        self._handle.set_bytes(index, arg.address or address_of(arg.buffer))
                        last[index] = arg.token
                self._handle.set_first(word)
                self._handle.enqueue_unseen()
            except NativeError as error:
                raise self._not_again(error) from error
            self._stamp = stamp
        return True

    def _not_again(self, error: NativeError) -> ClgraphError:
        return ClgraphError(
            f"{self.name} could not be launched again on {self.device.name}: {error}"
        )

    def _largest_group(self, handle: KernelHandle) -> int:
        traits = self.device.traits
        if traits.compute_capability is None:
            return handle.max_group_size(self.device.cl)
        # NVIDIA's driver answers 256 whatever the kernel, and launches 1024.
        if self.registers is None:
            return traits.max_group_size
        return largest_group(traits.compute_capability, self.registers, traits.max_group_size)

    def _unlike(self, args: Sequence[Argument]) -> list[int]:
        """Give the places of arguments that a look does not show to be those of the launch before.

        One line, since this is what a launch spends most on.
        """
        pairs = enumerate(zip(args, self._last, strict=True))
        return [i for i, (a, b) in pairs if (a.token if type(a) is Allocation else a) is not b]

    def _set_arguments(self, args: Sequence[Argument], places: Iterable[int]) -> None:
        """Hand over the arguments in these places, but those of the launch before."""
        last = self._last
        for index in places:
            arg, before = args[index], last[index]
            if arg is before:  # scalars are found so by a look
                continue
            if isinstance(arg, Allocation):
                if arg.token is not before:
                    last[index] = UNSET  # an exception may come before the driver has it
                    self._handle.set_bytes(index, arg.address or address_of(arg.buffer))
                    last[index] = arg.token
            elif isinstance(arg, np.generic):
                # Equal integers of one type are the same bytes; zeros of two signs are not.
                if type(arg) is type(before) and isinstance(arg, np.integer) and arg == before:
                    continue
                last[index] = UNSET
                self._handle.set_bytes(index, arg.tobytes())
                last[index] = arg
            else:
                self._set_other(index, arg)

    def _set_other(self, index: int, arg: object) -> None:
        self._last[index] = UNSET
        if isinstance(arg, cl.LocalMemory):
            self._dynamic_bytes[index] = arg.size
            wanted = self.local_bytes + sum(self._dynamic_bytes.values())
            # PoCL accepts more than it has, and its debug builds abort the process.
            if wanted > self.device.traits.local_bytes:
                raise InvalidArgumentError(
                    f"{self.name} would take {wanted} bytes of local memory; {self.device.name} "
                    f"has {self.device.traits.local_bytes} per work-group."
                )
            self._handle.set_local(index, arg.size)
        elif isinstance(arg, cl.Buffer):
            self._handle.set_bytes(index, address_of(arg))
        else:
            raise InvalidArgumentError(
                f"argument {index} of {self.name} is {arg!r}; it must be an Allocation, a numpy "
                "scalar, a pyopencl.Buffer or a pyopencl.LocalMemory."
            )
