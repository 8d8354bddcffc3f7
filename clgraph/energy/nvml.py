"""The energy counter and power sensor of NVIDIA cards, through NVML; read only, nothing is set."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import uuid
from typing import TYPE_CHECKING, Any

from clgraph.device.lazy import cl
from clgraph.energy.readings import Conditions, MeterError, Reading, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CardAddress", "NvmlMeter", "card_address"]

DEVICE_UUID = 0x106A  # CL_DEVICE_UUID_KHR, which pyopencl does not name
# How often the readings of an H200 change, measured: the counter about every 100 ms, instant power
# about every 53 ms. Plain power readings are averages over a second on recent cards.
COUNTER_UPDATE_S = 0.1
POWER_UPDATE_S = 0.055
AVERAGE_UPDATE_S = 1.0


class CardAddress:
    """Where an OpenCL device sits, as far as its driver reports.

    Parameters
    ----------
    pci : tuple of int, optional
        Domain, bus, and the slot number as ``cl_nv_device_attribute_query`` reports it.
    uuid : str, optional
        ``GPU-`` and the hexadecimal digits of the device's UUID.
    """

    def __init__(self, pci: tuple[int, int, int] | None, uuid: str | None) -> None:
        self.pci = pci
        self.uuid = uuid

    def __repr__(self) -> str:
        """Show what is known."""
        return f"CardAddress(pci={self.pci}, uuid={self.uuid})"


def card_address(device: cl.Device) -> CardAddress:
    """Ask an OpenCL device where it sits.

    Parameters
    ----------
    device : pyopencl.Device
        A device of NVIDIA's platform.

    Returns
    -------
    CardAddress
        With None for what the driver does not say.
    """
    extensions = device.extensions.split()
    pci = None
    if "cl_nv_device_attribute_query" in extensions:
        try:
            bus, slot = int(device.pci_bus_id_nv), int(device.pci_slot_id_nv)
        except (cl.Error, AttributeError):
            bus = slot = -1
        domain = 0
        with contextlib.suppress(cl.Error, AttributeError):  # older drivers know no domain
            domain = int(device.pci_domain_id_nv)
        pci = (domain, bus, slot) if bus >= 0 else None
    return CardAddress(pci, _uuid(device) if "cl_khr_device_uuid" in extensions else None)


def _uuid(device: cl.Device) -> str | None:
    library = ctypes.CDLL(str(importlib.import_module("pyopencl._cl").__file__))
    raw = (ctypes.c_ubyte * 16)()
    handle = ctypes.c_void_p(device.int_ptr)
    status = library.clGetDeviceInfo(handle, DEVICE_UUID, ctypes.sizeof(raw), raw, None)
    return None if status else f"GPU-{uuid.UUID(bytes=bytes(raw))}"


class NvmlMeter:
    """The meter of one NVIDIA card.

    Parameters
    ----------
    address : CardAddress
        Which card; it is found by UUID or PCI address and never by its index, which the two
        libraries count differently.
    library : module, optional
        A stand-in for ``pynvml``.

    Raises
    ------
    MeterError
        If NVML is not there, lists no such card, or the card has neither counter nor sensor.
    """

    source: Source
    poll_s = 0.01

    def __init__(self, address: CardAddress, library: Any = None) -> None:
        try:
            self._nvml = importlib.import_module("pynvml") if library is None else library
        except ImportError:
            raise MeterError(
                "the package nvidia-ml-py, which reads NVIDIA's meter, is missing."
            ) from None
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            raise MeterError(f"NVML does not start: {error}.") from None
        try:
            self._card = self._find(address)
            self._choose()
        except self._nvml.NVMLError as error:
            self.close()
            raise MeterError(f"NVML does not show the card: {error}.") from None
        except MeterError:
            self.close()
            raise

    def _find(self, address: CardAddress) -> Any:
        cards = list(self._cards())
        if address.uuid is not None:
            for card in cards:
                if _text(self._nvml.nvmlDeviceGetUUID(card)).lower() == address.uuid.lower():
                    return card
        if address.pci is not None:
            domain, bus, slot = address.pci
            places = [(card, self._nvml.nvmlDeviceGetPciInfo(card)) for card in cards]
            near = [(c, place) for c, place in places if (place.domain, place.bus) == (domain, bus)]
            # The slot holds a PCI function number in its low three bits.
            exact = [card for card, place in near if place.device == slot >> 3]
            if len(exact) == 1:
                return exact[0]
            if len(near) == 1:
                return near[0][0]
        raise MeterError(
            f"none of NVML's {len(cards)} cards can be matched with the OpenCL device ({address})."
        )

    def _cards(self) -> Iterator[Any]:
        for index in range(self._nvml.nvmlDeviceGetCount()):
            # One card that has fallen off the bus must not hide the others.
            with contextlib.suppress(self._nvml.NVMLError):
                yield self._nvml.nvmlDeviceGetHandleByIndex(index)

    def _choose(self) -> None:
        self._counts = self._answers(self._counter_j)
        instant = self._answers(self._instant_w)
        average = not instant and self._answers(self._average_w)
        if not (self._counts or instant or average):
            raise MeterError("the card has neither an energy counter nor a power sensor.")
        self._power_w = self._instant_w if instant else self._average_w if average else None
        self.source = "nvml-counter" if self._counts else "nvml-power"
        if self._counts:
            self.update_s = COUNTER_UPDATE_S
            note = "energy counter of the whole card"
        elif instant:
            self.update_s = POWER_UPDATE_S
            note = "instantaneous power of the whole card, integrated"
        else:
            self.update_s = AVERAGE_UPDATE_S
            note = "power of the whole card, integrated; readings may be one-second averages"
        if self._counts and average:
            note += "; peak power may come from one-second averages"
        self.note = note + self._company()

    def _company(self) -> str:
        """Whoever else draws power from the card."""
        nvml, said = self._nvml, ""
        with contextlib.suppress(nvml.NVMLError, AttributeError):
            if nvml.nvmlDeviceGetMigMode(self._card)[0]:
                said += "; the card is partitioned (MIG) and the figure is that of all partitions"
        with contextlib.suppress(nvml.NVMLError, AttributeError):
            others = len(nvml.nvmlDeviceGetComputeRunningProcesses(self._card)) - 1
            if others > 0:
                said += f"; {others} other process(es) use the card"
        return said

    def _answers(self, ask: Any) -> bool:
        try:
            return ask() is not None
        except (self._nvml.NVMLError, AttributeError):
            return False

    def _counter_j(self) -> float:
        return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._card)) * 1e-3

    def _instant_w(self) -> float:
        field = self._nvml.NVML_FI_DEV_POWER_INSTANT
        (value,) = self._nvml.nvmlDeviceGetFieldValues(self._card, [field])
        if value.nvmlReturn != self._nvml.NVML_SUCCESS:
            raise self._nvml.NVMLError(value.nvmlReturn)
        return float(value.value.uiVal) * 1e-3

    def _average_w(self) -> float:
        return float(self._nvml.nvmlDeviceGetPowerUsage(self._card)) * 1e-3

    def read(self) -> Reading:
        """Look at the counter, where there is one, and at the power."""
        try:
            energy = self._counter_j() if self._counts else None
            power = self._power_w() if self._power_w else None
        except self._nvml.NVMLError as error:
            raise MeterError(f"NVML stopped answering: {error}.") from None
        return Reading(energy, power)

    def conditions(self) -> Conditions:
        """Look at clocks, temperature and limits; nothing is changed."""
        nvml, card = self._nvml, self._card

        def ask(name: str, *words: str) -> int | None:
            try:
                return int(getattr(nvml, name)(card, *(getattr(nvml, word) for word in words)))
            except (nvml.NVMLError, AttributeError):
                return None

        limit_mw = ask("nvmlDeviceGetEnforcedPowerLimit")
        return Conditions(
            sm_clock_mhz=ask("nvmlDeviceGetClockInfo", "NVML_CLOCK_SM"),
            memory_clock_mhz=ask("nvmlDeviceGetClockInfo", "NVML_CLOCK_MEM"),
            temperature_c=ask("nvmlDeviceGetTemperature", "NVML_TEMPERATURE_GPU"),
            power_limit_w=None if limit_mw is None else limit_mw * 1e-3,
            slowed_by=ask("nvmlDeviceGetCurrentClocksThrottleReasons"),
        )

    def close(self) -> None:
        """Give NVML back."""
        with contextlib.suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name
