"""What memory asks of a device: the seam below `clgraph.device.discovery.Device`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from clgraph.device.hardware.traits import DeviceTraits
    from clgraph.device.lazy import cl

__all__ = ["Opened"]


class Opened(Protocol):
    """A device whose driver has been asked for a context and a queue."""

    @property
    def context(self) -> cl.Context:
        """Where buffers belong."""

    @property
    def queue(self) -> cl.CommandQueue:
        """What copies are enqueued on."""

    @property
    def traits(self) -> DeviceTraits:
        """What the device can do."""
