"""How ranks talk: what their programs ask for, who answers, and how programs are run.

A rank's side of an algorithm is a generator. Whenever it needs the others it yields a request and
is resumed with the reply. `run` drives the ranks of a process through their requests in step: with
MPI that is one rank, and the requests are collective calls; without it they are all ranks, whose
commands are enqueued on every device before any is waited for. So both forms are the same code.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clgraph.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device

__all__ = [
    "AllGather",
    "Communicator",
    "Mail",
    "Piece",
    "Program",
    "Shift",
    "Step",
    "Swap",
    "run",
]


@dataclass(frozen=True, slots=True)
class AllGather:
    """Everybody gives everybody a few numbers; the reply is int64 [ranks, k].

    Attributes
    ----------
    row : callable
        Gives the numbers of this rank, int64 [k], once `events` have happened.
    events : sequence of pyopencl.Event
        What is waited for first.
    """

    row: Callable[[], NDArray[np.int64]]
    events: Sequence[cl.Event] = ()

    @classmethod
    def of(cls, *numbers: float) -> AllGather:
        """Give everybody numbers that are known; real ones by their bits, for ``view(float64)``."""
        kind = np.float64 if any(isinstance(number, float) for number in numbers) else np.int64
        row = np.array(numbers, kind).view(np.int64)
        return cls(lambda: row)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a device's array that goes to another rank, or comes from one.

    Attributes
    ----------
    peer : int
        The other rank.
    array : Allocation
        Where it is, or is to be.
    first_byte, size_bytes : int
        Which part of it; not empty.
    """

    peer: int
    array: Allocation
    first_byte: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Mail:
    """Parts of arrays go from device to device; the reply is None.

    They are read after what the sender enqueued before, and are there for what the receiver
    enqueues after. Between two ranks pieces match in their order.

    Attributes
    ----------
    sends, receives : list of Piece
        By this rank.
    """

    sends: list[Piece] = field(default_factory=list)
    receives: list[Piece] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Swap:
    """Everybody gives everybody an array of any length; the reply is a list by sender.

    Attributes
    ----------
    arrays : sequence of array
        One for each rank, of one dimension and one type.
    """

    arrays: Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Shift:
    """Everybody gives bytes to the rank some places on; the reply is None.

    Attributes
    ----------
    places : int
        How far, from the last rank on to the first.
    sends, receives : uint8 array
        What is given, and what is filled by the rank as many places before; one that is empty is
        no message.
    """

    places: int
    sends: NDArray[np.uint8]
    receives: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Step:
    """Nobody of this process goes on before all of it have come so far; the reply is None.

    Nothing is said or waited for, so it costs a few microseconds less than to gather.
    """


Request: TypeAlias = AllGather | Mail | Shift | Step | Swap
Program: TypeAlias = Generator[Request, Any, Any]


class Communicator(ABC):
    """The ranks of a job, and those of them that this process is.

    Attributes
    ----------
    size : int
        Ranks in all.
    ranks : tuple of int
        Those of this process, in order.
    devices : tuple of Device
        Of these, each with a queue of its own that records no times.
    usual_devices : tuple of Device
        The same with their usual queues, for plans that are made for one device.
    meets : bool
        Whether kernels of all ranks run at once and read the same host memory, so that they may
        wait for each other.
    asked_to_meet : bool
        Whether that was asked for, so that it must not be left out.
    message_bytes : int or None
        As how many bytes a message counts where ways to send are compared; None where pieces of
        arrays always go to whom they are for.
    runs_on : bool
        Whether a rank that has a narrow frontier alone runs several levels in a launch.
    """

    size: int
    ranks: tuple[int, ...]
    devices: tuple[Device, ...]
    usual_devices: tuple[Device, ...]
    meets = asked_to_meet = False
    message_bytes: int | None = None
    runs_on = False

    @abstractmethod
    def all_gather(self, requests: Sequence[AllGather]) -> list[NDArray[np.int64]]:
        """Answer requests of all ranks of this process."""

    @abstractmethod
    def mail(self, requests: Sequence[Mail]) -> list[None]:
        """Answer requests of all ranks of this process."""

    @abstractmethod
    def swap(self, requests: Sequence[Swap]) -> list[list[NDArray[Any]]]:
        """Answer requests of all ranks of this process."""

    @abstractmethod
    def shift(self, requests: Sequence[Shift]) -> list[None]:
        """Answer requests of all ranks of this process."""

    def staging(self, size_bytes: int) -> NDArray[np.uint8]:
        """Give memory of the host for what is sent, and copied to and from devices."""
        return np.empty(size_bytes, np.uint8)

    @abstractmethod
    def settle(self) -> None:
        """Wait for what an interrupted program left under way."""

    @contextlib.contextmanager
    def agreeing(self) -> Iterator[None]:
        """Raise on every rank if any raises within, before anything is exchanged.

        Raises
        ------
        ClusterError
            On a rank where nothing was wrong, with the message of another.
        """
        yield

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """End the job if this rank cannot go on while others wait for it."""
        yield

    def check_alike(self, what: dict[str, object]) -> None:  # noqa: B027 - of one process, all are
        """Refuse a job whose ranks were given different things.

        Raises
        ------
        ClusterError
            With what differs, on all ranks.
        """


def run(comm: Communicator, programs: Sequence[Program]) -> list[Any]:
    """Run a program on each rank of this process to its end.

    Parameters
    ----------
    comm : Communicator
        Whose ranks.
    programs : sequence of generator
        One for each of ``comm.ranks``; all ask for the same kinds of things in the same order.

    Returns
    -------
    list
        What each returned.

    Raises
    ------
    Exception
        Whatever one raises; over MPI that ends the job. Before, all others are ended, which wait
        for what they have under way: who holds the exception holds no kernel that reads memory of
        others.
    """
    answers: dict[type, Callable[[Any], list[Any]]] = {
        AllGather: comm.all_gather,
        Mail: comm.mail,
        Shift: comm.shift,
        Step: lambda steps: [None] * len(steps),
        Swap: comm.swap,
    }
    replies: list[Any] = [None] * len(programs)
    results: list[Any] = [None] * len(programs)
    with comm.guarded(), contextlib.ExitStack() as ending:
        for program in programs:
            ending.callback(program.close)
        while True:
            requests: list[Request] = []
            for place, program in enumerate(programs):
                try:
                    requests.append(program.send(replies[place]))
                except StopIteration as end:
                    results[place] = end.value
            if not requests:
                return results
            kinds = {type(request) for request in requests}
            if len(requests) < len(programs) or len(kinds) > 1:
                raise ClusterError("ranks went different ways; please report this.")
            replies = answers[kinds.pop()](requests)
