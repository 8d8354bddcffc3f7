"""Which device is meant by a name, or by none."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING

from clgraph.device.lazy import OnFirstUse
from clgraph.errors import ClgraphError, DeviceNotFoundError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clgraph.device import discovery, selftest
    from clgraph.device.discovery import Device
else:
    discovery = OnFirstUse("clgraph.device.discovery")
    selftest = OnFirstUse("clgraph.device.selftest")

__all__ = ["OTHER_DRIVERS", "device", "open_processor"]

PROCESSOR_MAKERS = frozenset({"intel", "amd", "arm", "apple", "ibm", "nvidia"})
HOW_TO_INSTALL = (
    "Install a driver: 'pip install clgraph[cpu]' brings PoCL for the processor, "
    "'pip install clgraph[intel]' Intel's CPU runtime; a GPU needs its vendor's OpenCL driver. "
    "'clgraph doctor' says what was tried."
)
OTHER_DRIVERS = (
    "Install another driver for the processor: 'pip install clgraph[intel]' brings Intel's, "
    "Debian's pocl-opencl-icd and conda-forge's pocl are newer releases of PoCL."
)

log = logging.getLogger("clgraph")
_passed_over: set[Device] = set()
_chosen: set[Device] = set()


def device(spec: str | Device | None = None) -> Device:
    """Choose a device.

    Parameters
    ----------
    spec : str or Device, optional
        Part of the name of a platform, vendor or device ("nvidia", "pocl", "intel"); "gpu"; "cpu";
        or "platform:device" by index, as ``clgraph devices`` shows it. "+lanes8" or "+lanes32"
        behind any of these asks for the test mode of `Device.emulating`, "+amdgcn64" for that of
        AMD's waves. Default is
        ``$CLGRAPH_DEVICE``, else the first GPU, else PoCL, else any device.

    Returns
    -------
    Device
        The best that fits and can build kernels. A simulator is given only where its own name or
        index asks for it.

    Raises
    ------
    DeviceNotFoundError
        If nothing fits, or nothing of it can build kernels: a GPU that was asked for is never
        replaced by a CPU.
    InvalidArgumentError
        If what follows "+" is not a number of lanes.

    Notes
    -----
    Whether a device can build kernels is tried when it is first about to be chosen, see
    `clgraph.device.selftest`; one that is passed over is named in the log.
    """
    if isinstance(spec, discovery.Device):
        return spec
    origin = ""
    if spec is None:
        spec = os.environ.get("CLGRAPH_DEVICE", "")
        origin = " (from CLGRAPH_DEVICE)" if spec else ""
    if not isinstance(spec, str):
        raise InvalidArgumentError(
            f"device is a {type(spec).__name__}; it must be a Device, a string or None."
        )
    wanted, plus, mode = spec.strip().casefold().partition("+")
    fitting = list(_fitting(wanted.strip()))
    chosen = next((found for found in fitting if selftest.trouble_of(found) is None), None)
    if chosen is None:
        raise DeviceNotFoundError(_cannot_build(fitting) or _not_found(spec, origin))
    for better in fitting[: fitting.index(chosen)]:
        if better not in _passed_over:
            _passed_over.add(better)
            why = selftest.trouble_of(better)
            log.warning("%s is passed over, it cannot build kernels: %s", better, why)
    _chosen.add(chosen)
    chosen.make_context()
    if not plus:
        return chosen
    emulation = re.fullmatch(r"(lanes|amdgcn)(\d{1,3})", mode.strip())
    if emulation is None:
        raise InvalidArgumentError(
            f"device {spec!r}{origin} ends in '+{mode}'; only '+lanes8' and the like can follow."
        )
    return chosen.emulating(int(emulation[2]), "amdgcn" if emulation[1] == "amdgcn" else "local")


def open_processor() -> Device | None:
    """Give a processor that was chosen in this process, not a simulator; None if none was."""
    found = (one for one in tuple(_chosen) if one.traits.is_cpu and not one.is_simulator)
    return min(found, key=lambda one: one.index, default=None)


def _fitting(wanted: str) -> Iterator[Device]:
    """Give the devices that a name fits, best first; those of a platform's name before others."""
    everything = discovery.devices()
    real = [found for found in everything if not found.is_simulator]
    if not wanted:
        yield from real
    elif wanted == "gpu":
        yield from (found for found in real if found.is_gpu)
    elif wanted == "cpu":
        yield from (found for found in real if found.traits.is_cpu)
    elif re.fullmatch(r"\d+:\d+", wanted):
        index = tuple(int(part) for part in wanted.split(":"))
        yield from (found for found in everything if found.index == index)
    else:
        for kind in (("platform", "platform_vendor"), ("vendor", "name")):
            yield from (found for found in everything if _is_called(found, wanted, kind))


def _is_called(found: Device, wanted: str, names: tuple[str, ...]) -> bool:
    if not any(wanted in getattr(found, name).casefold() for name in names):
        return False
    if found.is_simulator and wanted not in found.platform.casefold():
        return False
    # PoCL calls its device after the processor that it runs on.
    return not (wanted in PROCESSOR_MAKERS and discovery.POCL_PLATFORM in found.platform.casefold())


def _cannot_build(fitting: Iterable[Device]) -> str:
    """Say in two sentences that these devices cannot build kernels; empty if there are none."""
    troubles = ((found, selftest.trouble_of(found)) for found in fitting)
    reasons = [
        f"{found.name} ({found.platform}): {why.removesuffix('.')}"
        for found, why in troubles
        if why
    ]
    return f"no kernel can be built for {'; '.join(reasons)}. {OTHER_DRIVERS}" if reasons else ""


def _not_found(spec: str, origin: str) -> str:
    try:
        everything = discovery.devices()
    except ClgraphError as error:
        return str(error)
    if not everything:
        hidden = os.environ.get("OCL_ICD_VENDORS")
        why = f" with OCL_ICD_VENDORS={hidden}, which hides other drivers" if hidden else ""
        return f"there is no OpenCL device on this machine{why}. {HOW_TO_INSTALL}"
    listing = "; ".join(
        f"{found.index[0]}:{found.index[1]} {found.name} ({found.platform})" for found in everything
    )
    if not spec:
        return f"there is only a simulator here: {listing}. {HOW_TO_INSTALL}"
    return f"no OpenCL device fits {spec!r}{origin}; there are: {listing}. {HOW_TO_INSTALL}"
