"""Which meter belongs to which device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.energy.nvml import NvmlMeter, card_address
from clgraph.energy.rapl import RaplMeter
from clgraph.energy.readings import Meter, MeterError, Source

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["NoMeter", "find_meter"]


@dataclass(frozen=True, slots=True)
class NoMeter:
    """Stands where a device has no meter that can be read.

    Attributes
    ----------
    note : str
        Why not, in one sentence.
    source : {"none"}
        As a meter has it.
    """

    note: str
    source: Source = "none"

    def close(self) -> None:
        """Nothing is held open."""


def find_meter(device: Device) -> Meter | NoMeter:
    """Open the meter of a device.

    Parameters
    ----------
    device : Device
        A processor is metered by RAPL, an NVIDIA card by NVML.

    Returns
    -------
    Meter or NoMeter
        ``source`` says what was found and ``note`` what its figures cover, or why there are none.
        Close it after use.
    """
    if device.is_simulator:
        return NoMeter(f"{device.platform} only simulates a device, which draws no power.")
    try:
        if device.traits.is_cpu:
            return RaplMeter()
        if "nvidia" in device.platform.casefold() or "nvidia" in device.vendor.casefold():
            return NvmlMeter(card_address(device.cl))
    except MeterError as error:
        return NoMeter(str(error))
    return NoMeter(f"clgraph knows no meter for {device.name} ({device.platform}).")
