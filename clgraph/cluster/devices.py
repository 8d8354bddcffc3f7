"""The devices of a cluster, as a caller names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Device

__all__ = ["checked_devices"]

MOST_DEVICES = 64  # of one process; over MPI there is no limit


def checked_devices(devices: Sequence[Device | str]) -> list[Device]:
    """Find the devices that are named; one may be named several times.

    Raises
    ------
    InvalidArgumentError
        If `devices` is no sequence, or has none or more than 64.
    DeviceNotFoundError
        If there is no such device.
    """
    given = [] if isinstance(devices, str) or not isinstance(devices, Iterable) else list(devices)
    if not 1 <= len(given) <= MOST_DEVICES:
        raise InvalidArgumentError(
            f"devices={devices!r} is not a sequence of devices; pass at least one in a list, and "
            f"at most {MOST_DEVICES}."
        )
    return [find_device(device) for device in given]
