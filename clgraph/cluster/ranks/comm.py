"""How ranks talk: what their programs ask for, and ranks that are parts of one process.

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

from clgraph.cluster.ranks.transport import Message, Transport
from clgraph.device.memory.copying import finish_copy
from clgraph.errors import ClusterError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device

__all__ = ["AllGather", "Communicator", "Mail", "Piece", "Program", "Swap", "Together", "run"]

MOST_RANKS = 64  # in one process; over MPI there is no limit
MOST_MEETING = 8


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


Request: TypeAlias = AllGather | Mail | Swap
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
    """

    size: int
    ranks: tuple[int, ...]
    devices: tuple[Device, ...]
    usual_devices: tuple[Device, ...]
    meets = False

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


class Together(Communicator):
    """Ranks that are all in this process, one on each of its devices.

    Parameters
    ----------
    devices : sequence of Device
        One for each rank; a device that is named several times has as many.
    transfers : {"direct", "host", "mailboxes"}, optional
        See `Transport`; and whether bits are exchanged by kernels that wait for each other, which
        must then run at once. Default is that on NVIDIA's cards, each another.

    Attributes
    ----------
    transport : Transport
        How arrays get from one to the other.

    Raises
    ------
    InvalidArgumentError
        If there are no devices or too many, or not such as `transfers` needs.
    """

    def __init__(self, devices: Sequence[Device], transfers: str | None = None) -> None:
        if not 1 <= len(devices) <= MOST_RANKS:
            raise InvalidArgumentError(f"{len(devices)} devices; give 1 to {MOST_RANKS}.")
        self.usual_devices = tuple(devices)
        self.devices = tuple(device.beside(timed=False) for device in devices)
        self.size = len(self.devices)
        self.ranks = tuple(range(self.size))
        meets = transfers == "mailboxes"
        if meets:
            check_mailboxes(self.devices)
        self.transport = Transport(self.devices, None if meets else transfers)
        meets = meets or (transfers is None and may_meet(self.devices))
        self.meets = meets and 2 <= self.size <= MOST_MEETING

    def all_gather(self, requests: Sequence[AllGather]) -> list[NDArray[np.int64]]:
        """Wait for all devices at once."""
        finish_copy(*[event for request in requests for event in request.events])
        rows = np.stack([request.row() for request in requests])
        return [rows] * self.size

    def mail(self, requests: Sequence[Mail]) -> list[None]:
        """Match what is sent and what is received, and move it."""
        self.transport.deliver(messages_of(requests))
        return [None] * self.size

    def swap(self, requests: Sequence[Swap]) -> list[list[NDArray[Any]]]:
        """Hand arrays over."""
        return [[request.arrays[rank] for request in requests] for rank in self.ranks]

    def settle(self) -> None:
        """Wait until no queue has anything to do."""
        self.transport.settle()
        for device in self.devices:
            device.queue.finish()


def check_mailboxes(devices: Sequence[Device]) -> None:
    """Refuse devices that cannot read each other's finds in host memory.

    Raises
    ------
    InvalidArgumentError
        If there are too many, or one knows no addresses of the host.
    """
    if len(devices) > MOST_MEETING:
        raise InvalidArgumentError(
            f"transfers='mailboxes' is for up to {MOST_MEETING} devices, not {len(devices)}; leave "
            "it out."
        )
    for device in devices:
        # Pinned memory of any context has its address on the host on NVIDIA's cards.
        if not device.traits.is_cpu and device.traits.memory_ops != "ptx":
            raise InvalidArgumentError(
                "transfers='mailboxes' needs devices on which host memory has the address that it "
                f"has on the host, a processor's or NVIDIA's cards, not {device.name}; leave it "
                "out."
            )


def may_meet(devices: Sequence[Device]) -> bool:
    """Whether kernels on all these devices run at once and read the same host memory.

    A device that is named twice might run one kernel after the other.
    """
    cards = {device.cl.int_ptr for device in devices}
    return len(cards) == len(devices) and all(
        device.traits.memory_ops == "ptx" for device in devices
    )


def messages_of(requests: Sequence[Mail]) -> list[Message]:
    """Match the pieces that ranks of a process send and receive.

    Raises
    ------
    ClusterError
        If one sends what the other does not expect.
    """
    expected: dict[tuple[int, int], list[Piece]] = {}
    for rank, request in enumerate(requests):
        for piece in request.receives:
            expected.setdefault((piece.peer, rank), []).append(piece)
    messages = []
    for rank, request in enumerate(requests):
        for piece in request.sends:
            waiting = expected.get((rank, piece.peer), [])
            if not waiting or waiting[0].size_bytes != piece.size_bytes:
                raise ClusterError(
                    f"rank {rank} sends {piece.size_bytes} bytes to rank {piece.peer}, which "
                    "expects something else; please report this."
                )
            target = waiting.pop(0)
            messages.append(
                Message(
                    *(rank, piece.peer, piece.array, piece.first_byte),
                    *(target.array, target.first_byte, piece.size_bytes),
                )
            )
    if any(expected.values()):
        raise ClusterError("a rank waits for what nobody sends; please report this.")
    return messages


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
