"""Moving bytes from one device's memory to another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import Pinned
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Allocation, Device

__all__ = ["Message", "Transport"]


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of one device's memory that another is to have.

    Attributes
    ----------
    sender, receiver : int
        Places of the devices.
    source, target : Allocation
        From where and to where.
    source_byte, target_byte : int
        First byte in each.
    size_bytes : int
        How many; not 0.
    """

    sender: int
    receiver: int
    source: Allocation
    source_byte: int
    target: Allocation
    target_byte: int
    size_bytes: int


class Transport:
    """The ways between devices: inside a context, else through pinned memory of the host.

    Parameters
    ----------
    devices : sequence of Device
        Which, each with a queue of its own.
    transfers : {"direct", "host"} or None
        One way for all; None chooses for each pair.

    Attributes
    ----------
    devices : tuple of Device
        As given.

    Raises
    ------
    InvalidArgumentError
        If `transfers` is none of these, or ``"direct"`` is asked of devices that share no context.
    """

    def __init__(self, devices: Sequence[Device], transfers: str | None) -> None:
        if transfers not in {None, "direct", "host"}:
            raise InvalidArgumentError(
                f"transfers={transfers!r} is not one of direct, host, mailboxes."
            )
        if transfers == "direct" and len({device.context.int_ptr for device in devices}) > 1:
            raise InvalidArgumentError(
                "transfers='direct' needs devices of one OpenCL context, such as one device named "
                "several times; leave it out, or choose 'host'."
            )
        self.devices = tuple(devices)
        self._through_host = transfers == "host"
        self._staging: dict[int, Pinned] = {}
        # Copies out of host memory; letting go of one would wait for it.
        self._under_way: list[cl.Event] = []

    def _direct(self, message: Message) -> bool:
        sender, receiver = self.devices[message.sender], self.devices[message.receiver]
        return not self._through_host and sender.context.int_ptr == receiver.context.int_ptr

    def deliver(self, messages: Sequence[Message]) -> None:
        """Have all messages copied after what was enqueued on their senders' queues before.

        What is enqueued on the receivers' queues after this finds them there. Targets may be in no
        use by anything that was enqueued before; nor may anything that is enqueued later on other
        queues than the sender's change a source before the next `settle`.

        Raises
        ------
        ClgraphError
            If a device reports a failure.
        KeyboardInterrupt
            On Ctrl-C; what was enqueued runs on.
        """
        direct = [message for message in messages if self._direct(message)]
        staged = [message for message in messages if not self._direct(message)]
        self._copy(direct)
        self._carry(staged)

    def _copy(self, messages: Sequence[Message]) -> None:
        awaited: dict[int, list[cl.Event]] = {}
        for message in messages:
            queue = self.devices[message.sender].queue
            event = cl.enqueue_copy(
                queue,
                message.target.buffer,
                message.source.buffer,
                byte_count=message.size_bytes,
                src_offset=message.source_byte,
                dst_offset=message.target_byte,
            )
            awaited.setdefault(message.receiver, []).append(event)
        for message in messages:
            self.devices[message.sender].queue.flush()
        for receiver, events in awaited.items():
            cl.enqueue_barrier(self.devices[receiver].queue, wait_for=events)

    def _carry(self, messages: Sequence[Message]) -> None:
        # What goes to several receivers is read once.
        places: dict[tuple[int, Allocation, int, int], int] = {}
        ends: dict[int, int] = {}
        for message in messages:
            key = (message.sender, message.source, message.source_byte, message.size_bytes)
            if key not in places:
                places[key] = ends.get(message.sender, 0)
                ends[message.sender] = places[key] + -(-message.size_bytes // 8) * 8
        self.settle()
        for sender, end in ends.items():
            self._reserve(sender, end)
        reads = []
        for (sender, source, first, size), place in places.items():
            piece = self._staging[sender].array[place : place + size]
            queue = self.devices[sender].queue
            reads.append(
                cl.enqueue_copy(queue, piece, source.buffer, src_offset=first, is_blocking=False)
            )
        finish_copy(*reads)
        for message in messages:
            key = (message.sender, message.source, message.source_byte, message.size_bytes)
            piece = self._staging[message.sender].array[places[key] :][: message.size_bytes]
            queue = self.devices[message.receiver].queue
            self._under_way.append(
                cl.enqueue_copy(
                    queue,
                    message.target.buffer,
                    piece,
                    dst_offset=message.target_byte,
                    is_blocking=False,
                )
            )

    def _reserve(self, sender: int, size_bytes: int) -> None:
        held = self._staging.get(sender)
        if held is None or held.array.size < size_bytes:
            # At least doubled, so that levels that grow do not each pin memory anew.
            grown = max(size_bytes, 2 * held.array.size if held else 1 << 12)
            self._staging[sender] = Pinned(self.devices[sender], grown, np.uint8)

    def settle(self) -> None:
        """Wait until nothing is under way any more."""
        finish_copy(*self._under_way)
        self._under_way.clear()
