"""Ranks that are parts of one process, one on each of its devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.devices import checked_devices
from clgraph.cluster.ranks.comm import Communicator
from clgraph.cluster.ranks.transport import Message, Transport
from clgraph.device.memory.copying import finish_copy
from clgraph.device.memory.posted import can_post
from clgraph.device.programs.program import refuse_checking
from clgraph.errors import ClusterError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.ranks.comm import AllGather, Mail, Piece, Shift, Swap
    from clgraph.device import Device

__all__ = ["Together", "check_mailboxes", "may_meet", "messages_of"]

MOST_MEETING = 8


class Together(Communicator):
    """Ranks that are all in this process, one on each of its devices.

    Parameters
    ----------
    devices : sequence of Device or str
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

    def __init__(self, devices: Sequence[Device | str], transfers: str | None = None) -> None:
        self.usual_devices = tuple(checked_devices(devices))
        self.devices = tuple(device.beside(timed=False) for device in self.usual_devices)
        self.size = len(self.devices)
        self.ranks = tuple(range(self.size))
        self.asked_to_meet = meets = transfers == "mailboxes"
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

    def shift(self, requests: Sequence[Shift]) -> list[None]:
        """Copy what is given."""
        for rank, request in enumerate(requests):
            request.receives[...] = requests[rank - request.places].sends
        return [None] * self.size

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
    refuse_checking(
        "transfers='mailboxes'", "which knows the arrays of a kernel and not the memory of others"
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
    return len(cards) == len(devices) and all(can_post(device) for device in devices)


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
